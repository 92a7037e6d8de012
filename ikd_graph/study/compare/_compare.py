"""Many methods on one data set: the plan, the rows and their measures."""

from __future__ import annotations

import platform
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import kernels
from ..._validation import check_choice, check_integer, check_positive
from .. import baselines, metrics
from ..datasets import Dataset, add_noise
from ._processes import run_job
from ._records import Comparison, Row
from ._worker import Cell, Job, Outcome

Floats = NDArray[np.float64]

Source = Dataset | Callable[[float, int], Dataset]

IKD_METHODS: dict[str, dict[str, Any]] = {
    "ikd": {},
    **{name: {"strategy": name, "refine": None} for name in ("blockwise", "geodesic", "eigen")},
    **{
        f"{name}+{polish}": {"strategy": name, "refine": polish}
        for name in ("blockwise", "geodesic")
        for polish in ("stress", "likelihood")
    },
}
"""Parameters of ``IKD`` that each of our own names stands for.

``ikd`` chooses everything by itself. ``blockwise``, ``geodesic`` and ``eigen`` are the closed form
alone; ``blockwise+likelihood`` is the same strategy, polished by the likelihood.
"""

DEFAULT_METHODS = ("ikd", "blockwise", "geodesic", "eigen", "pca", "isomap", "umap")
"""What ``compare`` runs unless told otherwise; UMAP only where it is installed."""


def compare(
    data: Source,
    methods: Iterable[str | tuple[str, Any]] | None = None,
    *,
    n_components: int | Sequence[int] = 2,
    noise: float | Sequence[float] = 0.0,
    seeds: int | Sequence[int] = 0,
    kernel: str | kernels.StationaryKernel | None = None,
    timeout: float = 600.0,
    verbose: int = 0,
) -> Comparison:
    """Run methods on the same data, each in a process of its own.

    Parameters
    ----------
    data : Dataset, or callable (noise, seed) -> Dataset
        A data set, to which noise is added; or what makes one, noise included.
    methods : iterable of str or (str, estimator), or None
        Names in ``IKD_METHODS`` and ``baselines.PEERS``; ``kernel_pca`` stands for its best kernel,
        as in the paper. Any scikit-learn estimator with ``fit_transform`` under a name of its own.
        None is ``DEFAULT_METHODS``.
    n_components : int or sequence of int
        Dimensions of the embedding.
    noise : float or sequence of float
        Standard deviations of Gaussian noise.
    seeds : int or sequence of int
        Seeds of the noise (or of the sample) and of the methods.
    kernel : str, StationaryKernel or None
        Kernel for the IKD methods; None leaves their default.
    timeout : float
        Seconds after which a fit is ended; its row says so.
    verbose : int
        1 shows a progress bar on a terminal.

    Returns
    -------
    Comparison
        Rows in the order methods, dimensions, noise, seeds, with their embeddings.

    Examples
    --------
    >>> from ikd_graph.study import datasets
    >>> found = compare(datasets.half_moons(), ["pca", "isomap"])
    >>> [row.title for row in found.rows]
    ['PCA', 'Isomap']
    """
    chosen = _expand(DEFAULT_METHODS if methods is None else methods, optional=methods is None)
    check_positive("timeout", timeout)
    dims = [check_integer("n_components", m, 1) for m in np.atleast_1d(n_components).tolist()]
    levels = [float(sd) for sd in np.atleast_1d(noise)]
    draws = [int(seed) for seed in np.atleast_1d(seeds)]
    found = Comparison("", [], [], [], [], _versions())
    with tempfile.TemporaryDirectory(prefix="ikd_graph_compare_") as folder:
        sources = _draw(data, levels, draws, Path(folder))
        plan = [(m, sd, seed) for m in dims for sd in levels for seed in draws]
        cells = [
            Cell(number, str(Path(folder) / f"X-{sd}-{seed}.npy"), m, seed)
            for number, (m, sd, seed) in enumerate(plan)
        ]
        bar = _progress(len(chosen) * len(cells), verbose)
        for order, (name, estimator) in enumerate(chosen):
            model = _ikd(name, kernel) if name in IKD_METHODS and estimator is None else estimator
            job = Job("" if model is not None else name, model, cells)
            for outcome in run_job(job, Path(folder) / f"job-{order}", timeout, bar):
                m, sd, seed = plan[outcome.number]
                source = sources[sd, seed]
                found.rows.append(_row(name, model, (m, sd, seed), source, outcome))
                found.embeddings.append(outcome.coordinates)
                found.spectra.append(outcome.eigenvalues)
                found.data.append(source)
        bar.close()
    name = data.name if isinstance(data, Dataset) else found.data[0].name
    return Comparison(name, *_best_kernel_pca(found), found.versions)


def score(data: Dataset, Z: Floats) -> dict[str, float]:
    """Compute every measure that applies to an embedding.

    Parameters
    ----------
    data : Dataset
        What was embedded, with its labels and latent if known.
    Z : (n, n_components) float64
        The embedding.

    Returns
    -------
    dict of str to float
        Keys among ``MEASURES``.

    Examples
    --------
    >>> from ikd_graph.study import datasets
    >>> roll = datasets.swiss_roll(200)
    >>> round(score(roll, roll.latent)["r2_rigid"], 6)
    1.0
    """
    out: dict[str, float] = {}
    if data.latent is not None:
        out["r2_affine"] = metrics.affine_r2(data.latent, Z)
        if Z.shape[1] <= data.latent.shape[1]:
            out["r2_rigid"] = metrics.rigid_r2(data.latent, Z, scale=True)
    if data.y is not None and data.label_names:
        sizes = np.bincount(data.y.astype(np.int64))
        if np.count_nonzero(sizes) > 1 and sizes[sizes > 0].min() >= 5:
            out["knn"] = metrics.knn_accuracy(Z, data.y)
        if 1 < np.count_nonzero(sizes) < data.n_samples:
            out["silhouette"] = metrics.silhouette(Z, data.y)
    truth = data.X if data.latent is None else data.latent
    # All pairs beyond this many points take longer than the methods.
    keep = np.arange(data.n_samples)
    if keep.size > 2000:
        keep = np.sort(np.random.default_rng(0).choice(keep.size, 2000, replace=False))
    near = max(1, min(5, (keep.size - 1) // 2))
    out["trustworthiness"] = metrics.trustworthiness(truth[keep], Z[keep], near)
    out["continuity"] = metrics.continuity(truth[keep], Z[keep], near)
    out["local_distances"] = metrics.local_distance_preservation(truth, Z, near)
    out["global_distances"] = metrics.global_distance_preservation(truth, Z)
    return out


def _expand(methods: Iterable[str | tuple[str, Any]], *, optional: bool) -> list[tuple[str, Any]]:
    """Names and estimators of the methods to run, kernel PCA as its four kernels."""
    from importlib.util import find_spec

    known = (*IKD_METHODS, *baselines.PEERS, "kernel_pca")
    chosen: list[tuple[str, Any]] = []
    for entry in methods:
        if not isinstance(entry, str):
            name, estimator = entry
            if not hasattr(estimator, "fit_transform"):
                raise ValueError(
                    f"the estimator of method {name!r} must have fit_transform, got {estimator!r}"
                )
            chosen.append((name, estimator))
            continue
        check_choice("methods", entry, known)
        if optional and entry == "umap" and find_spec("umap") is None:
            continue
        names = [f"kernel_pca_{k}" for k in baselines.KERNEL_PCA]
        chosen += [(n, None) for n in (names if entry == "kernel_pca" else [entry])]
    if not chosen:
        raise ValueError(f"methods must name at least one of {', '.join(known)}, got none")
    return chosen


def _ikd(name: str, kernel: str | kernels.StationaryKernel | None) -> Any:
    """Our estimator under one of its names."""
    from ...estimator import IKD

    own: dict[str, Any] = {} if kernel is None else {"kernel": kernel}
    return IKD(**IKD_METHODS[name], **own)


def _draw(
    data: Source, levels: list[float], draws: list[int], folder: Path
) -> dict[tuple[float, int], Dataset]:
    """Data of each noise and seed, with its X in a file of the folder."""
    out = {}
    for sd in levels:
        for seed in draws:
            if not isinstance(data, Dataset):
                source = data(sd, seed)
            elif sd == 0.0:
                source = data
            else:
                source = replace(data, X=add_noise(data.X, sd, seed=seed))
            np.save(folder / f"X-{sd}-{seed}.npy", source.X)
            out[sd, seed] = source
    return out


def _row(
    name: str, model: Any, at: tuple[int, float, int], source: Dataset, outcome: Outcome
) -> Row:
    """Row of an outcome, with its measures."""
    peer = baselines.PEERS.get(name) if model is None else None
    title = name if peer is None else peer.title
    if name in IKD_METHODS:
        title = "IKD" if name == "ikd" else f"IKD {name}"
    measures = {} if outcome.coordinates is None else score(source, outcome.coordinates)
    # What a failure took says nothing about the method.
    cost = (
        outcome
        if outcome.coordinates is not None
        else outcome._replace(seconds=np.nan, cpu_seconds=np.nan, extra_mb=np.nan)
    )
    return Row(
        method=name,
        title=title,
        settings=peer.settings if peer is not None else " ".join(repr(model).split()),
        n_components=at[0],
        noise=at[1],
        seed=at[2],
        seconds=cost.seconds,
        cpu_seconds=cost.cpu_seconds,
        warmup_seconds=outcome.warmup_seconds,
        peak_mb=outcome.peak_mb,
        extra_mb=cost.extra_mb,
        failure=outcome.failure,
        notes=outcome.notes,
        facts=outcome.facts,
        used=outcome.used,
        **measures,
    )


def _best_kernel_pca(found: Comparison) -> tuple[list[Row], list[Any], list[Any], list[Dataset]]:
    """Rows in which the four kernels of kernel PCA have become their best one."""
    measure = found.measure
    family = [f"kernel_pca_{k}" for k in baselines.KERNEL_PCA]
    if not set(family) <= {row.method for row in found.rows}:
        return found.rows, found.embeddings, found.spectra, found.data

    def value(i: int) -> float:
        got = getattr(found.rows[i], measure)
        return got if np.isfinite(got) else -np.inf

    rivals: dict[tuple[int, float, int], list[int]] = {}
    for i, row in enumerate(found.rows):
        if row.method in family:
            rivals.setdefault((row.n_components, row.noise, row.seed), []).append(i)
    winners = {max(places, key=value) for places in rivals.values()}
    rows, keep = [], []
    for i, row in enumerate(found.rows):
        if row.method in family and i not in winners:
            continue
        keep.append(i)
        kind = row.method.removeprefix("kernel_pca_")
        best = replace(row, method="kernel_pca", title="kernel PCA", settings=f"best of 4: {kind}")
        rows.append(best if i in winners else row)
    embeddings = [found.embeddings[i] for i in keep]
    return rows, embeddings, [found.spectra[i] for i in keep], [found.data[i] for i in keep]


def _versions() -> dict[str, str]:
    """Versions of Python and of what is installed of the libraries that may take part."""
    names = ("ikd_graph", "numpy", "scipy", "numba", "scikit-learn", "umap-learn", "GPy", "torch")
    out = {"python": platform.python_version()}
    for name in names:
        try:
            out[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return out


def _progress(total: int, verbose: int) -> Any:
    """Progress bar on a terminal, or nothing."""
    from tqdm import tqdm

    return tqdm(total=total, desc="compare", unit="fit", disable=None if verbose else True)
