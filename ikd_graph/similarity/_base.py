"""What every similarity between points offers to graphs, strategies and placement."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import graph
from .._base.threads import block_rows
from .._base.types import Floats, Integers
from ..covariance import clip_correlations
from ..graph import CsrGraph
from ..kernels import SquaredExponential, StationaryKernel
from ._affinity import Affinity

_TINY = float(np.finfo(np.float64).tiny)


class Similarity(ABC):
    """How points are compared: covariances on the scale where the variance is 1.

    Nothing here forms an (n, n) array but `matrix`. Neighbors are searched once and stored.
    """

    affinity: Affinity
    n_samples: int
    n_observed: int | None  # number N of columns, None where only covariances were given
    _searched: dict[int, NDArray[np.int32]]
    has_rows = True
    is_graph = False  # whether what is stored is the graph, so that no neighbors are chosen
    search: str = "auto"  # how neighbors are searched, see `graph.row_neighbors`

    def __init__(self, affinity: Affinity, n_samples: int, n_observed: int | None) -> None:
        self.affinity, self.n_samples, self.n_observed = affinity, n_samples, n_observed
        self._searched = {}

    @property
    def name(self) -> str:
        """What `IKD` calls it."""
        return self.affinity.name

    @property
    def summary(self) -> str:
        """What is compared, in words that end a sentence."""
        return self.affinity.summary

    @property
    def centers_rows(self) -> bool:
        """Whether the likelihood takes the mean of each row off first."""
        return self.affinity.centers_rows

    @property
    def unit(self) -> float:
        """The distance sigma between points of similarity 1/2; 1 where nothing is a distance."""
        return 1.0

    def inverse(self, kernel: StationaryKernel) -> StationaryKernel:
        """Kernel that turns weights of edges into squared distances.

        A distance is a distance: its weight ``exp(-d^2 / (2 sigma^2))`` gives it back in its own
        unit, whatever the kernel of the model is.
        """
        return SquaredExponential(length_scale=self.unit) if self.affinity.euclidean else kernel

    def weights(self, values: NDArray[np.floating]) -> NDArray[np.floating]:
        """Weights of edges between points of given similarities."""
        return np.exp(values - 1.0) if self.affinity.euclidean else values

    def sq_distances(self, kernel: StationaryKernel) -> Floats:
        """Squared distances of all pairs, (n, n), in the unit of the embedding."""
        if self.affinity.euclidean:
            return np.asarray(2.0 * self.unit**2 * (1.0 - self.matrix()))
        return np.asarray(kernel.sq_distance(clip_correlations(self.matrix())))

    def sq_distances_of_weights(self, weights: Floats) -> Floats:
        """Squared distances that edges stand for, those of unit vectors where none are given."""
        if self.affinity.euclidean:
            return np.asarray(-2.0 * np.log(weights))
        return np.maximum(2.0 - 2.0 * weights, 0.0)

    def modeled(self, X: Any) -> Any:
        """Rows as the likelihood takes them for samples of a Gaussian process."""
        return X

    def observations(self, g: CsrGraph) -> int | NDArray[np.int64]:
        """Columns behind the similarity of each entry of a graph, or one number for all."""
        return self.n_observed or 1

    @abstractmethod
    def block(self, points: Integers) -> NDArray[np.floating]:
        """Similarities of some points (b,) with all, (b, n)."""

    @abstractmethod
    def between(self, first: Integers, second: Integers) -> Floats:
        """Similarities of pairs of points, the same bits either way round."""

    @abstractmethod
    def nearest(self, X: Any, k: int) -> tuple[Integers, Floats]:
        """Points nearest to new rows, whatever other rows come with them.

        The squared distance is s(x, x) + s(i, i) - 2 s(x, i). New rows come as (b, p) rows, or as
        (b, n) values with the points where those were given. Returns (b, k) indices, best first,
        of equals the lower, and their similarities.
        """

    @abstractmethod
    def comparable(self, X: Any) -> NDArray[np.bool_]:
        """Whether new rows can be compared with the points, (b,)."""

    @property
    def incomparable(self) -> str:
        """What keeps a new row from being compared, in words that follow "rows are"."""
        return "all zero, constant, with too few values, or too far away for a number"

    def mutually_known(self, near: Integers, values: Floats) -> NDArray[np.bool_]:
        """Which of the points near to a new row are known to it and to one another, (k,)."""
        return np.ones(near.size, dtype=np.bool_)

    def matrix(self) -> Floats:
        """Similarity of every pair, (n, n)."""
        return np.asarray(self.block(np.arange(self.n_samples)), dtype=np.float64)

    def totals(self) -> Floats:
        """Sum of the similarities of each point with all, (n,)."""
        sums = np.empty(self.n_samples)
        step = block_rows(self.n_samples)
        for start in range(0, self.n_samples, step):
            points = np.arange(start, min(start + step, self.n_samples))
            sums[points] = self.block(points).sum(axis=1)
        return sums

    def factor(self) -> Any:
        """Rows (n, q) whose squared distances are those of the similarities, None without rows."""
        return None

    def factor_of(self, X: Any) -> Floats:
        """Return the same of new rows, (b, q)."""
        raise NotImplementedError

    def neighbors(self, k: int) -> NDArray[np.int32]:
        """Most similar points of every point, (n, k) int32; fewer where there are not so many."""
        k = min(k, self.n_samples - 1)
        wider = [size for size in self._searched if size >= k]
        if not wider:
            self._searched[k] = self._search(k)
            return self._searched[k]
        return np.ascontiguousarray(self._searched[min(wider)][:, :k])

    def _search(self, k: int) -> NDArray[np.int32]:
        """Neighbors from blocks of similarities."""
        return graph.block_neighbors(
            lambda start, stop: self.block(np.arange(start, stop)), self.n_samples, k
        )

    def neighbor_graph(self, k: int, *, mutual: bool = False) -> CsrGraph:
        """Graph that joins each point to its neighbors, or to those that are so mutually."""
        near = self.neighbors(k)
        shared = self.affinity.shared
        floor = _TINY if self.affinity.euclidean else graph.WEIGHT_FLOOR

        def weights(first: Integers, second: Integers) -> Floats:
            return np.asarray(self.weights(self.between(first, second)))

        wide = graph.from_neighbors(near, weights, shared=shared, floor=floor)
        if not mutual:
            return wide
        g = graph.from_neighbors(near, weights, mutual=True, shared=shared, floor=floor)
        labels = graph.component_labels(g)
        low, high, known = graph.edges(wide)
        across = labels[low] != labels[high]
        links = graph.from_edges(g.n_nodes, low[across], high[across], known[across])
        return graph.union(g, links)

    def threshold_graph(self, s0: float) -> CsrGraph:
        """Graph of the pairs whose similarity exceeds a threshold."""

        def upper(start: int, stop: int) -> NDArray[np.floating]:
            values = self.block(np.arange(start, stop))[:, start:]
            return np.ascontiguousarray(self.weights(values))

        return graph.pairs_above(upper, self.n_samples, s0)

    def effective_columns(self, n_removed: int = 0) -> float | None:
        """Count independent columns (`covariance.effective_columns`), None where not known."""
        return self.n_observed

    def significant_graph(self, fdr: float, n_removed: int = 0) -> CsrGraph:
        """Graph of the pairs that are significantly correlated (`graph.significant_graph`)."""
        raise ValueError(
            f"fdr must be None for affinity={self.name!r}, got {fdr!r}; it is for correlations of "
            "the rows of a dense table"
        )

    def join(self, g: CsrGraph) -> CsrGraph:
        """Graph whose connected components are joined by links between their nearest points."""
        low, high = graph.find_links(g, self.block)
        weights = np.asarray(self.weights(self.between(low, high)))
        floor = _TINY if self.affinity.euclidean else graph.WEIGHT_FLOOR
        return graph.add_edges(g, low, high, weights, floor=floor)
