"""Moments of pairs of rows over the columns that both rows have."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base import validation as check
from .._base.threads import block_rows, map_blocks
from .._base.types import Floats
from .._base.validation import validate

KINDS = ("correlation", "cosine", "euclidean")
"""What may be computed of a pair of rows."""

_ROUNDING = 1e-12  # of the mean square of a row, below which a variance is rounding


class PairwiseMoments(NamedTuple):
    """Values of pairs of rows, each over the columns that both have, and the number of those."""

    values: Floats  # (b, n) NaN where the pair is not known
    counts: NDArray[np.int64]  # (b, n) shared columns


class KnownRows(NamedTuple):
    """Rows with holes as products of matrices need them."""

    values: Floats  # (n, p) zero in holes
    known: Floats  # (n, p) 1 where there is a value, 0 in holes

    def take(self, rows: slice | NDArray[np.int64]) -> "KnownRows":
        """Return some of the rows."""
        return KnownRows(self.values[rows], self.known[rows])


def known_rows(X: NDArray[np.floating], origin: Floats | None, kind: str) -> KnownRows:
    """Rows (n, p) with zeros in holes, less a level that changes no value and saves digits.

    ``origin`` (p,) is taken off every row for distances, the mean of its own for correlations.
    """
    rows = np.array(X, dtype=np.float64, order="C")
    known = np.isfinite(rows)
    rows[~known] = 0.0
    if kind == "correlation":
        level = rows.sum(axis=1, keepdims=True) / np.maximum(known.sum(axis=1, keepdims=True), 1)
        rows -= level
    elif kind == "euclidean" and origin is not None:
        rows -= origin
    rows[~known] = 0.0
    return KnownRows(rows, known.astype(np.float64))


def moments_between(first: KnownRows, second: KnownRows, kind: str) -> PairwiseMoments:
    """Values of every row of one table with every row of another, each over shared columns.

    With masks B and values Y that are zero in holes, the shared columns of a pair are B B', its sum
    of products Y Y', and the sums of either row over them Y B' and B Y'.
    """
    counts = first.known @ second.known.T
    size = np.maximum(counts, 1.0)
    products = first.values @ second.values.T / size
    squares = (
        np.square(first.values) @ second.known.T / size,
        first.known @ np.square(second.values).T / size,
    )
    if kind == "euclidean":
        # Scaled to all columns, so that pairs of few and of many shared ones compare.
        values = np.maximum(squares[0] + squares[1] - 2.0 * products, 0.0) * first.known.shape[1]
        return PairwiseMoments(np.where(counts > 0.0, values, np.nan), _whole(counts))
    if kind == "correlation":
        means = first.values @ second.known.T / size, first.known @ second.values.T / size
        products -= means[0] * means[1]
        floors = _ROUNDING * squares[0], _ROUNDING * squares[1]
        spread = squares[0] - means[0] ** 2, squares[1] - means[1] ** 2
    else:
        floors, spread = (np.zeros(()), np.zeros(())), squares
    # A row without spread over the shared columns is correlated with nothing there.
    usable = (counts > 1.0) & (spread[0] > floors[0]) & (spread[1] > floors[1])
    scale = np.sqrt(np.where(usable, spread[0], 1.0) * np.where(usable, spread[1], 1.0))
    values = np.where(usable, np.clip(products / scale, -1.0, 1.0), np.nan)
    return PairwiseMoments(values, _whole(counts))


def _whole(counts: Floats) -> NDArray[np.int64]:
    return np.rint(counts).astype(np.int64)


def _check_holes(X: NDArray[np.floating], *_: object, **__: object) -> None:
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise ValueError(
            f"X must be a table of numbers, NaN for what is not known, got {X.ndim} dimensions of "
            f"{X.dtype}; pass rows and columns"
        )


@validate(kind=check.one_of(KINDS))
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
    _check_holes(table)
    rows = known_rows(table, _column_means(table), kind)
    return moments_of_all(rows, kind)


def moments_of_all(rows: KnownRows, kind: str) -> PairwiseMoments:
    """Values and counts of every pair, (n, n), the same bits either way round."""
    n = rows.values.shape[0]
    values, counts = np.empty((n, n)), np.empty((n, n), dtype=np.int64)

    def fill(start: int, stop: int) -> None:
        block = slice(start, stop)
        part = moments_between(rows.take(block), rows, kind)
        values[block], counts[block] = part.values, part.counts

    map_blocks(fill, n, block_rows(n))
    low = np.tril_indices(n, -1)
    values[low] = values.T[low]
    counts[low] = counts.T[low]
    diagonal = np.diagonal(values)
    own = 0.0 if kind == "euclidean" else 1.0
    np.fill_diagonal(values, np.where(np.isfinite(diagonal), own, np.nan))
    return PairwiseMoments(values, counts)


def _column_means(table: NDArray[np.floating]) -> Floats:
    """Mean of what is known of every column, 0 where nothing is."""
    known = np.isfinite(table)
    total = np.where(known, table, 0.0).sum(axis=0, dtype=np.float64)
    return np.asarray(total / np.maximum(known.sum(axis=0), 1))


def known_column_means(table: NDArray[np.floating]) -> Floats:
    """Mean of what is known of every column, (p,), 0 where nothing is."""
    return _column_means(table)


def known_column_units(table: NDArray[np.floating]) -> Floats:
    """Return standard deviations of what is known of columns, infinite for those of one value."""
    known = np.isfinite(table)
    gaps = np.where(known, table - _column_means(table), 0.0)
    units = np.sqrt((gaps**2).sum(axis=0) / np.maximum(known.sum(axis=0), 1))
    largest = np.abs(np.where(known, table, 0.0)).max(axis=0, initial=0.0)
    return np.where(units > _ROUNDING * largest, units, np.inf)
