"""Shortest paths in neighbour graphs, against scipy's Dijkstra and igraph's."""

import functools

import igraph
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import dijkstra

from ikd_graph import geodesics, graph
from ikd_graph._threads import limit_threads


@functools.cache
def neighbour_lengths(data, n_points):
    """Joined graph of 8 neighbours of rows in the plane or in clusters; weights are lengths."""
    rng = np.random.default_rng(0)
    if data == "plane":
        # Points of a small cap of the sphere: a flat sheet, many edges across.
        rows = np.column_stack((0.1 * rng.random((n_points, 2)), np.ones(n_points)))
    else:
        rows = 2.0 * rng.standard_normal((10, 50))[rng.integers(10, size=n_points)]
        rows += rng.standard_normal((n_points, 8)) @ rng.standard_normal((8, 50))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    corr = rows @ rows.T
    joined = graph.join(graph.neighbors(corr, 8), corr).graph
    left, right, _ = graph.edges(joined)
    return graph.from_edges(n_points, left, right, np.linalg.norm(rows[left] - rows[right], axis=1))


def ours(g, sources):
    with limit_threads(2):
        return geodesics.shortest_distances(g, sources)


def by_scipy(g, sources):
    matrix = sp.csr_matrix((g.weights, g.indices, g.indptr), shape=(g.n_nodes, g.n_nodes))
    return dijkstra(matrix, directed=True, indices=sources)


def by_igraph(g, sources):
    left, right, weights = graph.edges(g)
    other = igraph.Graph(g.n_nodes, np.column_stack((left, right)))
    return np.array(other.distances(source=sources, weights=weights.tolist()))


CASES = [
    ("clusters", 2000, None),
    ("plane", 2000, None),
    ("clusters", 5000, None),
    ("plane", 5000, None),
    ("clusters", 50_000, 200),
    ("plane", 50_000, 200),
]


@pytest.mark.parametrize(("data", "n_points", "n_sources"), CASES)
@pytest.mark.parametrize("run", [ours, by_scipy, by_igraph], ids=["ours", "scipy", "igraph"])
def test_shortest_distances(benchmark, run, data, n_points, n_sources):
    benchmark.group = f"shortest paths, {data}, T={n_points}, sources={n_sources or 'all'}"
    g = neighbour_lengths(data, n_points)
    sources = None
    if n_sources:
        sources = np.random.default_rng(1).choice(n_points, n_sources, replace=False)
    some = sources[:10] if n_sources else np.arange(10)
    np.testing.assert_allclose(run(g, some), by_scipy(g, some), atol=1e-10)
    rounds = 2 if run is by_igraph else 4
    benchmark.pedantic(run, args=(g, sources), rounds=rounds, warmup_rounds=int(run is ours))
