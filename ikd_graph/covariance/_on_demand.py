"""Scaled rows that are made when some are asked for: no table but the one that was given."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _jit
from .._table import blocks_of
from .._threads import map_blocks
from .._validation import check_rows_vary
from ._rows import centred_rows, kept_flat
from ._scale import ROUNDING

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

# Pairs whose products are found together, and entries of rows that are gathered: 34 MB
# in double precision, and five times that on the way.
_PAIRS, _GATHERED = 16_384, 2**22


class ScaledRows(ABC):
    """Rows (n, p) of a table, some of which are scaled when they are asked for.

    Parameters
    ----------
    table : (n, p) ndarray of float, or MappedTable
        Rows as they came.
    """

    ndim = 2

    def __init__(self, table: Any) -> None:
        self.table = table
        self.shape: tuple[int, int] = table.shape

    @abstractmethod
    def scaled(self, rows: Any) -> Floats:
        """Rows of the table's columns, (b, p), scaled each by itself."""

    @property
    def dtype(self) -> Any:
        """Type of the rows."""
        return self.table.dtype

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> NDArray[np.floating]:
        """Scaled rows, (b, p)."""
        return self._double(rows).astype(self.dtype, copy=False)

    def _double(self, rows: Any) -> Floats:
        """Some rows in double precision."""
        return self.scaled(self.table[rows])

    def whole(self) -> NDArray[np.floating]:
        """All rows, in the precision of the table."""
        found = np.empty(self.shape, self.dtype)

        def fill(start: int, stop: int) -> None:
            found[start:stop] = self[start:stop]

        map_blocks(fill, len(self), blocks_of(self.shape[1]))
        return found

    def half(self) -> Floats:
        """Half the squared length of every row, (n,)."""
        found = np.empty(len(self))

        def fill(start: int, stop: int) -> None:
            rows = self._double(slice(start, stop))
            found[start:stop] = 0.5 * np.einsum("ij,ij->i", rows, rows)

        map_blocks(fill, len(self), blocks_of(self.shape[1]))
        return found

    def products(self, points: Indices) -> NDArray[np.floating]:
        """Products of some rows with all, (b, n)."""
        mine = self[points]
        found = np.empty((len(points), len(self)), self.dtype)

        def fill(start: int, stop: int) -> None:
            np.matmul(mine, self[start:stop].T, out=found[:, start:stop])

        map_blocks(fill, len(self), blocks_of(self.shape[1]))
        return found

    def pairs(self, left: Indices, right: Indices, *, squares: bool = False) -> Floats:
        """Products of pairs of rows, or the squares of their distances, in double precision, (m,).

        They have the same bits either way round.
        """
        found = np.empty(left.size)

        def fill(start: int, stop: int) -> None:
            # Pairs come by their left rows, which are made once.
            rows, at = np.unique(left[start:stop], return_inverse=True)
            one, other = self._double(rows)[at], self._double(right[start:stop])
            if squares:
                one -= other
                other = one
            np.einsum("ij,ij->i", one, other, out=found[start:stop])

        map_blocks(fill, left.size, max(1, min(_PAIRS, _GATHERED // (4 * self.shape[1]))))
        return found

    def settle(
        self,
        half: Floats,
        ends: Indices,
        found: Indices,
        nodes: Indices,
        neighbours: NDArray[np.int32],
        missing: Indices,
    ) -> None:
        """Let rows decide among candidates by products less ``half``, see `_jit.graph`.

        Lists of near nodes have much in common. Where their rows cannot be gathered together, half
        of the lists are settled first; what is too long by itself is looked through in parts, the
        best of which are looked at once more.
        """
        most, k = max(64, _GATHERED // self.shape[1]), neighbours.shape[1]
        if found.size <= most or np.unique(found).size <= most:
            neighbours[nodes], missing[nodes] = self._nearest(ends, found, nodes, half, k)
        elif nodes.size > 1:
            middle = nodes.size // 2
            cut = ends[middle]
            self.settle(half, ends[: middle + 1], found[:cut], nodes[:middle], neighbours, missing)
            rest = ends[middle:] - cut
            self.settle(half, rest, found[cut:], nodes[middle:], neighbours, missing)
        else:
            best = []
            for start in range(0, found.size, most):
                part = found[start : start + most]
                near, gone = self._nearest(np.array([0, part.size]), part, nodes, half, k)
                best.append(near[0, : k - gone[0]].astype(np.int64))
            some = np.concatenate(best)
            limits = np.array([0, some.size])
            neighbours[nodes], missing[nodes] = self._nearest(limits, some, nodes, half, k)

    def _nearest(
        self, ends: Indices, found: Indices, nodes: Indices, half: Floats, k: int
    ) -> tuple[NDArray[np.int32], Indices]:
        """Best candidates of each node, (b, k), and how many are missing."""
        # In the order of their numbers, so that ties are settled by those.
        rows, place = np.unique(np.concatenate([found, nodes]), return_inverse=True)
        near, missing = np.zeros((rows.size, k), np.int32), np.zeros(rows.size, np.int64)
        listed, own = place[: found.size], place[found.size :]
        _jit.graph.settle_found(ends, listed, self[rows], half[rows], own, near, missing)
        return rows[near[own]].astype(np.int32), missing[own]


class UnitRows(ScaledRows):
    """Rows whose products are correlations or cosines, as `unit_rows` makes them.

    Parameters
    ----------
    table : see `ScaledRows`
        Rows as they came.
    affinity : {"correlation", "cosine"}
        "correlation" centres each row.
    allow_flat : bool
        As in `unit_rows`.
    roots : bool
        Take the square roots of all values first.
    """

    def __init__(
        self, table: Any, affinity: str, *, allow_flat: bool = False, roots: bool = False
    ) -> None:
        super().__init__(table)
        self._affinity, self._roots = affinity, roots
        spread = np.empty(len(table))

        def look(start: int, stop: int) -> None:
            spread[start:stop] = self._centred(table[start:stop])[1]

        map_blocks(look, len(table), blocks_of(table.shape[1]))
        spread[kept_flat(spread, allow_flat)] = 1.0
        check_rows_vary(spread, affinity)

    def scaled(self, rows: Any) -> Floats:
        """See `ScaledRows.scaled`; rows without spread are zeros."""
        found, lengths = self._centred(rows)
        found[lengths == 0.0] = 0.0
        found /= np.where(lengths > 0.0, lengths, 1.0)[:, None]
        return found

    def _centred(self, rows: Any) -> tuple[Floats, Floats]:
        return centred_rows(np.sqrt(rows) if self._roots else rows, self._affinity)


class CentredRows(ScaledRows):
    """Columns less their means, over the root of their summed variance: Euclidean similarities.

    Parameters
    ----------
    table : see `ScaledRows`
        Rows as they came.
    standardized : bool
        Divide every column by its standard deviation first; one of one value says nothing.
    """

    def __init__(self, table: Any, *, standardized: bool = False) -> None:
        super().__init__(table)
        n, n_columns = table.shape
        self._origin, variance, largest = column_moments(table)
        if standardized:
            varies = np.sqrt(variance) > ROUNDING * largest
            self.units = np.where(varies, np.sqrt(variance), np.inf)
            variance = varies.astype(np.float64)
        else:
            self.units = np.ones(n_columns)
        # Half the mean squared distance of two rows, as in `euclidean_rows`.
        total = float(np.sqrt(variance.sum() * n / max(n - 1, 1)))
        # What centring leaves of equal rows is rounding.
        flat = total <= ROUNDING * (1.0 if standardized else float(largest.max()))
        self.units = np.full(n_columns, np.inf) if flat else self.units * total

    def scaled(self, rows: Any) -> Floats:
        """See `ScaledRows.scaled`."""
        found = np.array(rows, dtype=np.float64, order="C")
        found -= self._origin
        found /= self.units
        return found


class WithLengths:
    """Rows with one more column: products with rows that end in 1 fall with the distance.

    Parameters
    ----------
    rows : ScaledRows
        Rows, (n, p).
    half : (n,) ndarray of float64
        Half their squared lengths.
    """

    def __init__(self, rows: ScaledRows, half: Floats) -> None:
        self._rows, self._half, self.dtype = rows, half, rows.dtype
        self.shape = rows.shape[0], rows.shape[1] + 1

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> NDArray[np.floating]:
        """Some rows, (b, p + 1)."""
        return np.column_stack([self._rows[rows], -self._half[rows].astype(self.dtype)])

    @staticmethod
    def sought(rows: NDArray[np.floating]) -> NDArray[np.floating]:
        """Rows, (b, p), as they are multiplied with these."""
        return np.column_stack([rows, np.ones(len(rows), rows.dtype)])


def column_moments(table: Any) -> tuple[Floats, Floats, Floats]:
    """Mean, variance and largest absolute value of every column, from rows read in blocks.

    Parameters
    ----------
    table : (n, p) ndarray of float, or MappedTable
        Rows.

    Returns
    -------
    mean, variance, largest : (p,) ndarray of float64
        In the units of the table.
    """
    n, p = table.shape
    step = blocks_of(p)
    sums, squares, largest = np.empty((3, -(-n // step), p))
    # Squares of what is far from zero would lose their digits.
    middle = np.asarray(table[: min(n, step)], np.float64).mean(axis=0)

    def look(start: int, stop: int) -> None:
        block = np.asarray(table[start:stop], np.float64)
        largest[start // step] = np.abs(block).max(axis=0)
        block = block - middle
        sums[start // step] = block.sum(axis=0)
        squares[start // step] = np.einsum("ij,ij->j", block, block)

    map_blocks(look, n, step)
    mean = sums.sum(axis=0) / n
    return middle + mean, np.maximum(squares.sum(axis=0) / n - mean**2, 0.0), largest.max(axis=0)
