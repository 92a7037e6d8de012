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

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _checks as door
from .. import _jit
from .._checks import check_choice, check_symmetric
from ._matern import CLOSED, Matern
from ._stationary import (
    GammaExponential,
    RationalQuadratic,
    SquaredExponential,
    StationaryKernel,
)

Floats = NDArray[np.float64]

__all__ = [
    "GammaExponential",
    "Matern",
    "RationalQuadratic",
    "SquaredExponential",
    "StationaryKernel",
    "apply_metric",
    "compiled_form",
    "get",
]


KERNELS: dict[str, type[StationaryKernel]] = {
    "squared_exponential": SquaredExponential,
    "rational_quadratic": RationalQuadratic,
    "gamma_exponential": GammaExponential,
    "matern": Matern,
}
_COMPILED = {made: name.upper() for name, made in KERNELS.items()}


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
    check_choice("kernel", kernel, KERNELS, " or an instance from ikd_graph.kernels")
    return KERNELS[kernel]()


def as_kernel(name: str, kernel: str | StationaryKernel) -> StationaryKernel:
    """The rule of arguments that are kernels, see `get`."""
    return get(kernel)


@door.takes(latent=door.table, metric=door.numbers)
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


def compiled_form(kernel: StationaryKernel) -> tuple[int, float] | None:
    """How compiled loops know a kernel.

    Parameters
    ----------
    kernel : StationaryKernel
        Kernel of this package or another.

    Returns
    -------
    (int, float) or None
        Number in `_jit.kernels` and shape; None for a Matern kernel without a closed form, and for
        kernels that are not this package's.
    """
    name = _COMPILED.get(type(kernel))
    if name is None or (name == "MATERN" and kernel.shape not in CLOSED):
        return None
    return getattr(_jit.kernels, name), kernel.shape
