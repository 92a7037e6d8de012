"""One sigma² for all points, as Algorithm 1 has it, beside both standard deviations of each pair.

`python one_variance.py 3 100,200`: affine R2, mean over three latents, four kernels and three
data sets each, closed forms at the automatic threshold.
"""

import itertools
import sys
import warnings
from collections import defaultdict

import numpy as np

from ikd_graph import IKD, covariance, graph, kernels, metrics
from ikd_graph.datasets import FIXED_LATENTS, fixed_latent, gplvm_data

KERNELS = ("squared_exponential", "rational_quadratic", "gamma_exponential", "matern")


def main(n_trials, sizes):
    """Print a line for each number of columns, strategy and variance."""
    warnings.simplefilter("ignore")
    found = defaultdict(list)
    for n, name, kernel_name, t in itertools.product(
        sizes, FIXED_LATENTS, KERNELS, range(n_trials)
    ):
        kernel = type(kernels.get(kernel_name))(length_scale=0.5)
        rng = np.random.default_rng([8, t])
        data = gplvm_data(fixed_latent(name), n, kernel=kernel_name, seed=rng)
        rule = graph.Threshold(graph.auto_threshold(n, kernel), n_neighbors=6, prune=False)
        options = {"affinity": "precomputed", "kernel": kernel, "graph": rule, "refine": None}
        for variance, strategy in itertools.product(
            ("each", "mean"), ("eigen", "geodesic", "blockwise")
        ):
            corr = covariance.to_correlation(np.cov(data.X), variance=variance)
            points = IKD(3, strategy=strategy, **options).fit_transform(corr)
            found[n, strategy, variance].append(metrics.affine_r2(data.latent, points))
    for key, values in found.items():
        print(*key, f"{np.mean(values):.3f}")


if __name__ == "__main__":
    main(int(sys.argv[1]), [int(n) for n in sys.argv[2].split(",")])
