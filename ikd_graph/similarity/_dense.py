"""Rows of a table, scaled so that their inner products say how similar they are."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base import validation as check
from .._base.rounding import rounding
from .._base.threads import block_rows, map_blocks
from .._base.types import Floats
from .._base.validation import check_rows_vary, check_varies, validate
from .._base.warn import warn
from ._correlations import column_moments


@validate(X=check.table, affinity=check.one_of(("correlation", "cosine")), allow_flat=check.flag)
def unit_rows(
    X: ArrayLike,
    affinity: str = "correlation",
    *,
    allow_flat: bool = False,
) -> Floats:
    """Rows U for which ``U @ U.T`` is the affinity between points.

    Parameters
    ----------
    X : (n_samples, n_features) array_like of float64
        Points in rows.
    affinity : {"correlation", "cosine"}
        "correlation" centers each row and scales it to length 1; "cosine" scales only (the
        process has mean zero, Eq. 1).
    allow_flat : bool
        Keep rows without spread as rows of zeros, which are correlated with nothing, and warn with
        their count, instead of raising.

    Returns
    -------
    (n_samples, n_features) ndarray of float64
        Scaled rows.

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
    rows, spread = centered_rows(X, affinity)
    rows[kept_flat(spread, affinity, allow_flat)] = 0.0
    rows /= spread[:, None]
    return rows


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


def kept_flat(spread: Floats, affinity: str, allow_flat: bool) -> NDArray[np.bool_]:
    """Rows without spread, (n,), which are an error or get the spread 1, with a warning."""
    flat = spread == 0.0
    if flat.all() or not allow_flat:
        check_rows_vary(spread, affinity)
    elif flat.any():
        # Equal rows reach this as one.
        few = "1 row of X does" if flat.sum() == 1 else f"{int(flat.sum())} rows of X do"
        warn(
            f"{few} not vary: constant rows correlate with nothing and are kept as isolated "
            "points; drop them if their place does not matter (equal rows count once)"
        )
    spread[flat] = 1.0
    return flat


@validate(rows=check.table)
def gram(rows: NDArray[np.floating]) -> Floats:
    """All inner products of rows, in fixed blocks so that the result is the same for any n_jobs.

    Parameters
    ----------
    rows : (n, p) ndarray of float
        Scaled rows, see `unit_rows`.

    Returns
    -------
    (n, n) ndarray of float64
        ``rows @ rows.T``, exactly symmetric.
    """
    return symmetric_matrix(lambda start, stop: rows[start:stop] @ rows[start:].T, len(rows))


def symmetric_matrix(block_of: Callable[[int, int], NDArray[np.floating]], n: int) -> Floats:
    """Return a matrix (n, n), exactly symmetric, from blocks of rows from the diagonal on."""
    out = np.empty((n, n))

    def fill(start: int, stop: int) -> None:
        # From the diagonal on: the mirror image makes the rest, and the symmetry exact.
        block = block_of(start, stop)
        square = block[:, : stop - start]
        block[:, : stop - start] = np.tril(square) + np.tril(square, -1).T
        out[start:stop, start:] = block
        out[start:, start:stop] = block.T

    map_blocks(fill, n, block_rows(n))
    return out


@validate(X=check.table, centered=check.flag)
def covariance(X: ArrayLike, *, centered: bool = True) -> Floats:
    """Sample covariance between rows (Li & Wu 2024, Alg. 1, line 2).

    Parameters
    ----------
    X : (n_samples, n_features) array_like of float64
        Points in rows.
    centered : bool
        Subtract the mean of each row and divide by ``n_features - 1``; else take the mean as
        known to be zero and divide by ``n_features``.

    Returns
    -------
    (n_samples, n_samples) ndarray of float64
        Covariances, in the units of X squared.

    Examples
    --------
    >>> from ikd_graph import covariance
    >>> covariance.covariance([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0]])
    array([[1., 2.],
           [2., 4.]])
    """
    rows = np.array(X, dtype=np.float64, order="C")
    n_features = rows.shape[1]
    if centered:
        rows -= rows.mean(axis=1, keepdims=True)
    return gram(rows) / max(n_features - centered, 1)


class EuclideanRows(NamedTuple):
    """Rows in units of sigma, and what it takes to make more of them.

    With h half the squared lengths, x_i x_j - h_i - h_j + 1 is 1 - |x_i - x_j|^2 / (2 sigma^2).
    """

    points: NDArray[np.floating]  # (n, p) centered rows over sigma
    half: Floats  # (n,) half their squared lengths
    origin: Floats  # (p,) the mean row of X, subtracted first
    scale: float  # sigma
    units: Floats  # (p,) what columns are divided by as well

    def scaled(self, X: NDArray[np.floating]) -> Floats:
        """Other rows, (b, p), on the same scale."""
        points: Floats = (X - self.origin) / self.units / self.scale
        return points


@validate(X=check.table, standardized=check.flag)
def euclidean_rows(
    X: ArrayLike,
    *,
    standardized: bool = False,
    dtype: Any = np.float64,
) -> EuclideanRows:
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
    X : (n_samples, n_features) array_like of float64
        Points in rows.
    standardized : bool
        Divide columns by their standard deviations first; those of one value count for nothing.
    dtype : dtype
        Type of the rows.

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
    table = np.asarray(X)
    n, p = table.shape
    check_varies(table)
    like = euclidean_scale(table, standardized)
    points, half = np.empty((n, p), dtype), np.empty(n)

    def fill(start: int, stop: int) -> None:
        block = like.scaled(table[start:stop])
        half[start:stop] = 0.5 * np.einsum("ij,ij->i", block, block)
        points[start:stop] = block

    map_blocks(fill, n, block_rows(p))
    return like._replace(points=points, half=half)


def euclidean_scale(X: Any, standardized: bool) -> EuclideanRows:
    """Origin, scale and units of the rows of a dense or sparse table, without the rows."""
    n, p = X.shape
    origin, deviation, largest = column_moments(X)
    units = np.where(deviation > rounding(largest), deviation, np.inf)
    units = units if standardized else np.ones(p)
    # Before squares are taken: values of 1e-200 or 1e200 are as good as any.
    top = 1.0 if standardized else float(largest.max())
    scale = float(np.sqrt(np.sum((deviation / units / top) ** 2) * n / max(n - 1, 1)))
    # What centering leaves of equal rows is rounding.
    scale = np.inf if scale < rounding() else scale * top
    return EuclideanRows(np.empty((0, p)), np.empty(0), origin, scale, units)
