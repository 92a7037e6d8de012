"""Path lengths and the squared distances that they stand for under a kernel."""

import numpy as np
from numpy.typing import NDArray

from .._base.threads import map_blocks
from .._base.types import Floats
from ..graph import CsrGraph
from ..kernels import StationaryKernel
from ._paths import covariance_lengths, distance_lengths, shortest_distances


def path_lengths(g: CsrGraph, kernel: StationaryKernel, path: str) -> CsrGraph:
    """Return the graph with lengths of edges whose shortest paths are the best ones."""
    if path == "covariance":
        return covariance_lengths(g)
    return distance_lengths(g, kernel)


def squares_of_lengths(
    kernel: StationaryKernel, path: str, lengths: NDArray[np.floating]
) -> Floats:
    """Squared distances that the lengths of best paths stand for, see `path_lengths`."""
    values = np.asarray(lengths, dtype=np.float64)
    if path == "covariance":
        return kernel.sq_distance_from_log(values)
    return np.square(values)


def sq_distances(g: CsrGraph, kernel: StationaryKernel, path: str) -> Floats:
    """Squared distances (n, n) on best paths of a connected graph; edges keep their own."""
    lengths = path_lengths(g, kernel, path)
    out = np.asarray(shortest_distances(lengths), dtype=np.float64)
    walkable = np.isfinite(lengths.weights)
    out[g.rows[walkable], g.indices[walkable]] = lengths.weights[walkable]

    def invert(start: int, stop: int) -> None:
        # In place: at thousands of points a second matrix is what memory runs out on.
        out[start:stop] = squares_of_lengths(kernel, path, out[start:stop])

    map_blocks(invert, g.n_nodes, 64)
    return out
