"""Set-up of a search for the maximal cliques of one start node: its neighbours as bits."""

import numpy as np

from .._numba import helper
from .bits import ALL, ONE, ZERO


@helper
def write_rows(graph, start, search, words):
    """Relabel the later neighbours of a start and write the edges between them as bits.

    Sets ``local``, ``nodes`` and ``rows`` of the search.
    """
    count = graph.indptr[start + 1] - graph.middle[start]
    for i in range(count):
        node = graph.indices[graph.middle[start] + i]
        search.local[node] = i
        search.nodes[i] = node
        for w in range(words):
            search.rows[i, w] = ZERO
    for i in range(count):
        node = search.nodes[i]
        for e in range(graph.middle[node], graph.indptr[node + 1]):
            j = search.local[graph.indices[e]]
            if j >= 0:
                search.rows[i, j >> 6] |= ONE << np.uint64(j & 63)
                search.rows[j, i >> 6] |= ONE << np.uint64(i & 63)


@helper
def write_masks(graph, start, search, words):
    """Write the earlier neighbours of a start as masks over its later ones.

    Labels are set; the masks of depth 0 are written. Returns whether a maximal clique can start
    here: no earlier neighbour knows all the later ones.
    """
    count = graph.indptr[start + 1] - graph.middle[start]
    at = 0
    for f in range(graph.indptr[start], graph.middle[start]):
        node = graph.indices[f]
        for w in range(words):
            search.masks[at, w] = ZERO
        n_adjacent = 0
        for e in range(graph.middle[node], graph.indptr[node + 1]):
            j = search.local[graph.indices[e]]
            if j >= 0:
                search.masks[at, j >> 6] |= ONE << np.uint64(j & 63)
                n_adjacent += 1
        if n_adjacent == count:
            return False
        at += n_adjacent > 0
    search.first[0], search.last[0] = 0, at
    return True


@helper
def enter_start(graph, start, search, words):
    """Set up depth 0 of a search from one node; returns whether a maximal clique can start here."""
    count = graph.indptr[start + 1] - graph.middle[start]
    write_rows(graph, start, search, words)
    possible = write_masks(graph, start, search, words)
    for i in range(count):
        search.local[search.nodes[i]] = -1
    for w in range(words):
        search.candidates[0, w] = ALL
        search.clique[0, w] = ZERO
    if count & 63:
        search.candidates[0, words - 1] = (ONE << np.uint64(count & 63)) - ONE
    return possible
