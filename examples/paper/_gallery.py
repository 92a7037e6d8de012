"""Two-dimensional classics that a course study shows, with a picture of each embedding."""

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.manifold import trustworthiness
from sklearn.model_selection import StratifiedKFold, cross_val_score

from ikd_graph.show import plot
from ikd_graph.study import baselines, metrics

from . import _lab
from ._lab import Table, rows, run_trials

KERNEL_PCA = tuple(f"kernel_pca_{kernel}" for kernel in baselines.KERNEL_PCA)
METHODS = (
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

N_NEIGHBORS = 7


@dataclass(frozen=True)
class Gallery(Table):
    """A table with the embeddings of its first trial."""

    data: Any = None  # Dataset of the first trial
    panels: dict[str, np.ndarray] = field(default_factory=dict)  # embeddings by title
    scores: dict[str, float] = field(default_factory=dict)  # `measure` of each panel

    def draw(self, path):
        """Picture of the embeddings, beside the data."""
        X, y = self.data.X, self.data.y
        # A roll is seen from its end: its height, the second column, is left out.
        panels = {"data": X[:, ::2] if X.shape[1] == 3 else X, **self.panels}
        words = {name: f"{self.measure} {score:.3f}" for name, score in self.scores.items()}
        ax = plot.axes(11.6, 2.9 * -(-len(panels) // 4))
        return plot.save(plot.small_multiples(panels, y, captions=words, n_columns=4, ax=ax), path)


def gallery(table, samples, methods, *, seed=0, **how):
    """Run all methods on all samples and keep the pictures of the first.

    ``table`` is (name, title, measure, other measures, notes).
    """
    name, title, measure, also, notes = table
    tasks = [(data, method, seed + t, t) for method in methods for t, data in enumerate(samples)]
    trials = run_trials(study_trial, tasks, **how)
    shown = {t["method"]: t for t in trials if t["trial"] == 0 and not t["failure"]}
    family = [shown[kind] for kind in KERNEL_PCA if kind in shown]
    best = max(family, key=lambda t: t[measure])["method"] if family else None
    panels = {_title(kind): kind for kind in shown if kind == best or kind not in KERNEL_PCA}
    points = {words: shown[kind]["coordinates"] for words, kind in panels.items()}
    scores = {words: float(shown[kind][measure]) for words, kind in panels.items()}
    for trial in trials:
        trial.pop("coordinates", None)
    ours = (
        "IKD geodesic and blockwise: affinity 'euclidean' (two or three columns have no "
        f"correlation), {N_NEIGHBORS} neighbours; IKD: the default call"
    )
    return Gallery(
        name, title, trials, ("method",), measure, [*notes, ours], also=also,
        data=samples[0], panels=points, scores=scores,
    )  # fmt: skip


def study_trial(data, method, seed, trial):
    """Embed one sample in the plane and measure it; the coordinates come with it."""
    changes = {}
    # The default call has to find all that by itself.
    if method in _lab.OURS and method != "ikd":
        changes = {"affinity": "euclidean", "graph": N_NEIGHBORS}
    one = _lab.fit(method, data.X, 2, seed, **changes)
    measure = _moons if data.label_names else _sheet
    return rows(
        {"seed": seed, "trial": trial},
        {method: one},
        lambda one: {"coordinates": one.coordinates, **measure(data, one.coordinates, seed)},
    )


def _sheet(data, Z, seed):
    """How well the sheet of a roll is recovered."""
    return {
        "r2": metrics.affine_r2(data.latent, Z),
        "rigid": metrics.rigid_r2(data.latent, Z, scale=True),
        "trustworthiness": trustworthiness(data.latent, Z),
    }


def _moons(data, Z, seed):
    """How well a straight line and neighbours part the moons."""
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        # An embedding on a line has collinear coordinates, which does no harm here.
        warnings.simplefilter("ignore", UserWarning)
        linear = cross_val_score(LinearDiscriminantAnalysis(), Z, data.y, cv=folds).mean()
    return {
        "linear": float(linear),
        "accuracy": metrics.knn_accuracy(Z, data.y, seed=seed),
        "trustworthiness": trustworthiness(data.X, Z),
    }


def _title(method):
    """Title of a panel."""
    if method in baselines.PEERS:
        return baselines.PEERS[method].title
    return "IKD" if method == "ikd" else f"IKD {method}"
