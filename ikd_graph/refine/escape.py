"""Out of a local optimum that may be a wrong one: perturbations, descents, and when to stop."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..covariance import to_correlation
from . import perturb
from .descent import LOOSE, SAME, SOFT, anneal, best_of, cool, distinct, value_of
from .minimize import polish
from .objective import Candidate, Objective

Floats = NDArray[np.float64]

_NEAR = SOFT[1:]  # the first floor would put back most of what was moved
_SIZE = 1.0  # of a random change, in length-scales
_KNOWN = 0.005  # the same optimum for sure: asked for more than `SAME`, descents being cheap
_HOPELESS = 0.7  # above the best under the last soft floor: not worth its descent
_BETTER = 1e-4
_LARGEST_PART = 12  # points taken out together
_NOISE = 0.1  # a generous noise lets points find their side before their place
_MOVED = 0.7  # length-scales: points that end nearer to where they were have no other place
_PROMISING, _SETTLE = 12, 12  # latents with a part elsewhere that are tried, steps of each
_FOLLOWED = 3


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
        while idle < patience and not spent():
            other = _perturbed(objective, best, seen, turn, rng)
            turn, idle = turn + 1, idle + 1
            if other is not None and other.value < best.value - _BETTER:
                best, idle = other, 0
        if spent():
            break
        other = _reinserted(objective, best)
        if other.value > best.value - _BETTER:
            break
        best = other
    return best


def _perturbed(
    objective: Objective, best: Candidate, seen: list[float], turn: int, rng: np.random.Generator
) -> Candidate | None:
    """Where one perturbation ends; None if that is known, or far above the best."""
    size = _SIZE * objective.kernel.length_scale
    latent = perturb.perturbed(objective.latent(best.vector), turn, size, rng)
    # Every other round a part that was moved may stay where it is.
    floors = _NEAR if turn // 4 % 2 and turn % 4 else SOFT
    at = anneal(objective, latent, best.name, floors)
    known = any(abs(at.value - other) < _KNOWN for other in seen)
    if known or at.value > min(seen, default=np.inf) + _HOPELESS:
        return None
    seen.append(at.value)
    return cool(objective, at)


def _reinserted(objective: Objective, best: Candidate) -> Candidate:
    """Place small parts again; where some went elsewhere, follow the most promising down."""
    latent, variance = objective.latent(best.vector), objective.scales(best.vector)[0]
    groups = perturb.parts(to_correlation(objective.cov), _LARGEST_PART)
    found = []
    for other in perturb.reinserted(
        latent, objective.cov, objective.kernel, variance, _NOISE, groups
    ):
        if objective.expired:
            return best
        gone = np.sqrt(((other - latent) ** 2).sum(axis=1).max())
        if gone > _MOVED * objective.kernel.length_scale:
            found.append(objective.candidate(objective.vector(other, variance, _NOISE), best.name))
    if not found:
        return best
    here = Candidate(np.inf, objective.vector(latent, variance, _NOISE), best.name)
    promising = [here, *sorted(found, key=value_of)[:_PROMISING]]
    soft = [polish(objective, at, _SETTLE, SOFT[-1], LOOSE) for at in promising]
    new = [at for at in distinct(soft[1:]) if abs(at.value - soft[0].value) > SAME]
    return best_of([best, *(cool(objective, at) for at in new[:_FOLLOWED])])
