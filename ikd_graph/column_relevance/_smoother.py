"""One Gaussian-process smoother over a map, for all columns at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import cholesky, eigh, solve_triangular
from scipy.spatial.distance import cdist

from .._base.table import evenly_spaced
from .._base.types import Floats
from ..kernels import SquaredExponential, StationaryKernel

NOISE_RATIOS = np.logspace(-3.0, 4.0, 15)
"""Ratios of noise variance to signal variance that the likelihood of a column chooses from."""

MOST_INDUCING = 600
"""Inducing points: the smooth functions of more rows are those of so many evenly spaced ones."""

_MOST_FUNCTIONS = 400
_JITTER = 1e-8
_SMALLEST = 0.02  # of the smallest noise ratio: below it an eigenfunction has no part in a fit
_SCALED = 500  # rows whose median distance is the scale of all


class Smoother(NamedTuple):
    """Eigenfunctions of a kernel over the points of a map, less their means.

    A column that is `standardized` is ``basis @ sqrt(eigenvalues) * b + noise`` with b ~ N(0, v I)
    and noise of variance ``ratio * v``, the same in every row.
    """

    points: Floats  # (n, m) the map
    kernel: StationaryKernel
    inducing: Floats  # (i, m) points that the functions are sums of kernels at
    expansion: Floats  # (i, r) weights of these kernels in each eigenfunction times its root
    eigenvalues: Floats  # (r,) of the centered kernel matrix, descending
    basis: Floats  # (n, r) orthonormal

    @property
    def shrinkage(self) -> Floats:
        """Return the fraction of each coefficient that a fit keeps, by noise ratio, (g, r)."""
        return self.eigenvalues / (self.eigenvalues + NOISE_RATIOS[:, None])

    def leverages(self) -> Floats:
        """Return the diagonal of the hat matrix, mean included, by noise ratio, (n, g)."""
        return np.asarray(self.basis**2 @ self.shrinkage.T + 1.0 / len(self.points))

    def values_at(self, points: Floats) -> Floats:
        """Evaluate at points the functions that the coefficients b belong to, (k, r)."""
        sq_dist = cdist(points, self.inducing, "sqeuclidean")
        return np.asarray(self.kernel.covariance(sq_dist) @ self.expansion)

    def slopes_at(self, points: Floats) -> Floats:
        """Differentiate these functions in every coordinate, (m, k, r)."""
        factor = 2.0 * self.kernel.derivative(cdist(points, self.inducing, "sqeuclidean"))
        return np.array(
            [
                (factor * (points[:, [k]] - self.inducing[:, k])) @ self.expansion
                for k in range(points.shape[1])
            ]
        )


def standardized(columns: Floats, noise: Floats) -> Floats:
    """Columns (n, b) less their weighted means, over the noise of each row."""
    weights = noise**-2.0
    return np.asarray((columns - weights @ columns / weights.sum()) / noise[:, None])


def smoother(
    points: Floats, kernel: StationaryKernel | None = None, noise: Floats | None = None
) -> Smoother:
    """Build the smoother of a map.

    Parameters
    ----------
    points : (n, m) ndarray of float64
        The map.
    kernel : StationaryKernel, optional
        One that is differentiable at distance 0; by default the squared exponential whose
        length-scale is half the median distance.
    noise : (n,) ndarray of float64, optional
        Relative standard deviation of the noise of each row; by default the same in all.
    """
    noise = np.ones(len(points)) if noise is None else noise
    if kernel is None:
        kernel = SquaredExponential(length_scale=0.5 * median_distance(points))
    inducing = points[evenly_spaced(len(points), MOST_INDUCING)]
    among = kernel.covariance(cdist(inducing, inducing, "sqeuclidean"))
    among.flat[:: len(among) + 1] += _JITTER
    factor = cholesky(among, lower=True)
    across = kernel.covariance(cdist(points, inducing, "sqeuclidean"))
    features = solve_triangular(factor, across.T, lower=True).T
    features = standardized(features, noise)
    values, vectors = eigh(features.T @ features)
    order = np.argsort(-values)[:_MOST_FUNCTIONS]
    order = order[values[order] > _SMALLEST * NOISE_RATIOS[0]][: len(points) - 2]
    values, vectors = values[order], vectors[:, order]
    basis = features @ (vectors / np.sqrt(values))
    expansion = solve_triangular(factor, vectors, lower=True, trans="T")
    return Smoother(points, kernel, inducing, expansion, values, basis)


def median_distance(points: Floats) -> float:
    """Compute the median distance between points, of many of an even sample."""
    sample = points[evenly_spaced(len(points), _SCALED)]
    left, right = np.triu_indices(len(sample), 1)
    distances = np.linalg.norm(sample[left] - sample[right], axis=1)
    return float(np.median(distances)) or float(distances.mean())
