"""Missing values: filled in by the latent, by the mean of a column, and by other columns.

`python missing_values_table.py --seeds 200 201 202` appends what is missing to
missing_values.csv and writes missing_values.md from it: R² of the latent of Gaussian processes and
5-NN accuracy of digits of `IKD(missing="pairwise")`, and of the same settings after the mean of
each column or scikit-learn's `IterativeImputer` filled the holes.
"""

import itertools
import time
import warnings

import numpy as np
from false_edges_table import latent_points, number, read, text, write
from sklearn.datasets import load_digits
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer, SimpleImputer
from weak_data_table import cells, change, column, table, write_page

from ikd_graph import IKD
from ikd_graph.study.datasets import add_noise, gp_mapping
from ikd_graph.study.metrics import affine_r2, knn_accuracy

KEYS = ("data", "N", "sd", "share", "seed")
LATENTS = ("walk", "sheet")
WIDTHS, NOISES, SHARES = (50, 100, 200), (0.0, 0.5), (0.1, 0.3, 0.5)
POINTS, DIGITS = 200, 500
WAYS = ("pairwise", "mean", "iterative")
# The likelihood takes seconds a fit: one width and two shares. The imputer takes ten seconds for
# the widest tables: last, and the first seed.
SEARCHED, SEARCHED_SHARES, WIDEST = 100, (0.3, 0.5), 200
IMPUTERS = {
    "mean": SimpleImputer(keep_empty_features=True),
    "iterative": IterativeImputer(random_state=0, keep_empty_features=True),
}


def make(data, n_columns, sd, share, seed):
    """A table, the same with holes, and its latent or its classes."""
    # Of one seed all shares have holes in one table.
    rng = np.random.default_rng([seed, n_columns, round(10 * sd)])
    if data == "digits":
        X, truth = load_digits(return_X_y=True)
        some = rng.choice(len(X), DIGITS, replace=False)
        X, truth = X[some], truth[some]
    else:
        truth = latent_points(data, POINTS, rng)
        X = add_noise(gp_mapping(truth, n_columns, seed=rng), sd, seed=rng)
    return X, np.where(rng.random(X.shape) < share, np.nan, X), truth


def look(data, n_columns, sd, share, seed, *, searched):
    """Accuracy of each way, polished by stress and, if asked for, by the likelihood."""
    X, holes, truth = make(data, n_columns, sd, share, seed)
    digits = data == "digits"
    tables = {name: imputer.fit_transform(holes) for name, imputer in IMPUTERS.items()}
    row = {}
    for polish in ("stress", "likelihood") if searched else ("stress",):
        settings = {"refine": polish}
        if not digits:
            settings |= {"strategy": "geodesic", "affinity": "correlation"}
        for name, some in {"whole": X, "pairwise": holes, **tables}.items():
            missing = "pairwise" if name == "pairwise" else "error"
            begin = time.process_time()
            Z = IKD(2, missing=missing, **settings).fit_transform(some)
            row[f"{polish}: {name} s"] = time.process_time() - begin
            row[f"{polish}: {name}"] = knn_accuracy(Z, truth, 5) if digits else affine_r2(truth, Z)
    return row


def measured(path, seeds):
    """Rows of the file, those that are missing appended."""
    rows = read(path)
    known = {tuple(row[key] for key in KEYS) for row in rows}
    data = [*itertools.product(LATENTS, WIDTHS, NOISES), ("digits", 64, 0.0)]
    asked = sorted(itertools.product(seeds, data, SHARES), key=lambda one: one[1][1] == WIDEST)
    for seed, at, share in asked:
        key, first = (*at, share, seed), seed == seeds[0]
        if tuple(map(text, key)) in known or (at[1] == WIDEST and not first):
            continue
        searched = at[1] == SEARCHED and share in SEARCHED_SHARES
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            row = look(*key, searched=searched)
        rows.append(dict(zip(KEYS, key, strict=True)) | row)
        write(path, rows)
    return [{k: v if k == "data" else number(v) for k, v in row.items()} for row in read(path)]


def comparison(rows, polish):
    """Accuracy of each way and what pairs of rows gain, by setting."""
    lines = []
    rows = [row for row in rows if np.isfinite(row.get(f"{polish}: whole", np.nan))]
    for at, some in cells(sorted(rows, key=order), KEYS[:4]).items():
        found = {name: column(some, f"{polish}: {name}") for name in ("whole", *WAYS)}
        lines.append(
            [at[0], *(f"{x:g}" for x in at[1:3]), f"{at[3]:.0%}"]
            + [f"{values.mean():.3f}" for values in found.values()]
            + [gain(found["pairwise"] - found[other]) for other in WAYS[1:]]
        )
    head = [*KEYS[:3], "missing", "whole", *WAYS]
    return table([*head, *(f"gain over {other}" for other in WAYS[1:])], lines)


def gain(values):
    """Mean of paired differences and its standard error, which one difference does not have."""
    return change(values) if len(values) > 1 else f"{values[0]:+.3f}"


def order(row):
    """Gaussian processes first, each setting by itself."""
    return (row["data"] == "digits", *(str(row["data"]), *(row[key] for key in KEYS[1:])))


def worse(rows):
    """Settings in which pairs of rows are the worse choice by more than two standard errors."""
    lines, n = [], 0
    for (at, some), polish, other in itertools.product(
        cells(sorted(rows, key=order), KEYS[:4]).items(), ("stress", "likelihood"), WAYS[1:]
    ):
        gap = column(some, f"{polish}: pairwise") - column(some, f"{polish}: {other}")
        gap = gap[np.isfinite(gap)]
        if gap.size < 2:
            continue
        n += 1
        if gap.mean() < -2.0 * gap.std(ddof=1) / np.sqrt(gap.size):
            where = [at[0], *(f"{x:g}" for x in at[1:3]), f"{at[3]:.0%}"]
            error = gap.std(ddof=1) / np.sqrt(gap.size)
            lines.append([*where, polish, other, f"{gap.mean():+.4f} ± {error:.4f}"])
    head = [*KEYS[:3], "missing", "polish", "compared with", "difference"]
    return f"{len(lines)} of {n}:\n\n{table(head, lines)}" if lines else f"None of {n}."


def summary(rows):
    """What pairs of rows gain in all tables of a share."""
    lines = []
    for digits, polish, share in itertools.product((0, 1), ("stress", "likelihood"), SHARES):
        some = [r for r in rows if (r["data"] == "digits") == digits and r["share"] == share]
        gains = [
            column(some, f"{polish}: pairwise") - column(some, f"{polish}: {other}")
            for other in WAYS[1:]
        ]
        count = np.isfinite(gains[0]).sum()
        if count > 1:
            what = "digits" if digits else "Gaussian processes"
            lines.append([what, polish, f"{share:.0%}", count, *map(change, gains)])
    head = ["data", "polish", "missing", "tables", *(f"gain over {name}" for name in WAYS[1:])]
    return table(head, lines)


def page(rows):
    """The whole text."""
    seeds = sorted({int(row["seed"]) for row in rows})
    command = f"python missing_values_table.py --seeds {' '.join(map(str, seeds))}"
    seconds = {
        what: np.median(column([r for r in rows if (r["data"] == "digits") == digits], name))
        for digits, what in enumerate(("tables", "digits"))
        for name in ["stress: pairwise s"]
    }
    return f"""# Missing values

Written by `{command}`.
Latents in the plane (a walk and a sheet of {POINTS} points, in units of the length-scale), N
samples of a Gaussian process over each and noise of standard deviation sd: R² of the latent after
affine alignment, `IKD(2, strategy="geodesic", affinity="correlation")`. Digits:
{DIGITS} of them, 5-NN accuracy in the plane, `IKD(2)` with the stress polish. Each value is missing
with one probability, whatever it is.

- whole: nothing is missing. With `missing="pairwise"` it is the same fit, bit by bit.
- pairwise: `missing="pairwise"`.
- mean, iterative: `SimpleImputer` and `IterativeImputer` of scikit-learn, and then the same fit.

Mean over {len(seeds)} seeds (one of N = {WIDEST}); the gains are means of
paired differences with their standard error, where there are several.
With the stress polish a fit of a table with holes took {seconds["tables"]:.1f} s of processor time
in the median, and one of digits {seconds["digits"]:.1f} s.

## In short

{summary(rows)}

## Polished by stress

{comparison(rows, "stress")}

## Polished by the likelihood

Some of the tables, as a fit takes seconds.

{comparison(rows, "likelihood")}

## Where another way is better

Settings in which `missing="pairwise"` is more than two standard errors below another way.
{worse(rows)}
"""


if __name__ == "__main__":
    write_page(__doc__, (200, 201, 202), "missing_values", measured, page)
