"""One rigid motion, or one for each group of points."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _jit
from .._base import validation as check
from .._base.types import Floats
from .._base.validation import like, validate


class RigidMap(NamedTuple):
    """Rotation or reflection, then translation: ``points @ rotation + translation``."""

    rotation: NDArray[np.float64]  # (m, m) orthogonal
    translation: NDArray[np.float64]  # (m,)

    def apply(self, points: Floats) -> Floats:
        """Move points (n, m)."""
        return points @ self.rotation + self.translation


def _check_pairs(source: Floats, target: Floats) -> None:
    like("target", target)("source", source)


@validate(_check_pairs, source=check.table, target=check.table)
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
    is_open = sizes <= _jit.alignment.OPEN * scale
    if is_open.any():
        turn, _, back = np.linalg.svd(left[:, is_open].T @ right[is_open].T)
        right[is_open] = turn @ back @ right[is_open]
    return np.asarray(left @ right)


def _check_groups(points: Floats, labels: NDArray[np.int64], frame: Floats) -> None:
    like("frame", frame)("points", points)
    check.nodes_of(len(points))("labels", labels)
    if labels.size != len(points):
        raise ValueError(
            f"labels must be one whole number for each of {len(points)} points, got {labels.size}; "
            "number the groups from 0"
        )


@validate(_check_groups, points=check.table, labels=check.nodes, frame=check.table)
def place_groups(points: Floats, labels: NDArray[np.int64], frame: Floats) -> Floats:
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
    starts = np.zeros(int(labels.max(initial=-1)) + 2, dtype=np.int64)
    np.cumsum(np.bincount(labels, minlength=starts.size - 1), out=starts[1:])
    placed = np.empty_like(points)
    moved = np.empty_like(points)
    groups = centered(starts, points[order], np.ones(points.shape[0]))
    _jit.alignment.place_blocks(
        starts,
        order.astype(np.int32),
        groups,
        np.ascontiguousarray(frame),
        moved,
        np.empty(starts.size - 1),
    )
    placed[order] = moved
    return placed


class Centered(NamedTuple):
    """Blocks around their weighted means."""

    own: Floats  # (total, M)
    weights: Floats  # (total,)
    scales: Floats  # (n_blocks, 2) weight, and weighted sum of squares
    work: Floats  # (n_chunks, 6, M, M) workspace to fit them in


def centered(starts: NDArray[np.int64], coordinates: Floats, weights: Floats) -> Centered:
    """Coordinates (total, M) of blocks that begin at ``starts``, each around its mean."""
    n_blocks = starts.size - 1
    block = np.repeat(np.arange(n_blocks), np.diff(starts))

    mass = np.bincount(block, weights, minlength=n_blocks)
    own = np.empty(coordinates.shape)
    for axis, values in enumerate(coordinates.T):
        sums = np.bincount(block, weights * values, minlength=n_blocks)
        own[:, axis] = values - (sums / np.where(mass > 0.0, mass, 1.0))[block]
    squares = np.bincount(block, weights * (own**2).sum(axis=1), minlength=n_blocks)
    scales = np.column_stack([mass, squares]).astype(np.float64)
    n_chunks, width = -(-n_blocks // _jit.alignment.CHUNK), coordinates.shape[1]
    return Centered(own, weights, scales, np.empty((n_chunks, 6, width, width)))
