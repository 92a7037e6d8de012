"""Functions of networkx by the backend, by networkx itself and by igraph, for kinds of graphs.

``python benchmarks/shown/networkx_backend.py`` writes networkx_backend.md, which docs/networkx.md
shows.
"""

import itertools
import statistics
import time
from collections import deque
from pathlib import Path

import igraph
import networkx as nx
import numba
import numpy as np
from _commit import measured
from sklearn.neighbors import kneighbors_graph

from ikd_graph import datasets

OUR = {"backend": "ikd_graph"}
SIZES = (1000, 20_000)
"""Edges of the graphs whose cliques are listed: the fewest that `should_run` takes, and many."""

FEW = 2000
"""Edges of the graphs for communities and paths, which take networkx the square of the nodes."""

TIMES, PATIENCE = 9, 30.0
"""Rounds, fewer where they take more seconds than that."""


def weighted(edges, lengths, n):
    """A graph of networkx with lengths of edges, its nodes in order."""
    G = nx.empty_graph(n)
    G.add_weighted_edges_from((a, b, length) for (a, b), length in zip(edges, lengths, strict=True))
    return G


def random_lengths(G):
    """A graph with other lengths for each edge."""
    lengths = np.random.default_rng(0).uniform(size=G.number_of_edges()).tolist()
    return weighted(G.edges, lengths, len(G))


def correlated(m):
    """The largest correlations of rows of the model, one edge in twelve pairs."""
    n = int((24 * m) ** 0.5)
    points = np.random.default_rng(0).normal(size=(n, 2))
    corr = np.corrcoef(datasets.gplvm_data(points, 60, noise=0.5).X)
    low, high = np.triu_indices(n, 1)
    top = np.argsort(-corr[low, high])[:m]
    pairs = zip(low[top].tolist(), high[top].tolist(), strict=True)
    return weighted(pairs, np.sqrt(1.0 - corr[low, high][top]).tolist(), n)


def nearest(m):
    """Ten neighbors of points in three dimensions, joined where either is one of the other."""
    points = np.random.default_rng(0).normal(size=(int(m / 6), 3))
    gaps = kneighbors_graph(points, 10, mode="distance")
    G = nx.from_scipy_sparse_array(gaps.maximum(gaps.T))
    return G


KINDS = {
    "correlations above a threshold": correlated,
    "nearest neighbors in space": nearest,
    "power law with triangles": lambda m: nx.powerlaw_cluster_graph(m // 5, 5, 0.5, seed=0),
    "small world": lambda m: nx.watts_strogatz_graph(m // 5, 10, 0.1, seed=0),
    "random, 45 % of pairs": lambda m: nx.gnm_random_graph(int((2 * m / 0.45) ** 0.5) + 1, m, 0),
    "random, 10 edges a node": lambda m: nx.gnm_random_graph(m // 5, m, seed=0),
    "random tree": lambda m: nx.random_labeled_tree(m + 1, seed=0),
}


def igraph_cliques(H):
    """All maximal cliques by igraph."""
    return H.maximal_cliques()


def igraph_paths(H):
    """All distances by igraph."""
    return H.distances(weights="weight")


def drained(iterator):
    """Nothing, after all of an iterator was asked for."""
    deque(iterator, maxlen=0)


FUNCTIONS = {
    "find_cliques": (lambda G, **how: list(nx.find_cliques(G, **how)), igraph_cliques),
    "node_clique_number": (nx.node_clique_number, None),
    "k_clique_communities": (
        lambda G, **how: list(nx.community.k_clique_communities(G, 4, **how)),
        None,
    ),
    "all_pairs_dijkstra_path_length": (
        lambda G, **how: drained(nx.all_pairs_dijkstra_path_length(G, **how)),
        igraph_paths,
    ),
}


def seconds(function, *arguments):
    """Seconds of the processor."""
    begun = time.process_time()
    function(*arguments)
    return time.process_time() - begun


def rounds(G, function, of_igraph):
    """Seconds of networkx, and how many times as fast the others are, medians of paired rounds."""
    kept_by_igraph = igraph.Graph.from_networkx(G) if of_igraph else None

    def ours():
        G.__networkx_cache__.clear()
        function(G, **OUR)

    every, begun = [], time.process_time()
    while len(every) < TIMES and (len(every) < 3 or time.process_time() - begun < PATIENCE):
        row = [seconds(function, G), seconds(ours), seconds(lambda: function(G, **OUR))]
        if of_igraph:
            row.append(seconds(lambda: of_igraph(igraph.Graph.from_networkx(G))))
            row.append(seconds(of_igraph, kept_by_igraph))
        every.append(row)
    ratios = [statistics.median(row[0] / row[k] for row in every) for k in range(1, len(every[0]))]
    return statistics.median(row[0] for row in every), ratios


def table(function, m):
    """Lines of a table: each kind of graph with its ratios."""
    run, of_igraph = FUNCTIONS[function]
    columns = ["graph", "nodes", "edges", "networkx, ms", "ours", "ours, kept"]
    columns += ["igraph", "igraph, kept"] if of_igraph else []
    lines = [f"`{function}`, about {m} edges:\n", line(columns), line(["---"] * len(columns))]
    for kind, make in KINDS.items():
        G = random_lengths(make(m)) if function.startswith("all_pairs") else make(m)
        taken, ratios = rounds(G, run, of_igraph)
        cells = (len(G), G.number_of_edges(), f"{1000 * taken:.1f}", *(f"{r:.1f}" for r in ratios))
        lines.append(line([kind, *cells]))
        print(lines[-1], flush=True)
    return [*lines, ""]


def line(cells):
    """A line of a table."""
    return "| " + " | ".join(map(str, cells)) + " |"


def main():
    """Write the tables."""
    numba.set_num_threads(1)
    nx.config.warnings_to_ignore.add("cache")
    lines = [
        "# Functions of networkx by ikd_graph, by networkx and by igraph\n",
        f"`python benchmarks/shown/networkx_backend.py`, {measured()}; one thread, "
        "medians of paired rounds, time of",
        "one processor of a machine that other work shared. How many times as fast as networkx:",
        "ours with the conversion of the graph and with one that networkx kept, igraph with",
        "`Graph.from_networkx` and on its own graph, its nodes without names.\n",
    ]
    small = nx.gnm_random_graph(30, 90, seed=0)
    for run, _ in FUNCTIONS.values():
        run(small, **OUR)  # compiles
    for function, m in itertools.chain(
        (("find_cliques", m) for m in reversed(SIZES)),
        (("node_clique_number", m) for m in reversed(SIZES)),
        (("k_clique_communities", FEW), ("all_pairs_dijkstra_path_length", FEW)),
    ):
        print(function, m)
        lines += table(function, m)
    Path(__file__).with_suffix(".md").write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
