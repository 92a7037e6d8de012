"""Clique covers: cliques grown one node at a time."""

from typing import NamedTuple

import numpy as np

from .._base.jit import helper, jit
from .cliques import sort


class Cover(NamedTuple):
    """What a cover holds so far, and workspace to grow a clique."""

    covered: np.ndarray  # (m,) bool, whether a stored edge lies in a clique
    largest: np.ndarray  # (n,) int32, size of the largest clique of a point
    inside: np.ndarray  # (n,) bool, all False between calls
    candidates: np.ndarray  # (d,) int32, d = largest degree: nodes that know all of the clique
    score: np.ndarray  # (n, 3) float64, edges to the clique: how many, how many new, their weight


@helper
def add_node(graph, cover, node):
    """Count the edges of a node that joins the clique.

    Every neighbor is counted, candidate or not: to ask first would take longer.
    """
    indptr, indices, weights = graph
    score, covered = cover.score, cover.covered
    for e in range(indptr[node], indptr[node + 1]):
        neighbor = indices[e]
        score[neighbor, 0] += 1.0
        score[neighbor, 1] += not covered[e]
        score[neighbor, 2] += weights[e]


@helper
def grow(graph, cover, members, size):
    """Grow a clique until no node is left that knows all of it.

    The node that brings most uncovered edges joins first, of several the one with the strongest
    edges, of these the first. The clique is in the first ``size`` places of ``members`` (s,), at
    least one, which receives the maximal one, ascending; returns its size.
    """
    candidates, score = cover.candidates, cover.score
    neighbors = graph.indices[graph.indptr[members[0]] : graph.indptr[members[0] + 1]]
    count = neighbors.size
    for i in range(count):
        candidates[i] = neighbors[i]
        score[neighbors[i]] = 0.0
    for i in range(size):
        add_node(graph, cover, members[i])
    while True:
        n_candidates, best = 0, -1
        for i in range(count):
            node = candidates[i]
            if score[node, 0] == size:
                candidates[n_candidates] = node
                n_candidates += 1
                more = score[node, 1] - score[best, 1] if best >= 0 else 1.0
                if more > 0 or (more == 0 and score[node, 2] > score[best, 2]):
                    best = node
        if best < 0:
            break
        count = n_candidates
        members[size] = best
        add_node(graph, cover, members[size])
        size += 1
    sort(members, 0, size)
    return size


@jit
def mark(graph, cover, members, size):
    """Count a clique, in the first ``size`` places of ``members``, as part of the cover."""
    inside = cover.inside
    for i in range(size):
        inside[members[i]] = True
    for i in range(size):
        node = members[i]
        if cover.largest[node] < size:
            cover.largest[node] = size
        for e in range(graph.indptr[node], graph.indptr[node + 1]):
            if inside[graph.indices[e]]:
                cover.covered[e] = True
    for i in range(size):
        inside[members[i]] = False


@jit
def cover_round(graph, cover, order, position, points, indptr, members):
    """Grow one clique around each node in turn that needs one, until the output is full.

    With ``points`` a node needs a clique if it is in none, else if one of its edges is in none; the
    strongest of these is where it begins.
    ``order`` (n,) is gone through from ``position``; the cliques are written to ``indptr`` (k + 1,)
    and ``members`` (s,), ascending. Returns where to go on and the number of cliques.
    """
    covered, weights = cover.covered, graph.weights
    count, longest = 0, cover.candidates.size + 1
    indptr[0] = 0
    while position < order.size:
        if count + 1 >= indptr.size or indptr[count] + longest > members.size:
            break
        node = order[position]
        position += 1
        if points and cover.largest[node]:
            continue
        edge = -1
        for e in range(graph.indptr[node], graph.indptr[node + 1]):
            if not covered[e] and (edge < 0 or weights[e] > weights[edge]):
                edge = e
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
