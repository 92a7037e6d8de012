"""Does more data ever hurt? Six latents at growing numbers of points and of columns.

`python examples/growth.py OUT.csv` appends a line for every table that is not in the file yet, and
prints medians over seeds and where one falls by more than .01 from the smaller number to the next.
"""

import argparse
import csv
import itertools
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.metrics import r2_score
from sklearn.neighbors import NearestNeighbors

from ikd_graph import IKD

TURN = 2.0 * np.pi
FALL = 0.01
SAMPLES, COLUMNS = (100, 300, 1000, 3000), (50, 200, 1000, 3000)
USUAL_SAMPLES, USUAL_COLUMNS, NOISE = 300, 200, 0.3
KEYS = ("latent", "samples", "columns", "seed")


def sheet(t, other):
    """A square."""
    return np.column_stack([2.0 * t, 2.0 * other])


def arc(t, other):
    """Half a turn."""
    return 2.0 * np.column_stack([np.cos(0.5 * TURN * t), np.sin(0.5 * TURN * t)])


def ring(t, other):
    """A circle."""
    return 1.5 * np.column_stack([np.cos(TURN * t), np.sin(TURN * t)])


def eight(t, other):
    """A closed curve that crosses itself."""
    return 2.0 * np.column_stack([np.sin(TURN * t), np.sin(2.0 * TURN * t)])


def knot(t, other):
    """A trefoil."""
    a = TURN * t
    plane = [np.sin(a) + 2.0 * np.sin(2.0 * a), np.cos(a) - 2.0 * np.cos(2.0 * a)]
    return 0.8 * np.column_stack([*plane, -np.sin(3.0 * a)])


def helix(t, other):
    """Three turns of a screw."""
    return np.column_stack([np.cos(3.0 * TURN * t), np.sin(3.0 * TURN * t), 4.0 * t])


LATENTS = {one.__name__: one for one in (sheet, arc, ring, eight, knot, helix)}


def table(name, n_samples, n_columns, seed):
    """Columns (T, N) over a latent (T, M), whose first points are the same at every T."""
    rng = np.random.default_rng(seed)
    t, other = rng.uniform(size=(2, max(*SAMPLES, n_samples)))[:, :n_samples]
    latent = LATENTS[name](t, other)
    noise = np.random.default_rng([seed, n_samples, n_columns])
    X = waves(latent, n_columns, seed)
    return X + NOISE * noise.normal(size=X.shape), latent


def waves(latent, n_columns, seed):
    """Samples of a Gaussian process of length-scale 1 at any number of points, by 300 waves."""
    rng = np.random.default_rng([seed, n_columns])
    turns, phase = rng.normal(size=(latent.shape[1], 300)), TURN * rng.uniform(size=300)
    weights = rng.normal(size=(300, n_columns))
    return np.cos(latent @ turns + phase) @ weights * np.sqrt(2.0 / 300)


def decode(Z, truth):
    """R2 of the truth as the mean over the ten nearest others."""
    near = NearestNeighbors(n_neighbors=10).fit(Z).kneighbors(return_distance=False)
    return r2_score(truth, truth[near].mean(axis=1))


def affine(Z, truth):
    """R2 of the truth as the best affine map of the embedding."""
    one = np.column_stack([Z, np.ones(len(Z))])
    return r2_score(truth, one @ np.linalg.lstsq(one, truth, rcond=None)[0])


def look(name, n_samples, n_columns, seed):
    """How well the default finds one latent."""
    X, latent = table(name, n_samples, n_columns, seed)
    begin = time.process_time()
    model = IKD(n_components=latent.shape[1]).fit(X)
    found = {
        "affine": affine(model.embedding_, latent),
        "decoded": decode(model.embedding_, latent),
    }
    found["cpu"] = time.process_time() - begin
    return found | {"affinity": model.settings_.affinity, "refine": str(model.settings_.refine)}


def ways(latents, seeds, samples, columns):
    """Tables along both lines, of points and of columns, the cheap ones first."""
    sizes = [(n, USUAL_COLUMNS) for n in samples] + [(USUAL_SAMPLES, n) for n in columns]
    sizes = sorted(dict.fromkeys(sizes), key=lambda size: size[0] * size[1])
    return [(name, *size, seed) for size, seed, name in itertools.product(sizes, seeds, latents)]


def medians(rows, score, latent, line):
    """Median over seeds (size, median) along a line of sizes."""
    fixed, at = (("columns", USUAL_COLUMNS), ("samples", USUAL_SAMPLES))[line == "columns"], line
    found = {}
    for row in rows:
        if row["latent"] == latent and int(row[fixed[0]]) == fixed[1]:
            found.setdefault(int(row[at]), []).append(float(row[score]))
    return [(size, float(np.median(found[size])), len(found[size])) for size in sorted(found)]


def report(rows):
    """Print medians, and falls from one size to the next."""
    falls = []
    for score, line, latent in itertools.product(
        ("affine", "decoded"), ("samples", "columns"), LATENTS
    ):
        line_of = medians(rows, score, latent, line)
        print(f"{score:8} {line:8} {latent:6}", *(f"{n}: {r2:.3f} ({k})" for n, r2, k in line_of))
        for (n, one, _), (more, other, _) in itertools.pairwise(line_of):
            if other < one - FALL:
                falls.append(f"{score} {latent} {line} {n} -> {more}: {one:.3f} -> {other:.3f}")
    print(*(falls or ["no median falls by more than .01"]), sep="\n")


def main():
    """Go through the tables that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--latents", nargs="+", default=list(LATENTS))
    parser.add_argument("--samples", nargs="+", type=int, default=SAMPLES)
    parser.add_argument("--columns", nargs="+", type=int, default=COLUMNS)
    parser.add_argument("--seeds", nargs="+", type=int, default=range(5))
    asked = parser.parse_args()
    rows = list(csv.DictReader(asked.out.open())) if asked.out.exists() else []
    known = {tuple(row[key] for key in KEYS) for row in rows}
    for cell in ways(asked.latents, asked.seeds, asked.samples, asked.columns):
        if tuple(map(str, cell)) in known:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            row = dict(zip(KEYS, cell, strict=True)) | look(*cell)
        rows.append(row)
        with asked.out.open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
    report(rows)


if __name__ == "__main__":
    main()
