"""The nearest orthogonal matrix, and rigid fits of many blocks."""

from typing import NamedTuple

import numba
import numpy as np

from .._base.jit import inlined, lean_helper, pjit
from .._base.rounding import ROUNDING

CHUNK = 64
"""Blocks that one thread places in turn."""


class Motion(NamedTuple):
    """A rigid motion, what it was fitted to, and workspace.

    A point moves to ``(point - means[0]) @ rotation + means[1]``.
    """

    rotation: np.ndarray  # (M, M) float64
    cross: np.ndarray  # (M, M) float64, products of source and target about their means
    means: np.ndarray  # (2, M) float64, those of source and target
    work: np.ndarray  # (3, M, M) float64


@lean_helper
def copy(source, target):
    """Fill a matrix with another; comparing shapes, as numpy does, takes a second to compile."""
    for i in range(source.shape[0]):
        for j in range(source.shape[1]):
            target[i, j] = source[i, j]


@lean_helper
def nearest_rotation(motion, floor):
    """Orthogonal matrix Q with the largest trace of ``Q.T @ cross``, as ``rotation``.

    Directions that the cross products leave open (points on a line, a single point) are turned as
    little as possible: there Q is the orthogonal matrix nearest to the identity. Singular values
    below ``floor`` are open.
    """
    rotation, m = motion.rotation, motion.cross.shape[0]
    u, v, guide = motion.work
    copy(motion.cross, u)
    rotation[:] = 0.0
    rank = 0
    for attempt in range(9):
        diagonalize(u, v)
        for p in range(m):
            norm = 0.0
            for i in range(m):
                norm += u[i, p] * u[i, p]
            norm = np.sqrt(norm)
            if norm > floor and rank < m:
                rank += 1
                for i in range(m):
                    for j in range(m):
                        rotation[i, j] += u[i, p] / norm * v[j, p]
        if rank == m:
            return
        # The identity or, where it leaves directions open as well, any fixed matrix, projected on
        # what is open: u = (I - Q Q^T) guide (I - Q^T Q).
        floor = 1e-7
        for i in range(m):
            for j in range(m):
                guide[i, j] = np.cos(attempt + 3.0 * i * m + 7.0 * j) if attempt else 1.0 * (i == j)
        u[:] = 0.0
        add_product(rotation.T, guide, 1.0, u)
        add_product(rotation, u, -1.0, guide)
        v[:] = 0.0
        add_product(guide, rotation.T, 1.0, v)
        copy(guide, u)
        add_product(v, rotation, -1.0, u)


@lean_helper
def add_product(left, right, factor, out):
    """Add ``factor * left @ right`` to ``out``, all (M, M)."""
    m = out.shape[0]
    for i in range(m):
        for j in range(m):
            for k in range(m):
                out[i, j] += factor * left[i, k] * right[k, j]


@lean_helper
def diagonalize(u, v):
    """Singular value decomposition of a small matrix by one-sided Jacobi rotations.

    ``u`` (M, M) is the matrix, and becomes the left vectors times the singular values; ``v``
    (M, M) is filled with the right vectors, as columns: ``matrix = u @ v.T``.
    """
    m = u.shape[0]
    total = 0.0
    for i in range(m):
        for j in range(m):
            v[i, j] = 1.0 if i == j else 0.0
            total += u[i, j] * u[i, j]
    for _ in range(60):
        clean = True
        for p in range(m - 1):
            for q in range(p + 1, m):
                pp, qq, pq = 0.0, 0.0, 0.0
                for i in range(m):
                    pp += u[i, p] * u[i, p]
                    qq += u[i, q] * u[i, q]
                    pq += u[i, p] * u[i, q]
                # Columns that are rounding errors have no direction worth turning.
                if min(pp, qq) <= 1e-31 * total or pq * pq <= 1e-30 * pp * qq:
                    continue
                # The sweep after one that turned so little would turn by the square of it.
                clean = clean and pq * pq <= ROUNDING * pp * qq
                gap = qq - pp
                away = np.sqrt(gap * gap + 4.0 * pq * pq)
                tangent = 2.0 * pq / (gap + away if gap >= 0.0 else gap - away)
                cosine = 1.0 / np.sqrt(1.0 + tangent * tangent)
                sine = tangent * cosine
                for i in range(m):
                    a, b = u[i, p], u[i, q]
                    u[i, p], u[i, q] = cosine * a - sine * b, sine * a + cosine * b
                    a, b = v[i, p], v[i, q]
                    v[i, p], v[i, q] = cosine * a - sine * b, sine * a + cosine * b
        if clean:
            break


@inlined
def fit(source, target, weights, motion):
    """Fill the rigid motion that brings points nearest to others; returns the product of sizes.

    ``source`` and ``target`` are (k, M), ``weights`` (k,).
    """
    means, cross, m = motion.means, motion.cross, source.shape[1]
    means[:] = 0.0
    cross[:] = 0.0
    mass, from_size, to_size = 0.0, 0.0, 0.0
    for i in range(weights.size):
        mass += weights[i]
        for j in range(m):
            means[0, j] += weights[i] * source[i, j]
            means[1, j] += weights[i] * target[i, j]
    for j in range(m):
        means[0, j] /= mass
        means[1, j] /= mass
    for i in range(weights.size):
        for j in range(m):
            gap, aim = source[i, j] - means[0, j], target[i, j] - means[1, j]
            from_size += weights[i] * gap * gap
            to_size += weights[i] * aim * aim
            for k in range(m):
                cross[j, k] += weights[i] * gap * (target[i, k] - means[1, k])
    scale = np.sqrt(from_size * to_size)
    nearest_rotation(motion, ROUNDING * scale)
    return scale


@inlined
def moved(points, i, j, rotation, means):
    """Coordinate ``j`` of a point after a motion."""
    value = means[1, j]
    for k in range(rotation.shape[0]):
        value += (points[i, k] - means[0, k]) * rotation[k, j]
    return value


@pjit
def place_blocks(starts, members, coordinates, weights, consensus, proposals, misfit):
    """Fit every block rigidly to the consensus.

    ``starts`` (n_blocks + 1,) and ``members`` (total,) are the blocks, ``coordinates`` (total, M)
    and ``weights`` (total,) those of their points. Filled: ``proposals`` (total, M), where each
    block would put its points, and ``misfit`` (n_blocks,), the weighted sums of squared distances
    from these to ``consensus`` (T, M).
    """
    n_blocks, m = starts.size - 1, coordinates.shape[1]
    for chunk in numba.prange((n_blocks + CHUNK - 1) // CHUNK):
        squares, means, work = np.empty((2, m, m)), np.empty((2, m)), np.empty((3, m, m))
        motion, rotation = Motion(squares[0], squares[1], means, work), squares[0]
        for block in range(chunk * CHUNK, min((chunk + 1) * CHUNK, n_blocks)):
            start, stop = starts[block], starts[block + 1]
            # A block's proposals are where the consensus has its points until they are known.
            for i in range(start, stop):
                for j in range(m):
                    proposals[i, j] = consensus[members[i], j]
            source, target = coordinates[start:stop], proposals[start:stop]
            fit(source, target, weights[start:stop], motion)
            total = 0.0
            for i in range(start, stop):
                for j in range(m):
                    value = moved(coordinates, i, j, rotation, means)
                    total += weights[i] * (value - proposals[i, j]) ** 2
                    proposals[i, j] = value
            misfit[block] = total
