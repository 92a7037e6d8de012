"""Two-dimensional classics that a course study shows, with a picture of each embedding."""

import warnings
from functools import cache, partial

from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.manifold import trustworthiness
from sklearn.model_selection import StratifiedKFold, cross_val_score

from ikd_graph import metrics
from ikd_graph.plotting import plot

from ._lab import Experiment, fit, rows

METHODS = (
    "pca",
    "kernel_pca_rbf",
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

NEAR = {"affinity": "euclidean", "graph": 7}
"""Settings of our closed forms; the default has to choose all that by itself."""


def pictures(panels, y, path):
    """Small scatters; ``panels`` maps a title to coordinates and a caption."""
    points = {title: Z for title, (Z, _) in panels.items()}
    words = {title: caption for title, (_, caption) in panels.items()}
    ax = plot.axes(11.6, 2.9 * -(-len(panels) // 4))
    return plot.save(plot.small_multiples(points, y, captions=words, n_columns=4, ax=ax), path, 110)


def gallery(title, sample, measure, score, also, *, notes=(), **options):
    """Experiment on a shape; ``sample`` draws it from a seed, ``score`` measures an embedding."""
    draw_sample = cache(sample)

    @cache
    def embedded(method, seed):
        changes = NEAR if method in ("geodesic", "blockwise") else {}
        return fit(method, draw_sample(seed).X, 2, seed, **changes)

    def trial(method, seed, only=()):
        if only and method not in only:
            return []
        scores = partial(score, draw_sample(seed))
        return rows({"trial": seed}, {method: embedded(method, seed)}, scores)

    def draw(table, path):
        data = draw_sample(0)
        view = data.X[:, ::2] if data.X.shape[1] == 3 else data.X  # a roll is seen from its end
        panels = {"data": (view, "")}
        for t in table.trials:
            if t["trial"] == 0 and not t["failure"]:
                words = f"{measure} {t[measure]:.3f}"
                panels[t["method"]] = (embedded(t["method"], 0).coordinates, words)
        return pictures(panels, data.y, path)

    def methods(quick):
        return ("pca", "geodesic") if quick else METHODS

    def tasks(quick, n_trials):
        return [partial(trial, m, t) for t in range(n_trials) for m in methods(quick)]

    ours = (
        "geodesic and blockwise: affinity 'euclidean' (two or three columns have no correlation), "
        "7 neighbors; ikd: the default call"
    )
    return Experiment(
        title, ("method",), measure, tasks, draw, methods=methods, also=also,
        notes=(*notes, ours), **options,
    )  # fmt: skip


def sheet(data, Z):
    """How well the sheet of a roll is recovered."""
    return {
        "r2": metrics.affine_r2(data.latent, Z),
        "rigid": metrics.rigid_r2(data.latent, Z, scale=True),
        "trustworthiness": trustworthiness(data.latent, Z),
    }


def moons(data, Z):
    """How well a straight line and neighbors separate the moons."""
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    with warnings.catch_warnings():
        # An embedding on a line has collinear coordinates, which does no harm here.
        warnings.simplefilter("ignore", UserWarning)
        linear = cross_val_score(LinearDiscriminantAnalysis(), Z, data.y, cv=folds).mean()
    return {
        "linear": float(linear),
        "accuracy": float(metrics.knn_scores(Z, data.y).mean()),
        "trustworthiness": trustworthiness(data.X, Z),
    }
