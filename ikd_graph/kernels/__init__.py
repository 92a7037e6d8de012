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

from .._base.validation import one_of
from ._matern import Matern
from ._stationary import GammaExponential, RationalQuadratic, SquaredExponential, StationaryKernel

__all__ = [
    "GammaExponential",
    "Matern",
    "RationalQuadratic",
    "SquaredExponential",
    "StationaryKernel",
    "get",
]


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
