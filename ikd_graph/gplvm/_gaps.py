"""Distances that the likelihood leaves open: of all that are as likely, the smallest.

Groups of points that are not correlated are as likely at any distance beyond some length-scales,
and a descent drives them apart without end.
"""

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import cdist

from .._base.types import Floats
from ._objective import Objective

_OPEN = 0.5
"""Log likelihood that a distance may cost: what a standard error costs."""

_GROWTH = 1.5
"""Factor between the distances that are tried."""


def close_gaps(objective: Objective, vector: Floats, n_observed: int) -> Floats:
    """Move groups of points together as far as the likelihood lets them.

    Parameters
    ----------
    objective : Objective
        Negative log likelihood of a column.
    vector : (k,) ndarray of float64
        A local optimum.
    n_observed : int
        Number N of columns.

    Returns
    -------
    (k,) ndarray of float64
        The same with groups nearer to one another; none is nearer than where the kernel falls below
        the variance of a correlation, 1 / N, and each costs half a unit of the log likelihood at
        most.
    """
    kernel, points = objective.kernel_of(vector), objective.latent(vector).copy()
    nearest = float(np.sqrt(kernel.sq_distance(np.array([1.0 / max(n_observed, 2)]))[0]))
    value, n = objective.exact(vector), len(points)
    groups = {number: [number] for number in range(n)}
    for number, (first, second, apart, _) in enumerate(linkage(points, "single"), n):
        here, there = groups.pop(int(first)), groups.pop(int(second))
        groups[number] = here + there
        if apart <= nearest:
            continue
        between = cdist(points[here], points[there])
        a, b = np.unravel_index(np.argmin(between), between.shape)
        length = float(between[a, b])
        toward = (points[here[a]] - points[there[b]]) / length
        gap = nearest
        while gap < length:
            moved = points.copy()
            moved[there] += (length - gap) * toward
            at = objective.exact(np.concatenate([moved.ravel(), vector[objective.size :]]))
            if n_observed * (at - value) <= _OPEN:
                points, value = moved, at
                break
            gap *= _GROWTH
    return np.concatenate([points.ravel(), vector[objective.size :]])
