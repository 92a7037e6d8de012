"""The elementwise work of the likelihood: covariances, forces, expected information."""

from .._config import jit
from . import kernels


@jit
def covariances(latent, family, shape, sq_length, cov, slope):
    """Covariance of every pair of points and its derivative in the squared distance.

    Parameters
    ----------
    latent : (n, m) float64
        Points Z.
    family : int
        Number of the kernel in `kernels`.
    shape : float
        alpha, gamma or nu (1/2, 3/2 or 5/2); not read for family 0.
    sq_length : float
        Squared length-scale.
    cov : (n, n) float64
        Filled with f(d_ij), 1 on the diagonal.
    slope : (n, n) float64
        Filled with f'(d_ij); 0 on the diagonal and for points in one place, where the kernels that
        are not differentiable have a peak of mean slope 0.
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
            value, change = 1.0, 0.0
            if d > 0.0:
                if family == kernels.MATERN:
                    # Side by side, so that they share their square root and their exponential.
                    value = kernels.matern(d, shape)
                    change = kernels.matern_slope(d, shape)
                else:
                    value = kernels.value(family, d, shape)
                    change = kernels.slope(family, d, shape, value)
            cov[i, j] = cov[j, i] = value
            slope[i, j] = slope[j, i] = change / sq_length


@jit
def forces(latent, slope, by_cov, factor, out):
    """Derivative in the latent, from that in every covariance.

    Parameters
    ----------
    latent : (n, m) float64
        Points Z.
    slope : (n, n) float64
        f'(d_ij), see `covariances`.
    by_cov : (n, n) float64
        Derivative in every covariance; the lower triangle is read.
    factor : float
        The derivative is multiplied by it: 4 for a sum over both triangles.
    out : (n, m) float64
        Filled with factor sum_j by_cov_ij f'(d_ij) (z_i - z_j).
    """
    n, m = latent.shape
    out[:] = 0.0
    for i in range(n):
        for j in range(i):
            pull = factor * by_cov[i, j] * slope[i, j]
            for c in range(m):
                part = pull * (latent[i, c] - latent[j, c])
                out[i, c] += part
                out[j, c] -= part


@jit
def moves(latent, slope, variance, out):
    """How row i of the model changes when point i moves along axis c.

    Parameters
    ----------
    latent : (n, m) float64
        Points Z.
    slope : (n, n) float64
        f'(d_ij), see `covariances`.
    variance : float
        Signal variance v.
    out : (n m, n) float64
        Row (i, c) is filled with u_j = 2 v f'(d_ij) (z_ic - z_jc).
    """
    n, m = latent.shape
    for i in range(n):
        for c in range(m):
            for j in range(n):
                out[i * m + c, j] = 2.0 * variance * slope[i, j] * (latent[i, c] - latent[j, c])


@jit
def information(inverse, through, crossed, m, out):
    """Expected information of the latent coordinates, from products of the moves.

    Parameters
    ----------
    inverse : (n, n) float64
        A^-1.
    through : (n m, n) float64
        Row (i, c) is A^-1 u of `moves`.
    crossed : (n m, n m) float64
        Entry (i c, j e) is u_ic A^-1 u_je.
    m : int
        Number of axes.
    out : (>= n m, >= n m) float64
        The lower triangle is filled with A^-1_ij u_ic A^-1 u_je + (A^-1 u_ic)_j (A^-1 u_je)_i.
    """
    n = inverse.shape[0]
    for i in range(n):
        for c in range(m):
            row = i * m + c
            for j in range(i + 1):
                for e in range(m):
                    column = j * m + e
                    out[row, column] = (
                        inverse[i, j] * crossed[row, column] + through[row, j] * through[column, i]
                    )


@jit
def mirror(matrix):
    """Copy the lower triangle to the upper one.

    Parameters
    ----------
    matrix : (n, n) float64
        Changed in place.
    """
    for i in range(matrix.shape[0]):
        for j in range(i):
            matrix[j, i] = matrix[i, j]


@jit
def mirror_upper(matrix):
    """Copy the upper triangle to the lower one.

    Parameters
    ----------
    matrix : (n, n) float64
        Changed in place.
    """
    for i in range(matrix.shape[0]):
        for j in range(i):
            matrix[i, j] = matrix[j, i]
