"""The inner loop of stress majorisation."""

import numba
import numpy as np

from .._config import pjit


@pjit
def majorise(indptr, indices, targets, weights, points, force, stress):
    """Right-hand side B(Z) Z of the Guttman transform, and the stress of every row.

    Parameters
    ----------
    indptr : (n + 1,) int64
        Row starts of the pairs, each stored from both ends.
    indices : (m,) int32
        The other point of each pair.
    targets, weights : (m,) float64
        Distance that each pair should have, and how much it counts.
    points : (n, d) float64
        Points Z.
    force : (n, d) float64
        Filled with sum_j w_ij target_ij / |z_i - z_j| (z_i - z_j); a pair in one place adds 0.
    stress : (n,) float64
        Filled with sum_j w_ij (|z_i - z_j| - target_ij)^2; each pair is met twice over all rows.
    """
    n, n_dim = points.shape
    for i in numba.prange(n):
        total = 0.0
        for c in range(n_dim):
            force[i, c] = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            square = 0.0
            for c in range(n_dim):
                gap = points[i, c] - points[j, c]
                square += gap * gap
            distance = np.sqrt(square)
            miss = distance - targets[e]
            total += weights[e] * miss * miss
            if distance > 0.0:
                pull = weights[e] * targets[e] / distance
                for c in range(n_dim):
                    force[i, c] += pull * (points[i, c] - points[j, c])
        stress[i] = total
