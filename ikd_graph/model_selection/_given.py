"""Whether covariances that were given are exactly those of a kernel, and what solves them then."""

from itertools import pairwise

import numpy as np

from .. import _limits, blocks, cliques, covariance, eigen, graph, kernels
from .._settings import Settings
from .._table import evenly_spaced
from .._types import Floats
from ..strategies import Blockwise, Eigen, Strategy

UNKNOWN = 0.3
"""Threshold of correlations of which nobody knows how many columns are behind them."""

_ROUNDING = 1e-6
"""Difference up to which correlations are the same: what float32 leaves of them."""

_MOST_NEIGHBORS = 200
"""Neighbors of a point, in the mean, in graphs of exact covariances: more cost time and tell no
more."""


def exact_strategy(cov: Floats, settings: Settings) -> Strategy | None:
    """Return the closed form of covariances that are exactly those of the kernel, else None.

    Cliques of large correlations of some points are solved in M dimensions, and these coordinates
    have to imply what was given, to rounding. The closed form of all pairs solves all if it
    reproduces them, else cliques do, which need no small ones.
    """
    few = evenly_spaced(len(cov), _limits.SIZED)
    if settings.n_components == "auto" or int(settings.n_components) >= few.size:
        return None
    size = int(settings.n_components)
    kernel = kernels.get("squared_exponential" if settings.kernel == "auto" else settings.kernel)
    corr = covariance.to_correlation(cov[np.ix_(few, few)])
    corr = 0.5 * (corr + corr.T)

    def missed(members: Floats, points: Floats) -> float:
        gaps = points[:, None] - points
        implied = kernel.covariance((gaps**2).sum(axis=-1))
        return float(np.abs(implied - corr[np.ix_(members, members)]).max())

    g = graph.threshold(corr, UNKNOWN)
    solved = blocks.solve(g, cliques.cover(g, size + 2).blocks, kernel, size)
    parts = [slice(*ends) for ends in pairwise(solved.blocks.indptr)]
    # As many points as coordinates are always reproduced.
    parts = [part for part in parts if part.stop - part.start >= size + 2]
    members, points = solved.blocks.members, solved.coordinates
    if not parts or any(missed(members[part], points[part]) > _ROUNDING for part in parts):
        return None
    if cov.min() > 0.0:
        points = eigen.coordinates(kernel.sq_distance(corr), size).coordinates
        if missed(np.arange(few.size), points) <= _ROUNDING:
            return Eigen()
    return Blockwise()


def exact_threshold(cov: Floats) -> float:
    """Return the threshold of exact covariances: the smallest, and too many, are left out."""
    few = evenly_spaced(len(cov), _limits.SIZED)
    scales = covariance.standard_deviations(cov)
    level = 1.0 - min(_MOST_NEIGHBORS / len(cov), 1.0)
    crowded = float(np.quantile(cov[few] / np.outer(scales[few], scales), level))
    return min(UNKNOWN, max(covariance.FLOOR, crowded))
