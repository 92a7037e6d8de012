"""Joining the components of a graph along their strongest spanning tree."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _checks as door
from .. import _jit
from .._checks import check_block, check_nodes, check_values
from .._records import CsrGraph, check_graph
from .._threads import block_rows, map_blocks, single_threaded_blas
from ._build import walkable
from ._csr import component_labels, edges, from_edges, union
from ._nearest import check_correlations

Pairs = Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.float64]]


_TRIED = 256  # points of a large component that links are sought among

N_LINKS = 10
"""Edges that join two components; one alone lets a component turn about it."""


class JoinedGraph(NamedTuple):
    """A connected graph, and what that took."""

    graph: CsrGraph
    links: NDArray[np.int64]  # (m, 2) edges added, the smaller end first


@door.takes(g=check_graph, corr=check_correlations)
def join(g: CsrGraph, corr: NDArray[np.float64]) -> JoinedGraph:
    """Join the components along their strongest spanning tree, by several edges a pair.

    Two components are neighbours in the tree of their most correlated pairs of points; they are
    joined by that pair and by up to nine more, each between points that are the nearest of the
    other component to one of them. A correlation near zero or below is stored as ``WEIGHT_FLOOR``.

    Parameters
    ----------
    g : CsrGraph
        The graph.
    corr : (n, n) float64, symmetric
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
    if corr.shape[0] != g.n_nodes:
        raise ValueError(
            f"corr must have one row a node, got {corr.shape[0]} for {g.n_nodes} nodes; pass the "
            "one the graph was built from"
        )
    low, high = find_links.unchecked(g, lambda nodes: corr[nodes])
    joined = add_edges.unchecked(g, low, high, corr[low, high])
    return JoinedGraph(joined, np.column_stack((low, high)))


class Listed(NamedTuple):
    """Neighbours that are known, and how near they are."""

    neighbors: NDArray[np.int32]  # (n, k) points most correlated with each
    values: NDArray[np.float64]  # (n, k) their correlations; no other point has more than the least


_LISTED = door.record(Listed, "it holds neighbours and their correlations")


@door.takes(
    g=check_graph,
    correlations=door.function,
    listed=door.optional(_LISTED),
    n_links=door.whole(1),
)
def find_links(
    g: CsrGraph,
    correlations: Callable[[NDArray[np.int64]], NDArray[np.floating]],
    listed: Listed | None = None,
    exact: Pairs | None = None,
    n_links: int = N_LINKS,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Find the pairs of points that join the components along their strongest spanning tree.

    Parameters
    ----------
    g : CsrGraph
        The graph.
    correlations : callable
        Maps (b,) points to their (b, n) correlations with all points.
    listed : Listed, optional
        Neighbours that are known. A component whose strongest link is among them is not searched:
        of thousands of single points none is.
    exact : callable, optional
        Correlations of pairs of points, where those of ``correlations`` only tell which partner
        outside its component each point tries.
    n_links : int
        Number of pairs for each edge of the tree.

    Returns
    -------
    low, high : (m,) int64
        Ends of the pairs, in order.
    """
    labels = components = component_labels.unchecked(g)
    n_bridges = int(labels.max(initial=0))
    found: list[tuple[int, int]] = []
    with single_threaded_blas():
        while len(found) < n_bridges:
            labels = _bridge(correlations, labels, found, listed, exact)
        if n_links > 1:
            found = [
                pair
                for low, high in found
                for pair in _nearest_pairs(correlations, components, low, high, n_links)
            ]
    ends = np.unique(np.array(found, dtype=np.int64).reshape(-1, 2), axis=0)
    return ends[:, 0], ends[:, 1]


@door.takes(g=check_graph, wider=check_graph)
def joined_by(g: CsrGraph, wider: CsrGraph) -> CsrGraph:
    """Graph with those edges of a wider one that connect its components.

    Parameters
    ----------
    g : CsrGraph
        A graph, for instance of mutual neighbours.
    wider : CsrGraph
        Another one on the same points, for instance of all neighbours.

    Returns
    -------
    CsrGraph
        All edges of ``g``, and those of ``wider`` whose ends are in different components of it.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import graph
    >>> corr = np.exp(-np.square(np.subtract.outer(*2 * [np.array([0.0, 0.1, 0.2, 0.6])])))
    >>> near = graph.neighbors(corr, 2, mutual=True)
    >>> graph.joined_by(near, graph.neighbors(corr, 2)).n_edges - near.n_edges
    2
    """
    labels = component_labels.unchecked(g)
    if not labels.any():
        return g
    left, right, weights = edges.unchecked(wider)
    across = labels[left] != labels[right]
    between = from_edges.unchecked(g.n_nodes, left[across], right[across], weights[across])
    return union.unchecked(g, between)


def _check_added(
    g: CsrGraph, low: NDArray[np.int64], high: NDArray[np.int64], weights: NDArray[np.float64]
) -> None:
    check_values("weights", weights, low.size)
    check_nodes("high", high, g.n_nodes)
    if low.size != high.size or np.any(low >= high):
        raise ValueError(f"low must be below high, got {low.size} and {high.size} nodes")


@door.takes(_check_added, g=check_graph, low=door.nodes, high=door.nodes)
def add_edges(
    g: CsrGraph,
    low: NDArray[np.int64],
    high: NDArray[np.int64],
    weights: NDArray[np.float64],
) -> CsrGraph:
    """Graph with more edges, whose weights are lifted to ``WEIGHT_FLOOR`` at least.

    Parameters
    ----------
    g : CsrGraph
        The graph.
    low, high : (m,) int64
        Ends of the new edges.
    weights : (m,) float64
        Their weights.

    Returns
    -------
    CsrGraph
        The graph with them.
    """
    left, right, known = edges.unchecked(g)
    left, right = np.concatenate((left, low)), np.concatenate((right, high))
    return from_edges.unchecked(g.n_nodes, left, right, np.concatenate((known, walkable(weights))))


def _nearest_pairs(
    correlations: Callable[[NDArray[np.int64]], NDArray[np.floating]],
    labels: NDArray[np.int64],
    low: int,
    high: int,
    n_links: int,
) -> list[tuple[int, int]]:
    """Strongest pairs between the components of two points, that of these points among them.

    Each is the strongest of one of its ends. With many points only those near the two are tried.
    """
    sides = [np.flatnonzero(labels == labels[end]) for end in (low, high)]
    for which, end in enumerate((low, high)):
        if sides[which].size > _TRIED:
            values = np.asarray(correlations(np.array([end])))[0, sides[which]]
            sides[which] = np.sort(sides[which][np.argsort(-values, kind="stable")[:_TRIED]])
    left, right = sides
    values = np.asarray(correlations(left), np.float64)[:, right]
    rows, columns = np.arange(left.size), np.arange(right.size)
    a = np.concatenate((rows, values.argmax(axis=0)))
    b = np.concatenate((values.argmax(axis=1), columns))
    pairs = np.unique(np.column_stack((a, b)), axis=0)
    pairs = pairs[np.argsort(-values[pairs[:, 0], pairs[:, 1]], kind="stable")[:n_links]]
    ends = np.sort(np.column_stack((left[pairs[:, 0]], right[pairs[:, 1]])), axis=1)
    return [(low, high), *map(tuple, ends.tolist())][: n_links + 1]


def _bridge(
    correlations: Callable[[NDArray[np.int64]], NDArray[np.floating]],
    labels: NDArray[np.int64],
    found: list[tuple[int, int]],
    listed: Listed | None,
    exact: Pairs | None,
) -> NDArray[np.int64]:
    """Run one round of Boruvka: every component but the largest takes its strongest bridge.

    Bridges are appended to ``found``; returns the component of each node after the round.
    """
    nodes = np.flatnonzero(labels != np.bincount(labels).argmax())
    partners, values = np.zeros(nodes.size, np.int64), np.full(nodes.size, -np.inf)
    searched = np.arange(nodes.size)
    if listed is not None:
        partners, values = _listed_bridges(labels, listed, nodes)
        strongest = np.full(int(labels.max()) + 1, -np.inf)
        np.maximum.at(strongest, labels[nodes], values)
        # What is not listed is no nearer than the last that is.
        searched = np.flatnonzero(listed.values[nodes].min(axis=1) > strongest[labels[nodes]])

    def seek(start: int, stop: int) -> None:
        some = searched[start:stop]
        best, most = np.empty(some.size, np.int64), np.empty(some.size)
        block = check_block(correlations(nodes[some]), (some.size, labels.size))
        _jit.graph.strongest_outside(block, nodes[some], labels, best, most)
        if exact is not None:
            most = exact(nodes[some], best)
        better = most > values[some]
        partners[some[better]], values[some[better]] = best[better], most[better]

    map_blocks(seek, searched.size, block_rows(labels.size))
    nodes, partners, values = (one[np.isfinite(values)] for one in (nodes, partners, values))
    low, high = np.minimum(nodes, partners), np.maximum(nodes, partners)
    order = np.lexsort((high, low, -values))
    _, first = np.unique(labels[nodes[order]], return_index=True)
    parent = list(range(int(labels.max()) + 1))
    # Strongest first, and never a bridge that would close a ring (rounding may offer one).
    for at in order[np.sort(first)]:
        ends = _root(parent, labels[low[at]]), _root(parent, labels[high[at]])
        if ends[0] != ends[1]:
            parent[max(ends)] = min(ends)
            found.append((int(low[at]), int(high[at])))
    roots = np.array([_root(parent, label) for label in range(len(parent))])
    return np.unique(roots, return_inverse=True)[1][labels]


def _listed_bridges(
    labels: NDArray[np.int64], listed: Listed, nodes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Strongest known bridge of each node: its partner and value, -inf if it has none."""
    left = np.repeat(np.arange(labels.size), listed.neighbors.shape[1])
    right = listed.neighbors.ravel().astype(np.int64)
    apart = labels[left] != labels[right]
    left, right, value = left[apart], right[apart], listed.values.ravel()[apart]
    # Either end may know of a bridge.
    ends, others = np.concatenate((left, right)), np.concatenate((right, left))
    value = np.concatenate((value, value))
    order = np.lexsort((others, -value, ends))
    at, first = np.unique(ends[order], return_index=True)
    partners, values = np.zeros(labels.size, np.int64), np.full(labels.size, -np.inf)
    partners[at], values[at] = others[order][first], value[order][first]
    return partners[nodes], values[nodes]


def _root(parent: list[int], label: int) -> int:
    """Follow a union-find forest from a label to its root, halving the way."""
    while parent[label] != label:
        parent[label] = parent[parent[label]]
        label = parent[label]
    return label
