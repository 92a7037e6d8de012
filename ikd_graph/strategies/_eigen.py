"""The eigen strategy: invert every covariance, take the leading eigenpairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .. import eigen
from ..graph import CsrGraph
from ..kernels import StationaryKernel
from ..similarity import Similarity
from ._base import Landmarks, Solution, Strategy


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
    holds_distances: ClassVar[bool] = True
    reference: str | int = "center"

    @classmethod
    def paper(cls) -> Eigen:
        """Return the paper's settings."""
        return cls(reference="min_max")

    def solve(
        self,
        similarity: Similarity,
        graph: CsrGraph | None,
        kernel: StationaryKernel,
        n_components: int,
        landmarks: Landmarks | None = None,
    ) -> Solution:
        """See `Strategy.solve`; memory grows with the square of the number of points."""
        sq_dist = similarity.sq_distances(kernel)
        return Solution(eigen.coordinates(sq_dist, n_components, self.reference))
