"""Likelihood refinement: the latent, variances and kernel under which the data are most likely.

The likelihood has many local optima. Each start is annealed: a noise floor falls from far above the
true noise to almost none, so that the coarse structure is settled before the fine one can lock a
wrong turn in. The most likely of all local optima is converged fully.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import cdist

from .. import eigen, kernels
from .._base import validation as check
from .._base.threads import map_blocks, single_threaded_blas
from .._base.types import Floats
from .._base.validation import validate
from ..blockwise import rigid_fit
from ..covariance import spectral_noise, to_correlation
from ..kernels import StationaryKernel
from ._descent import Optimum, anneal, converge, cool
from ._gradient import SampleLikelihood
from ._objective import LEAST_NOISE, Clock, Objective
from ._starts import closed_form, random_closed_form

T = TypeVar("T")

_FLOOR_FRACTION = 0.9
"""Noise floor over the estimate of the noise: less its error in small tables (decisions/004)."""

_SAME = 1e-6  # squared distance, over that to the middle, of latents that differ by rounding
_LAST_STEPS, _LAST_TOLERANCE = 500, 1e-13  # of the most likely optimum

_OPEN = 0.5
"""Log likelihood that a distance may cost: what a standard error costs."""

_GROWTH = 1.5
"""Factor between the distances that are tried."""


class OptimumRecord(NamedTuple):
    """Where one descent ended."""

    start: str  # name of the start
    log_likelihood: float  # of all columns
    distance: float  # root mean square distance to the winner, rigidly aligned, in length-scales
    latent: Floats  # (n, m), centered and rigidly aligned

    def __repr__(self) -> str:
        """Return the record without its latent."""
        return (
            f"OptimumRecord(start={self.start!r}, log_likelihood={self.log_likelihood:.6g}, "
            f"distance={self.distance:.3g})"
        )


class LikelihoodFit(NamedTuple):
    """The maximum-likelihood embedding and what belongs to it."""

    latent: Floats  # (n, m), a local optimum, centered, along its principal axes
    kernel: StationaryKernel  # with its fitted shape where that was free
    variance: float  # signal variance, in the units of the covariance
    noise: float  # noise variance, in the units of the covariance
    log_likelihood: float  # of all columns
    n_iter: int  # evaluations of the likelihood and its gradient
    start: str  # name of the start that led to it
    optima: tuple[OptimumRecord, ...]  # one for each descent, most likely first
    complete: bool  # False if the time budget ended the search


class _Fitted(NamedTuple):
    """A descent under one kernel."""

    objective: Objective  # with the noise floor that was kept, or without
    optimum: Optimum
    value: float  # without a noise floor: what kernels are compared by


class LocalOptimum(NamedTuple):
    """A latent of locally largest likelihood and its variances, in the units of the covariance."""

    latent: Floats  # (n, m)
    kernel: StationaryKernel
    variance: float
    noise: float


def local_optimum(
    sample_cov: Floats,
    latent: Floats,
    kernel: StationaryKernel,
    variances: tuple[float, float] | None = None,
) -> LocalOptimum:
    """One descent: to the nearest optimum, or annealed as `likelihood` descends from its starts.

    Parameters
    ----------
    sample_cov : (n, n) float64
        S = X X^T / N.
    latent : (n, m) float64
        Where to start.
    kernel : StationaryKernel
        Kernel of the model.
    variances : tuple of two floats, optional
        Signal and noise variance, in the units of ``sample_cov``, next to which the optimum is
        wanted. Without them the descent is annealed.

    Returns
    -------
    LocalOptimum
        Latent, kernel and variances.
    """
    cov, scale = scaled(sample_cov)
    objective = Objective(SampleLikelihood(cov), kernel, latent.shape[1], Clock())
    if variances is None:
        start = anneal(objective, latent, "")
    else:
        vector = objective.vector(latent, variances[0] / scale, variances[1] / scale)
        start = Optimum(np.inf, vector, "")
    at = converge(objective, start)
    variance, noise = objective.variances(at.vector)
    return LocalOptimum(objective.latent(at.vector), kernel, scale * variance, scale * noise)


def scaled(cov: Floats) -> tuple[Floats, float]:
    """Covariance in units of the mean variance, and that; ValueError where nothing varies."""
    scale = float(np.trace(cov)) / len(cov)
    if not scale > 0.0:
        raise ValueError(f"the mean variance of rows must be positive, got {scale!r}")
    return cov / scale, scale


def _check_starts(sample_cov: Floats, starts: object, **_: object) -> None:
    """Raise unless starts are embeddings of one width, with a row per row of a covariance."""
    if not isinstance(starts, Mapping) or not starts:
        raise ValueError(f"starts must map names to latents, at least one, got {starts!r}")
    shapes = {name: np.shape(latent) for name, latent in starts.items()}
    _, width = (*next(iter(shapes.values())), 1)[:2]
    check.components(len(sample_cov))("n_components", width)
    for name, shape in shapes.items():
        if shape != (len(sample_cov), width):
            raise ValueError(
                f"starts[{name!r}] must have shape {(len(sample_cov), width)}, got {shape}; "
                "one row per row of sample_cov and one column per component"
            )


@validate(
    _check_starts,
    sample_cov=check.symmetric,
    n_observed=check.whole(1),
    fit_shape=check.flag,
    time_budget=check.optional(check.positive),
    random_state=check.seed,
)
def likelihood(
    sample_cov: ArrayLike,
    n_observed: int,
    kernel: str | StationaryKernel = "squared_exponential",
    *,
    starts: Mapping[str, ArrayLike],
    restarts: int = 0,
    fit_shape: bool = False,
    time_budget: float | None = None,
    random_state: int | None = None,
) -> LikelihoodFit:
    """Find the latent under which the observations are most likely.

    The noise variance is at least 0.9 of what the spectrum tells
    (`ikd_graph.covariance.spectral_noise`), unless the data contradict it: rough kernels have
    eigenvalues as small as those of noise. So the floor is given up where that adds more than half
    a unit per free coordinate to the log likelihood, which is what fitting noise adds.

    Parameters
    ----------
    sample_cov : (n, n) array_like of float64
        S = X X^T / N, see `ikd_graph.gplvm.sample_covariance`.
    n_observed : int
        Number N of columns.
    kernel : str or StationaryKernel
        Kernel of the model. "auto" takes the one of four of largest likelihood, once descents
        from the first start have converged.
    starts : mapping of str to (n, m) array_like of float64
        Latents of m coordinates to descend from, at least one, the most trusted first.
    restarts : int
        More descents: one from the geodesic solution of the correlations of ``sample_cov`` on
        their threshold graph, if that is not among ``starts``, the others on random graphs.
    fit_shape : bool
        Also fit the kernel's alpha or gamma, at the end.
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
    ...     gplvm.sample_covariance(rows), 500, "matern", starts={"geodesic": start}
    ... )
    >>> bool(abs(np.corrcoef(fit.latent[:, 0], z[:, 0])[0, 1]) > 0.99)
    True
    """
    cov = np.array(sample_cov, dtype=np.float64, order="C")
    # Random numbers belong to points, whatever order these come in.
    order = _order_of_points(cov)
    cov, scale = scaled(np.ascontiguousarray(cov[np.ix_(order, order)]))
    latents = {name: np.asarray(latent, np.float64)[order] for name, latent in starts.items()}
    rng, clock = np.random.default_rng(random_state or 0), Clock(time_budget)
    with single_threaded_blas():
        sample = SampleLikelihood(cov)
        least = max(_noise_floor(sample.eigenvalues, n_observed), LEAST_NOISE)
        first, *further = latents
        n_components = latents[first].shape[1]

        def fit_kernel(kernel: StationaryKernel) -> _Fitted:
            objective = Objective(sample, kernel, n_components, clock, least_noise=least)
            return _fit_kernel(objective, latents[first], first, n_observed)

        fitted = _in_threads([partial(fit_kernel, each) for each in _candidates(kernel)])
        objective, at, _ = min(fitted, key=lambda each: each.value)

        def descend(name: str, latent: Floats) -> Optimum:
            return converge(objective, anneal(objective, latent, name))

        others = [(name, latents[name]) for name in further]
        if not clock.expired:
            given = list(latents.values())
            others += _further_starts(cov, objective.kernel, given, restarts, n_observed, rng)
        optima = [at, *_in_threads([partial(descend, *start) for start in others])]
        most_likely = min(optima, key=lambda at: at.value)
        best = converge(objective, most_likely, _LAST_STEPS, _LAST_TOLERANCE)
        optima = [_closed(objective, each, n_observed) for each in optima]
        if fit_shape and objective.kernel.shape_name is not None:
            objective, best = _free_shape(objective, best)
        if not np.isfinite(best.value):  # no time for any evaluation
            best = best._replace(value=objective.exact(best.vector))
        return report(
            objective, _closed(objective, best, n_observed), optima, n_observed, order, scale
        )


def _noise_floor(eigenvalues: Floats, n_observed: float) -> float:
    """Least noise variance that a likelihood search begins with, in the units of the eigenvalues.

    Parameters
    ----------
    eigenvalues : (n,) float64
        Of S = X X^T / N.
    n_observed : float
        Number N of columns.

    Returns
    -------
    float
        Noise variance.
    """
    # Below the mean variance, so that some of it is left for the signal.
    most = 0.99 * float(np.mean(eigenvalues))
    return min(_FLOOR_FRACTION * spectral_noise(eigenvalues, n_observed), most)


def _fit_kernel(objective: Objective, latent: Floats, start: str, n_observed: int) -> _Fitted:
    """Descend under a kernel, with the noise floor and without."""
    floored = anneal(objective, latent, start)
    if objective.least_noise <= LEAST_NOISE:
        at = converge(objective, floored)
        return _Fitted(objective, at, at.value)
    free = replace(objective, least_noise=LEAST_NOISE)
    released = converge(free, cool(free, floored))
    floored = converge(objective, floored)
    # Noise alone lets every free parameter add half a unit to the largest log likelihood (Wilks).
    if n_observed * (floored.value - released.value) > 0.5 * objective.size:
        return _Fitted(free, released, released.value)
    return _Fitted(objective, floored, released.value)


def _further_starts(
    cov: Floats,
    kernel: StationaryKernel,
    given: list[Floats],
    restarts: int,
    n_observed: int,
    rng: np.random.Generator,
) -> list[tuple[str, Floats]]:
    """Return closed forms of the threshold graph, unless it was given, and of random graphs."""
    corr, m = to_correlation(cov), given[0].shape[1]
    starts: list[tuple[str, Floats]] = []
    if restarts:
        latent = closed_form(corr, m, kernel, n_observed)
        if not any(same(latent, other) for other in given):
            starts.append(("threshold graph", latent))
    for number in range(1, restarts + 1 - len(starts)):
        starts.append((f"restart {number}", random_closed_form(corr, m, kernel, rng)))
    return starts


def same(latent: Floats, other: Floats, tolerance: float = _SAME) -> bool:
    """Whether two latents are equal but for a rigid motion and a fraction of their variance."""
    gap = rigid_fit(latent, other).apply(latent) - other
    return float(np.sum(gap**2)) <= tolerance * float(np.sum((other - other.mean(axis=0)) ** 2))


def _in_threads(tasks: Sequence[Callable[[], T]]) -> list[T]:
    """Results of independent descents, in their order, in this thread's number of threads."""
    results: dict[int, T] = {}

    def work(number: int, _: int) -> None:
        with single_threaded_blas():
            results[number] = tasks[number]()

    map_blocks(work, len(tasks), 1)
    return [results[number] for number in range(len(tasks))]


def _candidates(kernel: str | StationaryKernel) -> list[StationaryKernel]:
    """Return the named kernel, or those that "auto" chooses from."""
    if isinstance(kernel, str) and kernel == "auto":
        return [kernels.get(name) for name in kernels.KERNELS]
    return [kernels.get(kernel)]


def _free_shape(objective: Objective, best: Optimum) -> tuple[Objective, Optimum]:
    """Return the optimum with the kernel's shape parameter free."""
    free = replace(objective, free_shape=True)
    vector = free.vector(objective.latent(best.vector), *objective.variances(best.vector))
    return free, converge(free, best._replace(vector=vector), _LAST_STEPS, _LAST_TOLERANCE)


def _closed(objective: Objective, at: Optimum, n_observed: int) -> Optimum:
    """Return an optimum without the distances that the likelihood leaves open."""
    if not np.isfinite(at.value):
        return at
    vector = _close_gaps(objective, at.vector, n_observed)
    return at._replace(vector=vector, value=objective.exact(vector))


def _close_gaps(objective: Objective, vector: Floats, n_observed: int) -> Floats:
    """Move groups of points together as far as the likelihood lets them.

    Groups of points that are not correlated are as likely at any distance beyond some
    length-scales, and a descent drives them apart without end.

    Parameters
    ----------
    objective : Objective
        Negative log likelihood of a column.
    vector : (k,) ndarray of float64
        A local optimum.
    n_observed : int
        Number N of columns.

    Returns
    -------
    (k,) ndarray of float64
        The same with groups nearer to one another; none is nearer than where the kernel falls below
        the variance of a correlation, 1 / N, and each costs half a unit of the log likelihood at
        most.
    """
    kernel, points = objective.kernel_of(vector), objective.latent(vector).copy()
    nearest = float(np.sqrt(kernel.sq_distance(np.array([1.0 / max(n_observed, 2)]))[0]))
    value, n = objective.exact(vector), len(points)
    groups = {number: [number] for number in range(n)}
    for number, (first, second, apart, _) in enumerate(linkage(points, "single"), n):
        here, there = groups.pop(int(first)), groups.pop(int(second))
        groups[number] = here + there
        if apart <= nearest:
            continue
        between = cdist(points[here], points[there])
        a, b = np.unravel_index(np.argmin(between), between.shape)
        length = float(between[a, b])
        toward = (points[here[a]] - points[there[b]]) / length
        gap = nearest
        while gap < length:
            moved = points.copy()
            moved[there] += (length - gap) * toward
            at = objective.exact(np.concatenate([moved.ravel(), vector[objective.size :]]))
            if n_observed * (at - value) <= _OPEN:
                points, value = moved, at
                break
            gap *= _GROWTH
    return np.concatenate([points.ravel(), vector[objective.size :]])


def report(
    objective: Objective,
    best: Optimum,
    reached: list[Optimum],
    n_observed: int,
    order: NDArray[np.intp],
    scale: float,
) -> LikelihoodFit:
    """Return the result in the order of the points and the units of the covariance."""
    kernel = objective.kernel_of(best.vector)
    variance, noise = objective.variances(best.vector)
    latent = eigen.principal_axes(objective.latent(best.vector)).coordinates
    back = np.argsort(order)

    def log_likelihood(at: Optimum) -> float:
        # A density of values that are larger by the root of the scale is smaller by that root each.
        return float(-n_observed * (at.value + 0.5 * len(order) * np.log(scale)))

    optima = []
    for at in sorted(reached, key=lambda at: at.value):
        if np.isfinite(at.value):
            estimate = objective.latent(at.vector)
            turned = rigid_fit(estimate, latent).apply(estimate)
            distance = float(np.sqrt(((turned - latent) ** 2).sum(axis=1).mean()))
            optima.append(
                OptimumRecord(
                    at.start, log_likelihood(at), distance / kernel.length_scale, turned[back]
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
    """Return an order that does not depend on the one the points come in, except for equal rows."""
    # Sorted before they are added up: a sum in another order has other last bits.
    return np.lexsort((np.sort(cov, axis=1).sum(axis=1), np.diagonal(cov)))
