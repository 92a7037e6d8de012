"""The inner loops of stress majorisation: over listed pairs, and over all of a table."""

import numba
import numpy as np

from .._numba import jit, pjit


@pjit
def majorise(indptr, indices, targets, weights, points, force, stress):
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


@jit
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
def table_slope(targets, weights, loose, slack, points, slopes, stress):
    """Slope of the stress of all pairs, in shares, and the stress of each row with later ones.

    ``targets`` and ``weights`` are (n, n), symmetric, 0 for what is no pair; ``points`` is (d, n),
    one coordinate after the other. A pair that is ``loose`` (n, n) and lies farther apart than its
    target counts ``slack`` times as much. The loss of a distance then bends less than its whole
    weight does, so that a quadratic of that weight still lies above it. Each pair is looked at
    once, in passes over rows that become vector instructions. ``slopes`` (s, d, n) is filled with
    what each share of the work finds of all points; their sum is half the gradient.
    """
    n_dim, n = points.shape
    n_shares = len(slopes)
    less = 1.0 - slack
    for share in numba.prange(n_shares):
        added = slopes[share]
        added[:] = 0.0
        pull, miss = np.empty(n, np.float64), np.empty(n, np.float64)
        # Rows grow shorter: every share takes some of each length.
        for i in range(share, n, n_shares):
            first = i + 1
            left = n - first
            aims, counts, free = targets[i][first:], weights[i][first:], loose[i][first:]
            pull[:left] = 0.0
            for c in range(n_dim):
                at, others = points[c, i], points[c][first:]
                for j in range(left):
                    gap = at - others[j]
                    pull[j] += gap * gap
            for j in range(left):
                distance = np.sqrt(pull[j])
                off = distance - aims[j]
                beyond = off if off > 0.0 else 0.0
                felt = off - less * beyond if free[j] else off
                miss[j] = counts[j] * felt * off
                pull[j] = counts[j] * felt / distance if distance > 0.0 else 0.0
            stress[i] = sum_of(miss, left)
            for c in range(n_dim):
                at, others, back = points[c, i], points[c][first:], added[c][first:]
                for j in range(left):
                    miss[j] = pull[j] * (at - others[j])
                    back[j] -= miss[j]
                added[c, i] += sum_of(miss, left)


@pjit
def majorise_anchors(places, targets, weights, slack, points, force, stress):
    """Add to what `majorise` found of the edges what each point sees of anchors.

    To the force that is also the weighted sum of where anchors are, which together with it is where
    the point would be at the minimum of its quadratic, times its weights. ``places`` (d, a) holds
    where the anchors are, one coordinate after the other. Column k of
    ``targets`` and ``weights`` (n, a) is anchor k, which does not see the point in return. All
    these pairs are loose, see `table_slope`. ``places``, ``points``, targets and weights are all
    of one precision; sums over anchors have it too.
    """
    n, n_dim = points.shape
    n_anchors = places.shape[1]
    zero = places.dtype.type(0.0)
    less = places.dtype.type(1.0 - slack)
    for i in numba.prange(n):
        aims, counts = targets[i], weights[i]
        pull, miss = np.zeros(n_anchors, places.dtype), np.empty(n_anchors, places.dtype)
        for c in range(n_dim):
            at, others = points[i, c], places[c]
            for k in range(n_anchors):
                gap = at - others[k]
                pull[k] += gap * gap
        for k in range(n_anchors):
            distance = np.sqrt(pull[k])
            off = distance - aims[k]
            given = less * (off if off > zero else zero)
            miss[k] = counts[k] * (off - given) * off
            pull[k] = counts[k] * (aims[k] + given) / distance if distance > zero else zero
        stress[i] += sum_of(miss, n_anchors)
        for c in range(n_dim):
            at, others = points[i, c], places[c]
            for k in range(n_anchors):
                miss[k] = pull[k] * (at - others[k]) + counts[k] * others[k]
            force[i, c] += sum_of(miss, n_anchors)
