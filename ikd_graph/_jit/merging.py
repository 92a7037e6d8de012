"""Blocks merged pair by pair in the order of the points that they share.

Overlaps are never held for all pairs of blocks: each block knows only its best partner, and because
overlaps can only grow, a merger has to count nothing but what the merged block shares.
"""

import numpy as np

from .._base.jit import helper, jit
from .alignment import OPEN, diagonalize, nearest_rotation

FLAT, ROUNDING = 50.0, 1e-14
"""Variances of the residual that the mirror image must fit worse by, which about one in a hundred
flat sets of points does by chance (docs/decisions/006-merging-cliques.md), and the least variance,
that of rounding errors, as a fraction of the sum of squares."""


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
def move(point, rotation, translation, moved):
    """Fill ``moved`` (M,) with ``point @ rotation + translation``."""
    for j in range(moved.size):
        moved[j] = translation[j]
        for k in range(moved.size):
            moved[j] += point[k] * rotation[k, j]


@helper
def fit_shared(state, big, small, framed, work, pairs):
    """Fill the rigid motion that brings block ``small`` to ``big`` on the points they share.

    The motion is ``work[4]``, the rotation, and the first row of ``work[5]``, the translation; the
    other squares of ``work`` (9, M, M) and ``pairs`` (n, 2) are workspace. Returns whether the
    motion is certain, and how many points are shared. It is where these are not so flat (a line in
    the plane, a plane in space) that the mirror image fits them nearly as well, unless the small
    block is as flat. Where it is not and the blocks are ``framed``, turned to a common frame
    before, what the shared points leave open is turned as little as possible.
    """
    coordinates, m = state.coordinates, state.coordinates.shape[1]
    directions, whole, cross, rotation, translation = work[0], work[1], work[3], work[4], work[5, 0]
    from_mean, to_mean, moved = work[6, 0], work[7, 0], work[8, 0]
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
    fit_means(cross, OPEN * scale, from_mean, to_mean, work)
    if count <= m:
        return False, count
    misfit = 0.0
    for i in range(count):
        move(coordinates[pairs[i, 0]], rotation, translation, moved)
        for j in range(m):
            misfit += (moved[j] - coordinates[pairs[i, 1], j]) ** 2
    # Of count m numbers as many were fitted as a motion has; below the floor is rounding.
    variance = max(misfit / (count * m - m * (m + 1) / 2), ROUNDING * scale)
    whole[:] = cross
    diagonalize(cross, directions)
    for p in range(m):
        # The mirror image across this direction fits worse by four times its singular value.
        square = 0.0
        for i in range(m):
            square += cross[i, p] * cross[i, p]
        if 4.0 * np.sqrt(square) > FLAT * variance:
            continue
        width = 0.0
        entry = state.first[small]
        while entry >= 0:
            move(coordinates[entry], rotation, translation, moved)
            along = 0.0
            for j in range(m):
                along += (moved[j] - to_mean[j]) * directions[j, p]
            width += along * along
            entry = state.following[entry]
        if width > FLAT * variance * state.size[small]:
            if framed:
                cross[:] = whole
                fit_means(cross, 0.25 * FLAT * variance, from_mean, to_mean, work)
            return False, count
    return True, count


@helper
def fit_means(cross, floor, from_mean, to_mean, work):
    """Fill rotation and translation of `fit_shared`, the latter to bring one mean to the other."""
    rotation, translation = work[4], work[5, 0]
    nearest_rotation(cross, floor, rotation, work)
    for j in range(to_mean.size):
        translation[j] = to_mean[j]
        for k in range(to_mean.size):
            translation[j] -= from_mean[k] * rotation[k, j]


@helper
def absorb(state, big, small, work):
    """Move a block into another: shared points are averaged, the others change their owner."""
    coordinates, mass, moved = state.coordinates, state.mass, work[8, 0]
    entry = state.first[small]
    while entry >= 0:
        after, point = state.following[entry], state.members[entry]
        move(coordinates[entry], work[4], work[5, 0], moved)
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
def merge_all(state, order, open_motions, framed, work, pairs):
    """Merge the two blocks with the most shared points until none share any (Section 2.4).

    Pairs that leave the motion open count as many points as always do, M at most, and so come last.
    ``order`` (n_blocks, 3) is filled with the names of the two blocks of each merger, of which the
    merged block has the lower, and the number of points they share; ``open_motions`` (n_blocks,)
    with whether the motion was open. ``framed``, ``work`` and ``pairs`` are those of `fit_shared`.
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
            certain, n_shared = fit_shared(state, big, small, framed, work, pairs)
            if certain or best[low] <= m:
                break
            set_certain_partner(state, low, counts, framed, work, pairs)
        high = partner[low]
        if high < low:
            low, high = high, low
        order[n_mergers, 0], order[n_mergers, 1], order[n_mergers, 2] = low, high, n_shared
        open_motions[n_mergers] = not certain
        renamed = state.name[big] != low
        count_shared(state, small, changed)
        absorb(state, big, small, work)
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
def set_certain_partner(state, low, counts, framed, work, pairs):
    """Make the partner of a name the one with the most shared points whose motion is certain."""
    m = state.coordinates.shape[1]
    block = state.slot[low]
    count_shared(state, block, counts)
    while True:
        high = np.argmax(counts)
        big, small = block, state.slot[high]
        if state.size[big] < state.size[small]:
            big, small = small, big
        if counts[high] <= m or fit_shared(state, big, small, framed, work, pairs)[0]:
            break
        counts[high] = m
    state.partner[low], state.best[low] = high, counts[high]
