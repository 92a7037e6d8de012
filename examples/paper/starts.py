"""Optimisers (t-SNE, UMAP, GPLVM) started from our embedding, and what it changes."""

from itertools import product

import numpy as np
from scipy.spatial.distance import pdist
from scipy.stats import spearmanr
from sklearn.manifold import trustworthiness

from ikd_graph.study import metrics
from ikd_graph.study.datasets import load

from ._lab import Table, classes, fit, rows, run_trials, title_of
from .gplvm_race import started


def run(
    data="digits",
    peers=("tsne", "umap"),
    *,
    ours="ikd",
    n_components=2,
    n_trials=3,
    seed=0,
    **how,
):
    """5-NN accuracy, trustworthiness and preservation of all distances by method."""
    tasks = [
        (data, peer, ours, n_components, seed, t) for peer, t in product(peers, range(n_trials))
    ]
    trials = run_trials(start_trial, tasks, **how)
    notes = [
        f"5-NN accuracy of {n_trials} seeds from {seed}; M = {n_components}",
        "the time of an optimiser started from ours holds ours",
    ]
    also = ("trustworthiness", "global_distances")
    title = title_of(__doc__)
    return Table("starts", title, trials, ("data", "method"), "accuracy", notes, also=also)


def start_trial(data, peer, ours, n_components, seed, trial):
    """Fit ours, an optimiser by itself, and the optimiser started from ours."""
    data = classes(load(data) if isinstance(data, str) else data)
    at = seed + trial
    found = {name: fit(name, data.X, n_components, at) for name in (ours, peer)}
    found |= started(found[ours], ours, peer, data.X, n_components, at)
    keep = np.arange(data.n_samples)
    if keep.size > 2000:
        keep = np.sort(np.random.default_rng(at).choice(keep.size, 2000, replace=False))

    def measure(one):
        Z = one.coordinates
        return {
            "accuracy": metrics.knn_accuracy(Z, data.y, seed=at),
            "trustworthiness": trustworthiness(data.X[keep], Z[keep]),
            "global_distances": spearmanr(pdist(data.X[keep]), pdist(Z[keep])).statistic,
        }

    return rows({"data": data.name, "seed": seed, "trial": trial}, found, measure)
