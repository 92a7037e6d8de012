"""Experiments with a known latent: the paper's Fig. 2, 4, 5 and 6, kernel mismatch, merging.

In every experiment trial t of seed s draws from ``default_rng([s, t])``, so that all methods of a
trial see the same data, and any trial can be made again by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import kernels
from .. import metrics
from ..datasets import FIXED_LATENTS, Dataset, fixed_latent, gplvm_data, mapped_data
from ._methods import fit
from ._table import Table, Trial, run_trials

Floats = NDArray[np.float64]
Latents = Sequence[str] | Mapping[str, Floats]

KERNELS = ("squared_exponential", "rational_quadratic", "gamma_exponential", "matern")
"""Kernels of the paper's Table 1."""

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


def fig2(
    mappings: Sequence[str] = ("gp", "sine", "bump_l1"),
    n_features: Sequence[int] = (10, 20, 50, 100, 200, 500, 1000),
    methods: Sequence[str] = ("ikd", "paper_geodesic", "pca", "laplacian_eigenmaps", "isomap"),
    *,
    n_samples: int = 1000,
    n_trials: int = 50,
    seed: int = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Table:
    """Recover random latents through three mappings (Fig. 2).

    Parameters
    ----------
    mappings : sequence of {"gp", "sine", "bump", "bump_l1"}
        Mappings; ``bump_l1`` is the bump that the paper ran, ``bump`` the one it prints.
    n_features : sequence of int
        Numbers of observed dimensions N.
    methods : sequence of str
        Names in ``METHODS``.
    n_samples : int
        Number of points T.
    n_trials, seed : int
        Number of draws, and their seed.
    n_jobs : int or None
        Number of processes.
    verbose : int
        1 shows a progress bar on a terminal.

    Returns
    -------
    Table
        R² by mapping, N and method.
    """
    tasks = [
        Task({"mapping": m, "N": n}, ("mapped", m, n, n_samples), tuple(methods), seed, t, None)
        for m in mappings
        for n in n_features
        for t in range(n_trials)
    ]
    notes = [
        f"T = {n_samples}; latent of Eq. 12, clipped to [-6, 6]; squared exponential for solving"
    ]
    title = "Latents through three mappings (Fig. 2)"
    return _table("fig2", title, tasks, ("mapping", "N"), notes, n_jobs, verbose)


def fig4(
    latents: Latents = FIXED_LATENTS,
    kernel_names: Sequence[str] = KERNELS,
    n_features: Sequence[int] = (100, 200, 500, 1000, 2000, 5000, 10000),
    methods: Sequence[str] = ("ikd", "blockwise", "geodesic", "paper_blockwise", "pca"),
    *,
    n_trials: int = 50,
    seed: int = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Table:
    """Recover three fixed latents through Gaussian processes of four kernels (Fig. 4).

    Parameters
    ----------
    latents : sequence of {"hard", "medium", "easy"}, or dict of str to (n, m) float64
        The true latents.
    kernel_names : sequence of str
        Kernels that generate the data; each is solved with itself.
    n_features : sequence of int
        Numbers of observed dimensions N.
    methods : sequence of str
        Names in ``METHODS``.
    n_trials, seed : int
        Number of draws, and their seed.
    n_jobs : int or None
        Number of processes.
    verbose : int
        1 shows a progress bar on a terminal.

    Returns
    -------
    Table
        R² by latent, kernel, N and method.
    """
    tasks = [
        Task(
            {"latent": name, "kernel": kernel, "N": n},
            ("gplvm", points, n, kernel, 0.0),
            tuple(methods),
            seed,
            t,
            kernel,
        )
        for name, points in _named(latents).items()
        for kernel in kernel_names
        for n in n_features
        for t in range(n_trials)
    ]
    title = "Fixed latents, four kernels (Fig. 4)"
    notes = ["T = 100, M = 3, length-scale 0.5, no noise; solved with the generating kernel"]
    return _table("fig4", title, tasks, ("latent", "kernel", "N"), notes, n_jobs, verbose)


def fig5(
    noise: Sequence[float] = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0),
    n_features: Sequence[int] = (100, 200, 1000),
    methods: Sequence[str] = ("ikd", "blockwise", "geodesic", "isomap", "pca"),
    *,
    n_trials: int = 20,
    seed: int = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Table:
    """Recover the medium latent under noise (Fig. 5).

    Parameters
    ----------
    noise : sequence of float
        Standard deviations of the noise; the signal's is 1.
    n_features : sequence of int
        Numbers of observed dimensions N; the paper does not say which it used.
    methods : sequence of str
        Names in ``METHODS``.
    n_trials, seed : int
        Number of draws, and their seed.
    n_jobs : int or None
        Number of processes.
    verbose : int
        1 shows a progress bar on a terminal.

    Returns
    -------
    Table
        R² by N, noise and method.
    """
    kernel = "squared_exponential"
    tasks = [
        Task(
            {"N": n, "noise": float(sd)},
            ("gplvm", fixed_latent("medium"), n, kernel, float(sd)),
            tuple(methods),
            seed,
            t,
            kernel,
        )
        for n in n_features
        for sd in noise
        for t in range(n_trials)
    ]
    title = "The medium latent under noise (Fig. 5)"
    notes = ["T = 100, M = 3, squared exponential of length-scale 0.5"]
    return _table("fig5", title, tasks, ("N", "noise"), notes, n_jobs, verbose)


def fig6(
    n_features: Sequence[int] = (1000,),
    methods: Sequence[str] = (
        "blockwise",
        "geodesic",
        "paper_blockwise",
        "paper_geodesic",
        "paper_geodesic_centred",
    ),
    *,
    n_trials: int = 10,
    seed: int = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Table:
    """Compare blockwise with geodesic where the model matches and where it does not (Fig. 6).

    Parameters
    ----------
    n_features : sequence of int
        Numbers of observed dimensions N.
    methods : sequence of str
        Names in ``METHODS``.
    n_trials, seed : int
        Number of draws, and their seed.
    n_jobs : int or None
        Number of processes.
    verbose : int
        1 shows a progress bar on a terminal.

    Returns
    -------
    Table
        R² by case (match: squared exponential data; mismatch: rational quadratic data), N, method.
    """
    cases = {"match": "squared_exponential", "mismatch": "rational_quadratic"}
    tasks = [
        Task(
            {"case": case, "N": n},
            ("gplvm", fixed_latent("medium"), n, kernel, 0.0),
            tuple(methods),
            seed,
            t,
            "squared_exponential",
        )
        for case, kernel in cases.items()
        for n in n_features
        for t in range(n_trials)
    ]
    title = "Blockwise against geodesic, model matched and mismatched (Fig. 6)"
    notes = [
        "medium latent, T = 100, no noise; both cases are solved with the squared exponential",
        "the paper's picture prints .988 / .717 (match) and .406 / .701 (mismatch) for its "
        "blockwise / geodesic",
    ]
    return _table("fig6", title, tasks, ("case", "N"), notes, n_jobs, verbose)


def mismatch(
    kernel_names: Sequence[str] = KERNELS[1:],
    n_features: Sequence[int] = (100, 200, 1000),
    methods: Sequence[str] = ("ikd", "blockwise", "geodesic"),
    *,
    n_trials: int = 20,
    seed: int = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Table:
    """Solve data of other kernels with the squared exponential.

    Parameters
    ----------
    kernel_names : sequence of str
        Kernels that generate the data.
    n_features : sequence of int
        Numbers of observed dimensions N.
    methods : sequence of str
        Names in ``METHODS``.
    n_trials, seed : int
        Number of draws, and their seed.
    n_jobs : int or None
        Number of processes.
    verbose : int
        1 shows a progress bar on a terminal.

    Returns
    -------
    Table
        R² by generating kernel, N and method.
    """
    tasks = [
        Task(
            {"generated by": kernel, "N": n},
            ("gplvm", fixed_latent("medium"), n, kernel, 0.0),
            tuple(methods),
            seed,
            t,
            "squared_exponential",
        )
        for kernel in kernel_names
        for n in n_features
        for t in range(n_trials)
    ]
    title = "Other kernels' data, solved with the squared exponential"
    notes = ["medium latent, T = 100, no noise"]
    return _table("mismatch", title, tasks, ("generated by", "N"), notes, n_jobs, verbose)


def merge_quality(
    latents: Latents = FIXED_LATENTS,
    n_features: Sequence[int] = (200, 1000, 10000),
    methods: Sequence[str] = ("blockwise_greedy", "blockwise"),
    *,
    n_trials: int = 20,
    seed: int = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Table:
    """Merge cliques pair by pair (greedy, the paper's) and all at once (global).

    Parameters
    ----------
    latents : sequence of {"hard", "medium", "easy"}, or dict of str to (n, m) float64
        The true latents.
    n_features : sequence of int
        Numbers of observed dimensions N.
    methods : sequence of str
        Names in ``METHODS``: ``blockwise_greedy``, and ``blockwise``, which merges globally.
    n_trials, seed : int
        Number of draws, and their seed.
    n_jobs : int or None
        Number of processes.
    verbose : int
        1 shows a progress bar on a terminal.

    Returns
    -------
    Table
        R² by latent, N and method.
    """
    kernel = "squared_exponential"
    tasks = [
        Task(
            {"latent": name, "N": n},
            ("gplvm", points, n, kernel, 0.0),
            tuple(methods),
            seed,
            t,
            kernel,
        )
        for name, points in _named(latents).items()
        for n in n_features
        for t in range(n_trials)
    ]
    title = "Greedy and global merging of the same cliques"
    notes = ["T = 100, M = 3, squared exponential of length-scale 0.5, no noise"]
    return _table("merge_quality", title, tasks, ("latent", "N"), notes, n_jobs, verbose)


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


def _named(latents: Latents) -> dict[str, Floats]:
    """Latents by name; those that are drawn are the same in all trials."""
    if isinstance(latents, Mapping):
        return {name: np.asarray(points, dtype=np.float64) for name, points in latents.items()}
    return {name: fixed_latent(name, seed=0) for name in latents}


def _table(
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
        f"{len(seeds)} trials a cell, seed {tasks[0].seed}; R² after an affine alignment, "
        "rigid R² in the trials' file; bad: share of trials below .9",
    ]
    return Table(name, title, trials, (*by, "method"), "r2_affine", notes, bad_below=0.9)
