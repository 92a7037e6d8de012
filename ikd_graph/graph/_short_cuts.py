"""Short cuts: edges that jump from one part of a surface to another."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .. import _jit, _limits
from .._records import Blocks, CsrGraph
from ._csr import component_labels, edges, from_edges, union
from ._suspicion import EdgeSuspicion, check_same_nodes, lengths_of

# An edge is condemned where legs of .8 of its length connect its ends, but no way 3.5 times as
# long does. Chosen on noisy swiss rolls (500 to 3000 points, noise .1 to .5, seeds 0 to 2 and 100
# to 114), where .7 missed short cuts, and at a limit of 4 a single edge across the innermost turn
# could acquit all others. On seeds 500 to 529 no roll of 1000 points keeps a short cut; of 500
# points at noise .1, .3 and .5 1, 2 and 6 of 30 do with 30 neighbours. Rings, ellipses, bent rings,
# tori, tubes and plates with a hole (80 to 300 points, seeds 1000 to 1019) lose no edge.
_LEG, _LONGEST = 0.8, 3.5
# Ways so many times as long as an edge say nothing against it.
_NEAR = 2.0
# Two short cuts of one length must not excuse each other.
_SHORTER = 1.0 - 1e-9
# Neighbours that tell which way a curve goes on, in lengths of the edge across a gap: nearer ones
# lie anywhere by noise, farther ones round the bend.
_HEARD = 0.5, 2.0
# Nodes that are numbered together.
_PATCH = 32


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
    check_same_nodes("wide", wide, g)
    entries = _entries(g, wide)
    if not (np.all(entries >= 0) and np.array_equal(wide.weights[entries], edges(g)[2])):
        wide = union(g, wide)
    if g.n_nodes <= _limits.SOLVED_WHOLE:
        return EdgeSuspicion(*edges(g)[:2], *_judged(g, _ground(wide)))
    # In an order in which near nodes have near numbers: most of the time goes to fetching rows.
    order = np.empty(g.n_nodes, np.int64)
    _jit.patches.order_in_patches(wide.indptr, wide.indices, _PATCH, order)
    near, wide = _renumbered(g, order), _renumbered(wide, order)
    ground = _ground(wide)
    del wide
    scores, condemned = _judged(near, ground)
    one, other, _ = edges(near)
    one, other = np.sort(order[np.stack((one, other))], axis=0)
    back = np.argsort(one * g.n_nodes + other)
    return EdgeSuspicion(one[back], other[back], scores[back], condemned[back])


def _renumbered(g: CsrGraph, order: NDArray[np.int64]) -> CsrGraph:
    """Graph whose node i is node ``order[i]`` of another."""
    arrays = [np.empty_like(array) for array in g]
    _jit.patches.renumber(*g, order, *arrays)
    made = sp.csr_array((arrays[2], arrays[1], arrays[0].astype(np.int32)), shape=2 * [order.size])
    made.sort_indices()
    return CsrGraph.trusted(arrays[0], made.indices, made.data)


def _judged(g: CsrGraph, ground: _Ground) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Score of each edge of a graph in a wider one, and whether it is condemned."""
    mine = ground.graph.edges[_entries(g, ground.graph)]
    condemned, doubtful = _condemned(ground, _SHORTER)
    strict = condemned if condemned.any() else None
    if strict is not None:
        condemned, doubtful = _condemned(ground, _LEG, strict)
    detours = np.zeros(condemned.size)
    _measure(ground, mine[doubtful[mine]], condemned, detours)
    if strict is not None:
        reaching = _reaching(ground, strict & ~condemned, strict)
        condemned, detours[reaching] = condemned | reaching, np.inf
        _close_gaps(ground, condemned, detours)
    detours = np.where(condemned[mine], np.inf, detours[mine])
    return np.clip((detours - _NEAR) / (_LONGEST - _NEAR), 0.0, 1.0), condemned[mine]


class _Ground(NamedTuple):
    """A graph of lengths, entry by entry and edge by edge; records of the compiled code."""

    graph: Any
    edges: Any
    room: Any
    shortest_first: NDArray[np.int64]  # (e,)


def _entries(g: CsrGraph, wide: Any) -> NDArray[np.int64]:
    """Entry of another graph for each edge of a graph, -1 where it has none."""
    entries = np.empty(g.n_edges, np.int64)
    _jit.suspicion.find_entries(g.indptr, g.indices, wide.indptr, wide.indices, entries)
    return entries


def _ground(wide: CsrGraph) -> _Ground:
    """Records of a graph, in numbers of 32 bits where there is one for every entry."""
    numbers = np.empty(wide.indices.size, np.int32)
    left, right = np.empty((2, wide.n_edges), np.int32)
    _jit.suspicion.number_edges(wide.indptr, wide.indices, numbers, left, right)
    lengths = lengths_of(wide.weights)
    of_edges = np.empty(wide.n_edges)
    of_edges[numbers] = lengths
    return _Ground(
        _jit.suspicion.Lengths(wide.indptr, wide.indices, lengths, numbers),
        _jit.suspicion.EdgeList(left, right, of_edges),
        _room(wide),
        np.argsort(of_edges, kind="stable"),
    )


def _room(wide: CsrGraph) -> Any:
    """Room for searches in a graph. What is not written to takes no memory."""
    n, n_edges = wide.n_nodes, wide.n_edges
    most = wide.indices.size + n
    return _jit.ways.Room(
        keys=np.empty((2, most)),
        nodes=np.empty((2, most), np.int32),
        sizes=np.zeros(2, np.int64),
        distances=np.full((3, n), np.inf),
        seen=np.empty(2 * n, np.int64),
        waiting=np.empty(n_edges, np.int64),
        doubtful=np.empty(n_edges, np.int64),
        apart=np.empty(n_edges, np.bool_),
    )


def _condemned(
    ground: _Ground, leg: float, before: NDArray[np.bool_] | None = None
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Edges that only a long way can replace where legs connect their ends, and all such edges.

    At first all edges whose ends legs connect are in doubt. Judged one after the other, the
    shortest first, on shorter edges that passed, no more would be acquitted. Those condemned
    ``before``, by longer legs, are a superset, and all that is looked at.
    """
    doubtful = np.empty(ground.shortest_first.size, dtype=np.bool_)
    nodes = np.arange(ground.graph.indptr.size - 1)
    _jit.suspicion.legs_connect(ground.edges, ground.shortest_first, leg, nodes, doubtful)
    if before is None:
        condemned = doubtful.copy()
        _acquit(ground, np.empty(0, dtype=np.int64), condemned)
    else:
        condemned, freed = before & doubtful, np.flatnonzero(before & ~doubtful)
        if freed.size:
            _acquit(ground, freed, condemned)
    return condemned, doubtful


def _acquit(ground: _Ground, freed: NDArray[np.int64], condemned: NDArray[np.bool_]) -> None:
    """Acquit edges that the others can replace by no long way, in place."""
    records = ground.graph, ground.edges, ground.room
    fresh = np.zeros(ground.graph.indptr.size - 1, dtype=np.bool_)
    _jit.suspicion.acquit(*records, _LONGEST, freed, condemned, fresh)


def _measure(
    ground: _Ground,
    some: NDArray[np.integer],
    condemned: NDArray[np.bool_],
    detours: NDArray[np.float64],
) -> None:
    """Write how long the ways round some edges are, as far as scores tell."""
    records = ground.graph, ground.edges, ground.room
    _jit.suspicion.ways_round(*records, _LONGEST, _NEAR, some, condemned, detours)


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
    shortest = np.full(ground.graph.indptr.size - 1, np.inf)
    np.minimum.at(shortest, left, lengths)
    np.minimum.at(shortest, right, lengths)
    # The others of a family need not look straight: points lie between their ends.
    first = chosen[(lengths == shortest[left]) & (lengths == shortest[right])]
    straight = _straightness(ground, condemned, first)
    for edge in first[straight > 0.0]:
        if not condemned[edge]:
            continue
        before = condemned[chosen], detours[chosen], condemned[first]
        condemned[edge] = False
        doubtful = chosen[condemned[chosen]]
        _acquit(ground, np.array([edge]), condemned)
        _measure(ground, doubtful, condemned, detours)
        # Between two sheets there are many more, which would all pass now, and do not look so.
        if not straight[before[2] & ~condemned[first]].mean() > 0.0:
            condemned[chosen], detours[chosen] = before[:2]


def _straightness(
    ground: _Ground, condemned: NDArray[np.bool_], some: NDArray[np.integer]
) -> NDArray[np.float64]:
    """How straight some edges look: a mean of cosines at either end, and the mean of both.

    The cosines are those between the ways from neighbours of an end to it, and on to the other.
    Heard are neighbours whose distances to both ends are known, at half to twice the edge's length.
    """
    indptr, indices, lengths, numbers = ground.graph
    rows, n = Blocks(indptr, indices), np.int64(indptr.size - 1)
    left, right, across = (values[some] for values in ground.edges)
    found = np.empty((2, some.size))
    for which, near, far in (0, left, right), (1, right, left):
        (starts, mine), (ends, yours) = rows.entries(near), rows.entries(far)
        edge = np.repeat(np.arange(some.size), np.diff(starts))
        other = np.repeat(np.arange(some.size), np.diff(ends))
        _, here, there = np.intersect1d(
            edge * n + indices[mine],
            other * n + indices[yours],
            assume_unique=True,
            return_indices=True,
        )
        edge, mine, yours = edge[here], mine[here], yours[there]
        length, back, whole = across[edge], lengths[mine], lengths[yours]
        heard = (back >= _HEARD[0] * length) & (back <= _HEARD[1] * length) & (length > 0.0)
        heard &= ~condemned[numbers[mine]]
        length, back, whole, edge = length[heard], back[heard], whole[heard], edge[heard]
        cosines = (whole**2 - back**2 - length**2) / (2.0 * back * length)
        count = np.bincount(edge, minlength=some.size)
        total = np.bincount(edge, cosines, minlength=some.size)
        found[which] = np.where(count > 0, total / np.maximum(count, 1), -1.0)
    return found.mean(axis=0)


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
    n = ground.graph.indptr.size - 1
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
    found = np.empty(kinds.size, dtype=np.int64)
    records, most = (ground.graph, ground.room, strict), _LONGEST * longest
    _jit.suspicion.reach(*records, first, families, most, ground.edges, found)
    apart = found < np.bincount(families[ends], minlength=kinds.size)
    reaching[open_] = apart[at]
    return reaching
