"""Shortest ways in a graph of lengths, on edges that are not condemned, and heaps for them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._numba import jit

# Numba would compile a function anew for each plain number that it is called with.
FIRST, NEAR = np.int64(0), np.int64(2)
"""The first heap and row of distances, and the row of the distances from what is fresh."""

ENDLESS = np.int64(-1)
"""Effort of a search that ends when there is no more to be found."""


class Room(NamedTuple):
    """Room for searches: what kernels allocate, and lists and tuples, take long to compile."""

    keys: np.ndarray  # (2, m + n) float64, two heaps: lengths of ways
    nodes: np.ndarray  # (2, m + n) int32, where they lead to
    sizes: np.ndarray  # (2,) int64, how many are in each
    distances: np.ndarray  # (3, n) float64, all infinite between calls: two of walks, one more
    seen: np.ndarray  # (2 n,) int64, nodes that have a distance
    waiting: np.ndarray  # (e,) int64, edges that were acquitted
    doubtful: np.ndarray  # (e,) int64, edges that are condemned still
    apart: np.ndarray  # (e,) bool, whether no way connects the ends of those


@jit
def two_legs(graph, condemned, one, other, enough):
    """Length of the shortest way of two edges that are not condemned; infinite without one.

    Of those that are short ``enough`` the first that is found.
    """
    indptr, indices, lengths, numbers = graph
    a, b = indptr[one], indptr[other]
    stop_a, stop_b = indptr[one + 1], indptr[other + 1]
    shortest = np.inf
    while a < stop_a and b < stop_b and shortest > enough:
        if indices[a] < indices[b]:
            a += 1
        elif indices[a] > indices[b]:
            b += 1
        else:
            way = lengths[a] + lengths[b]
            if way < shortest and not condemned[numbers[a]] and not condemned[numbers[b]]:
                shortest = way
            a += 1
            b += 1
    return shortest


@jit
def walk(graph, condemned, edges, room, without, longest, enough, effort):
    """Length of the shortest way between the ends of an edge; infinite where none is short enough.

    Of those that are short ``enough`` any will do. It is looked for from both ends in turn, so that
    two small neighbourhoods are seen and not a large one; after ``effort`` nodes no more, unless it
    is ``ENDLESS``. Edges that are condemned, and the edge itself, are not walked.
    """
    indptr, indices, lengths, numbers = graph
    keys, distances, seen, n_seen = room.keys, room.distances, room.seen, 2
    seen[0], seen[1] = edges.left[without], edges.right[without]
    for side in range(2):
        room.sizes[side] = 0
        push(room, side, 0.0, seen[side])
        distances[side, seen[side]] = 0.0
    found = np.inf
    while room.sizes[0] > 0 and room.sizes[1] > 0:
        side = 0 if keys[0, 0] <= keys[1, 0] else 1
        base, rest, node = keys[side, 0], keys[1 - side, 0], room.nodes[side, 0]
        if base + rest > min(found, longest) or found <= enough or effort == 0:
            break
        effort -= 1
        pop(room, side)
        if base > distances[side, node]:
            continue
        for entry in range(indptr[node], indptr[node + 1]):
            way = base + lengths[entry]
            other, edge = np.int64(indices[entry]), numbers[entry]
            if way > longest or way >= distances[side, other]:
                continue
            if edge != without and not condemned[edge]:
                if distances[side, other] == np.inf:
                    seen[n_seen] = other
                    n_seen += 1
                distances[side, other] = way
                found = min(found, way + distances[1 - side, other])
                # Further on there is nothing to meet: the other side has been to all that is near.
                if way + rest <= min(found, longest):
                    push(room, side, way, other)
    for i in range(n_seen):
        distances[0, seen[i]] = np.inf
        distances[1, seen[i]] = np.inf
    return found if found <= longest else np.inf


@jit
def spread(graph, condemned, room, row, longest):
    """Shortest ways from the nodes on the first heap, up to a length, on edges not condemned.

    Those of the heap have length 0. They are written to a row of ``room.distances``, which is
    infinite at first, and the nodes to ``room.seen``; returns how many.
    """
    indptr, indices, lengths, numbers = graph
    distance, seen, n_seen = room.distances[row], room.seen, 0
    for i in range(room.sizes[0]):
        distance[room.nodes[0, i]] = 0.0
        seen[n_seen] = room.nodes[0, i]
        n_seen += 1
    while room.sizes[0] > 0:
        base, node = room.keys[0, 0], room.nodes[0, 0]
        pop(room, FIRST)
        if base > distance[node]:
            continue
        for entry in range(indptr[node], indptr[node + 1]):
            way = base + lengths[entry]
            other = np.int64(indices[entry])
            if way <= longest and way < distance[other] and not condemned[numbers[entry]]:
                if distance[other] == np.inf:
                    seen[n_seen] = other
                    n_seen += 1
                distance[other] = way
                push(room, FIRST, way, other)
    return n_seen


@jit
def push(room, side, key, node):
    """Put a node on one of the two heaps; of equal keys the smaller node comes first."""
    keys, nodes, at = room.keys, room.nodes, room.sizes[side]
    room.sizes[side] = at + 1
    while at > 0:
        above = (at - 1) >> 1
        if keys[side, above] < key or (keys[side, above] == key and nodes[side, above] <= node):
            break
        keys[side, at], nodes[side, at] = keys[side, above], nodes[side, above]
        at = above
    keys[side, at], nodes[side, at] = key, node


@jit
def pop(room, side):
    """Take the first node off one of the two heaps."""
    keys, nodes, size, at = room.keys, room.nodes, room.sizes[side] - 1, 0
    room.sizes[side] = size
    key, node = keys[side, size], nodes[side, size]
    below = 1
    while below < size:
        next_to = below + 1
        if next_to < size and (
            keys[side, next_to] < keys[side, below]
            or (
                keys[side, next_to] == keys[side, below]
                and nodes[side, next_to] < nodes[side, below]
            )
        ):
            below = next_to
        if key < keys[side, below] or (key == keys[side, below] and node <= nodes[side, below]):
            break
        keys[side, at], nodes[side, at] = keys[side, below], nodes[side, below]
        at, below = below, 2 * below + 1
    keys[side, at], nodes[side, at] = key, node
