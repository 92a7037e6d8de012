"""The inner loops of placing rows under a Gaussian process.

The bits of a row's results do not depend on the rows that are worked on with it: every sum runs in
one order, whatever the number of rows.
"""

from typing import NamedTuple

import numpy as np

from .._base.jit import jit
from . import kernels


@jit
def products(left, right, out):
    """Fill ``out`` (t, r) with the product of ``left`` (t, n) and ``right`` (n, r).

    Four rows of ``right`` at a time stay in the cache while all rows of ``left`` use them.
    """
    n_left, n = left.shape
    width = right.shape[1]
    whole = n - n % 4
    out[:] = 0.0
    for j in range(0, whole, 4):
        r0, r1, r2, r3 = right[j], right[j + 1], right[j + 2], right[j + 3]
        for t in range(n_left):
            c0, c1, c2, c3 = left[t, j], left[t, j + 1], left[t, j + 2], left[t, j + 3]
            total = out[t]
            for k in range(width):
                total[k] += (c0 * r0[k] + c1 * r1[k]) + (c2 * r2[k] + c3 * r3[k])
    for j in range(whole, n):
        r0 = right[j]
        for t in range(n_left):
            c0, total = left[t, j], out[t]
            for k in range(width):
                total[k] += c0 * r0[k]


@jit
def sq_distances(left, right, out):
    """Fill ``out`` (t, n) with squared distances between rows of ``left`` and of ``right``.

    Four sums at a time, as the compiler may not choose the order of one.
    """
    width = left.shape[1]
    whole = width - width % 4
    for t in range(left.shape[0]):
        a = left[t]
        for j in range(right.shape[0]):
            b = right[j]
            s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
            for k in range(0, whole, 4):
                s0 += (a[k] - b[k]) ** 2
                s1 += (a[k + 1] - b[k + 1]) ** 2
                s2 += (a[k + 2] - b[k + 2]) ** 2
                s3 += (a[k + 3] - b[k + 3]) ** 2
            for k in range(whole, width):
                s0 += (a[k] - b[k]) ** 2
            out[t, j] = (s0 + s1) + (s2 + s3)


@jit
def covariances(squares, family, shape, sq_length, cov, slope):
    """Fill f(d) and f'(d) of squared distances (t, n); f' is 0 at 0, the mean slope of a peak."""
    for t in range(squares.shape[0]):
        for j in range(squares.shape[1]):
            d = squares[t, j] / sq_length
            value, change = kernels.value_and_slope(family, d, shape)
            cov[t, j], slope[t, j] = value, change / sq_length


class Prediction(NamedTuple):
    """What a process predicts at t latent points of m coordinates from n training points."""

    cov: np.ndarray  # (t, n) covariances k with the training points
    moves: np.ndarray  # (t, m, n) their derivatives
    through: np.ndarray  # (t, n) A^-1 k
    mean: np.ndarray  # (t, r) prediction of the columns
    slopes: np.ndarray  # (t, m, r) its derivatives


@jit
def costs(rows, outside, n_observed, variances, prediction, out):
    """Cost of rows at latent points, its gradient and its expected curvature.

    The first of ``variances`` is that of a new row without training points, of which the second,
    the noise, remains with any. ``out`` (t, 1 + m + m^2) is filled with cost, gradient and
    curvature.
    """
    prior, noise = variances
    cov, moves, through, mean, slopes = prediction
    n, m, width = cov.shape[1], moves.shape[1], rows.shape[1]
    wider = np.empty(m)
    for t in range(rows.shape[0]):
        explained = 0.0
        for j in range(n):
            explained += cov[t, j] * through[t, j]
        spread = max(prior - explained, noise)
        square = outside[t]
        for k in range(width):
            square += (rows[t, k] - mean[t, k]) ** 2
        total = max(spread, square / n_observed)
        out[t, 0] = 0.5 * n_observed * np.log(total) + 0.5 * square / total
        for c in range(m):
            change, along = 0.0, 0.0
            for j in range(n):
                change -= moves[t, c, j] * through[t, j]
            wider[c] = 2.0 * change
            for k in range(width):
                along += slopes[t, c, k] * (rows[t, k] - mean[t, k])
            out[t, 1 + c] = 0.5 * (n_observed - square / total) / total * wider[c] - along / total
        for c in range(m):
            for e in range(c + 1):
                inner = 0.0
                for k in range(width):
                    inner += slopes[t, c, k] * slopes[t, e, k]
                inner /= total
                if total == spread:
                    inner += 0.5 * n_observed * wider[c] * wider[e] / total**2
                out[t, 1 + m + c * m + e] = out[t, 1 + m + e * m + c] = inner
