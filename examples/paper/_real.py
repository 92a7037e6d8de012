"""Experiments with real data: embed, then let neighbors vote on the class."""

from dataclasses import replace
from functools import cache, partial
from itertools import product

import numpy as np

from ikd_graph import graph, metrics

from . import _peers
from ._data import fashion_mnist, load
from ._draw import finish, grid, lines
from ._gallery import pictures
from ._lab import OURS, Experiment, fit, rows

FOLDS = (
    "accuracy: 5-fold cross-validation, stratified and shuffled; ordered: folds in the order of "
    "the rows, scikit-learn's default, with which PCA, Isomap and Laplacian eigenmaps have the "
    "published values; se: of the mean of ordered over its five folds"
)
KERNEL_PCA = tuple(f"kernel_pca_{kernel}" for kernel in _peers.KERNEL_PCA)

NESTED = (
    "pca",
    *KERNEL_PCA,
    "isomap",
    "laplacian_eigenmaps",
)
"""Methods whose leading coordinates do not depend on how many follow: embedded once."""


@cache
def dataset(name, n_samples=None):
    """Rows and classes; T = 4000 of Fashion-MNIST is more than `load` takes."""
    if name == "fashion_mnist" and n_samples is not None:
        return fashion_mnist(n_samples=n_samples)
    data = load(name)
    labels = tuple(replace(each, y=each.y[:n_samples]) for each in data.labels)
    return data if n_samples is None else replace(data, X=data.X[:n_samples], labels=labels)


@cache
def embedded(name, method, n_components, kernel="squared_exponential", n_samples=None):
    """A timed fit, as the published runs have it: 7 neighbors on digits, 5 elsewhere."""
    size = 10 if method in NESTED and n_components < 10 else n_components
    if size != n_components:
        whole = embedded(name, method, size, kernel, n_samples)
        points = whole.coordinates
        return whole._replace(coordinates=None if points is None else points[:, :n_components])
    near = (
        {"graph": graph.Neighbors(7, prune=False)}
        if "graph" in OURS.get(method, {}) and name == "digits"
        else {}
    )
    return fit(method, dataset(name, n_samples).X, size, 0, kernel=kernel, **near)


def classify(title, by, draw, cells, *, notes=(), **options):
    """Experiment on embeddings; ``cells`` maps ``quick`` to keyword arguments of `votes`."""

    def tasks(quick, _):
        return [partial(votes, **cell) for cell in cells(quick)]

    def methods(quick):
        return tuple(dict.fromkeys(cell["method"] for cell in cells(quick)))

    return Experiment(
        title, by, "ordered", tasks, draw, methods=methods, also=("accuracy", "silhouette"),
        notes=(*notes, FOLDS), **options,
    )  # fmt: skip


def votes(data, method, M, ks=(5,), kernel="squared_exponential", n_samples=None, only=()):
    """Accuracies of k neighbors in an embedding, one row for each k; none of a method not named."""
    if only and method not in only:
        return []
    y = dataset(data, n_samples).y
    done = embedded(data, method, M, kernel, n_samples)
    named = "auto" if method == "ikd" else kernel
    cell = {"data": data, "kernel": named, "M": M, "T": len(y)}
    out = []
    for k in ks:

        def measure(points, k=k):
            ordered = metrics.knn_scores(points, y, k, seed=None)
            return {
                "ordered": float(ordered.mean()),
                "ordered se": float(np.std(ordered, ddof=1) / np.sqrt(len(ordered))),
                "accuracy": float(metrics.knn_scores(points, y, k, seed=0).mean()),
                "silhouette": metrics.silhouette(points, y),
            }

        out += rows({**cell, "k": k}, {method: done}, measure)
    return out


METHODS = (
    "pca",
    *KERNEL_PCA,
    "laplacian_eigenmaps",
    "isomap",
    "tsne",
    "umap",
    "gplvm",
    "vae",
    "paper_geodesic_centered",
    "paper_geodesic",
    "ikd_kernel",
    "ikd",
)
"""The nine methods of Fig. 7 to 13, the paper's own in two forms, kernel PCA in four, and ours."""


UNENDING = {("coil20", "gplvm"), ("coil20", "vae")}
"""What is not run, of 16 384 columns."""


def plane(title, name):
    """Experiment that shows a data set in the plane by every method (Fig. 8 to 11)."""

    def cells(quick):
        size = {"n_samples": 150} if quick else {}
        methods = ("pca", "isomap", "paper_geodesic") if quick else METHODS
        return [
            {"data": name, "method": m, "M": 2, **size}
            for m in methods
            if (name, m) not in UNENDING
        ]

    def draw(table, path):
        # The arguments of `votes`, whose embeddings are kept.
        size = 150 if table.trials[0]["T"] == 150 else None
        data = dataset(name, size)
        panels = {}
        for t in _best_kernel_pca([t for t in table.trials if t.get("ordered", "") != ""]):
            done = embedded(name, t["method"], 2, "squared_exponential", size)
            panels[t["method"]] = (done.coordinates, f"5-NN {t['ordered']:.3f}")
        return pictures(panels, data.y, path)

    return classify(title, ("data", "M", "method"), draw, cells, minutes=1.0)


def _best_kernel_pca(trials):
    """Trials without kernel PCA of kernels that lose, as the paper shows it."""
    tried = [t for t in trials if t["method"] in KERNEL_PCA]
    best = max(tried, key=lambda t: t["ordered"], default=None)
    return [t for t in trials if t not in tried or t is best]


def panels_of_data(table, path):
    """Accuracy for each k, silhouette and time over M, a row for each data set (Fig. 7)."""
    names = list(dict.fromkeys(t["data"] for t in table.trials))
    ks = sorted({t["k"] for t in table.trials})
    figure, axes = grid(len(names), len(ks) + 2, 3.0)
    for row, name in zip(axes, names, strict=True):
        for ax, k in zip(row, ks, strict=False):
            lines(ax, table, {"data": name, "k": k}, "M", "ordered")
            ax.set_title(f"{name}: {k}-NN", loc="left", fontsize=9)
        lines(row[-2], table, {"data": name, "k": ks[0]}, "M", "silhouette")
        lines(row[-1], table, {"data": name, "k": ks[0]}, "M", "cpu_seconds")
        row[-1].set_yscale("log")
        row[-2].set_title("silhouette", loc="left", fontsize=9)
        row[-1].set_title("processor seconds", loc="left", fontsize=9)
    return finish(figure, axes, path)


def combinations(*columns):
    """Product of values as dictionaries, from (name, values) pairs."""
    names = [name for name, _ in columns]
    return [dict(zip(names, values, strict=True)) for values in product(*(v for _, v in columns))]
