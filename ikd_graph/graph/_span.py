"""The weakest edge of the strongest spanning tree: up to where thresholds keep points together."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .. import _jit
from .._arrays import check_block
from .._records import CsrGraph
from .._threads import map_blocks
from ._csr import component_labels, edges, from_edges, to_sparse, union
from ._join import Listed
from ._nearest import block_rows

Pairs = Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.float64]]
Rows = Callable[[NDArray[np.int64]], NDArray[np.floating]]


def strongest_tree(g: CsrGraph) -> CsrGraph:
    """Spanning tree, or forest, of a graph with the largest weights."""
    left, right, weights = edges(g)
    # Positive lengths, and none so small that it counts as no edge.
    lengths = weights.max(initial=0.0) - weights + 1.0
    of_lengths = to_sparse(from_edges(g.n_nodes, left, right, lengths))
    tree = sp.csgraph.minimum_spanning_tree(of_lengths).tocoo()
    low, high = np.minimum(tree.row, tree.col), np.maximum(tree.row, tree.col)
    kept = np.isin(left * g.n_nodes + right, low.astype(np.int64) * g.n_nodes + high)
    return from_edges(g.n_nodes, left[kept], right[kept], weights[kept])


def weakest_link(g: CsrGraph, listed: Listed, correlations: Rows, exact: Pairs) -> float:
    """Weight of the weakest edge of the strongest spanning tree of all pairs.

    Parameters
    ----------
    g : CsrGraph
        A connected graph that has the pairs of ``listed``.
    listed : Listed
        Neighbours of each point: no other has more than the last of them.
    correlations : callable
        Maps (b,) points to their (b, n) correlations with all points.
    exact : callable
        Correlations of pairs of points.

    Notes
    -----
    The weakest edge of the tree of ``g`` is that of all pairs if none that is not listed crosses
    where it does. Only the points on the smaller side whose lists end above it can know of one;
    where they do it joins the tree, whose weakest edge is then stronger.
    """
    last = listed.values.min(axis=1)
    tree = strongest_tree(g)
    while True:
        left, right, weights = edges(tree)
        if weights.size == 0:
            return 1.0
        weakest = int(weights.argmin())
        kept = np.arange(weights.size) != weakest
        labels = component_labels(from_edges(g.n_nodes, left[kept], right[kept], weights[kept]))
        smaller = np.flatnonzero(labels == np.bincount(labels).argmin())
        asked = smaller[last[smaller] > weights[weakest]]
        partners = _strongest_outside(correlations, asked, labels)
        found = exact(asked, partners)
        # Rounding must not take one edge for another that is as weak.
        better = found > weights[weakest] + 1e-12 * abs(weights[weakest])
        if not better.any():
            return min(float(weights[weakest]), 1.0)
        low, high = np.minimum(asked, partners)[better], np.maximum(asked, partners)[better]
        tree = strongest_tree(union(tree, from_edges(g.n_nodes, low, high, found[better])))


def _strongest_outside(
    correlations: Rows, nodes: NDArray[np.int64], labels: NDArray[np.int64]
) -> NDArray[np.int64]:
    """For each of some nodes, the node on the other side that correlates most with it."""
    partners = np.empty(nodes.size, np.int64)

    def seek(start: int, stop: int) -> None:
        some, values = nodes[start:stop], np.empty(stop - start)
        block = check_block(correlations(some), (some.size, labels.size))
        _jit.graph.strongest_outside(block, some, labels, partners[start:stop], values)

    map_blocks(seek, nodes.size, block_rows(labels.size))
    return partners
