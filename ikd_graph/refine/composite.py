"""Blocks of points whose likelihoods are added up where one over all points costs too much.

Cells of neighbours tell the fine structure; spread blocks are random points from everywhere and
keep the whole in shape. With blocks of a fixed size b the cost of n points is n b^2. A cell knows
nothing of what lies across its border, so every stage of a search cuts anew.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def blocks_of(latent: Floats, size: int, cut: int = 0) -> list[NDArray[np.intp]]:
    """Cells and spread blocks of at most ``size`` points; every point is in one of each.

    Parameters
    ----------
    latent : (n, m) float64
        Latent points.
    size : int
        Largest number of points in a block.
    cut : int
        Seed of the cut.

    Returns
    -------
    list of (b,) int arrays
        Sorted members of each block.
    """
    rng = np.random.default_rng(cut)
    turn = np.linalg.qr(rng.standard_normal((latent.shape[1], latent.shape[1])))[0]
    order = rng.permutation(len(latent))
    spread = np.array_split(order, -(-len(latent) // size))
    return [np.sort(block) for block in [*_cells(latent @ turn, size), *spread]]


def farthest_points(latent: Floats, count: int) -> NDArray[np.intp]:
    """Points that cover a latent: each the farthest from those before it.

    Parameters
    ----------
    latent : (n, m) float64
        Latent points.
    count : int
        Number of points.

    Returns
    -------
    (count,) int array
        Sorted points.
    """
    near = ((latent - latent.mean(axis=0)) ** 2).sum(axis=1)
    out: list[int] = []
    while len(out) < count:
        out.append(int(np.argmax(near)))
        apart = ((latent - latent[out[-1]]) ** 2).sum(axis=1)
        near = apart if len(out) == 1 else np.minimum(near, apart)
        near[out] = -1.0  # no point twice where several lie in one place
    return np.sort(np.array(out))


def _cells(points: Floats, size: int) -> list[NDArray[np.intp]]:
    """Halve along the widest axis until every cell is small enough."""
    waiting, cells = [np.arange(len(points))], []
    while waiting:
        cell = waiting.pop()
        if cell.size <= size:
            cells.append(cell)
            continue
        axis = int(np.argmax(points[cell].std(axis=0)))
        order = np.argsort(points[cell, axis], kind="stable")
        waiting += [cell[order[: cell.size // 2]], cell[order[cell.size // 2 :]]]
    return cells
