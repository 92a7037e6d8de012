"""Maximal cliques, and covers of cliques that are grown one node at a time.

Maximal ones by Bron-Kerbosch on bit rows in degeneracy order, one clique at a time.

The cliques whose first node (in degeneracy order) is v live among the later neighbors of v, at
most as many as the degeneracy of the graph: these are relabelled 0, 1, ... and sets of them are
bits of a few words. What has been seen before is kept as one mask a node, its neighbors among the
candidates. A mask without candidates can no longer exclude anything and is dropped, which keeps
these lists short (the sets themselves, not their order, decide what is maximal).
"""

from typing import NamedTuple

import numpy as np

from .._base.jit import lean_helper, lean_jit

ONE = np.uint64(1)
ZERO = np.uint64(0)
ALL = ~np.uint64(0)

SHIFT = 6
LAST = (1 << SHIFT) - 1
"""A node of a label is bit ``label & LAST`` of word ``label >> SHIFT``."""

DONE, OUTPUT_FULL, MASKS_FULL, TIRED = range(4)
DROPPED, CLIQUE, BRANCH = range(3)


class OrderedGraph(NamedTuple):
    """Graph whose rows hold the earlier neighbors of a node first, then the later ones."""

    indptr: np.ndarray  # (n + 1,) int64
    middle: np.ndarray  # (n,) int64, where the later neighbors start
    indices: np.ndarray  # (m,) int32, both parts of a row sorted by node
    order: np.ndarray  # (k,) int32, the nodes to start from


class Search(NamedTuple):
    """Where a search stands, so that it can stop when the output is full and go on later.

    ``d`` is the largest number of candidates, ``w`` the words that hold their bits.
    """

    cursor: np.ndarray  # (3,) int64: position in the order, depth (-1 between starts), status
    local: np.ndarray  # (n,) int32, label of a node among the candidates, -1 elsewhere
    nodes: np.ndarray  # (d,) int32, node of a label, ascending
    rows: np.ndarray  # (d, w) uint64, candidates next to a candidate
    candidates: np.ndarray  # (d + 2, w) uint64, for each depth: what may still be added
    clique: np.ndarray  # (d + 2, w) uint64, for each depth: what has been added to the start
    todo: np.ndarray  # (d + 2, w) uint64, for each depth: candidates to branch on
    first: np.ndarray  # (d + 2,) int64, where the masks of a depth start
    last: np.ndarray  # (d + 2,) int64, where they end
    masks: np.ndarray  # (s, w) uint64, a stack of masks


@lean_jit
def degeneracy_order(graph, order, core, rank, start):
    """Take the node of the least degree away, again and again (Batagelj and Zaversnik's buckets).

    ``order`` (n,) receives the nodes as they go, ``core`` (n,) the core number of each: the largest
    of the degrees at which nodes had to go so far. At first these are the nodes by degree and their
    degrees. ``rank`` (n,) is where each node stands in the order, ``start`` (d + 2,) where those of
    every degree begin; both are kept so.
    """
    for i in range(order.size):
        node = order[i]
        for e in range(graph.indptr[node], graph.indptr[node + 1]):
            neighbor = graph.indices[e]
            if core[neighbor] > core[node]:
                # Swap with the first of its bucket, then move the border of the bucket past it.
                front = start[core[neighbor]]
                swapped = order[front]
                order[front], order[rank[neighbor]] = neighbor, swapped
                rank[swapped], rank[neighbor] = rank[neighbor], front
                start[core[neighbor]] += 1
                core[neighbor] -= 1
        if start[core[node]] <= i:
            start[core[node]] = i + 1


@lean_helper
def popcount(word):
    """Count the bits of a word (compiles to one instruction)."""
    count = 0
    while word:
        word &= word - ONE
        count += 1
    return count


@lean_helper
def lowest_bit(word):
    """Find the position, 0 to 63, of the lowest bit of a word that is not 0 (one instruction)."""
    return popcount((word & (~word + ONE)) - ONE)


@lean_helper
def enter_start(graph, start, search, words):
    """Set up depth 0 of a search from one node; returns whether a maximal clique can start here.

    The later neighbors of the start are relabelled, and the edges between them written as bits.
    Of earlier neighbors the masks over the later ones are written, until one knows them all.
    """
    indptr, middle, indices = graph.indptr, graph.middle, graph.indices
    local, nodes, rows, masks = search.local, search.nodes, search.rows, search.masks
    first, count = middle[start], indptr[start + 1] - middle[start]
    for i in range(count):
        node = indices[first + i]
        local[node] = i
        nodes[i] = node
        for w in range(words):
            rows[i, w] = ZERO
    for i in range(count):
        node = nodes[i]
        for e in range(middle[node], indptr[node + 1]):
            j = local[indices[e]]
            if j >= 0:
                rows[i, j >> SHIFT] |= ONE << np.uint64(j & LAST)
                rows[j, i >> SHIFT] |= ONE << np.uint64(i & LAST)
    at, n_adjacent = 0, 0
    for f in range(indptr[start], first):
        node = indices[f]
        for w in range(words):
            masks[at, w] = ZERO
        n_adjacent = 0
        for e in range(middle[node], indptr[node + 1]):
            j = local[indices[e]]
            if j >= 0:
                masks[at, j >> SHIFT] |= ONE << np.uint64(j & LAST)
                n_adjacent += 1
        if n_adjacent == count:
            break
        at += n_adjacent > 0
    search.first[0], search.last[0] = 0, at
    for i in range(count):
        local[nodes[i]] = -1
    for w in range(words):
        search.candidates[0, w] = ALL
        search.clique[0, w] = ZERO
    if count & LAST:
        search.candidates[0, words - 1] = (ONE << np.uint64(count & LAST)) - ONE
    return n_adjacent < count or first == indptr[start]


@lean_helper
def sort(nodes, start, stop):
    """Sort a few nodes in place, those from ``start`` to ``stop``."""
    for i in range(start + 1, stop):
        node, at = nodes[i], i
        while at > start and nodes[at - 1] > node:
            nodes[at] = nodes[at - 1]
            at -= 1
        nodes[at] = node


@lean_helper
def write_clique(start, search, depth, words, out, at):
    """Write the start and nodes of a depth to ``out`` from ``at``, ascending; return its end."""
    first = at
    for w in range(words):
        word = search.clique[depth, w]
        while word:
            out[at] = search.nodes[(w << SHIFT) + lowest_bit(word)]
            word &= word - ONE
            at += 1
    out[at] = start
    sort(out, first, at + 1)
    return at + 1


@lean_helper
def keep_masks(search, depth, words):
    """Keep the masks that hold all of ``todo``, without what is no candidate any more."""
    todo, candidates, masks = search.todo, search.candidates, search.masks
    at = search.first[depth]
    for j in range(at, search.last[depth]):
        holds = True
        for w in range(words):
            if todo[depth, w] & ~masks[j, w]:
                holds = False
                break
        if holds:
            nonempty = ZERO
            for w in range(words):
                masks[at, w] = masks[j, w] & candidates[depth, w]
                nonempty |= masks[at, w]
            if nonempty:
                at += 1
    search.last[depth] = at


@lean_helper
def choose_branches(search, depth, words, size, min_size):
    """Decide what to do at a depth whose candidates, clique and masks are set.

    Candidates next to all others belong to every clique from here: they are added at once. Of what
    remains, only candidates that are no neighbors of the pivot are branched on (Tomita's rule: the
    pivot has the most candidates for neighbors, and may itself be excluded). Sets ``todo`` of the
    depth. ``size`` counts the nodes in the clique, the start included. Returns DROPPED (too small),
    CLIQUE (one maximal clique, in ``clique``) or BRANCH.
    """
    candidates, clique, todo = search.candidates, search.clique, search.todo
    rows, masks = search.rows, search.masks
    count = 0
    for w in range(words):
        count += popcount(candidates[depth, w])
    if size + count < min_size:
        return DROPPED
    if count == 0:
        return CLIQUE
    best, pivot, n_universal = -1, -1, 0
    for w in range(words):
        todo[depth, w] = ZERO
    for w in range(words):
        word = candidates[depth, w]
        while word:
            bit = word & (~word + ONE)
            label = (w << SHIFT) + lowest_bit(word)
            word ^= bit
            common = 0
            for k in range(words):
                common += popcount(rows[label, k] & candidates[depth, k])
            if common == count - 1:
                todo[depth, w] |= bit
                n_universal += 1
            elif common > best:
                best, pivot = common, label
    if n_universal:
        for w in range(words):
            clique[depth, w] |= todo[depth, w]
            candidates[depth, w] &= ~todo[depth, w]
        if n_universal == count:
            return CLIQUE
        keep_masks(search, depth, words)
        best -= n_universal
    excluded = -1
    for j in range(search.first[depth], search.last[depth]):
        common = 0
        for w in range(words):
            common += popcount(masks[j, w] & candidates[depth, w])
        if common > best:
            best, excluded = common, j
    for w in range(words):
        neighbors = masks[excluded, w] if excluded >= 0 else rows[pivot, w]
        todo[depth, w] = candidates[depth, w] & ~neighbors
    return BRANCH


@lean_jit
def advance(graph, search, stop, min_size, patience, indptr, members):
    """Search on until the starts are done, the output is full, or workspace or patience runs out.

    Each step enters a start or a child, or goes up one depth. To enter a child is to add the next
    candidate of ``todo`` to the clique; the candidate joins the excluded nodes of its own depth,
    since all cliques that hold it are found below. That is written out, not called: to pass these
    arrays once a step would double the time. ``cursor`` of the search says where it stands,
    its last entry why it stopped. ``stop`` is the position in the order before which starts lie,
    ``patience`` the largest number of steps. The cliques are written to ``indptr`` (k + 1,) and
    ``members`` (s,), s > d, ascending; returns their number.
    """
    todo, candidates, masks = search.todo, search.candidates, search.masks
    position, depth, count, status = search.cursor[0], search.cursor[1], 0, TIRED
    indptr[0] = 0
    for _ in range(patience):
        full = count + 1 >= indptr.size or indptr[count] + search.nodes.size >= members.size
        if full or (depth < 0 and position + 1 >= stop):
            status = OUTPUT_FULL if full else DONE
            break
        start = graph.order[position + (depth < 0)]
        later = graph.indptr[start + 1] - graph.middle[start]
        words, size, possible = (later + LAST) >> SHIFT, 1, True
        if depth < 0:
            if graph.middle[start] - graph.indptr[start] > masks.shape[0]:
                status = MASKS_FULL
                break
            position += 1
            possible = later + 1 >= min_size and enter_start(graph, start, search, words)
        else:
            lead = 0
            while lead < words and not todo[depth, lead]:
                lead += 1
            if lead == words:
                depth -= 1
                continue
            top, end = search.last[depth], search.last[depth]
            if 2 * top - search.first[depth] + 1 > masks.shape[0]:
                status = MASKS_FULL
                break
            bit = todo[depth, lead] & (~todo[depth, lead] + ONE)
            todo[depth, lead] ^= bit
            candidates[depth, lead] ^= bit
            child, label, size, nonempty = depth + 1, (lead << SHIFT) + lowest_bit(bit), 2, ZERO
            for w in range(words):
                search.clique[child, w] = search.clique[depth, w]
                size += popcount(search.clique[depth, w])
                masks[end, w] = candidates[child, w] = candidates[depth, w] & search.rows[label, w]
                nonempty |= masks[end, w]
            search.clique[child, lead] |= bit
            end += nonempty != ZERO
            search.last[depth], search.first[child] = end, end
            for j in range(search.first[depth], top):
                if masks[j, lead] & bit:
                    missing, nonempty = ZERO, ZERO
                    for w in range(words):
                        masks[end, w] = masks[j, w] & candidates[child, w]
                        missing |= masks[end, w] ^ candidates[child, w]
                        nonempty |= masks[end, w]
                    possible = missing != ZERO
                    if not possible:
                        break
                    end += nonempty != ZERO
            search.last[child] = end
        if possible:
            verdict = choose_branches(search, depth + 1, words, size, min_size)
            if verdict == CLIQUE:
                end = write_clique(start, search, depth + 1, words, members, indptr[count])
                indptr[count + 1], count = end, count + 1
            depth += verdict == BRANCH
    search.cursor[0], search.cursor[1], search.cursor[2] = position, depth, status
    return count


class Cover(NamedTuple):
    """What a cover holds so far, and workspace to grow a clique."""

    covered: np.ndarray  # (m,) bool, whether a stored edge lies in a clique
    largest: np.ndarray  # (n,) int32, size of the largest clique of a point
    inside: np.ndarray  # (n,) bool, all False between calls
    candidates: np.ndarray  # (d,) int32, d = largest degree: nodes that know all of the clique
    score: np.ndarray  # (n, 3) float64, edges to the clique: how many, how many new, their weight


@lean_helper
def add_node(graph, cover, node):
    """Count the edges of a node that joins the clique.

    Every neighbor is counted, candidate or not: to ask first would take longer.
    """
    indptr, indices, weights = graph
    score, covered = cover.score, cover.covered
    for e in range(indptr[node], indptr[node + 1]):
        neighbor = indices[e]
        score[neighbor, 0] += 1.0
        score[neighbor, 1] += not covered[e]
        score[neighbor, 2] += weights[e]


@lean_helper
def grow(graph, cover, members, size):
    """Grow a clique until no node is left that knows all of it.

    The node that brings most uncovered edges joins first, of several the one with the strongest
    edges, of these the first. The clique is in the first ``size`` places of ``members`` (s,), at
    least one, which receives the maximal one, ascending; returns its size.
    """
    candidates, score = cover.candidates, cover.score
    neighbors = graph.indices[graph.indptr[members[0]] : graph.indptr[members[0] + 1]]
    count = neighbors.size
    for i in range(count):
        candidates[i] = neighbors[i]
        score[neighbors[i]] = 0.0
    for i in range(size):
        add_node(graph, cover, members[i])
    while True:
        n_candidates, best = 0, -1
        for i in range(count):
            node = candidates[i]
            if score[node, 0] == size:
                candidates[n_candidates] = node
                n_candidates += 1
                more = score[node, 1] - score[best, 1] if best >= 0 else 1.0
                if more > 0 or (more == 0 and score[node, 2] > score[best, 2]):
                    best = node
        if best < 0:
            break
        count = n_candidates
        members[size] = best
        add_node(graph, cover, members[size])
        size += 1
    sort(members, 0, size)
    return size


@lean_jit
def mark(graph, cover, members, size):
    """Count a clique, in the first ``size`` places of ``members``, as part of the cover."""
    inside = cover.inside
    for i in range(size):
        inside[members[i]] = True
    for i in range(size):
        node = members[i]
        if cover.largest[node] < size:
            cover.largest[node] = size
        for e in range(graph.indptr[node], graph.indptr[node + 1]):
            if inside[graph.indices[e]]:
                cover.covered[e] = True
    for i in range(size):
        inside[members[i]] = False


@lean_jit
def cover_round(graph, cover, order, position, points, indptr, members):
    """Grow one clique around each node in turn that needs one, until the output is full.

    With ``points`` a node needs a clique if it is in none, else if one of its edges is in none; the
    strongest of these is where it begins.
    ``order`` (n,) is gone through from ``position``; the cliques are written to ``indptr`` (k + 1,)
    and ``members`` (s,), ascending. Returns where to go on and the number of cliques.
    """
    covered, weights = cover.covered, graph.weights
    count, longest = 0, cover.candidates.size + 1
    indptr[0] = 0
    while position < order.size:
        if count + 1 >= indptr.size or indptr[count] + longest > members.size:
            break
        node = order[position]
        position += 1
        if points and cover.largest[node]:
            continue
        edge = -1
        for e in range(graph.indptr[node], graph.indptr[node + 1]):
            if not covered[e] and (edge < 0 or weights[e] > weights[edge]):
                edge = e
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


@lean_jit
def grow_nearest(indptr, nearest, known, ends, members):
    """Grow a clique around each node, to which its neighbors are added nearest first.

    ``nearest`` (m,) has the neighbors of each node, the nearest first, ``known`` (n,) is workspace
    for the number of members that a node is next to. The cliques are written to ``ends`` (n + 1,),
    which begins with 0, and ``members`` (m + n,), ascending.
    """
    for node in range(known.size):
        first = ends[node]
        members[first], at = node, first + 1
        for e in range(indptr[node], indptr[node + 1]):
            known[nearest[e]] = 1
        for e in range(indptr[node], indptr[node + 1]):
            if known[nearest[e]] == at - first:
                members[at] = nearest[e]
                for f in range(indptr[members[at]], indptr[members[at] + 1]):
                    known[nearest[f]] += 1
                at += 1
        sort(members, first, at)
        ends[node + 1] = at
