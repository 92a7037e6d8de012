"""Does `reliability_` promise what is not there? Weak tables whose truth is known.

    OMP_NUM_THREADS=1 python benchmarks/battery/weak_reliability.py [--part K/N] [--out FILE]

Forty tables that are no samples of the model (log counts of cells on forks, stars and in zones, of
several depths; sheets mixed by softplus; ratings and questionnaires) and thirty noise-free samples
of it with 100 columns. `IKD` is fitted as it comes, with as many coordinates as the truth has.
Counted are fits whose reliability is above .85 where the affine R2 of the truth is below .6, and
those whose reliability is more than .15 above it.
"""

import argparse
import json
import zlib
from functools import partial
from pathlib import Path

import first_tables
import numpy as np
from measures import (
    CORRELATIONS,
    affine_r2,
    append,
    fitted,
    medium_latent,
    one_thread,
    peer,
    process_columns,
    settings_of,
)
from scipy.stats import spearmanr

RELIABLE, WRONG, TOO_MUCH = 0.85, 0.6, 0.15
TURN = 2.0 * np.pi


def star(rng, arms=3, n=200, n_genes=200, depth=1000.0):
    """Log counts of cells that leave one middle on several ways: place on a drawn star."""
    arm, along = rng.integers(arms, size=n), rng.random(n)
    activity = along[:, None] * (arm[:, None] == np.arange(arms))
    X = first_tables.log_counts(first_tables.transcripts(rng, activity, n_genes, depth))
    return X, along[:, None] * first_tables.circle(TURN * arm / arms)


def softplus_sheet(rng, steep=2.0, noise=0.2, n=200):
    """A flat square mixed into 80 columns, each bent by a softplus."""
    flat = rng.uniform(-1.0, 1.0, (n, 2))
    clean = np.logaddexp(0.0, steep * (flat @ rng.normal(size=(2, 80)) + rng.normal(size=80)))
    return clean + noise * clean.std() * rng.normal(size=clean.shape), flat


def known(make, rng):
    """Rows and truth of a table of `first_tables`."""
    X, truth, _ = make(rng=rng)
    return X, truth


def curve(rng, n=100):
    """A closed curve in the plane, by chance."""
    waves = np.outer(np.sort(rng.uniform(0.0, TURN, n)), np.arange(1, 4))
    return np.stack([np.cos(waves), np.sin(waves)], axis=2).reshape(n, -1) @ (
        rng.normal(size=(6, 2)) * np.repeat([2.0, 1.0, 0.6], 2)[:, None]
    )


def knot(rng, n=100):
    """A curve that winds twice and thrice about a ring."""
    t = np.sort(rng.uniform(0.0, TURN, n))
    return np.column_stack(
        [(2.0 + np.cos(3 * t))[:, None] * first_tables.circle(2 * t), np.sin(3 * t)]
    ) * (2.0 / 3.0)


def spiral(rng, n=100):
    """A spiral of one turn and a half in the plane."""
    turn = TURN * np.sort(rng.uniform(0.5, 2.0, n))
    return turn[:, None] * first_tables.circle(turn) / 3.5


SHAPES = {
    "swirl": (lambda rng: medium_latent(100), 0.5),
    "curve": (curve, 1.0),
    "knot": (knot, 0.8),
    "spiral": (spiral, 0.8),
    "cube": (lambda rng: rng.uniform(-2.0, 2.0, (100, 3)), 0.65),
}
"""Points of a generator, and the length-scale: easy for the swirl, hard for the spiral."""


def sample(rng, kernel, shape):
    """Noise-free sample of the model, 100 points, 100 columns."""
    points, length_scale = SHAPES[shape]
    latent = points(rng)
    return process_columns(rng, latent, 100, kernel, length_scale, 0.0), latent


def tables():
    """Name, group and function of a generator, of all seventy."""
    cells = {"fates": first_tables.cell_fates, "zones": first_tables.cell_zones}
    listed = []
    for depth in (200.0, 600.0, 2000.0, 6000.0):
        fates = partial(cells["fates"], n=200, n_genes=200, depth=depth)
        listed += [(f"fates {depth:.0f} {k}", partial(known, fates)) for k in range(3)]
    for arms in (2, 3):
        listed += [
            (f"star of {arms} {depth:.0f} {k}", partial(star, arms=arms, depth=depth))
            for depth in (400.0, 2000.0)
            for k in range(3)
        ]
    for depth in (200.0, 1000.0):
        zones = partial(cells["zones"], n=200, n_genes=200, depth=depth, logs=True)
        listed += [(f"zones {depth:.0f} {k}", partial(known, zones)) for k in range(2)]
    for steep in (1.0, 3.0, 6.0):
        listed += [
            (f"softplus {steep} {noise}", partial(softplus_sheet, steep=steep, noise=noise))
            for noise in (0.1, 0.5)
        ]
    for name in ("films", "hotels", "agreeing"):
        make = first_tables.TABLES[name]
        listed += [(f"{name} {k}", partial(known, make)) for k in range(2)]
    others = [(name, "no sample", make) for name, make in listed]
    samples = [
        (f"{shape} {kernel} {k}", "sample", partial(sample, kernel=kernel, shape=shape))
        for shape in SHAPES
        for kernel in CORRELATIONS
        for k in range(2)
    ]
    return others + samples


def measure(name, group, make):
    """Line of a table: R2, reliability (None where the model has none), settings."""
    X, truth = make(np.random.default_rng([36, zlib.crc32(name.encode())]))
    model, seconds = fitted(X, truth.shape[1])
    reliability = float(getattr(model, "reliability_", np.nan))
    chosen = settings_of(model)
    return {
        "table": name,
        "group": group,
        "r2": round(affine_r2(truth, model.embedding_), 4),
        "pca": round(affine_r2(truth, peer("pca", X, truth.shape[1])), 4),
        "reliability": None if np.isnan(reliability) else round(reliability, 4),
        "settings": {key: chosen[key] for key in ("affinity", "strategy", "refine")},
        "seconds": round(seconds, 2),
    }


def print_counts(lines):
    """Print the counts by group."""
    for group in ("no sample", "sample"):
        mine = [line for line in lines if line["group"] == group]
        if not mine:
            continue
        told = [line for line in mine if line["reliability"] is not None]
        high = [line for line in told if line["reliability"] > RELIABLE]
        wrong = [line["table"] for line in high if line["r2"] < WRONG]
        over = [line for line in told if line["reliability"] > line["r2"] + TOO_MUCH]
        rank = spearmanr([ln["r2"] for ln in told], [ln["reliability"] for ln in told])[0]
        print(
            f"{group}: {len(mine)} tables, mean R2 {np.mean([ln['r2'] for ln in mine]):.3f} (PCA "
            f"{np.mean([ln['pca'] for ln in mine]):.3f}); {len(told)} have a reliability, Spearman "
            f"with R2 {rank:.2f}; above {RELIABLE}: {len(high)}, of which R2 below {WRONG}: "
            f"{len(wrong)} ({', '.join(wrong) or 'none'}); above R2 by more than {TOO_MUCH}: "
            f"{len(over)}"
        )


def main():
    """Print a line a table and the counts."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--part", default="1/1", metavar="K/N", help="every N-th table from K on")
    parser.add_argument("--out", help="jsonl file to append every line to")
    parser.add_argument("--read", help="print the counts of such a file and stop")
    given = parser.parse_args()
    if given.read:
        print_counts([json.loads(line) for line in Path(given.read).read_text().splitlines()])
        return
    one_thread()
    first, step = map(int, given.part.split("/"))
    lines = []
    for name, group, make in tables()[first - 1 :: step]:
        lines.append(measure(name, group, make))
        append(given.out, lines[-1])
        line = lines[-1]
        told = "  -  " if line["reliability"] is None else f"{line['reliability']:.3f}"
        words = ", ".join(text.split("(")[0] for text in line["settings"].values())
        print(
            f"{group:10s} {name:30s} R2 {line['r2']:6.3f} (PCA {line['pca']:6.3f}) reliability "
            f"{told}  {line['seconds']:5.1f} s  {words}",
            flush=True,
        )
    print_counts(lines)


if __name__ == "__main__":
    main()
