"""Rows that are compared by inner products: correlations, cosines."""

from typing import Any

import numpy as np

from .._base.rounding import TINY
from .._base.types import Floats, Integers, Reals
from ..covariance._scaled import centered_rows, products
from ._search import pair_products
from ._similarity import RowSimilarity


class ProductRows(RowSimilarity):
    """Inner products of rows that were scaled to length 1; rows without spread are zero."""

    # A row without spread is correlated with nothing.
    least_size = TINY

    def block(self, points: Integers, first: int = 0) -> Reals:
        """See `Similarity.block`."""
        values = products(self.rows, points, first)
        return np.minimum(values, 1.0, out=values)

    def between(self, first: Integers, second: Integers) -> Floats:
        """See `Similarity.between`."""
        return np.minimum(pair_products(self.rows, first, second), 1.0)

    def factor_of(self, X: Any) -> Floats:
        """See `Similarity.factor_of`."""
        table = self.affinity.modeled(np.asarray(X, dtype=np.float64))
        rows, lengths = centered_rows(table, self.affinity.over_pairs)
        return rows / np.where(lengths > 0.0, lengths, np.inf)[:, None]
