"""Compiled passes over blocks of correlations and over the rows of a CSR graph.

Kernels that read a block take its first node: row ``r`` of the block belongs to node
``first_node + r``. They hold no lock, so fixed blocks run side by side in threads.
"""

import numpy as np

from .._base.jit import helper, jit

TIE = 1e-7
"""Fraction of a squared distance by which others are as near: what float32 leaves of them."""


@helper
def insert(value, label, values, labels, held):
    """Insert a value into a short list sorted from the largest down; the last falls off.

    The first ``held`` of the (k,) places are in use; returns how many are then. Of equal values the
    one that came first stays ahead.
    """
    k = values.size
    if held == k:
        if not value > values[k - 1]:
            return held
        held -= 1
    position = held
    while position > 0 and value > values[position - 1]:
        values[position] = values[position - 1]
        labels[position] = labels[position - 1]
        position -= 1
    values[position] = value
    labels[position] = label
    return held + 1


@jit
def strongest(block, first_node, neighbors):
    """Find the largest entries of each row next to the diagonal; ties go to the smaller index.

    ``block`` (b, n) has rows from node ``first_node``; ``neighbors`` (b, k) receives the columns,
    the largest first.
    """
    values = np.empty(neighbors.shape[1], np.float64)
    for row in range(block.shape[0]):
        node = first_node + row
        held = np.int64(0)
        for column in range(block.shape[1]):
            if column != node:
                held = insert(block[row, column], column, values, neighbors[row], held)


@helper
def keep_best(labels, values, own, rounding, neighbors, kept):
    """Write the labels of the k largest values (m,), of what rounding may have parted the smaller.

    A value falls short of ``own``, that of a point with itself, by as much as it is away.
    """
    held = 0
    while held < neighbors.size:
        best = values[0]
        for i in range(values.size):
            best = max(best, values[i])
        least = best - rounding - TIE * abs(own - best)
        for i in range(values.size):
            if values[i] >= least and held < neighbors.size:
                neighbors[held], kept[held] = labels[i], values[i]
                values[i] = -np.inf
                held += 1


@jit
def settle_strongest(
    block, queries, rows, half, own, first_node, slack, rounding, neighbors, values
):
    """Correct the neighbors found by ``strongest`` for the rounding of the products.

    The products only rule rows out. Those within ``slack`` of the k-th largest are computed again
    in a fixed order, so that the answer does not depend on the BLAS. Each entry of a row is off by
    at most ``slack / 2``, and by ``rounding`` when computed again, (b,) both. ``block`` (b, n) of
    products of ``queries`` (b, p) with ``rows`` (n, p) less ``half`` (n,), ``own`` (b,) those of
    queries with themselves; ``neighbors`` (b, k) as found and as corrected, ``values`` (b, k)
    receives theirs.
    """
    k, n = neighbors.shape[1], block.shape[1]
    labels, exact = np.empty(n, np.int64), np.empty(n)
    for row in range(block.shape[0]):
        least = block[row, neighbors[row, k - 1]]
        least -= slack[row] + 2.0 * TIE * abs(own[row] - least)
        held = 0
        for column in range(n):
            if block[row, column] >= least and column != first_node + row:
                labels[held] = column
                exact[held] = dot(queries[row], rows[column]) - half[column]
                held += 1
        keep_best(labels[:held], exact[:held], own[row], rounding[row], neighbors[row], values[row])


@helper
def dot(first, second):
    """Return the product of two vectors, summed in float64 in an order that never changes."""
    p = first.size
    # Four sums that do not wait for one another: a single one is several times slower.
    s0 = s1 = s2 = s3 = 0.0
    whole = p - p % 4
    for i in range(0, whole, 4):
        s0 += np.float64(first[i]) * np.float64(second[i])
        s1 += np.float64(first[i + 1]) * np.float64(second[i + 1])
        s2 += np.float64(first[i + 2]) * np.float64(second[i + 2])
        s3 += np.float64(first[i + 3]) * np.float64(second[i + 3])
    for i in range(whole, p):
        s0 += np.float64(first[i]) * np.float64(second[i])
    return (s0 + s1) + (s2 + s3)


@helper
def square(first, second):
    """Return the squared distance of two vectors, summed as `dot` does, the same either way."""
    p = first.size
    s0 = s1 = s2 = s3 = 0.0
    whole = p - p % 4
    for i in range(0, whole, 4):
        s0 += (np.float64(first[i]) - np.float64(second[i])) ** 2
        s1 += (np.float64(first[i + 1]) - np.float64(second[i + 1])) ** 2
        s2 += (np.float64(first[i + 2]) - np.float64(second[i + 2])) ** 2
        s3 += (np.float64(first[i + 3]) - np.float64(second[i + 3])) ** 2
    for i in range(whole, p):
        s0 += (np.float64(first[i]) - np.float64(second[i])) ** 2
    return (s0 + s1) + (s2 + s3)


@jit
def pair_dots(rows, first, second, out):
    """Write the products of pairs of rows, (m,), to ``out``."""
    for pair in range(first.size):
        out[pair] = dot(rows[first[pair]], rows[second[pair]])


@jit
def pair_squares(rows, first, second, out):
    """Write the squared distances of pairs of rows, (m,), to ``out``."""
    for pair in range(first.size):
        out[pair] = square(rows[first[pair]], rows[second[pair]])
