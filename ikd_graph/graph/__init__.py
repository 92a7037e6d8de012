"""Weighted graphs of points: which correlations to trust.

The covariance between points is trusted where it is large. A graph keeps the trusted entries: those
above a threshold (the paper's Section 2.4), or those between nearest neighbours. Graphs are
:class:`~ikd_graph._records.CsrGraph` records; their weights are correlations, at most 1.
"""

from ._build import (
    EXACT_WORK,
    WEIGHT_FLOOR,
    neighbor_graph,
    row_correlations,
    row_neighbor_graph,
    row_threshold_graph,
    threshold_graph,
)
from ._csr import (
    above,
    component_labels,
    edges,
    from_edges,
    from_sparse,
    strongest,
    subgraph,
    to_networkx,
    to_sparse,
    union,
)
from ._join import JoinedGraph, join_components

__all__ = [
    "EXACT_WORK",
    "WEIGHT_FLOOR",
    "JoinedGraph",
    "above",
    "component_labels",
    "edges",
    "from_edges",
    "from_sparse",
    "join_components",
    "neighbor_graph",
    "row_correlations",
    "row_neighbor_graph",
    "row_threshold_graph",
    "strongest",
    "subgraph",
    "threshold_graph",
    "to_networkx",
    "to_sparse",
    "union",
]
