"""What every similarity between points offers to graphs, strategies and placement."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import graph
from .._records import CsrGraph
from .._threads import block_rows
from ._affinity import Affinity

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


class Similarity(ABC):
    """How points are compared: covariances on the scale where the variance is 1.

    Nothing here forms an (n, n) array but `matrix`. Neighbours are searched once and stored.
    """

    affinity: Affinity
    n_samples: int
    n_observed: int | None  # number N of columns, None where only covariances were given
    has_rows = True
    is_graph = False  # whether what is stored is the graph, so that no neighbours are chosen
    search = "auto"  # how neighbours are searched, see `graph.row_neighbors`

    def __init__(self, affinity: Affinity, n_samples: int, n_observed: int | None) -> None:
        self.affinity, self.n_samples, self.n_observed = affinity, n_samples, n_observed
        self._searched: dict[int, NDArray[np.int32]] = {}

    @property
    def name(self) -> str:
        """What `IKD` calls it."""
        return self.affinity.name

    @property
    def summary(self) -> str:
        """What is compared, in words that end a sentence."""
        return self.affinity.summary

    @property
    def centres_rows(self) -> bool:
        """Whether the likelihood takes the mean of each row off first."""
        return self.affinity.centres_rows

    def modelled(self, X: Any) -> Any:
        """Rows as the likelihood takes them for samples of a Gaussian process."""
        return X

    @abstractmethod
    def block(self, points: Indices) -> NDArray[np.floating]:
        """Similarities of some points (b,) with all, (b, n)."""

    @abstractmethod
    def between(self, first: Indices, second: Indices) -> Floats:
        """Similarities of pairs of points, the same bits either way round."""

    @abstractmethod
    def nearest(self, X: Any, k: int) -> tuple[Indices, Floats]:
        """Points nearest to new rows, whatever other rows come with them.

        The squared distance is s(x, x) + s(i, i) - 2 s(x, i). New rows come as (b, p) rows, or as
        (b, n) values with the points where those were given. Returns (b, k) indices, best first,
        of equals the lower, and their similarities.
        """

    @abstractmethod
    def comparable(self, X: Any) -> NDArray[np.bool_]:
        """Whether new rows can be compared with the points, (b,)."""

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
        """The same of new rows, (b, q)."""
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
        """Neighbours from blocks of similarities."""
        return graph.block_neighbors(
            lambda start, stop: self.block(np.arange(start, stop)), self.n_samples, k
        )

    def neighbor_graph(self, k: int, *, mutual: bool = False) -> CsrGraph:
        """Graph that joins each point to its neighbours, or to those that are so mutually."""
        near = self.neighbors(k)
        shared = self.affinity.shared
        wide = graph.from_neighbors(near, self.between, shared=shared)
        if not mutual:
            return wide
        g = graph.from_neighbors(near, self.between, mutual=True, shared=shared)
        labels = graph.component_labels(g)
        low, high, weights = graph.edges(wide)
        across = labels[low] != labels[high]
        links = graph.from_edges(g.n_nodes, low[across], high[across], weights[across])
        return graph.union(g, links)

    def threshold_graph(self, s0: float) -> CsrGraph:
        """Graph of the pairs whose similarity exceeds a threshold."""

        def upper(start: int, stop: int) -> NDArray[np.floating]:
            return np.ascontiguousarray(self.block(np.arange(start, stop))[:, start:])

        return graph.pairs_above(upper, self.n_samples, s0)

    def effective_columns(self, n_removed: int = 0) -> float | None:
        """Number of independent columns (`covariance.effective_columns`), None where not known."""
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
        return graph.add_edges(g, low, high, self.between(low, high))
