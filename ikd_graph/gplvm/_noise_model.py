"""Noise model of an embedding: the variances and the length-scale of largest likelihood."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from .._base import limits
from .._base.table import evenly_spaced
from .._base.types import Floats
from ..kernels import StationaryKernel
from ._groups import column_groups
from ._likelihood import fit_group_variances, fit_variances

# The length-scale is chosen on this logarithmic line.
_LOG_SCALES = (-4.0, 1.5)


class NoiseModel(NamedTuple):
    """Variances and kernel of the Gaussian process of an embedding."""

    variance: float  # signal variance, in units of X squared
    noise: float  # noise variance, in units of X squared
    log_likelihood: float  # of all columns
    kernel: StationaryKernel  # with the length-scale of the embedding


def fit_noise_model(
    latent: Floats, cov: Floats, n_observed: int, kernel: StationaryKernel
) -> NoiseModel:
    """Fit the variances and the length-scale under which an embedding explains a covariance best.

    A closed form has the unit of the kernel only as far as covariances are those of the model.

    Parameters
    ----------
    latent : (n, m) ndarray of float64
        Coordinates.
    cov : (n, n) ndarray of float64
        Covariance of the rows, see `gplvm.sample_covariance`.
    n_observed : int
        Number N of columns it was estimated from.
    kernel : StationaryKernel
        Kernel of the coordinates.

    Returns
    -------
    NoiseModel
        The fitted process.
    """
    sample = evenly_spaced(len(latent), limits.SAMPLED_SCALE)
    points, cov_of_sample = latent[sample], cov[np.ix_(sample, sample)]
    kernel = _scaled(
        kernel, lambda each: -fit_variances(points, cov_of_sample, n_observed, each)[2]
    )
    return NoiseModel(*fit_variances(latent, cov, n_observed, kernel), kernel)


def noise_model_of(
    latent: Floats, table: NDArray[np.floating], kernel: StationaryKernel
) -> NoiseModel:
    """Noise model of the known entries of a table, as `fit_noise_model` fits it."""
    sample = evenly_spaced(len(latent), limits.SAMPLED_SCALE)
    points, groups = latent[sample], column_groups(table[sample])
    kernel = _scaled(kernel, lambda each: fit_group_variances(points, groups, each)[2])
    variance, noise, value = fit_group_variances(latent, column_groups(table), kernel)
    return NoiseModel(variance, noise, -np.isfinite(table).any(axis=0).sum() * value, kernel)


def _scaled(
    kernel: StationaryKernel, cost: Callable[[StationaryKernel], float]
) -> StationaryKernel:
    """Kernel of the length-scale of least cost."""

    def scaled(log_scale: float) -> StationaryKernel:
        return replace(kernel, length_scale=kernel.length_scale * float(np.exp(log_scale)))

    best = minimize_scalar(
        lambda x: cost(scaled(x)), bounds=_LOG_SCALES, method="bounded", options={"xatol": 0.05}
    )
    return scaled(best.x) if best.fun < cost(kernel) else kernel
