"""Nearest training rows of new rows, in memory that does not grow with the number of either."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

# So many training rows are compared at a time: their products stay in the cache of a processor.
_TILE = 2048

# So many more candidates are looked at closely than there are neighbours to be found.
_SPARE = 8


def nearest_by_products(
    new_rows: NDArray[np.floating],
    rows: NDArray[np.floating],
    k: int,
    exact: Callable[[int, Indices], Floats] | None = None,
) -> tuple[Indices, Floats]:
    """Rows with the largest products with each new row, best first.

    Candidates come from blocked products, whose last bits depend on what is multiplied together;
    the values of those that count are computed anew, row by row, in double precision. ``exact``
    maps a new row's number and (c,) training rows to these values, without it they are the
    products. Returns (b, k) training rows and similarities.
    """
    if exact is None:
        double = new_rows.astype(np.float64, copy=False)

        def exact(at: int, near: Indices) -> Floats:
            return np.asarray(rows[near].astype(np.float64, copy=False) @ double[at])

    k = min(k, len(rows))
    near = _candidates(new_rows.astype(rows.dtype, copy=False), rows, min(k + _SPARE, len(rows)))
    near.sort(axis=1)
    known = np.empty(near.shape)
    for at in range(len(near)):
        known[at] = exact(at, near[at])
    return _ordered(near, known, k)


def nearest_by_values(values: NDArray[np.floating], k: int) -> tuple[Indices, Floats]:
    """The same from (b, n) similarities with all training rows."""
    k = min(k, values.shape[1])
    taken = min(k + _SPARE, values.shape[1])
    near = np.argpartition(-values, taken - 1, axis=1)[:, :taken].astype(np.int64)
    near.sort(axis=1)
    return _ordered(near, np.take_along_axis(values, near, axis=1).astype(np.float64), k)


def _ordered(near: Indices, known: Floats, k: int) -> tuple[Indices, Floats]:
    """The k best of some candidates, best first; of equals the one with the lower index."""
    order = np.argsort(-known, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(near, order, axis=1), np.take_along_axis(known, order, axis=1)


def _candidates(new_rows: NDArray[np.floating], rows: NDArray[np.floating], count: int) -> Indices:
    """Rows with the largest products with each new row, (b, count), in no order.

    After the first tile only products above the least of those held are looked at, and they are
    few: a tile takes its rows from everywhere, so that each is like the others.
    """
    n_new, n = len(new_rows), len(rows)
    n_tiles = -(-n // max(_TILE, 4 * count))
    first = new_rows @ rows[::n_tiles].T
    best = np.argpartition(-first, count - 1, axis=1)[:, :count]
    products, columns = np.take_along_axis(first, best, axis=1), best * n_tiles
    least = products.min(axis=1)[:, None]
    owners = np.repeat(np.arange(n_new), count)
    held, waiting = [(owners, columns.ravel(), products.ravel())], 0
    # Filled again by every tile: fresh memory would cost as much as the products.
    space, larger = np.empty(first.size, first.dtype), np.empty(first.size, np.bool_)
    for tile in range(1, n_tiles):
        part = rows[tile::n_tiles]
        shape, size = (n_new, len(part)), n_new * len(part)
        seen = np.matmul(new_rows, part.T, out=space[:size].reshape(shape))
        above = np.flatnonzero(np.greater(seen, least, out=larger[:size].reshape(shape)))
        owner, column = np.divmod(above, seen.shape[1])
        held.append((owner, column * n_tiles + tile, seen.ravel()[above]))
        waiting += above.size
        if waiting > owners.size or tile == n_tiles - 1:
            owner, column, product = (np.concatenate(part) for part in zip(*held, strict=True))
            order = np.lexsort((column, -product, owner))
            # Each new row has at least as many candidates as are kept.
            begin = np.searchsorted(owner[order], np.arange(n_new))
            keep = order[begin[:, None] + np.arange(count)]
            columns, least = column[keep], product[keep[:, -1:]]
            held, waiting = [(owners, columns.ravel(), product[keep].ravel())], 0
    return columns.astype(np.int64, copy=False)
