"""Neighbour graphs of rows, against scikit-learn's brute force and pynndescent alone."""

import functools

import numpy as np
import pytest
from pynndescent import NNDescent
from sklearn.neighbors import NearestNeighbors

from ikd_graph import graph
from ikd_graph._threads import limit_threads

K = 8


@functools.cache
def unit_rows(n_points):
    """Rows of 784 columns with about 12 directions of their own around 10 centres."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((10, 784))[rng.integers(10, size=n_points)]
    rows += rng.standard_normal((n_points, 12)) @ rng.standard_normal((12, 784)) / 3.0
    rows += 0.3 * rng.standard_normal((n_points, 784))
    rows -= rows.mean(axis=1, keepdims=True)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def ours(rows, neighbors="exact"):
    with limit_threads(2):
        return graph.row_neighbors(rows, K, neighbors=neighbors)


def by_scikit_learn(rows):
    search = NearestNeighbors(n_neighbors=K, algorithm="brute", n_jobs=2).fit(rows)
    return search.kneighbors(return_distance=False)


def by_pynndescent(rows):
    index = NNDescent(rows.astype(np.float32), n_neighbors=K + 1, random_state=0, n_jobs=2)
    return index.neighbor_graph[0][:, 1:]


@pytest.mark.parametrize("n_points", [2000, 6000, 20_000])
@pytest.mark.parametrize(
    "run",
    [ours, by_scikit_learn, functools.partial(ours, neighbors="approximate"), by_pynndescent],
    ids=["ours exact", "scikit-learn", "ours approximate", "pynndescent"],
)
def test_neighbours_of_rows(benchmark, run, n_points):
    benchmark.group = f"neighbours, k={K}, T={n_points}, N=784"
    rows = unit_rows(n_points)
    if run is ours:
        few = rows[:1000]
        told = by_scikit_learn(few)
        assert np.array_equal(np.sort(told, axis=1), np.sort(ours(few), axis=1))
    benchmark.pedantic(run, args=(rows,), rounds=3, warmup_rounds=1)


@pytest.mark.parametrize("n_points", [2000, 6000])
def test_threshold_graph_of_rows(benchmark, n_points):
    benchmark.group = f"threshold 0.8, T={n_points}, N=784"
    rows = unit_rows(n_points)
    with limit_threads(2):
        g = benchmark.pedantic(
            graph.row_threshold_graph, args=(rows, 0.8), rounds=3, warmup_rounds=1
        )
    assert g.n_edges == np.count_nonzero(np.triu(rows @ rows.T > 0.8, 1))


@pytest.mark.parametrize("n_points", [2000, 6000])
def test_joining_components_of_rows(benchmark, n_points):
    benchmark.group = f"joining components, T={n_points}, N=784"
    rows = unit_rows(n_points)
    with limit_threads(2):
        corr = rows @ rows.T
        g = graph.neighbors(corr, 3, mutual=True)
        joined = benchmark.pedantic(graph.join, args=(g, corr), rounds=3, warmup_rounds=1)
    assert not graph.component_labels(joined.graph).any()
