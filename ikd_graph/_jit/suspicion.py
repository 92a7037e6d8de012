"""Compiled tests of edges: pairs that other points contradict, and short cuts.

Weights of graphs are lengths here.
"""

from __future__ import annotations

import heapq
from typing import NamedTuple

import numpy as np

from .._config import inner, jit


class ByLength(NamedTuple):
    """Graph whose rows are sorted by length, with the number of the edge at each entry."""

    indptr: np.ndarray  # (n + 1,) int64
    indices: np.ndarray  # (m,) int64
    lengths: np.ndarray  # (m,) float64
    edges: np.ndarray  # (m,) int64


class EdgeList(NamedTuple):
    """Edges, each once."""

    left: np.ndarray  # (e,) int64
    right: np.ndarray  # (e,) int64
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
def short_cuts(graph, at_edge, by_length, edges, order, rule, condemned, detours):
    """Condemn edges whose ends shorter edges connect, but only by a long way.

    ``graph`` has sorted rows, ``at_edge`` (m,) the edge of each of its entries, ``order`` (e,) the
    edges by length. ``rule`` is the length of a leg and of the longest way, both as multiples of
    the edge. An edge is judged when those shorter than it are, which alone may replace it, and only
    where legs of that length connect its ends. Written: ``condemned`` (e,) bool, all False at
    first, and ``detours`` (e,), the way round as a multiple of the edge where one was searched for.
    """
    parent = np.arange(by_length.indptr.size - 1)
    distance = np.full(parent.size, np.inf)
    joined = 0
    for edge in order:
        left, right, length = edges.left[edge], edges.right[edge], edges.lengths[edge]
        while edges.lengths[order[joined]] <= rule[0] * length and length > 0.0:
            if not condemned[order[joined]]:
                ends = edges.left[order[joined]], edges.right[order[joined]]
                parent[root(parent, ends[0])] = root(parent, ends[1])
            joined += 1
        if root(parent, left) != root(parent, right):
            continue
        # Two short cuts of one length must not excuse each other.
        shorter = length * (1.0 - 1e-9)
        if not common_neighbour(graph, at_edge, condemned, left, right, shorter):
            most = rule[1] * length
            way = walk(by_length, condemned, edge, left, right, shorter, most, distance)
            detours[edge] = way / length
            condemned[edge] = way == np.inf


@jit
def reconsider(by_length, edges, longest, condemned, acquitted, detours):
    """Acquit edges whose ends the edges that were not condemned connect by no long way.

    ``condemned`` (e,) stays as it is; ``acquitted`` (e,) bool and ``detours`` (e,), the way round
    as a multiple of the edge, are written for those that are.
    """
    distance = np.full(by_length.indptr.size - 1, np.inf)
    for edge in range(edges.left.size):
        if condemned[edge]:
            length = edges.lengths[edge]
            ends = edges.left[edge], edges.right[edge]
            most = longest * length
            way = walk(by_length, condemned, edge, ends[0], ends[1], most, most, distance)
            detours[edge] = way / length
            acquitted[edge] = way < np.inf


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
        found = 0
        heap = [(0.0, ends[0]), (0.0, ends[1])]
        seen = [ends[0], ends[1]]
        distance[ends[0]] = distance[ends[1]] = 0.0
        while len(heap) > 0:
            base, node = heapq.heappop(heap)
            if base == distance[node]:
                found += families[node] == family
                spread(graph, condemned, node, base, longest[family], distance, heap, seen)
        for node in seen:
            distance[node] = np.inf
        reaches[family] = found < sizes[family]


@inner
def spread(graph, condemned, node, base, longest, distance, heap, seen):
    """Shorten the ways to the neighbours of a node at distance ``base``; see `reach`."""
    for entry in range(graph.indptr[node], graph.indptr[node + 1]):
        way = base + graph.lengths[entry]
        if way > longest:
            break
        other = graph.indices[entry]
        if way < distance[other] and not condemned[graph.edges[entry]]:
            if distance[other] == np.inf:
                seen.append(other)
            distance[other] = way
            heapq.heappush(heap, (way, other))


@inner
def root(parent, node):
    """Follow a union-find forest (n,) from a node to its root, halving the way."""
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node


@inner
def common_neighbour(graph, at_edge, condemned, left, right, longest):
    """Whether a node is within a length of both ends, on edges that are not condemned."""
    indptr, indices, lengths = graph
    a, b = indptr[left], indptr[right]
    while a < indptr[left + 1] and b < indptr[right + 1]:
        if indices[a] < indices[b]:
            a += 1
        elif indices[a] > indices[b]:
            b += 1
        else:
            near = lengths[a] <= longest and lengths[b] <= longest
            if near and not condemned[at_edge[a]] and not condemned[at_edge[b]]:
                return True
            a += 1
            b += 1
    return False


@inner
def walk(graph, condemned, without, source, target, leg, longest, distance):
    """Length of the shortest way between two nodes; infinite where none is short enough.

    ``graph`` is sorted by length; edges longer than ``leg``, those condemned and the edge
    ``without`` are not walked. ``distance`` (n,) is infinite everywhere, before and after.
    """
    heap = [(0.0, source)]
    seen = [source]
    distance[source] = 0.0
    found = np.inf
    while len(heap) > 0:
        base, node = heapq.heappop(heap)
        if node == target:
            found = base
            break
        if base > distance[node]:
            continue
        for entry in range(graph.indptr[node], graph.indptr[node + 1]):
            way = base + graph.lengths[entry]
            if graph.lengths[entry] > leg or way > longest:
                break
            other = graph.indices[entry]
            open_edge = graph.edges[entry] != without and not condemned[graph.edges[entry]]
            if open_edge and way < distance[other]:
                if distance[other] == np.inf:
                    seen.append(other)
                distance[other] = way
                heapq.heappush(heap, (way, other))
    for node in seen:
        distance[node] = np.inf
    return found
