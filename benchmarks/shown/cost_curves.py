"""Cost of every strategy: seconds and peak memory against the number of points.

    python benchmarks/shown/cost_curves.py                    # 500 to 100 000 points, where it fits
    python benchmarks/shown/cost_curves.py --largest 5000     # a minute or two

Writes cost_curves.csv, cost_curves.md and cost_curves.png beside this file. Each fit has a process
of its own, so that peaks are its own; a small fit first takes compilation out of the time. A
strategy grows no more once a fit has taken longer than --seconds or asked for too much memory.
"""

import argparse
import csv
import multiprocessing
import os
import resource
import time
import warnings
from pathlib import Path

import numpy as np
from _commit import measured

from ikd_graph import IKD

HERE = Path(__file__).parent
SIZES = (500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000)
STRATEGIES = {
    "eigen": {"strategy": "eigen", "n_landmarks": None},
    "geodesic": {"strategy": "geodesic", "n_landmarks": None},
    "blockwise": {"strategy": "blockwise"},
    "geodesic, 300 landmarks": {"strategy": "geodesic", "n_landmarks": 300},
}
MARKS = tuple(digit * 10.0**power for power in range(-3, 6) for digit in (1, 3))
COLUMNS = ("strategy", "points", "seconds", "peak megabytes", "load")


def waves(n_points):
    """Points of a surface, 100 measurements of each."""
    rng = np.random.default_rng(0)
    latent = rng.uniform(0, 4, (n_points, 2))
    return np.cos(latent @ rng.normal(size=(2, 100)) + rng.uniform(0, 2 * np.pi, 100))


def measure(settings, n_points, n_jobs, answer):
    """Fit once and send seconds and the peak of this process in megabytes."""
    warnings.simplefilter("ignore")
    model = IKD(2, graph=10, refine=None, random_state=0, n_jobs=n_jobs)
    # One affinity for all sizes; what "auto" takes for few points is not what it takes for many.
    model.set_params(affinity="correlation", **settings)
    model.fit(waves(500))
    X = waves(n_points)
    start = time.perf_counter()
    try:
        model.fit(X)
    except MemoryError as error:
        answer.send(str(error))
        return
    seconds = time.perf_counter() - start
    answer.send((seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))


def cost(settings, n_points, n_jobs, limit):
    """Seconds and megabytes of one fit, or in words why there are none."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe(duplex=False)
    child = context.Process(target=measure, args=(settings, n_points, n_jobs, theirs))
    child.start()
    theirs.close()
    try:
        # Compilation and other strategies' curves are worth waiting for, an endless fit is not.
        return ours.recv() if ours.poll(limit + 120) else f"more than {limit + 120:.0f} seconds"
    except EOFError:
        return "the process ended without an answer"
    finally:
        child.terminate()
        child.join()


def draw(rows, path):
    """Two charts, logarithmic in both directions."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4.2), layout="constrained")
    charts = figure.subplots(1, 2)
    for column, chart in zip(COLUMNS[2:4], charts, strict=True):
        for name, mark in zip(STRATEGIES, "osD^", strict=True):
            mine = [row for row in rows if row["strategy"] == name]
            x, y = [r["points"] for r in mine], [r[column] for r in mine]
            chart.loglog(x, y, f"{mark}-", markersize=5, linewidth=1.5, label=name)
        chart.set(xlabel="points", ylabel=column)
        chart.set_xticks(SIZES, [f"{size:,}".replace(",", " ") for size in SIZES], fontsize=7)
        chart.minorticks_off()
        low, high = chart.get_ylim()
        marks = [mark for mark in MARKS if low <= mark <= high]
        chart.set_yticks(marks, [f"{mark:g}" for mark in marks], fontsize=8)
        chart.grid(color="0.9", linewidth=0.8)
        chart.set_axisbelow(True)
        chart.spines[["top", "right"]].set_visible(False)
    lines, names = charts[0].get_legend_handles_labels()
    figure.legend(lines, names, loc="outside upper center", ncols=5, frameon=False, fontsize=9)
    figure.savefig(path, dpi=110, facecolor="white")


def page(rows, ends, n_jobs):
    """The table in Markdown: a row for each number of points, a column for each strategy."""
    cells = {
        (row["strategy"], row["points"]): f"{row['seconds']:.3g} s, {row['peak megabytes']} MB"
        for row in rows
    }
    sizes = sorted({row["points"] for row in rows})
    loads = [row["load"] for row in rows]
    lines = [
        "# Cost of every strategy",
        "",
        "Wall time of `fit` and peak memory of its process, written by "
        f"`python benchmarks/shown/cost_curves.py`, {measured()}. Points of a surface, "
        "100 measurements of each, two coordinates, graph of 10 neighbors, no refinement.",
        "",
        f"- {n_jobs} thread(s) (`n_jobs`), BLAS on one; {os.cpu_count()} cores, which other work "
        f"shared: load average {min(loads):.1f} to {max(loads):.1f} (column `load` of the CSV)",
        "- compilation is left out; peaks hold the libraries, nearly all of what 500 points take",
        *(f"- {name}: {why}" for name, why in ends.items()),
        "",
        "| points | " + " | ".join(STRATEGIES) + " |",
        "|---:|" + "---:|" * len(STRATEGIES),
    ]
    for size in sizes:
        found = [cells.get((name, size), "-") for name in STRATEGIES]
        lines.append(f"| {size} | " + " | ".join(found) + " |")
    return "\n".join([*lines, "", "![Seconds and megabytes by points](cost_curves.png)", ""])


def write(rows, ends, n_jobs, folder):
    """Write table and picture; called after every strategy, so that none is lost."""
    with (folder / "cost_curves.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    (folder / "cost_curves.md").write_text(page(rows, ends, n_jobs))
    draw(rows, folder / "cost_curves.png")


def main():
    """Measure, print as it goes, write the table and the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--largest", type=int, default=SIZES[-1], help="most points")
    parser.add_argument("--seconds", type=float, default=120.0, help="no larger fit after this")
    parser.add_argument("--n-jobs", type=int, default=2, help="threads")
    parser.add_argument("--out", type=Path, default=HERE, help="folder to write to")
    given = parser.parse_args()
    rows, ends = [], {}
    for name, settings in STRATEGIES.items():
        # What this compiles is kept on disk, so that no later peak holds the compiler.
        cost(settings, SIZES[0], given.n_jobs, given.seconds)
        for n_points in (size for size in SIZES if size <= given.largest):
            load = os.getloadavg()[0]
            found = cost(settings, n_points, given.n_jobs, given.seconds)
            if isinstance(found, str):
                ends[name] = f"{n_points} points: {found.split(';')[0]}"
                print(f"{name}, {ends[name]}")
                break
            values = (name, n_points, round(found[0], 3), round(found[1]), round(load, 1))
            rows.append(dict(zip(COLUMNS, values, strict=True)))
            print(f"{name}, {n_points} points: {values[2]} s, {values[3]} MB", flush=True)
            if found[0] > given.seconds and n_points < given.largest:
                ends[name] = f"no more than {n_points} points, which took {found[0]:.0f} seconds"
                break
        if rows:
            write(rows, ends, given.n_jobs, given.out)


if __name__ == "__main__":
    main()
