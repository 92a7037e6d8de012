"""Hard cells for likelihood refinement: affine R2 and processor seconds.

python benchmarks/battery/likelihood_cells.py [first] [last] [restarts]
"""

import sys
import time

import numpy as np
from scipy.spatial.distance import cdist

from ikd_graph import covariance, eigen, geodesics, gplvm, graph, kernels, refine

SHAPES = ("trefoil", "eight", "walk", "blob")
KERNELS = ("squared_exponential", "matern", "gamma_exponential")


def cell(index):
    """Latent, rows and kernel of one cell."""
    rng = np.random.default_rng([33, index])
    shape, kernel = SHAPES[index % 4], kernels.get(KERNELS[index // 4 % 3])
    n, n_observed = int(rng.choice([100, 200])), int(rng.choice([100, 200, 1000]))
    noise = float(rng.choice([0.0, 0.3, 1.0]))
    t = np.sort(rng.uniform(0.0, 2.0 * np.pi, n))
    if shape == "trefoil":
        x, y = np.sin(t) + 2.0 * np.sin(2.0 * t), np.cos(t) - 2.0 * np.cos(2.0 * t)
        latent = 0.7 * np.c_[x, y, -np.sin(3.0 * t)]
    elif shape == "eight":
        latent = np.c_[3.0 * np.sin(t), 3.0 * np.sin(t) * np.cos(t)]
    elif shape == "walk":
        steps = rng.standard_normal((n, 2)).cumsum(axis=0)
        latent = 6.0 * (steps - steps.mean(axis=0)) / np.ptp(steps, axis=0).max()
    else:
        latent = rng.standard_normal((n, 2 if rng.random() < 0.5 else 3)) * 1.3
    latent = latent * rng.uniform(0.8, 1.3)
    cov = kernel.covariance(cdist(latent, latent, "sqeuclidean")) + 1e-9 * np.eye(n)
    rows = np.linalg.cholesky(cov) @ rng.standard_normal((n, n_observed))
    return latent, rows + noise * rng.standard_normal((n, n_observed)), kernel


def affine_r2(true, estimate):
    """Fraction of the true latent's variance that an affine map of the estimate explains."""
    true, estimate = true - true.mean(axis=0), estimate - estimate.mean(axis=0)
    residual = true - estimate @ np.linalg.lstsq(estimate, true, rcond=None)[0]
    return 1.0 - np.sum(residual**2) / np.sum(true**2)


def solve(latent, rows, kernel, restarts):
    """R2 after stress and after the likelihood, with processor seconds of all together."""
    begin = time.process_time()
    corr = covariance.to_correlation(gplvm.sample_covariance(rows))
    near = graph.join(graph.neighbors(corr, 6), corr).graph
    g = graph.union(graph.threshold(corr, graph.auto_threshold(rows.shape[1])), near)
    squares = geodesics.best_paths(g, kernel, "distance").sq_distances
    start = eigen.coordinates(squares, latent.shape[1]).coordinates
    start = refine.stress(start, g, kernel, rows.shape[1]).latent
    end = refine.Likelihood(restarts=restarts).run(start, rows, kernel).latent
    seconds = time.process_time() - begin
    return affine_r2(latent, start), affine_r2(latent, end), seconds


if __name__ == "__main__":
    first, last, restarts = (
        int(value) for value in (*sys.argv[1:], *("36", "72", "4")[len(sys.argv) - 1 :])
    )
    results = []
    for index in range(first, last):
        results.append(solve(*cell(index), restarts))
        print(index, *(f"{value:.3f}" for value in results[-1]))
    print("mean", *(f"{value:.3f}" for value in np.mean(results, axis=0)))
