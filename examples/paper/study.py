"""What the comparison study says beside its Table 1: settings, stress and dimensions."""

from functools import cache, partial

import numpy as np
from scipy.linalg import eigh, pinvh
from scipy.spatial.distance import pdist, squareform
from sklearn.decomposition import PCA

from ikd_graph import datasets, metrics
from ikd_graph.jobs.baselines import timed
from ikd_graph.plotting import colors, plot

from . import _peers
from ._boxes import q_dimension
from ._data import extended_yale_b
from ._lab import Experiment, Fit, column, cost, rows
from .faces import images

WIDTHS = {
    "eps = near / 10": (0.1, 0.0, 1),
    "eps = near / 4, as in faces": (0.25, 0.0, 1),
    "eps = near": (1.0, 0.0, 1),
    "eps = median": (0.0, 1.0, 1),
    "eps = median, t = 0": (0.0, 1.0, 0),
    "eps = 4 medians, t = 0": (0.0, 4.0, 0),
}
"""Widths of the kernel of a diffusion map, as factors of two distances, and steps of the walk."""


@cache
def table(name):
    """Rows of a data set: the faces of `faces`, the Swiss roll of 500 points, or a few digits."""
    if name == "Swiss roll":
        return datasets.swiss_roll(500).X
    return images(True).X[:200] if name == "digits" else images(False).X


def joined(X, k):
    """Diffusion map of the graph of ``k`` neighbors, all edges alike, in 12 coordinates."""
    gaps = squareform(pdist(X))
    weights = gaps <= np.partition(gaps, k, axis=1)[:, [k]]
    weights = (weights | weights.T).astype(float)
    root = np.sqrt(weights.sum(axis=1))
    size = len(X)
    values, vectors = eigh(weights / np.outer(root, root), subset_by_index=[size - 13, size - 1])
    return (vectors / root[:, None] * values)[:, -2::-1]


def diffusion(setting, quick):
    """5-NN accuracy of a diffusion map in 12 coordinates."""
    data = images(quick)
    X, y = (data.X[:300], data.y[:300]) if quick else (data.X, data.y)
    if setting == "whitened PCA":
        points = PCA(12, whiten=True, svd_solver="full").fit_transform(X)
    elif setting in WIDTHS:
        squared = squareform(pdist(X, "sqeuclidean"))
        near = np.median(np.partition(squared, 10, axis=1)[:, 10])
        of_near, of_median, steps = WIDTHS[setting]
        width = of_near * near + of_median * np.median(squared)
        points = _peers.diffusion_map(X, 12, time_steps=steps, epsilon=width)
    else:
        points = joined(X, int(setting.split()[0]))
    return float(metrics.knn_scores(points, y, 5, seed=0).mean())


def variance(setting, quick):
    """Fraction of the variance of faces in their first 100 principal components."""
    X = table("digits" if quick else "faces")
    if setting == "192 x 168 pixels" and not quick:
        X = extended_yale_b(image_shape=None).X
    X = (X - X.mean(axis=0)).astype(np.float64)
    if setting.endswith("one variance"):
        X /= np.maximum(X.std(axis=0), 1e-12)
    values = np.linalg.eigvalsh(X @ X.T)[::-1]
    return float(values[:100].sum() / values.sum())


@cache
def scaled(name, weighting):
    """Points of least stress from PCA by majorization, 200 steps, and the distances to be kept."""
    X = table(name)
    gaps = squareform(pdist(X))
    inverse = np.divide(1.0, gaps, out=np.zeros_like(gaps), where=gaps > 0.0)
    weights = inverse if weighting == "Sammon" else (gaps > 0.0).astype(float)
    solve = pinvh(np.diag(weights.sum(axis=1)) - weights)
    points = PCA(2 if X.shape[1] == 3 else 12, svd_solver="full").fit_transform(X)
    for _ in range(0 if weighting == "PCA" else 200):
        now = squareform(pdist(points))
        ratio = weights * np.divide(gaps, now, out=np.zeros_like(gaps), where=now > 0.0)
        points = solve @ (ratio.sum(axis=1)[:, None] * points - ratio @ points)
    return points, pdist(X)


def stress(name, measure, weighting, quick):
    """Normalized stress, or Sammon's, of points that minimize one of them, or of PCA."""
    points, gaps = scaled("digits" if quick and name == "faces" else name, weighting)
    left = (gaps - pdist(points)) ** 2
    if measure == "stress":
        return float(np.sqrt(left.sum() / (gaps**2).sum()))
    apart = gaps > 0.0
    return float((left[apart] / gaps[apart]).sum() / gaps.sum())


def dimension(name, setting, quick):
    """D_q of a data set."""
    return q_dimension(table("digits" if quick and name == "faces" else name), float(setting[-1]))


ASKED = {
    **{("diffusion map, 5-NN", "faces", s): partial(diffusion, s)
       for s in (*WIDTHS, "5 neighbors joined", "10 neighbors joined", "20 neighbors joined",
                 "whitened PCA")},
    **{("variance in 100 components", "faces", s): partial(variance, s)
       for s in ("192 x 168 pixels", "32 x 32 pixels", "32 x 32, pixels of one variance")},
    **{(kind, name, w): partial(stress, name, kind, w)
       for name in ("Swiss roll", "faces") for kind in ("stress", "Sammon's stress")
       for w in ("PCA", "stress", "Sammon")},
    **{("dimension", name, f"q = {q}"): partial(dimension, name, f"q = {q}")
       for name in ("Swiss roll", "faces") for q in (0, 1, 2)},
}  # fmt: skip
"""What is asked, of which data, by which setting."""


def ask(key, quick, only=()):
    """One line of the table, none of a setting that is not named."""
    if only and key[-1] not in only:
        return []
    done = timed(ASKED[key], quick)
    cell = dict(zip(("quantity", "data"), key, strict=False))
    return rows(cell, {key[-1]: Fit(done.value, cost(done))}, lambda value: {"value": value})


def draw(table, path):
    """Accuracies of diffusion maps beside that of the study."""
    told = {at[-1]: column(trials, "value").mean() for at, trials in table.cells().items()
            if at[0].startswith("diffusion")}  # fmt: skip
    ax = plot.axes(7.0, 3.6)
    ax.barh(range(len(told)), list(told.values()), 0.6, color=colors.ACCENT)
    ax.axvline(0.2795, color=colors.SECOND)
    ax.set_yticks(range(len(told)), list(told))
    ax.invert_yaxis()
    ax.set_xlabel("5-NN accuracy of a diffusion map; line: the study")
    plot.quiet(ax, "x")
    return plot.save(ax, path, 110)


EXPERIMENT = Experiment(
    __doc__,
    ("quantity", "data", "method"),
    "value",
    lambda quick, _: [partial(ask, key, quick) for key in ASKED],
    draw,
    minutes=3.0,
    methods=lambda quick: tuple(dict.fromkeys(key[-1] for key in ASKED)),
    notes=(
        "faces: as in faces.md; the study has 0.280 for diffusion maps, about 0.9 of the variance "
        "in 100 components, and an intrinsic dimension of 12; it names no setting of any of them",
        "near: median squared distance to the tenth nearest row; median: that of all squared "
        "distances; t: steps of the walk, 1 where none is named; joined: all edges of the graph "
        "of neighbors weigh 1",
        "stress: sqrt(sum (D - d)^2 / sum D^2), the study's formula; Sammon's: sum ((D - d)^2 / D) "
        "/ sum D; method: what the points minimize, in 2 coordinates (faces: 12)",
        "dimension: D_q by the fractions p_i of points within r of each point, q = 0 is the "
        "study's; of few points in many columns all are too low",
    ),
)
