"""Edges that are false: noisy rolls, whose turns come near one another, and damaged covariances.

`python false_edges_table.py --rolls 600 601 602 603 604 --damaged 620 621 622` appends what is
missing to false_edges.csv and writes false_edges.md from it: accuracy of both strategies, with
suspicious edges dropped, as is the default, and kept, and what anybody could reach.
false_edges_peer.csv, where it is there, has what pyLDLE2 makes of some of the rolls
(false_edges_peer.py).
"""

import argparse
import csv
import itertools
import time
import warnings
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree
from sklearn.datasets import make_swiss_roll
from sklearn.manifold import Isomap
from weak_data_table import cells, column, table

from ikd_graph import IKD, covariance, graph
from ikd_graph.study.datasets import gp_mapping
from ikd_graph.study.datasets.latents import ou_latent
from ikd_graph.study.metrics import affine_r2

HERE = Path(__file__).parent
STRATEGIES = ("blockwise", "geodesic")
ENDS = ("", ", stress", ", edges kept")
KNOWN = ("along the sheet", "true neighbours")
KEYS = ("data", "points", "damage", "k", "seed")
ROLLS = ((500, 1000, 3000), (0.1, 0.3, 0.5), (10, 14, 20, 30))
LATENTS = ("walk", "knot", "sheet")
SIZES = (300, 1000)
SHARES = (0.0, 0.005, 0.01, 0.02, 0.05)
COLUMNS = 200
FAR = 0.3
MOST_KEPT = 300

TIMED = 5  # fits whose median time is told


def along(turn):
    """Length of a roll up to an angle."""
    return 0.5 * (turn * np.sqrt(1.0 + turn * turn) + np.arcsinh(turn))


def roll(n_points, noise, seed):
    """Swiss roll with noise, and the latent it was rolled up from, by length along its turns."""
    X, turn = make_swiss_roll(n_points, noise=noise, random_state=seed)
    height = make_swiss_roll(n_points, noise=0.0, random_state=seed)[0][:, 1]
    return X, np.column_stack([along(turn), height])


def moved(X):
    """Where in the latent the nearest points of a roll without noise lie.

    What noise does along the sheet nobody can undo.
    """
    turns = np.linspace(1.0 * np.pi, 5.0 * np.pi, 40000)
    curve = np.column_stack([turns * np.cos(turns), turns * np.sin(turns)])
    nearest = cKDTree(curve).query(X[:, [0, 2]])[1]
    return np.column_stack([along(turns[nearest]), X[:, 1]])


def latent_points(latent, n_points, rng):
    """Points of a latent in units of the length-scale."""
    if latent == "walk":
        return ou_latent(n_points, 2, variance=2.0, time_scale=5.0, seed=rng)
    if latent == "sheet":
        return rng.uniform(0.0, 1.0, (n_points, 2)) * [6.0, 4.0]
    angle = np.sort(rng.uniform(0.0, 2.0 * np.pi, n_points))
    wide = 2.0 + np.cos(3.0 * angle)
    knot = [wide * np.cos(2.0 * angle), wide * np.sin(2.0 * angle), np.sin(3.0 * angle)]
    # Small enough for its ends to correlate: what unrolls is not found again.
    return 0.5 * np.column_stack(knot)


def damaged(latent, n_points, share, seed):
    """Sample correlations with a share of all pairs replaced by .9 to .99, the latent, the pairs.

    Replaced are pairs that hardly correlate, so that each is false.
    """
    rng = np.random.default_rng([seed, n_points, LATENTS.index(latent)])
    points = latent_points(latent, n_points, rng)
    corr = covariance.correlation(gp_mapping(points, COLUMNS, seed=rng))
    left, right = np.nonzero(np.triu(corr < FAR, 1))
    taken = rng.choice(left.size, round(share * n_points * (n_points - 1) / 2), replace=False)
    left, right = left[taken], right[taken]
    corr[left, right] = corr[right, left] = rng.uniform(0.9, 0.99, taken.size)
    return corr, points, left * n_points + right


def fitted(X, points, fits=1, **settings):
    """R² of the latent, the median of processor seconds of some fits, and the last of them."""
    seconds = []
    for _ in range(fits):
        begin = time.process_time()
        found = IKD(points.shape[1], **{"refine": None} | settings).fit(X)
        seconds.append(time.process_time() - begin)
    return affine_r2(points, found.embedding_), float(np.median(seconds)), found


def look_at_roll(n_points, noise, k, seed):
    """Both strategies on one roll, protected and not."""
    X, points = roll(n_points, noise, seed)
    row, settings = {}, {"affinity": "euclidean", "n_neighbors": k}
    flat = moved(X)
    row["along the sheet"] = affine_r2(points, flat)
    row["true neighbours"] = affine_r2(points, Isomap(n_neighbors=k).fit_transform(flat))
    for strategy in STRATEGIES:
        row[strategy], row[f"{strategy} s"], _ = fitted(
            X, points, TIMED, strategy=strategy, **settings
        )
        polished = fitted(X, points, strategy=strategy, refine="stress", **settings)
        row[f"{strategy}, stress"] = polished[0]
        kept = fitted(X, points, strategy=strategy, keep_edges=True, **settings)
        row[f"{strategy}, kept"] = kept[0]
    return row


def look_at_damage(latent, n_points, share, _, seed):
    """Both strategies on one damaged covariance, and what they said of the edges."""
    corr, points, false = damaged(latent, n_points, share, seed)
    row, settings = {}, {"affinity": "precomputed"}
    for strategy in STRATEGIES:
        row[strategy], row[f"{strategy} s"], found = fitted(
            corr, points, strategy=strategy, **settings
        )
        removed = found.removed_edges_.pairs @ [n_points, 1]
        left, right, _ = graph.edges(found.graph_)
        wrong, missed = np.isin(removed, false), np.isin(left * n_points + right, false)
        row[f"{strategy}: false edges"] = int(wrong.sum() + missed.sum())
        row[f"{strategy}: found"] = int(wrong.sum())
        row[f"{strategy}: true edges"] = int((~wrong).sum() + (~missed).sum())
        row[f"{strategy}: lost"] = int((~wrong).sum())
        # A large covariance full of false edges has more cliques than there is time for.
        kept = np.nan
        if n_points <= MOST_KEPT:
            kept, *_ = fitted(corr, points, strategy=strategy, keep_edges=True, **settings)
        row[f"{strategy}, kept"] = kept
    return row


def measured(path, on_rolls, on_damaged):
    """Rows of the file, those that are missing appended."""
    look_at_roll(500, 0.1, 10, 0)  # compiled code is loaded before times count
    rows = read(path)
    known = {tuple(row[key] for key in KEYS) for row in rows}
    asked = itertools.product(("roll",), *ROLLS, on_rolls)
    for size in SIZES:
        # A fit of 1000 points takes seconds: one seed less.
        some = on_damaged if size <= MOST_KEPT else on_damaged[: max(len(on_damaged) - 1, 1)]
        asked = itertools.chain(asked, itertools.product(LATENTS, (size,), SHARES, ("",), some))
    for key in asked:
        if tuple(map(text, key)) in known:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            row = look_at_roll(*key[1:]) if key[0] == "roll" else look_at_damage(*key)
        rows.append(dict(zip(KEYS, key, strict=True)) | row)
        write(path, rows)
    return [{k: v if k in ("data",) else number(v) for k, v in row.items()} for row in rows]


def read(path):
    """Rows of a file as text, none where there is none."""
    if not path.exists():
        return []
    with path.open() as file:
        return list(csv.DictReader(file))


def text(value):
    """A value as the file has it."""
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def number(cell):
    """A cell of the file as a float, NaN where nothing was measured."""
    return float(cell) if cell not in ("", None) else np.nan


def write(path, rows):
    """Rows as a file with all columns that any has."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        for row in rows:
            writer.writerow({k: text(v) for k, v in row.items()})


def median_and_worst(values):
    """Median and least, in words."""
    return f"{np.median(values):.4f} ({values.min():.4f})"


def rolls(rows):
    """Accuracy on rolls."""
    lines = []
    for at, some in cells(rows, KEYS[1:4]).items():
        line = [f"{value:g}" for value in at]
        line += [f"{np.median(column(some, known)):.4f}" for known in KNOWN]
        for strategy in STRATEGIES:
            line += [median_and_worst(column(some, f"{strategy}{end}")) for end in ("", ", stress")]
            line.append(f"{np.median(column(some, f'{strategy}, kept')):.3f}")
        lines.append([*line, *(f"{np.median(column(some, f'{s} s')):.2f}" for s in STRATEGIES)])
    head = ["points", "noise", "k", *KNOWN]
    head += [f"{strategy}{end}" for strategy in STRATEGIES for end in ENDS]
    return table([*head, *(f"{strategy}: CPU s" for strategy in STRATEGIES)], lines)


def short(rows, line):
    """How many single tables each strategy has below a line, by size and noise."""
    polished = [f"{strategy}{end}" for strategy in STRATEGIES for end in ENDS[:2]]
    lines = []
    for at, some in cells(rows, KEYS[1:3]).items():
        counts = [f"{np.sum(column(some, s) < line)} of {len(some)}" for s in (*polished, *KNOWN)]
        lines.append([*(f"{value:g}" for value in at), *counts])
    return table(["points", "noise", *polished, *KNOWN], lines)


def damages(rows):
    """Accuracy on damaged covariances."""
    lines = []
    for at, some in cells(rows, ("data", "points", "damage")).items():
        clean = [row for row in rows if all(row[key] == at[i] for i, key in enumerate(KEYS[:2]))]
        clean = [row for row in clean if row["damage"] == 0.0]
        line = [at[0], f"{at[1]:g}", f"{at[2]:.1%}"]
        for strategy in STRATEGIES:
            false, true = (
                column(some, f"{strategy}: {kind} edges").sum() for kind in ("false", "true")
            )
            found = column(some, f"{strategy}: found").sum()
            drop = column(some, strategy) - column(clean, strategy)
            line += [
                median_and_worst(column(some, strategy)),
                f"{drop.mean():+.4f}",
                f"{found / false:.1%}" if false else "-",
                f"{column(some, f'{strategy}: lost').sum() / true:.2%}",
                f"{np.median(column(some, f'{strategy}, kept')):.3f}"
                if at[1] <= MOST_KEPT
                else "-",
            ]
        lines.append(line)
    each = ("", ": change", ": false found", ": true dropped", ", edges kept")
    head = [f"{strategy}{what}" for strategy in STRATEGIES for what in each]
    return table(["latent", "points", "false pairs", *head], lines)


def page(rows, peer):
    """The whole text."""
    on_rolls = [row for row in rows if row["data"] == "roll"]
    others = [row for row in rows if row["data"] != "roll"]
    seeds = [sorted({int(row["seed"]) for row in some}) for some in (on_rolls, others)]
    told = [" ".join(map(str, some)) for some in seeds]
    return f"""# False edges

Written by `python false_edges_table.py --rolls {told[0]} --damaged {told[1]}`, with
`refine=None`; R² of the latent after affine alignment. Edges that the others speak against are
dropped by default (`removed_edges_` lists them); "edges kept" is `keep_edges=True`.

## Noisy rolls

Swiss rolls, `affinity="euclidean"`, `n_neighbors=k`: median of {len(seeds[0])} seeds, and the
least; "stress" is `refine="stress"`; processor seconds are medians of {TIMED} fits. Two columns
tell what can be reached. "Along the sheet": the latent with the noise that lies in the sheet, which
nobody can undo. "True neighbours": shortest paths over the k nearest in that latent, unrolled, so
that no edge is false and no length wrong; shortest paths over few neighbours are no better.

{rolls(on_rolls)}

Single tables with R² below .99 and, where the fit went wrong, below .9:

{short(on_rolls, 0.99)}

{short(on_rolls, 0.9)}
{peer}
## Damaged covariances

A share of all pairs of points, chosen among those that correlate less than {FAR:g}, gets a
correlation of .9 to .99; {COLUMNS} samples of a Gaussian process with the squared exponential
kernel lie behind the others. Median of {len(seeds[1])} seeds (fewer of 1000 points, and not all
shares), the least, and the mean change from the same tables undamaged.

{damages(others)}
"""


def peers(path, rows):
    """pyLDLE2 beside the blockwise strategy, from a file of its own where there is one."""
    measured_there = read(path)
    if not measured_there:
        return ""
    ours = {tuple(row[key] for key in KEYS[1:]): row for row in rows if row["data"] == "roll"}
    lines = []
    for theirs in measured_there:
        row = ours[tuple(float(theirs[key]) for key in KEYS[1:])]
        at = [theirs[key] for key in KEYS[1:]]
        seconds = float(theirs["seconds"])
        both = [f"{float(theirs['R2']):.4f}", f"{row['blockwise']:.4f}", f"{seconds:.1f}"]
        lines.append(
            [*at, *both, f"{row['blockwise s']:.2f}", f"{seconds / row['blockwise s']:.0f}"]
        )
    head = [*KEYS[1:], "pyLDLE2", "blockwise", "pyLDLE2: CPU s", "blockwise: CPU s", "ratio"]
    head[1] = "noise"
    return f"""
pyLDLE2 0.1.21 (local views by PCA, aligned by the generalised power method, no tears, one process;
pictures that it draws included) on some of the same rolls, processor seconds of both:

{table(head, lines)}
"""


def main():
    """Measure what is missing and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rolls", nargs="+", type=int, default=(600, 601, 602, 603, 604))
    parser.add_argument("--damaged", nargs="+", type=int, default=(620, 621, 622))
    parser.add_argument("--out", type=Path, default=HERE / "false_edges.md")
    asked = parser.parse_args()
    rows = measured(asked.out.with_suffix(".csv"), tuple(asked.rolls), tuple(asked.damaged))
    theirs = peers(asked.out.with_name(f"{asked.out.stem}_peer.csv"), rows)
    asked.out.write_text(page(rows, theirs), encoding="utf-8")


if __name__ == "__main__":
    main()
