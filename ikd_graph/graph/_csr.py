"""Graphs as records: built from edges, cut, united, searched for components, converted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from .._base import validation as check
from .._base.as_table import order_by_name, row_names
from .._base.dask_tables import is_dask
from .._base.limits import NODES
from .._base.rounding import SINGLE
from .._base.types import Floats, Integers
from ..similarity import stored_pairs
from ._record import CsrGraph, check_graph

if TYPE_CHECKING:
    import networkx as nx

GraphLike: TypeAlias = "CsrGraph | nx.Graph | sp.sparray | sp.spmatrix"


def _check_edges(n: int, low: Integers, high: Integers, weights: Floats) -> None:
    """Raise unless edges list each pair of nodes once, the smaller first."""
    check.nodes_of(n)("high", high)
    if not low.size == high.size == weights.size or np.any(low >= high):
        raise ValueError(
            "low, high and weights must be as long as one another and low < high for every "
            f"edge, got {low.size}, {high.size} and {weights.size}; give each edge once, its "
            "smaller node in low"
        )
    check.distinct("edges", low * n + high)


@check.validate(
    _check_edges,
    n=check.whole(0, NODES + 1),
    low=check.nodes,
    high=check.nodes,
    weights=check.entries(),
)
def from_edges(n: int, low: Integers, high: Integers, weights: Floats) -> CsrGraph:
    """Build a graph from a list of edges.

    Parameters
    ----------
    n : int
        Number of nodes.
    low, high : (m,) int64
        The nodes of each edge, each edge given once, in any order, ``low < high``.
    weights : (m,) float64
        Their weights, kept as they are.

    Returns
    -------
    CsrGraph
        The graph.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import graph
    >>> g = graph.from_edges(3, np.array([1, 0]), np.array([2, 2]), np.array([0.5, 0.9]))
    >>> g.indices.tolist(), g.weights.tolist()
    ([2, 2, 0, 1], [0.9, 0.5, 0.9, 0.5])
    """
    return mirrored(n, low, high, weights)


@check.validate(g=check_graph)
def edges(g: CsrGraph) -> tuple[Integers, Integers, Floats]:
    """List each edge once, the smaller node first, in order.

    Parameters
    ----------
    g : CsrGraph
        Graph to list.

    Returns
    -------
    low, high : (n_edges,) int64
        The nodes of each edge, ``low < high``.
    weights : (n_edges,) float64
        Their weights.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import graph
    >>> corr = np.array([[1.0, 0.9, 0.2], [0.9, 1.0, 0.5], [0.2, 0.5, 1.0]])
    >>> low, high, weights = graph.edges(graph.threshold(corr, 0.4))
    >>> low.tolist(), high.tolist(), weights.tolist()
    ([0, 1], [1, 2], [0.9, 0.5])
    """
    once = g.rows < g.indices
    return g.rows[once], g.indices[once].astype(np.int64), g.weights[once]


@check.validate(g=check_graph, s0=check.number)
def above(g: CsrGraph, s0: float) -> CsrGraph:
    """Keep the edges of a graph whose weight exceeds a threshold.

    Parameters
    ----------
    g : CsrGraph
        Graph to thin.
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
    >>> g = graph.from_edges(3, np.array([0, 1]), np.array([1, 2]), np.array([0.9, 0.5]))
    >>> graph.above(g, 0.6).n_edges
    1
    """
    keep = g.weights > s0
    indptr = np.concatenate(([0], np.cumsum(keep)))[g.indptr]
    return CsrGraph.trusted(indptr, g.indices[keep], g.weights[keep])


@check.validate(g=check_graph, k=check.whole(1))
def strongest(g: CsrGraph, k: int) -> CsrGraph:
    """Keep the edges that are among the k strongest of one of their ends.

    Parameters
    ----------
    g : CsrGraph
        The graph.
    k : int
        Number of edges of a point, at least 1.

    Returns
    -------
    CsrGraph
        The thinned graph; of edges as strong the one with the lower index stays.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import graph
    >>> corr = np.array([[1.0, 0.9, 0.4], [0.9, 1.0, 0.5], [0.4, 0.5, 1.0]])
    >>> graph.strongest(graph.threshold(corr, 0.1), 1).weights.tolist()
    [0.9, 0.9, 0.5, 0.5]
    """
    rows = g.rows
    order = np.lexsort((-g.weights, rows))
    # Sorted within rows, so that the rank of an edge is its place after the start of its row.
    strongest_entries = order[np.arange(order.size) - g.indptr[rows] < k]
    nodes, neighbors = rows[strongest_entries], g.indices[strongest_entries].astype(np.int64)
    low, high = np.minimum(nodes, neighbors), np.maximum(nodes, neighbors)
    return first_of_each(g.n_nodes, low, high, g.weights[strongest_entries])


def _check_some(g: CsrGraph, nodes: Integers) -> None:
    check.nodes_of(g.n_nodes)("nodes", nodes)
    check.distinct("nodes", nodes)


@check.validate(_check_some, g=check_graph, nodes=check.nodes)
def subgraph(g: CsrGraph, nodes: NDArray[np.integer]) -> CsrGraph:
    """Keep some nodes and the edges among them.

    Parameters
    ----------
    g : CsrGraph
        The graph.
    nodes : (m,) int
        Integers to keep, each once; node ``i`` of the result is ``nodes[i]``.

    Returns
    -------
    CsrGraph
        The graph they span.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import graph
    >>> corr = np.array([[1.0, 0.9, 0.2], [0.9, 1.0, 0.5], [0.2, 0.5, 1.0]])
    >>> graph.subgraph(graph.threshold(corr, 0.1), np.array([2, 0])).weights.tolist()
    [0.2, 0.2]
    """
    whole = sp.csr_array((g.weights, g.indices, g.indptr), shape=(g.n_nodes, g.n_nodes))
    cut = whole[nodes][:, nodes]
    cut.sort_indices()
    return CsrGraph.trusted(
        cut.indptr.astype(np.int64), cut.indices.astype(np.int32, copy=False), cut.data
    )


@check.validate(a=check_graph, b=check_graph)
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
    >>> both = graph.union(graph.threshold(corr, 0.8), graph.neighbors(corr, 1))
    >>> both.n_edges
    2
    """
    if a.n_nodes != b.n_nodes:
        raise ValueError(
            f"b must have as many nodes as a, got {b.n_nodes} for {a.n_nodes}; "
            "build both graphs from the same points"
        )
    both: Any = zip(edges(a), edges(b), strict=True)
    return first_of_each(a.n_nodes, *map(np.concatenate, both))


@check.validate(g=check_graph)
def component_labels(g: CsrGraph) -> Integers:
    """Label the connected components in the order of their smallest nodes.

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
    >>> g = graph.threshold(np.array([[1.0, 0.1, 0.9], [0.1, 1, 0], [0.9, 0, 1]]), 0.5)
    >>> graph.component_labels(g).tolist()
    [0, 1, 0]
    """
    return sp.csgraph.connected_components(g.adjacency, directed=False)[1].astype(np.int64)


def as_graph(
    obj: GraphLike,
    n: int | None = None,
    *,
    weight: str | None = "weight",
    names: Sequence[Any] = (),
) -> CsrGraph:
    """Graph of a networkx graph, a scipy sparse array of weights, or a graph as it is.

    Weights are similarities from 0 to 1. What is stored is an edge: a weight of 1 is an edge of
    length 0; a stored 0 is no edge. Nothing that is given is changed.

    Parameters
    ----------
    obj : networkx.Graph, scipy sparse array or matrix, or CsrGraph
        The graph.
    n : int, optional
        Number of points it must have.
    weight : str or None
        Attribute of the edges of a networkx graph; None takes every edge for one of weight 1.
    names : sequence, optional
        Names of the points, which nodes of a networkx graph with the same names are matched with.
        Otherwise nodes that are whole numbers without gaps are in numerical order, and others in
        the order in which they were added.

    Returns
    -------
    CsrGraph
        The graph.

    Raises
    ------
    TypeError
        If it is none of these.
    ValueError
        If weights are negative, above 1, not finite or not symmetric, or points are not ``n``.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from ikd_graph import graph
    >>> graph.as_graph(sp.coo_array(([0.5, 0.5], ([0, 2], [2, 0])), shape=(3, 3)))
    CsrGraph(3 points, 1 edge, 2 components)
    """
    if isinstance(obj, CsrGraph):
        g = obj
    elif sp.issparse(obj):
        g = from_scipy(obj)
    elif hasattr(obj, "adjacency") and hasattr(obj, "number_of_nodes"):
        g = from_scipy(networkx_matrix(obj, weight, names))
    else:
        raise TypeError(
            "a graph must be a networkx graph, a scipy sparse array of weights or a CsrGraph, got "
            f"{type(obj).__name__}; graph.threshold and graph.neighbors make graphs"
        )
    if n is not None and g.n_nodes != n:
        raise ValueError(
            f"the graph must have one node for each of {n} points, got {g.n_nodes} nodes; build it "
            "from the same rows"
        )
    return g


def any_graph(name: str, value: Any) -> CsrGraph:
    """Rule of arguments that are graphs of any kind, see `as_graph`."""
    return as_graph(value)


def any_edges(name: str, value: Any) -> CsrGraph:
    """Rule of arguments that are graphs of any kind whose weights play no part."""
    return as_graph(value, weight=None)


def from_scipy(matrix: Any) -> CsrGraph:
    """Graph of a sparse array of weights; see :func:`as_graph`. The diagonal is ignored.

    Parameters
    ----------
    matrix : (n, n) scipy sparse array or matrix, symmetric
        Similarities from 0 to 1, the same both ways up to rounding, or stored one way
        round only, as in a graph of nearest neighbors.

    Returns
    -------
    CsrGraph
        The graph.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from ikd_graph import graph
    >>> graph.from_scipy(sp.csr_array([[0.0, 0.5], [0.5, 0.0]])).weights.tolist()
    [0.5, 0.5]
    """
    low, high, weights = stored_pairs(matrix)
    wrong = np.count_nonzero((weights < 0.0) | (weights > 1.0 + SINGLE))
    if wrong:
        raise ValueError(
            f"weights must be similarities from 0 to 1, got {wrong} outside, from "
            f"{weights.min():g} to {weights.max():g}; exp(-distance) turns distances into "
            "similarities, S / S.max() counts in a sparse S"
        )
    there = weights > 0.0
    weights = np.minimum(weights[there], 1.0)
    return from_edges(matrix.shape[0], low[there], high[there], weights)


def from_networkx(G: nx.Graph, *, weight: str | None = "weight") -> CsrGraph:
    """Graph of a networkx graph, its nodes in the order they come; see :func:`as_graph`.

    Whole numbers without gaps, be they text, are taken in numerical order.

    Parameters
    ----------
    G : networkx.Graph
        Undirected, with a similarity from 0 to 1 for each edge; loops are ignored.
    weight : str or None
        Attribute that holds it; None takes every edge for one of weight 1.

    Returns
    -------
    CsrGraph
        The graph.

    Examples
    --------
    >>> import networkx as nx
    >>> from ikd_graph import graph
    >>> G = nx.Graph()
    >>> G.add_edge("a", "b", weight=0.5)
    >>> graph.from_networkx(G).weights.tolist()
    [0.5, 0.5]
    """
    return from_scipy(networkx_matrix(G, weight))


def without_weights(obj: Any, weight: str = "weight") -> bool:
    """Whether a networkx graph has edges and no edge has a weight."""
    is_networkx = hasattr(obj, "number_of_nodes")
    return is_networkx and all(each is None for *_, each in obj.edges(data=weight, default=None))


def networkx_matrix(
    G: nx.Graph, weight: str | None = "weight", names: Sequence[Any] = ()
) -> sp.coo_array:
    """Weights of the edges of a networkx graph, loops on the diagonal; see `as_graph`."""
    if G.is_directed() or G.is_multigraph():
        raise ValueError(
            "a networkx graph must be undirected, with one edge a pair, got a "
            f"{type(G).__name__}; nx.Graph(G) is one"
        )
    import networkx as nx

    nodes = row_names(G)
    order = order_by_name(
        "nodes of the graph", nodes, names, "the rows of X",
        "X.loc[[...]] puts rows in the order of the nodes, nx.relabel_nodes(G, ...) renames nodes, "
        "and X.reset_index(drop=True) matches rows by position",
    )  # fmt: skip
    values = [value for *_, value in G.edges(data=weight)] if weight else []
    without = sum(value is None for value in values)
    if without:
        raise ValueError(
            f"every edge must have the attribute {weight!r}, got {without} edges without it; name "
            "another one by weight=, or set it with nx.set_edge_attributes"
        )
    check.as_real(f"the attribute {weight!r} of edges", np.array(values or [0.0]))
    if not nodes:
        return sp.coo_array((0, 0))
    nodes = nodes if order is None else [nodes[at] for at in order]
    return nx.to_scipy_sparse_array(G, nodes, weight=weight, dtype=np.float64, format="coo")


def as_pairs(X: Any, *, new: bool = False) -> Any:
    """Values between pairs of points, or of new ones with others, as a matrix; those of a graph."""
    if is_dask(X):
        raise ValueError(
            "X must be in memory for affinity='precomputed', got a collection of Dask; pass "
            "X.compute()"
        )
    if hasattr(X, "adjacency") and hasattr(X, "is_directed"):
        return networkx_matrix(X)
    if np.ndim(X) == 1:
        raise ValueError(
            f"X must be a square matrix of pairs, got {len(X)} numbers in a row; "
            "scipy.spatial.distance.squareform(X) makes one of condensed distances"
        )
    if new or not isinstance(X, pd.DataFrame) or X.shape[0] != X.shape[1]:
        return X
    cures = "X[X.index] matches them by name, X.to_numpy() by position"
    order = order_by_name("columns of pairs", X.columns, X.index, "their rows", cures)
    return X if order is None else X.iloc[:, order]


@check.validate(g=check_graph)
def to_sparse(g: CsrGraph) -> sp.csr_array:
    """Return the graph as a sparse array, explicit zeros kept, nothing on the diagonal.

    Parameters
    ----------
    g : CsrGraph
        Graph to hand to scipy.

    Returns
    -------
    (n, n) scipy.sparse.csr_array
        Its weights.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import graph
    >>> graph.to_sparse(graph.threshold(np.array([[1.0, 0.9], [0.9, 1.0]]), 0.5)).toarray()
    array([[0. , 0.9],
           [0.9, 0. ]])
    """
    # Copies: scipy writes to what it holds, and a graph can only be read.
    arrays = (g.weights.copy(), g.indices.copy(), g.indptr.copy())
    return sp.csr_array(arrays, shape=(g.n_nodes, g.n_nodes))


@check.validate(g=check_graph)
def to_networkx(g: CsrGraph, *, names: Sequence[Any] | None = None) -> nx.Graph:
    """Return the graph for networkx, the correlation of an edge in its attribute ``weight``.

    Parameters
    ----------
    g : CsrGraph
        Graph to hand to networkx.
    names : sequence of length n, optional
        Names of the nodes, which become their attribute ``name``; equal ones stay apart.
        ``nx.relabel_nodes(G, nx.get_node_attributes(G, "name"))`` makes them the nodes.

    Returns
    -------
    networkx.Graph
        Integers 0 to n - 1, isolated ones included.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import graph
    >>> pair = graph.from_edges(2, np.array([0]), np.array([1]), np.array([0.9]))
    >>> list(graph.to_networkx(pair).edges(data=True))
    [(0, 1, {'weight': 0.9})]
    """
    import networkx as nx

    out = nx.from_scipy_sparse_array(to_sparse(g))
    if names is not None:
        check.one_each("names", names, g.n_nodes, "nodes")
        nx.set_node_attributes(out, dict(enumerate(names)), "name")
    return out


def mirrored(n: int, low: Integers, high: Integers, weights: Floats) -> CsrGraph:
    """Build a graph from edges that are given once."""
    ends = np.append(high, low), np.append(low, high)
    both = sp.coo_array((np.tile(weights, 2), ends), shape=(n, n)).tocsr()
    both.sort_indices()
    indptr, indices = both.indptr.astype(np.int64), both.indices.astype(np.int32, copy=False)
    return CsrGraph.trusted(indptr, indices, both.data.astype(np.float64, copy=False))


def first_of_each(n: int, low: Integers, high: Integers, weights: Floats) -> CsrGraph:
    """Build a graph from edges of which the first of equal ones stays."""
    _, first = np.unique(low * n + high, return_index=True)
    return mirrored(n, low[first], high[first], weights[first])
