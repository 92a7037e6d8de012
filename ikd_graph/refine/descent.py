"""Ways down: softly under falling floors of noise, then to the bottom."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .objective import Candidate, Objective

Floats = NDArray[np.float64]

SOFT = (0.3, 0.1)
"""Floors of a first descent, in units of the mean variance; values are compared under the last."""

LOOSE = 1e-7
"""Tolerance of steps under a floor: the next floor moves the bottom anyway."""

COOL = (0.03, 0.01)
"""Floors from the last of `SOFT` on."""

SAME = 0.02
"""Candidates this near in value under a floor are taken for one valley."""

_STEPS = 30
_COOL_STEPS = 15


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
        What to minimise.
    latent : (n, m) float64
        Where to start.
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
        at = objective.polish(at, steps, floor, LOOSE)
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
        Near the bottom of its valley.
    """
    for floor in COOL:
        at = objective.polish(at, _COOL_STEPS, floor, LOOSE)
    # What the floor stood for is noise until the data say otherwise.
    variance, noise = objective.scales(at.vector, COOL[-1])
    start = objective.vector(objective.latent(at.vector), variance, noise)
    return objective.weighed(objective.bottom(at._replace(vector=start), 15))


def straight(objective: Objective, latent: Floats, name: str) -> Candidate:
    """Down without floors: a start that is right already must not be lost.

    Parameters
    ----------
    objective : Objective
        What to minimise.
    latent : (n, m) float64
        Where to start.
    name : str
        Name of the start.

    Returns
    -------
    Candidate
        The bottom of the start's own valley.
    """
    near = objective.polish(objective.fit_scales(latent, name), 90)
    return objective.weighed(objective.bottom(near, 60, 1e-10))


def value_of(at: Candidate) -> float:
    """Value of a candidate, to sort by."""
    return at.value


def merit_of(at: Candidate) -> float:
    """Merit of a candidate, the lower the better."""
    return at.merit


def best_of(candidates: list[Candidate]) -> Candidate:
    """Candidate of the most merit, the first of equals."""
    return min(candidates, key=merit_of)


def valleys_of(candidates: list[Candidate]) -> list[Candidate]:
    """The best of every valley, from the lowest valley to the highest."""
    out: list[Candidate] = []
    for at in sorted(candidates, key=value_of):
        if not out or at.value - out[-1].value > SAME:
            out.append(at)
    return out
