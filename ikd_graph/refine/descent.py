"""Ways down to a local optimum: plainly, or under falling floors of noise."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from .minimize import converge, lbfgs, polish
from .objective import Candidate, Objective, TimeUp

Floats = NDArray[np.float64]

SOFT = (1.0, 0.3, 0.1)
"""Floors of a first descent, in units of the mean variance; values are compared under the last.
Without the first, one start in five ends in a worse local optimum."""

LOOSE = 1e-7
"""Tolerance of steps under a floor: the next floor moves the optimum anyway."""

COOL = (0.03, 0.01, 3e-3, 1e-3, 1e-4, 1e-5, 1e-6)
"""Floors from the last of `SOFT` on. They cost nothing in noise, where no floor is reached, and
without it they keep the descent from settling on how the first curves happen to lie."""

SAME = 0.02
"""Candidates this near in value under a floor are taken for one local optimum."""

_STEPS = 30
_COOL_STEPS = 15
_CHASE = 45
_FORESEEN = 5.0


def anneal(
    objective: Objective,
    latent: Floats,
    name: str,
    floors: tuple[float, ...] = SOFT,
    steps: int = _STEPS,
) -> Candidate:
    """From a latent down through floors.

    Parameters
    ----------
    objective : Objective
        Likelihood, full or over blocks.
    latent : (n, m) float64
        Where to start, at any scale.
    name : str
        Name of the start.
    floors : tuple of float
        Least noise of every stage.
    steps : int
        Most steps of every stage.

    Returns
    -------
    Candidate
        Its value is that under the last floor.
    """
    at = objective.place(latent, name, floors[0])
    for floor in floors:
        at = polish(objective, at, steps, floor, LOOSE)
    return at


def cool(objective: Objective, at: Candidate) -> Candidate:
    """From the last floor of `anneal` to none.

    Parameters
    ----------
    objective : Objective
        What to minimise.
    at : Candidate
        Where to start.

    Returns
    -------
    Candidate
        Near a local optimum.
    """
    for floor in COOL:
        at = polish(objective, at, _COOL_STEPS, floor, LOOSE)
    return converge(objective, at, 45)


def descend(objective: Objective, latent: Floats, name: str, steps: int = 240) -> Candidate:
    """Down without floors: a start that is right already must not be lost.

    Parameters
    ----------
    objective : Objective
        What to minimise.
    latent : (n, m) float64
        Where to start.
    name : str
        Name of the start.
    steps : int
        Most steps, where they are expensive.

    Returns
    -------
    Candidate
        The local optimum nearest to the start.
    """
    near = fit_size(objective, latent, name, min(steps, 60))
    near = polish(objective, near, min(steps, 90))
    return converge(objective, near, 3 * steps // 4, 1e-10)


def catch_up(
    objective: Objective, latent: Floats, name: str, least: float, steps: int
) -> Candidate:
    """Down without floors, to the end only where that may be below a value.

    Parameters
    ----------
    objective : Objective
        What to minimise.
    latent : (n, m) float64
        Where to start.
    name : str
        Name of the start.
    least : float
        What is known already. Whoever is above it after 90 steps by more than five times what
        the last 45 of them gained is given up: of 27 searches with two kernels or more none
        ended elsewhere for it, and those for groups of points took up to a third less time.
    steps : int
        Most steps, where they are expensive.

    Returns
    -------
    Candidate
        The local optimum nearest to the start, or a point on the way.
    """
    near = fit_size(objective, latent, name, min(steps, 60))
    before = polish(objective, near, min(steps, _CHASE))
    at = polish(objective, before, min(steps, _CHASE))
    foreseen = _FORESEEN * (before.value - at.value)
    if at.value - foreseen >= least:
        return at
    return converge(objective, at, 3 * steps // 4, 1e-10)


def fit_size(objective: Objective, latent: Floats, name: str, steps: int = 60) -> Candidate:
    """Latent whose size, variance and noise are the likeliest, its form left alone.

    Parameters
    ----------
    objective : Objective
        What to minimise.
    latent : (n, m) float64
        The form.
    name : str
        Name of the start.
    steps : int
        Most steps.

    Returns
    -------
    Candidate
        Multiple of the latent.
    """
    best = objective.place(latent, name)
    unit = objective.latent(best.vector).ravel()

    def follow(tail: Floats) -> tuple[float, Floats]:
        nonlocal best
        vector = np.concatenate([np.exp(tail[0]) * unit, tail[1:]])
        value, gradient = objective(vector)
        if value < best.value:
            best = Candidate(value, vector, name)
        by_size = float(gradient[: unit.size] @ vector[: unit.size])
        return value, np.concatenate([[by_size], gradient[unit.size :]])

    start = np.concatenate([[0.0], best.vector[unit.size :]])
    low, high = objective.bounds()
    bounds = np.array([np.r_[-2.0, low], np.r_[2.0, high]])
    with suppress(TimeUp):
        lbfgs(follow, start, bounds, _one_unit, steps, 1e-12)
    return best


def _one_unit(step: Floats) -> float:
    """Share of a step in logarithms that changes none by more than one."""
    return 1.0 / max(float(np.abs(step).max()), 1e-300)


def value_of(at: Candidate) -> float:
    """Value of a candidate, to sort by."""
    return at.value


def best_of(candidates: list[Candidate]) -> Candidate:
    """Candidate of the least value, the first of equals."""
    return min(candidates, key=value_of)


def distinct(candidates: list[Candidate]) -> list[Candidate]:
    """The best candidate at every local optimum, from the lowest to the highest."""
    out: list[Candidate] = []
    for at in sorted(candidates, key=value_of):
        if not out or at.value - out[-1].value > SAME:
            out.append(at)
    return out
