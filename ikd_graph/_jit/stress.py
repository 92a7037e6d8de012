"""The inner loop of stress majorization, over anchors."""

import numba
import numpy as np

from .._base.jit import helper, pjit


@helper
def sum_of(values, count):
    """Sum of the first values, four at a time: the compiler may not choose the order."""
    whole = count - count % 4
    zero = values.dtype.type(0.0)
    s0, s1, s2, s3 = zero, zero, zero, zero
    for j in range(0, whole, 4):
        s0 += values[j]
        s1 += values[j + 1]
        s2 += values[j + 2]
        s3 += values[j + 3]
    for j in range(whole, count):
        s0 += values[j]
    return (s0 + s1) + (s2 + s3)


@pjit
def majorize(anchors, targets, weights, fixed, points, force, stress):
    """Right-hand side B(Z) Z of the Guttman transform, and the stress of every row.

    Column k of ``targets`` and ``weights`` (n, a) is anchor k, at ``anchors`` (d, a): the distance
    it should have from each point, and how much that counts; (1, a) weights are those of all. For
    points Z (n, d), ``force`` is filled with sum_k w_ik target_ik / |z_i - z_k| (z_i - z_k), where
    a pair in one place adds 0, and ``stress`` (n,) with sum_k w_ik (|z_i - z_k| - target_ik)^2.
    Where anchors are ``fixed``, the force is also the weighted sum of where they are, which
    together with it is where a point would be at the minimum of its quadratic, times its weights.
    ``anchors`` and ``points`` are of one precision; sums over anchors have it too.
    """
    n, n_dim = points.shape
    n_anchors = anchors.shape[1]
    zero = anchors.dtype.type(0.0)
    for i in numba.prange(n):
        aims, counts = targets[i], weights[i % weights.shape[0]]
        pull, miss = np.zeros(n_anchors, anchors.dtype), np.empty(n_anchors, anchors.dtype)
        for c in range(n_dim):
            at, anchor_values = points[i, c], anchors[c]
            for k in range(n_anchors):
                gap = at - anchor_values[k]
                pull[k] += gap * gap
        for k in range(n_anchors):
            distance = np.sqrt(pull[k])
            off = distance - aims[k]
            miss[k] = counts[k] * off * off
            pull[k] = counts[k] * aims[k] / distance if distance > zero else zero
        stress[i] = sum_of(miss, n_anchors)
        for c in range(n_dim):
            at, anchor_values = points[i, c], anchors[c]
            if fixed:
                for k in range(n_anchors):
                    miss[k] = pull[k] * (at - anchor_values[k]) + counts[k] * anchor_values[k]
            else:
                for k in range(n_anchors):
                    miss[k] = pull[k] * (at - anchor_values[k])
            force[i, c] = sum_of(miss, n_anchors)


@pjit
def add_edges(indptr, indices, lengths, weights, points, force, stress):
    """Add to ``force`` (n, d) and ``stress`` (n,) what edges, stored from both ends, do to a point.

    They are those of `majorize`: w_ij length_ij / |z_i - z_j| (z_i - z_j) and
    w_ij (|z_i - z_j| - length_ij)^2, summed over the edges of every point.
    """
    n, n_dim = points.shape
    for i in numba.prange(n):
        for edge in range(indptr[i], indptr[i + 1]):
            j, square = indices[edge], 0.0
            for c in range(n_dim):
                square += (points[i, c] - points[j, c]) ** 2
            distance = np.sqrt(square)
            stress[i] += weights[edge] * (distance - lengths[edge]) ** 2
            pull = weights[edge] * lengths[edge] / distance if distance > 0.0 else 0.0
            for c in range(n_dim):
                force[i, c] += pull * (points[i, c] - points[j, c])
