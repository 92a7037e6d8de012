"""Cliques in groups that are chained by shared points, with an index of cliques by point."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._config import inner, jit


class Chain(NamedTuple):
    """Cliques with their groups, open to more cliques at the end, and an index by point."""

    indptr: np.ndarray  # (k + 1,) int64, where cliques start and end
    members: np.ndarray  # (s,) int32, points of the cliques
    owner: np.ndarray  # (s,) int32, clique of a place in members
    next: np.ndarray  # (s,) int64, next place of the same point, -1 at the end
    head: np.ndarray  # (n,) int64, first place of a point
    group: np.ndarray  # (k,) int32, clique of the same group with a smaller number, or itself
    origin: np.ndarray  # (k,) int32, clique on trial: the clique it was reached from
    linked: np.ndarray  # (k,) bool, clique whose group holds all that share enough with it
    closed: np.ndarray  # (k,) bool, group that nothing more can be chained to
    shared: np.ndarray  # (k,) int32, all zero between calls
    touched: np.ndarray  # (k,) int32, room for the cliques that share something
    hits: np.ndarray  # (n,) int32, all zero between calls
    near: np.ndarray  # (n,) int32, room for the points next to a clique
    effort: np.ndarray  # (1,) int64, places read so far


@inner
def index_clique(chain, clique):
    """Enter a clique, whose members are in place, in the index by point."""
    for j in range(chain.indptr[clique], chain.indptr[clique + 1]):
        point = chain.members[j]
        chain.owner[j] = clique
        chain.next[j] = chain.head[point]
        chain.head[point] = j


@inner
def drop_clique(chain, clique):
    """Take the clique that was entered last out of the index."""
    for j in range(chain.indptr[clique + 1] - 1, chain.indptr[clique] - 1, -1):
        chain.head[chain.members[j]] = chain.next[j]


@inner
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


@inner
def find_group(group, clique):
    """Smallest clique of the group of a clique (union-find, halving the path on the way).

    ``group`` (k,) holds a clique of the same group with a smaller number, itself at the root.
    """
    while group[clique] != clique:
        group[clique] = group[group[clique]]
        clique = group[clique]
    return clique


@inner
def join_groups(chain, first, second):
    """Make one group of the groups of two cliques, open again; returns whether there were two."""
    first, second = find_group(chain.group, first), find_group(chain.group, second)
    chain.group[max(first, second)] = min(first, second)
    if first != second:
        chain.closed[min(first, second)] = False
    return first != second


@inner
def link_clique(chain, clique, overlap):
    """Join the groups of all cliques in the index that share enough with a clique.

    Returns whether there were any.
    """
    joined = False
    for i in range(count_shared(chain, clique)):
        other = chain.touched[i]
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
        chain.group[clique] = clique
        for j in range(chain.indptr[clique], chain.indptr[clique + 1]):
            last = chain.head[chain.members[j]]
            if last >= 0:
                other = chain.owner[last]
                chain.shared[other] += 1
                if chain.shared[other] == overlap:
                    join_groups(chain, clique, other)
        for j in range(chain.indptr[clique], chain.indptr[clique + 1]):
            last = chain.head[chain.members[j]]
            if last >= 0:
                chain.shared[chain.owner[last]] = 0
        index_clique(chain, clique)


@inner
def link_group(chain, n_cliques, group, overlap):
    """Join a group with the groups that share enough with the first of its cliques to find any.

    The cliques compared with all others are ``linked`` and need it only once. Returns whether there
    was such a group.
    """
    for clique in range(n_cliques):
        if not chain.linked[clique] and find_group(chain.group, clique) == group:
            chain.linked[clique] = True
            # Stop here: to go on would be to compare the cliques of the other, larger group too.
            if link_clique(chain, clique, overlap):
                return True
    return False


@jit
def smallest_open(chain, n_cliques):
    """Find the open group with the fewest cliques.

    Returns -1 if fewer than two groups are open: closed ones cannot be reached.
    """
    size = np.zeros(n_cliques, np.int64)
    for clique in range(n_cliques):
        size[find_group(chain.group, clique)] += 1
    best, n_open = -1, 0
    for clique in range(n_cliques):
        if size[clique] and not chain.closed[clique]:
            n_open += 1
            if best < 0 or size[clique] < size[best]:
                best = clique
    return best if n_open > 1 else -1
