"""The negative log likelihood as a function of one vector."""

import threading
import time
from dataclasses import dataclass, replace

import numpy as np

from .._base.types import Floats
from ..kernels import StationaryKernel
from ._gradient import GroupLikelihood
from ._information import expected_information

LEAST_NOISE = 1e-7
"""Smallest noise, relative to the mean variance: it keeps the model invertible."""

VARIANCES = (1e-3, 1e2)
"""Signal variances allowed, relative to the mean variance. A small latent of large variance is the
linear model; beyond a hundred it only grows larger and smaller without end. The noise is bounded
from above alike."""

_SCALES = np.geomspace(0.5, 2.0, 7)
_SHAPES = {"gamma": (1e-3, 2.0), "alpha": (1e-2, 1e2)}


class TimeUp(Exception):
    """The time budget ran out."""


class Clock:
    """Counts evaluations and ends them after a time budget, for all objectives of one search.

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
        """Count an evaluation; raise `TimeUp` if the time is up."""
        if self.expired:
            raise TimeUp
        with self._lock:  # descents in several threads share the clock
            self.n_evaluations += 1


@dataclass(frozen=True)
class Objective:
    """Negative log likelihood of one column.

    A vector holds the latent row by row, log v, log n and, where it is free, the log of the
    kernel's shape parameter. A noise floor is a lower bound of n. One above the true noise smooths
    the surface; as the vector holds the whole noise, a lower floor changes neither the value nor
    the gradient.
    """

    likelihood: GroupLikelihood  # of columns with a mean variance of 1
    kernel: StationaryKernel
    n_components: int  # columns of the latent
    clock: Clock  # shared by the objectives of one search
    free_shape: bool = False  # whether the kernel's shape parameter, if any, is part of the vector
    least_noise: float = LEAST_NOISE  # lower bound of the noise variance where a descent ends
    init: Floats | None = None  # (size,) initial embedding that a normal prior lies around
    precision: float = 0.0  # of that prior

    @property
    def size(self) -> int:
        """Number of coordinates."""
        return self.likelihood.n_points * self.n_components

    @property
    def shape(self) -> str | None:
        """Name of the kernel's shape parameter where it is free."""
        return self.kernel.shape_name if self.free_shape else None

    def latent(self, vector: Floats) -> Floats:
        """Latent of a vector, (n, m)."""
        return vector[: self.size].reshape(-1, self.n_components)

    def variances(self, vector: Floats) -> tuple[float, float]:
        """Signal variance and noise variance of a vector."""
        variance, noise = np.exp(vector[self.size : self.size + 2])
        return float(variance), float(noise)

    def kernel_of(self, vector: Floats) -> StationaryKernel:
        """Kernel of a vector."""
        if self.shape is None:
            return self.kernel
        return replace(self.kernel, **{self.shape: float(np.exp(vector[-1]))})

    def vector(self, latent: Floats, variance: float = 1.0, noise: float = 1.0) -> Floats:
        """Vector of an embedding."""
        tail = [variance, noise]
        if self.shape is not None:
            tail.append(getattr(self.kernel, self.shape))
        low, high = self.bounds(LEAST_NOISE)
        return np.concatenate([np.ravel(latent), np.clip(np.log(tail), low, high)])

    def bounds(self, floor: float) -> tuple[Floats, Floats]:
        """Lower and upper bounds of what follows the latent in a vector."""
        low, high = [VARIANCES[0], floor], [VARIANCES[1], VARIANCES[1]]
        if self.shape is not None:
            low.append(_SHAPES[self.shape][0])
            high.append(_SHAPES[self.shape][1])
        return np.log(low), np.log(high)

    def __call__(self, vector: Floats) -> tuple[float, Floats]:
        """Value and gradient, with the prior; infinite where no model is positive definite."""
        self.clock.tick()
        kernel, free = self.kernel_of(vector), self.shape is not None
        variance, noise = self.variances(vector)
        at = self.likelihood(self.latent(vector), kernel, variance, noise, shape=free)
        tail = [at.log_variance, at.log_noise]
        if self.shape is not None:
            tail.append(at.shape * getattr(kernel, self.shape))
        value, gradient = at.value, np.concatenate([at.latent.ravel(), tail])
        if self.init is not None and np.isfinite(value):
            away = vector[: self.size] - self.init
            gradient[: self.size] += self.precision * away
            value += 0.5 * self.precision * float(away @ away)
        return value, gradient

    def exact(self, vector: Floats) -> float:
        """Value without the prior, whatever the time."""
        latent, variances = self.latent(vector), self.variances(vector)
        return self.likelihood(latent, self.kernel_of(vector), *variances).value

    def information(self, vector: Floats) -> Floats:
        """Compute the expected information of one column about points and variances."""
        out = np.zeros((self.size + 2, self.size + 2))
        latent, kernel, m = self.latent(vector), self.kernel_of(vector), self.n_components
        for group in self.likelihood.groups:
            own = (group.rows[:, None] * m + np.arange(m)).ravel()
            own = np.append(own, [self.size, self.size + 1])
            known = expected_information(latent[group.rows], kernel, *self.variances(vector))
            out[np.ix_(own, own)] += group.weight * known
        return out

    def best_scale(self, latent: Floats, scales: Floats = _SCALES) -> float:
        """Most likely multiple of an embedding, under as much noise as signal; 1 without time."""
        try:
            values = [self(self.vector(scale * latent))[0] for scale in scales]
        except TimeUp:
            return 1.0
        return float(scales[int(np.argmin(values))])
