"""Is the diagnosis to be believed: the accuracy that it expects beside the one that is reached."""

from __future__ import annotations

import time
import warnings
from typing import NamedTuple

import numpy as np

from ...estimator import IKD
from ..datasets import fixed_latent, gplvm_data
from ..diagnosis import WEAK_R2, diagnose
from ..metrics import affine_r2
from ._table import Table, Trial, run_trials

LOW_R2 = 0.7
"""Every set whose R² falls below this has to be warned of."""

_LATENTS = ("hard", "medium", "easy", "square", "cloud", "curve")
_KERNELS = ("squared_exponential", "rational_quadratic", "matern")
# Square numbers, as the "easy" latent needs them, and even, as the "hard" one does.
_SIZES = (36, 64, 100)


class CalibrationTask(NamedTuple):
    """One data set of known truth."""

    number: int
    seed: int
    n_draws: int


def diagnosis_calibration(
    *,
    n_trials: int = 40,
    n_draws: int = 3,
    seed: int = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Table:
    """Set the accuracy that a diagnosis expects beside the one reached, on data of known truth.

    Parameters
    ----------
    n_trials : int
        Number of data sets.
    n_draws : int
        Draws behind each expectation.
    seed : int
        Seed that the data sets follow from.
    n_jobs : int or None
        Number of processes.
    verbose : int
        1 shows a progress bar on a terminal.

    Returns
    -------
    Table
        A row for each set: expected R², R² reached, whether it was warned of. The notes give the
        correlation of the two and count warnings.
    """
    tasks = [CalibrationTask(number, seed, n_draws) for number in range(n_trials)]
    trials = run_trials(calibration_trial, tasks, n_jobs=n_jobs, verbose=verbose)
    notes = [
        f"seed {seed}; latents {', '.join(_LATENTS)} of 36 to 100 points, 20 to 500 measurements, "
        "noise of standard deviation 0 to 1.5 beside a signal of 1, kernels as named (length-scale "
        "1/2), solved as the diagnosis suggests",
        f"R² after affine alignment; expected: see `diagnose`, with {n_draws} draws",
        *say_calibration(trials),
    ]
    by = ("set", "latent", "kernel", "M", "T", "N", "noise")
    title = "What a diagnosis expects and what is reached"
    also = ("reached", "warned")
    return Table("diagnosis_calibration", title, trials, by, "expected", notes, also=also)


def say_calibration(trials: list[Trial]) -> list[str]:
    """Correlation of expected and reached R², and what was warned of.

    Parameters
    ----------
    trials : list of dict
        With ``expected``, ``reached``, ``warned`` and ``warned_r2``.

    Returns
    -------
    list of str
        Sentences.

    Examples
    --------
    >>> pairs = [(0.1, 0.2, 1.0), (0.5, 0.6, 1.0), (0.9, 1.0, 0.0)]
    >>> made = [{"expected": e, "reached": r, "warned": w, "warned_r2": w} for e, r, w in pairs]
    >>> say_calibration(made)[0]
    'correlation of expected and reached R²: 1.000 over 3 sets; mean error -0.100, mean size 0.100'
    """
    expected = np.array([t["expected"] for t in trials], dtype=np.float64)
    reached = np.array([t["reached"] for t in trials], dtype=np.float64)
    good = np.isfinite(expected) & np.isfinite(reached)
    gap = (expected - reached)[good]
    varied = good.sum() > 1 and np.ptp(expected[good]) > 0.0 and np.ptp(reached[good]) > 0.0
    link = np.corrcoef(expected[good], reached[good])[0, 1] if varied else np.nan
    said = [
        f"correlation of expected and reached R²: {link:.3f} over {gap.size} sets; mean error "
        f"{gap.mean():+.3f}, mean size {np.abs(gap).mean():.3f}"
    ]
    low = good & (reached < LOW_R2)
    for name, what in (("warned", "any warning"), ("warned_r2", "a low expected R²")):
        warned = np.array([t[name] for t in trials]) > 0.0
        said.append(
            f"warned by {what}: {np.sum(low & warned)} of {low.sum()} sets below {LOW_R2:g}; "
            f"{np.sum(good & ~low & warned)} of {np.sum(good & ~low)} above it"
        )
    return said


def calibration_trial(task: CalibrationTask) -> list[Trial]:
    """Draw one data set, diagnose it, and embed it.

    Parameters
    ----------
    task : CalibrationTask
        Which one.

    Returns
    -------
    list of dict
        One trial.
    """
    rng = np.random.default_rng([task.seed, task.number])
    kind, kernel = str(rng.choice(_LATENTS)), str(rng.choice(_KERNELS))
    n_points = int(rng.choice(_SIZES))
    n_observed = round(float(np.exp(rng.uniform(np.log(20.0), np.log(500.0)))))
    noise = round(float(rng.uniform(0.0, 1.5)), 2)
    latent = _latent(kind, n_points, rng)
    data = gplvm_data(latent, n_observed, kernel=kernel, noise=noise, seed=rng)
    n_components = latent.shape[1]
    trial: Trial = {
        "set": task.number, "latent": kind, "kernel": kernel, "M": n_components, "T": n_points,
        "N": n_observed, "noise": noise, "seed": task.seed, "failure": "",
    }  # fmt: skip
    begin = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = diagnose(data.X, n_components, n_draws=task.n_draws)
        trial["seconds"] = time.perf_counter() - begin
        model = IKD(n_components, **found.parameters)
        reached = affine_r2(latent, model.fit_transform(data.X))
    return [
        {
            **trial,
            "expected": found.predicted_r2,
            "spread": found.spread_r2,
            "reached": reached,
            "warned": float(bool(found.warnings)),
            "warned_r2": float(found.predicted_r2 - found.spread_r2 < WEAK_R2),
            "noise_share": found.noise_share,
            "mean_degree": found.mean_degree,
            "share_above_five": found.share_above_five,
        }
    ]


def _latent(kind: str, n_points: int, rng: np.random.Generator) -> np.ndarray:
    """A latent of a kind: one of the paper's, or a shape that is drawn."""
    if kind == "square":
        return rng.uniform(0.0, 2.0, size=(n_points, 2))
    if kind == "cloud":
        return rng.normal(scale=0.6, size=(n_points, 2))
    if kind == "curve":
        return np.sort(rng.uniform(0.0, 5.0, size=n_points))[:, None]
    return fixed_latent(kind, n_points, seed=rng)
