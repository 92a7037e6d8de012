"""Closed forms of one matrix of correlations on random graphs: starts of a likelihood search."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .. import eigen, geodesics, graph
from .._records import CsrGraph
from ..kernels import StationaryKernel

Floats = NDArray[np.float64]

_NEIGHBORS = (4, 15)  # least and most neighbours
_STRONGEST = (0.2, 0.7)  # threshold
_JOINED = 6  # neighbours that a threshold graph is united with


def random_closed_form(
    corr: Floats, n_components: int, kernel: StationaryKernel, rng: np.random.Generator
) -> Floats:
    """Geodesic solution on a random graph of correlations.

    Parameters
    ----------
    corr : (n, n) float64
        Correlations.
    n_components : int
        Columns of the latent.
    kernel : StationaryKernel
        Kernel that turns correlations into distances.
    rng : numpy.random.Generator
        Chooses a neighbour graph of 4 to 15 neighbours, or a threshold graph.

    Returns
    -------
    (n, n_components) ndarray of float64
        Latent.
    """
    g = _random_graph(corr, rng)
    sq_dist = geodesics.sq_distances(g, kernel, "distance")
    return eigen.coordinates.unchecked(sq_dist, n_components).coordinates


def _random_graph(corr: Floats, rng: np.random.Generator) -> CsrGraph:
    """A connected graph."""
    neighbors, threshold = int(rng.integers(_NEIGHBORS[0], _NEIGHBORS[1] + 1)), None
    if rng.random() < 0.5:
        neighbors, threshold = _JOINED, rng.uniform(*_STRONGEST)
    near = graph.neighbors.unchecked(corr, min(neighbors, len(corr) - 1))
    near = graph.join.unchecked(near, corr).graph
    if threshold is None:
        return near
    return graph.union.unchecked(graph.threshold.unchecked(corr, threshold), near)
