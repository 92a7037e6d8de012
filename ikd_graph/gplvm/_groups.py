"""Groups of columns that share their rows: what the likelihood of a table is a sum over.

A column that is known in the rows R is a sample of N(0, v K_RR + n I), so that columns that are
known in the same rows share one matrix. Complete data are one group, sessions that overlap a few;
holes at random have a group for each column.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._base.types import Floats, Integers

MOST_WORK = 5e7
"""Sum over groups of columns of the cubed number of rows up to which a likelihood is maximized: one
evaluation takes about 30 ms there."""


class ColumnGroup(NamedTuple):
    """Columns that are known in the same rows, and their covariance C C^T."""

    rows: Integers  # (r,) ascending
    weight: float  # fraction of all columns that are in the group
    root: Floats  # (r, k) C; a lower triangle if it is square, else k is less than r

    @classmethod
    def of(cls, rows: Integers, weight: float, values: Floats) -> ColumnGroup:
        """Return the group of rows (r,) with the covariance of values (r, any)."""
        if values.shape[1] < rows.size:
            return cls(rows, weight, np.ascontiguousarray(values))
        # The likelihood sees products of rows alone: more columns than rows say no more.
        return cls(rows, weight, np.asfortranarray(np.asarray(np.linalg.qr(values.T, mode="r")).T))

    @property
    def block(self) -> Any:
        """Index of the pairs of its rows, a view where they follow one another."""
        first, last = int(self.rows[0]), int(self.rows[-1]) + 1
        if last - first == self.rows.size:
            return slice(first, last), slice(first, last)
        return np.ix_(self.rows, self.rows)


def column_groups(table: NDArray[np.floating]) -> list[ColumnGroup]:
    """Group the columns of a table (n, p), NaN where a value is not known."""
    found = [each for each in known_columns(table) if each[0].size]
    total = sum(columns.size for _, columns in found)
    return [
        ColumnGroup.of(
            rows, columns.size / total, table[np.ix_(rows, columns)].astype(np.float64) / total**0.5
        )
        for rows, columns in found
    ]


def covariance_group(values: Floats, vectors: Floats) -> ColumnGroup:
    """Group of all columns from the eigenvalues and vectors of their covariance."""
    n = len(values)
    used = values > n * np.finfo(np.float64).eps * max(values[-1], 0.0)
    used[-1] = True
    return ColumnGroup.of(
        np.arange(n), 1.0, vectors[:, used] * np.sqrt(np.maximum(values[used], 0.0))
    )


def among(groups: Sequence[ColumnGroup], inside: NDArray[np.bool_]) -> list[ColumnGroup]:
    """Return groups of the same columns of some rows alone, which keep their numbers."""
    kept = [(group, inside[group.rows]) for group in groups]
    return [
        ColumnGroup.of(group.rows[there], group.weight, group.root[there])
        for group, there in kept
        if there.any()
    ]


def known_columns(rows: NDArray[np.floating]) -> list[tuple[Integers, Integers]]:
    """Rows and columns of every group of columns that are known in the same rows."""
    known = np.isfinite(rows)
    keys, inverse = np.unique(np.packbits(known, axis=0), axis=1, return_inverse=True)
    groups = []
    for number in range(keys.shape[1]):
        columns = np.flatnonzero(inverse.ravel() == number)
        groups.append((np.flatnonzero(known[:, columns[0]]), columns))
    return groups


def work_of(known: NDArray[np.bool_]) -> float:
    """Sum over groups of columns of the cubed number of rows that have them."""
    first = np.unique(np.packbits(known, axis=0), axis=1, return_index=True)[1]
    return float((known[:, first].sum(axis=0).astype(np.float64) ** 3).sum())


def centered_known(rows: NDArray[np.floating]) -> Floats:
    """Rows less the mean of what is known of each."""
    table = np.array(rows, dtype=np.float64)
    known = np.isfinite(table)
    total = np.where(known, table, 0.0).sum(axis=1, keepdims=True)
    return np.asarray(table - total / np.maximum(known.sum(axis=1, keepdims=True), 1))
