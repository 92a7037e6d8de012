"""Similarity of rows with holes: each pair over the columns that both rows have, or unknown."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from .. import covariance, graph
from .._base.table import dense_rows
from .._base.types import Floats, Integers
from .._base.validation import few_rows
from ..covariance import known_rows, moments_between, moments_of_all
from ..graph import CsrGraph
from ._affinity import Affinity
from ._base import Similarity

SIGNIFICANT = 2.5
"""Standard errors 1 / sqrt(n) of its own n shared columns that the correlation of a pair must
exceed to be an edge of a threshold graph."""


class PairwiseSimilarity(Similarity):
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

    Raises
    ------
    ValueError
        If the known pairs leave groups of rows that nothing relates to one another.
    """

    least: int
    counts: NDArray[np.int64]
    known: NDArray[np.bool_]
    _units: Floats | None
    _origin: Floats | None
    _rows: covariance.KnownRows
    _square: float
    _values: Floats

    def __init__(self, affinity: Affinity, X: Any, min_columns: int) -> None:
        super().__init__(affinity, *X.shape)
        if affinity.shared:
            raise ValueError(
                "affinity must compare rows by their columns for missing='pairwise', got "
                f"{affinity.name!r}; use 'correlation' or 'euclidean'"
            )
        table = with_holes(X)
        self.least = min_columns
        self._units = covariance.known_column_units(table) if affinity.scales_columns else None
        table = affinity.modeled(table, self._units)
        self._origin = covariance.known_column_means(table) if affinity.euclidean else None
        self._rows = known_rows(table, self._origin, affinity.over_pairs)
        found = moments_of_all(self._rows, affinity.over_pairs)
        self.counts = found.counts
        known = self._is_known(found.values, found.counts)
        np.fill_diagonal(known, True)
        self._square = 1.0
        if affinity.euclidean:
            pairs = known & ~np.eye(len(known), dtype=np.bool_)
            self._square = float(found.values[pairs].mean()) if pairs.any() else 1.0
            self._square = self._square or 1.0
        self._values = self._scaled(found.values, known)
        np.fill_diagonal(self._values, 1.0)
        self.known = known

    def _is_known(self, values: Floats, counts: NDArray[np.int64]) -> NDArray[np.bool_]:
        return np.isfinite(values) & (counts >= self.least)

    def _scaled(self, values: Floats, known: NDArray[np.bool_]) -> Floats:
        """Similarities, minus infinity for pairs that are not known."""
        if self.affinity.euclidean:
            values = 1.0 - values / self._square
        return np.where(known, values, -np.inf)

    @property
    def unit(self) -> float:
        """See `Similarity.unit`."""
        return float(np.sqrt(0.5 * self._square)) if self.affinity.euclidean else 1.0

    @property
    def centers_rows(self) -> bool:
        """See `Similarity.centers_rows`."""
        return self.affinity.centers_rows and not self.affinity.euclidean

    def modeled(self, X: Any) -> Any:
        """See `Similarity.modeled`."""
        return self.affinity.modeled(with_holes(X), self._units)

    def groups(self) -> NDArray[np.int64]:
        """Group of each row, (n,): rows of different groups have no chain of known pairs."""
        return np.asarray(connected_components(self.known, directed=False)[1], dtype=np.int64)

    def block(self, points: Integers) -> Floats:
        """See `Similarity.block`."""
        return np.asarray(self._values[points])

    def between(self, first: Integers, second: Integers) -> Floats:
        """See `Similarity.between`."""
        return np.asarray(self._values[first, second])

    def matrix(self) -> Floats:
        """See `Similarity.matrix`."""
        unknown = int(np.count_nonzero(~self.known)) // 2
        if unknown:
            raise ValueError(
                "strategy='eigen' must know every pair of rows, got "
                f"{unknown} pairs that share fewer than {self.least} columns; use "
                "strategy='geodesic' or 'blockwise'"
            )
        return self._values.copy()

    def observations(self, g: CsrGraph) -> NDArray[np.int64]:
        """See `Similarity.observations`: the columns that the ends of an edge share."""
        rows = np.repeat(np.arange(g.n_nodes), np.diff(g.indptr))
        return np.maximum(self.counts[rows, g.indices], 1)

    def nearest(self, X: Any, k: int) -> tuple[Integers, Floats]:
        """See `Similarity.nearest`; pairs that are not known are minus infinity."""
        return graph.nearest_values(self.factor_of(X), k)

    def factor_of(self, X: Any) -> Floats:
        """Similarities of new rows with all, (b, n), minus infinity where not known."""
        table = self.affinity.modeled(with_holes(X), self._units)
        rows = known_rows(table, self._origin, self.affinity.over_pairs)
        out = np.empty((len(table), self.n_samples))
        # One row at a time: the bits of a product depend on how many rows it is made of.
        for index in range(len(table)):
            one = rows.take(slice(index, index + 1))
            found = moments_between(one, self._rows, self.affinity.over_pairs)
            out[index] = self._scaled(found.values, self._is_known(found.values, found.counts))[0]
        return out

    def mutually_known(self, near: Integers, values: Floats) -> NDArray[np.bool_]:
        """See `Similarity.mutually_known`: from the nearest on, those known to all before."""
        mutual = np.isfinite(values)
        for position in range(near.size):
            if mutual[position]:
                mutual[position + 1 :] &= self.known[near[position], near[position + 1 :]]
        return mutual

    def comparable(self, X: Any) -> NDArray[np.bool_]:
        """See `Similarity.comparable`: a new row must share enough columns with some row."""
        return np.asarray(np.isfinite(self.factor_of(X)).any(axis=1))

    @property
    def incomparable(self) -> str:
        """See `Similarity.incomparable`."""
        return f"all zero, constant, or sharing fewer than {self.least} columns with each"

    def neighbor_graph(self, k: int, *, mutual: bool = False) -> CsrGraph:
        """See `Similarity.neighbor_graph`; a pair that is not known is no pair of neighbors."""
        return self._of_known(super().neighbor_graph(k, mutual=mutual))

    def threshold_graph(self, s0: float) -> CsrGraph:
        """Graph of the known pairs above a threshold, and above their own sampling error."""
        own = not self.affinity.euclidean

        def upper(start: int, stop: int) -> NDArray[np.floating]:
            values = self._values[start:stop, start:]
            if own:
                floor = SIGNIFICANT / np.sqrt(np.maximum(self.counts[start:stop, start:], 1))
                values = np.where(values > floor, values, -np.inf)
            return np.ascontiguousarray(self.weights(values))

        return graph.pairs_above(upper, self.n_samples, s0)

    def effective_columns(self, n_removed: int = 0) -> float | None:
        """Median number of shared columns of known pairs."""
        pairs = self.known[np.triu_indices(self.n_samples, 1)]
        counts = self.counts[np.triu_indices(self.n_samples, 1)][pairs]
        return max(float(np.median(counts)) - n_removed, 1.0) if counts.size else 1.0

    def join(self, g: CsrGraph) -> CsrGraph:
        """See `Similarity.join`; only known pairs link, and groups without one are an error."""
        return self._of_known(super().join(g))

    def check_groups(self, names: Integers | None = None) -> None:
        """Raise where groups of rows have no chain of known pairs between them."""
        labels = self.groups()
        if not labels.any():
            return
        names = np.arange(labels.size) if names is None else names
        self._check_vary(names)
        sizes = np.bincount(labels)
        order = np.argsort(-sizes, kind="stable")
        listed = [
            f"{sizes[label]} rows ({few_rows(np.sort(names[labels == label]))})"
            for label in order[:5]
        ]
        more = f" and {sizes.size - 5} more" if sizes.size > 5 else ""
        raise ValueError(
            f"rows must be related by at least {self.least} columns that both have, directly or by "
            f"way of others, got {sizes.size} groups without any between them: "
            f"{'; '.join(listed)}{more}; fit each group separately, measure columns that they "
            "share, lower missing=Pairwise(min_columns=...), or fill in holes at random by "
            "missing='impute'"
        )

    def _check_vary(self, names: Integers) -> None:
        """Raise where rows that share columns enough have no direction to be compared by."""
        others = ~np.eye(len(self.known), dtype=np.bool_)
        sharing = ((self.counts >= self.least) & others).any(axis=1)
        flat = names[sharing & ~(self.known & others).any(axis=1)]
        if flat.size:
            what = "constant" if self.affinity.over_pairs == "correlation" else "all zero"
            raise ValueError(
                f"rows of X must vary for {self.affinity.name!r}, got {flat.size} {what} row(s): "
                f"{few_rows(np.sort(flat))}; drop them, or use affinity='euclidean', which "
                "compares values"
            )

    def _of_known(self, g: CsrGraph) -> CsrGraph:
        first, second, weights = graph.edges(g)
        there = self.known[first, second]
        if there.all():
            return g
        return graph.from_edges(g.n_nodes, first[there], second[there], weights[there])


def with_holes(X: Any) -> NDArray[np.floating]:
    """Dense rows, NaN where a value is not known; what a sparse table does not store is zero."""
    return np.asarray(dense_rows(X))
