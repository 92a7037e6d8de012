"""Speed next to the peers: tasks that both solve, and whole processes as a user starts them.

Answers are compared before they are timed; the ratio within a group is the result. Of processes
CPU seconds and peak memory go into ``extra_info``, with compilation and imports; they do not depend
on who else uses the machine. Sizes of the roll are ``IKD_GRAPH_ROWS`` (default 100 000).
"""

import functools
import os
import resource
import subprocess
import sys

import igraph
import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from pynndescent import NNDescent
from scipy.sparse.csgraph import dijkstra
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits
from sklearn.manifold import smacof
from sklearn.neighbors import NearestNeighbors

from ikd_graph import cliques, geodesics, graph, kernels, refine
from ikd_graph._base.threads import limit_threads
from ikd_graph.datasets import gplvm_data

K = 8
KERNEL = kernels.SquaredExponential()


def unit_rows(n):
    """Rows of 784 columns with about 12 directions of their own around 10 centers."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((10, 784))[rng.integers(10, size=n)]
    rows += rng.standard_normal((n, 12)) @ rng.standard_normal((12, 784)) / 3.0
    rows += 0.3 * rng.standard_normal((n, 784))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def by_scikit_learn(rows):
    search = NearestNeighbors(n_neighbors=K, algorithm="brute", n_jobs=2).fit(rows)
    return search.kneighbors(return_distance=False)


def by_pynndescent(rows):
    index = NNDescent(rows.astype(np.float32), n_neighbors=K + 1, random_state=0, n_jobs=2)
    return index.neighbor_graph[0][:, 1:]


def plane(n):
    """Joined graph of neighbors of points in the plane; weights are lengths."""
    points = np.random.default_rng(0).random((n, 2))
    rows = np.column_stack((0.1 * points, np.ones(n)))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    corr = rows @ rows.T
    joined = graph.join(graph.neighbors(corr, K), corr).graph
    left, right, _ = graph.edges(joined)
    return graph.from_edges(n, left, right, np.linalg.norm(rows[left] - rows[right], axis=1))


def paths_of_scipy(g):
    return dijkstra(sp.csr_matrix((g.weights, g.indices, g.indptr), shape=(g.n_nodes, g.n_nodes)))


def paths_of_igraph(g):
    left, right, weights = graph.edges(g)
    other = igraph.Graph(g.n_nodes, np.column_stack((left, right)))
    return np.array(other.distances(weights=weights.tolist()))


def similar_digits(level):
    return graph.threshold(np.corrcoef(load_digits().data), level)


def in_order(found):
    return np.concatenate(sorted(sorted(map(int, clique)) for clique in found))


def cliques_of_igraph(g):
    left, right, _ = graph.edges(g)
    return igraph.Graph(g.n_nodes, np.column_stack((left, right))).maximal_cliques()


def noisy_square(n):
    """A latent, a noisy start, and the graph of all pairs, so that peers move to the same."""
    rng = np.random.default_rng(0)
    latent = rng.uniform(-1.0, 1.0, (n, 2))
    distances = cdist(latent, latent)
    g = graph.threshold(KERNEL.covariance(distances**2), 1e-3)
    return latent + 0.1 * rng.standard_normal(latent.shape), g, distances


def stress_of_scikit_learn(given):
    start, _, distances = given
    how = {"n_init": 1, "max_iter": 60, "eps": 0.0, "normalized_stress": False}
    return smacof(distances, n_components=2, init=start, **how)[0]


def likelihood(n_observed):
    X = gplvm_data("medium", n_observed, seed=50).X
    return X @ X.T / n_observed


TASKS = {
    "neighbors of rows": (
        unit_rows, (2000, 20_000), np.sort,
        {
            "ours": lambda rows: graph.row_neighbors(rows, K),
            "scikit-learn": by_scikit_learn,
        },
    ),
    "approximate neighbors of rows": (
        unit_rows, (20_000,), None,
        {
            "ours": lambda rows: graph.row_neighbors(rows, K, neighbors="approximate"),
            "pynndescent": by_pynndescent,
        },
    ),
    "shortest paths": (
        plane, (2000, 5000), np.asarray,
        {
            "ours": geodesics.shortest_distances,
            "scipy": paths_of_scipy,
            "igraph": paths_of_igraph,
        },
    ),
    "maximal cliques": (
        similar_digits, (0.9, 0.85), in_order,
        {
            "ours": cliques.maximal_cliques,
            "igraph": cliques_of_igraph,
            "networkx": lambda g: list(nx.find_cliques(graph.to_networkx(g))),
        },
    ),
    "cover of cliques": (similar_digits, (0.85,), None, {"ours": lambda g: cliques.cover(g, 4)}),
    "60 steps of stress": (
        noisy_square, (500,), lambda Z: cdist(Z, Z),
        {
            "ours": lambda given: refine.stress(
                *given[:2], KERNEL, weights="uniform", max_iter=60
            ).latent,
            "scikit-learn": stress_of_scikit_learn,
        },
    ),
    "likelihood of 100 points": (
        likelihood, (100, 1000), None,
        {"ours": lambda cov: refine.likelihood(
            cov, 1000, KERNEL,
            init=refine.random_closed_form(cov, 3, KERNEL, np.random.default_rng(0)),
        )},
    ),
}  # fmt: skip
made = functools.cache(lambda task, size: TASKS[task][0](size))


@pytest.mark.parametrize(
    ("task", "size", "who"),
    [
        (task, n, who)
        for task, (_, sizes, _, calls) in TASKS.items()
        for n in sizes
        for who in calls
    ],
)
def bench_task(benchmark, task, size, who):
    _, sizes, comparable, calls = TASKS[task]
    benchmark.group = f"{task}, {size}"
    with limit_threads(2):
        found = benchmark.pedantic(calls[who], (made(task, size),), rounds=3, warmup_rounds=1)
        if comparable and who == "ours" and size == sizes[0]:
            for name in calls.keys() - {"ours"}:
                other = comparable(calls[name](made(task, size)))
                np.testing.assert_allclose(comparable(found), other, atol=1e-4)


TABLES = {
    "digits": "from sklearn.datasets import load_digits; X = load_digits().data; ",
    "rows of a roll": "import os, numpy as np; from sklearn.datasets import make_swiss_roll; "
    "r = make_swiss_roll(int(os.environ.get('IKD_GRAPH_ROWS', 100_000)), random_state=0)[0]; "
    "X = (r @ np.random.default_rng(0).normal(size=(3, 50))).astype('f4'); ",
}
# Not getrusage: its peak is handed down from the process that started this one.
PEAK = "; import re; print(re.search('VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1])"
FITS = {
    "default": "from ikd_graph import IKD; IKD(2).fit(X)",
    "geodesic": "from ikd_graph import IKD; IKD(2, strategy='geodesic', refine=None).fit(X)",
    "blockwise": "from ikd_graph import IKD; IKD(2, strategy='blockwise', refine=None).fit(X)",
    "umap": "from umap import UMAP; UMAP().fit(X)",
    "isomap": "from sklearn.manifold import Isomap; Isomap(n_neighbors=8).fit(X)",
}


def cost_of(code, **environment):
    """CPU seconds and peak megabytes of a Python process of its own."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-W", "ignore", "-c", code + PEAK]
    environment = {**os.environ, **environment}
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return seconds, int(done.stdout.split()[-1]) // 1024


@pytest.mark.parametrize("cache", ["empty", "full"])
@pytest.mark.parametrize("fit", FITS)
@pytest.mark.parametrize("table", TABLES)
def bench_process(benchmark, tmp_path, table, fit, cache):
    if table != "digits" and (fit == "isomap" or cache == "empty"):
        pytest.skip("takes hours, or tells nothing new")
    if fit == "umap":
        pytest.importorskip("umap")
    benchmark.group = f"{table}, {cache} cache"
    code, place = TABLES[table] + FITS[fit], {"NUMBA_CACHE_DIR": str(tmp_path)}
    if cache == "full":
        cost_of(code, **place)
    seconds, peak = benchmark.pedantic(cost_of, (code,), place, rounds=1)
    benchmark.extra_info.update({"CPU seconds": seconds, "peak megabytes": peak})
