"""Euclidean similarity: inner products of rows less half their squared lengths."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base import validation as check
from .._base.threads import block_rows, map_blocks
from .._base.types import Floats
from .._base.validation import check_varies, validate
from ._rows import gram
from ._scale import ROUNDING, column_moments


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
        If X has one value throughout.

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
    units = np.where(deviation > ROUNDING * largest, deviation, np.inf)
    units = units if standardized else np.ones(p)
    # Before squares are taken: values of 1e-200 or 1e200 are as good as any.
    top = 1.0 if standardized else float(largest.max())
    scale = float(np.sqrt(np.sum((deviation / units / top) ** 2) * n / max(n - 1, 1)))
    # What centering leaves of equal rows is rounding.
    scale = np.inf if scale < ROUNDING else scale * top
    return EuclideanRows(np.empty((0, p)), np.empty(0), origin, scale, units)


@validate(X=check.table)
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
    rows = euclidean_rows(X)
    similarity = gram(rows.points)
    similarity -= rows.half[:, None] + rows.half - 1.0
    np.minimum(similarity, 1.0, out=similarity)
    np.fill_diagonal(similarity, 1.0)
    return similarity
