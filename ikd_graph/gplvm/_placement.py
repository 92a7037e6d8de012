r"""Maximum-likelihood points of new rows, given the training rows and their points.

At a point x a Gaussian process with signal variance v and noise n predicts

    m(x) = k^T A^-1 Y,  s(x) = v + n - k^T A^-1 k,  A = v K + n I,  k_i = v f(\|x - z_i\|²),

so that a row y of N values has the log density -N/2 log s(x) - \|y - m(x)\|² / (2 s(x)). A row may
have more noise than the training rows had, and their points are not exact: of all variances t from
s(x) up the most likely is t = max(s(x), \|y - m(x)\|² / N), which leaves the cost

    c(x) = N/2 log t + \|y - m(x)\|² / (2 t).

With s(x) alone and next to no noise, a point so far away that s(x) covers all of y would be
more likely than a good one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from sklearn.utils import gen_batches

from .. import _jit
from .._base.types import Floats
from ..kernels import StationaryKernel, compiled_form

_MOST_STEPS = 40
_SMALLEST_GAIN = 1e-7  # of a log density
_LEAST_EXPECTED = 1e-12  # gain of a log density below which rounding decides
_DAMPING = 1e-2
_BATCH = 64  # rows side by side: their covariances with 1 000 training rows stay in the cache


class Conditioned(NamedTuple):
    """A Gaussian process given its training rows, in plain arrays."""

    points: Floats  # (n, m)
    rows: Floats  # (n, r) training rows, in coordinates of the space that they span
    n_observed: int  # N
    inverse: Floats  # (n, n) A^-1
    weights: Floats  # (n, r) A^-1 Y
    kernel: StationaryKernel
    variance: float
    noise: float


class ObservedRows(NamedTuple):
    """New rows relative to the training rows; a single one has no first axis."""

    rows: Floats  # (b, r) in the space that the training rows span
    outside: Floats  # (b,) squared length of what lies outside of it
    sq_dist: Floats  # (b, n) squared distances to the training rows

    def row(self, index: int) -> ObservedRows:
        """One of the rows."""
        return ObservedRows(self.rows[index], self.outside[index], self.sq_dist[index])


class _Costs(NamedTuple):
    cost: Floats  # (t,)
    slope: Floats  # (t, m)
    curvature: Floats  # (t, m, m) expected
    away: Floats  # (t,) squared distances to the nearest training points


def place(process: Conditioned, observed: ObservedRows, init: Floats) -> tuple[Floats, Floats]:
    """Points of the least cost c(x) near ``init``, (b, m), and that cost, (b,)."""
    points, cost = np.empty(init.shape), np.empty(len(init))
    fitted = process.rows - process.noise * process.weights
    for batch in gen_batches(len(init), _BATCH):
        rows, outside = observed.rows[batch], observed.outside[batch]
        tried = np.concatenate([init[batch], _best_points(process, fitted, rows, outside)])
        ends, at = _descend(process, np.tile(rows, (2, 1)), np.tile(outside, 2), tried)
        second = at[len(rows) :] < at[: len(rows)]
        points[batch] = np.where(second[:, None], ends[len(rows) :], ends[: len(rows)])
        cost[batch] = np.where(second, at[len(rows) :], at[: len(rows)])
    return points, cost


def _best_points(process: Conditioned, fitted: Floats, rows: Floats, outside: Floats) -> Floats:
    """Training points, (b, m), at which rows have the largest likelihood.

    There v K A^-1 = I - n A^-1 gives m, which is ``fitted`` (n, r), and s.
    """
    noise, n_observed = process.noise, process.n_observed
    squares = sq_distances(rows, fitted) + outside[:, None]
    spread = noise * (2.0 - noise * process.inverse.diagonal())
    total = np.maximum(spread, squares / n_observed)
    cost = n_observed * np.log(total) + squares / total
    return np.asarray(process.points[np.argmin(cost, axis=1)])


def _descend(
    process: Conditioned, rows: Floats, outside: Floats, starts: Floats
) -> tuple[Floats, Floats]:
    """Local minima of the cost, (t, m) and (t,), by damped scoring side by side."""
    here, at = starts.copy(), evaluate(process, rows, outside, starts)
    damping = np.full(len(starts), _DAMPING)
    reach = np.maximum(process.kernel.length_scale**2, at.away)
    open_ = np.arange(len(starts))
    for _ in range(_MOST_STEPS):
        step, expected = _steps(process, at.slope[open_], at.curvature[open_], damping[open_])
        more = expected > _LEAST_EXPECTED
        open_, step = open_[more], step[more]
        if not open_.size:
            break
        new = evaluate(process, rows[open_], outside[open_], here[open_] + step)
        gain = at.cost[open_] - new.cost
        down = (gain > 0.0) & (new.away <= reach[open_])
        moved = open_[down]
        here[moved] += step[down]
        for field, value in zip(at, new, strict=True):
            field[moved] = value[down]
        damping[open_] = np.where(
            down, 0.1 * damping[open_], 10.0 * np.maximum(damping[open_], _DAMPING)
        )
        open_ = open_[~(down & (gain < _SMALLEST_GAIN))]
    return here, at.cost


def _steps(
    process: Conditioned, slope: Floats, curvature: Floats, damping: Floats
) -> tuple[Floats, Floats]:
    """Damped steps of Fisher scoring, at most a length-scale long, and what they may gain."""
    tiny = float(np.finfo(np.float64).tiny)
    metric, size = curvature.copy(), range(slope.shape[1])
    trace = np.einsum("tcc->t", curvature)[:, None]
    metric[:, size, size] *= 1.0 + damping[:, None]
    metric[:, size, size] += 1e-12 * trace + tiny
    step = -np.linalg.solve(metric, slope[:, :, None])[:, :, 0]
    length = np.maximum(np.sqrt((step**2).sum(axis=1)), tiny)
    step *= np.minimum(1.0, process.kernel.length_scale / length)[:, None]
    return np.asarray(step), -(step * slope).sum(axis=1)


def evaluate(process: Conditioned, rows: Floats, outside: Floats, points: Floats) -> _Costs:
    """Costs of rows at points, (t, m), with their slopes and expected curvatures."""
    n_points, m = points.shape
    squares, cov, moves = covariances_at(process, points)
    out = np.empty((n_points, 1 + m + m * m))
    prediction = _jit.placement.Prediction(
        cov,
        moves,
        product(cov, process.inverse),
        product(cov, process.weights),
        product(moves.reshape(n_points * m, -1), process.weights).reshape(n_points, m, -1),
    )
    variances = process.variance + process.noise, process.noise
    _jit.placement.costs(
        np.ascontiguousarray(rows), outside, process.n_observed, variances, prediction, out
    )
    curvature = out[:, 1 + m :].reshape(n_points, m, m)
    return _Costs(out[:, 0].copy(), out[:, 1 : 1 + m].copy(), curvature, squares.min(axis=1))


def covariances_at(process: Conditioned, points: Floats) -> tuple[Floats, Floats, Floats]:
    """Squared distances of points (t, m) to the training points, covariances and their slopes."""
    points = np.ascontiguousarray(points)
    squares = sq_distances(points, process.points)
    cov, change = np.empty(squares.shape), np.empty(squares.shape)
    form = compiled_form(process.kernel)
    if form is not None:
        sq_length = process.kernel.length_scale**2
        _jit.placement.covariances(squares, *form, sq_length, cov, change)
    else:
        for i, row in enumerate(squares):
            cov[i] = process.kernel.covariance(row)
            together = row == 0.0
            # Distance 1 stands in for 0, where the slope of some kernels is infinite, its mean 0.
            change[i] = process.kernel.derivative(np.where(together, 1.0, row))
            change[i, together] = 0.0
    cov *= process.variance
    change *= 2.0 * process.variance
    return squares, cov, change[:, None] * (points[:, :, None] - process.points.T)


def product(left: Floats, right: Floats) -> Floats:
    """Product of two matrices, each row of it the same to the bit whatever the other rows are."""
    out = np.empty((len(left), right.shape[1]))
    _jit.placement.products(np.ascontiguousarray(left), np.ascontiguousarray(right), out)
    return out


def sq_distances(left: Floats, right: Floats) -> Floats:
    """Squared distances, (t, n), between rows of two tables."""
    out = np.empty((len(left), len(right)))
    _jit.placement.sq_distances(left, np.ascontiguousarray(right), out)
    return out
