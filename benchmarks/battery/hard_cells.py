"""Measure R2 and seconds of the default, restarts, stress and linear on hard shapes.

    OMP_NUM_THREADS=1 python benchmarks/battery/hard_cells.py --seed 0 [--out FILE]

Samples of the model over eight shapes: three kernels, T = 100 or 200, N = 100, 200 or 1000, noise
of sd 0, 0.3 or 1, length-scale 0.3 to 0.6 of the root mean square radius. A seed draws 40 of the
432 cells (five a shape), the points, and the columns. Seed 0 is for development, the others are
fresh. Score: mean affine R2 (the truth regressed on the embedding), and processor seconds on one
thread. `restarts` needs `refine.Likelihood` and is left out of a tree without it.
"""

import argparse
from itertools import product

import numpy as np
from measures import CORRELATIONS, affine_r2, append, fitted, one_thread, process_columns

TURN = 2.0 * np.pi


def shape_points(name, n, rng):
    """Points (n, 2 or 3) of a shape, centered, of root mean square radius 1."""
    t, M = np.sort(rng.uniform(0.0, TURN, n)), int(rng.integers(2, 4))
    if name == "trefoil":
        points = np.column_stack(
            [np.sin(t) + 2 * np.sin(2 * t), np.cos(t) - 2 * np.cos(2 * t), -np.sin(3 * t)]
        )
    elif name == "figure_of_eight":
        points = np.column_stack([np.sin(t), np.sin(t) * np.cos(t)])
    elif name == "random_walk":
        points = rng.normal(size=(n, M)).cumsum(axis=0)
    elif name == "blob":
        points = rng.normal(size=(n, M)) * [1.5, 1.0, 0.6][:M]
    elif name == "torus":
        s = rng.uniform(0.0, TURN, n)
        out = 1.0 + 0.45 * np.cos(s)
        points = np.column_stack([out * np.cos(t), out * np.sin(t), 0.45 * np.sin(s)])
    elif name == "helix":
        points = np.column_stack([np.cos(3 * t), np.sin(3 * t), 0.5 * t])
    elif name == "star":
        arms = rng.normal(size=(5, M))
        arms /= np.linalg.norm(arms, axis=1, keepdims=True)
        points = rng.uniform(size=(n, 1)) * arms[rng.integers(5, size=n)]
    else:  # A tree: every branch starts at a random place of an earlier one.
        starts, ends = [np.zeros(M)], [rng.normal(size=M)]
        for branch in range(1, 5):
            parent = rng.integers(branch)
            starts.append(starts[parent] + rng.uniform() * (ends[parent] - starts[parent]))
            ends.append(starts[-1] + rng.normal(size=M))
        branch, along = rng.integers(5, size=n), rng.uniform(size=(n, 1))
        starts, ends = np.array(starts)[branch], np.array(ends)[branch]
        points = starts + along * (ends - starts) + 0.02 * rng.normal(size=(n, M))
    points = points - points.mean(axis=0)
    return points / np.sqrt((points**2).sum(axis=1).mean())


SHAPES = (
    "trefoil", "figure_of_eight", "random_walk", "blob", "torus", "helix", "star", "tree",
)  # fmt: skip


def cells(seed, count):
    """Cells of a seed: shape, kernel, T, N and sd; shapes take turns."""
    rng = np.random.default_rng([44, seed])
    every = list(product(CORRELATIONS, (100, 200), (100, 200, 1000), (0.0, 0.3, 1.0)))
    orders = {shape: rng.permutation(len(every)) for shape in SHAPES}
    for i in range(count):
        shape = SHAPES[i % len(SHAPES)]
        yield shape, *every[orders[shape][i // len(SHAPES)]]


def sample(seed, index, shape, kernel, T, N, sd):
    """Latent and table of a cell."""
    rng = np.random.default_rng([55, seed, index])
    latent = shape_points(shape, T, rng)
    return latent, process_columns(rng, latent, N, kernel, rng.uniform(0.3, 0.6), sd)


def methods():
    """Settings of `IKD` by name."""
    named = {"default": {}, "stress": {"refine": "stress"}, "linear": {"strategy": "linear"}}
    try:
        from ikd_graph.refine import Likelihood
    except ImportError:
        return named
    return named | {"restarts": {"refine": Likelihood(restarts=20)}}


def main():
    """Print one line a cell, then means by method."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cells", type=int, default=40)
    parser.add_argument("--methods", default="default,restarts,stress,linear", metavar="A,B")
    parser.add_argument("--out", help="jsonl file to append every fit to")
    given = parser.parse_args()
    one_thread()
    wanted = {k: v for k, v in methods().items() if k in given.methods.split(",")}
    warm = process_columns(np.random.default_rng(0), np.eye(60, 2).cumsum(0), 120, "matern", 1, 0.5)
    for settings in wanted.values():
        fitted(warm, 2, **settings)
    lines = []
    for index, cell in enumerate(cells(given.seed, given.cells)):
        facts = dict(zip(("shape", "kernel", "T", "N", "sd"), cell, strict=True))
        latent, X = sample(given.seed, index, *cell)
        shown = []
        for method, settings in wanted.items():
            model, seconds = fitted(X, latent.shape[1], **settings)
            r2 = affine_r2(latent, model.embedding_)
            line = {"seed": given.seed, "cell": index, **facts, "M": latent.shape[1]}
            lines.append(line | {"method": method, "r2": r2, "seconds": seconds})
            append(given.out, lines[-1])
            shown.append(f"{method} {r2:.3f} ({seconds:.2f} s)")
        print(index, *cell, f"M={latent.shape[1]}:", ", ".join(shown), flush=True)
    print("\nmethod    mean R2  median  below .9  seconds (mean, total)   mean R2 by N and by sd")
    for method in wanted:
        mine = [line for line in lines if line["method"] == method]
        r2, took = (np.array([line[k] for line in mine]) for k in ("r2", "seconds"))
        groups = [
            f"{key}={value}: {np.mean([x['r2'] for x in mine if x[key] == value]):.3f}"
            for key in ("N", "sd")
            for value in sorted({x[key] for x in mine})
        ]
        print(f"{method:9s} {r2.mean():.3f}    {np.median(r2):.3f}   {(r2 < 0.9).sum():3d}       "
              f"{took.mean():.2f} {took.sum():.1f}   {', '.join(groups)}")  # fmt: skip


if __name__ == "__main__":
    main()
