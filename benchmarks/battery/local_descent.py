"""Measure what a local descent of the likelihood adds to stress and what it takes.

    cd benchmarks; OMP_NUM_THREADS=1 python -m battery.local_descent [--seed 0] [--out FILE]

Thirteen sets of the battery that are no samples of the model, at most 300 rows each, in the plane.
Scores: neighbors (5 nearest vote on a class, the mean of 10 decodes a position), metric (affine R2
of the truth, where it is no class) and stability (Procrustes R2 of refits without a column or a
tenth of the rows, the median of four draws). Compared are the embedding after stress, 15, 25 and 45
steps without a prior, and 25 and 200 steps with the prior of `refine.local_likelihood`.
"""

import argparse
import json
import warnings
from unittest.mock import patch

import numpy as np
from threadpoolctl import threadpool_limits

from ikd_graph import IKD, refine
from ikd_graph.gplvm import _search
from ikd_graph.metrics import affine_r2

from .scores import decode, vote
from .sets import make

BY_ROWS = ("digits", "spectra", "topics", "cell_types", "moving_spot")
"""Sets whose rows are standardized, and their column means taken off; of others columns are."""

SETS = (
    *BY_ROWS,
    "survey",
    "sensor_drift",
    "lagging_sensors",
    "s_sheet",
    "hierarchy",
    "sparse_counts",
    "place_room",
    "torus",
)
DESCENTS = {
    "stress": None,
    "15 steps, no prior": (15, 0.0),
    "25 steps, no prior": (25, 0.0),
    "45 steps, no prior": (45, 0.0),
    "25 steps": (25, _search.PRIOR),
    "200 steps": (200, _search.PRIOR),
}
MOST_ROWS = 300


def represented(X, by_rows):
    """Rows as the likelihood takes them for samples of a process."""
    if not by_rows:
        centered = X - X.mean(axis=0)
        return centered / centered.std()
    rows = X - X.mean(axis=1, keepdims=True)
    rows = rows / np.maximum(rows.std(axis=1, keepdims=True), np.finfo(float).tiny)
    return rows - rows.mean(axis=0)


def embeddings(X, by_rows):
    """Embedding after stress and after each descent, by name."""
    rows = represented(X, by_rows)
    affinity = "correlation" if by_rows else "euclidean"
    model = IKD(2, affinity=affinity, strategy="geodesic", refine="stress", random_state=0)
    init = model.fit(rows).embedding_
    found = {}
    for name, settings in DESCENTS.items():
        if settings is None:
            found[name] = init
            continue
        with patch.object(_search, "PRIOR", settings[1]):
            fit = refine.local_likelihood(rows, init, centered=by_rows, max_iter=settings[0])
        found[name] = fit.latent
    return found


def rigid_r2(A, B):
    """Procrustes R2 of two embeddings: rotation or reflection, translation and one scale."""
    A, B = A - A.mean(axis=0), B - B.mean(axis=0)
    singular = np.linalg.svd(A.T @ B, compute_uv=False)
    return float(singular.sum() ** 2 / ((A**2).sum() * (B**2).sum()))


def measure(name, seed):
    """Neighbors, metric (NaN for classes) and stability of every descent on a set."""
    points, rng = make(name, seed), np.random.default_rng(seed)
    X, truth = np.asarray(points.X, dtype=float), np.asarray(points.truth)
    some = np.sort(rng.choice(len(X), min(len(X), MOST_ROWS), replace=False))
    X, truth = X[some], truth[some]
    X = X[:, X.std(axis=0) > 0.0]
    whole, by_rows = embeddings(X, name in BY_ROWS), name in BY_ROWS
    again = []
    for number in range(4):
        kept, columns = np.arange(len(X)), np.arange(X.shape[1])
        if number % 2:
            kept = np.sort(rng.choice(len(X), int(0.9 * len(X)), replace=False))
        else:
            columns = np.delete(columns, rng.integers(len(columns)))
        again.append((kept, embeddings(X[np.ix_(kept, columns)], by_rows)))
    found = {}
    for descent, Z in whole.items():
        stable = [rigid_r2(Z[kept], other[descent]) for kept, other in again]
        if points.kind == "classes":
            near, metric = vote(Z, truth), np.nan
        else:
            known = truth.reshape(len(Z), -1)
            if points.kind == "circular":
                known = np.hstack([np.cos(known), np.sin(known)])
            near, metric = decode(Z, known), affine_r2(known, Z)
        found[descent] = (float(near), float(metric), float(np.median(stable)))
    return found


def main():
    """Measure all sets of a seed and print the means."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out")
    arguments = parser.parse_args()
    found = []
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in SETS:
            found.append(measure(name, arguments.seed))
            line = {"set": name, "seed": arguments.seed, "scores": found[-1]}
            print(name, {key: np.round(values, 3).tolist() for key, values in found[-1].items()})
            if arguments.out:
                with open(arguments.out, "a") as file:
                    file.write(json.dumps(line) + "\n")
    print(f"{'mean of ' + str(len(found)):22s} neighbors  metric  stability")
    for descent in DESCENTS:
        near, metric, stable = np.nanmean([each[descent] for each in found], axis=0)
        print(f"{descent:22s} {near:9.3f} {metric:7.3f} {stable:10.3f}")


if __name__ == "__main__":
    main()
