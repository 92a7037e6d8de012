"""The search behind likelihood refine: which starts, which floors, what is kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import gplvm, kernels
from ..kernels import StationaryKernel
from . import closed_forms
from .composite import blocks_of
from .descent import (
    COOL,
    SAME,
    SOFT,
    anneal,
    best_of,
    cool,
    merit_of,
    straight,
    valleys_of,
    value_of,
)
from .leave import leave
from .objective import LEAST_NOISE, Candidate, Objective
from .relax import detour, leading

Floats = NDArray[np.float64]
Blocks = Sequence[NDArray[np.intp]]

BLOCK = 100
"""Points in a block of the composite likelihood, which takes over beyond two of them."""

FULL_LIMIT = 400
"""Number of points up to which the last steps see the likelihood of all points at once."""

FEW_OBSERVED = 50
"""Observed dimensions below which a large latent is searched widely: noise makes more valleys."""

MANY_OBSERVED = 500
"""Observed dimensions from which fewer starts and moves are enough."""

_WIDE = (SOFT, (3.0, 1.0, *SOFT))
_BLOCK_STEPS = 20
_FINALISTS = 5
_JURY = 4
_PATIENCE = 20
_FEW = 4  # moves where the first starts agree: one of each way
_CLOSE = 1.0  # kernels this near in value after a short search are both searched
_LITTLE_NOISE, _NOISY, _MUCH_NOISE = 0.05, 0.15, 0.3  # shares of noise in the variance
_SURE_OBSERVED = 200
_EXTRA = (1, 3)  # dimensions
_UNROLLED = (1, 2)
_DETOURS = 3
_ABOVE = 8  # valleys of one more dimension
_SPREADS = (0.1, 0.5)
_SCREEN_NAMES = ("threshold + stress", "threshold", "5 neighbors", "nearest rows")


class Found(NamedTuple):
    """Where the search for one kernel ended."""

    objective: Objective
    best: Candidate
    pool: dict[str, float]  # value of each finalist


class Search:
    """One covariance to be explained: what the searches for several kernels share.

    Parameters
    ----------
    cov : (n, n) float64, symmetric
        Sample covariance with a mean variance of 1.
    n_observed : int
        Number N of observed dimensions.
    n_components : int
        Columns of the latent.
    given : dict of str to (n, m) float64, or None
        Starts, instead of the closed forms.
    moves : bool
        Leave the valleys of the starts; otherwise only go down from those given.
    fit_shape : bool
        End with the kernel's shape parameter free.
    deadline : float
        Value of ``time.perf_counter`` at which to end.
    tick : callable
        Called after every descent.
    """

    def __init__(
        self,
        cov: Floats,
        n_observed: int,
        n_components: int,
        *,
        given: dict[str, Floats] | None = None,
        moves: bool = True,
        fit_shape: bool = False,
        deadline: float = np.inf,
        tick: Callable[[], None] = lambda: None,
    ) -> None:
        self.cov, self.n_observed, self.n_components = cov, n_observed, n_components
        self.given, self.fit_shape, self.deadline, self.tick = given, fit_shape, deadline, tick
        self.moves = moves
        self.blocked = len(cov) > 2 * BLOCK
        self._objectives: list[Objective] = []
        self._blocks: Blocks | None = None

    @property
    def n_evaluations(self) -> int:
        """Evaluations of the likelihood so far."""
        return sum(objective.n_evaluations for objective in self._objectives)

    def run(self, kernel: StationaryKernel) -> Found:
        """Find the likeliest latent under a kernel."""
        if not self.moves:
            found = self._go_down(kernel)
        else:
            found = self._search_blocks(kernel) if self.blocked else self._search_all(kernel)
        if self.fit_shape and gplvm.shape_name(kernel) is not None:
            return self._free_shape(found)
        return found

    def run_all(self) -> Found:
        """Find the likeliest latent under the likeliest kernel.

        A short search with every kernel leaves the best, and the second where it is close.
        """
        screened = []
        for name in kernels.KERNELS:
            kernel = kernels.get(name)
            starts = self._starts(kernel)
            starts = {key: starts[key] for key in _SCREEN_NAMES if key in starts} or starts
            objective = self._objective(kernel, self._common_blocks(starts))
            soft = [anneal(objective, starts[key], key) for key in starts]
            screened.append((cool(objective, best_of(soft)).value, kernel))
        screened.sort(key=lambda pair: pair[0])
        close = [kernel for value, kernel in screened[:2] if value < screened[0][0] + _CLOSE]
        found = [self.run(kernel) for kernel in close]
        return min(found, key=lambda one: one.best.value)

    def _go_down(self, kernel: StationaryKernel) -> Found:
        """From the given starts to the bottoms of their own valleys."""
        objective, starts = self._objective(kernel), self._starts(kernel)
        done = [straight(objective, latent, name) for name, latent in starts.items()]
        return Found(objective, best_of(done), _pool(done))

    def _search_all(self, kernel: StationaryKernel) -> Found:
        """All starts softly, the best of every valley to the bottom, then moves out of the best.

        Where the first few starts, which come from different graphs, all end in one valley and
        find little noise, the others are left out and fewer moves are tried; so are moves with many
        observed dimensions, where nearly every start ends in the right valley.
        """
        objective, starts = self._objective(kernel), self._starts(kernel)
        names = list(starts)
        soft = [anneal(objective, starts[name], name) for name in names[:_JURY]]
        values, lead = [at.value for at in soft], best_of(soft)
        done = []
        agreed = len(names) > _JURY and max(values) - min(values) < SAME
        if agreed:
            done.append(cool(objective, lead))
            # In noise all of them may err alike, the sooner the fewer dimensions there are.
            limit = _MUCH_NOISE if self.n_observed >= _SURE_OBSERVED else _LITTLE_NOISE
            agreed = _noise_share(objective, done[0]) < limit
        easy = agreed or self.n_observed >= MANY_OBSERVED
        if not agreed:
            soft += [anneal(objective, starts[name], name) for name in names[_JURY:]]
        valleys = valleys_of(soft)[:_FINALISTS]
        done += [cool(objective, at) for at in valleys if not done or at is not lead]
        if self.given is not None:
            done += [straight(objective, latent, name) for name, latent in starts.items()]
        best = best_of(done)
        if not easy and _noise_share(objective, best) > _NOISY:
            # Floors below the noise change nothing; extra dimensions do.
            done += self._detours(objective, done) + self._from_above(objective)
            best = best_of(done)
        seen = [at.value for at in valleys]
        best = leave(objective, best, seen, _FEW if easy else _PATIENCE)
        if self.n_components == 1:
            lines = self._unrolled(objective)
            if lines and best_of(lines).merit < best.merit - SAME:
                done += lines
                best = leave(objective, best_of(lines), seen, _FEW)
        best = objective.bottom(best, 60, 1e-10)
        return Found(objective, best, _pool([*done, best]))

    def _search_blocks(self, kernel: StationaryKernel) -> Found:
        """All starts softly over common blocks, then the best down with fresh cuts each stage."""
        starts, size = self._starts(kernel), self._block_size()
        objective = self._objective(kernel, self._common_blocks(starts))
        soft = [
            anneal(objective, latent, name, floors, _BLOCK_STEPS)
            for name, latent in starts.items()
            for floors in _WIDE[: 2 if self.n_observed < FEW_OBSERVED else 1]
        ]
        best = best_of(soft)
        for cut, floor in enumerate((*COOL, LEAST_NOISE), start=1):
            blocks = blocks_of(objective.latent(best.vector), size, cut)
            objective = self._objective(kernel, blocks)
            steps = 2 * _BLOCK_STEPS if floor == LEAST_NOISE else _BLOCK_STEPS
            best = objective.polish(best, steps, floor)
        done = [best]
        if len(self.cov) <= FULL_LIMIT:
            objective = self._objective(kernel)
            done = [objective.bottom(best, 60, 1e-10)]
        if self.given is not None:
            done += [straight(objective, latent, name) for name, latent in starts.items()]
        return Found(objective, best_of(done), _pool(done))

    def _detours(self, objective: Objective, done: list[Candidate]) -> list[Candidate]:
        """The best few through one and three extra dimensions, lightly and far into them."""
        found = []
        for extra in _EXTRA:
            if self.n_components + extra >= len(self.cov):
                break
            wide = self._objective(objective.kernel, extra=extra)
            for at in sorted(done, key=merit_of)[:_DETOURS]:
                found += [detour(objective, wide, at, spread) for spread in _SPREADS]
        return [objective.weighed(at) for at in found]

    def _from_above(self, objective: Objective) -> list[Candidate]:
        """The leading coordinates of what is found, from the start, in one dimension more."""
        size = self.n_components + 1
        if self.given is not None or size >= len(self.cov):
            return []
        wide = self._objective(objective.kernel, extra=1)
        starts = closed_forms.starts(self.cov, self.n_observed, size, objective.kernel)
        soft = [anneal(wide, latent, name) for name, latent in starts.items()]
        found = []
        for at in valleys_of(soft)[:_ABOVE]:
            latent = leading(wide.latent(cool(wide, at).vector), self.n_components)
            found.append(cool(objective, anneal(objective, latent, at.name)))
        return found

    def _unrolled(self, objective: Objective) -> list[Candidate]:
        """Lines along the curves that are found in a plane and in space, where nothing is stuck."""
        found = []
        for extra in _UNROLLED:
            if self.n_components + extra >= len(self.cov):
                break
            wide, size = self._objective(objective.kernel, extra=extra), self.n_components + extra
            starts = closed_forms.starts(self.cov, self.n_observed, size, objective.kernel)
            soft = [anneal(wide, starts[name], name) for name in list(starts)[:_JURY]]
            curve = cool(wide, best_of(soft))
            lines = closed_forms.along(
                wide.latent(curve.vector), objective.kernel, self.n_components
            )
            for name, latent in lines.items():
                found.append(cool(objective, anneal(objective, latent, name)))
                begin = objective.vector(latent, *wide.scales(curve.vector, COOL[-1]))
                near = objective.polish(Candidate(np.inf, begin, name), 2 * _BLOCK_STEPS)
                found.append(objective.weighed(objective.bottom(near, 15)))
        return found

    def _free_shape(self, found: Found) -> Found:
        """Polish with the kernel's shape parameter free."""
        fixed, at = found.objective, found.best
        objective = self._objective(fixed.kernel, fixed.blocks, shape=True)
        start = objective.vector(fixed.latent(at.vector), *fixed.scales(at.vector))
        best = objective.polish(at._replace(vector=start), 300)
        return Found(objective, best, found.pool | {best.name: best.value})

    def _objective(
        self,
        kernel: StationaryKernel,
        blocks: Blocks | None = None,
        *,
        shape: bool = False,
        extra: int = 0,
    ) -> Objective:
        """Likelihood of this covariance under a kernel."""
        objective = Objective(
            self.cov,
            kernel,
            self.n_components + extra,
            n_observed=self.n_observed,
            blocks=blocks,
            deadline=self.deadline,
            shape=shape,
            tick=self.tick,
        )
        self._objectives.append(objective)
        return objective

    def _starts(self, kernel: StationaryKernel) -> dict[str, Floats]:
        """Starts that were given, or the closed forms."""
        if self.given is not None:
            return self.given
        wide = not self.blocked or self.n_observed < FEW_OBSERVED
        return closed_forms.starts(self.cov, self.n_observed, self.n_components, kernel, wide=wide)

    def _block_size(self) -> int:
        """Points in a block: larger ones hold more of the little that few dimensions tell."""
        return 2 * BLOCK if self.n_observed < FEW_OBSERVED else BLOCK

    def _common_blocks(self, starts: dict[str, Floats]) -> Blocks | None:
        """One set of blocks for every start and kernel, so that values can be compared."""
        if self.blocked and self._blocks is None:
            self._blocks = blocks_of(next(iter(starts.values())), self._block_size())
        return self._blocks


def _noise_share(objective: Objective, at: Candidate) -> float:
    """Share of the variance that is noise."""
    variance, noise = objective.scales(at.vector)
    return noise / (variance + noise)


def _pool(candidates: list[Candidate]) -> dict[str, float]:
    """Least value that each start reached."""
    return {at.name: at.value for at in sorted(candidates, key=value_of, reverse=True)}
