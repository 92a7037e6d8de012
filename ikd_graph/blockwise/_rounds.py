"""Rounds of rigid fits that bring many blocks to a consensus."""

from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize

from .. import _jit
from .._base import validation as check
from .._base.types import Floats
from .._base.validation import validate
from ..cliques import Blocks
from ._rigid import centered
from ._solved import SolvedBlocks, check_solved

ANCHOR_WEIGHT = 0.002
"""Weight of a start that holds together what blocks leave open, as a fraction of their own weight
(docs/decisions/006-merging-cliques.md, as for the next)."""

_EQUAL_NOISE = 0.03
"""Noise of blocks, as a fraction of the variance of the latent, at which a start counts as much as
all blocks do. Its weight is the square of noise / .03."""


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
        anchor_weight: float = ANCHOR_WEIGHT,
    ) -> None:
        self.blocks, self.coordinates = solved.blocks, solved.coordinates
        self.n_blocks = solved.blocks.n_blocks
        weights = np.sqrt(solved.precision)
        self.weights = weights / weights.sum()
        if anchor is not None:
            everyone = np.arange(n_points, dtype=np.int32)
            self.blocks = Blocks(
                np.append(self.blocks.indptr, self.blocks.members.size + n_points),
                np.append(self.blocks.members, everyone),
            )
            self.coordinates = np.vstack([self.coordinates, anchor])
            self.weights = np.append(self.weights, np.full(n_points, anchor_weight / n_points))
        self.anchor_weight = anchor_weight if anchor is not None else 0.0
        total = np.bincount(self.blocks.members, self.weights, minlength=n_points)
        self.point_weights = total.astype(np.float64, copy=False)
        self.fractions = self.weights / self.point_weights[self.blocks.members]
        self.centered = centered(self.blocks.indptr, self.coordinates, self.weights)
        self.proposals = np.empty_like(self.coordinates)
        self.misfit = np.empty(self.blocks.n_blocks)
        # Sums of squares below this are rounding errors.
        self.floor = 1e-28 * float((self.coordinates**2).max(initial=0.0))

    def fit(self, points: Floats) -> float:
        """Fit every block to the points; the weighted mean square that is left."""
        _jit.alignment.place_blocks(
            self.blocks.indptr,
            self.blocks.members,
            self.centered,
            points,
            self.proposals,
            self.misfit,
        )
        return float(self.misfit.sum())

    def average(self, points: Floats) -> Floats:
        """Weighted mean of the proposals for each point; points in no block stay."""
        mean = points.copy()
        members, in_blocks = self.blocks.members, self.point_weights > 0.0
        for axis, values in enumerate(self.proposals.T):
            sums = np.bincount(members, self.fractions * values, minlength=points.shape[0])
            mean[in_blocks, axis] = sums[in_blocks]
        return mean

    def descend(self, points: Floats, n_rounds: int, tolerance: float) -> Descent:
        """Go down to a local minimum of the sum of squares by L-BFGS.

        Half the gradient in a point is its weight times its distance from the mean of its
        proposals. It ends where two rounds in a row lower the value by less than ``tolerance`` of
        it, or where what remains is rounding.
        """
        roots = np.sqrt(self.point_weights)[:, None]
        start = self.fit(points)
        first_step = roots * (self.average(points) - points)
        # The first step of the search has length 1: then it is the one to the means.
        unit = float(np.linalg.norm(first_step))
        if start <= self.floor or unit == 0.0:
            return Descent(points, start, 0, True)
        inside = self.point_weights > 0.0
        values, small_steps = [start], 0

        def latent(x: Floats) -> Floats:
            moved = points.copy()
            moved[inside] += x.reshape(points.shape)[inside] * unit / roots[inside]
            return moved

        def value_and_gradient(x: Floats) -> tuple[float, Floats]:
            moved = latent(x)
            value = self.fit(moved)
            gradient = 2.0 * roots * (moved - self.average(moved)) / unit
            return value / unit**2, gradient.ravel()

        def stop(intermediate_result: Any) -> None:
            nonlocal small_steps
            values.append(float(intermediate_result.fun) * unit**2)
            small = values[-2] - values[-1] <= tolerance * values[-1]
            small_steps = small_steps + 1 if small else 0
            if small_steps == 2 or values[-1] <= self.floor:
                raise StopIteration

        result = minimize(
            value_and_gradient,
            np.zeros(points.size),
            jac=True,
            method="L-BFGS-B",
            callback=stop,
            options={"maxiter": n_rounds, "maxfun": 100 * n_rounds, "ftol": 0.0, "gtol": 0.0},
        )
        moved = latent(result.x)
        value = self.fit(moved)
        out_of_rounds = result.nit >= n_rounds and small_steps < 2 and value > self.floor
        return Descent(self.average(moved), value, int(result.nit), not out_of_rounds)

    def weight_for(self, objective: float, anchor: Floats) -> float:
        """Weight that an embedding deserves next to blocks that leave some objective.

        Noise is the mean square that blocks are off by, as a fraction of the variance of the
        latent: what they disagree by, but for what was fitted away, a place for each point and a
        motion for each block. Small noise leaves no bend in the latent; where it is large,
        blocks of few points tell less of the shape than paths through many.
        """
        width, entries = anchor.shape[1], int(self.blocks.indptr[self.n_blocks])
        n_covered = np.count_nonzero(np.bincount(self.blocks.members[:entries]))
        fitted = n_covered * width + self.n_blocks * width * (width + 1) // 2
        freedom = 1.0 - fitted / max(entries * width, 1)
        variance = freedom * float(anchor.var(axis=0).sum())
        # Where nothing is fitted twice there is no noise to be seen.
        return (objective / variance / _EQUAL_NOISE) ** 2 if variance > 0.0 else 0.0

    def fit_of(self, points: Floats) -> tuple[float, Floats]:
        """Place the blocks (without the anchor), and say how well they agree with the points.

        Returns the weighted mean square of the distances to the proposals, and for each point the
        root mean square distance to its own, 0 without any.
        """
        self.fit(points)
        entries = int(self.blocks.indptr[self.n_blocks])
        members = self.blocks.members[:entries]
        squares = ((self.proposals[:entries] - points[members]) ** 2).sum(axis=1)
        counts = np.bincount(members, minlength=len(points))
        sums = np.bincount(members, squares, minlength=len(points))
        residuals = np.asarray(np.sqrt(sums / np.maximum(counts, 1)), dtype=np.float64)
        return float(self.misfit[: self.n_blocks].sum()), residuals


def check_places(solved: SolvedBlocks, coordinates: Floats, **_: object) -> None:
    """Raise unless blocks can lie at the places of points."""
    check_solved(solved, len(coordinates))
    if solved.coordinates.shape[1] != coordinates.shape[1]:
        raise ValueError(
            f"coordinates must have the {solved.coordinates.shape[1]} columns of those of the "
            f"blocks, got {coordinates.shape[1]}; merge the same blocks"
        )


@validate(check_places, coordinates=check.table)
def proposals(solved: SolvedBlocks, coordinates: Floats) -> Floats:
    """Where each block would put its points, if it is fitted rigidly to coordinates.

    Parameters
    ----------
    solved : SolvedBlocks
        Blocks with their own coordinates.
    coordinates : (n, M) ndarray of float64
        Positions of the points.

    Returns
    -------
    (total, M) ndarray of float64
        Places of the members of all blocks, row by row with ``solved.blocks.members``.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import blockwise, cliques, graph, kernels
    >>> places = np.arange(4.0)[:, None]
    >>> corr = kernels.SquaredExponential().covariance((places - places.T) ** 2)
    >>> g = graph.threshold(corr, 0.1)
    >>> solved = blockwise.solve(g, [[0, 1, 2], [1, 2, 3]], "squared_exponential", 1)
    >>> blockwise.proposals(solved, places).round(6).ravel() + 0.0
    array([0., 1., 2., 1., 2., 3.])
    """
    rounds = Rounds(solved, len(coordinates))
    rounds.fit(np.ascontiguousarray(coordinates, dtype=np.float64))
    return rounds.proposals


@validate(check_places, coordinates=check.table)
def residuals(solved: SolvedBlocks, coordinates: Floats) -> Floats:
    """How far blocks disagree with the place of each point, each block fitted rigidly.

    Parameters
    ----------
    solved, coordinates : see `proposals`
        Blocks, and the positions of the points.

    Returns
    -------
    (n,) ndarray of float64
        Root mean square distance from each point to where its blocks would put it, 0 without any.

    Examples
    --------
    >>> from ikd_graph import blockwise, cliques, graph, kernels
    >>> import numpy as np
    >>> places = np.arange(6.0)[:, None]
    >>> corr = kernels.SquaredExponential().covariance((places - places.T) ** 2)
    >>> g = graph.threshold(corr, 0.1)
    >>> solved = blockwise.solve(g, cliques.cover(g, 3), "squared_exponential", 1)
    >>> bool(blockwise.residuals(solved, places).max() < 1e-6)
    True
    """
    points = np.ascontiguousarray(coordinates, dtype=np.float64)
    return Rounds(solved, len(points)).fit_of(points)[1]
