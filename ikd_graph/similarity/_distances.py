"""Rows that are compared by Euclidean distance."""

from typing import Any

import numpy as np

from .._base.threads import batches, block_rows
from .._base.types import Floats, Indices, Integers, Reals
from ..covariance import EuclideanRows, SparseRows
from ._affinity import Affinity
from ._search import exact_neighbors, pair_products, row_neighbors
from ._similarity import RowSimilarity


class DistanceRows(RowSimilarity):
    """Squared distances d^2 between rows, as similarities 1 - d^2 / (2 sigma^2)."""

    def __init__(
        self, affinity: Affinity, scaled: EuclideanRows, *, model_based: bool = False
    ) -> None:
        super().__init__(affinity, scaled.points, model_based=model_based)
        self.scaled, self.sq_length = scaled, 2.0 * float(scaled.half.mean())
        if np.isfinite(scaled.scale):
            self.unit = float(scaled.scale)

    def block(self, points: Integers, first: int = 0) -> Reals:
        """See `Similarity.block`."""
        return self.scaled.block(points, first)

    def between(self, first: Integers, second: Integers) -> Floats:
        """See `Similarity.between`."""
        if isinstance(self.rows, SparseRows):
            squares = self.scaled.half[first] + self.scaled.half[second]
            return np.minimum(pair_products(self.rows, first, second) - squares + 1.0, 1.0)
        values = np.empty(first.size)
        for batch in batches(first.size, block_rows(self.rows.shape[1])):
            gaps = self.rows[first[batch]].astype(np.float64, copy=False) - self.rows[second[batch]]
            values[batch] = 1.0 - 0.5 * np.einsum("ij,ij->i", gaps, gaps)
        return values

    def _search(self, k: int) -> Indices:
        """See `Similarity._search`."""
        return row_neighbors(self.rows, k, metric="euclidean", neighbors=self.search)

    def nearest(self, X: Any, k: int) -> tuple[Integers, Floats]:
        """See `Similarity.nearest`."""
        new = self.factor_of(X)
        near, values = exact_neighbors(self.rows, self.scaled.half, min(k, self.n_samples), new)
        values += 1.0 - 0.5 * np.einsum("ij,ij->i", new, new)[:, None]
        return near.astype(np.int64), values

    def factor_of(self, X: Any) -> Floats:
        """See `Similarity.factor_of`."""
        return self.scaled.scaled(np.asarray(X, dtype=np.float64))
