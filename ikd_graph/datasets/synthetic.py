"""Data sets by name: digits, and synthetic ones with known latents.

Random latents of the paper (Eq. 12) and its three fixed ones (Fig. 3), observations of a latent, a
curve and a surface, two classics and spike counts. Where ``seed`` may be a
``numpy.random.Generator``, that one is drawn from and goes on.
"""

from contextlib import suppress
from dataclasses import replace

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike
from sklearn.datasets import load_digits, make_moons, make_swiss_roll

from .. import kernels
from .._base import validation as check
from .._base.dataset import Dataset, Labels, encode_labels
from .._base.types import Floats
from .._base.validation import one_of, positive, validate

Seed = int | np.random.Generator

COLUMNS = 200
"""Columns of simulated tables."""

_POINTS = 150
_CIRCLE = 360.0  # degrees

FIXED_LATENTS = ("hard", "medium", "easy")
"""The three fixed latents of the paper's Fig. 3."""


@validate(n_samples=check.count, n_components=check.count, seed=check.random_state)
def ou_latent(
    n_samples: int,
    n_components: int,
    *,
    variance: float = 6.0,
    time_scale: float = 5.0,
    clip: float | None = None,
    seed: Seed = 0,
) -> Floats:
    r"""Latent of the paper's Eq. 12: z_m ~ N(0, v e^{-\|i - j\| / τ}), each column by itself.

    Sampled step by step (the process is Markov), so the cost is linear in ``n_samples``.

    Parameters
    ----------
    n_samples, n_components : int
        Shape of the latent.
    variance : float
        v, the paper's 6.
    time_scale : float
        τ, the paper's 5.
    clip : float or None
        Clip to [-clip, clip]; the paper's runs clip to 6, its text does not say so.
    seed : int or Generator
        Source of randomness.

    Returns
    -------
    (n_samples, n_components) float64
        The latent.

    Examples
    --------
    >>> ou_latent(100, 3, seed=1).shape
    (100, 3)
    """
    from scipy.signal import lfilter

    steps = np.random.default_rng(seed).normal(size=(n_samples, n_components))
    decay = np.exp(-1.0 / positive("time_scale", time_scale))
    steps[1:] *= np.sqrt(1.0 - decay**2)
    latent = np.sqrt(positive("variance", variance)) * lfilter([1.0], [1.0, -decay], steps, axis=0)
    return latent if clip is None else np.clip(latent, -clip, clip)


@validate(n_samples=check.whole(4), seed=check.random_state)
def fixed_latent(name: str, n_samples: int = 100, *, seed: Seed = 0) -> Floats:
    r"""Latent of the paper's Fig. 3, three-dimensional.

    - ``medium``: a swirl, θ = -4π .. 4π, z = -1/2 .. 1/2, r = 1 + z²,
      (r sin 1.3θ, r cos θ, z); exactly the paper's at 100 points.
    - ``easy``: the surface z = sin 2πx + 1/2 cos 3πy over a square grid on [-1/2, 1/2]², rows
      shuffled; the paper's points, in another order.
    - ``hard``: two strands of opposite sense, (±sin 2πz, cos 2πz, z) for z = -1 .. 1, with noise of
      standard deviation 0.1 on the first two; the paper's law, another sample.

    Parameters
    ----------
    name : {"hard", "medium", "easy"}
        Which one.
    n_samples : int
        Number of points; a square number for ``easy``, even for ``hard``.
    seed : int or Generator
        Order of the rows of ``easy``, noise of ``hard``; ``medium`` does not use it.

    Returns
    -------
    (n_samples, 3) float64
        The latent.

    Examples
    --------
    >>> fixed_latent("medium")[0].round(4).tolist()
    [0.7347, 1.25, -0.5]
    """
    one_of(FIXED_LATENTS)("name", name)
    rng = np.random.default_rng(seed)
    if name == "medium":
        theta = np.linspace(-4.0 * np.pi, 4.0 * np.pi, n_samples)
        z = np.linspace(-0.5, 0.5, n_samples)
        radius = z**2 + 1.0
        return np.column_stack([radius * np.sin(1.3 * theta), radius * np.cos(theta), z])
    if name == "easy":
        side = int(np.sqrt(n_samples))
        if side**2 != n_samples:
            raise ValueError(
                f"n_samples must be a square number for 'easy', got {n_samples}; "
                f"try {side**2} or {(side + 1) ** 2}"
            )
        axis = np.linspace(-0.5, 0.5, side)
        x, y = (grid.ravel() for grid in np.meshgrid(axis, axis, indexing="ij"))
        height = np.sin(2.0 * np.pi * x) + 0.5 * np.cos(3.0 * np.pi * y)
        return rng.permutation(np.column_stack([x, y, height]))
    if n_samples % 2:
        raise ValueError(f"n_samples must be even for 'hard', got {n_samples}; it has two strands")
    half = n_samples // 2
    # The two strands meet where both have sin 2πz = 0; they are offset there as in the paper.
    z = np.concatenate([np.linspace(-1.0, 0.975, half), np.linspace(-1.0, 1.0, half)])
    sense = np.repeat([1.0, -1.0], half)
    latent = np.column_stack([sense * np.sin(2.0 * np.pi * z), np.cos(2.0 * np.pi * z), z])
    latent[:, :2] += rng.normal(scale=0.1, size=(n_samples, 2))
    return latent


@validate(n_features=check.count, seed=check.random_state)
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
        Number of columns N.
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
    >>> import numpy as np
    >>> gp_mapping(np.linspace(0.0, 3.0, 30)[:, None], 20, "matern", seed=3).shape
    (30, 20)
    """
    points = np.asarray(latent, dtype=np.float64)
    cov = kernels.get(kernel).matrix(points)
    samples = np.random.default_rng(seed).normal(size=(points.shape[0], n_features))
    return np.sqrt(positive("variance", variance)) * (_lower_root(cov) @ samples)


def _lower_root(cov: Floats) -> Floats:
    """Cholesky factor, with the least jitter that makes it exist."""
    for power in range(-12, -6):
        with suppress(np.linalg.LinAlgError):
            return scipy.linalg.cholesky(cov + 10.0**power * np.eye(cov.shape[0]), lower=True)
    raise ValueError("the covariance of the latent must be positive definite, got one that is not")


@validate(n_features=check.count, seed=check.random_state)
def gplvm_data(
    latent: str | ArrayLike,
    n_features: int,
    *,
    kernel: str | kernels.StationaryKernel = "squared_exponential",
    noise: float = 0.0,
    seed: Seed = 0,
) -> Dataset:
    """Simulate the data of the paper's Fig. 4 to 6: fixed latent positions, a GP mapping, noise.

    Parameters
    ----------
    latent : {"hard", "medium", "easy"} or (n, m) float64
        The true latent.
    n_features : int
        Number of columns N.
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
    X = gp_mapping(points, n_features, kernel, seed=rng)
    X += rng.normal(scale=noise, size=X.shape)
    return Dataset(X=X, latent=points, name=f"{name}_N{n_features}")


@validate(n_samples=check.count, seed=check.random_state)
def figure_eight(
    n_samples: int = _POINTS, n_features: int = COLUMNS, *, noise: float = 1.0, seed: Seed = 0
) -> Dataset:
    """Simulate a closed curve that crosses itself, behind columns as noisy as they are large.

    Parameters
    ----------
    n_samples, n_features : int
        Numbers of points and of columns.
    noise : float
        Standard deviation of the noise; that of what it is added to is 1.
    seed : int or Generator
        Source of randomness.

    Returns
    -------
    Dataset
        ``latent`` (n_samples, 2) the curve, over which columns are smooth (squared exponential,
        length-scale 1); ``y`` the angle in degrees, from 0 to 360.

    Examples
    --------
    >>> figure_eight(100).X.shape
    (100, 200)
    """
    degrees = np.linspace(0.0, _CIRCLE, n_samples, endpoint=False)
    angle = np.radians(degrees)
    latent = 1.8 * np.column_stack([np.sin(angle), np.sin(2.0 * angle)])
    kernel = kernels.SquaredExponential()
    data = gplvm_data(latent, n_features, kernel=kernel, noise=noise, seed=seed)
    return replace(data, labels=(Labels("angle", degrees, period=_CIRCLE),), name="figure_eight")


@validate(n_samples=check.count, seed=check.random_state)
def surface(
    n_samples: int = _POINTS, n_features: int = COLUMNS, *, noise: float = 1.0, seed: Seed = 0
) -> Dataset:
    """Simulate points of a rectangle behind columns as noisy as they are large.

    Parameters
    ----------
    n_samples, n_features, noise, seed : see `figure_eight`
        Size, noise and source of randomness.

    Returns
    -------
    Dataset
        ``latent`` (n_samples, 2) places in a rectangle of 4 by 3, over which columns are smooth.

    Examples
    --------
    >>> surface(100).latent.shape
    (100, 2)
    """
    rng = np.random.default_rng(seed)
    latent = rng.uniform(size=(n_samples, 2)) * [4.0, 3.0]
    kernel = kernels.SquaredExponential()
    data = gplvm_data(latent, n_features, kernel=kernel, noise=noise, seed=rng)
    return replace(data, name="surface")


@validate(n_samples=check.count, seed=check.seed)
def half_moons(n_samples: int = 100, *, noise: float = 0.05, seed: int = 0) -> Dataset:
    """Two interleaved half circles in the plane (scikit-learn's), labeled.

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
    X, y = make_moons(n_samples, noise=noise, random_state=seed)
    labels = Labels("", y.astype(np.int64), ("upper", "lower"))
    return Dataset(X=X, labels=(labels,), name="half_moons")


@validate(n_samples=check.count, seed=check.seed)
def swiss_roll(n_samples: int = 500, *, noise: float = 0.0, seed: int = 0) -> Dataset:
    """Sample a rolled-up sheet in three dimensions (scikit-learn's).

    Parameters
    ----------
    n_samples, noise, seed : see `half_moons`
        Size, noise and source of randomness.

    Returns
    -------
    Dataset
        ``X`` (n_samples, 3); ``latent`` (n_samples, 2) the length along the roll and the height,
        isometric to the sheet; ``y`` the angle of the roll, for colors.
    """
    X, angle = make_swiss_roll(n_samples, noise=noise, random_state=seed)
    # Arc length of the spiral r = t from 0 to t.
    along = 0.5 * (angle * np.sqrt(1.0 + angle**2) + np.arcsinh(angle))
    latent = np.column_stack([along, X[:, 1]])
    return Dataset(X=X, labels=(Labels("", angle),), latent=latent, name="swiss_roll")


@validate(n_samples=check.count, n_features=check.count, seed=check.random_state)
def spike_counts(
    n_samples: int = 400, n_features: int = 60, *, mean_count: float = 3.0, seed: Seed = 0
) -> Dataset:
    """Simulate counts of neurons whose log rates are Gaussian processes over a path in the plane.

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
    variance = 0.5
    log_rate = gp_mapping(latent, n_features, variance=variance, seed=rng)
    # The mean of a log-normal rate is above the exponential of the mean.
    rates = np.exp(log_rate - 0.5 * variance) * positive("mean_count", mean_count)
    return Dataset(X=rng.poisson(rates).astype(np.float64), latent=latent, name="spike_counts")


def digits() -> Dataset:
    """Handwritten digits, 1797 images of 8 x 8, which scikit-learn brings along.

    Returns
    -------
    Dataset
        ``X`` (1797, 64), 0 to 16; ``y`` the digit.

    Examples
    --------
    >>> digits().X.shape
    (1797, 64)
    """
    images = load_digits()
    labels, shape = (Labels("", *encode_labels(images.target)),), images.images.shape[1:]
    return Dataset(images.data, labels, name="digits", image_shape=shape)
