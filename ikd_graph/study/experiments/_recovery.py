"""What the experiments with a known latent share: a task, its trials, and their table.

Trial t of seed s draws from ``default_rng([s, t])``, so that all methods of a trial see the same
data, and any trial can be made again by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import kernels
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
        out.append(
            {
                **task.cell,
                "method": method,
                "seed": task.seed,
                "trial": task.trial,
                "r2_affine": affine,
                "r2_rigid": rigid,
                "seconds": found["seconds"],
                "cpu_seconds": found["cpu_seconds"],
                "failure": found["failure"],
            }
        )
    return out


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
    return Table(name, title, trials, (*by, "method"), "r2_affine", notes, 0.9, ("r2_rigid",))
