"""Compiled weights of training points that make up new rows."""

import numpy as np

from .._base.jit import helper, jit


@jit
def join(near, own, indptr, indices, joined, first, second):
    """List the pairs of points that each new row is joined to; returns their number.

    ``near`` (b, k) are points, the nearest first. Of those that may be joined, ``joined`` (b, k),
    the first that is not ``own`` (b,), the row itself, stays, and its neighbors in a graph; all of
    an empty one. Each point of a row in turn is ``first``, with all before it as ``second``.
    """
    n_pairs = 0
    for row in range(near.shape[0]):
        nearest = -1
        for at in range(near.shape[1]):
            point = near[row, at]
            if point == own[row]:
                joined[row, at] = False
            elif nearest < 0:
                nearest = point
            elif indptr.size:
                neighbors = indices[indptr[nearest] : indptr[nearest + 1]]
                index = np.searchsorted(neighbors, point)
                joined[row, at] &= index < neighbors.size and neighbors[index] == point
            if joined[row, at]:
                for before in range(at):
                    if joined[row, before]:
                        first[n_pairs], second[n_pairs] = point, near[row, before]
                        n_pairs += 1
    return n_pairs


@helper
def solve(matrix, values):
    """Replace values (n,) by the solution of a positive definite system, which is overwritten."""
    n = values.size
    for i in range(n):
        for j in range(i + 1, n):
            factor = matrix[i, j] / matrix[i, i]
            for c in range(j, n):
                matrix[j, c] -= factor * matrix[i, c]
            values[j] -= factor * values[i]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            values[i] -= matrix[i, j] * values[j]
        values[i] /= matrix[i, i]


@helper
def solve_raised(matrix, least, values):
    """Replace values (n,) by the solution of a system whose eigenvalues are raised to the least."""
    spectrum, vectors = np.linalg.eigh(matrix)
    right = values.copy()
    values[:] = 0.0
    for k in range(right.size):
        along = 0.0
        for i in range(right.size):
            along += vectors[i, k] * right[i]
        along /= max(spectrum[k], least)
        for i in range(right.size):
            values[i] += along * vectors[i, k]


@jit
def reconstruct(near, joined, squares, between, points, ridge, euclidean, latent, residual):
    r"""Fill ``latent`` (b, m) with the mean of joined points, weighted to make up each row.

    ``squares`` (b, k) are squared distances of a row to ``near`` (b, k) of the ``points`` (n, m),
    ``between`` those of the pairs of the ones that are ``joined``, as `join` lists them. Weights
    w_j of sum 1 minimize \|x - Σ w_j x_j\|² + ridge Σ w_j² \|x - x_j\|²; ``residual`` (b,) is the
    first of the two. Where squared distances are not ``euclidean``, those of no points, the sum may
    be negative: what is below zero then counts for nothing.
    """
    k = near.shape[1]
    gram, members = np.empty((k, k)), np.empty(k, np.int64)
    scale, weights = np.empty(k), np.empty(k)
    start = 0
    for row in range(near.shape[0]):
        n = 0
        for at in range(k):
            if joined[row, at]:
                members[n] = at
                n += 1
        # In units of each distance, in which no weight is near the rounding of another.
        pair = start
        for i in range(n):
            square = squares[row, members[i]]
            scale[i] = weights[i] = 1.0 / np.sqrt(square)
            for j in range(i):
                product = 0.5 * (square + squares[row, members[j]] - between[pair])
                gram[i, j] = gram[j, i] = product * scale[i] * scale[j]
                pair += 1
            gram[i, i] = 1.0 + ridge
        if euclidean:
            solve(gram, weights[:n])
        else:
            solve_raised(gram[:n, :n].copy(), ridge, weights[:n])
        total = 0.0
        for i in range(n):
            weights[i] *= scale[i]
            total += weights[i]
        # Where weights have the sum 1, that is all of |x - Σ w_j x_j|².
        left_over, pair = 0.0, start
        latent[row] = 0.0
        for i in range(n):
            weights[i] /= total
            left_over += weights[i] * squares[row, members[i]]
            for j in range(i):
                left_over -= weights[i] * weights[j] * between[pair]
                pair += 1
            for c in range(points.shape[1]):
                latent[row, c] += weights[i] * points[near[row, members[i]], c]
        residual[row] = max(left_over, 0.0)
        start = pair
