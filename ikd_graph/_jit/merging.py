"""Blocks merged pair by pair in the order of the points that they share.

Overlaps are never held for all pairs of blocks: each block knows only the best partner, and because
overlaps can only grow, a merger has to look at nothing but the row of the merged block.
"""

import numpy as np

from .._config import inner, jit
from .alignment import rigid_motion


@inner
def count_shared(state, block, row):
    """Count in ``row`` (n_blocks,) how many points of a block every other block shares, by name."""
    for other in range(row.size):
        row[other] = 0
    entry = state.first[block]
    while entry >= 0:
        point = state.members[entry]
        start = state.point_starts[point]
        for k in range(start, start + state.n_at[point]):
            row[state.name[state.owner[state.entry_at[k]]]] += 1
        entry = state.following[entry]
    row[state.name[block]] = 0


@inner
def first_largest(row):
    """First index of the largest value."""
    # Two plain passes become vector instructions, one that carries an index does not.
    top = row[0]
    for i in range(row.size):
        top = max(top, row[i])
    for i in range(row.size):
        if row[i] == top:
            return i
    return 0


@inner
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
    count_shared(state, block, state.rows[chosen])
    return chosen


@inner
def find_entry(state, point, block):
    """Index into ``state.entry_at`` of a block in the list of a point, -1 if it is not there."""
    start = state.point_starts[point]
    for k in range(start, start + state.n_at[point]):
        if state.owner[state.entry_at[k]] == block:
            return k
    return -1


@inner
def fit_shared(state, big, small, n_shared, rotation, translation):
    """Fill the rigid motion that brings block ``small`` to ``big`` on the points they share."""
    m = state.coordinates.shape[1]
    source = np.empty((np.int64(n_shared), m), np.float64)
    target = np.empty((np.int64(n_shared), m), np.float64)
    alike = np.empty(np.int64(n_shared), np.float64)
    count = 0
    entry = state.first[small]
    while entry >= 0:
        place = find_entry(state, state.members[entry], big)
        if place >= 0:
            for j in range(m):
                source[count, j] = state.coordinates[entry, j]
                target[count, j] = state.coordinates[state.entry_at[place], j]
            alike[count] = 1.0
            count += 1
        entry = state.following[entry]
    rigid_motion(source, target, alike, rotation, translation)


@inner
def absorb(state, big, small, rotation, translation, row):
    """Move a block into another: shared points are averaged, the others change their owner.

    ``row`` (n_blocks,), the counts of the big block, is brought up to date.
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
        place = find_entry(state, point, big)
        if place >= 0:
            kept = state.entry_at[place]
            mass = state.mass[kept] + state.mass[entry]
            for j in range(m):
                gap = moved[j] - state.coordinates[kept, j]
                state.coordinates[kept, j] += gap * state.mass[entry] / mass
            state.mass[kept] = mass
            gone = find_entry(state, point, small)
            state.n_at[point] -= 1
            state.entry_at[gone] = state.entry_at[state.point_starts[point] + state.n_at[point]]
        else:
            start = state.point_starts[point]
            for k in range(start, start + state.n_at[point]):
                row[state.name[state.owner[state.entry_at[k]]]] += 1
            for j in range(m):
                state.coordinates[entry, j] = moved[j]
            state.owner[entry] = big
            state.following[entry] = -1
            state.following[state.last[big]] = entry
            state.last[big] = entry
            state.size[big] += 1
        entry = following


@inner
def rename(state, big, small, low, high, row):
    """Give a merged block the lower name and bring the best partners up to date.

    Overlaps only grow, so the best partner of a third block is the old one or the merged block:
    nothing but the row of the merged block is looked at. ``low`` is the name of the merged block,
    ``high`` the one that is gone, ``row`` (n_blocks,) the counts of the merged block.
    """
    row[low] = 0
    row[high] = 0
    state.name[big] = low
    state.slot[low] = big
    if state.row_of[small] >= 0:
        state.row_owner[state.row_of[small]] = -1
        state.row_of[small] = -1
    for i in range(state.row_owner.size):
        owner = state.row_owner[i]
        if owner >= 0 and owner != big:
            state.rows[i, low] = row[state.name[owner]]
            state.rows[i, high] = 0
    for other in range(row.size):
        count = row[other]
        if count > state.best[other] or (
            count > 0 and count == state.best[other] and low < state.partner[other]
        ):
            state.best[other] = count
            state.partner[other] = low
    state.partner[low] = first_largest(row)
    state.best[low] = row[state.partner[low]]
    state.best[high] = 0


@jit
def merge_all(state, order):
    """Merge the two blocks with the most shared points until none share any (Section 2.4).

    ``order`` (n_blocks, 3) is filled with the names of the two blocks of each merger, of which the
    merged block has the lower, and the number of points they share. Returns the number of mergers.
    """
    m = state.coordinates.shape[1]
    rotation = np.empty((m, m), np.float64)
    translation = np.empty(m, np.float64)
    for block in range(state.first.size):
        row = state.rows[0]
        count_shared(state, block, row)
        state.partner[block] = first_largest(row)
        state.best[block] = row[state.partner[block]]
    n_mergers = 0
    while n_mergers < order.shape[0]:
        low = first_largest(state.best)
        if state.best[low] == 0:
            break
        high = state.partner[low]
        order[n_mergers, 0] = low
        order[n_mergers, 1] = high
        order[n_mergers, 2] = state.best[low]
        n_mergers += 1
        big, small = state.slot[low], state.slot[high]
        if state.size[big] < state.size[small]:
            big, small = small, big
        row = state.rows[cached_row(state, big)]
        fit_shared(state, big, small, state.best[low], rotation, translation)
        absorb(state, big, small, rotation, translation, row)
        rename(state, big, small, low, high, row)
    return n_mergers
