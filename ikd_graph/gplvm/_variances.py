"""Likelihood of an embedding and of its variances, with the gradient."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar
from scipy.spatial.distance import cdist

from .._base import limits
from .._base import validation as check
from .._base.table import evenly_spaced
from .._base.types import Floats
from .._base.validation import validate
from ..kernels import StationaryKernel, as_kernel
from ._likelihood import LOG_2PI, ColumnGroup, GroupLikelihood, SampleLikelihood, column_groups

# The length-scale is chosen on this logarithmic line.
_LOG_SCALES = (-4.0, 1.5)


@validate(rows=check.table, centered=check.flag)
def sample_covariance(rows: ArrayLike, centered: bool = True) -> Floats:
    """Covariance between points, S = X X^T / N, all that the likelihood sees of X.

    Parameters
    ----------
    rows : (n, n_observed) array_like of float64
        One point per row, one column per column.
    centered : bool
        Take the mean off every row first.

    Returns
    -------
    (n, n) ndarray of float64
        Symmetric to the last bit.

    Examples
    --------
    >>> from ikd_graph import gplvm
    >>> gplvm.sample_covariance([[1.0, 3.0], [2.0, 0.0]])
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    values = np.asarray(rows, dtype=np.float64)
    if centered:
        values = values - values.mean(axis=1, keepdims=True)
    product = values @ values.T / values.shape[1]
    return 0.5 * (product + product.T)


def _check_points(latent: Floats, sample_cov: Floats, **_: object) -> None:
    """Raise unless an embedding and a covariance are of the same points."""
    if len(latent) != len(sample_cov):
        raise ValueError(
            f"latent must have one row per row of sample_cov, got shape {latent.shape} for "
            f"{sample_cov.shape}; both describe the same points"
        )


@validate(
    _check_points,
    latent=check.table,
    sample_cov=check.symmetric,
    n_observed=check.count,
    kernel=as_kernel,
    variance=check.positive,
    noise=check.not_negative,
)
def log_likelihood(
    latent: Floats,
    sample_cov: Floats,
    n_observed: int,
    kernel: StationaryKernel,
    variance: float = 1.0,
    noise: float = 0.0,
) -> float:
    """Log likelihood of all columns; divided by ``n_observed`` it is the mean of one.

    Parameters
    ----------
    latent : (n, m) array_like of float64
        Latent points Z.
    sample_cov : (n, n) array_like of float64
        S = X X^T / N, see `sample_covariance`.
    n_observed : int
        Number N of columns.
    kernel : str or StationaryKernel
        Kernel of the model.
    variance, noise : float
        Signal variance v and noise variance n, in the units of S.

    Returns
    -------
    float
        Sum over dimensions of log N(x; 0, v K + n I); minus infinity where v K + n I is not
        positive definite to working precision.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import gplvm
    >>> rows = np.random.default_rng(0).standard_normal((3, 50))
    >>> latent = np.array([[0.0], [5.0], [10.0]])
    >>> cov = gplvm.sample_covariance(rows, centered=False)
    >>> round(gplvm.log_likelihood(latent, cov, 50, "squared_exponential", 1.0, 0.1) / 50, 3)
    -4.158
    """
    return -n_observed * SampleLikelihood(sample_cov)(latent, kernel, variance, noise).value


@validate(
    _check_points,
    latent=check.table,
    sample_cov=check.symmetric,
    n_observed=check.count,
    kernel=as_kernel,
)
def fit_variances(
    latent: Floats, sample_cov: Floats, n_observed: int, kernel: StationaryKernel
) -> tuple[float, float, float]:
    """Signal and noise variance under which an embedding is most likely.

    One eigendecomposition of K turns the likelihood of v (K + r I) into sums over eigenvalues; the
    best v for a ratio r is in closed form, and r is searched on a line.

    Parameters
    ----------
    latent, sample_cov, n_observed, kernel : see `log_likelihood`
        What is given.

    Returns
    -------
    variance, noise : float
        Signal and noise variance, in the units of S.
    log_likelihood : float
        As `log_likelihood`.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import gplvm
    >>> rows = 3.0 * np.random.default_rng(0).standard_normal((40, 500))
    >>> latent = 100.0 * np.arange(40.0)[:, None]
    >>> variance, noise, _ = gplvm.fit_variances(latent, rows @ rows.T / 500, 500, "matern")
    >>> bool(8.5 < variance + noise < 9.5)
    True
    """
    groups = SampleLikelihood(sample_cov).groups
    variance, noise, value = fit_group_variances(latent, groups, kernel)
    return variance, noise, -n_observed * value


def known_log_likelihood(
    table: NDArray[np.floating],
    latent: Floats,
    kernel: StationaryKernel,
    variance: float,
    noise: float,
) -> float:
    """Log likelihood of the known entries of a table at given coordinates."""
    likelihood = GroupLikelihood(column_groups(table), len(table))
    n_columns = np.count_nonzero(np.isfinite(table).any(axis=0))
    return -n_columns * likelihood(latent, kernel, variance, noise).value


def fit_group_variances(
    latent: Floats, groups: Sequence[ColumnGroup], kernel: StationaryKernel
) -> tuple[float, float, float]:
    """Variances as `fit_variances` fits them, and the negative log likelihood of one column."""
    cov = kernel.covariance(cdist(latent, latent, "sqeuclidean"))
    parts = []
    for group in groups:
        spectrum, vectors = np.linalg.eigh(cov[group.block])
        power = np.sum((vectors.T @ group.root) ** 2, axis=1)
        parts.append((np.maximum(spectrum, 0.0), power, np.full(power.size, group.weight)))
    values, power, weights = (np.concatenate(each) for each in zip(*parts, strict=True))
    total = float(weights.sum())

    def scale(log_ratio: float) -> float:
        # Rows that do not vary have none, and a likelihood without bound.
        variance = float(np.sum(power / (values + np.exp(log_ratio)))) / total
        return max(variance, float(np.finfo(np.float64).tiny))

    def cost(log_ratio: float) -> float:
        log_det = float(weights @ np.log(values + np.exp(log_ratio)))
        return total * float(np.log(scale(log_ratio))) + log_det

    log_ratio = float(minimize_scalar(cost, bounds=(-18.0, 7.0), method="bounded").x)
    variance = scale(log_ratio)
    value = 0.5 * (total * (LOG_2PI + 1.0) + cost(log_ratio))
    return variance, variance * float(np.exp(log_ratio)), value


class NoiseModel(NamedTuple):
    """Variances and kernel of the Gaussian process of an embedding."""

    variance: float  # signal variance, in units of X squared
    noise: float  # noise variance, in units of X squared
    log_likelihood: float  # of all columns
    kernel: StationaryKernel  # with the length-scale of the embedding


@validate(latent=check.table, kernel=as_kernel)
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
    if len(rows) != len(latent):
        raise ValueError(
            f"rows must be as many as the points of latent, got {len(rows)} for {len(latent)}"
        )
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
