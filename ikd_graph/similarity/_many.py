"""Similarities of many rows that are scaled when they are asked for, on disk or in memory."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import covariance, graph
from .._table import MappedTable
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


class _RowsOnDemand(Similarity):
    """What takes the places of operations on an array of all scaled rows."""

    rows: Any  # covariance.ScaledRows

    matrix = Similarity.matrix
    threshold_graph = Similarity.threshold_graph

    def block(self, points: Indices) -> NDArray[np.floating]:
        """See `Similarity.block`."""
        found: NDArray[np.floating] = self.rows.products(np.asarray(points, np.int64))
        return found

    def between(self, left: Indices, right: Indices) -> Floats:
        """See `Similarity.between`."""
        found: Floats = self.rows.pairs(np.asarray(left, np.int64), np.asarray(right, np.int64))
        return np.minimum(found, 1.0, out=found)

    def totals(self) -> Floats:
        """See `Similarity.totals`."""
        return np.asarray(Similarity.totals(self))

    def _search(self, k: int) -> NDArray[np.int32]:
        half = self._half()
        if isinstance(self.rows.table, MappedTable):
            p = self.rows.shape[1]
            settler = graph.Settler(partial(self.rows.settle, half), p, p, self._spread())
            found = graph.near_rows(self.rows, half, k, self.search, settler)
        else:
            # For the time of the search: candidates are compared many times.
            found = graph.near_rows(self.rows.whole(), half, k, self.search)
        return Similarity._search(self, k) if found is None else found

    def _spread(self) -> Any:
        """Who works on the rows: workers where they are Dask's, None for this process."""
        if not self.rows.table.spread:
            return None
        from ..distributed import Workers

        return Workers(self.rows.table)

    def _rows_by_distance(self) -> Any:
        return self.rows


class _UnitRows(_RowsOnDemand):
    """Correlations and cosines."""

    scaling: str

    def __init__(self, X: Any, *, counts: bool = False) -> None:
        Similarity.__init__(self, *X.shape)
        self._counts = counts
        self.rows = covariance.UnitRows(X, self.scaling, allow_flat=counts)


class ManyCorrelations(_UnitRows, Correlation):
    """`Correlation` of rows on disk."""


class ManyCosines(_UnitRows, Cosine):
    """`Cosine` of rows on disk."""


class ManySharedNeighbors(_UnitRows, SharedNeighbors):
    """`SharedNeighbors` of rows on disk."""


class ManyRoots(_UnitRows, Hellinger):
    """`Hellinger` of rows on disk."""

    def __init__(self, X: Any, *, counts: bool = True) -> None:
        check_not_negative("X", np.array([X.min(initial=0.0)]), f"affinity={self.name!r}")
        Similarity.__init__(self, *X.shape)
        self._counts = True
        self.rows = covariance.UnitRows(X, self.scaling, allow_flat=True, roots=True)


class ManyDistances(_RowsOnDemand, Euclidean):
    """`Euclidean` of many rows."""

    def __init__(self, X: Any, *, counts: bool = False) -> None:
        Similarity.__init__(self, *X.shape)
        self.rows = covariance.CentredRows(X, standardized=self.scales_columns)

    def block(self, points: Indices) -> Any:
        """See `Similarity.block`."""
        found: NDArray[np.floating] = self.rows.products(np.asarray(points, np.int64))
        half = self._half().astype(found.dtype)
        for row, own in zip(found, half[points], strict=True):
            row -= half
            row += 1.0 - own
        return np.minimum(found, 1.0, out=found)

    def between(self, left: Indices, right: Indices) -> Floats:
        """See `Similarity.between`."""
        pairs = np.asarray(left, np.int64), np.asarray(right, np.int64)
        squares: Floats = self.rows.pairs(*pairs, squares=True)
        squares *= -0.5
        squares += 1.0
        return squares

    def factor(self) -> Any:
        """See `Similarity.factor`."""
        return self.rows

    def factor_of(self, X: Any) -> Floats:
        """See `Similarity.factor_of`."""
        found: Floats = self.rows.scaled(X)
        return found

    def nearest(self, X: Any, k: int) -> tuple[Indices, Floats]:
        """See `Similarity.nearest`."""
        new = self.rows.scaled(X)

        def exact(at: int, near: Indices) -> Floats:
            gaps = self.rows[near].astype(np.float64) - new[at]
            return np.asarray(1.0 - 0.5 * np.einsum("ij,ij->i", gaps, gaps))

        rows: Any = covariance.WithLengths(self.rows, self._half())
        return nearest_by_products(rows.sought(new), rows, k, exact)

    def _half(self) -> Floats:
        if self._lengths is None:
            self._lengths = self.rows.half()
        return self._lengths

    _lengths: Floats | None = None


class ManyStandardizedDistances(ManyDistances, StandardizedEuclidean):
    """`StandardizedEuclidean` of many rows."""

    def __init__(self, X: Any, *, counts: bool = False) -> None:
        ManyDistances.__init__(self, X, counts=counts)
        self._units = self.rows.units


MANY: dict[str, type[Similarity]] = {
    one.name: one for one in (ManyDistances, ManyStandardizedDistances)
}
"""Class of affinities of many rows in memory, by its name: copies in double precision are saved."""

MAPPED: dict[str, type[Similarity]] = MANY | {
    one.name: one for one in (ManyCorrelations, ManyCosines, ManySharedNeighbors, ManyRoots)
}
"""Class of affinities of rows on disk, by its name; other affinities need all rows in memory."""
