"""Cost of every strategy: seconds and peak memory against the number of points.

    python examples/cost_curves.py                    # 500 to 100 000 points, where it fits
    python examples/cost_curves.py --largest 5000     # a minute

Writes cost_curves.csv, cost_curves.md and cost_curves.png beside this file. Each fit has a process
of its own, so that peaks are its own; a small fit first takes compilation out of the time. A
strategy grows no more once a fit has taken longer than --seconds or asked for too much memory.
"""

import argparse
import csv
import multiprocessing
import resource
import time
import warnings
from pathlib import Path

import numpy as np

from ikd_graph import IKD

HERE = Path(__file__).parent
SIZES = (500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000)
STRATEGIES = {
    "eigen": {"strategy": "eigen", "n_landmarks": None},
    "geodesic": {"strategy": "geodesic", "n_landmarks": None},
    "blockwise": {"strategy": "blockwise"},
    "geodesic, 300 landmarks": {"strategy": "geodesic", "n_landmarks": 300},
    "eigen, 300 landmarks": {"strategy": "eigen", "n_landmarks": 300},
}
COLUMNS = ("strategy", "points", "seconds", "peak megabytes")


def waves(n_points):
    """Points of a surface, 100 measurements of each."""
    rng = np.random.default_rng(0)
    latent = rng.uniform(0, 4, (n_points, 2))
    return np.cos(latent @ rng.normal(size=(2, 100)) + rng.uniform(0, 2 * np.pi, 100))


def measure(settings, n_points, answer):
    """Fit once and send seconds and the peak of this process in megabytes."""
    warnings.simplefilter("ignore")
    model = IKD(2, n_neighbors=10, path="distance", refine=None, random_state=0, **settings)
    if n_points > 10_000:
        # Nearest-neighbour descent is compiled anew in every process.
        model.set_params(neighbors="approximate").fit(waves(1000))
    model.set_params(neighbors="auto").fit(waves(500))
    X = waves(n_points)
    start = time.perf_counter()
    try:
        model.fit(X)
    except MemoryError as error:
        answer.send(str(error))
        return
    seconds = time.perf_counter() - start
    answer.send((seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))


def cost(settings, n_points, limit):
    """Seconds and megabytes of one fit, or in words why there are none."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    child = context.Process(target=measure, args=(settings, n_points, theirs))
    child.start()
    theirs.close()
    try:
        # Compilation and other strategies' curves are worth waiting for, an endless fit is not.
        return ours.recv() if ours.poll(limit + 120) else f"more than {limit} seconds"
    except EOFError:
        return "the process ended without an answer"
    finally:
        child.terminate()
        child.join()


def draw(rows, path):
    """Two charts, logarithmic in both directions."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, charts = pyplot.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for column, chart in zip(COLUMNS[2:], charts, strict=True):
        for name in STRATEGIES:
            mine = [row for row in rows if row["strategy"] == name]
            chart.loglog([r["points"] for r in mine], [r[column] for r in mine], "o-", label=name)
        chart.set(xlabel="points", ylabel=column)
        chart.spines[["top", "right"]].set_visible(False)
    charts[0].legend(frameon=False, fontsize=8)
    figure.savefig(path, dpi=150)


def write(rows, folder):
    """Write the table twice and the picture; called after every strategy, so that none is lost."""
    with (folder / "cost_curves.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    lines = ["| " + " | ".join(COLUMNS) + " |", "|---|---:|---:|---:|"]
    lines += ["| " + " | ".join(str(row[column]) for column in COLUMNS) + " |" for row in rows]
    (folder / "cost_curves.md").write_text("\n".join(lines) + "\n")
    draw(rows, folder / "cost_curves.png")


def main():
    """Measure, print as it goes, write the table and the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--largest", type=int, default=SIZES[-1], help="most points")
    parser.add_argument("--seconds", type=float, default=120.0, help="no larger fit after this")
    parser.add_argument("--out", type=Path, default=HERE, help="folder to write to")
    given = parser.parse_args()
    rows = []
    for name, settings in STRATEGIES.items():
        for n_points in (size for size in SIZES if size <= given.largest):
            found = cost(settings, n_points, given.seconds)
            if isinstance(found, str):
                print(f"{name}, {n_points} points: {found}")
                break
            seconds, peak = round(found[0], 3), round(found[1])
            rows.append(dict(zip(COLUMNS, (name, n_points, seconds, peak), strict=True)))
            print(f"{name}, {n_points} points: {seconds} s, {peak} MB", flush=True)
            if seconds > given.seconds:
                break
        write(rows, given.out)


if __name__ == "__main__":
    main()
