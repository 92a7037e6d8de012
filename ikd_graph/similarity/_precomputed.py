"""Similarities whose values were given: a covariance, dense or sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .. import covariance, graph
from .._records import CsrGraph
from .._validation import check_bridges_known, check_whole_matrix
from ..graph import EdgeScores
from ._base import Floats, Indices, Similarity
from ._nearest import nearest_by_values

# Levels that pairs are contradicted by those above, and how many pairs of a point are enough.
_LEVELS, _WITNESSES = (0.3, 0.5, 0.7, 0.9), 256


class _Given(Similarity):
    """Covariances that were given instead of rows."""

    name = "precomputed"
    has_rows = False
    against = "contradict their correlations"
    _corr: Any

    def factor_of(self, X: Any) -> Floats:
        """See `Similarity.factor_of`: similarities with all points stand for rows that are not."""
        values = X.toarray() if sp.issparse(X) else np.asarray(X)
        return np.asarray(values / self.variance, dtype=np.float64)

    def nearest(self, X: Any, k: int) -> tuple[Indices, Floats]:
        """See `Similarity.nearest`."""
        # Near is what is at a small distance, not what has much variance.
        half = 0.5 * self._corr.diagonal()
        near, found = nearest_by_values(self.factor_of(X) - half, k)
        return near, found + half[near]


class Precomputed(_Given):
    """Covariances that were given for every pair; ``counts`` is not used."""

    summary = "the covariances that were given"

    def __init__(self, X: Floats, *, counts: bool = False) -> None:
        super().__init__(X.shape[0], None)
        self._corr, self.variance = covariance.scale_to_correlation(X)

    def block(self, points: Indices) -> Floats:
        """See `Similarity.block`."""
        return self._corr[points]

    def between(self, left: Indices, right: Indices) -> Floats:
        """See `Similarity.between`."""
        return np.asarray(0.5 * (self._corr[left, right] + self._corr[right, left]))

    def matrix(self) -> Floats:
        """See `Similarity.matrix`."""
        return self._corr

    def protected_graph_of(
        self,
        threshold: float | None,
        n_neighbors: int | None,
        *,
        mutual: bool = False,
        trusted: bool = False,
    ) -> tuple[CsrGraph, EdgeScores | None]:
        """See `Similarity.protected_graph_of`: pairs that the others contradict.

        Where neighbours are dropped, the next ones take their places.
        """
        g = self.graph_of(threshold, n_neighbors, mutual=mutual)
        corr = self._corr
        if not np.allclose(np.diagonal(corr), 1.0, rtol=0.0, atol=1e-9):
            corr = covariance.to_correlation(corr)
        most = _WITNESSES * self.n_samples
        level = next((one for one in _LEVELS if np.count_nonzero(corr > one) <= most), _LEVELS[-1])
        known = graph.threshold_graph(corr, level)
        kept, removed = graph.prune(g, known)
        if removed.scores.size and n_neighbors is not None and not mutual:
            near = graph.strongest(graph.prune(graph.union(known, g))[0], n_neighbors)
            left, right, _ = graph.edges(near)
            values = np.minimum(self.between(left, right), 1.0)
            kept = graph.union(kept, graph.from_edges(g.n_nodes, left, right, values))
        return kept, removed


class SparsePrecomputed(_Given):
    """Covariances of some pairs: what is stored is the graph, and what is not is not known."""

    summary = "the covariances that were stored"
    is_graph = True

    def __init__(self, X: Any, *, counts: bool = False) -> None:
        super().__init__(X.shape[0], None)
        self._corr, self.variance = covariance.scale_sparse_to_correlation(X)

    def block(self, points: Indices) -> Floats:
        """See `Similarity.block`."""
        return np.asarray(self._corr[points].toarray())

    def between(self, left: Indices, right: Indices) -> Floats:
        """See `Similarity.between`."""
        return np.asarray(self._corr[left, right]).ravel()

    def matrix(self) -> Floats:
        """See `Similarity.matrix`."""
        check_whole_matrix(self._corr)
        return np.asarray(self._corr.toarray())

    def graph_of(
        self, threshold: float | None, n_neighbors: int | None, *, mutual: bool = False
    ) -> CsrGraph:
        """See `Similarity.graph_of`; only a threshold thins what is stored."""
        if threshold is None:
            return graph.from_sparse(self._corr)
        entries = self._corr.tocoo()
        keep = entries.data > threshold
        kept = (entries.data[keep], (entries.row[keep], entries.col[keep]))
        return graph.from_sparse(sp.csr_array(kept, shape=self._corr.shape))

    def protected_graph_of(
        self,
        threshold: float | None,
        n_neighbors: int | None,
        *,
        mutual: bool = False,
        trusted: bool = False,
    ) -> tuple[CsrGraph, EdgeScores | None]:
        """See `Similarity.protected_graph_of`: pairs that the others contradict."""
        g = self.graph_of(threshold, n_neighbors, mutual=mutual)
        return graph.prune(g)

    def threshold_graph(self, s0: float) -> CsrGraph:
        """See `Similarity.threshold_graph`."""
        return self.graph_of(s0, None)

    def connected_up_to(self) -> float:
        """See `Similarity.connected_up_to`; 0 where what is stored is in pieces."""
        g = graph.from_sparse(self._corr)
        # Lengths stay positive: what is not stored is no edge.
        lengths = graph.to_sparse(CsrGraph.trusted(g.indptr, g.indices, 2.0 - g.weights))
        tree = sp.csgraph.minimum_spanning_tree(lengths)
        joined = tree.nnz == self.n_samples - 1
        return float(2.0 - tree.data.max(initial=1.0)) if joined else 0.0

    def join(self, g: CsrGraph) -> CsrGraph:
        """See `Similarity.join`: impossible where no covariance is known."""
        check_bridges_known(int(graph.component_labels(g).max(initial=0)) + 1)
        return g
