"""Where the nodes of a graph of cliques are drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import networkx as nx


def place_nodes(graph: nx.Graph, start: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """Places of the nodes in the plane: a spring layout that is the same on every run.

    Each component is laid out by itself and the components are packed in rows, the largest first,
    so that a lone node does not push the rest into a corner.

    Parameters
    ----------
    graph : networkx.Graph
        Graph whose edges may carry ``weight``.
    start : (n_nodes, 2) float64, optional
        Places to start from, in the order of the nodes.

    Returns
    -------
    (n_nodes, 2) float64
        Places, in the order of the nodes, in a box of about one by one for the largest component.
    """
    import networkx as nx

    nodes = list(graph)
    row_of = {node: row for row, node in enumerate(nodes)}
    places = np.zeros((len(nodes), 2))
    parts = sorted(
        nx.connected_components(graph),
        key=lambda part: (-len(part), min(row_of[node] for node in part)),
    )
    sides = np.sqrt([len(part) for part in parts])
    corner, line_height, width = np.zeros(2), 0.0, 1.1 * float(np.sqrt(np.sum(sides**2) or 1.0))
    for part, side in zip(parts, sides, strict=True):
        rows = np.array(sorted(row_of[node] for node in part))
        if corner[0] > 0 and corner[0] + side > width:
            corner = np.array([0.0, corner[1] - line_height * 1.15])
            line_height = 0.0
        # A view on a set of nodes has no order of its own: build the part in the order of rows.
        ordered = nx.Graph()
        ordered.add_nodes_from(nodes[row] for row in rows)
        ordered.add_edges_from(graph.subgraph(part).edges)
        unit = _unit_layout(ordered, None if start is None else start[rows])
        places[rows] = corner + side * (unit - np.array([0.0, 1.0]))
        line_height = max(line_height, side)
        corner = corner + np.array([side * 1.15, 0.0])
    return places / (sides.max() if sides.size else 1.0)


def _unit_layout(part: nx.Graph, start: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Spring layout of one component in the unit square, in the order of its nodes."""
    import networkx as nx

    nodes = list(part)
    if len(nodes) == 1:
        return np.full((1, 2), 0.5)
    first = None
    if start is not None:
        spread = np.ptp(start, axis=0).max() or 1.0
        # The tiny turn keeps equal starts from lying on top of each other for ever.
        turn = np.random.default_rng(0).normal(scale=1e-3, size=start.shape)
        first = dict(zip(nodes, (start - start.mean(axis=0)) / spread + turn, strict=True))
    found = nx.spring_layout(
        part, pos=first, seed=0, iterations=90 if len(nodes) <= 400 else 30, weight=None,
        k=3.5 / np.sqrt(len(nodes)),
    )  # fmt: skip
    xy = np.array([found[node] for node in nodes])
    xy -= xy.min(axis=0)
    return xy / (xy.max() or 1.0)
