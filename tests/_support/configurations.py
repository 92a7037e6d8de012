"""Random settings of the estimator on many kinds of tables, and what must hold for each.

Run as ``python configurations.py SEED N``: counts, and each promise that was broken, as JSON.
"""

import collections
import faulthandler
import importlib.util
import json
import random
import sys
import traceback
import warnings

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from ikd_graph import IKD, covariance, graph, kernels, refine, strategies

SECONDS = 90
DOCUMENTED = (ValueError, TypeError, MemoryError)


def process(rng, n, p, dims=1):
    """Samples of a Gaussian process over points of a cube."""
    z = 3.0 * rng.random((n, dims))
    cov = np.exp(-((z[:, None] - z) ** 2).sum(axis=2) / 2.0) + 1e-6 * np.eye(n)
    return np.linalg.cholesky(cov) @ rng.normal(size=(n, p))


def set_to(X, where, value):
    """A copy with another value at some places."""
    X = np.array(X)
    X[where] = value
    return X


BASES = {
    "process": process,
    "plane": lambda rng, n, p: process(rng, n, p, 2),
    "uniform": lambda rng, n, p: rng.random((n, p)),
    "groups": lambda rng, n, p: 9.0 * np.eye(3, p)[np.arange(n) % 3] + rng.normal(size=(n, p)),
    "many columns": lambda rng, n, p: process(rng, n, 300),
    "noise": lambda rng, n, p: rng.normal(size=(n, p)),
    "few columns": lambda rng, n, p: rng.normal(size=(n, rng.integers(1, 3))),
    "few rows": lambda rng, n, p: process(rng, rng.integers(1, 5), p),
    "counts": lambda rng, n, p: rng.poisson(10.0 ** rng.uniform(-1.5, 1.5), (n, p)),
    "heavy tails": lambda rng, n, p: rng.standard_cauchy((n, p)),
    "one value": lambda rng, n, p: np.full((n, p), rng.integers(0, 2) * 1.0),
    "two rows only": lambda rng, n, p: process(rng, 2, p)[np.arange(n) % 2],
    "low rank": lambda rng, n, p: (
        rng.normal(size=(n, k := rng.integers(1, 3))) @ rng.normal(size=(k, p))
    ),
    "identity": lambda rng, n, p: np.eye(n),
}
PLAIN = ("process", "plane", "many columns", "groups", "uniform")
"""Bases without ties and extremes, on which an answer can be compared with another."""

TYPES = ("f4", "f2", "i1", "u1", "?", ">f8", object, complex, "U3")
CHANGES = {
    "type": lambda X, rng: X.astype(TYPES[rng.integers(len(TYPES))]),
    "lists": lambda X, rng: X.tolist(),
    "sparse": lambda X, rng: (sp.csr_array, sp.csc_matrix)[rng.integers(2)](np.maximum(X, 0)),
    "scale": lambda X, rng: X * 10.0 ** rng.choice([-310, -69, 36, 69, 100]),
    "offset": lambda X, rng: X + 10.0 ** rng.integers(0, 16),
    "units": lambda X, rng: X * 10.0 ** rng.integers(-8, 9, X.shape[1]),
    "outlier": lambda X, rng: set_to(X, rng.integers(len(X)), 100 * rng.normal(size=X.shape[1])),
    "constant rows": lambda X, rng: set_to(X, slice(0, 3), rng.integers(0, 2)),
    "constant columns": lambda X, rng: set_to(X, (slice(None), slice(0, 3)), 2),
    "equal rows": lambda X, rng: np.repeat(X, 2, axis=0)[: len(X)],
    "nearly equal": lambda X, rng: 1.0 + 1e-14 * X,
    "holes": lambda X, rng: set_to(1.0 * X, rng.random(X.shape) < 0.2, np.nan),
    "masked": lambda X, rng: np.ma.masked_greater(X, 1.5),
    "infinity": lambda X, rng: set_to(1.0 * X, (0, 0), np.inf),
}
SQUARES = {
    "kernel": lambda rng, n, p: np.exp(-((z := rng.random((n, 1)) * 4.0) - z.T) ** 2),
    "sample": lambda rng, n, p: covariance.correlation(process(rng, n, 40)),
    "covariance": lambda rng, n, p: 1e-3 * np.cov(process(rng, n, 40)),
    "indefinite": lambda rng, n, p: (A := rng.normal(size=(n, n))) + A.T,
    "sparse": lambda rng, n, p: sp.csr_array(np.maximum(np.cov(process(rng, n, 40)), 0.0)),
    "distances": lambda rng, n, p: cdist(z := rng.random((n, 2)), z),
    "zeros": lambda rng, n, p: np.zeros((n, n)),
    "not square": lambda rng, n, p: np.ones((n, n + 1)),
}  # fmt: skip
APPROXIMATE = "approximate" if importlib.util.find_spec("faiss") else "auto"
CHOICES = {
    "strategy": (
        "auto", "geodesic", "blockwise", "eigen", "linear",
        strategies.Geodesic(path="covariance", reference="min_max"),
        strategies.Geodesic(reference=5), strategies.Eigen(reference="min_mean"),
        strategies.Blockwise(merge="greedy"), strategies.Blockwise(max_cliques=5),
    ),
    "graph": (
        "auto", 0.05, 0.3, 0.8, 1, 3, 100, graph.Threshold(0.999, n_neighbors=3),
        graph.Threshold(0.7), graph.Threshold(prune=True),
        graph.Neighbors(3, mutual=True), graph.Neighbors(4, search=APPROXIMATE),
        graph.Neighbors(6, prune=False), graph.Neighbors(2),
        graph.Neighbors(2, disconnected="raise"),
    ),
    "kernel": (
        "squared_exponential", "rational_quadratic", "gamma_exponential", "matern", "auto",
        kernels.Matern(nu=2.5, length_scale=3.0), kernels.RationalQuadratic(alpha=0.3),
    ),
    "affinity": (
        "auto", "correlation", "cosine", "covariance", "euclidean", "standardized_euclidean",
        "shared_neighbors", "hellinger",
    ),
    "n_landmarks": (None, "auto", 5, 0.5, 8),
    "missing": ("error", "pairwise"),
}  # fmt: skip
REFINEMENTS = (
    None, None, "stress", "stress", "auto", "likelihood", refine.Likelihood(restarts=2),
)  # fmt: skip


def drawn(seed, number):
    """Kind of table, the table and the settings of a number."""
    chosen = random.Random(f"{seed}/{number}")
    rng = np.random.default_rng([seed, number])
    settings = {"n_components": chosen.choice([1, 2, 2, 3, "auto"])}
    settings["refine"] = chosen.choice(REFINEMENTS)
    for name, values in CHOICES.items():
        if chosen.random() < 0.3:
            settings[name] = chosen.choice(values)
    n, p = chosen.randrange(6, 25), chosen.randrange(2, 30)
    if chosen.random() < 0.1:
        settings["affinity"] = chosen.choice(["precomputed", "precomputed_distance"])
        kind = chosen.choice(list(SQUARES))
        return kind, SQUARES[kind](rng, n, p), settings
    kind = chosen.choice(list(BASES)) if chosen.random() < 0.6 else chosen.choice(PLAIN)
    X = BASES[kind](rng, n, p)
    if chosen.random() < 0.6:
        change = chosen.choice(list(CHANGES))
        kind, X = f"{kind}, {change}", CHANGES[change](X, rng)
        if change in ("holes", "masked"):
            settings["missing"] = chosen.choice(["error", "pairwise", "pairwise"])
    return kind, X, settings


def fitted(X, settings):
    """A model; a warning of numpy's is an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        return IKD(random_state=0, **settings).fit(X)


def same(a, b):
    """Whether two arrays are equal to the last bit."""
    return a.shape == b.shape and a.tobytes() == b.tobytes()


def broken(kind, X, settings):
    """Promises that do not hold, and the number of those looked at."""
    model = fitted(X, {**settings, "n_jobs": 1})
    Z = model.embedding_
    found, looked = [], 3
    if not (np.isfinite(Z).all() and Z.shape[0] == np.shape(X)[0]):
        found.append("finite")
    if not same(fitted(X, {**settings, "n_jobs": 2}).embedding_, Z):
        found.append("n_jobs")
    if settings.get("affinity", "").startswith("precomputed"):
        return found, looked
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        if not same(model.transform(X), Z):
            found.append("transform")
        found += [name for name, holds in generated(model, X, Z).items() if not holds]
    if isinstance(X, np.ndarray) and X.dtype == np.float64 and not isinstance(X, np.ma.MaskedArray):
        relations = related(kind, X, Z, settings)
        looked += 2 + len(relations)
        found += [name for name, holds in relations.items() if not holds]
    return found, looked


def generated(model, X, Z):
    """Whether what a model makes of rows and of places is finite, and a row is placed by itself."""
    back = model.inverse_transform(Z)
    relations = {"inverse_transform": bool(np.isfinite(back).all())}
    relations["score"] = bool(np.isfinite(model.score(X)))
    if isinstance(X, np.ndarray) and X.dtype == np.float64 and np.isfinite(X).all():
        other = 0.7 * X + 0.3 * X[::-1]
        together = model.transform(other)
        relations["place"] = bool(np.isfinite(together).all())
        relations["batches"] = same(
            np.vstack([model.transform(row[None]) for row in other]), together
        )
    return relations


def related(kind, X, Z, settings):
    """Whether tables that say the same get the same latent."""
    relations = {}
    rows = {}
    for at, row in enumerate(np.nan_to_num(X, nan=-7e77)):
        rows.setdefault((row + 0.0).tobytes(), []).append(at)
    relations["equal rows"] = all(same(Z[a], Z[b]) for a, *more in rows.values() for b in more)
    rule = settings.get("graph")
    if kind not in PLAIN:
        return relations
    if settings["refine"] in (None, "stress"):
        # A search among local optima may end elsewhere for a last bit.
        # Distances keep their unit, and all else has that of the kernel.
        larger = fitted(4.0 * X, settings)
        units = [each.kernel_.length_scale for each in (larger, fitted(X, settings))]
        relations["scale"] = alike(larger.embedding_ / units[0], Z / units[1])
    plain = settings["refine"] is None and settings.get("n_landmarks") is None
    own_reference = isinstance(getattr(settings.get("strategy"), "reference", ""), int)
    if plain and not own_reference and getattr(rule, "search", "auto") != "approximate":
        order = np.random.default_rng(0).permutation(len(X))
        turned = fitted(X[order], settings).embedding_
        relations["order"] = alike(turned, Z[order])
    return relations


def alike(A, B):
    """Whether two sets of points have the same distances."""
    if A.shape != B.shape:
        return False
    a, b = (np.sqrt(((P[:, None] - P) ** 2).sum(axis=2)) for P in (A, B))
    return bool(np.abs(a - b).max() <= 1e-5 * b.max())


def judged(kind, X, settings):
    """What to call what came of settings: kept, refused, broken or foreign; and a few words."""
    try:
        found, looked = broken(kind, X, settings)
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        ours = "ikd_graph" in frames[-1].filename and frames[-1].line.startswith("raise")
        ours |= any("= validate_data(" in frame.line for frame in frames)
        word = "refused" if ours and isinstance(error, DOCUMENTED) else "foreign"
        last = f"{frames[-1].filename}:{frames[-1].lineno}"
        return word, f"{type(error).__name__}: {error} ({last})", 0
    return ("broken" if found else "kept"), ", ".join(found), looked


def main(seed, count):
    """Try the settings and print what came of them."""
    counts, told = collections.Counter(), []
    kinds = set()
    for number in range(count):
        kind, X, settings = drawn(seed, number)
        kinds.add(kind)
        # A hang ends the process and says where it was.
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        sys.stderr.write(f"{seed}/{number} {kind} {settings}\n")
        word, said, looked = judged(kind, X, settings)
        faulthandler.cancel_dump_traceback_later()
        counts[word] += 1
        counts["promises"] += looked
        if word in ("broken", "foreign"):
            told.append(f"{seed}/{number} {kind} {np.shape(X)} {settings}: {said}"[:700])
    sys.stdout.write(json.dumps({"counts": counts, "kinds": len(kinds), "told": told}, indent=1))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
