"""Value and gradient of the likelihood, at as many latents of one sample covariance as asked."""

import threading
from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import dsyrk, dtrmm
from scipy.linalg.lapack import dpotrf
from scipy.spatial.distance import cdist

from .. import _jit
from .._base.types import Floats
from ..kernels import StationaryKernel
from ._model import fill_covariances, inverse_of

LOG_2PI = float(np.log(2.0 * np.pi))

_LOW_RANK = 0.7
"""Fraction of n above which a factor that is no triangle saves nothing."""


class LikelihoodGradient(NamedTuple):
    """Negative log likelihood per column and its derivatives."""

    value: float
    latent: Floats  # (n, m) derivative in every coordinate
    log_variance: float  # derivative in log v
    log_noise: float  # derivative in log n
    shape: float  # derivative in the kernel's alpha or gamma; 0 where it was not asked for


class _Workspace(NamedTuple):
    """Arrays that are used again, (n, n) and the shape of the root of S."""

    cov: Floats
    change: Floats
    model: Floats
    inverse: Floats
    through: Floats


class SampleLikelihood:
    r"""Negative log likelihood of one column, of any latent, with its exact gradient.

    With G = 1/2 (A^-1 - A^-1 S A^-1) and f' the derivative of the kernel in the squared distance,
    dL/dz_i = 4 v sum_j G_ij f'(d_ij) (z_i - z_j), dL/dlog v = v sum(G * K), dL/dlog n = n tr G. Two
    points in the same place exert no force on one another: the kernels that are not differentiable
    there have a peak, whose mean slope is 0.

    A descent asks thousands of times, of arguments that are known to be right. With S = C C^T and
    W = A^-1 C it is tr(A^-1 S) = sum(W * C) and 2 G = A^-1 - W W^T. That is half the work of
    products of squares where C is a triangle, and less where fewer dimensions than points are
    observed. Arrays are used again, in every thread its own.

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
        self.sample_cov = sample_cov
        self.eigenvalues, vectors = np.linalg.eigh(sample_cov)
        self._root = _root(self.eigenvalues, vectors)
        self._triangle = self._root.shape[1] == len(sample_cov)
        self._own = threading.local()

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
        work = self._workspace()
        cov, change = work.cov, work.change
        fill_covariances(latent, kernel, cov, change)
        model = np.multiply(variance, cov.T, out=work.model)
        np.einsum("ii->i", model)[:] += noise
        factor, failed = dpotrf(model, lower=1, overwrite_a=1)
        if failed:
            return LikelihoodGradient(np.inf, np.zeros_like(latent), 0.0, 0.0, 0.0)
        log_det = 2.0 * float(np.log(np.diagonal(factor)).sum())
        by_cov = inverse_of(factor, work.inverse)
        trace = self._take_off(by_cov, work.through)

        value = 0.5 * (len(latent) * LOG_2PI + log_det + trace)
        by_latent = np.empty_like(latent)
        inner = _jit.likelihood.forces(latent, change, cov, by_cov, 2.0 * variance, by_latent)
        by_noise, by_shape = 0.5 * noise * float(np.trace(by_cov)), 0.0
        if shape:
            # Every pair twice, and a point with itself not at all: f(0) is 1 for every shape.
            change_in_shape = kernel.derivative_in_shape(cdist(latent, latent, "sqeuclidean"))
            by_shape = variance * float(np.vdot(np.tril(by_cov, -1), change_in_shape))
        return LikelihoodGradient(value, by_latent, 0.5 * variance * inner, by_noise, by_shape)

    def _workspace(self) -> _Workspace:
        """Arrays of this thread."""
        if not hasattr(self._own, "workspace"):
            n = len(self.sample_cov)
            self._own.workspace = _Workspace(
                cov=np.empty((n, n)),
                change=np.empty((n, n)),
                model=np.empty((n, n), order="F"),
                inverse=np.empty((n, n), order="F"),
                through=np.empty_like(self._root, order="F" if self._triangle else "C"),
            )
        workspace: _Workspace = self._own.workspace
        return workspace

    def _take_off(self, inverse: Floats, through: Floats) -> float:
        """tr(A^-1 S); leaves 2 G in the lower triangle of what was A^-1 in C order."""
        root = self._root
        if self._triangle:
            np.copyto(through, inverse.T)
            dtrmm(1.0, root, through, side=1, lower=1, overwrite_b=1)
            dsyrk(-1.0, through, beta=1.0, c=inverse.T, overwrite_c=1)
            return float(np.vdot(through.T, root.T))
        np.matmul(inverse, root, out=through)
        dsyrk(-1.0, through.T, beta=1.0, c=inverse.T, trans=1, overwrite_c=1)
        return float(np.vdot(through, root))


def _root(values: Floats, vectors: Floats) -> Floats:
    """Factorize S = C C^T: C is (n, r) where the rank r is low, else an (n, n) lower triangle."""
    n = len(values)
    used = values > n * np.finfo(np.float64).eps * max(values[-1], 0.0)
    used[-1] = True
    root = vectors[:, used] * np.sqrt(np.maximum(values[used], 0.0))
    if root.shape[1] <= _LOW_RANK * n:
        return np.ascontiguousarray(root)
    triangle = np.zeros((n, n), order="F")
    triangle[:, : root.shape[1]] = np.asarray(np.linalg.qr(root.T, mode="r")).T
    return triangle
