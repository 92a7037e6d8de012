"""Experiment with the way back: rows made again from where they are in an embedding."""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import kernels
from ..._validation import check_choice
from ..datasets import fixed_latent, gp_mapping
from ._recovery import LENGTH_SCALE
from ._table import Table, Trial, run_trials

Floats = NDArray[np.float64]

N_COMPONENTS = 3
_SHARE_NEW = 0.2
_GAMMAS = (0.1, 0.3, 1.0, 3.0, 10.0)  # over the median squared distance
_RIDGES = (1e-6, 1e-4, 1e-2, 1.0)


class WayBackTask(NamedTuple):
    """One draw of data and the methods to reconstruct it with."""

    noise: float
    n_features: int
    n_samples: int
    methods: tuple[str, ...]
    seed: int
    trial: int


def way_back(
    noise: Sequence[float] = (0.0, 0.5),
    methods: Sequence[str] = ("ikd", "pca", "kernel_pca_rbf"),
    *,
    n_features: int = 100,
    n_samples: int = 1000,
    n_trials: int = 5,
    seed: int = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Table:
    """Reconstruct rows from three coordinates: ``inverse_transform(transform(X))`` against X.

    Parameters
    ----------
    noise : sequence of float
        Standard deviations of the noise; the signal's is 1.
    methods : sequence of {"ikd", "pca", "kernel_pca_rbf"}
        Methods with a way back.
    n_features : int
        Number of observed dimensions N.
    n_samples : int
        Number of points; a fifth of them is held out.
    n_trials, seed : int
        Number of draws, and their seed.
    n_jobs : int or None
        Number of processes.
    verbose : int
        1 shows a progress bar on a terminal.

    Returns
    -------
    Table
        Mean squared error by noise, rows (fitted or held out) and method; ``signal`` is the error
        against the rows without their noise.
    """
    for method in methods:
        check_choice("methods", method, WAYS_BACK)
    tasks = [
        WayBackTask(float(sd), n_features, n_samples, tuple(methods), seed, t)
        for sd in noise
        for t in range(n_trials)
    ]
    trials = run_trials(way_back_trial, tasks, n_jobs=n_jobs, verbose=verbose)
    trials.sort(key=lambda trial: trial["rows"] != "fitted")
    notes = [
        f"medium latent, {n_samples} points, N = {n_features}, squared exponential, length-scale "
        f"{LENGTH_SCALE}, signal variance 1; M = {N_COMPONENTS}",
        f"{n_trials} draws a cell, seed {seed}; 80 % of the rows are fitted, 20 % held out",
        "mean: mean squared error against the rows; signal: against the rows before noise",
        f"kernel_pca_rbf: the best of {len(_GAMMAS) * len(_RIDGES)} settings for each draw and "
        "kind of rows, chosen by the error itself (gamma "
        + ", ".join(f"{value:g}" for value in _GAMMAS)
        + " over the median squared distance; ridge "
        + ", ".join(f"{value:g}" for value in _RIDGES)
        + "); seconds are those of all",
    ]
    title = "The way back: rows from three coordinates"
    by = ("noise", "rows", "method")
    return Table("way_back", title, trials, by, "mse", notes, also=("signal",))


def way_back_trial(task: WayBackTask) -> list[Trial]:
    """Draw data, fit four fifths of it and reconstruct both parts.

    Parameters
    ----------
    task : WayBackTask
        What to draw and to fit.

    Returns
    -------
    list of dict
        Two trials a method: the fitted rows and those held out.
    """
    rng = np.random.default_rng([task.seed, task.trial])
    latent = fixed_latent("medium", task.n_samples)
    kernel = kernels.SquaredExponential(length_scale=LENGTH_SCALE)
    signal = gp_mapping(latent, task.n_features, kernel, seed=rng)
    X = signal + task.noise * rng.normal(size=signal.shape)
    order = rng.permutation(task.n_samples)
    n_new = round(_SHARE_NEW * task.n_samples)
    parts = {"fitted": order[n_new:], "held out": order[:n_new]}
    out = []
    for method in task.methods:
        errors: dict[str, tuple[float, float]] = {}
        begin, failure = time.perf_counter(), ""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                for model in WAYS_BACK[method](X[parts["fitted"]], task.trial):
                    for name, part in parts.items():
                        again = model.inverse_transform(model.transform(X[part]))
                        found = _mse(again, X[part]), _mse(again, signal[part])
                        errors[name] = min(errors.get(name, found), found)
        # Whatever a method raises is its answer, and a row in a table.
        except Exception as error:
            failure = f"{type(error).__name__}: {error}"
        seconds = time.perf_counter() - begin
        for name, part in parts.items():
            mse, clean = errors.get(name, (np.nan, np.nan))
            out.append(
                {
                    "noise": task.noise,
                    "rows": name,
                    "method": method,
                    "seed": task.seed,
                    "trial": task.trial,
                    "T": part.size,
                    "mse": mse,
                    "signal": clean,
                    "seconds": seconds,
                    "failure": failure,
                }
            )
    return out


def _mse(one: Floats, other: Floats) -> float:
    """Mean squared difference."""
    return float(np.mean((one - other) ** 2))


def _ikd(X: Floats, seed: int) -> Iterator[Any]:
    """Our estimator, which chooses everything by itself."""
    from ...estimator import IKD

    yield IKD(N_COMPONENTS, random_state=seed).fit(X)


def _pca(X: Floats, seed: int) -> Iterator[Any]:
    """Principal components."""
    from sklearn.decomposition import PCA

    yield PCA(N_COMPONENTS, random_state=seed).fit(X)


def _kernel_pca(X: Floats, seed: int) -> Iterator[Any]:
    """Kernel principal components with a ridge regression back, in all settings."""
    from scipy.spatial.distance import pdist
    from sklearn.decomposition import KernelPCA

    median = float(np.median(pdist(X, "sqeuclidean")))
    for gamma, ridge in itertools.product(_GAMMAS, _RIDGES):
        yield KernelPCA(
            N_COMPONENTS,
            kernel="rbf",
            gamma=gamma / median,
            alpha=ridge,
            fit_inverse_transform=True,
            random_state=seed,
        ).fit(X)


WAYS_BACK: dict[str, Callable[[Floats, int], Iterator[Any]]] = {
    "ikd": _ikd,
    "pca": _pca,
    "kernel_pca_rbf": _kernel_pca,
}
"""Methods with a way back: functions of the rows and the seed that yield fitted models."""
