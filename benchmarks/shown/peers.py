"""Next to other packages: `python -m benchmarks.shown.peers` writes one table and one chart.

Embeddings against UMAP, openTSNE and PaCMAP; the default on samples of the model against the GPLVM
of GPy; maximal cliques against igraph, NetworKit and networkx. A package that is not installed is
one line, and the run goes on.
"""

import argparse
import importlib
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

from examples.paper._draw import finish, grid, lines
from examples.paper._lab import Experiment, Table, fit, rows, run
from examples.paper._real import dataset
from ikd_graph import cliques, covariance, graph, kernels, metrics
from ikd_graph.datasets import fixed_latent, gplvm_data
from ikd_graph.jobs.baselines import timed

EMBEDDINGS = {
    "ikd": {},
    "geodesic_stress": {},
    "umap": {"metric": "cosine"},
    "opentsne": {"metric": "cosine"},
    "pacmap": {"distance": "angular"},
    "isomap": {"metric": "cosine"},
    "pca": {},
}
"""Methods, and the setting by which a peer compares the directions of rows, if it has one."""


def embedding(method, n_samples, cosine=False):
    """5-NN accuracy of a second fit of Fashion-MNIST in the plane."""
    data = dataset("fashion_mnist", n_samples)
    named = EMBEDDINGS[method] if cosine else {}
    for X in (data.X[:300], data.X):
        done = fit(method, X, 2, 0, **named)
    return rows(
        {"task": "embed images", "size": n_samples},
        {f"{method}, cosine" if cosine else method: done},
        lambda Z: {"score": metrics.knn_scores(Z, data.y).mean()},
    )


def latent(method, n_features):
    """R2 of the paper's medium latent, noise of standard deviation 0.5."""
    truth = fixed_latent("medium")
    data = gplvm_data(truth, n_features, kernel="squared_exponential", noise=0.5, seed=0)
    done = fit(method, data.X, 3, 0, kernel=kernels.SquaredExponential(length_scale=0.5))
    cell = {"task": "latent, noise 0.5", "size": n_features}
    return rows(cell, {method: done}, lambda Z: {"score": metrics.affine_r2(truth, Z)})


def _edges(g):
    """Pairs of a graph, each once."""
    source = np.repeat(np.arange(g.n_nodes), np.diff(g.indptr))
    return np.column_stack([source, g.indices])[source < g.indices]


def _igraph(g):
    """Number of maximal cliques by igraph."""
    import igraph

    return len(igraph.Graph(g.n_nodes, _edges(g).tolist()).maximal_cliques())


def _networkit(g):
    """Number of maximal cliques by NetworKit."""
    import networkit

    network = networkit.Graph(g.n_nodes)
    for pair in _edges(g).tolist():
        network.addEdge(*pair)
    return len(networkit.clique.MaximalCliques(network).run().getCliques())


def _networkx(g):
    """Number of maximal cliques by networkx."""
    import networkx

    return sum(1 for _ in networkx.find_cliques(networkx.Graph(_edges(g).tolist())))


FINDERS = {
    "ikd": lambda g: len(cliques.maximal_cliques(g)),
    "igraph": _igraph,
    "networkit": _networkit,
    "networkx": _networkx,
}


def enumeration(method, n_points, n_neighbors=None):
    """Maximal cliques of correlations above a threshold or of nearest neighbors, and their cost."""
    if method != "ikd":
        importlib.import_module(method)
    angle = np.linspace(0.0, 8.0 * np.pi, n_points)
    curve = np.column_stack([np.cos(angle), np.sin(angle), 0.1 * angle])
    X = gplvm_data(curve, 100, kernel="squared_exponential", noise=0.3, seed=0).X
    corr, few = covariance.correlation(X), covariance.correlation(X[:30])
    if n_neighbors is None:
        g, first = graph.threshold(corr, 0.5), graph.threshold(few, 0.5)
    else:
        g, first = graph.neighbors(corr, n_neighbors), graph.neighbors(few, n_neighbors)
    FINDERS[method](first)
    done = timed(FINDERS[method], g)
    cost = {key: getattr(done, key) for key in ("seconds", "cpu_seconds", "failure")}
    task = "maximal cliques" if n_neighbors is None else f"maximal cliques, {n_neighbors} neighbors"
    cell = {"task": task, "size": n_points, "method": method}
    return [{**cell, "score": float(done.value), **cost}]


def tasks(quick, _):
    """Every method on every size."""
    sizes = ((150,), (50,), (60,)) if quick else ((1000, 4000), (200, 1000), (300, 600))
    methods = (
        EMBEDDINGS,
        ("geodesic", "gplvm") if quick else ("ikd", "geodesic_stress", "gplvm"),
        FINDERS,
    )
    work = (embedding, latent, enumeration)
    return (
        [
            partial(function, method, size)
            for function, names, counts in zip(work, methods, sizes, strict=True)
            for method, size in product(names, counts)
        ]
        + [
            partial(embedding, method, size, cosine=True)
            for method, size in product(filter(EMBEDDINGS.get, EMBEDDINGS), sizes[0])
        ]
        + [
            partial(enumeration, method, size, n_neighbors=15)
            for method, size in product(FINDERS, sizes[2] if quick else (*sizes[2], 1800))
        ]
    )


def draw(table, path):
    """Time over size, a panel for each task."""
    names = list(dict.fromkeys(t["task"] for t in table.trials))
    figure, axes = grid(1, len(names), 4.0, 3.6)
    for ax, name in zip(axes[0], names, strict=True):
        lines(ax, table, {"task": name}, "size", "cpu_seconds", log=True)
        ax.set_yscale("log")
        ax.set_title(f"{name}: processor seconds", loc="left", fontsize=9)
    return finish(figure, axes, path)


EXPERIMENT = Experiment(
    "Next to other packages",
    ("task", "size", "method"),
    "score",
    tasks,
    draw,
    minutes=6.0,
    command="python -m benchmarks.shown.peers",
    notes=(
        "embed images: Fashion-MNIST in the plane, size is the number of images, mean is the 5-NN "
        "accuracy; a second fit, one thread; peers by their default and by the cosine of rows",
        "latent: the paper's medium latent (T = 100, M = 3), size is N, mean is R2 after an affine "
        "alignment",
        "maximal cliques: of a thresholded correlation graph, or of the 15 nearest neighbors of "
        "each point in the same correlations; size is the number of points, mean is how many "
        "cliques there are; peers are given a list of edges",
        "other work shared the machine: seconds are for comparing methods within this run",
    ),
)


def main(argv=None):
    """Run, and write the table and the chart."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.shown.peers", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small sizes, in seconds")
    kinds = ("embedding", "latent", "enumeration")
    parser.add_argument("--only", choices=kinds, help="these alone; other stored rows stay")
    parser.add_argument("--output", "-o", type=Path, default=Path(__file__).parent)
    args = parser.parse_args(argv)
    args.output.mkdir(parents=True, exist_ok=True)
    experiment = EXPERIMENT
    if args.only:
        chosen = [t for t in tasks(args.quick, None) if t.func.__name__ == args.only]
        experiment = replace(EXPERIMENT, tasks=lambda *_: chosen)
    table = run("peers", experiment, quick=args.quick)
    if args.only and (args.output / "peers.csv").exists():
        table = Table.read("peers", EXPERIMENT, args.output).merged(table)
    print("wrote", *table.write(args.output))


if __name__ == "__main__":
    main()
