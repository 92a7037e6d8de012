"""Weighted graphs of points: which correlations to trust.

The covariance between points is trusted where it is large. A graph keeps the trusted entries: those
above a threshold (the paper's Section 2.4), or those between nearest neighbours. Every function
here returns a :class:`~ikd_graph._records.CsrGraph`; its weights are correlations, at most 1.

Functions that start with ``row_`` take rows of unit norm whose products are the correlations, and
never form the (n, n) matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from . import _jit
from ._records import CsrGraph
from ._threads import limit_threads, map_blocks
from ._validation import check_choice, check_finite, check_fraction, check_integer, check_symmetric

if TYPE_CHECKING:
    import networkx as nx

WEIGHT_FLOOR = 1e-3
"""Least weight of an edge that is there whatever its correlation: a neighbour or a bridge."""

APPROXIMATE_FROM = 20_000
"""Number of rows from which ``neighbors="auto"`` searches approximately."""


class JoinedGraph(NamedTuple):
    """A graph in one piece, and what that took."""

    graph: CsrGraph
    n_bridges: int  # edges added, one fewer than the components there were


def threshold_graph(corr: NDArray[np.float64], s0: float) -> CsrGraph:
    """Keep the pairs whose correlation exceeds a threshold (paper, Section 2.4).

    Parameters
    ----------
    corr : (n, n) float64, symmetric
        Correlations between points; the upper triangle is read.
    s0 : float
        Threshold in (0, 1).

    Returns
    -------
    CsrGraph
        Edges with ``corr > s0``.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import graph
    >>> corr = np.array([[1.0, 0.9, 0.2], [0.9, 1.0, 0.5], [0.2, 0.5, 1.0]])
    >>> graph.threshold_graph(corr, 0.4).indices.tolist()
    [1, 0, 2, 1]
    """
    corr = _check_correlations(corr)
    s0 = check_fraction("s0", s0)
    return _above(lambda start, stop: corr[start:stop, start:], corr.shape[0], s0)


def row_threshold_graph(rows: NDArray[np.floating], s0: float) -> CsrGraph:
    """Keep the pairs of rows whose product exceeds a threshold, without an (n, n) matrix.

    Parameters
    ----------
    rows : (n, p) float32 or float64
        Rows of unit norm; their products are the correlations.
    s0 : float
        Threshold in (0, 1).

    Returns
    -------
    CsrGraph
        Edges with a product above ``s0``.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import graph
    >>> rows = np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]])
    >>> graph.row_threshold_graph(rows, 0.5).weights.tolist()
    [0.8, 0.8, 0.6, 0.6]
    """
    rows = _check_rows(rows)
    s0 = check_fraction("s0", s0)
    with limit_threads(_threads_now()):
        return _above(lambda start, stop: rows[start:stop] @ rows[start:].T, rows.shape[0], s0)


def neighbor_graph(corr: NDArray[np.float64], k: int, *, mutual: bool = False) -> CsrGraph:
    """Join each point to the points most correlated with it.

    Ties go to the smaller index, and a point is never its own neighbour, whatever duplicates it
    has. A neighbour's correlation below ``WEIGHT_FLOOR`` (even a negative one, when nothing better
    is there) is stored as ``WEIGHT_FLOOR``, so that every edge can be walked.

    Parameters
    ----------
    corr : (n, n) float64, symmetric
        Correlations between points.
    k : int
        Number of neighbours, at most n - 1.
    mutual : bool
        Keep an edge only where each is among the k nearest of the other; by default one suffices.

    Returns
    -------
    CsrGraph
        The neighbour graph.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import graph
    >>> corr = np.array([[1.0, 0.9, 0.2], [0.9, 1.0, 0.5], [0.2, 0.5, 1.0]])
    >>> graph.neighbor_graph(corr, 1).indices.tolist()
    [1, 0, 2, 1]
    >>> graph.neighbor_graph(corr, 1, mutual=True).indices.tolist()
    [1, 0]
    """
    corr = _check_correlations(corr)
    n = corr.shape[0]
    neighbours = np.empty((n, _check_neighbours(k, n)), np.int32)

    def find(start: int, stop: int) -> None:
        _jit.graph.strongest(corr[start:stop], start, neighbours[start:stop])

    map_blocks(find, n, _block_rows(n))
    left, right = _neighbour_pairs(neighbours, mutual)
    return _from_pairs(n, left, right, np.maximum(corr[left, right], WEIGHT_FLOOR))


def row_neighbor_graph(
    rows: NDArray[np.floating],
    k: int,
    *,
    neighbors: str = "auto",
    mutual: bool = False,
    random_state: Any = None,
) -> CsrGraph:
    """Join each row to the rows most correlated with it, without an (n, n) matrix.

    As :func:`neighbor_graph` otherwise. The exact search multiplies blocks of rows in single
    precision, which only rules pairs out: those left are compared in double precision.

    Parameters
    ----------
    rows : (n, p) float32 or float64
        Rows of unit norm; their products are the correlations.
    k : int
        Number of neighbours, at most n - 1.
    neighbors : {"auto", "exact", "approximate"}
        How they are found: by blocked products, by nearest-neighbour descent (pynndescent), or
        by whichever suits the number of rows (descent beyond ``APPROXIMATE_FROM``).
    mutual : bool
        Keep an edge only where each is among the k nearest of the other.
    random_state : int, RandomState or None
        Seed of the approximate search; the exact one needs none.

    Returns
    -------
    CsrGraph
        The neighbour graph.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import graph
    >>> rows = np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]])
    >>> graph.row_neighbor_graph(rows, 1).indices.tolist()
    [1, 0, 2, 1]
    """
    rows = _check_rows(rows)
    n = rows.shape[0]
    k = _check_neighbours(k, n)
    check_choice("neighbors", neighbors, ("auto", "exact", "approximate"))
    if neighbors == "auto":
        neighbors = "approximate" if n > APPROXIMATE_FROM else "exact"
    with limit_threads(_threads_now()):
        if neighbors == "exact":
            found = _exact_neighbours(rows, k)
        else:
            found = _descent_neighbours(rows, k, random_state)
        left, right = _neighbour_pairs(found, mutual)
        weights = row_correlations(rows, left, right)
    return _from_pairs(n, left, right, np.maximum(weights, WEIGHT_FLOOR))


def row_correlations(
    rows: NDArray[np.floating], left: NDArray[np.integer], right: NDArray[np.integer]
) -> NDArray[np.float64]:
    """Compute the products of pairs of rows in double precision, the same bits either way round.

    Parameters
    ----------
    rows : (n, p) float32 or float64
        Rows of unit norm.
    left, right : (m,) int
        The pairs.

    Returns
    -------
    (m,) float64
        Their correlations, at most 1.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import graph
    >>> rows = np.array([[1.0, 0.0], [0.8, 0.6]])
    >>> graph.row_correlations(rows, np.array([0, 1]), np.array([1, 1])).round(12).tolist()
    [0.8, 1.0]
    """
    rows = _check_rows(rows)
    left, right = np.asarray(left, np.int64), np.asarray(right, np.int64)
    out = np.empty(left.size, np.float64)

    def multiply(start: int, stop: int) -> None:
        part = slice(start, stop)
        _jit.graph.pair_dots(rows, left[part], right[part], out[part])

    map_blocks(multiply, left.size, 16_384)
    return np.minimum(out, 1.0)


def union(a: CsrGraph, b: CsrGraph) -> CsrGraph:
    """Keep the edges of either graph; where both have an edge the weight of ``a`` stays.

    Parameters
    ----------
    a, b : CsrGraph
        Graphs on the same points.

    Returns
    -------
    CsrGraph
        Their union.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import graph
    >>> corr = np.array([[1.0, 0.9, 0.2], [0.9, 1.0, 0.5], [0.2, 0.5, 1.0]])
    >>> both = graph.union(graph.threshold_graph(corr, 0.8), graph.neighbor_graph(corr, 1))
    >>> both.n_edges
    2
    """
    if a.n_nodes != b.n_nodes:
        raise ValueError(
            f"b must have as many nodes as a, got {b.n_nodes} for {a.n_nodes}; "
            "build both graphs from the same points"
        )
    n = a.n_nodes
    (left_a, right_a, weights_a), (left_b, right_b, weights_b) = edges(a), edges(b)
    keys = np.concatenate((left_a * n + right_a, left_b * n + right_b))
    # np.unique keeps the first of equals, so an edge that both have is taken from a.
    keys, first = np.unique(keys, return_index=True)
    return _from_pairs(n, keys // n, keys % n, np.concatenate((weights_a, weights_b))[first])


def above(g: CsrGraph, s0: float) -> CsrGraph:
    """Keep the edges of a graph whose weight exceeds a threshold.

    Parameters
    ----------
    g : CsrGraph
        The graph.
    s0 : float
        Threshold.

    Returns
    -------
    CsrGraph
        The same nodes with fewer edges.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import graph
    >>> corr = np.array([[1.0, 0.9, 0.2], [0.9, 1.0, 0.5], [0.2, 0.5, 1.0]])
    >>> graph.above(graph.threshold_graph(corr, 0.4), 0.6).n_edges
    1
    """
    keep = g.weights > s0
    indptr = np.concatenate(([0], np.cumsum(keep)))[g.indptr]
    return CsrGraph(indptr, g.indices[keep], g.weights[keep])


def subgraph(g: CsrGraph, nodes: NDArray[np.integer]) -> CsrGraph:
    """Keep some nodes and the edges among them.

    Parameters
    ----------
    g : CsrGraph
        The graph.
    nodes : (m,) int
        Nodes to keep, each once; node ``i`` of the result is ``nodes[i]``.

    Returns
    -------
    CsrGraph
        The graph they span.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import graph
    >>> corr = np.array([[1.0, 0.9, 0.2], [0.9, 1.0, 0.5], [0.2, 0.5, 1.0]])
    >>> graph.subgraph(graph.threshold_graph(corr, 0.1), np.array([2, 0])).weights.tolist()
    [0.2, 0.2]
    """
    number = np.full(g.n_nodes, -1)
    number[nodes] = np.arange(len(nodes))
    left, right, weights = edges(g)
    left, right = number[left], number[right]
    both = (left >= 0) & (right >= 0)
    left, right = left[both], right[both]
    return _from_pairs(len(nodes), np.minimum(left, right), np.maximum(left, right), weights[both])


def edges(g: CsrGraph) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """List each edge once, the smaller node first, in order.

    Parameters
    ----------
    g : CsrGraph
        The graph.

    Returns
    -------
    left, right : (n_edges,) int64
        The nodes of each edge, ``left < right``.
    weights : (n_edges,) float64
        Their weights.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import graph
    >>> corr = np.array([[1.0, 0.9, 0.2], [0.9, 1.0, 0.5], [0.2, 0.5, 1.0]])
    >>> left, right, weights = graph.edges(graph.threshold_graph(corr, 0.4))
    >>> left.tolist(), right.tolist(), weights.tolist()
    ([0, 1], [1, 2], [0.9, 0.5])
    """
    left = np.repeat(np.arange(g.n_nodes), np.diff(g.indptr))
    once = left < g.indices
    return left[once], g.indices[once].astype(np.int64), g.weights[once]


def from_sparse(matrix: Any) -> CsrGraph:
    """Read a graph from a sparse covariance, every stored entry an edge.

    Entries are divided by the standard deviations of their row and column; a matrix without a
    stored diagonal is taken to hold correlations already. The diagonal is dropped, explicit
    zeros are kept.

    Parameters
    ----------
    matrix : (n, n) scipy sparse array or matrix, symmetric
        Covariances between points.

    Returns
    -------
    CsrGraph
        Weights are correlations.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from ikd_graph import graph
    >>> g = graph.from_sparse(sp.csr_array([[4.0, 1.0], [1.0, 1.0]]))
    >>> g.weights.tolist()
    [0.5, 0.5]
    """
    if not sp.issparse(matrix):
        raise TypeError(
            f"matrix must be a scipy sparse array, got {type(matrix).__name__}; "
            "use threshold_graph or neighbor_graph for a dense one"
        )
    matrix = sp.csr_array(matrix, dtype=np.float64)
    matrix.sum_duplicates()
    check_finite("matrix", matrix.data)
    check_symmetric("matrix", matrix)
    n = matrix.shape[0]
    left = np.repeat(np.arange(n), np.diff(matrix.indptr))
    right = matrix.indices.astype(np.int64)
    spread = np.ones(n)
    if np.any(left == right):
        variance = matrix.diagonal()
        if not np.all(variance > 0.0):
            raise ValueError(
                "matrix must have a positive diagonal (the variances), got "
                f"{np.count_nonzero(~(variance > 0.0))} entries that are not; "
                "store no diagonal at all if the entries are correlations"
            )
        spread = np.sqrt(variance)
    off = left != right
    # An explicit zero may be stored on one side only: both triangles are read.
    keys = np.minimum(left, right)[off] * n + np.maximum(left, right)[off]
    keys, first = np.unique(keys, return_index=True)
    left, right = keys // n, keys % n
    return _from_pairs(n, left, right, matrix.data[off][first] / (spread[left] * spread[right]))


def to_sparse(g: CsrGraph) -> sp.csr_array:
    """Return the graph as a sparse array, explicit zeros kept, nothing on the diagonal.

    Parameters
    ----------
    g : CsrGraph
        The graph.

    Returns
    -------
    (n, n) scipy.sparse.csr_array
        Its weights.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import graph
    >>> graph.to_sparse(graph.threshold_graph(np.array([[1.0, 0.9], [0.9, 1.0]]), 0.5)).toarray()
    array([[0. , 0.9],
           [0.9, 0. ]])
    """
    return sp.csr_array((g.weights, g.indices, g.indptr), shape=(g.n_nodes, g.n_nodes))


def to_networkx(g: CsrGraph) -> nx.Graph:
    """Return the graph for networkx, the correlation of an edge in its attribute ``weight``.

    Parameters
    ----------
    g : CsrGraph
        The graph.

    Returns
    -------
    networkx.Graph
        Nodes 0 to n - 1, isolated ones included.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import graph
    >>> g = graph.threshold_graph(np.array([[1.0, 0.9], [0.9, 1.0]]), 0.5)
    >>> list(graph.to_networkx(g).edges(data=True))
    [(0, 1, {'weight': 0.9})]
    """
    import networkx as nx

    out = nx.Graph()
    out.add_nodes_from(range(g.n_nodes))
    left, right, weights = edges(g)
    out.add_weighted_edges_from(zip(left.tolist(), right.tolist(), weights.tolist(), strict=True))
    return out


def component_labels(g: CsrGraph) -> NDArray[np.int64]:
    """Number the connected components in the order of their smallest nodes.

    Parameters
    ----------
    g : CsrGraph
        The graph.

    Returns
    -------
    (n,) int64
        Component of each node, from 0.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import graph
    >>> g = graph.threshold_graph(np.array([[1.0, 0.1, 0.9], [0.1, 1, 0], [0.9, 0, 1]]), 0.5)
    >>> graph.component_labels(g).tolist()
    [0, 1, 0]
    """
    labels = np.empty(g.n_nodes, np.int64)
    _jit.graph.label_components(g.indptr, g.indices, labels)
    return labels


def join_components(
    g: CsrGraph,
    corr: NDArray[np.float64] | None = None,
    *,
    rows: NDArray[np.floating] | None = None,
) -> JoinedGraph:
    """Bridge the components along their strongest spanning tree, one edge a link.

    The bridge between two components is their most correlated pair (Boruvka's rounds; the largest
    component only waits to be joined, so that the work goes with the points outside it). A bridge
    may have a correlation near zero or below: it is stored as ``WEIGHT_FLOOR`` at least.

    Parameters
    ----------
    g : CsrGraph
        The graph.
    corr : (n, n) float64, symmetric, optional
        Correlations between points.
    rows : (n, p) float32 or float64, optional
        Rows of unit norm whose products are the correlations; give this or ``corr``.

    Returns
    -------
    JoinedGraph
        The connected graph and the number of bridges.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import graph
    >>> corr = np.array([[1.0, 0.1, 0.9], [0.1, 1.0, 0.3], [0.9, 0.3, 1.0]])
    >>> joined = graph.join_components(graph.threshold_graph(corr, 0.5), corr)
    >>> joined.n_bridges, joined.graph.weights.tolist()
    (1, [0.9, 0.3, 0.9, 0.3])
    """
    correlations = _correlation_source(g, corr, rows)
    left, right, weights = edges(g)
    labels = component_labels(g)
    n_bridges = int(labels.max(initial=0))
    found: list[tuple[float, int, int]] = []
    with limit_threads(_threads_now()):
        while len(found) < n_bridges:
            labels = _bridge(correlations, labels, found)
    if found:
        value, low, high = (np.array(column) for column in zip(*found, strict=True))
        if rows is not None:
            value = row_correlations(rows, low, high)
        left, right = np.concatenate((left, low)), np.concatenate((right, high))
        weights = np.concatenate((weights, np.maximum(value, WEIGHT_FLOOR)))
    return JoinedGraph(_from_pairs(g.n_nodes, left, right, weights), n_bridges)


def _bridge(
    correlations: Callable[[NDArray[np.int64]], NDArray[np.floating]],
    labels: NDArray[np.int64],
    found: list[tuple[float, int, int]],
) -> NDArray[np.int64]:
    """Run one round of Boruvka: every component but the largest takes its strongest bridge.

    Parameters
    ----------
    correlations : callable
        Maps nodes to their correlations with all nodes.
    labels : (n,) int64
        Component of each node.
    found : list of (correlation, low node, high node)
        The bridges of the round are appended.

    Returns
    -------
    (n,) int64
        Component of each node after the round.
    """
    nodes = np.flatnonzero(labels != np.bincount(labels).argmax())
    partners, values = np.empty(nodes.size, np.int64), np.empty(nodes.size, np.float64)

    def seek(start: int, stop: int) -> None:
        part = slice(start, stop)
        _jit.graph.strongest_outside(
            correlations(nodes[part]), nodes[part], labels, partners[part], values[part]
        )

    map_blocks(seek, nodes.size, _block_rows(labels.size))
    low, high = np.minimum(nodes, partners), np.maximum(nodes, partners)
    order = np.lexsort((high, low, -values))
    _, first = np.unique(labels[nodes[order]], return_index=True)
    parent = list(range(int(labels.max()) + 1))
    # Strongest first, and never a bridge that would close a ring (rounding may offer one).
    for at in order[np.sort(first)]:
        ends = _root(parent, labels[low[at]]), _root(parent, labels[high[at]])
        if ends[0] != ends[1]:
            parent[max(ends)] = min(ends)
            found.append((float(values[at]), int(low[at]), int(high[at])))
    roots = np.array([_root(parent, label) for label in range(len(parent))])
    return np.unique(roots, return_inverse=True)[1][labels]


def _root(parent: list[int], label: int) -> int:
    """Follow a union-find forest from a label to its root, halving the way."""
    while parent[label] != label:
        parent[label] = parent[parent[label]]
        label = parent[label]
    return label


def _above(block_of: Callable[[int, int], NDArray[np.floating]], n: int, floor: float) -> CsrGraph:
    """Collect the pairs above a floor from blocks of the upper triangle.

    Parameters
    ----------
    block_of : callable
        Maps a first and a last row to their correlations with the nodes from the first row on.
    n : int
        Number of nodes.
    floor : float
        Correlations must exceed it.

    Returns
    -------
    CsrGraph
        Its edges are those pairs.
    """
    size = _block_rows(n)
    counts = np.zeros(n, np.int64)
    parts: list[Any] = [None] * -(-n // size)

    def collect(start: int, stop: int) -> None:
        block = block_of(start, stop)
        _jit.graph.count_above(block, start, start, floor, counts[start:stop])
        total = int(counts[start:stop].sum())
        parts[start // size] = np.empty(total, np.int32), np.empty(total, np.float64)
        _jit.graph.take_above(block, start, start, floor, *parts[start // size])

    map_blocks(collect, n, size)
    indices, weights = (np.concatenate(column) for column in zip(*parts, strict=True))
    return _mirrored(counts, indices, weights)


def _exact_neighbours(rows: NDArray[np.floating], k: int) -> NDArray[np.int32]:
    """Find the k rows with the largest product with each row, exactly, (n, k)."""
    n, p = rows.shape
    # Beyond this width single precision rules out too little to pay.
    fast = rows.astype(np.float32) if p < 2**15 else rows
    peak = float(np.einsum("ij,ij->i", rows, rows).max())
    slack = 2.0 * (p + 4) * float(np.finfo(fast.dtype).eps) * peak
    neighbours = np.empty((n, k), np.int32)

    def find(start: int, stop: int) -> None:
        block = fast[start:stop] @ fast.T
        _jit.graph.strongest(block, start, neighbours[start:stop])
        _jit.graph.settle_strongest(block, rows, start, slack, neighbours[start:stop])

    map_blocks(find, n, _block_rows(n))
    return neighbours


def _descent_neighbours(rows: NDArray[np.floating], k: int, random_state: Any) -> NDArray[np.int32]:
    """Find rows with a large product with each row by nearest-neighbour descent, (n, k)."""
    from pynndescent import NNDescent
    from sklearn.utils import check_random_state

    n = rows.shape[0]
    points = rows.astype(np.float32)
    sq_norms = np.einsum("ij,ij->i", points, points)
    if np.ptp(sq_norms) > 1e-4 * sq_norms.max():
        # One more column gives all rows the same norm: then distances order as products do.
        points = np.column_stack((points, np.sqrt(sq_norms.max() - sq_norms)))
    wanted = min(n, max(k + 1, 15))
    seed = int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    index = NNDescent(points, n_neighbors=wanted, random_state=seed, n_jobs=_threads_now())
    found = index.neighbor_graph[0].astype(np.int32)
    neighbours = np.empty((n, k), np.int32)
    missing = np.zeros(n, np.int64)

    def settle(start: int, stop: int) -> None:
        part = slice(start, stop)
        _jit.graph.settle_found(found[part], rows, start, neighbours[part], missing[part])

    map_blocks(settle, n, 1024)
    # Where the search came back with too few, every row is looked at.
    for node in np.flatnonzero(missing):
        block = rows[node : node + 1] @ rows.T
        _jit.graph.strongest(block, node, neighbours[node : node + 1])
    return neighbours


def _neighbour_pairs(
    neighbours: NDArray[np.int32], mutual: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """List the pairs named by either (or by both) of their ends, each once, in order."""
    n, k = neighbours.shape
    node, other = np.repeat(np.arange(n), k), neighbours.ravel().astype(np.int64)
    keys, named = np.unique(
        np.minimum(node, other) * n + np.maximum(node, other), return_counts=True
    )
    if mutual:
        keys = keys[named == 2]
    return keys // n, keys % n


def _from_pairs(
    n: int, left: NDArray[np.int64], right: NDArray[np.int64], weights: NDArray[np.float64]
) -> CsrGraph:
    """Build a graph from pairs with ``left < right``, each given once, in any order."""
    order = np.argsort(left * n + right, kind="stable")
    return _mirrored(np.bincount(left, minlength=n), right[order], weights[order])


def _mirrored(
    counts: NDArray[np.int64], indices: NDArray[np.integer], weights: NDArray[np.float64]
) -> CsrGraph:
    """Build a graph from its upper triangle: entries a row, then their columns and weights."""
    upper = np.concatenate(([0], np.cumsum(counts)))
    g = CsrGraph(
        np.empty(upper.size, np.int64),
        np.empty(2 * indices.size, np.int32),
        np.empty(2 * indices.size, np.float64),
    )
    # Rounding takes the correlation of duplicates a little above 1.
    weights = np.minimum(weights, 1.0)
    _jit.graph.mirror(upper, indices.astype(np.int32), weights, g.indptr, g.indices, g.weights)
    return g


def _correlation_source(
    g: CsrGraph, corr: NDArray[np.float64] | None, rows: NDArray[np.floating] | None
) -> Callable[[NDArray[np.int64]], NDArray[np.floating]]:
    """Return a function from nodes to their correlations with all nodes."""
    if (corr is None) == (rows is None):
        raise ValueError(
            "join_components must get either corr or rows, got "
            f"{'neither' if corr is None else 'both'}; pass the one the graph was built from"
        )
    table = _check_correlations(corr) if rows is None else _check_rows(rows)
    if table.shape[0] != g.n_nodes:
        raise ValueError(
            f"{'corr' if rows is None else 'rows'} must have one row a node, got "
            f"{table.shape[0]} for {g.n_nodes} nodes; pass the one the graph was built from"
        )
    if rows is None:
        return lambda nodes: table[nodes]
    return lambda nodes: table[nodes] @ table.T


def _check_correlations(corr: Any) -> NDArray[np.float64]:
    """Raise unless ``corr`` is a square table of finite numbers."""
    corr = np.asarray(corr, np.float64)
    if corr.ndim != 2 or corr.shape[0] != corr.shape[1] or corr.shape[0] == 0:
        raise ValueError(
            f"corr must be square (n, n) with n >= 1, got shape {corr.shape}; "
            "pass covariance.correlation(X), or use the row_ functions for rows"
        )
    check_finite("corr", corr, "drop constant or incomplete rows first")
    return np.ascontiguousarray(corr)


def _check_rows(rows: Any) -> NDArray[np.floating]:
    """Raise unless ``rows`` is a table of finite numbers; float32 stays float32."""
    rows = np.asarray(rows)
    rows = np.ascontiguousarray(rows, np.float32 if rows.dtype == np.float32 else np.float64)
    if rows.ndim != 2 or rows.shape[0] == 0:
        raise ValueError(
            f"rows must be a table (n, p) with n >= 1, got shape {rows.shape}; "
            "pass covariance.unit_rows(X, affinity)"
        )
    check_finite("rows", rows, "drop constant or incomplete rows first")
    return rows


def _check_neighbours(k: Any, n: int) -> int:
    """Raise unless a point has ``k`` others."""
    return check_integer("k", k, 1, n - 1, cure="a point has n - 1 others; 5 to 15 are usual")


def _block_rows(n: int) -> int:
    """Return the number of rows in a block of about 4 million entries."""
    return max(16, min(512, 2**22 // max(n, 1)))


def _threads_now() -> int:
    """Return the number of Numba threads of this Python thread."""
    import numba

    return int(numba.get_num_threads())
