"""Path lengths and the squared distances that they stand for under a kernel."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .. import graph
from .._records import CsrGraph
from .._threads import map_blocks
from ..kernels import StationaryKernel
from ._paths import (
    covariance_lengths,
    distance_lengths,
    geodesic_covariance,
    geodesic_distances,
)

Floats = NDArray[np.float64]

SMALLEST_PRODUCT = 1e-100
"""A product of correlations below it would underflow in the inverse of heavy-tailed kernels."""


def path_lengths(g: CsrGraph, kernel: StationaryKernel, path: str) -> CsrGraph:
    """The graph with lengths of edges whose shortest paths are the best ones."""
    if path == "covariance":
        return covariance_lengths.unchecked(g)
    return distance_lengths.unchecked(g, kernel)


def squares_of_lengths(
    kernel: StationaryKernel, path: str, lengths: NDArray[np.floating]
) -> Floats:
    """Squared distances that the lengths of best paths stand for, see `path_lengths`."""
    values = np.asarray(lengths, dtype=np.float64)
    if path == "covariance":
        return kernel.sq_distance(np.clip(np.exp(-values), SMALLEST_PRODUCT, 1.0))
    return np.square(values)


def geodesic_sq_distances(g: CsrGraph, kernel: StationaryKernel, path: str) -> Floats:
    """Squared distances (n, n) on best paths of a connected graph; edges keep their own."""
    if path == "covariance":
        matrix = np.asarray(geodesic_covariance.unchecked(g), dtype=np.float64)

        def invert(start: int, stop: int) -> None:
            # In place: at thousands of points a second matrix is what memory runs out on.
            part = matrix[start:stop]
            np.clip(part, SMALLEST_PRODUCT, 1.0, out=part)
            part[...] = kernel.sq_distance(part)

        map_blocks(invert, g.n_nodes, 64)
        return matrix
    sq_dist = np.asarray(geodesic_distances.unchecked(g, kernel), dtype=np.float64)
    np.square(sq_dist, out=sq_dist)
    sources, targets, weights = graph.edges.unchecked(g)
    direct = kernel.sq_distance(np.minimum(weights, 1.0))
    sq_dist[sources, targets] = direct
    sq_dist[targets, sources] = direct
    return sq_dist
