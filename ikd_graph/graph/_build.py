"""From correlations to graphs: all pairs above a threshold, or nearest neighbours.

Functions that start with ``row_`` take rows of unit norm whose products are the correlations, and
never form the (n, n) matrix.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _jit
from .._records import CsrGraph
from .._threads import limit_threads, map_blocks
from .._validation import check_choice, check_finite, check_fraction, check_integer
from ._csr import from_edges, mirrored

WEIGHT_FLOOR = 1e-3
"""Least weight of an edge that is there whatever its correlation: a neighbour or a bridge."""

EXACT_WORK = 2e12
"""Multiplications, n * n * p, up to which ``neighbors="auto"`` searches exactly.

Nearest-neighbour descent is compiled anew in every process, which takes about as long as these.
"""


def threshold_graph(corr: NDArray[np.float64], s0: float) -> CsrGraph:
    """Keep the pairs whose correlation exceeds a threshold (paper, Section 2.4).

    Parameters
    ----------
    corr : (n, n) float64, symmetric
        Correlations between points; the upper triangle is read.
    s0 : float
        Threshold in (0, 1).

    Returns
    -------
    CsrGraph
        Edges with ``corr > s0``.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import graph
    >>> corr = np.array([[1.0, 0.9, 0.2], [0.9, 1.0, 0.5], [0.2, 0.5, 1.0]])
    >>> graph.threshold_graph(corr, 0.4).indices.tolist()
    [1, 0, 2, 1]
    """
    corr = check_correlations(corr)
    s0 = check_fraction("s0", s0)
    return _above(lambda start, stop: corr[start:stop, start:], corr.shape[0], s0)


def row_threshold_graph(rows: NDArray[np.floating], s0: float) -> CsrGraph:
    """Keep the pairs of rows whose product exceeds a threshold, without an (n, n) matrix.

    Parameters
    ----------
    rows : (n, p) float32 or float64
        Rows of unit norm; their products are the correlations.
    s0 : float
        Threshold in (0, 1).

    Returns
    -------
    CsrGraph
        Edges with a product above ``s0``.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import graph
    >>> rows = np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]])
    >>> graph.row_threshold_graph(rows, 0.5).weights.tolist()
    [0.8, 0.8, 0.6, 0.6]
    """
    rows = check_rows(rows)
    s0 = check_fraction("s0", s0)
    with limit_threads(threads_now()):
        return _above(lambda start, stop: rows[start:stop] @ rows[start:].T, rows.shape[0], s0)


def neighbor_graph(
    corr: NDArray[np.float64], k: int, *, mutual: bool = False, shared: bool = False
) -> CsrGraph:
    """Join each point to the points most correlated with it.

    Ties go to the smaller index, and a point is never its own neighbour, whatever duplicates it
    has. A neighbour's correlation below ``WEIGHT_FLOOR`` (even a negative one, when nothing better
    is there) is stored as ``WEIGHT_FLOOR``, so that every edge can be walked.

    Parameters
    ----------
    corr : (n, n) float64, symmetric
        Correlations between points.
    k : int
        Number of neighbours, at most n - 1.
    mutual : bool
        Keep an edge only where each is among the k nearest of the other; by default one suffices.
    shared : bool
        Multiply every weight by the root of the share of neighbours that its ends have in common
        (of k + 1, each point being a neighbour of its own): it is small across the gap between two
        groups.

    Returns
    -------
    CsrGraph
        The neighbour graph.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import graph
    >>> corr = np.array([[1.0, 0.9, 0.2], [0.9, 1.0, 0.5], [0.2, 0.5, 1.0]])
    >>> graph.neighbor_graph(corr, 1).indices.tolist()
    [1, 0, 2, 1]
    >>> graph.neighbor_graph(corr, 1, mutual=True).indices.tolist()
    [1, 0]
    """
    corr = check_correlations(corr)
    n = corr.shape[0]
    neighbours = np.empty((n, _check_neighbours(k, n)), np.int32)

    def find(start: int, stop: int) -> None:
        _jit.graph.strongest(corr[start:stop], start, neighbours[start:stop])

    map_blocks(find, n, block_rows(n))
    left, right = _neighbour_pairs(neighbours, mutual)
    weights = corr[left, right]
    if shared:
        weights = weights * np.sqrt(shared_part(neighbours, left, right))
    return from_edges(n, left, right, walkable(weights))


def row_neighbor_graph(
    rows: NDArray[np.floating],
    k: int,
    *,
    neighbors: str = "auto",
    mutual: bool = False,
    shared: bool = False,
    random_state: Any = None,
) -> CsrGraph:
    """Join each row to the rows most correlated with it, without an (n, n) matrix.

    As :func:`neighbor_graph` otherwise. The exact search multiplies blocks of rows in single
    precision, which only rules pairs out: those left are compared in double precision.

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
    mutual : bool
        Keep an edge only where each is among the k nearest of the other.
    shared : bool
        Multiply every weight by the root of the share of neighbours that its ends have in common.
    random_state : int, RandomState or None
        Seed of the approximate search; the exact one needs none.

    Returns
    -------
    CsrGraph
        The neighbour graph.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import graph
    >>> rows = np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0]])
    >>> graph.row_neighbor_graph(rows, 1).indices.tolist()
    [1, 0, 2, 1]
    """
    rows = check_rows(rows)
    n = rows.shape[0]
    k = _check_neighbours(k, n)
    check_choice("neighbors", neighbors, ("auto", "exact", "approximate"))
    sq_norms = np.einsum("ij,ij->i", rows, rows)
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
    with limit_threads(threads_now()):
        # A search among few rows would look at all of them anyway.
        if neighbors == "exact" or n < 10 * (k + 1):
            found = exact_neighbours(rows, k)
        else:
            found = descent_neighbours(rows, k, random_state)
        left, right = _neighbour_pairs(found, mutual)
        weights = row_correlations(rows, left, right)
    if shared:
        weights *= np.sqrt(shared_part(found, left, right))
    return from_edges(n, left, right, walkable(weights))


def row_correlations(
    rows: NDArray[np.floating], left: NDArray[np.integer], right: NDArray[np.integer]
) -> NDArray[np.float64]:
    """Compute the products of pairs of rows in double precision, the same bits either way round.

    Parameters
    ----------
    rows : (n, p) float32 or float64
        Rows of unit norm.
    left, right : (m,) int
        The pairs.

    Returns
    -------
    (m,) float64
        Their correlations, at most 1.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import graph
    >>> rows = np.array([[1.0, 0.0], [0.8, 0.6]])
    >>> graph.row_correlations(rows, np.array([0, 1]), np.array([1, 1])).round(12).tolist()
    [0.8, 1.0]
    """
    rows = check_rows(rows)
    left, right = np.asarray(left, np.int64), np.asarray(right, np.int64)
    out = np.empty(left.size, np.float64)

    def multiply(start: int, stop: int) -> None:
        part = slice(start, stop)
        _jit.graph.pair_dots(rows, left[part], right[part], out[part])

    map_blocks(multiply, left.size, 16_384)
    return np.minimum(out, 1.0)


def _above(block_of: Callable[[int, int], NDArray[np.floating]], n: int, floor: float) -> CsrGraph:
    """Collect the pairs above a floor from blocks of the upper triangle.

    Parameters
    ----------
    block_of : callable
        Maps a first and a last row to their correlations with the nodes from the first row on.
    n : int
        Number of nodes.
    floor : float
        Correlations must exceed it.

    Returns
    -------
    CsrGraph
        Its edges are those pairs.
    """
    size = block_rows(n)
    counts = np.zeros(n, np.int64)
    parts: list[Any] = [None] * -(-n // size)

    def collect(start: int, stop: int) -> None:
        block = block_of(start, stop)
        _jit.graph.count_above(block, start, start, floor, counts[start:stop])
        total = int(counts[start:stop].sum())
        parts[start // size] = np.empty(total, np.int32), np.empty(total, np.float64)
        _jit.graph.take_above(block, start, start, floor, *parts[start // size])

    map_blocks(collect, n, size)
    indices, weights = (np.concatenate(column) for column in zip(*parts, strict=True))
    # Rounding takes the correlation of duplicates a little above 1.
    return mirrored(counts, indices, np.minimum(weights, 1.0))


def walkable(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Bring the weights of edges that must be walked into [``WEIGHT_FLOOR``, 1]."""
    return np.clip(weights, WEIGHT_FLOOR, 1.0)


def exact_neighbours(rows: NDArray[np.floating], k: int) -> NDArray[np.int32]:
    """Find the k rows with the largest product with each row, exactly, (n, k)."""
    n, p = rows.shape
    # Beyond this width single precision rules out too little to pay.
    fast = rows.astype(np.float32) if p < 2**15 else rows
    peak = float(np.einsum("ij,ij->i", rows, rows).max())
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


def shared_part(
    neighbours: NDArray[np.int32], left: NDArray[np.int64], right: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Share of neighbours that pairs of points have in common, each point being one of its own.

    Parameters
    ----------
    neighbours : (n, k) int32
        The k nearest points of every point.
    left, right : (m,) int64
        The pairs.

    Returns
    -------
    (m,) float64
        Common neighbours over k + 1, in [0, 1].
    """
    in_order = np.sort(neighbours, axis=1)
    shared = np.empty(left.size, np.int64)

    def count(start: int, stop: int) -> None:
        part = slice(start, stop)
        _jit.graph.count_shared(in_order, left[part], right[part], shared[part])

    map_blocks(count, left.size, 16_384)
    return shared / (neighbours.shape[1] + 1.0)


def _neighbour_pairs(
    neighbours: NDArray[np.int32], mutual: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """List the pairs named by either (or by both) of their ends, each once, in order."""
    n, k = neighbours.shape
    node, other = np.repeat(np.arange(n), k), neighbours.ravel().astype(np.int64)
    keys, named = np.unique(
        np.minimum(node, other) * n + np.maximum(node, other), return_counts=True
    )
    if mutual:
        keys = keys[named == 2]
    return keys // n, keys % n


def check_correlations(corr: Any) -> NDArray[np.float64]:
    """Raise unless ``corr`` is a square table of finite numbers."""
    corr = np.asarray(corr, np.float64)
    if corr.ndim != 2 or corr.shape[0] != corr.shape[1] or corr.shape[0] == 0:
        raise ValueError(
            f"corr must be square (n, n) with n >= 1, got shape {corr.shape}; "
            "pass covariance.correlation(X), or use the row_ functions for rows"
        )
    check_finite("corr", corr, "drop constant or incomplete rows first")
    return np.ascontiguousarray(corr)


def check_rows(rows: Any) -> NDArray[np.floating]:
    """Raise unless ``rows`` is a table of finite numbers; float32 stays float32."""
    rows = np.asarray(rows)
    rows = np.ascontiguousarray(rows, np.float32 if rows.dtype == np.float32 else np.float64)
    if rows.ndim != 2 or rows.shape[0] == 0:
        raise ValueError(
            f"rows must be a table (n, p) with n >= 1, got shape {rows.shape}; "
            "pass covariance.unit_rows(X, affinity)"
        )
    check_finite("rows", rows, "drop constant or incomplete rows first")
    return rows


def _check_neighbours(k: Any, n: int) -> int:
    """Raise unless a point has ``k`` others."""
    return check_integer("k", k, 1, n - 1, cure="a point has n - 1 others; 5 to 15 are usual")


def block_rows(n: int) -> int:
    """Return the number of rows in a block of about 4 million entries."""
    return max(16, min(512, 2**22 // max(n, 1)))


def threads_now() -> int:
    """Return the number of Numba threads of this Python thread."""
    import numba

    return int(numba.get_num_threads())
