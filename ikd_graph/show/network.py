"""The graph of cliques as it is drawn: places, discs and lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .layout import backbone, place_nodes

if TYPE_CHECKING:
    import networkx as nx


class Network(NamedTuple):
    """Discs and the lines between them."""

    places: NDArray[np.float64]  # (k, 2)
    radii: NDArray[np.float64]  # (k,) points or pixels; the area grows with the size
    ends: NDArray[np.intp]  # (e, 2) discs that a line joins, the weakest first
    strength: NDArray[np.float64]  # (e,) share of the strongest
    fade: float  # opacity that many lines leave to each


def network(graph: nx.Graph, positions: ArrayLike | None = None, most_edges: int = 3000) -> Network:
    """Cliques as discs (area: size) joined where they share points, the strongest lines only.

    Nodes have ``size``, edges ``overlap``. Discs stand at ``positions`` (the first two columns),
    or where a spring layout puts them.
    """
    graph = backbone(graph)
    if positions is None:
        places = place_nodes(graph)
    else:
        places = np.asarray(positions, dtype=float)[:, :2].reshape(-1, 2)
    row_of = {node: row for row, node in enumerate(graph)}
    edges = sorted(graph.edges.data("overlap", default=1), key=lambda edge: edge[2])[-most_edges:]
    ends = np.array([(row_of[a], row_of[b]) for a, b, _ in edges], dtype=np.intp).reshape(-1, 2)
    shared = np.array([float(weight) for *_, weight in edges])
    sizes = np.array([float(size) for _, size in graph.nodes.data("size", default=1)])
    widest = float(np.clip(110.0 / np.sqrt(max(sizes.size, 1)), 5.0, 17.0))
    radii = np.maximum(widest * np.sqrt(sizes / sizes.max(initial=1.0)), 2.2)
    # Hundreds of cliques share points with hundreds of others: fade the many, keep the strong.
    fade = min(1.0, 6.0 * sizes.size / max(len(ends), 1)) ** 0.5
    return Network(places, radii, ends, shared / shared.max(initial=1.0), float(fade))
