"""Compiled passes over blocks of correlations and over the rows of a CSR graph.

Kernels that read a block take its first node: row ``r`` of the block belongs to node
``first_node + r``. They hold no lock, so fixed blocks run side by side in threads.
"""

import numpy as np

from .._numba import helper, jit


@jit
def count_above(block, first_node, first_column, floor, counts):
    """Count the entries of a block (b, c) above a floor beyond the diagonal, into ``counts`` (b,).

    Its rows are nodes from ``first_node``, its columns nodes from ``first_column``.
    """
    for row in range(block.shape[0]):
        count = 0
        for column in range(first_node + row + 1 - first_column, block.shape[1]):
            if block[row, column] > floor:
                count += 1
        counts[row] = count


@jit
def take_above(block, first_node, first_column, floor, indices, weights):
    """Write the entries that `count_above` counts, row after row: both arrays are (m,)."""
    at = 0
    for row in range(block.shape[0]):
        for column in range(first_node + row + 1 - first_column, block.shape[1]):
            if block[row, column] > floor:
                indices[at] = first_column + column
                weights[at] = block[row, column]
                at += 1


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


@jit
def settle_strongest(block, queries, rows, half, first_node, slack, neighbors, values):
    """Correct the neighbors found by ``strongest`` for the rounding of the products.

    The products only rule rows out. Those within ``slack`` of the k-th largest are computed again
    in a fixed order, so that equal rows tie exactly and the answer does not depend on the BLAS.
    Each entry is off by at most ``slack / 2``. ``block`` (b, n) of products of ``queries`` (b, p)
    with ``rows`` (n, p) less ``half`` (n,); ``neighbors`` (b, k) as found and as corrected,
    ``values`` (b, k) receives theirs.
    """
    k = neighbors.shape[1]
    for row in range(block.shape[0]):
        node = first_node + row
        floor = block[row, neighbors[row, k - 1]] - slack
        held = np.int64(0)
        for column in range(block.shape[1]):
            if block[row, column] >= floor and column != node:
                value = dot(queries[row], rows[column]) - half[column]
                held = insert(value, column, values[row], neighbors[row], held)


@helper
def dot(first, second):
    """Return the product of two vectors, summed in float64 in an order that never changes."""
    p = first.size
    # Eight sums that do not wait for one another: a single one is several times slower.
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
    whole = p - p % 8
    for i in range(0, whole, 8):
        s0 += np.float64(first[i]) * np.float64(second[i])
        s1 += np.float64(first[i + 1]) * np.float64(second[i + 1])
        s2 += np.float64(first[i + 2]) * np.float64(second[i + 2])
        s3 += np.float64(first[i + 3]) * np.float64(second[i + 3])
        s4 += np.float64(first[i + 4]) * np.float64(second[i + 4])
        s5 += np.float64(first[i + 5]) * np.float64(second[i + 5])
        s6 += np.float64(first[i + 6]) * np.float64(second[i + 6])
        s7 += np.float64(first[i + 7]) * np.float64(second[i + 7])
    for i in range(whole, p):
        s0 += np.float64(first[i]) * np.float64(second[i])
    return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))


@jit
def pair_dots(rows, first, second, out):
    """Write the products of pairs of rows, (m,), to ``out``."""
    for pair in range(first.size):
        out[pair] = dot(rows[first[pair]], rows[second[pair]])


@jit
def mirror(upper_indptr, upper_indices, upper_weights, lower, indices, weights):
    """Store each edge from both ends, given once from its smaller end; rows are sorted.

    ``lower`` (n,) is where each row starts, and becomes where its larger neighbors do.
    """
    # Rows are met in order: when a row's turn comes, its smaller neighbors all stand in it.
    for node in range(lower.size):
        at = lower[node]
        for edge in range(upper_indptr[node], upper_indptr[node + 1]):
            neighbor, weight = upper_indices[edge], upper_weights[edge]
            below = lower[neighbor]
            indices[at], weights[at] = neighbor, weight
            indices[below], weights[below] = node, weight
            lower[neighbor] = below + 1
            at += 1
