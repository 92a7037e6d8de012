"""Most likely latents of falling numbers of coordinates, each begun from the larger one."""

from dataclasses import replace

from .. import eigen
from .._base.threads import single_threaded_blas
from .._base.types import Floats
from ..kernels import StationaryKernel
from ._descent import anneal, minimize
from ._gradient import SampleLikelihood
from ._objective import Clock, Objective

NESTED_NOISE = 0.01
"""Least noise variance over the variance of the columns: what explains less is no dimension."""

_SOFT = (1.0, 0.3, 0.1)
"""Noise floors, in units of the mean variance, under which coordinates are dropped."""


def nested_latents(sample_cov: Floats, latent: Floats, kernel: StationaryKernel) -> list[Floats]:
    """Find latents of 1 to M coordinates, each from the next larger one.

    The coordinate of least variance is shrunk and dropped. Curves that cross in fewer dimensions
    have passed each other in more, so that descents from above end in good optima.

    Parameters
    ----------
    sample_cov : (n, n) ndarray of float64
        S = X X^T / N with a mean variance of 1, see `ikd_graph.gplvm.sample_covariance`.
    latent : (n, M) ndarray of float64
        Where to begin.
    kernel : StationaryKernel
        Kernel of the model.

    Returns
    -------
    list of (n, m) ndarray of float64
        m = 1 to M. The noise is at least ``NESTED_NOISE``.
    """
    objective = Objective(SampleLikelihood(sample_cov), kernel, latent.shape[1], Clock())
    latents: list[Floats] = []
    with single_threaded_blas():
        at = anneal(objective, latent, "nested", _SOFT)
        while True:
            latents.insert(0, objective.latent(minimize(objective, at, 30, NESTED_NOISE).vector))
            if objective.n_components == 1:
                return latents
            for factor in (0.5, 0.2):
                points = eigen.principal_axes(objective.latent(at.vector)).coordinates
                points[:, -1] *= factor
                vector = objective.vector(points, *objective.variances(at.vector))
                at = minimize(objective, at._replace(vector=vector), 12, _SOFT[-1])
            points = eigen.principal_axes(objective.latent(at.vector)).coordinates[:, :-1]
            variances = objective.variances(at.vector)
            objective = replace(objective, n_components=points.shape[1])
            vector = objective.vector(points, *variances)
            at = minimize(objective, at._replace(vector=vector), 20, _SOFT[-1])
