"""Objects that a look at cliques, or at topology, is given: a graph, a table, a similarity."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from .. import graph
from .._base.as_table import as_table, row_names, without_counts
from ..datasets import Dataset
from ..graph import CsrGraph
from ..similarity import stored_pairs


def given_graph(X: Any) -> tuple[CsrGraph, tuple[str, ...]] | None:
    """Graph of any kind with the weights that it has, and names of its nodes; None of a table."""
    if isinstance(X, CsrGraph):
        return X, ()
    if sp.issparse(X) and X.shape[0] == X.shape[1]:
        low, high, weights = stored_pairs(X)
        there = weights != 0.0
        return graph.from_edges(X.shape[0], low[there], high[there], weights[there]), ()
    if not (hasattr(X, "adjacency") and hasattr(X, "number_of_nodes")):
        return None
    names, (low, high, _) = row_names(X), graph.edges(graph.as_graph(X, weight=None))
    ends = zip(low, high, strict=True)
    weights = np.array([X.edges[names[a], names[b]].get("weight", 1.0) for a, b in ends], float)
    return graph.from_edges(len(names), low, high, weights), tuple(map(str, names))


def as_dataset(X: Any, of_pairs: bool) -> Dataset:
    """Return a table, or values between points, with the names of its rows."""
    if isinstance(X, Dataset):
        return X
    table = as_table(graph.as_pairs(X) if of_pairs else X)
    names = tuple(map(str, without_counts(row_names(X))))
    return Dataset(table.values, name="The graph", row_names=names)
