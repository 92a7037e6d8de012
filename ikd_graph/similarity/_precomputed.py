"""Similarity of points whose covariances or distances were given."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .. import covariance, graph
from .._records import CsrGraph
from ._affinity import Affinity
from ._base import Floats, Indices, Similarity

COVARIANCES = Affinity(
    "precomputed", "the covariances that were given, over the standard deviations of both points"
)
DISTANCES = Affinity("precomputed_distance", "the distances that were given", euclidean=True)


class Precomputed(Similarity):
    """Covariances of every pair over both standard deviations, or squared distances as 1 - d^2 / s.

    ``s`` is the mean squared distance of two points, as for Euclidean rows.
    """

    has_rows = False

    def __init__(self, X: Floats, *, distances: bool = False) -> None:
        super().__init__(DISTANCES if distances else COVARIANCES, X.shape[0], None)
        n = self.n_samples
        if distances:
            mean = float(np.mean(X**2)) * n / max(n - 1, 1)
            self._unit = 1.0 / mean if mean > 0.0 else 1.0
            self._values = 1.0 - self._unit * X**2
        else:
            diagonal = np.diagonal(X)
            self.variance = float(diagonal.mean())
            spread = np.sqrt(np.maximum(diagonal, 0.0))
            self._spread = np.where(spread > 0.0, spread, 1.0)
            self._values = covariance.to_correlation.unchecked(X)

    def block(self, points: Indices) -> Floats:
        """See `Similarity.block`."""
        return self._values[points]

    def between(self, left: Indices, right: Indices) -> Floats:
        """See `Similarity.between`."""
        return np.asarray(0.5 * (self._values[left, right] + self._values[right, left]))

    def matrix(self) -> Floats:
        """See `Similarity.matrix`."""
        return self._values

    def nearest(self, X: Any, k: int) -> tuple[Indices, Floats]:
        """See `Similarity.nearest`."""
        return graph.nearest_values(self.factor_of(X), k)

    def factor_of(self, X: Any) -> Floats:
        """Values of new points with all; the standard deviation of a new point is not known."""
        values = X.toarray() if sp.issparse(X) else np.asarray(X)
        if self.affinity == DISTANCES:
            return np.asarray(1.0 - self._unit * values**2)
        scale = float(np.sqrt(self.variance)) if self.variance > 0.0 else 1.0
        return np.asarray(values / (self._spread * scale), dtype=np.float64)


class SparsePrecomputed(Similarity):
    """Covariances of some pairs: what is stored is the graph, and what is not is not known."""

    has_rows = False
    is_graph = True

    def __init__(self, X: Any) -> None:
        super().__init__(COVARIANCES, X.shape[0], None)
        self._values, self.variance = covariance.scale_sparse_to_correlation.unchecked(X)

    def block(self, points: Indices) -> Floats:
        """See `Similarity.block`."""
        return np.asarray(self._values[points].toarray())

    def between(self, left: Indices, right: Indices) -> Floats:
        """See `Similarity.between`."""
        return np.asarray(self._values[left, right]).ravel()

    def matrix(self) -> Floats:
        """See `Similarity.matrix`."""
        stored, every = self._values.nnz, self.n_samples**2
        if stored < every:
            raise ValueError(
                "strategy='eigen' must know the covariance of every pair, got a sparse X with "
                f"{stored} of {every} entries stored; use strategy='geodesic' or 'blockwise', or "
                "pass a dense X"
            )
        return np.asarray(self._values.toarray())

    def nearest(self, X: Any, k: int) -> tuple[Indices, Floats]:
        """See `Similarity.nearest`."""
        return graph.nearest_values(self.factor_of(X), k)

    def factor_of(self, X: Any) -> Floats:
        """Values of new points with all."""
        values = X.toarray() if sp.issparse(X) else np.asarray(X)
        return np.asarray(values / (self.variance or 1.0), dtype=np.float64)

    def neighbor_graph(self, k: int, *, mutual: bool = False) -> CsrGraph:
        """What is stored."""
        return graph.from_sparse(self._values)

    def threshold_graph(self, s0: float) -> CsrGraph:
        """See `Similarity.threshold_graph`; 0 takes all that is stored."""
        g = graph.from_sparse(self._values)
        return graph.above.unchecked(g, s0) if s0 else g

    def _search(self, k: int) -> NDArray[np.int32]:
        raise NotImplementedError("a sparse covariance is a graph: it has no neighbours to search")
