"""Blocks merged pair by pair in the order of the points that they share.

Overlaps are never held for all pairs of blocks: each block knows only the best partner, and because
overlaps can only grow, a merger has to look at nothing but the row of the merged block. Of a row
only the blocks that it counts are looked at, and the largest of it and of the best are found by
way of the largest of every ``CHUNK`` on end, so that a merger costs what its points do.
"""

import numpy as np

from .._numba import helper, jit
from .alignment import diagonalise, nearest_rotation

CHUNK = 512
"""Values that are looked at one by one for the largest; the sum of both loops is least at √n."""

FLAT, ROUNDING = 50.0, 1e-14
"""Variances of the residual that the mirror image must fit worse by, which about one in a hundred
flat sets of points does by chance (docs/decisions/006-merging-cliques.md), and the least variance,
that of rounding errors, as a share of the sum of squares."""


@helper
def raise_to(values, tops, at, value):
    """Set a value that only grows, and the largest of its chunk."""
    values[at] = value
    tops[at // CHUNK] = max(tops[at // CHUNK], value)


@helper
def clear(values, tops, at):
    """Set a value to zero and find the largest of its chunk anew, if it was that."""
    value = values[at]
    values[at] = 0
    if value == 0 or value < tops[at // CHUNK]:
        return
    start = at // CHUNK * CHUNK
    top = values[start]
    for i in range(start, min(start + CHUNK, values.size)):
        top = max(top, values[i])
    tops[at // CHUNK] = top


@helper
def first_largest(values, tops):
    """First index of the largest value."""
    chunk = 0
    for i in range(tops.size):
        if tops[i] > tops[chunk]:
            chunk = i
    for i in range(chunk * CHUNK, values.size):
        if values[i] == tops[chunk]:
            return i
    return 0


@helper
def count_in_row(state, row, name):
    """Count one more point that a name shares with the block of a row."""
    if state.rows[row, name] == 0:
        state.counted[row, state.n_counted[row]] = name
        state.n_counted[row] += 1
    raise_to(state.rows[row], state.row_tops[row], np.int64(name), state.rows[row, name] + 1)


@helper
def count_shared(state, block, row):
    """Count in a row how many points of a block every other block shares, by name."""
    for i in range(state.n_counted[row]):
        state.rows[row, state.counted[row, i]] = 0
        state.row_tops[row, state.counted[row, i] // CHUNK] = 0
    state.n_counted[row] = 0
    entry = state.first[block]
    while entry >= 0:
        point = state.members[entry]
        start = state.point_starts[point]
        for k in range(start, start + state.n_at[point]):
            count_in_row(state, row, state.name[state.owner[state.entry_at[k]]])
        entry = state.following[entry]
    clear(state.rows[row], state.row_tops[row], np.int64(state.name[block]))


@helper
def cached_row(state, block):
    """Row of ``state.rows`` with the counts of a block, kept from its last merger or made now."""
    if state.row_of[block] >= 0:
        return state.row_of[block]
    # A free row, else that of the smallest block: it is the cheapest to count again.
    chosen = 0
    for i in range(state.row_owner.size):
        owner = state.row_owner[i]
        if owner < 0:
            chosen = i
            break
        if state.size[owner] < state.size[state.row_owner[chosen]]:
            chosen = i
    if state.row_owner[chosen] >= 0:
        state.row_of[state.row_owner[chosen]] = -1
    state.row_owner[chosen] = block
    state.row_of[block] = chosen
    count_shared(state, block, chosen)
    return chosen


@helper
def find_entry(state, point, block):
    """Index into ``state.entry_at`` of a block in the list of a point, -1 if it is not there."""
    start = state.point_starts[point]
    for k in range(start, start + state.n_at[point]):
        if state.owner[state.entry_at[k]] == block:
            return k
    return -1


@helper
def fit_shared(state, big, small, n_shared, motion):
    """Fill the rigid motion that brings block ``small`` to ``big`` on the points they share.

    A point moves to ``point @ rotation + translation``: the first M and the next row of ``motion``
    (4 M + 1, M), the rest of which is room to work in. Returns whether the motion is certain: the
    shared points are not so flat (a line in the plane, a plane in space) that the mirror image fits
    them nearly as well, unless the small block is as flat.
    """
    m = state.coordinates.shape[1]
    rotation, translation, cross = motion[:m], motion[m], motion[m + 1 : 2 * m + 1]
    pairs = np.empty((n_shared, 2), np.int64)
    means = np.zeros((2, m), np.float64)
    count = 0
    entry = state.first[small]
    while entry >= 0:
        index = find_entry(state, state.members[entry], big)
        if index >= 0:
            pairs[count, 0], pairs[count, 1] = entry, state.entry_at[index]
            for side in range(2):
                for j in range(m):
                    means[side, j] += state.coordinates[pairs[count, side], j] / n_shared
            count += 1
        entry = state.following[entry]
    sizes = np.zeros(2, np.float64)
    for k in range(m):
        for j in range(m):
            cross[k, j] = 0.0
    for i in range(count):
        for k in range(m):
            source = state.coordinates[pairs[i, 0], k] - means[0, k]
            sizes[0] += source * source
            sizes[1] += (state.coordinates[pairs[i, 1], k] - means[1, k]) ** 2
            for j in range(m):
                cross[k, j] += source * (state.coordinates[pairs[i, 1], j] - means[1, j])
    nearest_rotation(cross, np.sqrt(sizes[0] * sizes[1]), rotation)
    for j in range(m):
        translation[j] = means[1, j]
        for k in range(m):
            translation[j] -= means[0, k] * rotation[k, j]
    if n_shared <= m:
        return False
    misfit = 0.0
    for i in range(count):
        misfit += squared_off(state, pairs[i], rotation, translation)
    # Of n_shared m numbers as many were fitted as a motion has; below the floor is rounding.
    variance = misfit / (n_shared * m - m * (m + 1) / 2)
    variance = max(variance, ROUNDING * np.sqrt(sizes[0] * sizes[1]))
    u, v = motion[2 * m + 1 : 3 * m + 1], motion[3 * m + 1 :]
    for k in range(m):
        for j in range(m):
            u[k, j] = cross[k, j]
    diagonalise(u, v)
    for p in range(m):
        # The mirror image across this direction fits worse by four times its singular value.
        square = 0.0
        for i in range(m):
            square += u[i, p] * u[i, p]
        if 4.0 * np.sqrt(square) <= FLAT * variance:
            width = 0.0
            entry = state.first[small]
            while entry >= 0:
                along = 0.0
                for j in range(m):
                    value = translation[j] - means[1, j]
                    for k in range(m):
                        value += state.coordinates[entry, k] * rotation[k, j]
                    along += value * v[j, p]
                width += along * along
                entry = state.following[entry]
            if width > FLAT * variance * state.size[small]:
                return False
    return True


@helper
def squared_off(state, pair, rotation, translation):
    """Squared distance between two entries of a point after a motion of the first."""
    total = 0.0
    for j in range(translation.size):
        value = translation[j] - state.coordinates[pair[1], j]
        for k in range(translation.size):
            value += state.coordinates[pair[0], k] * rotation[k, j]
        total += value * value
    return total


@helper
def larger_first(state, low, high):
    """Blocks of two names, the larger first."""
    big, small = state.slot[low], state.slot[high]
    return (small, big) if state.size[big] < state.size[small] else (big, small)


@helper
def find_certain(state, low, motion):
    """Make the partner of a name the one with the most shared points whose motion is certain.

    Pairs that leave the motion open count as many points as always do, M at most.
    """
    m = state.coordinates.shape[1]
    row = cached_row(state, state.slot[low])
    best, partner = np.int64(0), np.int64(0)
    for i in range(state.n_counted[row]):
        name = np.int64(state.counted[row, i])
        count = np.int64(state.rows[row, name])
        if count < best or (count == best and name > partner):
            continue
        big, small = larger_first(state, low, name)
        if count > m and not fit_shared(state, big, small, count, motion):
            count = m
        if count > best or (count == best and name < partner):
            best, partner = count, name
    clear(state.best, state.best_tops, low)
    raise_to(state.best, state.best_tops, low, best)
    state.partner[low] = partner


@helper
def prefer(state, third, count, low):
    """Make the merged block, named ``low``, the partner of one that shares most with it."""
    if count > state.best[third] or (count == state.best[third] and low < state.partner[third]):
        raise_to(state.best, state.best_tops, np.int64(third), np.int64(count))
        state.partner[third] = low


@helper
def absorb(state, big, small, low, rotation, translation, row):
    """Move a block into another: shared points are averaged, the others change their owner.

    The row of the big block and the partners of those that share points with the small one are
    brought up to date.
    """
    m = translation.size
    moved = np.empty(m, np.float64)
    entry = state.first[small]
    while entry >= 0:
        following = state.following[entry]
        point = state.members[entry]
        for j in range(m):
            moved[j] = translation[j]
            for k in range(m):
                moved[j] += state.coordinates[entry, k] * rotation[k, j]
        index = find_entry(state, point, big)
        if index >= 0:
            target = state.entry_at[index]
            mass = state.mass[target] + state.mass[entry]
            for j in range(m):
                gap = moved[j] - state.coordinates[target, j]
                state.coordinates[target, j] += gap * state.mass[entry] / mass
            state.mass[target] = mass
            gone = find_entry(state, point, small)
            state.n_at[point] -= 1
            state.entry_at[gone] = state.entry_at[state.point_starts[point] + state.n_at[point]]
        start = state.point_starts[point]
        for k in range(start, start + state.n_at[point]):
            third = state.name[state.owner[state.entry_at[k]]]
            if index < 0:
                count_in_row(state, row, third)
            prefer(state, third, state.rows[row, third], low)
        if index < 0:
            for j in range(m):
                state.coordinates[entry, j] = moved[j]
            state.owner[entry] = big
            state.following[entry] = -1
            state.following[state.last[big]] = entry
            state.last[big] = entry
            state.size[big] += 1
        entry = following


@helper
def rename(state, big, small, low, high, row):
    """Give a merged block the lower name and bring the best partners up to date.

    Overlaps only grow, so the best partner of a third block is the old one or the merged block:
    nothing but the row of the merged block is looked at, and that only if its name is new to those
    that share nothing with the small block. ``low`` is the name of the merged block, ``high`` the
    one that is gone, ``row`` that of the merged block.
    """
    counts, renamed = state.rows[row], state.name[big] != low
    clear(counts, state.row_tops[row], low)
    clear(counts, state.row_tops[row], high)
    state.name[big] = low
    state.slot[low] = big
    if state.row_of[small] >= 0:
        state.row_owner[state.row_of[small]] = -1
        state.row_of[small] = -1
    for i in range(state.row_owner.size):
        owner = state.row_owner[i]
        if owner >= 0 and owner != big:
            count = counts[state.name[owner]]
            if count > 0 and state.rows[i, low] == 0:
                state.counted[i, state.n_counted[i]] = low
                state.n_counted[i] += 1
            raise_to(state.rows[i], state.row_tops[i], low, np.int64(count))
            clear(state.rows[i], state.row_tops[i], high)
    if renamed:
        for i in range(state.n_counted[row]):
            third = state.counted[row, i]
            # Those that are gone count nothing.
            if counts[third] > 0:
                prefer(state, third, counts[third], low)
    state.partner[low] = first_largest(counts, state.row_tops[row])
    clear(state.best, state.best_tops, high)
    clear(state.best, state.best_tops, low)
    raise_to(state.best, state.best_tops, low, np.int64(counts[state.partner[low]]))


@helper
def find_partner(state, block, counts, touched):
    """Set the partner of a block on its own, of several that share as much the first by name.

    ``counts`` (n_blocks,) is zero before and afterwards, ``touched`` (n_blocks,) room to work in.
    """
    n_touched = 0
    for entry in range(state.first[block], state.last[block] + 1):
        point = state.members[entry]
        for k in range(state.point_starts[point], state.point_starts[point + 1]):
            third = state.owner[state.entry_at[k]]
            if counts[third] == 0:
                touched[n_touched] = third
                n_touched += 1
            counts[third] += 1
    counts[block] = 0
    name = np.int64(state.name[block])
    best, partner = np.int64(0), np.int64(0)
    for i in range(n_touched):
        third = state.name[touched[i]]
        count = counts[touched[i]]
        if count > best or (count == best and best > 0 and third < partner):
            best, partner = count, third
        counts[touched[i]] = 0
    state.partner[name] = partner
    raise_to(state.best, state.best_tops, name, best)


@jit
def merge_all(state, order, open_motions):
    """Merge the two blocks with the most shared points until none share any (Section 2.4).

    Pairs that leave the motion open come last. ``order`` (n_blocks, 3) is filled with the names of
    the two blocks of each merger, of which the merged block has the lower, and the number of points
    they share; ``open_motions`` (n_blocks,) with whether the motion was open. Returns the number of
    mergers.
    """
    m = state.coordinates.shape[1]
    motion = np.empty((4 * m + 1, m), np.float64)
    for block in range(state.first.size):
        find_partner(state, block, state.rows[0], state.counted[0])
    n_mergers = 0
    while n_mergers < order.shape[0]:
        low = first_largest(state.best, state.best_tops)
        if state.best[low] == 0:
            break
        high = np.int64(state.partner[low])
        big, small = larger_first(state, low, high)
        row = cached_row(state, big)
        n_shared = np.int64(state.rows[row, state.name[small]])
        certain = fit_shared(state, big, small, n_shared, motion)
        if not certain and state.best[low] > m:
            find_certain(state, low, motion)
            continue
        order[n_mergers, 0] = min(low, high)
        order[n_mergers, 1] = max(low, high)
        order[n_mergers, 2] = n_shared
        open_motions[n_mergers] = not certain
        n_mergers += 1
        absorb(state, big, small, min(low, high), motion[:m], motion[m], row)
        rename(state, big, small, min(low, high), max(low, high), row)
    return n_mergers
