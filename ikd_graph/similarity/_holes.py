"""Similarity of rows with holes: each pair over the columns that both rows have, or unknown."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from .._base.format import setting
from .._base.table import dense_rows
from .._base.types import Booleans, Floats, Integers
from .._base.validation import check_rows_vary, few_rows
from ..covariance import PairwiseMoments, column_moments, column_units
from ..covariance._pairwise import MaskedRows, masked_rows, moments_between, moments_of_all
from ._affinity import Affinity
from ._given import Correlations


class PairwiseSimilarity(Correlations):
    """An affinity of which pairs that share too few columns are not known.

    Similarities of unknown pairs are minus infinity: below any threshold, nobody's neighbor.

    Parameters
    ----------
    affinity : Affinity
        How rows are compared.
    X : (n, p) ndarray of float or SparseTable
        Rows; NaN is not known.
    min_columns : int
        Least number of shared columns of a known pair.

    """

    counts: Integers
    known: Booleans

    def __init__(self, affinity: Affinity, X: Any, min_columns: int) -> None:
        if affinity.shared:
            raise ValueError(
                "affinity must compare rows by their columns for "
                f"{setting('missing', 'pairwise')}, got {affinity.name!r}; use 'correlation' or "
                "'euclidean'"
            )
        self.affinity, self.least, table = affinity, min_columns, dense_rows(X)
        self._units = column_units(table) if affinity.scales_columns else None
        table = self.modeled(table)
        self._origin = column_moments(table)[0]
        self._rows = masked_rows(table, self._origin, affinity.over_pairs)
        moments = moments_of_all(self._rows, affinity.over_pairs)
        self.counts = moments.counts
        known = moments.values[self._are_known(moments) & ~np.eye(len(table), dtype=np.bool_)]
        self.unit = affinity.unit_of((known.mean() if known.size else 1.0) or 1.0)
        values = self._scaled(moments)
        np.fill_diagonal(values, 1.0)
        super().__init__(values, affinity)
        self.n_observed, self.known = X.shape[1], np.isfinite(values)

    def _are_known(self, moments: PairwiseMoments) -> Booleans:
        """Whether pairs share enough columns, (b, n)."""
        return np.isfinite(moments.values) & (moments.counts >= self.least)

    def _scaled(self, moments: PairwiseMoments) -> Floats:
        """Similarities, minus infinity for pairs that are not known, (b, n)."""
        values = self.affinity.similarities(moments.values, self.unit)
        return np.where(self._are_known(moments), values, -np.inf)

    def modeled(self, X: Any) -> Any:
        """See `Similarity.modeled`."""
        return self.affinity.modeled(dense_rows(X), self._units)

    def shared_columns(self, first: Integers, second: NDArray[np.integer]) -> Integers:
        """See `Similarity.shared_columns`."""
        return np.maximum(self.counts[first, second], 1)

    def factor_of(self, X: Any) -> Floats:
        """Similarities of new rows with all, (b, n), minus infinity where not known."""
        rows = masked_rows(self.modeled(X), self._origin, self.affinity.over_pairs)
        out = np.empty((X.shape[0], self.n_samples))
        # One row at a time: the bits of a product depend on how many rows it is made of.
        for index in range(len(out)):
            one = MaskedRows(*(each[index : index + 1] for each in rows))
            out[index] = self._scaled(moments_between(one, self._rows, self.affinity.over_pairs))
        return out

    def mutually_known(self, near: Integers, values: Floats) -> Booleans:
        """See `Similarity.mutually_known`: from the nearest on, those known to all before."""
        mutual = np.isfinite(values)
        for at in range(near.shape[1]):
            known = self.known[near[:, at, None], near[:, at + 1 :]]
            mutual[:, at + 1 :] &= known | ~mutual[:, at, None]
        return mutual

    def least_edge(self, first: Integers, second: Integers, s0: float) -> float | Floats:
        """See `Similarity.least_edge`; a correlation within its own error is no edge."""
        shared = self.shared_columns(first, second)
        return np.maximum(s0, self.affinity.significant / np.sqrt(shared))

    def check_groups(self, names: Integers) -> None:
        """Raise where groups of rows have no chain of known pairs between them."""
        labels = connected_components(self.known, directed=False)[1]
        if not labels.any():
            return
        others = ~np.eye(self.n_samples, dtype=np.bool_)
        # Rows that share columns enough, and have no direction there to be compared by.
        sharing = ((self.counts >= self.least) & others).any(axis=1)
        spread = np.ones(names.max() + 1)
        spread[names[sharing & ~(self.known & others).any(axis=1)]] = 0.0
        check_rows_vary(spread, self.affinity.over_pairs)
        sizes = np.bincount(labels)
        apart = np.sort(names[labels != sizes.argmax()])
        raise ValueError(
            f"rows must be related by at least {self.least} columns that both have, directly or by "
            f"way of others, got {sizes.size} groups without any between them: the largest has "
            f"{sizes.max()} rows, the others are {few_rows(apart)}; fit each group separately, "
            "measure columns that they share, lower min_columns of "
            f"{setting('missing', 'pairwise')}, or fill in holes at random by "
            f"{setting('missing', 'impute')}"
        )
