"""The search of shortest paths from some nodes of a graph of lengths."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _jit
from .._records import CsrGraph
from .._threads import map_blocks


class Ways(NamedTuple):
    """A graph of lengths, and the width of the bands of a search."""

    graph: CsrGraph
    step: float  # mean length of an edge


def prepared(g: CsrGraph) -> Ways:
    """A graph of lengths that are not negative."""
    lengths = g.weights
    walkable = lengths[lengths < np.inf]
    return Ways(g, float(walkable.mean()) if walkable.size else 0.0)


def search(ways: Ways, starts: NDArray[np.int64], out: NDArray[np.float64]) -> None:
    """Write the distances from the starts to ``out``."""

    def seek(start: int, stop: int) -> None:
        some = starts[start:stop]
        _jit.geodesics.search(ways.graph, some, ways.step, out[start:stop])

    # Few blocks share one workspace each; enough of them keep all threads busy to the end.
    map_blocks(seek, starts.size, max(1, starts.size // 24))
