"""The search behind likelihood refine: which starts, which floors, what is kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import gplvm, kernels
from ..kernels import StationaryKernel
from . import closed_forms, moves
from .composite import blocks_of
from .objective import LEAST_NOISE, Candidate, Objective
from .relax import detour

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

_SOFT = (0.3, 0.1)
_FROM_AFAR = (1.0, 0.3, 0.1)
_WIDE = ((0.3, 0.1), (3.0, 1.0, 0.3, 0.1))
_COOL = (0.03, 0.01)
_STEPS = 30
_COOL_STEPS = 15
_BLOCK_STEPS = 20
_FINALISTS = 5
_SHAKE = 1.0  # length-scales
_JURY = 4
_PATIENCE = 20
_FEW = 4  # moves where the first starts agree: one of each way
_SHAKES = 80
_BETTER = 1e-4
_LARGEST_PART = 12
_SEAT_NOISE = 0.1
_MOVED = 0.7  # length-scales: points that end nearer to their old seats have none else
_PROMISING = 12
_SETTLE = 12
_RESEATS = 3
_SAME = 0.02  # candidates this near in value under a floor are in one valley
_KNOWN = 0.005  # shaken ones are known to be where another was only if they are nearer
_HOPELESS = 0.7
_CLOSE = 1.0  # kernels this near in value after a short search are both searched
_NOISY = 0.15  # share of noise in the variance
_EXTRA = (1, 3)  # dimensions
_DETOURS = 3
_SPREADS = (0.1, 0.5)
_LOOSE = 1e-7
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
        Called after every stage.
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
        spread = np.sqrt(np.diagonal(cov))
        self._corr = np.clip(cov / np.outer(spread, spread), -1.0, 1.0)
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
            soft = [self._anneal(objective, starts[key], key, _SOFT) for key in starts]
            screened.append((self._cool(objective, _best(soft)).value, kernel))
        screened.sort(key=lambda pair: pair[0])
        close = [kernel for value, kernel in screened[:2] if value < screened[0][0] + _CLOSE]
        found = [self.run(kernel) for kernel in close]
        return min(found, key=lambda one: one.best.value)

    def _go_down(self, kernel: StationaryKernel) -> Found:
        """From the given starts to the bottoms of their own valleys."""
        objective, starts = self._objective(kernel), self._starts(kernel)
        done = [self._untouched(objective, latent, name) for name, latent in starts.items()]
        return Found(objective, _best(done), _pool(done))

    def _search_all(self, kernel: StationaryKernel) -> Found:
        """All starts softly, the best of every valley to the bottom, then moves out of the best.

        Where the first few starts, which come from different graphs, all end in one valley, the
        others are left out and fewer moves are tried; so are they with many observed dimensions,
        where nearly every start ends in the right valley.
        """
        objective, starts = self._objective(kernel), self._starts(kernel)
        names = list(starts)
        soft = [self._anneal(objective, starts[name], name, _SOFT) for name in names[:_JURY]]
        values = [at.value for at in soft]
        easy = len(names) > _JURY and max(values) - min(values) < _SAME
        if not easy:
            soft += [self._anneal(objective, starts[name], name, _SOFT) for name in names[_JURY:]]
            easy = self.n_observed >= MANY_OBSERVED
        valleys = _valleys(soft)[:_FINALISTS]
        done = [self._cool(objective, at) for at in valleys]
        if self.given is not None:
            done += [self._untouched(objective, latent, name) for name, latent in starts.items()]
        best = _best(done)
        variance, noise = objective.scales(best.vector)
        if noise > _NOISY * (variance + noise) and not easy:
            # Floors below the noise change nothing; extra dimensions do.
            done += self._detours(objective, done)
            best = _best(done)
        seen = [at.value for at in valleys]
        best = self._moved(objective, best, seen, _FEW if easy else _PATIENCE)
        best = objective.bottom(best, 60, 1e-10)
        return Found(objective, best, _pool([*done, best]))

    def _search_blocks(self, kernel: StationaryKernel) -> Found:
        """All starts softly over common blocks, then the best down with fresh cuts each stage."""
        starts, size = self._starts(kernel), self._block_size()
        objective = self._objective(kernel, self._common_blocks(starts))
        soft = [
            self._anneal(objective, latent, name, floors, _BLOCK_STEPS)
            for name, latent in starts.items()
            for floors in _WIDE[: 2 if self.n_observed < FEW_OBSERVED else 1]
        ]
        best = _best(soft)
        for cut, floor in enumerate((*_COOL, LEAST_NOISE), start=1):
            blocks = blocks_of(objective.latent(best.vector), size, cut)
            objective = self._objective(kernel, blocks)
            steps = 2 * _BLOCK_STEPS if floor == LEAST_NOISE else _BLOCK_STEPS
            best = objective.polish(best, steps, floor)
            self.tick()
        done = [best]
        if len(self.cov) <= FULL_LIMIT:
            objective = self._objective(kernel)
            done = [objective.bottom(best, 60, 1e-10)]
        if self.given is not None:
            done += [self._untouched(objective, latent, name) for name, latent in starts.items()]
        return Found(objective, _best(done), _pool(done))

    def _detours(self, objective: Objective, done: list[Candidate]) -> list[Candidate]:
        """The best few through one and three extra dimensions, lightly and far into them."""
        found = []
        for extra in _EXTRA:
            if self.n_components + extra >= len(self.cov):
                break
            wide = self._objective(objective.kernel, extra=extra)
            for at in sorted(done, key=_value)[:_DETOURS]:
                found += [detour(objective, wide, at, spread) for spread in _SPREADS]
                self.tick()
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
            blocks=blocks,
            deadline=self.deadline,
            shape=shape,
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

    def _anneal(
        self,
        objective: Objective,
        latent: Floats,
        name: str,
        floors: tuple[float, ...],
        steps: int = _STEPS,
    ) -> Candidate:
        """From a start down through the floors; the value is that under the last."""
        at = objective.place(latent, name, floors[0])
        for floor in floors:
            at = objective.polish(at, steps, floor, _LOOSE)
            self.tick()
        return at

    def _cool(self, objective: Objective, at: Candidate) -> Candidate:
        """From the last floor of `_anneal` to none."""
        for floor in _COOL:
            at = objective.polish(at, _COOL_STEPS, floor, _LOOSE)
        self.tick()
        # What the floor stood for is noise until the data say otherwise.
        variance, noise = objective.scales(at.vector, _COOL[-1])
        start = objective.vector(objective.latent(at.vector), variance, noise)
        return objective.bottom(at._replace(vector=start), 15)

    def _untouched(self, objective: Objective, latent: Floats, name: str) -> Candidate:
        """Polish a start without the floors: one that is right already must not be lost."""
        near = objective.polish(objective.fit_scales(latent, name), 90)
        return objective.bottom(near, 60, 1e-10)

    def _moved(
        self, objective: Objective, best: Candidate, seen: list[float], patience: int
    ) -> Candidate:
        """Shake and reseat points of the best until neither finds anything better."""
        rng = np.random.default_rng(0)
        while not objective.expired:
            best = self._shaken(objective, best, seen, rng, patience)
            other = self._reseated(objective, best)
            if other.value > best.value - _BETTER:
                break
            best = other
        return best

    def _shaken(
        self,
        objective: Objective,
        best: Candidate,
        seen: list[float],
        rng: np.random.Generator,
        patience: int,
    ) -> Candidate:
        """Shake until so many shakes in a row have come to nothing."""
        size, idle, turn = _SHAKE * objective.kernel.length_scale, 0, 0
        while idle < patience and turn < _SHAKES and not objective.expired:
            latent = moves.shaken(objective.latent(best.vector), turn, size, rng)
            at = self._anneal(objective, latent, best.name, _SOFT if turn % 4 else _FROM_AFAR)
            turn, idle = turn + 1, idle + 1
            if self._is_known(at.value, seen):
                continue
            other = self._cool(objective, at)
            if other.value < best.value - _BETTER:
                best, idle = other, 0
        return best

    def _reseated(self, objective: Objective, best: Candidate) -> Candidate:
        """Seat small parts again and follow the most promising down."""
        latent, variance = objective.latent(best.vector), objective.scales(best.vector)[0]
        groups = moves.parts(self._corr, _LARGEST_PART)
        found = []
        for other in moves.reseated(
            latent, self.cov, objective.kernel, variance, _SEAT_NOISE, groups
        ):
            if objective.expired:
                return best
            gone = np.sqrt(((other - latent) ** 2).sum(axis=1).max())
            if gone > _MOVED * objective.kernel.length_scale:
                vector = objective.vector(other, variance, _SEAT_NOISE)
                found.append(Candidate(objective.value(vector), vector, best.name))
        if not found:
            return best
        here = Candidate(np.inf, objective.vector(latent, variance, _SEAT_NOISE), best.name)
        promising = [here, *sorted(found, key=_value)[:_PROMISING]]
        soft = [objective.polish(at, _SETTLE, _SOFT[-1], _LOOSE) for at in promising]
        self.tick()
        new = [at for at in _valleys(soft[1:]) if abs(at.value - soft[0].value) > _SAME]
        return _best([best, *(self._cool(objective, at) for at in new[:_RESEATS])])

    @staticmethod
    def _is_known(value: float, seen: list[float]) -> bool:
        """Whether a valley was cooled already, or is far too high to be worth it; else note it."""
        if any(abs(value - other) < _KNOWN for other in seen) or value > min(seen) + _HOPELESS:
            return True
        seen.append(value)
        return False


def _value(at: Candidate) -> float:
    return at.value


def _best(candidates: list[Candidate]) -> Candidate:
    """Candidate of the least value, the first of equals."""
    return min(candidates, key=_value)


def _pool(candidates: list[Candidate]) -> dict[str, float]:
    """Least value that each start reached."""
    return {at.name: at.value for at in sorted(candidates, key=_value, reverse=True)}


def _valleys(candidates: list[Candidate]) -> list[Candidate]:
    """The best of every valley, from the lowest valley to the highest."""
    out: list[Candidate] = []
    for at in sorted(candidates, key=_value):
        if not out or at.value - out[-1].value > _SAME:
            out.append(at)
    return out
