"""Similarity of points whose covariances or distances were given."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .. import covariance, geodesics, graph
from .._base.types import Floats, Integers
from .._base.validation import symmetric
from .._base.warn import warn
from ..graph import CsrGraph
from ._affinity import Affinity
from ._base import Similarity

COVARIANCES = Affinity(
    "precomputed", "the covariances that were given, over the standard deviations of both points"
)
DISTANCES = Affinity("precomputed_distance", "the distances that were given", euclidean=True)

_TIE = 1e-12  # similarities that differ by rounding
_SOURCES = 100  # points from which the mean squared distance on a graph is measured


class Precomputed(Similarity):
    """Covariances of every pair over both standard deviations, or squared distances as 1 - d^2 / s.

    ``s`` is the mean squared distance of two points, as for Euclidean rows.
    """

    has_rows = False
    _scale: float | Floats
    _values: Any

    def __init__(self, X: Any, *, distances: bool = False, scale: Any = None) -> None:
        super().__init__(DISTANCES if distances else COVARIANCES, X.shape[0], None)
        if scale is not None:
            self._scale, self._values = scale, self._made(X)
        else:
            self._scale, self._values = self._measured(X) if distances else self._divided(X)

    def _made(self, X: Any) -> Any:
        """Return similarities that were made before."""
        return symmetric("X", X)

    def _divided(self, X: Any) -> tuple[Any, Any]:
        """Return standard deviations (n,) and correlations."""
        corr = covariance.to_correlation(X)
        return covariance.standard_deviations(X), 0.5 * (corr + corr.T)

    def _measured(self, X: Any) -> tuple[Any, Any]:
        """Mean squared distance, and similarities."""
        squares = np.square(0.5 * (X + X.T))
        np.fill_diagonal(squares, 0.0)
        n = self.n_samples
        mean = (float(np.mean(squares)) * n / max(n - 1, 1)) or 1.0
        return mean, 1.0 - squares / mean

    @property
    def unit(self) -> float:
        """See `Similarity.unit`."""
        return float(np.sqrt(0.5 * self._scale)) if self.affinity == DISTANCES else 1.0

    def block(self, points: Integers) -> Floats:
        """See `Similarity.block`."""
        return np.asarray(self._values[points])

    def between(self, first: Integers, second: Integers) -> Floats:
        """See `Similarity.between`."""
        return np.asarray(self._values[first, second])

    def matrix(self) -> Floats:
        """See `Similarity.matrix`."""
        return np.asarray(self._values)

    def nearest(self, X: Any, k: int) -> tuple[Integers, Floats]:
        """See `Similarity.nearest`."""
        return graph.nearest_values(self.factor_of(X), k)

    def factor_of(self, X: Any) -> Floats:
        """Values of new points with all; the standard deviation of a new point is not known."""
        if self.affinity != DISTANCES:
            values = X.toarray() if sp.issparse(X) else X
            return np.asarray(values / (self._scale * np.sqrt(np.mean(self._scale**2))))
        if not sp.issparse(X):
            return np.asarray(1.0 - np.square(X) / self._scale)
        # What is not stored is as far as two points are in the mean.
        near = X.tocoo()
        values = np.zeros(X.shape)
        values[near.row, near.col] = 1.0 - near.data**2 / self._scale
        return values

    def comparable(self, X: Any) -> NDArray[np.bool_]:
        """See `Similarity.comparable`: a new point needs a covariance above 0 with some point."""
        values = self.factor_of(X)
        return np.asarray((values > 0.0).any(axis=1) | (self.affinity == DISTANCES))

    def neighbor_graph(self, k: int, *, mutual: bool = False) -> CsrGraph:
        """See `Similarity.neighbor_graph`; points without a covariance are no neighbors."""
        near, every = self.neighbors(k + 1).astype(np.int64), np.arange(self.n_samples)
        if near.shape[1] > k:
            last, next_one = (self.between(every, near[:, at]) for at in (k - 1, k))
            tied = int(np.count_nonzero((last - next_one <= _TIE) & (next_one > 0.0)))
            if tied:
                warn(
                    f"{tied} of {every.size} points have several points as near as their neighbor "
                    f"number {k}: which of them is taken depends on the order of the points; "
                    "another number of neighbors or a threshold may not cut through ties"
                )
        g = super().neighbor_graph(k, mutual=mutual)
        if self.affinity == DISTANCES:
            return g
        first, second, weights = graph.edges(g)
        positive = self.between(first, second) > 0.0
        return graph.from_edges(
            self.n_samples, first[positive], second[positive], weights[positive]
        )


class SparsePrecomputed(Precomputed):
    """Values of some pairs: what is stored is the graph, and what is not is not known.

    A covariance of 0 or below is known, and no edge.
    """

    is_graph = True
    _graph: CsrGraph

    def _divided(self, X: Any) -> tuple[Any, Any]:
        # What is stored one way round, or rounded in float32, is made the same both ways first.
        first, second, values = graph.stored_pairs(X)
        variances = X.diagonal()
        own = np.flatnonzero(variances)
        rows, columns = np.concatenate([first, second, own]), np.concatenate([second, first, own])
        data = np.concatenate([values, values, variances[own]])
        corr = covariance.to_correlation(sp.coo_array((data, (rows, columns)), shape=X.shape))
        return covariance.standard_deviations(X), self._stored(*graph.stored_pairs(corr))

    def _measured(self, X: Any) -> tuple[Any, Any]:
        first, second, values = graph.stored_pairs(X)
        lengths = graph.from_edges(self.n_samples, first, second, values)
        sources = np.linspace(0, self.n_samples - 1, min(self.n_samples, _SOURCES)).astype(np.int64)
        squares = geodesics.shortest_distances(lengths, sources) ** 2
        positive = np.isfinite(squares)
        mean = float(squares[positive].sum()) / max(int(positive.sum()) - sources.size, 1)
        return mean or 1.0, self._stored(first, second, 1.0 - values**2 / (mean or 1.0))

    def _made(self, X: Any) -> Any:
        return self._stored(*graph.stored_pairs(X))

    def _stored(self, first: Integers, second: Integers, values: Floats) -> sp.csr_array:
        """Symmetric matrix of what is known, zeros included, with ones on the diagonal."""
        there = np.full(values.size, self.affinity == DISTANCES) | (values > 0.0)
        weights = np.maximum(self.weights(values[there]), np.finfo(np.float64).tiny)
        self._graph = graph.from_edges(self.n_samples, first[there], second[there], weights)
        every = np.arange(self.n_samples)
        entries = np.concatenate([first, second, every]), np.concatenate([second, first, every])
        data = np.concatenate([values, values, np.ones(every.size)])
        return sp.csr_array((data, entries), shape=2 * (self.n_samples,))

    def block(self, points: Integers) -> Floats:
        """See `Similarity.block`."""
        return np.asarray(self._values[points].toarray())

    def between(self, first: Integers, second: Integers) -> Floats:
        """See `Similarity.between`."""
        return np.asarray(self._values[first, second]).ravel()

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

    def neighbor_graph(self, k: int, *, mutual: bool = False) -> CsrGraph:
        """Of what is stored, the strongest edges of every point."""
        return graph.strongest(self._graph, k)

    def threshold_graph(self, s0: float) -> CsrGraph:
        """See `Similarity.threshold_graph`; 0 takes all that is stored."""
        return graph.above(self._graph, s0) if s0 else self._graph

    def _search(self, k: int) -> NDArray[np.int32]:
        raise NotImplementedError("a sparse covariance is a graph: it has no neighbors to search")
