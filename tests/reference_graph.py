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


def naive_far_apart(lengths, shorter=0.8, detour=3.5, usual=0.35):
    """Edges that only a long way replaces, though shorter ones connect their ends."""
    n = len(lengths)
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n) if np.isfinite(lengths[i, j])]
    kept = np.full((n, n), np.inf)
    for i, j in pairs:
        legs = np.where(lengths <= shorter * lengths[i, j], lengths, np.inf)
        if not np.isfinite(floyd(legs)[i, j]):
            kept[i, j] = kept[j, i] = lengths[i, j]
    grow(kept, lengths, pairs, detour)
    shares = {}
    for i, j in pairs:
        near = lengths <= shorter * lengths[i, j]
        of_i = {m for m in range(n) if near[i, m] and m != j}
        of_j = {m for m in range(n) if near[j, m] and m != i}
        shares[i, j] = len(of_i & of_j) / max(min(len(of_i), len(of_j)), 1)
    removed = [pair for pair in pairs if np.isinf(kept[pair])]
    adjacent = np.zeros((n, n), dtype=bool)
    for i, j in removed:
        adjacent[i, j] = adjacent[j, i] = True
    bundles = {}
    labels = naive_labels(adjacent)
    for i, j in removed:
        bundles.setdefault(labels[i], []).append((i, j))
    middle = np.median(list(shares.values()))
    for bundle in bundles.values():
        if np.mean([shares[one] for one in bundle]) >= usual * middle:
            for i, j in bundle:
                kept[i, j] = kept[j, i] = lengths[i, j]
    grow(kept, lengths, pairs, detour)
    return {pair for pair in pairs if np.isinf(kept[pair])}


def grow(kept, lengths, pairs, detour):
    """Keep, in place, what those kept replace by a short path, until nothing changes."""
    while True:
        paths = floyd(kept)
        new = [
            (i, j)
            for i, j in pairs
            if np.isinf(kept[i, j]) and paths[i, j] <= detour * lengths[i, j]
        ]
        if not new:
            return
        for i, j in new:
            kept[i, j] = kept[j, i] = lengths[i, j]


def floyd(lengths):
    """Shortest paths between all points."""
    paths = lengths.copy()
    np.fill_diagonal(paths, 0.0)
    for middle in range(len(paths)):
        paths = np.minimum(paths, paths[:, middle, None] + paths[middle])
    return paths
