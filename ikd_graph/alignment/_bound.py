"""How far a merger can be from the best of all: a lower bound from the dual problem."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .. import _validation as check
from .._types import Floats
from .._validation import validate
from ..blocks import SolvedBlocks
from ._frames import cost_of, dual_of, lift, quadratic_form, settle
from ._rounds import Rounds, check_places

MOST_FRAMES = 4000
"""Coordinates of all frames up to which a bound is computed: 10 s and 400 MB there."""

MOST_LIFTED = 2000
"""Unknowns of lifted frames up to which these are tried where the plain ones prove little: 7 s."""

# Sums of squares below this share of those of the blocks are rounding errors.
_EXACT = 1e-12
# A bound that gives away no more of the cost is not improved.
_TIGHT = 0.002
# Columns that frames are lifted by, one after the other.
_MOST_COLUMNS = 2


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
        if self.gap <= 0.01:
            return f"the merger is proven to be within {self.gap:.2%} of the lowest cost"
        if self.bound == 0.0:
            return "it could not be proved that this merger is optimal"
        return f"no merger of these cliques can cost less than {1.0 - self.gap:.1%} of this one"


@validate(check_places, coordinates=check.table)
def merge_bound(solved: SolvedBlocks, coordinates: Floats) -> MergeBound | None:
    r"""Lower bound of the sum of squares that merging leaves, over all rotations of all blocks.

    With translations and consensus eliminated the cost of rotations R (stacked) is tr(R' Q R). For
    symmetric blocks L_b, the multipliers of R_b R_b' = I, and s_b > 0 no cost is below tr L + M
    sum(s) min(lambda, 0), lambda being the least eigenvalue of Q - L relative to diag(s). At the
    best merger lambda is often 0, and the bound is its cost (Chaudhury, Khoo, Singer 2015).

    For a dozen noisy pieces of a plane the bound found is that of the semidefinite relaxation, to
    .3 % of it. A gap says that some other merger may cost less, not that it is nearer to the truth:
    where blocks are noisy the cheapest merger may be far from it, and `merge` stays near its
    start.

    Parameters
    ----------
    solved : SolvedBlocks
        Blocks with their own coordinates.
    coordinates : (n, M) ndarray of float64
        Merged positions of the points.

    Returns
    -------
    MergeBound or None
        None for more than ``MOST_FRAMES`` coordinates of frames, blocks times M.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import alignment, blocks, cliques, graph, kernels
    >>> kernel, line = kernels.SquaredExponential(), np.arange(6.0)[:, None]
    >>> g = graph.threshold(kernel.covariance((line - line.T) ** 2), 0.1)
    >>> solved = blocks.solve(g, cliques.cover(g, 3), kernel, 1)
    >>> alignment.merge_bound(solved, line).words
    'the merger is proven optimal'
    """
    points = np.ascontiguousarray(coordinates, dtype=np.float64)
    n_blocks, size = solved.blocks.n_blocks, points.shape[1]
    if n_blocks * size > MOST_FRAMES:
        return None
    consensus = Rounds(solved, len(points))
    cost = consensus.fit_of(points)[0]
    quadratic, scale = quadratic_form(solved, consensus.weights, len(points))
    if cost <= _EXACT * scale:
        return MergeBound(cost, 0.0, cost / scale if scale > 0.0 else 0.0)
    bound = min(_best_dual(quadratic, _frames_of(solved, consensus)), cost)
    return MergeBound(cost, bound, (cost - bound) / cost)


def _best_dual(quadratic: Floats, frames: Floats) -> float:
    """Best lower bound that the frames, settled and if need be lifted, have led to."""
    frames = settle(quadratic, frames)
    n_blocks, size = frames.shape[:2]
    found = dual_of(quadratic, frames)
    best, cost = found.value, cost_of(quadratic, frames)
    for extra in range(1, _MOST_COLUMNS + 1):
        unknowns = n_blocks * size * (size - 1) // 2 + n_blocks * size * extra
        if best >= (1.0 - _TIGHT) * cost or unknowns > MOST_LIFTED:
            break
        frames = settle(quadratic, lift(frames, found.better))
        found = dual_of(quadratic, frames)
        best = max(best, found.value)
    return best


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
