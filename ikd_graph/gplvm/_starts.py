"""Closed forms of a matrix of correlations: starts of a likelihood search."""

import numpy as np

from .. import eigen, geodesics, graph
from .._base.types import Floats
from ..graph import CsrGraph
from ..kernels import StationaryKernel
from ..similarity import Correlations
from ..stress import stress

_NEIGHBORS = (4, 15)
"""Fewest and most neighbors of a random graph."""

_JOINED = 6
"""Neighbors that a threshold graph is united with, as for a fit of rows."""


def closed_form(
    corr: Floats, n_components: int, kernel: StationaryKernel, n_observed: int
) -> Floats:
    """Geodesic solution on the threshold graph of correlations, after stress.

    Parameters
    ----------
    corr : (n, n) float64
        Correlations.
    n_components : int
        Columns of the latent.
    kernel : StationaryKernel
        Kernel that turns correlations into distances.
    n_observed : int
        Number of columns that the correlations are of.

    Returns
    -------
    (n, n_components) ndarray of float64
        Latent.
    """
    similarity = Correlations(corr)
    strong = graph.threshold(similarity, graph.auto_threshold(n_observed))
    g = graph.union(strong, _neighbor_graph(similarity, _JOINED))
    latent = _geodesic(g, n_components, kernel)
    return stress(latent, g, kernel, n_observed).latent


def random_closed_form(
    corr: Floats, n_components: int, kernel: StationaryKernel, rng: np.random.Generator
) -> Floats:
    """Geodesic solution on a neighbor graph of correlations.

    Parameters
    ----------
    corr, n_components, kernel : see `closed_form`
        Correlations, columns of the latent, kernel.
    rng : numpy.random.Generator
        Chooses from 4 to 15 neighbors.

    Returns
    -------
    (n, n_components) ndarray of float64
        Latent.
    """
    low, high = _NEIGHBORS
    g = _neighbor_graph(Correlations(corr), int(rng.integers(low, high + 1)))
    return _geodesic(g, n_components, kernel)


def _neighbor_graph(similarity: Correlations, n_neighbors: int) -> CsrGraph:
    """Return a connected graph."""
    g = graph.neighbors(similarity, min(n_neighbors, similarity.n_samples - 1))
    return graph.join(g, similarity).graph


def _geodesic(g: CsrGraph, n_components: int, kernel: StationaryKernel) -> Floats:
    """Return closed form of the geodesic distances of a graph."""
    sq_dist = geodesics.sq_distances(g, kernel, "distance")
    return eigen.coordinates(sq_dist, n_components).coordinates
