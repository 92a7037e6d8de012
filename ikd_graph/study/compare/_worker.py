"""One method in a process of its own: what that process does.

The folder holds ``job.pkl`` (a ``Job``). For each cell the worker leaves ``result-<number>.pkl``,
written whole, so that whoever waits can read it as soon as it is there.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..._files import write_whole
from ...estimator import IKD
from .. import baselines
from ..settings import reasons, say_settings, used_parameters
from ..timing import timed

WARM_UP_POINTS = 150
"""Number of points of the first, untimed call: enough to reach all that has to be compiled."""


class Cell(NamedTuple):
    """One fit to make."""

    number: int
    data_file: str  # .npy of X, (n, n_features)
    n_components: int
    seed: int
    affinity: str = "auto"  # that all strategies of ours share
    needs: int | None = None  # number of the cell without which this one is not wanted


class Job(NamedTuple):
    """What one process does: a method, on one cell after the other."""

    method: str  # a peer's name, or "" for an estimator
    estimator: Any  # unfitted, with fit_transform; None for a peer
    cells: list[Cell]
    shared: bool = False  # whether it takes the affinity of the cells


class Outcome(NamedTuple):
    """What came of one cell."""

    cell: Cell
    coordinates: NDArray[np.float64] | None
    eigenvalues: NDArray[np.float64] | None
    facts: dict[str, str]  # what the estimator chose, in words
    used: dict[str, Any]  # parameters of the estimator with nothing left to choose
    seconds: float
    cpu_seconds: float
    peak_mb: float  # of the whole process during the fit, libraries included
    extra_mb: float  # what the fit added to it
    warmup_seconds: float  # a first call on a few points: imports and compilation
    failure: str
    notes: tuple[str, ...]


def peak_memory_mb() -> float:
    """Largest resident size of this process, in MiB; NaN where the system cannot tell.

    Returns
    -------
    float
        MiB.
    """
    # On Linux getrusage starts from the peak of the process that started this one, for good.
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 2**10
    try:
        import resource
    except ImportError:
        return float("nan")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # macOS counts bytes, others KiB.
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10


def forget_peak() -> None:
    """Let `peak_memory_mb` start again from what is held now, where the system can (Linux)."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def run_cell(job: Job, cell: Cell, X: NDArray[np.float64], warmup_seconds: float) -> Outcome:
    """Fit one cell and measure it.

    Parameters
    ----------
    job : Job
        The method.
    cell : Cell
        What to fit.
    X : (n, n_features) float64
        The data.
    warmup_seconds : float
        What the first call took, to be passed on.

    Returns
    -------
    Outcome
        The embedding, or the reason why there is none.
    """
    # Else the peak of imports and compilation would hide that of the fit.
    forget_peak()
    before = peak_memory_mb()
    done: Any
    if job.estimator is None:
        done = baselines.embed(job.method, X, cell.n_components, cell.seed)
        fitted, coordinates = None, done.coordinates
    else:
        done = timed(_fit, job, cell, X)
        fitted, coordinates = done.value or (None, None)
    peak = peak_memory_mb()
    eigenvalues = getattr(fitted, "eigenvalues_", None)
    facts, used = _told(fitted)
    return Outcome(
        cell,
        coordinates,
        eigenvalues,
        facts,
        used,
        done.seconds,
        done.cpu_seconds,
        peak,
        peak - before,
        warmup_seconds,
        done.failure,
        done.notes,
    )


def _told(fitted: Any) -> tuple[dict[str, str], dict[str, Any]]:
    """What one of our models chose, in words and as parameters."""
    if not isinstance(fitted, IKD):
        return {}, {}
    facts = say_settings(fitted)
    for name, text in reasons(fitted).items():
        facts[name] = f"{facts[name]}: {text}" if name in facts else text
    return facts, used_parameters(fitted)


def _fit(job: Job, cell: Cell, X: NDArray[np.float64]) -> tuple[Any, NDArray[np.float64]]:
    """Fitted copy of an estimator, and its embedding."""
    model = _configured(job.estimator, cell)
    if job.shared:
        model.set_params(affinity=cell.affinity)
    return model, np.asarray(model.fit_transform(X), dtype=np.float64)


def _configured(estimator: Any, cell: Cell) -> Any:
    """Copy of an estimator with the cell's dimension and seed, where it has such parameters."""
    from sklearn.base import clone

    model = clone(estimator)
    known = model.get_params()
    wanted = {"n_components": cell.n_components, "random_state": cell.seed}
    return model.set_params(**{key: value for key, value in wanted.items() if key in known})


def end_with_parent() -> None:
    """End this process, and what it started, as soon as its standard input ends.

    That is a pipe from the process that waits for the results: without it nobody would.
    """
    pipe = os.dup(0)
    # What is fitted must not read it.
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)

    def wait() -> None:
        while os.read(pipe, 1):
            pass
        # A worker leads a group of its own, unless it was started by hand.
        if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
            os.killpg(0, signal.SIGKILL)
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def main(folder: Path) -> None:
    """Work through the job in a folder.

    Parameters
    ----------
    folder : Path
        Holds ``job.pkl``; receives the results.
    """
    job: Job = pickle.loads((folder / "job.pkl").read_bytes())
    warmup = None
    for cell in job.cells:
        X = np.load(cell.data_file)
        if warmup is None:
            begin = time.perf_counter()
            few = X[:: max(X.shape[0] // WARM_UP_POINTS, 1)][:WARM_UP_POINTS]
            run_cell(job, cell._replace(n_components=min(cell.n_components, 2)), few, 0.0)
            warmup = time.perf_counter() - begin
        outcome = run_cell(job, cell, X, warmup)
        write_whole(folder / f"result-{cell.number}.pkl", pickle.dumps(outcome))
