"""Rows of another source: does the command say that they do not fit the map.

Tables of nine kinds are fitted. New rows of the same source, and as many of another (other place
fields, other genes, another surface, columns in another order), are placed, 1, 20 and 200 at once.

    OMP_NUM_THREADS=1 python benchmarks/misplaced.py --seeds 1 2
    OMP_NUM_THREADS=1 python benchmarks/misplaced.py --seeds 31 32 33 34

Seeds 1, 2, 11, 12, 21 and 22 chose the measure: what the rows next to a row leave unexplained of
its squared distance from the mean row. Seeds 31 to 34 were run once, after that.

| seeds | rows at once | told | false alarms |
|---|---|---|---|
| 1, 2 | 1 | 17 of 18 | 0 |
| 1, 2 | 20 | 18 of 18 | 1 |
| 1, 2 | 200 | 18 of 18 | 1 |
| 31 to 34 | 1 | 36 of 36 | 2 |
| 31 to 34 | 20 | 36 of 36 | 0 |
| 31 to 34 | 200 | 36 of 36 | 0 |
"""

import argparse
import warnings

import numpy as np

from ikd_graph import IKD, datasets
from ikd_graph.jobs.verdict import Fit


def spikes(rng, at, fields, gain):
    """Counts of place cells."""
    return rng.poisson(0.1 + gain * np.exp(-0.5 * ((at[:, None] - fields) / 0.08) ** 2)) * 1.0


def mazes(rng, n, gain):
    """Sparse or plenty spikes along a track, and those of another maze."""
    fields, at = rng.uniform(size=60), rng.uniform(size=n)
    X = spikes(rng, np.sort(rng.uniform(size=240)), fields, gain)
    return X, spikes(rng, at, fields, gain), spikes(rng, at, rng.uniform(size=60), gain), {}


def genes(rng, n):
    """Counts of five kinds of cells, and the same with other genes."""
    means = np.exp(rng.normal(size=(5, 120)) - 1.0)
    depth = np.exp(0.4 * rng.normal(size=(300 + n, 1)))
    X = rng.poisson(depth * means[rng.integers(0, 5, 300 + n)]) * 1.0
    return X[:300], X[300:], X[300:, rng.permutation(120)], {}


def surfaces(rng, n, noise, n_rows=150):
    """A bent surface, and another one."""

    def bent():
        slopes, phase = rng.normal(size=(2, 60)), rng.uniform(0.0, 2.0 * np.pi, 60)
        return lambda Z: np.sin(2.0 * Z @ slopes + phase) + noise * rng.normal(size=(len(Z), 60))

    one, other = bent(), bent()
    X, Z = one(rng.uniform(-1.0, 1.0, (n_rows, 2))), rng.uniform(-1.0, 1.0, (n, 2))
    return X, one(Z), other(Z), {}


def samples(rng, n):
    """Samples of the model, and others over the same latent."""
    seed = int(rng.integers(10**6))
    Z = rng.uniform(0.0, 3.0, (120 + n, 2))
    one, other = (datasets.gplvm_data(Z, 200, noise=0.5, seed=seed + k).X for k in (0, 1))
    return one[:120], one[120:], other[120:], {}


def digits(rng, n):
    """Images, and the same with pixels in another order."""
    X = datasets.load("digits").X
    X = X[rng.permutation(len(X))[: 400 + n]]
    return X[:400], X[400:], X[400:, rng.permutation(64)], {"refine": "stress"}


def levels(rng, n):
    """Rows with levels, compared by correlations, and columns in another order."""
    Z = rng.normal(size=(150 + n, 2))
    X = np.tanh(Z @ rng.normal(size=(2, 60))) + 0.4 * rng.normal(size=(150 + n, 60))
    X += 2.0 * rng.normal(size=(150 + n, 1))
    settings = {"affinity": "correlation", "refine": "stress"}
    return X[:150], X[150:], X[150:, rng.permutation(60)], settings


KINDS = {
    "place cells": lambda rng, n: mazes(rng, n, 6.0),
    "few spikes": lambda rng, n: mazes(rng, n, 2.0),
    "genes": genes,
    "surface": lambda rng, n: surfaces(rng, n, 0.2),
    "noisy surface": lambda rng, n: surfaces(rng, n, 0.8),
    "2 500 rows": lambda rng, n: surfaces(rng, n, 0.2, 2500),
    "samples of the model": samples,
    "digits": digits,
    "levels of rows": levels,
}


def main():
    """Print a line for each case, and what was told."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2])
    warnings.simplefilter("ignore")
    told: dict[int, list[bool]] = {1: [], 20: [], 200: []}
    false: dict[int, list[bool]] = {1: [], 20: [], 200: []}
    for name, make in KINDS.items():
        for seed in parser.parse_args().seeds:
            for n in (1, 20, 200):
                X, same, other, settings = make(np.random.default_rng(seed), n)
                model = IKD(2, **settings).fit(X)
                fits = [Fit.of(model, model.placement_residuals(rows)) for rows in (same, other)]
                alarms = ["not fit" in fit.sentences[0] for fit in fits]
                false[n].append(alarms[0])
                told[n].append(alarms[1])
                beyond = [f"{fit.misfit.mean():.2f}" for fit in fits]
                print(f"{name}, seed {seed}, {n} rows: beyond the limit {' and '.join(beyond)}")
    for n, alarms in told.items():
        print(f"{n} rows: told {sum(alarms)} of {len(alarms)}, false alarms {sum(false[n])}")


if __name__ == "__main__":
    main()
