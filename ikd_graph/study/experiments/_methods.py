"""The methods that experiments compare, by name: our own, the paper's settings of it, the peers."""

from __future__ import annotations

import time
import warnings
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import kernels
from ..._validation import check_choice
from .. import baselines
from ..compare import IKD_METHODS
from ..datasets import fixed_latent, gp_mapping

Floats = NDArray[np.float64]

PAPER_METHODS: dict[str, dict[str, Any]] = {
    "paper_blockwise": {
        "affinity": "correlation",
        "strategy": "blockwise",
        "threshold": 0.1,
        "reference": "min_max",
        "merge": "greedy",
        "refine": None,
    },
    "paper_geodesic": {
        "affinity": "correlation",
        "strategy": "geodesic",
        "threshold": None,
        "n_neighbors": 5,
        "path": "covariance",
        "reference": "min_max",
        "refine": None,
    },
    "paper_geodesic_centred": {
        "affinity": "correlation",
        "strategy": "geodesic",
        "threshold": None,
        "n_neighbors": 5,
        "path": "covariance",
        "reference": "center",
        "refine": None,
    },
    "blockwise_greedy": {"strategy": "blockwise", "merge": "greedy", "refine": None},
    "blockwise_stress": {"strategy": "blockwise", "refine": "stress"},
    "geodesic_stress": {"strategy": "geodesic", "refine": "stress"},
    "ikd_auto_kernel": {"kernel": "auto", "refine": "likelihood"},
}
"""Parameters of ``IKD``: the paper's closed form, the same with true centring, our variants."""

METHODS = (*IKD_METHODS, *PAPER_METHODS, *baselines.PEERS)
"""Every name that an experiment takes as a method."""


def fit(
    method: str,
    X: Floats,
    n_components: int,
    seed: int,
    *,
    kernel: str | kernels.StationaryKernel | None = None,
    start: Floats | None = None,
    **changes: Any,
) -> dict[str, Any]:
    """Fit a method, timed, after a first call on a few points that pays for compilation.

    Parameters
    ----------
    method : str
        One of ``METHODS``.
    X : (n, n_features) float64
        The data.
    n_components : int
        Dimension of the embedding.
    seed : int
        Seed of the method.
    kernel : str, StationaryKernel or None
        Kernel of the methods that have one.
    start : (n, n_components) float64 or None
        Where to begin, for peers that can be told.
    **changes
        Other parameters of ``IKD``; left out for peers.

    Returns
    -------
    dict
        coordinates (None after a failure), seconds, cpu_seconds, failure, and model (the fitted
        ``IKD``; None for peers and after a failure).
    """
    check_choice("methods", method, METHODS)
    if method in baselines.PEERS:
        takes = "kernel" in baselines.PEERS[method].options
        own = kernel if takes else None
        cpu = time.process_time()
        found = baselines.embed(method, X, n_components, seed, start=start, kernel=own)
        return {
            "coordinates": found.coordinates,
            "seconds": found.seconds,
            "cpu_seconds": time.process_time() - cpu,
            "failure": found.failure,
            "model": None,
        }
    model = _model(method, kernel, changes)
    _warm_up(method, str(changes))
    cpu, begin = time.process_time(), time.perf_counter()
    with warnings.catch_warnings():
        # A disconnected graph is expected in some cells; its effect is in the measure.
        warnings.simplefilter("ignore")
        try:
            model.set_params(n_components=n_components, random_state=seed)
            coordinates, failure = np.asarray(model.fit_transform(X)), ""
        # Whatever a method raises is its answer, and a row in a table.
        except Exception as error:
            coordinates, failure = None, f"{type(error).__name__}: {error}"
    return {
        "coordinates": coordinates,
        "seconds": time.perf_counter() - begin,
        "cpu_seconds": time.process_time() - cpu,
        "failure": failure,
        "model": None if failure else model,
    }


def _model(
    method: str, kernel: str | kernels.StationaryKernel | None, changes: dict[str, Any]
) -> Any:
    """Our estimator in the settings of a name."""
    from ...estimator import IKD

    settings: dict[str, Any] = dict({**IKD_METHODS, **PAPER_METHODS}[method]) | changes
    if kernel is not None:
        settings.setdefault("kernel", kernel)
    return IKD(**settings)


@cache
def _warm_up(method: str, changes: str) -> None:
    """Compile in this process, once for a method (``changes`` tells variants apart)."""
    few = gp_mapping(fixed_latent("medium", 80), 150, kernels.Matern(length_scale=0.5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _model(method, None, {}).set_params(n_components=3).fit(few)
