"""Measure whether the first answer stays when a column or a tenth of the rows is left out.

    OMP_NUM_THREADS=1 python benchmarks/battery/first_stability.py [--table NAME ...] [--out FILE]

Fifteen tables of `first_tables`, at most 300 rows each. `IKD(2)`, UMAP and Isomap are fitted whole,
without one varying column (3 draws) and without a tenth of the rows (3 draws; compared on the rows
that stay), all in one run. Score: Procrustes R2 with rotation or reflection, translation and one
scale. Printed are the medians of the tables, the mean of the medians, how
often the representation (`affinity`) of the whole fit stays, and the same among tables of which the
model says that two halves of the columns agree.
"""

import numpy as np
from first_tables import TABLES, Absent, make
from measures import append, fitted, options, peer, settings_of
from scipy.spatial import procrustes

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


def embed(method, X):
    """Coordinates, affinity and whether halves agree (None: the method does not say)."""
    if method != "ikd":
        return peer(method, X, 2), None, None
    model = fitted(X, 2)[0]
    agrees = bool(model.agreement_ >= LEAST_AGREEMENT)
    return model.embedding_, settings_of(model)["affinity"], agrees


def draws(X, rng, count=3):
    """What is left out, and the rows and columns that stay: one column, or a tenth of the rows."""
    T, N = X.shape
    for column in rng.choice(np.flatnonzero(X.std(axis=0) > 0.0), count, replace=False):
        yield "column", np.arange(T), np.delete(np.arange(N), column)
    for _ in range(count):
        yield "rows", np.sort(rng.permutation(T)[T // 10 :]), np.arange(N)


def measure(name, methods):
    """Lines of a table: one a refit and method."""
    X = make(name).X[:MAX_ROWS]
    rng = np.random.default_rng([35, list(TABLES).index(name)])
    whole = {method: embed(method, X) for method in methods}
    for kind, rows, columns in draws(X, rng):
        for method in methods:
            Z, affinity, _ = embed(method, X[np.ix_(rows, columns)])
            first, named, agree = whole[method]
            yield {
                "table": name,
                "left_out": kind,
                "method": method,
                "r2": round(1.0 - procrustes(first[rows], Z)[2], 4),
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


def print_row(name, lines, methods):
    """Print median and worst refits of a table by method."""
    cells = []
    for method in methods:
        of = {kind: [ln["r2"] for ln in lines if (ln["method"], ln["left_out"]) == (method, kind)]
              for kind in ("column", "rows")}  # fmt: skip
        middle = " ".join(f"{np.median(r2):.3f}" for r2 in of.values())
        cells.append(f"{method} {middle} {min(map(min, of.values())):.3f}")
    print(f"{name:16s} {' | '.join(cells)}  {lines[0]['affinity']}", flush=True)


def main():
    """Print a line a table and the means."""
    parser = options(__doc__)
    parser.add_argument("--table", choices=TABLES, nargs="+", default=MEASURED, help="only these")
    parser.add_argument("--methods", default=",".join(METHODS), help="ikd first")
    parser.add_argument("--out", help="jsonl file to append every refit to")
    given = parser.parse_args()
    methods, lines = given.methods.split(","), []
    print("table: median of column draws, of row draws, worst; by method")
    for name in given.table:
        try:
            mine = list(measure(name, methods))
        except Absent as error:
            print(f"{name:16s} absent: {error}")
            continue
        print_row(name, mine, methods)
        for line in mine:
            append(given.out, line)
        lines += mine
    agreeing = {line["table"] for line in lines if line["halves_agree"]}
    print_means(lines, "all")
    print_means([line for line in lines if line["table"] in agreeing], "halves agree")


if __name__ == "__main__":
    main()
