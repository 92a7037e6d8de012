"""What similarities offer to graphs, strategies and placement, and what those of rows share."""

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base import limits
from .._base.table import evenly_spaced
from .._base.threads import batches, block_rows
from .._base.types import Booleans, Floats, Indices, Integers, Reals
from ..covariance._matrices import symmetric_matrix
from ..kernels import StationaryKernel
from ._affinity import Affinity
from ._search import RowSearch, block_neighbors

SEARCHED = 25
"""Neighbors that are searched at once: a second graph of the same points asks for as many.
Among fewer a surface has holes, whose rims look like short-circuit edges."""

_FARTHEST = 1e100
"""Units from the mean row beyond which squared distances are no numbers."""


class Similarity(ABC):
    """How points are compared: covariances on the scale where the variance is 1.

    A similarity is a source of blocks of rows. Nothing here forms an (n, n) array but `matrix`.
    """

    affinity: Affinity
    n_samples: int
    n_observed: int | None  # number N of columns, None where only covariances were given
    rows: Any = None  # (n, q) whose squared distances are those of the similarities, None without
    is_graph = False  # whether what is stored is the graph, so that no neighbors are chosen
    least_neighbor = -np.inf  # similarity that a neighbor must exceed
    search: str = "auto"  # how neighbors are searched, see `row_neighbors`
    unit: float = 1.0  # the distance sigma between points of similarity 1/2, of distances
    centers_rows: bool  # whether the likelihood takes the mean of each row off first
    _near: Indices | None = None

    def __init__(self, affinity: Affinity, n_samples: int, n_observed: int | None) -> None:
        self.affinity, self.n_samples, self.n_observed = affinity, n_samples, n_observed
        self.centers_rows = affinity.over_pairs == "correlation"

    def inverse(self, kernel: StationaryKernel) -> StationaryKernel:
        """Kernel that turns weights of edges into squared distances."""
        return self.affinity.inverse(kernel, self.unit)

    def weights(self, values: Floats) -> Floats:
        """Weights of edges that are there whatever the similarities of their ends: positive."""
        return np.clip(self.affinity.edge_weights(values), self.affinity.least_weight, 1.0)

    def sq_distances(self, kernel: StationaryKernel) -> Floats:
        """Squared distances of all pairs, (n, n), in the unit of the embedding."""
        return self.affinity.sq_distances(self.matrix(), kernel, self.unit)

    def modeled(self, X: Any) -> Any:
        """Rows as the likelihood takes them for samples of a Gaussian process."""
        return X

    def shared_columns(self, first: Integers, second: NDArray[np.integer]) -> int | Integers:
        """Count the columns behind the similarity of pairs; one number where it is that of all."""
        return self.n_observed or 1

    @abstractmethod
    def block(self, points: Integers, first: int = 0) -> Reals:
        """Similarities of some points (b,) with those from ``first`` on, (b, n - first)."""

    @abstractmethod
    def between(self, first: Integers, second: Integers) -> Floats:
        """Similarities of pairs of points, the same bits either way round; -inf if not known."""

    def edge_weights(self, start: int, stop: int) -> Reals:
        """Weights of points from ``start`` to ``stop`` with those from ``start`` on."""
        return self.affinity.edge_weights(self.block(np.arange(start, stop), start))

    def least_edge(self, first: Integers, second: Integers, s0: float) -> float | Floats:
        """Weight that the edge between points must exceed where a threshold is ``s0``."""
        return s0

    def matrix(self) -> Floats:
        """Similarity of every pair, (n, n)."""
        return symmetric_matrix(self.block, self.n_samples)

    def neighbors(self, k: int) -> Indices:
        """Most similar points of every point, (n, k) int32; fewer where there are not so many."""
        most = self.n_samples - 1
        k = min(k, most)
        if self._near is None or self._near.shape[1] < k:
            self._near = self._search(min(max(k, SEARCHED), most))
        return np.ascontiguousarray(self._near[:, :k])

    def _search(self, k: int) -> Indices:
        """Neighbors of every point, (n, k), from blocks of similarities."""
        return block_neighbors(self.block, self.n_samples, k)[0]

    def nearest(self, X: Any, k: int) -> tuple[Integers, Floats]:
        """Points nearest to new rows, whatever other rows come with them.

        The squared distance is s(x, x) + s(i, i) - 2 s(x, i). New rows come as (b, p) rows, or as
        (b, n) values with the points where those were given. Returns (b, k) indices, best first,
        of equals the lower, and their similarities.
        """
        values, n = self.factor_of(X), self.n_samples
        near, values = block_neighbors(values.__getitem__, n, min(k, n), len(values))
        return near.astype(np.int64), values

    def sq_from_mean(self, X: Any) -> Floats:
        """Squared distances (b,) of new rows from the mean point, at most what points have."""
        least = np.finfo(np.float64).eps
        return np.clip(self._from_mean(X), least, max(self.variance, least))

    def _from_mean(self, X: Any) -> Floats:
        """Return squared distances of new rows from the mean point, (b,)."""
        return 2.0 * (1.0 - _known_means(self.factor_of(X))) - self.variance

    @cached_property
    def variance(self) -> float:
        """Mean squared distance of points from the mean point."""
        sample = evenly_spaced(self.n_samples, limits.SAMPLED)
        return 1.0 - float(_known_means(self.block(sample)).mean())

    def comparable(self, X: Any) -> Booleans:
        """Whether new rows can be compared with the points, (b,)."""
        return np.asarray((self.factor_of(X) > self.least_neighbor).any(axis=1))

    def mutually_known(self, near: Integers, values: Floats) -> Booleans:
        """Which of the points near to new rows are known to them and to one another, (b, k)."""
        return np.ones(near.shape, dtype=np.bool_)

    def factor_of(self, X: Any) -> Floats:
        """Return such rows of new ones, (b, q), or their similarities with all points."""
        raise NotImplementedError


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

    sq_length: float = 1.0  # mean squared length of the rows as they are compared
    least_size: float = 0.0  # largest absolute value that a row must have to be compared

    def __init__(self, affinity: Affinity, rows: Any, *, model_based: bool = False) -> None:
        super().__init__(affinity, *rows.shape)
        self.rows, self.model_based = rows, model_based
        self.centers_rows = model_based and affinity.centers_rows

    def modeled(self, X: Any) -> Floats:
        """Rows as the likelihood takes them for samples of a Gaussian process.

        Samples of the model as they are; other rows as they are compared, each column less its
        mean, which the similarities of rows do not see.
        """
        if self.model_based:
            return np.asarray(X, dtype=np.float64)
        return (self.factor_of(X) - self._mean) * np.sqrt(X.shape[1])

    @cached_property
    def _rows_search(self) -> RowSearch:
        """Search among the rows, of a fit and of new rows."""
        return RowSearch(self.rows, "euclidean" if self.affinity.euclidean else "product")

    def _search(self, k: int) -> Indices:
        """See `Similarity._search`."""
        return self._rows_search.neighbors(k, self.search)

    def nearest(self, X: Any, k: int) -> tuple[Integers, Floats]:
        """See `Similarity.nearest`."""
        near, values = self._rows_search.exact(min(k, self.n_samples), self.factor_of(X))
        return near.astype(np.int64), values + 1.0 if self.affinity.euclidean else values

    @cached_property
    def _mean(self) -> Floats:
        """Mean of the rows as they are compared, (p,)."""
        return self.rows.mean(axis=0, dtype=np.float64)

    def _from_mean(self, X: Any) -> Floats:
        """See `Similarity._from_mean`."""
        return np.asarray(((self.factor_of(X) - self._mean) ** 2).sum(axis=1))

    @cached_property
    def variance(self) -> float:
        """See `Similarity.variance`."""
        return self.sq_length - float(self._mean @ self._mean)

    def comparable(self, X: Any) -> Booleans:
        """See `Similarity.comparable`."""
        comparable = np.empty(len(X), dtype=np.bool_)
        for batch in batches(len(X), block_rows(X.shape[1])):
            with np.errstate(over="ignore", invalid="ignore"):
                largest = np.abs(self.factor_of(np.asarray(X[batch]))).max(axis=1)
            comparable[batch] = (largest >= self.least_size) & (largest < _FARTHEST)
        return comparable


def _known_means(values: Reals) -> Floats:
    """Means of what is known of the last axis, 0 of nothing."""
    return np.asarray(np.ma.masked_invalid(values).mean(axis=-1).filled(0.0))
