"""Repair of a local optimum where model and data disagree: misfits placed anew, pieces rejoined.

A covariance that is several standard errors off the model says that one of two points lies wrong.
At the true latent hardly any does, so that what is left of them tells a wrong optimum from a right
one without knowing the truth. Few points usually account for all such pairs: they are placed again
by the others. A line in pieces is put together as well, and stretches of it that lie the wrong way
round are turned. `pieces` and `reverse` name the cells on which each was confirmed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist
from scipy.stats import norm

from . import perturb
from .descent import LOOSE, SOFT, best_of
from .descent import descend as plain_descent
from .minimize import polish
from .objective import Candidate, Objective
from .pieces import assembled
from .reverse import reverse

Floats = NDArray[np.float64]
Points = NDArray[np.intp]
Pairs = NDArray[np.bool_]
Change = Callable[[Objective, Floats, int], Floats | None]

_NOISE = 0.1  # a generous noise lets points find their side before their place
_MOST = 1.0 / 3.0  # share of points; where more are misfits, the model is at fault
_MOST_WORK = 1e8  # points placed anew, times all points squared: 2 s on one core
_STEPS, _SETTLE = 15, 20
_TURNED = 60  # steps from a line with stretches turned, which is near its optimum
_REPAIRS, _ROUNDS = 3, 8
_GAIN = 1e-3
_REACH = 0.05  # correlation below which points hardly hold one another
_ALIKE = 0.1  # nats that a nearer place may cost
_BISECTIONS = 8
_NONE = np.empty(0, dtype=np.intp)


def misfits(objective: Objective, vector: Floats, n_observed: int) -> Points:
    """Points that account for all pairs in which model and data disagree, as few as that takes.

    A pair disagrees if its covariance is farther from the model's than chance takes one pair of
    all. The point in most such pairs is a misfit; then that in most of the rest, and so on.

    Parameters
    ----------
    objective : Objective
        Likelihood of all points at once.
    vector : (k,) float64
        A latent with its variance and noise.
    n_observed : int
        Number of observed dimensions.

    Returns
    -------
    (k,) ndarray of int
        Misfits, the worst first.
    """
    latent, (variance, noise) = objective.latent(vector), objective.scales(vector)
    cov, n = objective.cov, len(latent)
    model = variance * objective.kernel.covariance(cdist(latent, latent, "sqeuclidean"))
    model.flat[:: n + 1] += noise
    own = np.diagonal(cov)
    error = np.sqrt((np.outer(own, own) + np.maximum(cov, model) ** 2) / n_observed)
    against = np.abs(cov - model) > norm.isf(1.0 / n**2) * error
    np.fill_diagonal(against, False)
    pairs = against.sum(axis=1)
    found = []
    while pairs.any():
        worst = int(np.argmax(pairs))
        found.append(worst)
        pairs -= against[worst]
        pairs[worst] = 0
        against[worst] = against[:, worst] = False
    return np.array(found, dtype=np.intp)


def repair(
    objective: Objective,
    best: Candidate,
    n_observed: int,
    descend: Callable[[Candidate], Candidate],
    most_work: float,
) -> Candidate:
    """Repair a local optimum and descend, a few times.

    Parameters
    ----------
    objective : Objective
        Likelihood of all points at once.
    best : Candidate
        A local optimum.
    n_observed : int
        Number of observed dimensions.
    descend : callable
        From under the last of the soft floors to a local optimum.
    most_work : float
        What the meter may show when the last repair begins.

    Returns
    -------
    Candidate
        The best found, never worse.
    """
    at = best
    for turn in range(_REPAIRS):
        # The first is followed whatever its own steps cost.
        if turn and objective.meter.work > most_work:
            break
        soft = repaired(objective, at, n_observed)
        if soft is None:
            break
        # Followed even where it ends higher: under the floor it was lower, and seams remain.
        at = descend(soft)
        best = best_of([best, at])
    if objective.n_components > 1:
        return best
    name = best.name

    def down(line: Floats) -> Candidate:
        return plain_descent(objective, line, name, _TURNED)

    return reverse(objective, best, n_observed, down, most_work)


def repaired(objective: Objective, best: Candidate, n_observed: int) -> Candidate | None:
    """Place misfits anew and rejoin pieces, under the last of the soft floors, while that helps.

    Parameters
    ----------
    objective : Objective
        Likelihood of all points at once.
    best : Candidate
        A local optimum.
    n_observed : int
        Number of observed dimensions.

    Returns
    -------
    Candidate or None
        A likelier latent under that floor, to be followed down; None if none was found.
    """
    # Variance and noise under a floor are not those of the data.
    scales = objective.scales(best.vector)
    changes: list[Change] = [_placed_anew]
    whole = True
    if objective.n_components == 1:
        changes.append(_rejoined)
        whole = assembled(objective, best.vector, n_observed) is None
    if whole and _misplaced(objective, best.vector, n_observed) is None:
        return None
    soft = start = polish(objective, best, _STEPS, SOFT[-1], LOOSE)
    for _ in range(_ROUNDS):
        before = soft
        for change in changes:
            vector = objective.vector(objective.latent(soft.vector), *scales)
            latent = None if objective.expired else change(objective, vector, n_observed)
            if latent is not None:
                vector = objective.vector(latent, *objective.scales(soft.vector))
                moved = best._replace(vector=vector)
                fresh = polish(objective, moved, _SETTLE, SOFT[-1], LOOSE)
                soft = fresh if fresh.value < soft.value - _GAIN else soft
        if soft is before:
            break
    return None if soft is start else soft


def _misplaced(
    objective: Objective, vector: Floats, n_observed: int, loose: Points = _NONE
) -> Points | None:
    """Misfits and loose points; None if there are none, or too many to be placed by the others."""
    found = np.union1d(misfits(objective, vector, n_observed), loose)
    n = len(objective.cov)
    return found if 0 < len(found) <= min(_MOST * n, _MOST_WORK / n**2) else None


def _placed_anew(
    objective: Objective, vector: Floats, n_observed: int, loose: Points = _NONE
) -> Floats | None:
    """The latent with its misfits, and points that are loose, placed by the others."""
    out = _misplaced(objective, vector, n_observed, loose)
    if out is None:
        return None
    latent, (variance, noise) = objective.latent(vector), objective.scales(vector)
    cov, kernel = objective.cov, objective.kernel
    return next(perturb.reinserted(latent, cov, kernel, variance, max(noise, _NOISE), [out]))


def _rejoined(objective: Objective, vector: Floats, n_observed: int) -> Floats | None:
    """The pieces of a line put together, and the misfits at their seams placed anew."""
    found = assembled(objective, vector, n_observed)
    if found is None:
        return None
    latent, seam = found
    again = objective.vector(latent, *objective.scales(vector))
    placed = _placed_anew(objective, again, n_observed, seam)
    return latent if placed is None else placed


def drawn_in(objective: Objective, best: Candidate, n_observed: int) -> Candidate:
    """Draw points that nothing holds as near to the others as the data allow.

    Beyond the reach of the kernel the likelihood hardly changes with the distance, and a descent
    that began with a wrong push leaves a point anywhere.

    Parameters
    ----------
    objective : Objective
        Likelihood of all points at once.
    best : Candidate
        A local optimum.
    n_observed : int
        Number of observed dimensions.

    Returns
    -------
    Candidate
        As likely but for a tenth of a nat for each piece.
    """
    latent = objective.latent(best.vector)
    reach = float(np.sqrt(objective.kernel.sq_distance(_REACH)))
    near = csr_array(cdist(latent, latent) < reach)
    label = connected_components(near, directed=False)[1]
    sizes = np.bincount(label)
    inside = label == np.argmax(sizes)
    for piece in np.argsort(-sizes, kind="stable")[1:]:
        best = _nearer(objective, best, label == piece, inside, reach, _ALIKE / n_observed)
        inside |= label == piece
    return best


def _nearer(
    objective: Objective,
    best: Candidate,
    mine: Pairs,
    inside: Pairs,
    reach: float,
    cost: float,
) -> Candidate:
    """One piece drawn towards the others by bisection, for at most a cost."""
    latent = objective.latent(best.vector)
    between = cdist(latent[mine], latent[inside])
    a, b = np.unravel_index(int(np.argmin(between)), between.shape)
    way = latent[inside][b] - latent[mine][a]
    low, high = 0.0, 1.0 - reach / max(float(between.min()), reach)  # shares of the way
    most, drawn = best.value + cost, best
    for _ in range(_BISECTIONS if high > 0.0 else 0):
        share = 0.5 * (low + high)
        moved = best.vector.copy()
        objective.latent(moved)[mine] += share * way
        at = objective.candidate(moved, best.name)
        if at.value <= most:
            low, drawn = share, at
        else:
            high = share
    return drawn
