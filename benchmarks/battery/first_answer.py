"""The first answer on a table that somebody brings: `IKD(2)` as it comes, against its peers.

    OMP_NUM_THREADS=1 python benchmarks/battery/first_answer.py --half choose
        [--table NAME ...] [--methods ikd,umap,isomap,pca]

Tables are those of `first_tables`. Scores in the plane are `neighbors`: leave-one-out accuracy of
5 nearest neighbors where the truth is classes, else R2 of the mean of the 10 nearest rows; and
`metric`: mean affine R2 of the truth, which sees a map that is bent or folded, where the truth has
coordinates. A rule is chosen on the half "choose", and "confirm" is run once with it. Peers have
their defaults (Isomap ten neighbors, UMAP `random_state=0`) and are kept in
results/first_peers.jsonl, so that they run once for a table.
"""

import time
from functools import cache
from pathlib import Path

import numpy as np
from first_tables import GROUP_OF, HALVES, REAL, TABLES, Absent, half, make
from measures import append, fitted, options, peer, read, settings_of
from sklearn.neighbors import NearestNeighbors

from ikd_graph.metrics import affine_r2

PEERS = Path(__file__).parent / "results" / "first_peers.jsonl"
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
    metric = None if points.kind == "classes" else round(affine_r2(points.truth, Z), 4)
    return {"neighbors": round(neighbors_score(Z, points.truth, points.kind), 4), "metric": metric}


@cache
def stored():
    """Lines of peers that were run before, by table, seed, method and checksum."""
    return {(ln["table"], ln["seed"], ln["method"], ln["checksum"]): ln for ln in read(PEERS)}


def of_peer(method, points, described):
    """Line of a peer, read or run once."""
    X = points.X
    # It tells a table that was changed since its peers were run.
    checksum = f"{X.shape[0]} x {X.shape[1]}, {np.sum((X - X.mean()) ** 2):.6g}"
    key = (described["table"], described["seed"], method, checksum)
    if key not in stored():
        begin = time.process_time()
        found = scores(peer(method, X, 2), points)
        seconds = round(time.process_time() - begin, 2)
        line = {"method": method, "checksum": checksum, **found, "seconds": seconds}
        stored()[key] = described | line
        append(PEERS, stored()[key])
    return stored()[key]


def of_ikd(points, described):
    """Line of `IKD(2)`, and what it chose."""
    model, seconds = fitted(points.X, 2)
    line = {"method": "ikd", **scores(model.embedding_, points), "seconds": round(seconds, 2)}
    sure = float(model.reliability_)
    line |= {"reliability": None if np.isnan(sure) else round(sure, 4)}
    return described | line | {"settings": settings_of(model)}


def measure(name, methods, seed):
    """Lines of a table, one a method."""
    points, group = make(name, seed), GROUP_OF[name]
    described = {"table": name, "seed": seed, "group": group, "real": group in REAL}
    described |= {"kind": points.kind}
    return [
        of_ikd(points, described) if method == "ikd" else of_peer(method, points, described)
        for method in methods
    ]


def print_row(lines):
    """Print both scores of every method on a table, and what IKD chose."""
    cells = []
    for line in lines:
        metric = "  -  " if line["metric"] is None else f"{line['metric']:.3f}"
        cells.append(f"{line['neighbors']:6.3f} {metric}")
    settings = lines[0].get("settings", {})
    words = ", ".join(settings[key].split("(")[0] for key in settings if key != "graph")
    name, seconds = lines[0]["table"], lines[0]["seconds"]
    print(f"{name:20s}{' '.join(cells)}  {seconds:5.1f} s  {words}", flush=True)


def print_means(lines, methods):
    """Print means of all tables and of those of one sort."""
    sorts = {"all": (False, True), "simulated": (False,), "real": (True,)}
    print(f"\n{'mean':22s}{'tables':>8s}" + "".join(f"{m:>9s}" for m in methods))
    for measured in ("neighbors", "metric"):
        for words, real in sorts.items():
            picked = [ln for ln in lines if ln["real"] in real and ln[measured] is not None]
            of = [[ln[measured] for ln in picked if ln["method"] == m] for m in methods]
            if picked:
                means = "".join(f"{np.mean(values):9.3f}" for values in of)
                print(f"{measured + ', ' + words:22s}{len(of[0]):8d}{means}")
    seconds = [sum(ln["seconds"] for ln in lines if ln["method"] == m) for m in methods]
    print(f"{'seconds in all':30s}" + "".join(f"{each:9.0f}" for each in seconds))


def main():
    """Print a line a table and the means, and write a line of JSON a fit."""
    parser = options(__doc__)
    parser.add_argument("--half", choices=HALVES, required=True)
    parser.add_argument("--table", choices=TABLES, nargs="+", help="only these of the half")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--seed", type=int, default=0, help="of the tables")
    parser.add_argument("--out", help="jsonl file to append every line to")
    given = parser.parse_args()
    if other := set(given.table or ()) - set(half(given.half)):
        parser.error(f"not in the half {given.half!r}: {', '.join(sorted(other))}")
    methods, lines = given.methods.split(","), []
    print(f"{'':20s}" + " ".join(f"{m:^12s}" for m in methods) + "  neighbors metric")
    for name in given.table or half(given.half):
        try:
            mine = measure(name, methods, given.seed)
        except Absent as error:
            print(f"{name:20s}absent: {error}")
            continue
        print_row(mine)
        for line in mine:
            append(given.out, line)
        lines += mine
    if lines:
        print_means(lines, methods)


if __name__ == "__main__":
    main()
