"""Nearest neighbours of every point: exact, or nearly all of them by cells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _doors as door
from .. import _jit
from .._arrays import check_block
from .._threads import map_blocks, single_threaded_blas
from .._validation import check_choice, check_finite, check_integer
from ._cells import Settler, cell_neighbours, searches_cells

SEARCHES = ("auto", "exact", "approximate")


def row_neighbors(
    rows: NDArray[np.floating], k: int, *, neighbors: str = "auto"
) -> NDArray[np.int32]:
    """Rows with the largest product with each row.

    The exact search multiplies blocks of rows in single precision, which only rules pairs out:
    those left are compared in double precision.

    Parameters
    ----------
    rows : (n, p) float32 or float64
        Rows of unit norm; their products are the correlations.
    k : int
        Number of neighbours, at most n - 1.
    neighbors : {"auto", "exact", "approximate"}
        How they are found: by blocked products; by products with the projected rows of some cells
        of the table, which finds about .98 of them, as rows that are searched exactly tell
        (where that costs no less, all are searched exactly); or exactly up to 10 000 rows or
        1e11 multiplications, else by cells.

    Returns
    -------
    (n, k) int32
        Neighbours of each row, the nearest first where the search was exact. A row is never its
        own neighbour.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import graph
    >>> rows = np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]])
    >>> graph.row_neighbors(rows, 1).tolist()
    [[1], [0], [1]]
    """
    rows = check_rows(rows)
    n = rows.shape[0]
    k = check_neighbor_count(k, n)
    check_choice("neighbors", neighbors, SEARCHES)
    sq_norms = np.einsum("ij,ij->i", rows, rows)
    check_finite("squared norms of the rows", sq_norms, "divide the rows by their largest value")
    # Rows of zeros, which are correlated with nothing, do not disturb the search.
    of_unit_norm = np.all((np.abs(sq_norms - 1.0) < 1e-3) | (sq_norms == 0.0))
    if neighbors == "approximate" and not of_unit_norm:
        raise ValueError(
            "rows must have unit norm for neighbors='approximate', got squared norms from "
            f"{sq_norms.min():.3g} to {sq_norms.max():.3g}; use neighbors='exact', or correlations "
            "or cosines instead of covariances"
        )
    if not of_unit_norm:
        neighbors = "exact"
    with single_threaded_blas():
        found = near_rows(rows, np.zeros(n), k, neighbors)
        return exact_neighbours(rows, k) if found is None else found


def near_rows(
    rows: Any, half: NDArray[np.float64], k: int, neighbors: str, settler: Settler | None = None
) -> NDArray[np.int32] | None:
    """Rows with the largest product, less ``half`` of theirs, with each row, from cells.

    Parameters
    ----------
    rows : (n, p) float32 or float64
        Rows, or what gives some of them out as an array does.
    half : (n,) float64
        Half their squared lengths, or zeros for rows of unit length.
    k : int
        Number of neighbours.
    neighbors : {"auto", "exact", "approximate"}
        As in `row_neighbors`.
    settler : Settler, optional
        How rows that are no array decide.

    Returns
    -------
    (n, k) int32 or None
        The nearest first; None where they are to be searched exactly.
    """
    n, p = rows.shape
    pair = p if settler is None else settler.pair
    by_cells = neighbors == "approximate" or (neighbors == "auto" and searches_cells(n, pair, k))
    # A search among few rows would look at all of them anyway.
    return cell_neighbours(rows, half, k, settler) if by_cells and n >= 10 * (k + 1) else None


@door.takes(block_of=door.function, n=door.count)
def block_neighbors(
    block_of: Callable[[int, int], NDArray[np.floating]], n: int, k: int
) -> NDArray[np.int32]:
    """Points with the largest similarity to each point, from blocks of similarities.

    Parameters
    ----------
    block_of : callable
        Maps a first point and the point after the last to their (b, n) similarities with all.
    n : int
        Number of points.
    k : int
        Number of neighbours, at most n - 1.

    Returns
    -------
    (n, k) int32
        Neighbours of each point, the nearest first; of equals the lower index.
    """
    check_integer("n", n, 1)
    neighbours = np.empty((n, check_neighbor_count(k, n)), np.int32)

    def find(start: int, stop: int) -> None:
        block = check_block(block_of(start, stop), (stop - start, n))
        block = np.ascontiguousarray(block, dtype=np.float64)
        _jit.graph.strongest(block, start, neighbours[start:stop])

    map_blocks(find, n, block_rows(n))
    return neighbours


def exact_neighbours(rows: NDArray[np.floating], k: int) -> NDArray[np.int32]:
    """Find the k rows with the largest product with each row, exactly, (n, k)."""
    n, p = rows.shape
    # Beyond this width single precision rules out too little to pay.
    fast = rows.astype(np.float32) if p < 2**15 else rows
    peak = float(np.einsum("ij,ij->i", rows, rows).max())
    # Beyond it the squares of single precision overflow.
    if peak > 1e30:
        fast = rows
    slack = 2.0 * (p + 4) * float(np.finfo(fast.dtype).eps) * peak
    neighbours = np.empty((n, k), np.int32)

    def find(start: int, stop: int) -> None:
        block = (fast[start:stop] @ fast.T).astype(np.float64, copy=False)
        _jit.graph.strongest(block, start, neighbours[start:stop])
        _jit.graph.settle_strongest(block, rows, start, slack, neighbours[start:stop])

    map_blocks(find, n, block_rows(n))
    return neighbours


def check_rows(rows: Any) -> NDArray[np.floating]:
    """Raise unless ``rows`` is a table of finite numbers; float32 stays float32."""
    rows = door.as_real("rows", rows)
    rows = np.ascontiguousarray(rows, np.float32 if rows.dtype == np.float32 else np.float64)
    if rows.ndim != 2 or rows.shape[0] == 0:
        raise ValueError(
            f"rows must be a table (n, p) with n >= 1, got shape {rows.shape}; "
            "pass covariance.unit_rows(X, affinity)"
        )
    check_finite("rows", rows, "drop constant or incomplete rows first")
    return rows


def check_correlations(corr: Any) -> NDArray[np.float64]:
    """Raise unless ``corr`` is a square table of finite numbers."""
    corr = door.as_real("corr", corr).astype(np.float64, copy=False)
    if corr.ndim != 2 or corr.shape[0] != corr.shape[1] or corr.shape[0] == 0:
        raise ValueError(
            f"corr must be square (n, n) with n >= 1, got shape {corr.shape}; "
            "pass covariance.correlation(X), or use the row_ functions for rows"
        )
    check_finite("corr", corr, "drop constant or incomplete rows first")
    return np.ascontiguousarray(corr)


def check_neighbor_count(k: Any, n: int) -> int:
    """Raise unless a point has ``k`` others."""
    return check_integer("k", k, 1, n - 1, cure="a point has n - 1 others; 5 to 15 are usual")


def block_rows(n: int) -> int:
    """Return the number of rows in a block of about 4 million entries."""
    return max(16, min(512, 2**22 // max(n, 1)))
