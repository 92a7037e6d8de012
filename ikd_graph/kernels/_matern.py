"""The Matern kernels: in closed form for nu = 1/2, 3/2 and 5/2, by Bessel functions for others."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from numbers import Real
from typing import NamedTuple

import numpy as np
from scipy.interpolate import CubicHermiteSpline
from scipy.special import gammaln, kve

from .._base.types import Floats
from ._stationary import StationaryKernel, formula

_CLOSED = (0.5, 1.5, 2.5)
"""Orders with compiled loops of their own."""

_SMOOTHEST = 50.0
"""Largest order: from about there on Bessel functions overflow where covariances are below 1."""

_SHALLOWEST = 1e-18
"""Smallest -log f in the table of a kernel; below it a power law is exact to rounding."""

_LARGEST = 1e4
"""Largest x in the table of a kernel; above it a series in 1 / x is exact to rounding."""


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
        return np.exp(-_depth(np.sqrt(2.0 * self.nu * np.asarray(d)), self.nu))

    def _f_prime(self, d: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = formula("matern_slope")(d, self.nu) if self.is_compiled else _slope(d, self.nu)
        at_zero = -self.nu / (2.0 * (self.nu - 1.0)) if self.nu > 1.0 else -np.inf
        return np.where(d == 0.0, at_zero, slope)

    def _inverse_of_log(self, depth: Floats) -> Floats:
        if not self.is_compiled:
            return _argument(np.asarray(depth), self.nu) ** 2 / (2.0 * self.nu)
        if self.nu == 0.5:
            return depth**2
        # Newton's method on x - log p(x) = depth, convex, from above: it converges for any depth.
        x = depth + np.sqrt((4.0 * self.nu - 4.0) * depth)
        for _ in range(6):
            if self.nu == 1.5:
                gap, slope = x - np.log1p(x) - depth, x / (1.0 + x)
            else:
                tail = x * (1.0 + x / 3.0)
                gap, slope = x - np.log1p(tail) - depth, x * (1.0 + x) / (3.0 * (1.0 + tail))
            x -= np.divide(gap, slope, out=np.zeros_like(x), where=slope > 0.0)
        return x**2 / (2.0 * self.nu)


class _Table(NamedTuple):
    """The kernel of an order between two limits of x, as functions between logarithms."""

    log_depth: CubicHermiteSpline  # of log x, with depth = -log f(x)
    log_x: CubicHermiteSpline  # of log depth


@lru_cache(maxsize=32)
def _table(nu: float) -> _Table:
    """Tabulate depth = -log f(x) and its inverse for an order that has no closed form.

    The recurrence (x^nu K_nu)' = -x^nu K_(nu-1) gives the slope at each node. Near f = 1, where
    the logarithm of a rounded f is worth nothing, 1 - f is the integral of the slope.
    """
    # 1 - f falls as x^2 for nu > 1, as x^(2 nu) for nu < 1.
    lowest = max(np.log(_SHALLOWEST) / (2.0 * min(nu, 1.0)), -340.0)
    u = np.concatenate(
        [np.linspace(lowest, -7.0, 4000, endpoint=False), np.arange(-7.0, np.log(_LARGEST), 0.005)]
    )
    x = np.exp(u)
    near = x < 2.0 * np.sqrt(nu)
    depth = np.empty_like(x)
    depth[near] = -np.log1p(-_one_minus_f(x[near], nu))
    depth[~near] = -_log_f(x[~near], nu)
    falling = _minus_f_prime(x, nu)
    with np.errstate(invalid="ignore", divide="ignore"):
        relative = kve(abs(nu - 1.0), x) / kve(nu, x)
    relative[near] = falling[near] * np.exp(depth[near])
    slope = relative * x / depth
    y = np.log(depth)
    return _Table(CubicHermiteSpline(u, y, slope), CubicHermiteSpline(y, u, 1.0 / slope))


def _log_f(x: Floats, nu: float) -> Floats:
    """Logarithm of f(x) by the Bessel function, where that does not overflow."""
    log_constant = (1.0 - nu) * np.log(2.0) - gammaln(nu)
    return log_constant + nu * np.log(x) + np.log(kve(nu, x)) - x


def _minus_f_prime(x: Floats, nu: float) -> Floats:
    """-df/dx for x > 0."""
    log_constant = (1.0 - nu) * np.log(2.0) - gammaln(nu)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        bessel = kve(abs(nu - 1.0), x)
        falling = np.exp(log_constant + nu * np.log(x) + np.log(bessel) - x)
        if nu > 1.0:
            # Where K overflows, f of the order nu - 1 is 1 to the first terms of its series.
            q = x**2 / 4.0
            lower = 1.0 - q / (nu - 2.0) + 0.5 * q**2 / ((nu - 2.0) * (nu - 3.0))
            lower = np.where(q > 0.0, lower, 1.0) if nu > 3.0 else np.ones_like(x)
            falling = np.where(np.isinf(bessel), x / (2.0 * (nu - 1.0)) * lower, falling)
    return np.where(np.isnan(falling), 0.0, falling)


def _one_minus_f(x: Floats, nu: float) -> Floats:
    """1 - f(x): the integral of -df/dx from 0, by the double exponential rule."""
    s = np.linspace(-3.6, 3.6, 121)
    # Nodes in (0, 1) of u, with t = x u^power, by which the integrand is about linear in u.
    left = 1.0 / (1.0 + np.exp(-np.pi * np.sinh(s)))
    weight = (s[1] - s[0]) * np.pi * np.cosh(s) * left / (1.0 + np.exp(np.pi * np.sinh(s)))
    power = 1.0 / min(nu, 1.0)
    total = np.zeros_like(x)
    for node, part in zip(left, weight, strict=True):
        t = x * node**power
        # What underflows adds nothing: the integrand falls with the node.
        seen = t > 1e-290
        total[seen] += part * _minus_f_prime(t[seen], nu) * power * t[seen] / node
    # Of small orders most of the integral lies below the smallest numbers, and 1 - f is not small.
    with np.errstate(all="ignore"):
        direct = -np.expm1(_log_f(x, nu))
    return np.where(direct > 0.1, direct, total)


def _depth(x: Floats, nu: float) -> Floats:
    """-log f(x) of any x >= 0."""
    table = _table(nu)
    low, high = table.log_depth.x[[0, -1]]
    with np.errstate(divide="ignore"):
        u = np.log(x)
    depth = np.exp(table.log_depth(np.clip(u, low, high)))
    steepness = float(table.log_depth(low, 1))
    depth = np.where(u < low, depth * np.exp(steepness * (np.maximum(u, -800.0) - low)), depth)
    depth = np.where(x == 0.0, 0.0, depth)
    return np.where(u > high, _far_depth(np.maximum(x, _LARGEST), nu), depth)


def _argument(depth: Floats, nu: float) -> Floats:
    """Inverse of `_depth`."""
    table = _table(nu)
    low, high = table.log_x.x[[0, -1]]
    with np.errstate(divide="ignore"):
        y = np.log(depth)
    u = table.log_x(np.clip(y, low, high))
    steepness = float(table.log_x(low, 1))
    u = np.where(y < low, u + steepness * (np.maximum(y, -800.0) - low), u)
    x = np.where(depth == 0.0, 0.0, np.exp(u))
    far = np.maximum(depth, np.exp(high))
    beyond = far.copy()
    for _ in range(6):
        beyond = np.maximum(
            beyond - (_far_depth(beyond, nu) - far) / (1.0 - (nu - 0.5) / beyond), _LARGEST / 2.0
        )
    return np.where(y > high, beyond, x)


def _far_depth(x: Floats, nu: float) -> Floats:
    """-log f(x) of large x, from the series of K_nu in 1 / x."""
    term, total = np.ones_like(x), np.ones_like(x)
    for k in range(1, 12):
        term = term * (4.0 * nu**2 - (2.0 * k - 1.0) ** 2) / (8.0 * k * x)
        total = total + term
    log_constant = (1.0 - nu) * np.log(2.0) - gammaln(nu) + 0.5 * np.log(np.pi / 2.0)
    return x - (nu - 0.5) * np.log(x) - np.log(total) - log_constant


def _slope(d: Floats, nu: float) -> Floats:
    """f'(d) for d > 0."""
    x = np.sqrt(2.0 * nu * np.asarray(d))
    return -_minus_f_prime(x, nu) * nu / x
