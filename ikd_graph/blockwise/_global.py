"""All blocks aligned at once to a consensus: generalized Procrustes from a good start.

Of blocks without noise, bodies are merged exactly, and only what is open is left to the start.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.optimize import minimize
from scipy.sparse.csgraph import connected_components

from .._base import validation as check
from .._base.rounding import COMPUTED, TINY
from .._base.threads import single_threaded_blas
from .._base.types import Floats, Integers
from ..cliques import Blocks, arrays, incidence
from ._greedy import MergeResult, check_start, groups_centered, merge_pairs, warn_weak
from ._joints import join_blocks, spans
from ._rigid import agreement, place_blocks, place_groups
from ._solve import SolvedBlocks, check_solved, solved_blocks

_ANCHOR_WEIGHT = 0.002
"""Weight of a start that holds together what blocks leave open, as a fraction of their own weight
(docs/decisions/006-merging-cliques.md, as for the next)."""

_EQUAL_NOISE = 0.03
"""Noise of blocks, as a fraction of the variance of the latent, at which a start counts as much as
all blocks do. Its weight is the square of noise / .03."""

_TRIAL_ROUNDS = 10
"""Rounds that each of two starts gets before the better one goes on."""

_CLEARLY_LOWER = 0.5
"""Where both starts are right their sums are mostly within a factor of two by then, so that a
smaller gain says nothing: an embedding with a part mirrored may be the lower one by chance."""

_EXACT = 1e-12
"""Variance of what blocks disagree by, as a fraction of that of the points, below which it is
rounding."""

_WORK = 3e8
"""Rounds of what is open times blocks times cubed coordinates: one or two seconds."""


class Descent(NamedTuple):
    """Where a descent ended."""

    points: Floats  # (n, M)
    value: float  # the weighted sum of squares there
    n_rounds: int
    converged: bool


class Rounds:
    """Weighted sum of squares between blocks and a consensus, and the two steps that lower it.

    ``anchor`` is a latent that takes part as one more block of weight ``anchor_weight``, where all
    others together have 1.
    """

    def __init__(
        self,
        solved: SolvedBlocks,
        n_points: int,
        anchor: Floats | None = None,
        anchor_weight: float = _ANCHOR_WEIGHT,
    ) -> None:
        self.blocks, self.coordinates = solved.blocks, solved.coordinates
        self.weights = solved.weights
        if anchor is not None:
            members = np.append(self.blocks.members, np.arange(n_points, dtype=np.int32))
            self.blocks = Blocks(np.append(self.blocks.indptr, members.size), members)
            self.coordinates = np.vstack([self.coordinates, anchor])
            self.weights = np.append(self.weights, np.full(n_points, anchor_weight / n_points))
        self.anchor_weight = anchor_weight if anchor is not None else 0.0
        members, shape = self.blocks.members, (n_points, self.weights.size)
        self.point_weights = np.bincount(members, self.weights, minlength=n_points)
        fractions = self.weights / self.point_weights[members]
        self.means = sp.csr_array((fractions, (members, np.arange(members.size))), shape=shape)
        # Sums of squares below this are rounding errors.
        self.floor = 1e-28 * float((self.coordinates**2).max(initial=0.0))

    def fit(self, points: Floats) -> tuple[float, Floats]:
        """Fit every block to the points: the weighted mean square that is left, and the means.

        These are where its blocks would put a point; points in no block stay.
        """
        places, misfit = place_blocks(self.blocks, self.coordinates, self.weights, points)
        in_blocks = self.point_weights[:, None] > 0.0
        return float(misfit.sum()), np.where(in_blocks, self.means @ places, points)

    @single_threaded_blas()
    def descend(self, points: Floats, n_rounds: int, tolerance: float) -> Descent:
        """Go down to a local minimum of the sum of squares by L-BFGS.

        Half the gradient in a point is its weight times its distance from the mean of its
        proposals. It ends where two rounds in a row lower the value by less than ``tolerance`` of
        it, or where what remains is rounding.
        """
        roots = np.sqrt(self.point_weights)[:, None]
        start, means = self.fit(points)
        first_step = roots * (means - points)
        # The first step of the search has length 1: then it is the one to the means.
        unit = float(np.linalg.norm(first_step))
        if start <= self.floor or unit == 0.0:
            return Descent(points, start, 0, True)
        steps = np.divide(unit, roots, out=np.zeros_like(roots), where=roots > 0.0)
        values, small_steps = [start], 0

        def value_and_gradient(x: Floats) -> tuple[float, Floats]:
            moved = points + steps * x.reshape(points.shape)
            value, means = self.fit(moved)
            gradient = 2.0 * roots * (moved - means) / unit
            return value / unit**2, gradient.ravel()

        def stop(intermediate_result: Any) -> None:
            nonlocal small_steps
            values.append(float(intermediate_result.fun) * unit**2)
            small = values[-2] - values[-1] <= tolerance * values[-1]
            small_steps = small_steps + 1 if small else 0
            if small_steps == 2 or values[-1] <= self.floor:
                raise StopIteration

        origin = np.zeros(points.size)
        limits = {"maxiter": n_rounds, "maxfun": np.inf, "ftol": 0.0, "gtol": 0.0}
        result = minimize(
            value_and_gradient, origin, jac=True, method="L-BFGS-B", callback=stop, options=limits
        )
        value, means = self.fit(points + steps * result.x.reshape(points.shape))
        out_of_rounds = result.nit >= n_rounds and small_steps < 2 and value > self.floor
        return Descent(means, value, int(result.nit), not out_of_rounds)


def weight_for(solved: SolvedBlocks, objective: float, anchor: Floats) -> float:
    """Weight that an embedding deserves next to blocks that leave some objective.

    Noise is the mean square that blocks are off by, as a fraction of the variance of the
    latent: what they disagree by, but for what was fitted away, a place for each point and a
    motion for each block. Small noise leaves no bend in the latent; where it is large,
    blocks of few points tell less of the shape than paths through many.
    """
    width, members = anchor.shape[1], solved.blocks.members
    n_motions = solved.blocks.n_blocks * width * (width + 1) // 2
    fitted = np.unique(members).size * width + n_motions
    freedom = 1.0 - fitted / max(members.size * width, 1)
    variance = freedom * float(anchor.var(axis=0).sum())
    # Where nothing is fitted twice there is no noise to be seen.
    return (objective / variance / _EQUAL_NOISE) ** 2 if variance > 0.0 else 0.0


@check.validate(
    check_solved,
    check_start,
    n_points=check.optional(check.count),
    start=check.optional(check.table),
    max_rounds=check.whole(1),
    tolerance=check.positive,
)
def merge(
    solved: SolvedBlocks,
    n_points: int | None = None,
    *,
    start: Floats | None = None,
    max_rounds: int = 200,
    tolerance: float = 1e-5,
) -> MergeResult:
    """Align all blocks at once to a consensus: generalized Procrustes from a good start.

    Rounds of two steps: every block is fitted rigidly to the consensus, and every point moves to
    the weighted mean of where its blocks would put it. Neither step can raise the weighted sum of
    squares between the two: the step from the points to these means is half its gradient, which
    L-BFGS follows.

    Weights are the inverse standard deviations of a point's distances in the block, from the
    sampling variance of the correlations behind them. (Inverse variances would be right if
    sampling were the only error; blocks disagree for other reasons too.)

    The sum of squares has many local minima, so the start matters. The geodesic solution of the
    same graph is a good one, for it knows where things are at large. The greedy merger is the
    other: it is exact on exact data. Both get some rounds, and the given start goes on unless the
    greedy one then has less than half its sum: blocks that share little fit nearly as well with a
    part of the whole mirrored, which only the start can tell. Where a motion of the greedy
    merger rests on fewer than M + 1 shared points, blocks leave angles or whole components open,
    and the given start joins in as one more block of all points with a small weight, which settles
    what is open and next to nothing else. Its weight grows with the square of the noise of the
    blocks, which is what they disagree by: where data are weak, cliques of a few points tell less
    of the shape than the geodesic solution does.

    Parameters
    ----------
    solved, n_points : see `merge_greedy`
        Blocks with their own coordinates, and the number of points in all.
    start : (n_points, M) ndarray of float64, optional
        Where the points are at first, in the units of the latent; by default the greedy merger.
    max_rounds : int
        Most rounds; `converged` says whether they were enough.
    tolerance : float
        The rounds end where two on end promise to lower the sum of squares by less, relatively.

    Returns
    -------
    MergeResult
        Coordinates (in the frame of the start, if one is given), components, residuals, the order
        of the greedy merger, the weight of the start and how the rounds ended. Components that
        share no point do not influence each other; without a start each is centered at 0.

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
    >>> from ikd_graph import blockwise, cliques, graph, kernels
    >>> kernel, line = kernels.SquaredExponential(), np.arange(6.0)
    >>> g = graph.threshold(kernel.covariance((line[:, None] - line) ** 2), 0.1)
    >>> solved = blockwise.solve(g, cliques.cover(g, 3), kernel, 1)
    >>> merged = blockwise.merge(solved, 6, start=line[:, None])
    >>> merged.coordinates.round(6).ravel()
    array([0., 1., 2., 3., 4., 5.])
    >>> merged.converged
    True
    """
    n_points = n_points or solved.n_points
    greedy = merge_pairs(solved, n_points)
    if start is None:
        if greedy.n_weak:
            warn_weak(greedy)
        consensus = Rounds(solved, n_points)
        descent = consensus.descend(greedy.coordinates, max_rounds, tolerance)
        points = groups_centered(descent.points, greedy.labels)
    else:
        frame = np.array(start, dtype=np.float64, order="C")
        exact = _merge_exact(solved, frame)
        if exact is not None:
            objective, residuals = agreement(solved, exact)
            return greedy._replace(
                coordinates=exact, residuals=residuals, n_weak=0, objective=objective
            )
        # The start joins in where blocks leave something open.
        is_open = greedy.n_weak or greedy.labels.any()
        consensus = Rounds(solved, n_points, frame if is_open else None)
        merged = place_groups(greedy.coordinates, greedy.labels, frame)
        trials = [consensus.descend(points, _TRIAL_ROUNDS, tolerance) for points in (frame, merged)]
        from_greedy = trials[1].value < _CLEARLY_LOWER * trials[0].value
        descent = consensus.descend(trials[from_greedy].points, max_rounds, tolerance)
        weight = weight_for(solved, agreement(solved, descent.points)[0], frame)
        if not from_greedy and weight > max(consensus.anchor_weight, _ANCHOR_WEIGHT):
            consensus = Rounds(solved, n_points, frame, weight)
            descent = consensus.descend(descent.points, max_rounds, tolerance)
        # Blocks do not mind where all of it lies: bring it back to where the start was.
        points = place_groups(descent.points, np.zeros(n_points, dtype=np.int64), frame)
    objective, residuals = agreement(solved, points)
    return greedy._replace(
        coordinates=points,
        residuals=residuals,
        start_weight=consensus.anchor_weight,
        n_weak=0 if start is not None else greedy.n_weak,
        objective=objective,
        n_rounds=descent.n_rounds,
        converged=descent.converged,
    )


def _merge_exact(solved: SolvedBlocks, frame: Floats) -> Floats | None:
    """Merge blocks that are seen to agree to rounding, bodies first; None where they are not.

    A start of small weight, which holds together what blocks leave open, would bend what they fix.
    Blocks that share at most M points pairwise say nothing of noise. They are exact if they know as
    many distances as there are coordinates, and agree with where all are placed.

    Parameters
    ----------
    solved : SolvedBlocks
        Blocks with their own coordinates.
    frame : (n, M) ndarray of float64
        Where open bodies, and points in no block, are put.

    Returns
    -------
    (n, M) ndarray of float64 or None
        Coordinates in the frame.
    """
    if not solved.blocks.n_blocks:
        return None
    exact, freedom = float(frame.var(axis=0).sum()) * _EXACT, 0.0
    larger: SolvedBlocks | None = solved
    while larger is not None:
        bodies = larger
        joined = join_blocks(bodies, exact)
        freedom += joined.freedom
        if joined.misfit > exact * joined.freedom:
            return None
        are_joined = len(np.unique(joined.labels)) < bodies.blocks.n_blocks
        larger = _merged(bodies, joined.labels) if are_joined else _with_located(bodies)
    if freedom == 0.0 and not _are_determined(solved):
        return None
    placed = _placed(bodies, frame)
    return placed if freedom > 0.0 or agreement(solved, placed)[0] <= exact else None


def _are_determined(solved: SolvedBlocks) -> bool:
    """Whether blocks know as many distances as their points have coordinates, but for motions."""
    holds, width = incidence(solved.blocks, solved.n_points), solved.coordinates.shape[1]
    pairs = sp.csr_array(holds.T @ holds)
    pieces = np.bincount(connected_components(pairs, directed=False)[1])
    spanning = np.minimum(pieces, width + 1)
    # Points beyond the first M + 1 have M coordinates each, those the distances to one another.
    needed = spanning * (spanning - 1) // 2 + (pieces - spanning) * width
    n_points = np.unique(solved.blocks.members).size
    return bool((pairs.nnz - n_points) // 2 >= needed.sum())


def _merged(solved: SolvedBlocks, labels: Integers) -> SolvedBlocks:
    """One block of all blocks with one label, in coordinates of its own."""
    members: list[list[int]] = []
    places: list[Floats] = []
    starts = np.cumsum(np.unique(labels, return_counts=True)[1])[:-1]
    for group in np.split(np.argsort(labels, kind="stable"), starts):
        part = solved.take(group)
        inside, own = np.unique(part.blocks.members, return_inverse=True)
        part = part._replace(blocks=Blocks(part.blocks.indptr, own.astype(np.int32)))
        members.append(inside.tolist())
        places.append(merge_pairs(part, inside.size).coordinates)
    return solved_blocks(members, places)


def _with_located(bodies: SolvedBlocks) -> SolvedBlocks | None:
    """Give the largest body the points whose distances to enough of its points are known."""
    members: list[Any] = list(arrays(bodies.blocks))
    places = np.split(bodies.coordinates, bodies.blocks.indptr[1:-1])
    largest = int(bodies.blocks.sizes.argmax())
    place = dict(zip(members[largest].tolist(), places[largest], strict=True))
    ground = np.zeros(bodies.n_points, dtype=np.bool_)
    ground[members[largest]] = True
    known: dict[int, dict[int, float]] = {}
    for body, (at, own) in enumerate(zip(members, places, strict=True)):
        inside = ground[at]
        if body == largest or not inside.any():
            continue
        for point, here in zip(at[~inside].tolist(), own[~inside], strict=True):
            gaps = np.linalg.norm(own[inside] - here, axis=1)
            known.setdefault(point, {}).update(zip(at[inside].tolist(), gaps, strict=True))
    located = {}
    for point, lengths in known.items():
        anchors = np.array([place[anchor] for anchor in lengths])
        if spans(anchors - anchors.mean(axis=0)):
            located[point] = _lateration(anchors, np.array(list(lengths.values())))
    if not located:
        return None
    members[largest] = [*place, *located]
    places[largest] = np.array([*place.values(), *located.values()])
    return solved_blocks(members, places)


def _lateration(anchors: Floats, lengths: Floats) -> Floats:
    """Place of a point from its distances to points that span the space, by linear equations."""
    center = anchors.mean(axis=0)
    own = anchors - center
    squares = (own**2).sum(axis=1) - lengths**2
    shift = np.linalg.lstsq(2.0 * own, squares - squares.mean(), rcond=None)[0]
    for _ in range(3):
        gaps = shift - own
        sizes = np.linalg.norm(gaps, axis=1)
        directions = gaps / np.maximum(sizes, TINY)[:, None]
        shift = shift + np.linalg.lstsq(directions, lengths - sizes, rcond=None)[0]
    return center + shift


def _placed(bodies: SolvedBlocks, frame: Floats) -> Floats:
    """Coordinates of points of bodies that are brought together as far as they let themselves be.

    A point lies where the largest of its bodies has it, so that what is left of wrong mirror images
    never bends a body.
    """
    starts, members = bodies.blocks.indptr, bodies.blocks.members
    points, placed = frame, frame.copy()
    if bodies.blocks.n_blocks > 1:
        most = int(_WORK / (bodies.blocks.n_blocks * float(frame.shape[1]) ** 3))
        rounds = Rounds(bodies, len(frame))
        points = rounds.descend(rounds.fit(frame)[1], max(most, 1), COMPUTED).points
    places = place_blocks(bodies.blocks, bodies.coordinates, bodies.weights, points)[0]
    for body in np.argsort(bodies.blocks.sizes, kind="stable"):
        part = slice(starts[body], starts[body + 1])
        placed[members[part]] = places[part]
    return placed
