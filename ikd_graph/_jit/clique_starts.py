"""Set-up of a search for the maximal cliques of one start node: its neighbors as bits."""

import numpy as np

from .._base.jit import helper
from .bits import ALL, ONE, ZERO


@helper
def enter_start(graph, start, search, words):
    """Set up depth 0 of a search from one node; returns whether a maximal clique can start here.

    The later neighbors of the start are relabelled, and the edges between them written as bits.
    Of earlier neighbors the masks over the later ones are written, until one knows them all.
    """
    indptr, middle, indices = graph.indptr, graph.middle, graph.indices
    local, nodes, rows, masks = search.local, search.nodes, search.rows, search.masks
    first, count = middle[start], indptr[start + 1] - middle[start]
    for i in range(count):
        node = indices[first + i]
        local[node] = i
        nodes[i] = node
        for w in range(words):
            rows[i, w] = ZERO
    for i in range(count):
        node = nodes[i]
        for e in range(middle[node], indptr[node + 1]):
            j = local[indices[e]]
            if j >= 0:
                rows[i, j >> 6] |= ONE << np.uint64(j & 63)
                rows[j, i >> 6] |= ONE << np.uint64(i & 63)
    at, n_adjacent = 0, 0
    for f in range(indptr[start], first):
        node = indices[f]
        for w in range(words):
            masks[at, w] = ZERO
        n_adjacent = 0
        for e in range(middle[node], indptr[node + 1]):
            j = local[indices[e]]
            if j >= 0:
                masks[at, j >> 6] |= ONE << np.uint64(j & 63)
                n_adjacent += 1
        if n_adjacent == count:
            break
        at += n_adjacent > 0
    search.first[0], search.last[0] = 0, at
    for i in range(count):
        local[nodes[i]] = -1
    for w in range(words):
        search.candidates[0, w] = ALL
        search.clique[0, w] = ZERO
    if count & 63:
        search.candidates[0, words - 1] = (ONE << np.uint64(count & 63)) - ONE
    return n_adjacent < count or first == indptr[start]
