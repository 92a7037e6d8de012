"""Sparse tables, which give out a few dense rows at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from . import limits
from .rounding import SINGLE
from .types import Floats, Integers, Reals

_ZEROS, _ONES, _ONES_TO_LARGEST = 0.01, 0.05, 10.0
"""Fraction of zeros in a table of counts, of ones in what is not zero, and ones over maxima."""


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

    def __getitem__(self, rows: Any) -> Reals:
        """Dense rows, (b, p), or one row, (p,)."""
        if isinstance(rows, (int, np.integer)):
            return self.stored[[rows]].toarray()[0]
        return self.stored[rows].toarray()

    def take(self, rows: Integers) -> SparseTable:
        """Return some rows as a table of this kind."""
        return SparseTable(self.stored[rows])

    def mean(self, axis: int = 0) -> Reals:
        """Return the mean row, (p,)."""
        return np.asarray(self.stored.mean(axis=axis)).ravel()

    def astype(self, dtype: Any) -> SparseTable:
        """Return the table with values of another type."""
        return self.map(lambda values: values.astype(dtype))

    def map(self, function: Callable[[Any], Any]) -> SparseTable:
        """Table of a function of every value, which leaves zeros what they are."""
        mapped = function(self.stored.data)
        return SparseTable(
            sp.csr_array((mapped, self.stored.indices, self.stored.indptr), shape=self.shape)
        )


class MappedRows:
    """A function of dense rows of a table, computed for the rows that are asked for."""

    def __init__(self, rows: Any, function: Callable[[Any], Floats]) -> None:
        self.rows, self.function = rows, function

    def __len__(self) -> int:
        return int(self.rows.shape[0])

    def __getitem__(self, which: Integers) -> Floats:
        """Return some rows, (b, any)."""
        return self.function(dense_rows(some_rows(self.rows, which)))


def rows_of(matrix: Any) -> Any:
    """Rows as they are worked with: dense, or sparse where a table without holes is large."""
    if not sp.issparse(matrix):
        return matrix
    small = float(matrix.shape[0]) * matrix.shape[1] <= limits.DENSE_ENTRIES
    if small or np.isnan(matrix.data).any():
        return matrix.toarray()
    # A copy: what is fitted to it stays as it is when the caller's changes.
    return SparseTable(matrix.copy())


def some_rows(rows: Any, which: Integers) -> Any:
    """Return a copy of some rows, sparse ones sparse."""
    return rows.take(which) if isinstance(rows, SparseTable) else rows[which]


def take_columns(rows: Any, which: Integers) -> Any:
    """Return a copy of some columns, sparse ones sparse."""
    if isinstance(rows, SparseTable):
        return SparseTable(rows.stored[:, which])
    return np.ascontiguousarray(rows[:, which])


def random_rows(n: int, most: int) -> Integers:
    """Return numbers of at most so many rows at random, the same in every run, ascending."""
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(0).choice(n, most, replace=False))


def some_columns(rows: Any) -> Any:
    """Return a table of all columns, or of 20 000 at random, in their order."""
    width = rows.shape[1]
    if width <= limits.COLUMNS_COMPARED:
        return rows
    return take_columns(rows, random_rows(width, limits.COLUMNS_COMPARED))


def dense_rows(rows: Any) -> Any:
    """All rows of a table, dense."""
    return rows[:] if isinstance(rows, SparseTable) else rows


def whole_multiples(rows: Any) -> Floats | None:
    """Values but zeros over the smallest, if all are whole multiples of it; None where not."""
    values = rows.stored.data if isinstance(rows, SparseTable) else rows
    present = values[values != 0.0]
    # Of a least value of 5e-324 others are infinite multiples, which are not whole.
    with np.errstate(over="ignore", invalid="ignore"):
        units = present / np.abs(present).min(initial=np.inf)
        whole = np.rint(units)
        return whole if (np.abs(units - whole) <= SINGLE * np.abs(units)).all() else None


def are_counts(rows: Any) -> bool:
    """Whether a table holds small counts, in any unit (docs/decisions/003-one-rule-for-auto.md).

    Values are multiples of one unit, some zero, none negative; one unit is common, and the largest
    value rare. Pixels, ratings, incomes and deep counts are measurements.
    """
    some = some_rows(rows, evenly_spaced(rows.shape[0], limits.SAMPLED))
    some = some if isinstance(some, SparseTable) else some[~np.isnan(some)]
    whole = whole_multiples(some)
    if whole is None or not whole.size or whole.min() < 0.0 or whole.max() <= 2.0:
        return False
    size = float(np.prod(some.shape))
    ones, largest = (np.count_nonzero(whole == each) for each in (1.0, whole.max()))
    common = ones >= max(_ONES * whole.size, _ONES_TO_LARGEST * largest)
    return bool(common and size - whole.size >= _ZEROS * size)


def evenly_spaced(n_rows: int, most: int) -> Integers:
    """Numbers of all rows, or of so many evenly spaced ones."""
    return np.linspace(0, n_rows - 1, min(n_rows, most)).astype(np.int64)
