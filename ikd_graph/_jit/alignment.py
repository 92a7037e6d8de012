"""Rigid motions between sets of points, and rounds of them for many blocks."""

import numba
import numpy as np

from .._numba import jit, pjit

ROOM = 4
"""Matrices that a rigid fit works in."""

TOGETHER = 64
"""Blocks that one thread places in turn."""


@jit
def singular_pairs(matrix, left, right):
    """Singular value decomposition of a small matrix by one-sided Jacobi rotations.

    ``left`` is filled with the left vectors times the singular values, ``right`` with the right
    vectors, as columns, all (M, M): ``matrix = left @ right.T``. On the way in ``right`` is
    orthogonal: the nearer to the right vectors, the fewer rotations.
    """
    m = matrix.shape[0]
    total = 0.0
    for i in range(m):
        for j in range(m):
            left[i, j] = 0.0
            for k in range(m):
                left[i, j] += matrix[i, k] * right[k, j]
            total += matrix[i, j] * matrix[i, j]
    for _ in range(60):
        clean = True
        for p in range(m - 1):
            for q in range(p + 1, m):
                pp, qq, pq = 0.0, 0.0, 0.0
                for i in range(m):
                    pp += left[i, p] * left[i, p]
                    qq += left[i, q] * left[i, q]
                    pq += left[i, p] * left[i, q]
                # Columns that are rounding errors have no direction worth turning.
                if min(pp, qq) <= 1e-31 * total or pq * pq <= 1e-30 * pp * qq:
                    continue
                # The sweep after one that turned so little would turn by the square of it.
                clean = clean and pq * pq <= 1e-13 * pp * qq
                gap = qq - pp
                away = np.sqrt(gap * gap + 4.0 * pq * pq)
                tangent = 2.0 * pq / (gap + away if gap >= 0.0 else gap - away)
                cosine = 1.0 / np.sqrt(1.0 + tangent * tangent)
                sine = tangent * cosine
                for i in range(m):
                    a, b = left[i, p], left[i, q]
                    left[i, p], left[i, q] = cosine * a - sine * b, sine * a + cosine * b
                    a, b = right[i, p], right[i, q]
                    right[i, p], right[i, q] = cosine * a - sine * b, sine * a + cosine * b
        if clean:
            break


@jit
def add_partial_isometry(matrix, floor, rotation, left, right):
    """Add the polar factor of a matrix on the directions that it does not send to zero.

    The rows and columns of ``matrix`` lie in the null spaces of ``rotation``, to which its polar
    factor is added, all (M, M). Singular values up to ``floor`` count as zero. Returns the number
    of directions added. ``left`` (M, M) is room to work in, ``right`` (M, M) as for
    `singular_pairs`.
    """
    m = matrix.shape[0]
    singular_pairs(matrix, left, right)
    rank = 0
    for p in range(m):
        norm = 0.0
        for i in range(m):
            norm += left[i, p] * left[i, p]
        norm = np.sqrt(norm)
        if norm > floor:
            rank += 1
            share = 1.0 / norm
            for i in range(m):
                cosine = left[i, p] * share
                for j in range(m):
                    rotation[i, j] += cosine * right[j, p]
    return rank


@jit
def open_part(guide, rotation, out):
    """Fill ``out`` with ``(I - Q Q^T) guide (I - Q^T Q)``, Q a partial isometry, all (M, M)."""
    m = guide.shape[0]
    half = np.empty((m, m), np.float64)
    outer = np.zeros((m, m), np.float64)
    inner = np.zeros((m, m), np.float64)
    for i in range(m):
        for j in range(m):
            for k in range(m):
                outer[i, j] -= rotation[i, k] * rotation[j, k]
                inner[i, j] -= rotation[k, i] * rotation[k, j]
        outer[i, i] += 1.0
        inner[i, i] += 1.0
    for i in range(m):
        for j in range(m):
            half[i, j] = 0.0
            for k in range(m):
                half[i, j] += outer[i, k] * guide[k, j]
    for i in range(m):
        for j in range(m):
            out[i, j] = 0.0
            for k in range(m):
                out[i, j] += half[i, k] * inner[k, j]


@jit
def nearest_rotation(cross, scale, rotation, left, right):
    """Orthogonal matrix Q with the largest trace of ``Q.T @ cross``.

    Directions that the cross products leave open (points on a line, a single point) are turned as
    little as possible: there Q is the orthogonal matrix nearest to the identity. ``scale`` is the
    product of the sizes of source and target; singular values below 1e-13 of it are zero.
    ``rotation`` is filled with Q; ``left`` and ``right`` (M, M) as for `add_partial_isometry`.
    """
    m = cross.shape[0]
    if m == 2 and nearest_in_plane(cross, 1e-13 * scale, rotation):
        return
    for i in range(m):
        for j in range(m):
            rotation[i, j] = 0.0
    rank = add_partial_isometry(cross, 1e-13 * scale, rotation, left, right)
    if rank < m:
        open_rotation(rank, rotation, left, right)


@jit
def nearest_in_plane(cross, floor, rotation):
    """As `nearest_rotation` for M = 2, where it is clear; returns whether it is.

    The best turn and the best reflection have the sum and the difference of the singular values.
    """
    a, b = cross[0, 0] + cross[1, 1], cross[0, 1] - cross[1, 0]
    c, d = cross[0, 0] - cross[1, 1], cross[0, 1] + cross[1, 0]
    turned, flipped = np.sqrt(a * a + b * b), np.sqrt(c * c + d * d)
    # Else one direction is nearly open.
    if abs(turned - flipped) <= max(2.0 * floor, 1e-6 * (turned + flipped)):
        return False
    if turned > flipped:
        rotation[0, 0] = rotation[1, 1] = a / turned
        rotation[0, 1], rotation[1, 0] = b / turned, -b / turned
    else:
        rotation[0, 0], rotation[1, 1] = c / flipped, -c / flipped
        rotation[0, 1] = rotation[1, 0] = d / flipped
    return True


@jit
def to_identity(matrix):
    """Fill a square matrix with the identity."""
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[0]):
            matrix[i, j] = 1.0 if i == j else 0.0


@jit
def open_rotation(rank, rotation, left, right):
    """Complete a partial isometry of a rank to the orthogonal matrix nearest to the identity."""
    m = rotation.shape[0]
    guide = np.empty((m, m), np.float64)
    to_identity(guide)
    rest = np.empty((m, m), np.float64)
    attempt = 0
    while rank < m and attempt < 8:
        open_part(guide, rotation, rest)
        to_identity(right)
        rank += add_partial_isometry(rest, 1e-7, rotation, left, right)
        attempt += 1
        # What is open on both sides at right angles to the identity: any fixed matrix will do.
        for i in range(m):
            for j in range(m):
                guide[i, j] = np.cos(attempt + 3.0 * i * m + 7.0 * j)


@jit
def rigid_motion(source, target, weights, rotation, translation, axes, room):
    """Weighted orthogonal Procrustes fit of ``source`` to ``target``, (n, M), with a translation.

    ``rotation`` (M, M) and ``translation`` (M,) are filled: ``source @ rotation + translation`` is
    nearest to the target. Weights (n,) are not all zero. ``axes`` (M, M) are the right vectors of
    the fit before, where there was one like it, else the identity, and those of this one
    afterwards. ``room`` is for ``ROOM`` matrices (M, M): to make them for every small block would
    take as long as the fit.
    """
    n, m = source.shape
    cross, left = room[0], room[1]
    mean_source, mean_target = room[2, 0], room[3, 0]
    for k in range(m):
        mean_source[k], mean_target[k] = 0.0, 0.0
        for j in range(m):
            cross[k, j] = 0.0
    mass = 0.0
    for i in range(n):
        mass += weights[i]
        for k in range(m):
            mean_source[k] += weights[i] * source[i, k]
            mean_target[k] += weights[i] * target[i, k]
    for k in range(m):
        mean_source[k] /= mass
        mean_target[k] /= mass
    size_source, size_target = 0.0, 0.0
    for i in range(n):
        for k in range(m):
            one = weights[i] * (source[i, k] - mean_source[k])
            size_source += one * (source[i, k] - mean_source[k])
            other = target[i, k] - mean_target[k]
            size_target += weights[i] * other * other
            for j in range(m):
                cross[k, j] += one * (target[i, j] - mean_target[j])
    nearest_rotation(cross, np.sqrt(size_source * size_target), rotation, left, axes)
    for j in range(m):
        translation[j] = mean_target[j]
        for k in range(m):
            translation[j] -= mean_source[k] * rotation[k, j]


@jit
def fit_rigid(source, target, weights, rotation, translation):
    """As `rigid_motion`, to be called from Python."""
    m = rotation.shape[0]
    axes = np.empty((m, m), np.float64)
    to_identity(axes)
    rigid_motion(source, target, weights, rotation, translation, axes, np.empty((ROOM, m, m)))


@pjit
def centre_blocks(starts, coordinates, weights, own, scales):
    """Coordinates of every block around its weighted mean.

    ``starts`` (n_blocks + 1,), ``coordinates`` (total, M) and ``weights`` (total,) are the blocks.
    Filled: ``own`` (total, M) and ``scales`` (n_blocks, 2), the weight of each block and its
    weighted sum of squares.
    """
    for block in numba.prange(starts.size - 1):
        start, stop = starts[block], starts[block + 1]
        scales[block, 0] = scales[block, 1] = 0.0
        for i in range(start, stop):
            scales[block, 0] += weights[i]
        for j in range(coordinates.shape[1]):
            centre = 0.0
            for i in range(start, stop):
                centre += weights[i] * coordinates[i, j]
            centre /= scales[block, 0]
            for i in range(start, stop):
                own[i, j] = coordinates[i, j] - centre
                scales[block, 1] += weights[i] * own[i, j] * own[i, j]


@jit
def gather_targets(members, own, weights, consensus, targets, cross, mean):
    """Where a consensus (T, M) has the points of a centred block, around the first of them.

    Filled: ``targets`` (n, M), ``cross`` (M, M), the products with the block, and ``mean`` (M,),
    the weighted sum. Returns their weighted sum of squares.
    """
    m = own.shape[1]
    for j in range(m):
        mean[j] = 0.0
        for k in range(m):
            cross[k, j] = 0.0
    size = 0.0
    for i in range(members.size):
        for j in range(m):
            targets[i, j] = consensus[members[i], j] - consensus[members[0], j]
            pull = weights[i] * targets[i, j]
            mean[j] += pull
            size += pull * targets[i, j]
            for k in range(m):
                cross[k, j] += own[i, k] * pull
    return size


@pjit
def place_blocks(starts, members, centred, consensus, axes, proposals, misfit):
    """Fit every block rigidly to the consensus.

    ``starts`` (n_blocks + 1,) and ``members`` (total,) are the blocks, ``centred`` their points
    around their weighted means (total, M), the weights (total,) and scales as from `centre_blocks`,
    ``axes`` (n_blocks, M, M) what each fit begins with, and its own for the next. Filled:
    ``proposals`` (total, M), where each block would put its points, and ``misfit`` (n_blocks,), the
    weighted sums of squared distances from these to ``consensus`` (T, M).
    """
    own, weights, scales = centred
    m = own.shape[1]
    n_blocks = starts.size - 1
    for part in numba.prange(-(-n_blocks // TOGETHER)):
        first, last = part * TOGETHER, min((part + 1) * TOGETHER, n_blocks)
        room = np.empty((3, m, m), np.float64)
        rotation, cross, left = room[0], room[1], room[2]
        mean = np.empty(m, np.float64)
        for block in range(first, last):
            start, stop = starts[block], starts[block + 1]
            # A block's proposals are where the consensus has its points, until they are known.
            mine, targets, mass = own[start:stop], proposals[start:stop], scales[block, 0]
            some, heavy = members[start:stop], weights[start:stop]
            size = gather_targets(some, mine, heavy, consensus, targets, cross, mean)
            for j in range(m):
                mean[j] /= mass
                size -= mass * mean[j] * mean[j]
            scale = np.sqrt(scales[block, 1] * max(size, 0.0))
            nearest_rotation(cross, scale, rotation, left, axes[block])
            total = 0.0
            for i in range(start, stop):
                for j in range(m):
                    value = mean[j]
                    for k in range(m):
                        value += own[i, k] * rotation[k, j]
                    total += weights[i] * (value - proposals[i, j]) ** 2
                    proposals[i, j] = value + consensus[members[start], j]
            misfit[block] = total


@pjit
def average_proposals(point_starts, entry_at, shares, proposals, points):
    """Fill ``points`` (T, M) with the weighted means of the proposals, leaving those without alone.

    ``point_starts`` (T + 1,) and ``entry_at`` (total,) list the entries of each point, to which
    ``proposals`` (total, M) belong; ``shares`` (total,), in the order of ``entry_at``, are their
    weights in the mean.
    """
    for point in numba.prange(points.shape[0]):
        start, stop = point_starts[point], point_starts[point + 1]
        if stop > start:
            for j in range(points.shape[1]):
                points[point, j] = 0.0
            for k in range(start, stop):
                for j in range(points.shape[1]):
                    points[point, j] += shares[k] * proposals[entry_at[k], j]


@jit
def turn_conjugate(weights, mean, step, most, points, pull, direction, trial):
    """Go to where the slope along a direction vanishes, and turn to a conjugate one, in place.

    ``points``, ``pull`` (half the slope there, downhill) and ``direction`` (n, M) are where a
    descent is; ``trial`` (n, M), a ``step`` ahead, has its means at ``mean``. Inner products are in
    the metric of ``weights`` (n,). The way is between 1 / ``most`` and ``most`` times the step.
    Returns by how much the value falls on it, and the step to the next ``trial``.
    """
    n, m = points.shape
    slope, ahead = 0.0, 0.0
    for i in range(n):
        for j in range(m):
            slope += weights[i] * pull[i, j] * direction[i, j]
            ahead += weights[i] * (mean[i, j] - trial[i, j]) * direction[i, j]
    bend = slope - ahead
    stretch = max(slope / bend if most * bend > slope else most, 1.0 / most)
    size, change = 0.0, 0.0
    for i in range(n):
        for j in range(m):
            points[i, j] += stretch * step * direction[i, j]
            old = pull[i, j]
            pull[i, j] += stretch * (mean[i, j] - trial[i, j] - old)
            size += weights[i] * old * old
            change += weights[i] * pull[i, j] * (pull[i, j] - old)
    # Polak and Ribiere.
    share = max(change / size, 0.0) if size > 0.0 else 0.0
    downhill = 0.0
    for i in range(n):
        for j in range(m):
            downhill += weights[i] * pull[i, j] * (pull[i, j] + share * direction[i, j])
    if downhill <= 0.0:
        share = 0.0
    gain, step = stretch * step * slope, step * np.sqrt(stretch)
    for i in range(n):
        for j in range(m):
            direction[i, j] = pull[i, j] + share * direction[i, j]
            trial[i, j] = points[i, j] + step * direction[i, j]
    return gain, step


@pjit
def mean_distances(point_starts, entry_at, end, proposals, points, distances):
    """Root mean square distance of each point (T, M) to its proposals, into ``distances`` (T,).

    Entries from ``end`` on do not count; the others are as in `average_proposals`. A point without
    any has 0.
    """
    for point in numba.prange(points.shape[0]):
        total, count = 0.0, 0
        for k in range(point_starts[point], point_starts[point + 1]):
            if entry_at[k] < end:
                count += 1
                for j in range(points.shape[1]):
                    total += (proposals[entry_at[k], j] - points[point, j]) ** 2
        distances[point] = np.sqrt(total / max(count, 1))
