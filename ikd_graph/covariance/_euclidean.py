"""Euclidean similarity: inner products of two sets of rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _doors as door
from .._validation import check_same_shape, check_varies
from ._rows import gram

Floats = NDArray[np.float64]


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


_made = door.record(EuclideanRows, "covariance.euclidean_rows makes them")


@door.takes(X=door.table, like=door.optional(_made))
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


@door.takes(X=door.table)
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


@door.takes(made=_made)
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
