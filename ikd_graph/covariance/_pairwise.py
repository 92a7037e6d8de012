"""Rows with holes: each pair over the columns that both rows have."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._base.rounding import rounding
from .._base.threads import block_rows, map_blocks
from .._base.types import Floats, Integers, Reals
from .._base.validation import one_of, validate
from ._scaled import column_moments

KINDS = ("correlation", "cosine", "euclidean")
"""What may be computed of a pair of rows."""


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
