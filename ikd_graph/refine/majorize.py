r"""Stress refine: the distances that the covariances ask for, each as precisely as it is known.

A correlation r from N observed dimensions has variance (1 - r^2)^2 / N, so that the squared
distance d = f^-1(r) has variance (1 - r^2)^2 / (N f'(d)^2) and the distance sqrt(d) a precision of

    w = 4 d N f'(d)^2 / (1 - r^2)^2,

which is the paper's Eq. 11 made exact. Weighted SMACOF minimises sum w (|z_i - z_j| - sqrt(d))^2:
each step goes nearly twice as far as the minimum of a quadratic that lies above the stress and
touches it. There the quadratic is still no higher than at the start, so the stress never rises, and
half as many steps come as far as those to the minimum. Where weights are alike, steps that learn
the curvature on their way (L-BFGS) come as far in half as many again.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_factor, cho_solve

from .. import _doors as door
from .. import _limits
from .._records import CsrGraph, check_graph
from .._validation import check_choice, check_finite, check_integer, check_positive, check_type
from ..kernels import StationaryKernel, get
from ._anchors import Views, lift, stages_of_views, views_of
from ._pairs import WEIGHTS, Pairs, Rule, Table, Weights, pairs_of, stages

Floats = NDArray[np.float64]

_CG_STEPS = 3  # a factor ends in the same stress, within 1 %
_STRIDE = 1.9  # up to 2 the stress cannot rise, at 2 it need not fall
_TOLERANCE = 1e-6  # share of the stress that a last step takes off
# The same of L-BFGS. Against sixty steps of majorisation, 24 fits it was chosen on and 24 others
# changed in 5-NN accuracy by .001 (error .002) and .000 (.002), in R2 by .000.
_LBFGS_TOLERANCE = 3e-4
# The same of edges and anchors. Chosen on 70 000 images, with the weights of the last problem (see
# `_anchors`); confirmed on a roll of 20 000 points, R2 .9949 -> .9950, a cloud of 40 000 in five
# dimensions, .9740 -> .9740, and the three coordinates of a mammoth of 10 000, .526 -> .533.
_VIEWS_TOLERANCE = 3e-4
# The same of problems that only lead to the next one, of L-BFGS and of majorisation, whose steps
# are shorter. After 1e-2 small tables were as good, and groups of 1800 digits lay less well.
_LEADING_TOLERANCE, _LEADING_SHORT = 1e-3, 1e-4
_SEEN = 6  # differences that tell the curvature


class _Difference(NamedTuple):
    """Between two points that a descent came by."""

    moved: Floats  # (n, m)
    turned: Floats  # (n, m), of half the gradient


class StressFit(NamedTuple):
    """A latent of less stress and the way there."""

    latent: Floats  # (n, m), centred where the start was
    history: Floats  # stress before every step and after the last, never rising; see `Weights`
    n_iter: int  # of all problems, where several are solved in turn; the history is of the last
    converged: bool


@door.takes(latent=door.table, n_observed=door.count, also=door.tables)
def stress(
    latent: ArrayLike,
    g: CsrGraph,
    kernel: str | StationaryKernel,
    n_observed: int = 1,
    *,
    weights: str | Weights = "precision",
    path: str = "distance",
    also: Sequence[ArrayLike] = (),
    max_iter: int = 60,
) -> StressFit:
    """Move a latent to the distances that the covariances of a graph ask for.

    Parameters
    ----------
    latent : (n, m) array_like of float64
        Start, in the units of the kernel.
    g : CsrGraph
        Connected graph of correlations. Pairs without an edge aim at their geodesic distance.
    kernel : str or StationaryKernel
        Kernel that turns correlations into distances.
    n_observed : int
        Number N of observed dimensions. It scales all precisions alike and leaves the latent.
    weights : {"precision", "path", "uniform", "component"} or Weights
        How much every pair counts, see `Weights`; a name is the rule alone.
    path : {"distance", "covariance"}
        Geodesics that pairs without an edge aim at: smallest sums of distances, or largest
        products of covariances.
    also : sequence of (n, m) array_like of float64
        Other starts. The latent that ends with the least stress is taken.
    max_iter : int
        Largest number of steps from each start.

    Returns
    -------
    StressFit
        The latent and the stress of every step.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import graph, kernels, refine
    >>> z = np.linspace(0.0, 3.0, 10)[:, None]
    >>> kernel = kernels.SquaredExponential()
    >>> g = graph.threshold_graph(kernel.covariance((z - z.T) ** 2), 0.5)
    >>> fit = refine.stress(z + 0.1 * np.sin(9.0 * z), g, kernel)
    >>> bool(fit.history[-1] < 1e-3 * fit.history[0])
    True
    """
    check_graph("g", g)
    check_choice("path", path, ("distance", "covariance"))
    check_integer("max_iter", max_iter, 0)
    starts = [_start(start, g.n_nodes) for start in (latent, *also)]
    checked = _checked(Weights(weights) if isinstance(weights, str) else weights, starts[0])
    rule = Rule(get(kernel), n_observed, checked, path)
    if checked.rule == "precision" or g.n_nodes <= _limits.STRESS_FAR:
        pairs = pairs_of(g, rule)
        solve = _Solver(pairs, uneven=checked.rule == "precision")
        return _in_turn(stages(pairs, checked), solve, starts, max_iter)
    return _from_anchors(views_of(g, rule), checked, starts, max_iter)


def _start(latent: ArrayLike, n: int) -> Floats:
    """A copy of a start, (n, m), in rows."""
    points = np.array(latent, dtype=np.float64, order="C")
    if points.ndim != 2 or len(points) != n:
        raise ValueError(
            f"latent must have one row per node of the graph, got shape {points.shape} for "
            f"{n} nodes; fit both to the same points"
        )
    check_finite("latent", points)
    return points


def _in_turn(
    problems: Iterable[Pairs | Table | Views],
    solve: _Solver | None,
    starts: list[Floats],
    max_iter: int,
) -> StressFit:
    """Steps through problems that differ in targets and prices; in weights without ``solve``."""
    steps, given = 0, solve
    for problem in problems:
        solve = given or _Solver(problem)
        found = [_descend(problem, solve, points, max_iter) for points in starts]
        best = min(found, key=lambda fit: float(fit.history[-1]))
        starts = [fit.latent for fit in found]
        steps += best.n_iter
    return best._replace(n_iter=steps)


def _from_anchors(views: Views, weights: Weights, starts: list[Floats], max_iter: int) -> StressFit:
    """Anchors among themselves first, then all points."""
    table, some = views.coarse(), views.anchors
    rows = weights.rows
    among = None if rows is None else lambda points: rows(some[points])[:, some]
    solve, lifted = _Solver(table), []
    for points in starts:
        # Not the last problem: anchors have next to no edges among them to hold them together.
        first = itertools.islice(
            stages(table, weights._replace(rows=among)), 1 if rows is None else 2
        )
        placed = _in_turn(first, solve, [points[some]], max_iter).latent
        lifted.append(lift(points, some, placed))
    return _in_turn(stages_of_views(views, weights), None, lifted, max_iter)


def _checked(weights: Weights, latent: Floats) -> Weights:
    """Weights that fit the points, as arrays."""
    check_type("weights", weights, Weights, "or give the name of its rule")
    check_choice("weights", weights.rule, WEIGHTS)
    check_positive("faint", weights.faint)
    check_positive("slack", weights.slack, 1.0)
    known_at, labels = weights.known_at, weights.labels
    if known_at is not None:
        known_at = np.asarray(known_at, dtype=np.float64)
        if known_at.shape != latent.shape:
            raise ValueError(
                f"known_at must have the shape of latent, {latent.shape}, got {known_at.shape}; "
                "it is another latent of the same points"
            )
    if labels is not None:
        labels = np.asarray(labels, dtype=np.int64)
    if weights.rule == "component" and (labels is None or labels.shape != (len(latent),)):
        found = None if labels is None else labels.shape
        raise ValueError(
            f"labels must have shape {(len(latent),)} for weights='component', got {found}; "
            "graph.component_labels of the graph before it was joined has them"
        )
    squares = weights.squares
    if squares is not None:
        squares = door.square("squares", squares).astype(np.float64, copy=False)
        if len(squares) != len(latent):
            raise ValueError(
                f"squares must be of the {len(latent)} points of latent, got shape "
                f"{squares.shape}; leave them out to have the paths searched"
            )
    return weights._replace(known_at=known_at, labels=labels, squares=squares)


def _descend(
    pairs: Pairs | Table | Views, solve: _Solver, points: Floats, max_iter: int
) -> StressFit:
    """Steps from one start."""
    if isinstance(pairs, Table):
        return _curve(pairs, solve, points, max_iter)
    centre = points.mean(axis=0)
    points = points - centre
    force, by_row = np.empty_like(points), np.empty(len(points))
    before = points
    history: list[float] = []
    tolerance = max(solve.tolerance, _LEADING_SHORT if pairs.leads else 0.0)
    converged = False
    while True:
        pairs.majorise(points, force, by_row)
        history.append(0.5 * float(by_row.sum()))
        if len(history) > 1 and history[-2] - history[-1] <= tolerance * history[-2]:
            converged = True
            # Rounding may raise the last bits of a stress that has nowhere to go.
            if history[-1] > history[-2]:
                history[-1], points = history[-2], before
            break
        if len(history) > max_iter:
            break
        before, points = points, points + _STRIDE * (solve(force, points) - points)
    return StressFit(points + centre, np.array(history), len(history) - 1, converged)


def _curve(table: Table, solve: _Solver, points: Floats, max_iter: int) -> StressFit:
    """Steps from one start among all pairs.

    With weights alike the steps are those of L-BFGS, whose first curvature is that of the quadratic
    above the stress; one that would raise the stress is replaced by a step of majorisation, and the
    differences before it are forgotten. With uneven weights every step is of majorisation: it moves
    little what little is known of, and ends nearer to the truth than where the stress is least.
    """
    centre = points.mean(axis=0)
    points = points - centre
    stress, slope = table.slope(points)
    history, seen = [stress], deque[_Difference](maxlen=solve.remembers)
    tolerance = max(solve.tolerance, _LEADING_TOLERANCE if table.leads else 0.0)
    converged = False
    while not converged and len(history) <= max_iter:
        there = points - _newton(slope, seen, solve)
        fresh, turned = table.slope(there)
        if fresh > stress:
            # Also where rounding raises the last bits of a stress that has nowhere to go.
            converged = not seen
            seen.clear()
            continue
        change = _Difference(there - points, turned - slope)
        if np.vdot(*change) > 0.0:
            seen.append(change)
        converged = stress - fresh <= tolerance * stress
        points, stress, slope = there, fresh, turned
        history.append(stress)
    return StressFit(points + centre, np.array(history), len(history) - 1, converged)


def _newton(slope: Floats, seen: Iterable[_Difference], solve: _Solver) -> Floats:
    """The step that the last differences ask for (Nocedal, Math. Comp. 35, 1980)."""
    left, shares = slope.copy(), []
    known = [(change, 1.0 / np.vdot(*change)) for change in seen]
    for change, scale in reversed(known):
        shares.append(scale * np.vdot(change.moved, left))
        left -= shares[-1] * change.turned
    step = solve.scaled(left) * (1.0 if known else solve.stride)
    for (change, scale), share in zip(known, reversed(shares), strict=True):
        step += (share - scale * np.vdot(change.turned, step)) * change.moved
    return step


class _Solver:
    """V Z = force for the weighted Laplacian V: factorised where small, else improved from Z.

    Conjugate gradients that start at Z lower the quadratic above the stress with every step, so
    that the stress cannot rise however early they end. A table whose weights are not ``uneven`` is
    left to its diagonal: as many steps come as far.
    """

    stride = _STRIDE
    """How much of a solution is a step that cannot rise."""
    remembers = 0
    """Differences that tell the curvature."""
    tolerance = _TOLERANCE
    """Share of the stress that a last step takes off."""

    def __init__(self, pairs: Pairs | Table | Views, *, uneven: bool = False) -> None:
        self._factor, self._near = None, None
        if isinstance(pairs, Table):
            n = len(pairs.weights)
            degree = pairs.weights.sum(axis=1, dtype=np.float64)
            self._degree = np.where(degree > 0.0, degree, 1.0)
            if not uneven:
                # V lies below twice its diagonal.
                self.stride, self.remembers, self.tolerance = 0.5 * _STRIDE, _SEEN, _LBFGS_TOLERANCE
            else:
                # The constant vector spans the null space; V + c 1 1^T is regular, the rest the
                # same.
                dense = degree.mean() / n - pairs.weights.astype(np.float64)
                dense.flat[:: n + 1] += degree
                self._factor = cho_factor(dense, lower=True, overwrite_a=True, check_finite=False)
            return
        if isinstance(pairs, Views):
            self._near, self.tolerance = pairs.edges.links(), _VIEWS_TOLERANCE
            far = pairs.weights.sum(axis=1, dtype=np.float64)
            degree = far + np.asarray(self._near.sum(axis=1)).ravel()
            self._degree = np.where(degree > 0.0, degree, 1.0)
            return
        links = pairs.links()
        degree = np.asarray(links.sum(axis=1)).ravel()
        self._degree = np.where(degree > 0.0, degree, 1.0)
        self._laplacian = sp.csr_array(sp.diags_array(degree) - links)

    def __call__(self, force: Floats, points: Floats) -> Floats:
        """Take some steps towards the solution."""
        if self._near is not None:
            # Every point at the minimum of its quadratic, the others where they are; what anchors
            # weigh there is in the force.
            return np.asarray((force + self._near @ points) / self._degree[:, None])
        moved = points.copy()
        residual = force - self._laplacian @ moved
        scaled = residual / self._degree[:, None]
        direction = scaled.copy()
        energy = (residual * scaled).sum(axis=0)
        for _ in range(_CG_STEPS):
            if not (energy > 0.0).any():
                break
            image = self._laplacian @ direction
            curvature = (direction * image).sum(axis=0)
            step = np.divide(energy, curvature, out=np.zeros_like(energy), where=curvature > 0.0)
            moved += step * direction
            residual -= step * image
            scaled = residual / self._degree[:, None]
            fresh = (residual * scaled).sum(axis=0)
            ratio = np.divide(fresh, energy, out=np.zeros_like(energy), where=energy > 0.0)
            direction = scaled + ratio * direction
            energy = fresh
        return moved

    def scaled(self, slope: Floats) -> Floats:
        """Solution for a table, or for the diagonal of its V."""
        if self._factor is None:
            return slope / self._degree[:, None]
        return np.ascontiguousarray(cho_solve(self._factor, slope, check_finite=False))
