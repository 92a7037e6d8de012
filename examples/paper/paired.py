"""Fixed latents on the very samples of the published trials (Fig. 4, squared exponential)."""

import csv
import os
from functools import cache, partial
from itertools import product
from pathlib import Path

import numpy as np

from ikd_graph import kernels, metrics

from ._draw import lattice
from ._lab import Experiment, fit, rows
from ._recovery import KERNELS, LENGTH_SCALE

HOME = "IKD_GRAPH_PUBLISHED"
LATENTS = {"hard": "0", "easy": "2"}
SIZES = (100, 200, 500, 1000, 2000, 5000, 10000)
METHODS = (
    "ikd",
    "ikd_kernel",
    "blockwise",
    "geodesic",
    "geodesic_stress",
    "paper_blockwise",
    "published_form",
)


def stored(name):
    """Path of a file with published trials."""
    path = Path(os.environ.get(HOME, ""), name)
    if not os.environ.get(HOME) or not path.is_file():
        raise FileNotFoundError(f"the published trials: {HOME} must name the folder of {name}")
    return path


@cache
def published():
    """R2 of each published trial by latent, N, method and trial."""
    with stored("gplvm_trials.csv").open(newline="") as file:
        return {
            (name, int(row["N"]), row["method"], int(row["trial"])): float(row["r2"])
            for row in csv.DictReader(file)
            for name, code in LATENTS.items()
            if (row["dataset"], row["kernel"]) == (code, "squared exponential")
        }


def trial(name, n_features, number, only=()):
    """Fit the sample of a published trial, which its number is the seed of."""
    with np.load(stored("latents.npz")) as latents:
        latent = latents[name]
    kernel = kernels.SquaredExponential(length_scale=LENGTH_SCALE)
    cov = kernel.covariance(((latent[:, None] - latent) ** 2).sum(axis=-1))
    rng = np.random.default_rng(number)
    X = rng.multivariate_normal(np.zeros(len(latent)), cov, size=n_features).T

    def measure(points):
        r2 = metrics.affine_r2(latent, points)
        theirs = {m: published()[name, n_features, m, number] for m in ("IKD", "GPLVM")}
        return {
            "above published ikd": r2 - theirs["IKD"],
            "above published gplvm": r2 - theirs["GPLVM"],
            "r2_affine": r2,
            "published ikd": theirs["IKD"],
        }

    fits = {m: fit(m, X, 3, number, kernel=kernel) for m in METHODS if not only or m in only}
    cell = {"latent": name, "kernel": KERNELS[0], "N": n_features, "trial": number}
    return rows(cell, fits, measure)


def tasks(quick, n_trials):
    """Published trials by latent and N."""
    sizes = (100,) if quick else SIZES
    return [partial(trial, *cell, t) for t, *cell in product(range(n_trials), LATENTS, sizes)]


EXPERIMENT = Experiment(
    __doc__,
    ("latent", "kernel", "N", "method"),
    "above published ikd",
    tasks,
    lattice("latent", "kernel", "N", "above published ikd", log=True),
    minutes=10.0,
    methods=lambda quick: METHODS,
    trials=20,
    also=("above published gplvm", "r2_affine", "published ikd"),
    notes=(
        "ikd is the default call, all others are given the kernel",
        "mean: R2 of ours less that of the published IKD on the same sample, se: error of that "
        "paired difference; T = 100, M = 3, no noise, the latents of the published runs",
        "trial t is default_rng(t).multivariate_normal of the kernel of the latent; on these two "
        "latents the public code gives the published R2 to two decimals in 36 of 36 trials, the "
        "medium latent and other kernels do not reproduce and are left out",
    ),
)
