"""Compile ahead, so that no first fit has to wait.

What fits use is kept where later processes find it: next to the package, or in the folder that
NUMBA_CACHE_DIR names. For images of containers and for nodes of a cluster.
"""

import argparse
import os
import time
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits

from .. import cliques, covariance, graph
from ..estimator import IKD
from ..strategies import Blockwise, Geodesic
from .console import write_lines

# Few points compile the same as many: enough here for pieces, short-circuit edges and landmarks,
# of which frames of cliques have some beyond 400 points.
_FITS: tuple[tuple[int, dict[str, Any]], ...] = (
    (500, {}),
    (300, {"strategy": Geodesic(path="covariance"), "affinity": "cosine", "graph": 0.5}),
    (450, {"strategy": "blockwise"}),
    (300, {"strategy": Blockwise.paper(), "refine": None}),
    (300, {"strategy": "geodesic", "n_landmarks": 100}),
    (60, {"strategy": "eigen", "affinity": "euclidean", "refine": "likelihood"}),
    (60, {"strategy": "geodesic", "kernel": "rational_quadratic", "refine": "likelihood"}),
)


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    # Numba is loaded by commands that compute, not by those that ask for help.
    from .. import _jit
    from .._base import jit

    _ = _jit.graph
    if os.environ.get(jit.CACHE_SWITCH) == "0" or not jit.cache_folders:
        raise OSError(
            "nothing compiled would be kept: no folder for it can be written, or "
            f"{jit.CACHE_SWITCH} is 0; unset it, or name a folder in NUMBA_CACHE_DIR"
        )
    start = time.perf_counter()
    _fit_all()
    if not arguments.quiet:
        write_lines([f"What fits use is compiled ({time.perf_counter() - start:.0f} s)."])


def _fit_all() -> None:
    """Call the functions that common fits compile, on one thread and on several."""
    rows: NDArray[np.float64] = load_digits().data
    with warnings.catch_warnings():
        # Of so few points some fits are poor, and say so.
        warnings.simplefilter("ignore", UserWarning)
        for n_points, parameters in _FITS:
            for n_jobs in (1, -1):
                model = IKD(n_jobs=n_jobs, **parameters).fit(rows[:n_points])
                model.inverse_transform(model.transform(rows[-5:]))
        g = graph.threshold(covariance.correlation(rows[:60]), 0.5)
        cover = cliques.cover(g, 4)
        cliques.summary(g, cover)
        cliques.overlaps(cover)
        cliques.maximal_cliques(g, limit=100)
