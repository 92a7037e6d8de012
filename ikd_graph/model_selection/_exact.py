"""Whether covariances that were given are exactly those of a kernel."""

import numpy as np
from scipy.spatial.distance import cdist

from .. import covariance, eigen, graph, kernels
from .._base import limits
from .._base.rounding import SINGLE
from .._base.table import evenly_spaced
from .._base.types import Floats
from ..graph import Threshold
from ..plan import Request
from ._plan import MIN_NEIGHBORS

_MOST_NEIGHBORS = 200
"""Neighbors of a point, in the mean, in graphs of exact covariances: more cost time and tell no
more."""


def exact_rule(cov: Floats, request: Request) -> Threshold | None:
    """Return the graph of covariances that are exactly those of the kernel, else None.

    Some points are solved in M dimensions by the closed form of all pairs: the coordinates have to
    imply what was given, to rounding.
    """
    n, size = len(cov), request.n_components
    few = evenly_spaced(n, limits.SIZED)
    if size == "auto" or size >= few.size or cov.min() <= 0.0:
        return None
    kernel = kernels.SquaredExponential() if request.kernel == "auto" else request.kernel
    corr = covariance.to_correlation(cov[np.ix_(few, few)])
    corr = 0.5 * (corr + corr.T)
    points = eigen.coordinates(kernel.sq_distance(corr), size).coordinates
    implied = kernel.covariance(cdist(points, points, "sqeuclidean"))
    if np.abs(implied - corr).max() > SINGLE:
        return None
    # Of the smallest covariances, and of too many, none is needed.
    crowded = float(np.quantile(corr, 1.0 - min(_MOST_NEIGHBORS / n, 1.0)))
    s0 = min(graph.auto_threshold(None), max(covariance.FLOOR, crowded))
    return Threshold(s0, n_neighbors=MIN_NEIGHBORS)
