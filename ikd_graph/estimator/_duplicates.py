"""From distinct rows to all rows: the one place where numbers are expanded to duplicates."""

import numpy as np

from .._base.types import Floats, Integers
from ..blockwise import rigid_fit
from ..gplvm import CoreFit, OptimumRecord
from ..graph import CsrGraph, edges, from_edges, union


def expand_graph(g: CsrGraph, first: Integers, inverse: Integers) -> CsrGraph:
    """Graph of all rows from that of distinct rows: each duplicate hangs on its first by 1."""
    if np.array_equal(first, np.arange(inverse.size)):
        return g
    low, high, weights = edges(g)
    low, high = np.minimum(first[low], first[high]), np.maximum(first[low], first[high])
    expanded = from_edges(inverse.size, low, high, weights)
    duplicates = np.setdiff1d(np.arange(inverse.size), first)
    if not duplicates.size:
        return expanded
    ends = first[inverse[duplicates]], duplicates
    return union(expanded, from_edges(inverse.size, *ends, np.ones(duplicates.size)))


def expand_labels(labels: Integers, inverse: Integers) -> Integers:
    """Components of all rows, numbered by their first row."""
    expanded = labels[inverse]
    _, begins, number = np.unique(expanded, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(begins))[number])


def expand_optima(core: CoreFit, points: Floats, inverse: Integers) -> tuple[OptimumRecord, ...]:
    """Local optima in the order of all rows and the frame of the embedding.

    Parameters
    ----------
    core : CoreFit
        The fit of some distinct rows.
    points : (u, m) ndarray of float64
        Embedding of the distinct rows.
    inverse : (n,) ndarray of int64
        Which of them each row is.

    Returns
    -------
    tuple of OptimumRecord
        NaN for rows outside the core.
    """
    motion = rigid_fit(core.fit.latent, points[core.core])
    expanded = []
    for optimum in core.fit.optima:
        latent = np.full(points.shape, np.nan)
        latent[core.core] = motion.apply(optimum.latent)
        expanded.append(optimum._replace(latent=latent[inverse]))
    return tuple(expanded)
