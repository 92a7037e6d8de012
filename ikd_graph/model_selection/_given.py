"""How exact covariances are that were given without the columns behind them."""

from itertools import pairwise

import numpy as np

from .. import blocks, cliques, graph
from .._types import Floats
from ..kernels import StationaryKernel

UNKNOWN = 0.3
"""Threshold of correlations of which nobody knows how many columns are behind them."""

_ERR_ALIKE = 100.0
"""How much more the correlations of a clique may err together than they miss each other by, in
variances: 12 under the squared exponential (docs/decisions/014-threshold.md)."""


def least_columns(corr: Floats, kernel: StationaryKernel, n_components: int) -> float | None:
    """Return a number of columns that given correlations are at least as exact as.

    Cliques of large correlations are solved in M dimensions, and what these coordinates imply is
    compared with what was given. Exact covariances of the kernel agree to rounding, which is as
    good as columns without end; under another kernel they do not.

    Parameters
    ----------
    corr : (n, n) ndarray of float64
        Correlations of some points, which are the same on both sides of the diagonal.
    kernel : StationaryKernel
        Kernel that they are estimates of.
    n_components : int
        Number M of coordinates.

    Returns
    -------
    float or None
        The number; None where no clique has more pairs than M coordinates fit.
    """
    g = graph.threshold(corr, UNKNOWN)
    solved = blocks.solve(g, cliques.cover(g, n_components + 2).blocks, kernel, n_components)
    missed = expected = 0.0
    starts = solved.blocks.indptr
    for start, stop in pairwise(starts):
        size = int(stop - start)
        if size < n_components + 2:
            continue
        # Pairs, less the coordinates that were fitted to them, but for a motion.
        n_free = (size * (size - 1) + n_components * (n_components + 1)) // 2 - size * n_components
        members, points = solved.blocks.members[start:stop], solved.coordinates[start:stop]
        upper = np.triu_indices(size, 1)
        gaps = points[upper[0]] - points[upper[1]]
        implied = kernel.covariance((gaps**2).sum(axis=1))
        given = corr[members[upper[0]], members[upper[1]]]
        missed += float(((given - implied) ** 2).sum())
        expected += n_free * float(((1.0 - given**2) ** 2).mean())
    if not expected:
        return None
    missed = max(missed, expected * np.finfo(np.float64).eps ** 2)
    return expected / (_ERR_ALIKE * missed)
