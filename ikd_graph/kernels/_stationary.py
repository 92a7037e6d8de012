"""Kernels in closed form, and what every kernel has in common."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from .. import _jit
from .._base import types
from .._base.types import Floats
from .._base.validation import positive, real


def formula(name: str) -> Any:
    """Python function, on arrays, behind a formula of `_jit.kernels`; itself with the JIT off."""
    compiled = getattr(_jit.kernels, name)
    return getattr(compiled, "py_func", compiled)


_FARTHEST = 1e60  # largest scaled squared distance: its square does not overflow
_LONGEST = 1e74  # largest length-scale: its fourth power, of 1e6 points, does not overflow

_up_to_2 = real("be in (0, 2]", lambda x: 0.0 < x <= 2.0)


@dataclass(frozen=True, kw_only=True)
class StationaryKernel:
    """A kernel of unit variance, a function of the squared distance over ``length_scale`` squared.

    Subclasses give the function f of the scaled squared distance, its inverse as a function of
    -log f, and its derivative: ``_f``, ``_inverse_of_log`` and ``_f_prime``. Those of this package
    have f and its derivative from `_jit.kernels`, where the formulas stand once for arrays and for
    compiled loops.
    """

    number: ClassVar[int | None] = None
    """Number of the formulas in `_jit.kernels`; None for other kernels."""

    shape_name: ClassVar[str | None] = None
    """Name of the parameter next to ``length_scale`` that can be fitted; None without one."""

    length_scale: float = 1.0

    @property
    def shape(self) -> float:
        """Value of the shape parameter; 1 without one."""
        return 1.0 if self.shape_name is None else float(getattr(self, self.shape_name))

    @property
    def is_compiled(self) -> bool:
        """Whether compiled loops have the formula of a kernel of this package."""
        return True

    def __post_init__(self) -> None:
        for field in fields(self):
            valid = _up_to_2 if field.name == "gamma" else positive
            valid(field.name, getattr(self, field.name))
        if not 1.0 / _LONGEST <= self.length_scale <= _LONGEST:
            raise ValueError(
                f"length_scale must lie between {1.0 / _LONGEST:g} and {_LONGEST:g}, got "
                f"{self.length_scale:g}; choose another unit"
            )

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name, as scikit-learn asks for them."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

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

    def derivative_in_shape(self, sq_dist: ArrayLike) -> Floats:
        """Compute the derivative of the covariance in the kernel's shape parameter.

        Parameters
        ----------
        sq_dist : array_like of float64
            Squared latent distances.

        Returns
        -------
        ndarray of float64
            As many values; 0 for a kernel without such a parameter.
        """
        return self._f_by_shape(np.asarray(sq_dist, dtype=np.float64) / self.length_scale**2)

    def _f(self, d: Floats) -> Floats:
        return formula("value")(self.number, d, self.shape)

    def _f_prime(self, d: Floats) -> Floats:
        return formula("slope")(self.number, d, self.shape, self._f(d))

    def _inverse_of_log(self, depth: Floats) -> Floats:
        raise NotImplementedError

    def _f_by_shape(self, d: Floats) -> Floats:
        """Compute the derivative of f in the shape; 0 without one."""
        return np.zeros_like(d)


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

    number = types.SQUARED_EXPONENTIAL

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

    number = types.RATIONAL_QUADRATIC
    shape_name = "alpha"

    alpha: float = 1.0

    def _inverse_of_log(self, depth: Floats) -> Floats:
        return 2.0 * self.alpha * np.expm1(depth / self.alpha)

    def _f_by_shape(self, d: Floats) -> Floats:
        ratio = d / (2.0 * self.alpha)
        return self._f(d) * (ratio / (1.0 + ratio) - np.log1p(ratio))


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

    number = types.GAMMA_EXPONENTIAL
    shape_name = "gamma"

    gamma: float = 1.0

    def _inverse_of_log(self, depth: Floats) -> Floats:
        return depth ** (2.0 / self.gamma)

    def _f_prime(self, d: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = super()._f_prime(d)
        return np.where(d == 0.0, -np.inf if self.gamma < 2.0 else -1.0, slope)

    def _f_by_shape(self, d: Floats) -> Floats:
        logs = np.log(np.where(d > 0.0, d, 1.0))
        return -0.5 * self._f(d) * d ** (self.gamma / 2.0) * logs
