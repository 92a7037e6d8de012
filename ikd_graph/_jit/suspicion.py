"""Compiled tests of edges: pairs that other points contradict, and short cuts.

Weights of graphs are lengths here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._numba import jit
from .ways import ENDLESS, FIRST, NEAR, push, spread, two_legs, walk

MANY = 32
"""A search of a whole graph takes the time of as many ways as one in so many of its nodes."""

EFFORTS = (32, 32, 256)
"""Nodes that a search for a way may look at, as long as most other edges are still in doubt."""


class Lengths(NamedTuple):
    """Graph of lengths, with the number of the edge at each entry."""

    indptr: np.ndarray  # (n + 1,) int64
    indices: np.ndarray  # (m,) int32, sorted in each row
    lengths: np.ndarray  # (m,) float64
    edges: np.ndarray  # (m,) int32


class EdgeList(NamedTuple):
    """Edges, each once."""

    left: np.ndarray  # (e,) int
    right: np.ndarray  # (e,) int
    lengths: np.ndarray  # (e,) float64


@jit
def contradict(graph, reach, edges, least, shares):
    """Share of the witnesses of each edge that contradict its length, into ``shares`` (e,).

    A point near one end is a witness where the triangle puts it within reach of the other end,
    ``reach`` (n,) being the length up to which the graph has every edge of a point. It contradicts
    where its distance to that end is longer than the triangle allows, or there is no edge; a
    negative length is not known, and its point no witness. Fewer than ``least`` say nothing.
    """
    indptr, indices, lengths = graph
    for edge in range(edges.left.size):
        ends = edges.left[edge], edges.right[edge]
        a, stop_a = indptr[ends[0]], indptr[ends[0] + 1]
        b, stop_b = indptr[ends[1]], indptr[ends[1] + 1]
        against, witnesses = 0, 0
        while a < stop_a or b < stop_b:
            at_a = indices[a] if a < stop_a else indptr.size
            at_b = indices[b] if b < stop_b else indptr.size
            point = min(at_a, at_b)
            to_a = to_b = np.inf
            if at_a == point:
                to_a = lengths[a]
                a += 1
            if at_b == point:
                to_b = lengths[b]
                b += 1
            if point == ends[0] or point == ends[1] or min(to_a, to_b) < 0.0:
                continue
            most = min(to_a, to_b) + edges.lengths[edge]
            far_end = ends[1] if to_a <= to_b else ends[0]
            if most <= min(reach[far_end], reach[point]):
                witnesses += 1
                # Rounding may break the triangle of points on a line.
                if max(to_a, to_b) > most * (1.0 + 1e-9):
                    against += 1
        shares[edge] = against / witnesses if witnesses >= least else 0.0


@jit
def number_edges(indptr, indices, numbers, left, right):
    """Number the edges row by row: into ``numbers`` (m,) of each entry, and their ends (m / 2,).

    Rows are sorted, so that a row meets its smaller neighbours in the order in which those come.
    """
    at = indptr[:-1].copy()
    edge = 0
    for node in range(at.size):
        for entry in range(indptr[node], indptr[node + 1]):
            other = indices[entry]
            if other > node:
                left[edge], right[edge] = node, other
                numbers[entry] = numbers[at[other]] = edge
                at[other] += 1
                edge += 1


@jit
def find_entries(indptr, indices, wide_indptr, wide_indices, entries):
    """Entry of another graph for each edge of a graph, smaller end first, -1 where it has none."""
    edge = 0
    for node in range(indptr.size - 1):
        there, stop = wide_indptr[node], wide_indptr[node + 1]
        for entry in range(indptr[node], indptr[node + 1]):
            other = indices[entry]
            if other > node:
                while there < stop and wide_indices[there] < other:
                    there += 1
                met = there < stop and wide_indices[there] == other
                entries[edge] = there if met else -1
                edge += 1


@jit
def legs_connect(edges, order, leg, parent, connected):
    """Whether edges of at most ``leg`` times its length connect the ends of each edge.

    ``order`` (e,) holds the edges by length, ``parent`` (n,) the nodes themselves at first;
    ``connected`` (e,) bool is written.
    """
    joined = 0
    for edge in order:
        length = edges.lengths[edge]
        while edges.lengths[order[joined]] <= leg * length and length > 0.0:
            one, other = edges.left[order[joined]], edges.right[order[joined]]
            parent[root(parent, one)] = root(parent, other)
            joined += 1
        connected[edge] = root(parent, edges.left[edge]) == root(parent, edges.right[edge])


@jit
def acquit(graph, edges, room, longest, freed, condemned, fresh):
    """Acquit edges whose ends the edges that are not condemned connect by no long way.

    What is acquitted opens ways for others, until there are no more: in whatever order edges are
    looked at, the same are left. Most have a way of two edges, which is looked for where one of the
    two was acquitted; for the others one has to be searched. All edges are looked at, or, where
    ``freed`` (f,) names edges that alone were acquitted since all others were searched for in vain,
    those near them. ``condemned`` (e,) bool is written; ``fresh`` (n,) bool is all False at first.
    """
    near, first = room.distances[NEAR], freed.size == 0
    if first:
        start_from_all(graph, edges, room, longest, condemned, fresh)
    for edge in freed:
        fresh[edges.left[edge]] = True
        fresh[edges.right[edge]] = True
        open_triangles(graph, edges, room, longest, edge, condemned, fresh)
    if first and fresh.size > MANY * (EFFORTS[0] + EFFORTS[1] + EFFORTS[2]):
        # What is found with little effort opens most of the ways that are long to search in vain.
        # In a smaller graph a search of all of it costs less.
        for effort in EFFORTS:
            for edge in range(condemned.size):
                if condemned[edge]:
                    passes(graph, edges, room, longest, edge, effort, condemned, fresh)
    for edge in range(condemned.size):
        room.doubtful[edge] = edge
    count = keep_condemned(room, condemned, condemned.size)
    while count > 0:
        if start_from_fresh(room, fresh) == 0 and not first:
            break
        if not first:
            # A new way of an edge comes near one of its ends by half its length.
            widest = 0.0
            for i in range(count):
                widest = max(widest, 0.5 * longest * edges.lengths[room.doubtful[i]])
            spread(graph, condemned, room, NEAR, widest)
        far_apart(graph, edges, room, longest, condemned, count)
        for i in range(count):
            edge = room.doubtful[i]
            if room.apart[i] or not condemned[edge]:
                continue
            to_new = min(near[edges.left[edge]], near[edges.right[edge]])
            if not first and to_new > 0.5 * longest * edges.lengths[edge]:
                continue
            if passes(graph, edges, room, longest, edge, ENDLESS, condemned, fresh):
                for k in range(count):
                    room.apart[k] = False
        for node in range(near.size):
            near[node] = np.inf
        count = keep_condemned(room, condemned, count)
        first = False


@jit
def passes(graph, edges, room, longest, edge, effort, condemned, fresh):
    """Acquit an edge if a way is found, and what that opens; ``effort`` as in `walk`."""
    most = longest * edges.lengths[edge]
    if walk(graph, condemned, edges, room, edge, most, most, effort) > most:
        return False
    condemned[edge] = False
    fresh[edges.left[edge]] = True
    fresh[edges.right[edge]] = True
    open_triangles(graph, edges, room, longest, edge, condemned, fresh)
    return True


@jit
def keep_condemned(room, condemned, count):
    """Keep those of the first doubtful edges that are condemned; returns how many."""
    kept = 0
    for i in range(count):
        edge = room.doubtful[i]
        if condemned[edge]:
            room.doubtful[kept] = edge
            kept += 1
    return kept


@jit
def start_from_fresh(room, fresh):
    """Put the nodes that are fresh on the first heap, and let them be so no more.

    Returns their number.
    """
    room.sizes[0] = 0
    for node in range(fresh.size):
        if fresh[node]:
            # Of equal lengths in the order of nodes they are a heap.
            room.keys[0, room.sizes[0]] = 0.0
            room.nodes[0, room.sizes[0]] = node
            room.sizes[0] += 1
            fresh[node] = False
    return room.sizes[0]


@jit
def far_apart(graph, edges, room, longest, condemned, count):
    """Which of the doubtful edges have ends that no way connects, however many edges it has.

    The distances of two points to a third one are no further apart than the two are, so that a
    search from one end of an edge rules out ways for others. Searches go on while each spares many
    others. ``room.apart`` is written.
    """
    n = graph.indptr.size - 1
    distance = room.distances[0]
    for i in range(count):
        room.apart[i] = False
    n_apart = 0
    for i in range(count):
        if room.apart[i]:
            continue
        if (count - n_apart) * MANY < n:
            break
        room.keys[0, 0] = 0.0
        room.nodes[0, 0] = edges.left[room.doubtful[i]]
        room.sizes[0] = 1
        spread(graph, condemned, room, FIRST, np.inf)
        spared = 0
        for k in range(count):
            edge = room.doubtful[k]
            one, other = distance[edges.left[edge]], distance[edges.right[edge]]
            # Sums of lengths are rounded. Points that were not reached tell nothing.
            most = longest * edges.lengths[edge] * (1.0 + 1e-9)
            if not room.apart[k] and abs(one - other) > most:
                room.apart[k] = True
                spared += 1
        for node in range(n):
            distance[node] = np.inf
        n_apart += spared
        if spared * MANY < n:
            break


@jit
def start_from_all(graph, edges, room, longest, condemned, fresh):
    """Acquit all that ways of two edges can: from the edges that passed, or from the others.

    Whichever are fewer are looked at.
    """
    count = 0
    for edge in range(condemned.size):
        count += condemned[edge]
        room.apart[edge] = condemned[edge]
    from_passed = 2 * count > condemned.size
    for edge in range(condemned.size):
        if room.apart[edge] == from_passed:
            continue
        if not from_passed and condemned[edge]:
            most = longest * edges.lengths[edge]
            way = two_legs(graph, condemned, edges.left[edge], edges.right[edge], most)
            condemned[edge] = way > most
        if not condemned[edge]:
            open_triangles(graph, edges, room, longest, edge, condemned, fresh)


@jit
def open_triangles(graph, edges, room, longest, edge, condemned, fresh):
    """Acquit what an edge that passed can replace with another one, and what that can, and so on.

    ``fresh`` (n,) bool is set at the ends of edges that are acquitted.
    """
    indptr, indices, lengths, numbers = graph
    waiting, count = room.waiting, 1
    waiting[0] = edge
    while count > 0:
        count -= 1
        leg = waiting[count]
        one, other, length = edges.left[leg], edges.right[leg], edges.lengths[leg]
        a, b = indptr[one], indptr[other]
        stop_a, stop_b = indptr[one + 1], indptr[other + 1]
        while a < stop_a and b < stop_b:
            if indices[a] < indices[b]:
                a += 1
            elif indices[a] > indices[b]:
                b += 1
            else:
                first_shut = condemned[numbers[a]]
                if first_shut != condemned[numbers[b]]:
                    shut, walked = (a, b) if first_shut else (b, a)
                    if length + lengths[walked] <= longest * lengths[shut]:
                        condemned[numbers[shut]] = False
                        waiting[count] = numbers[shut]
                        count += 1
                        fresh[indices[a]] = True
                        fresh[one if first_shut else other] = True
                a += 1
                b += 1


@jit
def ways_round(graph, edges, room, longest, enough, some, condemned, detours):
    """Shortest ways that replace some edges (s,), as multiples of them, into ``detours`` (e,).

    Of ways that are no longer than ``enough`` times the edge any will do. Edges that are condemned
    are passed over; the others have a way that is at most ``longest`` times as long.
    """
    for i in range(some.size):
        edge = np.int64(some[i])
        if not condemned[edge]:
            length = edges.lengths[edge]
            ends = edges.left[edge], edges.right[edge]
            way = two_legs(graph, condemned, ends[0], ends[1], enough * length)
            if way > longest * length:
                most = longest * length
                way = walk(graph, condemned, edges, room, edge, most, enough * length, ENDLESS)
            detours[edge] = way / length


@jit
def reach(graph, room, condemned, first, families, longest, points, found):
    """Count what lies no further apart in families of edges than a length on edges that passed.

    ``first`` (f,) is an edge of each family, of ends ``points.left`` and ``points.right``, and
    ``longest`` (f,) the length. ``families`` (n,) has the family of each point that is an end of
    one of its edges, -1 of others. Written: ``found`` (f,), how many of them are no further than
    that from an end of the first one.
    """
    distance = room.distances[NEAR]
    for family in range(first.size):
        room.sizes[0] = 0
        push(room, FIRST, 0.0, np.int64(points.left[first[family]]))
        push(room, FIRST, 0.0, np.int64(points.right[first[family]]))
        found[family] = 0
        for i in range(spread(graph, condemned, room, NEAR, longest[family])):
            found[family] += families[room.seen[i]] == family
            distance[room.seen[i]] = np.inf


@jit
def root(parent, node):
    """Follow a union-find forest (n,) from a node to its root, halving the way."""
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node
