r"""How far a latent may be from the truth: information, widened by what simulated tables show.

A column is a sample of N(0, A), A = v K(Z) + n I. With N' free columns, J is N' times the expected
information of latent and variances at the most likely latent, plus the precision of the latent as a
normal prior. P J^-1 P, with J^-1 the marginal of the latent (so that variances are integrated out)
and P the projection that takes rigid motions off, would be the covariance of the error of every
point if the likelihood had one optimum and were a parabola there. With as many parameters as
points neither holds: the most likely latent has fitted noise too, and other optima are as likely.

So tables are drawn from the fitted process and embedded again, by annealed descents from two closed
forms. There the truth is known, and so is by how much J understates its errors, wrong optima
included: the mean over tables of the squared error over that of J is what J^-1 is multiplied by
(the bootstrap-t of Efron, with one factor for all points).

Where the columns differ more than the model expects, the pull s_c of each on the latent says so:
the mean of s_c^T J^-1 s_c over that of the model is what N' is divided by, if it is above 1. Where
they follow one another, N' is Bartlett's number of independent ones.

References
----------
B. Efron and R. J. Tibshirani, An introduction to the bootstrap, 1993, chapters 6 and 12.
H. White, Maximum likelihood estimation of misspecified models, Econometrica 50, 1982.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg.lapack import dpotrf

from .. import covariance
from .._base import validation as check
from .._base.rounding import TINY, rounding
from .._base.threads import block_rows, map_blocks, single_threaded_blas
from .._base.types import Floats, Integers
from ..blockwise import rigid_fit
from ._checks import (
    NOT_ASKED,
    Check,
    ModelChecks,
    annealed_optimum,
    check_model,
    model_covariance,
)
from ._likelihood import (
    Model,
    column_scores,
    expected_information,
    inverse_triangle,
    sample_covariance,
)
from ._process import JITTER, GaussianProcess, freshness, row_products
from ._search import OptimumRecord, local_optimum

MAX_POINTS = 400
"""Points whose information is factorized; the errors of other points are interpolated."""

TRUSTED = 0.7
"""Reliability below which a fit warns (docs/decisions/009-error-bars.md)."""


class LatentPosterior(NamedTuple):
    """How far the truth may be from an embedding that it is rigidly aligned with."""

    covariances: Floats  # (n, m, m) of the error of every point
    factor: float  # by which simulated tables widen the variances of the information
    free_columns: float  # columns that count as independent samples of the model
    answers: Floats  # (3, 3) value, null and limit of each question to the model

    @property
    def standard_errors(self) -> Floats:
        """Standard error of every coordinate, (n, m)."""
        return np.sqrt(np.einsum("imm->im", self.covariances))

    @property
    def checks(self) -> ModelChecks:
        """What the fitted model leaves unexplained."""
        return ModelChecks(*map(Check._make, self.answers.tolist()))

    @property
    def misfit(self) -> str:
        """Say why the model does not fit the rows and knows no errors; nothing where it does."""
        return self.checks.sentence(self.covariances.shape[1])


@check.validate(random_state=check.seed, n_simulations=check.whole(0))
def posterior(
    process: GaussianProcess,
    random_state: int | None = None,
    *,
    optima: Sequence[OptimumRecord] = (),
    n_simulations: int = 3,
    places: Integers | None = None,
) -> LatentPosterior:
    """Error bars of an embedding, from its information and from simulated tables.

    Parameters
    ----------
    process : GaussianProcess
        The rows and an embedding of them, by whatever method; its kernel is that of the model.
        Tables are drawn from the local optimum of the likelihood next to the latent; the distance
        to it is added to the errors.
    random_state : int, optional
        Seed of the tables; None is 0, so that two runs agree.
    optima : sequence of OptimumRecord
        Local optima that the fit reached; each counts by its chance to be the likeliest.
    n_simulations : int
        Tables that are drawn and embedded. Without any the errors are those of the information
        alone, which are mostly smaller, and the model is not checked.
    places : (n,) ndarray of int, optional
        Number of every row in the table that it is of: where two are one apart, the rows are
        neighbors there. By default the rows follow one another.

    Returns
    -------
    LatentPosterior
        Covariance of the error of every point, and what the model leaves unexplained.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import gplvm, kernels
    >>> z, rng = np.linspace(0.0, 3.0, 20)[:, None], np.random.default_rng(0)
    >>> cov = kernels.Matern().covariance((z - z.T) ** 2) + 0.1 * np.eye(20)
    >>> rows = np.linalg.cholesky(cov) @ rng.standard_normal((20, 400))
    >>> few, many = (
    ...     gplvm.posterior(
    ...         gplvm.GaussianProcess(z, rows[:, :n], kernels.Matern(), 1.0, 0.1, centered=True)
    ...     )
    ...     for n in (40, 400)
    ... )
    >>> bool((few.standard_errors > many.standard_errors).all())
    True
    """
    rows = process.rows
    # Random numbers belong to points, whatever order these come in.
    order = np.argsort(np.sum(rows**2, axis=1), kind="stable")
    rows, latent = rows[order], process.points[order]
    places = np.arange(len(order)) if places is None else places
    check.one_each("places", places, len(order))
    place = np.asarray(places)[order]
    with single_threaded_blas():
        sample_cov = sample_covariance(rows, centered=False)
        fit = local_optimum(sample_cov, [latent], process.kernel, (process.variance, process.noise))
        n_columns = max(covariance.effective_columns(rows) - process.centered, 1.0)
        n_free = _free_columns(fit, rows, n_columns)
        errors = _covariances(fit, n_free)
        rngs = [np.random.default_rng([random_state or 0, k]) for k in range(n_simulations)]
        factor, checks = 1.0, NOT_ASKED
        if rngs:
            ratios, simulated = zip(*(_simulate(fit, n_free, rng) for rng in rngs), strict=True)
            factor = float(np.mean(ratios)) ** 2
            checks = check_model((fit, sample_cov), simulated, place, n_free, n_columns / n_free)
    turn = rigid_fit(fit.latent, latent).rotation
    errors = np.einsum("ba,ibc,cd->iad", turn, errors, turn)
    by_rivals = errors + sum(at.weight * _squares(at.latent[order], latent) for at in optima)
    # Simulated tables end at rivals, too: the wider of both counts.
    errors = max(factor * errors, by_rivals, key=lambda each: np.einsum("imm->", each))
    errors = errors + _squares(fit.latent, latent)
    return LatentPosterior(errors[np.argsort(order)], factor, n_free, np.array(checks))


def reliability(latent: ArrayLike, standard_errors: ArrayLike) -> float:
    r"""R2 with the truth that error bars lead to expect, from 0 to 1.

    The mean over the coordinates of 1 / (1 + Σ s² / Σ z²), with s the standard errors and z the
    centered coordinates: what errors that are independent of the coordinates leave of each.

    Parameters
    ----------
    latent, standard_errors : (n, m) array_like of float64
        Coordinates along principal axes and their standard errors.

    Returns
    -------
    float
        NaN where a standard error is.

    Examples
    --------
    >>> from ikd_graph import gplvm
    >>> gplvm.reliability([[-1.0], [1.0]], [[0.5], [0.5]])
    0.8
    """
    points, errors = np.asarray(latent, np.float64), np.asarray(standard_errors, np.float64)
    size, error = np.sum((points - points.mean(axis=0)) ** 2, axis=0), np.sum(errors**2, axis=0)
    told = size + error != 0.0
    return float(np.mean(size[told] / (size + error)[told])) if told.any() else float("nan")


def supported_r2(agreement: float) -> float:
    """R2 with the truth that the agreement of two halves of the columns supports.

    Two halves that each share a fraction h of their variance with the truth, and nothing else,
    share h² with one another; all columns share 2 h / (1 + h) with it (Spearman and Brown 1910).

    Parameters
    ----------
    agreement : float
        R² between embeddings of two halves of the columns, NaN where there are none.

    Returns
    -------
    float
        1 without an agreement.

    Examples
    --------
    >>> from ikd_graph import gplvm
    >>> round(gplvm.supported_r2(0.25), 3)
    0.667
    """
    if np.isnan(agreement):
        return 1.0
    half = float(np.sqrt(max(agreement, 0.0)))
    return 2.0 * half / (1.0 + half)


def place_variances(
    process: GaussianProcess,
    posterior: LatentPosterior,
    rows: NDArray[np.floating],
    points: Floats,
) -> Floats:
    """Variance of the coordinates of new rows, each by itself.

    That of the training points around a row, and the inverse curvature of the row's own
    likelihood. A row near a training row has the variance of that.

    Parameters
    ----------
    process : GaussianProcess
        The fitted process, of the points of ``posterior``.
    posterior : LatentPosterior
        Error bars of the training points.
    rows : (b, n_observed) ndarray of float
        New rows as the model takes them.
    points : (b, m) float64
        Their coordinates.

    Returns
    -------
    (b, m) ndarray of float64
        Variance of every coordinate.
    """
    fraction = posterior.free_columns / process.n_observed
    # Points in one place say nothing of an extent; rows are then as far as the kernel sees.
    extent = float(np.mean((process.points - process.points.mean(axis=0)) ** 2)) or 1.0
    out = np.empty(points.shape)

    own = np.einsum("imm->im", posterior.covariances)

    def work(first: int, last: int) -> None:
        observed, at = process.observe(rows[first:last]), points[first:last]
        # Where a row is not at its most likely position, rounding or a saddle can make the
        # curvature less than that of the prior.
        values, vectors = np.linalg.eigh(fraction * process.curvature(observed, at))
        inverse = 1.0 / (np.maximum(values, 0.0) + 1.0 / extent)
        variance = np.einsum("bij,bj->bi", vectors**2, inverse)
        variance += np.einsum("imm->im", _interpolated(process, posterior, at))
        fresh = freshness(process, observed)[:, None]
        nearest = own[np.argmin(observed.sq_dist, axis=1)]
        out[first:last] = fresh * variance + (1.0 - fresh) * nearest

    map_blocks(work, len(points), block_rows(len(process.rows)))
    return out


def row_deviations(process: GaussianProcess, posterior: LatentPosterior, points: Floats) -> Floats:
    """How much what is predicted at latent points depends on the error of the latent.

    Parameters
    ----------
    process, posterior : see `place_variances`
        The fitted process and its error bars.
    points : (b, m) float64
        Latent points.

    Returns
    -------
    (b,) ndarray of float64
        Standard deviation to first order, root mean square over columns.
    """
    out = np.empty(len(points))
    for index, around in enumerate(_interpolated(process, posterior, points)):
        slopes = process.gradient(points[index])
        out[index] = np.sum(slopes * (around @ slopes)) / process.n_observed
    return np.sqrt(np.maximum(out, 0.0))


def _interpolated(process: GaussianProcess, posterior: LatentPosterior, points: Floats) -> Floats:
    """Mean error covariances (b, m, m) of the training points, weighted by the kernel at points."""
    weights = process.kernel.matrix(points, process.points)
    weights = np.maximum(weights, TINY)
    weights /= weights.sum(axis=1, keepdims=True)
    flat = posterior.covariances.reshape(len(process.points), -1)
    return row_products(weights, flat).reshape(len(points), *posterior.covariances.shape[1:])


def _squares(other: Floats, latent: Floats) -> Floats:
    """Squared distances (n, m, m) of every point of a latent from that of another."""
    gap = rigid_fit(other, latent).apply(other) - latent
    return np.asarray(gap[:, :, None] * gap[:, None])


def _simulate(
    fit: Model, n_free: float, rng: np.random.Generator
) -> tuple[float, tuple[Model, Floats]]:
    """Root mean square error of a simulated table over what is expected, its fit and covariance."""
    n, m = fit.latent.shape
    root = np.linalg.cholesky(model_covariance(fit))
    table = root @ rng.standard_normal((n, max(round(n_free), 2)))
    cov = sample_covariance(table, centered=False)
    estimate = annealed_optimum(cov, m, fit.kernel, n_free)
    error = rigid_fit(fit.latent, estimate.latent).apply(fit.latent) - estimate.latent
    expected = np.einsum("imm->", _covariances(estimate, n_free))
    return float(np.sqrt(np.sum(error**2) / expected)), (estimate, cov)


def _free_columns(fit: Model, rows: Floats, n_free: float) -> float:
    """Estimate the number of independent columns: fewer where they differ more than expected."""
    scores = column_scores(fit.latent, rows, *fit[1:])
    scores -= scores.mean(axis=1, keepdims=True)
    scores *= np.sqrt(n_free / rows.shape[1])
    inverse = _inverse_factor(fit, n_free)
    n, m = fit.latent.shape
    blocks = inverse[:, : n * m].reshape(-1, n, m)
    by_prior = float(np.einsum("kia,ab,kib->", blocks, _prior_precision(fit.latent), blocks))
    observed = float(np.sum((inverse @ scores) ** 2))
    return n_free / max(1.0, observed / max(n * m + 2 - by_prior, 1.0))


def _prior_precision(latent: Floats) -> Floats:
    """Inverse covariance of the points of an embedding, (m, m)."""
    centered = latent - latent.mean(axis=0)
    spread = centered.T @ centered / len(latent)
    spread.flat[:: len(spread) + 1] += 1e-9 * np.trace(spread) + TINY
    return np.asarray(np.linalg.inv(spread))


def _inverse_factor(fit: Model, n_free: float) -> Floats:
    """Inverse of the Cholesky factor of what columns and prior say of latent and variances."""
    information = n_free * expected_information(*fit)
    n, m = fit.latent.shape
    precision = _prior_precision(fit.latent)
    for start in range(0, n * m, m):
        information[start : start + m, start : start + m] += precision
    information[[-2, -1], [-2, -1]] += 1.0  # a factor of e, for log v and log n
    ridge, failed = JITTER, 1
    diagonal = information.diagonal().copy()
    while failed:
        information.flat[:: len(information) + 1] = (1.0 + ridge) * diagonal
        factor, failed = dpotrf(information.T, lower=1)
        ridge *= 10.0
    return inverse_triangle(factor)


def _covariances(fit: Model, n_free: float) -> Floats:
    """Error covariance of every point, (n, m, m), rigid motions removed."""
    n, m = fit.latent.shape
    spread = _inverse_factor(fit, n_free)[:, : n * m]
    motions = _rigid_motions(fit.latent - fit.latent.mean(axis=0))
    spread = (spread - (spread @ motions) @ motions.T).reshape(-1, n, m)
    return np.asarray(np.einsum("kia,kib->iab", spread, spread))


def _rigid_motions(latent: Floats) -> Floats:
    """Orthonormal basis of the moves of a centered latent by shifts and rotations, (n m, k)."""
    n, m = latent.shape
    moves = [np.tile(axis, n) for axis in np.eye(m)]
    for a, b in zip(*np.tril_indices(m, -1), strict=True):
        move = np.zeros((n, m))
        move[:, a], move[:, b] = latent[:, b], -latent[:, a]
        moves.append(move.ravel())
    basis, sizes, _ = np.linalg.svd(np.array(moves).T, full_matrices=False)
    return np.asarray(basis[:, sizes > rounding(sizes[0], basis.size)])
