r"""Likelihood refine: latent, variances and kernel that make the observations likeliest.

The likelihood has many local optima. Five things find a good one: several starts; a noise floor
that falls from far above the true noise to almost nothing, so that the coarse structure is settled
before the fine one can lock a wrong turn in; steps from Fisher's information, a dozen or two, so
that two optima can be told apart; perturbations of the parts of a latent that the data hold least;
and repair, which finds the points where model and data disagree and places them anew, and turns
stretches of a line round. Of all ends the likeliest is taken, and a plain descent from every given
start is among them.
Beyond a few hundred points the whole search is for a core of them that covers the latent. The
others are placed by the core, and what comes of it races over all points against the starts.
All of it is deterministic, and the order of the points leaves no trace: they are sorted by what the
covariance says of them first.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _doors as door
from .. import _limits, eigen, gplvm, kernels
from .._threads import single_threaded_blas
from .._validation import (
    check_choice,
    check_components,
    check_integer,
    check_positive,
    check_symmetric,
)
from ..kernels import StationaryKernel
from .closed_forms import rigid_distance
from .curvature import standard_errors
from .objective import Meter
from .search import WAYS, Found, Search

Floats = NDArray[np.float64]


class PoolEntry(NamedTuple):
    """Where one start ended; among many points those that lag are left on the way."""

    start: str  # name of the start
    log_likelihood: float  # of all observed dimensions, where it ended
    distance: float  # root mean square distance to the winner, rigidly aligned, in length-scales


class LikelihoodFit(NamedTuple):
    """The likeliest latent found and what came with it."""

    latent: Floats  # (n, m), a local optimum, centred, along its principal axes
    kernel: StationaryKernel  # with its fitted shape where that was free
    variance: float  # signal variance, in the units of the covariance
    noise: float  # noise variance, in the units of the covariance
    log_likelihood: float  # of all observed dimensions; over blocks of points beyond a size
    n_iter: int  # evaluations of the likelihood and its gradient
    start: str  # name of the start that won
    standard_errors: Floats | None  # (n, m) of the latent after rigid alignment; None beyond a size
    pool: tuple[PoolEntry, ...]  # one entry a start, most likely first; the winner is the first
    complete: bool  # False if the time budget ended the search


@door.takes(sample_cov=door.square, fit_shape=door.flag)
def likelihood(
    sample_cov: ArrayLike,
    n_observed: int,
    n_components: int,
    kernel: str | StationaryKernel = "squared_exponential",
    *,
    starts: Mapping[str, ArrayLike] | None = None,
    search: str = "wide",
    fit_shape: bool = False,
    time_budget: float | None = None,
) -> LikelihoodFit:
    """Find the latent under which the observations are likeliest.

    Parameters
    ----------
    sample_cov : (n, n) array_like of float64
        S = X X^T / N, see `ikd_graph.gplvm.sample_covariance`.
    n_observed : int
        Number N of observed dimensions.
    n_components : int
        Columns of the latent.
    kernel : str or StationaryKernel
        Kernel of the model; "auto" chooses among all kernels by likelihood.
    starts : mapping of str to (n, n_components) array_like, optional
        Latents to start from. Up to 200 points the result is never less likely than the local
        optimum that a plain descent from any of them ends in; beyond, such descents race over
        all points against what the search finds, and those that lag are left on the way.
    search : {"wide", "local"}
        "wide" also starts from the closed forms of `starts`, and perturbs the best. "local" starts
        from the given latents alone, and descends from each plainly and under falling noise floors.
    fit_shape : bool
        Also fit the kernel's alpha, gamma or nu.
    time_budget : float, optional
        Seconds after which the best so far is returned. The result then depends on the machine.

    Returns
    -------
    LikelihoodFit
        The latent, the kernel, its variance and the noise.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import gplvm, kernels, refine
    >>> rng = np.random.default_rng(0)
    >>> z = rng.uniform(0.0, 5.0, 25)[:, None]
    >>> model = kernels.Matern().covariance((z - z.T) ** 2) + 0.01 * np.eye(25)
    >>> rows = np.linalg.cholesky(model) @ rng.standard_normal((25, 500))
    >>> fit = refine.likelihood(gplvm.sample_covariance(rows), 500, 1, "matern")
    >>> bool(abs(np.corrcoef(fit.latent[:, 0], z[:, 0])[0, 1]) > 0.99)
    True
    """
    cov = np.array(sample_cov, dtype=np.float64, order="C")
    check_symmetric("sample_cov", cov)
    check_components(n_components, len(cov))
    check_integer("n_observed", n_observed, 1)
    check_choice("search", search, WAYS)
    deadline = np.inf
    if time_budget is not None:
        deadline = time.perf_counter() + check_positive("time_budget", time_budget)
    if starts is not None and not isinstance(starts, Mapping):
        raise TypeError(f"starts must be latents by name, got {type(starts).__name__}")
    if not starts and search == "local":
        raise ValueError(
            f"starts must hold a latent where search is 'local', got {starts!r}; a local search "
            "has nothing else to start from"
        )
    order = _order_of_points(cov)
    cov = np.ascontiguousarray(cov[np.ix_(order, order)])
    scale = check_positive("the mean variance", float(np.trace(cov)) / len(cov))
    cov /= scale
    given = {
        name: _as_start(name, latent, cov, n_components)[order]
        for name, latent in (starts or {}).items()
    }
    # Blocks and small matrices are faster on one BLAS thread, and their bits are then the same.
    with single_threaded_blas():
        meter = Meter(deadline)
        work = Search(cov, n_observed, n_components, given, wide=search == "wide", meter=meter)
        if isinstance(kernel, str) and kernel == "auto":
            found = work.run_all(fit_shape)
        else:
            found = work.run(kernels.get(kernel), fit_shape)
        return _report(found, work, order, scale)


def _report(found: Found, search: Search, order: NDArray[np.intp], scale: float) -> LikelihoodFit:
    """Put the points back in their order and everything in the units of the covariance."""
    objective, best = found.objective, found.best
    n, n_observed = len(order), search.n_observed
    kernel = objective.shaped(best.vector)
    variance, noise = objective.scales(best.vector)
    latent = _principal_axes(objective.latent(best.vector))
    back = np.argsort(order)
    errors = None
    if n <= _limits.STANDARD_ERRORS:
        errors = standard_errors(latent, n_observed, kernel, variance, noise)[back]
    # A density of values that are larger by the root of the scale is smaller by that root each.
    shift = 0.5 * n * np.log(scale)
    offset = 0.0
    if objective.blocks is not None and n <= _limits.LIKELIHOOD_REPORTED:
        exact = gplvm.log_likelihood(latent, search.cov, 1, kernel, variance, noise)
        offset = exact + best.value
    pool = tuple(
        PoolEntry(
            at.name,
            float(n_observed * (offset - at.value - shift)),
            rigid_distance(latent, objective.latent(at.vector)) / kernel.length_scale,
        )
        for at in found.ends
    )
    return LikelihoodFit(
        latent=latent[back],
        kernel=kernel,
        variance=scale * variance,
        noise=scale * noise,
        log_likelihood=pool[0].log_likelihood,
        n_iter=search.meter.n_evaluations,
        start=best.name,
        standard_errors=errors,
        pool=(pool[0]._replace(distance=0.0), *pool[1:]),
        complete=not search.meter.expired,
    )


def _order_of_points(cov: Floats) -> NDArray[np.intp]:
    """An order that does not depend on the one the points came in, ties of equal rows apart."""
    # Sorted before they are added up: a sum in another order has other last bits.
    return np.lexsort((np.sort(cov, axis=1).sum(axis=1), np.diagonal(cov)))


def _as_start(name: str, latent: ArrayLike, cov: Floats, n_components: int) -> Floats:
    """A start of the right shape."""
    points = np.asarray(latent, dtype=np.float64)
    if points.shape != (len(cov), n_components):
        raise ValueError(
            f"starts[{name!r}] must have shape {(len(cov), n_components)}, got {points.shape}; "
            "one row per row of sample_cov and one column per component"
        )
    return points - points.mean(axis=0)


def _principal_axes(latent: Floats) -> Floats:
    """Centred latent, turned so that its columns are uncorrelated, the widest first."""
    left, sizes, _ = np.linalg.svd(latent - latent.mean(axis=0), full_matrices=False)
    return eigen.pin_signs(left * sizes)
