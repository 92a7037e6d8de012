"""Ways through a graph of lengths on edges that are not condemned; records as in `suspicion`."""

from __future__ import annotations

import heapq

import numpy as np

from .._config import inner


@inner
def spread(graph, condemned, heap, longest, distance, seen):
    """Shortest ways from the nodes of a heap, up to a length, on edges that are not condemned.

    ``distance`` (n,) is infinite at first; the nodes that it is written at are added to ``seen``.
    """
    for _, node in heap:
        distance[node] = 0.0
    heapq.heapify(heap)
    while len(heap) > 0:
        base, node = heapq.heappop(heap)
        if base > distance[node]:
            continue
        for entry in range(graph.indptr[node], graph.indptr[node + 1]):
            way = base + graph.lengths[entry]
            other = np.int64(graph.indices[entry])
            open_edge = way <= longest and not condemned[graph.edges[entry]]
            if open_edge and way < distance[other]:
                distance[other] = way
                heapq.heappush(heap, (way, other))
                seen.append((way, other))


@inner
def two_legs(graph, condemned, ends, enough):
    """Length of the shortest way of two edges that are not condemned; infinite without one.

    Of those that are short ``enough`` the first that is found.
    """
    a, b = graph.indptr[ends[0]], graph.indptr[ends[1]]
    stop_a, stop_b = graph.indptr[ends[0] + 1], graph.indptr[ends[1] + 1]
    shortest = np.inf
    while a < stop_a and b < stop_b and shortest > enough:
        if graph.indices[a] < graph.indices[b]:
            a += 1
        elif graph.indices[a] > graph.indices[b]:
            b += 1
        else:
            way = graph.lengths[a] + graph.lengths[b]
            if way < shortest and not condemned[graph.edges[a]] and not condemned[graph.edges[b]]:
                shortest = way
            a += 1
            b += 1
    return shortest


@inner
def walk(graph, condemned, edges, without, most, effort, distances):
    """Length of the shortest way between the ends of an edge; infinite where none is short enough.

    ``most`` holds how long it may be, and how short any way will do. It is looked for from both
    ends in turn, so that two small neighbourhoods are seen and not a large one; after ``effort``
    nodes no more, unless it is negative. Edges that are condemned, and the edge itself, are not
    walked. ``distances`` (2, n) are infinite everywhere, before and after.
    """
    longest, enough = most
    ends = np.int64(edges.left[without]), np.int64(edges.right[without])
    near, far = [(0.0, ends[0])], [(0.0, ends[1])]
    seen = [ends[0], ends[1]]
    distances[0, ends[0]] = distances[1, ends[1]] = 0.0
    found = np.inf
    while len(near) > 0 and len(far) > 0 and near[0][0] + far[0][0] <= min(found, longest):
        if found <= enough or effort == 0:
            break
        effort -= 1
        side = 0 if near[0][0] <= far[0][0] else 1
        heap, rest = (near, far[0][0]) if side == 0 else (far, near[0][0])
        base, node = heapq.heappop(heap)
        if base > distances[side, node]:
            continue
        for entry in range(graph.indptr[node], graph.indptr[node + 1]):
            way = base + graph.lengths[entry]
            other, edge = np.int64(graph.indices[entry]), graph.edges[entry]
            if way > longest or way >= distances[side, other]:
                continue
            if edge != without and not condemned[edge]:
                distances[side, other] = way
                seen.append(other)
                found = min(found, way + distances[1 - side, other])
                # Further on there is nothing to meet: the other side has been to all that is near.
                if way + rest <= min(found, longest):
                    heapq.heappush(heap, (way, other))
    for node in seen:
        distances[0, node] = distances[1, node] = np.inf
    return found if found <= longest else np.inf
