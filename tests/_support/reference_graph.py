"""Slow reference implementations of the graph, of numpy, networkx and scipy alone."""

import networkx as nx
import numpy as np
from scipy.sparse.csgraph import connected_components, floyd_warshall


def naive_neighbors(corr, k):
    """List the k most correlated others of each point, ties by index."""
    values = corr - np.diag(np.full(len(corr), np.inf))
    return np.argsort(-values, axis=1, kind="stable")[:, :k].tolist()


def naive_shared_part(corr, k):
    """Fraction of k + 1 neighbors, itself among them, that each pair has in common."""
    members = [{i, *near} for i, near in enumerate(naive_neighbors(corr, k))]
    return np.array([[len(a & b) / (k + 1) for b in members] for a in members])


def naive_neighbor_graph(corr, k, mutual):
    """Dense matrix of weights, NaN where there is no edge."""
    votes = np.zeros(np.shape(corr), dtype=int)
    for node, near in enumerate(naive_neighbors(corr, k)):
        votes[node, near] += 1
        votes[near, node] += 1
    return np.where(votes > mutual, corr, np.nan)


def naive_bridges(corr, labels):
    """Edges between components of the tree that spans all points most strongly, sorted."""
    together = np.equal.outer(labels, labels)
    tree = nx.maximum_spanning_tree(nx.from_numpy_array(np.where(together, 9.0, corr + 3.0)))
    return sorted((i, j) for i, j in tree.edges if not together[i, j])


def naive_far_apart(lengths, shorter=0.8, detour=3.5, usual=0.35):
    """Edges that only a long way replaces, though shorter ones connect their ends."""
    n = len(lengths)
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n) if np.isfinite(lengths[i, j])]
    kept = np.full((n, n), np.inf)
    for i, j in pairs:
        legs = np.where(lengths <= shorter * lengths[i, j], lengths, np.inf)
        if not np.isfinite(floyd_warshall(legs)[i, j]):
            kept[i, j] = kept[j, i] = lengths[i, j]
    grow(kept, lengths, pairs, detour)
    fractions = {}
    for i, j in pairs:
        near = lengths <= shorter * lengths[i, j]
        of_i = {m for m in range(n) if near[i, m] and m != j}
        of_j = {m for m in range(n) if near[j, m] and m != i}
        fractions[i, j] = len(of_i & of_j) / max(min(len(of_i), len(of_j)), 1)
    removed = [pair for pair in pairs if np.isinf(kept[pair])]
    adjacent = np.zeros((n, n), dtype=bool)
    for i, j in removed:
        adjacent[i, j] = adjacent[j, i] = True
    bundles = {}
    labels = connected_components(adjacent)[1]
    for i, j in removed:
        bundles.setdefault(labels[i], []).append((i, j))
    middle = np.median(list(fractions.values()))
    for bundle in bundles.values():
        if np.mean([fractions[one] for one in bundle]) >= usual * middle:
            for i, j in bundle:
                kept[i, j] = kept[j, i] = lengths[i, j]
    grow(kept, lengths, pairs, detour)
    return {pair for pair in pairs if np.isinf(kept[pair])}


def grow(kept, lengths, pairs, detour):
    """Keep, in place, what those kept replace by a short path, until nothing changes."""
    while True:
        paths = floyd_warshall(kept)
        new = [
            (i, j)
            for i, j in pairs
            if np.isinf(kept[i, j]) and paths[i, j] <= detour * lengths[i, j]
        ]
        if not new:
            return
        for i, j in new:
            kept[i, j] = kept[j, i] = lengths[i, j]
