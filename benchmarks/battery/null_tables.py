"""Count the pairs that are called significant where nothing, or planted cliques, is to be found.

    OMP_NUM_THREADS=1 python benchmarks/battery/null_tables.py [--tables 60] [--seed 1000]

Null tables: 100 unrelated rows of 1000 columns, of five kinds in turn: white, autoregressive along
the columns (0.5 and 0.9), Student's t with 3 degrees of freedom, Poisson counts with mean 1. Their
pairs are significant by `graph.significant_graph`, or exceed five or two standard errors of the
effective number of columns. Planted tables: 100 rows with cliques of rows that share a signal
(r = 0.4), white or autoregressive (0.8165), 200 effective columns either way.
"""

import numpy as np
from measures import head, options, row
from scipy.signal import lfilter

from ikd_graph import covariance, graph

ROWS, COLUMNS = 100, 1000
PAST = 0.8165  # (1 - a^2) / (1 + a^2) is 1/5
CLIQUES = {"4 of 5": (4, 5), "2 of 10": (2, 10), "3 of 20": (3, 20)}


def following(rng, n_rows, n_columns, past):
    """Unrelated rows of variance 1 whose columns follow one another."""
    white = rng.normal(size=(n_rows, n_columns + 200))
    return np.sqrt(1.0 - past**2) * lfilter([1.0], [1.0, -past], white, axis=1)[:, 200:]


KINDS = {
    "white": lambda rng: rng.normal(size=(ROWS, COLUMNS)),
    "autoregressive 0.5": lambda rng: following(rng, ROWS, COLUMNS, 0.5),
    "autoregressive 0.9": lambda rng: following(rng, ROWS, COLUMNS, 0.9),
    "Student's t, 3": lambda rng: rng.standard_t(3, size=(ROWS, COLUMNS)),
    "Poisson, mean 1": lambda rng: rng.poisson(1.0, size=(ROWS, COLUMNS)).astype(float),
}


def null_table(X, fdr):
    """Effective columns, significant pairs, and pairs above five and two standard errors."""
    effective = covariance.effective_columns(X)
    pairs = np.corrcoef(X)[np.triu_indices(len(X), 1)] * np.sqrt(effective - 1.0)
    edges = graph.significant_graph(X, fdr).n_edges
    return effective, edges, np.sum(pairs > 5.0), np.mean(pairs > 2.0)


def planted_table(rng, kind, count, size):
    """A table with cliques that share a signal, and the clique of every row, -1 for none."""

    def draw(n):
        if kind == "white":
            return rng.normal(size=(n, COLUMNS // 5))
        return following(rng, n, COLUMNS, PAST)

    clique = np.full(ROWS, -1)
    clique[: count * size] = np.repeat(np.arange(count), size)
    X = draw(ROWS)
    shared = draw(count)[clique[: count * size]]
    X[: count * size] = np.sqrt(0.6) * X[: count * size] + np.sqrt(0.4) * shared
    return X, clique


def found_and_false(X, clique, fdr):
    """Share of the planted pairs that are found, and share of the found ones that are false."""
    left, right, _ = graph.edges(graph.significant_graph(X, fdr))
    true = (clique[left] == clique[right]) & (clique[left] >= 0)
    sizes = np.bincount(clique[clique >= 0])
    return true.sum() / np.sum(sizes * (sizes - 1) / 2), np.sum(~true) / max(left.size, 1)


def main():
    """Print two tables."""
    parser = options(__doc__)
    parser.add_argument("--tables", type=int, default=60, help="null tables of all kinds together")
    parser.add_argument("--seed", type=int, default=1000, help="of the first table")
    parser.add_argument("--fdr", type=float, default=0.01, help="false discovery rate")
    given = parser.parse_args()
    n, with_edge = given.tables // len(KINDS), 0
    print(head("null tables", "effective columns", "tables with an edge", "above 5 se", "2 se"))
    for number, (kind, draw) in enumerate(KINDS.items()):
        seeds = [[given.seed, number, k] for k in range(n)]
        found = [null_table(draw(np.random.default_rng(seed)), given.fdr) for seed in seeds]
        effective, edges, five, two = np.transpose(found)
        columns, some = f"{effective.mean():.0f} ± {effective.std():.1f}", np.count_nonzero(edges)
        with_edge += some
        print(row(kind, columns, f"{some} of {n}", f"{five.sum():.0f} pairs", f"{two.mean():.2%}"))
    print(f"\ntables with an edge: {with_edge} of {n * len(KINDS)}\n")
    print(head("planted cliques (r = 0.4)", "columns", "edges found", "false among them"))
    for number, (words, planted) in enumerate(CLIQUES.items()):
        for kind in ("white", "autoregressive"):
            seeds = [[given.seed, 100 + number, k] for k in range(n)]
            tables = [planted_table(np.random.default_rng(s), kind, *planted) for s in seeds]
            power, false = np.mean([found_and_false(*t, given.fdr) for t in tables], axis=0)
            print(row(words, kind, f"{power:.1%}", f"{false:.2%}"))


if __name__ == "__main__":
    main()
