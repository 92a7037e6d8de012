"""Rigid motions: of one set of points, of groups, and of blocks to where their points lie."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .. import _jit
from .._base import validation as check
from .._base.rounding import ROUNDING
from .._base.types import Floats, Integers
from ..cliques import Blocks
from ._solve import SolvedBlocks, check_solved


class RigidMap(NamedTuple):
    """Rotation or reflection, then translation: ``points @ rotation + translation``."""

    rotation: Floats  # (m, m) orthogonal
    translation: Floats  # (m,)

    def apply(self, points: Floats) -> Floats:
        """Move points (n, m)."""
        return points @ self.rotation + self.translation


def _check_pairs(source: Floats, target: Floats) -> None:
    check.like("target", target)("source", source)


@check.validate(_check_pairs, source=check.table, target=check.table)
def rigid_fit(source: ArrayLike, target: ArrayLike) -> RigidMap:
    """Rigid motion that brings points nearest to others in the least-squares sense.

    Where the points leave the rotation open (all on a line or a plane, or a single one), the open
    directions are turned as little as possible.

    Parameters
    ----------
    source : (n, M) array_like of float64
        Points to be moved.
    target : (n, M) array_like of float64
        Where they should come to lie.

    Returns
    -------
    RigidMap
        Rotation or reflection and translation: ``source @ rotation + translation``.

    Raises
    ------
    ValueError
        If shapes differ or a value is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import blockwise
    >>> move = blockwise.rigid_fit([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]],
    ...                            [[5.0, 1.0], [5.0, 2.0], [3.0, 1.0]])
    >>> move.rotation.round(12) + 0.0
    array([[ 0.,  1.],
           [-1.,  0.]])
    >>> move.translation.round(12)
    array([5., 1.])
    """
    points, aims = np.asarray(source, dtype=np.float64), np.asarray(target, dtype=np.float64)
    means = points.mean(axis=0), aims.mean(axis=0)
    from_mean, to_mean = points - means[0], aims - means[1]
    scale = np.sqrt((from_mean**2).sum() * (to_mean**2).sum())
    rotation = _nearest_rotation(from_mean.T @ to_mean, float(scale))
    return RigidMap(rotation, means[1] - means[0] @ rotation)


def _nearest_rotation(cross: Floats, scale: float) -> Floats:
    """Orthogonal matrix Q (m, m) with the largest trace of Qᵀ cross, nearest to I where it is open.

    `_jit.alignment.nearest_rotation` is the same for many blocks at once.
    """
    left, sizes, right = np.linalg.svd(cross)
    is_open = sizes <= ROUNDING * scale
    if is_open.any():
        turn, _, back = np.linalg.svd(left[:, is_open].T @ right[is_open].T)
        right[is_open] = turn @ back @ right[is_open]
    return left @ right


def _check_groups(points: Floats, labels: Integers, frame: Floats) -> None:
    check.like("frame", frame)("points", points)
    check.nodes_of(len(points))("labels", labels)
    if labels.size != len(points):
        raise ValueError(
            f"labels must be one whole number for each of {len(points)} points, got {labels.size}; "
            "number the groups from 0"
        )


@check.validate(_check_groups, points=check.table, labels=check.nodes, frame=check.table)
def place_groups(points: Floats, labels: Integers, frame: Floats) -> Floats:
    """Move groups of points rigidly to where they are nearest to another embedding.

    Parameters
    ----------
    points : (n, M) ndarray of float64
        Latent, each group in a frame of its own.
    labels : (n,) ndarray of int64
        Group of each point, from 0 up.
    frame : (n, M) ndarray of float64
        Latent in one frame, such as a geodesic solution.

    Returns
    -------
    (n, M) ndarray of float64
        The points in the frame.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import blockwise
    >>> blockwise.place_groups(
    ...     np.array([[0.0], [1.0], [0.0]]), np.array([0, 0, 1]), np.array([[5.0], [4.0], [9.0]])
    ... ).ravel()
    array([5., 4., 9.])
    """
    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], np.arange(labels.max(initial=-1) + 2))
    groups, placed = Blocks(starts, order.astype(np.int32)), np.empty_like(points)
    placed[order] = place_blocks(groups, points[order], np.ones(len(points)), frame)[0]
    return placed


def place_blocks(
    blocks: Blocks, coordinates: Floats, weights: Floats, consensus: Floats
) -> tuple[Floats, Floats]:
    """Places (total, M) of the members of blocks that are fitted rigidly to a consensus (n, M).

    The weighted sums of squared distances from one to the other come with them, (n_blocks,).
    """
    places, misfit = np.empty(coordinates.shape), np.empty(blocks.n_blocks)
    aims = np.ascontiguousarray(consensus)
    _jit.alignment.place_blocks(
        blocks.indptr, blocks.members, coordinates, weights, aims, places, misfit
    )
    return places, misfit


def check_places(solved: SolvedBlocks, coordinates: Floats, **_: object) -> None:
    """Raise unless blocks can lie at the places of points."""
    check_solved(solved, len(coordinates))
    if solved.coordinates.shape[1] != coordinates.shape[1]:
        raise ValueError(
            f"coordinates must have the {solved.coordinates.shape[1]} columns of those of the "
            f"blocks, got {coordinates.shape[1]}; merge the same blocks"
        )


@check.validate(check_places, coordinates=check.table)
def proposals(solved: SolvedBlocks, coordinates: Floats) -> Floats:
    """Where each block would put its points, if it is fitted rigidly to coordinates.

    Parameters
    ----------
    solved : SolvedBlocks
        Blocks with their own coordinates.
    coordinates : (n, M) ndarray of float64
        Positions of the points.

    Returns
    -------
    (total, M) ndarray of float64
        Places of the members of all blocks, row by row with ``solved.blocks.members``.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import blockwise, cliques, graph, kernels
    >>> places = np.arange(4.0)[:, None]
    >>> corr = kernels.SquaredExponential().covariance((places - places.T) ** 2)
    >>> g = graph.threshold(corr, 0.1)
    >>> solved = blockwise.solve(g, [[0, 1, 2], [1, 2, 3]], "squared_exponential", 1)
    >>> blockwise.proposals(solved, places).round(6).ravel() + 0.0
    array([0., 1., 2., 1., 2., 3.])
    """
    points = np.asarray(coordinates, dtype=np.float64)
    return place_blocks(solved.blocks, solved.coordinates, solved.weights, points)[0]


@check.validate(check_places, coordinates=check.table)
def residuals(solved: SolvedBlocks, coordinates: Floats) -> Floats:
    """How far blocks disagree with the place of each point, each block fitted rigidly.

    Parameters
    ----------
    solved, coordinates : see `proposals`
        Blocks, and the positions of the points.

    Returns
    -------
    (n,) ndarray of float64
        Root mean square distance from each point to where its blocks would put it, 0 without any.

    Examples
    --------
    >>> from ikd_graph import blockwise, cliques, graph, kernels
    >>> import numpy as np
    >>> places = np.arange(6.0)[:, None]
    >>> corr = kernels.SquaredExponential().covariance((places - places.T) ** 2)
    >>> g = graph.threshold(corr, 0.1)
    >>> solved = blockwise.solve(g, cliques.cover(g, 3), "squared_exponential", 1)
    >>> bool(blockwise.residuals(solved, places).max() < 1e-6)
    True
    """
    return agreement(solved, np.asarray(coordinates, dtype=np.float64))[1]


def agreement(solved: SolvedBlocks, points: Floats) -> tuple[float, Floats]:
    """How well blocks agree with the places of points, each block fitted rigidly.

    Returns the weighted mean square of the distances to where blocks would put their points, and
    for each point the root mean square distance to its own, 0 without any.
    """
    places, misfit = place_blocks(solved.blocks, solved.coordinates, solved.weights, points)
    members = solved.blocks.members
    squares = ((places - points[members]) ** 2).sum(axis=1)
    counts = np.bincount(members, minlength=len(points))
    sums = np.bincount(members, squares, minlength=len(points))
    return float(misfit.sum()), np.sqrt(sums / np.maximum(counts, 1))
