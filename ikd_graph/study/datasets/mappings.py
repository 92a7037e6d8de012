"""From a latent to observations: the mappings of the paper, and noise."""

from __future__ import annotations

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

from ... import kernels
from ..._checks import check_choice, check_integer, check_positive

Floats = NDArray[np.float64]
Seed = int | np.random.Generator


def gp_mapping(
    latent: ArrayLike,
    n_features: int,
    kernel: str | kernels.StationaryKernel = "squared_exponential",
    *,
    variance: float = 1.0,
    seed: Seed = 0,
) -> Floats:
    """Observations of the paper's Eq. 1: each column a Gaussian process over the latent.

    Parameters
    ----------
    latent : (n, m) float64
        The true latent.
    n_features : int
        Number of observed dimensions N.
    kernel : str or StationaryKernel
        Covariance over the latent, with its length-scale.
    variance : float
        Marginal variance.
    seed : int or Generator
        Source of randomness.

    Returns
    -------
    (n, n_features) float64
        Observations without noise (but for a jitter below 1e-4 standard deviations).

    Examples
    --------
    >>> gp_mapping(np.linspace(0.0, 3.0, 30)[:, None], 20, "matern", seed=3).shape
    (30, 20)
    """
    points = np.asarray(latent, dtype=np.float64)
    check_integer("n_features", n_features, 1)
    cov = kernels.get(kernel).covariance(cdist(points, points, "sqeuclidean"))
    samples = np.random.default_rng(seed).normal(size=(points.shape[0], n_features))
    return np.sqrt(check_positive("variance", variance)) * (_lower_root(cov) @ samples)


def sine_mapping(latent: ArrayLike, n_features: int, *, seed: Seed = 0) -> Floats:
    """Observations of the paper's data set 2: sin(Ω z + φ), Ω ~ U(-1, 1), φ ~ U(-π, π).

    Parameters
    ----------
    latent, n_features, seed : see `gp_mapping`
        The true latent, the number of observed dimensions and a source of randomness.

    Returns
    -------
    (n, n_features) float64
        Observations without noise.
    """
    points = np.asarray(latent, dtype=np.float64)
    rng = np.random.default_rng(seed)
    omega = rng.uniform(
        -1.0, 1.0, size=(check_integer("n_features", n_features, 1), points.shape[1])
    )
    phase = rng.uniform(-np.pi, np.pi, size=n_features)
    return np.sin(points @ omega.T + phase)


def bump_mapping(
    latent: ArrayLike, n_features: int, *, form: str = "squared", seed: Seed = 0
) -> Floats:
    r"""Observations of the paper's data set 3: bumps around centres on a grid over [-6, 6]^m.

    Parameters
    ----------
    latent, seed : see `gp_mapping`
        The true latent and a source of randomness.
    n_features : int
        Number of observed dimensions N, each with its own centre among 100^m grid points.
    form : {"squared", "l1"}
        "squared" is Eq. 13 as printed, 20 exp(-\|z - c\|²). "l1" is what the authors ran,
        20 exp(-\|z - c\|_1), wider at its foot; the published figures rest on it.

    Returns
    -------
    (n, n_features) float64
        Observations without noise.
    """
    check_choice("form", form, ("squared", "l1"))
    points = np.asarray(latent, dtype=np.float64)
    n_axes = points.shape[1]
    n_grid = 100**n_axes
    check_integer("n_features", n_features, 1, n_grid)
    picked = np.random.default_rng(seed).choice(n_grid, size=n_features, replace=False)
    cells = np.stack(np.unravel_index(picked, (100,) * n_axes), axis=1)
    centres = np.linspace(-6.0, 6.0, 100)[cells]
    metric = "sqeuclidean" if form == "squared" else "cityblock"
    return 20.0 * np.exp(-cdist(points, centres, metric))


def add_noise(X: ArrayLike, sd: float, *, seed: Seed = 0) -> Floats:
    """Add independent Gaussian noise.

    Parameters
    ----------
    X : (n, n_features) float64
        Observations.
    sd : float
        Standard deviation, >= 0.
    seed : int or Generator
        Source of randomness.

    Returns
    -------
    (n, n_features) float64
        A noisy copy.
    """
    values = np.array(X, dtype=np.float64)
    if not (np.isfinite(sd) and sd >= 0.0):
        raise ValueError(f"sd must be a finite number of at least 0, got {sd!r}; 0 adds no noise")
    return values + np.random.default_rng(seed).normal(scale=sd, size=values.shape)


def _lower_root(cov: Floats) -> Floats:
    """Cholesky factor, with the least jitter that makes it exist."""
    jitter = 1e-12
    while jitter < 1e-7:
        try:
            return scipy.linalg.cholesky(cov + jitter * np.eye(cov.shape[0]), lower=True)
        except np.linalg.LinAlgError:
            jitter *= 10.0
    raise ValueError("the covariance of the latent must be positive definite, got one that is not")
