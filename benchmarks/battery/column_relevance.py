"""Which columns make a map: false discoveries, recall and fractions of the axes.

    python benchmarks/battery/column_relevance.py --tables 50 --seed 4

80 to 500 rows over a rectangle, 50 to 1 000 columns, a fifth to a half of them smooth waves plus
noise, the others Gaussian, counts or heavy-tailed; docs/decisions/016-columns-of-a-map.md has the
tables. Beside the test: principal components and mutual information, cut at the true number.
"""

import itertools
import warnings

import numpy as np
from measures import options
from scipy.linalg import orthogonal_procrustes
from sklearn.decomposition import PCA
from sklearn.feature_selection import mutual_info_regression

import ikd_graph
from ikd_graph import IKD

NULLS = ("gaussian", "counts", "heavy")


def wave(t, rng):
    """A smooth function of one coordinate, of variance about 1, and its derivative."""
    frequency, phase = rng.normal(size=3), rng.uniform(0, 2 * np.pi, 3)
    values = np.cos(t[:, None] * frequency + phase).sum(axis=1)
    slopes = (-frequency * np.sin(t[:, None] * frequency + phase)).sum(axis=1)
    scale = values.std() or 1.0
    return (values - values.mean()) / scale, slopes / scale


def planted(rng, row_noise):
    """A table: map, columns, which are driven, and gradients of these at all rows.

    The noise of all columns is multiplied by that of the row, whose logarithm has the standard
    deviation ``row_noise``.
    """
    n, p = int(rng.integers(80, 500)), int(np.exp(rng.uniform(np.log(50), np.log(1000))))
    Z = rng.uniform(size=(n, 2)) * [4.0, 2.5]
    driven = np.arange(p) < int(p * rng.uniform(0.2, 0.5))
    X = np.zeros((p, n))
    gradients = np.zeros((p, n, 2))
    sd = np.exp(rng.uniform(np.log(0.5), np.log(2.0), p))
    for k in np.flatnonzero(driven):
        part = rng.choice([0.0, 1.0, rng.uniform()])
        for axis, size in enumerate(np.sqrt([part, 1.0 - part])):
            values, slopes = wave(Z[:, axis], rng)
            X[k] += size * values
            gradients[k, :, axis] = size * slopes
    noise = sd[:, None] * rng.normal(size=(p, n))
    kind = rng.choice(NULLS)
    free = np.flatnonzero(~driven)
    if kind == "counts":
        rates = np.exp(rng.uniform(np.log(0.02), np.log(3.0), free.size))[:, None]
        noise[free] = rng.poisson(rates, (free.size, n)) - rates
        X[free] = rates
    elif kind == "heavy":
        noise[free] = rng.standard_t(2.0, (free.size, n))
    X += noise * np.exp(row_noise * rng.normal(size=n))
    return Z, X.T, driven, gradients, kind


def recall_of_ranking(score, driven):
    """Fraction of the driven columns among as many with the largest scores."""
    first = np.argsort(-score, kind="stable")[: driven.sum()]
    return float(driven[first].mean())


def one_table(seed, fitted, row_noise):
    """Rates of one table, on the true map or on the one that is fitted to it."""
    rng = np.random.default_rng(seed)
    Z, X, driven, gradients, kind = planted(rng, row_noise)
    turn = np.eye(2)
    if fitted:
        model = IKD(2, refine="stress").fit(X)
        truth, Z = Z, model.embedding_
        turn = orthogonal_procrustes(truth - truth.mean(axis=0), Z)[0]
        gradients = gradients @ turn
    found = model.columns() if fitted else ikd_graph.columns(Z, X)
    order = np.argsort(found.position)
    hit = found.q_value[order] <= 0.05
    standard = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-12)
    loadings = PCA(2, random_state=0).fit(standard)
    loading = np.abs(loadings.components_.T * np.sqrt(loadings.explained_variance_)).max(axis=1)
    mutual = np.array([mutual_info_regression(standard, z, random_state=0) for z in Z.T])
    energy = (gradients[driven] ** 2).mean(axis=1)
    truth = energy[:, 0] / np.maximum(energy.sum(axis=1), 1e-300)
    # Of the columns that are found: of others nobody would read a fraction.
    seen = hit[driven]
    apart = np.abs(found.fraction[order][driven, 0] - truth)[seen]
    inside = apart <= 1.96 * found.fraction_se[order][driven, 0][seen]
    return {
        "kind": kind,
        "false": float((hit & ~driven).sum() / max(hit.sum(), 1)),
        "n_false": int((hit & ~driven).sum()),
        "n_found": int(hit.sum()),
        "recall": float(hit[driven].mean()),
        "ranking": recall_of_ranking(found.r2[order], driven),
        "pca": recall_of_ranking(loading, driven),
        "mutual": recall_of_ranking(mutual.max(axis=0), driven),
        "inside": inside.tolist(),
    }


def show(name, rows):
    """Print means over tables, with the standard error of each."""

    def mean(key):
        values = np.array([row[key] for row in rows])
        return f"{values.mean():.3f} ± {values.std() / np.sqrt(len(values)):.3f}"

    inside = np.concatenate([row["inside"] for row in rows])
    pooled = sum(row["n_false"] for row in rows) / max(sum(row["n_found"] for row in rows), 1)
    print(f"{name} ({len(rows)} tables)")
    print(f"  false {mean('false')} (pooled {pooled:.3f}), recall {mean('recall')}")
    print(f"  recall of rankings: R2 {mean('ranking')}, PCA {mean('pca')}, MI {mean('mutual')}")
    print(f"  fractions inside {inside.mean():.3f} of {inside.size}")


def main():
    """Print rates for every map and noise of rows, of all tables and by kind of other columns."""
    parser = options(__doc__)
    parser.add_argument("--tables", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--maps", type=int, nargs="+", default=[0, 1], help="0 true, 1 fitted")
    parser.add_argument("--noise", type=float, nargs="+", default=[0.0, 0.5, 0.8], help="of rows")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    first = 1000 * given.seed
    for fitted, row_noise in itertools.product(given.maps, given.noise):
        rows = [one_table(first + k, fitted, row_noise) for k in range(given.tables)]
        where = "map fitted to the same columns" if fitted else "true map"
        where += f", row noise of log sd {row_noise:g}"
        show(where, rows)
        for kind in NULLS:
            some = [row for row in rows if row["kind"] == kind]
            if some:
                show(f"{where}, other columns {kind}", some)


if __name__ == "__main__":
    main()
