"""Similarities of rows that stay sparse: no more than some rows are dense at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import covariance, graph
from .._table import SparseTable
from .._validation import check_not_negative
from ._base import Floats, Indices, Similarity
from ._rows import (
    Correlation,
    Cosine,
    Euclidean,
    Hellinger,
    SharedNeighbors,
    StandardizedEuclidean,
)


class _SparseSimilarity(Similarity):
    """What takes the places of array operations of the dense classes."""

    rows: Any  # covariance.SparseRows

    matrix = Similarity.matrix
    totals = Similarity.totals
    threshold_graph = Similarity.threshold_graph

    def block(self, points: Indices) -> Floats:
        """See `Similarity.block`."""
        found: Floats = self.rows.products(np.asarray(points, np.int64))
        return np.minimum(found, 1.0, out=found)

    def between(self, left: Indices, right: Indices) -> Floats:
        """See `Similarity.between`."""
        pairs = np.asarray(left, np.int64), np.asarray(right, np.int64)
        return np.minimum(self.rows.pairs(*pairs), 1.0)

    def factor(self) -> Any:
        """See `Similarity.factor`."""
        return self.rows

    def _nearest(self, new: Floats, k: int, half: Floats) -> tuple[Indices, Floats]:
        """Rows with the largest product, less ``half``, with each new one."""
        blocks = [new[start : start + 16] for start in range(0, len(new), 16)]
        found = [graph.nearest_values(self.rows.products_with(b) - half, k) for b in blocks]
        near, values = (np.concatenate(part) for part in zip(*found, strict=True))
        return near, values

    def _search(self, k: int) -> NDArray[np.int32]:
        return graph.row_neighbors(self.rows, k, neighbors=self.search)

    def _rows_by_distance(self) -> Any:
        return self.rows


class _SparseProducts(_SparseSimilarity):
    """Correlations and cosines of sparse rows."""

    scaling: str
    _scaled_new: Any

    def __init__(self, X: SparseTable, *, counts: bool = False) -> None:
        Similarity.__init__(self, *X.shape)
        self._counts = counts
        self.rows = covariance.sparse_unit_rows(X, self.scaling, allow_flat=counts)

    def nearest(self, X: Any, k: int) -> tuple[Indices, Floats]:
        """See `Similarity.nearest`."""
        return self._nearest(self._scaled_new(X), k, np.zeros(self.n_samples))


class SparseCorrelation(_SparseProducts, Correlation):
    """`Correlation` of sparse rows."""


class SparseCosine(_SparseProducts, Cosine):
    """`Cosine` of sparse rows."""


class SparseSharedNeighbors(_SparseProducts, SharedNeighbors):
    """`SharedNeighbors` of sparse rows."""


class SparseHellinger(_SparseProducts, Hellinger):
    """`Hellinger` of sparse rows."""

    def __init__(self, X: SparseTable, *, counts: bool = True) -> None:
        check_not_negative("X", X.stored.data, f"affinity={self.name!r}")
        _SparseProducts.__init__(self, X.map(np.sqrt), counts=True)


class SparseEuclidean(_SparseSimilarity, Euclidean):
    """`Euclidean` of sparse rows."""

    def __init__(self, X: SparseTable, *, counts: bool = False) -> None:
        Similarity.__init__(self, *X.shape)
        self.rows, self._made = covariance.sparse_euclidean_rows(X)

    def nearest(self, X: Any, k: int) -> tuple[Indices, Floats]:
        """See `Similarity.nearest`."""
        new = self._made.scaled(X)
        near, values = self._nearest(new, k, 0.5 - self.rows.left[:, 0])
        return near, values + 1.0 - 0.5 * np.einsum("ij,ij->i", new, new)[:, None]


class SparseStandardizedEuclidean(SparseEuclidean, StandardizedEuclidean):
    """`StandardizedEuclidean` of sparse rows."""

    def __init__(self, X: SparseTable, *, counts: bool = False) -> None:
        units = covariance.sparse_column_units(X)
        SparseEuclidean.__init__(self, X.map(lambda data: data / units[X.stored.indices]))
        self._made = self._made._replace(units=units)


SPARSE = {
    one.name: one
    for one in (
        SparseCorrelation,
        SparseCosine,
        SparseEuclidean,
        SparseStandardizedEuclidean,
        SparseSharedNeighbors,
        SparseHellinger,
    )
}
"""Class of every affinity of sparse rows, by its name; other affinities take dense rows."""
