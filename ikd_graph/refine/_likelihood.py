"""Likelihood refinement: the latent, variances and kernel under which the data are likeliest.

The likelihood has many local optima. Each start is annealed: a noise floor falls from far above the
true noise to almost none, so that the coarse structure is settled before the fine one can lock a
wrong turn in. The likeliest of all ends is converged fully.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import orthogonal_procrustes

from .. import _checks as door
from .. import eigen, gplvm, kernels
from .._threads import single_threaded_blas
from ..covariance import to_correlation
from ..kernels import StationaryKernel
from ._closed_forms import random_closed_form
from ._descent import SOFT, Optimum, anneal, converge, cool, minimise
from ._objective import Clock, Objective

Floats = NDArray[np.float64]

EXTRA = 2
"""Dimensions that a restart adds: curves that cross in a latent pass each other in more."""

_EXTRA_SIZE, _JITTER = 0.5, 0.3  # standard deviation there over the latent's, and in length-scales
_SHRINK = (0.6, 0.3, 0.1)  # factors of the extra coordinates before they are dropped
_LAST_STEPS, _LAST_TOLERANCE = 500, 1e-13  # of the winner
_SHRINK_STEPS, _FLAT_STEPS = 10, 20
_HOPELESS = 0.2  # a restart ends if it is so much above the best under a noise floor,
_SAME = 0.005  # or is the same local optimum as one that was followed


class OptimumRecord(NamedTuple):
    """Where one descent ended."""

    start: str  # name of the start
    log_likelihood: float  # of all observed dimensions
    distance: float  # root mean square distance to the winner, rigidly aligned, in length-scales
    latent: Floats  # (n, m), centred and rigidly aligned


class LikelihoodFit(NamedTuple):
    """The likeliest latent and what belongs to it."""

    latent: Floats  # (n, m), a local optimum, centred, along its principal axes
    kernel: StationaryKernel  # with its fitted shape where that was free
    variance: float  # signal variance, in the units of the covariance
    noise: float  # noise variance, in the units of the covariance
    log_likelihood: float  # of all observed dimensions
    n_iter: int  # evaluations of the likelihood and its gradient
    start: str  # name of the start that led to it
    optima: tuple[OptimumRecord, ...]  # one for each descent, most likely first
    complete: bool  # False if the time budget ended the search


def _check_starts(sample_cov: Floats, n_components: int, starts: object, **_: object) -> None:
    door.check_components(n_components, len(sample_cov))
    if not isinstance(starts, Mapping) or not starts:
        raise ValueError(f"starts must map names to latents, at least one, got {starts!r}")


@door.takes(
    _check_starts,
    sample_cov=door.symmetric,
    n_observed=door.whole(1),
    restarts=door.whole(0),
    fit_shape=door.flag,
    time_budget=door.optional(door.positive),
    random_state=door.seed,
)
def likelihood(
    sample_cov: ArrayLike,
    n_observed: int,
    n_components: int,
    kernel: str | StationaryKernel = "squared_exponential",
    *,
    starts: Mapping[str, ArrayLike],
    restarts: int = 0,
    fit_shape: bool = False,
    time_budget: float | None = None,
    random_state: int | None = None,
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
        Kernel of the model. "auto" takes the one of four that is likeliest after a short descent
        from the first start. Where one is named, the likeliest latent under the other three is a
        start.
    starts : mapping of str to (n, n_components) array_like of float64
        Latents to descend from, at least one, the most trusted first. One with more columns is
        shrunk to ``n_components`` on the way.
    restarts : int
        More descents, which take turns: from the geodesic solution of the correlations of
        ``sample_cov`` on a random graph, and from the best latent with jitter. Both go through two
        more dimensions, in which curves that cross pass each other.
    fit_shape : bool
        Also fit the kernel's alpha, gamma or nu, at the end.
    time_budget : float, optional
        Seconds after which the best so far is returned. The result then depends on the machine.
    random_state : int, optional
        Seed of the restarts; None is 0, so that two runs agree.

    Returns
    -------
    LikelihoodFit
        The latent, the kernel, its variance and the noise.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import gplvm, kernels, refine
    >>> rng = np.random.default_rng(0)
    >>> z = np.sort(rng.uniform(0.0, 5.0, 25))[:, None]
    >>> model = kernels.Matern().covariance((z - z.T) ** 2) + 0.01 * np.eye(25)
    >>> rows = np.linalg.cholesky(model) @ rng.standard_normal((25, 500))
    >>> start = z + 0.1 * np.sin(9.0 * z)
    >>> fit = refine.likelihood(
    ...     gplvm.sample_covariance(rows), 500, 1, "matern", starts={"geodesic": start}
    ... )
    >>> bool(abs(np.corrcoef(fit.latent[:, 0], z[:, 0])[0, 1]) > 0.99)
    True
    """
    cov = np.array(sample_cov, dtype=np.float64, order="C")
    # Random numbers belong to points, whatever order these come in.
    order = _order_of_points(cov)
    cov = np.ascontiguousarray(cov[np.ix_(order, order)])
    scale = float(np.trace(cov)) / len(cov)
    if not scale > 0.0:
        raise ValueError(f"the mean variance must be positive, got {scale!r}")
    cov /= scale
    shape = (len(cov), n_components)
    latents = {
        name: _check_start(f"starts[{name!r}]", latent, shape)[order]
        for name, latent in starts.items()
    }
    default = kernels.get("squared_exponential" if _is_auto(kernel) else kernel)
    n_columns = min(n_components + EXTRA, len(cov) - 1)
    draw = partial(random_closed_form, to_correlation.unchecked(cov), n_columns, default)
    clock = Clock(time_budget)
    with single_threaded_blas():
        sample = gplvm.SampleLikelihood(cov)
        first, *others = latents
        objective, ends = _choose_kernel(
            [Objective(sample, each, n_components, clock) for each in _kernels_to_try(kernel)],
            latents[first],
            first,
            is_named=not _is_auto(kernel),
        )
        ends += [_descend(objective, latents[name], name) for name in others]
        rng = np.random.default_rng(random_state or 0)
        soft = 0.0
        for turn in range(1, restarts + 1):
            if clock.expired:
                break
            best = _best(ends)
            if turn == 1 or best is ends[-1]:
                # Only under the same noise floor are two values comparable.
                soft = minimise(objective, best, _FLAT_STEPS, SOFT[-1]).value
            latent = draw(rng) if turn % 2 else _widened(objective, best, rng)
            ends.append(_descend(objective, latent, f"restart {turn}", soft))
        best = converge(objective, _best(ends), _LAST_STEPS, _LAST_TOLERANCE)
        if fit_shape and objective.kernel.shape_name is not None:
            objective, best = _free_shape(objective, best)
        if not np.isfinite(best.value):  # no time for any evaluation
            best = best._replace(value=objective.exact(best.vector))
        return _report(objective, best, ends, n_observed, order, scale)


def _is_auto(kernel: str | StationaryKernel) -> bool:
    """Whether the kernel is to be chosen."""
    return isinstance(kernel, str) and kernel == "auto"


def _kernels_to_try(kernel: str | StationaryKernel) -> list[StationaryKernel]:
    """The named kernel, if there is one, and all others with their default parameters."""
    if _is_auto(kernel):
        return [kernels.get(name) for name in kernels.KERNELS]
    named = kernels.get(kernel)
    return [named, *(make() for make in kernels.KERNELS.values() if make is not type(named))]


def _choose_kernel(
    objectives: list[Objective], latent: Floats, start: str, *, is_named: bool
) -> tuple[Objective, list[Optimum]]:
    """Objective of the first or the likeliest kernel, and descents under it.

    Under a kernel that is named, the likeliest latent of the others is a start.
    """
    if not is_named:
        tried = [(each, _descend(each, latent, start, last=False)) for each in objectives]
        objective, end = min(tried, key=lambda pair: pair[1].value)
        return objective, [converge(objective, end)]
    objective, *others = objectives
    ends = [_descend(objective, latent, start)]
    others = [other.with_components(latent.shape[1]) for other in others]
    short = [(other, anneal(other, latent, start)) for other in others]
    other, end = min(short, key=lambda pair: pair[1].value)
    name = f"{start}, {type(other.kernel).__name__}"
    return objective, [*ends, _descend(objective, other.latent(end.vector), name)]


def _descend(
    objective: Objective,
    latent: Floats,
    start: str,
    soft: float | None = None,
    *,
    last: bool = True,
) -> Optimum:
    """From a latent under falling noise floors to a local optimum.

    Of a latent with more columns than asked for, the others are shrunk and dropped on the way.
    With ``soft``, the best value under the last noise floor, the descent ends early where it is far
    above that or at the same place. Without the ``last`` steps it has not quite converged.
    """
    extra = latent.shape[1] - objective.n_components
    wide = objective.with_components(latent.shape[1]) if extra else objective
    at = anneal(wide, latent - latent.mean(axis=0), start)
    if extra:
        for factor in _SHRINK:
            vector = at.vector.copy()
            wide.latent(vector)[:, -extra:] *= factor
            at = minimise(wide, at._replace(vector=vector), _SHRINK_STEPS, SOFT[-1])
        flat = wide.latent(at.vector)[:, :-extra]
        at = at._replace(vector=objective.vector(flat, *wide.variances(at.vector)))
        at = minimise(objective, at, _FLAT_STEPS, SOFT[-1])
    if soft is not None and (at.value > soft + _HOPELESS or abs(at.value - soft) < _SAME):
        return at
    at = cool(objective, at)
    return converge(objective, at) if last else at


def _widened(objective: Objective, best: Optimum, rng: np.random.Generator) -> Floats:
    """The best latent with jitter and two more coordinates."""
    latent = objective.latent(best.vector)
    n, m = latent.shape
    jitter = _JITTER * objective.kernel.length_scale * rng.standard_normal((n, m))
    extra = _EXTRA_SIZE * latent.std() * rng.standard_normal((n, EXTRA))
    return np.c_[latent + jitter, extra]


def _best(ends: list[Optimum]) -> Optimum:
    """The likeliest optimum, the first of equals."""
    return min(ends, key=lambda at: at.value)


def _free_shape(objective: Objective, best: Optimum) -> tuple[Objective, Optimum]:
    """The optimum with the kernel's shape parameter free."""
    free = Objective(
        objective.likelihood,
        objective.kernel,
        objective.n_components,
        objective.clock,
        free_shape=True,
    )
    vector = free.vector(objective.latent(best.vector), *objective.variances(best.vector))
    return free, converge(free, best._replace(vector=vector), _LAST_STEPS, _LAST_TOLERANCE)


def _report(
    objective: Objective,
    best: Optimum,
    ends: list[Optimum],
    n_observed: int,
    order: NDArray[np.intp],
    scale: float,
) -> LikelihoodFit:
    """The result in the order of the points and the units of the covariance."""
    kernel = objective.kernel_of(best.vector)
    variance, noise = objective.variances(best.vector)
    latent = _principal_axes(objective.latent(best.vector))
    back = np.argsort(order)

    def log_likelihood(at: Optimum) -> float:
        # A density of values that are larger by the root of the scale is smaller by that root each.
        return float(-n_observed * (at.value + 0.5 * len(order) * np.log(scale)))

    optima = []
    for at in sorted(ends, key=lambda at: at.value):
        if np.isfinite(at.value):
            other = _aligned(latent, objective.latent(at.vector))
            distance = float(np.sqrt(((other - latent) ** 2).sum(axis=1).mean()))
            optima.append(
                OptimumRecord(
                    at.start, log_likelihood(at), distance / kernel.length_scale, other[back]
                )
            )
    return LikelihoodFit(
        latent=latent[back],
        kernel=kernel,
        variance=scale * variance,
        noise=scale * noise,
        log_likelihood=log_likelihood(best),
        n_iter=objective.clock.n_evaluations,
        start=best.start,
        optima=tuple(optima),
        complete=not objective.clock.expired,
    )


def _order_of_points(cov: Floats) -> NDArray[np.intp]:
    """An order that does not depend on the one the points come in, except for equal rows."""
    # Sorted before they are added up: a sum in another order has other last bits.
    return np.lexsort((np.sort(cov, axis=1).sum(axis=1), np.diagonal(cov)))


def _check_start(name: str, latent: ArrayLike, shape: tuple[int, int]) -> Floats:
    """A latent of the right shape, perhaps with more columns."""
    points = np.asarray(latent, dtype=np.float64)
    if points.ndim != 2 or len(points) != shape[0] or points.shape[1] < shape[1]:
        raise ValueError(
            f"{name} must have shape {shape}, got {points.shape}; "
            "one row per row of sample_cov and one column per component"
        )
    return points


def _principal_axes(latent: Floats) -> Floats:
    """Centred latent, turned so that its columns are uncorrelated, the widest first."""
    left, sizes, _ = np.linalg.svd(latent - latent.mean(axis=0), full_matrices=False)
    return eigen.pin_signs.unchecked(left * sizes)


def _aligned(latent: Floats, other: Floats) -> Floats:
    """Another latent after the best rotation or reflection and shift to a centred one."""
    centred = other - other.mean(axis=0)
    return np.asarray(centred @ orthogonal_procrustes(centred, latent)[0])
