"""The negative log likelihood as a function of one vector, and descents to its local optima."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs

from .. import _jit, eigen
from .._base.rounding import ROUNDING
from .._base.threads import single_threaded_blas
from .._base.types import Floats
from ..kernels import StationaryKernel
from ._likelihood import GroupLikelihood, Model, SampleLikelihood, expected_information

LEAST_NOISE = 1e-7
"""Smallest noise, relative to the mean variance: it keeps the model invertible."""

VARIANCES = (1e-3, 1e2)
"""Signal variances allowed, relative to the mean variance. A small latent of large variance is the
linear model; beyond a hundred it only grows larger and smaller without end. The noise is bounded
from above alike."""

SCALES = np.geomspace(0.5, 2.0, 7)

_FLOORS = np.geomspace(1.0, 1e-6, 10)
"""Noise floors of an annealed descent: from the mean variance down to a millionth of it."""

NESTED_NOISE = 0.01
"""Least noise variance over the variance of the columns: what explains less is no dimension."""

_SOFT = (1.0, 0.3, 0.1)
"""Noise floors, in units of the mean variance, under which coordinates are dropped."""

_STEPS, _FEW_STEPS = 20, 12  # under a noise floor, and with a coordinate that is shrunk
_TOLERANCE = 1e-7  # fraction of the value that a last step takes off
_MEMORY = 20  # steps that L-BFGS remembers
_DECREASE = 1e-4  # fraction of the expected decrease that a step must reach (Armijo)
_HALVINGS = 12
_SCORED = 1202  # parameters up to which the expected information is factorized
DAMPING = 1e-2  # of the information at first


def bounds(floor: float) -> tuple[Floats, Floats]:
    """Lower and upper bounds of log v and log n."""
    return np.log([VARIANCES[0], floor]), np.log([VARIANCES[1], VARIANCES[1]])


class Clock:
    """Counts evaluations and says when the time is up, for all objectives of one search.

    Parameters
    ----------
    budget : float, optional
        Seconds; without it there is no end.
    """

    def __init__(self, budget: float | None = None) -> None:
        self.deadline = np.inf if budget is None else time.perf_counter() + budget
        self.n_evaluations = 0
        self._lock = threading.Lock()

    @property
    def expired(self) -> bool:
        """Whether the time budget is used up."""
        return time.perf_counter() > self.deadline

    def tick(self) -> None:
        """Count an evaluation."""
        with self._lock:  # descents in several threads share the clock
            self.n_evaluations += 1


class Optimum(NamedTuple):
    """Where a descent ended."""

    value: float  # negative log likelihood of one column
    vector: Floats  # see `Objective`
    start: str  # name of the start


@dataclass(frozen=True)
class Objective:
    """Negative log likelihood of one column.

    A vector holds the latent row by row, log v and log n. A noise floor is a lower bound of n. One
    above the true noise smooths the surface; as the vector holds the whole noise, a lower floor
    changes neither the value nor the gradient.
    """

    likelihood: GroupLikelihood  # of columns with a mean variance of 1
    kernel: StationaryKernel
    n_components: int  # columns of the latent
    clock: Clock  # shared by the objectives of one search
    least_noise: float = LEAST_NOISE  # lower bound of the noise variance where a descent ends
    init: Floats | None = None  # (n, m) initial embedding that a normal prior lies around
    precision: float = 0.0  # of that prior

    def model(self, vector: Floats) -> Model:
        """Model of a vector."""
        variance, noise = map(float, np.exp(vector[-2:]))
        return Model(vector[:-2].reshape(-1, self.n_components), self.kernel, variance, noise)

    def vector(self, latent: Floats, variance: float = 1.0, noise: float = 1.0) -> Floats:
        """Vector of an embedding."""
        tail = np.clip(np.log([variance, noise]), *bounds(LEAST_NOISE))
        return np.concatenate([np.ravel(latent), tail])

    def __call__(self, vector: Floats) -> tuple[float, Floats]:
        """Value and gradient, with the prior; infinite where no model is positive definite."""
        self.clock.tick()
        value, by_latent, *by_variances = self.likelihood(*self.model(vector))
        if self.init is not None:
            away = self.model(vector).latent - self.init
            by_latent = by_latent + self.precision * away
            value += 0.5 * self.precision * float(np.sum(away**2))
        return value, np.concatenate([by_latent.ravel(), by_variances])

    def exact(self, vector: Floats) -> float:
        """Value without the prior, whatever the time."""
        return self.likelihood(*self.model(vector)).value

    def best_scale(self, latent: Floats, scales: Floats = SCALES, *variances: float) -> float:
        """Most likely multiple of an embedding, by default under as much noise as signal."""
        values = [self(self.vector(scale * latent, *variances))[0] for scale in scales]
        return float(scales[int(np.argmin(values))])

    def start(self, latent: Floats, name: str = "") -> Optimum:
        """Embedding at its best scale, where a descent starts."""
        points = latent - latent.mean(axis=0)
        return Optimum(np.inf, self.vector(self.best_scale(points) * points), name)


def descend(
    objective: Objective,
    at: Optimum,
    floors: Iterable[float],
    steps: int = _STEPS,
    tolerance: float = _TOLERANCE,
) -> Optimum:
    """Optimum that is reached under falling noise floors, in some steps under each."""
    for floor in floors:
        at = minimize(objective, at, steps, floor, tolerance)
    return at


def annealing(objective: Objective, at: Optimum) -> Iterator[Optimum]:
    """Yield where falling noise floors lead, from the noise of ``at`` to the least noise."""
    # The last of the ten is low enough for a descent without a floor of its own.
    floors = np.unique(np.maximum(_FLOORS, objective.least_noise))[::-1]
    for floor in floors[floors <= objective.model(at.vector).noise]:
        at = minimize(objective, at, _STEPS, floor)
        yield at


def anneal(objective: Objective, at: Optimum) -> Optimum:
    """Optimum under noise floors that fall from the noise of ``at`` to the least noise."""
    *_, at = at, *annealing(objective, at)
    return at


def converge(
    objective: Objective, at: Optimum, steps: int = 45, tolerance: float = 1e-8
) -> Optimum:
    """Local optimum, by L-BFGS whose first curvature is the expected information.

    So steps begin as Fisher scoring. Beyond a number of coordinates that takes too long, and plain
    L-BFGS takes its place.
    """
    scored = at.vector.size <= _SCORED
    return minimize(objective, at, steps, objective.least_noise, tolerance, scored=scored)


def nested_latents(
    sample_cov: Floats,
    latent: Floats,
    kernel: StationaryKernel,
    fewest: int = 1,
    clock: Clock | None = None,
) -> list[Floats]:
    """Find latents of few to M coordinates, each from the next larger one.

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
    fewest : int
        Coordinates of the last one.
    clock : Clock, optional
        Of the search that it is a part of.

    Returns
    -------
    list of (n, m) ndarray of float64
        m = ``fewest`` to M. The noise is at least ``NESTED_NOISE``.
    """
    objective = Objective(SampleLikelihood(sample_cov), kernel, latent.shape[1], clock or Clock())
    with single_threaded_blas():
        ends = [
            each.model(minimize(each, at, 30, NESTED_NOISE).vector)
            for each, at in shrunk(objective, latent, fewest)
        ]
    return [end.latent for end in reversed(ends)]


def shrunk(
    objective: Objective, latent: Floats, fewest: int
) -> Iterator[tuple[Objective, Optimum]]:
    """Yield optima of M to few coordinates under noise, with the objective of as many."""
    at = descend(objective, objective.start(latent), _SOFT)
    yield objective, at
    while objective.n_components > fewest:
        for factor in (0.5, 0.2, 0.0):
            points, _, *variances = objective.model(at.vector)
            points = eigen.principal_axes(points).coordinates
            if factor == 0.0:
                points = points[:, :-1]
                objective = replace(objective, n_components=points.shape[1])
            else:
                points[:, -1] *= factor
            vector = objective.vector(points, *variances)
            steps = _FEW_STEPS if factor else _STEPS
            at = minimize(objective, at._replace(vector=vector), steps, _SOFT[-1])
        yield objective, at


def minimize(
    objective: Objective,
    start: Optimum,
    steps: int,
    floor: float = LEAST_NOISE,
    tolerance: float = _TOLERANCE,
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
    tail, limits = slice(-2, None), bounds(floor)
    best.vector[tail] = np.clip(best.vector[tail], *limits)
    pairs = _Memory(best.vector.size)
    metric: _Metric | None = None
    damping = DAMPING
    value, gradient = objective(best.vector)
    best = best._replace(value=value)
    for _ in range(steps):
        if objective.clock.expired:
            break
        free = np.ones(gradient.size, dtype=bool)
        low, high = (best.vector[tail] <= limits[0], best.vector[tail] >= limits[1])
        free[tail] = ~(low & (gradient[tail] > 0.0) | high & (gradient[tail] < 0.0))
        if scored and (metric is None or (free != metric.free).any()):
            metric = _Metric(objective, best.vector, free, damping)
            pairs.count = 0
        slope = np.where(free, gradient, 0.0)
        direction = np.where(free, -pairs.times(slope, metric), 0.0)
        move = _line_search(objective, best, slope, direction, limits)
        if move is None:
            # The curvature was wrong: once more without what was remembered.
            if not pairs.count:
                break
            metric, pairs.count = None, 0
            continue
        new, new_gradient = move
        step, change = new.vector - best.vector, new_gradient - gradient
        gain = best.value - new.value
        fresh = not pairs.count
        if metric is not None and fresh:
            damping = metric.damping * metric.trust(gain, slope, step)
        best, gradient = new, new_gradient
        small = gain <= tolerance * max(abs(best.value), 1.0)
        # With a metric, a small gain is the end only where the metric is of this place.
        if small and (fresh or not scored):
            break
        curvature = float(step @ change)
        curved = curvature > ROUNDING * float(change @ change)
        if curved:
            pairs.append(step, change, 1.0 / curvature)
        if small or not curved or pairs.count == _MEMORY:
            metric = None
    return best


def _line_search(
    objective: Objective,
    at: Optimum,
    slope: Floats,
    direction: Floats,
    limits: tuple[Floats, Floats],
) -> tuple[Optimum, Floats] | None:
    """Take the first of shorter and shorter steps that goes down enough, with its gradient."""
    expected = float(slope @ direction)
    if expected >= 0.0:
        return None
    moves, tail = direction[:-2].reshape(-1, objective.n_components), slice(-2, None)
    farthest = float(np.sqrt((moves**2).sum(axis=1).max()))
    widest = 0.5 * float(np.abs(direction[tail]).max())
    size = min(1.0, 1.0 / max(farthest / objective.kernel.length_scale, widest))
    for _ in range(_HALVINGS):
        vector = at.vector + size * direction
        vector[tail] = np.clip(vector[tail], *limits)
        value, gradient = objective(vector)
        if value <= at.value + _DECREASE * size * expected:
            return Optimum(value, vector, at.start), gradient
        # The minimum of the parabola through both values and the slope at the first.
        lowest = -0.5 * expected * size**2 / (value - at.value - expected * size)
        size = min(max(lowest, 0.1 * size), 0.5 * size)
    return None


class _Memory:
    """The last steps, how the slope changed along each, and the inverses of their products.

    Together they are an inverse Hessian (Nocedal, Math. Comp. 35, 1980).
    """

    def __init__(self, size: int) -> None:
        self.count = 0
        self._steps, self._changes = np.empty((2, _MEMORY, size))
        self._weights, self._alphas = np.empty((2, _MEMORY))

    def append(self, step: Floats, change: Floats, weight: float) -> None:
        """Remember a step, in place of the oldest where the memory is full."""
        if self.count == _MEMORY:
            for kept in (self._steps, self._changes, self._weights):
                kept[:-1] = kept[1:]
            self.count -= 1
        at, self.count = self.count, self.count + 1
        self._steps[at], self._changes[at], self._weights[at] = step, change, weight

    def times(self, vector: Floats, metric: _Metric | None) -> Floats:
        """Return the inverse Hessian times a vector."""
        out, last = vector.copy(), self.count - 1
        remembered = self._steps, self._changes, self._weights, self.count, out, self._alphas
        _jit.likelihood.unremember(*remembered)
        if metric is not None:
            out[:] = metric.solve(out)
        elif self.count:
            out /= self._weights[last] * float(self._changes[last] @ self._changes[last])
        else:
            out /= max(float(np.linalg.norm(out)), 1.0)
        _jit.likelihood.remember(*remembered)
        return out


class _Metric:
    """Damped information at a vector, factorized; the identity for what is not free."""

    def __init__(
        self, objective: Objective, vector: Floats, free: NDArray[np.bool_], damping: float
    ) -> None:
        at, m, size = objective.model(vector), objective.n_components, vector.size - 2
        information = np.zeros((size + 2, size + 2))
        for rows, weight, _ in objective.likelihood.groups:
            own = np.append((rows[:, None] * m + np.arange(m)).ravel(), [size, size + 1])
            information[np.ix_(own, own)] += weight * expected_information(at.latent[rows], *at[1:])
        information[~free], information[:, ~free] = 0.0, 0.0
        information[~free, ~free] = 1.0
        scale = np.maximum(np.diagonal(information), ROUNDING)
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
