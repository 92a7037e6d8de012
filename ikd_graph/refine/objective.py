"""What likelihood refine minimises, as a function of one vector."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..gplvm import expected_information, log_likelihood, shape_name
from ..gplvm._gradient import SampleLikelihood
from ..kernels import StationaryKernel

Floats = NDArray[np.float64]

LEAST_NOISE = 1e-7
"""Noise that is always there, relative to the mean variance: it keeps the model invertible."""

MOST_NOISE = 10.0
"""No more noise than ten times the mean variance, the room that the first floors need."""

VARIANCES = (1e-3, 1e2)
"""Signal variances allowed, relative to the mean variance. A small latent of large variance is the
linear model; beyond a hundred it only grows larger and smaller without end."""

_START_NOISE = 0.05
_SCALES = (0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0)
_SHAPES = {"gamma": (1e-3, 2.0), "alpha": (1e-2, 1e2), "nu": (0.1, 20.0)}


class Candidate(NamedTuple):
    """A point of the search."""

    value: float  # negative log likelihood of one observed dimension
    vector: Floats  # latent row by row, log variance, log noise, log of the shape where it is free
    name: str  # the start it came from


class TimeUp(Exception):
    """The time budget ran out inside an evaluation."""


@dataclass
class Meter:
    """What all objectives of one search share: when to stop, and how much was done."""

    deadline: float = np.inf  # value of time.perf_counter at which steps end where they are
    n_evaluations: int = 0
    work: float = 0.0  # sum over evaluations of the cubed number of points

    @property
    def expired(self) -> bool:
        """Whether the time budget is used up."""
        return time.perf_counter() > self.deadline


class Objective:
    """Negative log likelihood of one observed dimension, full or over blocks of points.

    A floor is the least noise allowed. One above the true noise smooths the surface, because it
    hides the small eigenvalues of the model, in which wrong turns are walls; falling floors lead to
    better local optima. As the vector holds the whole noise, a lower floor changes neither the
    value nor the gradient: what the floor stood for stays until the data say otherwise.

    Parameters
    ----------
    cov : (n, n) float64, symmetric
        Sample covariance with a mean variance of 1.
    kernel : StationaryKernel
        Kernel of the model.
    n_components : int
        Columns of the latent.
    blocks : sequence of (b,) int arrays, optional
        Composite likelihood: the sum over these sets of points, scaled to n points.
    shape : bool
        The kernel's shape parameter is part of the vector.
    meter : Meter, optional
        Shared by the objectives of one search.
    """

    def __init__(
        self,
        cov: Floats,
        kernel: StationaryKernel,
        n_components: int,
        *,
        blocks: Sequence[NDArray[np.intp]] | None = None,
        shape: bool = False,
        meter: Meter | None = None,
    ) -> None:
        self.cov = cov
        self.kernel = kernel
        self.n_components = n_components
        self.blocks = blocks
        self.meter = Meter() if meter is None else meter
        self.shape = shape_name(kernel) if shape else None
        self.size = len(cov) * n_components
        sizes = [len(cov)] if blocks is None else [len(block) for block in blocks]
        self._share = len(cov) / sum(sizes)
        self._work = float(sum(size**3 for size in sizes))

    @cached_property
    def _parts(self) -> list[tuple[Any, SampleLikelihood]]:
        """Points and likelihood of each block; some objectives are never evaluated."""
        if self.blocks is None:
            return [(slice(None), SampleLikelihood(self.cov))]
        return [(block, SampleLikelihood(self.cov[np.ix_(block, block)])) for block in self.blocks]

    @property
    def expired(self) -> bool:
        """Whether the time budget is used up."""
        return self.meter.expired

    def latent(self, vector: Floats) -> Floats:
        """Latent of a vector, (n, m)."""
        return vector[: self.size].reshape(-1, self.n_components)

    def scales(self, vector: Floats) -> tuple[float, float]:
        """Signal variance and noise variance of a vector."""
        variance, noise = np.exp(vector[self.size : self.size + 2])
        return float(variance), float(noise)

    def shaped(self, vector: Floats) -> StationaryKernel:
        """Kernel of a vector."""
        if self.shape is None:
            return self.kernel
        return replace(self.kernel, **{self.shape: float(np.exp(vector[-1]))})

    def vector(self, latent: Floats, variance: float = 1.0, noise: float = _START_NOISE) -> Floats:
        """Vector of a latent."""
        tail = [np.log(variance), np.log(noise)]
        if self.shape is not None:
            tail.append(np.log(getattr(self.kernel, self.shape)))
        low, high = self.bounds()
        return np.concatenate([np.ravel(latent), np.clip(tail, low, high)])

    def bounds(self, floor: float = LEAST_NOISE) -> tuple[Floats, Floats]:
        """Bounds of what follows the latent in a vector."""
        low, high = [VARIANCES[0], floor], [VARIANCES[1], MOST_NOISE]
        if self.shape is not None:
            low.append(_SHAPES[self.shape][0])
            high.append(_SHAPES[self.shape][1])
        return np.log(low), np.log(high)

    def raised(self, vector: Floats, floor: float) -> Floats:
        """A vector whose noise is at least the floor."""
        out = vector.copy()
        out[self.size :] = np.clip(out[self.size :], *self.bounds(floor))
        return out

    def __call__(self, vector: Floats) -> tuple[float, Floats]:
        """Value and gradient; infinite where the model is not positive definite."""
        # The first is for whoever has no time: the result has a likelihood in any case.
        if self.meter.n_evaluations and self.expired:
            raise TimeUp
        self.meter.n_evaluations += 1
        self.meter.work += self._work
        latent, kernel = self.latent(vector), self.shaped(vector)
        variance, noise = self.scales(vector)
        value, gradient = 0.0, np.zeros_like(vector)
        by_latent = self.latent(gradient)
        tail = gradient[self.size :]
        for members, likelihood in self._parts:
            at = likelihood(latent[members], kernel, variance, noise, shape=self.shape is not None)
            if not np.isfinite(at.value):
                return np.inf, np.zeros_like(vector)
            value += at.value
            by_latent[members] += at.latent
            tail[:2] += at.log_variance, at.log_noise
            if self.shape is not None:
                tail[2] += at.shape * getattr(kernel, self.shape)
        return value * self._share, gradient * self._share

    def value(self, vector: Floats) -> float:
        """Value alone; infinite once the time is up."""
        try:
            return self(vector)[0]
        except TimeUp:
            return np.inf

    def exact(self, vector: Floats) -> float:
        """Value over all points, whatever the time."""
        latent, kernel = self.latent(vector), self.shaped(vector)
        return -log_likelihood(latent, self.cov, 1, kernel, *self.scales(vector))

    def information(self, vector: Floats) -> Floats:
        """Expected information of one observed dimension about a vector, over all points."""
        self.meter.work += float(self.size) ** 3
        return expected_information(self.latent(vector), self.kernel, *self.scales(vector))

    def candidate(self, vector: Floats, name: str) -> Candidate:
        """A vector with its value."""
        return Candidate(self.value(vector), vector, name)

    def place(self, latent: Floats, name: str, floor: float = LEAST_NOISE) -> Candidate:
        """Latent at the best of several scales: closed forms are often too wide or too narrow."""
        noise = max(_START_NOISE, floor)
        best = Candidate(np.inf, self.vector(latent, noise=noise), name)
        for scale in _SCALES:
            vector = self.vector(scale * latent, noise=noise)
            value = self.value(vector)
            if value < best.value:
                best = Candidate(value, vector, name)
        return best
