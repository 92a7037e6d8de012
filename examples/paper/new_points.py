"""Neighbours of new rows, placed after the fit in an embedding of others."""

import warnings
from functools import partial
from itertools import product

import numpy as np
from sklearn.decomposition import PCA
from sklearn.manifold import Isomap
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier

from ikd_graph import IKD
from ikd_graph._checks import check_choice
from ikd_graph.study.datasets import load
from ikd_graph.study.timing import timed

from ._lab import OURS, Table, classes, run_trials, title_of

SHARE_NEW = 0.2


def _umap(n_components, random_state):
    from umap import UMAP

    return UMAP(n_components=n_components, random_state=random_state, n_jobs=1)


def _isomap(n_neighbors, n_components, random_state):
    return Isomap(n_neighbors=n_neighbors, n_components=n_components)


PLACERS = {
    "isomap_5": partial(_isomap, 5),
    "isomap_10": partial(_isomap, 10),
    "umap": _umap,
    "pca": PCA,
}
"""Peers that can place new rows: functions of ``n_components`` and ``random_state``."""


def run(
    names=("digits", "coil20", "fashion_mnist"),
    n_components=(2, 5, 10),
    methods=("ikd", "isomap_5", "isomap_10", "umap"),
    *,
    k=5,
    n_trials=5,
    seed=0,
    **how,
):
    """Accuracy on the new rows by data set, dimension and method, beside that of a whole fit."""
    for method in methods:
        check_choice("methods", method, (*OURS, *PLACERS))
    tasks = [
        (name, m, method, k, range(seed, seed + n_trials))
        for name, m, method in product(names, n_components, methods)
    ]
    trials = run_trials(new_points_trial, tasks, **how)
    notes = [
        f"{n_trials} splits a cell, stratified, seeds from {seed}; 80 % are fitted, 20 % placed",
        f"{k} nearest fitted rows vote on the class of each placed row",
        "whole: all rows fitted together without labels, the same rows vote on the same rows; "
        "gap: that less the accuracy",
        "isomap_5, isomap_10: with 5 and 10 neighbours",
    ]
    by, also = ("data", "M", "method"), ("whole", "gap", "place_seconds")
    return Table("new_points", title_of(__doc__), trials, by, "accuracy", notes, also=also)


def new_points_trial(data, n_components, method, k, seeds):
    """Fit a method to a part of the data and place the rest, for every split."""
    data = classes(load(data) if isinstance(data, str) else data)
    make = PLACERS.get(method) or partial(IKD, **OURS[method])
    whole = None
    if method in OURS:
        fitted = timed(_fit, make, n_components, seeds[0], data.X).value
        whole = fitted and fitted[1]
    else:
        # Pays for imports; what cannot run says why when it is asked for an answer.
        few = timed(_fit, make, n_components, 0, data.X[:: max(data.n_samples // 150, 1)]).value
        timed(lambda: few[0].transform(data.X[:5] * 0.99))
    out = []
    for seed in seeds:
        old, new = train_test_split(
            np.arange(data.n_samples), test_size=SHARE_NEW, stratify=data.y, random_state=seed
        )
        vote = partial(_vote, k, data.y[old], data.y[new])
        row = {"data": data.name, "M": n_components, "method": method, "k": k, "seed": seed}
        fitted = timed(_fit, make, n_components, seed, data.X[old])
        placed = fitted
        if fitted.value:
            placed = timed(fitted.value[0].transform, data.X[new])
        if placed.value is not None:
            row["accuracy"] = vote(fitted.value[1], placed.value)
            row["place_seconds"] = placed.seconds
        if whole is not None:
            row["whole"] = vote(whole[old], whole[new])
            row["gap"] = row["whole"] - row.get("accuracy", np.nan)
        out.append({**row, "T": old.size, "seconds": fitted.seconds, "failure": placed.failure})
    return out


def _fit(make, n_components, seed, X):
    """A fitted model and its embedding."""
    model = make(n_components, random_state=seed)
    return model, np.asarray(model.fit_transform(X))


def _vote(k, y_old, y_new, fitted, placed):
    """Accuracy of k fitted neighbours on placed rows."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(KNeighborsClassifier(k).fit(fitted, y_old).score(placed, y_new))
