"""Nodes that cover a graph: each the farthest from those before it."""

import numpy as np
from numpy.typing import NDArray

from .._base import validation as check
from .._base.validation import validate
from ..graph import CsrGraph, check_graph
from ._paths import check_lengths, search


def _check_count(g: CsrGraph, count: int) -> None:
    check.check_integer("count", count, 1, max(g.n_nodes, 1))


@validate(check_lengths, _check_count, g=check_graph, count=check.count)
def farthest_nodes(g: CsrGraph, count: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Find nodes of a connected graph, each the farthest from those before it.

    The first ends the longest path from the node with the shortest edges, so that the order of the
    nodes does not matter.

    Parameters
    ----------
    g : CsrGraph
        Weights are lengths, as for `shortest_distances`.
    count : int
        How many, up to n. Where nodes lie at the same place some come again.

    Returns
    -------
    nodes : (count,) ndarray of int64
        The nodes.
    distances : (count, n) ndarray of float64
        From each of them to all.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import geodesics, graph
    >>> line = graph.from_edges(4, np.arange(3), np.arange(1, 4), np.array([0.5, 2.0, 1.0]))
    >>> nodes, distances = geodesics.farthest_nodes(line, 2)
    >>> nodes.tolist(), distances[0].tolist()
    ([3, 0], [3.5, 3.0, 1.0, 0.0])
    """
    n = g.n_nodes
    mean = np.full(n, np.inf)
    degrees = np.diff(g.indptr)
    sums = np.add.reduceat(np.append(g.weights, 0.0), g.indptr[:-1])
    np.divide(sums, degrees, out=mean, where=degrees > 0)
    nodes, distances = np.full(count, np.argmin(mean)), np.empty((count, n))

    search(g, nodes[:1], distances[:1])
    nodes[0] = np.argmax(distances[0])
    nearest = np.full(n, np.inf)
    for row in range(count):
        search(g, nodes[row : row + 1], distances[row : row + 1])
        np.minimum(nearest, distances[row], out=nearest)
        if row + 1 < count:
            nodes[row + 1] = np.argmax(nearest)
    return nodes, distances
