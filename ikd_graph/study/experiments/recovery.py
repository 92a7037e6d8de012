"""Experiments with a known latent: the paper's Fig. 2, 4, 5 and 6, kernel mismatch, merging."""

from __future__ import annotations

from collections.abc import Sequence

from ..datasets import FIXED_LATENTS, fixed_latent
from ._recovery import Latents, Task, named_latents, recovery_table
from ._table import Table

KERNELS = ("squared_exponential", "rational_quadratic", "gamma_exponential", "matern")
"""Kernels of the paper's Table 1."""


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
    return recovery_table("fig2", title, tasks, ("mapping", "N"), notes, n_jobs, verbose)


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
        R² by latent, kernel, N and method, and what the search lost against a start at the truth.
    """
    tasks = [
        Task(
            {"latent": name, "kernel": kernel, "N": n},
            ("gplvm", points, n, kernel, 0.0),
            tuple(methods),
            seed,
            t,
            kernel,
            ("likelihood_gap",),
        )
        for name, points in named_latents(latents).items()
        for kernel in kernel_names
        for n in n_features
        for t in range(n_trials)
    ]
    title = "Fixed latents, four kernels (Fig. 4)"
    notes = ["T = 100, M = 3, length-scale 0.5, no noise; solved with the generating kernel"]
    return recovery_table("fig4", title, tasks, ("latent", "kernel", "N"), notes, n_jobs, verbose)


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
        R² by N, noise and method, and the relative error of the noise variance.
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
            ("noise_error",),
        )
        for n in n_features
        for sd in noise
        for t in range(n_trials)
    ]
    title = "The medium latent under noise (Fig. 5)"
    notes = ["T = 100, M = 3, squared exponential of length-scale 0.5"]
    return recovery_table("fig5", title, tasks, ("N", "noise"), notes, n_jobs, verbose)


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
    return recovery_table("fig6", title, tasks, ("case", "N"), notes, n_jobs, verbose)


def mismatch(
    kernel_names: Sequence[str] = KERNELS[1:],
    n_features: Sequence[int] = (100, 200, 1000),
    methods: Sequence[str] = ("ikd", "ikd_auto_kernel", "blockwise", "geodesic"),
    *,
    n_trials: int = 20,
    seed: int = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Table:
    """Solve data of other kernels with the squared exponential, or with one chosen by likelihood.

    Parameters
    ----------
    kernel_names : sequence of str
        Kernels that generate the data.
    n_features : sequence of int
        Numbers of observed dimensions N.
    methods : sequence of str
        Names in ``METHODS``; ``ikd_auto_kernel`` chooses the kernel.
    n_trials, seed : int
        Number of draws, and their seed.
    n_jobs : int or None
        Number of processes.
    verbose : int
        1 shows a progress bar on a terminal.

    Returns
    -------
    Table
        R² by generating kernel, N and method, and how often the generating kernel was chosen.
    """
    tasks = [
        Task(
            {"generated by": kernel, "N": n},
            ("gplvm", fixed_latent("medium"), n, kernel, 0.0),
            tuple(methods),
            seed,
            t,
            "squared_exponential",
            ("kernel_right",),
        )
        for kernel in kernel_names
        for n in n_features
        for t in range(n_trials)
    ]
    title = "Other kernels' data, solved with the squared exponential"
    notes = ["medium latent, T = 100, no noise"]
    return recovery_table("mismatch", title, tasks, ("generated by", "N"), notes, n_jobs, verbose)


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
        for name, points in named_latents(latents).items()
        for n in n_features
        for t in range(n_trials)
    ]
    title = "Greedy and global merging of the same cliques"
    notes = ["T = 100, M = 3, squared exponential of length-scale 0.5, no noise"]
    return recovery_table("merge_quality", title, tasks, ("latent", "N"), notes, n_jobs, verbose)
