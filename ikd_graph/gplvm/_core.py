"""Likelihood refinement of many rows: a well-spread core is fitted and places the others."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base import validation as check
from .._base.threads import map_blocks, single_threaded_blas
from .._base.types import Floats
from .._base.validation import validate
from ..kernels import StationaryKernel
from ._likelihood import sample_covariance
from ._local import local_likelihood
from ._process import GaussianProcess
from ._restarts import LikelihoodFit, likelihood

MAX_POINTS = {"annealed": 250, "local": 1000}
"""Rows whose likelihood is searched, in some 2 000 evaluations or in 40: a few seconds of each. The
process of the core places the others, in .4 or 3 ms a row."""

_BLOCK = 128  # rows that are placed by one thread at a time


class CoreFit(NamedTuple):
    """Latent of all rows, and the fit of the core that placed those outside it."""

    latent: Floats  # (n, m)
    core: NDArray[np.int64]  # (c,) sorted rows of the core; all rows if they are few
    fit: LikelihoodFit  # of the core


def _check_init(rows: Floats, init: Floats, **_: object) -> None:
    check.check_rows("init", init, len(rows))


@validate(
    _check_init,
    rows=check.table,
    init=check.table,
    centered=check.flag,
    max_points=check.optional(check.whole(2)),
    random_state=check.seed,
)
def fit_core(
    rows: ArrayLike,
    init: ArrayLike,
    kernel: str | StationaryKernel,
    descent: str,
    *,
    restarts: int,
    max_iter: int,
    fit_shape: bool = False,
    time_budget: float | None = None,
    centered: bool = True,
    max_points: int | None = None,
    random_state: int | None = None,
) -> CoreFit:
    """Fit the likelihood of a well-spread core and place all other rows by its process.

    The parameters are those of `refine.Likelihood` and its ``run``, with nothing to choose.
    """
    values, init = np.asarray(rows), np.asarray(init, dtype=np.float64)
    core = _farthest_points(init, MAX_POINTS[descent] if max_points is None else max_points)
    inside = np.ascontiguousarray(values[core], dtype=np.float64)
    with single_threaded_blas():
        if descent == "local":
            fit = local_likelihood(
                inside,
                init[core],
                kernel,
                centered=centered,
                max_iter=max_iter,
                fit_shape=fit_shape,
                time_budget=time_budget,
            )
        else:
            fit = likelihood(
                sample_covariance(inside, centered),
                values.shape[1],
                kernel,
                starts={"own": init[core]},
                restarts=restarts,
                fit_shape=fit_shape,
                time_budget=time_budget,
                random_state=random_state,
            )
        process = GaussianProcess(
            fit.latent, inside, fit.kernel, fit.variance, fit.noise, centered=centered
        )
        return CoreFit(_place_outside(process, values, init, core), core, fit)


def _place_outside(
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


def _farthest_points(latent: Floats, count: int) -> NDArray[np.int64]:
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
