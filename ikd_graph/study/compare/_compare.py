"""Many methods on one data set: the plan, the rows and their measures."""

from __future__ import annotations

import platform
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import auto
from ..._checks import check_integer, check_positive
from ..._settings import Settings
from ..._stages import Stages
from ...strategies import Geodesic
from .. import baselines, metrics
from ..datasets import Dataset, add_noise
from ._methods import IKD_METHODS, expand, our_own
from ._processes import run_job, working_folder
from ._records import Comparison, Row
from ._score import Judge
from ._worker import Cell, Job, Outcome

Floats = NDArray[np.float64]

Source = Dataset | Callable[[float, int], Dataset]

FEWEST_COLUMNS = 8
"""Columns below which a half says too little about the other."""

MOST_ROWS_OF_HALVES = 1000
"""Rows that are fitted to where columns are predicted: two halves of 1797 digits would add 40 % to
the time of a comparison."""


def compare(
    data: Source,
    methods: Iterable[str | tuple[str, Any]] | None = None,
    *,
    n_components: int | Sequence[int] = 2,
    noise: float | Sequence[float] = 0.0,
    seeds: int | Sequence[int] = 0,
    n_halves: int = 2,
    timeout: float = 600.0,
    verbose: int = 0,
) -> Comparison:
    """Run methods on the same data, each in a process of its own.

    Parameters
    ----------
    data : Dataset, or callable (noise, seed) -> Dataset
        A data set, to which noise is added; or what makes one, noise included.
    methods : iterable of str or (str, estimator), or None
        Names in ``IKD_METHODS`` (`with_kernel` gives them a kernel) and ``baselines.PEERS``;
        ``kernel_pca`` stands for its four kernels, ``peers`` for those of
        ``PEER_GROUP`` that are installed. Any scikit-learn estimator with ``fit_transform`` under a
        name of its own. None is ``DEFAULT_METHODS``.
    n_components : int or sequence of int
        Dimensions of the embedding.
    noise : float or sequence of float
        Standard deviations of Gaussian noise.
    seeds : int or sequence of int
        Seeds of the noise (or of the sample) and of the methods.
    n_halves : int
        Random halves of the columns that each method is fitted to once more, to predict the other
        half (`metrics.co_smoothing`); 0 leaves this out. At most 1000 rows are fitted to, and
        tables of fewer than 8 columns are not halved.
    timeout : float
        Seconds after which a fit is ended; its row says so.
    verbose : int
        1 shows a progress bar on a terminal.

    Returns
    -------
    Comparison
        Rows in the order methods, dimensions, noise, seeds, with their embeddings.

    Notes
    -----
    Where several strategies of ours are compared, all have the same affinity and graph: those that
    "auto" chooses for a strategy on a graph. The method ``ikd`` is the default call.

    Examples
    --------
    >>> from ikd_graph.study import datasets
    >>> found = compare(datasets.half_moons(), ["pca", "isomap"])
    >>> [row.title for row in found.rows]
    ['PCA', 'Isomap']
    """
    chosen = expand(methods)
    check_positive("timeout", timeout)
    check_integer("n_halves", n_halves, 0)
    dims = [check_integer("n_components", m, 1) for m in np.atleast_1d(n_components).tolist()]
    levels = [float(sd) for sd in np.atleast_1d(noise)]
    draws = [int(seed) for seed in np.atleast_1d(seeds)]
    found = Comparison("", [], [], [], [], _versions())
    with working_folder() as folder:
        samples = {
            (sd, seed): _sample(data, sd, seed, n_halves, folder) for sd in levels for seed in draws
        }
        plan = [(m, sd, seed) for m in dims for sd in levels for seed in draws]
        several = sum(name in IKD_METHODS and name != "ikd" for name, _ in chosen) > 1
        cells = _cells(plan, samples, shared=several)
        bar = _progress(len(chosen) * len(cells), verbose)
        for order, (name, estimator) in enumerate(chosen):
            ours = name in IKD_METHODS
            model = our_own(name) if ours and estimator is None else estimator
            shared = ours and name != "ikd" and model.affinity == "auto"
            job = Job("" if model is not None else name, model, cells, shared)
            outcomes = run_job(job, folder / f"job-{order}", timeout, bar)
            for number, at in enumerate(plan):
                mine = [one for one in outcomes if number in (one.cell.number, one.cell.needs)]
                _add(found, _blank(name, model, at), samples[at[1:]], mine)
        bar.close()
    name = data.name if isinstance(data, Dataset) else found.data[0].name
    return replace(found, name=name)


class _Sample(NamedTuple):
    """One draw of the data, and the halves of its columns."""

    data: Dataset
    files: list[str]  # .npy of X, then of each half that is fitted to
    held_out: list[Floats]  # of each half, the columns to predict for the rows that are fitted to
    judge: Judge


def _sample(data: Source, noise: float, seed: int, n_halves: int, folder: Path) -> _Sample:
    """Draw the data of a noise and seed, and leave what is fitted to in files of the folder."""
    if not isinstance(data, Dataset):
        source = data(noise, seed)
    elif noise == 0.0:
        source = data
    else:
        source = replace(data, X=add_noise(data.X, noise, seed=seed))
    tables, held_out = [source.X], []
    if source.n_features >= FEWEST_COLUMNS:
        few = np.random.default_rng(seed).permutation(source.n_samples)
        X = source.X[np.sort(few[:MOST_ROWS_OF_HALVES])]
        for kept in metrics.column_halves(source.n_features, n_halves, seed) if n_halves else []:
            tables.append(X[:, kept])
            held_out.append(X[:, ~kept])
    files = [str(folder / f"X-{noise}-{seed}-{part}.npy") for part in range(len(tables))]
    for file, table in zip(files, tables, strict=True):
        np.save(file, table)
    return _Sample(source, files, held_out, Judge(source))


def _cells(
    plan: list[tuple[int, float, int]],
    samples: dict[tuple[float, int], _Sample],
    shared: bool,
) -> list[Cell]:
    """Fits to make: one for each entry of the plan, then those to halves of the columns."""
    cells: list[Cell] = []
    rest: list[tuple[int, str]] = []
    for number, (m, sd, seed) in enumerate(plan):
        sample = samples[sd, seed]
        affinity = _affinity(sample.data.X, m) if shared else "auto"
        cells.append(Cell(number, sample.files[0], m, seed, affinity))
        rest += [(number, file) for file in sample.files[1:]]
    for number, file in rest:
        cells.append(cells[number]._replace(number=len(cells), data_file=file, needs=number))
    return cells


def _blank(name: str, model: Any, at: tuple[int, float, int]) -> Row:
    """Row of a method without its measures."""
    peer = baselines.PEERS.get(name) if model is None else None
    title = name if peer is None else peer.title
    if name in IKD_METHODS:
        title = "IKD" if name == "ikd" else f"IKD {name}"
    settings = peer.settings if peer is not None else " ".join(repr(model).split())
    return Row(name, title, settings, *at)


def _add(found: Comparison, row: Row, sample: _Sample, outcomes: list[Outcome]) -> None:
    """Add the row of a fit and of those to halves of its columns, with all measures."""
    outcome, *halves = outcomes
    Z = outcome.coordinates
    measures: dict[str, Any] = _co_smoothing(sample, halves)
    curve = None
    if Z is not None:
        scores, curve = sample.judge.score(Z)
        measures |= scores | {"other_labels": sample.judge.score_others(Z)}
    row = replace(
        row,
        warmup_seconds=outcome.warmup_seconds,
        peak_mb=outcome.peak_mb,
        failure=outcome.failure,
        notes=outcome.notes,
        facts=outcome.facts,
        used=outcome.used,
        **measures,
    )
    if Z is not None:
        # What a failure took says nothing about the method.
        row = replace(
            row,
            seconds=outcome.seconds,
            cpu_seconds=outcome.cpu_seconds,
            extra_mb=outcome.extra_mb,
        )
    found.rows.append(row)
    found.embeddings.append(Z)
    found.spectra.append(outcome.eigenvalues)
    found.data.append(sample.data)
    found.curves.append(curve)


def _co_smoothing(sample: _Sample, halves: list[Outcome]) -> dict[str, float]:
    """How well the fits to halves of the columns predict the others."""
    scores = [
        metrics.held_out_r2(half.coordinates, held_out, min(10, held_out.shape[0] - 1))
        # None is fitted to where the whole table was too much.
        for half, held_out in zip(halves, sample.held_out, strict=False)
        if half.coordinates is not None
    ]
    mean, error, _ = metrics.summarise_splits(np.array(scores))
    return {"co_smoothing": mean, "co_smoothing_error": error}


def _affinity(X: NDArray[Any], n_components: int) -> str:
    """Affinity by which every strategy on a graph compares the rows of a table."""
    asked = Settings(
        n_components=min(n_components, len(X) - 1),
        strategy=Geodesic(),
        counts=X.dtype.kind in "iub",
    )
    with warnings.catch_warnings():
        # The fits warn of the same.
        warnings.simplefilter("ignore", UserWarning)
        try:
            return auto.resolve(X, asked, Stages())[0].affinity
        # A table that cannot be compared: every method says so in its row.
        except ValueError:
            return "auto"


def _versions() -> dict[str, str]:
    """Versions of Python and of what is installed of the libraries that may take part."""
    names = ["ikd_graph", "numpy", "scipy", "numba", "scikit-learn"]
    names += dict.fromkeys(peer.library for peer in baselines.PEERS.values() if peer.library)
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

    silent = not verbose or sys.stderr is None
    return tqdm(total=total, desc="compare", unit="fit", disable=silent or None)
