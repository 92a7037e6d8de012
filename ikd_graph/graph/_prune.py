"""Removing false edges: those whose ends are far apart without them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from .. import _jit
from .._base.types import Booleans, Floats, Integers
from .._base.validation import optional, validate
from ._csr import component_labels, edges, mirrored, union
from ._record import CsrGraph, check_graph

if TYPE_CHECKING:
    from .._jit.detours import Lengths

# docs/decisions/002-false-edges.md
_SHORTER = 0.8
_DETOUR = 3.5
_USUAL = 0.35
_WITNESSES = 3


@validate(g=check_graph, support=optional(check_graph))
def prune(
    g: CsrGraph,
    support: CsrGraph | None = None,
    *,
    sq_distance: Callable[[Floats], Floats] | None = None,
) -> tuple[CsrGraph, Integers]:
    """Remove short-circuit edges and false correlations, whose ends are far apart without them.

    The length of an edge is ``sqrt(2 - 2 r)``, a distance between unit vectors, unless
    ``sq_distance`` says another. An edge is removed

    - if most points that the triangle inequality puts near both its ends are not near both (a
      correlation that cannot be right if the others are), or
    - if its ends are connected by shorter edges, but only by a path more than 3.5 times as long,
      while points between them are missing: ends of usual edges have neighbors in common.

    No edge is removed whose ends are not connected without it, so that components stay as they are.

    Parameters
    ----------
    g : CsrGraph
        The graph.
    support : CsrGraph, optional
        More edges between the same points, that paths may use: with 25 neighbors of each point or
        more a surface has hardly any holes, whose rims look like short-circuit edges.
    sq_distance : callable, optional
        Squared distances (m,) of edges of given weights (m,), in any unit.

    Returns
    -------
    pruned : CsrGraph
        The graph without these edges.
    removed : (m, 2) ndarray of int64
        What was removed, the smaller end first, in order.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import graph, kernels
    >>> line = np.arange(40.0) / 8.0
    >>> corr = kernels.SquaredExponential().covariance((line[:, None] - line) ** 2)
    >>> corr[3, 36] = corr[36, 3] = 0.9
    >>> pruned, removed = graph.prune(graph.threshold(corr, 0.3))
    >>> removed.tolist()
    [[3, 36]]
    """
    n, whole = g.n_nodes, g if support is None else union(g, support)
    low, high, weights = edges(whole)
    squares = np.maximum(2.0 - 2.0 * weights, 0.0) if sq_distance is None else sq_distance(weights)
    keys, across, rows = low * n + high, np.sqrt(squares), whole.rows
    ends = np.minimum(rows, whole.indices), np.maximum(rows, whole.indices)
    numbers = np.searchsorted(keys, ends[0] * n + ends[1])
    graph = _jit.detours.Lengths(
        whole.indptr, whole.indices, across[numbers], numbers, low, high, across
    )
    removed = _contradicted(graph, rows)
    removed |= _far_apart(graph, removed)
    if not removed.any():
        return g, np.empty((0, 2), np.int64)
    # No component comes apart.
    labels = component_labels(mirrored(n, low[~removed], high[~removed], weights[~removed]))
    removed &= labels[low] == labels[high]
    low, high, weights = edges(g)
    gone = removed[np.searchsorted(keys, low * n + high)]
    return mirrored(n, low[~gone], high[~gone], weights[~gone]), np.column_stack((low, high))[gone]


def _contradicted(graph: Lengths, rows: Integers) -> Booleans:
    """Edges that most of their witnesses contradict; those found first are no witnesses later."""
    removed, contradicts = np.zeros((2, graph.low.size), np.bool_)
    reach = np.empty(graph.indptr.size - 1)
    order = np.lexsort((graph.lengths, rows))
    for least in (_WITNESSES, _WITNESSES, 1):
        # Pairs are expected to be edges among the stronger half of the edges of both ends.
        order = order[~removed[graph.numbers[order]]]
        degrees = np.bincount(rows[order], minlength=reach.size)
        has_edges = degrees > 0
        middle = np.cumsum(degrees) - degrees + (degrees - 1) // 2
        reach[:], reach[has_edges] = 0.0, graph.lengths[order[middle[has_edges]]]
        _jit.detours.contradicted(graph, reach, removed, least, contradicts)
        removed[:] = contradicts
        if not removed.any():
            break
    return removed


def _far_apart(graph: Lengths, absent: Booleans) -> Booleans:
    """Edges whose ends shorter edges connect, but no short path; ``absent`` ones carry none."""
    order = np.argsort(graph.across, kind="stable")
    connected, removed = np.empty((2, order.size), np.bool_)
    _jit.detours.connected_by_shorter(graph, order, _SHORTER, absent, connected)
    candidates = order[(connected & ~absent)[order]]
    _jit.detours.without_detour(graph, candidates, _DETOUR, absent, removed)
    if not removed.any():
        return removed
    # Edges that close a ring have neighbors in common as others do; decided by bundles of edges.
    fractions = np.empty(order.size)
    _jit.detours.shared_within(graph, _SHORTER, fractions)
    candidates = order[removed[order]]
    low, high = graph.low[candidates], graph.high[candidates]
    bundle = component_labels(mirrored(graph.indptr.size - 1, low, high, np.ones(low.size)))[low]
    mean = np.bincount(bundle, fractions[candidates]) / np.maximum(np.bincount(bundle), 1)
    candidates = candidates[mean[bundle] < _USUAL * np.median(fractions)]
    _jit.detours.without_detour(graph, candidates, _DETOUR, absent, removed)
    return removed
