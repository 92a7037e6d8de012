"""What every strategy takes and returns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from .._base.types import Floats
from .._base.validation import check_choice, check_integer
from ..blockwise import Joints, SolvedBlocks
from ..eigen import REFERENCES, Embedding
from ..graph import CsrGraph
from ..kernels import StationaryKernel
from ..similarity import Similarity


class Landmarks(NamedTuple):
    """How many points distances are measured from, and the seed that chooses them."""

    number: int
    random_state: int = 0


class Solution(NamedTuple):
    """A closed form and what its strategy says of it."""

    embedding: Embedding
    solved: SolvedBlocks | None = None  # the cliques, each in a frame of its own
    residuals: Floats | None = None  # (n,) how far the cliques of a point disagree
    start_weight: float | None = None  # weight of the geodesic solution, all cliques having 1
    joints: Joints | None = None  # what the cliques leave open between them
    landmarks: NDArray[np.int64] | None = None  # (l,) points that distances were measured from


class Strategy(BaseEstimator, ABC):
    """From similarities, or a graph of them, to coordinates in closed form.

    A strategy is a small object of parameters: scikit-learn clones it, prints it, and searches its
    parameters (``strategy__path``).
    """

    name: ClassVar[str]
    """What `IKD` calls it."""

    uses_graph: ClassVar[bool] = True
    """Whether it solves on a connected graph; else on all pairs."""

    uses_kernel: ClassVar[bool] = True
    """Whether similarities are inverted to distances; else coordinates are projections of rows."""

    uses_landmarks: ClassVar[bool] = False
    """Whether distances may be measured from some of the points alone."""

    holds_distances: ClassVar[bool] = False
    """Whether distances between all points, or from landmarks to all, are in memory at once."""

    path: str = "distance"
    reference: str | int = "center"

    def check(self) -> None:
        """Raise ValueError where a parameter breaks its rule."""
        if isinstance(self.reference, (int, np.integer)) and not isinstance(self.reference, bool):
            check_integer("reference", self.reference, 0)
        else:
            check_choice("reference", self.reference, REFERENCES)

    def with_spectrum(self) -> Strategy:
        """Return the strategy whose spectrum tells the number of coordinates: itself, mostly."""
        return self

    def most_components(self, n_points: int, n_columns: int) -> int:
        """Return the largest number of coordinates that a table of this size has."""
        return n_points - 1

    @abstractmethod
    def solve(
        self,
        similarity: Similarity,
        graph: CsrGraph | None,
        kernel: StationaryKernel,
        n_components: int,
        landmarks: Landmarks | None = None,
    ) -> Solution:
        """Solve n points in closed form.

        Parameters
        ----------
        similarity : Similarity
            How the points are compared.
        graph : CsrGraph or None
            Connected graph of trusted similarities; None for strategies without a graph.
        kernel : StationaryKernel
            Kernel that similarities are estimates of.
        n_components : int
            Number M of coordinates.
        landmarks : Landmarks, optional
            Measure distances from so many points only; None measures all.

        Returns
        -------
        Solution
            Coordinates (n, M) float64 with their spectrum.
        """
