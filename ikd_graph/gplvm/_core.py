"""Likelihood refinement of many rows: a well-spread core is fitted and places the others."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._base.threads import map_blocks
from .._base.types import Floats
from ._process import GaussianProcess
from ._restarts import LikelihoodFit

MAX_POINTS = {"annealed": 250, "local": 1000}
"""Rows whose likelihood is searched, in some 2 000 evaluations or in 40: a few seconds of each. The
process of the core places the others, in .4 or 3 ms a row."""

_BLOCK = 128  # rows that are placed by one thread at a time


class CoreFit(NamedTuple):
    """Latent of all rows, and the fit of the core that placed those outside it."""

    latent: Floats  # (n, m)
    core: NDArray[np.int64]  # (c,) sorted rows of the core; all rows if they are few
    fit: LikelihoodFit  # of the core


def farthest_points(latent: Floats, count: int) -> NDArray[np.int64]:
    """Sorted points that cover an embedding: each the farthest from those before it."""
    if count >= len(latent):
        return np.arange(len(latent))
    nearest = ((latent - latent.mean(axis=0)) ** 2).sum(axis=1)
    core = [int(np.argmax(nearest))]
    nearest = np.full(len(latent), np.inf)
    while len(core) < count:
        np.minimum(nearest, ((latent - latent[core[-1]]) ** 2).sum(axis=1), out=nearest)
        nearest[core[-1]] = -1.0  # no point twice where several lie in one place
        core.append(int(np.argmax(nearest)))
    return np.sort(np.array(core, dtype=np.int64))


def place_outside(
    process: GaussianProcess,
    rows: NDArray[np.floating],
    init: Floats,
    core: NDArray[np.int64],
) -> Floats:
    """Latent of all rows: those outside the core where they have the largest likelihood."""
    middle = init[core].mean(axis=0)
    turn = np.linalg.lstsq(init[core] - middle, process.points, rcond=None)[0]
    latent = (init - middle) @ turn
    latent[core] = process.points
    outside = np.setdiff1d(np.arange(len(init)), core)

    def place(start: int, stop: int) -> None:
        batch = outside[start:stop]
        latent[batch] = process.place(process.observe(rows[batch]), latent[batch])[0]

    map_blocks(place, outside.size, _BLOCK)
    return latent
