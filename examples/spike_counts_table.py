"""Place cells in a room, in a cube and on a track: `IKD()` beside UMAP and Isomap.

`python examples/spike_counts_table.py OUT.csv --seeds 0 1 2` appends a line for every table that is
not in the file yet, and prints where the default decodes less than the better of the two.
"""

import argparse
import csv
import itertools
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.manifold import Isomap
from sklearn.metrics import r2_score
from sklearn.neighbors import NearestNeighbors

from ikd_graph import IKD

SCENES = {"room": (2, 0.15), "cube": (3, 0.25), "track": (2, 0.08)}
"""Coordinates of the embedding and width of the fields."""

NEURONS, SAMPLES, RATES = (40, 100, 200), (300, 1000, 3000), (0.2, 1.0, 5.0)
KEYS = ("scene", "neurons", "samples", "rate", "seed")


def walk(rng, n_samples, n_dims):
    """Smooth walk (n_samples, n_dims) in the unit cube that turns back at its walls."""
    place, speed, path = rng.uniform(size=n_dims), np.zeros(n_dims), []
    for _ in range(n_samples):
        speed = 0.85 * speed + 0.025 * rng.normal(size=n_dims)
        place = place + speed
        speed[(place < 0.0) | (place > 1.0)] *= -1.0
        place = 1.0 - np.abs(1.0 - np.abs(place))
        path.append(place)
    return np.array(path)


def place_cells(scene, n_samples, n_neurons, rate, seed):
    """Counts (T, N) of neurons with one field each, ``rate`` a bin in the mean, and the place."""
    rng = np.random.default_rng([seed, n_samples, n_neurons])
    dims, width = SCENES[scene]
    if scene == "track":
        phase = np.cumsum(rng.uniform(0.2, 1.8, n_samples)) / 40.0
        place = np.abs((phase % 2.0) - 1.0)[:, None]
    else:
        place = walk(rng, n_samples, dims)
    centres = rng.uniform(-0.05, 1.05, (n_neurons, place.shape[1]))
    sq_dist = ((place[:, None] - centres) ** 2).sum(axis=2)
    widths = width * rng.lognormal(0.0, 0.25, n_neurons)
    rates = rng.lognormal(0.0, 0.4, n_neurons) * np.exp(-0.5 * sq_dist / widths**2)
    return rng.poisson(rate * (0.02 + rates / rates.mean())), place


def decode(Z, place):
    """R2 of the place as the mean over the ten nearest others."""
    near = NearestNeighbors(n_neighbors=10).fit(Z).kneighbors(return_distance=False)
    return r2_score(place, place[near].mean(axis=1))


def look(scene, n_neurons, n_samples, rate, seed):
    """What each of the three decodes from one table."""
    import umap

    X, place = place_cells(scene, n_samples, n_neurons, rate, seed)
    m = SCENES[scene][0]
    begin = time.process_time()
    model = IKD(n_components=m).fit(X)
    found = {"ikd": decode(model.embedding_, place), "cpu": time.process_time() - begin}
    found["isomap"] = decode(Isomap(n_components=m).fit_transform(X), place)
    found["umap"] = decode(umap.UMAP(n_components=m, random_state=seed).fit_transform(X), place)
    return found | {"affinity": model.settings_.affinity, "refine": model.candidates_[0].refine}


def main():
    """Go through the tables that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--scenes", nargs="+", default=list(SCENES))
    parser.add_argument("--neurons", nargs="+", type=int, default=NEURONS)
    parser.add_argument("--samples", nargs="+", type=int, default=SAMPLES)
    parser.add_argument("--rates", nargs="+", type=float, default=RATES)
    parser.add_argument("--seeds", nargs="+", type=int, default=(0, 1, 2))
    asked = parser.parse_args()
    rows = list(csv.DictReader(asked.out.open())) if asked.out.exists() else []
    known = {tuple(row[key] for key in KEYS) for row in rows}
    ways = (asked.scenes, asked.neurons, asked.samples, asked.rates, asked.seeds)
    for cell in itertools.product(*ways):
        if tuple(map(str, cell)) in known:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            row = dict(zip(KEYS, cell, strict=True)) | look(*cell)
        rows.append(
            {k: f"{v:.4f}" if k not in KEYS and isinstance(v, float) else v for k, v in row.items()}
        )
        with asked.out.open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
    gaps = np.array([float(r["ikd"]) - max(float(r["isomap"]), float(r["umap"])) for r in rows])
    for row, gap in zip(rows, gaps, strict=True):
        if gap < 0.0:
            print(f"{gap:+.4f}", *row.values())
    less = np.sum(gaps < 0)
    print(f"{less} of {len(gaps)} below the better of UMAP and Isomap; mean {gaps.mean():+.4f}")


if __name__ == "__main__":
    main()
