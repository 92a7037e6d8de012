"""Nearest neighbours of many rows: an inverted file of projected rows, settled by the rows.

Rows are projected to their leading directions and gathered in cells around centres (k-means). The
candidates of a row are the nearest of the projected rows in the cells about its own; the rows
themselves decide among them. How many cells and how many candidates are looked at is what rows
whose neighbours were found exactly ask for, so that the share that is found is known beforehand;
where that costs as much as looking at every pair, there is no index.

References
----------
J. Sivic and A. Zisserman, Video Google, ICCV 2003 (inverted files of centres); H. Jégou, M. Douze
and C. Schmid, Product quantization for nearest neighbor search, IEEE PAMI 33, 2011 (re-ranking);
N. Halko, P.-G. Martinsson and J. A. Tropp, Finding structure with randomness, SIAM Review 53, 2011.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _jit, _limits
from .._threads import map_blocks
from ._visits import Effort, Index, Indices, Search, Settle, Single, found_rows, look

_log = logging.getLogger(__name__)

Spread = Callable[[Callable[[int, int], Any], list[tuple[int, int]]], Iterable[Any]]
"""Results of picklable work on ranges of cells, each from a first to the one after the last."""


class Settler(NamedTuple):
    """How rows decide among candidates, and at what cost in multiplications of a matrix product."""

    settle: Settle  # ends, found, nodes, neighbours, missing as in `_jit.graph.settle_found`
    entries: float  # of a row that is fetched for a product
    pair: float  # a product in an exact search
    spread: Spread | None = None  # who works, where it is not the threads of this process


RECALL = 0.985
"""Share of the neighbours of the held rows that is found; of all rows a little less may be."""

# Rows that directions are found from, and rows whose neighbours are found exactly.
_SAMPLE, _HELD = 4096, 192

# Directions that tell roughly what is near.
_FEW = 64

# Cells for each root of the number of rows, rows that tell of one centre, and rounds of k-means.
_CELLS, _FOR_CENTRE, _ROUNDS = 2.5, 20, 5

# Candidates for each neighbour, and cells about a row, where the effort that finds nearly all
# neighbours is too much.
_SPARED, _CELLS_SPARED = 3, 32

# Cells whose rows are searched for in one go.
_TOGETHER = 16

# Rows that are multiplied together, and entries of a block of rows, 64 MB in double precision.
_BLOCK, _ENTRIES = 4096, 2**23

# Costs in multiplications of a matrix product: one of two rows that were fetched for it, the
# choice of the largest among products, and that with the settling of them in an exact search.
_FETCHED, _CHOICE, _EXACT_CHOICE = 25.0, 60.0, 100.0


def searches_cells(n: int, pair: float, k: int) -> bool:
    """Whether so many rows are searched by cells unless something else is asked for.

    ``pair`` is what a product costs in an exact search, the number of columns of an array.
    """
    work = float(n) * n * (pair + _EXACT_CHOICE)
    return n > max(_limits.SOLVED_WHOLE, 10 * k) and work > _limits.NEIGHBORS_EXACT


def of_array(rows: NDArray[np.floating], half: NDArray[np.float64]) -> Settler:
    """How rows (n, p) of an array decide by their products less ``half`` (n,)."""

    def settle(
        ends: Indices, found: Indices, nodes: Indices, near: NDArray[np.int32], missing: Indices
    ) -> None:
        _jit.graph.settle_found(ends, found, rows, half, nodes, near, missing)

    return Settler(settle, rows.shape[1], rows.shape[1])


def cell_neighbours(
    rows: Any, half: NDArray[np.float64], k: int, settler: Settler | None = None
) -> NDArray[np.int32] | None:
    """Find nearly all rows with the largest product less ``half`` with each row, (n, k).

    Nothing depends on the number of threads, nor, but for ties between equal rows, on the order of
    the rows.

    Parameters
    ----------
    rows : (n, p) float32 or float64
        Rows, or what gives some of them out as an array does, of which n is many times k.
    half : (n,) float64
        Half the squared lengths, so that the nearest are those in Euclidean distance. Zeros do for
        rows that are all of unit length.
    k : int
        Number of neighbours.
    settler : Settler, optional
        How rows that are no array decide.

    Returns
    -------
    (n, k) int32 or None
        The nearest first; None where an exact search costs no more.
    """
    n = rows.shape[0]
    settler = settler or of_array(rows, half)
    order = np.argsort(_keys(rows), kind="stable")
    index = _build(rows, order)
    # Not the first, which centres started from: cells lie well about those.
    held, told = order[-_HELD:], min(k, 15)
    found = _exactly(rows, half, held, told)
    effort = _effort_for(index, held, found, settler.entries, k)
    exactly = float(n) * n * (settler.pair + _EXACT_CHOICE)
    if min(effort.cost, exactly) > _limits.NEIGHBORS_LONGEST:
        effort = effort._replace(cells=min(effort.cells, _CELLS_SPARED), candidates=_SPARED * k)
        _log.info("neighbours are those in the leading directions: noise hides who is nearer")
    elif effort.cost >= exactly:
        return None
    neighbours, missing = np.empty((n, k), np.int32), np.zeros(n, np.int64)
    search = Search(index, effort, settler.settle)
    cells = index.starts.size - 1
    if settler.spread is None:
        map_blocks(partial(look, search, neighbours, missing), cells, _TOGETHER)
    else:
        ranges = [(one, min(one + _TOGETHER, cells)) for one in range(0, cells, _TOGETHER)]
        for nodes, near, gone in settler.spread(partial(found_rows, search, k), ranges):
            neighbours[nodes], missing[nodes] = near, gone
    # Where there were too few candidates, every row is one.
    ends, every = np.array([0, n]), np.arange(n)
    for node in np.flatnonzero(missing):
        settler.settle(ends, every, np.array([node]), neighbours, missing)
    return neighbours


def _keys(rows: Any) -> NDArray[np.uint64]:
    """A number for every row that depends on nothing but its bits."""
    n, p = rows.shape
    factors = np.random.default_rng(0).integers(2**63, size=p, dtype=np.uint64) * 2 + 1
    keys = np.empty(n, np.uint64)

    def mix(start: int, stop: int) -> None:
        # + 0.0 makes -0.0 the zero it equals.
        block = np.asarray(rows[start:stop], np.float32) + np.float32(0.0)
        bits = np.ascontiguousarray(block).view(np.uint32)
        # Sums of whole numbers do not depend on the order of their terms.
        mixed = np.einsum("ij,j->i", bits, factors, dtype=np.uint64, casting="unsafe")
        keys[start:stop] = mixed ^ (mixed >> np.uint64(29))

    map_blocks(mix, n, _block_rows(p))
    return keys


def _block_rows(width: int) -> int:
    """Rows of a table that are read together."""
    return max(16, min(_BLOCK, _ENTRIES // width))


def _build(rows: Any, order: Indices) -> Index:
    """Project rows, taken in an order, and gather them in cells."""
    n = order.size
    points = _projected(rows, order)
    centres = _centres(points)
    lengths = 0.5 * np.einsum("ij,ij->i", centres, centres)
    cell = np.empty(n, np.int64)

    def assign(start: int, stop: int) -> None:
        cell[start:stop] = np.argmax(points[start:stop] @ centres.T - lengths, axis=1)

    map_blocks(assign, n, _BLOCK)
    gathered = np.argsort(cell, kind="stable")
    starts = np.concatenate(([0], np.cumsum(np.bincount(cell, minlength=len(centres)))))
    apart = lengths - centres @ centres.T
    np.fill_diagonal(apart, -np.inf)
    near = np.argsort(apart, axis=1, kind="stable").astype(np.int32)
    _jit.graph.put_in_order(points, gathered)
    half = 0.5 * np.einsum("ij,ij->i", points, points)
    return Index(points, half, order[gathered], starts, near)


def projected_block(rows: Any) -> Callable[[Indices], Single] | None:
    """How near some rows (b,) are to all others in a few directions, (b, n), the nearest most.

    None where rows are so few or so short that their own products cost no more.
    """
    n, p = rows.shape
    if p < 4 * _FEW or not searches_cells(n, p, 1):
        return None
    order = np.argsort(_keys(rows), kind="stable")
    points = np.empty((n, _FEW), np.float32)
    points[order] = _projected(rows, order, _FEW)
    half = 0.5 * np.einsum("ij,ij->i", points, points)

    def block(some: Indices) -> Single:
        found: Single = points[some] @ points.T
        found -= half
        return found

    return block


def _projected(rows: Any, order: Indices, most: int = 256) -> Single:
    """Rows along at most so many of their leading directions, in an order, (n, d)."""
    n, p = rows.shape
    sample = min(_SAMPLE, max(4 * _block_rows(p), 512))
    some = np.asarray(rows[order[:sample]], np.float32)
    origin = some.mean(axis=0)
    # Enough that the rows have few candidates to settle, few enough that products are cheap.
    width = min(p, max(_FEW, min(p // 4, most)))
    basis = None if width == p else _directions(some - origin, width)
    points = np.empty((n, width), np.float32)

    def project(start: int, stop: int) -> None:
        block = np.asarray(rows[order[start:stop]], np.float32) - origin
        points[start:stop] = block if basis is None else block @ basis

    map_blocks(project, n, _block_rows(p))
    return points


def _directions(sample: Single, width: int) -> Single:
    """Leading directions of centred rows, (p, width), by subspace iteration."""
    rng = np.random.default_rng(0)
    basis = rng.standard_normal((sample.shape[1], width), dtype=np.float32)
    for _ in range(3):
        basis = np.linalg.qr(sample.T @ (sample @ basis))[0]
    return np.ascontiguousarray(basis)


def _centres(points: Single) -> Single:
    """Centres of cells by k-means of the first points, (cells, d)."""
    count = max(1, int(_CELLS * np.sqrt(len(points))))
    some = points[: _FOR_CENTRE * count]
    centres = some[:count].copy()
    owner = np.empty(len(some), np.int64)

    def assign(start: int, stop: int) -> None:
        owner[start:stop] = np.argmax(some[start:stop] @ centres.T - lengths, axis=1)

    for _ in range(_ROUNDS):
        lengths = 0.5 * np.einsum("ij,ij->i", centres, centres)
        map_blocks(assign, len(some), _BLOCK)
        members = np.bincount(owner, minlength=count)
        filled = np.flatnonzero(members)
        first = (np.cumsum(members) - members)[filled]
        sums = np.add.reduceat(some[np.argsort(owner, kind="stable")], first, axis=0)
        centres[filled] = sums / members[filled, None].astype(np.float32)
    return centres


def _exactly(rows: Any, half: NDArray[np.float64], held: Indices, k: int) -> Indices:
    """Exact neighbours of some rows, (held, k)."""
    n, p = rows.shape
    mine = np.asarray(rows[held], np.float32)
    step = max(_block_rows(p), k)
    found: Indices = np.empty((held.size, -(-n // step) * k), np.int64)
    values: Single = np.full(found.shape, -np.inf, np.float32)

    def multiply(start: int, stop: int) -> None:
        # The best of each block of rows, from which those of all are taken.
        seen = mine @ np.asarray(rows[start:stop], np.float32).T
        seen -= half[start:stop].astype(np.float32)
        own = (held >= start) & (held < stop)
        seen[own, held[own] - start] = -np.inf
        few = min(k, stop - start)
        order: Any = np.argpartition(seen, stop - start - few, axis=1)
        best = order[:, -few:]
        part = slice(start // step * k, start // step * k + few)
        found[:, part] = start + best
        values[:, part] = np.take_along_axis(seen, best, axis=1)

    map_blocks(multiply, n, step)
    order: Any = np.argpartition(values, values.shape[1] - k, axis=1)
    return np.take_along_axis(found, order[:, -k:], axis=1)


def _effort_for(index: Index, held: Indices, found: Indices, entries: float, k: int) -> Effort:
    """The least effort that finds the known neighbours of some rows."""
    n, width = index.points.shape
    sizes = np.diff(index.starts)
    place = np.empty(n, np.int64)
    place[index.order] = np.arange(n)
    cell = np.repeat(np.arange(sizes.size), sizes)
    home, theirs = cell[place[held]], cell[place[found]]
    rank = np.empty((held.size, sizes.size), np.int64)
    np.put_along_axis(rank, index.near[home].astype(np.int64), np.arange(sizes.size)[None], axis=1)
    # Cells to be looked at before each neighbour is met, and points nearer in the projection.
    cells = np.take_along_axis(rank, theirs, axis=1) + 1
    ahead = _points_ahead(index, place[held], place[found])
    visited = np.cumsum(sizes[index.near], axis=1)
    best = Effort(sizes.size, n - 1, np.inf)
    for few in np.unique(np.quantile(cells, np.linspace(RECALL, 1.0, 9)).astype(np.int64)):
        met = cells <= few
        if met.mean() < RECALL:
            continue
        needed = np.sort(np.where(met, ahead, n).ravel())[int(np.ceil(RECALL * met.size)) - 1]
        # What was told of fewer neighbours is scaled to more.
        candidates = int(min(n - 1, max(needed * max(1.0, k / found.shape[1]), 2 * k) + 1))
        looked = float(sizes @ visited[:, few - 1])
        cost = looked * (width + _CHOICE) + float(n) * candidates * entries * _FETCHED
        if cost < best.cost:
            best = Effort(int(few), candidates, cost)
    return best


def _points_ahead(index: Index, held: Indices, found: Indices) -> Indices:
    """How many projected points are as near to a point as each that it should find, (held, k).

    All are where there are very many: such a neighbour is given up.
    """
    n = len(index.points)
    deepest = min(n, max(_BLOCK, 20 * found.shape[1]))
    ahead = np.empty(found.shape, np.int64)
    for start in range(0, held.size, 16):
        values = index.points[held[start : start + 16]] @ index.points.T - index.half
        least = np.take_along_axis(values, found[start : start + 16], axis=1)
        values.partition(n - deepest, axis=1)
        for at, own in enumerate(least):
            ahead[start + at] = deepest - np.searchsorted(np.sort(values[at, n - deepest :]), own)
    ahead[ahead == deepest] = n
    return ahead
