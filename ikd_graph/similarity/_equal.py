"""Rows that are equal: found by digests, so that tables of any width cost one pass."""

import hashlib
import itertools
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._base.rounding import DECIMALS, rounding
from .._base.threads import batches, block_rows
from .._base.types import Floats, Integers


def row_keys(X: Any) -> Integers:
    """Digest of every row, (n,); those of a dense and of a sparse table cannot be compared."""
    if sp.issparse(X):
        table = sp.csr_array(X, dtype=np.float64, copy=True)
        table.sum_duplicates()
        table.eliminate_zeros()
        columns, ends = table.indices.astype(np.int64), itertools.pairwise(table.indptr)
        rows = (columns[i:j].tobytes() + table.data[i:j].tobytes() for i, j in ends)
    else:
        # + 0.0 makes -0.0 the zero it equals.
        blocks = (X[batch] + 0.0 for batch in batches(X.shape[0], block_rows(4 * X.shape[1])))
        rows = (np.ascontiguousarray(row) for block in blocks for row in block)
    digests = [hashlib.blake2b(row, digest_size=8).digest() for row in rows]
    return np.frombuffer(b"".join(digests), np.int64)


def find_rows(keys: Integers, known: Integers) -> Integers:
    """First training row that each of (b,) rows equals by its key, -1 where there is none.

    The training rows as a whole are each its own, equal ones too: a graph may have put these in
    different places.
    """
    if np.array_equal(keys, known):
        return np.arange(keys.size)
    distinct, first = np.unique(known, return_index=True)
    at = np.minimum(np.searchsorted(distinct, keys), distinct.size - 1)
    return np.where(distinct[at] == keys, first[at], -1)


def unique_rows(X: Any) -> tuple[Integers, Integers]:
    """First of every set of equal rows, in an order that does not depend on that of the rows.

    A fit works on rows in this order, so that the order they came in leaves no trace, not even in
    the last bits: a search among many local optima may end elsewhere for one of them.

    Parameters
    ----------
    X : (n, p) ndarray of float, or SparseTable
        Rows.

    Returns
    -------
    first : (u,) ndarray of int64
        The rows that equal none before them, by their kurtosis and along a fixed direction.
    inverse : (n,) ndarray of int64
        Which of those each row equals.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import similarity
    >>> first, inverse = similarity.unique_rows(np.array([[1.0], [4.0], [1.0]]))
    >>> first[inverse].tolist()
    [0, 1, 0]
    """
    digests, first, equal = np.unique(row_keys(X), return_index=True, return_inverse=True)
    kurtosis, along = _order_keys(X, first)
    # Digests last: they have nothing to do with those of the same rows in another unit.
    order = np.lexsort((digests, along, kurtosis))
    return first[order], np.argsort(order)[equal]


def _order_keys(X: Any, rows: Integers) -> tuple[Floats, Floats]:
    """Compute what rows are put in order by: their kurtoses, and for equal ones a projection.

    Neither an offset nor a scale of a row nor the order of columns changes more than the last bits
    of a kurtosis, which are rounded off; a row without spread has -1. Neither a positive scale nor
    an offset of the table changes the order along the projection.
    """
    kurtosis, along = np.empty(rows.size), np.empty(rows.size)
    # Cosines of whole numbers are linearly independent over the rationals (Lindemann and
    # Weierstrass), so that no two rows of whole numbers have one projection.
    axis = np.cos(np.arange(1.0, X.shape[1] + 1.0))
    for batch in batches(rows.size, block_rows(4 * X.shape[1])):
        # Holes are as good as any value: rows that differ by them differ in their digests.
        block = np.nan_to_num(X[rows[batch]].astype(np.float64))
        along[batch] = (block * axis).sum(axis=1)
        largest = np.abs(block).max(axis=1, initial=0.0, keepdims=True)
        block /= np.where(largest > 0.0, largest, 1.0)
        squares = (block - block.mean(axis=1, keepdims=True)) ** 2
        spread = squares.sum(axis=1)
        flat = spread <= rounding(n=X.shape[1]) ** 2
        kurtosis[batch] = (squares**2).sum(axis=1) / np.where(flat, 1.0, spread) ** 2
        kurtosis[batch][flat] = -1.0
    # Two columns always have 1/2, and rows of zeros and as many ones the same.
    return kurtosis.round(DECIMALS), along
