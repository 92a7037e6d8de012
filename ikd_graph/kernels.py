r"""Stationary kernels: covariance, its inverse and its derivative in the squared distance.

Every kernel is a function f of the squared distance between two latent points, with f(0) = 1, and
is strictly decreasing, so that a covariance tells a distance (Li & Wu 2024, Table 1). The marginal
variance is not a kernel's parameter here: covariances are divided by it before they are inverted.

The ARD kernel, exp(-1/2 sum_m (z_m - z'_m)^2 / l_m^2), and the Gaussian kernel,
exp(-1/2 (z - z')^T L^{-1} (z - z')), are the squared exponential after the affine map
z -> L^{-1/2} z (Section 2.3): solve with `SquaredExponential()` and hand the latent to
`apply_metric` to have it in the units of L.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gamma, kve

from ._validation import check_kernel, check_positive, check_symmetric

Floats = NDArray[np.float64]

__all__ = [
    "GammaExponential",
    "Matern",
    "RationalQuadratic",
    "SquaredExponential",
    "StationaryKernel",
    "apply_metric",
    "get",
]


@dataclass(frozen=True, kw_only=True)
class StationaryKernel:
    """A kernel of unit variance, a function of the squared distance over ``length_scale`` squared.

    Subclasses give the function f of the scaled squared distance, its inverse and its derivative.
    """

    length_scale: float = 1.0

    def __post_init__(self) -> None:
        for field in fields(self):
            high = 2.0 if field.name == "gamma" else np.inf
            check_positive(field.name, getattr(self, field.name), high)

    def covariance(self, sq_dist: ArrayLike) -> Floats:
        """Covariance of two points at a squared distance.

        Parameters
        ----------
        sq_dist : array_like of float64
            Squared latent distances, any shape, >= 0.

        Returns
        -------
        ndarray of float64
            Values in (0, 1], the same shape.
        """
        return self._f(np.asarray(sq_dist, dtype=np.float64) / self.length_scale**2)

    def sq_distance(self, cov: ArrayLike) -> Floats:
        """Squared distance of two points with a covariance: the inverse of `covariance`.

        Parameters
        ----------
        cov : array_like of float64
            Covariances in (0, 1], any shape.

        Returns
        -------
        ndarray of float64
            Squared latent distances, the same shape.

        Raises
        ------
        ValueError
            If a value lies outside (0, 1] or is not a number.
        """
        values = np.asarray(cov, dtype=np.float64)
        lowest, highest = values.min(initial=1.0), values.max(initial=1.0)
        # Written so that NaN fails too.
        if not (lowest > 0.0 and highest <= 1.0):
            outside = int(np.count_nonzero(~((values > 0.0) & (values <= 1.0))))
            raise ValueError(
                f"covariances must lie in (0, 1] to be inverted, got {outside} outside, from "
                f"{np.nanmin(values):.3g} to {np.nanmax(values):.3g}; divide by the variance and "
                "threshold or clip them first"
            )
        return self._f_inverse(values) * self.length_scale**2

    def derivative(self, sq_dist: ArrayLike) -> Floats:
        """Derivative of the covariance in the squared distance.

        Parameters
        ----------
        sq_dist : array_like of float64
            Squared latent distances, any shape, >= 0.

        Returns
        -------
        ndarray of float64
            Negative values, the same shape; minus infinity at 0 for kernels that are not
            differentiable there (gamma < 2, nu <= 1).
        """
        scaled = np.asarray(sq_dist, dtype=np.float64) / self.length_scale**2
        return self._f_prime(scaled) / self.length_scale**2

    def _f(self, d: Floats) -> Floats:
        raise NotImplementedError

    def _f_inverse(self, k: Floats) -> Floats:
        raise NotImplementedError

    def _f_prime(self, d: Floats) -> Floats:
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class SquaredExponential(StationaryKernel):
    r"""f(d) = exp(-d / 2), with d = \|z - z'\|² / ℓ².

    Parameters
    ----------
    length_scale : float
        ℓ > 0, the unit of the latent.

    Examples
    --------
    >>> from ikd_graph.kernels import SquaredExponential
    >>> kernel = SquaredExponential(length_scale=2.0)
    >>> float(kernel.sq_distance(kernel.covariance(3.0)).round(12))
    3.0
    """

    def _f(self, d: Floats) -> Floats:
        return np.exp(-0.5 * d)

    def _f_inverse(self, k: Floats) -> Floats:
        # abs: so that k = 1 gives 0, not -0.
        return np.abs(-2.0 * np.log(k))

    def _f_prime(self, d: Floats) -> Floats:
        return -0.5 * np.exp(-0.5 * d)


@dataclass(frozen=True, kw_only=True)
class RationalQuadratic(StationaryKernel):
    r"""f(d) = (1 + d / (2 α))^(-α), with d = \|z - z'\|² / ℓ².

    Parameters
    ----------
    length_scale : float
        ℓ > 0, the unit of the latent.
    alpha : float
        α > 0; the squared exponential is the limit of large α.

    Examples
    --------
    >>> from ikd_graph.kernels import RationalQuadratic
    >>> float(RationalQuadratic(alpha=1.0).covariance(2.0))
    0.5
    """

    alpha: float = 1.0

    def _f(self, d: Floats) -> Floats:
        return np.exp(-self.alpha * np.log1p(d / (2.0 * self.alpha)))

    def _f_inverse(self, k: Floats) -> Floats:
        return np.abs(2.0 * self.alpha * np.expm1(-np.log(k) / self.alpha))

    def _f_prime(self, d: Floats) -> Floats:
        return -0.5 * np.exp(-(self.alpha + 1.0) * np.log1p(d / (2.0 * self.alpha)))


@dataclass(frozen=True, kw_only=True)
class GammaExponential(StationaryKernel):
    r"""f(d) = exp(-d^(γ/2)), with d = \|z - z'\|² / ℓ².

    Parameters
    ----------
    length_scale : float
        ℓ > 0, the unit of the latent.
    gamma : float
        0 < γ <= 2; γ = 1 is the Ornstein-Uhlenbeck kernel exp(-r).

    Examples
    --------
    >>> from ikd_graph.kernels import GammaExponential
    >>> bool(GammaExponential(gamma=1.0).sq_distance(1.0) == 0.0)
    True
    """

    gamma: float = 1.0

    def _f(self, d: Floats) -> Floats:
        return np.exp(-(d ** (self.gamma / 2.0)))

    def _f_inverse(self, k: Floats) -> Floats:
        return np.abs(np.log(k)) ** (2.0 / self.gamma)

    def _f_prime(self, d: Floats) -> Floats:
        half = self.gamma / 2.0
        with np.errstate(divide="ignore"):
            return -half * d ** (half - 1.0) * self._f(d)


@dataclass(frozen=True, kw_only=True)
class Matern(StationaryKernel):
    r"""f(d) = 2^(1-ν) / Γ(ν) · x^ν K_ν(x), x = (2 ν d)^(1/2), with d = \|z - z'\|² / ℓ².

    Closed forms for ν = 1/2, 3/2, 5/2; any other ν starts from the Bessel function of an order in
    (1/2, 3/2] and climbs by the stable recurrence of ratios, so that no order overflows.

    Parameters
    ----------
    length_scale : float
        ℓ > 0, the unit of the latent.
    nu : float
        ν > 0, the smoothness; the squared exponential is the limit of large ν.

    Examples
    --------
    >>> from ikd_graph.kernels import Matern
    >>> kernel = Matern(nu=0.8)
    >>> float(kernel.sq_distance(kernel.covariance(4.0)).round(9))
    4.0
    """

    nu: float = 1.5

    def _f(self, d: Floats) -> Floats:
        x = np.sqrt(2.0 * self.nu * d)
        if self.nu == 0.5:
            return np.exp(-x)
        if self.nu == 1.5:
            return (1.0 + x) * np.exp(-x)
        if self.nu == 2.5:
            return (1.0 + x * (1.0 + x / 3.0)) * np.exp(-x)
        return self._climb(x)[0]

    def _f_prime(self, d: Floats) -> Floats:
        x = np.sqrt(2.0 * self.nu * d)
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.nu == 0.5:
                return -0.5 * np.exp(-x) / x
            if self.nu == 1.5:
                return -1.5 * np.exp(-x)
            if self.nu == 2.5:
                return -(5.0 / 6.0) * (1.0 + x) * np.exp(-x)
            value, ratio_times_x = self._climb(x)
            # d/dx (x^nu K_nu) = -x^nu K_(nu-1), and dx/dd = nu / x.
            slope = -self.nu * value / ratio_times_x
        at_zero = -self.nu / (2.0 * (self.nu - 1.0)) if self.nu > 1.0 else -np.inf
        return np.where(d == 0.0, at_zero, slope)

    def _climb(self, x: Floats) -> tuple[Floats, Floats]:
        """f and x K_nu(x) / K_(nu-1)(x), from the lowest order up.

        With g_nu(x) = 2^(1-nu) / Gamma(nu) x^nu K_nu(x) and q_nu = x K_nu / K_(nu-1), the
        three-term recurrence of K reads q_(nu+1) = 2 nu + x^2 / q_nu and
        g_(nu+1) = g_nu q_(nu+1) / (2 nu): positive terms only.
        """
        steps = max(int(np.ceil(self.nu - 1.5)), 0)
        order = self.nu - steps
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            bessel = kve(order, x)
            value = np.minimum(
                2.0 ** (1.0 - order) / gamma(order) * x**order * bessel * np.exp(-x), 1.0
            )
            ratio = x * bessel / kve(order - 1.0, x)
        # K overflows just above 0, where f has reached its limit 1 to the last bit or nearly so.
        tiny = ~np.isfinite(bessel)
        value = np.where(tiny, 1.0, value)
        ratio = np.where(np.isfinite(ratio), ratio, 2.0 * max(order - 1.0, 0.0))
        for step in range(steps):
            below = order + step
            with np.errstate(divide="ignore", invalid="ignore"):
                ratio = 2.0 * below + np.where(x > 0.0, x * x / ratio, 0.0)
            value = value * ratio / (2.0 * below)
        return np.where(tiny, 1.0, value), ratio

    def _f_inverse(self, k: Floats) -> Floats:
        if self.nu == 0.5:
            return np.log(k) ** 2
        flat = np.ascontiguousarray(k).ravel()
        out = np.empty_like(flat)
        table = _inverse_table(self.nu)
        # Chunks that stay in cache: the table look-up gathers at random.
        for start in range(0, flat.size, 16384):
            part = slice(start, start + 16384)
            out[part] = self._solve(flat[part], table)
        return out.reshape(k.shape)

    def _solve(self, k: Floats, table: _InverseTable) -> Floats:
        """Distances of one chunk: the table, then a Newton step where f is cheap."""
        depth = -np.log(k)
        with np.errstate(divide="ignore"):
            u = np.log(depth)
        d = np.exp(table(u))
        if self.nu in (1.5, 2.5):
            # Newton on log f, in which f is nearly linear: log f(d) + depth = 0.
            x = np.sqrt(2.0 * self.nu * d)
            if self.nu == 1.5:
                d += 2.0 / 3.0 * (np.log1p(x) - x + depth) * (1.0 + x)
            else:
                poly = x * (1.0 + x / 3.0)
                d += 1.2 * (np.log1p(poly) - x + depth) * (1.0 + poly) / (1.0 + x)
        return np.where(depth > 0.0, np.maximum(d, 0.0), 0.0)


class _InverseTable(NamedTuple):
    """Piecewise cubic of log d over u = log(-log f), on a uniform grid, linear beyond its ends.

    log d is nearly linear in u at both ends (slope 1 / min(nu, 1) towards 0, slope 2 towards
    infinity), which is what makes a uniform grid enough.
    """

    start: float
    step: float
    coefficients: Floats  # (n_cells, 4), highest power first, in units of the cell

    def __call__(self, u: Floats) -> Floats:
        position = (u - self.start) / self.step
        np.nan_to_num(position, copy=False, neginf=-1e6)
        cell = np.clip(position.astype(np.int64), 0, len(self.coefficients) - 1)
        t = position - cell
        c3, c2, c1, c0 = self.coefficients[cell].T
        inner = ((c3 * t + c2) * t + c1) * t + c0
        low, high = t < 0.0, t > 1.0
        if low.any():
            inner[low] = (c1 * t + c0)[low]
        if high.any():
            top = c3 + c2 + c1 + c0 + (3.0 * c3 + 2.0 * c2 + c1) * (t - 1.0)
            inner[high] = top[high]
        return inner


@lru_cache(maxsize=64)
def _inverse_table(nu: float, n_cells: int = 16384) -> _InverseTable:
    """Table of the inverse of a Matern kernel, exact at its nodes."""
    kernel = Matern(nu=nu)
    # From distances whose covariance is 1 - 1e-12 to covariances that underflow.
    lowest = -28.0 / min(nu, 1.0)
    highest = np.log(750.0**2 / (2.0 * nu) + 750.0)
    coarse = np.linspace(lowest, highest, 4 * n_cells)
    with np.errstate(divide="ignore"):
        u = np.log(-np.log(kernel._f(np.exp(coarse))))
    good = np.isfinite(u)
    good &= np.maximum.accumulate(np.where(good, u, -np.inf)) == u
    nodes = np.linspace(max(u[good][0], -27.0), u[good][-1], n_cells + 1)
    log_d = np.interp(nodes, u[good], coarse[good])
    slope = np.ones_like(log_d)
    for _ in range(4):  # Newton at the nodes; the last round leaves the slopes of the result
        d = np.exp(log_d)
        value = kernel._f(d)
        with np.errstate(divide="ignore", invalid="ignore"):
            depth = -np.log(value)
            slope = depth * value / (-kernel._f_prime(d) * d)  # d log d / d u
            move = (nodes - np.log(depth)) * slope
        log_d += np.where(np.isfinite(move), np.clip(move, -0.1, 0.1), 0.0)
    step = nodes[1] - nodes[0]
    left, right = log_d[:-1], log_d[1:]
    s0, s1 = slope[:-1] * step, slope[1:] * step
    rise = right - left
    cubic = np.column_stack([s0 + s1 - 2.0 * rise, 3.0 * rise - 2.0 * s0 - s1, s0, left])
    return _InverseTable(float(nodes[0]), float(step), cubic)


KERNELS: dict[str, type[StationaryKernel]] = {
    "squared_exponential": SquaredExponential,
    "rational_quadratic": RationalQuadratic,
    "gamma_exponential": GammaExponential,
    "matern": Matern,
}


def get(kernel: str | StationaryKernel) -> StationaryKernel:
    """Kernel of a name, or the kernel itself.

    Parameters
    ----------
    kernel : str or StationaryKernel
        One of ``squared_exponential``, ``rational_quadratic``, ``gamma_exponential``, ``matern``
        (each with its default parameters), or an instance.

    Returns
    -------
    StationaryKernel
        The kernel.

    Raises
    ------
    ValueError
        If the name is not known.

    Examples
    --------
    >>> from ikd_graph import kernels
    >>> kernels.get("matern")
    Matern(length_scale=1.0, nu=1.5)
    """
    if isinstance(kernel, StationaryKernel):
        return kernel
    check_kernel(kernel, KERNELS)
    return KERNELS[kernel]()


def apply_metric(latent: ArrayLike, metric: ArrayLike) -> Floats:
    """Latent of an ARD or a Gaussian kernel, from the latent of the squared exponential.

    Both kernels see the latent through L^(-1/2) (Li & Wu 2024, Section 2.3), so what the squared
    exponential with ``length_scale=1`` returns has to go through L^(1/2).

    Parameters
    ----------
    latent : (n, m) array_like of float64
        Latent in the units of the kernel.
    metric : (m,) or (m, m) array_like of float64
        Squared length-scales l_m^2 of an ARD kernel, or the symmetric positive definite matrix L
        of a Gaussian kernel.

    Returns
    -------
    (n, m) ndarray of float64
        ``latent @ L^(1/2)``.

    Raises
    ------
    ValueError
        If the metric does not fit the latent or is not symmetric positive definite.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import kernels
    >>> kernels.apply_metric(np.eye(2), [4.0, 9.0])
    array([[2., 0.],
           [0., 3.]])
    """
    points = np.asarray(latent, dtype=np.float64)
    matrix = np.asarray(metric, dtype=np.float64)
    if matrix.ndim == 1:
        matrix = np.diag(matrix)
    n_columns = points.shape[1] if points.ndim == 2 else -1
    if matrix.shape != (n_columns, n_columns):
        raise ValueError(
            f"metric must have one row per latent dimension, got shape {np.shape(metric)} for a "
            f"latent of shape {points.shape}; pass (m,) squared length-scales or an (m, m) matrix"
        )
    check_symmetric("metric", matrix)
    values, vectors = np.linalg.eigh(matrix)
    if not values[0] > 0.0:
        raise ValueError(
            f"metric must be positive definite, got a smallest eigenvalue of {values[0]:.3g}; "
            "squared length-scales are positive"
        )
    return points @ (vectors * np.sqrt(values)) @ vectors.T
