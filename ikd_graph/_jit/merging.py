"""Blocks merged pair by pair in the order of the points that they share.

Overlaps are never held for all pairs of blocks: each block knows only the best partner, and because
overlaps can only grow, a merger has to look at nothing but the row of the merged block. Of a row
only the blocks that it counts are looked at, and the largest of the best is found by way of the
largest of every ``CHUNK`` on end, so that a merger costs what its points do.
"""

import numpy as np

from .._base.jit import inlined, lean_helper, lean_jit
from .alignment import copy, diagonalize, fit, moved, nearest_rotation

CHUNK = 512
"""Values that are looked at one by one for the largest; the sum of both loops is least at √n."""

FLAT, ROUNDING = 50.0, 1e-14
"""Variances of the residual that the mirror image must fit worse by, which about one in a hundred
flat sets of points does by chance (docs/decisions/006-merging-cliques.md), and the least variance,
that of rounding errors, as a fraction of the sum of squares."""


@lean_helper
def set_best(state, name, count):
    """Set the largest number of points that a name shares, and the largest of its chunk."""
    best, tops, chunk = state.best, state.best_tops, name // CHUNK
    before, top = best[name], tops[chunk]
    best[name] = count
    if count < before == top:
        top = count
        for i in range(chunk * CHUNK, min((chunk + 1) * CHUNK, best.size)):
            top = max(top, best[i])
    tops[chunk] = max(top, count)


@lean_helper
def first_best(state):
    """First name of those that share most points with their partners."""
    best, tops = state.best, state.best_tops
    chunk = 0
    for i in range(tops.size):
        if tops[i] > tops[chunk]:
            chunk = i
    name = chunk * CHUNK
    while best[name] < tops[chunk]:
        name += 1
    return name


@lean_helper
def set_count(state, row, name, count):
    """Set how many points a name shares with the block of a row."""
    if count > 0 and state.rows[row, name] == 0:
        state.counted[row, state.n_counted[row]] = name
        state.n_counted[row] += 1
    state.rows[row, name] = count


@lean_helper
def cached_row(state, block):
    """Row of ``state.rows`` with the counts of a block, kept from its last merger or made now."""
    if state.row_of[block] >= 0:
        return state.row_of[block]
    # A free row, else that of the smallest block: it is the cheapest to count again.
    chosen, least = 0, state.members.size + 1
    for i in range(state.row_owner.size):
        owner = state.row_owner[i]
        size = state.size[owner] if owner >= 0 else 0
        if size < least:
            chosen, least = i, size
    if state.row_owner[chosen] >= 0:
        state.row_of[state.row_owner[chosen]] = -1
    state.row_owner[chosen] = block
    state.row_of[block] = chosen
    # How many of its points every other block shares, by name.
    counts = state.rows[chosen]
    for i in range(state.n_counted[chosen]):
        counts[state.counted[chosen, i]] = 0
    state.n_counted[chosen] = 0
    entry = state.first[block]
    while entry >= 0:
        point = state.members[entry]
        start = state.point_starts[point]
        for k in range(start, start + state.n_at[point]):
            name = state.name[state.owner[state.entry_at[k]]]
            set_count(state, chosen, name, counts[name] + 1)
        entry = state.following[entry]
    counts[state.name[block]] = 0
    return chosen


@lean_helper
def find_entry(state, point, block):
    """Where in the lists of entries of points the one of a point in a block is, or -1."""
    start = state.point_starts[point]
    for k in range(start, start + state.n_at[point]):
        if state.owner[state.entry_at[k]] == block:
            return k
    return -1


@lean_helper
def fit_shared(state, big, small, framed, motion, shared):
    """Fill the rigid motion that brings block ``small`` to ``big`` on the points they share.

    ``shared`` are places of points in the one and the other, (n, M) each, and weights (n,) of 1.
    Returns whether the motion is certain: the shared points are not so flat (a line in the plane, a
    plane in space) that the mirror image fits them nearly as well, unless the small block is as
    flat. Where it is not and the blocks are ``framed``, turned to a common frame before, what the
    shared points leave open is turned as little as possible.
    """
    coordinates, following = state.coordinates, state.following
    m = coordinates.shape[1]
    source, target, ones = shared
    rotation, means = motion.rotation, motion.means
    count = 0
    entry = state.first[small]
    while entry >= 0:
        point = state.members[entry]
        index = find_entry(state, point, big)
        if index >= 0:
            for j in range(m):
                source[count, j] = coordinates[entry, j]
                target[count, j] = coordinates[state.entry_at[index], j]
            count += 1
        entry = following[entry]
    scale = fit(source, target, ones[:count], motion)
    if count <= m:
        return False
    misfit = 0.0
    for i in range(count):
        for j in range(m):
            misfit += (moved(source, i, j, rotation, means) - target[i, j]) ** 2
    # Of count m numbers as many were fitted as a motion has; below the floor is rounding.
    variance = max(misfit / (count * m - m * (m + 1) / 2), ROUNDING * scale)
    directions, left = motion.work[0], motion.work[1]
    copy(motion.cross, left)
    diagonalize(left, directions)
    for p in range(m):
        # The mirror image across this direction fits worse by four times its singular value.
        singular = 0.0
        for i in range(m):
            singular += left[i, p] * left[i, p]
        if 4.0 * np.sqrt(singular) <= FLAT * variance:
            width = 0.0
            entry = state.first[small]
            while entry >= 0:
                along = 0.0
                for j in range(m):
                    value = moved(coordinates, entry, j, rotation, means) - means[1, j]
                    along += value * directions[j, p]
                width += along * along
                entry = following[entry]
            if width > FLAT * variance * state.size[small]:
                if framed:
                    nearest_rotation(motion, FLAT * variance / 4.0)
                return False
    return True


@inlined
def larger_first(state, low, high):
    """Blocks of two names, the larger first."""
    big, small = state.slot[low], state.slot[high]
    return (small, big) if state.size[big] < state.size[small] else (big, small)


@lean_helper
def choose_partner(state, row, low, certain, framed, motion, shared):
    """Make the partner of a name the one with the most shared points, of several the first.

    ``row`` is that of its block. Where it has to be ``certain``, pairs that leave the motion open
    count as many points as always do, M at most.
    """
    m = state.coordinates.shape[1]
    best, partner, kept = 0, 0, 0
    for i in range(state.n_counted[row]):
        name = state.counted[row, i]
        count = state.rows[row, name]
        # Those that are gone count nothing, and are looked at no more.
        state.counted[row, kept] = name
        kept += count > 0
        if count == 0 or count < best or (count == best and name > partner):
            continue
        if certain and count > m:
            big, small = larger_first(state, low, name)
            if not fit_shared(state, big, small, framed, motion, shared):
                count = m
        if count > best or (count == best and name < partner):
            best, partner = count, name
    state.n_counted[row] = kept
    set_best(state, low, best)
    state.partner[low] = partner


@lean_helper
def prefer(state, third, count, low):
    """Make the merged block, named ``low``, the partner of one that shares most with it."""
    if count > state.best[third] or (count == state.best[third] and low < state.partner[third]):
        set_best(state, third, count)
        state.partner[third] = low


@lean_helper
def absorb(state, big, small, low, motion, row):
    """Move a block into another: shared points are averaged, the others change their owner.

    The row of the big block and the partners of those that share points with the small one are
    brought up to date.
    """
    coordinates, owner, mass = state.coordinates, state.owner, state.mass
    entry_at, n_at, following = state.entry_at, state.n_at, state.following
    rotation, means, place = motion.rotation, motion.means, motion.work[0, 0]
    m = place.size
    entry = state.first[small]
    while entry >= 0:
        after, point = following[entry], state.members[entry]
        for j in range(m):
            place[j] = moved(coordinates, entry, j, rotation, means)
        start, count = state.point_starts[point], n_at[point]
        index = find_entry(state, point, big)
        if index >= 0:
            target = entry_at[index]
            total = mass[target] + mass[entry]
            for j in range(m):
                gap = place[j] - coordinates[target, j]
                coordinates[target, j] += gap * mass[entry] / total
            mass[target] = total
            gone = find_entry(state, point, small)
            count -= 1
            n_at[point] = count
            entry_at[gone] = entry_at[start + count]
        for k in range(start, start + count):
            third = state.name[owner[entry_at[k]]]
            if index < 0:
                set_count(state, row, third, state.rows[row, third] + 1)
            prefer(state, third, state.rows[row, third], low)
        if index < 0:
            for j in range(m):
                coordinates[entry, j] = place[j]
            owner[entry] = big
            following[entry] = -1
            following[state.last[big]] = entry
            state.last[big] = entry
            state.size[big] += 1
        entry = after


@lean_helper
def rename(state, big, small, low, high, row):
    """Give a merged block the lower name and bring the best partners up to date.

    Overlaps only grow, so the best partner of a third block is the old one or the merged block:
    nothing but the row of the merged block is looked at, and that only if its name is new to those
    that share nothing with the small block. ``low`` is the name of the merged block, ``high`` the
    one that is gone, ``row`` that of the merged block.
    """
    counts, renamed = state.rows[row], state.name[big] != low
    counts[low], counts[high] = 0, 0
    state.name[big] = low
    state.slot[low] = big
    if state.row_of[small] >= 0:
        state.row_owner[state.row_of[small]] = -1
        state.row_of[small] = -1
    for i in range(state.row_owner.size):
        owner = state.row_owner[i]
        if owner >= 0 and owner != big:
            set_count(state, i, low, counts[state.name[owner]])
            state.rows[i, high] = 0
    if renamed:
        for i in range(state.n_counted[row]):
            third = state.counted[row, i]
            # Those that are gone count nothing.
            if counts[third] > 0:
                prefer(state, third, counts[third], low)
    set_best(state, high, 0)


@lean_jit
def merge_all(state, order, open_motions, framed, motion, shared):
    """Merge the two blocks with the most shared points until none share any (Section 2.4).

    Pairs that leave the motion open come last. ``order`` (n_blocks, 3) is filled with the names of
    the two blocks of each merger, of which the merged block has the lower, and the number of points
    they share; ``open_motions`` (n_blocks,) with whether the motion was open. ``framed``,
    ``motion`` and ``shared`` are those of `fit_shared`. Returns the number of mergers.
    """
    m = state.coordinates.shape[1]
    for block in range(state.first.size):
        row = cached_row(state, block)
        choose_partner(state, row, block, False, framed, motion, shared)
    n_mergers = 0
    while n_mergers < order.shape[0]:
        low = first_best(state)
        if state.best[low] == 0:
            break
        high = state.partner[low]
        big, small = larger_first(state, low, high)
        row = cached_row(state, big)
        n_shared = state.rows[row, state.name[small]]
        certain = fit_shared(state, big, small, framed, motion, shared)
        if not certain and state.best[low] > m:
            row = cached_row(state, state.slot[low])
            choose_partner(state, row, low, True, framed, motion, shared)
            continue
        retained, gone = (low, high) if low < high else (high, low)
        order[n_mergers, 0], order[n_mergers, 1] = retained, gone
        order[n_mergers, 2] = n_shared
        open_motions[n_mergers] = not certain
        n_mergers += 1
        absorb(state, big, small, retained, motion, row)
        rename(state, big, small, retained, gone, row)
        choose_partner(state, row, retained, False, framed, motion, shared)
    return n_mergers
