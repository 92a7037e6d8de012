"""Cliques of a graph of points: all maximal ones, a cover to solve on, and what they look like."""

# Named as themselves, here and below: for the layers above, not for users.
from ._cover import cover, covering_cliques
from ._cover import in_large_clique as in_large_clique
from ._describe import Communities, clique_graph, communities, overlaps, summary
from ._describe import edge_weights as edge_weights
from ._describe import incidence as incidence
from ._export import edge_list, export
from ._export import graph_text as graph_text
from ._export import networkx_graph as networkx_graph
from ._search import fill as fill
from ._search import iter_cliques, maximal_cliques
from ._search import prepare as prepare
from ._sequence import Blocks as Blocks
from ._sequence import Cliques
from ._sequence import arrays as arrays
from ._sequence import as_blocks as as_blocks
from ._sequence import check_blocks as check_blocks
from ._sequence import join as join
from ._stability import Stability, stability
from ._stability import false_cliques as false_cliques

__all__ = [
    "Cliques",
    "Communities",
    "Stability",
    "clique_graph",
    "communities",
    "cover",
    "covering_cliques",
    "edge_list",
    "export",
    "iter_cliques",
    "maximal_cliques",
    "overlaps",
    "stability",
    "summary",
]
