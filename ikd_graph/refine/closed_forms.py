"""Closed-form starts for likelihood refine: several graphs, two paths, before and after stress.

One start often sits beside the wrong valley; several, made from different parts of the same
covariance, almost never all do.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import eigen, graph
from .._records import CsrGraph
from .._stages import Stages
from .._validation import check_components
from ..choices import auto_threshold
from ..kernels import StationaryKernel, get
from ..strategies import Plan, solve_geodesic
from ._pairs import Weights
from .majorize import stress

Floats = NDArray[np.float64]

_FAINTER = 1e-4

MANY_POINTS = 300
"""Number of points from which fewer starts are made: each costs more, and more points err less."""

MOST_POINTS = 2000
"""Number of points from which only the cheapest and surest are."""


def starts(
    sample_cov: ArrayLike,
    n_observed: int,
    n_components: int,
    kernel: str | StationaryKernel = "squared_exponential",
    *,
    wide: bool = True,
) -> dict[str, Floats]:
    """Closed-form latents of one covariance, by name.

    Parameters
    ----------
    sample_cov : (n, n) array_like of float64
        Covariance between points.
    n_observed : int
        Number N of observed dimensions it was estimated from.
    n_components : int
        Columns of the latents.
    kernel : str or StationaryKernel
        Kernel of the model.
    wide : bool
        Make all of them; otherwise only the two that cost least and err least.

    Returns
    -------
    dict of str to (n, n_components) ndarray of float64
        Geodesic solutions on the threshold graph, on neighbour graphs and on the graph of nearest
        rows, some after stress refine, and the leading eigenvectors of the covariance.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import kernels, refine
    >>> z = np.linspace(0.0, 6.0, 30)[:, None]
    >>> cov = kernels.Matern().covariance((z - z.T) ** 2)
    >>> "threshold + stress" in refine.starts(cov, 100, 1, "matern")
    True
    """
    cov, kernel = np.asarray(sample_cov, dtype=np.float64), get(kernel)
    n = len(cov)
    check_components(n_components, n)
    spread = np.sqrt(np.diagonal(cov))
    corr = np.clip(cov / np.outer(spread, spread), -1.0, 1.0)
    np.fill_diagonal(corr, 1.0)
    level = auto_threshold(n_observed)
    dense = graph.threshold_graph(corr, level)

    out: dict[str, Floats] = {}
    edges_only: dict[str, Floats] = {}

    def add(name: str, g: CsrGraph, raw: bool, stressed: bool, path: str = "distance") -> None:
        joined = graph.join_components(g, corr).graph
        plan = Plan("geodesic", kernel, n_components, path=path, n_observed=n_observed)
        latent = solve_geodesic(joined, plan, Stages()).embedding.coordinates
        if raw:
            out[name] = latent
        if stressed:
            out[f"{name} + stress"] = stress(latent, joined, kernel, n_observed).latent
        if stressed and n <= MANY_POINTS:
            # Edges nearly alone: another way down, which now and then ends in another valley.
            near = stress(latent, joined, kernel, n_observed, weights=Weights(faint=_FAINTER))
            edges_only[f"{name} + edges"] = near.latent

    def nearest(k: int, matrix: Floats = corr) -> CsrGraph:
        return graph.neighbor_graph(matrix, min(k, n - 1))

    wide = wide and n <= MOST_POINTS
    cheap = n <= MANY_POINTS
    add("threshold", graph.union(dense, nearest(6)), True, wide)
    add("8 neighbors", nearest(8), not cheap or not wide, wide and cheap)
    if not wide:
        return out
    add("5 neighbors", nearest(5), True, cheap)
    # Nearest rows instead of nearest directions: the size of a row tells something too.
    variance = np.diagonal(cov)
    apart = variance[:, None] + variance - 2.0 * cov
    add("nearest rows", nearest(5, 1.0 - 0.5 * apart / variance.mean()), True, cheap)
    add("product of 5 neighbors", nearest(5), True, False, path="covariance")
    if cheap:
        add("10 neighbors", nearest(10), False, True)
    vectors = np.linalg.eigh(cov)[1]
    out["eigenvectors"] = eigen.pin_signs(vectors[:, -n_components:]) * np.sqrt(n)
    return out | edges_only
