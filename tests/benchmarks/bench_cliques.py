"""Cliques against igraph and networkx: the same lists first, then the time each takes."""

import itertools

import igraph
import networkx as nx
import numpy as np
import pytest
from sklearn.datasets import load_digits

from ikd_graph import cliques, graph
from ikd_graph._threads import limit_threads

CASES = {"digits > 0.85": (1797, 0.85), "digits > 0.9": (1797, 0.9), "300 digits > 0.6": (300, 0.6)}


@pytest.fixture(scope="module", params=CASES)
def case(request):
    n, threshold = CASES[request.param]
    g = graph.threshold(np.corrcoef(load_digits().data[:n]), threshold)
    sources, targets, _ = graph.edges(g)
    pairs = list(zip(sources.tolist(), targets.tolist(), strict=True))
    with_igraph = igraph.Graph(n=n, edges=pairs)
    with_networkx = nx.Graph(pairs)
    with_networkx.add_nodes_from(range(n))
    ours = {tuple(clique.tolist()) for clique in cliques.maximal_cliques(g)}
    assert ours == {tuple(sorted(clique)) for clique in with_igraph.maximal_cliques()}
    assert ours == {tuple(sorted(clique)) for clique in nx.find_cliques(with_networkx)}
    return request.param, g, with_igraph, with_networkx


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ikd_graph(benchmark, case, n_jobs):
    name, g, _, _ = case
    benchmark.group = f"maximal cliques, {name}"
    with limit_threads(n_jobs):
        benchmark(cliques.maximal_cliques, g)


def test_igraph(benchmark, case):
    name, _, other, _ = case
    benchmark.group = f"maximal cliques, {name}"
    benchmark(other.maximal_cliques)


def test_networkx(benchmark, case):
    name, _, _, other = case
    benchmark.group = f"maximal cliques, {name}"
    benchmark.pedantic(lambda: list(nx.find_cliques(other)), rounds=3)


@pytest.mark.parametrize("who", ["ikd_graph", "networkx"])
def test_the_first_thousand(benchmark, case, who):
    name, g, _, other = case
    benchmark.group = f"first 1000 cliques, {name}"
    if who == "ikd_graph":
        benchmark(lambda: list(itertools.islice(cliques.iter_cliques(g), 1000)))
    else:
        benchmark(lambda: list(itertools.islice(nx.find_cliques(other), 1000)))


def latent_graph(n, threshold):
    """Points along a 3-d Ornstein-Uhlenbeck path, correlations of 100 random functions of them."""
    rng = np.random.default_rng(0)
    latent = np.zeros((n, 3))
    for t in range(1, n):
        latent[t] = 0.98 * latent[t - 1] + 0.6 * rng.standard_normal(3)
    waves = np.cos(latent @ rng.standard_normal((3, 2000)) / 3 + rng.uniform(0, 2 * np.pi, 2000))
    rows = waves @ rng.standard_normal((2000, 100))
    rows -= rows.mean(axis=1, keepdims=True)
    return graph.row_threshold_graph(rows / np.linalg.norm(rows, axis=1, keepdims=True), threshold)


@pytest.mark.parametrize("n", [1000, 2000, 5000, 10_000])
def test_cover(benchmark, n):
    benchmark.group = "clique cover, 3-d path, correlation > 0.7"
    g = latent_graph(n, 0.7)
    cliques.cover(latent_graph(100, 0.7), 5)
    blocks = benchmark.pedantic(cliques.cover, (g, 5), rounds=1 if n > 2000 else 3)
    facts = cliques.summary(g, blocks, 3)
    for name in ("n_edges", "n_cliques", "edge_coverage", "merge_components"):
        benchmark.extra_info[name] = facts[name]
