"""Compiled tests of edges: pairs that other points contradict, and detours around an edge."""

from typing import NamedTuple

import numpy as np

from .._base.jit import jit, lean_helper
from .._base.rounding import COMPUTED


class Lengths(NamedTuple):
    """A graph of lengths with its edges numbered."""

    indptr: np.ndarray  # (n + 1,) int64
    indices: np.ndarray  # (m,) int32, sorted in each row
    lengths: np.ndarray  # (m,) float64
    numbers: np.ndarray  # (m,) int64, edge of each entry
    low: np.ndarray  # (e,) int64, the smaller end of each edge
    high: np.ndarray  # (e,) int64
    across: np.ndarray  # (e,) float64, its length


@jit
def contradicted(graph, reach, removed, least, contradicts):
    """Whether more than half of the witnesses of each edge contradict its length, (e,).

    A point near one end is a witness where the triangle inequality puts it within ``reach`` (n,) of
    the other end, the length up to which the graph has every edge of a point. It contradicts the
    edge where it is not a neighbor of that end, or is further from it than the triangle allows.
    Edges that are ``removed`` (e,) are unknown; fewer than ``least`` witnesses say nothing.
    """
    indptr, indices, lengths, numbers, low, high, across = graph
    for edge in range(low.size):
        u, v = low[edge], high[edge]
        contradicts[edge] = False
        if across[edge] > max(reach[u], reach[v]):
            continue
        a, b, stop_a, stop_b = indptr[u], indptr[v], indptr[u + 1], indptr[v + 1]
        against, witnesses = 0, 0
        while a < stop_a or b < stop_b:
            at_a = indices[a] if a < stop_a else indptr.size
            at_b = indices[b] if b < stop_b else indptr.size
            point = min(at_a, at_b)
            to_u = to_v = np.inf
            unknown = point in (u, v)
            if at_a == point:
                to_u = lengths[a]
                unknown |= removed[numbers[a]]
                a += 1
            if at_b == point:
                to_v = lengths[b]
                unknown |= removed[numbers[b]]
                b += 1
            most = min(to_u, to_v) + across[edge]
            far_end = v if to_u <= to_v else u
            if not unknown and most <= min(reach[far_end], reach[point]):
                witnesses += 1
                # Rounding may break the triangle of points on a line.
                against += max(to_u, to_v) > most * (1.0 + COMPUTED)
        contradicts[edge] = witnesses >= least and 2 * against > witnesses


@jit
def shared_within(graph, fraction, fractions):
    """Fraction of the neighbors that the ends of an edge have in common, near enough to both.

    Near are neighbors within ``fraction`` of the length of the edge.
    """
    indptr, indices, lengths, _, low, high, across = graph
    for edge in range(low.size):
        u, v = low[edge], high[edge]
        near = fraction * across[edge]
        a, b, stop_a, stop_b = indptr[u], indptr[v], indptr[u + 1], indptr[v + 1]
        of_u, of_v, of_both = 0, 0, 0
        while a < stop_a or b < stop_b:
            at_a = indices[a] if a < stop_a else indptr.size
            at_b = indices[b] if b < stop_b else indptr.size
            point = min(at_a, at_b)
            near_u = at_a == point and lengths[a] <= near and point != v
            near_v = at_b == point and lengths[b] <= near and point != u
            of_u += near_u
            of_v += near_v
            of_both += near_u and near_v
            a += at_a == point
            b += at_b == point
        fractions[edge] = of_both / max(min(of_u, of_v), 1)


@jit
def connected_by_shorter(graph, order, fraction, removed, connected):
    """Whether edges of at most ``fraction`` of its length connect the ends of each edge.

    ``order`` (e,) holds the edges by length; those that are ``removed`` (e,) connect nothing.
    """
    low, high, across = graph.low, graph.high, graph.across
    parent, joined = np.arange(graph.indptr.size - 1), 0
    for edge in order:
        while across[order[joined]] <= fraction * across[edge] and across[edge] > 0.0:
            leg = order[joined]
            if not removed[leg]:
                parent[root(parent, low[leg])] = root(parent, high[leg])
            joined += 1
        connected[edge] = root(parent, low[edge]) == root(parent, high[edge])


@jit
def without_detour(graph, order, ratio, absent, removed):
    """Whether those kept already replace an edge by no path of at most ``ratio`` lengths, (e,).

    An edge that is kept opens paths for others: passes over the rest go on until nothing changes,
    so that in whatever order edges are met, the same are left. ``order`` are those that may go;
    those that are ``absent`` (e,) carry no path and are not told of.
    """
    n = graph.indptr.size - 1
    # Loops compile in a fifth of the time of what works on whole arrays.
    reach, waits = np.empty(n), np.empty(n, np.bool_)
    workspace = reach, waits, np.empty((2, n), np.int64)
    for node in range(n):
        reach[node], waits[node] = np.inf, False
    for edge in range(removed.size):
        removed[edge] = absent[edge]
    for edge in order:
        removed[edge] = True
    changed = True
    while changed:
        changed = False
        for edge in order:
            if removed[edge] and has_path(graph, edge, ratio, workspace, removed):
                removed[edge] = False
                changed = True
    for edge in range(removed.size):
        removed[edge] ^= absent[edge]


@lean_helper
def has_path(graph, edge, ratio, workspace, removed):
    """Whether edges that are not removed join the ends of one by a path of ``ratio`` lengths.

    A neighbor of both ends is tried first, since most edges have one. Then nodes are swept first
    in, first out. ``workspace`` are distances (n,), infinite between calls, whether a node waits
    (n,), False between calls, and two lists of nodes (2, n).
    """
    indptr, indices, lengths, numbers = graph.indptr, graph.indices, graph.lengths, graph.numbers
    start, goal = graph.low[edge], graph.high[edge]
    most = ratio * graph.across[edge]
    a, b = indptr[start], indptr[goal]
    while a < indptr[start + 1] and b < indptr[goal + 1]:
        step_a, step_b = indices[a] <= indices[b], indices[b] <= indices[a]
        is_gone = removed[numbers[a]] or removed[numbers[b]]
        if step_a and step_b and not is_gone and lengths[a] + lengths[b] <= most:
            return True
        a += step_a
        b += step_b
    distances, waits, lists = workspace
    queue, visited = lists
    queue[0], visited[0], distances[start] = start, start, 0.0
    head, n_waiting, n_visited = 0, 1, 1
    while n_waiting > 0 and distances[goal] == np.inf:
        node = queue[head]
        head = (head + 1) % queue.size
        n_waiting -= 1
        waits[node] = False
        for entry in range(indptr[node], indptr[node + 1]):
            length, point = distances[node] + lengths[entry], indices[entry]
            if removed[numbers[entry]] or length > most or length >= distances[point]:
                continue
            if distances[point] == np.inf:
                visited[n_visited] = point
                n_visited += 1
            distances[point] = length
            if not waits[point]:
                waits[point] = True
                queue[(head + n_waiting) % queue.size] = point
                n_waiting += 1
    is_joined = distances[goal] < np.inf
    for i in range(n_visited):
        distances[visited[i]], waits[visited[i]] = np.inf, False
    return is_joined


@lean_helper
def root(parent, node):
    """Follow a union-find forest (n,) from a node to its root, halving the path."""
    while parent[node] != node:
        parent[node] = parent[parent[node]]
        node = parent[node]
    return node
