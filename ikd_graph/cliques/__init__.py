"""Cliques of a graph of points: all maximal ones, a cover to solve on, and what they look like."""

from ._cover import cover, covering_cliques
from ._describe import clique_graph, overlaps, summary
from ._search import iter_cliques, maximal_cliques

__all__ = [
    "clique_graph",
    "cover",
    "covering_cliques",
    "iter_cliques",
    "maximal_cliques",
    "overlaps",
    "summary",
]
