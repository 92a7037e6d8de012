"""Similarities of rows that stay sparse: no more than some rows are dense at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import covariance, graph
from .._table import SparseTable
from .._validation import check_not_negative
from ._base import Floats, Indices, Similarity
from ._nearest import nearest_by_products
from ._rows import (
    Correlation,
    Cosine,
    Euclidean,
    Hellinger,
    SharedNeighbors,
    StandardizedEuclidean,
)

# What a product of two stored values costs in an exact search, in multiplications of a dense matrix
# product, and how many entries of a dense row are fetched in the time of a stored value.
_SCATTERED, _FETCHED = 100.0, 5.0


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

    def _search(self, k: int) -> NDArray[np.int32]:
        rows = self.rows
        settler = graph.Settler(
            rows.settle, _FETCHED * rows.entries, _SCATTERED * rows.entries_in_common
        )
        found = graph.near_rows(rows, self._half(), k, self.search, settler)
        return Similarity._search(self, k) if found is None else found

    def _rows_by_distance(self) -> Any:
        return self.rows


class _SparseProducts(_SparseSimilarity):
    """Correlations and cosines of sparse rows."""

    scaling: str

    def __init__(self, X: SparseTable, *, counts: bool = False) -> None:
        Similarity.__init__(self, *X.shape)
        self._counts = counts
        self.rows = covariance.sparse_unit_rows(X, self.scaling, allow_flat=counts)


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
        made = covariance.euclidean_rows(X, like=self._made)

        def exact(at: int, near: Indices) -> Floats:
            gaps = self.rows[near].astype(np.float64) - made.points[at]
            return np.asarray(1.0 - 0.5 * np.einsum("ij,ij->i", gaps, gaps))

        return nearest_by_products(made.rows, self.rows.appended(), k, exact)

    def _half(self) -> Floats:
        # Of rows in Euclidean distance: the column that is one in the others is a constant here.
        return 0.5 - self.rows.left[:, 0]


class SparseStandardizedEuclidean(SparseEuclidean, StandardizedEuclidean):
    """`StandardizedEuclidean` of sparse rows."""

    def __init__(self, X: SparseTable, *, counts: bool = False) -> None:
        self._units = covariance.sparse_column_units(X)
        columns = X.stored.indices
        SparseEuclidean.__init__(self, X.map(lambda data: data / self._units[columns]))

    def nearest(self, X: Any, k: int) -> tuple[Indices, Floats]:
        """See `Similarity.nearest`."""
        return SparseEuclidean.nearest(self, self.modelled(X), k)


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
