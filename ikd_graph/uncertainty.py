r"""How far a latent may be from the truth: the posterior of its Gaussian process.

With N' free columns (N less one where the mean of every row is taken off), the negative log
likelihood L of one column, and V the covariance of the given latent as that of a normal prior,

    U(Z, log v, log n) = N' L(Z, v, n) + 1/2 Σ z_i^T V^-1 z_i + weak priors of log v and log n

is the negative log posterior density. The curvature at the likeliest latent understates how far the
truth may be: a latent that fits the noise too has too little noise, and other optima are as likely
as its own. So chains of Hamiltonian Monte Carlo, with the expected information of latent and
variances together as mass, go from the given latent to where the posterior has its mass. A chain is
tempered first: under a tenth and under a third of the columns it leaves every optimum that so many
would not hold. Half of the chains begin with much noise, and each with another optimum that the fit
has reached.

A chain ends in a region of mean latent c and information J (with the prior), whose free energy
U + 1/2 log det J says how much posterior mass it has. Regions above the best by more than chance
are left out. What remains is a mixture of normal distributions: the covariance about the given
latent, after rigid alignment, is the mean of P J^-1 P + (c - z)(c - z)^T, with J^-1 the marginal of
the latent (so that variances are integrated out) and P the projection that takes rigid motions off.

Where the columns differ more than the model expects, the pull s_c of each on the latent says so:
the mean of s_c^T J^-1 s_c over that of the model is what N' is divided by, if it is above 1.

References
----------
R. M. Neal, MCMC using Hamiltonian dynamics, Handbook of Markov Chain Monte Carlo, 2011.
H. White, Maximum likelihood estimation of misspecified models, Econometrica 50, 1982.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import orthogonal_procrustes
from scipy.linalg.blas import dtrsv
from scipy.linalg.lapack import dpotrf, dtrtri

from . import eigen, gplvm
from ._threads import map_blocks
from .kernels import StationaryKernel
from .placement import freshness

Floats = NDArray[np.float64]

MAX_POINTS = 400
"""Points whose posterior is sampled, 10 s here; the places of others are found under its draws."""

TRUSTED = 0.75
"""Reliability below which a fit warns (docs/decisions/009-error-bars.md)."""

N_DRAWS = 24
"""Latents that are drawn from the posterior, for the error bars of new rows."""

_N_CHAINS = 4
_STARTING_NOISE = 0.3  # of every other chain, in units of the mean variance
_PHASES = ((0.1, 6), (0.3, 4), (1.0, 14))  # share of the columns, trajectories
_KEPT = 10  # last trajectories, whose mean is the centre of a region
_REFRESH = 4  # trajectories after which the mass is that of the present place
_STEPS = 6  # mean number of steps of a trajectory
_ACCEPTED = 0.8  # share of trajectories that the step size aims at
_PRIOR_SD = 3.0  # of log v and log n
_LEAST_NOISE = 1e-7  # in units of the mean variance, as for the likelihood search
_DIVERGED = 1000.0
_BLOCK = 64  # new rows that one thread looks at before it takes the next
_CHANCE = 10.0  # standard deviations of U by which free energies may differ: chains are short


class LatentPosterior(NamedTuple):
    """Where the truth may be, about a latent that it is rigidly aligned with."""

    covariances: Floats  # (n, m, m) of every point about its place in the given latent
    draws: Floats  # (k, n, m) latents drawn from the posterior
    variances: Floats  # (k,) signal variance of each
    noises: Floats  # (k,) noise variance of each
    free_columns: float  # columns that count as independent samples of the model
    n_regions: int  # optima whose posterior mass is not negligible

    @property
    def standard_errors(self) -> Floats:
        """Standard error of every coordinate, (n, m)."""
        return np.sqrt(np.einsum("imm->im", self.covariances))


def posterior(
    process: gplvm.Process,
    random_state: int | None = None,
    *,
    optima: Sequence[ArrayLike] = (),
) -> LatentPosterior:
    """Sample where the truth may be, given rows and an estimate of their latent.

    Parameters
    ----------
    process : Process
        The rows and a latent of them, by whatever method; its kernel is that of the model, and its
        variances are what the chains begin with. See `gplvm.condition`.
    random_state : int, optional
        Seed of the chains; None is 0, so that two runs agree.
    optima : sequence of (n, m) array_like of float64
        Other latents that chains begin with, the likeliest first, such as other local optima.

    Returns
    -------
    LatentPosterior
        Error bars of the latent, and draws from the posterior.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import gplvm, kernels, uncertainty
    >>> z, rng = np.linspace(0.0, 3.0, 20)[:, None], np.random.default_rng(0)
    >>> cov = kernels.Matern().covariance((z - z.T) ** 2) + 0.1 * np.eye(20)
    >>> rows = np.linalg.cholesky(cov) @ rng.standard_normal((20, 400))
    >>> few, many = (
    ...     uncertainty.posterior(
    ...         gplvm.condition(z, rows[:, :n], kernels.Matern(), 1.0, 0.1, centred=True)
    ...     )
    ...     for n in (40, 400)
    ... )
    >>> bool((few.standard_errors > many.standard_errors).all())
    True
    """
    points, values = process.latent, process.rows
    if process.axes is not None:
        values = values @ process.axes.T
    scale = float(np.mean(values**2))
    values = values / np.sqrt(scale)
    variance, noise = process.variance / scale, process.noise / scale
    middle = points.mean(axis=0)
    left, sizes, axes = np.linalg.svd(points - middle, full_matrices=False)
    turned = eigen.pin_signs.unchecked(left * sizes)
    back = np.sign(np.sum(turned * (left * sizes), axis=0))[:, None] * axes
    # Random numbers belong to points, whatever order these come in.
    order = np.lexsort((turned[:, 0], np.sum(values**2, axis=1)))
    n_free = process.n_observed - process.centred
    target = _Target(turned[order], values[order], process.kernel, n_free)
    target.divide_columns_by_spread(target.start(variance, noise))
    begins = [target.given]
    for other in optima:
        begins.append(target.align((np.asarray(other, np.float64) @ back.T)[order])[0])
    regions: list[_Region] = [None] * _N_CHAINS  # type: ignore[list-item]

    def run(first: int, last: int) -> None:
        for number in range(first, last):
            floor = _STARTING_NOISE if number % 2 else 0.0
            begin = target.start(variance, max(noise, floor), begins[number % len(begins)])
            rng = np.random.default_rng([random_state or 0, number])
            regions[number] = _explore(target.copy(), begin, rng)

    map_blocks(run, _N_CHAINS, 1)
    lowest = min(region.free_energy for region in regions)
    within = lowest + _CHANCE * np.sqrt(0.5 * turned.size)
    kept = [region for region in regions if region.free_energy <= within]
    rng = np.random.default_rng([random_state or 0, _N_CHAINS])
    covariances = np.mean([target.covariances(region) for region in kept], axis=0)
    vectors = [target.draw(kept[k % len(kept)], rng) for k in range(N_DRAWS)]
    again = np.argsort(order)
    draws = np.array([target.latent(vector)[again] @ back + middle for vector in vectors])
    variances = np.array([target.variances(vector) for vector in vectors])
    return LatentPosterior(
        np.einsum("ab,iac,cd->ibd", back, covariances[again], back),
        draws,
        scale * variances[:, 0],
        scale * variances[:, 1],
        target.n_free,
        len(kept),
    )


def reliability(latent: ArrayLike, standard_errors: ArrayLike) -> float:
    r"""R2 with the truth that error bars lead to expect, from 0 to 1.

    1 / (1 + Σ s² / Σ z²), with s the standard errors and z the centred coordinates: what errors
    that are independent of the coordinates leave.

    Parameters
    ----------
    latent, standard_errors : (n, m) array_like of float64
        Coordinates and their standard errors.

    Returns
    -------
    float
        NaN where a standard error is.

    Examples
    --------
    >>> from ikd_graph import uncertainty
    >>> uncertainty.reliability([[-1.0], [1.0]], [[0.5], [0.5]])
    0.8
    """
    points, errors = np.asarray(latent, np.float64), np.asarray(standard_errors, np.float64)
    size = float(np.sum((points - points.mean(axis=0)) ** 2))
    error = float(np.sum(errors**2))
    return size / (size + error) if size + error > 0.0 else float("nan")


def place_variances(
    process: gplvm.Process, known: LatentPosterior, rows: NDArray[np.floating], places: Floats
) -> Floats:
    """Variance of the places of new rows, each by itself.

    Under every draw from the posterior the place is found anew by one step of Fisher scoring, from
    where the draw has moved the training points around it. The variance is the mean of the inverse
    curvatures and of the squared moves. A row near a training row has the variance of that.

    Parameters
    ----------
    process : Process
        The fitted process, of the points of ``known``.
    known : LatentPosterior
        What `posterior` returned.
    rows : (b, n_observed) ndarray of float
        New rows as the model sees them.
    places : (b, m) float64
        Where they were put.

    Returns
    -------
    (b, m) ndarray of float64
        Variance of every coordinate.
    """
    drawn = _drawn(process, known)
    moves = known.draws - process.latent
    share = known.free_columns / process.n_observed
    extent = float(np.mean((process.latent - process.latent.mean(axis=0)) ** 2))
    out = np.empty(places.shape)

    def work(first: int, last: int) -> None:
        for index in range(first, last):
            place, seen = places[index], gplvm.see.unchecked(process, rows[index])
            weights, total = gplvm.weights_at.unchecked(process, place), np.zeros(places.shape[1])
            for one, move in zip(drawn, moves, strict=True):
                shift = weights @ move
                step, curvature = gplvm.scoring_step.unchecked(one, seen, place + shift)
                curvature = share * curvature
                curvature.flat[:: place.size + 1] += 1.0 / extent
                total += np.diagonal(np.linalg.inv(curvature)) + (shift + step) ** 2
            fresh = freshness(process, seen)
            nearest = np.diagonal(known.covariances[np.argmin(seen.sq_dist)])
            out[index] = fresh * total / len(drawn) + (1.0 - fresh) * nearest

    map_blocks(work, len(places), _BLOCK)
    return out


def row_deviations(process: gplvm.Process, known: LatentPosterior, places: Floats) -> Floats:
    """How much what is predicted at places depends on where the latent is.

    Parameters
    ----------
    process, known : see `place_variances`
        The fitted process and what `posterior` returned.
    places : (b, m) float64
        Places in the latent.

    Returns
    -------
    (b,) ndarray of float64
        Standard deviation over draws from the posterior, root mean square over columns.
    """
    sums, squares = np.zeros((len(places), process.rows.shape[1])), np.zeros(len(places))
    for one in _drawn(process, known):
        rows = np.array([gplvm.weights_at.unchecked(one, place) for place in places]) @ one.rows
        sums += rows / N_DRAWS
        squares += np.sum(rows**2, axis=1) / N_DRAWS
    spread = np.maximum(squares - np.sum(sums**2, axis=1), 0.0)
    return np.asarray(np.sqrt(spread / process.n_observed))


def _drawn(process: gplvm.Process, known: LatentPosterior) -> list[gplvm.Process]:
    """The process at every latent drawn from the posterior."""
    return [
        gplvm.at_latent.unchecked(process, latent, float(variance), float(noise))
        for latent, variance, noise in zip(known.draws, known.variances, known.noises, strict=True)
    ]


class _Region(NamedTuple):
    """Where a chain ended."""

    centre: Floats  # mean of its last vectors, the latent rigidly aligned with the given one
    rotation: Floats  # (m, m) from the frame of the factor to that of the given latent
    factor: Floats  # lower Cholesky factor of the information there
    free_energy: float


@dataclass
class _Target:
    """Negative log posterior density of a vector: latent row by row, log v, log (n - least n)."""

    given: Floats  # (n, m) latent, centred
    values: Floats  # (n, N) rows, of mean square 1
    kernel: StationaryKernel
    n_free: float

    def __post_init__(self) -> None:
        n, m = self.given.shape
        self.size = n * m
        self.likelihood = gplvm.SampleLikelihood(self.values @ self.values.T / self.values.shape[1])
        spread = self.given.T @ self.given / n
        spread.flat[:: m + 1] += 1e-9 * np.trace(spread) + 1e-300
        self.precision = np.linalg.inv(spread)
        self.middle = np.zeros(2)

    def copy(self) -> _Target:
        """The same with memory of its own."""
        return _Target(self.given, self.values, self.kernel, self.n_free)

    def start(self, variance: float, noise: float, latent: Floats | None = None) -> Floats:
        """Vector of a latent, or of the given one."""
        above = max(noise - _LEAST_NOISE, 0.01 * _LEAST_NOISE)
        points = self.given if latent is None else latent
        return np.append(points.ravel(), np.log([variance, above]))

    def latent(self, vector: Floats) -> Floats:
        """Latent of a vector, (n, m)."""
        return vector[: self.size].reshape(self.given.shape)

    def variances(self, vector: Floats) -> tuple[float, float]:
        """Signal and noise variance of a vector."""
        variance, above = np.exp(np.minimum(vector[self.size :], 20.0))
        return float(variance), float(above) + _LEAST_NOISE

    def __call__(self, vector: Floats, share: float) -> tuple[float, Floats]:
        """Value and gradient under a share of the columns."""
        latent, (variance, noise) = self.latent(vector), self.variances(vector)
        at = self.likelihood(latent, self.kernel, variance, noise)
        pull, far = latent @ self.precision, vector[self.size :] - self.middle
        weight = share * self.n_free
        value = weight * at.value + 0.5 * float(np.sum(pull * latent))
        by_noise = at.log_noise * (noise - _LEAST_NOISE) / noise
        tail = weight * np.array([at.log_variance, by_noise]) + far / _PRIOR_SD**2
        value += 0.5 * float(far @ far) / _PRIOR_SD**2
        return value, np.append((weight * at.latent + pull).ravel(), tail)

    def factor(self, vector: Floats, share: float) -> Floats:
        """Lower Cholesky factor of the information of data and prior at a vector."""
        variance, noise = self.variances(vector)
        known = gplvm.expected_information.unchecked(
            self.latent(vector), self.kernel, variance, noise
        )
        known *= share * self.n_free
        known[-1] *= (noise - _LEAST_NOISE) / noise
        known[:, -1] *= (noise - _LEAST_NOISE) / noise
        m = self.given.shape[1]
        for start in range(0, self.size, m):
            known[start : start + m, start : start + m] += self.precision
        known[[-2, -1], [-2, -1]] += 1.0 / _PRIOR_SD**2
        raised, failed = 1e-10, 1
        diagonal = known.diagonal().copy()
        while failed:
            known.flat[:: len(known) + 1] = (1.0 + raised) * diagonal
            factor, failed = dpotrf(known.T, lower=1)
            raised *= 10.0
        return np.asfortranarray(factor)

    def divide_columns_by_spread(self, vector: Floats) -> None:
        """Count the columns as fewer where they differ more than the model expects."""
        variance, noise = self.variances(vector)
        scores = gplvm.column_scores.unchecked(
            self.latent(vector), self.values, self.kernel, variance, noise
        )
        scores[-1] *= (noise - _LEAST_NOISE) / noise
        scores -= scores.mean(axis=1, keepdims=True)
        inverse = dtrtri(self.factor(vector, 1.0), lower=1)[0]
        seen = float(np.sum((inverse @ scores) ** 2))
        n, m = self.given.shape
        blocks = inverse[:, : self.size].reshape(-1, n, m)
        from_prior = float(np.einsum("kia,ab,kib->", blocks, self.precision, blocks))
        self.n_free /= max(1.0, seen / max(self.size + 2 - from_prior, 1.0))

    def align(self, latent: Floats) -> tuple[Floats, Floats]:
        """A latent rigidly aligned with the given one, and the rotation that did it."""
        centred = latent - latent.mean(axis=0)
        rotation = orthogonal_procrustes(centred, self.given)[0]
        return centred @ rotation, rotation

    def covariances(self, region: _Region) -> Floats:
        """Covariance of every point about its given place, (n, m, m), rigid motions taken off."""
        n, m = self.given.shape
        spread = dtrtri(region.factor, lower=1)[0][:, : self.size]
        spread = (spread.reshape(-1, n, m) @ region.rotation).reshape(-1, self.size)
        motions = _rigid_motions(self.given)
        spread = (spread - (spread @ motions) @ motions.T).reshape(-1, n, m)
        out = np.einsum("kia,kib->iab", spread, spread)
        away = self.latent(region.centre) - self.given
        return np.asarray(out + away[:, :, None] * away[:, None])

    def draw(self, region: _Region, rng: np.random.Generator) -> Floats:
        """A vector from the normal distribution of a region, its latent aligned."""
        step = dtrsv(region.factor, rng.standard_normal(region.centre.size), lower=1, trans=1)
        out = region.centre + step
        moved = self.latent(region.centre) + self.latent(step) @ region.rotation
        out[: self.size] = self.align(moved)[0].ravel()
        return out


def _explore(target: _Target, start: Floats, rng: np.random.Generator) -> _Region:
    """Follow a chain from a vector to a region of the posterior."""
    vector, size = start, len(start) ** -0.25
    kept: list[Floats] = []
    energies: list[float] = []
    target.middle = start[-2:].copy()
    for share, count in _PHASES:
        value, slope = target(vector, share)
        for turn in range(count):
            final = share == 1.0 and turn >= count - _KEPT
            if turn % _REFRESH == 0 and not (final and kept):
                factor = target.factor(vector, share)
            step = size * rng.uniform(0.8, 1.2)
            n_steps = int(rng.integers(_STEPS // 2 + 1, _STEPS + _STEPS // 2 + 1))
            new, accepted = _trajectory(
                target, share, factor, (vector, value, slope), step, n_steps, rng
            )
            if rng.uniform() < accepted:
                vector, value, slope = new
            if final:
                kept.append(np.append(target.align(target.latent(vector))[0], vector[-2:]))
                energies.append(value)
            else:
                size = min(size * np.exp(accepted - _ACCEPTED), 3.0 * len(start) ** -0.25)
    factor = target.factor(vector, 1.0)
    volume = float(np.log(np.diagonal(factor)).sum())
    rotation = target.align(target.latent(vector))[1]
    return _Region(np.mean(kept, axis=0), rotation, factor, float(np.mean(energies)) + volume)


_State = tuple[Floats, float, Floats]


def _trajectory(
    target: _Target,
    share: float,
    factor: Floats,
    state: _State,
    size: float,
    n_steps: int,
    rng: np.random.Generator,
) -> tuple[_State, float]:
    """Leapfrog from a vector with a random momentum, and the probability of accepting its end."""
    vector, value, slope = state
    momentum = rng.standard_normal(vector.size)
    before = value + 0.5 * float(momentum @ momentum)
    momentum -= 0.5 * size * dtrsv(factor, slope, lower=1)
    for turn in range(n_steps):
        vector = vector + size * dtrsv(factor, momentum, lower=1, trans=1)
        value, slope = target(vector, share)
        if not value < before + _DIVERGED:
            return state, 0.0
        half = 0.5 if turn == n_steps - 1 else 1.0
        momentum -= half * size * dtrsv(factor, slope, lower=1)
    after = value + 0.5 * float(momentum @ momentum)
    return (vector, value, slope), float(np.exp(min(before - after, 0.0)))


def _rigid_motions(latent: Floats) -> Floats:
    """Orthonormal basis of the moves of a centred latent by shifts and rotations, (n m, k)."""
    n, m = latent.shape
    moves = [np.tile(axis, n) for axis in np.eye(m)]
    for a in range(m):
        for b in range(a):
            move = np.zeros((n, m))
            move[:, a], move[:, b] = latent[:, b], -latent[:, a]
            moves.append(move.ravel())
    left, sizes, _ = np.linalg.svd(np.array(moves).T, full_matrices=False)
    return np.asarray(left[:, sizes > 1e-12 * sizes[0]])
