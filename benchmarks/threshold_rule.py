"""The automatic threshold against five standard errors: `python threshold_rule.py 9 25 out.csv`.

Three latents, four kernels, seeds from the first number to the second in steps of two; every
seed, N, noise, latent, kernel and rule is a line with the affine R2 of blockwise and geodesic
solutions without refinement.
"""

import csv
import itertools
import sys
import warnings

import numpy as np

from ikd_graph import IKD, covariance, graph, kernels, metrics
from ikd_graph.datasets import FIXED_LATENTS, fixed_latent, gplvm_data

KERNELS = ("squared_exponential", "rational_quadratic", "gamma_exponential", "matern")
SIZES = (200, 500, 1000, 2000, 5000, 10_000)
NOISE = (0.0, 0.6, 1.0)


def thresholds(X, kernel):
    """Thresholds by rule."""
    n = X.shape[1]
    plain = graph.auto_threshold(n)
    noise = covariance.noise_fraction(X, n)
    return {
        "five errors": plain,
        "Eq. 11": graph.auto_threshold(n, kernel),
        "Eq. 11, noise": graph.auto_threshold(n, kernel, noise),
    }


def scores(data, kernel, s0):
    """Affine R2 of the blockwise and the geodesic solution."""
    rule = graph.Threshold(s0, n_neighbors=6, prune=False)
    options = {"kernel": kernel, "graph": rule, "affinity": "correlation", "refine": None}
    return [
        metrics.affine_r2(data.latent, IKD(3, strategy=strategy, **options).fit_transform(data.X))
        for strategy in ("blockwise", "geodesic")
    ]


def main(first, stop, path, sizes=SIZES, noises=NOISE):
    """Write a line for each fit."""
    warnings.simplefilter("ignore")
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["seed", "noise", "N", "latent", "kernel", "rule", "s0", "block", "geodesic"])
        cells = itertools.product(range(first, stop, 2), noises, sizes, FIXED_LATENTS, KERNELS)
        for seed, noise, n, name, kernel_name in cells:
            kernel = type(kernels.get(kernel_name))(length_scale=0.5)
            rng = np.random.default_rng([7, seed])
            data = gplvm_data(fixed_latent(name), n, kernel=kernel_name, noise=noise, seed=rng)
            done = {}
            for rule, s0 in thresholds(data.X, kernel).items():
                done[s0] = done.get(s0) or scores(data, kernel, s0)
                out.writerow([seed, noise, n, name, kernel_name, rule, s0, *done[s0]])


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
