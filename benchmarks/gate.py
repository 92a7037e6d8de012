"""Compare processor seconds of fits, as multiples of Isomap's, with those committed.

    python benchmarks/gate.py             # prints them; fails where one is beyond twice the other
    python benchmarks/gate.py --write     # writes gate.csv beside this file

A multiple is the median of three fits over that of scikit-learn's Isomap on 1 000 rows in the same
run, one thread, after a first fit that compiles. Seconds depend on the machine, multiples little.
"""

import argparse
import csv
import statistics
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.manifold import Isomap
from threadpoolctl import threadpool_limits

from ikd_graph import IKD

COMMITTED = Path(__file__).parent / "gate.csv"


def surface(n_rows):
    """Rows of a bent plane, 100 noisy measurements of each."""
    rng = np.random.default_rng(0)
    latent, loadings = rng.uniform(-1, 1, (n_rows, 2)), rng.normal(size=(2, 100))
    signal = np.tanh(2 * latent @ loadings + rng.normal(size=100))
    return signal + 0.1 * rng.normal(size=(n_rows, 100))


def sample(n_rows):
    """Noisy random features of a figure of eight: nearly a sample of the model."""
    rng, angle = np.random.default_rng(0), np.linspace(0, 2 * np.pi, n_rows, endpoint=False)
    latent = np.column_stack([2 * np.sin(angle), 1.3 * np.sin(2 * angle)])
    waves = np.cos(latent @ rng.normal(size=(2, 400)) + rng.uniform(0, 2 * np.pi, 400))
    return waves @ rng.normal(size=(400, 100)) / 14 + 0.5 * rng.normal(size=(n_rows, 100))


FITS = {
    "default, 300 rows": (IKD(2), surface(300)),
    "default, 1000 rows": (IKD(2), surface(1000)),
    "geodesic, 1000 rows": (IKD(2, strategy="geodesic", refine=None), surface(1000)),
    "geodesic, 3000 rows": (IKD(2, strategy="geodesic", refine=None), surface(3000)),
    "blockwise, 1000 rows": (IKD(2, strategy="blockwise", refine=None), surface(1000)),
    "blockwise, 3000 rows": (IKD(2, strategy="blockwise", refine=None), surface(3000)),
    "likelihood, 100 rows": (IKD(2, refine="likelihood", random_state=0), sample(100)),
}


def seconds(model, X):
    """Median processor seconds of three fits after a first one."""
    spent = []
    for _ in range(4):
        start = time.process_time()
        model.fit(X)
        spent.append(time.process_time() - start)
    return statistics.median(spent[1:])


def main():
    """Print multiples beside those committed, or write them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="commit to what is measured now")
    is_written = parser.parse_args().write
    warnings.simplefilter("ignore")
    with threadpool_limits(limits=1):
        unit = seconds(Isomap(n_neighbors=10), surface(1000))
        now = {name: seconds(*fit) / unit for name, fit in FITS.items()}
    if is_written:
        with COMMITTED.open("w", newline="") as file:
            rows = [(name, f"{multiple:.3g}") for name, multiple in now.items()]
            csv.writer(file, lineterminator="\n").writerows([("fit", "of Isomap's"), *rows])
    with COMMITTED.open(newline="") as file:
        before = {name: float(multiple) for name, multiple in list(csv.reader(file))[1:]}
    for name, multiple in now.items():
        print(f"{name}: {multiple:.2f} of Isomap's, committed {before[name]:.2f}")
    slower = [name for name in now if now[name] > 2 * before[name]]
    if slower:
        raise SystemExit(f"slower than twice what is committed: {', '.join(slower)}")


if __name__ == "__main__":
    main()
