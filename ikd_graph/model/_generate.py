"""The generative model of a latent: variances and length-scale that explain the rows best."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from .. import _limits, evidence, gplvm, kernels
from ._record import Model, Noise

Floats = NDArray[np.float64]

# The length-scale of the generative model is chosen on this logarithmic line.
_LOG_SCALES = (-4.0, 1.5)


def explain(
    latent: Floats, X: NDArray[np.floating], kernel: kernels.StationaryKernel, *, centred: bool
) -> Noise:
    """Variances and length-scale under which a latent explains the observations best.

    A closed-form latent has the unit of the kernel only as far as the covariances are those of the
    model; where they are not, a Gaussian process of that length-scale would swing between points.
    """
    cov = gplvm.sample_covariance(X, centered=centred)
    return explain_covariance(latent, cov, X.shape[1], kernel)


def explain_covariance(
    latent: Floats, cov: Floats, n_observed: int, kernel: kernels.StationaryKernel
) -> Noise:
    """The same from the covariance of the observations, of which there are ``n_observed``."""
    few = np.linspace(0, len(latent) - 1, min(len(latent), _limits.GENERATIVE_SCALE)).astype(
        np.int64
    )
    some, some_cov = latent[few], cov[np.ix_(few, few)]

    def scaled(log_scale: float) -> kernels.StationaryKernel:
        return replace(kernel, length_scale=kernel.length_scale * float(np.exp(log_scale)))

    def cost(log_scale: float) -> float:
        return -gplvm.fit_variances(some, some_cov, n_observed, scaled(log_scale))[2]

    best = minimize_scalar(cost, bounds=_LOG_SCALES, method="bounded", options={"xatol": 0.05})
    if best.fun < cost(0.0):
        kernel = scaled(best.x)
    return Noise(*gplvm.fit_variances(latent, cov, n_observed, kernel), kernel)


def noise_of(model: Model) -> Noise:
    """The generative model that a polish found, or one fitted now to at most 2000 rows."""
    if model.polished is not None and model.polished.noise is not None:
        return model.polished.noise
    used = model.first[used_rows(model.first.size)]
    latent, rows = model.latent.coordinates[used], model.rows[used]
    return explain(latent, rows, model.plan.kernel, centred=_centred(model))


def has_process(model: Model) -> bool:
    """Whether the latent is one of the model, so that its process can place new rows.

    What was not polished stays in closed form, where rows and their covariances give the same.
    """
    polished = model.polished
    if polished is None or model.rows is None or model.rows.shape[1] < evidence.FEWEST_COLUMNS:
        return False
    holds = polished.noise is not None or model.choice.trusted
    if polished.core is not None:
        return True
    return holds and model.first.size <= _limits.PLACED_BY_PROCESS


def process_of(model: Model) -> gplvm.Process:
    """The process that places new rows: of all rows, or of the core that placed the others."""
    polished = model.polished
    used, noise = model.first, None
    if polished is not None and polished.core is not None:
        used, noise = model.first[polished.core], polished.core_noise
    noise = noise or noise_of(model)
    return gplvm.condition(
        model.latent.coordinates[used],
        model.rows[used],
        noise.kernel,
        noise.variance,
        noise.noise,
        centred=_centred(model),
    )


def reconstruct(model: Model, noise: Noise, points: Floats) -> tuple[Floats, Floats]:
    """Posterior mean of the rows that points stand for, (n_new, p), and its deviation, (n_new,).

    The mean row of the training data is given back with each.
    """
    used = model.first[used_rows(model.first.size)]
    mean_row = model.rows.mean(axis=0)
    rows, std = np.empty((len(points), model.rows.shape[1])), np.empty(len(points))
    for start in range(0, len(points), 1024):
        part = slice(start, start + 1024)
        posterior = gplvm.posterior_mean(
            points[part],
            model.latent.coordinates[used],
            model.rows[used] - mean_row,
            noise.kernel,
            noise.variance,
            noise.noise,
        )
        rows[part], std[part] = posterior.mean + mean_row, posterior.std
    return rows, std


def log_likelihood(model: Model, noise: Noise, latent: Floats, rows: NDArray[Any]) -> float:
    """Mean log likelihood of an observed dimension of at most 2000 rows, given where they are."""
    take = used_rows(len(rows))
    cov = gplvm.sample_covariance(rows[take], centered=_centred(model))
    found = gplvm.log_likelihood(
        latent[take], cov, rows.shape[1], noise.kernel, noise.variance, noise.noise
    )
    return found / rows.shape[1]


def used_rows(n_rows: int) -> NDArray[np.int64]:
    """Rows that stand for all of them in the generative model: all, or 2000 evenly spaced ones."""
    return np.linspace(0, n_rows - 1, min(n_rows, _limits.GENERATIVE)).astype(np.int64)


def _centred(model: Model) -> bool:
    return model.similarity.centres_rows
