"""Compiled products of sparse rows: those of each pair are summed in the order of the columns."""

from typing import NamedTuple

import numpy as np

from .._base.jit import jit


class Stored(NamedTuple):
    """What is stored of rows: CSR, each row sorted by column; or of columns, by row."""

    indptr: np.ndarray  # (n + 1,) int64
    indices: np.ndarray  # (m,) int32
    data: np.ndarray  # (m,) float32 or float64


@jit
def block_products(rows, columns, level, nodes, out):
    """Write products of ``nodes`` (b,) with all rows to ``out`` (b, n), which holds zeros.

    They are those of stored values less those of ``level`` (n,).
    """
    for at in range(nodes.size):
        for entry in range(rows.indptr[nodes[at]], rows.indptr[nodes[at] + 1]):
            column, value = rows.indices[entry], np.float64(rows.data[entry])
            for second in range(columns.indptr[column], columns.indptr[column + 1]):
                out[at, columns.indices[second]] += value * columns.data[second]
        for second in range(level.size):
            out[at, second] -= level[nodes[at]] * level[second]


@jit
def pair_products(rows, level, nodes, second_nodes, row, out):
    """Write the same of pairs, (m,), to ``out``: fast where many in turn have one row on the left.

    ``row`` (p,) is room for that row.
    """
    last = -1
    for pair in range(nodes.size):
        node, second = nodes[pair], second_nodes[pair]
        if node != last:
            row[:] = 0.0
            for entry in range(rows.indptr[node], rows.indptr[node + 1]):
                row[rows.indices[entry]] = rows.data[entry]
            last = node
        total = 0.0
        for entry in range(rows.indptr[second], rows.indptr[second + 1]):
            total += row[rows.indices[entry]] * rows.data[entry]
        out[pair] = total - level[node] * level[second]
