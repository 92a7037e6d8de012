"""Clique covers: cliques grown one node at a time, and bridges between groups of cliques."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._config import jit


class Cover(NamedTuple):
    """What a cover holds so far, and room to grow a clique."""

    covered: np.ndarray  # (m,) bool, whether a stored edge lies in a clique
    largest: np.ndarray  # (n,) int32, size of the largest clique of a point
    inside: np.ndarray  # (n,) bool, all False between calls
    candidates: np.ndarray  # (d,) int32, d = largest degree: nodes that know all of the clique
    score: np.ndarray  # (n, 3) float64, edges to the clique: how many, how many new, their weight


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


@jit
def add_node(graph, cover, node):
    """Count the edges of a node that joins the clique.

    Every neighbour is counted, candidate or not: to ask first would take longer.

    Parameters
    ----------
    graph : CsrGraph
        The graph.
    cover : Cover
        Its ``score`` is updated.
    node : int
        The node.
    """
    for e in range(graph.indptr[node], graph.indptr[node + 1]):
        other = graph.indices[e]
        cover.score[other, 0] += 1.0
        cover.score[other, 1] += not cover.covered[e]
        cover.score[other, 2] += graph.weights[e]


@jit
def grow(graph, cover, members, size):
    """Grow a clique until no node is left that knows all of it.

    The node that brings most uncovered edges joins first, of several the one with the strongest
    edges, of these the first.

    Parameters
    ----------
    graph : CsrGraph
        The graph.
    cover : Cover
        What is covered so far.
    members : (s,) int32
        A clique in its first ``size`` places, at least one; receives the maximal one, ascending.
    size : int
        Size of the clique so far.

    Returns
    -------
    int
        Size of the maximal clique.
    """
    first = members[0]
    begin, end = graph.indptr[first], graph.indptr[first + 1]
    count = end - begin
    for i in range(count):
        other = graph.indices[begin + i]
        cover.candidates[i] = other
        cover.score[other, 0], cover.score[other, 1], cover.score[other, 2] = 0.0, 0.0, 0.0
    for i in range(size):
        add_node(graph, cover, members[i])
    while True:
        kept, best = 0, -1
        for i in range(count):
            node = cover.candidates[i]
            if cover.score[node, 0] == size:
                cover.candidates[kept] = node
                kept += 1
                more = cover.score[node, 1] - cover.score[best, 1] if best >= 0 else 1.0
                if more > 0 or (more == 0 and cover.score[node, 2] > cover.score[best, 2]):
                    best = node
        if best < 0:
            break
        count = kept
        members[size] = best
        add_node(graph, cover, members[size])
        size += 1
    # All others are neighbours of the first: its row has them in order.
    for i in range(size):
        cover.inside[members[i]] = True
    at, placed = 0, False
    for e in range(begin, end):
        node = graph.indices[e]
        if not placed and node > first:
            members[at] = first
            at += 1
            placed = True
        if cover.inside[node]:
            members[at] = node
            at += 1
    if not placed:
        members[at] = first
    for i in range(size):
        cover.inside[members[i]] = False
    return size


@jit
def mark(graph, cover, members, size):
    """Count a clique as part of the cover.

    Parameters
    ----------
    graph : CsrGraph
        The graph.
    cover : Cover
        Updated.
    members : (s,) int32
        The clique, in its first ``size`` places.
    size : int
        Size of the clique.
    """
    for i in range(size):
        cover.inside[members[i]] = True
    for i in range(size):
        node = members[i]
        cover.largest[node] = max(cover.largest[node], size)
        for e in range(graph.indptr[node], graph.indptr[node + 1]):
            if cover.inside[graph.indices[e]]:
                cover.covered[e] = True
    for i in range(size):
        cover.inside[members[i]] = False


@jit
def strongest_open(graph, cover, node):
    """Find the strongest edge of a node that no clique has yet.

    Parameters
    ----------
    graph : CsrGraph
        The graph.
    cover : Cover
        What is covered so far.
    node : int
        The node.

    Returns
    -------
    int
        Place of the edge, -1 if all are covered.
    """
    best = -1
    for e in range(graph.indptr[node], graph.indptr[node + 1]):
        if not cover.covered[e] and (best < 0 or graph.weights[e] > graph.weights[best]):
            best = e
    return best


@jit
def cover_round(graph, cover, order, position, points, indptr, members):
    """Grow one clique around each node in turn that needs one, until the output is full.

    Parameters
    ----------
    graph : CsrGraph
        The graph.
    cover : Cover
        What is covered so far, updated.
    order : (n,) int32
        The nodes in their turn.
    position : int
        Where to start in the order.
    points : bool
        Whether a node needs a clique if it is in none, or if one of its edges is in none.
    indptr : (k + 1,) int64
        Receives where cliques start and end.
    members : (s,) int32
        Receives the nodes of the cliques, ascending in each.

    Returns
    -------
    int, int
        Where to go on in the order, and the number of cliques written.
    """
    count, room = 0, cover.candidates.size + 1
    indptr[0] = 0
    while position < order.size:
        if count + 1 >= indptr.size or indptr[count] + room > members.size:
            break
        node = order[position]
        position += 1
        if points and cover.largest[node]:
            continue
        edge = strongest_open(graph, cover, node)
        if edge < 0 and not points:
            continue
        clique = members[indptr[count] :]
        clique[0] = node
        size = 1
        if edge >= 0:
            clique[1] = graph.indices[edge]
            size = 2
        size = grow(graph, cover, clique, size)
        mark(graph, cover, clique, size)
        indptr[count + 1] = indptr[count] + size
        count += 1
    return position, count


@jit
def index_clique(chain, clique):
    """Enter a clique in the index by point.

    Parameters
    ----------
    chain : Chain
        The cliques.
    clique : int
        Number of the clique, whose members are in place.
    """
    for j in range(chain.indptr[clique], chain.indptr[clique + 1]):
        point = chain.members[j]
        chain.owner[j] = clique
        chain.next[j] = chain.head[point]
        chain.head[point] = j


@jit
def drop_clique(chain, clique):
    """Take the clique that was entered last out of the index.

    Parameters
    ----------
    chain : Chain
        The cliques.
    clique : int
        Number of the clique.
    """
    for j in range(chain.indptr[clique + 1] - 1, chain.indptr[clique] - 1, -1):
        chain.head[chain.members[j]] = chain.next[j]


@jit
def count_shared(chain, clique):
    """Count the points that a clique shares with each clique in the index.

    Parameters
    ----------
    chain : Chain
        The cliques; ``shared``, ``touched`` and ``effort`` are set.
    clique : int
        Number of the clique; it need not be in the index.

    Returns
    -------
    int
        Number of cliques touched.
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


@jit
def find_group(group, clique):
    """Find the group of a clique (union-find, halving the path on the way).

    Parameters
    ----------
    group : (k,) int32
        A clique of the same group with a smaller number, itself at the root; updated.
    clique : int
        The clique.

    Returns
    -------
    int
        Smallest clique of the group.
    """
    while group[clique] != clique:
        group[clique] = group[group[clique]]
        clique = group[clique]
    return clique


@jit
def join_groups(chain, first, second):
    """Make one group of the groups of two cliques, open again.

    Parameters
    ----------
    chain : Chain
        The cliques.
    first, second : int
        The cliques.

    Returns
    -------
    bool
        Whether there were two groups.
    """
    first, second = find_group(chain.group, first), find_group(chain.group, second)
    chain.group[max(first, second)] = min(first, second)
    if first != second:
        chain.closed[min(first, second)] = False
    return first != second


@jit
def link_clique(chain, clique, overlap):
    """Join the groups of all cliques in the index that share enough with a clique.

    Parameters
    ----------
    chain : Chain
        The cliques.
    clique : int
        Number of the clique.
    overlap : int
        Points that chained cliques share.

    Returns
    -------
    bool
        Whether there were any.
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

    Parameters
    ----------
    chain : Chain
        The cliques.
    n_cliques : int
        Number of cliques.
    overlap : int
        Points that chained cliques share.
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


@jit
def link_group(chain, n_cliques, group, overlap):
    """Join a group with the groups that share enough with the first of its cliques to find any.

    Parameters
    ----------
    chain : Chain
        The cliques; those compared with all others are ``linked`` and need it only once.
    n_cliques : int
        Number of cliques.
    group : int
        The group.
    overlap : int
        Points that chained cliques share.

    Returns
    -------
    bool
        Whether there was one.
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

    Parameters
    ----------
    chain : Chain
        The cliques.
    n_cliques : int
        Number of cliques.

    Returns
    -------
    int
        Its number; -1 if fewer than two groups are open: closed ones cannot be reached.
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


@jit
def find_near(graph, chain, clique):
    """Count how many points of a clique each point outside knows.

    Parameters
    ----------
    graph : CsrGraph
        The graph.
    chain : Chain
        The cliques; ``hits`` and ``near`` are set.
    clique : int
        The clique.

    Returns
    -------
    int
        Number of points in ``near``.
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


@jit
def take_nearest(chain, n_near, overlap):
    """Take the point outside a clique that knows most of it.

    Parameters
    ----------
    chain : Chain
        The cliques; the ``hits`` of the point become zero.
    n_near : int
        Number of points in ``near``.
    overlap : int
        Points of the clique that it has to know.

    Returns
    -------
    int
        The point, -1 if there is none.
    """
    best = -1
    for i in range(n_near):
        point = chain.near[i]
        if chain.hits[point] >= overlap and (best < 0 or chain.hits[point] > chain.hits[best]):
            best = point
    if best >= 0:
        chain.hits[best] = 0
    return best


@jit
def try_neighbour(graph, cover, chain, n_cliques, trial, clique, point, overlap):
    """Put on trial the clique of a point and all points of a clique that it knows.

    Parameters
    ----------
    graph : CsrGraph
        The graph.
    cover : Cover
        The cover.
    chain : Chain
        The cliques; the new one is written in place ``trial``, its origin too.
    n_cliques : int
        Number of cliques in groups.
    trial : int
        Number of the new clique.
    clique : int
        Clique to start from.
    point : int
        The point, outside it.
    overlap : int
        Points that chained cliques share.

    Returns
    -------
    int
        0 if a known clique holds it, 1 if it is new, 2 if it reaches another group.
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
        other = chain.touched[i]
        enough = other < n_cliques and chain.shared[other] >= overlap
        if enough and find_group(chain.group, other) != group:
            verdict = 2
        chain.shared[other] = 0
    return verdict


@jit
def keep_path(graph, cover, chain, n_cliques, last, overlap):
    """Keep the cliques that lead from a group to another, forget the others on trial.

    Parameters
    ----------
    graph : CsrGraph
        The graph.
    cover : Cover
        The cover, updated.
    chain : Chain
        The cliques, updated; those on trial are out of the index.
    n_cliques : int
        Number of cliques in groups.
    last : int
        Clique on trial that reached the other group.
    overlap : int
        Points that chained cliques share.

    Returns
    -------
    int
        Number of cliques in groups now.
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
        chain.group[clique] = clique
        link_clique(chain, clique, overlap)
        chain.linked[clique] = True
        index_clique(chain, clique)
    return n_cliques + length


@jit
def tired(chain, n_trials, reach, patience):
    """Whether a search for a bridge has gone on long enough.

    Parameters
    ----------
    chain : Chain
        The cliques.
    n_trials : int
        Number of cliques on trial.
    reach : int
        Largest number of them.
    patience : int
        Effort at which to give up.

    Returns
    -------
    bool
        Whether to give up.
    """
    return n_trials >= reach or chain.effort[0] >= patience


@jit
def bridge(graph, cover, chain, n_cliques, group, overlap, reach, patience):
    """Search, breadth first, for a shortest way from a group of cliques to another.

    From a clique the search goes to every point outside that knows ``overlap`` points of it: these
    points make a clique that is chained to it, grown until it is maximal. What can be reached so is
    all that any chain of cliques of ``overlap + 1`` points can reach.

    Parameters
    ----------
    graph : CsrGraph
        The graph.
    cover : Cover
        The cover, updated.
    chain : Chain
        The cliques, with room for ``reach + 1`` more; updated.
    n_cliques : int
        Number of cliques.
    group : int
        Group to start from; closed if it reaches no other. If it shares enough with another as
        it is, the two are joined and no clique is added.
    overlap : int
        Points that chained cliques share.
    reach : int
        Largest number of cliques on trial.
    patience : int
        Effort at which to give up.

    Returns
    -------
    int
        Number of cliques now.
    """
    if link_group(chain, n_cliques, group, overlap):
        return n_cliques
    # No clique of the group comes before the one that it is named after.
    trial, clique, found = n_cliques, group, False
    while clique < trial and not found and not tired(chain, trial - n_cliques, reach, patience):
        if clique < n_cliques and find_group(chain.group, clique) != group:
            clique += 1
            continue
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
        clique += 1
    for step in range(trial - 1, n_cliques - 1, -1):
        drop_clique(chain, step)
    if not found:
        chain.closed[group] = True
        return n_cliques
    return keep_path(graph, cover, chain, n_cliques, trial, overlap)
