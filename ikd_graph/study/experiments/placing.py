"""Experiment with rows that come after the fit: how well they are classified where they are put."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._validation import check_choice
from ..datasets import Dataset, load
from ._methods import METHODS, PAPER_METHODS
from ._table import Table, Trial, run_trials

_SHARE_NEW = 0.2


class NewPointsTask(NamedTuple):
    """One method on one data set, for every split of it."""

    data: str | Dataset
    n_components: int
    method: str
    k: int
    seed: int
    n_trials: int
    whole: bool  # whether the method is also fitted to everything


def new_points(
    names: Sequence[str | Dataset] = ("digits", "coil20", "fashion_mnist"),
    n_components: Sequence[int] = (2, 5, 10),
    methods: Sequence[str] = ("ikd", "isomap_5", "isomap_10", "umap"),
    *,
    k: int = 5,
    n_trials: int = 5,
    seed: int = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Table:
    """Classify rows that are placed in an embedding of others, which have voted on it alone.

    Parameters
    ----------
    names : sequence of str or Dataset
        Data with classes, or names or files that ``datasets.load`` knows.
    n_components : sequence of int
        Dimensions of the embedding.
    methods : sequence of str
        Our own names in ``METHODS``, and peers that can place new rows: names in ``PLACERS``.
    k : int
        Number of neighbours that vote.
    n_trials, seed : int
        Number of splits, and the seed of the first.
    n_jobs : int or None
        Number of processes.
    verbose : int
        1 shows a progress bar on a terminal.

    Returns
    -------
    Table
        Accuracy on the new rows by data set, dimension and method; for our own methods also that
        of a fit to old and new rows together (``whole``).
    """
    for method in methods:
        check_choice("methods", method, (*_ours(), *PLACERS))
    tasks = [
        NewPointsTask(name, m, method, k, seed, n_trials, method in _ours())
        for name in names
        for m in n_components
        for method in methods
    ]
    trials = run_trials(new_points_trial, tasks, n_jobs=n_jobs, verbose=verbose)
    notes = [
        f"{n_trials} splits a cell, stratified, seeds from {seed}; 80 % are fitted, 20 % placed",
        f"{k} nearest fitted rows vote on the class of each placed row",
        "whole: all rows fitted together without labels, the same rows vote on the same rows; "
        "gap: that less the accuracy",
        "isomap_5, isomap_10: with 5 and 10 neighbours",
    ]
    title = "Neighbours of new rows, placed after the fit"
    also = ("whole", "gap", "place_seconds")
    return Table("new_points", title, trials, ("data", "M", "method"), "accuracy", notes, also=also)


def new_points_trial(task: NewPointsTask) -> list[Trial]:
    """Fit a method to a part of the data and place the rest, for every split.

    Parameters
    ----------
    task : NewPointsTask
        What to fit, and how often.

    Returns
    -------
    list of dict
        One trial a split.
    """
    data = load(task.data) if isinstance(task.data, str) else task.data
    if data.y is None or not data.label_names:
        raise ValueError(f"data must have classes, got none in {data.name!r}; give label_column")
    from sklearn.model_selection import train_test_split

    with warnings.catch_warnings():
        # A disconnected graph is expected in some cells; its effect is in the measure.
        warnings.simplefilter("ignore")
        everything = None
        if task.whole:
            everything = np.asarray(_placer(task, task.seed).fit_transform(data.X))
        elif task.n_trials:
            _warm_up(task, data.X)
        out = []
        for trial in range(task.n_trials):
            seed = task.seed + trial
            old, new = train_test_split(
                np.arange(data.n_samples),
                test_size=_SHARE_NEW,
                stratify=data.y,
                random_state=seed,
            )
            out.append(
                {
                    "data": data.name,
                    "M": task.n_components,
                    "method": task.method,
                    "k": task.k,
                    "seed": task.seed,
                    "trial": trial,
                    "T": old.size,
                    **_classify(task, seed, data.X, data.y, old, new, everything),
                }
            )
    return out


def _classify(
    task: NewPointsTask,
    seed: int,
    X: NDArray[np.float64],
    y: NDArray[Any],
    old: NDArray[np.int64],
    new: NDArray[np.int64],
    everything: NDArray[np.float64] | None,
) -> dict[str, Any]:
    """Measures of one split."""
    from sklearn.neighbors import KNeighborsClassifier

    def vote(fitted: NDArray[Any], placed: NDArray[Any]) -> float:
        return float(KNeighborsClassifier(task.k).fit(fitted, y[old]).score(placed, y[new]))

    nan = float("nan")
    out = dict.fromkeys(("accuracy", "whole", "gap", "seconds", "place_seconds"), nan)
    failure = ""
    try:
        model = _placer(task, seed)
        begin = time.perf_counter()
        fitted = np.asarray(model.fit_transform(X[old]))
        out["seconds"] = time.perf_counter() - begin
        begin = time.perf_counter()
        placed = np.asarray(model.transform(X[new]))
        out["place_seconds"] = time.perf_counter() - begin
        out["accuracy"] = vote(fitted, placed)
    # Whatever a method raises is its answer, and a row in a table.
    except Exception as error:
        failure = f"{type(error).__name__}: {error}"
    if everything is not None:
        out["whole"] = vote(everything[old], everything[new])
        out["gap"] = out["whole"] - out["accuracy"]
    return {**out, "failure": failure}


def _ours() -> tuple[str, ...]:
    """Names of ``METHODS`` that are ours, and so can place new rows."""
    from ..compare import IKD_METHODS

    return tuple(name for name in METHODS if name in IKD_METHODS or name in PAPER_METHODS)


def _placer(task: NewPointsTask, seed: int) -> Any:
    """Unfitted estimator with ``fit_transform`` and ``transform``."""
    if task.method in PLACERS:
        return PLACERS[task.method](task.n_components, seed)
    from ...estimator import IKD
    from ..compare import IKD_METHODS

    settings: dict[str, Any] = {**IKD_METHODS, **PAPER_METHODS}[task.method]
    return IKD(task.n_components, random_state=seed, **settings)


def _warm_up(task: NewPointsTask, X: NDArray[np.float64]) -> None:
    """Pay for imports and compilation with a first call on a few rows."""
    few = X[:: max(X.shape[0] // 150, 1)]
    try:
        _placer(task, 0).fit(few).transform(few[:5] * 0.99)
    except Exception:
        # What cannot run says why when it is asked for an answer.
        return


def _isomap(n_neighbors: int) -> Callable[[int, int], Any]:
    """Isomap with a number of neighbours."""

    def make(n_components: int, seed: int) -> Any:
        from sklearn.manifold import Isomap

        return Isomap(n_neighbors=n_neighbors, n_components=n_components)

    return make


def _umap(n_components: int, seed: int) -> Any:
    from umap import UMAP

    return UMAP(n_components=n_components, random_state=seed, n_jobs=1)


def _pca(n_components: int, seed: int) -> Any:
    from sklearn.decomposition import PCA

    return PCA(n_components, random_state=seed)


PLACERS: dict[str, Callable[[int, int], Any]] = {
    "isomap_5": _isomap(5),
    "isomap_10": _isomap(10),
    "umap": _umap,
    "pca": _pca,
}
"""Peers that can place new rows: functions of the number of components and the seed."""
