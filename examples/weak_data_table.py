"""Weakly correlated data: the automatic graph and graphs chosen by a false discovery rate.

`python weak_data_table.py --seeds 10 11 12 13 14` appends what is missing to weak_data.csv and
writes weak_data.md from it: accuracy of both strategies, plain and with stress, on three graphs, of
`IKD()`, Isomap and PCA, and what a false discovery rate says about the edges.
"""

import argparse
import csv
import itertools
import time
import warnings
from pathlib import Path

import numpy as np
from scipy import stats
from sklearn.decomposition import PCA
from sklearn.manifold import Isomap

from ikd_graph import IKD, cliques, covariance, graph
from ikd_graph.study.datasets import add_noise, gp_mapping
from ikd_graph.study.datasets.latents import ou_latent
from ikd_graph.study.metrics import affine_r2

HERE = Path(__file__).parent
KEYS = ("points", "N", "sd", "latent", "seed")
LATENTS = ("walk", "cloud", "ring")
RATES = {"FDR 5 %": 0.05, "FDR 0.1 %": 0.001}
WAYS = tuple(itertools.product(("blockwise", "geodesic"), (None, "stress")))
# Beside a threshold, neighbours keep every point in the graph, as many as the automatic rule takes.
NEIGHBORS = {"blockwise": 4, "geodesic": 6}
# The points that are true neighbours of nothing correlate less than this without noise.
NOTHING = 0.01
# Of 1000 points fewer settings and seeds: a fit takes a second.
GRIDS = {200: ((20, 50, 100, 200), (0.0, 0.3, 0.5, 1.0, 1.5)), 1000: ((20, 50, 100), (0.5, 1.5))}
TOLERANCE = 0.02


def make(latent, n_points, n_columns, sd, seed):
    """Measurements of a Gaussian process with noise, and the latent in its length-scales."""
    rng = np.random.default_rng([seed, n_points, n_columns])
    if latent == "walk":
        points = ou_latent(n_points, 2, variance=2.0, time_scale=5.0, seed=rng)
    elif latent == "cloud":
        points = rng.uniform(0.0, 1.0, (n_points, 2)) * [6.0, 4.0]
    else:
        angle = rng.uniform(0.0, 2.0 * np.pi, n_points)
        points = 2.0 * np.column_stack([np.cos(angle), np.sin(angle)])
    return add_noise(gp_mapping(points, n_columns, seed=rng), sd, seed=rng), points


def significant_above(corr, n_columns, rate):
    """Threshold of Benjamini and Hochberg (1995), and the pairs above it.

    A correlation of nothing in N Gaussian columns, row means taken off, has r sqrt((N - 2) / (1 -
    r^2)) distributed as t with N - 2 degrees of freedom, whatever the noise of the rows: noise
    makes true correlations smaller and leaves nothing what it is. One-sided. None without a pair.
    """
    values = np.sort(corr[np.triu_indices(len(corr), 1)])[::-1]
    p = stats.t.sf(values * np.sqrt((n_columns - 2) / (1.0 - values**2)), n_columns - 2)
    below = np.flatnonzero(p <= rate * np.arange(1, p.size + 1) / p.size)
    return (float(values[below[-1]]), int(below[-1]) + 1) if below.size else (None, 0)


def describe(corr, points, threshold, count):
    """What is left above a threshold: false pairs, points with an edge, maximal cliques."""
    if threshold is None:
        return {"edges": 0, "false": 0, "kept": 0.0, "cliques": 0}
    g = graph.threshold_graph(corr, threshold * (1.0 - 1e-12))
    left, right, _ = graph.edges(g)
    true = np.exp(-0.5 * ((points[left] - points[right]) ** 2).sum(axis=1))
    found = cliques.maximal_cliques(g, min_size=4, limit=10_000) if count else ()
    return {
        "edges": left.size,
        "false": int(np.sum(true < NOTHING)),
        "kept": float(np.mean(np.diff(g.indptr) > 0)),
        "cliques": len(found),
    }


def look(n_points, n_columns, sd, latent, seed, *, default):
    """Accuracy of every method on one table."""
    X, points = make(latent, n_points, n_columns, sd, seed)
    small = n_points <= 200
    row = {}
    corr = covariance.correlation(X)
    rules = {"automatic": {}}
    for name, rate in RATES.items():
        s0, _ = significant_above(corr, n_columns, rate)
        rules[name] = {"affinity": "correlation", "threshold": s0}
        said = describe(corr, points, s0, small and rate == 0.001)
        row |= {f"{name}: {what}": value for what, value in said.items()}
        row[f"{name}: threshold"] = 1.0 if s0 is None else s0
    if not small:
        del rules["FDR 5 %"]
    for (name, rule), (strategy, refine) in itertools.product(rules.items(), WAYS):
        k = {"n_neighbors": NEIGHBORS[strategy]} if rule else {}
        Z = IKD(strategy=strategy, refine=refine, **rule, **k).fit_transform(X)
        row[f"{name}: {label(strategy, refine)}"] = affine_r2(points, Z)
    if default:
        row["IKD()"] = affine_r2(points, IKD().fit_transform(X))
    row["Isomap"] = affine_r2(points, Isomap(n_components=2).fit_transform(X))
    row["PCA"] = affine_r2(points, PCA(2).fit_transform(X))
    return row


def label(strategy, refine):
    """Name of a way."""
    return strategy + (f", {refine}" if refine else "")


def measured(path, seeds):
    """Rows of the file, those that are missing appended."""
    rows = list(csv.DictReader(path.open())) if path.exists() else []
    known = {key_of(row[key] for key in KEYS) for row in rows}
    for n_points, (widths, noises) in GRIDS.items():
        some = seeds if n_points == 200 else seeds[:3]
        for at in itertools.product(widths, noises, LATENTS, some):
            if key_of((n_points, *at)) in known:
                continue
            begin = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                # `IKD()` searches a likelihood for tens of seconds: three seeds of most settings.
                default = at[0] <= 100 and at[1] not in (0.3, 1.0) and at[-1] in seeds[:3]
                row = look(n_points, *at, default=default)
            row["cpu"] = time.process_time() - begin
            rows.append(dict(zip(KEYS, (n_points, *at), strict=True)) | row)
            write(path, rows)
    return [{k: v if k == "latent" else number(v) for k, v in row.items()} for row in rows]


def key_of(values):
    """A setting as the file has it."""
    return tuple(v if v in LATENTS else float(v) for v in values)


def number(text):
    """A cell of the file as a float, NaN where nothing was measured."""
    return float(text) if text not in ("", None) else np.nan


def write(path, rows):
    """Rows as a file with all columns that any has."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        for row in rows:
            writer.writerow({k: f"{v:.4g}" if isinstance(v, float) else v for k, v in row.items()})


def column(rows, name):
    """Values of a column, NaN where it was not measured."""
    return np.array([row.get(name, np.nan) for row in rows], dtype=float)


def spread(values):
    """Mean and standard deviation of what was measured, in words."""
    values = values[np.isfinite(values)]
    if values.size == 0:
        return "-"
    return f"{values.mean():.2f}" + (f" ± {values.std(ddof=1):.2f}" if values.size > 1 else "")


def change(values):
    """Mean of paired differences and its standard error, in words."""
    values = values[np.isfinite(values)]
    return f"{values.mean():+.3f} ± {values.std(ddof=1) / np.sqrt(values.size):.3f}"


def cells(rows, keys):
    """Rows by setting."""
    found = {}
    for row in rows:
        found.setdefault(tuple(row[key] for key in keys), []).append(row)
    return found


def table(head, lines):
    """Markdown."""
    return "\n".join(
        f"| {' | '.join(map(str, line))} |" for line in [head, ["---"] * len(head), *lines]
    )


def accuracy(rows):
    """Accuracy by setting: the automatic graph and the others of the package's field."""
    ways = [label(*way) for way in WAYS]
    names = [f"automatic: {way}" for way in ways] + ["IKD()", "Isomap", "PCA"]
    head = ["points", "N", "sd", *ways, *names[4:]]
    lines = [
        [*(f"{x:g}" for x in at), *(spread(column(some, name)) for name in names)]
        for at, some in cells(rows, KEYS[:3]).items()
    ]
    return table(head, lines)


def differences(rows):
    """What graphs of a false discovery rate gain over the automatic one."""
    lines = []
    parts = {
        "200 points, N < 100": lambda r: r["points"] == 200 and r["N"] < 100,
        "200 points, N >= 100": lambda r: r["points"] == 200 and r["N"] >= 100,
        "1000 points": lambda r: r["points"] == 1000,
    }
    for name, (part, belongs) in itertools.product(RATES, parts.items()):
        some = [row for row in rows if belongs(row)]
        gains = [
            column(some, f"{name}: {label(*way)}") - column(some, f"automatic: {label(*way)}")
            for way in WAYS
        ]
        if np.isfinite(gains[0]).any():
            lines.append([name, part, *map(change, gains)])
    return table(["graph", "data", *(label(*way) for way in WAYS)], lines)


def signal(rows):
    """What a false discovery rate says about the edges."""
    lines = []
    for at, some in cells(rows, KEYS[:3]).items():
        line = [f"{x:g}" for x in at]
        for name, rate in RATES.items():
            edges, false = column(some, f"{name}: edges"), column(some, f"{name}: false")
            line += [
                f"{column(some, f'{name}: threshold').mean():.2f}",
                f"{edges.mean():.0f}",
                f"{rate * edges.mean():.1f}",
                f"{false.mean():.1f}",
                f"{column(some, f'{name}: kept').mean():.0%}",
            ]
        found = column(some, "FDR 0.1 %: cliques").mean() if at[0] == 200 else np.nan
        lines.append([*line, "-" if np.isnan(found) else f"{found:.0f}"])
    each = ("threshold", "edges", "expected false", "false", "points with an edge")
    head = [*KEYS[:3], *(f"{name}: {what}" for name in RATES for what in each)]
    return table([*head, "FDR 0.1 %: cliques"], lines)


def shortfalls(rows):
    """Settings where the package is more than the tolerance below the better of the two."""
    lines, n = [], 0
    named = [f"automatic: {label(*way)}" for way in WAYS]
    for at, some in cells(rows, KEYS[:4]).items():
        where = [*(f"{x:g}" for x in at[:3]), at[3]]
        best = max(named, key=lambda name, some=some: column(some, name).mean())
        for who, name in (("best named", best), ("IKD()", "IKD()")):
            have = [row for row in some if np.isfinite(row.get(name, np.nan))]
            if not have:
                continue
            n += 1
            other = max(("Isomap", "PCA"), key=lambda one, have=have: column(have, one).mean())
            gap = column(have, name) - column(have, other)
            if gap.mean() < -TOLERANCE:
                error = f"{gap.std(ddof=1) / np.sqrt(gap.size):.3f}" if gap.size > 1 else "-"
                value = f"{column(have, name).mean():.3f}"
                lines.append([*where, who, value, other, f"{gap.mean():+.3f}", error, gap.size])
    head = [*KEYS[:4], "", "R²", "better", "difference", "standard error", "tables"]
    return f"{len(lines)} of {n}:\n\n{table(head, lines)}" if lines else f"None of {n}."


def page(rows):
    """The whole text."""
    seeds = sorted({int(row["seed"]) for row in rows})
    command = f"python weak_data_table.py --seeds {' '.join(map(str, seeds))}"
    minutes = column(rows, "cpu").sum() / 60.0
    return f"""# Weakly correlated data

R² of the latent after affine alignment, written by `{command}`
({minutes:.0f} CPU minutes). Three latents in the plane (a walk, a cloud and a ring, in units of the
length-scale), N samples of a Gaussian process over each with the squared exponential kernel and
variance 1, and noise of standard deviation sd. Mean ± standard deviation over the three latents and
{len(seeds)} seeds; `IKD()`, which takes 5 to 35 s a table, and 1000 points have three seeds and not
all settings (-).

{accuracy(rows)}

## Graphs of a false discovery rate

Which correlations are signal? Benjamini and Hochberg's threshold over all T (T - 1) / 2 pairs, from
the t distribution of a correlation of nothing in N columns, united with the
{NEIGHBORS["geodesic"]} nearest neighbours of each point ({NEIGHBORS["blockwise"]} for cliques), as
the automatic rule has it for N >= 100. For cliques of fewer columns that rule is a rate too, of
1e-5 of all unrelated pairs, whatever the table, with 6 neighbours. Change of R² against the
automatic graph in the same data, with its standard error:

{differences(rows)}

A rate of 5 % keeps what it promises, fewer false edges than expected, and makes worse graphs: a
correlation that is surely not zero may be far too small to be a distance, whose error grows as
1 / r. That is why the automatic rule asks for five standard errors or for one pair in 100 000, and
none of these rates is a setting of the package.

What it says about the edges. False are pairs whose true correlation is below {NOTHING:g}; cliques
are maximal ones of at least four points, counted up to 10 000:

{signal(rows)}

## Where Isomap or PCA is better

Settings in which a strategy (the best of the four on the automatic graph) or the default is more
than {TOLERANCE:g} below the better of Isomap and PCA. {shortfalls(rows)}
"""


def write_page(description, seeds, name, measured, page):
    """Measure what is missing in the table of a name and write its page, as a command."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--seeds", nargs="+", type=int, default=seeds)
    parser.add_argument("--out", type=Path, default=HERE / f"{name}.md")
    asked = parser.parse_args()
    rows = measured(asked.out.with_suffix(".csv"), tuple(asked.seeds))
    asked.out.write_text(page(rows), encoding="utf-8")


if __name__ == "__main__":
    write_page(__doc__, (10, 11, 12, 13, 14), "weak_data", measured, page)
