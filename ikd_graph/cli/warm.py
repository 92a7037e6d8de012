"""``ikd-graph warm``: compile ahead, for images of containers and for the nodes of a cluster."""

from __future__ import annotations

import argparse
import os
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits

from .. import cliques, covariance, graph
from ..estimator import IKD
from ..strategies import Blockwise, Geodesic
from .console import say

# Few points compile the same as many: enough here for pieces, short cuts and landmarks, of which
# frames of cliques have some beyond 400 points.
_FITS: tuple[tuple[int, dict[str, Any]], ...] = (
    (300, {}),
    (300, {"strategy": Geodesic(path="covariance"), "affinity": "cosine", "graph": 0.5}),
    (450, {"strategy": "blockwise"}),
    (300, {"strategy": Blockwise.paper(), "refine": None}),
    (300, {"strategy": "geodesic", "n_landmarks": 100}),
    (60, {"strategy": "eigen", "affinity": "euclidean", "refine": "likelihood"}),
    (60, {"strategy": "geodesic", "kernel": "rational_quadratic", "refine": "likelihood"}),
)


def add_command(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "warm",
        help="compile ahead, so that no first fit has to wait",
        description="Compile what fits use and keep it where later processes find it: beside the "
        "package, or in the folder that NUMBA_CACHE_DIR names. For images and clusters.",
    )
    parser.add_argument("--quiet", "-q", action="store_true", help="say nothing but errors")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    # Numba is loaded by commands that compute, not by those that ask for help.
    from .._config import CACHE_SWITCH, compile_twins, compiling

    if os.environ.get(CACHE_SWITCH) == "0":
        raise ValueError(f"nothing compiled would be kept while {CACHE_SWITCH} is 0; unset it")
    for _ in _fits():
        if compiling.functions and not compiling.kept:
            raise OSError(
                "what is compiled cannot be kept: no folder for it can be written; "
                "name one in NUMBA_CACHE_DIR"
            )
    compile_twins()
    if arguments.quiet:
        return
    if not compiling.functions:
        say("Nothing to compile: all of it is in place.")
        return
    say(f"Compiled {compiling.functions} functions in {compiling.seconds:.0f} s.")


def _fits() -> Iterator[None]:
    """Do what compiles, all together, the functions that common fits call on one thread."""
    rows: NDArray[np.float64] = load_digits().data
    with warnings.catch_warnings():
        # Of so few points some fits are poor, and say so.
        warnings.simplefilter("ignore", UserWarning)
        for n_points, parameters in _FITS:
            model = IKD(n_jobs=1, **parameters).fit(rows[:n_points])
            model.inverse_transform(model.transform(rows[:5]))
            yield
        found = graph.threshold_graph(covariance.correlation(rows[:60]), 0.5)
        covered = cliques.cover(found, 4)
        cliques.summary(found, covered)
        cliques.overlaps(covered)
        cliques.maximal_cliques(found, limit=100)
