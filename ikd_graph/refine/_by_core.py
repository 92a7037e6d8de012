"""Likelihood refinement of many rows: a well-spread core is fitted and places the others."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _validation as check
from .. import gplvm
from .._threads import map_blocks, single_threaded_blas
from .._validation import validate
from ..kernels import StationaryKernel
from ._likelihood import LikelihoodFit, likelihood
from ._local import MAX_ITER, local_likelihood

Floats = NDArray[np.float64]

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
    descent=check.one_of(MAX_POINTS),
    max_iter=check.whole(1),
    max_points=check.optional(check.whole(2)),
    fit_shape=check.flag,
    random_state=check.seed,
)
def likelihood_by_core(
    rows: ArrayLike,
    init: ArrayLike,
    kernel: str | StationaryKernel = "squared_exponential",
    *,
    centered: bool = True,
    descent: str = "annealed",
    max_iter: int = MAX_ITER,
    max_points: int | None = None,
    restarts: int = 0,
    fit_shape: bool = False,
    time_budget: float | None = None,
    random_state: int | None = None,
) -> CoreFit:
    """Fit the likelihood of a well-spread core and place all other rows by its process.

    Parameters
    ----------
    rows : (n, n_observed) array_like of float64
        One point per row, one column per column.
    init : (n, m) array_like of float64
        Initial embedding of all rows: where the first descent begins, and where the search for the
        place of a row begins.
    kernel : str or StationaryKernel
        Kernel of the model, or "auto".
    centered : bool
        Take the mean off every row first.
    descent : {"annealed", "local"}
        Search by annealed descents, see `likelihood`, or a few steps from ``init``, see
        `local_likelihood`.
    max_iter : int
        Steps of the local descent.
    max_points : int, optional
        Rows of the core: each the farthest in ``init`` from those before it. 250 for annealed
        descents and 1 000 for a local one unless given.
    restarts, random_state : see `likelihood`
        Of annealed descents.
    fit_shape, time_budget : see `likelihood`
        Of both.

    Returns
    -------
    CoreFit
        The latent of all rows and the fit of the core.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import kernels, refine
    >>> rng = np.random.default_rng(0)
    >>> z = np.sort(rng.uniform(0.0, 5.0, 60))[:, None]
    >>> model = kernels.Matern().covariance((z - z.T) ** 2) + 0.01 * np.eye(60)
    >>> rows = np.linalg.cholesky(model) @ rng.standard_normal((60, 500))
    >>> fit = refine.likelihood_by_core(rows, z + 0.1 * np.sin(9 * z), "matern", max_points=40)
    >>> fit.core.size, bool(abs(np.corrcoef(fit.latent[:, 0], z[:, 0])[0, 1]) > 0.99)
    (40, True)
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
                gplvm.sample_covariance(inside, centered),
                values.shape[1],
                init.shape[1],
                kernel,
                starts={"own": init[core]},
                restarts=restarts,
                fit_shape=fit_shape,
                time_budget=time_budget,
                random_state=random_state,
            )
        process = gplvm.GaussianProcess(
            fit.latent, inside, fit.kernel, fit.variance, fit.noise, centered=centered
        )
        return CoreFit(_place_outside(process, values, init, core), core, fit)


def _place_outside(
    process: gplvm.GaussianProcess,
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
