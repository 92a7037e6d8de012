"""The Matern kernel of any order, and the table that its inverse starts from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gamma, kve

from ._stationary import StationaryKernel, formula

Floats = NDArray[np.float64]

CLOSED = (0.5, 1.5, 2.5)
"""Orders with a closed form in `_jit.kernels`."""


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

    shape_name = "nu"

    nu: float = 1.5

    def _f(self, d: Floats) -> Floats:
        if self.nu in CLOSED:
            return formula("matern")(d, self.nu)
        return self._climb(np.sqrt(2.0 * self.nu * d))[0]

    def _f_prime(self, d: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.nu in CLOSED:
                return formula("matern_slope")(d, self.nu)
            f, ratio_times_x = self._climb(np.sqrt(2.0 * self.nu * d))
            # d/dx (x^nu K_nu) = -x^nu K_(nu-1), and dx/dd = nu / x.
            found = -self.nu * f / ratio_times_x
        at_zero = -self.nu / (2.0 * (self.nu - 1.0)) if self.nu > 1.0 else -np.inf
        return np.where(d == 0.0, at_zero, found)

    def _climb(self, x: Floats) -> tuple[Floats, Floats]:
        """f and x K_nu(x) / K_(nu-1)(x), from the lowest order up.

        With g_nu(x) = 2^(1-nu) / Gamma(nu) x^nu K_nu(x) and q_nu = x K_nu / K_(nu-1), the
        three-term recurrence of K reads q_(nu+1) = 2 nu + x^2 / q_nu and
        g_(nu+1) = g_nu q_(nu+1) / (2 nu): positive terms only.
        """
        # f has underflown there; beyond 1e9 scipy has no Bessel functions.
        x = np.minimum(x, 1e6)
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

    def _inverse_of_log(self, depth: Floats) -> Floats:
        if self.nu == 0.5:
            return depth**2
        flat = np.ascontiguousarray(depth).ravel()
        out = np.empty_like(flat)
        table = _inverse_table(self.nu)
        # Chunks that stay in cache: the table look-up gathers at random.
        for start in range(0, flat.size, 16384):
            part = slice(start, start + 16384)
            out[part] = self._solve(flat[part], table)
        return out.reshape(depth.shape)

    def _solve(self, depth: Floats, table: _InverseTable) -> Floats:
        """Distances of one chunk: the table, then a Newton step where f is cheap."""
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
    """Piecewise cubic of log d over u = log(-log f), on a uniform grid.

    log d is nearly linear in u at both ends (slope 1 / min(nu, 1) towards 0, slope 2 towards
    infinity), which is what makes a uniform grid enough. Beyond the underflow of f the root of d is
    linear in -log f.
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
            # The distance is linear in -log f.
            top, slope = c3 + c2 + c1 + c0, (3.0 * c3 + 2.0 * c2 + c1) / self.step
            rise = np.expm1(self.step * (t[high] - 1.0))
            inner[high] = top[high] + 2.0 * np.log1p(0.5 * slope[high] * rise)
        return inner


@lru_cache(maxsize=64)
def _inverse_table(nu: float, n_cells: int = 16384) -> _InverseTable:
    """Table of the inverse of a Matern kernel, exact at its nodes."""
    kernel = Matern(nu=nu)
    # From distances whose covariance is 1 - 1e-12 to covariances that underflow.
    lowest = -28.0 / min(nu, 1.0)
    highest = np.log(750.0**2 / (2.0 * nu) + 750.0)
    coarse = np.linspace(lowest, highest, 4 * n_cells)
    value = kernel._f(np.exp(coarse))
    with np.errstate(divide="ignore"):
        u = np.log(-np.log(value))
    good = np.isfinite(u) & (value > 1e-300)
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
