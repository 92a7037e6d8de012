"""Dijkstra's search of a graph of lengths, whose nodes are put in a good order once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _jit
from ._records import CsrGraph
from ._threads import map_blocks

LANES = 32
"""Sources that are searched together, where that pays."""

CLOSE, CLOSE_IF_SHALLOW = 4, 64
"""It pays if at least one node in this many is a source, so that sources have near ones."""

SHALLOW = 20
"""A graph is shallow if no node is more edges away: all searches then go much the same way."""


class Search(NamedTuple):
    """A graph made ready for searches: nodes in an order in which near ones have near numbers."""

    renumbered: CsrGraph
    order: NDArray[np.int64]  # (n,) node of each number
    number: NDArray[np.int64]  # (n,) number of each node
    depth: int  # of the order: steps from its first node to the last
    step: float  # mean length of an edge


def prepare(g: CsrGraph) -> Search:
    """Make a graph of lengths ready for any number of searches."""
    lengths = g.weights
    if not np.all(lengths >= 0.0):
        raise ValueError(
            f"lengths must not be negative, got {np.count_nonzero(~(lengths >= 0.0))} edges that "
            "are (or are NaN); turn correlations into lengths with distance_lengths first"
        )
    order = np.empty(g.n_nodes, np.int64)
    depth = _jit.patches.order_in_patches(g.indptr, g.indices, LANES, order)
    arrays = [np.empty_like(array) for array in g]
    _jit.patches.renumber(*g, order, *arrays)
    number = np.empty(g.n_nodes, np.int64)
    number[order] = np.arange(g.n_nodes)
    walkable = lengths[lengths < np.inf]
    step = float(walkable.mean()) if walkable.size else 0.0
    return Search(CsrGraph.trusted(*arrays), order, number, depth, step)


def search(
    ready: Search, starts: NDArray[np.int64], out: NDArray[np.floating], limit: float = np.inf
) -> None:
    """Write the distances from the starts to ``out``, in the order that suits the search."""
    if not starts.size:
        return
    number = ready.number
    rows = np.argsort(number[starts], kind="stable")
    sources = np.column_stack((number[starts][rows], rows))
    close = CLOSE_IF_SHALLOW if ready.depth <= SHALLOW else CLOSE
    lanes = min(LANES, starts.size) if starts.size * close >= number.size else 1

    def from_some(start: int, stop: int) -> None:
        _jit.geodesics.search(
            ready.renumbered, ready.order, sources[start:stop], lanes, ready.step, limit, out
        )

    # Few blocks share one workspace each; enough of them keep all threads busy to the end.
    map_blocks(from_some, starts.size, lanes * max(1, starts.size // (lanes * 24)))
