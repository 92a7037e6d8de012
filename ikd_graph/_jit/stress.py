"""The inner loops of stress majorisation: over listed pairs, and over all of a table."""

import numba
import numpy as np

from .._config import pjit


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


@pjit
def majorise_table(targets, weights, loose, slack, points, force, stress):
    """As `majorise` for every pair, in passes over whole rows that become vector instructions.

    ``targets`` and ``weights`` are (n, n), 0 for what is no pair; ``points`` is (d, n), one
    coordinate after the other. A pair that is ``loose`` (n, n) and lies farther apart than its
    target counts ``slack`` times as much. The loss of a distance then bends less than its whole
    weight does, so that a quadratic of that weight still lies above it.
    """
    n_dim, n = points.shape
    whole = n - n % 4
    for i in numba.prange(n):
        pull = np.zeros(n)
        miss = np.empty(n)
        for c in range(n_dim):
            at = points[c, i]
            for j in range(n):
                gap = at - points[c, j]
                pull[j] += gap * gap
        for j in range(n):
            distance = np.sqrt(pull[j])
            off = distance - targets[i, j]
            share = slack if loose[i, j] and off > 0.0 else 1.0
            miss[j] = weights[i, j] * share * off * off
            aim = targets[i, j] + (1.0 - share) * off
            pull[j] = weights[i, j] * aim / distance if distance > 0.0 else 0.0
        # Four sums at a time, in an order that is written down: the compiler may not choose one.
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
        for j in range(0, whole, 4):
            s0 += miss[j]
            s1 += miss[j + 1]
            s2 += miss[j + 2]
            s3 += miss[j + 3]
        for j in range(whole, n):
            s0 += miss[j]
        stress[i] = (s0 + s1) + (s2 + s3)
        for c in range(n_dim):
            at = points[c, i]
            s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
            for j in range(0, whole, 4):
                s0 += pull[j] * (at - points[c, j])
                s1 += pull[j + 1] * (at - points[c, j + 1])
                s2 += pull[j + 2] * (at - points[c, j + 2])
                s3 += pull[j + 3] * (at - points[c, j + 3])
            for j in range(whole, n):
                s0 += pull[j] * (at - points[c, j])
            force[i, c] = (s0 + s1) + (s2 + s3)


@pjit
def majorise_anchors(anchors, targets, weights, slack, points, force, stress):
    """Add to what `majorise` found of the edges what each point sees of anchors.

    Column k of ``targets`` and ``weights`` (n, a) is anchor ``anchors[k]``, which does not see the
    point in return. All these pairs are loose, see `majorise_table`.
    """
    n, n_dim = points.shape
    for i in numba.prange(n):
        total = 0.0
        for k in range(anchors.size):
            square = 0.0
            for c in range(n_dim):
                gap = points[i, c] - points[anchors[k], c]
                square += gap * gap
            distance = np.sqrt(square)
            off = distance - targets[i, k]
            share = slack if off > 0.0 else 1.0
            total += weights[i, k] * share * off * off
            if distance > 0.0:
                pull = weights[i, k] * (targets[i, k] + (1.0 - share) * off) / distance
                for c in range(n_dim):
                    force[i, c] += pull * (points[i, c] - points[anchors[k], c])
        stress[i] += total
