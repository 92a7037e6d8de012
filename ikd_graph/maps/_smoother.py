"""One Gaussian-process smoother over a map for many columns: fits, slopes, and what is by chance.

The smooth functions are those of a map alone, so that all columns share them.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, eigh, solve_triangular
from scipy.spatial.distance import pdist
from scipy.special import logsumexp, softmax

from .._base import limits
from .._base.rounding import COMPUTED, TINY
from .._base.table import evenly_spaced
from .._base.threads import batches
from .._base.types import Floats
from ..kernels import SquaredExponential, StationaryKernel
from ._posterior import NOISE_RATIOS, ColumnPosterior, Features

_MOST_INDUCING = 600
"""Inducing points: the smooth functions of more rows are those of so many evenly spaced ones."""

_MOST_FUNCTIONS = 400
_BATCH = 1024  # points that are differentiated at a time
_JITTER = 1e-8
_SMALLEST = 0.02  # of the smallest noise ratio: below it an eigenfunction has no part in a fit
_PERFECT = 1e-12  # fraction of a column that no fit explains, at the least


class Fits(NamedTuple):
    """Fits of b columns."""

    ratio: Floats  # (b, 1) noise ratio of largest likelihood
    noise: Floats  # (b, 1) noise variance
    coefficients: Floats  # (b, r) posterior means of b
    residual: Floats  # (n, b) of rows that were left out, one at a time
    r2: Floats  # (b,) of these rows


@dataclass(frozen=True)
class Smoother(Features):
    """Eigenfunctions of a kernel over the points of a map, less their means.

    A column that is `standardized` is ``basis @ sqrt(eigenvalues) * b + noise`` with b ~ N(0, v I)
    and noise of variance ``ratio * v``, the same in every row.
    """

    points: Floats  # (n, m) the map
    eigenvalues: Floats  # (r,) of the centered kernel matrix, descending
    basis: Floats  # (n, r) orthonormal

    @property
    def shrinkage(self) -> Floats:
        """Fraction of each coefficient that a fit keeps, by noise ratio, (g, r)."""
        return self.eigenvalues / (self.eigenvalues + NOISE_RATIOS[:, None])

    @cached_property
    def leverages(self) -> Floats:
        """Diagonal of the hat matrix, mean included, by noise ratio, (n, g)."""
        return np.asarray(self.basis**2 @ self.shrinkage.T + 1.0 / len(self.points))

    @cached_property
    def gradients(self) -> Floats:
        """Quadratic forms of coefficients that are mean squared derivatives, (m, r, r)."""
        n, r = self.basis.shape
        forms = np.zeros((self.points.shape[1], r, r))
        for batch in batches(n, _BATCH):
            slopes = self.slopes_at(self.points[batch])
            forms += np.einsum("mkr,mks->mrs", slopes, slopes, optimize=True)
        return np.asarray(forms / n)

    def evidence(self, products: Floats, squares: Floats) -> Floats:
        """Log likelihood ratio of columns for every noise ratio against pure noise, (b, g).

        ``products`` (b, r) are those of the basis with the columns, ``squares`` (b,) their sums of
        squares.
        """
        explained = products**2 @ self.shrinkage.T / np.where(squares > 0.0, squares, 1.0)[:, None]
        left = np.maximum(1.0 - explained, _PERFECT)
        volume = np.log1p(self.eigenvalues / NOISE_RATIOS[:, None]).sum(axis=1)
        return np.asarray(-0.5 * (len(self.points) - 1) * np.log(left) - 0.5 * volume)

    def fit(self, Y: Floats) -> Fits:
        """Fit centered columns (n, b), each with the noise ratio of its largest likelihood."""
        n = len(Y)
        squares = np.einsum("ij,ij->j", Y, Y)
        products = Y.T @ self.basis
        choice = self.evidence(products, squares).argmax(axis=1)
        kept = self.shrinkage[choice] * products
        explained = np.einsum("ij,ij->i", kept, products)
        noise = np.maximum(squares - explained, _PERFECT * squares) / (n - 1)
        residual = (Y - self.basis @ kept.T) / (1.0 - self.leverages[:, choice])
        # The mean of the others stands for a row that is left out, too.
        total = squares * (n / (n - 1.0)) ** 2
        lost = np.einsum("ij,ij->j", residual, residual)
        r2 = np.where(total > 0.0, 1.0 - lost / np.where(total > 0.0, total, 1.0), 0.0)
        coefficients = kept / np.sqrt(self.eigenvalues)
        return Fits(NOISE_RATIOS[choice][:, None], noise[:, None], coefficients, residual, r2)

    @cached_property
    def level(self) -> Floats:
        """Means of the functions over the map, (r,)."""
        return np.asarray(self.values_at(self.points).mean(axis=0))

    def posterior(self, columns: Floats) -> ColumnPosterior:
        """Posterior of columns (n, b), noise ratios weighted by their likelihood."""
        means = columns.mean(axis=0)
        Y = columns - means
        squares, products = np.einsum("ij,ij->j", Y, Y), Y.T @ self.basis
        weights = softmax(self.evidence(products, squares), axis=1)
        squares = squares[:, None]
        noise = np.maximum(squares - products**2 @ self.shrinkage.T, _PERFECT * squares)
        coefficients = weights @ self.shrinkage * products / np.sqrt(self.eigenvalues)
        return ColumnPosterior(
            features=self,
            columns=np.arange(len(products)),
            means=means - coefficients @ self.level,
            sd=Y.std(axis=0),
            coefficients=coefficients.T,
            explained=self.shrinkage,
            variances=(weights * noise / (NOISE_RATIOS * (len(Y) - 1.0))).T,
        )

    def fractions(self, fits: Fits) -> tuple[Floats, Floats]:
        r"""Fraction of the mean squared gradient along each axis and its standard error, (b, m).

        The squared gradient b' Q b of the posterior mean has the noise of the coefficients in it:
        its expectation tr(Q V), with V the sampling variance of the coefficients, is taken off. The
        standard error is that of a ratio of quadratic forms F = A / B of normal coefficients:
        Var(A - F B) = 4 b' R V R b + 2 tr(R V R V), R = Q_A - F Q_B. A column without a slope
        beyond its noise has NaN.
        """
        b, forms = fits.coefficients, self.gradients
        sampling = fits.noise * self.eigenvalues / (self.eigenvalues + fits.ratio) ** 2
        total = np.asarray(forms.sum(axis=0))

        def energy(form: Floats) -> tuple[Floats, Floats]:
            image = b @ form
            return np.einsum("ij,ij->i", image, b) - sampling @ np.diagonal(form), image

        size, image = energy(total)
        size = np.where(size > 0.0, size, np.nan)
        fraction, error = np.empty((len(b), len(forms))), np.empty((len(b), len(forms)))
        for axis, form in enumerate(forms):
            part, of_part = energy(form)
            share = part / size
            slope = of_part - share[:, None] * image
            crossed = [
                np.einsum("ij,ij->i", sampling @ product, sampling)
                for product in (form * form, form * total, total * total)
            ]
            trace = crossed[0] - 2.0 * share * crossed[1] + share**2 * crossed[2]
            variance = 4.0 * np.einsum("ij,ij,ij->i", slope, slope, sampling) + 2.0 * trace
            fraction[:, axis] = share
            error[:, axis] = np.sqrt(np.maximum(variance, 0.0)) / size
        fraction = np.clip(fraction, 0.0, 1.0)
        return fraction / np.maximum(fraction.sum(axis=1, keepdims=True), TINY), error


def standardized(columns: Floats, noise: Floats) -> Floats:
    """Columns (n, b) less their weighted means, over the noise of each row."""
    weights = noise**-2.0
    return np.asarray((columns - weights @ columns / weights.sum()) / noise[:, None])


def half_median(points: Floats) -> float:
    """Half the median distance of the points of a map, of the mean where most are in one place."""
    distances = pdist(points[evenly_spaced(len(points), limits.SAMPLED_SCALE)])
    return 0.5 * float(np.median(distances) or distances.mean())


def smoother(
    points: Floats, kernel: StationaryKernel | None = None, noise: Floats | None = None
) -> Smoother:
    """Smoother of a map.

    Parameters
    ----------
    points : (n, m) ndarray of float64
        The map.
    kernel : StationaryKernel, optional
        One that is differentiable at distance 0; by default the squared exponential whose
        length-scale is half the median distance.
    noise : (n,) ndarray of float64, optional
        Relative standard deviation of the noise of each row; by default the same in all.
    """
    noise = np.ones(len(points)) if noise is None else noise
    if kernel is None:
        kernel = SquaredExponential(length_scale=half_median(points))
    inducing = points[evenly_spaced(len(points), _MOST_INDUCING)]
    among = kernel.matrix(inducing)
    among.flat[:: len(among) + 1] += _JITTER
    factor = cholesky(among, lower=True)
    across = kernel.matrix(points, inducing)
    features = standardized(solve_triangular(factor, across.T, lower=True).T, noise)
    values, vectors = eigh(features.T @ features)
    order = np.argsort(-values)[:_MOST_FUNCTIONS]
    order = order[values[order] > _SMALLEST * NOISE_RATIOS[0]][: len(points) - 2]
    values, vectors = values[order], vectors[:, order]
    basis = features @ (vectors / np.sqrt(values))
    expansion = solve_triangular(factor, vectors, lower=True, trans="T")
    return Smoother(kernel, inducing, expansion, points, values, basis)


def row_noise(residual: Floats) -> Floats:
    """Relative standard deviations of the noise of rows (n,), which columns (n, b) share.

    The mean root of a row varies by the variance of one over the effective number of columns; what
    it varies more by is kept (James and Stein).
    """
    residual = residual[:, residual.any(axis=0)]
    n, b = residual.shape
    if b == 0:
        return np.ones(n)
    # Heavy tails have no squares to average; roots will do.
    roots = np.sqrt(np.abs(residual))
    roots /= roots.mean(axis=0)
    # Signs tell columns that are alike from rows that are noisy.
    signs = np.sign(residual) - np.sign(residual).mean(axis=0)
    signs /= np.maximum(np.linalg.norm(signs, axis=0), TINY)
    alike = np.sin(0.5 * np.pi * (signs.T @ signs)) ** 2 - (0.5 * np.pi) ** 2 / (n - 1.0)
    np.fill_diagonal(alike, 1.0)
    means = roots.mean(axis=1)
    error, spread = roots.var() * max(float(alike.mean()), 1.0 / b), max(float(means.var()), TINY)
    return np.asarray((1.0 + max(0.0, 1.0 - error / spread) * (means - 1.0)) ** 2)


# What is by chance: the same columns, moved along the rows ---------------------------------------

_POOLED = 20_000  # values of the null distribution
_FEWEST, _MOST = 6, 99  # draws of each column
_PRIOR = 10.0  # draws that moments of all columns count as


def n_draws(n_columns: int) -> int:
    """How often every column is moved."""
    return int(np.clip(-(-_POOLED // max(n_columns, 1)), _FEWEST, _MOST))


def bayes_factors(
    Y: Floats, smooth: Smoother, draws: int, null: str, rng: np.random.Generator
) -> Floats:
    """Log Bayes factors of standardized columns (n, b), and after random moves, (1 + draws, b).

    They are those of mean likelihoods over noise ratios, all as likely beforehand. Values are moved
    in units of the noise of their rows: a noisy row stays one wherever they go.
    """
    n, squares = len(Y), np.einsum("ij,ij->j", Y, Y)
    found = np.empty((1 + draws, Y.shape[1]))
    for draw in range(1 + draws):
        moved = smooth.basis
        if draw and null == "shift":
            moved = np.roll(moved, int(rng.integers(1, n)), axis=0)
        elif draw:
            moved = moved[rng.permutation(n)]
        found[draw] = logsumexp(smooth.evidence(Y.T @ moved, squares), axis=1)
    return found - np.log(NOISE_RATIOS.size)


def p_values(observed: Floats, null: Floats, few_values: NDArray[np.bool_]) -> Floats:
    """P values of columns, (p,), from the null draws of all, (k, p).

    Each column is measured in standard deviations of its own draws, whose moments lean on those of
    all columns; the tail of that distance is pooled. Columns with ``few_values``, whose tail is
    another one, are ranked among their own draws alone.
    """
    sums, squares = null.sum(axis=0), (null**2).sum(axis=0)
    mean, spread = _moments(sums, squares, len(null), null)
    distance = (observed - mean) / spread
    mean, spread = _moments(sums - null, squares - null**2, len(null) - 1, null)
    pooled = np.sort(((null - mean) / spread)[:, ~few_values], axis=None)
    above = pooled.size - np.searchsorted(pooled, distance, side="left")
    p = (1.0 + above) / (1.0 + pooled.size)
    own = (1.0 + (null >= observed).sum(axis=0)) / (1.0 + len(null))
    return np.asarray(np.where(few_values, own, p))


def _moments(sums: Floats, squares: Floats, count: int, null: Floats) -> tuple[Floats, Floats]:
    """Mean and standard deviation of draws, each with the draws of all columns as a prior."""
    middle, variance = float(null.mean()), float(null.var())
    mean = (sums + _PRIOR * middle) / (count + _PRIOR)
    around = np.maximum(squares - 2.0 * mean * sums + count * mean**2, 0.0)
    spread = np.sqrt((around + _PRIOR * variance) / (count + _PRIOR))
    # Draws of rows that repeat differ by rounding alone.
    return mean, np.maximum(spread, COMPUTED * max(float(np.abs(null).max()), 1.0))
