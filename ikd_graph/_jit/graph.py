"""Compiled passes over blocks of correlations and over the rows of a CSR graph.

Kernels that read a block take its first node: row ``r`` of the block belongs to node
``first_node + r``. They hold no lock, so fixed blocks run side by side in threads.
"""

from __future__ import annotations

import numpy as np

from .._config import jit


@jit
def count_above(block, first_node, first_column, floor, counts):
    """Count the entries above a floor beyond the diagonal, row by row.

    Parameters
    ----------
    block : (b, c) float
        Correlations of nodes ``first_node``, ... with nodes ``first_column``, ...
    first_node, first_column : int
        Node of the first row and of the first column.
    floor : float
        Entries must exceed it.
    counts : (b,) int64
        Written: entries of each row that count.
    """
    for row in range(block.shape[0]):
        found = 0
        for column in range(first_node + row + 1 - first_column, block.shape[1]):
            if block[row, column] > floor:
                found += 1
        counts[row] = found


@jit
def take_above(block, first_node, first_column, floor, indices, weights):
    """Write the entries that ``count_above`` counts, row after row.

    Parameters
    ----------
    block : (b, c) float
        Correlations of nodes ``first_node``, ... with nodes ``first_column``, ...
    first_node, first_column : int
        Node of the first row and of the first column.
    floor : float
        Entries must exceed it.
    indices : (m,) int32
        Written: the nodes of the columns.
    weights : (m,) float64
        Written: the entries.
    """
    at = 0
    for row in range(block.shape[0]):
        for column in range(first_node + row + 1 - first_column, block.shape[1]):
            if block[row, column] > floor:
                indices[at] = first_column + column
                weights[at] = block[row, column]
                at += 1


@jit
def insert(value, label, values, labels, held):
    """Insert a value into a short list sorted from the largest down; the last falls off.

    Parameters
    ----------
    value : float
        The value.
    label : int
        What the value belongs to. Of equal values the one that came first stays ahead.
    values : (k,) float
        The list, changed in place.
    labels : (k,) int32
        Labels of the list, changed in place.
    held : int
        Number of places in use.

    Returns
    -------
    int
        Number of places in use.
    """
    k = values.size
    if held == k:
        if not value > values[k - 1]:
            return held
        held -= 1
    place = held
    while place > 0 and value > values[place - 1]:
        values[place] = values[place - 1]
        labels[place] = labels[place - 1]
        place -= 1
    values[place] = value
    labels[place] = label
    return held + 1


@jit
def strongest(block, first_node, neighbours):
    """Find the largest entries of each row beside the diagonal; ties go to the smaller index.

    Parameters
    ----------
    block : (b, n) float
        Correlations of nodes ``first_node``, ... with all nodes.
    first_node : int
        Node of the first row.
    neighbours : (b, k) int32
        Written: columns of the k largest entries, the largest first.
    """
    values = np.empty(neighbours.shape[1], np.float64)
    for row in range(block.shape[0]):
        node = first_node + row
        held = 0
        for column in range(block.shape[1]):
            if column != node:
                held = insert(block[row, column], column, values, neighbours[row], held)


@jit
def settle_strongest(block, rows, first_node, slack, neighbours):
    """Correct the neighbours found by ``strongest`` for the rounding of the products.

    The products only rule rows out. Those within ``slack`` of the k-th largest are computed anew
    in a fixed order, so that equal rows tie exactly and the answer does not depend on the BLAS.

    Parameters
    ----------
    block : (b, n) float32 or float64
        Products of rows ``first_node``, ... with all rows, each off by at most ``slack / 2``.
    rows : (n, p) float32 or float64
        Rows of unit norm.
    first_node : int
        Node of the first row of the block.
    slack : float
        Twice the largest error of a product.
    neighbours : (b, k) int32
        The k rows with the largest products; written: those with the largest correlations.
    """
    k = neighbours.shape[1]
    values = np.empty(k, np.float64)
    for row in range(block.shape[0]):
        node = first_node + row
        floor = block[row, neighbours[row, k - 1]] - slack
        held = 0
        for column in range(block.shape[1]):
            if block[row, column] >= floor and column != node:
                value = dot(rows[node], rows[column])
                held = insert(value, column, values, neighbours[row], held)


@jit
def settle_found(found, rows, first_node, neighbours, missing):
    """Keep the rows most correlated with each row among those a search has found.

    Parameters
    ----------
    found : (b, w) int32
        Rows found, in any order; the row itself, repeats and -1 are passed over.
    rows : (n, p) float32 or float64
        All rows.
    first_node : int
        Node of the first row of ``found``.
    neighbours : (b, k) int32
        Written: the k rows with the largest product, the largest first, ties by index.
    missing : (b,) int64
        Written: how many of the k were not found.
    """
    k = neighbours.shape[1]
    values = np.empty(k, np.float64)
    for row in range(found.shape[0]):
        node = first_node + row
        held = 0
        last = -1
        for other in np.sort(found[row]):
            if other > last and other != node:
                held = insert(dot(rows[node], rows[other]), other, values, neighbours[row], held)
                last = other
        missing[row] = k - held


@jit
def dot(left, right):
    """Return the product of two vectors, summed in float64 in an order that never changes.

    Parameters
    ----------
    left, right : (p,) float32 or float64
        The vectors.

    Returns
    -------
    float
        Their inner product.
    """
    p = left.size
    # Eight sums that do not wait for one another: a single one is several times slower.
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
    whole = p - p % 8
    for i in range(0, whole, 8):
        s0 += np.float64(left[i]) * np.float64(right[i])
        s1 += np.float64(left[i + 1]) * np.float64(right[i + 1])
        s2 += np.float64(left[i + 2]) * np.float64(right[i + 2])
        s3 += np.float64(left[i + 3]) * np.float64(right[i + 3])
        s4 += np.float64(left[i + 4]) * np.float64(right[i + 4])
        s5 += np.float64(left[i + 5]) * np.float64(right[i + 5])
        s6 += np.float64(left[i + 6]) * np.float64(right[i + 6])
        s7 += np.float64(left[i + 7]) * np.float64(right[i + 7])
    for i in range(whole, p):
        s0 += np.float64(left[i]) * np.float64(right[i])
    return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))


@jit
def pair_dots(rows, left, right, out):
    """Compute the products of pairs of rows.

    Parameters
    ----------
    rows : (n, p) float32 or float64
        The rows.
    left, right : (m,) int64
        The pairs.
    out : (m,) float64
        Written: the products.
    """
    for pair in range(left.size):
        out[pair] = dot(rows[left[pair]], rows[right[pair]])


@jit
def strongest_outside(block, nodes, labels, partners, values):
    """Find the strongest partner of each node in another component; ties by index.

    Parameters
    ----------
    block : (b, n) float
        Correlations of ``nodes`` with all nodes.
    nodes : (b,) int64
        Node of each row.
    labels : (n,) int64
        Component of each node.
    partners : (b,) int64
        Written: the strongest node of another component, -1 if there is none.
    values : (b,) float64
        Written: its correlation.
    """
    for row in range(nodes.size):
        own = labels[nodes[row]]
        partner, best = -1, -np.inf
        for column in range(labels.size):
            if labels[column] != own and (block[row, column] > best or partner < 0):
                partner, best = column, block[row, column]
        partners[row] = partner
        values[row] = best


@jit
def mirror(upper_indptr, upper_indices, upper_weights, indptr, indices, weights):
    """Store each edge from both ends, given once from its smaller end.

    Parameters
    ----------
    upper_indptr : (n + 1,) int64
        Row starts of the edges given.
    upper_indices : (m,) int32
        Their larger ends, sorted in each row.
    upper_weights : (m,) float64
        Their weights.
    indptr : (n + 1,) int64
        Written: row starts.
    indices : (2 m,) int32
        Written: neighbours, sorted in each row.
    weights : (2 m,) float64
        Written: weights.
    """
    n = indptr.size - 1
    lower = np.zeros(n, np.int64)
    for edge in range(upper_indices.size):
        lower[upper_indices[edge]] += 1
    indptr[0] = 0
    for node in range(n):
        own = upper_indptr[node + 1] - upper_indptr[node]
        indptr[node + 1] = indptr[node] + lower[node] + own
        lower[node] = indptr[node]
    # Rows are met in order: when a row's turn comes, its smaller neighbours all stand in it.
    for node in range(n):
        at = lower[node]
        for edge in range(upper_indptr[node], upper_indptr[node + 1]):
            other = upper_indices[edge]
            indices[at] = other
            weights[at] = upper_weights[edge]
            at += 1
            indices[lower[other]] = node
            weights[lower[other]] = upper_weights[edge]
            lower[other] += 1


@jit
def label_components(indptr, indices, labels):
    """Number the connected components in the order of their smallest nodes.

    Parameters
    ----------
    indptr : (n + 1,) int64
        Row starts.
    indices : (m,) int32
        Neighbours.
    labels : (n,) int64
        Written: component of each node.

    Returns
    -------
    int
        Number of components.
    """
    n = labels.size
    stack = np.empty(n, np.int64)
    labels[:] = -1
    found = 0
    for seed in range(n):
        if labels[seed] >= 0:
            continue
        labels[seed] = found
        stack[0] = seed
        top = 1
        while top > 0:
            top -= 1
            node = stack[top]
            for edge in range(indptr[node], indptr[node + 1]):
                other = indices[edge]
                if labels[other] < 0:
                    labels[other] = found
                    stack[top] = other
                    top += 1
        found += 1
    return found


@jit
def count_shared(neighbours, left, right, shared):
    """Count the members that two neighbourhoods share, each point being a member of its own.

    Parameters
    ----------
    neighbours : (n, k) int32
        Neighbours of every node, sorted in each row, without the node.
    left, right : (m,) int64
        Pairs of nodes.
    shared : (m,) int64
        Written: common members of the neighbourhoods of each pair.
    """
    k = neighbours.shape[1]
    for pair in range(left.size):
        i, j = left[pair], right[pair]
        count, a, b = 0, 0, 0
        while a < k and b < k:
            one, other = neighbours[i, a], neighbours[j, b]
            if one == other:
                count += 1
                a += 1
                b += 1
            elif one < other:
                a += 1
            else:
                b += 1
        # Each may be a neighbour of the other, and is a member of its own neighbourhood.
        for a in range(k):
            if neighbours[i, a] == j:
                count += 1
            if neighbours[j, a] == i:
                count += 1
        shared[pair] = count
