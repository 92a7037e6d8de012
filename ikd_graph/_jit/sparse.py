"""Compiled products of sparse rows: those of each pair are summed in the order of the columns."""

from typing import NamedTuple

import numpy as np

from .._base.jit import helper, jit


class Stored(NamedTuple):
    """What is stored of rows: CSR, each row sorted by column; or of columns, by row."""

    indptr: np.ndarray  # (n + 1,) int64
    indices: np.ndarray  # (m,) int32
    data: np.ndarray  # (m,) float32 or float64


class Rows(NamedTuple):
    """Rows: their products are those of stored values, plus row factors times column factors."""

    stored: Stored
    row_factors: np.ndarray  # (n, r) float64
    column_factors: np.ndarray  # (n, r) float64


@jit
def block_products(stored, columns, nodes, out):
    """Write products of ``nodes`` (b,) with all rows to ``out`` (b, n), which holds zeros."""
    for at in range(nodes.size):
        for entry in range(stored.indptr[nodes[at]], stored.indptr[nodes[at] + 1]):
            column, value = stored.indices[entry], np.float64(stored.data[entry])
            for second in range(columns.indptr[column], columns.indptr[column + 1]):
                out[at, columns.indices[second]] += value * columns.data[second]


@helper
def spread_row(stored, node, row):
    """Write a row to ``row`` (p,), which holds zeros."""
    for entry in range(stored.indptr[node], stored.indptr[node + 1]):
        row[stored.indices[entry]] = stored.data[entry]


@helper
def clear_row(stored, node, row):
    """Write zeros where `spread_row` wrote values."""
    for entry in range(stored.indptr[node], stored.indptr[node + 1]):
        row[stored.indices[entry]] = 0.0


@helper
def product(rows, row, node, second):
    """Return the product of a row, which is spread in ``row``, and another."""
    total = 0.0
    for entry in range(rows.stored.indptr[second], rows.stored.indptr[second + 1]):
        total += row[rows.stored.indices[entry]] * rows.stored.data[entry]
    for i in range(rows.row_factors.shape[1]):
        total += rows.row_factors[node, i] * rows.column_factors[second, i]
    return total


@jit
def pair_products(rows, nodes, second_nodes, row, out):
    """Write the products of pairs, (m,), to ``out``; ``row`` (p,) holds zeros before and after."""
    last = -1
    for pair in range(nodes.size):
        node = nodes[pair]
        if node != last:
            if last >= 0:
                clear_row(rows.stored, last, row)
            spread_row(rows.stored, node, row)
            last = node
        out[pair] = product(rows, row, node, second_nodes[pair])
    if last >= 0:
        clear_row(rows.stored, last, row)
