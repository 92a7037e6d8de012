"""The Matern kernels in closed form."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ._stationary import StationaryKernel, formula

Floats = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Matern(StationaryKernel):
    r"""f(d) = p(x) exp(-x), x = (2 ν d)^(1/2), with d = \|z - z'\|² / ℓ².

    p is 1, 1 + x and 1 + x + x² / 3 for ν = 1/2, 3/2 and 5/2 (Rasmussen and Williams, Gaussian
    Processes for Machine Learning, 2006, Eq. 4.16 and 4.17). The squared exponential is the limit
    of large ν.

    Parameters
    ----------
    length_scale : float
        ℓ > 0, the unit of the latent.
    nu : {0.5, 1.5, 2.5}
        ν, the smoothness.

    Examples
    --------
    >>> from ikd_graph.kernels import Matern
    >>> kernel = Matern(nu=2.5)
    >>> float(kernel.sq_distance(kernel.covariance(4.0)).round(9))
    4.0
    """

    nu: float = 1.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.nu not in (0.5, 1.5, 2.5):
            raise ValueError(
                f"nu must be 0.5, 1.5 or 2.5, got {self.nu!r}; the squared exponential is smoother"
            )

    @property
    def shape(self) -> float:
        """The order, which cannot be fitted: it has three values."""
        return self.nu

    def _f(self, d: Floats) -> Floats:
        return formula("matern")(d, self.nu)

    def _f_prime(self, d: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = formula("matern_slope")(d, self.nu)
        at_zero = -self.nu / (2.0 * (self.nu - 1.0)) if self.nu > 1.0 else -np.inf
        return np.where(d == 0.0, at_zero, slope)

    def _inverse_of_log(self, depth: Floats) -> Floats:
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
