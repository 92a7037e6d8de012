"""The eigen strategy: invert every covariance, take the leading eigenpairs."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from .. import eigen
from .._stages import Stages
from ..covariance import FLOOR, into_domain
from ..similarity import Similarity
from . import landmarks
from ._plan import Plan, Solution

Floats = NDArray[np.float64]


def solve_eigen(similarity: Similarity, plan: Plan, stages: Stages) -> Solution:
    """Invert every covariance and take the leading eigenpairs (Li & Wu 2024, Alg. 1)."""
    if plan.n_landmarks is not None and plan.n_landmarks < similarity.n_samples:
        return _solve_landmarks(similarity, plan, stages)
    with stages("covariance"):
        corr = similarity.matrix()
    with stages("inverse kernel"):
        sq_dist = plan.kernel.sq_distance(into_domain(corr))
    with stages("eigenpairs"):
        return Solution(eigen.coordinates(sq_dist, plan.n_components, plan.reference))


def _solve_landmarks(similarity: Similarity, plan: Plan, stages: Stages) -> Solution:
    """The same with the covariances of landmarks only: no (n, n) array."""
    below = 0

    def measure(nodes: NDArray[np.int64]) -> Floats:
        nonlocal below
        corr = np.asarray(similarity.block(nodes), dtype=np.float64)
        below += int(np.count_nonzero(corr <= 0.0))
        return np.sqrt(plan.kernel.sq_distance(np.clip(corr, FLOOR, 1.0)))

    with stages("landmarks"):
        drawn = landmarks.draw_for(measure, similarity.totals(), plan)
        drawn.lengths[np.arange(drawn.nodes.size), drawn.nodes] = 0.0
    if below:
        warnings.warn(
            f"{below} of {drawn.lengths.size} pairs with a landmark have a covariance <= 0; they "
            f"were set to {FLOOR:g}. Such pairs carry no distance: strategy='geodesic' does "
            "without them",
            UserWarning,
            stacklevel=5,
        )
    with stages("eigenpairs"):
        found = landmarks.solve(drawn, np.square, plan.n_components, plan.reference)
    return Solution(found, landmarks=drawn.nodes)
