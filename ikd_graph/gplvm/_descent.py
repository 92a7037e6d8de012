"""Descents to a local optimum of the likelihood: L-BFGS of scipy, at the end in Fisher's metric."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dpotrf

from .._base.types import Floats
from ._objective import LEAST_NOISE, Objective, TimeUp

_FLOORS = np.geomspace(1.0, 1e-6, 10)
"""Noise floors of an annealed descent: from the mean variance down to a millionth of it."""

_MEMORY = 20  # steps that L-BFGS remembers, and after which the metric is taken anew
_SCORED = 1200  # coordinates up to which the expected information is factorized
_DAMPING = 1e-2  # of the information at first, a tenth of it each time that it is taken anew
_NOT_POSITIVE = 1e9  # value of a model that cannot be inverted: a line search comes back


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
    at = Optimum(np.inf, objective.vector(latent), start)
    try:
        at = at._replace(vector=objective.best_scale(latent - latent.mean(axis=0)))
    except TimeUp:
        return at
    return cool(objective, at, floors)


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
    """Descend to the local optimum, in Fisher's metric where it is affordable.

    Parameters
    ----------
    objective : Objective
        What to minimize.
    at : Optimum
        Where to start.
    steps : int
        Largest number of steps.
    tolerance : float
        Stop where steps take off less than this fraction of the value.

    Returns
    -------
    Optimum
        The local optimum.
    """
    if objective.size > _SCORED or objective.shape is not None:
        return minimize(objective, at, steps, objective.least_noise, tolerance)
    damping = _DAMPING
    while steps > 0:
        metric = _metric(objective, at.vector, damping)
        before, most = at.value, min(steps, _MEMORY)
        at = minimize(objective, at, most, objective.least_noise, tolerance, metric)
        if before - at.value <= tolerance * max(abs(at.value), 1.0) or objective.clock.expired:
            break
        steps, damping = steps - most, 0.1 * damping
    return at


def minimize(
    objective: Objective,
    start: Optimum,
    steps: int,
    floor: float = LEAST_NOISE,
    tolerance: float = 1e-7,
    metric: Floats | None = None,
) -> Optimum:
    """Limited-memory BFGS with bounds on the variances, never up.

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
    metric : (size, size) ndarray of float64, optional
        Lower triangle L: coordinates are changed to L^T z, in which the curvature L L^T is 1.

    Returns
    -------
    Optimum
        The lowest point on the way.
    """
    size, bounds = objective.size, objective.bounds(floor)
    origin = start.vector.copy()
    origin[size:] = np.clip(origin[size:], *bounds)
    best = start._replace(value=np.inf, vector=origin)

    def evaluate(moved: Floats) -> tuple[float, Floats]:
        nonlocal best
        vector = moved.copy()
        if metric is not None:
            vector[:size] = origin[:size] + solve_triangular(
                metric, moved[:size], trans=1, lower=True, check_finite=False
            )
        value, gradient = objective(vector)
        if value < best.value:
            best = best._replace(value=value, vector=vector)
        if metric is not None:
            gradient[:size] = solve_triangular(
                metric, gradient[:size], lower=True, check_finite=False
            )
        return min(value, _NOT_POSITIVE), gradient

    first = origin.copy()
    if metric is not None:
        first[:size] = 0.0
    options = {"maxiter": steps, "ftol": tolerance, "gtol": 0.0, "maxcor": _MEMORY}
    free = np.full(size, np.inf)
    limits = optimize.Bounds(np.append(-free, bounds[0]), np.append(free, bounds[1]))
    try:
        optimize.minimize(
            evaluate, first, jac=True, method="L-BFGS-B", bounds=limits, options=options
        )
    except TimeUp:
        if not np.isfinite(best.value):  # no time for any evaluation
            return start._replace(vector=origin)
    return best


def _metric(objective: Objective, vector: Floats, damping: float) -> Floats:
    """Lower Cholesky factor of the information at a vector, damped after Levenberg."""
    information = objective.information(vector)
    scale, failed = np.maximum(np.diagonal(information), 1e-12), 1
    while failed:
        damped = information.copy()
        damped.flat[:: len(damped) + 1] += damping * scale
        factor, failed = dpotrf(damped.T, lower=1, overwrite_a=1)
        damping *= 4.0
    return np.asarray(factor)
