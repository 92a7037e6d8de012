"""Slow twins of the graph and of its shortest paths; nothing here but numpy."""

import numpy as np


def naive_threshold(corr, s0):
    """Dense matrix of weights, NaN where there is no edge."""
    n = len(corr)
    out = np.full((n, n), np.nan)
    for i in range(n):
        for j in range(n):
            if i != j and corr[i, j] > s0:
                out[i, j] = corr[i, j]
    return out


def naive_neighbours(corr, k):
    """List the k most correlated others of each point, ties by index."""
    n = len(corr)
    return [
        sorted((j for j in range(n) if j != i), key=lambda j: (-corr[i, j], j))[:k]
        for i in range(n)
    ]


def naive_shared_part(corr, k):
    """Share of k + 1 neighbours, itself among them, that each pair has in common."""
    members = [{i, *near} for i, near in enumerate(naive_neighbours(corr, k))]
    return np.array([[len(a & b) / (k + 1) for b in members] for a in members])


def naive_neighbour_graph(corr, k, mutual):
    """Dense matrix of weights, NaN where there is no edge."""
    chosen = naive_neighbours(corr, k)
    n = len(corr)
    out = np.full((n, n), np.nan)
    for i in range(n):
        for j in range(n):
            votes = (j in chosen[i]) + (i in chosen[j])
            if i != j and votes > mutual:
                out[i, j] = corr[i, j]
    return out


def naive_labels(adjacent):
    """Component of each node of a boolean matrix, in the order of the smallest nodes."""
    labels = np.arange(len(adjacent))
    for _ in labels:
        for i, j in zip(*np.nonzero(adjacent), strict=True):
            labels[i] = labels[j] = min(labels[i], labels[j])
    return np.unique(labels, return_inverse=True)[1]


def naive_bridges(corr, labels):
    """Kruskal's tree over components: the strongest pairs first, as sorted pairs."""
    labels = np.array(labels)
    n = len(corr)
    pairs = sorted(((i, j) for i in range(n) for j in range(i + 1, n)), key=lambda p: (-corr[p], p))
    found = []
    for i, j in pairs:
        if labels[i] != labels[j]:
            found.append((i, j))
            labels[labels == labels[j]] = labels[i]
    return sorted(found)


def naive_distances(lengths):
    """Floyd and Warshall on a dense matrix of lengths, infinite where there is no edge."""
    out = np.array(lengths, dtype=float)
    np.fill_diagonal(out, 0.0)
    for k in range(len(out)):
        out = np.minimum(out, out[:, k : k + 1] + out[k : k + 1])
    return out


def naive_products(weights):
    """Largest products along paths on a dense matrix of weights, 0 where there is no edge."""
    out = np.array(weights, dtype=float)
    np.fill_diagonal(out, 1.0)
    for k in range(len(out)):
        out = np.maximum(out, out[:, k : k + 1] * out[k : k + 1])
    return out


def naive_lengths(corr):
    """Distances between unit vectors with these products, infinite where there is none (NaN)."""
    return np.where(np.isnan(corr), np.inf, np.sqrt(np.maximum(2.0 - 2.0 * corr, 0.0)))


def naive_shortest(lengths):
    """Shortest ways between all points (Floyd and Warshall)."""
    out = lengths.copy()
    np.fill_diagonal(out, 0.0)
    for k in range(len(out)):
        out = np.minimum(out, out[:, [k]] + out[[k]])
    return out


def naive_short_cuts(weights, leg=0.8, longest=3.5):
    """Set of condemned pairs of a dense matrix of weights, NaN where there is no edge."""
    strict, sure = naive_judged(weights, 1.0 - 1e-9, longest), naive_judged(weights, leg, longest)
    lengths, n = naive_lengths(weights), len(weights)
    np.fill_diagonal(lengths, np.inf)
    doubtful = sorted(strict - sure, key=lambda pair: lengths[pair])
    ends = {point for pair in doubtful for point in pair}
    kept = lengths.copy()
    for i, j in strict:
        kept[i, j] = kept[j, i] = np.inf
    tied = np.zeros((n, n), dtype=bool)
    for i in ends:
        for j in ends:
            tied[i, j] = np.isfinite(kept[i, j]) or (i, j) in doubtful or (j, i) in doubtful
    ways = naive_shortest(kept)
    np.fill_diagonal(ways, 0.0)
    for first in doubtful:
        family, new = set(), {first[0]}
        while new:
            family |= new
            new = {j for i in family for j in ends if tied[i, j]} - family
        edges = [pair for pair in doubtful if pair[0] in family]
        far = max(min(ways[first[0], p], ways[first[1], p]) for p in family)
        if edges[0] == first and far > longest * max(lengths[pair] for pair in edges):
            sure |= set(edges)
    return sure


def naive_judged(weights, leg, longest):
    """Pairs that only a long way replaces where legs connect their ends."""
    lengths = naive_lengths(weights)
    np.fill_diagonal(lengths, np.inf)
    kept = lengths.copy()
    left, right = np.nonzero(np.triu(np.isfinite(lengths), 1))
    found = []
    for at in np.argsort(lengths[left, right], kind="stable"):
        i, j = left[at], right[at]
        d = lengths[i, j]
        legs = naive_shortest(np.where(kept <= leg * d, kept, np.inf))
        ways = naive_shortest(np.where(kept < d * (1 - 1e-9), kept, np.inf))
        if np.isfinite(legs[i, j]) and ways[i, j] > longest * d:
            kept[i, j] = kept[j, i] = np.inf
            found.append((i, j))
    while True:
        ways = naive_shortest(kept)
        back = [pair for pair in found if ways[pair] <= longest * lengths[pair]]
        if not back:
            return set(found)
        for i, j in back:
            kept[i, j] = kept[j, i] = lengths[i, j]
        found = [pair for pair in found if pair not in back]


def naive_shares_against(weights, reach, unknown):
    """Share of the witnesses against each edge of a dense matrix of weights; NaN elsewhere.

    Points with an ``unknown`` (n, n) length to an end are no witnesses.
    """
    lengths = naive_lengths(weights)
    n = len(lengths)
    out = np.full((n, n), np.nan)
    for i, j in zip(*np.nonzero(np.isfinite(lengths) & ~np.eye(n, dtype=bool)), strict=True):
        votes = []
        for k in range(n):
            to_i, to_j = lengths[k, i], lengths[k, j]
            if k in (i, j) or unknown[k, i] or unknown[k, j] or np.isinf(min(to_i, to_j)):
                continue
            most = min(to_i, to_j) + lengths[i, j]
            if most <= min(reach[k], reach[j if to_i <= to_j else i]):
                votes.append(max(to_i, to_j) > most * (1 + 1e-9))
        out[i, j] = np.mean(votes) if len(votes) >= 3 else 0.0
    return out
