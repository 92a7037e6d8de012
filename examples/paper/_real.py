"""Experiments with real data: embed, then let neighbours vote on the class."""

from dataclasses import replace
from typing import Any, NamedTuple

from ikd_graph._checks import check_integer
from ikd_graph.study import metrics
from ikd_graph.study.datasets import load

from ._lab import OURS, Table, classes, fit, rows, run_trials, title_of

FOLDS = (
    "accuracy: 5-fold cross-validation, stratified and shuffled; ordered: the same without "
    "shuffling, scikit-learn's default, which the published figures are likely to rest on"
)


class Embedding(NamedTuple):
    """One embedding of a real data set, and the numbers of neighbours that vote in it."""

    data: Any  # a name or a file that `load` knows, or the data
    method: str
    n_components: int
    ks: tuple[int, ...] = (5,)
    kernel: str = "squared_exponential"
    changes: dict[str, Any] = {}  # noqa: RUF012 - parameters of IKD beside the method's
    n_samples: int | None = None  # first rows to keep


def graph_of(method, n_neighbors):
    """Changes that give a method in the paper's settings its k-NN graph, none for others."""
    return {"graph": n_neighbors} if "graph" in OURS.get(method, {}) else {}


def classify(name, doc, tasks, by, notes, *, n_trials=1, seed=0, **how):
    """Table of accuracies; n_trials shuffles of the cross-validation and seeds of the method."""
    every = [(task, seed, t) for task in tasks for t in range(n_trials)]
    trials = run_trials(real_trial, every, **how)
    also = ("ordered", "silhouette")
    return Table(name, title_of(doc), trials, by, "accuracy", [*notes, FOLDS], also=also)


def real_trial(task, seed, trial):
    """Embed and classify for each number of neighbours."""
    data = classes(load(task.data) if isinstance(task.data, str) else task.data)
    if task.n_samples is not None:
        size = check_integer("n_samples", task.n_samples, 2, data.n_samples)
        data = replace(data, X=data.X[:size], y=data.y[:size])
    at, M = seed + trial, task.n_components
    one = fit(task.method, data.X, M, at, kernel=task.kernel, **task.changes)
    cell = {"data": data.name, "kernel": task.kernel, "M": M, "seed": seed, "trial": trial}
    cell["T"] = data.n_samples
    out = []
    for k in task.ks:

        def measure(one, k=k):
            folds = metrics.knn_scores(one.coordinates, data.y, k, seed=at)
            ordered = metrics.knn_scores(one.coordinates, data.y, k, seed=None)
            return {
                "accuracy": float(folds.mean()),
                "ordered": float(ordered.mean()),
                "sd_folds": float(folds.std(ddof=1)),
                "silhouette": metrics.silhouette(one.coordinates, data.y),
            }

        out += rows({**cell, "k": k}, {task.method: one}, measure)
    return out
