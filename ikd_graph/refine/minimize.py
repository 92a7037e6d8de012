"""Two minimisers of the likelihood's objective: L-BFGS, and the same from Fisher's information.

Both keep the variances within their bounds, and neither moves a point farther than a length-scale
in one step: a point that leaps out of the reach of all others feels no force, and never returns.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs

from .objective import LEAST_NOISE, Candidate, Objective, TimeUp

Floats = NDArray[np.float64]
Evaluate = Callable[[Floats], tuple[float, Floats]]
Pairs = list[tuple[Floats, Floats, float]]

SCORING_LIMIT = 1200
"""Latent coordinates up to which the expected information is factorised: that takes .06 s there on
one core, and a dozen steps from it do what L-BFGS does in hundreds."""

_REACH = 1.0  # length-scales that a point moves in one step, at most
_MEMORY = 20
_DECREASE = 1e-4  # share of the foreseen decrease that a step must reach (Armijo)
_HALVINGS = 12
_DAMPING, _MOST_DAMPING = 1e-2, 1e3
# Steps from one information that may gain more than those before them. Of 63 fresh latents without
# noise, where that matters, 33 ended likelier than without this rule, 16 less likely.
_FIRST = 5
_LEAST_INFORMATION = 1e-12


def polish(
    objective: Objective,
    start: Candidate,
    steps: int,
    floor: float = LEAST_NOISE,
    tolerance: float = 1e-11,
) -> Candidate:
    """At most ``steps`` steps of L-BFGS down from a candidate, never up.

    Parameters
    ----------
    objective : Objective
        What to minimise.
    start : Candidate
        Where to start; its noise is raised to the floor.
    steps : int
        Most steps.
    floor : float
        Least noise.
    tolerance : float
        Stop where a step takes off less than this share of the value.

    Returns
    -------
    Candidate
        The lowest point met.
    """
    bounds = _bounds_of(objective, floor)
    begin = objective.raised(start.vector, floor)
    best = Candidate(np.inf, begin, start.name)

    def follow(vector: Floats) -> tuple[float, Floats]:
        nonlocal best
        value, gradient = objective(vector)
        if value < best.value:
            best = Candidate(value, vector, start.name)
        return value, gradient

    try:
        lbfgs(follow, begin, bounds, lambda step: _limit(objective, step), steps, tolerance)
    except TimeUp:
        if best.value == np.inf:
            return start
    return best


def lbfgs(
    evaluate: Evaluate,
    start: Floats,
    bounds: Floats,
    limit: Callable[[Floats], float],
    steps: int,
    tolerance: float,
) -> Floats:
    """Limited-memory BFGS with projected bounds and a step limit.

    Parameters
    ----------
    evaluate : callable
        Value and gradient of a vector; the value may be infinite.
    start : (k,) float64
        Where to start, within the bounds.
    bounds : (2, k) float64
        Lower and upper bounds, infinite where there are none.
    limit : callable
        Largest share of a step that may be taken.
    steps : int
        Most steps.
    tolerance : float
        Stop where a step takes off less than this share of the value.

    Returns
    -------
    (k,) ndarray of float64
        The last vector.
    """
    at = start
    value, gradient = evaluate(at)
    pairs: Pairs = []
    for _ in range(steps):
        if not np.isfinite(value):
            break
        held = _held(at, gradient, bounds)
        slope = np.where(held, 0.0, gradient)
        direction = np.where(held, 0.0, -_times_inverse(pairs, slope))
        size = 1.0 if pairs else 1.0 / max(float(np.linalg.norm(slope)), 1.0)
        size = min(size, limit(direction))
        moved = _line_search(evaluate, at, value, slope, direction, size, bounds)
        if moved is None:
            if not pairs:
                break
            pairs.clear()  # the curvature remembered was wrong: once more, straight down
            continue
        fresh_at, fresh, fresh_gradient = moved
        _remember(pairs, fresh_at - at, fresh_gradient - gradient)
        gain = value - fresh
        at, value, gradient = fresh_at, fresh, fresh_gradient
        if gain <= tolerance * max(abs(value), 1.0):
            break
    return at


def _bounds_of(objective: Objective, floor: float) -> Floats:
    """Bounds of a whole vector, (2, k), infinite for the latent."""
    free = np.full(objective.size, np.inf)
    low, high = objective.bounds(floor)
    return np.stack([np.append(-free, low), np.append(free, high)])


def _held(at: Floats, gradient: Floats, bounds: Floats) -> NDArray[np.bool_]:
    """Where a vector is at a bound and would leave it."""
    return ((at <= bounds[0]) & (gradient > 0.0)) | ((at >= bounds[1]) & (gradient < 0.0))


def _remember(pairs: Pairs, step: Floats, change: Floats) -> None:
    """Keep a step and how the gradient changed along it, if that tells of a curvature."""
    curvature = float(step @ change)
    if curvature > 1e-10 * float(change @ change):
        pairs.append((step, change, 1.0 / curvature))
        del pairs[:-_MEMORY]


def _times_inverse(
    pairs: Pairs, vector: Floats, solve: Callable[[Floats], Floats] | None = None
) -> Floats:
    """Inverse Hessian, as remembered, times a vector; ``solve`` is that of the first Hessian."""
    out, shares = vector.copy(), []
    for step, change, weight in reversed(pairs):
        share = weight * float(step @ out)
        out -= share * change
        shares.append(share)
    if solve is not None:
        out = solve(out)
    elif pairs:
        _, change, weight = pairs[-1]
        out /= weight * float(change @ change)
    for (step, change, weight), share in zip(pairs, reversed(shares), strict=True):
        out += (share - weight * float(change @ out)) * step
    return out


def _line_search(
    evaluate: Evaluate,
    at: Floats,
    value: float,
    slope: Floats,
    direction: Floats,
    size: float,
    bounds: Floats,
) -> tuple[Floats, float, Floats] | None:
    """The first of shorter and shorter steps that goes down enough; None if there is none."""
    foreseen = float(slope @ direction)
    if foreseen >= 0.0:
        return None
    for _ in range(_HALVINGS):
        fresh_at = np.clip(at + size * direction, *bounds)
        fresh, gradient = evaluate(fresh_at)
        if fresh <= value + _DECREASE * size * foreseen:
            return fresh_at, fresh, gradient
        if np.isfinite(fresh):
            # The minimum of the parabola through both values and the slope at the first.
            lowest = -0.5 * foreseen * size**2 / (fresh - value - foreseen * size)
            size = min(max(lowest, 0.1 * size), 0.5 * size)
        else:
            size *= 0.1
    return None


def _limit(objective: Objective, step: Floats) -> float:
    """Share of a step in which no point moves farther than it may."""
    farthest = float(np.sqrt((objective.latent(step) ** 2).sum(axis=1).max()))
    tail = float(np.abs(step[objective.size :]).max())
    most = max(farthest / (_REACH * objective.kernel.length_scale), tail / 2.0)
    return 1.0 / most if most > 0.0 else np.inf


def scores(objective: Objective) -> bool:
    """Whether its information can be used: all points at once, few enough, no free shape."""
    whole = objective.blocks is None and objective.shape is None
    return whole and objective.size <= SCORING_LIMIT


def converge(
    objective: Objective, start: Candidate, steps: int, tolerance: float = 1e-8
) -> Candidate:
    """To the local optimum: from Fisher's information, or by L-BFGS where that is too large.

    Parameters
    ----------
    objective : Objective
        Likelihood, full or over blocks.
    start : Candidate
        Where to start.
    steps : int
        Most steps; a third more of L-BFGS alone.
    tolerance : float
        Stop where a step takes off less than this share of the value.

    Returns
    -------
    Candidate
        The local optimum.
    """
    if scores(objective):
        return score(objective, start, steps, tolerance)
    return polish(objective, start, 4 * steps // 3, tolerance=0.1 * tolerance)


def score(objective: Objective, start: Candidate, steps: int, tolerance: float = 1e-9) -> Candidate:
    """At most ``steps`` steps down from a candidate, never up, that begin as Fisher scoring.

    The expected information, damped after Levenberg, is the first curvature of L-BFGS. It is
    computed anew when the memory of that is full, and when a step gains more than the one before
    it: far from an optimum the damping is what keeps steps short. (A new one for every step took
    three times the time over 165 descents of 100 to 400 points in ten searches; none ended lower.)

    Parameters
    ----------
    objective : Objective
        Likelihood of all points at once.
    start : Candidate
        Where to start; its noise is held within bounds.
    steps : int
        Most steps.
    tolerance : float
        Share of the value that a last step takes off.

    Returns
    -------
    Candidate
        The lowest point met.
    """
    best = start._replace(vector=objective.raised(start.vector, LEAST_NOISE))
    bounds = _bounds_of(objective, LEAST_NOISE)
    metric: _Metric | None = None
    pairs: Pairs = []
    damping, last = _DAMPING, np.inf
    try:
        value, gradient = objective(best.vector)
        best = best._replace(value=value)
        for _ in range(steps if np.isfinite(value) else 0):
            held = _held(best.vector, gradient, bounds)
            if metric is None or len(pairs) == _MEMORY or (held != metric.held).any():
                metric, pairs = _Metric(objective, best.vector, held, damping), []
                damping = metric.damping
            if metric.failed:
                break
            slope = np.where(held, 0.0, gradient)
            direction = np.where(held, 0.0, -_times_inverse(pairs, slope, metric.solve))
            size = min(1.0, _limit(objective, direction))
            at = best.vector
            moved = _line_search(objective, at, best.value, slope, direction, size, bounds)
            if moved is None:
                damping *= 1.0 if pairs else 4.0
                if damping > _MOST_DAMPING:
                    break
                metric = None
                continue
            vector, value, fresh = moved
            gain, step, change = best.value - value, vector - at, fresh - gradient
            best, gradient = Candidate(value, vector, start.name), fresh
            if not pairs:
                damping *= metric.trust(gain, slope, step)
            # A small gain ends the descent only where the curvature is of this place.
            if gain < tolerance * abs(value) and not pairs:
                break
            known = len(pairs)
            _remember(pairs, step, change)
            grows = known >= _FIRST and gain > last
            if gain < tolerance * abs(value) or grows or len(pairs) == known:
                metric = None
            last = gain
    except TimeUp:
        pass
    return best


class _Metric:
    """Damped information at a vector, factorised; what is held at a bound has none."""

    def __init__(
        self, objective: Objective, at: Floats, held: NDArray[np.bool_], damping: float
    ) -> None:
        known = objective.information(at)
        known[held], known[:, held] = 0.0, 0.0
        known[held, held] = 1.0
        scale = np.maximum(np.diagonal(known), _LEAST_INFORMATION)
        # Where it takes more to be factorised, the next begins there.
        self.held, self.failed, self.damping = held, 1, damping
        while self.failed and damping <= _MOST_DAMPING:
            self.damping = damping
            damped = known.copy()
            damped.flat[:: len(damped) + 1] += damping * scale
            self._factor, self.failed = dpotrf(damped.T, lower=1, overwrite_a=1)
            damping = 4.0 * damping

    def solve(self, vector: Floats) -> Floats:
        """Inverse times a vector."""
        return np.asarray(dpotrs(self._factor, vector, lower=1)[0])

    def trust(self, gain: float, slope: Floats, step: Floats) -> float:
        """Factor of the next damping, by how much of the foreseen gain of a step came true."""
        foreseen = -float(slope @ step) - 0.5 * float(np.sum((self._factor.T @ step) ** 2))
        share = gain / foreseen if foreseen > 0.0 else 0.5
        return 0.2 if share > 0.75 else 2.0 if share < 0.25 else 1.0
