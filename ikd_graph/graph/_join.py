"""Joining the components of a graph along their strongest spanning tree."""

from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from .._base.rounding import DECIMALS
from .._base.threads import block_rows, map_blocks, single_threaded_blas
from .._base.types import Integers, Reals
from .._base.validation import validate
from ..similarity import Similarity, as_similarity
from ._csr import component_labels, mirrored, union
from ._record import CsrGraph, check_graph

N_LINKS = 10
"""Edges that join two components; a single edge lets a component turn about it."""


class JoinedGraph(NamedTuple):
    """A connected graph, and what that took."""

    graph: CsrGraph
    links: Integers  # (m, 2) edges added, the smaller end first


@validate(g=check_graph, corr=as_similarity)
def join(g: CsrGraph, corr: Any) -> JoinedGraph:
    """Join the components along their strongest spanning tree, by several edges a pair.

    Two components are neighbors in the tree of their most correlated pairs of points; they are
    joined by that pair and by up to nine more, each between points that are the nearest of the
    other component to one of them. A correlation near zero or below is stored as ``WEIGHT_FLOOR``.

    Parameters
    ----------
    g : CsrGraph
        The graph.
    corr : (n, n) float64, symmetric, or Similarity
        Correlations between points.

    Returns
    -------
    JoinedGraph
        The connected graph and the edges that were added.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import graph
    >>> corr = np.array([[1.0, 0.1, 0.9], [0.1, 1.0, 0.3], [0.9, 0.3, 1.0]])
    >>> joined = graph.join(graph.threshold(corr, 0.5), corr)
    >>> joined.links.tolist(), joined.graph.weights.tolist()
    ([[0, 1], [1, 2]], [0.1, 0.9, 0.1, 0.3, 0.9, 0.3])
    """
    similarity = as_similarity("corr", corr)
    if similarity.n_samples != g.n_nodes:
        raise ValueError(
            f"corr must have one row a node, got {similarity.n_samples} for {g.n_nodes} nodes; "
            "pass the one the graph was built from"
        )
    labels = components = component_labels(g)
    tree: list[tuple[int, int]] = []
    with single_threaded_blas():
        while labels.any():
            labels = _boruvka_round(similarity, labels, tree)
        links = [pair for ends in tree for pair in _nearest_pairs(similarity, components, *ends)]
    low, high = np.unique(np.array(links, dtype=np.int64).reshape(-1, 2), axis=0).T
    values = similarity.between(low, high)
    known = values > -np.inf
    low, high, values = low[known], high[known], values[known]
    joined = union(g, mirrored(g.n_nodes, low, high, similarity.weights(values)))
    return JoinedGraph(joined, np.column_stack((low, high)))


def _rounded(similarity: Similarity, points: Integers) -> Reals:
    """Similarities of some points with all, (b, n), without what only rounding parts."""
    return np.round(similarity.block(points), DECIMALS)


def _nearest_pairs(
    similarity: Similarity, labels: Integers, low: int, high: int
) -> list[tuple[int, int]]:
    """Strongest pairs between the components of two points, that of these points among them.

    Each is the strongest of an end. Of many points only those near the two are tried.
    """
    most = block_rows(labels.size)
    sides = [np.flatnonzero(labels == labels[end]) for end in (low, high)]
    for which, end in enumerate((low, high)):
        if sides[which].size > most:
            values = _rounded(similarity, np.array([end]))[0, sides[which]]
            sides[which] = np.sort(sides[which][np.argsort(-values, kind="stable")[:most]])
    left, right = sides
    values = np.asarray(_rounded(similarity, left), np.float64)[:, right]
    rows, columns = np.arange(left.size), np.arange(right.size)
    a = np.concatenate((rows, values.argmax(axis=0)))
    b = np.concatenate((values.argmax(axis=1), columns))
    pairs = np.unique(np.column_stack((a, b)), axis=0)
    pairs = pairs[np.argsort(-values[pairs[:, 0], pairs[:, 1]], kind="stable")[:N_LINKS]]
    ends = np.sort(np.column_stack((left[pairs[:, 0]], right[pairs[:, 1]])), axis=1)
    return [(low, high), *map(tuple, ends.tolist())][: N_LINKS + 1]


def _boruvka_round(
    similarity: Similarity, labels: Integers, links: list[tuple[int, int]]
) -> Integers:
    """Link every component but the largest by its strongest correlation with another.

    Links are appended to ``links``; returns the component of each point after the round.
    """
    nodes = np.flatnonzero(labels != np.bincount(labels).argmax())
    partners, values = np.empty(nodes.size, np.int64), np.empty(nodes.size)

    def search(start: int, stop: int) -> None:
        rows = nodes[start:stop]
        block = np.where(labels[rows, None] == labels, -np.inf, _rounded(similarity, rows))
        partners[start:stop], values[start:stop] = block.argmax(axis=1), block.max(axis=1)

    map_blocks(search, nodes.size, block_rows(labels.size))
    pairs = np.sort(np.column_stack((nodes, partners)), axis=1)
    order = np.lexsort((pairs[:, 1], pairs[:, 0], -values))
    # Of equal ones the first: two components that choose one another choose the same pair.
    _, strongest = np.unique(labels[nodes[order]], return_index=True)
    chosen = np.unique(pairs[order[strongest]], axis=0)
    links += map(tuple, chosen.tolist())
    ends = tuple(labels[chosen].T.astype(np.int32))  # which older releases of scipy ask for
    joined = coo_array((np.ones(len(chosen)), ends), shape=2 * (int(labels.max()) + 1,))
    return np.asarray(connected_components(joined, directed=False)[1][labels], np.int64)
