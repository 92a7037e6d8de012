r"""Likelihood refine: latent, variances and kernel that make the observations likeliest.

The surface has many valleys. Four things find the right one: several closed-form starts; a noise
floor that falls from far above the true noise to almost nothing, so that the coarse structure is
settled before the fine one can lock a wrong turn in; early selection by likelihood under the same
floor; and a few reheats of the best with its points shaken. All of it is deterministic, and the
order of the points leaves no trace: they are sorted by what the covariance says of them first.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import eigen, gplvm, kernels
from .._threads import limit_threads
from .._validation import check_components, check_integer, check_positive, check_symmetric
from ..kernels import StationaryKernel
from . import closed_forms
from .composite import correlation_blocks, latent_blocks
from .curvature import standard_errors
from .objective import Candidate, Objective

Floats = NDArray[np.float64]

BLOCK = 100
"""Points in a block of the composite likelihood, which takes over beyond two of them."""

FULL_LIMIT = 400
"""Number of points up to which the last steps see the likelihood of all points at once."""

ERRORS_LIMIT = 500
"""Number of points up to which standard errors are found: they invert a matrix of n m rows."""

_SOFT = ((0.3, 0.1), (3.0, 1.0, 0.3, 0.1))
_REHEAT = ((1.0, 0.3, 0.1), (3.0, 1.0, 0.3, 0.1))
_COOL = (0.03, 0.01)
_STEPS = 30
_FINALISTS = 5
_REHEATS = 8
_SHAKE = 0.6
_SAME = 0.02  # candidates this near in value under a floor are in one valley
_HOPELESS = 0.7
_LOOSE = 1e-7
_SCREEN_NAMES = ("threshold + stress", "5 neighbors", "nearest rows")


class LikelihoodFit(NamedTuple):
    """The likeliest latent found and what came with it."""

    latent: Floats  # (n, m), centred, along its principal axes
    kernel: StationaryKernel  # with its fitted shape where that was free
    variance: float  # signal variance, in the units of the covariance
    noise: float  # noise variance, in the units of the covariance
    log_likelihood: float  # of all observed dimensions
    n_iter: int  # evaluations of the likelihood and its gradient
    start: str  # name of the start that won
    standard_errors: Floats | None  # (n, m) of the latent after rigid alignment; None beyond a size
    pool: dict[str, float]  # log likelihood that each finalist reached
    complete: bool  # False if the time budget ended the search


def likelihood(
    sample_cov: ArrayLike,
    n_observed: int,
    n_components: int,
    kernel: str | StationaryKernel = "squared_exponential",
    *,
    starts: Mapping[str, ArrayLike] | None = None,
    fit_shape: bool = False,
    time_budget: float | None = None,
    verbose: int = 0,
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
        Latents to start from, instead of the closed forms of `starts`.
    fit_shape : bool
        Also fit the kernel's alpha, gamma or nu.
    time_budget : float, optional
        Seconds after which the best so far is returned. The result then depends on the machine.
    verbose : int
        1 shows a bar when standard error is a terminal.

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
    deadline = np.inf
    if time_budget is not None:
        deadline = time.perf_counter() + check_positive("time_budget", time_budget)
    order = _order_of_points(cov)
    cov = np.ascontiguousarray(cov[np.ix_(order, order)])
    scale = check_positive("the mean variance", float(np.trace(cov)) / len(cov))
    cov /= scale
    given = None
    if starts is not None:
        given = {name: _as_start(name, at, cov, n_components)[order] for name, at in starts.items()}
    # Blocks and small matrices are faster on one BLAS thread, and their bits are then the same.
    with limit_threads(_threads_now()), _Progress(verbose) as progress:
        task = _Task(cov, n_observed, n_components, given, fit_shape, deadline, progress)
        chosen = task.choose_kernel() if kernel == "auto" else kernels.get(kernel)
        return _report(task.search(chosen), task, order, scale)


class _Result(NamedTuple):
    """Where the search for one kernel ended."""

    objective: Objective
    best: Candidate
    pool: dict[str, float]  # value of each finalist


class _Task:
    """One covariance to be explained: what the searches for several kernels share."""

    def __init__(
        self,
        cov: Floats,
        n_observed: int,
        n_components: int,
        given: dict[str, Floats] | None,
        fit_shape: bool,
        deadline: float,
        progress: _Progress,
    ) -> None:
        self.cov, self.n_observed, self.n_components = cov, n_observed, n_components
        self.given, self.fit_shape, self.deadline = given, fit_shape, deadline
        self.progress = progress
        self.n_evaluations = 0
        self.blocks = correlation_blocks(cov, BLOCK) if len(cov) > 2 * BLOCK else None

    def objective(self, kernel: StationaryKernel, blocks: Any, shape: bool = False) -> Objective:
        """Likelihood of this covariance under a kernel."""
        return Objective(
            self.cov,
            kernel,
            self.n_components,
            blocks=blocks,
            deadline=self.deadline,
            shape=shape and gplvm.shape_name(kernel) is not None,
        )

    def starts(self, kernel: StationaryKernel) -> dict[str, Floats]:
        """Starts that were given, or the closed forms."""
        if self.given is not None:
            return self.given
        return closed_forms.starts(self.cov, self.n_observed, self.n_components, kernel)

    def choose_kernel(self) -> StationaryKernel:
        """Kernel of the largest likelihood, after a short search with each."""
        found = []
        for name in kernels.KERNELS:
            kernel = kernels.get(name)
            objective = self.objective(kernel, self.blocks)
            some = self.starts(kernel)
            some = {key: some[key] for key in _SCREEN_NAMES if key in some} or some
            soft = [self.anneal(objective, some[key], key, _SOFT[1]) for key in some]
            best = self.cool(objective, _best(soft), 100)
            found.append((best.value, kernel))
            self.n_evaluations += objective.n_evaluations
        return min(found, key=lambda pair: pair[0])[1]

    def anneal(
        self, objective: Objective, latent: Floats, name: str, floors: tuple[float, ...]
    ) -> Candidate:
        """From a start down through the floors; the value is that under the last."""
        at = objective.place(latent, name, floors[0])
        for floor in floors:
            at = objective.polish(at, _STEPS, floor, _LOOSE)
            self.progress.step()
        return at

    def cool(self, objective: Objective, at: Candidate, steps: int) -> Candidate:
        """From the last floor of `anneal` to none."""
        for floor in _COOL:
            at = objective.polish(at, _STEPS, floor, _LOOSE)
        self.progress.step()
        # What the floor stood for is noise until the data say otherwise.
        variance, noise = objective.scales(at.vector, _COOL[-1])
        start = objective.vector(objective.latent(at.vector), variance, noise)
        return objective.polish(at._replace(vector=start), steps)

    def search(self, kernel: StationaryKernel) -> _Result:
        """Staged search: all starts softly, the best few to the end, then reheats of the best."""
        objective = self.objective(kernel, self.blocks)
        begin = self.starts(kernel)
        soft = [
            self.anneal(objective, latent, name, floors)
            for name, latent in begin.items()
            for floors in _SOFT[: 1 if len(self.cov) > closed_forms.MOST_POINTS else None]
        ]
        final = objective
        if self.blocks is not None:
            # Neighbours in the best latent so far are better than neighbours in noise.
            near = objective.latent(_best(soft).vector)
            blocks = None if len(self.cov) <= FULL_LIMIT else latent_blocks(near, BLOCK)
            final = self.objective(kernel, blocks)
        finalists = _distinct(soft)[: _FINALISTS if final is objective else 2]
        done = [self.cool(final, at, 90) for at in finalists]
        if self.given is not None:
            # A start that is right already must not be lost on the way through the floors.
            done += [self.untouched(final, latent, name) for name, latent in begin.items()]
        best = _best(done)
        if final is objective:
            best = self.reheat(objective, best, [at.value for at in finalists])
        pool = {at.name: at.value for at in sorted(done, key=_value, reverse=True)}
        best = self.finish(final, best)
        pool[best.name] = min(best.value, pool.get(best.name, np.inf))
        self.n_evaluations += objective.n_evaluations
        if final is not objective:
            self.n_evaluations += final.n_evaluations
        if self.fit_shape and gplvm.shape_name(kernel) is not None:
            return self.free_shape(final, best, pool)
        return _Result(final, best, pool)

    def untouched(self, objective: Objective, latent: Floats, name: str) -> Candidate:
        """Polish a start without moving through the floors."""
        return objective.polish(objective.fit_scales(latent, name), 90)

    def reheat(self, objective: Objective, best: Candidate, seen: list[float]) -> Candidate:
        """Shake the best, let it settle under the floors again, keep it if it is better."""
        rng = np.random.default_rng(0)
        seen = list(seen)
        for trial in range(_REHEATS):
            if objective.expired:
                break
            latent = objective.latent(best.vector)
            shake = _SHAKE * objective.kernel.length_scale * rng.standard_normal(latent.shape)
            at = self.anneal(objective, latent + shake, best.name, _REHEAT[trial % 2])
            # A valley that was cooled already, or one far too high, is not worth it.
            known = any(abs(at.value - value) < _SAME for value in seen)
            if known or at.value > min(seen) + _HOPELESS:
                continue
            seen.append(at.value)
            best = _best([best, self.cool(objective, at, 90)])
        return best

    def finish(self, objective: Objective, best: Candidate) -> Candidate:
        """The last steps, until nothing moves."""
        return objective.polish(best, 600, tolerance=1e-9)

    def free_shape(self, fixed: Objective, best: Candidate, pool: dict[str, float]) -> _Result:
        """Polish with the kernel's shape parameter free."""
        objective = self.objective(fixed.kernel, fixed.blocks, shape=True)
        start = objective.vector(fixed.latent(best.vector), *fixed.scales(best.vector))
        found = objective.polish(Candidate(best.value, start, best.name), 300)
        self.n_evaluations += objective.n_evaluations
        return _Result(objective, found, pool | {found.name: found.value})


class _Progress:
    """A bar on a terminal, nothing elsewhere."""

    def __init__(self, verbose: int) -> None:
        self._bar: Any = None
        if verbose and sys.stderr.isatty():
            from tqdm import tqdm

            self._bar = tqdm(desc="likelihood refine", unit=" stages", leave=False)

    def __enter__(self) -> _Progress:
        return self

    def step(self) -> None:
        """One more stage is done."""
        if self._bar is not None:
            self._bar.update(1)

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()


def _report(result: _Result, task: _Task, order: NDArray[np.intp], scale: float) -> LikelihoodFit:
    """Put the points back in their order and everything in the units of the covariance."""
    objective, best, pool = result
    kernel = objective.shaped(best.vector)
    variance, noise = objective.scales(best.vector)
    latent = _principal_axes(objective.latent(best.vector))
    per_dimension = -best.value - 0.5 * len(order) * np.log(scale)
    errors = None
    if len(order) <= ERRORS_LIMIT:
        errors = standard_errors(latent, task.n_observed, kernel, variance, noise)
        errors = errors[np.argsort(order)]
    return LikelihoodFit(
        latent=latent[np.argsort(order)],
        kernel=kernel,
        variance=scale * variance,
        noise=scale * noise,
        log_likelihood=task.n_observed * per_dimension,
        n_iter=task.n_evaluations,
        start=best.name,
        standard_errors=errors,
        pool={
            name: -task.n_observed * (value + 0.5 * len(order) * np.log(scale))
            for name, value in pool.items()
        },
        complete=not objective.expired,
    )


def _value(at: Candidate) -> float:
    return at.value


def _best(candidates: list[Candidate]) -> Candidate:
    """Candidate of the least value, the first of equals."""
    return min(candidates, key=_value)


def _distinct(candidates: list[Candidate]) -> list[Candidate]:
    """Candidates from best to worst, without those in the same valley."""
    out: list[Candidate] = []
    for at in sorted(candidates, key=_value):
        if not out or at.value - out[-1].value > _SAME:
            out.append(at)
    return out


def _order_of_points(cov: Floats) -> NDArray[np.intp]:
    """An order that does not depend on the one the points came in, ties of equal rows apart."""
    # Sorted before they are added up: a sum in another order has other last bits.
    return np.lexsort((np.sort(cov, axis=1).sum(axis=1), np.diagonal(cov)))


def _threads_now() -> int:
    """Number of Numba threads in force, which an estimator may have set."""
    import numba

    return int(numba.get_num_threads())


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
    centred = latent - latent.mean(axis=0)
    left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    return eigen.pin_signs(left) * sizes
