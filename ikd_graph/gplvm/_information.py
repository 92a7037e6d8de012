"""What observations can tell of an embedding: expected information, and the pull of each column."""

from typing import Any

import numpy as np

from .._base.types import Floats
from ..kernels import StationaryKernel
from ._gradient import inverse_model


def expected_information(
    latent: Floats, kernel: StationaryKernel, variance: float, noise: float
) -> Floats:
    r"""Compute the expected information of one column about points and variances.

    For parameters a and b it is 1/2 tr(A^-1 dA/da A^-1 dA/db). A move of point i along axis c
    changes row and column i of A by u_ic, with entries 2 v f'(d_ij) (z_ic - z_jc), so that

        I(ic, je) = A^-1_ij u_ic^T A^-1 u_je + (A^-1 u_ic)_j (A^-1 u_je)_i,

    which takes products of (n m, n) matrices. Unlike the curvature it is never indefinite.

    Parameters
    ----------
    latent : (n, m) float64
        Latent points Z.
    kernel : StationaryKernel
        Kernel of the model.
    variance, noise : float
        Signal variance v > 0 and noise variance n > 0.

    Returns
    -------
    (n m + 2, n m + 2) ndarray of float64, symmetric
        Coordinates row by row, then log v, then log n.

    Raises
    ------
    ValueError
        If A is not positive definite to working precision.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import gplvm, kernels
    >>> latent = np.array([[0.0], [1.0], [3.0]])
    >>> known = gplvm.expected_information(latent, kernels.Matern(), 1.0, 0.1)
    >>> known.shape
    (5, 5)
    """
    n, m = latent.shape
    size = n * m
    inverse, change = inverse_model(latent, kernel, variance, noise)
    squared = inverse @ inverse
    # Row (i, c): how row i of the model changes when point i moves along axis c.
    gaps = latent[:, :, None] - latent.T
    moves = (2.0 * change[:, None, :] * gaps).reshape(size, n)
    through = moves @ inverse
    out = np.empty((size + 2, size + 2))
    crossed = (moves @ through.T).reshape(n, m, n, m)
    by_point = through.reshape(n, m, n)
    latents = inverse[:, None, :, None] * crossed
    latents += by_point[:, :, :, None] * by_point.transpose(2, 0, 1)[:, None]
    out[:size, :size] = latents.reshape(size, size)
    # Point i meets row i of A^-1 dA A^-1, once from its row of A and once from its column. That of
    # the noise is n A^-2, and that of the signal A^-1 less it, as v K is A - n I.
    by_point = moves.reshape(n, m, n)
    whole = np.einsum("ij,icj->ic", inverse, by_point).ravel()
    out[size + 1, :size] = noise * np.einsum("ij,icj->ic", squared, by_point).ravel()
    out[size, :size] = whole - out[size + 1, :size]
    by_noise: Any = 0.5 * noise**2 * float(np.trace(squared))
    signal: Any = noise * float(np.trace(inverse))
    out[size + 1, size + 1] = by_noise
    out[size + 1, size] = 0.5 * signal - by_noise
    out[size, size] = 0.5 * n - signal + by_noise
    return np.asarray(np.tril(out) + np.tril(out, -1).T)


def column_scores(
    latent: Floats, rows: Floats, kernel: StationaryKernel, variance: float, noise: float
) -> Floats:
    r"""Compute the derivative of the log likelihood of each column in points and variances.

    With w = A^-1 x it is 1/2 (w^T dA w - tr(A^-1 dA)) for a column x. Over samples of the model its
    mean is 0 and its covariance the expected information.

    Parameters
    ----------
    latent : (n, m) float64
        Latent points Z.
    rows : (n, n_observed) float64
        Observations, centered if the model was fitted to centered rows.
    kernel : StationaryKernel
        Kernel of the model.
    variance, noise : float
        Signal variance v > 0 and noise variance n > 0, in the units of the rows squared.

    Returns
    -------
    (n m + 2, n_observed) ndarray of float64
        Coordinates row by row, then log v, then log n.

    Raises
    ------
    ValueError
        If A is not positive definite to working precision.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import gplvm, kernels
    >>> latent, rows = np.array([[0.0], [1.0], [3.0]]), np.ones((3, 7))
    >>> gplvm.column_scores(latent, rows, kernels.Matern(), 1.0, 0.1).shape
    (5, 7)
    """
    n, m = latent.shape
    inverse, change = inverse_model(latent, kernel, variance, noise)
    weighted = inverse @ rows
    out = np.empty((n * m + 2, rows.shape[1]))
    for axis in range(m):
        move = 2.0 * change * (latent[:, axis, None] - latent[:, axis])
        mean = np.sum(inverse * move, axis=1)[:, None]
        out[axis : n * m : m] = weighted * (move @ weighted) - mean
    by_noise = 0.5 * noise * (np.sum(weighted**2, axis=0) - np.trace(inverse))
    out[-1] = by_noise
    # w^T v K w = w^T x - n w^T w.
    out[-2] = 0.5 * (np.sum(weighted * rows, axis=0) - n) - by_noise
    return out
