r"""Stationary kernels: covariance, its inverse and its derivative in the squared distance.

Every kernel is a function f of the squared distance between two latent points, with f(0) = 1, and
is strictly decreasing, so that a covariance tells a distance (Li & Wu 2024, Table 1). The marginal
variance is not a kernel's parameter here: covariances are divided by it before they are inverted.

The ARD kernel, exp(-1/2 sum_m (z_m - z'_m)^2 / l_m^2), and the Gaussian kernel,
exp(-1/2 (z - z')^T L^{-1} (z - z')), are the squared exponential after the affine map
z -> L^{-1/2} z (Section 2.3): solve with `SquaredExponential()`. A covariance leaves the rotation
of a latent open, so it does not tell coordinates in the units of L: the true latent is Z R L^{1/2}
for an orthogonal R, which must be known from elsewhere (a rigid fit to points of known place).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import CubicHermiteSpline
from scipy.spatial.distance import cdist
from scipy.special import gammaln, kve

from ._base.types import Floats
from ._base.validation import one_of, positive, real

__all__ = [
    "GammaExponential", "Matern", "RationalQuadratic", "SquaredExponential", "StationaryKernel",
    "get",
]  # fmt: skip

_FARTHEST = 1e60  # largest scaled squared distance: its square does not overflow
_LONGEST = 1e74  # largest length-scale: its fourth power, of 1e6 points, does not overflow

_up_to_2 = real("be in (0, 2]", lambda x: 0.0 < x <= 2.0)

_CLOSED: dict[float, Callable[[Floats], Any]] = {
    -0.5: lambda x: -1.0 / x,
    0.5: lambda x: 1.0,
    1.5: lambda x: 1.0 + x,
    2.5: lambda x: 1.0 + x * (1.0 + x / 3.0),
}
"""Factor of exp(-x) in 2^(1-ν) / Γ(ν) x^ν K_ν(x), for x > 0, of the orders in closed form."""

_SMOOTHEST = 50.0
"""Largest order: from about there on Bessel functions overflow where covariances are below 1."""

_SHALLOWEST = 1e-18
"""Smallest -log f in the table of a kernel; below it a power law is exact to rounding."""

_DENSE = -7.0
"""Logarithm of x from which the table of a kernel is dense: below, -log f is nearly a power."""

_LARGEST = 1e8
"""Largest x in the table of a kernel, where -log f is x to seven digits."""


@dataclass(frozen=True, kw_only=True)
class StationaryKernel:
    """A kernel of unit variance, a function of the squared distance over ``length_scale`` squared.

    Subclasses give the function f of the scaled squared distance, its inverse as a function of
    -log f, and its derivative: ``_f``, ``_inverse_of_log`` and ``_f_prime``.
    """

    shape_name: ClassVar[str | None] = None
    """Name of the parameter next to ``length_scale`` that can be fitted; None without one."""

    _f: ClassVar[Callable[..., Floats]]
    _f_prime: ClassVar[Callable[..., Floats]]
    _inverse_of_log: ClassVar[Callable[..., Floats]]

    length_scale: float = 1.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            (_up_to_2 if name == "gamma" else positive)(name, value)
        if not 1.0 / _LONGEST <= self.length_scale <= _LONGEST:
            raise ValueError(
                f"length_scale must lie between {1.0 / _LONGEST:g} and {_LONGEST:g}, got "
                f"{self.length_scale:g}; choose another unit"
            )

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name, as scikit-learn asks for them."""
        return dict(vars(self))

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
        scaled = np.asarray(sq_dist, dtype=np.float64) / self.length_scale**2
        return self._f(np.minimum(scaled, _FARTHEST))

    def matrix(self, points: Floats, others: Floats | None = None) -> Floats:
        """Covariances of all pairs of points, or of points with others.

        Parameters
        ----------
        points : (n, m) ndarray of float64
            Latent points.
        others : (k, m) ndarray of float64, optional
            By default the same points.

        Returns
        -------
        (n, k) ndarray of float64
            The values of `covariance`.
        """
        others = points if others is None else others
        return self.covariance(cdist(points, others, "sqeuclidean"))

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
        return self.sq_distance_from_log(np.log(values))

    def sq_distance_from_log(self, log_cov: ArrayLike) -> Floats:
        """Squared distance of two points from the logarithm of their covariance.

        Products of many covariances underflow; their logarithms do not.

        Parameters
        ----------
        log_cov : array_like of float64
            Logarithms of covariances, <= 0, any shape.

        Returns
        -------
        ndarray of float64
            Squared latent distances, the same shape, at most 1e60 squared length-scales.
        """
        depth = np.minimum(np.abs(np.asarray(log_cov, dtype=np.float64)), _FARTHEST)
        with np.errstate(over="ignore"):
            sq_dist = self._inverse_of_log(depth)
        return np.minimum(sq_dist, _FARTHEST) * self.length_scale**2

    def derivative(self, sq_dist: ArrayLike) -> Floats:
        """Compute the derivative of the covariance in the squared distance.

        Parameters
        ----------
        sq_dist : array_like of float64
            As in `covariance`.

        Returns
        -------
        ndarray of float64
            Negative values, the same shape; minus infinity at 0 for kernels that are not
            differentiable there (gamma < 2, nu <= 1).
        """
        scaled = np.asarray(sq_dist, dtype=np.float64) / self.length_scale**2
        return self._f_prime(scaled) / self.length_scale**2


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

    def _f_prime(self, d: Floats) -> Floats:
        return -0.5 * self._f(d)

    def _inverse_of_log(self, depth: Floats) -> Floats:
        return 2.0 * depth


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

    shape_name = "alpha"

    alpha: float = 1.0

    def _f(self, d: Floats) -> Floats:
        if self.alpha == 1.0:
            return 1.0 / (1.0 + 0.5 * d)
        return np.exp(-self.alpha * np.log1p(d / (2.0 * self.alpha)))

    def _f_prime(self, d: Floats) -> Floats:
        return -self._f(d) / (2.0 + d / self.alpha)

    def _inverse_of_log(self, depth: Floats) -> Floats:
        return 2.0 * self.alpha * np.expm1(depth / self.alpha)


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

    shape_name = "gamma"

    gamma: float = 1.0

    def _f(self, d: Floats) -> Floats:
        return np.exp(-(d ** (0.5 * self.gamma)))

    def _inverse_of_log(self, depth: Floats) -> Floats:
        return depth ** (2.0 / self.gamma)

    def _f_prime(self, d: Floats) -> Floats:
        power = d ** (0.5 * self.gamma)
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = -0.5 * self.gamma * power / d * np.exp(-power)
        return np.where(d == 0.0, -np.inf if self.gamma < 2.0 else -1.0, slope)


@dataclass(frozen=True, kw_only=True)
class Matern(StationaryKernel):
    r"""f(d) = 2^(1-ν) / Γ(ν) x^ν K_ν(x), x = (2 ν d)^(1/2), with d = \|z - z'\|² / ℓ².

    K_ν is a modified Bessel function. For ν = 1/2, 3/2 and 5/2 it is a polynomial times exp(-x): f
    is exp(-x), (1 + x) exp(-x) and (1 + x + x² / 3) exp(-x) (Rasmussen and Williams, Gaussian
    Processes for Machine Learning, 2006, Eq. 4.14 to 4.17). These three are the fast ones. The
    squared exponential is the limit of large ν.

    Parameters
    ----------
    length_scale : float
        ℓ > 0, the unit of the latent.
    nu : float
        0 < ν <= 50, the smoothness.

    Examples
    --------
    >>> from ikd_graph.kernels import Matern
    >>> kernel = Matern(nu=2.5)
    >>> float(kernel.sq_distance(kernel.covariance(4.0)).round(9))
    4.0
    >>> float(Matern(nu=1.0).sq_distance(Matern(nu=1.0).covariance(4.0)).round(9))
    4.0
    """

    nu: float = 1.5

    def __post_init__(self) -> None:
        if isinstance(self.nu, Real) and self.nu > _SMOOTHEST:
            raise ValueError(
                f"nu must be in (0, {_SMOOTHEST:g}], got {self.nu!r}; of larger orders take their "
                "limit, 'squared_exponential'"
            )
        super().__post_init__()

    def _f(self, d: Floats) -> Floats:
        x = np.sqrt(2.0 * self.nu * d)
        if self.nu in _CLOSED:
            return _CLOSED[self.nu](x) * np.exp(-x)
        return np.exp(-_power(_table(self.nu).log_depth, x))

    def _f_prime(self, d: Floats) -> Floats:
        x, lower = np.sqrt(2.0 * self.nu * d), self.nu - 1.0
        # (x^ν K_ν)' = -x^ν K_(ν-1): a factor times the function of the order below, 1 at 0.
        factor = -self.nu / (2.0 * lower) if lower else -np.inf
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.nu in _CLOSED:
                slope = factor * _CLOSED[lower](x) * np.exp(-x)
            else:
                slope = -self._f(d) * _steepness(x, self.nu) / (2.0 * d)
        return np.where(d == 0.0, factor if lower > 0.0 else -np.inf, slope)

    def _inverse_of_log(self, depth: Floats) -> Floats:
        if self.nu == 0.5:
            return depth**2
        return _power(_table(self.nu).log_x, depth) ** 2 / (2.0 * self.nu)


class _Table(NamedTuple):
    """The kernel of an order as functions between logarithms."""

    log_depth: CubicHermiteSpline  # of log x, with depth = -log f(x)
    log_x: CubicHermiteSpline  # of log depth


@lru_cache
def _table(nu: float) -> _Table:
    """Depth = -log f(x) and its inverse for an order that has no closed form.

    Near f = 1, where the logarithm of a rounded f is worth nothing, 1 - f is the integral of the
    slope.
    """
    # 1 - f falls as x^2 for nu > 1, as x^(2 nu) for nu < 1.
    power = 2.0 * min(nu, 1.0)
    lowest = max(np.log(_SHALLOWEST) / power, -340.0)
    below = np.linspace(lowest, _DENSE, 4000, endpoint=False)
    u = np.concatenate([below, np.arange(_DENSE, np.log(_LARGEST), 0.005)])
    # Of smooth kernels the Bessel function overflows near 0.
    u = u[np.isfinite(kve(nu, np.exp(u)))]
    depth, steepness, _ = _at(u, nu)
    nodes, weights = np.polynomial.legendre.leggauss(4)
    half = 0.5 * np.diff(u)
    pieces = half * (_at(u[:-1, None] + half[:, None] * (1.0 + nodes), nu)[2] @ weights)
    one_minus_f = _at(u[:1], nu)[2] / power + np.concatenate(([0.0], np.cumsum(pieces)))
    depth = np.where(depth > 0.1, depth, -np.log1p(-np.minimum(one_minus_f, 0.5)))
    y, slope = np.log(depth), steepness / depth
    return _Table(CubicHermiteSpline(u, y, slope), CubicHermiteSpline(y, u, 1.0 / slope))


def _at(u: Floats, nu: float) -> tuple[Floats, Floats, Floats]:
    """Return -log f at the logarithm u of x, and the derivatives of it and of -f in u."""
    x = np.exp(u)
    log_constant = (1.0 - nu) * np.log(2.0) - gammaln(nu)
    depth, steepness = x - log_constant - nu * u - np.log(kve(nu, x)), _steepness(x, nu)
    return depth, steepness, steepness * np.exp(-depth)


def _steepness(x: Floats, nu: float) -> Floats:
    """-d log f / d log x: x K_(nu-1)(x) / K_nu(x), since (x^nu K_nu)' = -x^nu K_(nu-1)."""
    with np.errstate(all="ignore"):
        above, below = kve(abs(nu - 1.0), x), kve(nu, x)
        # Where K overflows, the first term of its series is exact to rounding.
        ratio = np.where(np.isfinite(below), above / below, x / (2.0 * max(nu - 1.0, 0.5)))
    return x * ratio


def _power(table: CubicHermiteSpline, x: Floats) -> Floats:
    """Look up x >= 0 in a table of logarithms, which goes on as a power law beyond its ends."""
    with np.errstate(divide="ignore"):
        at = np.log(x)
    low, high = table.x[[0, -1]]
    inside = np.clip(at, low, high)
    slope = np.where(at < low, table(low, 1), table(high, 1))
    return np.exp(table(inside) + slope * (at - inside))


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
    one_of(KERNELS, " or an instance from ikd_graph.kernels")("kernel", kernel)
    return KERNELS[kernel]()


def as_kernel(name: str, kernel: str | StationaryKernel) -> StationaryKernel:
    """Return the rule of arguments that are kernels, see `get`."""
    return get(kernel)


def differentiable(name: str, kernel: str | StationaryKernel) -> StationaryKernel:
    """Return the rule of kernels whose samples have a gradient."""
    kernel = get(kernel)
    if not np.isfinite(kernel.derivative(0.0)):
        raise ValueError(
            f"{name} must be differentiable at distance 0, got {kernel!r}, whose samples have no "
            "gradient; take 'squared_exponential' or 'matern'"
        )
    return kernel
