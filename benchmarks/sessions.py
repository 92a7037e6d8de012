"""Sessions of rows of their own that share columns with their neighbors, against the whole table.

    python benchmarks/sessions.py FIRST LAST [SESSIONS SHARED]

prints for three shapes the median affine R2 of the truth over the seeds, that of the table without
holes, seeds that are worse by .1 and how many of them name an open joint, and processor times.
"""

import sys
import time
import warnings

import numpy as np

from ikd_graph import IKD
from ikd_graph.metrics import affine_r2

SHAPES = ("sheet", "ring", "curve")


def latent(shape, n, rng):
    """Points of a shape, in random order."""
    if shape == "sheet":
        return rng.uniform(size=(n, 2)) * [4.0, 2.5]
    if shape == "ring":
        angle, radius = 2.0 * np.pi * rng.uniform(size=n), 1.6 + 0.15 * rng.normal(size=n)
        return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    t = np.sort(rng.uniform(size=n))
    return np.column_stack([4.0 * t, np.sin(8.0 * t)])


def table(shape, seed, n_sessions=5, shared=40, rows=40, width=100, noise=0.5):
    """Return the table with holes, without, and the latent."""
    rng = np.random.default_rng(seed)
    n, step = n_sessions * rows, width - shared
    z = latent(shape, n, rng)[rng.permutation(n)]
    cov = np.exp(-0.5 * ((z[:, None] - z) ** 2).sum(axis=-1)) + 1e-9 * np.eye(n)
    whole = np.linalg.cholesky(cov) @ rng.normal(size=(n, width + step * (n_sessions - 1)))
    whole += noise * rng.normal(size=whole.shape)
    X = np.full(whole.shape, np.nan)
    for k in range(n_sessions):
        part = slice(k * rows, (k + 1) * rows), slice(k * step, k * step + width)
        X[part] = whole[part]
    return X, whole, z


def measure(shape, seed, n_sessions, shared):
    """R2 with holes, and without; open joints; seconds."""
    X, whole, z = table(shape, seed, n_sessions, shared)
    start = time.process_time()
    model = IKD(2, missing="pairwise").fit(X)
    seconds = time.process_time() - start
    n_open = 0 if model.joints_ is None else model.joints_.n_open
    complete = affine_r2(z, IKD(2).fit(whole).embedding_)
    return affine_r2(z, model.embedding_), complete, n_open, seconds


def main(first, last, n_sessions=5, shared=40):
    """Print a line for each shape."""
    warnings.simplefilter("ignore")
    for shape in SHAPES:
        found = [measure(shape, seed, n_sessions, shared) for seed in range(first, last)]
        r2, complete, n_open, seconds = (np.array(column) for column in zip(*found, strict=True))
        worse = r2 < complete - 0.1
        print(
            f"{shape}: R2 {np.median(r2):.3f} ({r2.min():.2f} to {r2.max():.2f}), "
            f"complete {np.median(complete):.3f}; worse by .1: {worse.sum()} of {r2.size}, named "
            f"{(n_open[worse] > 0).sum()}; named without: {(n_open[~worse] > 0).sum()}; "
            f"{np.median(seconds):.2f} s, at most {seconds.max():.2f} s",
            flush=True,
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
