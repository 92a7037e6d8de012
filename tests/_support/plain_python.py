"""What compiled code answers, small: to be run with the compiler on and, as a script, off.

NUMBA_DISABLE_JIT=1 python plain_python.py FILE.npz
"""

import sys
import warnings

import numpy as np
import scipy.sparse as sp

from ikd_graph import (
    IKD,
    blockwise,
    cliques,
    covariance,
    geodesics,
    gplvm,
    graph,
    kernels,
    refine,
    similarity,
    strategies,
)
from ikd_graph._base.table import SparseTable
from ikd_graph.cliques import Blocks
from ikd_graph.datasets import gp_mapping

_GREEDY = strategies.Blockwise(merge="greedy", reference="min_max")
FITS = {
    "eigen": {"strategy": "eigen", "affinity": "euclidean", "refine": "likelihood"},
    "blockwise": {"strategy": "blockwise", "affinity": "correlation", "graph": 0.6},
    "greedy": {"strategy": _GREEDY, "affinity": "correlation", "graph": 12},
    "geodesic": {"strategy": "geodesic", "graph": 6, "refine": "stress"},
    "solid": {"n_components": 3, "strategy": "blockwise", "affinity": "correlation", "graph": 0.5},
    "solid greedy": {"n_components": 3, "strategy": _GREEDY, "affinity": "correlation"},
    "shared": {"strategy": "geodesic", "affinity": "shared_neighbors"},
    "landmarks": {"strategy": "geodesic", "affinity": "correlation", "n_landmarks": 20},
}


def rows(n, seed, noise=0.05):
    """Noisy measurements (n, 60) of a Gaussian process over a sheet."""
    rng = np.random.default_rng(seed)
    latent = rng.uniform(0.0, 1.0, (n, 2)) * [3.0, 2.0]
    X = gp_mapping(latent, 60, "squared_exponential", seed=seed)
    return X + noise * rng.standard_normal(X.shape)


def answers():
    """Arrays of every computation, by name."""
    found = {}
    with warnings.catch_warnings():
        # Of so few points some fits are poor, and say so.
        warnings.simplefilter("ignore")
        for part in (of_graphs, of_cliques, of_paths, of_suspicion, of_sparse_rows, of_models):
            found |= {f"{part.__name__} {name}": value for name, value in part().items()}
        found |= of_fits()
    return {name: np.asarray(value, dtype=float) for name, value in found.items()}


def of_graphs():
    X = rows(40, 0)
    corr = covariance.correlation(X)
    g = graph.threshold(corr, 0.7)
    nearest = graph.neighbors(corr, 4, mutual=True)
    joined = graph.join(nearest, corr)
    near = graph.row_neighbors(X, 5)
    rows_of_X = similarity.compare(X, "correlation")
    by_rows = graph.neighbors(rows_of_X, 5)
    return {
        "nearest": rows_of_X.nearest(X[:9] + 0.1, 4)[0],
        "near": near,
        "weights": g.weights,
        "parts": graph.component_labels(nearest),
        "joined": joined.graph.weights,
        "links of rows": graph.join(nearest, rows_of_X).links,
        "neighbors of rows": by_rows.indices,
        "union": graph.union(g, by_rows).indices,
        "strongest": graph.strongest(g, 3).indices,
        "pairs": rows_of_X.between(np.arange(9), np.arange(9) + 20),
    }


def of_cliques():
    rng = np.random.default_rng(1)
    # Two groups that few cliques hold together, and one of many words of bits.
    corr = covariance.correlation(rows(60, 1))
    g = graph.threshold(corr, 0.75)
    far = np.triu(rng.random((150, 150)) < 0.06, 1)
    ends = np.nonzero(far | np.eye(150, k=1, dtype=bool))
    wide = graph.from_edges(150, *ends, np.ones(ends[0].size))
    every = cliques.maximal_cliques(g, min_size=2)
    cover = cliques.cover(g, 4)
    facts = cliques.summary(g, cover, 2)
    return {
        "every": np.concatenate(every),
        "wide": np.concatenate(cliques.maximal_cliques(wide)),
        "cover": np.concatenate(cover),
        "least": np.concatenate(cliques.cover(g, 4, max_cliques=1)),
        "wide cover": np.concatenate(cliques.cover(wide, 3)),
        "facts": [v for v in facts.values() if isinstance(v, int | float)],
        "overlaps": cliques.overlaps(every, 2).toarray(),
    }


def of_paths():
    g = graph.neighbors(covariance.correlation(rows(80, 2)), 4)
    lengths = geodesics.distance_lengths(g, kernels.SquaredExponential())
    return {
        "all": geodesics.shortest_distances(lengths),
        "some": geodesics.shortest_distances(lengths, [3, 41]),
        "one of many": geodesics.shortest_distances(long_way(), [299]),
        "products": geodesics.covariance(g),
    }


def long_way(length=1.0):
    """A ring of 300 points with a few bridges."""
    at = np.arange(300)
    left, right = np.r_[at[:-1], 0, 40, 90], np.r_[at[1:], 299, 160, 200]
    return graph.from_edges(300, left, right, np.full(left.size, length))


def of_suspicion():
    turn = np.linspace(6.0**2, 14.0**2, 60) ** 0.5
    spiral = np.column_stack([turn * np.cos(turn), turn * np.sin(turn)])
    spiral += np.random.default_rng(0).normal(scale=0.3, size=spiral.shape)
    g = graph.neighbors(similarity.compare(spiral, "euclidean"), 10)
    _, removed = graph.prune(g)
    corr = covariance.correlation(rows(80, 3, noise=0.0))
    false = np.argwhere(np.triu(corr < 0.3, 1))[::40]
    corr[tuple(false.T)] = corr[tuple(false.T[::-1])] = 0.95
    made = similarity.compare(corr, "precomputed")
    kept, contradicted = graph.prune(graph.threshold(made, 0.4))
    return {
        "removed": removed,
        "contradicted": contradicted,
        "kept": kept.indices,
    }


def of_sparse_rows():
    X = np.maximum(rows(60, 4) - 0.5, 0.0)
    X[np.arange(60), np.arange(60) % X.shape[1]] += 1.0
    made = similarity.compare(SparseTable(sp.csr_array(X)), "correlation")
    return {
        "matrix": made.matrix(),
        "pairs": made.between(np.arange(20), np.arange(20) + 30),
        "neighbors": made.neighbors(5),
        "edges": graph.threshold(made, 0.4).indices,
    }


def of_models():
    latent = np.random.default_rng(5).normal(size=(12, 2))
    found = {}
    some = [kernels.RationalQuadratic(), kernels.GammaExponential(gamma=1.5)]
    for kernel in (*some, *(kernels.Matern(nu=nu) for nu in (0.5, 1.5, 2.5))):
        found[f"information {kernel}"] = gplvm.expected_information(latent, kernel, 1.4, 0.2)
    return found


def of_fits():
    X = rows(50, 6)
    found = {}
    for name, parameters in FITS.items():
        model = IKD(n_jobs=1, random_state=0, **{"refine": None, **parameters}).fit(X)
        found[f"fit {name}"] = model.embedding_
        found[f"fit {name} new"] = model.transform(X[:5] + 0.01)
    g = graph.neighbors(covariance.correlation(X), 6)
    kept = geodesics.auto_landmarks
    geodesics.auto_landmarks = lambda *_: 20
    try:
        seen = refine.stress(found["fit eigen"], g, "matern", weights="uniform")
        found["stress to landmarks"] = seen.latent
    finally:
        geodesics.auto_landmarks = kept
    whole = covariance.correlation(rows(130, 7) + 9.0 * rows(130, 8)[:1])
    one = Blocks(np.array([0, 130]), np.arange(130, dtype=np.int32))
    large = graph.threshold(np.maximum(whole, 0.02), 0.01)
    found["large clique"] = blockwise.solve(large, one, kernels.SquaredExponential(), 2).coordinates
    return found


if __name__ == "__main__":
    np.savez(sys.argv[1], **answers())
