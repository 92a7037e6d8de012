"""Out of a local optimum that may be a wrong one: perturbations, descents, and when to stop."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from . import perturb
from .descent import LOOSE, SAME, SOFT, anneal, best_of, cool, distinct, value_of
from .minimize import polish
from .objective import Candidate, Objective

Floats = NDArray[np.float64]

SIZE = 1.0  # length-scales
MOST = 80
KNOWN = 0.005  # the same optimum for sure; descents are cheap, so it is asked for more than `SAME`
HOPELESS = 0.7
BETTER = 1e-4
LARGEST_PART = 12
NOISE = 0.1  # a generous noise lets points find their side before their place
MOVED = 0.7  # length-scales: points that end nearer to where they were have no other place
PROMISING = 12
SETTLE = 12
FOLLOWED = 3
WAYS = (0, 1, 2, 3)
REINSERT = True


def escape(
    objective: Objective, best: Candidate, seen: list[float], patience: int, most_work: float
) -> Candidate:
    """Perturb the best, and place its points again, until neither finds anything better.

    Parameters
    ----------
    objective : Objective
        What to minimise, over all points at once.
    best : Candidate
        A local optimum.
    seen : list of float
        Values, under the last of the soft floors, of local optima that are known.
    patience : int
        Perturbations in a row that may come to nothing.
    most_work : float
        What the meter may show when the last perturbation begins.

    Returns
    -------
    Candidate
        The best found, never worse.
    """
    rng = np.random.default_rng(0)
    seen = list(seen)

    def spent() -> bool:
        return objective.expired or objective.meter.work > most_work

    while not spent():
        idle, turn = 0, 0
        while idle < patience and turn < MOST and not spent():
            other = _perturbed(objective, best, seen, WAYS[turn % len(WAYS)], rng)
            turn, idle = turn + 1, idle + 1
            if other is not None and other.value < best.value - BETTER:
                best, idle = other, 0
        if not REINSERT or spent():
            break
        other = _reinserted(objective, best)
        if other.value > best.value - BETTER:
            break
        best = other
    return best


def _perturbed(
    objective: Objective, best: Candidate, seen: list[float], way: int, rng: np.random.Generator
) -> Candidate | None:
    """Where one perturbation ends; None if that is known, or far above the best."""
    size = SIZE * objective.kernel.length_scale
    latent = perturb.perturbed(objective.latent(best.vector), way, size, rng)
    at = anneal(objective, latent, best.name)
    known = any(abs(at.value - other) < KNOWN for other in seen)
    if known or at.value > min(seen, default=np.inf) + HOPELESS:
        return None
    seen.append(at.value)
    return cool(objective, at)


def _reinserted(objective: Objective, best: Candidate) -> Candidate:
    """Place small parts again; where some went elsewhere, follow the most promising down."""
    latent, variance = objective.latent(best.vector), objective.scales(best.vector)[0]
    spread = np.sqrt(np.diagonal(objective.cov))
    corr = np.clip(objective.cov / np.outer(spread, spread), -1.0, 1.0)
    groups = perturb.parts(corr, LARGEST_PART)
    found = []
    for other in perturb.reinserted(
        latent, objective.cov, objective.kernel, variance, NOISE, groups
    ):
        if objective.expired:
            return best
        gone = np.sqrt(((other - latent) ** 2).sum(axis=1).max())
        if gone > MOVED * objective.kernel.length_scale:
            found.append(objective.candidate(objective.vector(other, variance, NOISE), best.name))
    if not found:
        return best
    here = Candidate(np.inf, objective.vector(latent, variance, NOISE), best.name)
    promising = [here, *sorted(found, key=value_of)[:PROMISING]]
    soft = [polish(objective, at, SETTLE, SOFT[-1], LOOSE) for at in promising]
    new = [at for at in distinct(soft[1:]) if abs(at.value - soft[0].value) > SAME]
    return best_of([best, *(cool(objective, at) for at in new[:FOLLOWED])])
