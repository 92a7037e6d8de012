"""Compiled tests of edges: pairs that other points contradict, and short cuts.

Weights of graphs are lengths here.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._config import inner, jit
from .ways import spread, two_legs, walk

MANY = 32
"""A search of a whole graph takes the time of as many ways as one in so many of its nodes."""

FIRST = (32, 32, 256)
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
def legs_connect(edges, order, leg, n, connected):
    """Whether edges of at most ``leg`` times its length connect the ends of each edge.

    ``order`` (e,) holds the edges by length, ``connected`` (e,) bool is written.
    """
    parent = np.arange(n)
    joined = 0
    for edge in order:
        length = edges.lengths[edge]
        while edges.lengths[order[joined]] <= leg * length and length > 0.0:
            one, other = edges.left[order[joined]], edges.right[order[joined]]
            parent[root(parent, one)] = root(parent, other)
            joined += 1
        connected[edge] = root(parent, edges.left[edge]) == root(parent, edges.right[edge])


@jit
def acquit(graph, edges, longest, freed, condemned):
    """Acquit edges whose ends the edges that are not condemned connect by no long way.

    What is acquitted opens ways for others, until there are no more: in whatever order edges are
    looked at, the same are left. Most have a way of two edges, which is looked for where one of the
    two was acquitted; for the others one has to be searched. All edges are looked at, or, where
    ``freed`` (f,) names edges that alone were acquitted since all others were searched for in vain,
    those near them. ``condemned`` (e,) bool is written.
    """
    n = graph.indptr.size - 1
    distances, near = np.full((2, n), np.inf), np.full(n, np.inf)
    fresh = np.zeros(n, np.bool_)
    first = freed.size == 0
    if first:
        start_from_all(graph, edges, longest, condemned, fresh)
    for edge in freed:
        fresh[edges.left[edge]] = fresh[edges.right[edge]] = True
        open_triangles(graph, edges, longest, edge, condemned, fresh)
    if first:
        # What is found with little effort opens most of the ways that are long to search in vain.
        for effort in FIRST:
            for edge in np.flatnonzero(condemned):
                if condemned[edge]:
                    passes(graph, edges, longest, edge, effort, condemned, fresh, distances)
    left = np.flatnonzero(condemned)
    while left.size > 0 and (first or fresh.any()):
        # A new way of an edge comes near one of its ends by half its length.
        widest = 0.0
        for edge in left:
            widest = max(widest, 0.5 * longest * edges.lengths[edge])
        seen = [(0.0, node) for node in np.flatnonzero(fresh)]
        if not first:
            heap = seen.copy()
            spread(graph, condemned, heap, widest, near, seen)
        fresh[:] = False
        apart = far_apart(graph, edges, longest, condemned, left)
        for i in range(left.size):
            edge = left[i]
            if apart[i]:
                continue
            to_new = min(near[edges.left[edge]], near[edges.right[edge]])
            open_way = first or to_new <= 0.5 * longest * edges.lengths[edge]
            if not (condemned[edge] and open_way):
                continue
            if passes(graph, edges, longest, edge, -1, condemned, fresh, distances):
                apart[:] = False
        for _, node in seen:
            near[node] = np.inf
        left = left[condemned[left]]
        first = False


@inner
def passes(graph, edges, longest, edge, effort, condemned, fresh, distances):
    """Acquit an edge if a way is found, and what that opens; ``effort`` as in `walk`."""
    most = longest * edges.lengths[edge]
    if walk(graph, condemned, edges, edge, (most, most), effort, distances) > most:
        return False
    condemned[edge] = False
    fresh[edges.left[edge]] = fresh[edges.right[edge]] = True
    open_triangles(graph, edges, longest, edge, condemned, fresh)
    return True


@inner
def far_apart(graph, edges, longest, condemned, left):
    """Which of some edges have ends that no way connects, however many edges it were to have.

    The distances of two points to a third one are no further apart than the two are, so that a
    search from one end of an edge rules out ways for others. Searches go on while each spares many
    others.
    """
    n = graph.indptr.size - 1
    apart = np.zeros(left.size, np.bool_)
    distance = np.empty(n, np.float64)
    for i in range(left.size):
        if apart[i]:
            continue
        if (left.size - np.count_nonzero(apart)) * MANY < n:
            break
        distance[:] = np.inf
        heap = [(0.0, np.int64(edges.left[left[i]]))]
        seen = heap.copy()
        spread(graph, condemned, heap, np.inf, distance, seen)
        spared = 0
        for k in range(left.size):
            one, other = distance[edges.left[left[k]]], distance[edges.right[left[k]]]
            # Sums of lengths are rounded. Points that were not reached tell nothing.
            most = longest * edges.lengths[left[k]] * (1.0 + 1e-9)
            if not apart[k] and abs(one - other) > most:
                apart[k] = True
                spared += 1
        if spared * MANY < n:
            break
    return apart


@inner
def start_from_all(graph, edges, longest, condemned, fresh):
    """Acquit all that ways of two edges can: from the edges that passed, or from the others.

    Whichever are fewer are looked at.
    """
    doubtful = condemned.copy()
    from_passed = 2 * np.count_nonzero(doubtful) > doubtful.size
    for edge in range(doubtful.size):
        if doubtful[edge] == from_passed:
            continue
        if not from_passed and condemned[edge]:
            ends, most = (edges.left[edge], edges.right[edge]), longest * edges.lengths[edge]
            condemned[edge] = two_legs(graph, condemned, ends, most) > most
        if not condemned[edge]:
            open_triangles(graph, edges, longest, edge, condemned, fresh)


@inner
def open_triangles(graph, edges, longest, edge, condemned, fresh):
    """Acquit what an edge that passed can replace with another one, and what that can, and so on.

    ``fresh`` (n,) bool is set at the ends of edges that are acquitted.
    """
    waiting = [np.int64(edge)]
    while len(waiting) > 0:
        leg = waiting.pop()
        one, other, length = edges.left[leg], edges.right[leg], edges.lengths[leg]
        a, b = graph.indptr[one], graph.indptr[other]
        stop_a, stop_b = graph.indptr[one + 1], graph.indptr[other + 1]
        while a < stop_a and b < stop_b:
            if graph.indices[a] < graph.indices[b]:
                a += 1
            elif graph.indices[a] > graph.indices[b]:
                b += 1
            else:
                sides = graph.edges[a], graph.edges[b]
                shut = condemned[sides[0]], condemned[sides[1]]
                if shut[0] != shut[1]:
                    legs = graph.lengths[a], graph.lengths[b]
                    here = 0 if shut[0] else 1
                    if length + legs[1 - here] <= longest * legs[here]:
                        condemned[sides[here]] = False
                        waiting.append(np.int64(sides[here]))
                        fresh[graph.indices[a]] = True
                        fresh[one if here == 0 else other] = True
                a += 1
                b += 1


@jit
def ways_round(graph, edges, longest, enough, some, condemned, detours):
    """Shortest ways that replace some edges (s,), as multiples of them, into ``detours`` (e,).

    Of ways that are no longer than ``enough`` times the edge any will do. Edges that are condemned
    are passed over; the others have a way that is at most ``longest`` times as long.
    """
    distances = np.full((2, graph.indptr.size - 1), np.inf)
    for edge in some:
        if not condemned[edge]:
            ends, length = (edges.left[edge], edges.right[edge]), edges.lengths[edge]
            way = two_legs(graph, condemned, ends, enough * length)
            if way > longest * length:
                most = longest * length, enough * length
                way = walk(graph, condemned, edges, edge, most, -1, distances)
            detours[edge] = way / length


@jit
def reach(graph, condemned, first, families, longest, points, reaches):
    """Tell which families of edges lie further apart than a length on edges that passed.

    ``first`` (f,) is an edge of each family, of ends ``points.left`` and ``points.right``, and
    ``longest`` (f,) the length. ``families`` (n,) has the family of each point that is an end of
    one of its edges, -1 of others. Written: ``reaches`` (f,) bool, whether an end of an edge is
    further than that from both ends of the first one.
    """
    distance = np.full(families.size, np.inf)
    sizes = np.zeros(first.size, dtype=np.int64)
    for node in range(families.size):
        if families[node] >= 0:
            sizes[families[node]] += 1
    for family in range(first.size):
        ends = points.left[first[family]], points.right[first[family]]
        heap = [(0.0, np.int64(ends[0])), (0.0, np.int64(ends[1]))]
        seen = heap.copy()
        spread(graph, condemned, heap, longest[family], distance, seen)
        found = 0
        for _, node in seen:
            found += families[node] == family and distance[node] < np.inf
            distance[node] = np.inf
        reaches[family] = found < sizes[family]


@inner
def root(parent, node):
    """Follow a union-find forest (n,) from a node to its root, halving the way."""
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node
