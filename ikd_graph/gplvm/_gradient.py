"""The covariance of the model, and the likelihood of groups of columns with its gradient."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import dsyrk, dtrmm
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.spatial.distance import cdist

from .. import _jit
from .._base.types import Floats
from ..kernels import StationaryKernel, compiled_form
from ._groups import ColumnGroup, covariance_group

LOG_2PI = float(np.log(2.0 * np.pi))

NOT_POSITIVE = (
    "noise must be large enough to invert the covariance of the latent, got {!r}; "
    "a noise of 1e-6 times the variance is enough"
)


class LikelihoodGradient(NamedTuple):
    """Negative log likelihood per column and its derivatives."""

    value: float
    latent: Floats  # (n, m) derivative in every coordinate
    log_variance: float  # derivative in log v
    log_noise: float  # derivative in log n
    shape: float  # derivative in the kernel's alpha or gamma; 0 where it was not asked for


class GroupLikelihood:
    r"""Negative log likelihood of one column, of any latent, with its exact gradient.

    The mean over the columns of a table, those that are known in the same rows together: of a group
    with the weight w, the rows R and the covariance S = C C^T it is, with A = v K_RR + n I,

        1/2 (w (r log 2 pi + log det A) + tr(A^-1 S)).

    With G = 1/2 sum (w A^-1 - A^-1 S A^-1), each group at its rows, and f' the derivative of the
    kernel in the squared distance, dL/dz_i = 4 v sum_j G_ij f'(d_ij) (z_i - z_j), dL/dlog v =
    v sum(G * K), dL/dlog n = n tr G. Two points in the same place exert no force on one another:
    the kernels that are not differentiable there have a peak, whose mean slope is 0.

    A descent asks thousands of times, of arguments that are known to be right. With W = A^-1 C it
    is tr(A^-1 S) = sum(W * C) and 2 G = w A^-1 - W W^T, which is half the work of products of
    squares where C is a triangle, and less where fewer columns than rows are known.

    Parameters
    ----------
    groups : sequence of ColumnGroup
        Columns that are known in the same rows.
    n_points : int
        Number n of rows.
    """

    def __init__(self, groups: Sequence[ColumnGroup], n_points: int) -> None:
        self.groups, self.n_points = groups, n_points

    def __call__(
        self,
        latent: Floats,
        kernel: StationaryKernel,
        variance: float,
        noise: float,
        *,
        shape: bool = False,
    ) -> LikelihoodGradient:
        """Value and gradient; infinite, derivatives 0, where A is not positive definite.

        With ``shape`` also the derivative in the kernel's shape parameter (alpha or gamma).
        """
        cov, change = covariances(latent, kernel)
        value, by_cov = 0.0, np.zeros_like(cov)  # 2 G, of which the lower triangle is used
        for group in self.groups:
            factor = factor_of(variance * cov[group.block], noise)
            if factor is None:
                return LikelihoodGradient(np.inf, np.zeros_like(latent), 0.0, 0.0, 0.0)
            inverse = inverse_of(factor)
            through = _times_root(inverse, group.root)
            log_det = 2.0 * float(np.log(np.diagonal(factor)).sum())
            value += 0.5 * group.weight * (len(factor) * LOG_2PI + log_det)
            value += 0.5 * float(np.sum(through * group.root))
            by_cov[group.block] += dsyrk(-1.0, through, beta=group.weight, c=inverse.T, lower=1)
        by_latent = np.empty_like(latent)
        inner = _jit.likelihood.forces(latent, change, cov, by_cov, 2.0 * variance, by_latent)
        by_noise, by_shape = 0.5 * noise * float(np.trace(by_cov)), 0.0
        if shape:
            # Every pair twice, and a point with itself not at all: f(0) is 1 for every shape.
            change_in_shape = kernel.derivative_in_shape(cdist(latent, latent, "sqeuclidean"))
            by_shape = variance * float(np.vdot(np.tril(by_cov, -1), change_in_shape))
        return LikelihoodGradient(value, by_latent, 0.5 * variance * inner, by_noise, by_shape)


class SampleLikelihood(GroupLikelihood):
    """The same of complete data, from their sample covariance: one group of all rows.

    Parameters
    ----------
    sample_cov : (n, n) float64, symmetric
        S = X X^T / N. Not checked; negative eigenvalues, which covariances over the columns that
        pairs of rows share may have, count as 0.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import gplvm, kernels
    >>> latent = np.array([[0.0], [1.0], [3.0]])
    >>> kernel = kernels.SquaredExponential()
    >>> cov = kernel.covariance((latent - latent.T) ** 2) + 0.1 * np.eye(3)
    >>> at = gplvm.SampleLikelihood(cov)(latent, kernel, 1.0, 0.1)
    >>> bool(np.abs(at.latent).max() < 1e-9)
    True
    """

    def __init__(self, sample_cov: Floats) -> None:
        self.eigenvalues, vectors = np.linalg.eigh(sample_cov)
        super().__init__([covariance_group(self.eigenvalues, vectors)], len(sample_cov))


def _times_root(inverse: Floats, root: Floats) -> Floats:
    """Product of a symmetric matrix and the root of a group."""
    if len(root) == root.shape[1]:
        return np.asarray(dtrmm(1.0, root, inverse.T, side=1, lower=1))
    return inverse @ root


def covariances(latent: Floats, kernel: StationaryKernel) -> tuple[Floats, Floats]:
    """f(d_ij) and f'(d_ij) of every pair, both (n, n); f' is 0 for a pair in one place."""
    points, form = np.ascontiguousarray(latent), compiled_form(kernel)
    if form is not None:
        cov, change = np.empty((2, len(points), len(points)))
        _jit.likelihood.covariances(points, *form, kernel.length_scale**2, cov, change)
        return cov, change
    return plain_covariances(kernel, cdist(points, points, "sqeuclidean"))


def plain_covariances(kernel: StationaryKernel, sq_dist: Floats) -> tuple[Floats, Floats]:
    """f and f' of squared distances; f' is 0, its mean, for a pair in one place."""
    together = sq_dist == 0.0
    # Distance 1 stands in for 0, where the slope of some kernels is infinite.
    change = kernel.derivative(np.where(together, 1.0, sq_dist))
    return kernel.covariance(sq_dist), np.where(together, 0.0, change)


def factor_of(signal: Floats, noise: float) -> Floats | None:
    """Lower Cholesky factor of a covariance, which is overwritten, and noise; None without one."""
    signal.flat[:: len(signal) + 1] += noise
    factor, failed = dpotrf(signal.T, lower=1, overwrite_a=1)
    return None if failed else np.asarray(factor)


def inverse_model(
    latent: Floats, kernel: StationaryKernel, variance: float, noise: float
) -> tuple[Floats, Floats]:
    """A^-1 and how A changes with the squared distances, v f'(d_ij), both (n, n).

    Raises ValueError where A is not positive definite to working precision.
    """
    cov, change = covariances(latent, kernel)
    factor = factor_of(variance * cov, noise)
    if factor is None:
        raise ValueError(NOT_POSITIVE.format(noise))
    return inverse_of(factor), variance * change


def inverse_of(factor: Floats) -> Floats:
    """Inverse of a matrix from its lower Cholesky factor, both triangles."""
    inverse = np.asarray(dpotri(factor, lower=1)[0].T)
    _jit.likelihood.mirror_upper(inverse)
    return inverse
