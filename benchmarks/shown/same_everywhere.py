"""Measure how far an embedding moves on another processor, or under other versions.

    python benchmarks/shown/same_everywhere.py [--quick] [--python NAME=PATH ...] [--output FOLDER]

The same tables, drawn once, are embedded by one process for each machine: processors are imitated
by the settings of OpenBLAS (which code for which processor it runs), of NumPy and of Numba, and
``--python`` names further interpreters with other versions installed. What is told is the largest
difference of any coordinate from the first process, after a rigid alignment (rotation, reflection
and shift, which no method promises), over the extent of the embedding. UMAP with a ``random_state``
does the same, where it is installed.

Writes same_everywhere.csv, a line for each machine, table and method, and same_everywhere.md.
"""

import argparse
import csv
import os
import subprocess
import sys
import tempfile
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
from _commit import measured
from scipy.linalg import orthogonal_procrustes

MACHINES = {
    "this one": {},
    "this one again": {},
    "Haswell": {"OPENBLAS_CORETYPE": "Haswell"},
    "Zen": {"OPENBLAS_CORETYPE": "Zen"},
    "Nehalem without AVX": {
        "OPENBLAS_CORETYPE": "Nehalem",
        "NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3 AVX512F AVX512_SKX",
    },
    "generic code of Numba": {"NUMBA_CPU_NAME": "generic"},
    "two threads": {"OMP_NUM_THREADS": "2", "NUMBA_NUM_THREADS": "2"},
}
METHODS = {
    "default": {},
    "eigen": {"strategy": "eigen", "refine": None},
    "geodesic": {"strategy": "geodesic", "refine": None},
    "blockwise": {"strategy": "blockwise", "refine": None},
    "stress": {"strategy": "geodesic", "refine": "stress"},
    "likelihood": {"strategy": "geodesic", "refine": "likelihood"},
}


def tables(quick):
    """Yield twelve tables by name, or three: real ones, samples of the model, shapes, noise."""
    from sklearn import datasets

    rng = np.random.default_rng(0)
    yield "wine", datasets.load_wine().data
    yield "Gaussian process, 80 x 100", of_the_model(80, 100, 0.5, rng)
    yield "noise", rng.normal(size=(100, 40))
    if quick:
        return
    yield "digits, 300", datasets.load_digits().data[:300]
    yield "iris", datasets.load_iris().data
    yield "breast cancer, 250", datasets.load_breast_cancer().data[:250]
    yield "roll", datasets.make_swiss_roll(300, random_state=0)[0]
    yield "Gaussian process, 120 x 200", of_the_model(120, 200, 0.5, rng)
    yield "Gaussian process, noisy", of_the_model(120, 200, 1.0, rng)
    yield "Gaussian process, 60 x 50, noisy", of_the_model(60, 50, 1.0, rng)
    angle = np.sort(rng.uniform(0.0, 2.0 * np.pi, 150))[:, None]
    yield "ring of counts", rng.poisson(3.0 * np.exp(np.cos(angle - np.linspace(0.0, 6.2, 60))))
    plane = np.stack(np.meshgrid(np.linspace(0, 1, 15), np.linspace(0, 1, 12)), -1).reshape(-1, 2)
    bent = np.column_stack([plane, np.sin(3.0 * plane)])
    yield "sheet", bent @ rng.normal(size=(4, 30)) + 0.05 * rng.normal(size=(180, 30))


def of_the_model(n, n_columns, noise, rng):
    """Columns that are Gaussian processes over a random walk in the plane, with noise."""
    walk = np.cumsum(rng.normal(size=(n, 2)), axis=0)
    walk /= walk.std()
    squares = ((walk[:, None] - walk) ** 2).sum(axis=2)
    root = np.linalg.cholesky(np.exp(-0.5 * squares) + 1e-8 * np.eye(n))
    return root @ rng.normal(size=(n, n_columns)) + noise * rng.normal(size=(n, n_columns))


def embed_all(source, path):
    """Embed every table of a file by every method, and UMAP; save all into another file."""
    from ikd_graph import IKD

    try:
        from umap import UMAP
    except ImportError:
        UMAP = None
    warnings.simplefilter("ignore")
    results = {}
    for name, X in np.load(source).items():
        for method, parameters in METHODS.items():
            if method == "likelihood" and "Gaussian" not in name:
                continue
            model = IKD(**parameters).fit(X)
            results[f"{name}|{method}"] = model.embedding_
            results[f"{name}|{method}, standard errors"] = model.standard_errors_
        if UMAP is not None:
            results[f"{name}|UMAP"] = UMAP(random_state=0, n_jobs=1).fit_transform(X)
    np.savez(path, **{key: value for key, value in results.items() if np.isfinite(value).all()})


def run(interpreter, settings, source, path):
    """Embed all in a process of its own; its results by table and method."""
    threads = {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    cache = {"NUMBA_CACHE_DIR": str(path.parent / "cache")} if "NUMBA_CPU_NAME" in settings else {}
    command = [interpreter, __file__, "--embed", str(source), str(path)]
    subprocess.run(command, env={**os.environ, **threads, **cache, **settings}, check=True)
    with np.load(path) as file:
        return dict(file)


def moves(first, second):
    """Largest difference over the extent for each result that both have."""
    for key in first.keys() & second.keys():
        table, method = key.split("|")
        before, after = first[key], second[key]
        extent = before.max()
        if not method.endswith("errors"):
            before, after = before - before.mean(axis=0), after - after.mean(axis=0)
            after = after @ orthogonal_procrustes(after, before)[0]
            extent = np.ptp(before, axis=0).max()
        yield table, method, float(np.abs(before - after).max() / extent)


def main():
    """Run every machine and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="three tables")
    parser.add_argument("--python", action="append", default=[], metavar="NAME=PATH")
    parser.add_argument("--output", type=Path, default=Path(__file__).parent)
    parser.add_argument("--embed", nargs=2, type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.embed:
        embed_all(*arguments.embed)
        return
    others = dict(each.split("=", 1) for each in arguments.python)
    machines = [(name, sys.executable, settings) for name, settings in MACHINES.items()]
    machines += [(name, path, {}) for name, path in others.items()]
    lines, first = [], None
    with tempfile.TemporaryDirectory() as folder:
        # Processes that drew their own would compare tables: a Cholesky factor moves them by 1e-8.
        source = Path(folder) / "tables.npz"
        np.savez(source, **dict(tables(arguments.quick)))
        for number, (name, interpreter, settings) in enumerate(machines):
            path = Path(folder) / f"{number}.npz"
            results = run(interpreter, settings, source, path)
            if first is None:
                first = results
                continue
            lines += [(name, *each) for each in sorted(moves(first, results))]
            of_default = [
                move for where, _, how, move in lines if (where, how) == (name, "default")
            ]
            print(f"{name}: {max(of_default):.0e}", flush=True)
    arguments.output.mkdir(parents=True, exist_ok=True)
    with open(arguments.output / "same_everywhere.csv", "w", newline="") as file:
        csv.writer(file).writerows([("machine", "table", "method", "move"), *lines])
    (arguments.output / "same_everywhere.md").write_text(summary(lines), encoding="utf-8")


def summary(lines):
    """Largest move of each method on each machine over all tables, as a table in Markdown."""
    largest = defaultdict(float)
    for machine, _, method, move in lines:
        largest[machine, method] = max(largest[machine, method], move)
    machines = list(dict.fromkeys(machine for machine, _ in largest))
    methods = [*METHODS, "UMAP", *(f"{name}, standard errors" for name in METHODS)]
    methods = [name for name in methods if any(method == name for _, method in largest)]
    rows = ["| largest move / extent | " + " | ".join(machines) + " |"]
    rows.append("|---" * (len(machines) + 1) + "|")
    for method in methods:
        shown = [
            f"{largest[machine, method]:.0e}" if (machine, method) in largest else "not run"
            for machine in machines
        ]
        rows.append(f"| {method} | " + " | ".join(shown) + " |")
    # Not seen on the page, which has a sentence of its own.
    head = f"<!-- `python benchmarks/shown/same_everywhere.py`, {measured()} -->\n\n"
    return head + "\n".join(rows) + "\n"


if __name__ == "__main__":
    main()
