"""New rows that a map places in a second, by what it was fitted to.

``OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1 python benchmarks/shown/placing.py`` writes placing.md, of
docs/large.md. Second calls, processor seconds.
"""

import time
import warnings
from pathlib import Path

import numpy as np
from _commit import measured
from threadpoolctl import threadpool_limits

from ikd_graph import IKD

CLOSED = {"affinity": "euclidean", "strategy": "geodesic", "refine": None}
N_NEW, N_COLUMNS = 10_000, 100


def surface(n):
    """Rows of a bent surface."""
    rng = np.random.default_rng(0)
    inputs = 2.0 * rng.uniform(-1.0, 1.0, (n, 2)) @ rng.normal(size=(2, N_COLUMNS))
    return np.tanh(inputs + rng.normal(size=N_COLUMNS)) + 0.1 * rng.normal(size=(n, N_COLUMNS))


def samples(n):
    """Samples of the model over a figure of eight, under noise."""
    rng = np.random.default_rng(0)
    along = 2.0 * np.pi * rng.random(n)
    points = np.column_stack([2.0 * np.sin(along), 1.3 * np.sin(2.0 * along)])
    waves = np.cos(points @ rng.normal(size=(2, 400)) + rng.uniform(0.0, 2.0 * np.pi, 400))
    clean = waves @ rng.normal(size=(400, N_COLUMNS)) / np.sqrt(200.0)
    return clean + 0.5 * rng.normal(size=(n, N_COLUMNS))


CASES = {
    "1 000 rows, closed form": (surface, 1000, np.float64, CLOSED),
    "1 000 rows, default": (surface, 1000, np.float64, {}),
    "10 000 rows, closed form": (surface, 10_000, np.float64, CLOSED),
    "20 000 rows of float32, closed form": (surface, 20_000, np.float32, CLOSED),
    "1 000 samples of the model, likelihood": (samples, 1000, np.float64, {}),
}


def main():
    """Write the table."""
    warnings.simplefilter("ignore")
    # Not seen on the page, which has a sentence of its own.
    lines = [f"<!-- `python benchmarks/shown/placing.py`, one thread, {measured()} -->\n"]
    lines += ["| fitted | rows placed a second |", "|---|---|"]
    for name, (make, n, dtype, settings) in CASES.items():
        rows = make(n + N_NEW).astype(dtype)
        model = IKD(2, **settings).fit(rows[:n])
        model.transform(rows[n:])
        begin = time.process_time()
        model.transform(rows[n:])
        rate = N_NEW / (time.process_time() - begin)
        lines.append(f"| {name} | {float(f'{rate:.2g}'):.0f} |")
        print(lines[-1], flush=True)
    Path(__file__).with_suffix(".md").write_text("\n".join([*lines, ""]))


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
