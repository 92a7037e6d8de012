"""Cliques of a graph of points: all maximal ones, a cover to solve on, and what they look like."""

# Named as themselves, here and below: for the layers above, not for users.
from ._blocks import Blocks as Blocks
from ._blocks import check_blocks as check_blocks
from ._cover import cover, covering_cliques
from ._cover import in_large_clique as in_large_clique
from ._describe import clique_graph, overlaps, summary
from ._search import iter_cliques, maximal_cliques
from ._sequence import Cliques
from ._sequence import any_cliques as any_cliques

__all__ = [
    "Cliques",
    "clique_graph",
    "cover",
    "covering_cliques",
    "iter_cliques",
    "maximal_cliques",
    "overlaps",
    "summary",
]
