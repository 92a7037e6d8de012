"""What the experiments with a known latent share: a task, its trials, and their table.

Trial t of seed s draws from ``default_rng([s, t])``, so that all methods of a trial see the same
data, and any trial can be made again by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import covariance, gplvm, kernels, refine
from .. import metrics
from ..datasets import Dataset, fixed_latent, gplvm_data, mapped_data
from ._methods import fit
from ._table import Table, Trial, run_trials

Floats = NDArray[np.float64]
Latents = Sequence[str] | Mapping[str, Floats]

LENGTH_SCALE = 0.5
"""Length-scale of the paper's Fig. 3 to 6."""


class Task(NamedTuple):
    """One draw of data and the methods to fit to it."""

    cell: dict[str, Any]  # columns of the table
    recipe: tuple[Any, ...]  # ("mapped", mapping, N) or ("gplvm", latent, N, kernel, noise)
    methods: tuple[str, ...]
    seed: int
    trial: int
    solve_kernel: str | None
    extras: tuple[str, ...] = ()  # names in ``EXTRAS``, measured of methods that have a model


def recovery_trial(task: Task) -> list[Trial]:
    """Draw the data of a task and fit its methods.

    Parameters
    ----------
    task : Task
        What to draw and to fit.

    Returns
    -------
    list of dict
        One trial a method: R² after an affine and after a rigid alignment (with one scale).
    """
    data = _draw(task)
    assert data.latent is not None
    kernel = None
    if task.solve_kernel is not None:
        kernel = type(kernels.get(task.solve_kernel))(length_scale=LENGTH_SCALE)
    out = []
    for method in task.methods:
        found = fit(method, data.X, data.latent.shape[1], task.trial, kernel=kernel)
        points = found["coordinates"]
        affine = metrics.affine_r2(data.latent, points) if points is not None else np.nan
        rigid = metrics.rigid_r2(data.latent, points, scale=True) if points is not None else np.nan
        extras = {name: EXTRAS[name](found["model"], data, task) for name in task.extras}
        out.append(
            {
                **task.cell,
                "method": method,
                "seed": task.seed,
                "trial": task.trial,
                "r2_affine": affine,
                "r2_rigid": rigid,
                **extras,
                "seconds": found["seconds"],
                "cpu_seconds": found["cpu_seconds"],
                "failure": found["failure"],
            }
        )
    return out


def likelihood_gap(model: Any, data: Dataset, task: Task) -> float:
    """Log likelihood at the bottom of the valley of the truth, less that of a model.

    Parameters
    ----------
    model : IKD or None
        What was fitted.
    data : Dataset
        Rows and true latent.
    task : Task
        What they were drawn for.

    Returns
    -------
    float
        Above 0 where the search has lost something; NaN for methods without a likelihood search.
    """
    if model is None or model.refine_ != "likelihood":
        return np.nan
    assert data.latent is not None
    n_observed = data.X.shape[1]
    centred = model.affinity_ not in covariance.UNCENTRED
    cov = gplvm.sample_covariance(data.X, centered=centred)
    starts = {"truth": data.latent}
    oracle = refine.likelihood(
        cov, n_observed, data.latent.shape[1], model.kernel_, starts=starts, search=False
    )
    return oracle.log_likelihood - model.log_likelihood_


def noise_error(model: Any, data: Dataset, task: Task) -> float:
    """Noise variance found, over the true one, less 1.

    Parameters
    ----------
    model : IKD or None
        What was fitted.
    data : Dataset
        Rows and true latent.
    task : Task
        What they were drawn for.

    Returns
    -------
    float
        Relative error; NaN without noise, and for methods that estimate none.
    """
    true = float(task.recipe[-1]) ** 2
    if model is None or model.noise_variance_ is None or true == 0.0:
        return np.nan
    return model.noise_variance_ / true - 1.0


def kernel_right(model: Any, data: Dataset, task: Task) -> float:
    """Whether the kernel chosen by likelihood is the one that made the data.

    Parameters
    ----------
    model : IKD or None
        What was fitted.
    data : Dataset
        Rows and true latent.
    task : Task
        What they were drawn for.

    Returns
    -------
    float
        1 or 0; NaN for methods that were told the kernel.
    """
    if model is None or model.kernel != "auto":
        return np.nan
    return float(type(model.kernel_) is type(kernels.get(task.recipe[3])))


EXTRAS = {
    "likelihood_gap": likelihood_gap,
    "noise_error": noise_error,
    "kernel_right": kernel_right,
}
"""Measures of a fitted model beyond its coordinates, by name."""

EXTRA_NOTES = {
    "likelihood_gap": "likelihood_gap: log likelihood of a fit that starts at the truth, less that "
    "of the fit; above 0 where the search has lost something",
    "noise_error": "noise_error: noise variance found, over the true one, less 1",
    "kernel_right": "kernel_right: share of trials in which the generating kernel was chosen",
}
"""What they mean, in words."""


def _draw(task: Task) -> Dataset:
    """Data of a task."""
    rng = np.random.default_rng([task.seed, task.trial])
    if task.recipe[0] == "mapped":
        _, mapping, n_features, n_samples = task.recipe
        return mapped_data(mapping, n_features, n_samples=n_samples, seed=rng)
    _, latent, n_features, kernel, noise = task.recipe
    return gplvm_data(latent, n_features, kernel=kernel, noise=noise, seed=rng)


def named_latents(latents: Latents) -> dict[str, Floats]:
    """Latents by name; those that are drawn are the same in all trials."""
    if isinstance(latents, Mapping):
        return {name: np.asarray(points, dtype=np.float64) for name, points in latents.items()}
    return {name: fixed_latent(name, seed=0) for name in latents}


def recovery_table(
    name: str,
    title: str,
    tasks: list[Task],
    by: tuple[str, ...],
    notes: list[str],
    n_jobs: int | None,
    verbose: int,
) -> Table:
    """Run tasks and put their trials into a table."""
    trials = run_trials(recovery_trial, tasks, n_jobs=n_jobs, verbose=verbose)
    seeds = sorted({(task.seed, task.trial) for task in tasks})
    notes = [
        *notes,
        f"{len(seeds)} trials a cell, seed {tasks[0].seed}; mean, sd, se and min are of R² "
        "after an affine alignment, r2_rigid is the mean after a rigid one; bad: share below .9",
    ]
    also = ("r2_rigid", *tasks[0].extras)
    notes += [EXTRA_NOTES[name] for name in tasks[0].extras]
    return Table(name, title, trials, (*by, "method"), "r2_affine", notes, 0.9, also)
