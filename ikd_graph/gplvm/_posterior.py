"""The way back: observations predicted at new latent points by the Gaussian process."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs
from scipy.spatial.distance import cdist

from .. import _validation as check
from .._validation import validate
from ..kernels import StationaryKernel, as_kernel
from ._locate import JITTER
from ._model import NOT_POSITIVE

Floats = NDArray[np.float64]


class Posterior(NamedTuple):
    """Observations predicted at new latent points."""

    mean: Floats  # (n_new, n_observed)
    std: Floats  # (n_new,) of one noise-free observation, the same in every observed dimension


@validate(
    latent_new=check.table,
    latent=check.table,
    rows=check.table,
    kernel=as_kernel,
    variance=check.positive,
    noise=check.number,
)
def posterior_mean(
    latent_new: Floats,
    latent: Floats,
    rows: Floats,
    kernel: StationaryKernel,
    variance: float = 1.0,
    noise: float = 0.0,
) -> Posterior:
    """Observations of new latent points: the Gaussian-process posterior given the training rows.

    Parameters
    ----------
    latent_new : (n_new, m) array_like of float64
        Where to predict.
    latent, rows : (n, m) and (n, n_observed) array_like of float64
        Latent points and the training rows, centred if the model was fitted to centred rows.
    kernel : str or StationaryKernel
        Kernel of the model.
    variance, noise : float
        Signal variance v and noise variance n. A ten-thousand-millionth of v is added to n, so that
        training points in the same place are no obstacle.

    Returns
    -------
    Posterior
        Mean and standard deviation of the noise-free observations.

    Examples
    --------
    >>> from ikd_graph import gplvm
    >>> latent, rows = [[0.0], [1.0]], [[1.0, 2.0], [3.0, -1.0]]
    >>> gplvm.posterior_mean([[0.0]], latent, rows, "matern").mean.round(6)
    array([[1., 2.]])
    """
    points, fresh = np.asarray(latent, dtype=np.float64), np.asarray(latent_new, dtype=np.float64)
    if points.shape[1] != fresh.shape[1] or len(points) != len(rows):
        raise ValueError(
            "latent_new must have the columns of latent, rows one row for each of its points, got "
            f"shapes {fresh.shape}, {points.shape} and {np.shape(rows)}"
        )
    model = variance * kernel.covariance(cdist(points, points, "sqeuclidean"))
    model.flat[:: len(model) + 1] += noise + JITTER * variance
    across = variance * kernel.covariance(cdist(fresh, points, "sqeuclidean"))
    factor, failed = dpotrf(model.T, lower=1, overwrite_a=1)
    if failed:
        raise ValueError(NOT_POSITIVE.format(noise))
    weights, _ = dpotrs(factor, np.asfortranarray(across.T), lower=1)
    explained = np.einsum("ij,ji->i", across, weights)
    std = np.sqrt(np.maximum(variance - explained, 0.0))
    return Posterior(weights.T @ np.asarray(rows, dtype=np.float64), std)
