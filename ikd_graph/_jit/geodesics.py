"""Compiled shortest paths: label correcting in bands of distance, from many sources at once.

Dijkstra's algorithm settles one node at a time and pays for a heap. Here the nodes whose tentative
distance lies in the current band (a step of about one edge wide) are swept first in, first out, and
the others wait in a list that is sorted into the next band when the current one is done. A node is
swept hardly more than once. Whatever the order, the result is the smallest left-to-right sum of
lengths over all paths, to the last bit the one Dijkstra's algorithm returns, because adding a
length never reverses the order of two sums.

Sources that are close together see the graph in nearly the same order. They are searched as lanes
of one search: a node holds the distances from all of them side by side, and one vector instruction
passes several along an edge.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._numba import jit

NEAR = 1  # in the queue of the current band
FAR = 2  # in the list of nodes that wait
ONE = np.uint64(1)


class Queue(NamedTuple):
    """Nodes that wait to be swept."""

    state: np.ndarray  # (n,) uint8, where each node waits
    near: np.ndarray  # (n,) int32, ring of the nodes in the band
    far: np.ndarray  # (n,) int32, list of those beyond


@jit
def search(graph, order, sources, lanes, step, limit, out):
    """Find the shortest distances from the sources, ``lanes`` of them at a time.

    Weights are lengths, none negative, infinite where an edge cannot be walked. ``sources`` (s, 2)
    holds nodes and their rows of ``out`` (r, n), ``order`` (n,) the column of each node; where no
    path is up to ``limit`` long, ``out`` is infinite. A band is ``step`` wide.
    """
    n = graph.indptr.size - 1
    reach = np.empty((n, lanes), np.float64)
    flat = reach.reshape(reach.size)
    key = np.empty(n, np.float64)
    queue = Queue(np.empty(n, np.uint8), np.empty(n, np.int32), np.empty(n, np.int32))
    for start in range(0, sources.shape[0], lanes):
        part = sources[start : start + lanes]
        if lanes == 1:
            source = part[0, 0]
            search_one(graph, source, step, limit, flat, queue)
        else:
            search_lanes(graph, part, step, limit, reach, key, queue)
        for node in range(n):
            for lane in range(part.shape[0]):
                distance = reach[node, lane]
                out[part[lane, 1], order[node]] = distance if distance <= limit else np.inf


@jit
def search_farthest(graph, number, step, nodes, out):
    """Find the distances from nodes each of which is the farthest from those before it.

    Weights are as for `search`; ``number`` (n,) is what each node is called in the graph. Filled:
    ``nodes`` (count,) after the first, with the smallest of those that are equally far, and ``out``
    (count, n), the distances from each.
    """
    n = number.size
    reach, nearest = np.empty(n, np.float64), np.full(n, np.inf)
    queue = Queue(np.empty(n, np.uint8), np.empty(n, np.int32), np.empty(n, np.int32))
    for row in range(nodes.size):
        search_one(graph, number[nodes[row]], step, np.inf, reach, queue)
        farthest = 0
        for node in range(n):
            out[row, node] = reach[number[node]]
            nearest[node] = min(nearest[node], out[row, node])
            farthest = node if nearest[node] > nearest[farthest] else farthest
        if row + 1 < nodes.size:
            nodes[row + 1] = farthest


@jit
def search_one(graph, source, step, limit, reach, queue):
    """Find the shortest distances from one source, written to ``reach`` (n,)."""
    indptr, indices, lengths = graph
    state, near, far = queue
    n = reach.size
    for node in range(n):
        reach[node] = np.inf
        state[node] = 0
    reach[source] = 0.0
    near[0] = source
    state[source] = NEAR
    head, waiting, n_far, bound = 0, 1, np.int64(0), step
    while waiting > 0:
        while waiting > 0:
            # Unsigned, so that no index is tested for being negative inside the loop.
            node = np.uint64(near[head])
            head = head + 1 if head + 1 < n else 0
            waiting -= 1
            state[node] ^= NEAR
            base = reach[node]
            for edge in range(np.uint64(indptr[node]), np.uint64(indptr[node + ONE])):
                other = np.uint64(indices[edge])
                distance = base + lengths[edge]
                if distance < reach[other] and distance <= limit:
                    reach[other] = distance
                    if distance <= bound:
                        if not state[other] & NEAR:
                            state[other] |= NEAR
                            tail = head + waiting
                            near[tail if tail < n else tail - n] = other
                            waiting += 1
                    elif not state[other]:
                        state[other] = FAR
                        far[n_far] = other
                        n_far += 1
        head = 0
        waiting, n_far, bound = next_band(reach, bound, step, state, near, far, n_far)


@jit
def search_lanes(graph, sources, step, limit, reach, key, queue):
    """Find the shortest distances from several sources together, written to ``reach`` (n, lanes).

    ``sources`` (s, 2) has the nodes in its first column, at most as many as lanes; ``key`` (n,)
    becomes a lower bound of the distances a waiting node has to pass on, else infinite.
    """
    indptr, indices, lengths = graph
    state, near, far = queue
    n = key.size
    lanes = np.uint64(reach.shape[1])
    mine = np.empty(reach.shape[1], np.float64)
    for node in range(n):
        for lane in range(lanes):
            reach[node, lane] = np.inf
        key[node] = np.inf
        state[node] = 0
    head, waiting, n_far, bound = 0, 0, np.int64(0), step
    for lane in range(sources.shape[0]):
        source = sources[lane, 0]
        reach[source, lane] = 0.0
        if not state[source]:
            key[source] = 0.0
            state[source] = NEAR
            near[waiting] = source
            waiting += 1
    while waiting > 0:
        while waiting > 0:
            node = np.uint64(near[head])
            head = head + 1 if head + 1 < n else 0
            waiting -= 1
            state[node] ^= NEAR
            base = key[node]
            key[node] = np.inf
            # A copy, so that the compiler need not fear that the two rows are one.
            for lane in range(lanes):
                mine[lane] = reach[node, lane]
            for edge in range(np.uint64(indptr[node]), np.uint64(indptr[node + ONE])):
                other = np.uint64(indices[edge])
                length = lengths[edge]
                shorter = False
                for lane in range(lanes):
                    distance = mine[lane] + length
                    old = reach[other, lane]
                    shorter |= distance < old
                    reach[other, lane] = distance if distance < old else old
                first = base + length
                if shorter and first < key[other] and first <= limit:
                    key[other] = first
                    # As in `search_one`: a shared function, even inlined, takes a sixth longer.
                    if first <= bound:
                        if not state[other] & NEAR:
                            state[other] |= NEAR
                            tail = head + waiting
                            near[tail if tail < n else tail - n] = other
                            waiting += 1
                    elif not state[other]:
                        state[other] = FAR
                        far[n_far] = other
                        n_far += 1
        head = 0
        waiting, n_far, bound = next_band(key, bound, step, state, near, far, n_far)


@jit
def next_band(value, bound, step, state, near, far, n_far):
    """Move the nodes of the next band from the far list to the empty near ring.

    Nodes wait by ``value`` (n,): at most ``bound``, the end of the band that is done, or infinite,
    once a node is swept. ``state`` (n,) says where each waits; ``near`` (n,) receives the band,
    ``far`` (n,) is closed up. Returns the number of nodes in both and the end of the new band.
    """
    low = np.inf
    for at in range(n_far):
        if value[far[at]] > bound:
            low = min(low, value[far[at]])
    next_bound = low + step
    moved = kept = 0
    for at in range(n_far):
        node = far[at]
        if value[node] <= bound or value[node] == np.inf:
            state[node] = 0
        elif value[node] <= next_bound:
            state[node] = NEAR
            near[moved] = node
            moved += 1
        else:
            far[kept] = node
            kept += 1
    return moved, kept, next_bound


@jit
def mirror_smaller(square, start, stop):
    """Write the smaller of each entry of some rows and its mirror image to both."""
    n = square.shape[0]
    tile = stop - start
    # Square tiles, so that an entry and its image are both in the cache.
    for left in range(start, n, tile):
        for row in range(start, stop):
            for column in range(max(row + 1, left), min(n, left + tile)):
                smaller = min(square[row, column], square[column, row])
                square[row, column] = smaller
                square[column, row] = smaller


@jit
def trace(indptr, indices, lengths, sources, distances, predecessors):
    """Find the node before each on a shortest path from each source.

    A node comes after a neighbour whose distance and edge add up to its own. Among nodes at the
    same distance (edges of length zero) that could go round in a ring, so these are reached one
    from another, starting at a node that is reached from a smaller distance. ``indices`` are sorted
    in each row; ``distances`` (s, n) are summed from ``sources`` (s,) on. ``predecessors`` (s, n)
    receives the smallest such neighbour; -1 at the source and where there is no path.
    """
    n = indptr.size - 1
    queue = np.empty(n, np.int32)
    known = np.empty(n, np.bool_)
    for row in range(sources.size):
        end = 0
        for node in range(n):
            own = distances[row, node]
            predecessors[row, node] = -1
            known[node] = node == sources[row] or own == np.inf
            for edge in range(indptr[node], indptr[node + 1]):
                before = distances[row, indices[edge]]
                if known[node]:
                    break
                if before < own and before + lengths[edge] == own:
                    predecessors[row, node] = indices[edge]
                    known[node] = True
            if known[node]:
                queue[end] = node
                end += 1
        head = 0
        while end < n:
            node = queue[head]
            head += 1
            own = distances[row, node]
            for edge in range(indptr[node], indptr[node + 1]):
                other = indices[edge]
                if not known[other] and distances[row, other] == own and own + lengths[edge] == own:
                    predecessors[row, other] = node
                    known[other] = True
                    queue[end] = other
                    end += 1
