"""Cost of fits in units of scikit-learn's Isomap, in one run, beside the committed ones.

    python benchmarks/battery/gate.py            # ends with 1 where one is beyond twice that
    python benchmarks/battery/gate.py --write    # commits them to gate.csv

Processor seconds of second calls on one thread, the least of three; Isomap embeds the same rows,
and 1 000 rows beside samples of the model and new rows that a map of so many places. Real tables
are those of scikit-learn.
"""

import argparse
import csv
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.manifold import Isomap
from threadpoolctl import threadpool_limits

from ikd_graph import IKD
from ikd_graph.datasets import gplvm_data

FILE = Path(__file__).with_suffix(".csv")
CLOSED = {"affinity": "euclidean", "graph": 10, "refine": None}
FITS = {
    "default": ({}, (300, 1000, 3000)),
    "geodesic": ({"strategy": "geodesic", **CLOSED}, (1000, 3000)),
    "blockwise": ({"strategy": "blockwise", **CLOSED}, (1000, 3000)),
}


REAL = {
    "wine": load_wine().data,
    "breast cancer": load_breast_cancer().data,
    "digits": load_digits().data[:600],
}


def surface(n_rows):
    """Rows of a bent surface, 100 columns."""
    rng = np.random.default_rng(0)
    latent = rng.uniform(-1.0, 1.0, (n_rows, 2))
    inputs = 2.0 * latent @ rng.normal(size=(2, 100)) + rng.normal(size=100)
    return np.tanh(inputs) + 0.1 * rng.normal(size=(n_rows, 100))


def seconds(call, X):
    """Least processor time of three calls, after one that compiles."""
    call(X)
    times = []
    for _ in range(3):
        start = time.process_time()
        call(X)
        times.append(time.process_time() - start)
    return min(times)


def ratios():
    """Time of every fit over that of Isomap."""
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        isomap = {n: seconds(Isomap(n_neighbors=10).fit, surface(n)) for n in (300, 1000, 3000)}
        found = {
            f"{name}, {n} rows": seconds(IKD(2, **settings).fit, surface(n)) / isomap[n]
            for name, (settings, sizes) in FITS.items()
            for n in sizes
        }
        samples = gplvm_data("medium", 200, noise=0.3).X
        found["samples of the model"] = seconds(IKD(3).fit, samples) / isomap[1000]
        rows = surface(11_000)
        placing = IKD(2, **CLOSED).fit(rows[:1000]).transform
        found["placing 10 000 rows"] = seconds(placing, rows[1000:]) / isomap[1000]
        for name, X in REAL.items():
            found[name] = seconds(IKD(2).fit, X) / seconds(Isomap(n_neighbors=10).fit, X)
    return found


def main():
    """Print the ratios, or write them."""
    parser = argparse.ArgumentParser(description="Compare the cost of fits with the committed one.")
    parser.add_argument("--write", action="store_true", help="write gate.csv")
    found = ratios()
    if parser.parse_args().write:
        with FILE.open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerows([("fit", "ratio to Isomap")])
            writer.writerows((name, f"{ratio:.3g}") for name, ratio in found.items())
    with FILE.open(newline="") as file:
        committed = {name: float(ratio) for name, ratio in list(csv.reader(file))[1:]}
    for name, ratio in found.items():
        print(f"{name:24} {ratio:8.3g} times Isomap, committed {committed[name]:.3g}")
    slow = [name for name, ratio in found.items() if ratio > 2.0 * committed[name]]
    if slow:
        sys.exit(f"more than twice as slow as committed: {', '.join(slow)}")


if __name__ == "__main__":
    main()
