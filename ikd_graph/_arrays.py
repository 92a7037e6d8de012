"""Rules for arrays of places, which compiled code follows without looking where they lead."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray


def check_sparse(name: str, matrix: Any) -> None:
    """Raise if a sparse matrix points outside itself: compiled code would follow it there.

    scipy looks at the ends of the arrays only when it makes a matrix, and a file or a caller may
    have put anything between them. Whatever is not a sparse matrix passes.
    """
    if not sp.issparse(matrix):
        return
    try:
        if matrix.format in ("csr", "csc", "bsr"):
            _check_integers(matrix.indices, matrix.indptr)
            matrix.check_format(full_check=True)
        elif matrix.format == "coo":
            _check_integers(matrix.row, matrix.col)
            for places, size in zip((matrix.row, matrix.col), matrix.shape, strict=True):
                if places.shape != matrix.data.shape:
                    raise ValueError(f"{matrix.data.size} values at {places.size} places")
                if places.size and not 0 <= places.min() <= places.max() < size:
                    raise ValueError(f"places from {places.min()} to {places.max()}")
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"{name} must be a whole sparse matrix, got one of shape {tuple(matrix.shape)} whose "
            f"stored places do not fit it ({error}); write it again from its source"
        ) from None


def _check_integers(*places: NDArray[Any]) -> None:
    """Raise if places are not whole numbers."""
    for one in places:
        if one.ndim != 1 or one.dtype.kind not in "iu":
            raise ValueError(f"places of shape {one.shape} and type {one.dtype}")


def as_array(name: str, value: Any) -> NDArray[Any]:
    """Raise unless what was given makes an array."""
    try:
        return np.asarray(value)
    except (TypeError, ValueError, OverflowError, RuntimeError):
        raise ValueError(
            f"{name} must be an array, got a {type(value).__name__} that makes none; its rows must "
            "have one length"
        ) from None


def check_nodes(name: str, values: Any, n: int) -> NDArray[np.int64]:
    """Raise unless ``values`` is a list of numbers from 0 to ``n - 1``."""
    nodes = as_array(name, values)
    if nodes.ndim != 1 or (nodes.dtype.kind not in "iu" and nodes.size):
        raise ValueError(
            f"{name} must be a list of whole numbers, got shape {nodes.shape} of {nodes.dtype}; "
            "number the points from 0"
        )
    if nodes.size and not 0 <= nodes.min() <= nodes.max() < n:
        raise ValueError(
            f"{name} must lie from 0 to {n - 1}, got {nodes.min()} to {nodes.max()}; number the "
            "points from 0"
        )
    return nodes.astype(np.int64)


def check_starts(name: str, starts: Any, size: int) -> NDArray[np.int64]:
    """Raise unless ``starts`` cut a list of ``size`` entries into rows."""
    cuts = as_array(name, starts)
    if cuts.ndim != 1 or cuts.size == 0 or cuts.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must be a list of whole numbers, got shape {cuts.shape} of {cuts.dtype}; "
            "it holds where each row starts, and where the last one ends"
        )
    if cuts[0] != 0 or cuts[-1] != size or np.any(cuts[1:] < cuts[:-1]):
        raise ValueError(
            f"{name} must rise from 0 to the number of entries, {size}, got {cuts[0]} to "
            f"{cuts[-1]}, {np.count_nonzero(cuts[1:] < cuts[:-1])} times falling; it holds where "
            "each row starts, and where the last one ends"
        )
    return cuts.astype(np.int64, copy=False)


def check_ascending(name: str, starts: NDArray[np.int64], nodes: NDArray[np.integer]) -> None:
    """Raise unless the nodes of every row ascend, each once."""
    falls = nodes[1:] <= nodes[:-1]
    # From the last of a row to the first of the next it may fall.
    ends = starts[1:-1]
    falls[ends[(ends > 0) & (ends < nodes.size)] - 1] = False
    if falls.any():
        raise ValueError(
            f"{name} must ascend in each row, got {np.count_nonzero(falls)} that do not; sort "
            "them and leave each out but once"
        )


def check_csr(indptr: Any, indices: Any, weights: Any) -> tuple[NDArray[Any], ...]:
    """Raise unless three arrays are an undirected graph; see `_records.CsrGraph`."""
    nodes = as_array("indices", indices)
    strength = check_values("weights", weights, nodes.size)
    starts = check_starts("indptr", indptr, nodes.size)
    n = starts.size - 1
    check_nodes("indices", nodes, min(n, 2**31 - 1))
    check_ascending("indices", starts, nodes)
    there = sp.csr_array((strength, nodes, starts), shape=(n, n))
    back = there.tocsc()
    loops = int(np.count_nonzero(np.repeat(np.arange(n), np.diff(starts)) == nodes))
    # The two weights of an edge may differ by rounding.
    same = all(
        np.array_equal(getattr(there, part), getattr(back, part)) for part in ("indptr", "indices")
    ) and np.allclose(there.data, back.data, rtol=1e-9, atol=1e-12)
    if loops or not same:
        raise ValueError(
            "a graph must hold every edge from both ends with one weight, and none from a node to "
            f"itself, got {loops} of those{'' if same else ' and ends that differ'}; "
            "graph.from_edges makes graphs of edges"
        )
    return starts, nodes, strength


def check_blocks(
    indptr: Any, members: Any, n_points: int | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Raise unless two arrays are sets of points, the members of each ascending."""
    points = as_array("members of the blocks", members)
    starts = check_starts("indptr of the blocks", indptr, points.size)
    most = np.iinfo(np.int32).max
    check_nodes("members of the blocks", points, most if n_points is None else n_points)
    check_ascending("members of the blocks", starts, points)
    return starts, points.astype(np.int32, copy=False)


def check_edges(n: int, left: Any, right: Any, weights: Any) -> tuple[NDArray[Any], ...]:
    """Raise unless three arrays list edges among ``n`` nodes, the smaller node on the left."""
    left, right = check_nodes("left", left, n), check_nodes("right", right, n)
    strength = check_values("weights", weights, left.size)
    if left.size != right.size or np.any(left >= right):
        raise ValueError(
            "left and right must be as long as one another and left < right for every edge, got "
            f"{left.size} and {right.size} nodes; give each edge once, its smaller node on the left"
        )
    return left, right, strength


def check_values(name: str, values: Any, size: int) -> NDArray[np.float64]:
    """Raise unless ``values`` are numbers, one for each of ``size`` entries, none of them NaN."""
    numbers = as_array(name, values)
    if numbers.shape != (size,) or numbers.dtype.kind not in "fiub":
        raise ValueError(
            f"{name} must be one number for each of {size} entries, got shape {numbers.shape} of "
            f"{numbers.dtype}; graph.from_edges makes graphs of edges"
        )
    unknown = int(np.count_nonzero(np.isnan(numbers)))
    if unknown:
        raise ValueError(f"{name} must be numbers, got {unknown} NaN; leave those entries out")
    return numbers.astype(np.float64, copy=False)


def check_block(block: Any, shape: tuple[int, int]) -> NDArray[np.floating]:
    """Raise unless what a caller's function gave is a table of the shape it was asked for."""
    table = as_array("a block of correlations", block)
    if table.shape != shape or table.dtype.kind != "f":
        raise ValueError(
            f"a block of correlations must be a table of floats of shape {shape}, got shape "
            f"{table.shape} of {table.dtype}; one row for each point asked for"
        )
    return table
