"""Two classics that a course study of eigen-decomposition methods shows: half moons, Swiss roll."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import baselines, datasets, metrics
from ..datasets import Dataset
from ._methods import fit
from ._table import Table, Trial, run_trials

Floats = NDArray[np.float64]

KERNEL_PCA = tuple(f"kernel_pca_{kernel}" for kernel in baselines.KERNEL_PCA)

STUDY_METHODS = (
    "pca",
    *KERNEL_PCA,
    "metric_mds",
    "isomap",
    "lle",
    "diffusion_maps",
    "tsne",
    "geodesic",
    "blockwise",
    "ikd",
)
"""The methods of the study; the last three are ours."""

_NEIGHBORS = 7


@dataclass(frozen=True)
class Gallery(Table):
    """A table with the embeddings of its first trial, one picture for each method.

    Attributes
    ----------
    data : Dataset or None
        What was embedded in the first trial.
    panels : dict of str to (n, 2) float64
        Embedding of each method that worked, by its title; of kernel PCA the best kernel.
    scores : dict of str to float
        ``measure`` of each panel.
    """

    data: Dataset | None = None
    panels: dict[str, Floats] = field(default_factory=dict)
    scores: dict[str, float] = field(default_factory=dict)


class StudyTask(NamedTuple):
    """One method on one draw."""

    data: Dataset
    method: str
    seed: int
    trial: int


def half_moons(
    methods: Sequence[str] = STUDY_METHODS,
    *,
    n_samples: int = 100,
    noise: float = 0.05,
    n_trials: int = 5,
    seed: int = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Gallery:
    """Embed two half moons with many methods, a picture of each.

    Parameters
    ----------
    methods : sequence of str
        Names in ``METHODS``.
    n_samples : int
        Number of points.
    noise : float
        Standard deviation of the noise.
    n_trials, seed : int
        Number of draws, and the seed of the first.
    n_jobs : int or None
        Number of processes.
    verbose : int
        1 shows a progress bar on a terminal.

    Returns
    -------
    Gallery
        How well a straight line parts the moons, 5-NN accuracy, trustworthiness.
    """
    draws = [datasets.half_moons(n_samples, noise=noise, seed=seed + t) for t in range(n_trials)]
    title = f"Half moons, {n_samples} points"
    also = ("accuracy", "trustworthiness")
    notes = [
        f"scikit-learn's make_moons, noise {noise:g}; the table sums up {n_trials} draws, the "
        "picture shows the first",
        "linear: accuracy of a linear discriminant in the plane, accuracy: of 5 neighbours, both "
        "in a stratified and shuffled 5-fold cross-validation",
    ]
    shape = ("half_moons", title, "linear", also, notes)
    return _gallery(shape, draws, methods, seed, n_jobs, verbose)


def swiss_roll(
    methods: Sequence[str] = STUDY_METHODS,
    *,
    n_samples: int = 500,
    n_trials: int = 5,
    seed: int = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Gallery:
    """Unroll a Swiss roll with many methods, a picture of each.

    Parameters
    ----------
    methods : sequence of str
        Names in ``METHODS``.
    n_samples : int
        Number of points.
    n_trials, seed : int
        Number of draws, and the seed of the first.
    n_jobs : int or None
        Number of processes.
    verbose : int
        1 shows a progress bar on a terminal.

    Returns
    -------
    Gallery
        R² of the sheet after affine and after rigid alignment, trustworthiness against the sheet.
    """
    draws = [datasets.swiss_roll(n_samples, seed=seed + t) for t in range(n_trials)]
    title = f"Swiss roll, {n_samples} points"
    notes = [
        f"scikit-learn's make_swiss_roll without noise; the table sums up {n_trials} draws, the "
        "picture shows the first",
        "r2: of the sheet (length along the roll, height) after affine alignment; rigid: after a "
        "rigid one with one scale",
    ]
    shape = ("swiss_roll", title, "r2", ("rigid", "trustworthiness"), notes)
    return _gallery(shape, draws, methods, seed, n_jobs, verbose)


def study_trial(task: StudyTask) -> list[Trial]:
    """Embed one draw in the plane and measure it.

    Parameters
    ----------
    task : StudyTask
        What to embed and how.

    Returns
    -------
    list of dict
        One trial, the coordinates with it.
    """
    data = task.data
    own = task.method not in baselines.PEERS
    changes: dict[str, Any] = {}
    # The default call has to find all that by itself.
    if own and task.method != "ikd":
        changes = {"affinity": "euclidean", "threshold": None, "n_neighbors": _NEIGHBORS}
    found = fit(task.method, data.X, 2, task.seed, **changes)
    Z = found.pop("coordinates")
    trial: Trial = {"method": task.method, "seed": task.seed, "trial": task.trial, **found}
    trial["coordinates"] = Z
    wanted = ("linear", "accuracy") if data.label_names else ("r2", "rigid")
    trial |= dict.fromkeys((*wanted, "trustworthiness"), np.nan)
    if Z is None:
        return [trial]
    if data.label_names:
        trial["linear"] = _linear_accuracy(Z, np.asarray(data.y), task.seed)
        trial["accuracy"] = metrics.knn_accuracy(Z, np.asarray(data.y), seed=task.seed)
        trial["trustworthiness"] = metrics.trustworthiness(data.X, Z)
    else:
        sheet = np.asarray(data.latent)
        trial["r2"], trial["rigid"] = (
            metrics.affine_r2(sheet, Z),
            metrics.rigid_r2(sheet, Z, scale=True),
        )
        trial["trustworthiness"] = metrics.trustworthiness(sheet, Z)
    return [trial]


def _gallery(
    shape: tuple[str, str, str, tuple[str, ...], list[str]],
    draws: list[Dataset],
    methods: Sequence[str],
    seed: int,
    n_jobs: int | None,
    verbose: int,
) -> Gallery:
    """Run all methods on all draws and keep the pictures of the first."""
    name, title, measure, also, notes = shape
    tasks = [
        StudyTask(data, method, seed + t, t) for method in methods for t, data in enumerate(draws)
    ]
    trials = run_trials(study_trial, tasks, n_jobs=n_jobs, verbose=verbose)
    shown = [t for t in trials if t["trial"] == 0 and t["coordinates"] is not None]
    panels, scores = _panels(shown, measure)
    for trial in trials:
        del trial["coordinates"]
    ours = (
        f"IKD geodesic and blockwise: affinity 'euclidean' (two or three columns have no "
        f"correlation), {_NEIGHBORS} neighbours; IKD: the default call"
    )
    return Gallery(
        name, title, trials, ("method",), measure, [*notes, ours], also=also,
        data=draws[0], panels=panels, scores=scores,
    )  # fmt: skip


def _panels(shown: list[Trial], measure: str) -> tuple[dict[str, Floats], dict[str, float]]:
    """Embedding and score of each method by title, one panel for the best kernel PCA."""
    family = [t for t in shown if t["method"] in KERNEL_PCA]
    best = max(family, key=lambda t: t[measure]) if family else None
    panels, scores = {}, {}
    for trial in shown:
        name = trial["method"]
        if name in KERNEL_PCA and trial is not best:
            continue
        title = baselines.PEERS[name].title if name in baselines.PEERS else f"IKD {name}"
        title = "IKD" if name == "ikd" else title
        panels[title], scores[title] = trial["coordinates"], float(trial[measure])
    return panels, scores


def _linear_accuracy(Z: Floats, y: NDArray[Any], seed: int) -> float:
    """Accuracy of a linear discriminant in a shuffled stratified 5-fold cross-validation."""
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.model_selection import StratifiedKFold, cross_val_score

    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        # An embedding on a line has collinear coordinates, which does no harm here.
        warnings.simplefilter("ignore", UserWarning)
        return float(cross_val_score(LinearDiscriminantAnalysis(), Z, y, cv=folds).mean())
