"""Calls of the estimator and of the chain behind it with nonsense, in forked children.

Run as ``python fuzz_calls.py SEED N``: counts of what came of the calls, and every call that killed
or hung the interpreter, as JSON. An argument makes sense or is nonsense, which at least one is.
"""

import collections
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

from ikd_graph import IKD, blockwise, cliques, covariance, eigen, geodesics, graph, kernels

SECONDS, BYTES = 20, 6 * 2**30
DOCUMENTED = (ValueError, TypeError, MemoryError, ImportError)
LINE = np.linspace(0.0, 3.0, 14)[:, None]
X = np.cos(LINE @ np.ones((1, 20)) + np.arange(20.0))
CORR = kernels.SquaredExponential().covariance((LINE - LINE.T) ** 2)
G = graph.threshold(CORR, 0.3)
COVER = cliques.cover(G, 3)
SOLVED = blockwise.solve(G, COVER, "matern", 1)
CHAIN = {
    covariance.correlation: (X,),
    graph.threshold: (CORR, 0.3),
    graph.from_edges: (14, np.arange(5), np.arange(1, 6), np.full(5, 0.5)),
    cliques.cover: (G, 3),
    cliques.maximal_cliques: (G,),
    cliques.summary: (G, COVER),
    blockwise.solve: (G, COVER, "matern", 1),
    blockwise.merge: (SOLVED,),
    geodesics.covariance: (G,),
    geodesics.distances: (G, "matern"),
    geodesics.shortest_distances: (G, [0, 1]),
    eigen.coordinates: (CORR, 1),
}
"""Functions of the chain from a table to an embedding, with arguments that make sense."""
PARAMETERS = sorted(inspect.signature(IKD).parameters.keys() - {"verbose"})

NUMBERS = [None, True, -1, 0, 1, 3, 10**9, 2**63, 10**30, -0.5, 0.5, 1e-300, 1e300, 1j, np.nan]
NUMBERS += [np.inf, np.float32(0.3), np.int8(-3), "", "auto", "\udcff", b"x", object(), {"a": 1}]
SHAPES = [(), (0,), (3,), (14,), (3, 0), (14, 1), (14, 2), (14, 14), (14, 20), (2, 2, 2)]
TYPES = [float, float, "f4", int, bool, complex, object, "U3"]


def nonsense(rng):
    """Something that no function asked for: a number, an array, or a record that is broken."""
    kind = rng.randrange(6)
    if kind < 2:
        return rng.choice(NUMBERS)
    array = np.full(rng.choice(SHAPES), rng.choice([0, 1, -1, 10**9, 2**62]))
    array = np.asarray(array * rng.choice([1, np.nan, np.inf, 0.5, 1e200, -1e-300]))
    with np.errstate(all="ignore"):
        array = array.astype(rng.choice(TYPES))
    if kind == 2:
        return array.tolist()
    if kind == 3:
        broken = sp.csr_array(CORR)
        broken.indices[1] = 10**9
        return broken
    if kind == 4:
        record = rng.choice([COVER.blocks, SOLVED])
        return record._replace(**{rng.choice(record._fields): array})
    return array[::-2] if array.ndim else array


def call_of(rng):
    """A function and its arguments, some of them nonsense, and their names."""
    if rng.random() < 0.5:
        function, arguments = rng.choice(list(CHAIN.items()))
        at = rng.randrange(len(arguments))
        arguments = (*arguments[:at], nonsense(rng), *arguments[at + 1 :])
        return function, arguments, f"{function.__name__}, argument {at}"
    method = rng.choice(["fit", "transform", "score"])
    spoilt = rng.sample([*PARAMETERS, "X"], rng.choice([1, 1, 2]))
    values = {name: nonsense(rng) for name in spoilt}
    table = values.pop("X", X)

    def use(**parameters):
        if method == "fit":
            return IKD(**parameters).fit(table).embedding_
        return getattr(IKD(**parameters).fit(X), method)(table)

    return lambda: use(**values), (), f"IKD.{method}, {spoilt}"


def attempt(function, arguments):
    """What comes of a call: ok, error (documented) or foreign, and a few words."""
    try:
        function(*arguments)
    except BaseException as error:
        frames = traceback.extract_tb(error.__traceback__)
        # What scikit-learn says of X is what its own estimators say.
        ours = any("raise" in frame.line or "validate_data(" in frame.line for frame in frames)
        return "error" if ours and isinstance(error, DOCUMENTED) else "foreign", repr(error)
    return "ok", ""


def in_a_child(function, arguments):
    """What comes of a call in a forked child, death and a hang included."""
    return isolated.in_a_child(lambda: attempt(function, arguments), SECONDS, BYTES)


def main(seed, count):
    """Make the calls and print what came of them."""
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    rng = random.Random(seed)
    counts, told = collections.Counter(), collections.defaultdict(list)
    for function, arguments in CHAIN.items():
        # Compiled here, so that no child has to.
        kind, words = attempt(function, arguments)
        if kind != "ok":
            told["sane"].append(f"{function.__name__}: {words}")
    IKD().fit(X).transform(X + 0.1)
    for _ in range(count):
        function, arguments, name = call_of(rng)
        kind, words = in_a_child(function, arguments)
        counts[kind] += 1
        if kind not in ("ok", "error"):
            told[kind].append(f"{name}: {words}")
    sys.stdout.write(json.dumps({"counts": counts, "told": told}, indent=1))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
