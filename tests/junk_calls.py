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

from ikd_graph import IKD, blocks, cliques, covariance, gplvm, graph, kernels, refine
from ikd_graph._records import Blocks, CsrGraph

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
    values |= {"left": np.arange(5), "right": np.arange(1, 6), "weights": np.full(5, 0.5)}
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
    values |= {"made": covariance.euclidean_rows(X), "support": g}
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
    "covariance.pairwise": {"others": SANE["X"]},
    "eigen.gram_matrix": {"reference": -1},
    "eigen.reference_index": {"reference": "min_max"},
    "geodesics.farthest_nodes": {"count": 3},
    "gplvm.likeliest": {"start": Z[0]},
    "graph.as_graph": {"obj": SANE["g"]},
    "graph.from_networkx": {"G": graph.to_networkx(SANE["g"])},
    "graph.nearest_rows": {"new_rows": SANE["rows"]},
    "refine.likelihood": {"starts": {"true": Z}},
    "refine.random_closed_form": {"rng": np.random.default_rng(0)},
    "graph.add_edges": {"weights": np.array([0.5])},
    "graph.join": {"corr": CORR},
    "graph.joined_by": {"wider": SANE["g"]},
    "study.metrics.column_halves": {"n_splits": 2},
    "study.metrics.decoding_r2": {"y": Z.ravel()},
    "study.metrics.knn_accuracy": {"n_splits": 2},
    "study.metrics.knn_scores": {"n_splits": 2},
}
"""Arguments that make sense for one function, where others of the name do not."""


def callback(*given):
    """A caller's function that asks for something else."""
    return len(given[1])


def junk_values():
    """What no function asked for."""
    g, cover, solved = SANE["g"], SANE["cliques"], SANE["solved"]
    tall = SANE["latent"]
    broken = sp.csr_array(np.eye(3))
    broken.indices[1] = 10**9
    numbers = [None, True, -1, 0, 1, 2, 3, 10**9, 2**63, 10**30, -0.5, 0.5, 1e-300, 1e300]
    numbers += [np.nan, np.inf, 1j, np.float32(0.3), np.int8(-3), np.bool_(True)]
    words = ["", "auto", "matern", "no such thing", "\udcff", b"x", object(), callback]
    lists = [[], [[]], (), {}, {"a": 1}, [1, [2, 3]], [10**9], [-1], [[0, 0]], [[5, 10**9]]]
    lists += [range(3), [None], ["a", "b"], [0.5], [np.nan], [[0, 1, 2], [2, 3]], [2**40]]
    arrays = [np.empty(0), np.empty((0, 3)), np.empty((3, 0)), np.zeros((14, 14)), np.eye(13)]
    arrays += [np.full((14, 14), np.nan), np.full((14, 20), 1e200), np.full((14, 1), np.inf)]
    arrays += [np.ones((14, 20), bool), np.zeros((2, 2, 2)), np.array(3.0), np.array(["a"] * 14)]
    arrays += [np.arange(14), -np.arange(14), np.arange(14) * 10**8, np.zeros(14, complex)]
    arrays += [
        np.array([None] * 14),
        np.full(14, 2**62),
        tall[::-2],
        np.asfortranarray(tall + tall.T),
    ]
    arrays += [np.ma.masked_all((14, 2)), np.zeros((14, 2), "f4"), np.full((14, 14), -1.0)]
    arrays += [np.zeros(3, [("a", float)]), np.array(["2020-01-01"] * 14, "M8[D]")]
    records = [g, cover, solved, broken, sp.csr_array((0, 0)), sp.eye_array(14).tolil()]
    records += [CsrGraph(np.zeros(1, int), [], []), CsrGraph(np.zeros(15, int), [], [])]
    records += [g._replace(weights=np.full(g.weights.size, w)) for w in (0.0, -1.0, np.inf, 1e300)]
    records += [tuple(g), Blocks(np.array([0, 9]), np.array([0])), Blocks([0], [])]
    records += [Blocks(np.array([0, 2]), np.array([-5, 10**8], np.int32)), Blocks(None, None)]
    records += [solved._replace(blocks=Blocks(np.array([0, 2]), np.array([0, 10**8], np.int32)))]
    records += [solved._replace(coordinates=np.zeros((1, 1))), refine.Stress("component")]
    records += [lambda *a: None, lambda *a: np.zeros((1, 1)), lambda *a: np.full((14, 14), np.nan)]
    records += [lambda a, *b: np.zeros((10**3, 14)), kernels.Matern(nu=2.5)]
    return [*numbers, *words, *lists, *arrays, *records]


JUNK = junk_values()


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
            number = rng.randrange(len(JUNK))
            value = JUNK[number]
            told.append(f"{parameter.name}=JUNK[{number}]")
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
