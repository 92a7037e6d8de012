"""The Matern kernels: in closed form for nu = 1/2, 3/2 and 5/2, by Bessel functions for others."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from numbers import Real
from typing import NamedTuple

import numpy as np
from scipy.interpolate import CubicHermiteSpline
from scipy.special import gammaln, kve

from .._base import types
from .._base.types import Floats
from ._stationary import StationaryKernel, formula

_CLOSED = (0.5, 1.5, 2.5)
"""Orders with compiled loops of their own."""

_SMOOTHEST = 50.0
"""Largest order: from about there on Bessel functions overflow where covariances are below 1."""

_SHALLOWEST = 1e-18
"""Smallest -log f in the table of a kernel; below it a power law is exact to rounding."""

_LARGEST = 1e8
"""Largest x in the table of a kernel, where -log f is x to seven digits."""


@dataclass(frozen=True, kw_only=True)
class Matern(StationaryKernel):
    r"""f(d) = 2^(1-ν) / Γ(ν) x^ν K_ν(x), x = (2 ν d)^(1/2), with d = \|z - z'\|² / ℓ².

    K_ν is a modified Bessel function. For ν = 1/2, 3/2 and 5/2 it is a polynomial times exp(-x): f
    is exp(-x), (1 + x) exp(-x) and (1 + x + x² / 3) exp(-x) (Rasmussen and Williams, Gaussian
    Processes for Machine Learning, 2006, Eq. 4.14 to 4.17). These three are the fast ones: the
    likelihood and the placement of rows have compiled loops for them. The squared exponential is
    the limit of large ν.

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

    number = types.MATERN

    nu: float = 1.5

    def __post_init__(self) -> None:
        if isinstance(self.nu, Real) and self.nu > _SMOOTHEST:
            raise ValueError(
                f"nu must be in (0, {_SMOOTHEST:g}], got {self.nu!r}; of larger orders take their "
                "limit, 'squared_exponential'"
            )
        super().__post_init__()

    @property
    def is_compiled(self) -> bool:
        """Whether compiled loops have the formula."""
        return self.nu in _CLOSED

    @property
    def shape(self) -> float:
        """The order, which is not fitted."""
        return self.nu

    def _f(self, d: Floats) -> Floats:
        if self.is_compiled:
            return formula("matern")(d, self.nu)
        return np.exp(-_power(_table(self.nu).log_depth, np.sqrt(2.0 * self.nu * np.asarray(d))))

    def _f_prime(self, d: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = formula("matern_slope")(d, self.nu) if self.is_compiled else self._slope(d)
        at_zero = -self.nu / (2.0 * (self.nu - 1.0)) if self.nu > 1.0 else -np.inf
        return np.where(d == 0.0, at_zero, slope)

    def _slope(self, d: Floats) -> Floats:
        """f'(d) for d > 0, by Bessel functions."""
        x = np.sqrt(2.0 * self.nu * np.asarray(d))
        return -self._f(d) * _steepness(x, self.nu) / (2.0 * d)

    def _inverse_of_log(self, depth: Floats) -> Floats:
        if self.nu == 0.5:
            return depth**2
        return _power(_table(self.nu).log_x, depth) ** 2 / (2.0 * self.nu)


class _Table(NamedTuple):
    """The kernel of an order as functions between logarithms."""

    log_depth: CubicHermiteSpline  # of log x, with depth = -log f(x)
    log_x: CubicHermiteSpline  # of log depth


@lru_cache(maxsize=32)
def _table(nu: float) -> _Table:
    """Depth = -log f(x) and its inverse for an order that has no closed form.

    Near f = 1, where the logarithm of a rounded f is worth nothing, 1 - f is the integral of the
    slope.
    """
    # 1 - f falls as x^2 for nu > 1, as x^(2 nu) for nu < 1.
    power = 2.0 * min(nu, 1.0)
    lowest = max(np.log(_SHALLOWEST) / power, -340.0)
    u = np.concatenate(
        [np.linspace(lowest, -7.0, 4000, endpoint=False), np.arange(-7.0, np.log(_LARGEST), 0.005)]
    )
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
