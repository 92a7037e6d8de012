"""The automatic graph of samples of the model beside other rules: shapes, sizes, columns, noise.

    python benchmarks/one_graph.py ROWS FIRST LAST [STRATEGY ...]

prints the mean affine R2 of each shape and of all, for tables of ROWS rows and the seeds from FIRST
on; a seed says how many columns (100, 300, 1000) and how much noise (sd 0, .3, .5, 1) a table has.
Strategies are closed forms without refinement, or "default".
"""

import sys
import warnings

import numpy as np
import pandas as pd

from ikd_graph import IKD, datasets, graph
from ikd_graph.metrics import affine_r2

SHAPES = ("sheet2", "sheet4", "sheet6", "line", "helix", "eight", "walk", "box")


def latent(shape, n, rng):
    """Points of a shape; the columns have a length-scale of one half."""
    if shape.startswith("sheet"):
        return rng.uniform(0.0, float(shape[5:]), (n, 2))
    if shape == "line":
        return rng.uniform(0.0, 8.0, (n, 1))
    if shape == "box":
        return rng.uniform(0.0, 3.0, (n, 3))
    if shape == "walk":
        window = np.exp(-0.5 * (np.arange(-60, 61) / 20.0) ** 2)
        steps = rng.normal(size=(n, 2)).cumsum(axis=0)
        path = [np.convolve(column, window / window.sum(), "same") for column in steps.T]
        return 1.5 * np.column_stack(path) / np.std(path)
    angle = rng.uniform(0.0, 2.0 * np.pi * (1 + (shape == "helix")), n)
    if shape == "helix":
        return np.column_stack([1.5 * np.cos(angle), 1.5 * np.sin(angle), 0.35 * angle])
    return 2.0 * np.column_stack([np.sin(angle), np.sin(angle) * np.cos(angle)])


def rules(n_columns):
    """Rules by name: the automatic one, thresholds in standard errors with strongest edges."""
    yield "auto", "auto"
    yield "10 neighbors", graph.Neighbors(10)
    for errors in (3, 4, 5, 6):
        for most in (50, 100, 150):
            s0 = min(errors / n_columns**0.5, 0.5)
            rule = graph.Threshold(s0, n_neighbors=6, strongest=most, prune=False)
            yield f"{errors} errors, {most} edges", rule


def scores(n, seed, shape, strategies):
    """R2 of every rule and strategy on one table."""
    rng = np.random.default_rng([seed, n])
    z = latent(shape, n, rng)
    n_columns, noise = (100, 300, 1000)[seed % 3], (0.0, 0.3, 0.5, 1.0)[seed // 3 % 4]
    X = datasets.gplvm_data(z, n_columns, noise=noise, seed=seed).X
    for name, rule in rules(n_columns):
        for strategy in strategies:
            closed = {"strategy": strategy, "affinity": "correlation", "refine": None}
            settings = {} if strategy == "default" else closed
            model = IKD(z.shape[1], graph=rule, **settings).fit(X)
            yield strategy, name, shape, affine_r2(z, model.embedding_)


def main(n, first, last, *strategies):
    """Print a table for each strategy."""
    warnings.simplefilter("ignore")
    strategies = strategies or ("geodesic", "blockwise")
    found = [
        each
        for seed in range(int(first), int(last))
        for shape in SHAPES
        for each in scores(int(n), seed, shape, strategies)
    ]
    table = pd.DataFrame(found, columns=["strategy", "rule", "shape", "r2"])
    for strategy, part in table.groupby("strategy"):
        means = part.pivot_table(index="rule", columns="shape", values="r2")
        print(strategy, means.assign(all=means.mean(axis=1)).round(3).to_string(), sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
