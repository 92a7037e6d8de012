"""Rows of a Dask table: how near to the truth, how fast, and in how much memory.

``python benchmarks/shown/dask_rows.py`` writes dask_rows.md, which docs/large.md shows. Its tables
of 10 000 000 and of 400 000 rows take 2.2 GB of a folder (``--folder``) while it runs.
"""

import argparse
import itertools
import statistics
import tempfile
import time
import warnings
from pathlib import Path

import dask.array as da
import numpy as np
from _commit import measured
from distributed import Client, LocalCluster

from ikd_graph import IKD

N_COLUMNS, NOISE = 50, 0.5
BLOCK = 50_000
"""Rows in a block: 10 MB."""

SAMPLES, SEEDS, N_PLACED = (1000, 3000, 10_000), range(3), 4000

SMALL, WIDE = (6.0, 4.0), (24.0, 16.0)
"""Sides of two surfaces, in length-scales."""


def latent(n, seed, sides=SMALL):
    """Points of a rectangle."""
    return np.random.default_rng([seed, 0]).uniform(size=(n, 2)) * sides


def surface(n, seed, sides=SMALL):
    """Noisy rows over these points: each column is a wave, as samples of the kernel are in sum."""
    waves = np.random.default_rng(0)
    direction, phase = waves.normal(size=(2, N_COLUMNS)), waves.uniform(0, 2 * np.pi, N_COLUMNS)
    clean = np.sqrt(2.0) * np.cos(latent(n, seed, sides) @ direction + phase)
    noise = np.random.default_rng([seed, 1]).standard_normal(clean.shape, np.float32)
    return clean.astype(np.float32) + np.float32(NOISE) * noise


def in_blocks(make, n, width, dtype):
    """Return a Dask array of blocks that a function makes of their lengths and numbers."""

    def block(block_info):
        (length, _), (number, _) = (block_info[None][k] for k in ("chunk-shape", "chunk-location"))
        return make(length, number)

    lengths = (BLOCK,) * (n // BLOCK) + ((n % BLOCK,) if n % BLOCK else ())
    return da.map_blocks(block, chunks=(lengths, width), dtype=dtype, meta=np.empty((0, 0), dtype))


def affine_r2(Z, truth):
    """R² of the truth as a linear function of coordinates, arrays of numpy or of Dask."""
    Z, truth = da.asarray(Z, dtype=np.float64), da.asarray(truth)
    both = da.hstack([Z - Z.mean(axis=0), truth - truth.mean(axis=0)])
    gram = np.asarray((both.T @ both).compute())
    m = Z.shape[1]
    explained = gram[m:, :m] @ np.linalg.solve(gram[:m, :m], gram[:m, m:])
    return float(np.trace(explained) / np.trace(gram[m:, m:]))


def samples():
    """Yield lines of a table: samples of several sizes, and rows that are placed by them."""
    columns = ("surface", "rows fitted", "R² of these", "R² of placed rows")
    yield line([*columns, "seconds of the fit", "rows placed a second"])
    yield line(["---"] * 6)
    for sides, size in itertools.product((SMALL, WIDE), SAMPLES):
        measured = []
        for seed in SEEDS:
            own, new = (size, 2 * seed, sides), (N_PLACED, 2 * seed + 1, sides)
            X, rows = surface(*own), surface(*new)
            begun = time.perf_counter()
            model = IKD(2).fit(X)
            fitted = time.perf_counter()
            Z = model.transform(rows)
            rate = N_PLACED / (time.perf_counter() - fitted)
            r2 = affine_r2(model.embedding_, latent(*own)), affine_r2(Z, latent(*new))
            measured.append((*r2, fitted - begun, rate))
        fit, new, seconds, rate = map(statistics.median, zip(*measured, strict=True))
        name = "{:.0f} by {:.0f}".format(*sides)
        yield line([name, size, f"{fit:.3f}", f"{new:.3f}", f"{seconds:.1f}", f"{rate:.0f}"])


def peak_memory():
    """Return the largest memory of this process so far, in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1000


def warmed():
    """Return nothing, after the code of a fit and of placing is loaded."""
    X = surface(300, 0)
    IKD(2).fit(X[:200]).transform(X)


def placed(source, target, n_workers):
    """Return seconds of the fit, of all rows and of processors, memory, and the model.

    Rows are read from a folder of .npy files and coordinates written to another.
    """
    X = da.from_npy_stack(source)
    # The largest memory is counted anew.
    Path("/proc/self/clear_refs").write_text("5")
    with (
        LocalCluster(n_workers=n_workers, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        client.run(warmed)
        begun = time.perf_counter()
        model = IKD(2).fit(X)
        fitted, worked = time.perf_counter(), sum(client.run(time.process_time).values())
        da.to_npy_stack(target, model.embedding_)
        seconds = fitted - begun, time.perf_counter() - fitted
        worked = sum(client.run(time.process_time).values()) - worked
        return *seconds, worked, peak_memory(), max(client.run(peak_memory).values()), model


def large(n, few, folder):
    """Yield lines of a table: all rows of large tables, by one worker and by two."""
    columns = ("rows", "workers", "fit, s", "all rows, s", "rows a second of a core")
    yield line([*columns, "MB, client", "MB, worker", "R²"])
    yield line(["---"] * 8)
    for size, numbers in ((few, (1, 2)), (n, (2,))):
        source, kept = folder / f"{size}", []
        da.to_npy_stack(source, in_blocks(surface, size, N_COLUMNS, np.float32))
        truth = in_blocks(latent, size, 2, np.float64)
        for n_workers in numbers:
            target = folder / f"{size}-{n_workers}"
            fit, all_rows, worked, client, worker, model = placed(source, target, n_workers)
            kept.append(da.from_npy_stack(target))
            rate = size / worked
            cells = (f"{fit:.1f}", f"{all_rows:.1f}", f"{rate:.0f}", f"{client:.0f}")
            r2 = f"{affine_r2(kept[-1], truth):.4f}"
            yield line([size, n_workers, *cells, f"{worker:.0f}", r2])
        first = model.embedding_.blocks[0].compute(scheduler="synchronous")
        assert all(np.array_equal(Z.blocks[0].compute(), first) for Z in kept)
        assert bool((kept[0] == kept[-1]).all().compute())


def line(cells):
    """A line of a table."""
    return "| " + " | ".join(map(str, cells)) + " |"


def main():
    """Write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--few", type=int, default=400_000)
    parser.add_argument("--folder", help="where tables are put while it runs")
    given = parser.parse_args()
    # Graphs are large by the model in them; weak maps of small samples are what is measured.
    warnings.filterwarnings("ignore", category=UserWarning)
    warmed()
    lines = [
        "# Rows of a Dask table\n",
        f"`python benchmarks/shown/dask_rows.py`, one thread, {measured()}.",
        "Rows have 50 columns of float32 over",
        "a surface, whose sides are in length-scales, with noise of half their standard deviation;",
        "R² is that of the true coordinates. Samples of several sizes, and 4000 other rows that",
        "they place, medians of three tables:\n",
    ]
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        large_lines = large(given.rows, given.few, Path(folder))
        head = [
            "\nAll rows over the first surface, from .npy files on disk to others, by processes of",
            "one thread each, on a machine that other work shared. Memory is the largest of a",
            "process:\n",
        ]
        for part in (samples(), head, large_lines):
            for text in part:
                print(text, flush=True)
                lines.append(text)
    Path(__file__).with_suffix(".md").write_text("\n".join([*lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
