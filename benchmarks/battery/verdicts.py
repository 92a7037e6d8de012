"""Are the verdicts of `ikd_graph.compare` right? 200 simulated tables whose truth is known.

    OMP_NUM_THREADS=1 python benchmarks/battery/verdicts.py develop
    OMP_NUM_THREADS=1 python benchmarks/battery/verdicts.py confirm

Each half has 100 tables of 100 points: a cloud, closed curves or a bent sheet, seen through a
squared exponential or a Matern kernel in 20 to 1000 columns with noise of 0 to 1.5 standard
deviations. `compare` is not told the truth, which then says which strategy was better: on the table
as it is, and in the mean of four draws with noise added.
"""

import sys
import time
import warnings

import numpy as np

import ikd_graph
from ikd_graph import kernels
from ikd_graph.datasets import Dataset

PAIRS = (("blockwise", "geodesic"), ("paper_blockwise", "paper_geodesic"))
SHAPES = ("cloud", "curve", "sheet")
KERNELS = ("squared_exponential", "matern")
LEVELS = (0.0, 0.5)
HALVES = {"develop": range(100), "confirm": range(100, 200)}


def latent_of(shape, n_points, rng):
    """Latent points (n_points, 2 or 3)."""
    if shape == "cloud":
        return rng.normal(size=(n_points, 2)) * [1.6, 1.0]
    if shape == "curve":
        waves = np.outer(np.sort(rng.uniform(0.0, 2.0 * np.pi, n_points)), np.arange(1, 4))
        fractions = rng.normal(size=(2, 2, 3)) * [2.0, 1.0, 0.6]
        return np.cos(waves) @ fractions[0].T + np.sin(waves) @ fractions[1].T
    across, along = rng.uniform(-1.0, 1.0, (2, n_points))
    return np.column_stack([2.0 * across, 1.2 * along, np.sin(2.2 * across)])


def table(seed, n_points=100):
    """Rows (n_points, N), their latent, N and the noise."""
    rng = np.random.default_rng([34, seed])
    latent = latent_of(SHAPES[seed % 3], n_points, rng)
    kernel = kernels.get(KERNELS[seed // 3 % 2])
    distances = ((latent[:, None] - latent) ** 2).sum(axis=-1)
    root = np.linalg.cholesky(kernel.covariance(distances) + 1e-8 * np.eye(n_points))
    width = int(rng.choice([20, 50, 100, 200, 500, 1000]))
    noise = float(rng.choice([0.0, 0.1, 0.3, 0.6, 1.0, 1.5]))
    clean = root @ rng.standard_normal((n_points, width))
    return clean + noise * rng.standard_normal(clean.shape), latent, width, noise


def judged(seed):
    """For each level and pair: name, N, true difference of R², what was said."""
    X, latent, width, noise = table(seed)
    names = [name for pair in PAIRS for name in pair]
    asked = {"n_components": latent.shape[1], "noise": LEVELS, "refine": None, "random_state": seed}
    found = ikd_graph.compare(X, names, **asked)
    told = {name: found.used[name] for name in ("affinity", "graph")}
    known = ikd_graph.compare(Dataset(X, latent=latent), names, **asked, **told)
    for level in LEVELS:
        for pair in PAIRS:
            test, true = (each.difference(*pair, level) for each in (found, known))
            sign = {test.first: 1, test.second: -1}.get(test.better, 0)
            said = "equal" if test.better == "" else sign
            print(seed, level, test.first, width, noise, found.measure, f"{true.mean:+.3f} "
                  f"{test.mean:+.3f} {test.half_width:.3f}", said, flush=True)  # fmt: skip
            yield level, test.first, width, true.mean, said


def tell(rows):
    """The lines of the decision."""
    width, true = (np.array([row[k] for row in rows]) for k in (2, 3))
    named = np.array([row[4] in (1, -1) for row in rows])
    right = np.array([row[4] == np.sign(row[3]) for row in rows])
    equal = np.array([row[4] == "equal" for row in rows])
    large, level = (np.abs(true) > 0.05) & (width >= 200), np.abs(true) < 0.005
    print(f"  winner named {named.sum()} of {len(rows)}, right {np.sum(right[named])}")
    print(f"  true difference above .05, N >= 200: named {named[large].sum()} of {large.sum()}")
    print(f"  true difference below .005: named {named[level].sum()} of {level.sum()}")
    print(f"  'do not differ' {equal.sum()}, of which truly below .02: "
          f"{np.sum(np.abs(true[equal]) < 0.02)}")  # fmt: skip


def main(half):
    """Run one half."""
    warnings.simplefilter("ignore", UserWarning)
    begin = time.process_time()
    rows = [row for seed in HALVES[half] for row in judged(seed)]
    for level in LEVELS:
        for name in ("all", *(pair[0] for pair in PAIRS)):
            print(f"noise added {level}: {name}")
            tell([row for row in rows if row[0] == level and name in ("all", row[1])])
    print(f"{time.process_time() - begin:.0f} processor seconds")


if __name__ == "__main__":
    main(*sys.argv[1:])
