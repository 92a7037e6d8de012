"""The first answer on a table that somebody brings: `IKD(2)` as it comes, against its peers.

    OMP_NUM_THREADS=1 python benchmarks/battery/first_answer.py --half choose
        [--table NAME ...] [--methods ikd,umap,isomap,pca] [--settings NAME=VALUE ...]

Tables are those of `first_tables`. Scores in the plane are `neighbors`: leave-one-out accuracy of
5 nearest neighbors where the truth is classes, else R2 of the mean of the 10 nearest rows; and
`metric`: mean affine R2 of the truth, which sees a map that is bent or folded, where the truth has
coordinates. A rule is chosen on the half "choose", and "confirm" is run once with it. Peers have
their defaults (Isomap ten neighbors, UMAP `random_state=0`) and are kept in
results/first_peers.jsonl, so that they run once for a table.
"""

import argparse
import ast
import json
import time
import warnings
from functools import cache
from pathlib import Path

import numpy as np
from first_tables import GROUP_OF, HALVES, REAL, TABLES, Absent, half, make
from measures import affine_r2, append, fitted, one_thread, peer, settings_of
from sklearn.neighbors import NearestNeighbors

RESULTS = Path(__file__).with_name("results")
PEERS = RESULTS / "first_peers.jsonl"
METHODS = ("ikd", "umap", "isomap", "pca")


def neighbors_score(Z, truth, kind):
    """Accuracy of 5 nearest neighbors, or R2 of the mean of the 10 nearest rows."""
    # Ten of fewer than fifty rows are no neighbors of a row.
    count = 5 if kind == "classes" else min(10, len(Z) // 5)
    near = NearestNeighbors(n_neighbors=count).fit(Z).kneighbors(return_distance=False)
    if kind != "classes":
        error = ((truth - truth[near].mean(axis=1)) ** 2).sum(axis=0)
        return float(np.mean(1.0 - error / ((truth - truth.mean(axis=0)) ** 2).sum(axis=0)))
    # Nearer ones weigh a little more, which settles ties alone: five votes differ by one or none.
    weight = 1.0 + 0.01 * np.arange(count)[::-1]
    votes = np.zeros((len(Z), truth.max() + 1))
    np.add.at(votes, (np.arange(len(Z))[:, None], truth[near]), weight)
    return float(np.mean(votes.argmax(axis=1) == truth))


def scores(Z, points):
    """Both scores of an embedding (n, m); the metric is None for classes.

    Coordinates that are not finite, or too few rows, have the score of a constant map.
    """
    if len(Z) != len(points.X) or not np.isfinite(Z).all():
        return {"neighbors": 0.0, "metric": None if points.kind == "classes" else 0.0}
    return {
        "neighbors": neighbors_score(Z, points.truth, points.kind),
        "metric": None if points.kind == "classes" else affine_r2(points.truth, Z),
    }


def evaluate(embed, half_name, tables=None, seed=0):
    """Scores and processor seconds of a rule on every table of a half.

    Parameters
    ----------
    embed : callable
        From a table (n, n_features) to coordinates (n, m).
    half_name : {"choose", "confirm"}
        Half of the tables.
    tables : list of str, optional
        Only these tables of the half.
    seed : int, optional
        Seed of the tables.

    Returns
    -------
    list of dict
        table, group, real, kind, neighbors, metric (None for classes) and seconds, a dict a table;
        tables whose data are absent are left out.
    """
    rows = []
    for name in half(half_name):
        if tables is not None and name not in tables:
            continue
        try:
            points = make(name, seed)
        except Absent:
            continue
        begin = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            Z = embed(points.X)
        seconds = time.process_time() - begin
        rows.append({**described(name, seed, points), **scores(Z, points), "seconds": seconds})
    return rows


def described(name, seed, points):
    """What a line says of a table."""
    group = GROUP_OF[name]
    return {"table": name, "seed": seed, "group": group, "real": group in REAL, "kind": points.kind}


def checksum(X):
    """What tells a table that was changed since its peers were run."""
    return f"{X.shape[0]} x {X.shape[1]}, {np.sum((X - X.mean()) ** 2):.6g}"


@cache
def _stored(path):
    """Lines of peers that were run before, by table, seed, method and checksum."""
    lines = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return {(ln["table"], ln["seed"], ln["method"], ln["checksum"]): ln for ln in lines}


def peer_line(name, seed, points, method):
    """Scores of a peer, read or run once."""
    key = (name, seed, method, checksum(points.X))
    lines = _stored(PEERS)
    if key not in lines:
        begin = time.process_time()
        Z = peer(method, points.X, 2)
        seconds = round(time.process_time() - begin, 2)
        line = {**described(name, seed, points), "method": method, "checksum": key[-1]}
        line |= {k: v and round(v, 4) for k, v in scores(Z, points).items()} | {"seconds": seconds}
        lines[key] = line
        PEERS.parent.mkdir(exist_ok=True)
        append(PEERS, line)
    return lines[key]


def ikd_line(name, seed, points, settings):
    """Scores of `IKD(2)` and what it chose."""
    model, seconds = fitted(points.X, 2, **settings)
    line = {**described(name, seed, points), "method": "ikd", "given": str(settings or "")}
    found = scores(model.embedding_, points)
    reliability = float(getattr(model, "reliability_", np.nan))
    return line | {
        **{key: score and round(score, 4) for key, score in found.items()},
        "seconds": round(seconds, 2),
        "settings": settings_of(model),
        "reliability": None if np.isnan(reliability) else round(reliability, 4),
    }


def chosen(settings):
    """Settings in a few words."""
    words = {k: str(v).split("(")[0] for k, v in settings.items() if k != "graph"}
    return ", ".join(words.values())


def value(text):
    """Value of a setting as Python reads it, or the word itself."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def print_means(lines, methods):
    """Means of all tables and of those of one sort."""
    sorts = {
        "all": lambda ln: True,
        "simulated": lambda ln: not ln["real"],
        "real": lambda ln: ln["real"],
    }
    print(f"\n{'mean':22s}{'tables':>8s}" + "".join(f"{m:>9s}" for m in methods))
    for measure in ("neighbors", "metric"):
        for words, belongs in sorts.items():
            picked = [ln for ln in lines if belongs(ln) and ln[measure] is not None]
            if not picked:
                continue
            of = {m: [ln[measure] for ln in picked if ln["method"] == m] for m in methods}
            print(
                f"{measure + ', ' + words:22s}{len(of[methods[0]]):8d}"
                + "".join(f"{np.mean(of[m]):9.3f}" for m in methods)
            )
    seconds = {m: np.sum([ln["seconds"] for ln in lines if ln["method"] == m]) for m in methods}
    print(f"{'seconds in all':30s}" + "".join(f"{seconds[m]:9.0f}" for m in methods))


def print_row(name, mine):
    """Print both scores of every method on a table, and what IKD chose."""
    cells = []
    for line in mine:
        metric = "  -  " if line["metric"] is None else f"{line['metric']:.3f}"
        cells.append(f"{line['neighbors']:6.3f} {metric}")
    words = chosen(mine[0].get("settings", {}))
    print(f"{name:20s}{' '.join(cells)}  {mine[0]['seconds']:5.1f} s  {words}", flush=True)


def measured(name, methods, settings, seed):
    """Lines of a table, one a method."""
    points = make(name, seed)
    return [
        ikd_line(name, seed, points, settings)
        if method == "ikd"
        else peer_line(name, seed, points, method)
        for method in methods
    ]


def read_lines(paths, methods):
    """Lines of files by table, one a method."""
    lines = [json.loads(line) for path in paths for line in Path(path).read_text().splitlines()]
    by_key = {(line["table"], line["method"]): line for line in lines}
    tables = {table for table, _ in by_key}
    return {t: [by_key[t, m] for m in methods] for t in tables if (t, methods[0]) in by_key}


def main():
    """Print a line a table and the means, and write a line of JSON a fit."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--half", choices=HALVES, required=True)
    parser.add_argument("--table", choices=TABLES, nargs="+", help="only these of the half")
    parser.add_argument("--methods", default=",".join(METHODS), help="ikd first")
    parser.add_argument("--settings", nargs="*", default=[], metavar="NAME=VALUE", help="of IKD")
    parser.add_argument("--seed", type=int, default=0, help="of the tables")
    parser.add_argument("--out", help="jsonl file to append every line to")
    parser.add_argument("--read", nargs="+", metavar="FILE", help="print what such files hold")
    given = parser.parse_args()
    if other := set(given.table or ()) - set(half(given.half)):
        parser.error(f"not in the half {given.half!r}: {', '.join(sorted(other))}")
    one_thread()
    methods = given.methods.split(",")
    settings = {k: value(v) for k, _, v in (text.partition("=") for text in given.settings)}
    stored = read_lines(given.read, methods) if given.read else None
    print(f"{'':20s}" + " ".join(f"{m:^12s}" for m in methods) + "  neighbors metric")
    lines = []
    for name in given.table or half(given.half):
        if stored is not None:
            mine = stored.get(name, [])
        else:
            try:
                mine = measured(name, methods, settings, given.seed)
            except Absent as error:
                print(f"{name:20s}absent: {error}")
                continue
        if mine:
            print_row(name, mine)
        for line in mine if stored is None else ():
            append(given.out, line)
        lines += mine
    if lines:
        print_means(lines, methods)


if __name__ == "__main__":
    main()
