"""Nearest neighbours of every point: exact, or by nearest-neighbour descent."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _doors as door
from .. import _jit
from .._arrays import check_block
from .._threads import keep_threads, map_blocks
from .._validation import check_choice, check_finite, check_integer

EXACT_WORK = 2e12
"""Multiplications, n * n * p, up to which ``neighbors="auto"`` searches exactly.

Nearest-neighbour descent is compiled anew in every process, which takes about as long as these.
"""

SEARCHES = ("auto", "exact", "approximate")


def row_neighbors(
    rows: NDArray[np.floating], k: int, *, neighbors: str = "auto", random_state: Any = None
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
        How they are found: by blocked products, by nearest-neighbour descent (pynndescent; it
        finds nearly all of them), or by whichever takes less time (descent beyond
        ``EXACT_WORK``, which is about 50 000 rows of 800 columns, for rows of unit norm).
    random_state : int, RandomState or None
        Seed of the approximate search; the exact one needs none.

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
    if neighbors == "auto":
        small = float(n) * n * max(rows.shape[1], 64) <= EXACT_WORK
        neighbors = "exact" if small or not of_unit_norm else "approximate"
    with keep_threads():
        # A search among few rows would look at all of them anyway.
        if neighbors == "exact" or n < 10 * (k + 1):
            return exact_neighbours(rows, k)
        return descent_neighbours(rows, k, random_state)


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
        block = np.ascontiguousarray(check_block(block_of(start, stop), (stop - start, n)))
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
        block = fast[start:stop] @ fast.T
        _jit.graph.strongest(block, start, neighbours[start:stop])
        _jit.graph.settle_strongest(block, rows, start, slack, neighbours[start:stop])

    map_blocks(find, n, block_rows(n))
    return neighbours


def descent_neighbours(rows: NDArray[np.floating], k: int, random_state: Any) -> NDArray[np.int32]:
    """Find rows with a large product with each row by nearest-neighbour descent, (n, k)."""
    from pynndescent import NNDescent
    from sklearn.utils import check_random_state

    n = rows.shape[0]
    seed = int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    with warnings.catch_warnings():
        # Rows it found too few neighbours for are looked after below.
        warnings.filterwarnings("ignore", "Failed to correctly find n_neighbors")
        # One thread: what the search finds changes with the number of them.
        index = NNDescent(
            rows.astype(np.float32), n_neighbors=max(k + 1, 15), random_state=seed, n_jobs=1
        )
    found = index.neighbor_graph[0].astype(np.int32)
    neighbours = np.empty((n, k), np.int32)
    missing = np.zeros(n, np.int64)

    def settle(start: int, stop: int) -> None:
        part = slice(start, stop)
        _jit.graph.settle_found(found[part], rows, start, neighbours[part], missing[part])

    map_blocks(settle, n, 1024)
    # Where the search came back with too few, every row is looked at.
    for node in np.flatnonzero(missing):
        block = rows[node : node + 1] @ rows.T
        _jit.graph.strongest(block, node, neighbours[node : node + 1])
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
