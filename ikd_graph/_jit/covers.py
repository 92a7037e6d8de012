"""Clique covers: cliques grown one node at a time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._numba import helper, jit


class Cover(NamedTuple):
    """What a cover holds so far, and room to grow a clique."""

    covered: np.ndarray  # (m,) bool, whether a stored edge lies in a clique
    largest: np.ndarray  # (n,) int32, size of the largest clique of a point
    inside: np.ndarray  # (n,) bool, all False between calls
    candidates: np.ndarray  # (d,) int32, d = largest degree: nodes that know all of the clique
    score: np.ndarray  # (n, 3) float64, edges to the clique: how many, how many new, their weight


@helper
def add_node(graph, cover, node):
    """Count the edges of a node that joins the clique.

    Every neighbour is counted, candidate or not: to ask first would take longer.
    """
    for e in range(graph.indptr[node], graph.indptr[node + 1]):
        neighbor = graph.indices[e]
        cover.score[neighbor, 0] += 1.0
        cover.score[neighbor, 1] += not cover.covered[e]
        cover.score[neighbor, 2] += graph.weights[e]


@helper
def grow(graph, cover, members, size):
    """Grow a clique until no node is left that knows all of it.

    The node that brings most uncovered edges joins first, of several the one with the strongest
    edges, of these the first. The clique is in the first ``size`` places of ``members`` (s,), at
    least one, which receives the maximal one, ascending; returns its size.
    """
    first = members[0]
    begin, end = graph.indptr[first], graph.indptr[first + 1]
    count = end - begin
    for i in range(count):
        neighbor = graph.indices[begin + i]
        cover.candidates[i] = neighbor
        cover.score[neighbor, 0], cover.score[neighbor, 1], cover.score[neighbor, 2] = 0.0, 0.0, 0.0
    for i in range(size):
        add_node(graph, cover, members[i])
    while True:
        n_candidates, best = 0, -1
        for i in range(count):
            node = cover.candidates[i]
            if cover.score[node, 0] == size:
                cover.candidates[n_candidates] = node
                n_candidates += 1
                more = cover.score[node, 1] - cover.score[best, 1] if best >= 0 else 1.0
                if more > 0 or (more == 0 and cover.score[node, 2] > cover.score[best, 2]):
                    best = node
        if best < 0:
            break
        count = n_candidates
        members[size] = best
        add_node(graph, cover, members[size])
        size += 1
    # All others are neighbours of the first: its row has them in order.
    for i in range(size):
        cover.inside[members[i]] = True
    at, placed = 0, False
    for e in range(begin, end):
        node = graph.indices[e]
        if not placed and node > first:
            members[at] = first
            at += 1
            placed = True
        if cover.inside[node]:
            members[at] = node
            at += 1
    if not placed:
        members[at] = first
    for i in range(size):
        cover.inside[members[i]] = False
    return size


@jit
def mark(graph, cover, members, size):
    """Count a clique, in the first ``size`` places of ``members``, as part of the cover."""
    for i in range(size):
        cover.inside[members[i]] = True
    for i in range(size):
        node = members[i]
        cover.largest[node] = max(cover.largest[node], size)
        for e in range(graph.indptr[node], graph.indptr[node + 1]):
            if cover.inside[graph.indices[e]]:
                cover.covered[e] = True
    for i in range(size):
        cover.inside[members[i]] = False


@helper
def strongest_open(graph, cover, node):
    """Place of the strongest edge of a node that no clique has yet, -1 if all are covered."""
    best = -1
    for e in range(graph.indptr[node], graph.indptr[node + 1]):
        if not cover.covered[e] and (best < 0 or graph.weights[e] > graph.weights[best]):
            best = e
    return best


@jit
def cover_round(graph, cover, order, position, points, indptr, members):
    """Grow one clique around each node in turn that needs one, until the output is full.

    With ``points`` a node needs a clique if it is in none, else if one of its edges is in none.
    ``order`` (n,) is gone through from ``position``; the cliques are written to ``indptr`` (k + 1,)
    and ``members`` (s,), ascending. Returns where to go on and the number of cliques.
    """
    count, room = 0, cover.candidates.size + 1
    indptr[0] = 0
    while position < order.size:
        if count + 1 >= indptr.size or indptr[count] + room > members.size:
            break
        node = order[position]
        position += 1
        if points and cover.largest[node]:
            continue
        edge = strongest_open(graph, cover, node)
        if edge < 0 and not points:
            continue
        clique = members[indptr[count] :]
        clique[0] = node
        size = 1
        if edge >= 0:
            clique[1] = graph.indices[edge]
            size = 2
        size = grow(graph, cover, clique, size)
        mark(graph, cover, clique, size)
        indptr[count + 1] = indptr[count] + size
        count += 1
    return position, count
