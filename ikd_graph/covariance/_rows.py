"""Rows of X, scaled so that their inner products are covariances between points."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base import validation as check
from .._base.threads import block_rows, map_blocks
from .._base.types import Floats
from .._base.validation import check_rows_vary, validate
from .._base.warn import warn

AFFINITIES = ("correlation", "cosine")
"""Affinities that are inner products of scaled rows."""


@validate(X=check.table, affinity=check.one_of(AFFINITIES), allow_flat=check.flag)
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
    flat = kept_flat(spread, allow_flat)
    spread[flat] = 1.0
    rows[flat] = 0.0
    check_rows_vary(spread, affinity)
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
    spread[spread <= 1e-13 * np.sqrt(rows.shape[1])] = 0.0
    return rows, spread


def rows_vary(X: NDArray[np.floating], affinity: str) -> NDArray[np.bool_]:
    """Whether a row has a direction that it can be compared by, (n,); one with NaN has none."""
    return np.asarray(centered_rows(X, affinity)[1] > 0.0)


def kept_flat(spread: Floats, allow_flat: bool) -> NDArray[np.bool_]:
    """Rows without spread that are kept all the same, with a warning, (n,)."""
    flat = spread == 0.0
    if not allow_flat or not flat.any() or flat.all():
        return np.zeros_like(flat)
    # Equal rows reach this as one.
    few = "1 row of X does" if flat.sum() == 1 else f"{int(flat.sum())} rows of X do"
    warn(
        f"{few} not vary: constant rows correlate with nothing and are kept as isolated points; "
        "drop them if their place does not matter (equal rows count once)"
    )
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
    n = rows.shape[0]
    out = np.empty((n, n))

    def fill(start: int, stop: int) -> None:
        # From the diagonal on: the mirror image makes the rest, and the symmetry exact.
        block = rows[start:stop] @ rows[start:].T
        square = block[:, : stop - start]
        block[:, : stop - start] = np.tril(square) + np.tril(square, -1).T
        out[start:stop, start:] = block
        out[start:, start:stop] = block.T

    map_blocks(fill, n, block_rows(n))
    return out


@validate(X=check.table)
def correlation(X: ArrayLike) -> Floats:
    """Pearson correlation between rows.

    Parameters
    ----------
    X : (n_samples, n_features) array_like of float64
        Points in rows.

    Returns
    -------
    (n_samples, n_samples) ndarray of float64
        Correlations in [-1, 1], ones on the diagonal.

    Raises
    ------
    ValueError
        If a row is constant.

    Examples
    --------
    >>> from ikd_graph import covariance
    >>> covariance.correlation([[1.0, 2.0, 3.0], [1.0, 3.0, 2.0]]).round(3)
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    return _bounded(gram(unit_rows(X, "correlation")))


@validate(X=check.table)
def cosine(X: ArrayLike) -> Floats:
    """Cosine between rows: the correlation of a process whose mean is known to be zero.

    Parameters
    ----------
    X : (n_samples, n_features) array_like of float64
        Rows to compare.

    Returns
    -------
    (n_samples, n_samples) ndarray of float64
        Cosines, as bounded as correlations are.

    Raises
    ------
    ValueError
        If a row is zero.

    Examples
    --------
    >>> from ikd_graph import covariance
    >>> covariance.cosine([[1.0, 0.0], [1.0, 1.0]]).round(4)
    array([[1.    , 0.7071],
           [0.7071, 1.    ]])
    """
    return _bounded(gram(unit_rows(X, "cosine")))


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


def _bounded(corr: Floats) -> Floats:
    """Correlations with rounding beyond [-1, 1] taken off and ones on the diagonal, in place."""
    np.clip(corr, -1.0, 1.0, out=corr)
    np.fill_diagonal(corr, 1.0)
    return corr
