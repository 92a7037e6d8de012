"""The eigen strategy: invert every covariance, take the leading eigenpairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import eigen
from .._records import CsrGraph
from .._warn import warn
from ..covariance import FLOOR, into_domain
from ..kernels import StationaryKernel
from ..similarity import Similarity
from . import landmarks as by_landmarks
from ._base import Floats, Landmarks, Solution, Strategy


@dataclass(repr=False)
class Eigen(Strategy):
    """Invert every covariance and take the leading eigenpairs (Li & Wu 2024, Alg. 1).

    Exact where covariances are; small ones that are noise spoil it.

    Parameters
    ----------
    reference : {"center", "min_max", "min_mean"} or int
        Reference point of the Gram matrix (Section 2.5); an int is a row of X.

    Examples
    --------
    >>> from ikd_graph import strategies
    >>> strategies.Eigen.paper()
    Eigen(reference='min_max')
    """

    name: ClassVar[str] = "eigen"
    uses_graph: ClassVar[bool] = False
    reference: str | int = "center"

    @classmethod
    def paper(cls) -> Eigen:
        """The paper's settings."""
        return cls(reference="min_max")

    def solve(
        self,
        similarity: Similarity,
        graph: CsrGraph | None,
        kernel: StationaryKernel,
        n_components: int,
        landmarks: Landmarks | None = None,
    ) -> Solution:
        """See `Strategy.solve`."""
        if landmarks is not None:
            return self._by_landmarks(similarity, kernel, n_components, landmarks)
        sq_dist = kernel.sq_distance(into_domain.unchecked(similarity.matrix()))
        return Solution(eigen.coordinates.unchecked(sq_dist, n_components, self.reference))

    def _by_landmarks(
        self, similarity: Similarity, kernel: StationaryKernel, size: int, landmarks: Landmarks
    ) -> Solution:
        """The same with the covariances of landmarks only: no (n, n) array."""
        n_below = 0

        def measure(nodes: NDArray[np.int64]) -> Floats:
            nonlocal n_below
            corr = np.asarray(similarity.block(nodes), dtype=np.float64)
            n_below += int(np.count_nonzero(corr <= 0.0))
            return np.sqrt(kernel.sq_distance(np.clip(corr, FLOOR, 1.0)))

        drawn = by_landmarks.draw_for(measure, similarity.totals(), landmarks, self.reference)
        drawn.lengths[np.arange(drawn.nodes.size), drawn.nodes] = 0.0
        if n_below:
            warn(
                f"{n_below} of {drawn.lengths.size} pairs with a landmark have a covariance <= 0; "
                f"they were set to {FLOOR:g}. Such pairs carry no distance: strategy='geodesic' "
                "does without them"
            )
        solution = by_landmarks.solve(drawn, np.square, size, self.reference)
        return Solution(solution, landmarks=drawn.nodes)
