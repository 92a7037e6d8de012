r"""The generative side of IKD: Gaussian-process likelihood of a latent, its gradient, the way back.

Every observed dimension x (one value per point) is a draw from N(0, A),
A = v K + n I, K_ij = f(|z_i - z_j|^2) (Li & Wu 2024, Eq. 1, with noise). With S = X X^T / N the
log likelihood of all N dimensions is

    log L = -N / 2 (T log 2 pi + log det A + tr(A^-1 S)),

so that only the T x T matrix S enters and the cost does not grow with N. With the rows of X centred
this is the likelihood at the best constant mean of every point.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg.lapack import dlauum, dpotrf, dpotrs, dtrtri
from scipy.optimize import minimize_scalar
from scipy.spatial.distance import cdist

from . import _jit
from ._validation import check_positive, check_symmetric
from .kernels import (
    GammaExponential,
    Matern,
    RationalQuadratic,
    SquaredExponential,
    StationaryKernel,
    get,
)

Floats = NDArray[np.float64]

__all__ = [
    "LikelihoodGradient",
    "Posterior",
    "expected_information",
    "fit_variances",
    "log_likelihood",
    "negative_log_likelihood_and_gradient",
    "posterior_mean",
    "sample_covariance",
    "shape_name",
]

_LOG_2PI = float(np.log(2.0 * np.pi))
_SMALL_TRIANGLE = 64
_FAMILIES = {SquaredExponential: 0, RationalQuadratic: 1, GammaExponential: 2, Matern: 3}
_NOT_POSITIVE = (
    "noise must be large enough to invert the covariance of the latent, got {!r}; "
    "a noise of 1e-6 times the variance is enough"
)


class LikelihoodGradient(NamedTuple):
    """Negative log likelihood per observed dimension and its derivatives."""

    value: float
    latent: Floats  # (n, m) derivative in every coordinate
    log_variance: float  # derivative in log v
    log_noise: float  # derivative in log n
    shape: float  # derivative in the kernel's alpha, gamma or nu; 0 where it was not asked for


class Posterior(NamedTuple):
    """Observations foreseen at new latent points."""

    mean: Floats  # (n_new, n_observed)
    std: Floats  # (n_new,) of one noise-free observation, the same in every observed dimension


def sample_covariance(rows: ArrayLike, centered: bool = True) -> Floats:
    """Covariance between points, S = X X^T / N, all that the likelihood sees of X.

    Parameters
    ----------
    rows : (n, n_observed) array_like of float64
        One point per row, one observed dimension per column.
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


def log_likelihood(
    latent: ArrayLike,
    sample_cov: ArrayLike,
    n_observed: int,
    kernel: str | StationaryKernel,
    variance: float = 1.0,
    noise: float = 0.0,
) -> float:
    """Log likelihood of all observed dimensions; divided by ``n_observed`` it is the mean of one.

    Parameters
    ----------
    latent : (n, m) array_like of float64
        Latent points Z.
    sample_cov : (n, n) array_like of float64
        S = X X^T / N, see `sample_covariance`.
    n_observed : int
        Number N of observed dimensions.
    kernel : str or StationaryKernel
        Kernel of the model.
    variance : float
        Signal variance v, in the units of S.
    noise : float
        Noise variance n, in the units of S.

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
    points, cov, kernel = _checked(latent, sample_cov, kernel, variance)
    model = variance * kernel.covariance(cdist(points, points, "sqeuclidean"))
    model.flat[:: len(model) + 1] += noise
    factor, failed = dpotrf(model.T, lower=1, overwrite_a=1)
    if failed:
        return -np.inf
    log_det = 2.0 * float(np.log(np.diagonal(factor)).sum())
    trace = float(np.trace(dpotrs(factor, np.asfortranarray(cov), lower=1)[0]))
    return -0.5 * n_observed * (len(points) * _LOG_2PI + log_det + trace)


def negative_log_likelihood_and_gradient(
    latent: Floats,
    sample_cov: Floats,
    kernel: StationaryKernel,
    variance: float,
    noise: float,
    *,
    shape: bool = False,
) -> LikelihoodGradient:
    r"""Negative log likelihood of one observed dimension, with its exact gradient.

    With G = 1/2 (A^-1 - A^-1 S A^-1) and f' the derivative of the kernel in the squared distance,
    dL/dz_i = 4 v sum_j G_ij f'(d_ij) (z_i - z_j), dL/dlog v = v sum(G * K), dL/dlog n = n tr G.

    Parameters
    ----------
    latent : (n, m) float64
        Latent points Z. Two points in the same place exert no force on one another: the kernels
        that are not differentiable there have a peak, whose mean slope is 0.
    sample_cov : (n, n) float64, symmetric
        S = X X^T / N. Not checked.
    kernel : StationaryKernel
        Kernel of the model.
    variance, noise : float
        Signal variance v > 0 and noise variance n > 0, in the units of S.
    shape : bool
        Also differentiate in the kernel's shape parameter (alpha, gamma or nu).

    Returns
    -------
    LikelihoodGradient
        The value is infinite, the derivatives 0, where A is not positive definite to working
        precision.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import gplvm, kernels
    >>> latent = np.array([[0.0], [1.0], [3.0]])
    >>> kernel = kernels.SquaredExponential()
    >>> cov = kernel.covariance((latent - latent.T) ** 2) + 0.1 * np.eye(3)
    >>> at = gplvm.negative_log_likelihood_and_gradient(latent, cov, kernel, 1.0, 0.1)
    >>> bool(np.abs(at.latent).max() < 1e-12)
    True
    """
    cov, change = _covariances(latent, kernel)
    model = variance * cov
    model.flat[:: len(model) + 1] += noise
    factor, failed = dpotrf(model.T, lower=1, overwrite_a=1)
    if failed:
        return LikelihoodGradient(np.inf, np.zeros_like(latent), 0.0, 0.0, 0.0)
    log_det = 2.0 * float(np.log(np.diagonal(factor)).sum())
    inverse = _inverse(factor)
    whitened = inverse @ sample_cov
    trace = float(np.trace(whitened))
    by_cov = whitened @ inverse
    np.subtract(inverse, by_cov, out=by_cov)
    by_cov *= 0.5

    value = 0.5 * (len(latent) * _LOG_2PI + log_det + trace)
    by_noise = noise * float(np.trace(by_cov))
    by_variance = variance * float(np.vdot(by_cov, cov))
    by_latent = np.empty_like(latent)
    _jit.likelihood.forces(latent, change, by_cov, 4.0 * variance, by_latent)
    by_shape = 0.0
    if shape:
        sq_dist = cdist(latent, latent, "sqeuclidean")
        by_shape = variance * float(np.vdot(by_cov, _shape_derivative(kernel, sq_dist)))
    return LikelihoodGradient(value, by_latent, by_variance, by_noise, by_shape)


def expected_information(
    latent: Floats, kernel: StationaryKernel, variance: float, noise: float
) -> Floats:
    r"""Expected information that one observed dimension carries of latent and variances.

    For parameters a and b it is 1/2 tr(A^-1 dA/da A^-1 dA/db). A move of point i along axis c
    changes row and column i of A by u_ic, with entries 2 v f'(d_ij) (z_ic - z_jc), so that

        I(ic, je) = A^-1_ij u_ic^T A^-1 u_je + (A^-1 u_ic)_j (A^-1 u_je)_i,

    which takes products of (n m, n) matrices. Unlike the curvature it is never indefinite.

    Parameters
    ----------
    latent : (n, m) float64
        Latent points Z.
    kernel : StationaryKernel
        Kernel of the model.
    variance, noise : float
        Signal variance v > 0 and noise variance n > 0.

    Returns
    -------
    (n m + 2, n m + 2) ndarray of float64, symmetric
        Coordinates row by row, then log v, then log n.

    Raises
    ------
    ValueError
        If A is not positive definite to working precision.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import gplvm, kernels
    >>> latent = np.array([[0.0], [1.0], [3.0]])
    >>> known = gplvm.expected_information(latent, kernels.Matern(), 1.0, 0.1)
    >>> known.shape
    (5, 5)
    """
    n, m = latent.shape
    size = n * m
    cov, change = _covariances(latent, kernel)
    signal = variance * cov
    model = signal.copy()
    model.flat[:: n + 1] += noise
    factor, failed = dpotrf(model.T, lower=1, overwrite_a=1)
    if failed:
        raise ValueError(_NOT_POSITIVE.format(noise))
    inverse = _inverse(factor)
    moves = np.empty((size, n))
    _jit.likelihood.moves(latent, change, variance, moves)
    through = moves @ inverse
    out = np.empty((size + 2, size + 2))
    _jit.likelihood.information(inverse, through, moves @ through.T, m, out)
    by_signal, by_noise = inverse @ signal, noise * inverse
    # Point i meets row i of A^-1 dA A^-1, once from its row of A and once from its column.
    by_point = moves.reshape(n, m, n)
    out[size, :size] = np.einsum("ij,icj->ic", by_signal @ inverse, by_point).ravel()
    out[size + 1, :size] = np.einsum("ij,icj->ic", by_noise @ inverse, by_point).ravel()
    out[size, size] = 0.5 * np.vdot(by_signal, by_signal.T)
    out[size + 1, size] = 0.5 * np.vdot(by_signal, by_noise)
    out[size + 1, size + 1] = 0.5 * np.vdot(by_noise, by_noise)
    _jit.likelihood.mirror(out)
    return out


def fit_variances(
    latent: ArrayLike,
    sample_cov: ArrayLike,
    n_observed: int,
    kernel: str | StationaryKernel,
) -> tuple[float, float, float]:
    """Signal and noise variance under which a latent is likeliest.

    One eigendecomposition of K turns the likelihood of v (K + r I) into sums over eigenvalues; the
    best v for a ratio r is in closed form, and r is searched on a line.

    Parameters
    ----------
    latent : (n, m) array_like of float64
        Latent points Z.
    sample_cov : (n, n) array_like of float64
        S = X X^T / N, see `sample_covariance`.
    n_observed : int
        Number N of observed dimensions.
    kernel : str or StationaryKernel
        Kernel of the model.

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
    points, cov, kernel = _checked(latent, sample_cov, kernel, 1.0)
    n = len(points)
    values, vectors = np.linalg.eigh(kernel.covariance(cdist(points, points, "sqeuclidean")))
    values = np.maximum(values, 0.0)
    power = np.einsum("ij,ij->j", vectors, cov @ vectors)

    def cost(log_ratio: float) -> float:
        shifted = values + np.exp(log_ratio)
        return n * float(np.log(np.mean(power / shifted))) + float(np.log(shifted).sum())

    log_ratio = float(minimize_scalar(cost, bounds=(-18.0, 7.0), method="bounded").x)
    variance = float(np.mean(power / (values + np.exp(log_ratio))))
    total = n * (_LOG_2PI + 1.0) + n * np.log(variance)
    total += float(np.log(values + np.exp(log_ratio)).sum())
    return variance, variance * float(np.exp(log_ratio)), -0.5 * n_observed * float(total)


def posterior_mean(
    latent_new: ArrayLike,
    latent: ArrayLike,
    rows: ArrayLike,
    kernel: str | StationaryKernel,
    variance: float = 1.0,
    noise: float = 0.0,
) -> Posterior:
    """Observations of new latent points: the Gaussian-process posterior given the training rows.

    Parameters
    ----------
    latent_new : (n_new, m) array_like of float64
        Where to foresee.
    latent : (n, m) array_like of float64
        Latent points of the training rows.
    rows : (n, n_observed) array_like of float64
        Training rows, centred if the model was fitted to centred rows.
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
    kernel = get(kernel)
    check_positive("variance", variance)
    model = variance * kernel.covariance(cdist(points, points, "sqeuclidean"))
    model.flat[:: len(model) + 1] += noise + 1e-10 * variance
    across = variance * kernel.covariance(cdist(fresh, points, "sqeuclidean"))
    factor, failed = dpotrf(model.T, lower=1, overwrite_a=1)
    if failed:
        raise ValueError(_NOT_POSITIVE.format(noise))
    weights, _ = dpotrs(factor, np.asfortranarray(across.T), lower=1)
    explained = np.einsum("ij,ji->i", across, weights)
    std = np.sqrt(np.maximum(variance - explained, 0.0))
    return Posterior(weights.T @ np.asarray(rows, dtype=np.float64), std)


def shape_name(kernel: StationaryKernel) -> str | None:
    """Name of the kernel's shape parameter.

    Parameters
    ----------
    kernel : StationaryKernel
        The kernel.

    Returns
    -------
    str or None
        ``alpha``, ``gamma`` or ``nu``; None if the kernel has no parameter but its length-scale.

    Examples
    --------
    >>> from ikd_graph import gplvm, kernels
    >>> gplvm.shape_name(kernels.Matern())
    'nu'
    """
    names = [field.name for field in fields(kernel) if field.name != "length_scale"]
    return names[0] if names else None


def _checked(
    latent: ArrayLike, sample_cov: ArrayLike, kernel: str | StationaryKernel, variance: float
) -> tuple[Floats, Floats, StationaryKernel]:
    """Latent, covariance and kernel that fit one another."""
    points = np.asarray(latent, dtype=np.float64)
    cov = np.asarray(sample_cov, dtype=np.float64)
    check_symmetric("sample_cov", cov)
    check_positive("variance", variance)
    if points.ndim != 2 or len(points) != len(cov):
        raise ValueError(
            f"latent must have one row per row of sample_cov, got shape {points.shape} for "
            f"{cov.shape}; both describe the same points"
        )
    return points, cov, get(kernel)


def _covariances(latent: Floats, kernel: StationaryKernel) -> tuple[Floats, Floats]:
    """Covariance of every pair and its derivative in the squared distance; 0 for a pair in one."""
    points = np.ascontiguousarray(latent)
    n = len(points)
    cov, change = np.empty((n, n)), np.empty((n, n))
    family = _FAMILIES.get(type(kernel))
    name = shape_name(kernel)
    shape = 1.0 if name is None else float(getattr(kernel, name))
    if family is not None and (family != _FAMILIES[Matern] or shape in (0.5, 1.5, 2.5)):
        length = kernel.length_scale**2
        _jit.likelihood.covariances(points, family, shape, length, cov, change)
        return cov, change
    sq_dist = cdist(points, points, "sqeuclidean")
    together = sq_dist == 0.0
    # Distance 1 stands in for 0, where the slope of some kernels is infinite.
    change = kernel.derivative(np.where(together, 1.0, sq_dist))
    change[together] = 0.0
    return kernel.covariance(sq_dist), change


def _inverse(factor: Floats) -> Floats:
    """Inverse of a matrix from its lower Cholesky factor, both triangles."""
    product, _ = dlauum(_triangular_inverse(factor), lower=1, overwrite_c=1)
    inverse = np.asarray(product.T)
    _jit.likelihood.mirror_upper(inverse)
    return inverse


def _triangular_inverse(factor: Floats) -> Floats:
    """Inverse of a lower triangle, by halves: LAPACK's own is slow beyond some tens of rows."""
    n = len(factor)
    if n <= _SMALL_TRIANGLE:
        return np.asarray(dtrtri(factor, lower=1)[0])
    half = n // 2
    out = np.zeros((n, n), order="F")
    out[:half, :half] = _triangular_inverse(factor[:half, :half])
    out[half:, half:] = _triangular_inverse(factor[half:, half:])
    out[half:, :half] = -out[half:, half:] @ (factor[half:, :half] @ out[:half, :half])
    return out


def _shape_derivative(kernel: StationaryKernel, sq_dist: Floats) -> Floats:
    """Derivative of the covariance in the shape parameter, at every distance; 0 if it has none."""
    scaled = sq_dist / kernel.length_scale**2
    if isinstance(kernel, RationalQuadratic):
        part = scaled / (2.0 * kernel.alpha)
        return kernel.covariance(sq_dist) * (part / (1.0 + part) - np.log1p(part))
    if isinstance(kernel, GammaExponential):
        power = scaled ** (kernel.gamma / 2.0)
        logs = np.log(np.where(scaled > 0.0, scaled, 1.0))
        return -0.5 * np.exp(-power) * power * logs
    name = shape_name(kernel)
    if name is None:
        return np.zeros_like(sq_dist)
    # A Bessel function has no closed derivative in its order: five points, error step^4.
    centre = getattr(kernel, name)
    step = 1e-3 * centre

    def at(shift: float) -> Floats:
        return replace(kernel, **{name: centre + shift * step}).covariance(sq_dist)

    return (8.0 * (at(1.0) - at(-1.0)) - (at(2.0) - at(-2.0))) / (12.0 * step)
