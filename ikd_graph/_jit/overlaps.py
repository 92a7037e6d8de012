"""What cliques share, and what of the graph they hold, by an index from points to cliques."""

from __future__ import annotations

import numpy as np

from .._numba import helper, jit
from .chains import find_group


@jit
def invert(blocks, inverse):
    """List in ``inverse`` the numbers of the blocks of each point, ascending."""
    n = inverse.indptr.size - 1
    inverse.indptr[:] = 0
    for j in range(blocks.members.size):
        inverse.indptr[blocks.members[j] + 1] += 1
    for point in range(n):
        inverse.indptr[point + 1] += inverse.indptr[point]
    place = inverse.indptr.copy()
    for block in range(blocks.indptr.size - 1):
        for j in range(blocks.indptr[block], blocks.indptr[block + 1]):
            point = blocks.members[j]
            inverse.members[place[point]] = block
            place[point] += 1


@helper
def count_later(blocks, inverse, block, shared, touched):
    """Count in ``shared`` (k,), all zero, the points that a block shares with each later one.

    Writes to ``touched`` (k,) the later blocks that share something and returns their number.
    """
    count = 0
    for j in range(blocks.indptr[block], blocks.indptr[block + 1]):
        point = blocks.members[j]
        # From the end, where the later blocks are.
        for i in range(inverse.indptr[point + 1] - 1, inverse.indptr[point] - 1, -1):
            other = inverse.members[i]
            if other <= block:
                break
            if shared[other] == 0:
                touched[count] = other
                count += 1
            shared[other] += 1
    return count


@jit
def tally_overlaps(blocks, inverse, merge_overlap, histogram, group):
    """Count pairs of blocks by what they share, and group the blocks that share enough.

    ``histogram`` (s,) receives the number of pairs that share 1, 2, ... points; ``group`` (k,) the
    smallest block of the group of each, whose blocks share ``merge_overlap`` points.
    """
    n = group.size
    shared, touched = np.zeros(n, np.int32), np.empty(n, np.int32)
    for block in range(n):
        group[block] = block
    for block in range(n):
        for i in range(count_later(blocks, inverse, block, shared, touched)):
            other = touched[i]
            histogram[shared[other]] += 1
            if shared[other] >= merge_overlap:
                first, second = find_group(group, block), find_group(group, other)
                group[max(first, second)] = min(first, second)
            shared[other] = 0
    for block in range(n):
        group[block] = find_group(group, block)


@jit
def count_overlaps(blocks, inverse, min_overlap, indptr):
    """Count the later blocks that share enough with each block; ``indptr`` (k + 1,) is filled."""
    n = indptr.size - 1
    shared, touched = np.zeros(n, np.int32), np.empty(n, np.int32)
    indptr[0] = 0
    for block in range(n):
        indptr[block + 1] = indptr[block]
        for i in range(count_later(blocks, inverse, block, shared, touched)):
            indptr[block + 1] += shared[touched[i]] >= min_overlap
            shared[touched[i]] = 0


@jit
def fill_overlaps(blocks, inverse, min_overlap, indptr, others, counts):
    """List the later blocks, not sorted, that share enough with each, and their counts."""
    n = indptr.size - 1
    shared, touched = np.zeros(n, np.int32), np.empty(n, np.int32)
    for block in range(n):
        at = indptr[block]
        for i in range(count_later(blocks, inverse, block, shared, touched)):
            other = touched[i]
            if shared[other] >= min_overlap:
                others[at], counts[at] = other, shared[other]
                at += 1
            shared[other] = 0


@jit
def mark_edges(graph, blocks, covered):
    """Mark in ``covered`` (m,) the stored edges that lie in a block."""
    inside = np.zeros(graph.indptr.size - 1, np.bool_)
    for block in range(blocks.indptr.size - 1):
        for j in range(blocks.indptr[block], blocks.indptr[block + 1]):
            inside[blocks.members[j]] = True
        for j in range(blocks.indptr[block], blocks.indptr[block + 1]):
            node = blocks.members[j]
            for e in range(graph.indptr[node], graph.indptr[node + 1]):
                if inside[graph.indices[e]]:
                    covered[e] = True
        for j in range(blocks.indptr[block], blocks.indptr[block + 1]):
            inside[blocks.members[j]] = False
