"""Measure error bars where the model is wrong: a tree, a sheet and a ring of spike counts.

    OMP_NUM_THREADS=1 python benchmarks/wrong_models.py [--seeds 5]

150 points behind 100 columns that are no samples of a Gaussian process: linear mixtures of a bent
sheet and of a tree with noise, and Poisson counts of tuned neurons on a ring. The truth is mapped
by the best affine map. Prints a table in Markdown: R2, the share of coordinates within 50 and 95 %
intervals, the reliability, and how many fits warned.
"""

import argparse
import warnings

import numpy as np
from scipy.stats import norm

from ikd_graph import IKD


def sheet(rng):
    """Bent sheet, mixed linearly."""
    z = rng.uniform(size=(150, 2)) * [2.0, 1.2]
    bent = np.column_stack([z, np.sin(2.0 * z[:, 0])])
    return z, bent @ rng.normal(size=(3, 100)) + 0.3 * rng.normal(size=(150, 100))


def tree(rng):
    """Three branches that leave one point in the plane, mixed linearly."""
    branch, along = rng.integers(3, size=150), rng.uniform(size=150)
    angle = 2.0 * np.pi * branch / 3.0
    z = along[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return z, z @ rng.normal(size=(2, 100)) + 0.3 * rng.normal(size=(150, 100))


def ring(rng):
    """Spike counts of neurons tuned to an angle."""
    angle = rng.uniform(0.0, 2.0 * np.pi, 150)
    rates = 4.0 * np.exp(np.cos(angle[:, None] - rng.uniform(0.0, 2.0 * np.pi, 100)) - 1.0)
    return np.column_stack([np.cos(angle), np.sin(angle)]), rng.poisson(rates).astype(float)


def main():
    """Fit each and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    seeds = parser.parse_args().seeds
    print("| table | R2 | held by 50 % | held by 95 % | reliability | warned |")
    print("|---" * 6 + "|")
    for draw in (sheet, tree, ring):
        results = []
        for seed in range(seeds):
            z, X = draw(np.random.default_rng(seed))
            with warnings.catch_warnings(record=True) as heard:
                warnings.simplefilter("always")
                model = IKD(2, refine="likelihood", random_state=0).fit(X)
                errors, reliability = model.standard_errors_, model.reliability_
            Z = model.embedding_ - model.embedding_.mean(axis=0)
            centered = z - z.mean(axis=0)
            # The truth in the units of the embedding.
            away = np.abs(centered @ np.linalg.lstsq(centered, Z, rcond=None)[0] - Z)
            back = Z @ np.linalg.lstsq(Z, centered, rcond=None)[0]
            r2 = 1.0 - ((centered - back) ** 2).sum() / (centered**2).sum()
            held = [np.mean(away <= norm.ppf(0.5 + level / 2) * errors) for level in (0.5, 0.95)]
            results.append([r2, *held, reliability, any("reliab" in str(w.message) for w in heard)])
        mean = np.mean(results, axis=0)
        print(f"| {draw.__name__} | " + " | ".join(f"{value:.2f}" for value in mean) + " |")


if __name__ == "__main__":
    main()
