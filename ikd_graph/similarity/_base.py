"""What every similarity between points offers to the graph, the solvers and the placement."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import graph
from .._records import CsrGraph
from .._validation import check_fraction
from ..graph import EdgeScores

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

# Neighbours that short cuts are looked for among: in graphs of fewer than 12 the rims of holes were
# condemned on rolls, S-curves and planes without one short cut, with 12 to 20 none. With 15 a
# few true edges of a noisy roll (1000 points, 10 neighbours) were lost, with 25 none.
_WIDE = 25


class GraphRule(NamedTuple):
    """Graph and polish of a similarity where the Gaussian-process model is in doubt."""

    n_neighbors: int
    mutual: bool
    path: str
    weights: str | None  # of the stress polish, None for no polish


class Similarity(ABC):
    """How rows are compared: the covariance between points on the scale where the variance is 1.

    Nothing here forms an (n, n) array but `matrix`. Neighbours are found once and kept.
    """

    name: ClassVar[str]
    """What `IKD` calls it."""

    summary: ClassVar[str]
    """What it compares, in words that end a sentence."""

    estimates_kernel: ClassVar[bool] = True
    """Whether its values estimate a kernel of the latent distance, or only an order."""

    centres_rows: ClassVar[bool] = True
    """Whether the likelihood of the model takes the mean of each row off first."""

    ignores_columns: ClassVar[bool] = False
    """Whether an offset of a column changes nothing."""

    over_pairs: ClassVar[str] = "correlation"
    """What `covariance.pairwise` compares rows with missing values by."""

    has_rows: ClassVar[bool] = True
    """Whether the observations are known, and not only their covariance."""

    is_graph: ClassVar[bool] = False
    """Whether what is stored is the graph, so that there are no neighbours to choose."""

    against: ClassVar[str] = "make them short cuts"
    """What the other edges do to those that `protected_graph_of` drops."""

    takes_threshold: ClassVar[bool] = True
    """Whether a threshold on its values makes a graph."""

    counts_only: ClassVar[bool] = False
    """Whether it is made for tables of counts."""

    scales_columns: ClassVar[bool] = False
    """Whether every column is taken in a unit of its own; counts have one unit."""

    linear: ClassVar[bool] = False
    """Whether "auto" tries the principal components of the rows as they are compared."""

    forgets_length: ClassVar[bool] = False
    """Whether the scale of a row changes nothing."""

    least_columns: ClassVar[int] = 2
    rule: ClassVar[GraphRule] = GraphRule(7, False, "covariance", None)

    variance: float = 1.0  # what covariances were divided by
    bridge_strength: float = 1.0  # what the weights of bridges are multiplied with
    search: str = "auto"  # how neighbours are found

    def __init__(self, n_samples: int, n_observed: int | None) -> None:
        self.n_samples, self.n_observed = n_samples, n_observed
        self._found: dict[int, NDArray[np.int32]] = {}

    @abstractmethod
    def block(self, points: Indices) -> NDArray[np.floating]:
        """Similarities of some points (b,) with all, (b, n)."""

    @abstractmethod
    def between(self, left: Indices, right: Indices) -> Floats:
        """Similarities of pairs of points, the same bits either way round."""

    @abstractmethod
    def nearest(self, X: Any, k: int) -> tuple[Indices, Floats]:
        """Points nearest to new rows, whatever other rows come with them.

        With s a similarity, the squared distance is s(x, x) + s(i, i) - 2 s(x, i). New rows come as
        (b, p) rows, or as (b, n) covariances with the points where those were given. Returns (b, k)
        indices, best first, of equals the lower, and their similarities.
        """

    def modelled(self, rows: NDArray[np.floating]) -> NDArray[np.floating]:
        """What the polish by likelihood takes for samples of a Gaussian process: the rows."""
        return rows

    def matrix(self) -> Floats:
        """Similarity of every pair, (n, n)."""
        return np.asarray(self.block(np.arange(self.n_samples)), dtype=np.float64)

    def totals(self) -> Floats:
        """Sum of the similarities of each point with all, (n,)."""
        found = np.empty(self.n_samples)
        for start in range(0, self.n_samples, 512):
            points = np.arange(start, min(start + 512, self.n_samples))
            found[points] = self.block(points).sum(axis=1)
        return found

    def factor(self) -> Any:
        """Rows (n, q) whose distances are those of the similarities, None where there are none.

        The squared distance of two rows is s(i, i) + s(j, j) - 2 s(i, j).
        """
        return None

    def factor_of(self, X: Any) -> Floats:
        """The same of new rows, (b, q)."""
        raise NotImplementedError

    def neighbors(self, k: int) -> NDArray[np.int32]:
        """Most similar points of every point, (n, k) int32, found when they are first asked for.

        There are fewer than k where there are not so many points.
        """
        k = min(k, self.n_samples - 1)
        wider = [size for size in self._found if size >= k]
        if not wider:
            self._found[k] = self._search(k)
        elif k not in self._found:
            self._found[k] = np.ascontiguousarray(self._found[min(wider)][:, :k])
        return self._found[k]

    def _search(self, k: int) -> NDArray[np.int32]:
        """Neighbours from blocks of similarities."""
        n = self.n_samples
        return graph.block_neighbors(lambda one, end: self.block(np.arange(one, end)), n, k)

    def neighbor_graph(self, k: int, *, mutual: bool = False) -> CsrGraph:
        """Graph that joins each point to its neighbours, or to those that are so mutually."""
        return graph.from_neighbors(self.neighbors(k), self.between, mutual=mutual)

    def threshold_graph(self, s0: float) -> CsrGraph:
        """Graph of the pairs whose similarity exceeds a threshold."""
        n = self.n_samples

        def upper(start: int, stop: int) -> NDArray[np.floating]:
            return np.ascontiguousarray(self.block(np.arange(start, stop))[:, start:])

        return graph.pairs_above(upper, n, check_fraction("threshold", s0))

    def graph_of(
        self, threshold: float | None, n_neighbors: int | None, *, mutual: bool = False
    ) -> CsrGraph:
        """Graph of trusted similarities: above a threshold, between neighbours, or both united.

        What mutual neighbours leave in pieces is joined by the neighbours of either end: a piece
        that hangs on one bridge may lie in any direction. An order of neighbours tells groups
        apart, which stay apart.
        """
        found = []
        if threshold is not None:
            found.append(self.threshold_graph(threshold))
        if n_neighbors is not None:
            found.append(self.neighbor_graph(n_neighbors, mutual=mutual))
        g = found[0] if len(found) == 1 else graph.union(*found)
        if not mutual or n_neighbors is None or not self.estimates_kernel:
            return g
        if not graph.component_labels(g).any():
            return g
        return graph.joined_by(g, self.neighbor_graph(n_neighbors))

    def protected_graph_of(
        self,
        threshold: float | None,
        n_neighbors: int | None,
        *,
        mutual: bool = False,
        trusted: bool = False,
    ) -> tuple[CsrGraph, EdgeScores | None]:
        """Graph as `graph_of` makes it without the edges that the others speak against.

        ``trusted`` says that values estimate the kernel: then one is never a short cut. Returns the
        graph and what was found, None where nothing was looked for.
        """
        if trusted:
            return self.graph_of(threshold, n_neighbors, mutual=mutual), None
        wide = max(_WIDE, n_neighbors or 0)
        # The widest search first: the others are part of it.
        self.neighbors(wide)
        g = self.graph_of(threshold, n_neighbors, mutual=mutual)
        return graph.prune(g, self.neighbor_graph(wide))

    def connected_up_to(self) -> float:
        """Largest threshold below which the graph of pairs above it is in one piece.

        It is the weakest edge of the strongest spanning tree.
        """
        if self.n_samples < 2:
            return 1.0
        self.neighbors(_WIDE)
        listed = self._listed()
        assert listed is not None
        # Weights as they are: those of a graph to walk in are lifted to be positive.
        every = np.repeat(np.arange(self.n_samples), listed.neighbors.shape[1])
        near = listed.neighbors.ravel().astype(np.int64)
        pairs = np.minimum(every, near) * self.n_samples + np.maximum(every, near)
        low, high, _ = graph.edges(self.join(self.neighbor_graph(_WIDE)))
        pairs = np.unique(np.concatenate((pairs, low * self.n_samples + high)))
        low, high = np.divmod(pairs, self.n_samples)
        g = graph.from_edges(self.n_samples, low, high, self.between(low, high))
        return graph.weakest_link(g, listed, self.block, self.between)

    def join(self, g: CsrGraph) -> CsrGraph:
        """Bridge the components of a graph along their strongest spanning tree.

        Of many long rows each tries the partner that is nearest in a few directions.
        """
        if not graph.component_labels(g).any():
            return g
        rows = self._rows_by_distance()
        near = None if rows is None else graph.projected_block(rows)
        if near is None:
            low, high = graph.find_links(g, self.block, self._listed())
        else:
            low, high = graph.find_links(g, near, self._listed(), self.between)
        return graph.add_edges(g, low, high, self.bridge_strength * self.between(low, high))

    def _rows_by_distance(self) -> Any:
        """Rows whose similarity falls with their distance, None where there are none."""
        return None

    def _half(self) -> Floats:
        """Half the squared length of every row that counts in a search, (n,)."""
        return np.zeros(self.n_samples)

    def _listed(self) -> graph.Listed | None:
        """Neighbours that were found, with their similarities."""
        if not self._found:
            return None
        neighbors = self._found[max(self._found)]
        every = np.repeat(np.arange(self.n_samples), neighbors.shape[1])
        values = self.between(every, neighbors.ravel().astype(np.int64))
        return graph.Listed(neighbors, values.reshape(neighbors.shape))
