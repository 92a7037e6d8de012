"""Weighted graphs of points: which correlations to trust.

The covariance between points is trusted where it is large. A graph keeps the trusted entries: those
above a threshold (the paper's Section 2.4), or those between nearest neighbors. Graphs are
``CsrGraph`` records; their weights are correlations, at most 1.
"""

from ..similarity import row_neighbors
from ._build import WEIGHT_FLOOR, neighbors, signed_threshold, threshold

# Named as themselves: for the layers above, not for users.
from ._build import neighbor_graph as neighbor_graph
from ._build import pairs_above as pairs_above
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
from ._csr import as_pairs as as_pairs
from ._csr import without_weights as without_weights
from ._join import JoinedGraph, join
from ._prune import prune
from ._record import CsrGraph
from ._record import check_graph as check_graph
from ._record import read_only as read_only
from ._rules import DISCONNECTED, Neighbors, Threshold
from ._rules import Rule as Rule
from ._threshold import auto_threshold, significant_graph, sure_threshold
from ._threshold import distance_variance as distance_variance

__all__ = [
    "DISCONNECTED",
    "WEIGHT_FLOOR",
    "CsrGraph",
    "JoinedGraph",
    "Neighbors",
    "Threshold",
    "above",
    "as_graph",
    "auto_threshold",
    "component_labels",
    "edges",
    "from_edges",
    "from_networkx",
    "from_scipy",
    "join",
    "neighbors",
    "prune",
    "row_neighbors",
    "signed_threshold",
    "significant_graph",
    "strongest",
    "subgraph",
    "sure_threshold",
    "threshold",
    "to_networkx",
    "to_sparse",
    "union",
]
