"""Rows of X to the covariance between points and its precision.

Points are rows; each observed dimension is one draw of the process, so the covariance between two
ROWS estimates the kernel between their latents (Li & Wu 2024, Eq. 1 and Section 2.2).
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from ._threads import map_blocks
from ._validation import check_choice, check_rows_vary, check_same_shape, check_varies

Floats = NDArray[np.float64]

AFFINITIES = ("correlation", "cosine", "covariance")
"""Affinities that are inner products of scaled rows."""

FLOOR = 1e-3
"""Smallest correlation that is inverted; what lies below says "far apart" and no more."""

_BLOCK = 256

__all__ = [
    "AFFINITIES",
    "FLOOR",
    "EuclideanRows",
    "correlation",
    "cosine",
    "covariance",
    "euclidean",
    "euclidean_rows",
    "euclidean_similarity",
    "gram",
    "into_domain",
    "sampling_variance",
    "scale_sparse_to_correlation",
    "scale_to_correlation",
    "unit_rows",
]


def unit_rows(
    X: ArrayLike,
    affinity: str = "correlation",
    *,
    scale: float | None = None,
    allow_flat: bool = False,
) -> Floats:
    """Rows U for which ``U @ U.T`` is the affinity between points.

    Parameters
    ----------
    X : (n_samples, n_features) array_like of float64
        Points in rows.
    affinity : {"correlation", "cosine", "covariance"}
        "correlation" centres each row and scales it to length 1; "cosine" scales only (the
        process has mean zero, Eq. 1); "covariance" centres each row and divides all by one
        number, the root of the mean variance (Alg. 1, lines 2 and 3).
    scale : float or None
        The number that "covariance" divides by, the root of the summed squares of a typical
        centred row; None takes it from X.
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
        If a row has no spread (correlation, cosine), or none has (covariance).

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import covariance
    >>> rows = covariance.unit_rows([[1.0, 2.0, 3.0], [6.0, 4.0, 2.0]])
    >>> (rows @ rows.T).round(12)
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    check_choice("affinity", affinity, AFFINITIES)
    rows = np.array(X, dtype=np.float64, order="C")
    # Before squares are taken: rows of 1e-200 or 1e200 are as good as any.
    largest = np.abs(rows).max(axis=1, initial=0.0)
    largest[largest == 0.0] = 1.0
    if affinity == "covariance":
        largest[:] = largest.max() if scale is None else scale
    rows /= largest[:, None]
    if affinity != "cosine":
        rows -= rows.mean(axis=1, keepdims=True)
    if affinity == "covariance" and scale is not None:
        return rows
    spread = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    # What centring leaves of a constant row is rounding, not spread.
    spread[spread <= 1e-13 * np.sqrt(rows.shape[1])] = 0.0
    if affinity == "covariance":
        spread[:] = np.sqrt(np.mean(spread**2))
    flat = spread == 0.0
    if allow_flat and flat.any() and not flat.all():
        warnings.warn(
            f"{int(flat.sum())} rows of X do not vary; they are correlated with nothing and were "
            "kept as isolated points; drop them if their place does not matter",
            UserWarning,
            stacklevel=2,
        )
        spread[flat] = 1.0
        rows[flat] = 0.0
    check_rows_vary(spread, affinity)
    rows /= spread[:, None]
    return rows


class EuclideanRows(NamedTuple):
    """Rows whose products are Euclidean similarities, and what it takes to make more of them.

    Squared distances are no inner products of one set of rows with itself, but of two: with
    a = 1/2 - |x|^2 / (2 sigma^2), the products of (x / sigma, a, 1) with (x / sigma, 1, a) are
    1 - |x_i - x_j|^2 / (2 sigma^2).
    """

    rows: Floats  # (n, p + 2)
    others: Floats  # (n, p + 2) the same with the last two columns swapped
    origin: Floats  # (p,) the mean row of X, subtracted first
    scale: float  # sigma

    @property
    def points(self) -> Floats:
        """Centred rows over sigma, (n, p)."""
        return self.rows[:, :-2]


def euclidean_rows(X: ArrayLike, *, like: EuclideanRows | None = None) -> EuclideanRows:
    r"""Rows U and V for which ``U @ V.T`` is 1 - \|x_i - x_j\|² / (2 σ²).

    Two samples of a Gaussian process with variance s² per dimension are N s² · 2 (1 - k) apart in
    the square, so that this estimates k with σ² = N s². σ² is half the mean squared distance of
    two rows, so that an offset of a column changes nothing; where all rows are correlated it is
    too small by the mean correlation. Unlike "cosine" it does not take each row to its own
    length, which for few dimensions is a bad estimate of the common one.

    The similarity falls with the distance whatever σ is, so that nearest neighbours are those in
    Euclidean distance, and a threshold is a radius; far pairs have values below zero.

    Parameters
    ----------
    X : (n_samples, n_features) array_like of float64
        Points in rows.
    like : EuclideanRows, optional
        Rows to be compared with: takes origin and scale from them, as new rows must.

    Returns
    -------
    EuclideanRows
        Both sets of rows, origin and scale.

    Raises
    ------
    ValueError
        If X has one value throughout, or other columns than ``like``.

    Examples
    --------
    >>> from ikd_graph import covariance
    >>> made = covariance.euclidean_rows([[2.0, 0.0], [0.0, 2.0], [2.0, 2.0]])
    >>> (made.rows @ made.others.T).round(3)
    array([[ 1.  , -0.5 ,  0.25],
           [-0.5 ,  1.  ,  0.25],
           [ 0.25,  0.25,  1.  ]])
    """
    points = np.array(X, dtype=np.float64, order="C")
    if like is None:
        check_varies(points)
        # Before squares are taken: values of 1e-200 or 1e200 are as good as any.
        largest = float(np.abs(points).max())
        points /= largest
        origin = points.mean(axis=0)
        points -= origin
        pairs = max(len(points) - 1, 1) / len(points)
        scale = float(np.sqrt(np.mean(np.sum(points**2, axis=1)) / pairs))
        if scale < 1e-13:  # what centring leaves of equal rows is rounding
            points[:], scale = 0.0, 1.0
        points /= scale
        origin, scale = origin * largest, scale * largest
    else:
        origin, scale = like.origin, like.scale
        check_same_shape("a row of X", points[:1], "a row compared with", origin[None])
        points = (points - origin) / scale
    half = 0.5 - 0.5 * np.einsum("ij,ij->i", points, points)
    one = np.ones_like(half)
    rows = np.column_stack([points, half, one])
    return EuclideanRows(rows, np.column_stack([points, one, half]), origin, scale)


def gram(rows: NDArray[np.floating], others: NDArray[np.floating] | None = None) -> Floats:
    """All inner products of rows, in fixed blocks so that the result is the same for any n_jobs.

    Parameters
    ----------
    rows : (n, p) ndarray of float
        Scaled rows, see `unit_rows`.
    others : (n, p) ndarray of float, optional
        What they are multiplied with, if not with themselves, see `euclidean_rows`; the products
        have to be symmetric.

    Returns
    -------
    (n, n) ndarray of float64
        ``rows @ others.T``, exactly symmetric.
    """
    n = rows.shape[0]
    out = np.empty((n, n))
    right = rows if others is None else others

    def fill(start: int, stop: int) -> None:
        # From the diagonal on: the mirror image makes the rest, and the symmetry exact.
        part = rows[start:stop] @ right[start:].T
        square = part[:, : stop - start]
        part[:, : stop - start] = np.tril(square) + np.tril(square, -1).T
        out[start:stop, start:] = part
        out[start:, start:stop] = part.T

    map_blocks(fill, n, _BLOCK)
    return out


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


def cosine(X: ArrayLike) -> Floats:
    """Cosine between rows: the correlation of a process whose mean is known to be zero.

    Parameters
    ----------
    X : (n_samples, n_features) array_like of float64
        Points in rows.

    Returns
    -------
    (n_samples, n_samples) ndarray of float64
        Cosines in [-1, 1], ones on the diagonal.

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


def euclidean(X: ArrayLike) -> Floats:
    r"""Euclidean similarity between rows, 1 - \|x_i - x_j\|² / (2 σ²), see `euclidean_rows`.

    Parameters
    ----------
    X : (n_samples, n_features) array_like of float64
        Points in rows.

    Returns
    -------
    (n_samples, n_samples) ndarray of float64
        Similarities, at most 1 and ones on the diagonal; negative between rows that are further
        apart than two rows are in the mean.

    Raises
    ------
    ValueError
        If X has one value throughout.

    Examples
    --------
    >>> from ikd_graph import covariance
    >>> covariance.euclidean([[2.0, 0.0], [0.0, 2.0], [2.0, 2.0]]).round(3)
    array([[ 1.  , -0.5 ,  0.25],
           [-0.5 ,  1.  ,  0.25],
           [ 0.25,  0.25,  1.  ]])
    """
    return euclidean_similarity(euclidean_rows(X))


def euclidean_similarity(made: EuclideanRows) -> Floats:
    """Euclidean similarity of rows that were made by `euclidean_rows`.

    Parameters
    ----------
    made : EuclideanRows
        Both sets of rows.

    Returns
    -------
    (n_samples, n_samples) ndarray of float64
        Similarities, at most 1 and ones on the diagonal.
    """
    similarity = gram(made.rows, made.others)
    np.minimum(similarity, 1.0, out=similarity)
    np.fill_diagonal(similarity, 1.0)
    return similarity


def covariance(X: ArrayLike, *, centre: bool = True) -> Floats:
    """Sample covariance between rows (Li & Wu 2024, Alg. 1, line 2).

    Parameters
    ----------
    X : (n_samples, n_features) array_like of float64
        Points in rows.
    centre : bool
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
    if centre:
        rows -= rows.mean(axis=1, keepdims=True)
    return gram(rows) / max(n_features - centre, 1)


def scale_to_correlation(cov: ArrayLike) -> tuple[Floats, float]:
    """Divide a covariance by its mean diagonal (Li & Wu 2024, Alg. 1, line 3).

    Parameters
    ----------
    cov : (n, n) array_like of float64, symmetric
        Covariances between points.

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
        return scale_to_correlation(np.diag(cov.diagonal()))
    ones = np.arange(cov.shape[0])
    data = np.concatenate([entries.data[~on_diagonal] / variance, np.ones(ones.size)])
    row = np.concatenate([entries.row[~on_diagonal], ones])
    column = np.concatenate([entries.col[~on_diagonal], ones])
    return sp.csr_array((data, (row, column)), shape=cov.shape), variance


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


def _bounded(corr: Floats) -> Floats:
    """Correlations with rounding beyond [-1, 1] taken off and ones on the diagonal, in place."""
    np.clip(corr, -1.0, 1.0, out=corr)
    np.fill_diagonal(corr, 1.0)
    return corr
