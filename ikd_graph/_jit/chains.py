"""Cliques in groups that are chained by shared points, with an index of cliques by point."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._numba import helper, jit


class Chain(NamedTuple):
    """Cliques with their groups, open to more cliques at the end, and an index by point."""

    indptr: np.ndarray  # (k + 1,) int64, where cliques start and end
    members: np.ndarray  # (s,) int32, points of the cliques
    owner: np.ndarray  # (s,) int32, clique of a place in members
    next: np.ndarray  # (s,) int64, next place of the same point, -1 at the end
    head: np.ndarray  # (n,) int64, first place of a point
    group: np.ndarray  # (k,) int32, clique of the same group with a smaller number, or itself
    after: np.ndarray  # (k,) int32, next clique of the same group, round and round
    size: np.ndarray  # (k,) int32, cliques of the group that is named after a clique
    origin: np.ndarray  # (k,) int32, clique on trial: the clique it was reached from
    linked: np.ndarray  # (k,) bool, clique whose group holds all that share enough with it
    closed: np.ndarray  # (k,) bool, group that nothing more can be chained to
    shared: np.ndarray  # (k,) int32, all zero between calls
    touched: np.ndarray  # (k,) int32, room for the cliques that share something
    hits: np.ndarray  # (n,) int32, all zero between calls
    near: np.ndarray  # (n,) int32, room for the points next to a clique
    effort: np.ndarray  # (1,) int64, places read so far
    n_open: np.ndarray  # (1,) int64, groups that are not closed
    place: np.ndarray  # (2,) int64, size of the groups now looked at, and clique to go on from


@helper
def index_clique(chain, clique):
    """Enter a clique, whose members are in place, in the index by point."""
    for j in range(chain.indptr[clique], chain.indptr[clique + 1]):
        point = chain.members[j]
        chain.owner[j] = clique
        chain.next[j] = chain.head[point]
        chain.head[point] = j


@helper
def drop_clique(chain, clique):
    """Take the clique that was entered last out of the index."""
    for j in range(chain.indptr[clique + 1] - 1, chain.indptr[clique] - 1, -1):
        chain.head[chain.members[j]] = chain.next[j]


@helper
def count_shared(chain, clique):
    """Count the points that a clique shares with each clique in the index.

    Sets ``shared``, ``touched`` and ``effort``; the clique need not be in the index. Returns the
    number of cliques touched.
    """
    count, read = 0, 0
    for i in range(chain.indptr[clique], chain.indptr[clique + 1]):
        j = chain.head[chain.members[i]]
        while j >= 0:
            read += 1
            other = chain.owner[j]
            if chain.shared[other] == 0:
                chain.touched[count] = other
                count += 1
            chain.shared[other] += 1
            j = chain.next[j]
    chain.effort[0] += read
    return count


@helper
def find_group(group, clique):
    """Smallest clique of the group of a clique (union-find, halving the path on the way).

    ``group`` (k,) holds a clique of the same group with a smaller number, itself at the root.
    """
    while group[clique] != clique:
        group[clique] = group[group[clique]]
        clique = group[clique]
    return clique


@helper
def join_groups(chain, first, second):
    """Make one group of the groups of two cliques, open again; returns whether there were two."""
    first, second = find_group(chain.group, first), find_group(chain.group, second)
    if first == second:
        return False
    low, high = min(first, second), max(first, second)
    chain.group[high] = low
    chain.size[low] += chain.size[high]
    # Two rings become one where they exchange what comes after a clique of each.
    chain.after[low], chain.after[high] = chain.after[high], chain.after[low]
    chain.n_open[0] -= not chain.closed[low] and not chain.closed[high]
    chain.n_open[0] += chain.closed[low] and chain.closed[high]
    chain.closed[low] = False
    return True


@helper
def start_group(chain, clique):
    """Make a group of one clique."""
    chain.group[clique] = clique
    chain.after[clique] = clique
    chain.size[clique] = 1
    chain.closed[clique] = False
    chain.n_open[0] += 1


@helper
def close_group(chain, group):
    """Close an open group."""
    chain.closed[group] = True
    chain.n_open[0] -= 1


@helper
def link_clique(chain, clique, overlap):
    """Join the groups of all cliques in the index that share enough with a clique.

    Returns whether there were any.
    """
    joined = False
    for i in range(count_shared(chain, clique)):
        other = np.int64(chain.touched[i])
        if chain.shared[other] >= overlap:
            joined |= join_groups(chain, clique, other)
        chain.shared[other] = 0
    return joined


@jit
def enter_cliques(chain, n_cliques, overlap):
    """Enter the cliques of a cover, joining at little cost most of those that hang together.

    To count what all pairs share would take longer than the cover took. So a clique is compared
    only with the last clique of each of its points; groups that are left apart are compared with
    all others later, from the smallest on.
    """
    for clique in range(n_cliques):
        start_group(chain, clique)
        for j in range(chain.indptr[clique], chain.indptr[clique + 1]):
            last = chain.head[chain.members[j]]
            if last >= 0:
                other = np.int64(chain.owner[last])
                chain.shared[other] += 1
                if chain.shared[other] == overlap:
                    join_groups(chain, clique, other)
        for j in range(chain.indptr[clique], chain.indptr[clique + 1]):
            last = chain.head[chain.members[j]]
            if last >= 0:
                chain.shared[chain.owner[last]] = 0
        index_clique(chain, clique)


@helper
def link_group(chain, cliques, overlap):
    """Join a group with the groups that share enough with the first of its cliques to find any.

    The cliques compared with all others are ``linked`` and need it only once. Returns whether there
    was such a group.
    """
    for i in range(cliques.size):
        clique = np.int64(cliques[i])
        if not chain.linked[clique]:
            chain.linked[clique] = True
            # Stop here: to go on would be to compare the cliques of the other, larger group too.
            if link_clique(chain, clique, overlap):
                return True
    return False


@helper
def ascend(values, count):
    """Sort the first values in place (Shell 1959): far less to compile than a quick sort."""
    gap = 1
    while gap < count:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, count):
            value, at = values[i], i
            while at >= gap and values[at - gap] > value:
                values[at] = values[at - gap]
                at -= gap
            values[at] = value
        gap //= 3


@helper
def smallest_open(chain, n_cliques, cliques):
    """Find the open group with the fewest cliques, of several the first, and list its cliques.

    ``cliques`` (k,) is filled with them, ascending. Returns their number, 0 if fewer than two
    groups are open: closed ones cannot be reached. Groups only grow, and one that is opened again
    was joined to one that is open: the fewest cliques of an open group never become fewer, and
    the search goes on from where it was.
    """
    while chain.n_open[0] > 1:
        for group in range(chain.place[1], n_cliques):
            if (
                chain.size[group] == chain.place[0]
                and chain.group[group] == group
                and not chain.closed[group]
            ):
                chain.place[1] = group
                clique, count = group, 0
                while count < chain.size[group]:
                    cliques[count] = clique
                    clique = chain.after[clique]
                    count += 1
                ascend(cliques, count)
                return count
        fewest = n_cliques + 1
        for group in range(n_cliques):
            if chain.group[group] == group and not chain.closed[group]:
                fewest = min(fewest, chain.size[group])
        chain.place[0] = fewest
        chain.place[1] = 0
    return 0
