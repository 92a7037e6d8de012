"""Similarity of rows with holes: each pair over the columns that both rows have, or unknown."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import connected_components

from .._base.format import setting
from .._base.rounding import rounding
from .._base.table import dense_rows
from .._base.threads import block_rows, map_blocks
from .._base.types import Booleans, Floats, Integers, Reals
from .._base.validation import check_rows_vary, few_rows, one_of, validate
from ._base import Affinity
from ._correlations import column_moments, column_units
from ._given import Correlations

KINDS = ("correlation", "cosine", "euclidean")
"""What may be computed of a pair of rows."""

SIGNIFICANT = 2.5
"""Standard errors 1 / sqrt(n) of its own n shared columns that the correlation of a pair must
exceed to be an edge of a threshold graph."""


class PairwiseMoments(NamedTuple):
    """Values of pairs of rows, each over the columns that both have, and the number of those."""

    values: Floats  # (b, n) NaN where the pair is not known
    counts: Integers  # (b, n) shared columns


class MaskedRows(NamedTuple):
    """Rows with holes as products of matrices need them."""

    values: Floats  # (n, p) zero in holes
    known: Floats  # (n, p) 1 where there is a value, 0 in holes


def masked_rows(X: Reals, origin: Any, kind: str) -> MaskedRows:
    """Rows (n, p) with zeros in holes, less a level that changes no value and saves digits.

    ``origin`` (p,) is taken off every row for distances, the mean of its own for correlations.
    """
    known = np.isfinite(X)
    rows = np.where(known, X, 0.0).astype(np.float64, copy=False)
    if kind == "correlation":
        rows -= rows.sum(axis=1, keepdims=True) / np.maximum(known.sum(axis=1, keepdims=True), 1)
    elif kind == "euclidean":
        rows -= origin
    rows[~known] = 0.0
    return MaskedRows(rows, known.astype(np.float64))


def moments_between(first: MaskedRows, second: MaskedRows, kind: str) -> PairwiseMoments:
    """Values of every row of one table with every row of another, each over shared columns.

    With masks B and values Y that are zero in holes, the shared columns of a pair are B B', its sum
    of products Y Y', and the sums of either row over them Y B' and B Y'.
    """
    counts = first.known @ second.known.T
    size = np.maximum(counts, 1.0)

    def means(a: Floats, b: Floats) -> Floats:
        """Means of either row of a pair over the shared columns, (2, b, n)."""
        return np.stack([a @ second.known.T, first.known @ b.T]) / size

    products = first.values @ second.values.T / size
    squares = means(np.square(first.values), np.square(second.values))
    if kind == "euclidean":
        # Scaled to all columns, so that pairs of few and of many shared ones compare.
        values = np.maximum(squares.sum(axis=0) - 2.0 * products, 0.0) * first.known.shape[1]
        return PairwiseMoments(np.where(counts > 0.0, values, np.nan), counts.astype(np.int64))
    least = np.zeros_like(squares)
    if kind == "correlation":
        level = means(first.values, second.values)
        products -= level[0] * level[1]
        least, squares = rounding(squares), squares - level**2
    # A row without spread over the shared columns is correlated with nothing there.
    usable = (counts > 1.0) & (squares > least).all(axis=0)
    scale = np.sqrt(np.where(usable, squares[0] * squares[1], 1.0))
    values = np.where(usable, np.clip(products / scale, -1.0, 1.0), np.nan)
    return PairwiseMoments(values, counts.astype(np.int64))


@validate(kind=one_of(KINDS))
def pairwise(X: ArrayLike, kind: str = "correlation") -> PairwiseMoments:
    r"""Compute a moment of every pair of rows over the columns that both rows have.

    Nothing is filled in. The correlation of a pair of rows that share n columns is that of these
    columns, and its standard error is about 1 / √n.

    Parameters
    ----------
    X : (n_samples, n_features) array_like of float64
        Points in rows, NaN for what is not known.
    kind : {"correlation", "cosine", "euclidean"}
        Pearson correlations, cosines, or squared Euclidean distances, these scaled from the shared
        to all columns.

    Returns
    -------
    PairwiseMoments
        ``values`` (n_samples, n_samples) float64, symmetric, NaN for a pair without shared columns
        or without spread over them, and ``counts``, the number of shared columns.

    Raises
    ------
    ValueError
        If X is no table of numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import covariance
    >>> nan = np.nan
    >>> X = [[1.0, 2.0, 3.0, nan], [2.0, 4.0, 6.0, 1.0], [nan, nan, nan, 5.0]]
    >>> found = covariance.pairwise(X)
    >>> found.values.round(3)[0], found.counts[0]
    (array([ 1.,  1., nan]), array([3, 3, 0]))
    """
    table = np.asarray(X)
    if table.ndim != 2 or table.dtype.kind not in "fiub":
        raise ValueError(
            f"X must be a table of numbers, NaN for what is not known, got {table.ndim} dimensions "
            f"of {table.dtype}; pass rows and columns"
        )
    return moments_of_all(masked_rows(table, column_moments(table)[0], kind), kind)


def moments_of_all(rows: MaskedRows, kind: str) -> PairwiseMoments:
    """Values and counts of every pair, (n, n), the same bits either way round."""
    n = rows.values.shape[0]
    values, counts = np.empty((n, n)), np.empty((n, n), dtype=np.int64)

    def fill(start: int, stop: int) -> None:
        block = slice(start, stop)
        part = moments_between(MaskedRows(*(each[block] for each in rows)), rows, kind)
        values[block], counts[block] = part.values, part.counts

    map_blocks(fill, n, block_rows(n))
    values[...], counts[...] = (np.triu(each) + np.triu(each, 1).T for each in (values, counts))
    diagonal = np.diagonal(values)
    own = 0.0 if kind == "euclidean" else 1.0
    np.fill_diagonal(values, np.where(np.isfinite(diagonal), own, np.nan))
    return PairwiseMoments(values, counts)


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
    _origin: Floats | None = None

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
        if affinity.euclidean:
            self._origin = column_moments(table)[0]
        self._rows = masked_rows(table, self._origin, affinity.over_pairs)
        moments = moments_of_all(self._rows, affinity.over_pairs)
        self.counts = moments.counts
        if affinity.euclidean:
            others = self._are_known(moments) & ~np.eye(len(table), dtype=np.bool_)
            square = (float(moments.values[others].mean()) if others.any() else 1.0) or 1.0
            self.unit = float(np.sqrt(0.5 * square))
        values = self._scaled(moments)
        np.fill_diagonal(values, 1.0)
        super().__init__(values, affinity)
        self.n_observed, self.known = X.shape[1], np.isfinite(values)

    def _are_known(self, moments: PairwiseMoments) -> Booleans:
        """Whether pairs share enough columns, (b, n)."""
        return np.isfinite(moments.values) & (moments.counts >= self.least)

    def _scaled(self, moments: PairwiseMoments) -> Floats:
        """Similarities, minus infinity for pairs that are not known, (b, n)."""
        values = moments.values
        if self.affinity.euclidean:
            values = 1.0 - values / (2.0 * self.unit**2)
        return np.where(self._are_known(moments), values, -np.inf)

    def modeled(self, X: Any) -> Any:
        """See `Similarity.modeled`."""
        return self.affinity.modeled(dense_rows(X), self._units)

    def groups(self) -> Integers:
        """Group of each row, (n,): rows of different groups have no chain of known pairs."""
        return np.asarray(connected_components(self.known, directed=False)[1], dtype=np.int64)

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
        for position in range(near.size):
            if mutual[position]:
                mutual[position + 1 :] &= self.known[near[position], near[position + 1 :]]
        return mutual

    def least_edge(self, first: Integers, second: Integers, s0: float) -> float | Floats:
        """See `Similarity.least_edge`; a correlation within its own error is no edge."""
        if self.affinity.euclidean:
            return s0
        return np.maximum(s0, SIGNIFICANT / np.sqrt(self.shared_columns(first, second)))

    def check_groups(self, names: Integers) -> None:
        """Raise where groups of rows have no chain of known pairs between them."""
        labels, others = self.groups(), ~np.eye(self.n_samples, dtype=np.bool_)
        if not labels.any():
            return
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
