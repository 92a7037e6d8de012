"""Removing false edges: those whose ends are far apart without them."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _jit
from .._base import validation as check
from .._base.types import Floats
from .._base.validation import validate
from ._csr import component_labels, edges, from_edges, union
from ._record import CsrGraph, check_graph

# docs/decisions/002-false-edges.md
_SHORTER = 0.8
_DETOUR = 3.5
_USUAL = 0.35
_WITNESSES = 3


class _Search(NamedTuple):
    """A graph of lengths with its edges numbered, and workspace for searches."""

    graph: tuple[NDArray[Any], ...]
    edges: tuple[NDArray[Any], ...]
    workspace: tuple[NDArray[Any], ...]


@validate(g=check_graph, support=check.optional(check_graph))
def prune(
    g: CsrGraph,
    support: CsrGraph | None = None,
    *,
    sq_distance: Callable[[Floats], Floats] | None = None,
) -> tuple[CsrGraph, NDArray[np.int64]]:
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
    whole = g if support is None else union(g, support)
    search = _search_of(whole, sq_distance or (lambda corr: np.maximum(2.0 - 2.0 * corr, 0.0)))
    removed = _contradicted(whole, search)
    removed |= _far_apart(whole, search, removed)
    low, high, weights = edges(whole)
    # No component comes apart.
    kept = ~removed
    labels = component_labels(from_edges(g.n_nodes, low[kept], high[kept], weights[kept]))
    removed &= labels[low] == labels[high]
    removed_keys = (low * g.n_nodes + high)[removed]
    low, high, weights = edges(g)
    gone = np.isin(low * g.n_nodes + high, removed_keys, assume_unique=True)
    pruned = from_edges(g.n_nodes, low[~gone], high[~gone], weights[~gone])
    return pruned, np.column_stack((low[gone], high[gone]))


def _search_of(g: CsrGraph, sq_distance: Callable[[Floats], Floats]) -> _Search:
    """Lengths of the edges of a graph, and workspace for searches in it."""
    n = g.n_nodes
    low, high, weights = edges(g)
    across = np.sqrt(sq_distance(weights))
    keys = np.minimum(g.rows, g.indices) * n + np.maximum(g.rows, g.indices)
    numbers = np.searchsorted(low * n + high, keys)
    workspace = np.full(n, np.inf), np.zeros(n, np.bool_), np.empty((2, n), np.int64)
    return _Search((g.indptr, g.indices, across[numbers], numbers), (low, high, across), workspace)


def _contradicted(g: CsrGraph, search: _Search) -> NDArray[np.bool_]:
    """Edges that most of their witnesses contradict; those found first are no witnesses later."""
    indptr, _, lengths, numbers = search.graph
    rows = g.rows
    removed, contradicts = np.zeros((2, g.n_edges), np.bool_)
    for least in (_WITNESSES, _WITNESSES, 1):
        # Pairs are expected to be edges among the stronger half of the edges of both ends.
        hidden = removed[numbers]
        order = np.lexsort((lengths, hidden, rows))
        degrees = np.bincount(rows[~hidden], minlength=g.n_nodes)
        reach = np.zeros(g.n_nodes)
        has_edges = degrees > 0
        reach[has_edges] = lengths[order[(indptr[:-1] + (degrees - 1) // 2)[has_edges]]]
        _jit.detours.contradicted(search.graph, reach, search.edges, removed, least, contradicts)
        removed[:] = contradicts
        if not removed.any():
            break
    return removed


def _far_apart(g: CsrGraph, search: _Search, absent: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Edges whose ends shorter edges connect, but no short path; ``absent`` ones carry none."""
    across = search.edges[2]
    order, nodes = np.argsort(across, kind="stable"), np.arange(g.n_nodes)
    connected = np.empty(g.n_edges, np.bool_)
    _jit.detours.connected_by_shorter(search.edges, order, _SHORTER, nodes, absent, connected)
    removed = _without_detour(search, order[(connected & ~absent)[order]], absent)
    if not removed.any():
        return removed
    # Edges that close a ring have neighbors in common as others do; decided by bundles of edges.
    fractions = np.empty(g.n_edges)
    _jit.detours.shared_within(search.graph, search.edges, _SHORTER, fractions)
    candidates = np.flatnonzero(removed)
    ends = search.edges[0][candidates], search.edges[1][candidates]
    bundles = from_edges(g.n_nodes, *ends, np.ones(candidates.size))
    bundle = component_labels(bundles)[ends[0]]
    mean = np.bincount(bundle, fractions[candidates]) / np.maximum(np.bincount(bundle), 1)
    removed[candidates] = mean[bundle] < _USUAL * np.median(fractions)
    return _without_detour(search, order[removed[order]], absent)


def _without_detour(
    search: _Search, order: NDArray[np.int64], absent: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Those of some edges that no others, once they are kept, replace by a short path."""
    removed = absent.copy()
    removed[order] = True
    _jit.detours.restore(search.graph, search.edges, order, _DETOUR, search.workspace, removed)
    return removed & ~absent
