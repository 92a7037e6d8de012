"""Cliques of a graph of points: all maximal ones, a cover to solve on, and what they look like."""

from ._search import covering_cliques, iter_cliques, maximal_cliques

__all__ = ["covering_cliques", "iter_cliques", "maximal_cliques"]
