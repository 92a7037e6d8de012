"""Similarity of the rows of a table, dense or sparse."""

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from .._base import limits
from .._base.threads import batches, block_rows
from .._base.types import Booleans, Floats, Indices, Integers, Reals
from .._base.validation import table, validate
from ._base import AFFINITIES, GIVEN, Affinity, Similarity
from ._given import Precomputed, SparsePrecomputed
from ._neighbors import exact_neighbors, pair_products, row_neighbors
from ._scaled import EuclideanRows, SparseRows, centered_rows, euclidean_rows, unit_rows

_FARTHEST = 1e100
"""Units from the mean row beyond which squared distances are no numbers."""


class RowSimilarity(Similarity):
    """An affinity on rows: inner products of scaled rows, or squared distances between them.

    Rows are scaled once, in double precision up to 10 000 of them, beyond in that of X.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import similarity
    >>> rows = np.array([[1.0, 2.0, 3.0], [1.0, 3.0, 2.0]])
    >>> similarity.compare(rows, "correlation").matrix().round(3)
    array([[1. , 0.5],
           [0.5, 1. ]])
    """

    def __init__(
        self, affinity: Affinity, rows: Any, scale: Any = None, *, model_based: bool = False
    ) -> None:
        super().__init__(affinity, *rows.shape)
        self.rows, self.model_based = rows, model_based
        self.scale: EuclideanRows | None = scale
        self.centers_rows = model_based and affinity.centers_rows
        if scale is not None and np.isfinite(scale.scale):
            self.unit = float(scale.scale)

    def modeled(self, X: Any) -> Floats:
        """Rows as the likelihood takes them for samples of a Gaussian process.

        Samples of the model as they are; other rows as they are compared, each column less its
        mean, which the similarities of rows do not see.
        """
        if self.model_based:
            return np.asarray(X, dtype=np.float64)
        return (self.factor_of(X) - self._mean) * np.sqrt(X.shape[1])

    @cached_property
    def _mean(self) -> Floats:
        """Mean of the rows as they are compared, (p,)."""
        return self.rows.mean(axis=0, dtype=np.float64)

    def block(self, points: Integers, first: int = 0) -> Reals:
        """See `Similarity.block`."""
        if isinstance(self.rows, SparseRows):
            values = self.rows.products(np.asarray(points, np.int64))[:, first:]
        else:
            values = self.rows[points] @ self.rows[first:].T
        if self.scale is not None:
            half = self.scale.half.astype(values.dtype, copy=False)
            values -= half[first:]
            values += 1.0 - half[points][:, None]
        return np.minimum(values, 1.0, out=values)

    def between(self, first: Integers, second: Integers) -> Floats:
        """See `Similarity.between`."""
        if self.scale is None:
            return np.minimum(pair_products(self.rows, first, second), 1.0)
        if isinstance(self.rows, SparseRows):
            squares = self.scale.half[first] + self.scale.half[second]
            return np.minimum(pair_products(self.rows, first, second) - squares + 1.0, 1.0)
        values = np.empty(first.size)
        for batch in batches(first.size, block_rows(self.rows.shape[1])):
            gaps = self.rows[first[batch]].astype(np.float64, copy=False) - self.rows[second[batch]]
            values[batch] = 1.0 - 0.5 * np.einsum("ij,ij->i", gaps, gaps)
        return values

    def _search(self, k: int) -> Indices:
        metric = "euclidean" if self.affinity.euclidean else "product"
        return row_neighbors(self.rows, k, metric=metric, neighbors=self.search)

    def nearest(self, X: Any, k: int) -> tuple[Integers, Floats]:
        """See `Similarity.nearest`."""
        new = self.factor_of(X)
        half = np.zeros(self.n_samples) if self.scale is None else self.scale.half
        near, values = exact_neighbors(self.rows, half, min(k, self.n_samples), new)
        if self.scale is not None:
            values += 1.0 - 0.5 * np.einsum("ij,ij->i", new, new)[:, None]
        return near.astype(np.int64), values

    def sq_from_mean(self, X: Any) -> Floats:
        """See `Similarity.sq_from_mean`."""
        squares = ((self.factor_of(X) - self._mean) ** 2).sum(axis=1)
        own = 1.0 if self.scale is None else 2.0 * float(self.scale.half.mean())
        typical = own - float(self._mean @ self._mean)
        least = np.finfo(np.float64).eps
        return np.clip(squares, least, max(typical, least))

    def comparable(self, X: Any) -> Booleans:
        """See `Similarity.comparable`."""
        comparable = np.empty(len(X), dtype=np.bool_)
        for batch in batches(len(X), block_rows(X.shape[1])):
            with np.errstate(over="ignore", invalid="ignore"):
                largest = np.abs(self.factor_of(np.asarray(X[batch]))).max(axis=1)
            comparable[batch] = largest < _FARTHEST if self.affinity.euclidean else largest > 0.0
        return comparable

    def factor_of(self, X: Any) -> Floats:
        """See `Similarity.factor_of`."""
        X = np.asarray(X, dtype=np.float64)
        if self.scale is not None:
            return self.scale.scaled(X)
        rows, lengths = centered_rows(self.affinity.modeled(X), self.affinity.over_pairs)
        # A row without spread is correlated with nothing.
        return rows / np.where(lengths > 0.0, lengths, np.inf)[:, None]


def compare(
    X: Any, affinity: str, *, counts: bool = False, model_based: bool = False, scale: Any = None
) -> Similarity:
    """Similarity of the rows of X, or of the points whose covariances or distances X is.

    Parameters
    ----------
    X : (n, p) ndarray of float64 or float32, SparseTable, or (n, n) ndarray or scipy sparse
        Rows, or values between points.
    affinity : str
        A name in `AFFINITIES`, "precomputed" or "precomputed_distance".
    counts : bool
        Whether X is a table of whole numbers, in which a row without spread is nothing unusual.
    model_based : bool
        Whether the columns are taken for samples of the model as they are.
    scale : float or (n,) ndarray of float64, optional
        What given values were divided by, where X holds the similarities that this has made.

    Returns
    -------
    Similarity
        Similarities at most 1, 1 for a point with itself.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import similarity
    >>> rows = similarity.compare(np.array([[1.0, 2.0, 3.0], [1.0, 3.0, 2.0]]), "correlation")
    >>> rows.between(np.array([0]), np.array([1])).round(3)
    array([0.5])
    """
    if affinity in GIVEN:
        given = SparsePrecomputed if sp.issparse(X) else Precomputed
        return given(X, distances=affinity == "precomputed_distance", scale=scale)
    kind, scaled = AFFINITIES[affinity], None
    dtype = np.float64 if X.shape[0] <= limits.DOUBLE else X.dtype
    if kind.euclidean:
        scaled = euclidean_rows(X, standardized=kind.scales_columns, dtype=dtype)
        rows = scaled.points
    else:
        allow_flat = counts or kind.square_roots
        rows = unit_rows(kind.modeled(X), kind.over_pairs, allow_flat=allow_flat, dtype=dtype)
    return RowSimilarity(kind, rows, scaled, model_based=model_based)


@validate(X=table)
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
    return _matrix(X, "correlation")


@validate(X=table)
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
    return _matrix(X, "cosine")


@validate(X=table)
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
    return _matrix(X, "euclidean")


def _matrix(X: ArrayLike, affinity: str) -> Floats:
    """Similarities of the rows of X, with rounding beyond [-1, 1] taken off and ones for equals."""
    similarity = compare(np.asarray(X), affinity).matrix()
    if affinity != "euclidean":
        np.maximum(similarity, -1.0, out=similarity)
    np.fill_diagonal(similarity, 1.0)
    return similarity
