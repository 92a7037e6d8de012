"""Another reading of the paper's "up to T maximal cliques": they start where there are none yet.

Each clique starts at a point that is in none so far. Further ones, around edges in none, are added
until those of a component hang together on M + 1 points, if no more than T of them do.
`ikd_graph.strategies.Blockwise.paper` grows one around each point; readings.py measures both.
"""

import numpy as np

from ikd_graph import cliques
from ikd_graph.graph import component_labels


def cliques_from_uncovered(g, min_shared=4):
    """At most T cliques of a graph, each from an uncovered point or edge, in the order visited."""
    found = cliques.cover(g, 2, max_cliques=g.n_nodes)
    # Of a budget that is spent only points are covered.
    n_first = len(cliques.cover(g, 2, max_cliques=1))
    n_components = np.unique(component_labels(g)).size
    groups = np.zeros((0, g.n_nodes), dtype=bool)
    for count, clique in enumerate(found, start=1):
        groups = _linked(groups, clique, min_shared)
        if count >= n_first and len(groups) <= n_components:
            return found[:count]
    return found[:n_first]


def _linked(groups, clique, min_shared):
    """Return (n_groups, T) groups of linked cliques with one clique more."""
    joined = np.isin(np.arange(groups.shape[1]), clique)
    near = groups[:, clique].sum(axis=1) >= min_shared
    while near.any():
        joined |= groups[near].any(axis=0)
        groups = groups[~near]
        near = (groups & joined).sum(axis=1) >= min_shared
    # A group of fewer points than a link needs is linked by lying in another.
    return np.vstack([groups[(groups & ~joined).any(axis=1)], joined])
