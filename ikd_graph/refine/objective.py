"""What likelihood refine minimises, as a function of one vector, and the steps that go down it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv, dpotrf
from scipy.optimize import minimize

from ..gplvm import expected_information, negative_log_likelihood_and_gradient, shape_name
from ..kernels import StationaryKernel

Floats = NDArray[np.float64]

LEAST_NOISE = 1e-7
"""Noise that is always there, relative to the mean variance: it keeps the model invertible."""

SCORING_LIMIT = 1200
"""Number of latent coordinates up to which the expected information is factorised."""

_START_NOISE = 0.05
_SCALES = (0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0)
_HUGE = 1e10
_LOG_LIMIT = 30.0
_DAMPING = 1e-2
_DAMPINGS = 8
_LEAST_INFORMATION = 1e-12
_SHAPE_LIMIT = {"gamma": 2.0}
# How far points may lie before the data speak, in length-scales. Further out, those that noise has
# cast away would count as free.
_WIDEST = 3.0


class Candidate(NamedTuple):
    """A point of the search."""

    value: float  # negative log likelihood of one observed dimension
    vector: Floats  # latent row by row, log variance, log of the noise above the floor, shape
    name: str  # the start it came from
    volume: float = 0.0  # what a narrow valley has against it, in the unit of the value

    @property
    def merit(self) -> float:
        """What bottoms of valleys are compared by: the lower, the more of all latents agree."""
        return self.value + self.volume


class _TimeUp(Exception):
    """The time budget ran out inside an evaluation."""


class Objective:
    """Negative log likelihood of one observed dimension, full or over blocks of points.

    The noise is ``floor + exp(t)``: a floor above the true noise smooths the surface, because it
    hides the small eigenvalues of the model, in which wrong turns are walls. Going down through
    falling floors is what finds the valley.

    Parameters
    ----------
    cov : (n, n) float64, symmetric
        Sample covariance with a mean variance of 1.
    kernel : StationaryKernel
        Kernel of the model.
    n_components : int
        Columns of the latent.
    n_observed : int, optional
        Number N of observed dimensions; without it valleys are compared by their depth alone.
    blocks : sequence of (b,) int arrays, optional
        Composite likelihood: the sum over these sets of points, scaled to n points.
    deadline : float
        Value of ``time.perf_counter`` at which steps end where they are.
    shape : bool
        The kernel's shape parameter is part of the vector.
    tick : callable
        Called after every descent.
    """

    def __init__(
        self,
        cov: Floats,
        kernel: StationaryKernel,
        n_components: int,
        *,
        n_observed: int | None = None,
        blocks: Sequence[NDArray[np.intp]] | None = None,
        deadline: float = np.inf,
        shape: bool = False,
        tick: Callable[[], None] = lambda: None,
    ) -> None:
        self.cov = cov
        self.kernel = kernel
        self.n_components = n_components
        self.n_observed = n_observed
        self.blocks = blocks
        self.deadline = deadline
        self.tick = tick
        self.shape = shape_name(kernel) if shape else None
        self.n_evaluations = 0
        self._size = len(cov) * n_components
        whole: Sequence[Any] = [slice(None)] if blocks is None else blocks
        parts = [cov if blocks is None else cov[np.ix_(block, block)] for block in whole]
        self._parts = list(zip(whole, parts, strict=True))
        self._share = len(cov) / sum(len(part) for part in parts)

    @property
    def expired(self) -> bool:
        """Whether the time budget is used up."""
        return time.perf_counter() > self.deadline

    def latent(self, vector: Floats) -> Floats:
        """Latent of a vector, (n, m)."""
        return vector[: self._size].reshape(-1, self.n_components)

    def scales(self, vector: Floats, floor: float = LEAST_NOISE) -> tuple[float, float]:
        """Signal variance and noise variance of a vector."""
        tail = np.exp(np.clip(vector[self._size : self._size + 2], -_LOG_LIMIT, _LOG_LIMIT))
        return float(tail[0]), floor + float(tail[1])

    def shaped(self, vector: Floats) -> StationaryKernel:
        """Kernel of a vector."""
        if self.shape is None:
            return self.kernel
        high = _SHAPE_LIMIT.get(self.shape)
        free = np.clip(vector[-1], -_LOG_LIMIT, _LOG_LIMIT)
        value = np.exp(free) if high is None else high / (1.0 + np.exp(-free))
        return replace(self.kernel, **{self.shape: float(np.clip(value, 1e-3, high or 1e3))})

    def vector(self, latent: Floats, variance: float = 1.0, noise: float = _START_NOISE) -> Floats:
        """Vector of a latent."""
        tail = [np.log(variance), np.log(max(noise, LEAST_NOISE))]
        if self.shape is not None:
            value, high = getattr(self.kernel, self.shape), _SHAPE_LIMIT.get(self.shape)
            tail.append(np.log(value) if high is None else -np.log(max(high / value - 1.0, 1e-2)))
        return np.concatenate([np.ravel(latent), tail])

    def __call__(self, vector: Floats, floor: float = LEAST_NOISE) -> tuple[float, Floats]:
        """Value and gradient."""
        # The first is for whoever has no time: the result has a likelihood in any case.
        if self.n_evaluations and self.expired:
            raise _TimeUp
        self.n_evaluations += 1
        latent, kernel = self.latent(vector), self.shaped(vector)
        variance, noise = self.scales(vector, floor)
        value, gradient = 0.0, np.zeros_like(vector)
        by_latent = self.latent(gradient)
        tail = gradient[self._size :]
        for members, cov in self._parts:
            at = negative_log_likelihood_and_gradient(
                latent[members], cov, kernel, variance, noise, shape=self.shape is not None
            )
            if not np.isfinite(at.value):
                return _HUGE, np.zeros_like(vector)
            value += at.value
            by_latent[members] += at.latent
            tail[:2] += at.log_variance, at.log_noise
            if self.shape is not None:
                tail[2] += at.shape
        tail[1] *= 1.0 - floor / noise
        if self.shape is not None:
            current, high = getattr(kernel, self.shape), _SHAPE_LIMIT.get(self.shape)
            tail[2] *= current if high is None else current * (1.0 - current / high)
        return value * self._share, gradient * self._share

    def polish(
        self, start: Candidate, steps: int, floor: float = LEAST_NOISE, tolerance: float = 1e-11
    ) -> Candidate:
        """At most ``steps`` steps of L-BFGS down from a candidate, never up."""
        best = Candidate(np.inf, start.vector, start.name)

        def follow(vector: Floats) -> tuple[float, Floats]:
            nonlocal best
            value, gradient = self(vector, floor)
            if value < best.value:
                best = Candidate(value, vector.copy(), start.name)
            return value, gradient

        options: dict[str, float] = {"maxiter": steps, "maxfun": 2 * steps, "maxcor": 20}
        options |= {"ftol": tolerance, "gtol": 1e-7}
        try:
            minimize(follow, start.vector, jac=True, method="L-BFGS-B", options=options)
        except _TimeUp:
            if best.value == np.inf:
                return start
        self.tick()
        return best

    def bottom(self, start: Candidate, steps: int, tolerance: float = 1e-8) -> Candidate:
        """Down to where nothing is left: Fisher scoring, or L-BFGS where that is too large."""
        if self.blocks is None and self.shape is None and self._size <= SCORING_LIMIT:
            return self.score(start, steps, tolerance=tolerance)
        return self.polish(start, 4 * steps, tolerance=0.1 * tolerance)

    def value(self, vector: Floats) -> float:
        """Value alone."""
        return self(vector)[0]

    def score(
        self, start: Candidate, steps: int, floor: float = LEAST_NOISE, tolerance: float = 1e-9
    ) -> Candidate:
        """At most ``steps`` steps of Fisher scoring down from a candidate, never up.

        The expected information stands in for the curvature (Levenberg's damping keeps steps
        short where it does not hold), and a valley is followed to its bottom in a dozen steps
        where L-BFGS takes hundreds.
        """
        best = start
        try:
            value, gradient = self(start.vector, floor)
            best = Candidate(value, start.vector, start.name)
            damping = _DAMPING
            for _ in range(steps):
                known = self._information(best.vector, floor)
                scale = np.maximum(np.diagonal(known), _LEAST_INFORMATION)
                for _ in range(_DAMPINGS):
                    damped = known.copy()
                    damped.flat[:: len(damped) + 1] += damping * scale
                    _, step, failed = dposv(damped, -gradient, lower=1, overwrite_a=1)
                    if not failed:
                        vector = best.vector + step
                        value, fresh = self(vector, floor)
                        if value < best.value:
                            break
                    damping = max(4.0 * damping, 1e-8)
                else:
                    return best
                gain = best.value - value
                foreseen = -float(gradient @ step) - 0.5 * float(step @ known @ step)
                best, gradient = Candidate(value, vector, start.name), fresh
                if gain < tolerance * abs(value):
                    break
                if gain > 0.75 * foreseen:
                    damping *= 0.2
                elif gain < 0.25 * foreseen:
                    damping *= 2.0
        except _TimeUp:
            pass
        return best

    def weighed(self, at: Candidate) -> Candidate:
        """A bottom with what Laplace's approximation of the evidence of its valley adds.

        The deepest of many valleys is often a narrow one that fits the errors; what counts is how
        much of all latents a valley holds, which is its depth and its volume.
        """
        scored = self.blocks is None and self.shape is None and self._size <= SCORING_LIMIT
        if self.n_observed is None or not scored or not np.isfinite(at.value):
            return at
        precision = (_WIDEST * self.kernel.length_scale) ** -2
        known = self.n_observed * self._information(at.vector, LEAST_NOISE)
        known.flat[:: len(known) + 1] += precision
        factor, failed = dpotrf(known, lower=1, overwrite_a=1)
        if failed:
            return at._replace(volume=np.inf)
        latent = self.latent(at.vector)
        held = float(np.log(np.diagonal(factor)).sum())
        held += 0.5 * precision * float(((latent - latent.mean(axis=0)) ** 2).sum())
        return at._replace(volume=held / self.n_observed)

    def _information(self, vector: Floats, floor: float) -> Floats:
        """Expected information of one observed dimension about a vector."""
        variance, noise = self.scales(vector, floor)
        out = expected_information(self.latent(vector), self.kernel, variance, noise)
        out[-1] *= 1.0 - floor / noise
        out[:, -1] *= 1.0 - floor / noise
        return out

    def place(self, latent: Floats, name: str, floor: float) -> Candidate:
        """Latent at the best of several scales: closed forms are often too wide or too narrow."""
        best = Candidate(np.inf, self.vector(latent), name)
        for scale in _SCALES:
            vector = self.vector(scale * latent)
            try:
                value = self(vector, floor)[0]
            except _TimeUp:
                break
            if value < best.value:
                best = Candidate(value, vector, name)
        return best

    def fit_scales(self, latent: Floats, name: str) -> Candidate:
        """Latent whose size, variance and noise are the likeliest, its form left alone."""
        best = self.place(latent, name, LEAST_NOISE)
        unit = self.latent(best.vector).ravel()

        def follow(tail: Floats) -> tuple[float, Floats]:
            nonlocal best
            vector = np.concatenate([np.exp(tail[0]) * unit, tail[1:]])
            value, gradient = self(vector)
            if value < best.value:
                best = Candidate(value, vector, name)
            by_size = float(gradient[: self._size] @ vector[: self._size])
            return value, np.concatenate([[by_size], gradient[self._size :]])

        start = np.concatenate([[0.0], best.vector[self._size :]])
        try:
            options = {"maxiter": 60, "ftol": 1e-15, "gtol": 1e-9}
            minimize(follow, start, jac=True, method="L-BFGS-B", options=options)
        except _TimeUp:
            pass
        return best
