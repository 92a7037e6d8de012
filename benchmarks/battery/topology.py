"""How often `ikd_graph.topology` counts the pieces, loops and voids that there are.

    OMP_NUM_THREADS=1 python benchmarks/battery/topology.py [--tables 200] [--half even] \
        [--first 0] [--what shapes real angles seconds] [--out FILE]

A table is a sample of the model over a shape: 80 to 300 rows, 60 to 400 columns, noise of .3 to 1
of the signal's standard deviation; noise alone, and rows that walk or follow one another, are no
samples. Settings were chosen on the even half of the seeds, and confirmed on the odd one. Real
tables are those of `IKD_GRAPH_DATA` and scikit-learn. Angles are compared by the circular
correlation of Fisher and Lee, and the median of the absolute error.
"""

import itertools
import os
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
from measures import head, options, resumed, row
from scipy.signal import lfilter
from sklearn import datasets
from sklearn.model_selection import cross_val_predict
from sklearn.neighbors import KNeighborsRegressor

import ikd_graph
from ikd_graph import IKD

RIGHT = {"ring": 1, "wide ring": 1, "annulus": 1, "two rings": 2, "eight": 2}
"""Loops of shapes that have some."""

LOOPS = {**RIGHT, "torus": 2}

PIECES = {"two rings": 2, "two clusters": 2}

SHAPES = (
    *RIGHT, "arc", "disc", "branches", "curve", "gaussian", "square", "two clusters", "walk",
    "sphere", "torus", "noise", "walking rows", "autocorrelated rows",
)  # fmt: skip


def shape_points(name, n, rng):
    """Points of a shape in units of the length-scale, (n, 2 or 3)."""
    t, radius = rng.uniform(0.0, 2.0 * np.pi, n), np.sqrt(rng.uniform(0.0, 1.0, n))
    circle = np.column_stack([np.cos(t), np.sin(t)])
    if name in ("ring", "two rings"):
        apart = 7.0 * (np.arange(n) < n // 2) * (name == "two rings")
        return 1.6 * circle + np.column_stack([apart, np.zeros(n)])
    if name == "wide ring":
        return 2.2 * circle
    if name == "annulus":
        return circle * np.sqrt(rng.uniform(1.2**2, 2.0**2, n))[:, None]
    if name == "eight":
        return np.column_stack([2.2 * np.sin(t), 1.6 * np.sin(2.0 * t)])
    if name == "arc":
        return 1.6 * np.column_stack([np.cos(0.8 * t), np.sin(0.8 * t)])
    if name == "disc":
        return 2.2 * radius[:, None] * circle
    if name == "branches":
        angle = 2.0 * np.pi * rng.integers(3, size=n) / 3.0
        return rng.uniform(0.0, 2.5, (n, 1)) * np.column_stack([np.cos(angle), np.sin(angle)])
    if name == "curve":
        return np.column_stack([3.0 * t / np.pi - 3.0, np.sin(1.5 * t)])
    if name == "gaussian":
        return 1.3 * rng.normal(size=(n, 2))
    if name == "square":
        return rng.uniform(-2.0, 2.0, (n, 2))
    if name == "two clusters":
        return 0.6 * rng.normal(size=(n, 2)) + 5.0 * np.column_stack(
            [np.arange(n) < n // 2, np.zeros(n)]
        )
    if name == "walk":
        return 4.0 / np.sqrt(n) * rng.normal(size=(n, 2)).cumsum(axis=0)
    if name == "sphere":
        points = rng.normal(size=(n, 3))
        return 1.8 * points / np.linalg.norm(points, axis=1, keepdims=True)
    around = rng.uniform(0.0, 2.0 * np.pi, n)
    out = 2.4 + np.cos(around)
    return np.column_stack([out * np.cos(t), out * np.sin(t), np.sin(around)])


def sample(points, n_columns, noise, rng):
    """Rows of the model over points of unit length-scale."""
    squares = ((points[:, None] - points) ** 2).sum(axis=2)
    values, vectors = np.linalg.eigh(np.exp(-0.5 * squares))
    rows = vectors * np.sqrt(np.maximum(values, 0.0)) @ rng.normal(size=(len(points), n_columns))
    return rows + noise * rng.normal(size=rows.shape)


def table(name, n, n_columns, noise, rng):
    """Rows of a table."""
    rows = rng.normal(size=(n, n_columns))
    if name == "walking rows":
        return rows.cumsum(axis=0)
    if name == "autocorrelated rows":
        return lfilter([1.0], [1.0, -0.9], rows, axis=0)
    if name == "noise":
        return rows
    return sample(shape_points(name, n, rng), n_columns, noise, rng)


def measure(index, odd):
    """A line for a table: what it is, and what was counted."""
    rng = np.random.default_rng([79, 2 * index + odd])
    facts = {
        "shape": SHAPES[index % len(SHAPES)],
        "T": int(rng.choice([80, 120, 150, 200, 300])),
        "N": int(rng.choice([60, 100, 200, 400])),
        "noise": float(rng.choice([0.3, 0.5, 0.7, 1.0])),
    }
    found = ikd_graph.topology(table(*facts.values(), rng))
    return facts | {"counted": found.betti_numbers}


def show_shapes(lines):
    """Print how often the numbers are right, by shape."""
    names = ("shape", "tables", "loops counted", "too many", "pieces counted", "voids counted")
    print(f"\n{head(*names)}")
    for name in SHAPES:
        own = [line for line in lines if line["shape"] == name]
        counted = [Counter(line["counted"][k] for line in own) for k in range(3)]
        times = [", ".join(f"{k}: {c[k]}" for k in sorted(c)) for c in counted]
        too_many = sum(line["counted"][1] > LOOPS.get(name, 0) for line in own)
        print(row(name, len(own), times[1], too_many, times[0], times[2]))
    plain = [line for line in lines if line["shape"] not in LOOPS]
    false = sum(line["counted"][1] > 0 for line in plain)
    clear = [
        line for line in lines
        if line["shape"] in RIGHT and line["N"] >= 200 and line["noise"] <= 0.7
    ]  # fmt: skip
    right = sum(line["counted"][1] == RIGHT[line["shape"]] for line in clear)
    parts = [line for line in lines if line["shape"] not in PIECES]
    print(f"\nLoops where there are none: {false} of {len(plain)} tables.")
    print(f"Right number, 200 columns or more and noise of .7 or less: {right} of {len(clear)}.")
    print(f"Pieces too many: {sum(line['counted'][0] > 1 for line in parts)} of {len(parts)}.")


def real_tables():
    """Name, loops that are known, and rows of each real table."""
    folder = Path(os.environ["IKD_GRAPH_DATA"])

    def read(name):
        return np.load(folder / f"{name}.npz", allow_pickle=True)

    heading = read("head_direction")["X"].astype(float)
    yield "days of the year, 35 stations", 1, read("canadian_weather")["X"]
    yield "heading, 1 600 bins, 19 cells", 1, heading
    yield "heading, 400 bins of 3 s", 1, heading.reshape(400, 4, -1).sum(axis=1)
    coil = read("coil20_128")
    for k in range(1, 21):
        images = coil["X"][coil["y"] == k].astype(float).reshape(-1, 32, 4, 32, 4)
        yield f"72 views of object {k}", 1, images.mean(axis=(2, 4)).reshape(len(images), -1)
    yield "iris", 0, datasets.load_iris().data
    yield "wine", 0, datasets.load_wine().data
    yield "breast cancer", 0, datasets.load_breast_cancer().data
    yield "diabetes", 0, datasets.load_diabetes().data
    yield "digits", 0, datasets.load_digits().data
    yield "incomes of states", 0, read("states_income")["X"]
    yield "spectra of meat", 0, read("meat_spectra")["X"]
    yield "cells of embryos", 0, read("guo_qpcr")["X"]
    yield "mammoth", 0, read("mammoth")["X"]
    yield "clothes", 0, read("fashion_mnist")["X_test"][:1000] / 255.0


def show_real():
    """Print what is counted on real tables."""
    print(f"\n{head('table', 'rows', 'loops known', 'pieces, loops, voids', 'p of loops', 'of')}")
    for name, known, rows in real_tables():
        found = ikd_graph.topology(rows)
        loops = found.features[found.features.degree == 1]
        least = loops.groupby("of").p_value.min()
        p_values = ", ".join(f"{of} {least.get(of, 1.0):.2g}" for of in ("rows", "map"))
        betti = ", ".join(map(str, found.betti_numbers))
        print(row(name, len(rows), known, betti, p_values, found.model.settings_.affinity))


def correlation(a, b):
    """Circular correlation of two sets of angles (Fisher and Lee 1983)."""
    a, b = np.sin(a[:, None] - a), np.sin(b[:, None] - b)
    return float((a * b).sum() / np.sqrt((a**2).sum() * (b**2).sum()))


def errors(angle, truth):
    """Absolute errors of angles, turned and mirrored as fits best."""
    ways = []
    for sign in (1.0, -1.0):
        turn = np.exp(1j * (sign * angle - truth))
        ways.append(np.abs(np.angle(turn / turn.mean())))
    return min(ways, key=np.mean)


def show_angles(odd):
    """Print how well circular coordinates follow the truth."""
    names = ("rings", "found", "correlation: median", "least", "error: median", "68 % coverage")
    print(f"\n{head(*names)}")
    for n, n_columns, noise in itertools.product((150, 300), (100, 200), (0.5, 1.0)):
        known, held = [], []
        for seed in range(odd, 20, 2):
            rng = np.random.default_rng([80, seed])
            truth = rng.uniform(0.0, 2.0 * np.pi, n)
            points = 1.6 * np.column_stack([np.cos(truth), np.sin(truth)])
            rows = sample(points, n_columns, noise, rng)
            found = ikd_graph.topology(rows, voids=False)
            if found.n_loops != 1:
                continue
            angle = found.circular_coordinate()
            known.append((abs(correlation(angle, truth)), np.median(errors(angle, truth))))
            if seed < 6:
                model = IKD().fit(rows)
                fitted = ikd_graph.topology(model, voids=False)
                if fitted.n_loops and np.isfinite(model.standard_errors_).all():
                    angle, std = fitted.circular_coordinate(return_std=True)
                    held.append(np.mean(errors(angle, truth) <= std))
        r, error = np.array(known).reshape(-1, 2).T
        coverage = f"{np.mean(held):.2f} of {len(held)} fits" if held else "-"
        name = f"{n} x {n_columns}, noise {noise}"
        print(row(name, len(r), float(np.median(r)), r.min(), float(np.median(error)), coverage))


def show_heading():
    """Print the error of the heading by the circular coordinate, by the map, and by a decoder."""
    heading = np.load(Path(os.environ["IKD_GRAPH_DATA"]) / "head_direction.npz")
    print(f"\n{head('heading', 'circular coordinate', 'angle on the map of IKD', 'decoder')}")
    for name, step in (("1 600 bins", 1), ("400 bins of 3 s", 4)):
        rows = heading["X"].astype(float).reshape(len(heading["X"]) // step, step, -1).sum(axis=1)
        circle = np.exp(1j * heading["y"]).reshape(-1, step).mean(axis=1)
        truth = np.angle(circle)
        found = ikd_graph.topology(rows, voids=False)
        points = IKD().fit_transform(rows)
        flat = np.arctan2(*(points - points.mean(axis=0)).T)
        target = np.column_stack([circle.real, circle.imag])
        x, y = cross_val_predict(KNeighborsRegressor(20), np.sqrt(rows), target, cv=5).T
        decoded = np.abs(np.angle(np.exp(1j * (np.arctan2(y, x) - truth))))
        medians = [np.median(errors(flat, truth)), np.median(decoded)]
        own = "no loop"
        if found.n_loops:
            own = f"{np.median(errors(found.circular_coordinate(), truth)):.3f}"
        print(row(name, own, *(f"{each:.3f}" for each in medians)))


def show_seconds():
    """Print what sizes cost."""
    print(f"\n{head('table', 'seconds with voids', 'without')}")
    for name, n, width in (
        ("ring", 300, 200), ("ring", 1000, 200), ("disc", 1000, 200), ("noise", 1000, 200),
        ("noise", 100_000, 50),
    ):  # fmt: skip
        rows, times = table(name, n, width, 0.7, np.random.default_rng(0)), []
        for voids in (True, False):
            begin = time.perf_counter()
            ikd_graph.topology(rows, voids=voids)
            times.append(time.perf_counter() - begin)
        print(row(f"{name}, {n} x {width}", *(f"{each:.1f}" for each in times)))


def main():
    """Print the tables of topology.md."""
    parser = options(__doc__)
    parts = ("shapes", "real", "angles", "seconds")
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="number of the first table")
    parser.add_argument("--half", choices=("even", "odd"), default="even")
    parser.add_argument("--what", nargs="+", choices=parts, default=parts)
    parser.add_argument("--out", metavar="FILE")
    given = parser.parse_args()
    odd = int(given.half == "odd")
    warnings.simplefilter("ignore")
    if "shapes" in given.what:
        show_shapes(
            resumed(given.out, given.tables, lambda index: measure(index + given.first, odd))
        )
    if "real" in given.what:
        show_real()
    if "angles" in given.what:
        show_angles(odd)
        show_heading()
    if "seconds" in given.what:
        show_seconds()


if __name__ == "__main__":
    main()
