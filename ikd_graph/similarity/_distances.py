"""Rows that are compared by Euclidean distance."""

from functools import partial
from typing import Any

import numpy as np

from .. import _jit
from .._base.types import Floats, Integers, Reals
from ..covariance import EuclideanRows, SparseRows
from ._affinity import Affinity
from ._search import of_pairs, pair_products
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
        return 1.0 - 0.5 * of_pairs(partial(_jit.graph.pair_squares, self.rows), first, second)

    def factor_of(self, X: Any) -> Floats:
        """See `Similarity.factor_of`."""
        return self.scaled.scaled(np.asarray(X, dtype=np.float64))
