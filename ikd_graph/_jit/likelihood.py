"""The elementwise work of the likelihood, and products whose rows do not depend on one another."""

import numpy as np

from .._base.jit import jit


@jit
def forces(latent, slope, cov, by_cov, factor, out):
    """Fill ``out`` (n, m) with factor sum_j by_cov_ij f'(d_ij) (z_i - z_j).

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
def sq_distances(latent, out):
    """Fill ``out`` with the squared distances of pairs of rows, in the order of scipy's pdist."""
    n, m = latent.shape
    at = 0
    for i in range(n):
        for j in range(i + 1, n):
            square = 0.0
            for c in range(m):
                square += (latent[i, c] - latent[j, c]) ** 2
            out[at] = square
            at += 1


@jit
def unpack(cov, slope, cov_out, slope_out):
    """Fill (n, n) matrices with the values of pairs: 1 and 0 where a point meets itself."""
    n = len(cov_out)
    at = 0
    for i in range(n):
        cov_out[i, i], slope_out[i, i] = 1.0, 0.0
        for j in range(i + 1, n):
            cov_out[i, j] = cov_out[j, i] = cov[at]
            slope_out[i, j] = slope_out[j, i] = slope[at]
            at += 1


@jit
def unremember(steps, changes, weights, count, vector, alphas):
    """First loop of limited-memory BFGS (Nocedal 1980): take what is remembered off a vector.

    The latest of ``count`` ``steps`` and ``changes`` (k, d) of the slope comes first;
    ``weights`` (k,) are the inverses of their products, ``alphas`` (k,) are filled.
    """
    for at in range(count - 1, -1, -1):
        alphas[at] = weights[at] * np.dot(steps[at], vector)
        vector -= alphas[at] * changes[at]


@jit
def remember(steps, changes, weights, count, vector, alphas):
    """Second loop, from the oldest to the latest: add it again, as the slope changed."""
    for at in range(count):
        beta = weights[at] * np.dot(changes[at], vector)
        vector += (alphas[at] - beta) * steps[at]


@jit
def mirror_upper(matrix):
    """Copy the upper triangle of a square matrix to the lower one."""
    for i in range(matrix.shape[0]):
        for j in range(i):
            matrix[i, j] = matrix[j, i]


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
def features(cov, slope, points, training, basis, out, slopes):
    """Fill ``out`` (t, q) with sum_i cov_ti b_i, and ``slopes`` with its derivatives over 2.

    Those are (t, m, q), sum_i slope_ti (x_t - z_i) b_i, at points x (t, m) for training points z
    (n, m) with rows b of the basis (n, q). Two training points at a time.
    """
    n, width = basis.shape
    out[:] = 0.0
    slopes[:] = 0.0
    for t in range(points.shape[0]):
        total = out[t]
        for i in range(0, n, 2):
            j = min(i + 1, n - 1)
            there = 1.0 if j > i else 0.0
            r0, r1 = basis[i], basis[j]
            c0, c1 = cov[t, i], there * cov[t, j]
            for k in range(width):
                total[k] += c0 * r0[k] + c1 * r1[k]
            for c in range(points.shape[1]):
                along = slopes[t, c]
                c0 = slope[t, i] * (points[t, c] - training[i, c])
                c1 = there * slope[t, j] * (points[t, c] - training[j, c])
                for k in range(width):
                    along[k] += c0 * r0[k] + c1 * r1[k]
