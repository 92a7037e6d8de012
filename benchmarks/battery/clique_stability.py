"""Which cliques stay: calibration on fresh columns, and false cliques of null tables.

    python benchmarks/battery/clique_stability.py --tables 60 --seed 0
    python benchmarks/battery/clique_stability.py --tables 30 --seed 7 --kinds

print the tables of docs/decisions/017-cliques-that-stay.md: how often what was said of edges and
cliques of tables with modules came on fresh columns, and cliques of unrelated tables of many kinds.
"""

import itertools
import warnings

import numpy as np
from measures import head, options, row
from scipy.signal import lfilter

from ikd_graph import cliques, graph, inspect_cliques

BINS = np.linspace(0.0, 1.0, 11)


def modules(rng, n_columns):
    """Rows in modules whose members correlate by .3 to .6: how to draw columns of them."""
    n = int(rng.integers(60, 160))
    module = rng.integers(0, max(n // 12, 2), n)
    module[rng.random(n) < 0.3] = -1
    strength = np.where(module < 0, 0.0, rng.uniform(0.3, 0.6, module.max() + 1)[module])

    def draw():
        shared = rng.normal(size=(module.max() + 1, n_columns))
        own = rng.normal(size=(n, n_columns))
        return np.sqrt(strength)[:, None] * shared[module] + np.sqrt(1 - strength)[:, None] * own

    return draw


def calibration(seed, n_fresh=40):
    """Stability of all edges and cliques of a table, and how often fresh columns have them."""
    rng = np.random.default_rng(seed)
    n_columns = int(np.exp(rng.uniform(np.log(50), np.log(500))))
    draw = modules(rng, n_columns)
    s0 = float(np.clip(rng.uniform(2.5, 5.0) / np.sqrt(n_columns), 0.2, 0.5))
    found = cliques.stability(draw(), s0, n_resamples=100, n_shifted=2)
    low, high, _ = graph.edges(found.graph)
    there = np.zeros(low.size)
    whole = np.zeros(len(found.cliques))
    for _ in range(n_fresh):
        corr = np.corrcoef(draw())
        there += corr[low, high] > s0
        whole += [bool((corr[np.ix_(c, c)] > s0).all()) for c in found.cliques]
    large = found.cliques.sizes >= 3
    return (
        (found.edges, there / n_fresh),
        (found.of_cliques[large], whole[large] / n_fresh),
    )


def show(name, said, came):
    """Print what came of what was said, in tenths."""
    print(f"{name}: {said.size}, mean said {said.mean():.3f}, mean came {came.mean():.3f}")
    for a, b in itertools.pairwise(BINS.tolist()):
        inside = (said >= a) & (said <= b)
        if inside.any():
            print(
                f"  {a:.1f} to {b:.1f}: {inside.sum():6d}  said {said[inside].mean():.2f}"
                f"  came {came[inside].mean():.2f}"
            )


def following(rng, past=0.8):
    """Unrelated rows whose 300 columns follow one another."""
    return np.sqrt(1 - past**2) * lfilter([1], [1, -past], rng.normal(size=(50, 400)))[:, 100:]


def scales(rng, n_columns):
    """Units of columns."""
    return np.exp(0.6 * rng.normal(size=n_columns))


SHAPE = (50, 120)
UNRELATED = {
    "normal": lambda rng: rng.normal(size=SHAPE),
    "column levels": lambda rng: rng.normal(size=SHAPE) + 0.7 * rng.normal(size=120),
    "column scales": lambda rng: rng.normal(size=SHAPE) * scales(rng, 120),
    "levels and scales": lambda rng: (
        (rng.normal(size=SHAPE) + 0.7 * rng.normal(size=120)) * scales(rng, 120)
    ),
    "lognormal": lambda rng: np.exp(rng.normal(size=SHAPE)),
    "Student's t, 2": lambda rng: rng.standard_t(2, size=SHAPE),
    "mixture": lambda rng: np.where(rng.random(SHAPE) < 0.1, 5.0, 1.0) * rng.normal(size=SHAPE),
    "uniform": lambda rng: rng.random(SHAPE),
    "Poisson": lambda rng: rng.poisson(1.0, size=SHAPE) + 0.0,
    "Poisson, levels": lambda rng: rng.poisson(np.exp(rng.normal(size=120)), size=SHAPE) + 0.0,
    "binary": lambda rng: (rng.random(SHAPE) < 0.3) + 0.0,
    "row levels": lambda rng: rng.normal(size=SHAPE) + 5.0 * rng.normal(size=(50, 1)),
    "row scales": lambda rng: rng.normal(size=SHAPE) * np.exp(rng.normal(size=(50, 1))),
    "autoregressive": following,
    "autoregressive, scales": lambda rng: following(rng) * scales(rng, 300),
    "autoregressive, levels": lambda rng: following(rng) + 0.5 * rng.normal(size=300),
    "autoregressive, each": lambda rng: np.vstack(
        [following(rng, past)[:1] for past in rng.uniform(0, 0.95, 50)]
    ),
    "walks": lambda rng: rng.normal(size=(50, 200)).cumsum(axis=1),
    "few columns": lambda rng: rng.normal(size=(50, 12)),
    "few rows": lambda rng: rng.normal(size=(12, 60)),
}


def unrelated(draw, seeds, **settings):
    """Cliques of three or more of unrelated tables; found, said, standard error of the gap."""
    counts = []
    for seed in seeds:
        X = draw(np.random.default_rng(seed))
        known = inspect_cliques(X, affinity="correlation", **settings)
        counts.append((np.sum(known.cliques.sizes >= 3), (known.expected_false or {}).get(3, 0.0)))
    found, said = np.transpose(counts)
    return found.mean(), said.mean(), (found - said).std() / len(counts) ** 0.5


def of_kinds(seeds):
    """Print cliques found and said of unrelated tables of many kinds."""
    print(head("unrelated tables", "by default: found; said (se)", "above .25: found; said (se)"))
    for kind, draw in UNRELATED.items():
        both = [unrelated(draw, seeds, **given) for given in ({}, {"graph": 0.25})]
        texts = [f"{found:.2f}; {said:.2f} ({se:.2f})" for found, said, se in both]
        print(row(kind, *texts), flush=True)


def of_modules(seeds):
    """Print how often what was said of tables with modules came."""
    parts = [calibration(seed) for seed in seeds]
    for k, name in enumerate(("edges", "cliques of three points or more")):
        show(name, *(np.concatenate([part[k][j] for part in parts]) for j in range(2)))


def main():
    """Print one of the two tables."""
    parser = options(__doc__)
    parser.add_argument("--tables", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", action="store_true", help="unrelated tables of many kinds alone")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    seeds = range(1000 * given.seed, 1000 * given.seed + given.tables)
    (of_kinds if given.kinds else of_modules)(seeds)


if __name__ == "__main__":
    main()
