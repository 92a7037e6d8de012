"""Slow twins of the clique engine, from the definitions. Imports numpy only."""

import itertools

import numpy as np


def maximal_cliques(adjacent):
    """All maximal cliques of a boolean matrix, as a set of sorted tuples (plain recursion)."""
    neighbours = [set(np.flatnonzero(row)) - {i} for i, row in enumerate(adjacent)]
    found = set()

    def extend(clique, candidates, excluded):
        if not candidates and not excluded:
            found.add(tuple(sorted(int(node) for node in clique)))
        for node in sorted(candidates):
            near = neighbours[node]
            extend([*clique, node], candidates & near, excluded & near)
            candidates = candidates - {node}
            excluded = excluded | {node}

    if len(adjacent):
        extend([], set(range(len(adjacent))), set())
    return found


def chained_groups(cliques, overlap):
    """Label of each clique: those that share ``overlap`` points, step by step, have the same."""
    labels = list(range(len(cliques)))
    for (i, left), (j, right) in itertools.combinations(enumerate(cliques), 2):
        if len(set(left) & set(right)) >= overlap:
            old, new = labels[j], labels[i]
            labels = [new if label == old else label for label in labels]
    return labels


def overlap_matrix(cliques):
    """Points shared by each pair, nothing on the diagonal."""
    sets = [set(np.asarray(clique).tolist()) for clique in cliques]
    table = np.array([[len(a & b) for b in sets] for a in sets], dtype=int)
    return table - np.diag(np.diag(table)) if sets else np.zeros((0, 0), dtype=int)


def covered_edges(adjacent, cliques):
    """Boolean matrix of the edges that lie in one of the cliques."""
    inside = np.zeros(np.shape(adjacent), dtype=bool)
    for clique in cliques:
        inside[np.ix_(clique, clique)] = True
    return inside & np.asarray(adjacent, dtype=bool)
