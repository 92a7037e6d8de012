"""The graph of cliques as it is drawn: places, discs and lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    import networkx as nx

_STRONGEST = 5
"""Lines of a node that are drawn where there are too many to tell apart."""


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
        found = _spring(graph)
        positions = np.array([found[node] for node in graph]).reshape(-1, 2)
    places = np.asarray(positions, dtype=float)[:, :2].reshape(-1, 2)
    row_of = {node: row for row, node in enumerate(graph)}
    edges = sorted(graph.edges.data("overlap", default=1), key=lambda edge: edge[2])[-most_edges:]
    ends = np.array([(row_of[a], row_of[b]) for a, b, _ in edges], dtype=np.intp).reshape(-1, 2)
    shared = np.array([float(weight) for *_, weight in edges])
    sizes = np.array([float(size) for _, size in graph.nodes.data("size", default=1)])
    widest = float(np.clip(110.0 / np.sqrt(max(sizes.size, 1)), 3.0, 17.0))
    radii = np.maximum(widest * np.sqrt(sizes / sizes.max(initial=1.0)), 2.2)
    # Hundreds of cliques share points with hundreds of others: fade the many, keep the strong.
    fade = min(1.0, 6.0 * sizes.size / max(len(ends), 1)) ** 0.5
    return Network(places, radii, ends, shared / shared.max(initial=1.0), float(fade))


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
        thin.add_edges_from((node, other, data) for other, data in around[:_STRONGEST])
    return thin


def _spring(graph: nx.Graph) -> dict[Any, NDArray[np.float64]]:
    """Place of each node: springs between those that are joined, the same on every run."""
    import networkx as nx

    few = graph.number_of_nodes() <= 400
    return dict(nx.spring_layout(graph, seed=0, iterations=90 if few else 30, weight=None))
