"""Blocks of points whose likelihoods are added up where one over all points costs too much.

Local blocks are neighbours and tell the fine structure; spread blocks are drawn from everywhere
and keep the whole in shape. With blocks of a fixed size b the cost of n points is n b^2.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

Floats = NDArray[np.float64]


def correlation_blocks(cov: Floats, size: int) -> list[NDArray[np.intp]]:
    """Blocks of points with the largest correlations, for a start that is not known yet.

    Parameters
    ----------
    cov : (n, n) float64
        Covariance between points.
    size : int
        Points in a block.

    Returns
    -------
    list of (size,) int arrays
        Sorted members.
    """
    spread = np.sqrt(np.diagonal(cov))

    def nearest(point: int) -> NDArray[np.intp]:
        closeness = cov[point] / (spread * spread[point])
        return np.argsort(-closeness, kind="stable")[:size]

    return _local(len(cov), size, nearest) + _spread(len(cov), size)


def latent_blocks(latent: Floats, size: int) -> list[NDArray[np.intp]]:
    """Blocks of latent neighbours.

    Parameters
    ----------
    latent : (n, m) float64
        Latent points.
    size : int
        Points in a block.

    Returns
    -------
    list of (size,) int arrays
        Sorted members.
    """
    tree = cKDTree(latent)

    def nearest(point: int) -> NDArray[np.intp]:
        return np.asarray(tree.query(latent[point], size)[1], dtype=np.intp)

    return _local(len(latent), size, nearest) + _spread(len(latent), size)


def _local(n: int, size: int, nearest: Callable[[int], NDArray[np.intp]]) -> list[NDArray[np.intp]]:
    """Overlapping blocks: every point is among the nearer half of one of them."""
    open_points = np.ones(n, dtype=bool)
    blocks = []
    for point in range(n):
        if open_points[point]:
            members = nearest(point)
            open_points[members[: size // 2]] = False
            open_points[point] = False
            blocks.append(np.sort(members))
    return blocks


def _spread(n: int, size: int) -> list[NDArray[np.intp]]:
    """Every point in one block drawn at random."""
    order = np.random.default_rng(0).permutation(n)
    return [np.sort(part) for part in np.array_split(order, max(n // size, 1))]
