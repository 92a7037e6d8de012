"""The search of shortest paths from some nodes of a graph of lengths."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _jit
from .._records import CsrGraph
from .._threads import map_blocks
from .._validation import check_positive

LANES = 32
"""Sources that are searched together, where that pays."""

CLOSE, CLOSE_IF_SHALLOW = 4, 64
"""It pays if at least one node in this many is a source, so that sources have near ones."""

SHALLOW = 20
"""A graph is shallow if no node is more edges away: all searches then go much the same way."""


class Ways(NamedTuple):
    """A graph of lengths in the order that suits the search."""

    graph: CsrGraph
    order: NDArray[np.int64]  # (n,) the node that each is
    number: NDArray[np.int64]  # (n,) what each node is there
    depth: int
    step: float  # mean length of an edge


def prepared(g: CsrGraph) -> Ways:
    """Check the lengths of a graph, and number its nodes in patches."""
    lengths = g.weights
    if not np.all(lengths >= 0.0):
        raise ValueError(
            f"lengths must not be negative, got {np.count_nonzero(~(lengths >= 0.0))} edges that "
            "are (or are NaN); turn correlations into lengths with distance_lengths first"
        )
    n = g.n_nodes
    order = np.empty(n, np.int64)
    depth = _jit.patches.order_in_patches(g.indptr, g.indices, LANES, order)
    arrays = [np.empty_like(array) for array in g]
    _jit.patches.renumber(*g, order, *arrays)
    number = np.empty(n, np.int64)
    number[order] = np.arange(n)
    walkable = lengths[lengths < np.inf]
    step = float(walkable.mean()) if walkable.size else 0.0
    return Ways(CsrGraph.trusted(*arrays), order, number, depth, step)


def search(ways: Ways, starts: NDArray[np.int64], limit: float, out: NDArray[np.floating]) -> None:
    """Write the distances from the starts to ``out``."""
    limit = np.inf if limit == np.inf else check_positive("limit", limit)
    if not starts.size:
        return
    rows = np.argsort(ways.number[starts], kind="stable")
    sources = np.column_stack((ways.number[starts][rows], rows))
    close = CLOSE_IF_SHALLOW if ways.depth <= SHALLOW else CLOSE
    lanes = min(LANES, starts.size) if starts.size * close >= ways.order.size else 1

    def seek(start: int, stop: int) -> None:
        some = sources[start:stop]
        _jit.geodesics.search(ways.graph, ways.order, some, lanes, ways.step, limit, out)

    # Few blocks share one workspace each; enough of them keep all threads busy to the end.
    map_blocks(seek, starts.size, lanes * max(1, starts.size // (lanes * 24)))
