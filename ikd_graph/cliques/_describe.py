"""What a list of cliques looks like: numbers, overlaps, and the graph of cliques."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import connected_components

from .._base import validation as check
from .._base.threads import block_rows
from .._base.validation import validate
from ..graph import CsrGraph, GraphLike, any_edges, component_labels
from ._sequence import Blocks, Cliques, arrays, as_blocks

if TYPE_CHECKING:
    import networkx as nx

Numbers = NDArray[np.integer]
AnyCliques = Cliques | Blocks | Iterable[ArrayLike]


@validate(g=any_edges, n_components=check.optional(check.whole(1)))
def summary(g: GraphLike, cliques: AnyCliques, n_components: int | None = None) -> dict[str, Any]:
    """Describe a list of cliques of a graph in numbers.

    Parameters
    ----------
    g : CsrGraph, networkx.Graph or scipy sparse array
        The graph.
    cliques : Cliques or iterable of (k,) int arrays
        Cliques of it, all or some.
    n_components : int, optional
        Latent dimension M. With it the summary tells how many cliques are large enough to be
        solved and placed, and how the cliques that share M + 1 points hang together.

    Returns
    -------
    dict
        Plain numbers and dicts of them:

        - ``n_points``, ``n_edges``, ``graph_components``: the graph;
        - ``n_cliques``: how many;
        - ``sizes``, ``overlaps``, ``cliques_per_point``, ``degrees``: ``min``, ``median``,
          ``mean``, ``max`` and ``histogram`` (value: count) of points in a clique, points shared by
          two cliques that share any, cliques of a point, and neighbors of a point;
        - ``overlapping_pairs``: pairs of cliques that share a point;
        - ``points_covered``, ``point_coverage``, ``edges_covered``, ``edge_coverage``: points and
          edges that lie in a clique, and their fraction of all;
        - ``truncated``: whether a point or an edge is left out, which no full list does;
        - with ``n_components`` also ``merge_overlap`` (M + 1), ``n_solvable`` (cliques of at least
          M + 2 points), ``solvable_coverage`` (fraction of points in one of these) and
          ``merge_components`` (groups of these that hang together), else None.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import cliques, graph
    >>> g = graph.threshold(np.array([[1, 0.9, 0.2], [0.9, 1, 0.8], [0.2, 0.8, 1]]), 0.5)
    >>> facts = cliques.summary(g, cliques.maximal_cliques(g), n_components=1)
    >>> facts["n_cliques"], facts["sizes"]["histogram"], facts["overlaps"]["max"]
    (2, {2: 2}, 1)
    >>> facts["point_coverage"], facts["truncated"], facts["merge_components"]
    (1.0, False, 0)
    """
    blocks = as_blocks(cliques, g.n_nodes)
    overlap = None if n_components is None else min(n_components, 2**30) + 1
    sizes = blocks.sizes
    histogram = np.zeros(int(sizes.max(initial=0)) + 1, dtype=np.int64)
    group: Numbers = np.arange(sizes.size)
    holds = incidence(blocks, g.n_nodes)
    for rows, columns, shared in shared_points(holds):
        histogram += np.bincount(shared, minlength=histogram.size)
        if overlap is not None:
            chained = shared >= overlap
            group = joined(group, rows[chained], columns[chained])
    per_point = np.bincount(blocks.members, minlength=g.n_nodes)
    edges = _count_covered(g, holds)
    points = int(np.count_nonzero(per_point))
    return {
        "n_points": g.n_nodes,
        "n_edges": g.n_edges,
        "graph_components": int(component_labels(g).max(initial=-1)) + 1,
        "n_cliques": blocks.n_blocks,
        "sizes": _distribution(np.bincount(sizes)),
        "overlaps": _distribution(histogram),
        "overlapping_pairs": int(histogram.sum()),
        "cliques_per_point": _distribution(np.bincount(per_point)),
        "degrees": _distribution(np.bincount(np.diff(g.indptr))),
        "points_covered": points,
        "point_coverage": points / g.n_nodes if g.n_nodes else 1.0,
        "edges_covered": edges,
        "edge_coverage": edges / g.n_edges if g.n_edges else 1.0,
        "truncated": points < g.n_nodes or edges < g.n_edges,
        **_merge_facts(blocks, group, overlap, g.n_nodes),
    }


@validate(min_overlap=check.count)
def overlaps(cliques: AnyCliques, min_overlap: int = 1) -> sp.csr_matrix:
    """Count the points that cliques share.

    Parameters
    ----------
    cliques : Cliques or iterable of (k,) int arrays
        The cliques.
    min_overlap : int
        Pairs that share fewer points are left out.

    Returns
    -------
    (n_cliques, n_cliques) csr_matrix of int32
        Points shared by each pair, symmetric, nothing on the diagonal, rows sorted.

    Examples
    --------
    >>> from ikd_graph import cliques
    >>> cliques.overlaps([[0, 1, 2], [1, 2, 3], [3, 4]]).toarray().tolist()
    [[0, 2, 0], [2, 0, 1], [0, 1, 0]]
    """
    blocks = as_blocks(cliques)
    # Numbered again: room is made for each point up to the last.
    points, members = np.unique(blocks.members, return_inverse=True)
    holds = incidence(Blocks(blocks.indptr, members.astype(np.int32)), points.size)
    shared = sp.coo_array(holds @ holds.T)
    enough = (shared.data >= min_overlap) & (shared.row != shared.col)
    entries = shared.row[enough], shared.col[enough]
    out = sp.csr_matrix((shared.data[enough], entries), shape=shared.shape)
    out.sort_indices()
    return out


def clique_graph(
    cliques: AnyCliques, min_overlap: int = 1, *, names: Sequence[object] | None = None
) -> nx.Graph:
    """Make the graph of cliques, an edge where two share enough points.

    Parameters
    ----------
    cliques : Cliques or iterable of (k,) int arrays
        The cliques.
    min_overlap : int
        Points to share: M + 1 for the pairs that a rigid motion in M dimensions can join.
    names : sequence, optional
        Names of the points; by default their numbers.

    Returns
    -------
    networkx.Graph
        Nodes are numbers of cliques, with attributes ``size`` and ``members`` (text, the members
        between semicolons, which GraphML and GEXF hold); edges have the attribute ``overlap``.

    Examples
    --------
    >>> from ikd_graph import cliques
    >>> joined = cliques.clique_graph([[0, 1, 2], [1, 2, 3], [3, 4]], min_overlap=2)
    >>> joined.nodes[0]["members"], list(joined.edges(data="overlap"))
    ('0;1;2', [(0, 1, 2)])
    """
    import networkx as nx

    blocks = as_blocks(cliques)
    pairs = sp.triu(overlaps(blocks, min_overlap), format="coo")
    joined = nx.Graph()
    for number, members in enumerate(arrays(blocks)):
        own = members.tolist() if names is None else [names[point] for point in members.tolist()]
        joined.add_node(number, size=int(members.size), members=";".join(map(str, own)))
    ends = zip(pairs.row.tolist(), pairs.col.tolist(), pairs.data.tolist(), strict=True)
    joined.add_edges_from((i, j, {"overlap": overlap}) for i, j, overlap in ends)
    return joined


def incidence(blocks: Blocks, n_points: int) -> sp.csr_array:
    """Matrix of ones (n_blocks, n_points) where a block holds a point."""
    ones = np.ones(blocks.members.size, dtype=np.int32)
    return sp.csr_array((ones, blocks.members, blocks.indptr), shape=(blocks.n_blocks, n_points))


def shared_points(holds: sp.csr_array) -> Iterator[tuple[Numbers, Numbers, Numbers]]:
    """Pairs of blocks that share points, the first below the second, and how many; in batches."""
    n_blocks, held_by = holds.shape[0], holds.T.tocsr()
    step = block_rows(n_blocks)
    for start in range(0, n_blocks, step):
        pairs = (holds[start : start + step] @ held_by).tocoo()
        later = pairs.col > pairs.row + start
        yield pairs.row[later] + start, pairs.col[later], pairs.data[later]


def joined(group: Numbers, rows: Numbers, columns: Numbers) -> Numbers:
    """Return groups (k,) of blocks after pairs of blocks were joined."""
    n = group.size
    links = sp.csr_array((np.ones(rows.size), (group[rows], group[columns])), shape=(n, n))
    return connected_components(links, directed=False)[1][group]


def _count_covered(g: CsrGraph, holds: sp.csr_array) -> int:
    """Count edges that lie in a block."""
    count, step, held_by = 0, block_rows(g.n_nodes), holds.T.tocsr()
    ones = np.ones(g.indices.size, dtype=np.int32)
    adjacent = sp.csr_array((ones, g.indices, g.indptr), shape=2 * (g.n_nodes,))
    for start in range(0, g.n_nodes, step):
        together = held_by[start : start + step] @ holds
        count += int(together.multiply(adjacent[start : start + step]).count_nonzero())
    return count // 2


def _merge_facts(
    blocks: Blocks, group: Numbers, overlap: int | None, n_points: int
) -> dict[str, Any]:
    """How the cliques that are large enough hang together: the last entries of `summary`."""
    if overlap is None:
        names = ("merge_overlap", "n_solvable", "solvable_coverage", "merge_components")
        return dict.fromkeys(names)
    solvable = blocks.sizes > overlap
    held = np.unique(blocks.members[np.repeat(solvable, blocks.sizes)]).size
    return {
        "merge_overlap": overlap,
        "n_solvable": int(np.count_nonzero(solvable)),
        "solvable_coverage": held / n_points if n_points else 1.0,
        "merge_components": int(np.unique(group[solvable]).size),
    }


def _distribution(counts: NDArray[np.int64]) -> dict[str, Any]:
    """Minimum, median, mean, maximum (0 without numbers) and histogram of counts of 0, 1, 2, ..."""
    values = np.flatnonzero(counts)
    if values.size == 0:
        return {"min": 0, "median": 0.0, "mean": 0.0, "max": 0, "histogram": {}}
    below = np.cumsum(counts[values])
    total = int(below[-1])
    middle = values[np.searchsorted(below, [(total - 1) // 2, total // 2], side="right")]
    return {
        "min": int(values[0]),
        "median": float(middle.mean()),
        "mean": float(values @ counts[values] / total),
        "max": int(values[-1]),
        "histogram": dict(zip(values.tolist(), counts[values].tolist(), strict=True)),
    }
