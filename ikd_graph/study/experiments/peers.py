"""Experiments with optimisers: the race with GPLVM, and an embedding of ours as their start."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ... import kernels
from .. import metrics
from ..datasets import Dataset, gplvm_data, load
from ._methods import fit
from ._recovery import LENGTH_SCALE
from ._table import Table, Trial, run_trials


class RaceTask(NamedTuple):
    """One draw of data for the race with GPLVM."""

    kernel: str
    n_features: int
    noise: float
    ours: tuple[str, ...]
    seed: int
    trial: int


class StartTask(NamedTuple):
    """One optimiser on one data set, from its own start and from ours."""

    data: str | Dataset
    peer: str
    ours: str
    n_components: int
    seed: int
    trial: int


def gplvm_race(
    n_features: Sequence[int] = (200, 1000),
    noise: Sequence[float] = (0.0, 0.5),
    kernel_names: Sequence[str] = ("squared_exponential",),
    *,
    ours: Sequence[str] = ("geodesic", "geodesic_stress", "ikd"),
    n_trials: int = 10,
    seed: int = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Table:
    """Race an optimised GPLVM that is given the right kernel, and start it from our embedding.

    Parameters
    ----------
    n_features : sequence of int
        Numbers of observed dimensions N.
    noise : sequence of float
        Standard deviations of the noise; the signal's is 1.
    kernel_names : sequence of str
        Kernels that generate the data and are given to both.
    ours : sequence of str
        Our methods, names in ``METHODS``; the last of them is also where GPLVM is started.
    n_trials, seed : int
        Number of draws, and their seed.
    n_jobs : int or None
        Number of processes.
    verbose : int
        1 shows a progress bar on a terminal.

    Returns
    -------
    Table
        R² by kernel, N, noise and method, with seconds of processor time.
    """
    tasks = [
        RaceTask(kernel, n, float(sd), tuple(ours), seed, t)
        for kernel in kernel_names
        for n in n_features
        for sd in noise
        for t in range(n_trials)
    ]
    trials = run_trials(race_trial, tasks, n_jobs=n_jobs, verbose=verbose)
    notes = [
        "medium latent, T = 100, M = 3, length-scale 0.5, known to all",
        f"{n_trials} trials a cell, seed {seed}; R² after an affine alignment; one thread",
        "the time of a GPLVM started from ours holds ours",
        "seconds and cpu_seconds: medians",
    ]
    by = ("kernel", "N", "noise", "method")
    title = "The race with an optimised GPLVM"
    return Table("gplvm_race", title, trials, by, "r2_affine", notes, 0.9, ("r2_rigid",))


def starts(
    data: str | Dataset = "digits",
    peers: Sequence[str] = ("tsne", "umap"),
    *,
    ours: str = "ikd",
    n_components: int = 2,
    n_trials: int = 3,
    seed: int = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Table:
    """Start optimisers from our embedding, and see what it changes.

    Parameters
    ----------
    data : str or Dataset
        The data, with classes.
    peers : sequence of {"tsne", "umap", "gplvm"}
        Optimisers that can be told where to start.
    ours : str
        Our method, a name in ``METHODS``.
    n_components : int
        Dimension of the embedding.
    n_trials, seed : int
        Number of seeds, and the first.
    n_jobs : int or None
        Number of processes.
    verbose : int
        1 shows a progress bar on a terminal.

    Returns
    -------
    Table
        5-NN accuracy, trustworthiness and preservation of all distances by method.
    """
    tasks = [
        StartTask(data, peer, ours, n_components, seed, t)
        for peer in peers
        for t in range(n_trials)
    ]
    trials = run_trials(start_trial, tasks, n_jobs=n_jobs, verbose=verbose)
    notes = [f"5-NN accuracy of {n_trials} seeds from {seed}; M = {n_components}"]
    also = ("trustworthiness", "global_distances")
    title = "Optimisers started from our embedding"
    return Table("starts", title, trials, ("data", "method"), "accuracy", notes, also=also)


def race_trial(task: RaceTask) -> list[Trial]:
    """Draw data and fit our methods, GPLVM, and GPLVM started from ours.

    Parameters
    ----------
    task : RaceTask
        What to draw.

    Returns
    -------
    list of dict
        One trial a method.
    """
    rng = np.random.default_rng([task.seed, task.trial])
    data = gplvm_data("medium", task.n_features, kernel=task.kernel, noise=task.noise, seed=rng)
    assert data.latent is not None
    kernel = type(kernels.get(task.kernel))(length_scale=LENGTH_SCALE)
    methods = (*task.ours, "gplvm")
    found = {name: fit(name, data.X, 3, task.trial, kernel=kernel) for name in methods}
    best = task.ours[-1]
    if found[best]["coordinates"] is not None:
        begin = found[best]["coordinates"]
        after = fit("gplvm", data.X, 3, task.trial, kernel=kernel, start=begin)
        for key in ("seconds", "cpu_seconds"):
            after[key] += found[best][key]
        found[f"gplvm from {best}"] = after
    out = []
    for method, result in found.items():
        points = result["coordinates"]
        lost = points is None
        out.append(
            {
                "kernel": task.kernel,
                "N": task.n_features,
                "noise": task.noise,
                "method": method,
                "seed": task.seed,
                "trial": task.trial,
                "r2_affine": np.nan if lost else metrics.affine_r2(data.latent, points),
                "r2_rigid": np.nan if lost else metrics.rigid_r2(data.latent, points, scale=True),
                "seconds": result["seconds"],
                "cpu_seconds": result["cpu_seconds"],
                "failure": result["failure"],
            }
        )
    return out


def start_trial(task: StartTask) -> list[Trial]:
    """Fit an optimiser from its own start and from our embedding.

    Parameters
    ----------
    task : StartTask
        What to fit.

    Returns
    -------
    list of dict
        Trials of our embedding, of the optimiser, and of the optimiser started from ours.
    """
    data = load(task.data) if isinstance(task.data, str) else task.data
    if data.y is None or not data.label_names:
        raise ValueError(f"data must have classes, got none in {data.name!r}; give label_column")
    seed, size = task.seed + task.trial, task.n_components
    mine = fit(task.ours, data.X, size, seed)
    found = {task.ours: mine, task.peer: fit(task.peer, data.X, size, seed)}
    if mine["coordinates"] is not None:
        after = fit(task.peer, data.X, size, seed, start=mine["coordinates"])
        found[f"{task.peer} from {task.ours}"] = after
    keep = np.arange(data.n_samples)
    if keep.size > 2000:
        keep = np.sort(np.random.default_rng(seed).choice(keep.size, 2000, replace=False))
    out = []
    for method, result in found.items():
        points = result["coordinates"]
        lost = points is None
        near = np.nan if lost else metrics.trustworthiness(data.X[keep], points[keep])
        far = np.nan if lost else metrics.global_distance_preservation(data.X, points)
        out.append(
            {
                "data": data.name,
                "method": method,
                "seed": task.seed,
                "trial": task.trial,
                "accuracy": np.nan if lost else metrics.knn_accuracy(points, data.y, seed=seed),
                "trustworthiness": near,
                "global_distances": far,
                "seconds": result["seconds"],
                "cpu_seconds": result["cpu_seconds"],
                "failure": result["failure"],
            }
        )
    return out
