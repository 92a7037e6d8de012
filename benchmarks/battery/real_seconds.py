"""Processor seconds of `IKD(2)` as it comes on real tables, beside UMAP, PaCMAP and Isomap.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1
        python benchmarks/battery/real_seconds.py [--write] [--table NAME ...]

Second calls on one thread, all methods in one run; peers have their defaults, Isomap ten neighbors.
Scores are those of `first_answer.py`. `--write` keeps the table in real_seconds.csv.
"""

import argparse
import csv
import time
import warnings
from pathlib import Path

import numpy as np
from first_answer import scores
from first_tables import TABLES, Absent, Points, make
from sklearn import datasets

FILE = Path(__file__).with_suffix(".csv")
METHODS = ("ikd", "umap", "pacmap", "isomap")
LEARN = {
    "iris": (datasets.load_iris, "classes"),
    "wine": (datasets.load_wine, "classes"),
    "cancer": (datasets.load_breast_cancer, "classes"),
    "diabetes": (datasets.load_diabetes, "position"),
}
"""Tables that scikit-learn has, all rows of them."""
NAMES = (
    *LEARN, "digits_middle", "turntable_odd", "lamps_place", "embryo_late", "blood_logs", "tissues",
    "channels_early", "states_early", "republicans", "meats", "births", "wealth", "penguins",
    "olives", "economy", "voters",
)  # fmt: skip
"""Twenty real tables, of 48 to 700 rows and 4 to 765 columns."""


def points_of(name):
    """Rows of a table and what is known of them."""
    if name not in LEARN:
        return make(name)
    load, kind = LEARN[name]
    X, truth = load(return_X_y=True)
    if kind == "position":
        truth = ((truth - truth.mean()) / truth.std())[:, None]
    return Points(X, truth, kind)


def embed(method, X):
    """Coordinates (n, 2) by a method as it comes."""
    if method == "ikd":
        from ikd_graph import IKD

        return IKD(2).fit_transform(X)
    if method == "umap":
        import umap

        return umap.UMAP(random_state=0).fit_transform(X)
    if method == "pacmap":
        import pacmap

        return pacmap.PaCMAP(random_state=0).fit_transform(X.copy())
    from sklearn.manifold import Isomap

    return Isomap(n_neighbors=min(10, len(X) - 1)).fit_transform(X)


def measure(name):
    """Processor seconds and scores of the second call of every method."""
    points, row = points_of(name), {"table": name}
    row |= {"rows": points.X.shape[0], "columns": points.X.shape[1]}
    for method in METHODS:
        embed(method, points.X)
        begin = time.process_time()
        Z = embed(method, points.X)
        row[f"{method} seconds"] = round(time.process_time() - begin, 3)
        found = scores(np.asarray(Z, np.float64), points)
        row[f"{method} neighbors"], row[f"{method} metric"] = found["neighbors"], found["metric"]
    row["ratio"] = round(row["ikd seconds"] / row["umap seconds"], 2)
    return row


def main():
    """Print a line a table, and median and worst ratio to UMAP's seconds."""
    parser = argparse.ArgumentParser(description="Time fits of real tables beside peers.")
    parser.add_argument("--table", nargs="+", choices=(*LEARN, *TABLES), default=NAMES)
    parser.add_argument("--write", action="store_true", help="write real_seconds.csv")
    given, rows = parser.parse_args(), []
    warnings.simplefilter("ignore")
    for name in given.table:
        try:
            rows.append(row := measure(name))
        except Absent as absent:
            print(f"{name}: {absent}", flush=True)
            continue
        times = ", ".join(f"{method} {row[f'{method} seconds']:.2f} s" for method in METHODS)
        near = " ".join(f"{row[f'{method} neighbors']:.3f}" for method in METHODS)
        print(
            f"{name:15} {row['rows']:4} x {row['columns']:<4} {times}; "
            f"{row['ratio']:.2f} of UMAP; neighbors {near}",
            flush=True,
        )
    ratios = [row["ratio"] for row in rows]
    print(f"{len(rows)} tables: median {np.median(ratios):.2f}, worst {max(ratios):.2f}")
    for measured in ("neighbors", "metric"):
        of = {
            m: [r[f"{m} {measured}"] for r in rows if r[f"{m} {measured}"] is not None]
            for m in METHODS
        }
        print(measured, ", ".join(f"{m} {np.mean(values):.3f}" for m, values in of.items()))
    if given.write:
        with FILE.open("w", newline="") as file:
            writer = csv.DictWriter(file, rows[0], lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
