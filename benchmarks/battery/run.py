"""Fit every method on every set of a half; one JSON line a fit, appended as it comes."""

import json
import re
from functools import cache
from itertools import product

import numpy as np

from ikd_graph import IKD
from ikd_graph.jobs import baselines
from ikd_graph.jobs.baselines import timed
from ikd_graph.similarity import AFFINITIES

from ._record import Absent
from .scores import measure
from .sets import REAL, halves, make

NAMED = tuple(name for name in AFFINITIES if name != "covariance")
PEERS = ("pca", "isomap", "laplacian_eigenmaps", "tsne", "umap")
TSNE_DIMS = 3
"""Beyond three coordinates t-SNE has no trees, and takes minutes."""


def methods(groups, likelihood):
    """Settings of `IKD` by name of method; None for a peer.

    ``groups`` are "default", "named", "peers" or names of methods; ``likelihood`` adds the
    likelihood polish to the named settings.
    """
    polishes = (None, "stress", "likelihood")
    every = {"default": {}} | {
        affinity + (f"+{refine}" if refine else ""): {"affinity": affinity, "refine": refine}
        for affinity, refine in product(NAMED, polishes)
    }
    cheap = [n for n in every if n != "default" and ("likelihood" not in n or likelihood)]
    known = {"default": ["default"], "named": cheap, "peers": list(PEERS)}
    wanted = [name for group in groups for name in known.get(group, [group])]
    for name in wanted:
        if name not in every and name not in baselines.PEERS:
            raise SystemExit(f"unknown method {name}; give {', '.join([*known, *every, *PEERS])}")
    return {name: every.get(name) for name in dict.fromkeys(wanted)}


def makes_sense(points, M, method, likelihood_rows):
    """Whether a method can embed the points in M dimensions, and anybody would."""
    T, N = points.X.shape
    if min(T, N) <= M or (method == "tsne" and M > TSNE_DIMS):
        return False
    if "likelihood" in method and likelihood_rows < T:
        return False
    return not (points.kind == "circular" and points.truth.ndim == 1 and M > 5)


def run(half, groups, dims, folder, *, likelihood_rows=0, seeds=(0,), only=None, verbose=True):
    """Append what is missing of ``half``.jsonl in a folder; return its path.

    Dimensions are taken one after another, sets by their number of points, so that a table of
    them all can be read early.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{half}.jsonl"
    done = {key(line) for line in read(path)}
    names = [name for name in halves()[half] if not only or re.search(only, name)]
    found, settings = load(names, seeds), methods(groups, likelihood_rows > 0)
    for M, (name, seed, points), method in product(dims, found, settings):
        this = {"set": name, "M": M, "method": method, "seed": seed}
        if key(this) in done or not makes_sense(points, M, method, likelihood_rows):
            continue
        line = this | one(points, M, method, settings[method]) | {"real": name in REAL}
        with path.open("a") as file:
            file.write(json.dumps(line) + "\n")
        if verbose:
            told = line["failure"] or f"{line['score']:.3f}"
            print(f"{name} M={M} {method}: {told} in {line['cpu_seconds']:.1f} s", flush=True)
    return path


def load(names, seeds):
    """(name, seed, points) of sets that are there, the fewest points first; tell of others."""
    found = []
    for name in names:
        try:
            # Real tables differ by the order of their rows only.
            found += [(name, s, make(name, s)) for s in (seeds[:1] if name in REAL else seeds)]
        except Absent as reason:
            print(f"{name} left out: {reason}", flush=True)
    return sorted(found, key=lambda one: len(one[2].X))


def one(points, M, method, settings):
    """A fit with its scores, what it cost and what the model chose."""
    _warm_up(method)
    T, N = points.X.shape
    line = {"kind": points.kind, "T": T, "N": N}
    if settings is None:
        done = baselines.embed(method, points.X, M)
    else:
        model = IKD(M, random_state=0, **settings)
        done = timed(model.fit_transform, points.X)
    Z = done.value
    cost = {"cpu_seconds": round(done.cpu_seconds, 2), "failure": done.failure}
    if Z is None:
        return line | cost
    line |= {name: round(value, 5) for name, value in measure(points, Z).items()}
    if settings is not None:
        chosen = model.settings_
        line |= {k: str(getattr(chosen, k)) for k in ("affinity", "strategy", "refine", "graph")}
        line |= {"reasons": chosen.reasons}
    return line | cost


@cache
def _warm_up(method):
    """Compile in this process what a method needs, so that no set pays for it."""
    X = np.random.default_rng(0).normal(size=(60, 12)).cumsum(axis=0)
    settings = methods([method], True)[method]
    if settings is None:
        baselines.embed(method, X)
    else:
        timed(IKD(2, **settings).fit, X)


def key(line):
    """What tells fits apart."""
    return line["set"], line["M"], line["method"], line["seed"]


def read(path):
    """Lines of a file of results, each fit once, even if two runs appended it."""
    lines = [json.loads(text) for text in path.read_text().splitlines()] if path.exists() else []
    return list({key(line): line for line in lines}.values())
