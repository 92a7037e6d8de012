"""Visits to cells of projected rows: the neighbours of their rows among those of the cells about.

What a visit needs is one record of arrays, so that processes other than this one can carry it out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._table import let_go

Single = NDArray[np.float32]
Indices = NDArray[np.int64]
Settle = Callable[[Indices, Indices, Indices, NDArray[np.int32], Indices], None]


class Index(NamedTuple):
    """Projected rows, cell after cell."""

    points: Single  # (n, d)
    half: Single  # (n,) half their squared lengths
    order: Indices  # (n,) the row that each is
    starts: Indices  # (cells + 1,)
    near: NDArray[np.int32]  # (cells, cells) all cells, the nearest to each first


class Effort(NamedTuple):
    """How much is looked at."""

    cells: int  # about the cell of a row, its own included
    candidates: int  # of each row
    cost: float  # in multiplications


class Search(NamedTuple):
    """What the neighbours of the rows of any cell are found by."""

    rows: Index
    effort: Effort
    settle: Settle


def look(
    search: Search, neighbours: NDArray[np.int32], missing: Indices, first: int, last: int
) -> None:
    """Find the neighbours of the rows of some cells among the points of the cells about them."""
    index, effort, space = search.rows, search.effort, _Space()
    sizes = np.diff(index.starts)
    for cell in range(first, last):
        visited = np.cumsum(sizes[index.near[cell]])
        few = max(effort.cells, int(np.searchsorted(visited, effort.candidates)) + 1)
        ranges = [np.arange(*index.starts[one : one + 2]) for one in index.near[cell, :few]]
        where = np.concatenate(ranges)
        others, lengths = _gathered(index, index.near[cell, :few], where.size), index.half[where]
        step = max(16, 2**21 // where.size)
        for start in range(index.starts[cell], index.starts[cell + 1], step):
            stop = min(start + step, index.starts[cell + 1])
            ends, near = space.nearest(index.points[start:stop], others, lengths, effort.candidates)
            found, nodes = index.order[where[near]], index.order[start:stop]
            search.settle(ends, found, nodes, neighbours, missing)


def _gathered(index: Index, cells: NDArray[np.int32], size: int) -> Single:
    """Points of some cells; of points in a file what was read is let go on the way."""
    found, at = np.empty((size, index.points.shape[1]), np.float32), 0
    for number, cell in enumerate(cells):
        part = index.points[index.starts[cell] : index.starts[cell + 1]]
        found[at : at + len(part)] = part
        at += len(part)
        if number % 16 == 15:
            let_go(index.points)
    return found


def found_rows(
    search: Search, k: int, first: int, last: int
) -> tuple[Indices, NDArray[np.int32], Indices]:
    """The same as (b,) rows, their (b, k) neighbours, and how many are missing."""
    index = search.rows
    # Of these only the places of the rows are touched.
    neighbours = np.empty((index.order.size, k), np.int32)
    missing = np.zeros(index.order.size, np.int64)
    look(search, neighbours, missing, first, last)
    nodes = index.order[index.starts[first] : index.starts[last]]
    return nodes, neighbours[nodes], missing[nodes]


class _Space:
    """Memory for products, filled again and again: fresh memory would cost as much as they do."""

    def __init__(self) -> None:
        self._size = 0

    def nearest(
        self, points: Single, others: Single, half: Single, count: int
    ) -> tuple[Indices, Indices]:
        """Find the nearest of others to each point, at least ``count`` where there are as many.

        Returns (b + 1,) where the list of each begins, and the lists one after another.
        """
        shape, size = (len(points), len(others)), len(points) * len(others)
        if size > self._size:
            self._size = size
            self._values, self._sorted = np.empty(size, np.float32), np.empty(size, np.float32)
            self._above = np.empty(size, np.bool_)
        values = np.matmul(points, others.T, out=self._values[:size].reshape(shape))
        values -= half
        at = max(shape[1] - count, 0)
        ordered = self._sorted[:size].reshape(shape)
        ordered[:] = values
        ordered.partition(at, axis=1)
        above = np.greater_equal(
            values, ordered[:, at : at + 1], out=self._above[:size].reshape(shape)
        )
        owner, near = np.divmod(np.flatnonzero(above), shape[1])
        return np.searchsorted(owner, np.arange(shape[0] + 1)), near
