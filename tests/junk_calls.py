"""Calls of public functions with junk for arguments, each in a forked child.

Run as ``python junk_calls.py SEED N``: counts of what came of the calls, and every call that killed
or hung the interpreter, as JSON. An argument is one that makes sense, by its name, or junk, which
at least one is.
"""

import collections
import importlib
import inspect
import json
import random
import resource
import sys
import traceback
import warnings

import isolated
import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import PCA

from ikd_graph import IKD, blocks, cliques, covariance, gplvm, graph, kernels
from ikd_graph._records import CsrGraph

MODULES = (
    "alignment",
    "blocks",
    "cliques",
    "covariance",
    "eigen",
    "geodesics",
    "gplvm",
    "graph",
    "kernels",
    "refine",
    "study.metrics",
)
SECONDS, BYTES = 20, 6 * 2**30
DOCUMENTED = (ValueError, TypeError, MemoryError, ImportError)


def estimator(method):
    """A function that makes an estimator and calls a method of it."""

    def call(X, n_components, **parameters):
        made = IKD(n_components, **parameters)
        return getattr(made.fit(SANE["X"]), method)(X) if method != "fit" else made.fit(X)

    call.__name__ = f"IKD.{method}"
    names = inspect.signature(IKD).parameters.values()
    kept = [p for p in names if p.name not in ("verbose", "n_components", "time_budget")]
    first = [inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY) for n in ("X", "n_components")]
    kept = [p.replace(kind=inspect.Parameter.KEYWORD_ONLY) for p in kept]
    call.__signature__ = inspect.Signature([*first, *kept])
    return call


def functions():
    """Every public function of the modules, by name, and the estimator's methods."""
    found = {f"IKD.{m}": estimator(m) for m in ("fit", "transform", "score")}
    for module in MODULES:
        home = importlib.import_module(f"ikd_graph.{module}")
        names = getattr(home, "__all__", None) or [n for n in vars(home) if not n.startswith("_")]
        for name in names:
            one = getattr(home, name)
            if inspect.isfunction(one) and one.__module__.startswith("ikd_graph"):
                found[f"{module}.{name}"] = one
    return dict(sorted(found.items()))


def sane_values():
    """An argument that makes sense for each name."""
    rng = np.random.default_rng(0)
    z = np.sort(rng.random(14))[:, None] * 3.0
    X = np.cos(z @ rng.standard_normal((1, 20)) + rng.random(20) * 6.0)
    kernel = kernels.SquaredExponential()
    sq = (z - z.T) ** 2
    corr = kernel.covariance(sq)
    g = graph.threshold(corr, 0.3)
    cover = cliques.cover(g, 3)
    solved = blocks.solve(g, cover, kernel, 1)
    labels = np.arange(14) % 3
    values = {"X": X, "Y": X, "corr": corr, "cov": corr, "g": g, "graph": g, "a": g, "b": g}
    values |= {"matrix": sp.csr_array(corr), "kernel": kernel, "latent": z, "n_components": 1}
    values |= {"start": z, "true": z, "estimate": z + 0.1, "Z": z, "coordinates": z, "points": z}
    values |= {"rows": covariance.unit_rows(X, "correlation"), "solved": solved, "blocks": cover}
    values |= {"cliques": cover, "labels": labels, "y": labels, "frame": z, "k": 3, "n": 14}
    values |= {"source": z, "target": z, "sq_dist": sq, "sq_distances": sq, "distances": sq**0.5}
    values |= {"first": np.arange(5), "second": np.arange(1, 6), "weights": np.full(1, 0.5)}
    values |= {"nodes": np.arange(4), "s0": 0.3, "min_size": 3, "n_points": 14, "n_observed": 20}
    values |= {"neighbours": np.roll(np.arange(14), 1)[:, None], "affinity": "correlation"}
    values |= {
        "block_of": lambda a, b: corr[a:b],
        "correlations": lambda nodes, *to: corr[(nodes, *to)],
    }
    values |= {"low": np.array([0]), "high": np.array([13]), "predecessors": np.arange(14) - 1}
    values |= {"noise_variance": 0.1, "variance": 1.0, "name": "matern", "limit": 10.0}
    process = gplvm.condition(z, X, kernel, 1.0, 0.1, centred=True)
    values |= {"process": process, "seen": gplvm.see(process, X[0]), "row": X[0], "noise": 0.1}
    values |= {"sample_cov": corr, "latent_new": z, "metric": np.eye(1), "floor": 0.1, "known": g}
    values |= {"scaled_rows": covariance.euclidean_rows(X), "support": g}
    values |= {"wide": g, "held_out": X, "scores": np.array([0.5, 0.6]), "n_features": 20}
    values |= {"estimator": PCA(1), "eigenvalues": np.array([3.0, 1.0, 0.1]), "centred": True}
    values |= {"scaling": "cosine", "path": "distance"}
    values |= {
        "vectors": z,
        "source": 0,
        "others": None,
        "search": "wide",
        "level": 0.5,
        "rate": 0.01,
    }
    return values


SANE = sane_values()
Z, CORR = SANE["latent"], SANE["corr"]
OWN = {
    "alignment.rigid_fit": {"source": Z},
    "covariance.pairwise": {"Y": SANE["X"]},
    "covariance.regress_out": {"others": SANE["X"][:2]},
    "eigen.gram_matrix": {"reference": -1},
    "eigen.reference_index": {"reference": "min_max"},
    "geodesics.farthest_nodes": {"count": 3},
    "gplvm.likeliest": {"start": Z[0]},
    "gplvm.scoring_step": {"start": Z[0]},
    "gplvm.weights_at": {"place": Z[0]},
    "graph.as_graph": {"obj": SANE["g"]},
    "graph.from_networkx": {"G": graph.to_networkx(SANE["g"])},
    "graph.nearest_rows": {"new_rows": SANE["rows"]},
    "refine.likelihood": {"starts": {"true": Z}},
    "refine.random_closed_form": {"rng": np.random.default_rng(0)},
    "graph.join": {"corr": CORR},
    "study.metrics.column_halves": {"n_splits": 2},
    "study.metrics.decoding_r2": {"y": Z.ravel()},
    "study.metrics.knn_accuracy": {"n_splits": 2},
    "study.metrics.knn_scores": {"n_splits": 2},
}
"""Arguments that make sense for one function, where others of the name do not."""


NUMBERS = [None, True, -1, 0, 1, 3, 10**9, 2**63, 10**30, -0.5, 0.5, 1e-300, 1e300, 1j, np.nan]
NUMBERS += [np.inf, np.float32(0.3), np.int8(-3), "", "auto", "\udcff", b"x", object(), {"a": 1}]
SHAPES = [(), (0,), (3,), (14,), (3, 0), (14, 1), (14, 2), (14, 14), (14, 20), (2, 2, 2)]
TYPES = [float, float, "f4", int, bool, complex, object, "U3"]


def junk_array(rng):
    """An array of any shape, type and value."""
    array = np.full(rng.choice(SHAPES), rng.choice([0, 1, -1, 10**9, 2**62]))
    if rng.random() < 0.3:
        return array * rng.choice([np.nan, np.inf, 0.5, 1e200, -1e-300])
    if rng.random() < 0.4:
        array = np.arange(array.size).reshape(array.shape) * array
    array = np.asarray(np.asarray(array).astype(rng.choice(TYPES)))
    return array[::-2] if array.ndim and rng.random() < 0.3 else array


def junk(rng):
    """Something that no function asked for, and what it is in short."""
    kind = rng.randrange(6)
    if kind < 2:
        return (value := rng.choice(NUMBERS)), repr(value)
    array = junk_array(rng)
    words = f"{array.dtype} {array.shape}"
    if kind == 2:
        return array.tolist(), f"list {words}"
    if kind == 3:
        return (lambda *given: array), f"function of {words}"
    if kind == 4:
        record = rng.choice([SANE["g"], SANE["cliques"].blocks, SANE["solved"], SANE["matrix"]])
        if sp.issparse(record):
            broken = record.copy()
            broken.indices[1] = 10**9
            return broken, "sparse"
        # A graph checks what it is made of: a tuple of the same parts does not.
        make = tuple if isinstance(record, CsrGraph) else type(record)._make
        field = rng.choice(record._fields)
        parts = [array if name == field else getattr(record, name) for name in record._fields]
        return make(parts), f"{type(record).__name__} of {field}={words}"
    return array, words


def arguments_of(name, function, rng):
    """Arguments of a call, some of them junk if there is ``rng``, and what they are in short."""
    own = OWN.get(name, {})
    positional, named, told = [], {}, []
    parameters = [
        p
        for p in inspect.signature(function).parameters.values()
        if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]
    spoilt = []
    if rng is not None:
        many = min(len(parameters), rng.choice([1, 1, 1, 2, 3]))
        spoilt = rng.sample(range(len(parameters)), many)
    for at, parameter in enumerate(parameters):
        if at in spoilt:
            value, words = junk(rng)
            told.append(f"{parameter.name}={words}")
        elif parameter.name in own:
            value = own[parameter.name]
        elif parameter.name in SANE and parameter.default is parameter.empty:
            value = SANE[parameter.name]
        elif parameter.default is not parameter.empty:
            continue
        else:
            value = SANE["latent"]
        if parameter.kind is parameter.KEYWORD_ONLY or len(positional) < at:
            named[parameter.name] = value
        else:
            positional.append(value)
    return positional, named, ", ".join(told)


def has_nan(value, depth=0):
    """Whether a result holds NaN anywhere."""
    if isinstance(value, float):
        return value != value
    if isinstance(value, np.ndarray):
        return value.dtype.kind == "f" and bool(np.isnan(value).any())
    if isinstance(value, (tuple, list)) and depth < 3:
        return any(has_nan(one, depth + 1) for one in value)
    return False


def attempt(function, positional, named):
    """What comes of a call: ok, nan, error (documented) or foreign, and a few words."""
    try:
        result = function(*positional, **named)
    except BaseException as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        said = f"{type(error).__name__}: {error}"
        if last.filename == __file__ and last.name != "attempt":
            # What a caller's own function raises is handed on as it is.
            return "error", said
        # An error of ours is one that we raise: numpy's may come out of any of our lines.
        ours = "ikd_graph" in last.filename and last.line.startswith("raise")
        # What scikit-learn says of X is what its own estimators say.
        lines = [frame.line for frame in traceback.extract_tb(error.__traceback__)]
        ours |= isinstance(error, MemoryError) or any("= validate_data(" in one for one in lines)
        return ("error" if ours and isinstance(error, DOCUMENTED) else "foreign"), said
    silent = "NaN" not in (function.__doc__ or "")
    return ("nan" if has_nan(result) and silent else "ok"), ""


def in_a_child(function, positional, named):
    """What comes of a call in a forked child, death and a hang included."""
    return isolated.in_a_child(lambda: attempt(function, positional, named), SECONDS, BYTES)


def main(seed, count):
    """Make the calls and print what came of them."""
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    rng = random.Random(seed)
    known = functions()
    counts, told = collections.Counter(), collections.defaultdict(list)
    for name, function in known.items():
        # Compiled here, so that no child has to.
        positional, named, _ = arguments_of(name, function, None)
        kind, said = attempt(function, positional, named)
        if kind != "ok":
            told["sane"].append(f"{name}: {said}")
    for number in range(count):
        # The estimator has most parameters, and gets an eighth of the calls.
        some = [one for one in known if number % 8 or one.startswith("IKD")]
        name = rng.choice(some) if number >= len(known) else list(known)[number]
        positional, named, words = arguments_of(name, known[name], rng)
        kind, said = in_a_child(known[name], positional, named)
        counts[kind] += 1
        if kind not in ("ok", "error"):
            told[kind].append(f"{name}({words}): {said}")
    sys.stdout.write(json.dumps({"names": len(known), "counts": counts, "told": told}, indent=1))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
