"""All blocks aligned at once to a consensus: generalised Procrustes from a good start."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .. import _doors as door
from .._records import MergeResult, SolvedBlocks, check_solved
from .._threads import run_in_parallel
from .._validation import (
    check_choice,
    check_integer,
    check_positive,
    check_same_shape,
)
from ._descent import Descent
from ._greedy import groups_centred, merge_pairs, warn_weak
from ._rigid import place_groups
from ._rounds import ANCHOR_SHARE, CLEARLY_LOWER, Rounds

Floats = NDArray[np.float64]

WEIGHTINGS = ("precision", "uniform")

# Where the greedy start has less than this of what the other one ends with, after its few rounds,
# the other one may be folded. It had .60 to .83 in the 7 of 384 mergers of curves, clouds, trees
# and the paper's latents that were unfolded; of 120 rolls, none folded, it had 1.00 or more.
_LOWER = 0.95
# Depth of the bowl that points are lifted to, in standard deviations of a coordinate, and the
# tolerance of the rounds there. Of 49 mergers .1, .3 and 1 halved the sum in 8, 8 and 9; the middle
# one lost least. It is what the tables in `_unfolded` were measured with.
_BOWL, _BOWL_TOLERANCE = 0.3, 1e-4


@door.takes(
    n_points=door.optional(door.count), start=door.optional(door.table), weigh_start=door.flag
)
def merge(
    solved: SolvedBlocks,
    n_points: int | None = None,
    *,
    start: Floats | None = None,
    weighting: str = "precision",
    weigh_start: bool = False,
    max_rounds: int = 200,
    tolerance: float = 1e-5,
) -> MergeResult:
    """Align all blocks at once to a consensus: generalised Procrustes from a good start.

    Rounds of two steps: every block is fitted rigidly to the consensus, and every point moves to
    the weighted mean of where its blocks would put it. Neither step can raise the weighted sum of
    squares between the two, and together they go down its gradient; conjugate gradients make the
    rounds fewer.

    Weights are the inverse standard deviations of a point's distances in the block, from the
    sampling variance of the correlations behind them. (Inverse variances would be right if
    sampling were the only error; blocks disagree for other reasons too.)

    The sum of squares has many local minima, so the start matters. The geodesic solution of the
    same graph is a good one, for it knows where things are at large. The greedy merger is the
    other: it is exact on exact data. Both get some rounds, and the given start goes on unless the
    greedy one then has less than half its sum: blocks that share little fit nearly as well with a
    part of the whole mirrored, which only the start can tell. Where the given one ends above what
    the greedy one had by then, it may be folded: it is aligned once more with room for another
    coordinate, and brought back, which is taken if it halves the sum. Where a motion of the greedy
    merger rests on fewer than M + 1 shared points, blocks leave angles or whole components open,
    and the given start joins in as one more block of all points with a small weight, which settles
    what is open and next to nothing else. With ``weigh_start`` its weight grows with the square of
    the noise of the blocks, which is what they disagree by: where data are weak, cliques of a few
    points tell less of the shape than the geodesic solution does.

    Parameters
    ----------
    solved, n_points : see `merge_greedy`
        Blocks with their own coordinates, and the number of points in all.
    start : (n_points, M) ndarray of float64, optional
        Where the points are at first, in the units of the latent; by default the greedy merger.
    weighting : {"precision", "uniform"}
        Weight of a point in a block.
    weigh_start : bool
        Whether the start counts by the noise of the blocks. Else only what they leave open is its.
    max_rounds : int
        Most rounds; `converged` says whether they were enough.
    tolerance : float
        The rounds end where two on end promise to lower the sum of squares by less, relatively.

    Returns
    -------
    MergeResult
        Coordinates (in the frame of the start, if one is given), components, residuals, the order
        of the greedy merger, the weight of the start and how the rounds ended. Components that
        share no point do not influence each other; without a start each is centred at 0.

    Raises
    ------
    ValueError
        If the start does not fit or a parameter is out of range.

    Warns
    -----
    UserWarning
        If the greedy merger is the start and rests on fewer than M + 1 shared points somewhere.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import alignment, blocks, cliques, graph, kernels
    >>> kernel, line = kernels.SquaredExponential(), np.arange(6.0)
    >>> g = graph.threshold(kernel.covariance((line[:, None] - line) ** 2), 0.1)
    >>> solved = blocks.solve(g, cliques.cover(g, 3), kernel, 1)
    >>> merged = alignment.merge(solved, 6, start=line[:, None])
    >>> merged.coordinates.round(6).ravel()
    array([0., 1., 2., 3., 4., 5.])
    >>> merged.converged
    True
    """
    n_points = check_solved(solved, n_points)
    check_choice("weighting", weighting, WEIGHTINGS)
    check_integer("max_rounds", max_rounds, 1)
    check_positive("tolerance", tolerance)
    if start is None:
        frame, greedy = None, merge_pairs(solved, n_points)
        if greedy.n_weak:
            warn_weak(greedy, stacklevel=3)
        consensus = Rounds(solved, n_points, weighting)
        descent, trusted, second = consensus.descent(greedy.coordinates), False, np.inf
    else:
        frame = np.array(start, dtype=np.float64, order="C")
        expected = np.empty((n_points, solved.coordinates.shape[1]))
        check_same_shape("start", frame, "the coordinates", expected)
        greedy, consensus, given = _two_starts(solved, frame, weighting)
        other = place_groups(greedy.coordinates, greedy.labels, frame)
        descent, second = consensus.better(given, other)
        trusted = descent is given
    descent.run(max_rounds, tolerance, consensus.floor)
    if second < _LOWER * descent.lowest:
        descent = _unfolded(solved, consensus, descent, (max_rounds, tolerance, consensus.floor))
    objective, residuals = consensus.fit_of(descent.mean)
    if weigh_start and frame is not None and trusted:
        share = consensus.share_for(objective, frame)
        if share > max(consensus.share, ANCHOR_SHARE):
            consensus = Rounds(solved, n_points, weighting, frame, share)
            descent = consensus.descent(descent.mean)
            descent.run(max_rounds, tolerance, consensus.floor)
            objective, residuals = consensus.fit_of(descent.mean)
    points = descent.mean
    if frame is None:
        points = groups_centred(points, greedy.labels)
    else:
        # Blocks do not mind where all of it lies: bring it back to where the start was.
        points = place_groups(points, np.zeros(n_points, dtype=np.int64), frame)
    return greedy._replace(
        coordinates=points,
        residuals=residuals,
        start_share=consensus.share,
        n_weak=0 if frame is not None else greedy.n_weak,
        objective=objective,
        n_rounds=descent.n_rounds,
        converged=descent.converged,
    )


def _unfolded(
    solved: SolvedBlocks, consensus: Rounds, found: Descent, limits: tuple[int, float, float]
) -> Descent:
    """What was found, or a clearly lower place that is reached through one more coordinate.

    A part that lies mirrored cannot turn over in the space of the latent. With one more coordinate
    it can, and most local optima are none (Boumal, Voroninski and Bandeira 2016); the points are
    lifted to a bowl, aligned there, brought back along their principal axes and aligned again (see
    docs/decisions/006-merging-cliques.md).
    """
    points = found.mean - found.mean.mean(axis=0)
    size = points.shape[1]
    height = (points**2).sum(axis=1)
    height -= height.mean()
    spread = height.std()
    if spread == 0.0:
        return found
    bowl = _BOWL * points.std() / spread * height
    lifted = consensus.lifted(solved)
    above = lifted.descent(np.column_stack([points, bowl]))
    above.run(limits[0], _BOWL_TOLERANCE, lifted.floor)
    places = above.mean - above.mean.mean(axis=0)
    axes = np.linalg.eigh(places.T @ places)[1][:, ::-1]
    other = consensus.descent(places @ axes[:, :size])
    other.run(*limits)
    return other if other.lowest < CLEARLY_LOWER * found.lowest else found


def _two_starts(
    solved: SolvedBlocks, frame: Floats, weighting: str
) -> tuple[MergeResult, Rounds, Descent]:
    """The greedy merger, and some rounds from a latent; if that is sure to join in, side by side.

    It joins in where blocks leave something open.
    """

    def merged() -> MergeResult:
        return merge_pairs(solved, len(frame))

    def from_frame(joins_in: bool) -> tuple[Rounds, Descent]:
        consensus = Rounds(solved, len(frame), weighting, frame if joins_in else None)
        return consensus, consensus.trial(frame)

    n_blocks, size = solved.blocks.n_blocks, frame.shape[1]
    # So few points as these cannot share as many as a motion rests on.
    if n_blocks > 1 and solved.blocks.sizes.min() <= size:
        greedy, begun = run_in_parallel(merged, lambda: from_frame(True))
    else:
        greedy = merged()
        begun = from_frame(bool(greedy.n_weak or greedy.labels.any()))
    return greedy, *begun
