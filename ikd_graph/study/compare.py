"""Many methods on one data set, each in a process of its own, measured in the same way.

A method that crashes or hangs is a row with its reason; the others go on. Time is that of the fit
alone, after a first call on a few points that pays for imports and compilation.
"""

from __future__ import annotations

import os
import pickle
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import kernels
from .._validation import check_choice, check_integer, check_positive
from . import baselines, metrics
from ._worker import Cell, Job, Outcome
from .datasets import Dataset, add_noise

Floats = NDArray[np.float64]
Source = Dataset | Callable[[float, int], Dataset]

IKD_METHODS: dict[str, dict[str, Any]] = {
    "ikd": {},
    "blockwise": {"strategy": "blockwise"},
    "geodesic": {"strategy": "geodesic"},
    "eigen": {"strategy": "eigen"},
}
"""Parameters of ``IKD`` that each of our own names stands for."""

DEFAULT_METHODS = ("blockwise", "geodesic", "eigen", "pca", "isomap", "umap")
"""What ``compare`` runs unless told otherwise; UMAP only where it is installed."""

STARTUP_SECONDS = 180.0
"""What a process may take, beyond the timeout of its first fit, to import and to compile."""

_CHILD = """
import pathlib, sys
from ikd_graph.study._worker import main
main(pathlib.Path(sys.argv[1]))
"""

MEASURES = (
    "r2_affine",
    "r2_rigid",
    "knn",
    "silhouette",
    "trustworthiness",
    "continuity",
    "local_distances",
    "global_distances",
)
"""Names of the measures, best first as a single answer; higher is better for each."""


@dataclass(frozen=True)
class Row:
    """One method on one draw of the data. A measure that does not apply is NaN.

    Attributes
    ----------
    method, title, settings : str
        Name to ask for, name to show, and settings in words.
    n_components, seed : int
        Dimension of the embedding, seed of the draw and of the method.
    noise : float
        Standard deviation of the noise added to the data.
    r2_affine, r2_rigid : float
        Against the true latent, after an affine and after a rigid alignment with one scale.
    knn, silhouette : float
        Against classes: 5-NN accuracy in a shuffled stratified 5-fold cross-validation.
    trustworthiness, continuity, local_distances, global_distances : float
        Against the true latent if there is one, else against the data.
    seconds, cpu_seconds, warmup_seconds : float
        Wall and processor time of the fit; of a first call on a few points.
    peak_mb, extra_mb : float
        Peak memory of the process, and its growth during the fit, in MiB.
    failure : str
        Why there is no embedding; empty if there is one.
    notes : tuple of str
        Warnings.
    facts : dict of str to str
        What an IKD method chose, in words.
    """

    method: str
    title: str
    settings: str
    n_components: int
    noise: float
    seed: int
    r2_affine: float = np.nan
    r2_rigid: float = np.nan
    knn: float = np.nan
    silhouette: float = np.nan
    trustworthiness: float = np.nan
    continuity: float = np.nan
    local_distances: float = np.nan
    global_distances: float = np.nan
    seconds: float = np.nan
    cpu_seconds: float = np.nan
    warmup_seconds: float = np.nan
    peak_mb: float = np.nan
    extra_mb: float = np.nan
    failure: str = ""
    notes: tuple[str, ...] = ()
    facts: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Comparison:
    """What ``compare`` found.

    Attributes
    ----------
    name : str
        Name of the data.
    rows : list of Row
        One for each method, dimension, noise and seed, in the order asked for.
    embeddings : list of (n, n_components) float64 or None
        The embedding of each row.
    spectra : list of float64 arrays or None
        Leading eigenvalues of each row, where the method has some.
    data : list of Dataset
        What each row was made from.
    versions : dict of str to str
        Versions of what took part.
    """

    name: str
    rows: list[Row]
    embeddings: list[Floats | None]
    spectra: list[Floats | None]
    data: list[Dataset]
    versions: dict[str, str]

    @property
    def measure(self) -> str:
        """Name of the measure that tells most here: R² if a latent is known, then 5-NN."""
        for name in MEASURES:
            if any(np.isfinite(getattr(row, name)) for row in self.rows):
                return name
        return MEASURES[-1]

    def best(self, measure: str | None = None) -> Row:
        """Row with the highest value of a measure.

        Parameters
        ----------
        measure : str or None
            One of ``MEASURES``; None is the one that tells most.

        Returns
        -------
        Row
            The best.
        """
        name = self.measure if measure is None else measure
        check_choice("measure", name, MEASURES)
        able = [row for row in self.rows if np.isfinite(getattr(row, name))]
        if not able:
            reasons = "; ".join(f"{row.method}: {row.failure}" for row in self.rows if row.failure)
            raise ValueError(f"at least one row must have {name!r}, got none ({reasons})")
        return max(able, key=lambda row: getattr(row, name))

    def aligned(self) -> list[Floats | None]:
        """Embeddings turned, shifted and scaled onto the truth, or else onto the first of them.

        Returns
        -------
        list of (n, n_components) float64 or None
            As ``embeddings``, ready to be drawn beside one another.
        """
        first = next((z for z in self.embeddings if z is not None), None)
        out: list[Floats | None] = []
        for points, data in zip(self.embeddings, self.data, strict=True):
            target = data.latent if data.latent is not None else first
            out.append(None if points is None or target is None else _onto(points, target))
        return out

    def to_records(self) -> list[dict[str, Any]]:
        """Rows as dictionaries, one key a column.

        Returns
        -------
        list of dict
            Plain numbers and strings.
        """
        return [asdict(row) for row in self.rows]

    def to_pandas(self) -> Any:
        """Rows as a pandas table.

        Returns
        -------
        pandas.DataFrame
            One row a fit.
        """
        try:
            import pandas as pd
        except ImportError:
            raise ImportError(
                "to_pandas needs the package pandas, which is not installed; "
                "pip install pandas, or use to_records()"
            ) from None
        return pd.DataFrame(self.to_records())


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
        A data set, to which noise is added; or what draws one, noise included.
    methods : iterable of str or (str, estimator), or None
        Names in ``IKD_METHODS`` and ``baselines.PEERS``; ``kernel_pca`` stands for its best kernel,
        as in the paper. Any scikit-learn estimator with ``fit_transform`` under a name of its own.
        None is ``DEFAULT_METHODS``.
    n_components : int or sequence of int
        Dimensions of the embedding.
    noise : float or sequence of float
        Standard deviations of Gaussian noise.
    seeds : int or sequence of int
        Seeds of the noise (or of the draw) and of the methods.
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
            for outcome in _run(job, Path(folder) / f"job-{order}", timeout, bar):
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
    from ..estimator import IKD

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


def _run(job: Job, folder: Path, timeout: float, bar: Any) -> list[Outcome]:
    """Outcomes of all cells, the process started again after a crash or a timeout."""
    folder.mkdir()
    outcomes: list[Outcome] = []
    left = list(job.cells)
    while left:
        (folder / "job.pkl").write_bytes(pickle.dumps(job._replace(cells=left)))
        done, reason = _watch(folder, left, timeout, bar)
        outcomes += done
        left = left[len(done) :]
        if left:
            outcomes.append(_failed(left.pop(0), reason))
            bar.update()
    return outcomes


def _watch(folder: Path, cells: list[Cell], timeout: float, bar: Any) -> tuple[list[Outcome], str]:
    """Start a worker and collect its results; why it ended, if before the last cell."""
    # Not multiprocessing: its spawn imports the caller's script again, which may lack a guard.
    command = [sys.executable, "-c", _CHILD, str(folder)]
    paths = os.pathsep.join(path for path in sys.path if path)
    done: list[Outcome] = []
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONPATH": paths},
        )
        try:
            # The first cell pays for imports and compilation as well.
            deadline = time.monotonic() + timeout + STARTUP_SECONDS
            while len(done) < len(cells):
                result = folder / f"result-{cells[len(done)].number}.pkl"
                ended = process.poll() is not None
                if result.exists():
                    done.append(pickle.loads(result.read_bytes()))
                    deadline = time.monotonic() + timeout
                    bar.update()
                elif ended:
                    return done, _reason(process.returncode, folder / "log")
                elif time.monotonic() > deadline:
                    return done, f"stopped after {timeout:g} s"
                else:
                    time.sleep(0.02)
        finally:
            process.kill()
            process.wait()
    return done, ""


def _reason(code: int, log: Path) -> str:
    """Words for a process that ended early."""
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    last = f": {lines[-1].strip()}" if lines else ""
    if code < 0:
        hint = " (often out of memory)" if code == -9 else ""
        return f"the process was ended by signal {-code}{hint}{last}"
    return f"the process ended with code {code}{last}"


def _failed(cell: Cell, reason: str) -> Outcome:
    """Outcome of a cell whose process ended."""
    nan = float("nan")
    return Outcome(cell.number, None, None, {}, nan, nan, nan, nan, nan, reason, ())


def _row(
    name: str, model: Any, at: tuple[int, float, int], source: Dataset, outcome: Outcome
) -> Row:
    """Row of an outcome, with its measures."""
    peer = baselines.PEERS.get(name) if model is None else None
    own = f"IKD {name}" if name in IKD_METHODS and name != "ikd" else name
    title = peer.title if peer is not None else "IKD" if name == "ikd" else own
    measures = {} if outcome.coordinates is None else score(source, outcome.coordinates)
    return Row(
        method=name,
        title=title,
        settings=peer.settings if peer is not None else " ".join(repr(model).split()),
        n_components=at[0],
        noise=at[1],
        seed=at[2],
        seconds=outcome.seconds,
        cpu_seconds=outcome.cpu_seconds,
        warmup_seconds=outcome.warmup_seconds,
        peak_mb=outcome.peak_mb,
        extra_mb=outcome.extra_mb,
        failure=outcome.failure,
        notes=outcome.notes,
        facts=outcome.facts,
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


def _onto(points: Floats, target: Floats) -> Floats:
    """Points after the best rigid motion and scale onto the leading columns of a target."""
    size = points.shape[1]
    goal = np.zeros_like(points)
    shared = min(size, target.shape[1])
    goal[:, :shared] = target[:, :shared]
    mean = goal.mean(axis=0)
    centred, wanted = points - points.mean(axis=0), goal - mean
    left, values, right = np.linalg.svd(centred.T @ wanted)
    spread = float(np.sum(centred**2))
    factor = float(values.sum()) / spread if spread > 0.0 else 1.0
    return factor * centred @ (left @ right) + mean


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
