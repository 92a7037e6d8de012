"""Tables that are kept as they came, sparse or on disk, and give out a few dense rows at a time."""

from __future__ import annotations

import mmap
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from . import _limits, _memory
from ._validation import check_memory

# Bytes of a table on disk after which they are let go.
_LET_GO = 2**27

# Rows from anywhere that are read before pages are let go: each may bring two million bytes of the
# file along, those of 2000 rows of 16 kB took 2.1 GB. It costs no more time than the faults do.
_SCATTERED = 64


class SparseTable:
    """Rows (n, p) of which zeros are not stored: a row, or some, come out dense."""

    ndim = 2

    def __init__(self, matrix: Any) -> None:
        """Take a sparse matrix, which is copied where it is not in order."""
        self.stored = sp.csr_array(matrix)
        if not self.stored.has_canonical_format:
            self.stored = self.stored.copy()
            self.stored.sum_duplicates()
        self.shape: tuple[int, int] = self.stored.shape

    @property
    def dtype(self) -> Any:
        """Type of the values."""
        return self.stored.dtype

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> NDArray[np.floating]:
        """Dense rows, (b, p), or one row, (p,)."""
        if isinstance(rows, (int, np.integer)):
            return np.asarray(self.stored[[rows]].toarray()[0])
        return np.asarray(self.stored[rows].toarray())

    def take(self, rows: NDArray[np.int64]) -> SparseTable:
        """Some rows as a table of this kind."""
        return SparseTable(self.stored[rows])

    def mean(self, axis: int = 0) -> NDArray[np.floating]:
        """The mean row, (p,)."""
        return np.asarray(self.stored.mean(axis=axis)).ravel()

    def map(self, function: Callable[[Any], Any]) -> SparseTable:
        """Table of a function of every value, which leaves zeros what they are."""
        mapped = function(self.stored.data)
        return SparseTable(
            sp.csr_array((mapped, self.stored.indices, self.stored.indptr), shape=self.shape)
        )


class MappedTable:
    """Rows (n, p) of an array on disk, in an order: a row, or some, are read when asked for.

    What was read is let go again: it stays in the cache of the system as long as nobody needs the
    memory, and counts for no process.
    """

    ndim = 2
    spread = False
    """Whether work on the rows is for the workers of Dask, which all can read them."""
    sparing = False
    """Whether pages of the file count for this process, as they do in a worker of Dask."""

    def __init__(self, array: NDArray[np.floating], order: NDArray[np.int64] | None = None) -> None:
        """Take a mapped array, and the rows of it in their order, all as they are by default."""
        self.array, self.order, self._read = array, order, 0
        self.shape: tuple[int, int] = (len(array) if order is None else order.size, array.shape[1])

    @property
    def dtype(self) -> Any:
        """Type of the values."""
        return self.array.dtype

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> NDArray[np.floating]:
        """Rows, (b, p), or one row, (p,), in memory."""
        which = rows if self.order is None else self.order[rows]
        if self.sparing:
            if isinstance(which, slice) and which.step not in (None, 1):
                which = np.arange(len(self))[which]
            if isinstance(which, np.ndarray):
                return self._scattered(which)
        found = np.array(self.array[which])
        self._read += found.nbytes
        if self._read > _LET_GO:
            self._read = 0
            let_go(self.array)
        return found

    def _scattered(self, rows: NDArray[np.int64]) -> NDArray[np.floating]:
        """Rows from anywhere in the file, of which next to nothing stays in the process."""
        found = np.empty((rows.size, self.shape[1]), self.dtype)
        for start in range(0, rows.size, _SCATTERED):
            part = slice(start, start + _SCATTERED)
            found[part] = self.array[rows[part]]
            let_go(self.array)
        return found

    def take(self, rows: NDArray[np.int64]) -> MappedTable:
        """Some rows as a table of this kind."""
        taken = MappedTable(self.array, rows if self.order is None else self.order[rows])
        taken.spread, taken.sparing = self.spread, self.sparing
        return taken

    def mean(self, axis: int = 0) -> NDArray[np.floating]:
        """The mean row, (p,)."""
        step = blocks_of(self.shape[1])
        starts = range(0, len(self), step)
        return np.sum([self[s : s + step].sum(axis, np.float64) for s in starts], 0) / len(self)

    def min(self, initial: float) -> float:
        """Least value, or ``initial``."""
        return float(self.array.min(initial=initial))

    def max(self, initial: float) -> float:
        """Largest value, or ``initial``."""
        return float(self.array.max(initial=initial))


def let_go(array: Any) -> None:
    """Take the pages of a mapped array out of this process, where the system has a way."""
    while isinstance(array, np.ndarray):
        array = array.base
    if isinstance(array, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        array.madvise(mmap.MADV_DONTNEED)


def is_mapped(X: Any) -> bool:
    """Whether an array is that of a file, not of memory."""
    while isinstance(X, np.ndarray):
        X = X.base
    return isinstance(X, mmap.mmap)


def require_memory(X: Any, dtypes: list[Any]) -> None:
    """Raise MemoryError, before work is done, if an array on disk has to be in memory and cannot.

    ``dtypes`` are the types that are worked with as they come.
    """
    if not is_mapped(X) or X.ndim != 2:
        return
    n, p = X.shape
    if X.dtype not in dtypes:
        what = f"{n} rows and {p} columns of {X.dtype} on disk, as {np.dtype(dtypes[0])},"
        cure = "a file of float32 (numpy.lib.format.open_memmap writes one) is read in blocks"
        check_memory(what, float(n) * p * np.dtype(dtypes[0]).itemsize, _memory.available(), cure)
    if n <= _limits.SOLVED_WHOLE:
        what = f"{n} rows and {p} columns, scaled in double precision,"
        cure = (
            f"more than {_limits.SOLVED_WHOLE} rows are read in blocks, so few need fewer columns "
            "(sklearn.random_projection makes some)"
        )
        check_memory(what, 16.0 * n * p, _memory.available(), cure)


def blocks_of(width: int) -> int:
    """Rows of a table that are read together: two million entries, 16 MB in double precision."""
    return max(16, min(4096, 2**21 // max(width, 1)))


def rows_of(matrix: Any) -> Any:
    """Rows as they are worked with: dense, or sparse or on disk where a dense table is large."""
    if not sp.issparse(matrix):
        large = float(matrix.shape[0]) * matrix.shape[1] > _limits.DENSE_ENTRIES
        many = matrix.shape[0] > _limits.SOLVED_WHOLE
        return MappedTable(matrix) if large and many and is_mapped(matrix) else matrix
    if float(matrix.shape[0]) * matrix.shape[1] <= _limits.DENSE_ENTRIES:
        return matrix.toarray()
    return SparseTable(matrix)


def some_rows(rows: Any, which: NDArray[np.int64]) -> Any:
    """Some rows, kept as they are: sparse ones sparse, those on disk there."""
    return rows.take(which) if isinstance(rows, (SparseTable, MappedTable)) else rows[which]


def dense_rows(rows: Any) -> Any:
    """All rows of a table, dense."""
    return rows[:] if isinstance(rows, (SparseTable, MappedTable)) else rows


def stored_values(rows: Any) -> NDArray[np.floating]:
    """Values of a table, the zeros that are not stored left out, as rows."""
    return rows.stored.data[None] if isinstance(rows, SparseTable) else rows
