"""Edges that the rest of the graph speaks against: contradicted pairs and short cuts."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _doors as door
from .. import _jit
from .._arrays import as_array
from .._records import GRAPH_CURE, CsrGraph, check_graph
from ._csr import component_labels, edges, from_edges, union

# More than half: a point with many false edges is a false witness of its true ones.
_MOST_AGAINST = 0.5
# Two witnesses can be false edges of one end; later, when those are not heard, one will do. With
# three to the end a point of few true edges kept a false one (walks of 300 and 1000 points, 2 and
# 5 % of the pairs false, seeds 600, 602 and 604: 14 kept and 15 true ones lost, then 6 and 2).
_LEAST_WITNESSES = (3, 1)
# Then less than half will do where there are many: of knots of 300 points the least share against a
# false edge was .47, the largest against a true one .06 (seed 612, .5 and 1 % of the pairs false).
_MANY_WITNESSES, _MANY_AGAINST = 20, 0.25
# Witnesses that are condemned themselves are not heard, nor missed, and are judged again; it
# settles within so many rounds. After four, where every third edge was false, 3 % of the true ones
# still were condemned (walk, 300 points).
_ROUNDS = 10
# An edge is condemned where legs of .8 of its length connect its ends, but no way 3.5 times as
# long does. Chosen on noisy swiss rolls (500 to 3000 points, noise .1 to .5, seeds 0 to 2 and 100
# to 114), where .7 missed short cuts, and at a limit of 4 a single edge across the innermost turn
# could acquit all others.
_LEG, _LONGEST = 0.8, 3.5
# Two short cuts of one length must not excuse each other.
_SHORTER = 1.0 - 1e-9


class EdgeSuspicion(NamedTuple):
    """What speaks against each edge of a graph."""

    left: NDArray[np.int64]  # (e,) smaller end of each edge
    right: NDArray[np.int64]  # (e,) larger end
    scores: NDArray[np.float64]  # (e,) from 0, nothing, to 1
    condemned: NDArray[np.bool_]  # (e,) whether it was evidence enough

    @property
    def n_condemned(self) -> int:
        """Number of condemned edges."""
        return int(np.count_nonzero(self.condemned))

    @property
    def pairs(self) -> NDArray[np.int64]:
        """Ends of the condemned edges, (n_condemned, 2)."""
        return np.column_stack([self.left, self.right])[self.condemned]


_GRAPH = door.record(CsrGraph, GRAPH_CURE)
_SUSPICION = door.record(EdgeSuspicion, "graph.short_cut_edges finds what it holds")


@door.takes(g=_GRAPH, known=_GRAPH, level=door.optional(door.number))
def contradicted_edges(
    g: CsrGraph, known: CsrGraph, level: float | None = None
) -> tuple[EdgeSuspicion, CsrGraph]:
    """Find edges whose correlation cannot be right if those of other points are.

    Correlations are products of unit vectors, so that ``sqrt(2 - 2 r)`` is a distance and fulfils
    the triangle inequality: a point near one end of an edge must be nearly as near to the other.
    Correlations that were computed from rows are never contradicted; entries of a covariance that
    were estimated one by one, or damaged, can be. The score is the share of witnesses against an
    edge.

    Parameters
    ----------
    g : CsrGraph
        Graph whose edges are judged.
    known : CsrGraph
        Graph of the witnesses, on the same points.
    level : float, optional
        Correlation above which ``known`` has every pair. Without it a pair is expected to be an
        edge only where it would be among the stronger half of the edges of both its ends.

    Returns
    -------
    suspicion : EdgeSuspicion
        What speaks against each edge of ``g``.
    trusted : CsrGraph
        ``known`` without its condemned edges.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import graph, kernels
    >>> line = np.arange(40.0) / 8.0
    >>> corr = kernels.SquaredExponential().covariance((line[:, None] - line) ** 2)
    >>> corr[3, 36] = corr[36, 3] = 0.9
    >>> g = graph.threshold_graph(corr, 0.3)
    >>> graph.contradicted_edges(g, g, 0.3)[0].pairs.tolist()
    [[3, 36]]
    """
    _check_same_nodes("known", known, g)
    left, right, weights = edges(known)
    condemned = np.zeros(left.size, dtype=np.bool_)
    for least in _LEAST_WITNESSES:
        for _ in range(_ROUNDS):
            scores = _shares_against(known, known, level, least, condemned)
            before, condemned = condemned, scores > _MOST_AGAINST
            if np.array_equal(before, condemned):
                break
    condemned |= _shares_against(known, known, level, _MANY_WITNESSES, condemned) > _MANY_AGAINST
    # Where the rounds do not settle, an edge that is condemned in every other one is not trusted.
    kept = ~(condemned | before)
    trusted = from_edges(known.n_nodes, left[kept], right[kept], weights[kept])
    scores = _shares_against(g, known, level, least, condemned)
    against = _shares_against(g, known, level, _MANY_WITNESSES, condemned) > _MANY_AGAINST
    left, right, _ = edges(g)
    return EdgeSuspicion(left, right, scores, against | (scores > _MOST_AGAINST)), trusted


def short_cut_edges(g: CsrGraph, wide: CsrGraph) -> EdgeSuspicion:
    """Find edges that jump where the points lie on a surface: short cuts.

    Where edges hardly shorter than it (.8 of its length) connect the ends of an edge, the surface
    between them is sampled; an edge that these, and all others that are not condemned, can replace
    only by a way more than 3.5 times as long does not lie in it. Edges are judged by length, the
    shortest first, on those that passed. Where the surface is not yet sampled, the first edge
    between two sheets joins them as if it lay in it, and acquits all that follow; such edges are
    condemned together where they lie further apart than 3.5 times their length, as those across a
    gap do not. Edges across a gap in a closed curve are acquitted where the neighbours of their
    ends lie behind these. The score is 1 where an edge is condemned, else how long the way round
    is: 0 for twice the length of the edge or less.

    Parameters
    ----------
    g : CsrGraph
        Graph whose edges are judged.
    wide : CsrGraph
        Graph that they are judged in, on the same points. With 15 neighbours of each or more
        hardly anything else is condemned; a sparse one has holes, whose rims look like short cuts.

    Returns
    -------
    EdgeSuspicion
        What speaks against each edge of ``g``.

    Notes
    -----
    Lengths are ``sqrt(2 - 2 r)``. Where the latent itself comes near to itself, as a knot does, an
    edge across is a measurement and no short cut: this test is for similarities that are distances
    only within the neighbourhood.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import graph
    >>> arm = np.arange(0.0, 3.0, 0.1)
    >>> turn = 3.0 + 0.25j - 0.25j * np.exp(1j * np.linspace(0.0, np.pi, 9))
    >>> hairpin = np.concatenate([arm, turn, arm[::-1] + 0.5j, [1.0 + 0.22j]])  # one lies between
    >>> corr = 1.0 - np.abs(hairpin[:, None] - hairpin) ** 2 / 20.0
    >>> g = graph.threshold_graph(corr, 0.9959)
    >>> graph.short_cut_edges(g, g).pairs.tolist()
    [[58, 69]]
    """
    _check_same_nodes("wide", wide, g)
    wide = union(g, wide)
    n = wide.n_nodes
    left, right, weights = edges(wide)
    listed = _jit.suspicion.EdgeList(left, right, _lengths(weights))
    rows = np.repeat(np.arange(n), np.diff(wide.indptr))
    key = np.minimum(rows, wide.indices) * n + np.maximum(rows, wide.indices)
    at_edge = np.searchsorted(left * n + right, key)
    lengths = _lengths(wide.weights)
    order = np.lexsort((lengths, rows))
    by_length = _jit.suspicion.ByLength(
        wide.indptr, wide.indices[order].astype(np.int64), lengths[order], at_edge[order]
    )
    ground = _Ground(wide._replace(weights=lengths), at_edge, by_length, listed)
    condemned, detours = _condemned(ground, _SHORTER)
    if condemned.any():
        strict = condemned
        condemned, detours = _condemned(ground, _LEG)
        reaching = _reaching(ground, strict & ~condemned, strict)
        condemned, detours[reaching] = condemned | reaching, np.inf
        _close_gaps(ground, condemned, detours)
    one, other, _ = edges(g)
    mine = np.searchsorted(left * n + right, one * n + other)
    scores = np.clip((detours[mine] - 2.0) / (_LONGEST - 2.0), 0.0, 1.0)
    return EdgeSuspicion(one, other, scores, condemned[mine])


class _Ground(NamedTuple):
    """A graph of lengths in the forms that its edges are judged in."""

    graph: CsrGraph
    at_edge: NDArray[np.int64]  # (m,) edge of each of its entries
    by_length: Any  # records of the compiled code
    edges: Any


def _condemned(ground: _Ground, leg: float) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Edges that only a long way can replace where legs connect their ends, and the ways round."""
    size = ground.edges.left.size
    condemned, detours = np.zeros(size, dtype=np.bool_), np.zeros(size)
    shortest_first = np.argsort(ground.edges.lengths, kind="stable")
    rule = (leg, _LONGEST)
    _jit.suspicion.short_cuts(*ground, shortest_first, rule, condemned, detours)
    _reconsider(ground, condemned, detours)
    return condemned, detours


def _reconsider(
    ground: _Ground, condemned: NDArray[np.bool_], detours: NDArray[np.float64]
) -> None:
    """Acquit what the edges that were not condemned can replace by no long way, in place."""
    acquitted = np.zeros_like(condemned)
    while True:
        # What is acquitted opens ways for others.
        _jit.suspicion.reconsider(
            ground.by_length, ground.edges, _LONGEST, condemned, acquitted, detours
        )
        if not np.any(acquitted & condemned):
            return
        condemned &= ~acquitted


def _close_gaps(
    ground: _Ground, condemned: NDArray[np.bool_], detours: NDArray[np.float64]
) -> None:
    """Acquit edges across gaps in the sampling of a closed curve, in place.

    The widest gap of a ring looks like a short cut: shorter edges connect its ends the long way
    round. But there the neighbours of both ends lie behind them, seen from the other end, as a
    curve goes on that has a gap; those of a short cut lie around its ends.
    """
    chosen = np.flatnonzero(condemned)
    left, right, lengths = (values[chosen] for values in ground.edges)
    shortest = np.full(ground.graph.n_nodes, np.inf)
    np.minimum.at(shortest, left, lengths)
    np.minimum.at(shortest, right, lengths)
    # The others of a family need not look straight: points lie between their ends.
    first = chosen[(lengths == shortest[left]) & (lengths == shortest[right])]
    straight = np.array([_straightness(ground, condemned, edge) for edge in first])
    for edge in first[straight > 0.0]:
        without, ways = condemned.copy(), detours.copy()
        without[edge] = False
        _reconsider(ground, without, ways)
        # Between two sheets there are many more, which would all pass now, and do not look so.
        if straight[~without[first]].mean() > 0.0:
            condemned[:], detours[:] = without, ways


def _straightness(ground: _Ground, condemned: NDArray[np.bool_], edge: int) -> float:
    """Mean of the cosines at both ends of an edge."""
    left, right = int(ground.edges.left[edge]), int(ground.edges.right[edge])
    pairs = (left, right), (right, left)
    return 0.5 * sum(_straight(ground, condemned, near, far) for near, far in pairs)


def _straight(ground: _Ground, condemned: NDArray[np.bool_], near: int, far: int) -> float:
    """Mean cosine between the ways from neighbours of an end to it, and on to the other end.

    Heard are neighbours whose distances to both ends are known, at half to twice the edge's length.
    """
    indptr, indices, lengths = ground.graph
    mine, yours = (slice(indptr[end], indptr[end + 1]) for end in (near, far))
    _, here, there = np.intersect1d(
        indices[mine], indices[yours], assume_unique=True, return_indices=True
    )
    length = float(lengths[mine][indices[mine] == far][0])
    back, whole = lengths[mine][here], lengths[yours][there]
    heard = (back >= 0.5 * length) & (back <= 2.0 * length)
    heard &= ~condemned[ground.at_edge[mine][here]]
    if not heard.any() or length == 0.0:
        return -1.0
    back, whole = back[heard], whole[heard]
    return float(np.mean((whole**2 - back**2 - length**2) / (2.0 * back * length)))


def _reaching(
    ground: _Ground, doubtful: NDArray[np.bool_], strict: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Those of some edges that lie further apart than the ends of any gap.

    ``strict`` (e,) are condemned where one must not be the first to join two parts. Of the
    ``doubtful`` among them some lie around a gap in the surface, all together; others are between
    two sheets, of which the first came before the surface was whole and acquitted all that follow.
    """
    reaching, open_ = np.zeros_like(strict), np.flatnonzero(doubtful)
    if open_.size == 0:
        return reaching
    left, right, lengths = ground.edges
    n = ground.graph.n_nodes
    ends = np.zeros(n, dtype=np.bool_)
    ends[left[open_]] = ends[right[open_]] = True
    # A family hangs together by its own edges and those between its ends.
    tied = ~strict & ends[left] & ends[right]
    tied[open_] = True
    labels = component_labels(from_edges(n, left[tied], right[tied], np.ones(tied.sum())))
    kinds, at = np.unique(labels[left[open_]], return_inverse=True)
    longest, first = np.zeros(kinds.size), np.zeros(kinds.size, dtype=np.int64)
    np.maximum.at(longest, at, lengths[open_])
    longest_first = np.argsort(-lengths[open_], kind="stable")
    first[at[longest_first]] = open_[longest_first]
    families = np.where(ends, np.searchsorted(kinds, labels), -1)
    found = np.zeros(kinds.size, dtype=np.bool_)
    _jit.suspicion.reach(
        ground.by_length, strict, first, families, _LONGEST * longest, ground.edges, found
    )
    reaching[open_] = found[at]
    return reaching


@door.takes(g=_GRAPH, suspicion=_SUSPICION)
def without_edges(g: CsrGraph, suspicion: EdgeSuspicion) -> CsrGraph:
    """Graph without its condemned edges.

    Parameters
    ----------
    g : CsrGraph
        The graph.
    suspicion : EdgeSuspicion
        What was found about its edges.

    Returns
    -------
    CsrGraph
        The same nodes with fewer edges.
    """
    left, right, weights = edges(g)
    kept = ~as_array("suspicion.condemned", suspicion.condemned)
    if kept.shape != left.shape or kept.dtype != np.bool_:
        raise ValueError(
            f"suspicion must be of the {left.size} edges of this graph, got shape {kept.shape} of "
            f"{kept.dtype}; find it for this graph"
        )
    return from_edges(g.n_nodes, left[kept], right[kept], weights[kept])


def _shares_against(
    g: CsrGraph,
    known: CsrGraph,
    level: float | None,
    least: int,
    condemned: NDArray[np.bool_] | None = None,
) -> NDArray[np.float64]:
    """Share of the witnesses in a graph against each edge of another.

    What is condemned in it is not known: who was taken for a neighbour by a false edge did not
    thereby become a stranger.
    """
    left, right, weights = edges(g)
    known = known._replace(weights=_lengths(known.weights))
    if condemned is not None and condemned.any():
        low, high, _ = edges(known)
        at = np.searchsorted(low * known.n_nodes + high, _keys(known))
        known = known._replace(weights=np.where(condemned[at], -1.0, known.weights))
    if level is None:
        reach = _half_reach(known)
    else:
        reach = np.full(g.n_nodes, _lengths(np.array([level]))[0])
    shares = np.empty(left.size)
    listed = _jit.suspicion.EdgeList(left, right, _lengths(weights))
    _jit.suspicion.contradict(known, reach, listed, least, shares)
    return shares


def _keys(g: CsrGraph) -> NDArray[np.int64]:
    """A number for the edge of each entry, in the order of `edges`."""
    rows = np.repeat(np.arange(g.n_nodes), np.diff(g.indptr))
    return np.minimum(rows, g.indices) * g.n_nodes + np.maximum(rows, g.indices)


def _half_reach(known: CsrGraph) -> NDArray[np.float64]:
    """Median length of the edges of each point, 0 without any; weights are lengths, if known."""
    rows = np.repeat(np.arange(known.n_nodes), np.diff(known.indptr))
    in_order = known.weights[np.lexsort((known.weights, rows))]
    # Negative ones, which are not known, come first.
    hidden = np.bincount(rows[known.weights < 0.0], minlength=known.n_nodes)
    degrees = np.diff(known.indptr) - hidden
    reach = np.zeros(known.n_nodes)
    some = degrees > 0
    reach[some] = in_order[(known.indptr[:-1] + hidden + (degrees - 1) // 2)[some]]
    return reach


def _lengths(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Distances between unit vectors with given products."""
    return np.sqrt(np.maximum(2.0 - 2.0 * weights, 0.0))


def _check_same_nodes(name: str, other: CsrGraph, g: CsrGraph) -> None:
    """Raise unless two graphs are of the same points."""
    check_graph("g", g)
    check_graph(name, other)
    if other.n_nodes != g.n_nodes:
        raise ValueError(
            f"{name} must have the {g.n_nodes} nodes of g, got {other.n_nodes}; make both of the "
            "same points"
        )
