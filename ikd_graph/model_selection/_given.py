"""Whether covariances that were given are exactly those of a kernel, and what solves them then."""

from itertools import pairwise
from typing import Any

import numpy as np

from .. import blockwise, cliques, covariance, eigen, graph, kernels
from .._base import limits
from .._base.table import evenly_spaced
from .._base.types import Floats
from .._settings import Settings
from ..strategies import Blockwise, Eigen
from ._numbers import MIN_NEIGHBORS

_ROUNDING = 1e-6
"""Difference up to which correlations are the same: what float32 leaves of them."""

_MOST_NEIGHBORS = 200
"""Neighbors of a point, in the mean, in graphs of exact covariances: more cost time and tell no
more."""


def exact_choices(cov: Floats, settings: Settings) -> dict[str, Any]:
    """Return strategy and graph for covariances that are exactly those of the kernel, else nothing.

    Some points are solved in M dimensions, by the closed form of all pairs or in cliques, which
    need no small covariances. The coordinates have to imply what was given, to rounding.
    """
    n, size = len(cov), settings.n_components
    few = evenly_spaced(n, limits.SIZED)
    if size == "auto" or int(size) >= few.size:
        return {}
    kernel = kernels.get("squared_exponential" if settings.kernel == "auto" else settings.kernel)
    corr = covariance.to_correlation(cov[np.ix_(few, few)])
    corr = 0.5 * (corr + corr.T)

    def implied_by(points: Floats, members: Any) -> bool:
        gaps = points[:, None] - points
        missed = kernel.covariance((gaps**2).sum(axis=-1)) - corr[np.ix_(members, members)]
        return bool(np.abs(missed).max() <= _ROUNDING)

    large = graph.auto_threshold(None)
    # Of the smallest covariances, and of too many, none is needed.
    crowded = float(np.quantile(corr, 1.0 - min(_MOST_NEIGHBORS / n, 1.0)))
    s0 = min(large, max(covariance.FLOOR, crowded))
    choices = {"strategy": Eigen(), "graph": graph.Threshold(s0, n_neighbors=MIN_NEIGHBORS)}
    if cov.min() > 0.0:
        whole = eigen.coordinates(kernel.sq_distance(corr), int(size)).coordinates
        if implied_by(whole, np.arange(few.size)):
            return choices
    g = graph.threshold(corr, large)
    solved = blockwise.solve(g, cliques.cover(g, int(size) + 2).blocks, kernel, int(size))
    parts = [slice(*ends) for ends in pairwise(solved.blocks.indptr)]
    # As many points as coordinates are always reproduced.
    parts = [part for part in parts if part.stop - part.start >= int(size) + 2]
    exact = [implied_by(solved.coordinates[part], solved.blocks.members[part]) for part in parts]
    return {**choices, "strategy": Blockwise()} if exact and all(exact) else {}
