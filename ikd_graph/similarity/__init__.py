"""How rows are compared: one class per affinity, and nobody above asks which it is."""

from __future__ import annotations

from typing import Any

import scipy.sparse as sp

from .. import _limits, _memory
from .._table import MappedTable, SparseTable, dense_rows
from .._validation import check_memory
from ._base import GraphRule, Similarity
from ._equal import KnownRows, unique_rows
from ._many import MANY, MAPPED
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
    "MANY",
    "MAPPED",
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
    elif isinstance(X, MappedTable) and affinity in MAPPED:
        found = MAPPED[affinity]
    else:
        if isinstance(X, MappedTable):
            _require_memory(X, affinity)
        X = dense_rows(X)
        if X.shape[0] > _limits.SOLVED_WHOLE and affinity in MANY:
            found = MANY[affinity]
    made: Similarity = found(X, counts=counts)
    made.search = search
    return made


def _require_memory(X: MappedTable, affinity: str) -> None:
    """Raise MemoryError, before work is done, if a table on disk has to be in memory and cannot."""
    n, p = X.shape
    # The rows, and the scaled ones.
    needed = 2.0 * n * p * X.dtype.itemsize
    what = f"a table of {n} rows and {p} columns for affinity={affinity!r}"
    cure = f"affinity='auto', or one of {', '.join(map(repr, MAPPED))}, reads it in blocks"
    check_memory(what, needed, _memory.available(), cure)
