"""Blocks merged pair by pair in the order of the points that they share.

Overlaps are never held for all pairs of blocks: each block knows only its best partner, and because
overlaps can only grow, a merger has to count nothing but what the merged block shares.
"""

from typing import NamedTuple

import numpy as np

from .._base.jit import helper, jit
from .alignment import OPEN, diagonalize, nearest_rotation

FLAT, ROUNDING = 50.0, 1e-14
"""Variances of the residual that the mirror image must fit worse by, which about one in a hundred
flat sets of points does by chance (docs/decisions/006-merging-cliques.md), and the least variance,
that of rounding errors, as a fraction of the sum of squares."""


class Motion(NamedTuple):
    """A rigid motion, ``point @ rotation + translation``, and workspace to fit it."""

    rotation: np.ndarray  # (m, m)
    cross: np.ndarray  # (m, m) products of the shared points of the small and the large block
    spread: np.ndarray  # (m, m) the same along the directions in which they vary, as columns
    translation: np.ndarray  # (m,)
    from_mean: np.ndarray  # (m,) of the shared points of the small block
    to_mean: np.ndarray  # (m,) and of the large one
    moved: np.ndarray  # (m,) a point that was moved
    work: np.ndarray  # (3, m, m)
    pairs: np.ndarray  # (n, 2) entries of the shared points


@helper
def count_shared(state, block, counts):
    """Fill ``counts`` (n_blocks,) with how many points of a block each other shares, by name."""
    counts[:] = 0
    entry = state.first[block]
    while entry >= 0:
        point = state.members[entry]
        start = state.point_starts[point]
        for k in range(start, start + state.n_at[point]):
            counts[state.name[state.owner[state.entry_at[k]]]] += 1
        entry = state.following[entry]
    counts[state.name[block]] = 0


@helper
def find_entry(state, point, block):
    """Where in a point's list of entries the one of a block is, or -1."""
    start = state.point_starts[point]
    for k in range(start, start + state.n_at[point]):
        if state.owner[state.entry_at[k]] == block:
            return k
    return -1


@helper
def move(motion, point):
    """Fill and return where a motion brings a point (M,)."""
    rotation, translation, moved = motion.rotation, motion.translation, motion.moved
    for j in range(moved.size):
        moved[j] = translation[j]
        for k in range(moved.size):
            moved[j] += point[k] * rotation[k, j]
    return moved


@helper
def fit_shared(state, big, small, framed, motion):
    """Fill the rigid motion that brings block ``small`` to ``big`` on the points they share.

    Returns whether the motion is certain, and how many points are shared. It is where these are not
    so flat (a line in the plane, a plane in space) that the mirror image fits them nearly as well,
    unless the small block is as flat. Where it is not and the blocks are ``framed``, turned to a
    common frame before, what the shared points leave open is turned as little as possible.
    """
    coordinates, m = state.coordinates, state.coordinates.shape[1]
    cross, from_mean, to_mean, pairs = motion.cross, motion.from_mean, motion.to_mean, motion.pairs
    cross[:] = 0.0
    from_mean[:] = 0.0
    to_mean[:] = 0.0
    count = 0
    entry = state.first[small]
    while entry >= 0:
        index = find_entry(state, state.members[entry], big)
        if index >= 0:
            pairs[count, 0], pairs[count, 1] = entry, state.entry_at[index]
            count += 1
        entry = state.following[entry]
    for i in range(count):
        for j in range(m):
            from_mean[j] += coordinates[pairs[i, 0], j] / count
            to_mean[j] += coordinates[pairs[i, 1], j] / count
    from_size, to_size = 0.0, 0.0
    for i in range(count):
        for k in range(m):
            source = coordinates[pairs[i, 0], k] - from_mean[k]
            from_size += source * source
            to_size += (coordinates[pairs[i, 1], k] - to_mean[k]) ** 2
            for j in range(m):
                cross[k, j] += source * (coordinates[pairs[i, 1], j] - to_mean[j])
    scale = np.sqrt(from_size * to_size)
    fit_means(motion, OPEN * scale)
    if count <= m:
        return False, count
    misfit = 0.0
    for i in range(count):
        moved = move(motion, coordinates[pairs[i, 0]])
        for j in range(m):
            misfit += (moved[j] - coordinates[pairs[i, 1], j]) ** 2
    # Of count m numbers as many were fitted as a motion has; below the floor is rounding.
    variance = max(misfit / (count * m - m * (m + 1) / 2), ROUNDING * scale)
    spread, directions = motion.spread, motion.work[0]
    spread[:] = cross
    diagonalize(spread, directions)
    for p in range(m):
        # The mirror image across this direction fits worse by four times its singular value.
        square = 0.0
        for i in range(m):
            square += spread[i, p] * spread[i, p]
        if 4.0 * np.sqrt(square) > FLAT * variance:
            continue
        width = 0.0
        entry = state.first[small]
        while entry >= 0:
            moved = move(motion, coordinates[entry])
            along = 0.0
            for j in range(m):
                along += (moved[j] - to_mean[j]) * directions[j, p]
            width += along * along
            entry = state.following[entry]
        if width > FLAT * variance * state.size[small]:
            if framed:
                fit_means(motion, 0.25 * FLAT * variance)
            return False, count
    return True, count


@helper
def fit_means(motion, floor):
    """Fill rotation and translation of `fit_shared`, the latter to bring one mean to the other."""
    rotation, translation = motion.rotation, motion.translation
    nearest_rotation(motion.cross, floor, rotation, motion.work)
    for j in range(translation.size):
        translation[j] = motion.to_mean[j]
        for k in range(translation.size):
            translation[j] -= motion.from_mean[k] * rotation[k, j]


@helper
def absorb(state, big, small, motion):
    """Move a block into another: shared points are averaged, the others change their owner."""
    coordinates, mass = state.coordinates, state.mass
    entry = state.first[small]
    while entry >= 0:
        after, point = state.following[entry], state.members[entry]
        moved = move(motion, coordinates[entry])
        index = find_entry(state, point, big)
        if index >= 0:
            target = state.entry_at[index]
            fraction = mass[entry] / (mass[target] + mass[entry])
            for j in range(moved.size):
                coordinates[target, j] += fraction * (moved[j] - coordinates[target, j])
            mass[target] += mass[entry]
            # The last entry of the point takes the place of the one that is gone.
            gone = find_entry(state, point, small)
            state.n_at[point] -= 1
            state.entry_at[gone] = state.entry_at[state.point_starts[point] + state.n_at[point]]
        else:
            coordinates[entry] = moved
            state.owner[entry] = big
            state.following[entry] = -1
            state.following[state.last[big]] = entry
            state.last[big] = entry
            state.size[big] += 1
        entry = after


@jit
def merge_all(state, order, open_motions, framed, motion):
    """Merge the two blocks with the most shared points until none share any (Section 2.4).

    Pairs that leave the motion open count as many points as always do, M at most, and so come last.
    ``order`` (n_blocks, 3) is filled with the names of the two blocks of each merger, of which the
    merged block has the lower, and the number of points they share; ``open_motions`` (n_blocks,)
    with whether the motion was open. ``framed`` is that of `fit_shared`.
    Returns the number of mergers.
    """
    best, partner, size = state.best, state.partner, state.size
    n_blocks, m = best.size, state.coordinates.shape[1]
    counts, changed = np.empty(n_blocks, np.int64), np.empty(n_blocks, np.int64)
    for block in range(n_blocks):
        count_shared(state, block, counts)
        partner[block] = np.argmax(counts)
        best[block] = counts[partner[block]]
    for n_mergers in range(order.shape[0]):
        certain = False
        while not certain:
            low = np.argmax(best)
            if best[low] == 0:
                return n_mergers
            big, small = state.slot[low], state.slot[partner[low]]
            if size[big] < size[small]:
                big, small = small, big
            certain, n_shared = fit_shared(state, big, small, framed, motion)
            if certain or best[low] <= m:
                break
            set_certain_partner(state, low, counts, framed, motion)
        high = partner[low]
        if high < low:
            low, high = high, low
        order[n_mergers, 0], order[n_mergers, 1], order[n_mergers, 2] = low, high, n_shared
        open_motions[n_mergers] = not certain
        renamed = state.name[big] != low
        count_shared(state, small, changed)
        absorb(state, big, small, motion)
        state.name[big], state.slot[low] = low, big
        count_shared(state, big, counts)
        partner[low] = np.argmax(counts)
        best[low], best[high] = counts[partner[low]], 0
        # Overlaps only grow: the best partner of a third block is the old one or the merged block.
        # One that shares nothing with the small block is as it was, set back where it is open.
        for third in range(n_blocks):
            count = counts[third] if renamed or changed[third] > 0 else 0
            if count > best[third] or (0 < count == best[third] and low < partner[third]):
                best[third], partner[third] = count, low
    return order.shape[0]


@helper
def set_certain_partner(state, low, counts, framed, motion):
    """Make the partner of a name the one with the most shared points whose motion is certain."""
    m = state.coordinates.shape[1]
    block = state.slot[low]
    count_shared(state, block, counts)
    while True:
        high = np.argmax(counts)
        big, small = block, state.slot[high]
        if state.size[big] < state.size[small]:
            big, small = small, big
        if counts[high] <= m or fit_shared(state, big, small, framed, motion)[0]:
            break
        counts[high] = m
    state.partner[low], state.best[low] = high, counts[high]
