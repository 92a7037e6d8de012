"""Matrices of all pairs: covariances of rows, and these on the scale where the variance is 1."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from .._base import validation as check
from .._base.format import setting
from .._base.rounding import SINGLE
from .._base.threads import block_rows, map_blocks
from .._base.types import Floats, Integers, Reals
from .._base.warn import warn
from ._scaled import euclidean_rows, products, unit_rows

FLOOR = 1e-3
"""Smallest correlation that is inverted; what lies below says "far apart" and no more."""


def _dense_or_sparse(name: str, value: Any) -> Any:
    return check.sparse(name, value) if sp.issparse(value) else check.square(name, value)


VARIANCES = ("each", "mean")


@check.validate(cov=_dense_or_sparse, variance=check.one_of(VARIANCES))
def to_correlation(cov: Any, variance: str = "each") -> Any:
    """Divide a covariance by the variances of its points.

    Parameters
    ----------
    cov : (n, n) array_like of float64 or scipy sparse, symmetric
        Covariances of any scales, ``np.cov(X)`` for those of the rows of X. A sparse matrix without
        a stored diagonal holds correlations.
    variance : {"each", "mean"}
        "each" divides by the standard deviations of both points. "mean" divides by one sigma², the
        mean of the diagonal (Li & Wu 2024, Algorithm 1, line 3): variances of a sample differ, so
        that some covariances of near points exceed it. They are set to 1, a distance of 0.

    Returns
    -------
    (n, n) ndarray of float64 or csr_array
        Correlations in [-1, 1], ones on the diagonal; a point without variance is correlated with
        no other. Of a sparse matrix all that was stored, zeros included. Fit them with
        ``affinity="precomputed"``.

    Warns
    -----
    UserWarning
        With the count of covariances that are larger than their variances allow, or than sigma².

    Examples
    --------
    >>> from ikd_graph import covariance
    >>> covariance.to_correlation([[4.0, 1.0], [1.0, 1.0]])
    array([[1. , 0.5],
           [0.5, 1. ]])
    >>> covariance.to_correlation([[4.0, 1.0], [1.0, 1.0]], variance="mean")
    array([[1. , 0.4],
           [0.4, 1. ]])
    """
    spread, there = standard_deviations(cov), cov.diagonal() > 0.0
    if sp.issparse(cov) and there.any() and not there.all():
        raise ValueError(
            "cov must have a positive variance for every point on its diagonal, got "
            f"{np.count_nonzero(~there)} points without; store no diagonal at all if the entries "
            "are correlations"
        )
    what, cure = "variances", "check that the diagonal holds the variances"
    if variance == "mean":
        what, cure = "mean variance", "variance='each' divides by those of both points"
        if there.any():
            spread = np.full_like(spread, np.mean(cov.diagonal(), dtype=np.float64) ** 0.5)
    if sp.issparse(cov):
        corr = sp.coo_array(cov, dtype=np.float64, copy=True)
        corr.data /= spread[corr.row] * spread[corr.col]
        corr.setdiag(1.0)
        corr = corr.tocsr()
        values = corr.data
    else:
        corr = values = np.asarray(cov, dtype=np.float64) / np.outer(spread, spread)
        np.fill_diagonal(corr, 1.0)
    count = np.count_nonzero(values > 1.0 + SINGLE)
    if count:
        warn(f"{count} covariances exceed the {what} and are taken for it, a distance of 0; {cure}")
    np.clip(values, -1.0, 1.0, out=values)
    return corr


def standard_deviations(cov: Any) -> Floats:
    """Roots of the diagonal of a covariance, dense or sparse; 1 for a variance of 0 or unknown."""
    variances = np.asarray(cov.diagonal(), dtype=np.float64)
    least = float(variances.min(initial=0.0))
    if least < 0.0:
        raise ValueError(
            f"the diagonal of a covariance must not be negative, got {least:.3g}: variances"
        )
    return np.sqrt(np.where(variances > 0.0, variances, 1.0))


@check.validate(corr=check.square)
def clip_correlations(corr: Floats) -> Floats:
    """Correlations lifted into (0, 1], where every kernel can be inverted.

    A matrix without a value at or below zero may be exact, and its small values are kept. With
    one it holds noise, and every value below .001 is lifted to it.

    Parameters
    ----------
    corr : (n, n) ndarray of float64
        Covariances on the scale where the variance is 1.

    Returns
    -------
    (n, n) ndarray of float64
        Values in (0, 1], ones on the diagonal.

    Warns
    -----
    UserWarning
        With the count of pairs that lay at or below zero or above the variance.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import covariance
    >>> covariance.clip_correlations(np.array([[1.0, 0.5], [0.5, 1.0]]))
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    upper = corr[np.triu_indices(corr.shape[0], 1)]
    below = np.count_nonzero(upper <= 0.0)
    # Rounding puts the correlation of two equal rows a few bits above 1.
    above = np.count_nonzero(upper > 1.0 + SINGLE)
    if below or above:
        warn(
            f"{below} of {upper.size} pairs have a covariance <= 0 and {above} one above the "
            f"variance; they were set to {FLOOR:g} and 1. Such pairs carry no distance: "
            f"{setting('strategy', 'geodesic')} or 'blockwise' does without them"
        )
    lifted = np.clip(corr, FLOOR if below else None, 1.0)
    np.fill_diagonal(lifted, 1.0)
    return lifted


@check.validate(corr=check.numbers, n_observed=check.observations)
def sampling_variance(corr: ArrayLike, n_observed: ArrayLike) -> Floats:
    """Compute the sampling variance of a correlation from ``n_observed`` independent dimensions.

    To first order (1 - r^2)^2 / N: the exact form of the paper's sketch in Eq. 11.

    Parameters
    ----------
    corr : array_like of float64
        Correlations, any shape.
    n_observed : float or array_like of float
        Number N of independent columns (`effective_columns`), or that of each correlation.

    Returns
    -------
    ndarray of float64
        Variances, the same shape.

    Examples
    --------
    >>> from ikd_graph import covariance
    >>> float(covariance.sampling_variance(0.0, 100))
    0.01
    """
    return (1.0 - np.asarray(corr, dtype=np.float64) ** 2) ** 2 / np.asarray(n_observed)


@check.validate(rows=check.table)
def gram(rows: Reals) -> Floats:
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
    return symmetric_matrix(
        lambda points, first: rows[first : first + points.size] @ rows[first:].T, len(rows)
    )


def symmetric_matrix(block_of: Callable[[Integers, int], Reals], n: int) -> Floats:
    """Return a matrix (n, n), exactly symmetric, from blocks of rows from the diagonal on.

    ``block_of`` maps consecutive points (b,) and the first of them to their (b, n - first) values.
    """
    out = np.empty((n, n))

    def fill(start: int, stop: int) -> None:
        # From the diagonal on: the mirror image makes the rest, and the symmetry exact.
        block = block_of(np.arange(start, stop), start)
        square = block[:, : stop - start]
        block[:, : stop - start] = np.tril(square) + np.tril(square, -1).T
        out[start:stop, start:] = block
        out[start:, start:stop] = block.T

    map_blocks(fill, n, block_rows(n))
    return out


@check.validate(X=check.table, centered=check.flag)
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
    if centered:
        rows -= rows.mean(axis=1, keepdims=True)
    return gram(rows) / max(rows.shape[1] - centered, 1)


@check.validate(X=check.table)
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
    return _cosines(unit_rows(X, "correlation"))


@check.validate(X=check.table)
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
    return _cosines(unit_rows(X, "cosine"))


def _cosines(rows: Floats) -> Floats:
    """Products of unit rows, (n, n), in [-1, 1] and with ones for equal rows, whatever rounding."""
    similarity = symmetric_matrix(partial(products, rows), len(rows))
    np.clip(similarity, -1.0, 1.0, out=similarity)
    np.fill_diagonal(similarity, 1.0)
    return similarity


@check.validate(X=check.table)
def euclidean(X: ArrayLike) -> Floats:
    r"""Euclidean similarity between rows, 1 - \|x_i - x_j\|² / (2 σ²), see `euclidean_rows`.

    Parameters
    ----------
    X : (n_samples, n_features) array_like
        Rows to compare.

    Returns
    -------
    (n_samples, n_samples) ndarray of float64
        Similarities, at most 1 (on the diagonal); negative between rows that are further apart than
        two rows are in the mean.

    Raises
    ------
    ValueError
        If all rows of X are equal.

    Examples
    --------
    >>> from ikd_graph import covariance
    >>> covariance.euclidean([[2.0, 0.0], [0.0, 2.0], [2.0, 2.0]]).round(3)
    array([[ 1.  , -0.5 ,  0.25],
           [-0.5 ,  1.  ,  0.25],
           [ 0.25,  0.25,  1.  ]])
    """
    rows = euclidean_rows(X)
    similarity = symmetric_matrix(rows.block, len(rows.half))
    np.fill_diagonal(similarity, 1.0)
    return similarity
