"""Rows of a table, dense or sparse, scaled so that their products say how similar they are."""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .. import _jit
from .._base import validation as check
from .._base.rounding import rounding
from .._base.table import SparseTable
from .._base.threads import batches, block_rows, map_blocks
from .._base.types import Booleans, Floats, Integers, Reals
from .._base.warn import warn


class SparseRows(SparseTable):
    """Scaled rows a_i - c_i of which only a_i is stored, and their products a_i a_j - p c_i c_j.

    Some rows come out dense, as those of an array do.
    """

    def __init__(self, table: SparseTable, data: Floats, shift: Floats) -> None:
        """Take other values in the places of a table, in its precision, and c, (n,)."""
        super().__init__(table.map(lambda _: data.astype(table.dtype, copy=False)).stored)
        self.shift = shift

    def __getitem__(self, rows: Any) -> Reals:
        """Dense rows, (b, p)."""
        return super().__getitem__(rows) - self.shift[rows, None].astype(self.dtype)

    def mean(self, axis: int = 0, dtype: Any = np.float64) -> Floats:
        """Return the mean row, (p,)."""
        return super().mean(axis).astype(dtype) - self.shift.mean()

    @cached_property
    def _compiled(self) -> tuple[Any, Any, Floats]:
        """What is stored by rows and by columns, and means times the root of p, (n,)."""
        parts = []
        for each in (self.stored, self.stored.tocsc()):
            starts, members = each.indptr.astype(np.int64), each.indices.astype(np.int32)
            parts.append(_jit.sparse.Stored(starts, members, each.data))
        return parts[0], parts[1], np.sqrt(self.shape[1]) * self.shift

    def products(self, points: Integers) -> Floats:
        """Products of some rows with all, (b, n)."""
        out = np.zeros((points.size, len(self)))
        _jit.sparse.block_products(*self._compiled, points, out)
        return out

    def products_with(self, new: Reals) -> Floats:
        """Products of dense rows (b, p), none of these, with all, (b, n)."""
        double = new.astype(np.float64, copy=False)
        result = np.ascontiguousarray((self.stored @ double.T).T)
        result -= double.sum(axis=1)[:, None] * self.shift
        return result

    def pairs(self, first: Integers, second: Integers, out: Floats) -> None:
        """Write products of pairs of rows to (m,), the same bits either way round."""
        rows, _, level = self._compiled
        _jit.sparse.pair_products(rows, level, first, second, np.zeros(self.shape[1]), out)


def products(rows: Any, points: Integers, first: int = 0) -> Reals:
    """Products of some rows, dense or sparse, with those from ``first`` on, (b, n - first)."""
    if isinstance(rows, SparseRows):
        return rows.products(np.asarray(points, np.int64))[:, first:]
    return rows[points] @ rows[first:].T


def _rows(name: str, value: Any) -> Any:
    """Return a sparse table, or a dense one that was checked."""
    return value if isinstance(value, SparseTable) else check.table(name, value)


@check.validate(X=_rows, affinity=check.one_of(("correlation", "cosine")), allow_flat=check.flag)
def unit_rows(
    X: Any, affinity: str = "correlation", *, allow_flat: bool = False, dtype: Any = np.float64
) -> Any:
    """Rows U for which ``U @ U.T`` is the affinity between points.

    Parameters
    ----------
    X : (n_samples, n_features) array_like of float64, or SparseTable
        Points in rows.
    affinity : {"correlation", "cosine"}
        "correlation" centers each row and scales it to length 1; "cosine" scales only (the
        process has mean zero, Eq. 1).
    allow_flat : bool
        Keep rows without spread as rows of zeros, which are correlated with nothing, and warn with
        their count, instead of raising.
    dtype : dtype
        Type of the rows of an array.

    Returns
    -------
    (n_samples, n_features) ndarray, or SparseRows
        Scaled rows, those of a sparse table in its precision.

    Raises
    ------
    ValueError
        If a row has no spread.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import covariance
    >>> rows = covariance.unit_rows([[1.0, 2.0, 3.0], [6.0, 4.0, 2.0]])
    >>> (rows @ rows.T).round(12)
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    if isinstance(X, SparseTable):
        return _sparse_unit_rows(X, affinity, allow_flat)
    rows, spread = np.empty(X.shape, dtype), np.empty(len(X))

    def fill(start: int, stop: int) -> None:
        block, lengths = centered_rows(X[start:stop], affinity)
        spread[start:stop] = lengths
        rows[start:stop] = block / np.where(lengths > 0.0, lengths, np.inf)[:, None]

    map_blocks(fill, len(X), block_rows(X.shape[1]))
    _kept_flat(spread, affinity, allow_flat)
    return rows


def _sparse_unit_rows(table: SparseTable, affinity: str, allow_flat: bool) -> SparseRows:
    """Return the same of a sparse table, see `unit_rows`."""
    stored, (n, p) = table.stored, table.shape
    owner = stored.tocoo().row
    largest = np.asarray(abs(stored).max(axis=1).toarray(), np.float64).ravel()
    data = stored.data / np.where(largest > 0.0, largest, 1.0)[owner]
    mean = np.zeros(n) if affinity == "cosine" else np.bincount(owner, data, n) / p
    squares = np.bincount(owner, (data - mean[owner]) ** 2, n)
    spread = np.sqrt(squares + (p - np.diff(stored.indptr)) * mean**2)
    spread[spread <= rounding(n=p)] = 0.0
    flat = _kept_flat(spread, affinity, allow_flat)
    data /= spread[owner]
    data[flat[owner]] = mean[flat] = 0.0
    return SparseRows(table, data, mean / spread)


def centered_rows(X: ArrayLike, affinity: str) -> tuple[Floats, Floats]:
    """Rows that are centered as an affinity asks, and their lengths, 0 for one without spread."""
    rows = np.array(X, dtype=np.float64, order="C")
    # Before squares are taken: rows of 1e-200 or 1e200 are as good as any.
    largest = np.abs(rows).max(axis=1, initial=0.0)
    largest[largest == 0.0] = 1.0
    rows /= largest[:, None]
    if affinity != "cosine":
        rows -= rows.mean(axis=1, keepdims=True)
    spread = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    # What centering leaves of a constant row is rounding, not spread.
    spread[spread <= rounding(n=rows.shape[1])] = 0.0
    return rows, spread


def _kept_flat(spread: Floats, affinity: str, allow_flat: bool) -> Booleans:
    """Rows without spread, (n,), which are an error or get the spread 1, with a warning."""
    flat = spread == 0.0
    if flat.all() or not allow_flat:
        check.check_rows_vary(spread, affinity)
    elif flat.any():
        # Equal rows reach this as one.
        few = "1 row of X does" if flat.sum() == 1 else f"{int(flat.sum())} rows of X do"
        warn(
            f"{few} not vary: constant rows correlate with nothing and are kept as isolated "
            "points; drop them if their place does not matter (equal rows count once)"
        )
    spread[flat] = 1.0
    return flat


@check.validate(X=check.quantities)
def column_units(X: Reals) -> Floats:
    """Compute the standard deviation of what is known of columns, infinite for one value.

    Columns divided by it have a variance of one, or are zero. Values of 1e-200 or 1e200 are as good
    as any.

    Parameters
    ----------
    X : (n_samples, n_features) ndarray of float
        Points in rows.

    Returns
    -------
    (n_features,) ndarray of float64
        Standard deviations, in the units of the columns.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import covariance
    >>> covariance.column_units(np.array([[1.0, 5.0], [3.0, 5.0]]))
    array([ 1., inf])
    """
    _, deviation, largest = column_moments(X)
    return np.where(deviation > rounding(largest), deviation, np.inf)


def column_moments(X: Any) -> tuple[Floats, Floats, Floats]:
    """Mean, standard deviation and largest absolute value of what is known of columns, (p,) each.

    Summed in double precision over blocks of rows, in units of the largest value.
    """
    blocks, largest = batches(X.shape[0], block_rows(X.shape[1])), np.zeros(X.shape[1])
    for rows in blocks:
        largest = np.fmax(largest, np.fmax.reduce(np.abs(X[rows]), axis=0))
    unit = np.where(largest > 0.0, largest, 1.0)
    total, count, squares = np.zeros((3, largest.size))
    for rows in blocks:
        total += np.nansum(X[rows] / unit, axis=0)
        count += np.isfinite(X[rows]).sum(axis=0)
    count = np.maximum(count, 1.0)
    mean = total / count
    for rows in blocks:
        squares += np.nansum((X[rows] / unit - mean) ** 2, axis=0)
    return mean * unit, np.sqrt(squares / count) * unit, largest


class EuclideanRows(NamedTuple):
    """Rows in units of sigma, and what it takes to make more of them.

    With h half the squared lengths, x_i x_j - h_i - h_j + 1 is 1 - |x_i - x_j|^2 / (2 sigma^2).
    """

    points: Any  # (n, p) centered rows over sigma, or SparseRows
    half: Floats  # (n,) half their squared lengths
    origin: Floats  # (p,) the mean row of X, subtracted first
    scale: float  # sigma
    units: Floats  # (p,) what columns are divided by as well

    def scaled(self, X: Reals) -> Floats:
        """Other rows, (b, p), on the same scale."""
        return (X - self.origin) / self.units / self.scale

    def block(self, points: Integers, first: int = 0) -> Reals:
        """1 - |x_i - x_j|^2 / (2 sigma^2) of some rows with those from ``first`` on."""
        values = products(self.points, points, first)
        half = self.half.astype(values.dtype, copy=False)
        values -= half[first:]
        values += 1.0 - half[points][:, None]
        return np.minimum(values, 1.0, out=values)


@check.validate(X=_rows, standardized=check.flag)
def euclidean_rows(X: Any, *, standardized: bool = False, dtype: Any = np.float64) -> EuclideanRows:
    r"""Rows and half their squared lengths, which make 1 - \|x_i - x_j\|² / (2 σ²).

    Two samples of a Gaussian process with variance s² per dimension are N s² · 2 (1 - k) apart in
    the square, so that this estimates k with σ² = N s². σ² is half the mean squared distance of
    two rows, so that an offset of a column changes nothing; where all rows are correlated it is
    too small by the mean correlation. Unlike "cosine" it does not take each row to its own
    length, which for few dimensions is a bad estimate of the common one.

    The similarity falls with the distance whatever σ is, so that nearest neighbors are those in
    Euclidean distance, and a threshold is a radius; far pairs have values below zero.

    Parameters
    ----------
    X : (n_samples, n_features) array_like of float64, or SparseTable
        Points in rows.
    standardized : bool
        Divide columns by their standard deviations first; those of one value count for nothing.
    dtype : dtype
        Type of the rows; those of a sparse table stay in its precision, and are not centered.

    Returns
    -------
    EuclideanRows
        Rows, half their squared lengths, origin and scale.

    Raises
    ------
    ValueError
        If all rows of X are equal.

    Examples
    --------
    >>> from ikd_graph import covariance
    >>> rows = covariance.euclidean_rows([[2.0, 0.0], [0.0, 2.0], [2.0, 2.0]])
    >>> rows.half.round(3), round(rows.scale, 3)
    (array([0.417, 0.417, 0.167]), 1.633)
    """
    n, p = X.shape
    if not isinstance(X, SparseTable):
        check.check_varies(X)
    origin, deviation, largest = column_moments(X)
    units = np.where(deviation > rounding(largest), deviation, np.inf)
    units = units if standardized else np.ones(p)
    # Before squares are taken: values of 1e-200 or 1e200 are as good as any.
    top = 1.0 if standardized else float(largest.max())
    scale = float(np.sqrt(np.sum((deviation / units / top) ** 2) * n / max(n - 1, 1)))
    # What centering leaves of equal rows is rounding.
    scale = np.inf if scale < rounding() else scale * top
    if isinstance(X, SparseTable):
        data = X.stored.data.astype(np.float64) / units[X.stored.indices] / scale
        half = np.asarray(0.5 * np.bincount(X.stored.tocoo().row, data**2, n), np.float64)
        rows = SparseRows(X, data, np.zeros(n))
        return EuclideanRows(rows, half, np.zeros(p), scale, units)
    made = EuclideanRows(np.empty((n, p), dtype), np.empty(n), origin, scale, units)

    def fill(start: int, stop: int) -> None:
        block = made.scaled(X[start:stop])
        made.half[start:stop] = 0.5 * np.einsum("ij,ij->i", block, block)
        made.points[start:stop] = block

    map_blocks(fill, n, block_rows(p))
    return made
