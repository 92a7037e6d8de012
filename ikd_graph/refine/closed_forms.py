"""Closed-form starts for likelihood refine: several graphs, before and after stress.

One start often leads to a wrong local optimum; several, made from different parts of the same
covariance, almost never all do.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _doors as door
from .. import _limits, eigen, graph
from .._records import CsrGraph
from .._stages import Stages
from .._validation import check_components
from ..covariance import FLOOR, to_correlation
from ..graph import auto_threshold
from ..kernels import StationaryKernel, get
from ..solve import Plan, solve_geodesic
from .majorize import stress

Floats = NDArray[np.float64]

PATHLESS = ("eigen", "principal components")
"""Starts that follow no paths: they see that a latent turns back to pass near itself. They are
searched apart: among the others they took the places of starts that led to better optima."""

_EQUAL = 1e-6  # of a latent's size: the default's own closed form is often one of these


@door.takes(sample_cov=door.square, n_observed=door.count)
def starts(
    sample_cov: ArrayLike,
    n_observed: int,
    n_components: int,
    kernel: str | StationaryKernel = "squared_exponential",
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

    Returns
    -------
    dict of str to (n, n_components) ndarray of float64
        Geodesic solutions on the threshold graph, on neighbour graphs and on the graph of nearest
        rows, the first of them after stress refine, the eigen solution and principal components.

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
    corr = to_correlation(cov)

    def nearest(k: int, matrix: Floats = corr) -> CsrGraph:
        return graph.join(graph.neighbor_graph(matrix, min(k, n - 1)), corr).graph

    def solved(g: CsrGraph) -> Floats:
        plan = Plan("geodesic", kernel, n_components, path="distance")
        return solve_geodesic(g, plan, Stages()).embedding.coordinates

    dense = graph.union(graph.threshold_graph(corr, auto_threshold(n_observed)), nearest(6))
    out = {"threshold": solved(dense), "5 neighbors": solved(nearest(5))}
    if n > _limits.STARTS_MANY:
        return out
    pathless = kernel.sq_distance(np.clip(corr, FLOOR, 1.0)), 1.0 - corr
    for name, sq_dist in zip(PATHLESS, pathless, strict=True):
        out[name] = eigen.coordinates(sq_dist, n_components).coordinates
    # Nearest rows instead of nearest directions: the size of a row tells something too.
    variance = np.diagonal(cov)
    apart = variance[:, None] + variance - 2.0 * cov
    return out | {
        "threshold + stress": stress(out["threshold"], dense, kernel, n_observed).latent,
        "nearest rows": solved(nearest(5, 1.0 - 0.5 * apart / variance.mean())),
    }


def unlike(others: Mapping[str, Floats], given: Mapping[str, Floats]) -> dict[str, Floats]:
    """Starts that have neither the name nor the shape of one that is given.

    Parameters
    ----------
    others : mapping of str to (n, m) float64
        Starts.
    given : mapping of str to (n, m) float64
        Starts that are taken anyway.

    Returns
    -------
    dict of str to (n, m) ndarray of float64
        Those of the others that are left.
    """
    return {
        name: at
        for name, at in others.items()
        if name not in given
        and all(rigid_distance(at, one) > _EQUAL * one.std() for one in given.values())
    }


def rigid_distance(latent: Floats, other: Floats) -> float:
    """Root mean square distance after the best rotation or reflection and shift."""
    a, b = latent - latent.mean(axis=0), other - other.mean(axis=0)
    left, _, right = np.linalg.svd(b.T @ a)
    return float(np.sqrt(((b @ left @ right - a) ** 2).sum(axis=1).mean()))
