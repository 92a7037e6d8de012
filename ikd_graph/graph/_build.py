"""From correlations to graphs: all pairs above a threshold, or nearest neighbors.

Functions that start with ``row_`` take rows of unit norm whose products are the correlations, and
never form the (n, n) matrix.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from .. import _jit
from .._base import validation as check
from .._base.threads import block_rows, map_blocks
from .._base.validation import validate
from ..covariance import FLOOR
from ._csr import mirrored
from ._nearest import block_neighbors, check_correlations, check_count
from ._record import CsrGraph

WEIGHT_FLOOR = FLOOR
"""Least weight of an edge that is there whatever its correlation: a neighbor or a bridge."""


@validate(corr=check_correlations, s0=check.fraction)
def threshold(corr: NDArray[np.float64], s0: float) -> CsrGraph:
    """Keep the pairs whose correlation exceeds a threshold (paper, Section 2.4).

    Parameters
    ----------
    corr : (n, n) float64, symmetric
        Correlations between points.
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
    >>> graph.threshold(corr, 0.4).indices.tolist()
    [1, 0, 2, 1]
    """
    return pairs_above(lambda start, stop: corr[start:stop, start:], corr.shape[0], s0)


@validate(check_count, corr=check_correlations, mutual=check.flag)
def neighbors(corr: NDArray[np.float64], k: int, *, mutual: bool = False) -> CsrGraph:
    """Join each point to the points most correlated with it.

    Ties go to the smaller index, and a point is never its own neighbor, whatever duplicates it
    has. A neighbor's correlation below ``WEIGHT_FLOOR`` (even a negative one, when nothing better
    is there) is stored as ``WEIGHT_FLOOR``, so that every edge can be walked.

    Parameters
    ----------
    corr : (n, n) float64, symmetric
        Correlations between points.
    k : int
        Number of neighbors, at most n - 1.
    mutual : bool
        Keep an edge only where each is among the k nearest of the other; by default one suffices.

    Returns
    -------
    CsrGraph
        The points, joined to their neighbors.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import graph
    >>> corr = np.array([[1.0, 0.9, 0.2], [0.9, 1.0, 0.5], [0.2, 0.5, 1.0]])
    >>> graph.neighbors(corr, 1).indices.tolist()
    [1, 0, 2, 1]
    >>> graph.neighbors(corr, 1, mutual=True).indices.tolist()
    [1, 0]
    """
    near = block_neighbors(lambda start, stop: corr[start:stop], corr.shape[0], k)
    return from_neighbors(near, lambda first, second: corr[first, second], mutual=mutual)


def from_neighbors(
    neighbors: NDArray[np.int32],
    correlations: Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.float64]],
    *,
    mutual: bool = False,
    shared: bool = False,
    floor: float = WEIGHT_FLOOR,
) -> CsrGraph:
    """Graph of neighbors that were found already.

    Parameters
    ----------
    neighbors : (n, k) int32
        Neighbors of every point.
    correlations : callable
        Maps two (m,) arrays of points to the correlations of those pairs.
    mutual : bool
        As in :func:`neighbors`.
    shared : bool
        Multiply every weight by the root of the fraction of neighbors that its ends have in common
        (of k + 1, each point being a neighbor of its own): it is small across the gap between two
        groups.
    floor : float
        Least weight, which smaller ones are lifted to.

    Returns
    -------
    CsrGraph
        The neighbor graph.
    """
    first, second = _neighbor_pairs(neighbors, mutual)
    weights = correlations(first, second)
    if shared:
        weights = weights * np.sqrt(_shared_fraction(neighbors, first, second))
    # In order already, and each once.
    counts = np.bincount(first, minlength=len(neighbors))
    del first
    return mirrored(counts, second, walkable(weights, floor))


def row_correlations(
    rows: NDArray[np.floating], first: NDArray[np.integer], second: NDArray[np.integer]
) -> NDArray[np.float64]:
    """Compute the products of pairs of rows of unit norm, the same bits either way round.

    Parameters
    ----------
    rows : (n, p) float32 or float64
        Rows of unit norm.
    first, second : (m,) int
        The pairs.

    Returns
    -------
    (m,) float64
        Their correlations in double precision, rounding above 1 taken off.
    """
    out = np.empty(first.size, np.float64)

    def multiply(start: int, stop: int) -> None:
        pairs = slice(start, stop)
        _jit.graph.pair_dots(rows, first[pairs], second[pairs], out[pairs])

    map_blocks(multiply, first.size, 16_384)
    return np.minimum(out, 1.0)


def pairs_above(
    block_of: Callable[[int, int], NDArray[np.floating]], n: int, floor: float
) -> CsrGraph:
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
    batches: list[Any] = [None] * -(-n // size)

    def collect(start: int, stop: int) -> None:
        block = np.ascontiguousarray(block_of(start, stop))
        _jit.graph.count_above(block, start, start, floor, counts[start:stop])
        total = int(counts[start:stop].sum())
        batches[start // size] = np.empty(total, np.int32), np.empty(total, np.float64)
        _jit.graph.take_above(block, start, start, floor, *batches[start // size])

    map_blocks(collect, n, size)
    indices, weights = (np.concatenate(column) for column in zip(*batches, strict=True))
    # Rounding takes the correlation of duplicates a little above 1.
    return mirrored(counts, indices, np.minimum(weights, 1.0))


def walkable(weights: NDArray[np.float64], floor: float = WEIGHT_FLOOR) -> NDArray[np.float64]:
    """Bring the weights of edges that must be walked into [floor, 1]."""
    return np.clip(weights, floor, 1.0)


def _shared_fraction(
    neighbors: NDArray[np.int32], first: NDArray[np.int64], second: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Count common neighbors of pairs over k + 1, each point being a neighbor of its own."""
    n, k = neighbors.shape
    members = np.column_stack((np.arange(n), neighbors)).ravel()
    starts = (k + 1) * np.arange(n + 1)
    holds = sp.csr_array((np.ones(members.size), members, starts), shape=(n, n))
    shared = np.empty(first.size)

    def count(start: int, stop: int) -> None:
        pairs = slice(start, stop)
        shared[pairs] = holds[first[pairs]].multiply(holds[second[pairs]]).sum(axis=1)

    map_blocks(count, first.size, 16_384)
    return shared / (k + 1.0)


def _neighbor_pairs(
    neighbors: NDArray[np.int32], mutual: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """List the pairs named by either (or by both) of their ends, each once, in order."""
    n = len(neighbors)
    nodes, neighbors = np.arange(n)[:, None], neighbors.astype(np.int64)
    keys = np.sort((np.minimum(nodes, neighbors) * n + np.maximum(nodes, neighbors)).ravel())
    # A pair stands once for each end that names it.
    repeated = keys[1:] == keys[:-1]
    keys = keys[1:][repeated] if mutual else keys[np.concatenate(([True], ~repeated))]
    return keys // n, keys % n
