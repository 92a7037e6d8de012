"""Likelihood refinement of many rows: a well-spread core is fitted and places the others."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _checks as door
from .. import gplvm
from .._threads import block_rows, map_blocks, single_threaded_blas
from ..kernels import StationaryKernel
from ._likelihood import LikelihoodFit, likelihood

Floats = NDArray[np.float64]
MAX_POINTS = 250
"""Rows whose likelihood is searched; the others are placed by the process, 1 ms each."""


class CoreFit(NamedTuple):
    """Latent of all rows, and the fit of the core that placed those outside it."""

    latent: Floats  # (n, m)
    core: NDArray[np.int64]  # (c,) sorted rows of the core; all rows if they are few
    fit: LikelihoodFit  # of the core
    process: gplvm.Process  # given the core, ready to place new rows


def _check_lead(rows: Floats, lead: Floats, **_: object) -> None:
    door.check_rows("lead", lead, len(rows))


@door.takes(
    _check_lead,
    rows=door.table,
    lead=door.table,
    centered=door.flag,
    max_points=door.whole(2),
    fit_shape=door.flag,
    random_state=door.seed,
)
def likelihood_by_core(
    rows: ArrayLike,
    lead: ArrayLike,
    kernel: str | StationaryKernel = "squared_exponential",
    *,
    centered: bool = True,
    max_points: int = MAX_POINTS,
    restarts: int = 0,
    fit_shape: bool = False,
    time_budget: float | None = None,
    random_state: int | None = None,
) -> CoreFit:
    """Fit the likelihood of a well-spread core and place all other rows by its process.

    Parameters
    ----------
    rows : (n, n_observed) array_like of float64
        One point per row, one observed dimension per column.
    lead : (n, m) array_like of float64
        Latent of all rows: the first start, and where the search for the place of a row begins.
    kernel : str or StationaryKernel
        Kernel of the model, or "auto".
    centered : bool
        Take the mean off every row first.
    max_points : int
        Rows of the core: each the farthest in ``lead`` from those before it.
    restarts, fit_shape, time_budget, random_state : see `likelihood`
        Of the search for the core.

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
    values, lead = np.asarray(rows), np.asarray(lead, dtype=np.float64)
    core = _farthest_points(lead, max_points)
    inside = np.ascontiguousarray(values[core], dtype=np.float64)
    sample_cov = gplvm.sample_covariance.unchecked(inside, centered)
    with single_threaded_blas():
        fit = likelihood(
            sample_cov,
            values.shape[1],
            lead.shape[1],
            kernel,
            starts={"own": lead[core]},
            restarts=restarts,
            fit_shape=fit_shape,
            time_budget=time_budget,
            random_state=random_state,
        )
        process = gplvm.condition.unchecked(
            fit.latent, inside, fit.kernel, fit.variance, fit.noise, centred=centered
        )
        return CoreFit(_place_outside(process, values, lead, core), core, fit, process)


def _place_outside(
    process: gplvm.Process, rows: NDArray[np.floating], lead: Floats, core: NDArray[np.int64]
) -> Floats:
    """Latent of all rows: those outside the core where they are likeliest."""
    middle = lead[core].mean(axis=0)
    turn = np.linalg.lstsq(lead[core] - middle, process.latent, rcond=None)[0]
    latent = (lead - middle) @ turn
    latent[core] = process.latent
    outside = np.setdiff1d(np.arange(len(lead)), core)

    def place(start: int, stop: int) -> None:
        for i in outside[start:stop]:
            latent[i] = gplvm.likeliest.unchecked(
                process, gplvm.see.unchecked(process, rows[i]), latent[i]
            )[0]

    map_blocks(place, outside.size, block_rows(len(process.rows)))
    return latent


def _farthest_points(latent: Floats, count: int) -> NDArray[np.int64]:
    """Sorted points that cover a latent: each the farthest from those before it."""
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
