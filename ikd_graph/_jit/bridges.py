"""Bridges of new cliques between groups of cliques."""

import numpy as np

from .._numba import helper, jit
from .chains import (
    close_group,
    count_shared,
    drop_clique,
    find_group,
    index_clique,
    link_clique,
    link_group,
    smallest_open,
    start_group,
)
from .covers import grow, mark


@helper
def find_near(graph, chain, clique):
    """Count how many points of a clique each point outside knows.

    Sets ``hits`` and ``near``; returns the number of points in ``near``.
    """
    count = 0
    for j in range(chain.indptr[clique], chain.indptr[clique + 1]):
        node = chain.members[j]
        for e in range(graph.indptr[node], graph.indptr[node + 1]):
            other = graph.indices[e]
            if chain.hits[other] == 0:
                chain.near[count] = other
                count += 1
            chain.hits[other] += 1
    for j in range(chain.indptr[clique], chain.indptr[clique + 1]):
        chain.hits[chain.members[j]] = 0
    return count


@helper
def take_nearest(chain, n_near, overlap):
    """Take the point outside a clique that knows most of it, at least ``overlap`` points.

    Its ``hits`` become zero. Returns -1 if there is none.
    """
    best = -1
    for i in range(n_near):
        point = chain.near[i]
        if chain.hits[point] >= overlap and (best < 0 or chain.hits[point] > chain.hits[best]):
            best = point
    if best >= 0:
        chain.hits[best] = 0
    return best


@helper
def try_neighbour(graph, cover, chain, n_cliques, trial, clique, point, overlap):
    """Put on trial the clique of a point outside a clique and all points of this that it knows.

    It is written in place ``trial``, its origin too. Returns 0 if a known clique holds it, 1 if it
    is new, 2 if it reaches another group.
    """
    at = chain.indptr[trial]
    size = 0
    e, end = graph.indptr[point], graph.indptr[point + 1]
    for j in range(chain.indptr[clique], chain.indptr[clique + 1]):
        node = chain.members[j]
        while e < end and graph.indices[e] < node:
            e += 1
        if e < end and graph.indices[e] == node:
            chain.members[at + size] = node
            size += 1
    chain.members[at + size] = point
    size += 1
    chain.indptr[trial + 1] = at + size
    known = False
    for i in range(count_shared(chain, trial)):
        known |= chain.shared[chain.touched[i]] == size
        chain.shared[chain.touched[i]] = 0
    if known:
        return 0
    size = grow(graph, cover, chain.members[at:], size)
    chain.indptr[trial + 1] = at + size
    chain.origin[trial] = clique
    group = clique
    while group >= n_cliques:
        group = chain.origin[group]
    group = find_group(chain.group, group)
    verdict = 1
    for i in range(count_shared(chain, trial)):
        other = np.int64(chain.touched[i])
        enough = other < n_cliques and chain.shared[other] >= overlap
        if enough and find_group(chain.group, other) != group:
            verdict = 2
        chain.shared[other] = 0
    return verdict


@helper
def keep_path(graph, cover, chain, n_cliques, last, overlap):
    """Keep the cliques on trial that lead to ``last``, in another group, and forget the others.

    Those on trial are out of the index. Returns the number of cliques in groups now.
    """
    length = 0
    step = last
    while step >= n_cliques:
        chain.touched[length] = step
        length += 1
        step = chain.origin[step]
    # The walk went backwards; forwards, a clique never moves past one that is still needed.
    path = chain.touched[:length].copy()
    for i in range(length):
        step, clique = path[length - 1 - i], n_cliques + i
        size = chain.indptr[step + 1] - chain.indptr[step]
        at = chain.indptr[clique]
        for j in range(size):
            chain.members[at + j] = chain.members[chain.indptr[step] + j]
        chain.indptr[clique + 1] = at + size
        mark(graph, cover, chain.members[at:], size)
        start_group(chain, clique)
        link_clique(chain, clique, overlap)
        chain.linked[clique] = True
        index_clique(chain, clique)
    return n_cliques + length


@helper
def tired(chain, n_trials, reach, patience):
    """Whether a search for a bridge has gone on long enough."""
    return n_trials >= reach or chain.effort[0] >= patience


@helper
def bridge(graph, cover, chain, n_cliques, group, overlap, reach, patience):
    """Search, breadth first, for a shortest way from a group of cliques to another.

    From a clique the search goes to every point outside that knows ``overlap`` points of it: these
    points make a clique that is chained to it, grown until it is maximal. What can be reached so is
    all that any chain of cliques of ``overlap + 1`` points can reach. ``group`` (k,), the
    cliques to start from, ascending, is closed if it reaches no other; if it shares enough with
    another as it is, the two are joined and no clique is added.
    At most ``reach`` cliques are on trial, for which ``chain`` has room and one more; the search
    gives up at the effort ``patience``. Returns the number of cliques now.
    """
    if link_group(chain, group, overlap):
        return n_cliques
    trial, at, found = n_cliques, 0, False
    while at < group.size + trial - n_cliques:
        if found or tired(chain, trial - n_cliques, reach, patience):
            break
        clique = group[at] if at < group.size else n_cliques + at - group.size
        n_near = find_near(graph, chain, clique)
        point = take_nearest(chain, n_near, overlap)
        while point >= 0:
            verdict = try_neighbour(graph, cover, chain, n_cliques, trial, clique, point, overlap)
            if verdict == 2:
                found = True
                break
            if verdict == 1:
                index_clique(chain, trial)
                trial += 1
            if tired(chain, trial - n_cliques, reach, patience):
                break
            point = take_nearest(chain, n_near, overlap)
        for i in range(n_near):
            chain.hits[chain.near[i]] = 0
        at += 1
    for step in range(trial - 1, n_cliques - 1, -1):
        drop_clique(chain, step)
    if not found:
        close_group(chain, find_group(chain.group, np.int64(group[0])))
        return n_cliques
    return keep_path(graph, cover, chain, n_cliques, trial, overlap)


@jit
def bridge_groups(graph, cover, chain, n_cliques, overlap, reach, patience, width):
    """Bridge the smallest open group again and again until all hang together, or none can.

    Cliques have at most ``width`` points. ``overlap``, ``reach`` and ``patience`` are as for
    `bridge`. Returns the number of cliques now and whether it is the end: if not, ``chain`` needs
    more room.
    """
    while chain.effort[0] < patience:
        places = chain.indptr[n_cliques] + (reach + 2) * width
        if n_cliques + reach + 2 > chain.group.size or places > chain.members.size:
            return n_cliques, False
        in_group = smallest_open(chain, n_cliques, chain.touched)
        if in_group == 0:
            break
        # ``touched`` is written to by what comes next.
        group = chain.touched[:in_group].copy()
        n_cliques = bridge(graph, cover, chain, n_cliques, group, overlap, reach, patience)
    return n_cliques, True
