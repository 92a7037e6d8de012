"""The inner loops of stress majorization: over edges, and over anchors."""

import numba
import numpy as np

from .._base.jit import helper, pjit


@pjit
def majorize(indptr, indices, targets, weights, points, force, stress):
    """Right-hand side B(Z) Z of the Guttman transform, and the stress of every row.

    Each pair is stored from both ends, with the distance it should have (``targets``) and how much
    it counts. For points Z (n, d), ``force`` is filled with sum_j w_ij target_ij / |z_i - z_j| (z_i
    - z_j), where a pair in one place adds 0, and ``stress`` (n,) with sum_j w_ij (|z_i - z_j| -
    target_ij)^2; each pair is met twice over all rows.
    """
    n, n_dim = points.shape
    for i in numba.prange(n):
        total = 0.0
        for c in range(n_dim):
            force[i, c] = 0.0
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            square = 0.0
            for c in range(n_dim):
                gap = points[i, c] - points[j, c]
                square += gap * gap
            distance = np.sqrt(square)
            miss = distance - targets[e]
            total += weights[e] * miss * miss
            if distance > 0.0:
                pull = weights[e] * targets[e] / distance
                for c in range(n_dim):
                    force[i, c] += pull * (points[i, c] - points[j, c])
        stress[i] = total


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
def majorize_anchors(anchors, targets, weights, fixed, points, force, stress):
    """Add to force and stress of `majorize` what each point sees of anchors.

    Column k of ``targets`` and ``weights`` (n, a) is anchor k, at ``anchors`` (d, a). Where anchors
    are ``fixed``, the force is also the weighted sum of where they are, which together with it is
    where a point would be at the minimum of its quadratic, times its weights. ``anchors`` and
    ``points`` are of one precision; sums over anchors have it too.
    """
    n, n_dim = points.shape
    n_anchors = anchors.shape[1]
    zero = anchors.dtype.type(0.0)
    for i in numba.prange(n):
        aims, counts = targets[i], weights[i]
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
        stress[i] += sum_of(miss, n_anchors)
        for c in range(n_dim):
            at, anchor_values = points[i, c], anchors[c]
            if fixed:
                for k in range(n_anchors):
                    miss[k] = pull[k] * (at - anchor_values[k]) + counts[k] * anchor_values[k]
            else:
                for k in range(n_anchors):
                    miss[k] = pull[k] * (at - anchor_values[k])
            force[i, c] += sum_of(miss, n_anchors)
