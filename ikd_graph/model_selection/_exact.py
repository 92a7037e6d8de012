"""Whether covariances that were given are exactly those of a kernel, and what solves them then."""

from itertools import pairwise
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from .. import blockwise, cliques, covariance, eigen, graph, kernels
from .._base import limits
from .._base.table import evenly_spaced
from .._base.types import Floats
from ..plan import Request
from ..strategies import Blockwise, Eigen
from ._numbers import MIN_NEIGHBORS, Choice

_ROUNDING = 1e-6
"""Difference up to which correlations are the same: what float32 leaves of them."""

_MOST_NEIGHBORS = 200
"""Neighbors of a point, in the mean, in graphs of exact covariances: more cost time and tell no
more."""


def exact_choice(cov: Floats, request: Request) -> Choice | None:
    """Return strategy and graph for covariances that are exactly those of the kernel, else None.

    Some points are solved in M dimensions, by the closed form of all pairs or in cliques, which
    need no small covariances. The coordinates have to imply what was given, to rounding.
    """
    n, size = len(cov), request.n_components
    few = evenly_spaced(n, limits.SIZED)
    if size == "auto" or size >= few.size:
        return None
    kernel = kernels.SquaredExponential() if request.kernel == "auto" else request.kernel
    corr = covariance.to_correlation(cov[np.ix_(few, few)])
    corr = 0.5 * (corr + corr.T)

    def implied_by(points: Floats, members: Any) -> bool:
        sq_dist = cdist(points, points, "sqeuclidean")
        missed = kernel.covariance(sq_dist) - corr[np.ix_(members, members)]
        return bool(np.abs(missed).max() <= _ROUNDING)

    large = graph.auto_threshold(None)
    # Of the smallest covariances, and of too many, none is needed.
    crowded = float(np.quantile(corr, 1.0 - min(_MOST_NEIGHBORS / n, 1.0)))
    s0 = min(large, max(covariance.FLOOR, crowded))
    rule = graph.Threshold(s0, n_neighbors=MIN_NEIGHBORS)
    if cov.min() > 0.0:
        whole = eigen.coordinates(kernel.sq_distance(corr), size).coordinates
        if implied_by(whole, np.arange(few.size)):
            return Choice(Eigen(), request.affinity, None, rule)
    g = graph.threshold(corr, large)
    solved = blockwise.solve(g, cliques.cover(g, size + 2).blocks, kernel, size)
    parts = [slice(*ends) for ends in pairwise(solved.blocks.indptr)]
    # As many points as coordinates are always reproduced.
    parts = [part for part in parts if part.stop - part.start >= size + 2]
    exact = [implied_by(solved.coordinates[part], solved.blocks.members[part]) for part in parts]
    return Choice(Blockwise(), request.affinity, None, rule) if exact and all(exact) else None
