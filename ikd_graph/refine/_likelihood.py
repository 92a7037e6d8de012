"""Likelihood refinement: the latent, variances and kernel under which the data are likeliest.

The likelihood has many local optima. Each start is annealed: a noise floor falls from far above the
true noise to almost none, so that the coarse structure is settled before the fine one can lock a
wrong turn in. The likeliest of all ends is converged fully.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import orthogonal_procrustes

from .. import eigen, gplvm, kernels
from .._threads import keep_threads
from .._validation import check_components, check_integer, check_positive, check_symmetric
from ..covariance import to_correlation
from ..kernels import StationaryKernel
from ._closed_forms import random_closed_form
from ._descent import Optimum, anneal, converge, cool, minimise
from ._objective import Clock, Objective, TimeUp
from ._standard_errors import standard_errors

Floats = NDArray[np.float64]
ClosedForm = Callable[[np.random.Generator], ArrayLike]

STANDARD_ERRORS = 1500
"""Coordinates up to which standard errors are computed: eigenvalues of a matrix of this size."""

_EXTRA = 2  # dimensions that a restart adds
_SHRINK = (0.6, 0.3, 0.1)  # factors of the extra coordinates before they are dropped
_SHRINK_STEPS = 15
_JITTER = 0.1  # of a restart, in length-scales
_DISTINCT = 0.02  # smallest difference of two local optima in value


class OptimumRecord(NamedTuple):
    """Where one descent ended."""

    start: str  # name of the start
    log_likelihood: float  # of all observed dimensions
    distance: float  # root mean square distance to the winner, rigidly aligned, in length-scales


class LikelihoodFit(NamedTuple):
    """The likeliest latent and what belongs to it."""

    latent: Floats  # (n, m), a local optimum, centred, along its principal axes
    kernel: StationaryKernel  # with its fitted shape where that was free
    variance: float  # signal variance, in the units of the covariance
    noise: float  # noise variance, in the units of the covariance
    log_likelihood: float  # of all observed dimensions
    n_iter: int  # evaluations of the likelihood and its gradient
    start: str  # name of the start that led to it
    standard_errors: Floats | None  # (n, m) after rigid alignment; None for very many coordinates
    optima: tuple[OptimumRecord, ...]  # one for each descent, most likely first
    complete: bool  # False if the time budget ended the search


def likelihood(
    sample_cov: ArrayLike,
    n_observed: int,
    n_components: int,
    kernel: str | StationaryKernel = "squared_exponential",
    *,
    starts: Mapping[str, ArrayLike],
    closed_form: ClosedForm | None = None,
    restarts: int = 0,
    fit_shape: bool = False,
    time_budget: float | None = None,
    random_state: int | None = None,
) -> LikelihoodFit:
    cov = np.array(sample_cov, dtype=np.float64, order="C")
    check_symmetric("sample_cov", cov)
    check_components(n_components, len(cov))
    check_integer("n_observed", n_observed, 1)
    check_integer("restarts", restarts, 0)
    if time_budget is not None:
        check_positive("time_budget", time_budget)
    if not isinstance(starts, Mapping) or not starts:
        raise ValueError(f"starts must map names to latents, at least one, got {starts!r}")
    # Random numbers belong to points, whatever order these come in.
    order = _order_of_points(cov)
    cov = np.ascontiguousarray(cov[np.ix_(order, order)])
    scale = check_positive("the mean variance", float(np.trace(cov)) / len(cov))
    cov /= scale
    latents = {
        name: _check_start(name, latent, len(cov), n_components)[order]
        for name, latent in starts.items()
    }
    named = None if isinstance(kernel, str) and kernel == "auto" else kernels.get(kernel)
    if closed_form is None:
        corr = to_correlation(cov)

        def draw(rng: np.random.Generator) -> Floats:
            return random_closed_form(corr, n_components, named or objective.kernel, rng)
    else:

        def draw(rng: np.random.Generator) -> Floats:
            latent = closed_form(rng)
            return _check_start("closed_form", latent, len(cov), n_components)[order]

    clock = Clock(time_budget)
    with keep_threads():
        sample = gplvm.SampleLikelihood(cov)
        objective, ends = _from_starts(sample, named, latents, n_components, clock)
        rng = np.random.default_rng(random_state)
        for turn in range(restarts):
            if clock.expired:
                break
            ends.append(_restart(objective, best_of(ends), turn, draw, rng))
        best = converge(objective, best_of(ends))
        if fit_shape and objective.kernel.shape_name is not None:
            objective, best = _free_shape(objective, best)
        return _report(objective, best, ends, n_observed, order, scale)


def best_of(ends):
    return min(ends, key=lambda at: at.value)


def _from_starts(sample, named, latents, n_components, clock):
    first, *others = latents
    if named is None:
        tried = []
        for each in kernels.KERNELS:
            objective = Objective(sample, kernels.get(each), n_components, clock)
            tried.append((objective, descend(objective, latents[first], first)))
        objective, end = min(tried, key=lambda pair: pair[1].value)
        ends = [end]
    else:
        objective = Objective(sample, named, n_components, clock)
        ends = [descend(objective, latents[first], first)]
        if OTHER_KERNELS:
            soft = []
            for each in kernels.KERNELS.values():
                if each is not type(named):
                    other = Objective(sample, each(), n_components, clock)
                    at = anneal(other, latents[first], first)
                    if OTHER_KERNELS == "cool": at = cool(other, at)
                    soft.append((at.value, each.__name__, other.latent(at.vector), at.vector))
            soft.sort(key=lambda t: t[0])
            for value, name, latent, vector in soft[:N_KERNELS]:
                ends.append(descend(objective, latent, f"{first} under {name}"))
    ends += [descend(objective, latents[name], name) for name in others]
    return objective, ends

OTHER_KERNELS = ""
N_KERNELS = 1


def descend(objective, latent, start):
    at = cool(objective, anneal(objective, latent, start))
    return converge(objective, at, 45, 1e-8)


MODE = "both"

def _restart(objective, best, turn, draw, rng):
    """A descent from another closed form, or from the best through two more dimensions."""
    if MODE == "graph" or (MODE == "both" and turn % 2 == 0):
        return descend(objective, draw(rng), f"restart {turn + 1}: another graph")
    latent = objective.latent(best.vector)
    n, m = latent.shape
    wide = objective.with_components(m + _EXTRA)
    size = latent.std() * EXTRA_SIZE
    start = np.c_[latent + JIT * objective.kernel.length_scale * rng.standard_normal((n, m)), size * rng.standard_normal((n, _EXTRA))]
    name = f"restart {turn + 1}: two more dimensions"
    at = anneal(wide, start, name, FLOORS)
    for factor in _SHRINK:
        vector = at.vector.copy()
        wide.latent(vector)[:, m:] *= factor
        at = minimise(wide, at._replace(vector=vector), _SHRINK_STEPS, 0.1)
    flat = objective.vector(wide.latent(at.vector)[:, :m], *wide.variances(at.vector))
    at = cool(objective, minimise(objective, Optimum(np.inf, flat, name), 30, 0.1))
    return converge(objective, at, 45, 1e-8)

EXTRA_SIZE = .5
JIT = .3
FLOORS = (1.0, .3, .1)


def _free_shape(objective, best):
    free = Objective(objective.likelihood, objective.kernel, objective.n_components, objective.clock, free_shape=True)
    vector = free.vector(objective.latent(best.vector), *objective.variances(best.vector))
    return free, converge(free, best._replace(vector=vector))


def _report(objective, best, ends, n_observed, order, scale):
    n = len(order)
    kernel = objective.kernel_of(best.vector)
    variance, noise = objective.variances(best.vector)
    latent = _principal_axes(objective.latent(best.vector))
    back = np.argsort(order)
    errors = None
    if latent.size <= STANDARD_ERRORS:
        errors = standard_errors(latent, n_observed, kernel, variance, noise)[back]
    # A density of values that are larger by the root of the scale is smaller by that root each.
    shift = 0.5 * n * np.log(scale)
    return LikelihoodFit(
        latent=latent[back], kernel=kernel, variance=scale * variance, noise=scale * noise,
        log_likelihood=float(-n_observed * (best.value + shift)),
        n_iter=objective.clock.n_evaluations, start=best.start, standard_errors=errors,
        optima=tuple(
            OptimumRecord(at.start, float(-n_observed * (at.value + shift)), _rigid_distance(latent, objective.latent(at.vector)) / kernel.length_scale)
            for at in sorted(ends, key=lambda at: at.value)),
        complete=not objective.clock.expired)


def _order_of_points(cov: Floats) -> NDArray[np.intp]:
    """An order that does not depend on the one the points come in, except for equal rows."""
    # Sorted before they are added up: a sum in another order has other last bits.
    return np.lexsort((np.sort(cov, axis=1).sum(axis=1), np.diagonal(cov)))


def _check_start(name: str, latent: ArrayLike, n: int, n_components: int) -> Floats:
    """A centred latent of the right shape."""
    points = np.asarray(latent, dtype=np.float64)
    if points.shape != (n, n_components):
        raise ValueError(
            f"starts[{name!r}] must have shape {(n, n_components)}, got {points.shape}; "
            "one row per row of sample_cov and one column per component"
        )
    return points - points.mean(axis=0)


def _principal_axes(latent: Floats) -> Floats:
    """Centred latent, turned so that its columns are uncorrelated, the widest first."""
    left, sizes, _ = np.linalg.svd(latent - latent.mean(axis=0), full_matrices=False)
    return eigen.pin_signs(left * sizes)


def _rigid_distance(latent: Floats, other: Floats) -> float:
    """Root mean square distance after the best rotation or reflection and shift."""
    a, b = latent - latent.mean(axis=0), other - other.mean(axis=0)
    rotation, _ = orthogonal_procrustes(b, a)
    return float(np.sqrt(((b @ rotation - a) ** 2).sum(axis=1).mean()))
