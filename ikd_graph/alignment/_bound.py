"""How far a merger can be from the best of all: a lower bound from the dual problem."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import eigh

from .. import _doors as door
from .._records import SolvedBlocks
from .._validation import check_choice, check_finite
from ._consensus import WEIGHTINGS
from ._rounds import Rounds, check_places

Floats = NDArray[np.float64]

MOST_FRAMES = 2000
"""Coordinates of all frames up to which a bound is computed: it costs seconds there."""

# Sums of squares below this share of those of the blocks are rounding errors.
_EXACT = 1e-12
_MOST_SWEEPS = 500


class MergeBound(NamedTuple):
    """Cost of a merger, and what no merger of the same blocks can go below."""

    cost: float  # weighted mean square of the distances from blocks to consensus
    bound: float  # at least 0
    gap: float  # share of the cost that the best of all mergers could save, from 0 to 1

    @property
    def words(self) -> str:
        """What the gap says."""
        if self.gap < 1e-6:
            return "the merger is proven optimal"
        return f"no merger of these cliques can cost less than {1.0 - self.gap:.1%} of this one"


@door.takes(coordinates=door.table)
def merge_bound(
    solved: SolvedBlocks, coordinates: Floats, *, weighting: str = "precision"
) -> MergeBound | None:
    r"""Lower bound of the sum of squares that merging leaves, over all rotations of all blocks.

    With translations and consensus eliminated the cost of rotations R (stacked) is tr(R' Q R). For
    symmetric blocks L_b, the multipliers of R_b R_b' = I, and s_b > 0 no cost is below tr L + M
    sum(s) min(lambda, 0), lambda being the least eigenvalue of Q - L relative to diag(s). At the
    best merger lambda is often 0, and the bound is its cost (Chaudhury, Khoo, Singer 2015); a gap
    of 1 may mean that it is not, or that the merger is a worse local optimum.

    Parameters
    ----------
    solved : SolvedBlocks
        Blocks with their own coordinates.
    coordinates : (n, M) ndarray of float64
        Merged positions of the points.
    weighting : {"precision", "uniform"}
        As in `merge_global`.

    Returns
    -------
    MergeBound or None
        None for more than ``MOST_FRAMES`` coordinates of frames, blocks times M.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import alignment, blocks, cliques, graph, kernels
    >>> kernel, line = kernels.SquaredExponential(), np.arange(6.0)[:, None]
    >>> g = graph.threshold_graph(kernel.covariance((line - line.T) ** 2), 0.1)
    >>> solved = blocks.solve(g, cliques.cover(g, 3), kernel, 1)
    >>> alignment.merge_bound(solved, line).words
    'the merger is proven optimal'
    """
    check_choice("weighting", weighting, WEIGHTINGS)
    points = np.ascontiguousarray(coordinates, dtype=np.float64)
    check_finite("coordinates", points)
    check_places(solved, points)
    n_blocks, size = solved.blocks.n_blocks, points.shape[1]
    if n_blocks * size > MOST_FRAMES:
        return None
    consensus = Rounds(solved, len(points), weighting)
    consensus.place(points)
    cost = consensus.fit_of(points)[0]
    quadratic, scale = _quadratic(solved, consensus.weights, len(points))
    if cost <= _EXACT * scale:
        return MergeBound(cost, 0.0, cost / scale if scale > 0.0 else 0.0)
    frames = _settle(quadratic, _frames_of(solved, consensus).reshape(-1, size))
    bound = min(max(_dual_value(quadratic, frames), 0.0), cost)
    return MergeBound(cost, bound, (cost - bound) / cost)


def _quadratic(solved: SolvedBlocks, weights: Floats, n_points: int) -> tuple[Floats, float]:
    """Matrix Q (B M, B M) of the cost of rotations, and the sum of squares of all blocks."""
    members, sizes = solved.blocks.members, solved.blocks.sizes
    n_blocks, size = sizes.size, solved.coordinates.shape[1]
    owner, entries = np.repeat(np.arange(n_blocks), sizes), np.arange(members.size)
    shape = (entries.size, n_blocks)
    mass = sp.csr_array((weights, (entries, owner)), shape=shape)
    # Around their centroids, so that large offsets cost no digits.
    centre = (mass.T @ solved.coordinates) / np.asarray(mass.sum(axis=0)).reshape(-1, 1)
    offset = solved.coordinates - centre[owner]
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


def _frames_of(solved: SolvedBlocks, consensus: Rounds) -> Floats:
    """Rotations (B, M, M) of blocks that were placed, the i-th row that of their i-th axis."""
    starts, size = solved.blocks.indptr, solved.coordinates.shape[1]
    out = np.empty((starts.size - 1, size, size))
    for block in range(out.shape[0]):
        part = slice(starts[block], starts[block + 1])
        own, placed = solved.coordinates[part], consensus.proposals[part]
        left, _, right = np.linalg.svd((own - own.mean(axis=0)).T @ (placed - placed.mean(axis=0)))
        out[block] = left @ right
    return out


def _cost(quadratic: Floats, stacked: Floats) -> float:
    """Cost of stacked rotations (B M, M)."""
    return float(np.vdot(stacked, quadratic @ stacked))


def _settle(quadratic: Floats, stacked: Floats) -> Floats:
    """Rotations turned one after the other to their best place until none is turned further."""
    stacked, size = stacked.copy(), stacked.shape[1]
    before = _cost(quadratic, stacked)
    for _ in range(_MOST_SWEEPS):
        for start in range(0, len(stacked), size):
            part = slice(start, start + size)
            pull = quadratic[part, part] @ stacked[part] - quadratic[part] @ stacked
            left, _, right = np.linalg.svd(pull)
            stacked[part] = left @ right
        after = _cost(quadratic, stacked)
        if before - after <= 1e-12 * after:
            break
        before = after
    return stacked


def _dual_value(quadratic: Floats, stacked: Floats) -> float:
    """Lower bound from the multipliers of stacked rotations (B M, M)."""
    size = stacked.shape[1]
    pulled = quadratic @ stacked
    slack, trace = quadratic.copy(), 0.0
    scales = np.empty(len(stacked) // size)
    for block in range(scales.size):
        part = slice(block * size, (block + 1) * size)
        multiplier = pulled[part] @ stacked[part].T
        slack[part, part] -= 0.5 * (multiplier + multiplier.T)
        trace += float(np.trace(multiplier))
        scales[block] = np.trace(quadratic[part, part])
    # A block that nothing holds has no scale of its own.
    scales = np.maximum(scales, 1e-6 * scales.max())
    root = np.repeat(np.sqrt(scales), size)
    least = eigh(slack / np.outer(root, root), eigvals_only=True, subset_by_index=[0, 0])[0]
    return trace + size * float(scales.sum()) * min(float(least), 0.0)
