"""Measure whether the picture stays when a column or a tenth of the rows is left out.

    OMP_NUM_THREADS=1 python benchmarks/battery/stability.py [--table NAME] [--quick] [--out FILE]

Ten tables, `IKD(2)` next to Isomap (10 neighbors) and PCA. Each is fitted whole, with one varying
column left out (5 draws) and with a tenth of the rows left out (3 draws; compared on the rows that
stay). Score: Procrustes R2 with rotation or reflection, translation and one scale, as a share of
the whole sum of squares (`measures.rigid_r2`). "changed" counts refits whose affinity, strategy,
refinement or graph differ from the whole fit's. A median counts as low when it is more than 0.03
below Isomap's, a worst draw when it is more than 0.1 below Isomap's worst.
"""

import argparse

import numpy as np
from measures import append, fitted, one_thread, peer, process_columns, rigid_r2, rotated_into
from measures import settings_of as chosen
from sklearn import datasets

METHODS = ("ikd", "isomap", "pca")
TURN = 2.0 * np.pi


def channels(rng):
    """Sixty channels that mix two slow signals, each bent by a saturation, with noise."""
    t = np.linspace(0.0, 1.0, 400)[:, None]
    slow = np.sin(TURN * (t * [2.0, 3.3] + rng.random(2))) + 0.5 * np.sin(TURN * t * [5.1, 1.2])
    return np.tanh(slow @ rng.normal(size=(2, 60))) + 0.4 * rng.normal(size=(400, 60))


def bent_sheet(rng):
    """A sheet bent to an S in 20 columns."""
    X = datasets.make_s_curve(500, random_state=1)[0]
    return rotated_into(rng, X, 20, 0.15)


def waved_sheet(rng):
    """A sheet with two waves in 50 columns."""
    flat = rng.uniform(-1.0, 1.0, (400, 2))
    return rotated_into(rng, np.column_stack([flat, 0.4 * np.sin(4.0 * flat)]), 50, 0.1)


def ring_counts(rng):
    """Counts of forty cells that prefer a heading each."""
    angle = np.cumsum(0.25 * rng.normal(size=500))[:, None]
    sharp, prefer = rng.uniform(1.0, 5.0, 40), rng.uniform(0.0, TURN, 40)
    return rng.poisson(5.0 * np.exp(sharp * (np.cos(angle - prefer) - 1.0)) + 0.1).astype(float)


def curve_process(rng):
    """Gaussian processes, 100 columns, over a curve in the plane."""
    t = np.linspace(0.0, TURN, 200)
    curve = np.column_stack([1.5 * np.cos(t), np.sin(2.0 * t)])
    return process_columns(rng, curve, 100, "squared_exponential", 0.7, 0.3)


def roll(rng):
    """A rolled-up sheet in 20 columns."""
    X = datasets.make_swiss_roll(500, noise=0.3, random_state=1)[0]
    return rotated_into(rng, X, 20, 0.02)


TABLES = {
    "channels": channels,
    "bent_sheet": bent_sheet,
    "waved_sheet": waved_sheet,
    "ring_counts": ring_counts,
    "digits_600": lambda rng: datasets.load_digits().data[rng.permutation(1797)[:600]],
    "digits_1797": lambda rng: datasets.load_digits().data,
    "breast_cancer": lambda rng: datasets.load_breast_cancer().data,
    "wine": lambda rng: datasets.load_wine().data,
    "curve_process": curve_process,
    "roll": roll,
}
QUICK = ("bent_sheet", "ring_counts", "digits_600", "wine")


def draws(X, rng, n_columns, n_rows):
    """Pairs of (rows that stay, columns that stay), one column or a tenth of the rows left out."""
    T, N = X.shape
    for column in rng.choice(np.flatnonzero(X.std(axis=0) > 0), n_columns, replace=False):
        yield "column", np.arange(T), np.delete(np.arange(N), column)
    for _ in range(n_rows):
        yield "rows", np.sort(rng.permutation(T)[T // 10 :]), np.arange(N)


def embed(method, X):
    """Embedding in the plane, the settings chosen and processor seconds (IKD only)."""
    if method != "ikd":
        return peer(method, X, 2), {}, 0.0
    model, seconds = fitted(X, 2)
    return model.embedding_, chosen(model), seconds


def measure(name, number, quick, out):
    """R2 by method, settings changed and seconds of one table."""
    rng = np.random.default_rng([33, number])
    X = TABLES[name](rng)
    whole = {method: embed(method, X) for method in METHODS}
    scores, changed, seconds = {method: [] for method in METHODS}, [], [whole["ikd"][2]]
    for kind, rows, columns in draws(X, rng, *((2, 1) if quick else (5, 3))):
        for method in METHODS:
            Z, settings, took = embed(method, X[np.ix_(rows, columns)])
            scores[method].append(rigid_r2(whole[method][0][rows], Z))
            line = {"table": name, "left_out": kind, "method": method, "r2": scores[method][-1]}
            append(out, line | {"settings": settings, "seconds": took})
            if method == "ikd":
                changed.append([k for k in settings if settings[k] != whole["ikd"][1][k]])
                seconds.append(took)
    return X.shape, scores, changed, seconds, whole["ikd"][1]


def main():
    """Print one line a table and a summary."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--table", choices=TABLES, action="append", help="only this; may be given")
    parser.add_argument("--quick", action="store_true", help="four tables, three draws each")
    parser.add_argument("--out", help="jsonl file to append every refit to")
    given = parser.parse_args()
    one_thread()
    names = given.table or (QUICK if given.quick else TABLES)
    medians, worst, same = {m: [] for m in METHODS}, {m: [] for m in METHODS}, []
    print("table          T x N       ikd median worst | isomap median worst | pca median worst")
    for name in names:
        number = list(TABLES).index(name)
        shape, scores, changed, seconds, settings = measure(name, number, given.quick, given.out)
        for method in METHODS:
            medians[method].append(np.median(scores[method]))
            worst[method].append(min(scores[method]))
        same += [not differing for differing in changed]
        cells = " | ".join(f"{medians[m][-1]:.3f} {worst[m][-1]:.3f}" for m in METHODS)
        print(f"{name:14s} {shape[0]:4d} x {shape[1]:3d}  {cells}  {np.mean(seconds):.1f} s a fit")
        print(f"    ikd draws {' '.join(f'{score:.3f}' for score in scores['ikd'])}")
        print(f"    whole {', '.join(f'{k}={v}' for k, v in settings.items())}")
        print(f"    changed {[' '.join(differing) or '-' for differing in changed]}", flush=True)
    for method in METHODS:
        middle, mean = np.median(medians[method]), np.mean(medians[method])
        print(f"{method}: median {middle:.3f}, mean {mean:.3f}, worst {min(worst[method]):.3f}")
    low = np.subtract(medians["isomap"], medians["ikd"]) > 0.03
    bad = np.subtract(worst["isomap"], worst["ikd"]) > 0.1
    for what, behind in (("median > 0.03", low), ("worst draw > 0.1", bad)):
        print(f"{what} below Isomap's: {', '.join(np.array(list(names))[behind]) or 'none'}")
    print(f"settings the same in {sum(same)} of {len(same)} refits")


if __name__ == "__main__":
    main()
