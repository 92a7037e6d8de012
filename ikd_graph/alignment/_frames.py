"""Frames of blocks at their best: the cost of rotations, Newton's method, the dual value.

Frames (B, M, r) are the rotations of B blocks, r = M. Lifted ones have more columns and orthonormal
rows: with enough of them no local optimum is worse than the best (Boumal, Voroninski, Bandeira
2016), and its multipliers give the best bound that the dual problem has.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh

from .._types import Floats
from ..blocks import SolvedBlocks

# Sweeps bring frames near enough for Newton's method, which converges in a few steps.
_SWEEPS, _MOST_STEPS = 3, 60
_DAMPING = 1e-9
_LIFTED = 0.3  # size of a new column next to the others


class Dual(NamedTuple):
    """What the multipliers of frames prove."""

    value: float  # no frames cost less
    better: Floats  # (B M,) direction in which one more column lowers the cost most


def quadratic_form(solved: SolvedBlocks, weights: Floats, n_points: int) -> tuple[Floats, float]:
    """Matrix Q (B M, B M) of the cost of rotations, and the sum of squares of all blocks."""
    members, sizes = solved.blocks.members, solved.blocks.sizes
    n_blocks, size = sizes.size, solved.coordinates.shape[1]
    owner, entries = np.repeat(np.arange(n_blocks), sizes), np.arange(members.size)
    shape = (entries.size, n_blocks)
    mass = sp.csr_array((weights, (entries, owner)), shape=shape)
    # Around their centroids, so that large offsets cost no digits.
    center = (mass.T @ solved.coordinates) / np.asarray(mass.sum(axis=0)).reshape(-1, 1)
    offset = solved.coordinates - center[owner]
    columns = (owner[:, None] * size + np.arange(size)).ravel()
    rows = np.repeat(entries, size)
    spread = sp.csr_array((offset.ravel(), (rows, columns)), shape=(shape[0], n_blocks * size))
    at_point = sp.csr_array(
        (np.ones(entries.size), (entries, members)), shape=(entries.size, n_points)
    )
    total = np.bincount(members, weights, minlength=n_points)
    share = sp.diags_array(np.divide(1.0, total, out=np.zeros(n_points), where=total > 0.0))
    both = sp.hstack([spread, sp.csr_array((np.ones(entries.size), (entries, owner)), shape=shape)])
    weighed = sp.diags_array(weights) @ both
    # The consensus eliminated: every point at the weighted mean of its entries.
    summed = at_point.T @ weighed
    left = (both.T @ weighed - summed.T @ share @ summed).toarray()
    cut = n_blocks * size
    # Then the translations, open as a whole and for each component of the blocks.
    cross = left[:cut, cut:]
    found = left[:cut, :cut] - cross @ np.linalg.pinv(left[cut:, cut:], hermitian=True) @ cross.T
    return 0.5 * (found + found.T), float(weights @ (offset**2).sum(axis=1))


def cost_of(quadratic: Floats, frames: Floats) -> float:
    """Cost of frames."""
    stacked = frames.reshape(len(quadratic), -1)
    return float(np.vdot(stacked, quadratic @ stacked))


def settle(quadratic: Floats, frames: Floats) -> Floats:
    """Frames turned to a local optimum: some sweeps, then damped Newton steps."""
    frames = _sweep(quadratic, frames.copy())
    now, damping = cost_of(quadratic, frames), _DAMPING
    for _ in range(_MOST_STEPS):
        step = _newton_step(quadratic, frames, damping)
        turned = frames if step is None else orthonormal(frames + step)
        after = cost_of(quadratic, turned)
        if step is None or after > now:
            # Not convex here, or too far: shorter steps turn to where the cost falls.
            damping *= 10.0
            if damping > 1.0:
                break
            continue
        frames, before, now = turned, now, after
        damping = max(0.5 * damping, _DAMPING)
        if before - now <= 1e-13 * now:
            break
    return frames


def lift(frames: Floats, direction: Floats) -> Floats:
    """Frames with one more column, a little towards a direction (B M,)."""
    normal = direction.reshape(*frames.shape[:2], 1)
    return orthonormal(np.concatenate([frames, _LIFTED * normal / np.abs(normal).max()], axis=2))


def orthonormal(frames: Floats) -> Floats:
    """Frames (B, M, r) nearest to given matrices."""
    left, _, right = np.linalg.svd(frames, full_matrices=False)
    return left @ right


def dual_of(quadratic: Floats, frames: Floats) -> Dual:
    """Compute what the multipliers of frames prove."""
    n_blocks, size = frames.shape[:2]
    multipliers, scales = _multipliers(quadratic, frames), _scales(quadratic, size)
    cost = float(np.trace(multipliers, axis1=1, axis2=2).sum())
    total = size * float(scales.sum())
    root = np.repeat(np.sqrt(scales), size)
    slack = quadratic / np.outer(root, root)
    each = np.arange(n_blocks)
    blocked = slack.reshape(n_blocks, size, n_blocks, size)
    blocked[each, :, each] -= multipliers / scales[:, None, None]
    values, vectors = eigh(slack, subset_by_index=(0, 0), overwrite_a=True, check_finite=False)
    # Rounding errors of the matrix and of its eigenvalues.
    level = max(-float(values[0]), 0.0) + 4.0 * len(slack) * np.finfo(np.float64).eps
    return Dual(max(cost - total * level, 0.0), vectors[:, 0] / root)


def _sweep(quadratic: Floats, frames: Floats) -> Floats:
    """Frames turned in place, one after the other, each to its best place."""
    size = frames.shape[1]
    stacked = frames.reshape(len(quadratic), -1)
    for _ in range(_SWEEPS):
        for block in range(len(frames)):
            part = slice(block * size, (block + 1) * size)
            pull = quadratic[part, part] @ stacked[part] - quadratic[part] @ stacked
            stacked[part] = orthonormal(pull)
    return frames


def _newton_step(quadratic: Floats, frames: Floats, damping: float) -> Floats | None:
    """Change of the frames in one damped Newton step; None where the cost is not convex."""
    n_blocks, size, width = frames.shape
    moves = _moves(frames)
    n_moves = moves.shape[1]
    if n_moves == 0:
        return None
    pulled = (quadratic @ frames.reshape(-1, width)).reshape(frames.shape)
    gradient = np.einsum("bkix,bix->bk", moves, pulled).ravel()
    hessian = np.zeros((gradient.size, gradient.size))
    places = np.arange(n_blocks + 1)
    for column in range(width):
        # One block for each frame, on the diagonal.
        across = sp.bsr_array((moves[..., column], places[:-1], places)).tocsr()
        hessian += across @ (across @ quadratic).T
    each = np.arange(n_blocks)
    blocked = hessian.reshape(n_blocks, n_moves, n_blocks, n_moves)
    blocked[each, :, each] -= np.einsum(
        "bkix,bij,bljx->bkl", moves, _multipliers(quadratic, frames), moves
    )
    # All frames may turn together: that direction is flat, and damping keeps it so.
    hessian.flat[:: gradient.size + 1] += damping * np.repeat(_scales(quadratic, size), n_moves)
    try:
        step = cho_solve(cho_factor(hessian, lower=True, overwrite_a=True), gradient)
    except LinAlgError:
        return None
    return -np.einsum("bk,bkix->bix", step.reshape(n_blocks, n_moves), moves)


def _moves(frames: Floats) -> Floats:
    """Ways (B, K, M, r) in which frames can change: rows turned among each other, or out."""
    n_blocks, size, width = frames.shape
    above = np.triu_indices(size, 1)
    skew = np.zeros((above[0].size, size, size))
    skew[np.arange(above[0].size), above[0], above[1]] = 1.0
    skew -= skew.transpose(0, 2, 1)
    inside = np.einsum("kij,bjx->bkix", skew, frames)
    complement = np.linalg.svd(frames)[2][:, size:]
    outside = np.einsum("ij,bnx->binjx", np.eye(size), complement)
    return np.concatenate([inside, outside.reshape(n_blocks, -1, size, width)], axis=1)


def _multipliers(quadratic: Floats, frames: Floats) -> Floats:
    """Symmetric multipliers (B, M, M) of the frames."""
    pulled = (quadratic @ frames.reshape(len(quadratic), -1)).reshape(frames.shape)
    product = pulled @ frames.transpose(0, 2, 1)
    return 0.5 * (product + product.transpose(0, 2, 1))


def _scales(quadratic: Floats, size: int) -> Floats:
    """Weight of each block (B,): what its own rotation costs."""
    scales = np.diagonal(quadratic).reshape(-1, size).sum(axis=1)
    # A block that nothing holds has no scale of its own.
    return np.maximum(scales, 1e-6 * scales.max())
