"""Descents to a local optimum of the likelihood."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg.lapack import dpotrf, dpotrs

from .. import eigen
from .._base.threads import single_threaded_blas
from .._base.types import Floats
from ..kernels import StationaryKernel
from ._gradient import SampleLikelihood
from ._objective import LEAST_NOISE, Clock, Objective, TimeUp

Pairs = deque[tuple[Floats, Floats, float]]

_FLOORS = np.geomspace(1.0, 1e-6, 10)
"""Noise floors of an annealed descent: from the mean variance down to a millionth of it."""

NESTED_NOISE = 0.01
"""Least noise variance over the variance of the columns: what explains less is no dimension."""

_SOFT = (1.0, 0.3, 0.1)
"""Noise floors, in units of the mean variance, under which coordinates are dropped."""

_MEMORY = 20  # steps that L-BFGS remembers
_DECREASE = 1e-4  # fraction of the expected decrease that a step must reach (Armijo)
_HALVINGS = 12
_SCORED = 1200  # coordinates up to which the expected information is factorized
_DAMPING = 1e-2  # of the information at first


class Optimum(NamedTuple):
    """Where a descent ended."""

    value: float  # negative log likelihood of one column
    vector: Floats  # see `Objective`
    start: str  # name of the start


def anneal(
    objective: Objective, latent: Floats, start: str, floors: ArrayLike | None = None
) -> Optimum:
    """Descend from an embedding, at its best scale, under falling noise floors.

    Parameters
    ----------
    objective : Objective
        What to minimize.
    latent : (n, m) float64
        Where to start.
    start : str
        Its name.
    floors : sequence of float, optional
        Falling noise floors; without them from the mean variance down to the least noise.

    Returns
    -------
    Optimum
        Near a local optimum, of the last floor.
    """
    points = latent - latent.mean(axis=0)
    vector = objective.vector(objective.best_scale(points) * points)
    return cool(objective, Optimum(np.inf, vector, start), floors)


def cool(objective: Objective, at: Optimum, floors: ArrayLike | None = None) -> Optimum:
    """Descend under falling noise floors.

    Parameters
    ----------
    objective : Objective
        What to minimize.
    at : Optimum
        Where to start.
    floors : sequence of float, optional
        Falling noise floors; without them those of `anneal` that are not above the noise.

    Returns
    -------
    Optimum
        Near a local optimum, of the last floor.
    """
    if floors is None:
        least, noise = objective.least_noise, objective.variances(at.vector)[1]
        above = _FLOORS[least < _FLOORS]
        # The last of the ten is low enough for a descent without a floor of its own.
        floors = above if least < _FLOORS[-1] else np.append(above, least)
        floors = floors[floors <= noise]
    for floor in np.asarray(floors):
        at = minimize(objective, at, 20, floor)
    return at


def descend(
    objective: Objective,
    latent: Floats,
    stages: Sequence[tuple[float, int]],
    tolerance: float = 1e-7,
) -> Optimum:
    """Optimum that is reached in stages of a noise floor and of steps."""
    at = Optimum(np.inf, objective.vector(latent, 0.5, 0.5), "")
    for floor, steps in stages:
        at = minimize(objective, at, steps, floor, tolerance)
    return at


def converge(
    objective: Objective, at: Optimum, steps: int = 45, tolerance: float = 1e-8
) -> Optimum:
    """Descend to the local optimum.

    The expected information is the first curvature of L-BFGS, so that steps begin as Fisher
    scoring. Beyond a number of coordinates it takes too long, and plain L-BFGS takes its place.

    Parameters
    ----------
    objective : Objective
        What to minimize.
    at : Optimum
        Where to start.
    steps : int
        Largest number of steps.
    tolerance : float
        Stop where a step takes off less than this fraction of the value.

    Returns
    -------
    Optimum
        The local optimum.
    """
    scored = objective.size <= _SCORED and objective.shape is None
    return minimize(objective, at, steps, objective.least_noise, tolerance, scored=scored)


def nested_latents(sample_cov: Floats, latent: Floats, kernel: StationaryKernel) -> list[Floats]:
    """Find latents of 1 to M coordinates, each from the next larger one.

    The coordinate of least variance is shrunk and dropped. Curves that cross in fewer dimensions
    have passed each other in more, so that descents from above end in good optima.

    Parameters
    ----------
    sample_cov : (n, n) ndarray of float64
        S = X X^T / N with a mean variance of 1, see `ikd_graph.gplvm.sample_covariance`.
    latent : (n, M) ndarray of float64
        Where to begin.
    kernel : StationaryKernel
        Kernel of the model.

    Returns
    -------
    list of (n, m) ndarray of float64
        m = 1 to M. The noise is at least ``NESTED_NOISE``.
    """
    objective = Objective(SampleLikelihood(sample_cov), kernel, latent.shape[1], Clock())
    latents: list[Floats] = []
    with single_threaded_blas():
        at = anneal(objective, latent, "nested", _SOFT)
        while True:
            latents.insert(0, objective.latent(minimize(objective, at, 30, NESTED_NOISE).vector))
            if objective.n_components == 1:
                return latents
            for factor in (0.5, 0.2):
                points = eigen.principal_axes(objective.latent(at.vector)).coordinates
                points[:, -1] *= factor
                vector = objective.vector(points, *objective.variances(at.vector))
                at = minimize(objective, at._replace(vector=vector), 12, _SOFT[-1])
            points = eigen.principal_axes(objective.latent(at.vector)).coordinates[:, :-1]
            variances = objective.variances(at.vector)
            objective = replace(objective, n_components=points.shape[1])
            vector = objective.vector(points, *variances)
            at = minimize(objective, at._replace(vector=vector), 20, _SOFT[-1])


def minimize(
    objective: Objective,
    start: Optimum,
    steps: int,
    floor: float = LEAST_NOISE,
    tolerance: float = 1e-7,
    *,
    scored: bool = False,
) -> Optimum:
    """Limited-memory BFGS with bounds on the variances, never up.

    No point moves farther than a length-scale in one step: out of the reach of all others it would
    feel no force and never return.

    Parameters
    ----------
    objective : Objective
        What to minimize.
    start : Optimum
        Where to start; its noise is raised to the floor.
    steps : int
        Largest number of steps.
    floor : float
        Lower bound of the noise.
    tolerance : float
        Stop where a step takes off less than this fraction of the value.
    scored : bool
        Take the expected information, damped after Levenberg, as the first curvature.

    Returns
    -------
    Optimum
        The lowest point on the way.
    """
    best = start._replace(vector=start.vector.copy())
    tail, bounds = slice(objective.size, None), objective.bounds(floor)
    best.vector[tail] = np.clip(best.vector[tail], *bounds)
    pairs: Pairs = deque(maxlen=_MEMORY)
    metric: _Metric | None = None
    damping = _DAMPING
    try:
        value, gradient = objective(best.vector)
        best = best._replace(value=value)
        for _ in range(steps if np.isfinite(value) else 0):
            free = np.ones(gradient.size, dtype=bool)
            low, high = (best.vector[tail] <= bounds[0], best.vector[tail] >= bounds[1])
            free[tail] = ~(low & (gradient[tail] > 0.0) | high & (gradient[tail] < 0.0))
            if scored and (metric is None or (free != metric.free).any()):
                metric = _Metric(objective, best.vector, free, damping)
                pairs.clear()
            slope = np.where(free, gradient, 0.0)
            direction = np.where(free, -_times_inverse(pairs, slope, metric), 0.0)
            move = _line_search(objective, best, slope, direction, bounds)
            if move is None:
                # The curvature was wrong: once more without what was remembered.
                if not pairs:
                    break
                metric = None
                pairs.clear()
                continue
            new, new_gradient = move
            step, change = new.vector - best.vector, new_gradient - gradient
            gain = best.value - new.value
            fresh = not pairs
            if metric is not None and fresh:
                damping = metric.damping * metric.trust(gain, slope, step)
            best, gradient = new, new_gradient
            small = gain <= tolerance * max(abs(best.value), 1.0)
            # With a metric, a small gain is the end only where the metric is of this place.
            if small and (fresh or not scored):
                break
            curvature = float(step @ change)
            curved = curvature > 1e-10 * float(change @ change)
            if curved:
                pairs.append((step, change, 1.0 / curvature))
            if small or not curved or len(pairs) == _MEMORY:
                metric = None
    except TimeUp:
        pass
    return best


def _line_search(
    objective: Objective,
    at: Optimum,
    slope: Floats,
    direction: Floats,
    bounds: tuple[Floats, Floats],
) -> tuple[Optimum, Floats] | None:
    """Take the first of shorter and shorter steps that goes down enough, with its gradient."""
    expected = float(slope @ direction)
    if expected >= 0.0:
        return None
    farthest = float(np.sqrt((objective.latent(direction) ** 2).sum(axis=1).max()))
    tail = slice(objective.size, None)
    longest = max(
        farthest / objective.kernel.length_scale, 0.5 * float(np.abs(direction[tail]).max())
    )
    size = min(1.0, 1.0 / longest)
    for _ in range(_HALVINGS):
        vector = at.vector + size * direction
        vector[tail] = np.clip(vector[tail], *bounds)
        value, gradient = objective(vector)
        if value <= at.value + _DECREASE * size * expected:
            return Optimum(value, vector, at.start), gradient
        if np.isfinite(value):
            # The minimum of the parabola through both values and the slope at the first.
            lowest = -0.5 * expected * size**2 / (value - at.value - expected * size)
            size = min(max(lowest, 0.1 * size), 0.5 * size)
        else:
            size *= 0.1
    return None


def _times_inverse(pairs: Pairs, vector: Floats, metric: _Metric | None) -> Floats:
    """Inverse Hessian, as remembered, times a vector (Nocedal, Math. Comp. 35, 1980)."""
    out, alphas = vector.copy(), []
    for step, change, weight in reversed(pairs):
        alphas.append(weight * float(step @ out))
        out -= alphas[-1] * change
    if metric is not None:
        out = metric.solve(out)
    elif pairs:
        _, change, weight = pairs[-1]
        out /= weight * float(change @ change)
    else:
        out /= max(float(np.linalg.norm(out)), 1.0)
    for (step, change, weight), alpha in zip(pairs, reversed(alphas), strict=True):
        out += (alpha - weight * float(change @ out)) * step
    return out


class _Metric:
    """Damped information at a vector, factorized; the identity for what is not free."""

    def __init__(
        self, objective: Objective, vector: Floats, free: NDArray[np.bool_], damping: float
    ) -> None:
        information = objective.information(vector)
        information[~free], information[:, ~free] = 0.0, 0.0
        information[~free, ~free] = 1.0
        scale = np.maximum(np.diagonal(information), 1e-12)
        self.free, self.damping, failed = free, damping / 4.0, 1
        while failed:
            self.damping *= 4.0
            damped = information.copy()
            damped.flat[:: len(damped) + 1] += self.damping * scale
            self._factor, failed = dpotrf(damped.T, lower=1, overwrite_a=1)

    def solve(self, vector: Floats) -> Floats:
        """Inverse times a vector."""
        return np.asarray(dpotrs(self._factor, vector, lower=1)[0])

    def trust(self, gain: float, slope: Floats, step: Floats) -> float:
        """Factor of the next damping, by the fraction of the expected gain that a step reached."""
        expected = -float(slope @ step) - 0.5 * float(np.sum((self._factor.T @ step) ** 2))
        alpha = gain / expected if expected > 0.0 else 0.5
        return 0.2 if alpha > 0.75 else 2.0 if alpha < 0.25 else 1.0
