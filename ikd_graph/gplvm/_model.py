"""Covariance of the model at an embedding, its slope, and its inverse."""

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.spatial.distance import cdist

from .. import _jit
from .._base.types import Floats
from ..kernels import StationaryKernel, compiled_form

NOT_POSITIVE = (
    "noise must be large enough to invert the covariance of the latent, got {!r}; "
    "a noise of 1e-6 times the variance is enough"
)


def covariances(latent: Floats, kernel: StationaryKernel) -> tuple[Floats, Floats]:
    """f(d_ij) and f'(d_ij) of every pair, both (n, n); f' is 0 for a pair in one place."""
    points, form = np.ascontiguousarray(latent), compiled_form(kernel)
    if form is not None:
        cov, change = np.empty((2, len(points), len(points)))
        _jit.likelihood.covariances(points, *form, kernel.length_scale**2, cov, change)
        return cov, change
    return plain_covariances(kernel, cdist(points, points, "sqeuclidean"))


def plain_covariances(kernel: StationaryKernel, sq_dist: Floats) -> tuple[Floats, Floats]:
    """f and f' of squared distances; f' is 0, its mean, for a pair in one place."""
    together = sq_dist == 0.0
    # Distance 1 stands in for 0, where the slope of some kernels is infinite.
    change = kernel.derivative(np.where(together, 1.0, sq_dist))
    return kernel.covariance(sq_dist), np.where(together, 0.0, change)


def factor_of(signal: Floats, noise: float) -> Floats | None:
    """Lower Cholesky factor of a covariance, which is overwritten, and noise; None without one."""
    signal.flat[:: len(signal) + 1] += noise
    factor, failed = dpotrf(signal.T, lower=1, overwrite_a=1)
    return None if failed else np.asarray(factor)


def inverse_model(
    latent: Floats, kernel: StationaryKernel, variance: float, noise: float
) -> tuple[Floats, Floats]:
    """A^-1 and how A changes with the squared distances, v f'(d_ij), both (n, n).

    Raises ValueError where A is not positive definite to working precision.
    """
    cov, change = covariances(latent, kernel)
    factor = factor_of(variance * cov, noise)
    if factor is None:
        raise ValueError(NOT_POSITIVE.format(noise))
    return inverse_of(factor), variance * change


def inverse_of(factor: Floats) -> Floats:
    """Inverse of a matrix from its lower Cholesky factor, both triangles."""
    inverse = np.asarray(dpotri(factor, lower=1)[0].T)
    _jit.likelihood.mirror_upper(inverse)
    return inverse
