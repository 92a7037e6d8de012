"""Scaled rows that stay sparse: what centering adds to their products is of rank one."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _jit
from .._base.rounding import rounding
from .._base.table import SparseTable
from .._base.types import Floats
from ._dense import EuclideanRows, euclidean_scale, kept_flat


@dataclass
class SparseRows:
    """Scaled rows a_i - c_i of which only a_i is stored, and their products.

    The product of two is a_i a_j + l_i r_j with a few columns l and r. Some rows come out dense,
    as those of an array do.
    """

    table: SparseTable  # a, (n, p)
    shift: Floats  # (n,) c, which each entry of a row is less
    row_factors: Floats  # (n, r) l
    column_factors: Floats  # (n, r) r

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""
        return self.table.shape

    @property
    def dtype(self) -> Any:
        """Type of the stored values."""
        return self.table.dtype

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> NDArray[np.floating]:
        """Dense rows, (b, p)."""
        return np.asarray(self.table[rows] - self.shift[rows, None].astype(self.dtype))

    def mean(self, axis: int = 0, dtype: Any = np.float64) -> Floats:
        """Return the mean row, (p,)."""
        return self.table.mean(axis).astype(dtype) - self.shift.mean()

    @cached_property
    def _rows(self) -> Any:
        return _jit.sparse.Rows(_stored(self.table.stored), self.row_factors, self.column_factors)

    @cached_property
    def _columns(self) -> Any:
        return _stored(self.table.stored.tocsc())

    def products(self, points: NDArray[np.int64]) -> Floats:
        """Products of some rows with all, (b, n)."""
        out = np.zeros((points.size, len(self)))
        _jit.sparse.block_products(self._rows.stored, self._columns, points, out)
        # Row by row: another array of this size would double the memory.
        for row, factors in zip(out, self.row_factors[points], strict=True):
            row += self.column_factors @ factors
        return out

    def products_with(self, new: NDArray[np.floating]) -> Floats:
        """Products of dense rows (b, p), none of these, with all, (b, n)."""
        double = new.astype(np.float64, copy=False)
        result: Floats = np.ascontiguousarray((self.table.stored @ double.T).T)
        result -= double.sum(axis=1)[:, None] * self.shift
        return result

    def pairs(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> Floats:
        """Products of pairs of rows, (m,), the same bits either way round."""
        low, high = np.minimum(first, second), np.maximum(first, second)
        return self.pairs_from(low.astype(np.int64), high.astype(np.int64))

    def pairs_from(self, first: NDArray[np.int64], second: NDArray[np.int64]) -> Floats:
        """Return the same, as fast as can be where many pairs in turn have one row on the left."""
        out = np.empty(first.size)
        _jit.sparse.pair_products(self._rows, first, second, np.zeros(self.table.shape[1]), out)
        return out


def sparse_unit_rows(
    table: SparseTable, affinity: str = "correlation", *, allow_flat: bool = False
) -> SparseRows:
    """Sparse rows whose products are correlations or cosines, as `unit_rows` makes dense ones.

    The correlation of x and y is (x y - p m n) / (s t) with means m and n and spreads s and t.

    Parameters
    ----------
    table : SparseTable
        Points in rows, (n, p).
    affinity : {"correlation", "cosine"}
        "correlation" centers each row.
    allow_flat : bool
        As in `unit_rows`.

    Returns
    -------
    SparseRows
        Rows of length 1.
    """
    stored, p = table.stored, table.shape[1]
    counts = np.diff(stored.indptr)
    owner = np.repeat(np.arange(len(table)), counts)
    data = stored.data.astype(np.float64)
    largest = abs(stored).max(axis=1).toarray().ravel().astype(np.float64)
    data /= np.where(largest > 0.0, largest, 1.0)[owner]
    mean = np.zeros(len(table))
    if affinity == "correlation":
        mean = np.bincount(owner, data, len(table)) / p
    squares = np.bincount(owner, (data - mean[owner]) ** 2, len(table))
    spread = np.sqrt(squares + (p - counts) * mean**2)
    # What centering leaves of a constant row is rounding, not spread.
    spread[spread <= rounding(n=p)] = 0.0
    flat = kept_flat(spread, affinity, allow_flat)
    data /= spread[owner]
    data[flat[owner]] = mean[flat] = 0.0
    shift = mean / spread
    scaled = _like(table, data)
    edge = np.sqrt(p) * shift[:, None]
    nothing = np.empty((len(table), 0))
    centered = affinity == "correlation"
    return SparseRows(scaled, shift, -edge if centered else nothing, edge if centered else nothing)


def sparse_euclidean_rows(
    table: SparseTable, standardized: bool
) -> tuple[SparseRows, EuclideanRows]:
    """Sparse rows whose products are Euclidean similarities, as `euclidean_rows` makes dense ones.

    Parameters
    ----------
    table : SparseTable
        Points in rows, (n, p).
    standardized : bool
        As in `euclidean_rows`.

    Returns
    -------
    rows : SparseRows
        Rows over sigma, and their products.
    like : EuclideanRows
        The origin, which is zero, and sigma, for new rows; without rows of its own.
    """
    stored, n = table.stored, len(table)
    like = euclidean_scale(table, standardized)
    like = like._replace(origin=np.zeros(table.shape[1]))
    data = stored.data.astype(np.float64) / like.units[stored.indices] / like.scale
    owner = np.repeat(np.arange(n), np.diff(stored.indptr))
    factors = np.column_stack([0.5 - 0.5 * np.bincount(owner, data**2, n), np.ones(n)])
    return SparseRows(_like(table, data), np.zeros(n), factors, factors[:, ::-1]), like


def _stored(matrix: Any) -> Any:
    """Return what a CSR or a CSC matrix stores, in the types that compiled code takes."""
    indptr, indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
    return _jit.sparse.Stored(indptr, indices, matrix.data)


def _like(table: SparseTable, data: Floats) -> SparseTable:
    """Return a table with other values in the same places, in the same precision."""
    return table.map(lambda _: data.astype(table.dtype, copy=False))
