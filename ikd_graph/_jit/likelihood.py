"""The elementwise work of the likelihood: covariances and forces."""

from .._base.jit import jit
from . import kernels


@jit
def covariances(latent, family, shape, sq_length, cov, slope):
    """Covariance of every pair of points and its derivative in the squared distance.

    Filled: ``cov`` (n, n) with f(d_ij), 1 on the diagonal, and ``slope`` (n, n) with f'(d_ij), 0 on
    the diagonal and for points in one place, where the kernels that are not differentiable have a
    peak of mean slope 0. The kernel is ``family`` of `kernels` with alpha, gamma or nu as
    ``shape``.
    """
    n, m = latent.shape
    for i in range(n):
        cov[i, i] = 1.0
        slope[i, i] = 0.0
        for j in range(i):
            d = 0.0
            for c in range(m):
                gap = latent[i, c] - latent[j, c]
                d += gap * gap
            d /= sq_length
            value, change = kernels.value_and_slope(family, d, shape)
            cov[i, j] = cov[j, i] = value
            slope[i, j] = slope[j, i] = change / sq_length


@jit
def forces(latent, slope, cov, by_cov, factor, out):
    """Fill ``out`` (n, m) with factor sum_j by_cov_ij f'(d_ij) (z_i - z_j), from `covariances`.

    Of ``by_cov`` (n, n), the derivative in every covariance, the lower triangle is read; a factor
    of 4 gives the derivative in the latent for a sum over both triangles. Returns the inner
    product of ``by_cov`` and ``cov``, both triangles.
    """
    n, m = latent.shape
    out[:] = 0.0
    inner, along = 0.0, 0.0
    for i in range(n):
        along += by_cov[i, i] * cov[i, i]
        for j in range(i):
            inner += by_cov[i, j] * cov[i, j]
            pull = factor * by_cov[i, j] * slope[i, j]
            for c in range(m):
                force = pull * (latent[i, c] - latent[j, c])
                out[i, c] += force
                out[j, c] -= force
    return 2.0 * inner + along


@jit
def mirror_upper(matrix):
    """Copy the upper triangle of a square matrix to the lower one."""
    for i in range(matrix.shape[0]):
        for j in range(i):
            matrix[i, j] = matrix[j, i]
