"""Covariances on the scale where the variance is 1, and what sampling makes of them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from .. import _checks as door
from .._threads import block_rows

Floats = NDArray[np.float64]

FLOOR = 1e-3
"""Smallest correlation that is inverted; what lies below says "far apart" and no more."""

ROUNDING = 1e-13
"""A column that varies by a smaller share of its largest value has one value."""


@door.takes(cov=door.square)
def scale_to_correlation(cov: ArrayLike) -> tuple[Floats, float]:
    """Divide a covariance by its mean diagonal (Li & Wu 2024, Alg. 1, line 3).

    Parameters
    ----------
    cov : (n, n) array_like of float64, symmetric
        Covariances of any scale.

    Returns
    -------
    scaled : (n, n) ndarray of float64
        Covariances on the scale where the variance is 1.
    variance : float
        The mean diagonal.

    Raises
    ------
    ValueError
        If the mean diagonal is not positive.

    Examples
    --------
    >>> from ikd_graph import covariance
    >>> covariance.scale_to_correlation([[2.0, 1.0], [1.0, 2.0]])[1]
    2.0
    """
    matrix = np.asarray(cov, dtype=np.float64)
    variance = float(np.mean(np.diagonal(matrix)))
    if not variance > 0.0:
        raise ValueError(
            f"the diagonal of a covariance must have a positive mean, got {variance:.3g}; "
            "a precomputed X holds covariances (large is near), not distances"
        )
    return matrix / variance, variance


@door.takes(cov=door.square)
def to_correlation(cov: ArrayLike) -> Floats:
    """Divide a covariance by the roots of its diagonal.

    Parameters
    ----------
    cov : (n, n) array_like of float64, symmetric
        Covariances of any scales.

    Returns
    -------
    (n, n) ndarray of float64
        Correlations in [-1, 1], ones on the diagonal; a point without variance is correlated with
        no other.

    Examples
    --------
    >>> from ikd_graph import covariance
    >>> covariance.to_correlation([[4.0, 1.0], [1.0, 1.0]])
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    matrix = np.asarray(cov, dtype=np.float64)
    least = float(np.diagonal(matrix).min())
    if least < 0.0:
        raise ValueError(
            f"the diagonal of a covariance must not be negative, got {least:.3g}: variances"
        )
    spread = np.sqrt(np.diagonal(matrix))
    spread[spread == 0.0] = 1.0
    corr = np.clip(matrix / np.outer(spread, spread), -1.0, 1.0)
    np.fill_diagonal(corr, 1.0)
    return corr


@door.takes(cov=door.sparse)
def scale_sparse_to_correlation(cov: Any) -> tuple[Any, float]:
    """As `scale_to_correlation` for a sparse matrix; without a stored diagonal it is one already.

    Parameters
    ----------
    cov : (n, n) scipy sparse of float64, symmetric
        Covariances between points; what is not stored is not known.

    Returns
    -------
    scaled : (n, n) csr_array of float64
        The same entries on the scale where the variance is 1, ones on the diagonal.
    variance : float
        The mean diagonal, or 1.
    """
    entries = sp.coo_array(cov, dtype=np.float64)
    on_diagonal = entries.row == entries.col
    variance = float(entries.data[on_diagonal].mean()) if on_diagonal.any() else 1.0
    if not variance > 0.0:
        return scale_to_correlation.unchecked(np.diag(cov.diagonal()))
    ones = np.arange(cov.shape[0])
    data = np.concatenate([entries.data[~on_diagonal] / variance, np.ones(ones.size)])
    row = np.concatenate([entries.row[~on_diagonal], ones])
    column = np.concatenate([entries.col[~on_diagonal], ones])
    return sp.csr_array((data, (row, column)), shape=cov.shape), variance


@door.takes(corr=door.square, floor=door.positive)
def into_domain(corr: Floats, *, floor: float = FLOOR) -> Floats:
    """Correlations lifted into (0, 1], where every kernel can be inverted.

    A matrix without a value at or below zero may be exact, and its small values are kept. With
    one it holds noise, and every value below the floor is lifted to it.

    Parameters
    ----------
    corr : (n, n) ndarray of float64
        Covariances on the scale where the variance is 1.
    floor : float
        Smallest value of a noisy matrix that is inverted.

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
    >>> covariance.into_domain(np.array([[1.0, 0.5], [0.5, 1.0]]))
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    upper = corr[np.triu_indices(corr.shape[0], 1)]
    below = int(np.count_nonzero(upper <= 0.0))
    # Rounding puts the correlation of two equal rows a few bits above 1.
    above = int(np.count_nonzero(upper > 1.0 + 1e-9))
    if below or above:
        warnings.warn(
            f"{below} of {upper.size} pairs have a covariance <= 0 and {above} one above the "
            f"variance; they were set to {floor:g} and 1. Such pairs carry no distance: "
            "strategy='geodesic' or 'blockwise' does without them",
            UserWarning,
            stacklevel=2,
        )
    lifted = np.clip(corr, floor if below else None, 1.0)
    np.fill_diagonal(lifted, 1.0)
    return lifted


@door.takes(corr=door.numbers, n_observed=door.count)
def sampling_variance(corr: ArrayLike, n_observed: int) -> Floats:
    """Sampling variance of a correlation from ``n_observed`` independent dimensions.

    To first order (1 - r^2)^2 / N: the exact form of the paper's sketch in Eq. 11.

    Parameters
    ----------
    corr : array_like of float64
        Correlations, any shape.
    n_observed : int
        Number N of observed dimensions.

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
    return (1.0 - np.asarray(corr, dtype=np.float64) ** 2) ** 2 / n_observed


@door.takes(X=door.table)
def column_units(X: NDArray[np.floating]) -> Floats:
    """Standard deviation of every column, infinite where a column has one value.

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
    return np.where(deviation > ROUNDING * largest, deviation, np.inf)


def column_moments(X: NDArray[np.floating]) -> tuple[Floats, Floats, Floats]:
    """Mean, standard deviation and largest absolute value of every column, (p,) each.

    Summed in double precision over blocks of rows, in units of the largest value.
    """
    n, p = X.shape
    step = block_rows(p)
    blocks = [slice(start, start + step) for start in range(0, n, step)]
    largest = np.max([np.abs(X[rows]).max(axis=0) for rows in blocks], axis=0).astype(np.float64)
    unit = np.where(largest > 0.0, largest, 1.0)
    mean, squares = np.zeros(p), np.zeros(p)
    for rows in blocks:
        mean += (X[rows] / unit).sum(axis=0) / n
    for rows in blocks:
        gaps = X[rows] / unit - mean
        squares += np.einsum("ij,ij->j", gaps, gaps)
    return mean * unit, np.sqrt(squares / n) * unit, largest
