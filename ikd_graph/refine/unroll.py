"""Lines from the curves that a line becomes in more dimensions.

Points on a line cannot pass one another, so that a line once folded stays so. In a plane they can,
and a curve in a plane is unrolled by the geodesics along it. The covariances of a fitted latent are
free of noise, which those of the data are not.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from .. import graph
from .._stages import Stages
from ..kernels import StationaryKernel
from ..solve import Plan, solve_geodesic
from .descent import anneal, cool
from .objective import Objective

Floats = NDArray[np.float64]

EXTRA = (1, 2)
"""Dimensions added: what crosses itself in a plane need not in space."""

_NEIGHBORS = (4, 7, 10)
_OFF = 0.1  # random coordinates in the extra dimensions, relative to the latent
_STEPS = 30


def lifted(wide: Objective, line: Floats, name: str) -> Floats:
    """The curve that a latent becomes in more dimensions.

    Parameters
    ----------
    wide : Objective
        Likelihood in more dimensions than the latent has.
    line : (n, m) float64
        Where to start.
    name : str
        Name of the start.

    Returns
    -------
    (n, wide.n_components) ndarray of float64
        A local optimum.
    """
    extra = wide.n_components - line.shape[1]
    off = np.random.default_rng(0).standard_normal((len(line), extra))
    start = np.c_[line, _OFF * line.std() * off]
    return wide.latent(cool(wide, anneal(wide, start, name, steps=_STEPS)).vector)


def unroll_curve(latent: Floats, kernel: StationaryKernel, n_components: int) -> list[Floats]:
    """Latents of fewer dimensions along the geodesics of one of more.

    Parameters
    ----------
    latent : (n, m) float64
        Latent of more dimensions.
    kernel : StationaryKernel
        Kernel of the model.
    n_components : int
        Columns of the latents wanted.

    Returns
    -------
    list of (n, n_components) ndarray of float64
        Geodesic solutions on three neighbour graphs.
    """
    corr = kernel.covariance(cdist(latent, latent, "sqeuclidean"))
    plan = Plan("geodesic", kernel, n_components, path="distance")
    out = []
    for k in _NEIGHBORS:
        g = graph.neighbor_graph(corr, min(k, len(latent) - 1))
        joined = graph.join(g, corr).graph
        out.append(solve_geodesic(joined, plan, Stages()).embedding.coordinates)
    return out
