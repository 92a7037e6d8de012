"""Measure whether the first answer stays when a column or a tenth of the rows is left out.

    OMP_NUM_THREADS=1 python benchmarks/battery/first_stability.py [--table NAME ...] [--out FILE]

Fifteen tables of `first_tables`, at most 300 rows each. `IKD(2)`, UMAP and Isomap are fitted whole,
without one varying column (3 draws) and without a tenth of the rows (3 draws; compared on the rows
that stay), all in one run. Score: Procrustes R2 with rotation or reflection, translation and one
scale (`measures.rigid_r2`). Printed are the medians of the tables, the mean of the medians, how
often the representation (`affinity`) of the whole fit stays, and the same among tables of which the
model says that two halves of the columns agree (--agreement names the attribute of the fitted model
that holds a truth value or an R2).
"""

import argparse
import json
from pathlib import Path

import numpy as np
from first_tables import TABLES, Absent, make
from measures import append, fitted, one_thread, peer, rigid_r2, settings_of
from stability import draws

METHODS = ("ikd", "umap", "isomap")
MEASURED = (
    *("infrared", "electrodes_even", "types_raw", "fates_log", "agreeing", "gliding_view"),
    *("engine", "households", "cap", "maze", "heading", "hillside", "digits_end", "embryo_late"),
    "states_early",
)
"""One table of each of fifteen groups, of both halves; three are real."""
MAX_ROWS = 300
"""Seven fits of three methods then take about half a minute a table."""
LEAST_AGREEMENT = 0.4
"""Agreement from which the default keeps a closed form."""


def embed(method, X, attribute):
    """Coordinates, affinity and whether halves agree (None: the model does not say)."""
    if method != "ikd":
        return peer(method, X, 2), None, None
    model = fitted(X, 2)[0]
    agreement = getattr(model, attribute, None)
    if agreement is not None and not isinstance(agreement, (bool, np.bool_)):
        agreement = float(agreement) >= LEAST_AGREEMENT
    return model.embedding_, settings_of(model)["affinity"], agreement


def measure(name, methods, attribute):
    """Lines of a table: one a refit and method."""
    X = make(name).X[:MAX_ROWS]
    rng = np.random.default_rng([35, list(TABLES).index(name)])
    whole = {method: embed(method, X, attribute) for method in methods}
    for kind, rows, columns in draws(X, rng, 3, 3):
        for method in methods:
            Z, affinity, _ = embed(method, X[np.ix_(rows, columns)], attribute)
            first, named, agree = whole[method]
            yield {
                "table": name,
                "left_out": kind,
                "method": method,
                "r2": round(rigid_r2(first[rows], Z), 4),
                "affinity": named,
                "stays": affinity == named,
                "halves_agree": agree,
            }


def print_means(lines, words):
    """Median and mean of the medians of tables by method, and how often the affinity stays."""
    tables = list(dict.fromkeys(line["table"] for line in lines))
    for method in dict.fromkeys(line["method"] for line in lines):
        mine = [line for line in lines if line["method"] == method]
        medians = [np.median([ln["r2"] for ln in mine if ln["table"] == t]) for t in tables]
        stays = f", affinity stays in {sum(ln['stays'] for ln in mine)} of {len(mine)} refits"
        print(
            f"{words}, {method:6s} {len(tables)} tables: median {np.median(medians):.3f}, mean of "
            f"medians {np.mean(medians):.3f}{stays if method == 'ikd' else ''}"
        )


def print_all(lines):
    """Both groups of tables."""
    print_means(lines, "all")
    known = {ln["table"]: ln["halves_agree"] for ln in lines if ln["method"] == "ikd"}
    if all(agree is None for agree in known.values()):
        print("the fitted model does not say whether halves agree")
        return
    agreeing = [line for line in lines if known[line["table"]]]
    if agreeing:
        print_means(agreeing, "halves agree")


def main():
    """Print a line a table and the means."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--table", choices=TABLES, nargs="+", help="only these")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--agreement", default="agreement_", metavar="ATTRIBUTE")
    parser.add_argument("--out", help="jsonl file to append every refit to")
    parser.add_argument("--read", help="print the means of such a file and stop")
    given = parser.parse_args()
    if given.read:
        print_all([json.loads(line) for line in Path(given.read).read_text().splitlines()])
        return
    one_thread()
    methods, lines = given.methods.split(","), []
    print("table: median of column draws, of row draws, worst; by method")
    for name in given.table or MEASURED:
        try:
            mine = list(measure(name, methods, given.agreement))
        except Absent as error:
            print(f"{name:16s} absent: {error}")
            continue
        cells = []
        for method in methods:
            r2 = {k: [ln["r2"] for ln in mine if (ln["method"], ln["left_out"]) == (method, k)]
                  for k in ("column", "rows")}  # fmt: skip
            worst = min(*r2["column"], *r2["rows"])
            cells.append(
                f"{method} {np.median(r2['column']):.3f} {np.median(r2['rows']):.3f} {worst:.3f}"
            )
        of_ikd = [line for line in mine if line["method"] == "ikd"]
        if of_ikd:
            stays = sum(line["stays"] for line in of_ikd)
            cells.append(f"{of_ikd[0]['affinity']}, stays {stays} of {len(of_ikd)}")
        print(f"{name:16s} {' | '.join(cells)}", flush=True)
        for line in mine:
            append(given.out, line)
        lines += mine
    if lines:
        print_all(lines)


if __name__ == "__main__":
    main()
