"""Recovery of latents with and without gaps by the likelihood: ``python benchmarks/open_gaps.py``.

Six shapes, three numbers of columns and noises, three seeds each; the affine R² of the truth. Run
at two revisions it says what a change of the search does
(docs/decisions/004-likelihood-by-restarts.md).
"""

import itertools
import warnings

import numpy as np

from ikd_graph import IKD, metrics

N_POINTS = 150
TABLES = ((100, 0.5), (100, 1.5), (400, 1.0))  # columns, standard deviation of the noise


def shape(kind, rng):
    """Points of a shape in length-scales."""
    t = np.sort(rng.uniform(size=N_POINTS))
    if kind == "spiral":
        return 3.0 * t[:, None] * np.c_[np.cos(9.0 * t), np.sin(9.0 * t)]
    if kind == "ring":
        return 1.5 * np.c_[np.cos(2.0 * np.pi * t), np.sin(2.0 * np.pi * t)]
    if kind == "clusters":
        centers = 2.2 * rng.standard_normal((4, 2))
        return 0.3 * rng.standard_normal((N_POINTS, 2)) + centers[rng.integers(4, size=N_POINTS)]
    if kind == "walk":
        return 0.15 * rng.standard_normal((N_POINTS, 2)).cumsum(axis=0)
    half = {"plane": 1.5, "wide": 4.0}[kind]
    return rng.uniform(-half, half, (N_POINTS, 2))


def recovered(kind, n_columns, noise, seed):
    """Affine R² of the truth."""
    rng = np.random.default_rng(1000 + seed)
    z = shape(kind, rng)
    cov = np.exp(-0.5 * ((z[:, None] - z) ** 2).sum(axis=-1)) + 1e-8 * np.eye(N_POINTS)
    rows = np.linalg.cholesky(cov) @ rng.standard_normal((N_POINTS, n_columns))
    rows += noise * rng.standard_normal(rows.shape)
    model = IKD(2, affinity="correlation", refine="likelihood").fit(rows)
    return metrics.affine_r2(z, model.embedding_)


def main():
    """Print a row for each shape."""
    warnings.simplefilter("ignore")
    print("| shape | mean R² | worst |\n|---|---|---|")
    every = []
    for kind in ("spiral", "plane", "ring", "clusters", "walk", "wide"):
        found = [recovered(kind, *table, k) for table, k in itertools.product(TABLES, range(3))]
        every += found
        print(f"| {kind} | {np.mean(found):.3f} | {min(found):.3f} |", flush=True)
    print(f"| all {len(every)} | {np.mean(every):.4f} | {min(every):.3f} |")


if __name__ == "__main__":
    main()
