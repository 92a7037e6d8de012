"""Rows that are equal: found by digests, so that tables of any width cost one pass."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray


def row_keys(X: Any) -> list[bytes]:
    """Digest of every row; those of a dense and of a sparse table cannot be compared."""
    if sp.issparse(X):
        table = sp.csr_array(X)
        table.eliminate_zeros()
        table.sort_indices()
        ends = zip(table.indptr[:-1], table.indptr[1:], strict=True)
        columns, values = table.indices.astype(np.int64), table.data.astype(np.float64)
        return [
            _digest(columns[one:end].tobytes() + values[one:end].tobytes()) for one, end in ends
        ]
    keys = []
    for start in range(0, X.shape[0], 1024):
        # + 0.0 makes -0.0 the zero it equals.
        block = np.ascontiguousarray(X[start : start + 1024]) + 0.0
        keys += [_digest(row) for row in block]
    return keys


def _digest(data: Any) -> bytes:
    """Sixteen bytes that stand for many."""
    return hashlib.blake2b(data, digest_size=16).digest()


class KnownRows:
    """Which training row a row equals, if any; training rows are looked at, and not kept."""

    def __init__(self, rows: Any) -> None:
        self._first: dict[bytes, int] = {}
        for index, key in enumerate(row_keys(rows)):
            self._first.setdefault(key, index)

    def find(self, rows: Any) -> NDArray[np.int64]:
        """First training row that each row (of the same type) equals, -1 where there is none."""
        found = [self._first.get(key, -1) for key in row_keys(rows)]
        return np.array(found, dtype=np.int64)


def unique_rows(X: NDArray[np.floating]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows that equal none before them, in order, and which of those each row equals.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import similarity
    >>> similarity.unique_rows(np.array([[1.0], [2.0], [1.0]]))[1].tolist()
    [0, 1, 0]
    """
    known: dict[bytes, int] = {}
    equal = [known.setdefault(key, index) for index, key in enumerate(row_keys(X))]
    first = np.fromiter(known.values(), dtype=np.int64, count=len(known))
    return first, np.searchsorted(first, equal)
