"""Synthetic data sets with known latents: the paper's, three classics, and spike counts.

Where ``seed`` may be a ``numpy.random.Generator``, that one is drawn from and goes on.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ... import kernels
from ..._checks import check_choice, check_positive
from ._record import Dataset
from .latents import Seed, fixed_latent, ou_latent
from .mappings import add_noise, bump_mapping, gp_mapping, sine_mapping

MAPPINGS = ("gp", "sine", "bump", "bump_l1")
"""The mappings of the paper's Fig. 2, and the bump as its authors ran it."""


def mapped_data(mapping: str, n_features: int, *, n_samples: int = 1000, seed: Seed = 0) -> Dataset:
    """Data set of the paper's Fig. 2: a latent of Eq. 12 through one of its mappings.

    Parameters
    ----------
    mapping : {"gp", "sine", "bump", "bump_l1"}
        gp: M = 3, length-scale 3, noise 0.05. sine: M = 1, noise 0.1. bump (as printed) and
        bump_l1 (as run): M = 2, noise 0.05.
    n_features : int
        Number of observed dimensions N.
    n_samples : int
        Number of points T, the paper's 1000.
    seed : int or Generator
        Source of randomness.

    Returns
    -------
    Dataset
        With its latent, clipped to [-6, 6] as in the paper's runs.

    Examples
    --------
    >>> mapped_data("sine", 50, n_samples=200, seed=1).latent.shape
    (200, 1)
    """
    check_choice("mapping", mapping, MAPPINGS)
    rng = np.random.default_rng(seed)
    n_components = {"gp": 3, "sine": 1}.get(mapping, 2)
    latent = ou_latent(n_samples, n_components, clip=6.0, seed=rng)
    if mapping == "gp":
        clean = gp_mapping(
            latent, n_features, kernels.SquaredExponential(length_scale=3.0), seed=rng
        )
    elif mapping == "sine":
        clean = sine_mapping(latent, n_features, seed=rng)
    else:
        form = "l1" if mapping == "bump_l1" else "squared"
        clean = bump_mapping(latent, n_features, form=form, seed=rng)
    X = add_noise(clean, 0.1 if mapping == "sine" else 0.05, seed=rng)
    return Dataset(X=X, latent=latent, name=f"{mapping}_N{n_features}")


def gplvm_data(
    latent: str | ArrayLike,
    n_features: int,
    *,
    kernel: str | kernels.StationaryKernel = "squared_exponential",
    noise: float = 0.0,
    seed: Seed = 0,
) -> Dataset:
    """Data set of the paper's Fig. 4 to 6: a fixed latent, a GP mapping, noise.

    Parameters
    ----------
    latent : {"hard", "medium", "easy"} or (n, m) float64
        The true latent.
    n_features : int
        Number of observed dimensions N.
    kernel : str or StationaryKernel
        A name stands for the paper's parameters: length-scale 1/2, and alpha = 1, gamma = 1,
        nu = 3/2.
    noise : float
        Standard deviation of the noise added.
    seed : int or Generator
        Source of randomness; of the latent too, where that has any.

    Returns
    -------
    Dataset
        With its latent.

    Examples
    --------
    >>> gplvm_data("medium", 200, noise=0.1, seed=1).X.shape
    (100, 200)
    """
    rng = np.random.default_rng(seed)
    name = latent if isinstance(latent, str) else "latent"
    points = fixed_latent(latent, seed=rng) if isinstance(latent, str) else latent
    points = np.asarray(points, dtype=np.float64)
    if isinstance(kernel, str):
        kernel = type(kernels.get(kernel))(length_scale=0.5)
    X = add_noise(gp_mapping(points, n_features, kernel, seed=rng), noise, seed=rng)
    return Dataset(X=X, latent=points, name=f"{name}_N{n_features}")


def half_moons(n_samples: int = 100, *, noise: float = 0.05, seed: int = 0) -> Dataset:
    """Two interleaved half circles in the plane (scikit-learn's), labelled.

    Parameters
    ----------
    n_samples : int
        Number of points.
    noise : float
        Standard deviation of the noise.
    seed : int
        Source of randomness.

    Returns
    -------
    Dataset
        ``X`` (n_samples, 2), ``y`` the moon.
    """
    from sklearn.datasets import make_moons

    X, y = make_moons(n_samples, noise=noise, random_state=seed)
    return Dataset(X=X, y=y.astype(np.int64), label_names=("upper", "lower"), name="half_moons")


def swiss_roll(n_samples: int = 500, *, noise: float = 0.0, seed: int = 0) -> Dataset:
    """A rolled-up sheet in three dimensions (scikit-learn's).

    Parameters
    ----------
    n_samples, noise, seed : see `half_moons`
        Size, noise and source of randomness.

    Returns
    -------
    Dataset
        ``X`` (n_samples, 3); ``latent`` (n_samples, 2) the length along the roll and the height,
        isometric to the sheet; ``y`` the angle of the roll, for colours.
    """
    from sklearn.datasets import make_swiss_roll

    X, angle = make_swiss_roll(n_samples, noise=noise, random_state=seed)
    # Arc length of the spiral r = t from 0 to t.
    along = 0.5 * (angle * np.sqrt(1.0 + angle**2) + np.arcsinh(angle))
    latent = np.column_stack([along, X[:, 1]])
    return Dataset(X=X, y=angle, latent=latent, name="swiss_roll")


def spike_counts(
    n_samples: int = 400,
    n_features: int = 60,
    *,
    mean_count: float = 3.0,
    seed: Seed = 0,
) -> Dataset:
    """Counts of neurons whose log rates are Gaussian processes over a path in the plane.

    Parameters
    ----------
    n_samples : int
        Number of time bins.
    n_features : int
        Number of neurons.
    mean_count : float
        Mean count of a neuron in a bin.
    seed : int or Generator
        Source of randomness.

    Returns
    -------
    Dataset
        ``X`` (n_samples, n_features) counts; ``latent`` (n_samples, 2) the path, a slow process of
        variance 1 over which log rates have length-scale 1.

    Examples
    --------
    >>> spike_counts(50, 20).X.shape
    (50, 20)
    """
    rng = np.random.default_rng(seed)
    latent = ou_latent(n_samples, 2, variance=1.0, time_scale=n_samples / 20.0, seed=rng)
    log_rate = gp_mapping(latent, n_features, variance=0.5, seed=rng)
    rates = np.exp(log_rate - 0.25) * check_positive("mean_count", mean_count)
    return Dataset(X=rng.poisson(rates).astype(np.float64), latent=latent, name="spike_counts")
