"""The elementwise work of the likelihood: covariances, forces, expected information."""

import numpy as np

from .._config import jit


@jit
def covariances(latent, family, shape, sq_length, cov, slope):
    """Covariance of every pair of points and its derivative in the squared distance.

    Parameters
    ----------
    latent : (n, m) float64
        Points Z.
    family : int
        0 squared exponential, 1 rational quadratic, 2 gamma exponential, 3 Matern.
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
                if family == 0:
                    value = np.exp(-0.5 * d)
                    change = -0.5 * value
                elif family == 1:
                    base = 1.0 + d / (2.0 * shape)
                    value = 1.0 / base if shape == 1.0 else base**-shape
                    change = -0.5 * value / base
                elif family == 2:
                    power = np.sqrt(d) if shape == 1.0 else d ** (0.5 * shape)
                    value = np.exp(-power)
                    change = -0.5 * shape * power / d * value
                else:
                    x = np.sqrt(2.0 * shape * d)
                    decay = np.exp(-x)
                    if shape == 0.5:
                        value = decay
                        change = -0.5 * decay / x
                    elif shape == 1.5:
                        value = (1.0 + x) * decay
                        change = -1.5 * decay
                    else:
                        value = (1.0 + x * (1.0 + x / 3.0)) * decay
                        change = -5.0 / 6.0 * (1.0 + x) * decay
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
