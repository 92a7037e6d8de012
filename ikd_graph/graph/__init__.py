"""Weighted graphs of points: which correlations to trust.

The covariance between points is trusted where it is large. A graph keeps the trusted entries: those
above a threshold (the paper's Section 2.4), or those between nearest neighbours. Graphs are
``CsrGraph`` records; their weights are correlations, at most 1.
"""

from .._records import CsrGraph
from ._build import (
    WEIGHT_FLOOR,
    from_neighbors,
    neighbors,
    pairs_above,
    row_correlations,
    row_threshold_graph,
    threshold,
)
from ._build import walkable as walkable

# Named as themselves: for the floors above, not for users.
from ._csr import GraphLike as GraphLike
from ._csr import (
    above,
    as_graph,
    component_labels,
    edges,
    from_edges,
    from_networkx,
    from_scipy,
    strongest,
    subgraph,
    to_networkx,
    to_sparse,
    union,
)
from ._csr import any_edges as any_edges
from ._csr import any_graph as any_graph
from ._csr import networkx_matrix as networkx_matrix
from ._csr import stored_pairs as stored_pairs
from ._join import N_LINKS, JoinedGraph, add_edges, find_links, join
from ._nearest import SEARCHES, block_neighbors, row_neighbors
from ._nearest import nearest_rows as nearest_rows
from ._nearest import nearest_values as nearest_values
from ._prune import prune
from ._rules import DISCONNECTED, Neighbors, Threshold
from ._significant import significant_graph
from ._threshold import auto_threshold, sure_threshold

__all__ = [
    "DISCONNECTED",
    "N_LINKS",
    "SEARCHES",
    "WEIGHT_FLOOR",
    "CsrGraph",
    "JoinedGraph",
    "Neighbors",
    "Threshold",
    "above",
    "add_edges",
    "as_graph",
    "auto_threshold",
    "block_neighbors",
    "component_labels",
    "edges",
    "find_links",
    "from_edges",
    "from_neighbors",
    "from_networkx",
    "from_scipy",
    "join",
    "neighbors",
    "pairs_above",
    "prune",
    "row_correlations",
    "row_neighbors",
    "row_threshold_graph",
    "significant_graph",
    "strongest",
    "subgraph",
    "sure_threshold",
    "threshold",
    "to_networkx",
    "to_sparse",
    "union",
]
