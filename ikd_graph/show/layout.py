"""Where the nodes of a graph of cliques are drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import networkx as nx


STRONGEST = 5
"""Lines of a node that are drawn where there are too many to tell apart."""


def backbone(graph: nx.Graph) -> nx.Graph:
    """Graph with the strongest edges of every node, and those that hold each component together.

    All edges stay where there are at most three for each node.
    """
    import networkx as nx

    if graph.number_of_edges() <= 3 * graph.number_of_nodes():
        return graph
    thin = nx.Graph()
    thin.add_nodes_from(graph.nodes(data=True))
    thin.add_edges_from(nx.maximum_spanning_edges(graph, weight="overlap"))
    for node in graph:
        around = sorted(graph[node].items(), key=lambda item: -item[1].get("overlap", 1))
        thin.add_edges_from((node, other, data) for other, data in around[:STRONGEST])
    return thin


def place_nodes(graph: nx.Graph) -> NDArray[np.float64]:
    """Places of the nodes in the plane: a spring layout that is the same on every run.

    Each component is laid out by itself and the components are packed in shelves, the largest
    first, so that a lone node does not push the rest into a corner.
    """
    import networkx as nx

    nodes = list(graph)
    row_of = {node: row for row, node in enumerate(nodes)}
    places = np.zeros((len(nodes), 2))
    parts = sorted(
        nx.connected_components(graph),
        key=lambda part: (-len(part), min(row_of[node] for node in part)),
    )
    drawn = []
    for part in parts:
        rows = np.array(sorted(row_of[node] for node in part))
        # A view on a set of nodes has no order of its own: build the part in the order of rows.
        ordered = nx.Graph()
        ordered.add_nodes_from(nodes[row] for row in rows)
        ordered.add_edges_from(graph.subgraph(part).edges)
        drawn.append((rows, np.sqrt(len(part)) * _unit_layout(ordered)))
    margin = 0.12 * np.sqrt(len(parts[0])) if parts else 0.0
    boxes = np.array([np.ptp(xy, axis=0) + margin for _, xy in drawn]).reshape(-1, 2)
    for (rows, xy), (left, top), (_, high) in zip(drawn, _shelves(boxes), boxes, strict=True):
        places[rows] = xy - xy.min(axis=0) + np.array([left, top - high])
    return places


def _shelves(boxes: NDArray[np.float64], aspect: float = 1.3) -> NDArray[np.float64]:
    """Upper left corners of (k, 2) boxes on shelves, in the width that suits ``aspect`` best."""
    best, smallest = np.zeros((len(boxes), 2)), np.inf
    for width in np.linspace(boxes[:, 0].max(initial=0.0), boxes[:, 0].sum(), 16):
        corners, x, y, shelf, across = [], 0.0, 0.0, 0.0, 0.0
        for wide, high in boxes.tolist():
            if x > 0.0 and x + wide > width * (1 + 1e-9):
                x, y, shelf = 0.0, y - shelf, 0.0
            corners.append((x, y))
            x, shelf = x + wide, max(shelf, high)
            across = max(across, x)
        scale = max(across / aspect, shelf - y)
        if scale < smallest:
            best, smallest = np.array(corners).reshape(-1, 2), scale
    return best


def _unit_layout(part: nx.Graph) -> NDArray[np.float64]:
    """Spring layout of one component, its longer side 1, in the order of its nodes."""
    import networkx as nx

    nodes = list(part)
    if len(nodes) == 1:
        return np.zeros((1, 2))
    found = nx.spring_layout(
        part, seed=0, iterations=90 if len(nodes) <= 400 else 30, weight=None,
        k=3.5 / np.sqrt(len(nodes)),
    )  # fmt: skip
    xy = np.array([found[node] for node in nodes])
    xy -= xy.min(axis=0)
    return xy / (xy.max() or 1.0)
