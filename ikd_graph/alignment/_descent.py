"""Conjugate gradients on the sum of squares between blocks and a consensus."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# The best step is mostly longer than the plain one, to where the means are.
_FIRST_STEP = 1.5
# What is found at a trial step says little of places so many times further on, or nearer.
_STRETCH = 4.0
# A trial step too far is no harm, for it tells where to stop. So many on end that find nothing
# lower, or one that finds so many times as much, say that old directions have lost their meaning.
_MOST_WORSE, _TOO_FAR = 4, 4.0


class Descent:
    """A start on its way to the nearest local minimum.

    ``look`` maps points (n, M) to their value and to the weighted means of where their blocks would
    put them, which cannot have a larger value; ``weights`` (n,) are those of the points, zero for
    those in no block. In their metric, half the gradient is points minus means.
    """

    def __init__(
        self, look: Callable[[Floats], tuple[float, Floats]], weights: Floats, points: Floats
    ) -> None:
        self._look, self._weights = look, weights
        self.mean, self.lowest = points, np.inf  # the best that was found, of at most that value
        self.n_rounds, self.converged = 0, False
        self._worse = 0
        self._start_at(points)

    def run(self, n_rounds: int, tolerance: float, floor: float) -> None:
        """Rounds until two on end promise to lower the value by less than ``tolerance`` of it.

        A round looks at one place, a trial step ahead along a conjugate direction. What it finds
        tells where the slope along the direction vanishes, and what the gradient is there, so that
        the next round begins at that place without a look at it. Values up to ``floor`` are zero.
        """
        still, self.n_rounds = 0, 0
        self.converged = self.lowest <= floor
        while self.n_rounds < n_rounds and not self.converged:
            self.n_rounds += 1
            gain = self._advance()
            still = still + 1 if gain <= tolerance * self.lowest else 0
            self.converged |= still == 2 or self.lowest <= floor

    def _start_at(self, points: Floats) -> None:
        """Go on from some points, with nothing remembered."""
        self._points, self._trial = points.copy(), points.copy()
        self._step, self._known = _FIRST_STEP, False

    def _advance(self) -> float:
        """One round; how much lower than before the value is, as far as known."""
        value, mean = self._look(self._trial)
        self._worse = 0 if value < self.lowest else self._worse + 1
        if value < self.lowest:
            self.mean, self.lowest = mean, value
        elif not self._known:
            # Not even the plain step is lower, but for rounding errors.
            self.converged = True
            return 0.0
        elif self._worse == _MOST_WORSE or not value <= _TOO_FAR * self.lowest:
            self._worse = 0
            self._start_at(self.mean)
            return np.inf
        if not self._known:
            self._known, self._pull = True, mean - self._points
            self._direction = self._pull.copy()
            self._trial = self._points + self._step * self._direction
            return np.inf
        return self._turn(mean)

    def _turn(self, mean: Floats) -> float:
        """Go to where the slope along the direction vanishes, and turn to a conjugate one.

        The trial, a step ahead, has its means at ``mean``. The way is between 1 / ``_STRETCH`` and
        ``_STRETCH`` times the step. Returns by how much the value falls on it.
        """
        step, pull, direction = self._step, self._pull, self._direction
        slope = self._inner(pull, direction)
        bend = slope - self._inner(mean - self._trial, direction)
        stretch = slope / bend if _STRETCH * bend > slope else _STRETCH
        stretch = max(stretch, 1.0 / _STRETCH)
        self._points = self._points + stretch * step * direction
        change = stretch * (mean - self._trial - pull)
        self._pull = pull + change
        # Polak and Ribiere.
        size = self._inner(pull, pull)
        share = max(self._inner(self._pull, change) / size, 0.0) if size > 0.0 else 0.0
        self._direction = self._pull + share * direction
        if self._inner(self._pull, self._direction) <= 0.0:
            self._direction = self._pull.copy()
        self._step = step * np.sqrt(stretch)
        self._trial = self._points + self._step * self._direction
        return stretch * step * slope

    def _inner(self, left: Floats, right: Floats) -> float:
        """Inner product in the metric of the weights."""
        return float(self._weights @ np.einsum("ij,ij->i", left, right))
