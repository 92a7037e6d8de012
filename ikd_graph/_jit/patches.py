"""Nodes renumbered in connected patches, so that searches of neighbours read the same memory."""

import numpy as np

from .._numba import jit


@jit
def order_in_patches(indptr, indices, size, order):
    """Order the nodes so that each run of ``size`` nodes is a connected patch where it can be.

    ``order`` (n,) is filled. Returns the depth of the graph: most edges from the first node of a
    component to another.
    """
    n = order.size
    seeds = np.empty(n, np.int64)
    # A patch as large as the graph is a breadth-first order: it places the seeds of the patches.
    depth = gather_patches(indptr, indices, np.arange(n), n, seeds)
    gather_patches(indptr, indices, seeds, size, order)
    return depth


@jit
def gather_patches(indptr, indices, seeds, size, order):
    """Grow breadth-first patches of at most ``size`` nodes from the seeds (all nodes), in turn.

    Seeds that an earlier patch has taken start none; ``order`` (n,) is filled. Returns the depth of
    the deepest patch: edges from its seed to its last node.
    """
    taken = np.zeros(order.size, np.bool_)
    end = deepest = 0
    for seed in seeds:
        if taken[seed]:
            continue
        start = head = end
        taken[seed] = True
        order[end] = seed
        end += 1
        depth, level_end = 0, end
        while head < end:
            if head == level_end:
                depth += 1
                level_end = end
            node = order[head]
            head += 1
            for edge in range(indptr[node], indptr[node + 1]):
                other = indices[edge]
                if not taken[other] and end - start < size:
                    taken[other] = True
                    order[end] = other
                    end += 1
        deepest = max(deepest, depth)
    return deepest


@jit
def renumber(indptr, indices, lengths, order, new_indptr, new_indices, new_lengths):
    """Write the graph whose node ``i`` is node ``order[i]`` of the given one.

    Neighbours stay in the order they had.
    """
    n = order.size
    number = np.empty(n, np.int64)
    for place in range(n):
        number[order[place]] = place
    at = 0
    new_indptr[0] = 0
    for place in range(n):
        node = order[place]
        for edge in range(indptr[node], indptr[node + 1]):
            new_indices[at] = number[indices[edge]]
            new_lengths[at] = lengths[edge]
            at += 1
        new_indptr[place + 1] = at
