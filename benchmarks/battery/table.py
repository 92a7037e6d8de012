"""The table of a half: the default against every named setting and the peers."""

import csv
import io

import numpy as np

from ikd_graph._base.files import write_whole

from .run import PEERS, read

PLAIN = ("pca", "isomap")
"""Peers that the default must not fall behind anywhere."""
LOST = 0.02
"""Difference of a score that counts as lost; below it cross-validation differs by itself."""


def cells(lines):
    """One row a set and M (scores are means over seeds), for cells that have a default."""
    scores, facts = {}, {}
    for line in lines:
        if "score" in line:
            at = (line["set"], line["M"])
            scores.setdefault(at, {}).setdefault(line["method"], []).append(line["score"])
            if line["method"] == "default":
                facts[at] = line
    return [_cell(at, scores[at], facts[at]) for at in sorted(facts, key=lambda a: (a[1], a[0]))]


def _cell(at, scores, fact):
    """One row of the table; NaN where nothing was measured."""
    # Means over other seeds than the default's could not be compared with it.
    seeds = len(scores["default"])
    mean = {m: float(np.mean(values)) for m, values in scores.items() if len(values) == seeds}
    named = {m: v for m, v in mean.items() if m != "default" and m not in PEERS}
    best = max(named, key=named.get) if named else ""
    chose = f"{fact['affinity']}+{fact['refine']}" if fact["refine"] != "None" else fact["affinity"]
    row = {"set": at[0], "M": at[1], "kind": fact["kind"], "real": fact["real"], "T": fact["T"]}
    row |= {"N": fact["N"], "default": mean["default"], "chose": chose}
    row |= {"named": named.get(best, np.nan), "best": best}
    row["regret"] = max(row["named"] - row["default"], 0.0) if named else np.nan
    row |= {peer: mean.get(peer, np.nan) for peer in PEERS}
    row["behind"] = max((mean[p] for p in PLAIN if p in mean), default=np.nan) - row["default"]
    return row | {"seconds": fact["cpu_seconds"]}


def summary(rows):
    """Lines of text: regret, cells lost to the plain peers, who is first; by M, kind and choice."""
    groups = {"all": rows}
    for name, key in (("M", "M"), ("", "kind"), ("real", "real"), ("chose", "chose")):
        for value in sorted({row[key] for row in rows}, key=str):
            groups[f"{name}={value}" if name else value] = [r for r in rows if r[key] == value]
    head = ["cells", "n", "default", "named", "mean regret", "s.e.", "worst", "worst in"]
    head += ["behind", *PEERS, "first"]
    out = [head]
    for name, some in groups.items():
        known = [r for r in some if np.isfinite(r["regret"])]
        regret = np.array([r["regret"] for r in known])
        worst = known[int(regret.argmax())] if known else None
        lost = sum(r["behind"] > LOST for r in some)
        first = [r["default"] >= _best_peer(r) - 1e-9 for r in some]
        error = regret.std(ddof=1) / np.sqrt(regret.size) if regret.size > 1 else np.nan
        out.append(
            [name, len(some), _mean(some, "default"), _mean(some, "named"), _mean(some, "regret")]
            + [error, worst["regret"] if worst else np.nan]
            + [f"{worst['set']} {worst['M']}" if worst else "", lost]
            + [_mean(some, peer) for peer in PEERS] + [float(np.mean(first))]
        )  # fmt: skip
    return out


def single(lines):
    """Lines of text: each method for all sets alike, against the default on the same cells."""
    scores = {}
    for line in lines:
        if "score" in line:
            at = line["set"], line["M"], line["seed"]
            scores.setdefault(line["method"], {})[at] = line["score"]
    out = [["method", "cells", "mean", "default there", "difference", "s.e.", "better", "worse"]]
    for method, mine in scores.items():
        both = [at for at in mine if at in scores.get("default", {})]
        if method == "default" or not both:
            continue
        other = np.array([mine[at] for at in both])
        ours = np.array([scores["default"][at] for at in both])
        gap = ours - other
        # Dimensions and seeds of a set go together: its mean is one observation.
        of_set = {}
        for at, value in zip(both, gap, strict=True):
            of_set.setdefault(at[0], []).append(value)
        each = np.array([np.mean(values) for values in of_set.values()])
        error = float(each.std(ddof=1) / np.sqrt(each.size)) if each.size > 1 else np.nan
        counts = [int((gap > LOST).sum()), int((gap < -LOST).sum())]
        means = [float(values.mean()) for values in (other, ours, gap)]
        out.append([method, len(both), *means, error, *counts])
    return out


def _best_peer(row):
    """Best score of the peers that were measured; -inf without any."""
    return max((row[p] for p in PEERS if np.isfinite(row[p])), default=-np.inf)


def _mean(rows, column):
    """Mean of the finite values of a column."""
    values = [row[column] for row in rows if np.isfinite(row[column])]
    return float(np.mean(values)) if values else float("nan")


def write(path):
    """Write the table next to a file of results, as .md and .csv; return the page."""
    lines = read(path)
    rows = cells(lines)
    if not rows:
        return f"no default fits in {path}"
    notes = (
        f"regret: best named setting less the default; behind: cells more than {LOST} below the "
        "better of PCA and Isomap; first: share of cells where no peer is better. Means over the "
        "cells that a method was measured on."
    )
    ordered = sorted(rows, key=lambda row: -np.nan_to_num(row["regret"]))
    page = [f"# Battery: {path.stem} half", "", notes, "", *_grid(summary(rows)), ""]
    page += [
        f"One method for all sets; better, worse: cells where the default is so by {LOST}.",
        "",
    ]
    page += [*_grid(single(lines)), ""]
    page += _grid([list(rows[0]), *(list(row.values()) for row in ordered)])
    text = "\n".join(page) + "\n"
    write_whole(path.with_suffix(".md"), text)
    table = io.StringIO()
    writer = csv.DictWriter(table, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_whole(path.with_suffix(".csv"), table.getvalue())
    return text


def _grid(rows):
    """Lines of a Markdown table; its first row is the header."""
    texts = [["" if v is None else _text(v) for v in row] for row in rows]
    lines = ["| " + " | ".join(row) + " |" for row in texts]
    return [lines[0], "|" + " --- |" * len(texts[0]), *lines[1:]]


def _text(value):
    """A value in a table."""
    if isinstance(value, float):
        return "-" if not np.isfinite(value) else f"{value:.3f}"
    return str(value)
