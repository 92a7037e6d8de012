"""How rows are compared: one class per affinity, and nobody above asks which it is."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp

from .._table import SparseTable, dense_rows
from ._base import GraphRule, Similarity
from ._equal import KnownRows, unique_rows
from ._precomputed import Precomputed, SparsePrecomputed
from ._rows import (
    Correlation,
    Cosine,
    Covariance,
    Euclidean,
    Hellinger,
    ProductSimilarity,
    SharedNeighbors,
    StandardizedEuclidean,
)
from ._sparse import SPARSE

__all__ = [
    "AFFINITIES",
    "SPARSE",
    "GraphRule",
    "KnownRows",
    "ProductSimilarity",
    "Similarity",
    "SparsePrecomputed",
    "compare",
    "unique_rows",
]

_CLASSES: tuple[type[Similarity], ...] = (
    Correlation,
    Cosine,
    Covariance,
    Euclidean,
    StandardizedEuclidean,
    SharedNeighbors,
    Hellinger,
    Precomputed,
)

AFFINITIES: dict[str, type[Similarity]] = {one.name: one for one in _CLASSES}
"""Class of every affinity, by the name that `IKD` calls it."""


def compare(X: Any, affinity: str, *, counts: bool = False, search: str = "auto") -> Similarity:
    """Similarity of the rows of X, or of the covariance that X is.

    X and ``affinity`` were checked. ``counts`` tells that X is a table of integers, in which a row
    without spread is nothing unusual; ``search`` is how neighbours are found.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import similarity
    >>> made = similarity.compare(np.array([[1.0, 2.0, 3.0], [1.0, 3.0, 2.0]]), "correlation")
    >>> made.between(np.array([0]), np.array([1])).round(3)
    array([0.5])
    """
    found: Any = AFFINITIES[affinity]
    if sp.issparse(X):
        found = SparsePrecomputed
    elif isinstance(X, SparseTable) and affinity in SPARSE:
        found = SPARSE[affinity]
    else:
        X = dense_rows(X)
    made: Similarity = found(X, counts=counts)
    made.search = search
    return made
