"""Noise model of an embedding: the variances and the length-scale of largest likelihood."""

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
from ._likelihood import fit_group_variances

# The length-scale is chosen on this logarithmic line.
_LOG_SCALES = (-4.0, 1.5)


class NoiseModel(NamedTuple):
    """Variances and kernel of the Gaussian process of an embedding."""

    variance: float  # signal variance, in units of X squared
    noise: float  # noise variance, in units of X squared
    log_likelihood: float  # of all columns
    kernel: StationaryKernel  # with the length-scale of the embedding


def fit_noise_model(
    latent: Floats, rows: NDArray[np.floating], kernel: StationaryKernel
) -> NoiseModel:
    """Fit the variances and the length-scale under which an embedding explains rows best.

    A closed form has the unit of the kernel only as far as covariances are those of the model.

    Parameters
    ----------
    latent : (n, m) ndarray of float64
        Coordinates.
    rows : (n, n_observed) ndarray of float
        Observations, centered, NaN where a value is not known.
    kernel : StationaryKernel
        Kernel of the coordinates.

    Returns
    -------
    NoiseModel
        The fitted process.
    """
    sample = evenly_spaced(len(latent), limits.SAMPLED_SCALE)
    points, groups = latent[sample], column_groups(rows[sample])

    def scaled(log_scale: float) -> StationaryKernel:
        return replace(kernel, length_scale=kernel.length_scale * float(np.exp(log_scale)))

    def cost(log_scale: float) -> float:
        return fit_group_variances(points, groups, scaled(log_scale))[2]

    best = minimize_scalar(cost, bounds=_LOG_SCALES, method="bounded", options={"xatol": 0.05})
    if best.fun < cost(0.0):
        kernel = scaled(best.x)
    variance, noise, value = fit_group_variances(latent, column_groups(rows), kernel)
    n_columns = np.count_nonzero(np.isfinite(rows).any(axis=0))
    return NoiseModel(variance, noise, -n_columns * value, kernel)
