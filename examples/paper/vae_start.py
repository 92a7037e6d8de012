"""A variational autoencoder from its own start and from ours."""

from functools import partial

import numpy as np

from ikd_graph import IKD, metrics
from ikd_graph.datasets import digits

from ._draw import lattice
from ._lab import Experiment, Fit, rows, timed
from ._mappings import mapped_data
from ._peers import vae_with_bound

METHODS = ("ikd", "vae", "vae_from_ikd")


def trial(name, quick, number, only=()):
    """Fit all to a table; the number is the seed of the autoencoder and of a simulated table."""
    n = 150 if quick else 1000
    if name == "digits":
        data = digits()
        X, y, dimension = data.X[: n if quick else None], data.y[: n if quick else None], 2
    else:
        data = mapped_data("gp", 100, n_samples=n, seed=np.random.default_rng([0, number]))
        X, dimension = data.X, 3
    ours = timed(IKD(dimension, random_state=number).fit_transform, X)
    bounds, fits = {}, {"ikd": ours}
    for method, start in (("vae", None), ("vae_from_ikd", ours.value)):
        if not only or method in only:
            fits[method] = timed(vae_with_bound, X, dimension, number, start)
            if not fits[method].failure:
                coordinates, bounds[method] = fits[method].value
                fits[method] = fits[method]._replace(value=coordinates)

    def score(method, points):
        if name == "digits":
            return metrics.knn_scores(points, y).mean()
        return metrics.affine_r2(data.latent, points)

    out = []
    for method, done in fits.items():
        if only and method not in only:
            continue
        if "No module named" in done.failure:
            raise ImportError(f"{method} needs torch, which is not installed (pip install torch)")
        cost = {key: getattr(done, key) for key in ("seconds", "cpu_seconds", "failure")}
        cell = {"data": name, "trial": number, "elbo": bounds.get(method, "")}
        out += rows(
            cell,
            {method: Fit(done.value, cost)},
            lambda points, method=method: {"score": float(score(method, points))},
        )
    return out


EXPERIMENT = Experiment(
    __doc__,
    ("data", "method"),
    "score",
    lambda quick, n_trials: [
        partial(trial, name, quick, t) for name in ("digits", "gp") for t in range(n_trials)
    ],
    lattice("data", "data", "trial", "score"),
    minutes=1.0,
    methods=lambda quick: METHODS,
    trials=3,
    also=("elbo",),
    notes=(
        "digits: M = 2, score is the accuracy of 5 neighbors (stratified, shuffled folds); gp: the "
        "Gaussian process of Fig. 2 at N = 100, T = 1000, M = 3, score is R2 after an affine "
        "alignment; elbo: evidence lower bound of a row, standardized columns, noise of variance 1",
        "vae_from_ikd: of its 200 passes the first 50 bring the encoder to the coordinates of ikd "
        "and the decoder from them to the rows",
    ),
)
