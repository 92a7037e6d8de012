"""The search behind likelihood refine: which starts, which floors, what is kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf

from .. import gplvm, kernels
from ..kernels import StationaryKernel
from . import closed_forms
from .composite import blocks_of
from .descent import (
    COOL,
    LOOSE,
    SAME,
    SOFT,
    anneal,
    best_of,
    cool,
    descend,
    distinct,
    value_of,
)
from .escape import escape
from .lift_dimension import detour, leading
from .minimize import converge, polish, scores
from .objective import LEAST_NOISE, Candidate, Meter, Objective

Floats = NDArray[np.float64]
Blocks = Sequence[NDArray[np.intp]]

BLOCK = 100
"""Points in a block of the composite likelihood, which takes over beyond two of them."""

FULL_LIMIT = 2000
"""Points up to which the last steps see the likelihood of all at once: a step takes S s there."""

FEW_OBSERVED = 50
"""Observed dimensions below which a large latent is searched widely: noise makes more optima."""

MANY_OBSERVED = 500
"""Observed dimensions from which fewer starts and perturbations are enough."""

MOST_WORK = 1.5e10
"""Cubed points, summed over evaluations, after which no perturbation begins: about 3 s."""

FULL_WORK = 3e11
EVIDENCE = False

_WIDE = (SOFT, (3.0, 1.0, *SOFT))
_BLOCK_STEPS = 20
_FINALISTS = 5
_BLOCK_FINALISTS = 2
_JURY = 4
_PATIENCE = 20
_FEW = 4
_CLOSE = 1.0
_LITTLE_NOISE, _NOISY, _MUCH_NOISE = 0.05, 0.15, 0.3
_SURE_OBSERVED = 200
_EXTRA = (1, 3)
_UNROLLED = (1, 2)
_DETOURS = 3
_ABOVE = 8
_SPREADS = (0.1, 0.5)
_SCREEN_NAMES = ("threshold + stress", "threshold", "5 neighbors", "nearest rows")


class Found(NamedTuple):
    """Where the search for one kernel ended."""

    objective: Objective
    ends: list[Candidate]  # the best of every start followed to its end, most likely first

    @property
    def best(self) -> Candidate:
        """The most likely end."""
        return self.ends[0]


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
    given : dict of str to (n, m) float64
        Starts beside the closed forms.
    wide : bool
        Also start from the closed forms, and perturb the best.
    meter : Meter
        When to stop.
    """

    def __init__(
        self,
        cov: Floats,
        n_observed: int,
        n_components: int,
        given: dict[str, Floats],
        *,
        wide: bool,
        meter: Meter,
    ) -> None:
        self.cov, self.n_observed, self.n_components = cov, n_observed, n_components
        self.given, self.wide, self.meter = given, wide, meter
        self.blocked = len(cov) > 2 * BLOCK
        self._blocks: Blocks | None = None

    def run(self, kernel: StationaryKernel, fit_shape: bool = False) -> Found:
        """Find the likeliest latent under a kernel."""
        if not self.wide:
            found = self._from_given(kernel)
        else:
            found = self._search_blocks(kernel) if self.blocked else self._search_all(kernel)
        if fit_shape and gplvm.shape_name(kernel) is not None:
            return self._free_shape(found)
        return found

    def run_all(self, fit_shape: bool = False) -> Found:
        """Find the likeliest latent under the likeliest kernel.

        A short search with every kernel leaves the best, and the second where it is close.
        """
        screened = []
        for name in kernels.KERNELS:
            kernel = kernels.get(name)
            starts = self._starts(kernel)
            starts = {key: starts[key] for key in _SCREEN_NAMES if key in starts} | self.given
            objective = self._objective(kernel, self._common_blocks(starts))
            soft = [anneal(objective, starts[key], key) for key in starts]
            screened.append((cool(objective, best_of(soft)).value, kernel))
        screened.sort(key=lambda pair: pair[0])
        close = [kernel for value, kernel in screened[:2] if value < screened[0][0] + _CLOSE]
        found = [self.run(kernel, fit_shape) for kernel in close]
        return min(found, key=lambda one: one.best.value)

    def _from_given(self, kernel: StationaryKernel) -> Found:
        """Every given start down plainly and through floors."""
        soft, whole, n = self._soft_objective(kernel), self._last_objective(kernel), len(self.cov)
        done = []
        for name, latent in self.given.items():
            done.append(self._finish(whole, self._descend(whole, latent, name)))
            at = anneal(soft, latent, name)
            done.append(self._down(at, soft, whole))
        return self._found(whole, done)

    def _soft_objective(self, kernel: StationaryKernel) -> Objective:
        return self._objective(kernel, self._common_blocks(self.given or self._starts(kernel)))

    def _last_objective(self, kernel: StationaryKernel) -> Objective:
        """All points at once, as far as that can be paid for."""
        if len(self.cov) <= FULL_LIMIT:
            return self._objective(kernel)
        return self._objective(kernel, self._blocks)

    def _full_steps(self, share: float = 1.0) -> int:
        return int(np.clip(share * FULL_WORK / len(self.cov) ** 3, 10, 300))

    def _descend(self, whole: Objective, latent: Floats, name: str) -> Candidate:
        return descend(whole, latent, name, self._full_steps())

    def _down(self, at: Candidate, soft: Objective, whole: Objective) -> Candidate:
        """From the last of the soft floors to the end."""
        if soft.blocks is None:
            return cool(whole, at)
        for cut, floor in enumerate((*COOL, LEAST_NOISE), start=1):
            blocks = blocks_of(soft.latent(at.vector), self._block_size(), cut)
            steps = 2 * _BLOCK_STEPS if floor == LEAST_NOISE else _BLOCK_STEPS
            at = polish(self._objective(soft.kernel, blocks), at, steps, floor)
        if whole.blocks is not None:
            return whole.candidate(at.vector, at.name)
        return self._finish(whole, at)

    def _finish(self, whole: Objective, at: Candidate) -> Candidate:
        if scores(whole):
            return converge(whole, at, 60, 1e-10)
        return polish(whole, at, self._full_steps(), tolerance=1e-10)

    def _search_all(self, kernel: StationaryKernel) -> Found:
        """All starts softly, the best of every optimum down, then perturbations of the best."""
        objective, starts = self._objective(kernel), self._starts(kernel)
        names = list(starts)
        soft = [anneal(objective, starts[name], name) for name in names[:_JURY]]
        values, lead = [at.value for at in soft], best_of(soft)
        done = []
        agreed = len(names) > _JURY and max(values) - min(values) < SAME
        if agreed:
            done.append(cool(objective, lead))
            limit = _MUCH_NOISE if self.n_observed >= _SURE_OBSERVED else _LITTLE_NOISE
            agreed = _noise_share(objective, done[0]) < limit
        easy = agreed or self.n_observed >= MANY_OBSERVED
        if not agreed:
            soft += [anneal(objective, starts[name], name) for name in names[_JURY:]]
        optima = distinct(soft)[:_FINALISTS]
        done += [cool(objective, at) for at in optima if not done or at is not lead]
        best = self._choose(objective, done)
        if not easy and _noise_share(objective, best) > _NOISY:
            # Floors below the noise change nothing; extra dimensions do.
            done += self._detours(objective, done) + self._from_above(objective)
            best = self._choose(objective, done)
        seen = [at.value for at in optima]
        patience = _FEW if easy else _PATIENCE
        best = escape(objective, best, seen, patience, self.meter.work + MOST_WORK)
        if self.n_components == 1:
            lines = self._unrolled(objective)
            if lines and best_of(lines).value < best.value - SAME:
                done += lines
                best = escape(objective, best_of(lines), seen, _FEW, self.meter.work + MOST_WORK)
        best = converge(objective, best, 60, 1e-10)
        plain = [self._descend(objective, latent, name) for name, latent in self.given.items()]
        if EVIDENCE:
            if not plain or best.value <= best_of(plain).value:
                return Found(objective, [best])
        return self._found(objective, [*plain, *done, best])

    def _choose(self, objective: Objective, done: list[Candidate]) -> Candidate:
        if not EVIDENCE:
            return best_of(done)
        return min(done, key=lambda at: at.value + volume(objective, at, self.n_observed))

    def _search_blocks(self, kernel: StationaryKernel) -> Found:
        """All starts softly over common blocks, then the best down with fresh cuts each stage."""
        starts = self._starts(kernel)
        soft = self._objective(kernel, self._common_blocks(starts))
        whole = self._last_objective(kernel)
        ends = [
            anneal(soft, latent, name, floors, _BLOCK_STEPS)
            for name, latent in starts.items()
            for floors in _WIDE[: 2 if self.n_observed < FEW_OBSERVED else 1]
        ]
        done = [self._down(at, soft, whole) for at in distinct(ends)[:_BLOCK_FINALISTS]]
        done += [self._descend(whole, latent, name) for name, latent in self.given.items()]
        return self._found(whole, done)

    def _detours(self, objective: Objective, done: list[Candidate]) -> list[Candidate]:
        """The best few through one and three extra dimensions, lightly and far into them."""
        found = []
        for extra in _EXTRA:
            if self.n_components + extra >= len(self.cov):
                break
            wide = self._objective(objective.kernel, extra=extra)
            for at in sorted(done, key=value_of)[:_DETOURS]:
                found += [detour(objective, wide, at, spread) for spread in _SPREADS]
        return found

    def _from_above(self, objective: Objective) -> list[Candidate]:
        """The leading coordinates of what is found, from the start, in one dimension more."""
        size = self.n_components + 1
        if size >= len(self.cov):
            return []
        wide = self._objective(objective.kernel, extra=1)
        starts = closed_forms.starts(self.cov, self.n_observed, size, objective.kernel)
        soft = [anneal(wide, latent, name) for name, latent in starts.items()]
        found = []
        for at in distinct(soft)[:_ABOVE]:
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
            lines = closed_forms.unroll_curve(
                wide.latent(curve.vector), objective.kernel, self.n_components
            )
            for name, latent in lines.items():
                found.append(cool(objective, anneal(objective, latent, name)))
                begin = objective.vector(latent, *wide.scales(curve.vector))
                near = polish(objective, Candidate(np.inf, begin, name), 2 * _BLOCK_STEPS)
                found.append(converge(objective, near, 15))
        return found

    def _free_shape(self, found: Found) -> Found:
        """Polish with the kernel's shape parameter free."""
        fixed = found.objective
        objective = self._objective(fixed.kernel, fixed.blocks, shape=True)
        ends = []
        for at in found.ends[:1]:
            start = objective.vector(fixed.latent(at.vector), *fixed.scales(at.vector))
            ends.append(polish(objective, at._replace(vector=start), self._full_steps()))
        return Found(objective, ends)

    def _found(self, objective: Objective, done: list[Candidate]) -> Found:
        best: dict[str, Candidate] = {}
        for at in sorted(done, key=value_of):
            best.setdefault(at.name, at)
        return Found(objective, list(best.values()))

    def _objective(
        self,
        kernel: StationaryKernel,
        blocks: Blocks | None = None,
        *,
        shape: bool = False,
        extra: int = 0,
    ) -> Objective:
        """Likelihood of this covariance under a kernel."""
        size = self.n_components + extra
        return Objective(self.cov, kernel, size, blocks=blocks, shape=shape, meter=self.meter)

    def _starts(self, kernel: StationaryKernel) -> dict[str, Floats]:
        """Starts that were given, and the closed forms."""
        if not self.wide:
            return self.given
        wide = not self.blocked or self.n_observed < FEW_OBSERVED
        found = closed_forms.starts(self.cov, self.n_observed, self.n_components, kernel, wide=wide)
        return self.given | found

    def _block_size(self) -> int:
        """Points in a block: larger ones hold more of the little that few dimensions tell."""
        return 2 * BLOCK if self.n_observed < FEW_OBSERVED else BLOCK

    def _common_blocks(self, starts: dict[str, Floats]) -> Blocks | None:
        """One set of blocks for every start and kernel, so that values can be compared."""
        if self.blocked and self._blocks is None:
            self._blocks = blocks_of(next(iter(starts.values())), self._block_size())
        return self._blocks


def volume(objective: Objective, at: Candidate, n_observed: int) -> float:
    """Laplace's volume term, in the unit of the value."""
    if not scores(objective) or not np.isfinite(at.value):
        return 0.0
    precision = (3.0 * objective.kernel.length_scale) ** -2
    known = n_observed * objective.information(at.vector)
    known.flat[:: len(known) + 1] += precision
    factor, failed = dpotrf(known, lower=1, overwrite_a=1)
    if failed:
        return np.inf
    latent = objective.latent(at.vector)
    held = float(np.log(np.diagonal(factor)).sum())
    held += 0.5 * precision * float(((latent - latent.mean(axis=0)) ** 2).sum())
    return held / n_observed


def _noise_share(objective: Objective, at: Candidate) -> float:
    """Share of the variance that is noise."""
    variance, noise = objective.scales(at.vector)
    return noise / (variance + noise)
