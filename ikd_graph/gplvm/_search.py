r"""Searches for the latent, variances and kernel under which the data are most likely.

The likelihood has many local optima. In `likelihood` each start is annealed: a noise floor falls
from far above the true noise to almost none, so that the coarse structure is settled before the
fine one can lock a wrong turn in. Paths unroll a curve, Algorithm 1 on all pairs rolls it up, and
curves that cross in M dimensions have passed each other in 2 M: so starts are of all three kinds.
Of the optima that the columns cannot tell apart (`_rivals`) the most compact is converged fully.

Where a table is no sample of the model, the search for the largest likelihood leaves what the
initial embedding knew: neighbors get sharper, but the arrangement of the whole is lost. In
`local_likelihood` the initial embedding Z0 is what is known before: z_i is normal around it, with a
variance of 1 / (p N) squared length-scales for N columns, and a limited number of steps is taken
towards the largest posterior, which minimizes, for one column,

    1/2 (log det A + tr(A^-1 S)) + p/2 Σ \|z_i - z0_i\|²  over Z, log v and log n.

Z0 is in the unit in which it has the largest likelihood, so that no unit of the rows or of the
initial embedding matters. docs/decisions/004-likelihood-by-restarts.md has what is gained and lost.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.cluster.hierarchy import linkage
from scipy.optimize import minimize_scalar
from scipy.spatial.distance import cdist

from .. import eigen, geodesics, graph, kernels
from .._base import validation as check
from .._base.rounding import ROUNDING
from .._base.table import MappedRows, evenly_spaced
from .._base.threads import map_blocks, single_threaded_blas
from .._base.types import Floats
from ..blockwise import rigid_fit
from ..chance import LEVEL
from ..covariance import spectral_noise, to_correlation
from ..similarity import Correlations
from ..stress import stress_of_paths
from ._descent import (
    LEAST_NOISE,
    SCALES,
    Clock,
    Objective,
    Optimum,
    anneal,
    annealing,
    converge,
    minimize,
    shrunk,
)
from ._likelihood import Model, SampleLikelihood, sample_covariance
from ._process import SIDE_BY_SIDE, GaussianProcess
from ._rivals import compare_optima, same

T = TypeVar("T")

_FLOOR_FRACTION = 0.9
"""Noise floor over the estimate of the noise: less its error in small tables (decision 004)."""

_COMPARED = 20  # steps after which kernels are compared: the likeliest of 30 of 32 tables is known
_LAST_STEPS = 500  # to the most likely optimum, until a step takes off no more than rounding

_MET = 1e-3
"""Of the sum of squares, by which descents under one noise floor may differ that go on as one."""

_OPEN = 0.5
"""Log likelihood that a distance may cost: what a standard error costs."""

_GROWTH = 1.5
"""Factor between the distances that are tried."""

_SHAPES = {"gamma": (1e-3, 2.0), "alpha": (1e-2, 1e2)}
"""Ranges of the shapes of kernels that are fitted."""

MAX_ITER = 25
"""Steps of a local descent: neighbors gain next to nothing after that (decision 004)."""

PRIOR = 0.1
"""Precision p of the prior for each column. A correlation of N columns has an error of 1/sqrt(N)
and the kernel falls by a third to a half in a length-scale: the squared error of the distance of
one pair is 5 to 10 squared length-scales over N."""

_RADII = np.geomspace(0.25, 16.0, 13)
"""Root mean square radii of an initial embedding, in length-scales: .5 to 6 in 20 tables. They are
compared on as many rows as are annealed: thirteen likelihoods of these cost as much as one of 600.
"""

_LEVELS = (0.05, 0.15, 0.3)
"""Least correlations of closed forms of all pairs: what is smaller is an error, of no distance."""

_NEIGHBORS = (4, 15)
"""Fewest and most neighbors of a random graph."""

JOINED = 6
"""Neighbors of a point in a threshold graph, which keep every point in it
(docs/decisions/014-threshold.md)."""

MAX_POINTS = {"annealed": 250, "single": 250, "local": 1000}
"""Rows whose likelihood is searched, in some 2 000 evaluations or in 40: a few seconds of each. The
process of the core places the others, in .4 or 3 ms a row."""


class OptimumRecord(NamedTuple):
    """Where one descent ended."""

    start: str  # name of the start
    log_likelihood: float  # of all columns
    distance: float  # root mean square distance to the winner, rigidly aligned, in length-scales
    latent: Floats  # (n, m), centered and rigidly aligned
    z: float = 0.0  # log likelihood that it lacks of the largest, in standard errors
    weight: float = 1.0  # chance to be the likeliest on other columns; 0 of one that is listed

    def __repr__(self) -> str:
        """Return the record without its latent."""
        return (
            f"OptimumRecord(start={self.start!r}, log_likelihood={self.log_likelihood:.6g}, "
            f"distance={self.distance:.3g}, z={self.z:.2g}, weight={self.weight:.2g})"
        )


def rivals_of(optima: Sequence[OptimumRecord]) -> tuple[OptimumRecord, ...]:
    """Other optima than the one that is shown that might be the likeliest on other columns."""
    shown = min(optima, key=lambda at: (at.weight == 0.0, at.distance), default=None)
    return tuple(at for at in optima if at.weight > LEVEL and at is not shown)


class LikelihoodFit(NamedTuple):
    """The maximum-likelihood embedding and what belongs to it."""

    latent: Floats  # (n, m), a local optimum, centered, along its principal axes
    kernel: kernels.StationaryKernel  # with its fitted shape where that was free
    variance: float  # signal variance, in the units of the covariance
    noise: float  # noise variance, in the units of the covariance
    log_likelihood: float  # of all columns
    n_iter: int  # evaluations of the likelihood and its gradient
    start: str  # name of the start that led to it
    optima: tuple[OptimumRecord, ...]  # one for each descent, most likely first
    complete: bool  # False if the time budget ended the search

    @property
    def rivals(self) -> tuple[OptimumRecord, ...]:
        """Other optima that might well be the likeliest on other columns."""
        return rivals_of(self.optima)

    def describe_rivals(self) -> str:
        """Say how many rivals there are, and how far from the latent; nothing without any."""
        away = [at.distance for at in self.rivals]
        if not away:
            return ""
        others = "another one" if len(away) == 1 else f"{len(away)} others, up to"
        return (
            f"the columns cannot tell this arrangement from {others} {max(away):.1f} length-scales "
            "away (optima_)"
        )


class CoreFit(NamedTuple):
    """Latent of all rows, and the fit of the core that placed those outside it."""

    latent: Floats  # (n, m)
    core: NDArray[np.int64]  # (c,) sorted rows of the core; all rows if they are few
    fit: LikelihoodFit  # of the core


def local_optimum(
    sample_cov: Floats,
    latents: Sequence[Floats],
    kernel: kernels.StationaryKernel,
    variances: tuple[float, float] | None = None,
) -> Model:
    """Return the likeliest end of descents to the nearest optimum, or annealed ones.

    Parameters
    ----------
    sample_cov : (n, n) float64
        S = X X^T / N.
    latents : sequence of (n, m) float64
        Where to start.
    kernel : StationaryKernel
        Kernel of the model.
    variances : tuple of two floats, optional
        Signal and noise variance, in the units of ``sample_cov``, next to which the optimum is
        wanted. Without them the descent is annealed.

    Returns
    -------
    Model
        Of the optimum, variances in the units of ``sample_cov``.
    """
    cov, scale = scaled(sample_cov)
    objective = Objective(SampleLikelihood(cov), kernel, latents[0].shape[1], Clock())

    def descend(latent: Floats) -> Optimum:
        if variances is None:
            return converge(objective, anneal(objective, objective.start(latent)))
        vector = objective.vector(latent, variances[0] / scale, variances[1] / scale)
        return converge(objective, Optimum(np.inf, vector, ""))

    at = objective.model(min(map(descend, latents), key=lambda at: at.value).vector)
    return at._replace(variance=scale * at.variance, noise=scale * at.noise)


def scaled(cov: Floats) -> tuple[Floats, float]:
    """Covariance in units of the mean variance, and that; ValueError where nothing varies."""
    scale = float(np.trace(cov)) / len(cov)
    if not scale > 0.0:
        raise ValueError(f"the mean variance of rows must be positive, got {scale!r}")
    return cov / scale, scale


def _check_init(init: Floats, rows: Any = None, sample_cov: Any = None, **_: object) -> None:
    n = len(rows if sample_cov is None else sample_cov)
    check.table_of(n)("init", init)
    check.components(n)("n_components", init.shape[1])


@check.validate(
    _check_init,
    sample_cov=check.symmetric,
    init=check.table,
    n_observed=check.whole(1),
    n_effective=check.optional(check.positive),
    search=check.flag,
    fit_shape=check.flag,
    time_budget=check.optional(check.positive),
    random_state=check.seed,
)
def likelihood(
    sample_cov: ArrayLike,
    n_observed: int,
    kernel: str | kernels.StationaryKernel = "squared_exponential",
    *,
    init: ArrayLike,
    restarts: int = 0,
    n_effective: float | None = None,
    search: bool = True,
    fit_shape: bool = False,
    time_budget: float | None = None,
    random_state: int | None = None,
) -> LikelihoodFit:
    """Find the latent under which the observations are most likely.

    The noise variance is at least 0.9 of what the spectrum tells
    (`ikd_graph.covariance.spectral_noise`), unless the data contradict it: rough kernels have
    eigenvalues as small as those of noise. So the floor is given up where that adds more than half
    a unit per free coordinate to the log likelihood, which is what fitting noise adds.

    Descents start from ``init``, from closed forms of all pairs with correlations of at least .05,
    .15 and .3, from one of twice the coordinates, which are taken off one by one, and from the
    geodesic solution on the threshold graph. Of the optima that the columns cannot tell apart the
    most compact is taken: an unrolled curve has the same distances along it.

    Parameters
    ----------
    sample_cov : (n, n) array_like of float64
        S = X X^T / N, see `ikd_graph.gplvm.sample_covariance`.
    n_observed : int
        Number N of columns.
    kernel : str or StationaryKernel
        Kernel of the model. "auto" takes the one of four of largest likelihood, once descents
        from ``init`` have converged.
    init : (n, m) array_like of float64
        Initial embedding, in any unit.
    restarts : int
        More descents, from geodesic solutions on random graphs.
    n_effective : float, optional
        Independent columns that the columns are worth, by default all: what optima are compared by.
    search : bool
        Whether descents also start from closed forms, and the best ends where nothing changes.
        Where the model is wrong neither makes a better map, and last steps follow rounding
        (docs/decisions/004-likelihood-by-restarts.md).
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
    >>> fit = refine.likelihood(gplvm.sample_covariance(rows), 500, "matern", init=start)
    >>> bool(abs(np.corrcoef(fit.latent[:, 0], z[:, 0])[0, 1]) > 0.99)
    True
    """
    cov = np.asarray(sample_cov, dtype=np.float64)
    # Random numbers belong to points, whatever order these come in. Sorted before they are added
    # up: a sum in another order has other last bits.
    order = np.lexsort((np.sort(cov, axis=1).sum(axis=1), np.diagonal(cov)))
    cov, scale = scaled(np.ascontiguousarray(cov[np.ix_(order, order)]))
    latent, clock = np.asarray(init, dtype=np.float64)[order], Clock(time_budget)
    names = kernels.KERNELS if isinstance(kernel, str) and kernel == "auto" else [kernel]

    def fit_kernel(kernel: kernels.StationaryKernel) -> tuple[Objective, Optimum, float]:
        """Optimum with the noise floor or without, and the value without; fills the way."""
        floored = Objective(sample, kernel, latent.shape[1], clock, least_noise=floor)
        free = replace(floored, least_noise=LEAST_NOISE)
        way[:] = annealing(floored, floored.start(latent, "init"))
        released, above = converge(free, way[-1]), converge(floored, way[-1])
        # Noise alone lets every free parameter add half a unit to the largest log likelihood
        # (Wilks).
        if n_observed * (above.value - released.value) > 0.5 * latent.size:
            way.extend(annealing(free, way[-1]))
            released = converge(free, way[-1])
            return free, released, released.value
        return floored, above, released.value

    def value_of(kernel: kernels.StationaryKernel) -> float:
        """Value near the optimum of the first kernel, without the noise floor."""
        free = Objective(sample, kernel, latent.shape[1], clock)
        points, _, *variances = objective.model(at.vector)
        scale = free.best_scale(points, SCALES, *variances)
        vector = free.vector(scale * points, *variances)
        return converge(free, Optimum(np.inf, vector, ""), _COMPARED).value

    def begin(name: str, start: Floats) -> Optimum:
        m = objective.n_components
        if start.shape[1] > m:
            wide = replace(objective, n_components=start.shape[1], least_noise=LEAST_NOISE)
            *_, (few, end) = shrunk(wide, start, m)
            start = few.model(end.vector).latent
        return objective.start(start, name)

    def path(at: Optimum) -> Iterator[Optimum]:
        """Yield where falling floors lead, down to that of the noise, and below where it is not."""
        for under in dict.fromkeys((floor, objective.least_noise)):
            for state in annealing(replace(objective, least_noise=under), at):
                at = state
                yield at

    def descend(starts: Sequence[Optimum]) -> list[Optimum]:
        """Optimum of the first start, and those of others: what meets on the way goes on as one."""
        paths = {number: path(start) for number, start in enumerate(starts, 1)}
        met, states = dict[int, int](), dict[int, Optimum]()
        for first in way:
            going = [number for number in paths if number not in met]
            # A path to less noise has fewer floors below, and waits where it ended.
            here = [(paths[number], states.get(number, starts[number - 1])) for number in going]
            reached = _in_threads(next, here)
            states = {0: first, **dict(zip(going, reached, strict=True))}
            points = {
                number: objective.model(each.vector).latent for number, each in states.items()
            }
            for number in going:
                for other in range(number):
                    alone = other in points and other not in met
                    if alone and same(points[number], points[other], _MET):
                        met[number] = other
                        break
        going = [number for number in states if number and number not in met]
        last = _in_threads(converge, [(objective, states[number]) for number in going])
        ends = {0: at, **dict(zip(going, last, strict=True))}
        for number in sorted(met):
            ends[number] = ends[met[number]]._replace(start=starts[number - 1].start)
        return [ends[number] for number in range(len(starts) + 1)]

    def further_starts(objective: Objective) -> Iterator[tuple[str, Floats]]:
        """Yield closed forms of all pairs, of more coordinates, of the graph, of random graphs."""
        if clock.expired:
            return
        corr, m, kernel = to_correlation(cov), objective.n_components, objective.kernel
        if search:
            for level in _LEVELS:
                yield f"all pairs, {level:g}", all_pairs(corr, m, kernel, level)
            more = min(2 * m, len(cov) - 1)
            yield f"all pairs, from {more}", all_pairs(corr, more, kernel)
            first = closed_form(corr, m, kernel, n_observed)
            if not same(first, latent):
                yield "threshold graph", first
        rng = np.random.default_rng(random_state or 0)
        for number in range(1, restarts + 1):
            yield f"restart {number}", random_closed_form(corr, m, kernel, rng)

    with single_threaded_blas():
        sample = SampleLikelihood(cov)
        # Below the mean variance, so that some of it is left for the signal.
        floor = min(_FLOOR_FRACTION * spectral_noise(sample.eigenvalues, n_observed), 0.99)
        floor = max(floor, LEAST_NOISE)
        way = list[Optimum]()
        first, *others = map(kernels.get, names)
        objective, at, value = fit_kernel(first)
        # Kernels have much the same arrangement: descents of the likeliest alone begin anew.
        values = [value, *_in_threads(value_of, [(kernel,) for kernel in others])]
        likeliest = int(np.argmin(values))
        if likeliest:
            objective, at, _ = fit_kernel(others[likeliest - 1])
        optima = descend(_in_threads(begin, [*further_starts(objective)]))
        reached = [_close_gaps(objective, each, n_observed) for each in optima]
        reached.sort(key=lambda at: at.value)
        standings, shown = compare_optima(objective, reached, n_effective or n_observed)
        best = reached[shown]
        if search:
            best = converge(objective, best, _LAST_STEPS, ROUNDING)
        if fit_shape:
            objective = _with_shape(objective, lambda under: converge(under, best).value)
            best = converge(objective, best, _LAST_STEPS, ROUNDING)
        best = _close_gaps(objective, best, n_observed)
        return report(objective, best, reached, n_observed, order, scale, standings)


def _in_threads(task: Callable[..., T], arguments: Sequence[tuple[Any, ...]]) -> list[T]:
    """Results of independent descents, in their order, in this thread's number of threads."""
    results: dict[int, T] = {}

    def work(number: int, _: int) -> None:
        with single_threaded_blas():
            results[number] = task(*arguments[number])

    map_blocks(work, len(arguments), 1)
    return [results[number] for number in range(len(arguments))]


def _with_shape(objective: Objective, value: Callable[[Objective], float]) -> Objective:
    """Return the objective under the shape of the kernel for which a value of it is least."""
    name = objective.kernel.shape_name
    if name is None:
        return objective

    def under(log_shape: float) -> Objective:
        shape = {name: float(np.exp(log_shape))}
        return replace(objective, kernel=replace(objective.kernel, **shape))

    line = {"bounds": np.log(_SHAPES[name]), "method": "bounded", "options": {"xatol": 1e-3}}
    return under(minimize_scalar(lambda log_shape: value(under(log_shape)), **line).x)


def _close_gaps(objective: Objective, at: Optimum, n_observed: int) -> Optimum:
    """Optimum with groups of points moved together as far as the likelihood lets them.

    Groups of points that are not correlated are as likely at any distance beyond some
    length-scales, and a descent drives them apart without end. None is moved nearer to another than
    where the kernel falls below the variance of a correlation, 1 / N, and each move costs half a
    unit of the log likelihood at most.
    """
    points, kernel = objective.model(at.vector)[:2]
    nearest = float(np.sqrt(kernel.sq_distance(1.0 / max(n_observed, 2))))
    at = at._replace(value=objective.exact(at.vector))
    groups = {number: [number] for number in range(len(points))}
    for number, (first, second, apart, _) in enumerate(linkage(points, "single"), len(points)):
        here, there = groups.pop(int(first)), groups.pop(int(second))
        groups[number] = here + there
        if apart <= nearest:
            continue
        points = objective.model(at.vector).latent
        between = cdist(points[here], points[there])
        a, b = np.unravel_index(np.argmin(between), between.shape)
        length = float(between[a, b])
        toward = (points[here[a]] - points[there[b]]) / length
        gap = nearest
        while gap < length:
            moved = points.copy()
            moved[there] += (length - gap) * toward
            vector = np.concatenate([moved.ravel(), at.vector[-2:]])
            value = objective.exact(vector)
            if n_observed * (value - at.value) <= _OPEN:
                at = at._replace(vector=vector, value=value)
                break
            gap *= _GROWTH
    return at


def report(
    objective: Objective,
    best: Optimum,
    reached: list[Optimum],
    n_observed: int,
    order: NDArray[np.intp],
    scale: float,
    standings: Sequence[tuple[float, float]] = ((0.0, 1.0),),
) -> LikelihoodFit:
    """Return the result in the order of the points and the units of the covariance."""
    at, back = objective.model(best.vector), np.argsort(order)
    unit = at.kernel.length_scale
    latent = eigen.principal_axes(at.latent).coordinates
    # A density of values that are larger by the root of the scale is smaller by that root each.
    shift, optima = 0.5 * len(order) * float(np.log(scale)), []
    for end, standing in zip(reached, standings, strict=True):
        estimate = objective.model(end.vector).latent
        turned = rigid_fit(estimate, latent).apply(estimate)
        distance = float(np.sqrt(((turned - latent) ** 2).sum(axis=1).mean())) / unit
        log_likelihood = -n_observed * (end.value + shift)
        optima.append(OptimumRecord(end.start, log_likelihood, distance, turned[back], *standing))
    return LikelihoodFit(
        latent=latent[back],
        kernel=at.kernel,
        variance=scale * at.variance,
        noise=scale * at.noise,
        log_likelihood=-n_observed * (best.value + shift),
        n_iter=objective.clock.n_evaluations,
        start=best.start,
        optima=tuple(optima),
        complete=not objective.clock.expired,
    )


@check.validate(
    _check_init,
    rows=check.table,
    init=check.table,
    centered=check.flag,
    max_iter=check.whole(1),
    fit_shape=check.flag,
    time_budget=check.optional(check.positive),
)
def local_likelihood(
    rows: ArrayLike,
    init: ArrayLike,
    kernel: str | kernels.StationaryKernel = "rational_quadratic",
    *,
    centered: bool = True,
    max_iter: int = MAX_ITER,
    fit_shape: bool = False,
    time_budget: float | None = None,
) -> LikelihoodFit:
    """Descend from an initial embedding to larger likelihood, and stay near it.

    For tables that are no samples of the model. Rows that are similar move together and others
    apart, as in maps of UMAP and t-SNE: 5-nearest-neighbor accuracy of the digits rises from .87
    to .97. What is lost is metric (the mean affine R² of a known truth falls from .71 to .68) and
    stability (.97 to .93). Memory and time grow with the square and the cube of the rows: two
    seconds for 1 000, seven for 1 800; `Likelihood.run` takes more.

    Parameters
    ----------
    rows : (n, n_observed) array_like of float64
        One point per row. Take column means off first: what all rows share tells no distance.
    init : (n, m) array_like of float64
        Initial embedding, in any unit.
    kernel : str or StationaryKernel
        Kernel of the model; "auto" is the rational quadratic, whose heavy tail lets dissimilar rows
        move apart at little cost.
    centered : bool
        Take the mean off every row first.
    max_iter : int
        Largest number of steps.
    fit_shape : bool
        Also fit the kernel's alpha or gamma.
    time_budget : float, optional
        Seconds after which the best so far is returned. The result then depends on the machine.

    Returns
    -------
    LikelihoodFit
        The embedding, centered, along its principal axes and in length-scales of the kernel; its
        log likelihood is without the prior.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.decomposition import PCA
    >>> from ikd_graph import refine
    >>> rows = load_digits().data[:100]
    >>> rows = rows - rows.mean(axis=0)
    >>> fit = refine.local_likelihood(rows, PCA(2).fit_transform(rows), centered=False)
    >>> fit.latent.shape, fit.start
    ((100, 2), 'init')
    """
    values, points = np.asarray(rows, dtype=np.float64), np.asarray(init, dtype=np.float64)
    # Sums in another order have other last bits: the order of the rows must not matter.
    order = np.lexsort(points.T)
    cov, scale = scaled(sample_covariance(np.ascontiguousarray(values[order]), centered))
    auto = isinstance(kernel, str) and kernel == "auto"
    asked = kernels.get("rational_quadratic" if auto else kernel)
    unit, clock = replace(asked, length_scale=1.0), Clock(time_budget)
    points = points[order]
    points = points - points.mean(axis=0)
    points /= np.sqrt((points**2).sum(axis=1).mean()) or 1.0
    some = evenly_spaced(len(cov), MAX_POINTS["annealed"])
    with single_threaded_blas():
        objective = Objective(SampleLikelihood(cov), unit, points.shape[1], clock)
        part = replace(objective, likelihood=SampleLikelihood(cov[np.ix_(some, some)]))
        begin = objective.vector(part.best_scale(points[some], _RADII) * points)
        objective = replace(objective, init=objective.model(begin).latent, precision=PRIOR)
        at = minimize(objective, Optimum(np.inf, begin, "init"), max_iter)
        if fit_shape:
            objective = _with_shape(objective, lambda under: under.exact(at.vector))
            at = minimize(objective, at, max_iter)
        at = at._replace(value=objective.exact(at.vector))
    fit = report(objective, at, [at], values.shape[1], order, scale)
    latent = asked.length_scale * fit.latent
    return fit._replace(
        latent=latent,
        kernel=replace(fit.kernel, length_scale=asked.length_scale),
        optima=(fit.optima[0]._replace(latent=latent, distance=0.0),),
    )


def closed_form(
    corr: Floats, n_components: int, kernel: kernels.StationaryKernel, n_observed: int
) -> Floats:
    """Geodesic solution on the threshold graph of correlations, after stress.

    Parameters
    ----------
    corr : (n, n) float64
        Correlations.
    n_components : int
        Columns of the latent.
    kernel : StationaryKernel
        Kernel that turns correlations into distances.
    n_observed : int
        Number of columns that the correlations are of.

    Returns
    -------
    (n, n_components) ndarray of float64
        Latent.
    """
    similarity = Correlations(corr)
    strong = graph.threshold(similarity, graph.auto_threshold(n_observed))
    g = graph.union(strong, _neighbor_graph(similarity, JOINED))
    latent, paths = _geodesic(g, n_components, kernel)
    return stress_of_paths(latent, g, kernel, n_observed, paths, "precision").latent


def all_pairs(
    corr: Floats, n_components: int, kernel: kernels.StationaryKernel, least: float = _LEVELS[1]
) -> Floats:
    """Compute the closed form of all pairs, of correlations of at least some value (Algorithm 1).

    Parameters
    ----------
    corr, n_components, kernel : see `closed_form`
        Correlations, columns of the latent, kernel.
    least : float
        What smaller correlations are taken for.

    Returns
    -------
    (n, n_components) ndarray of float64
        Latent.
    """
    sq_dist = kernel.sq_distance(np.maximum(corr, least))
    np.fill_diagonal(sq_dist, 0.0)
    center = np.full(len(corr), 1.0 / len(corr))
    # Coordinates may be 0: a start says nothing of the map.
    return eigen.leading(eigen.inner_products(sq_dist, center), n_components).coordinates


def random_closed_form(
    corr: Floats, n_components: int, kernel: kernels.StationaryKernel, rng: np.random.Generator
) -> Floats:
    """Geodesic solution on a neighbor graph of correlations.

    Parameters
    ----------
    corr, n_components, kernel : see `closed_form`
        Correlations, columns of the latent, kernel.
    rng : numpy.random.Generator
        Chooses from 4 to 15 neighbors.

    Returns
    -------
    (n, n_components) ndarray of float64
        Latent.
    """
    low, high = _NEIGHBORS
    g = _neighbor_graph(Correlations(corr), int(rng.integers(low, high + 1)))
    return _geodesic(g, n_components, kernel)[0]


def _neighbor_graph(similarity: Correlations, n_neighbors: int) -> graph.CsrGraph:
    """Return a connected graph."""
    g = graph.neighbors(similarity, min(n_neighbors, similarity.n_samples - 1))
    return graph.join(g, similarity).graph


def _geodesic(
    g: graph.CsrGraph, n_components: int, kernel: kernels.StationaryKernel
) -> tuple[Floats, geodesics.Paths]:
    """Return the closed form of the geodesic distances of a graph, and these."""
    paths = geodesics.best_paths(g, kernel, "distance")
    return eigen.coordinates(paths.sq_distances, n_components).coordinates, paths


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
    rows: NDArray[np.floating] | MappedRows,
    init: Floats,
    core: NDArray[np.int64],
) -> Floats:
    """Latent of all rows: those outside the core where they have the largest likelihood."""
    middle = init[core].mean(axis=0)
    turn = np.linalg.lstsq(init[core] - middle, process.points, rcond=None)[0]
    latent = (init - middle) @ turn
    latent[core] = process.points
    outside = np.setdiff1d(np.arange(len(init)), core)

    def work(start: int, stop: int) -> None:
        batch = outside[start:stop]
        latent[batch] = process.place(process.observe(rows[batch]), latent[batch])[0]

    map_blocks(work, outside.size, SIDE_BY_SIDE)
    return latent
