"""The search behind likelihood refine: which starts, which floors, what is kept."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _limits, gplvm, kernels
from ..kernels import StationaryKernel
from . import closed_forms, perturb
from .composite import blocks_of, farthest_points
from .descent import COOL, anneal, best_of, catch_up, cool, descend, distinct, fit_size, value_of
from .escape import escape
from .minimize import converge, polish, scores
from .objective import LEAST_NOISE, Candidate, Meter, Objective
from .repair import drawn_in, repair
from .unroll import EXTRA, lifted, unroll_curve

Floats = NDArray[np.float64]
Blocks = Sequence[NDArray[np.intp]]

BLOCK = 100
"""Points in a block of the composite likelihood; a step costs n b^2 instead of n^3."""

CORE = 100
"""Points that get the whole search where all are too many for it."""

FULL_WORK = 4e10
"""Cubed points, summed over evaluations, of all steps over all points together: 5 s on one core."""

PERTURB_WORK = 1.5e10
"""The same after which no perturbation begins: 3 s."""

CORE_PERTURB_WORK = 1.5e9
"""The same for a core, which is followed by steps over all points. With 5e9 the search of 25 random
latents of 200 to 400 points took a twentieth longer, one ended likelier, one less likely; without a
core R2 fell by up to .87."""

FEW_OBSERVED = 50
"""Observed dimensions below which blocks are twice as large: each tells little."""

MANY_OBSERVED = 500
"""Observed dimensions from which starts that agree are believed. With 100, five starts that agreed
were 55 nats below an optimum that perturbations found."""

WAYS = ("wide", "local")

_FEWEST_STEPS, _MOST_STEPS = 10, 300  # over all points, of one candidate
_BLOCK_STEPS = 20
_FINALISTS, _BLOCK_FINALISTS = 5, 2  # local optima under the last soft floor that are followed
_ROUND, _ROUND_STEPS = 1.0 / 6.0, (3, 30)  # share of all steps in a round of a race, of each
_FEW_LEFT = 100  # steps over all points for all that race
_ROUND_SCORING, _LAST_SCORING = 24, 90  # steps from the information instead, and of the winner
_LINES = 2  # unrolled lines of one start that are followed
_PATIENCE, _FEW = 20, 4  # perturbations in vain; where starts are believed, one of each way
_CLOSE = 1.0  # kernels this near in value after a short search are compared at the end
_PLACING = 0.1  # noise under which points are placed: a generous one finds their side
_LEAD = "lead of the blocks"


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
    others : dict of str to (n, m) float64, optional
        Starts that only widen the search, instead of the closed forms of the covariance.
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
        others: dict[str, Floats] | None = None,
        wide: bool,
        meter: Meter,
        perturb_work: float | None = None,
    ) -> None:
        self.others = others
        self.perturb_work = PERTURB_WORK if perturb_work is None else perturb_work
        self.cov, self.n_observed, self.n_components = cov, n_observed, n_components
        self.given, self.wide, self.meter = given, wide, meter
        self.few = n_observed < FEW_OBSERVED
        self.blocked = len(cov) > _limits.LIKELIHOOD_BLOCKED
        self._blocks: Blocks | None = None

    def run(self, kernel: StationaryKernel, fit_shape: bool = False) -> Found:
        """Find the likeliest latent under a kernel.

        Parameters
        ----------
        kernel : StationaryKernel
            The kernel.
        fit_shape : bool
            End with the kernel's shape parameter free.

        Returns
        -------
        Found
            The ends of all starts that were followed.
        """
        return self._follow(_OneKernel(self, kernel), fit_shape)

    def run_all(self, fit_shape: bool = False) -> Found:
        """Find the likeliest latent under the likeliest kernel.

        A short search with every kernel finds the kernel of the whole search: from the given starts
        if there are any, and if the search is local from the last of them. Others that were close
        go down from where it ended.

        Parameters
        ----------
        fit_shape : bool
            End with the kernel's shape parameter free.

        Returns
        -------
        Found
            The ends under the likeliest kernel.
        """
        screened = []
        for name in kernels.KERNELS:
            one = _OneKernel(self, kernels.get(name))
            starts = self.given or one.starts
            if not self.wide:
                starts = dict([*starts.items()][-1:])
            screened.append((cool(one.soft, best_of(one.annealed(starts))).value, one))
        screened.sort(key=lambda pair: pair[0])
        least, first = screened[0]
        found = [self._follow(first, fit_shape)]
        lead = found[0].objective.latent(found[0].best.vector)
        for value, one in screened[1:]:
            if value < least + _CLOSE:
                found.append(one.from_lead(lead, found[0].best, fit_shape))
        return min(found, key=lambda one: one.best.value)

    def _follow(self, one: _OneKernel, fit_shape: bool) -> Found:
        """The whole search under one kernel."""
        search = one.wide if self.wide else one.local
        found = (one.coarse_to_fine if self.blocked else search)()
        found = one.free_shape(found) if fit_shape else found
        if self.meter.expired or found.objective.blocks is not None:
            return found
        best = drawn_in(found.objective, found.best, self.n_observed)
        return found._replace(ends=[best, *found.ends[1:]])

    def blocks(self, start: Floats) -> Blocks | None:
        """One set of blocks for every start and kernel, so that values can be compared."""
        if self.blocked and self._blocks is None:
            self._blocks = self.cut(start, 0)
        return self._blocks

    def cut(self, latent: Floats, turn: int) -> Blocks:
        """Blocks of a latent; larger ones hold more of the little that few dimensions tell."""
        return blocks_of(latent, 2 * BLOCK if self.few else BLOCK, turn)


class _OneKernel:
    """The search under one kernel."""

    def __init__(self, search: Search, kernel: StationaryKernel) -> None:
        self.search, self.kernel = search, kernel
        first = next(iter((search.given or self.starts).values()))
        self.soft = self._objective(search.blocks(first))
        seen = None if len(search.cov) <= _limits.LIKELIHOOD_WHOLE else self.soft.blocks
        self.whole = self._objective(seen)
        self._soft_ends: dict[str, Candidate] = {}

    @cached_property
    def starts(self) -> dict[str, Floats]:
        """Where the search begins: the given starts first."""
        search = self.search
        others = search.others
        if others is None and search.wide:
            others = closed_forms.starts(
                search.cov, search.n_observed, search.n_components, self.kernel
            )
        return search.given | closed_forms.unlike(others or {}, search.given)

    def local(self) -> Found:
        """Every given start down plainly and through floors."""
        done = []
        for name, latent in self.starts.items():
            done.append(self._plain(latent, name))
            done += [self._down(at) for at in self.annealed({name: latent})]
            done += self._lines(latent, name)
        return self._found([self._repaired(best_of(done)), *done])

    def wide(self) -> Found:
        """All starts through floors, the best of every optimum down, the best of all perturbed."""
        ends = self.annealed(self._shared())
        optima = distinct(ends)[:_FINALISTS]
        done = [self._down(at) for at in optima]
        # The user's own starts; the others only widen the search.
        done += [self._plain(latent, name) for name, latent in self.search.given.items()]
        for name in self._unrolled():
            done += self._lines(self.starts[name], name)
        seen = [at.value for at in optima]
        sure = self.search.n_observed >= MANY_OBSERVED and len(distinct(ends)) == 1
        limit = self.whole.meter.work + self.search.perturb_work
        patience = _FEW if sure else _PATIENCE
        best = escape(self.whole, best_of(done), seen, patience, limit)
        done.append(converge(self.whole, best, 180, 1e-10))
        pathless = {name: at for name, at in self.starts.items() if name not in self._shared()}
        done += [self._down(at) for at in self.annealed(pathless)]
        return self._found([*done, self._repaired(best_of(done))])

    def coarse_to_fine(self) -> Found:
        """Over blocks through floors and plainly, and from a core; what leads over all points."""
        few = FULL_WORK / len(self.search.cov) ** 3 < _FEW_LEFT
        # The other starts still go through the core.
        ends = self.annealed((self.search.given if few else None) or self._shared())
        finalists = distinct(ends)[: 1 if few else _BLOCK_FINALISTS]
        runners = [self._over_blocks(at) for at in finalists]
        runners.append(self._over_blocks(self._through_core(best_of(runners))))
        given = self.search.given.items()
        plain = [
            polish(self.soft, fit_size(self.soft, at, name), _BLOCK_STEPS) for name, at in given
        ]
        done = self._race(runners + plain)
        if few and self.whole.blocks is None:
            # The race was over blocks alone.
            done += [descend(self.whole, at, key, self._steps()) for key, at in [*given][-1:]]
        return self._found([self._repaired(best_of(done)), *done])

    def _through_core(self, lead: Candidate) -> Candidate:
        """Points that cover the latent through the whole search, and the others placed by them."""
        search, latent = self.search, self.whole.latent(lead.vector)
        core = farthest_points(latent, min(CORE, _limits.LIKELIHOOD_BLOCKED))
        inner = Search(
            np.ascontiguousarray(search.cov[np.ix_(core, core)]),
            search.n_observed,
            search.n_components,
            {name: at[core] for name, at in search.given.items()},
            others={name: at[core] for name, at in self.starts.items()} | {_LEAD: latent[core]},
            wide=search.wide,
            meter=search.meter,
            perturb_work=CORE_PERTURB_WORK,
        )
        found = inner.run(self.kernel)
        at, variance = found.best, found.objective.scales(found.best.vector)[0]
        placed = perturb.completed(
            found.objective.latent(at.vector), core, search.cov, self.kernel, variance, _PLACING
        )
        name = lead.name if at.name == _LEAD else at.name
        return self.soft.candidate(self.soft.vector(placed, variance, _PLACING), name)

    def _race(self, runners: list[Candidate]) -> list[Candidate]:
        """A few steps over all points for each; those that lead go on."""
        if self.whole.blocks is not None:
            return [self.whole.candidate(at.vector, at.name) for at in runners]
        left = FULL_WORK / len(self.search.cov) ** 3
        dropped: list[Candidate] = []
        if left < _FEW_LEFT:
            # Steps over all points are so few that one set of blocks chooses who has them.
            runners = [self.soft.candidate(at.vector, at.name) for at in runners]
            runners = sorted(runners, key=value_of)[:_BLOCK_FINALISTS]
            left -= _BLOCK_FINALISTS
        while len(runners) > 1:
            steps = int(np.clip(_ROUND * left / len(runners), *_ROUND_STEPS))
            left -= steps * len(runners)
            runners = sorted(
                (self._some(at, steps, _ROUND_SCORING) for at in runners), key=value_of
            )
            half = (len(runners) + 1) // 2
            runners, dropped = runners[:half], dropped + runners[half:]
        steps = int(np.clip(left, _FEWEST_STEPS, _MOST_STEPS))
        return [self._some(runners[0], steps, _LAST_SCORING), *dropped]

    def _some(self, at: Candidate, steps: int, scoring: int) -> Candidate:
        """Steps over all points: a few that score, or so many that do not."""
        if scores(self.whole):
            return converge(self.whole, at, scoring, 1e-10)
        return polish(self.whole, at, steps)

    def _over_blocks(self, at: Candidate) -> Candidate:
        """From the last of the soft floors to none, over blocks that are cut anew each time."""
        for turn, floor in enumerate((*COOL, LEAST_NOISE), start=1):
            cut = self._objective(self.search.cut(self.soft.latent(at.vector), turn))
            at = polish(cut, at, _BLOCK_STEPS, floor)
        return at

    def _shared(self) -> dict[str, Floats]:
        """The given starts, and those of the others that share one search with them."""
        apart = set(closed_forms.PATHLESS) - set(self.search.given)
        return {name: at for name, at in self.starts.items() if name not in apart}

    def annealed(self, starts: dict[str, Floats]) -> list[Candidate]:
        """Starts after the soft floors, which each goes through once."""
        for name in starts:
            if name not in self._soft_ends:
                self._soft_ends[name] = anneal(self.soft, starts[name], name)
        return [self._soft_ends[name] for name in starts]

    def _unrolled(self) -> list[str]:
        """Starts that are unrolled where the latent is a line."""
        closed = [name for name in self.starts if name not in self.search.given]
        return [*self.search.given][:1] + closed[:2]

    def from_lead(self, lead: Floats, best: Candidate, fit_shape: bool) -> Found:
        """Plainly down from where the search with another kernel ended, while that may win."""
        least = np.inf if fit_shape else best.value
        found = Found(self.whole, [catch_up(self.whole, lead, best.name, least, self._steps())])
        return self.free_shape(found) if fit_shape else found

    def free_shape(self, found: Found) -> Found:
        """Polish with the kernel's shape parameter free, if it has one."""
        at = found.best
        if gplvm.shape_name(self.kernel) is None:
            return found
        free = self._objective(self.whole.blocks, shape=True)
        start = free.vector(self.whole.latent(at.vector), *self.whole.scales(at.vector))
        best = polish(free, at._replace(vector=start), self._steps())
        return Found(free, [best, *found.ends[1:]])

    def _plain(self, latent: Floats, name: str) -> Candidate:
        """Down without floors."""
        return descend(self.whole, latent, name)

    def _down(self, at: Candidate) -> Candidate:
        """From the last of the soft floors to the end."""
        at = cool(self.whole, at)
        if scores(self.whole):
            return converge(self.whole, at, 180, 1e-10)
        return polish(self.whole, at, _MOST_STEPS, tolerance=1e-9)

    def _repaired(self, at: Candidate) -> Candidate:
        """With misfits placed anew, where that leads lower."""
        if self.whole.blocks is not None:
            return at
        limit = self.whole.meter.work + self.search.perturb_work
        return repair(self.whole, at, self.search.n_observed, self._down, limit)

    def _steps(self) -> int:
        """Steps over all points that the work allows."""
        return int(np.clip(FULL_WORK / len(self.search.cov) ** 3, _FEWEST_STEPS, _MOST_STEPS))

    def _lines(self, latent: Floats, name: str) -> list[Candidate]:
        """Lines along the curves that a line becomes in a plane and in space."""
        n, m = latent.shape
        if m > 1 or n < 5:
            return []
        ends = []
        for extra in EXTRA:
            curve = lifted(self._objective(self.soft.blocks, extra=extra), latent, name)
            for line in unroll_curve(curve, self.kernel, m):
                ends.append(anneal(self.soft, line, name))
        return [self._down(at) for at in distinct(ends)[:_LINES]]

    def _found(self, done: list[Candidate]) -> Found:
        """The best end of every start."""
        if self.whole.blocks is None and self.search.meter.expired:
            # Those that time cut short hold a value over blocks, or none.
            done = [at._replace(value=self.whole.exact(at.vector)) for at in done]
        # Without time left some were never evaluated, but the first always is.
        done = [at for at in done if np.isfinite(at.value)] or done
        names = dict.fromkeys(at.name for at in sorted(done, key=value_of))
        ends = [best_of([at for at in done if at.name == name]) for name in names]
        return Found(self.whole, ends)

    def _objective(
        self, blocks: Blocks | None, *, shape: bool = False, extra: int = 0
    ) -> Objective:
        """Likelihood of the covariance under the kernel."""
        search = self.search
        size = search.n_components + extra
        return Objective(
            search.cov, self.kernel, size, blocks=blocks, shape=shape, meter=search.meter
        )
