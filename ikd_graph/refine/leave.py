"""Out of a valley that may be a wrong one: moves, descents after them, and when to stop."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from . import moves
from .descent import LOOSE, SAME, SOFT, anneal, best_of, cool, valleys_of, value_of
from .objective import Candidate, Objective

Floats = NDArray[np.float64]

_FROM_AFAR = (1.0, *SOFT)  # floors after a coordinate was drawn anew
_SHAKE = 1.0  # length-scales
_MOST = 80
_KNOWN = (
    0.005  # the same valley for sure; moves are cheap, so that it is asked for more than `SAME`
)
_HOPELESS = 0.7
_BETTER = 1e-4
_LARGEST_PART = 12
_SEAT_NOISE = 0.1
_MOVED = 0.7  # length-scales: points that end nearer to their old seats have none else
_PROMISING = 12
_SETTLE = 12
_RESEATS = 3


def leave(objective: Objective, best: Candidate, seen: list[float], patience: int) -> Candidate:
    """Shake and reseat points of the best until neither finds anything better.

    Parameters
    ----------
    objective : Objective
        What to minimise, over all points at once.
    best : Candidate
        The bottom of a valley.
    seen : list of float
        Values, under the last of the soft floors, of valleys whose bottoms are known.
    patience : int
        Shakes in a row that may come to nothing.

    Returns
    -------
    Candidate
        The best found, never worse.
    """
    rng = np.random.default_rng(0)
    seen = list(seen)
    while not objective.expired:
        best = _shake(objective, best, seen, patience, rng)
        other = _reseat(objective, best)
        if other.merit > best.merit - _BETTER:
            break
        best = other
    return best


def _shake(
    objective: Objective,
    best: Candidate,
    seen: list[float],
    patience: int,
    rng: np.random.Generator,
) -> Candidate:
    """Shake until so many shakes in a row have come to nothing."""
    size, idle, turn = _SHAKE * objective.kernel.length_scale, 0, 0
    while idle < patience and turn < _MOST and not objective.expired:
        latent = moves.shaken(objective.latent(best.vector), turn, size, rng)
        at = anneal(objective, latent, best.name, SOFT if turn % 4 else _FROM_AFAR)
        turn, idle = turn + 1, idle + 1
        known = any(abs(at.value - other) < _KNOWN for other in seen)
        if known or at.value > min(seen) + _HOPELESS:
            continue
        seen.append(at.value)
        other = cool(objective, at)
        if other.merit < best.merit - _BETTER:
            best, idle = other, 0
    return best


def _reseat(objective: Objective, best: Candidate) -> Candidate:
    """Seat small parts again; where some went elsewhere, follow the most promising down."""
    latent, variance = objective.latent(best.vector), objective.scales(best.vector)[0]
    spread = np.sqrt(np.diagonal(objective.cov))
    corr = np.clip(objective.cov / np.outer(spread, spread), -1.0, 1.0)
    groups = moves.parts(corr, _LARGEST_PART)
    found = []
    for other in moves.reseated(
        latent, objective.cov, objective.kernel, variance, _SEAT_NOISE, groups
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
    promising = [here, *sorted(found, key=value_of)[:_PROMISING]]
    soft = [objective.polish(at, _SETTLE, SOFT[-1], LOOSE) for at in promising]
    new = [at for at in valleys_of(soft[1:]) if abs(at.value - soft[0].value) > SAME]
    return best_of([best, *(cool(objective, at) for at in new[:_RESEATS])])
