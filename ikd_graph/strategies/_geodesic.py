"""The geodesic strategy: replace what is not an edge by the best path."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from .. import eigen, geodesics
from .._base.types import Floats
from .._base.validation import check_choice, check_components, validate
from ..geodesics import path_lengths, sq_distances, squares_of_lengths
from ..graph import CsrGraph, check_graph
from ..kernels import StationaryKernel
from ..similarity import Similarity
from . import landmarks as by_landmarks
from ._base import Landmarks, Solution, Strategy

PATHS = ("distance", "covariance")

# Landmarks of a frame, and one for each coordinate.
_FRAME_LANDMARKS = 60


@dataclass(repr=False)
class Geodesic(Strategy):
    """Replace what is not an edge by the best path, then take the leading eigenpairs (Section 2.4).

    Parameters
    ----------
    path : {"distance", "covariance"}
        What a path optimizes: the smallest sum of distances, which agrees with the kernel to first
        order, or the largest product of covariances (the paper).
    reference : {"center", "min_max", "min_mean"} or int
        Reference point of the Gram matrix (Section 2.5); an int is a row of X.

    Examples
    --------
    >>> from ikd_graph import strategies
    >>> strategies.Geodesic.paper()
    Geodesic(path='covariance', reference='min_max')
    """

    name: ClassVar[str] = "geodesic"
    uses_landmarks: ClassVar[bool] = True
    holds_distances: ClassVar[bool] = True
    path: str = "distance"
    reference: str | int = "center"

    @classmethod
    def paper(cls) -> Geodesic:
        """Return the paper's settings."""
        return cls(path="covariance", reference="min_max")

    def check(self) -> None:
        """See `Strategy.check`."""
        check_choice("path", self.path, PATHS)
        super().check()

    def solve(
        self,
        similarity: Similarity,
        graph: CsrGraph | None,
        kernel: StationaryKernel,
        n_components: int,
        landmarks: Landmarks | None = None,
    ) -> Solution:
        """See `Strategy.solve`."""
        assert graph is not None
        if landmarks is not None:
            return self._by_landmarks(graph, kernel, n_components, landmarks)
        sq_dist = sq_distances(graph, kernel, self.path)
        return Solution(eigen.coordinates(sq_dist, n_components, self.reference))

    def _by_landmarks(
        self, graph: CsrGraph, kernel: StationaryKernel, size: int, landmarks: Landmarks
    ) -> Solution:
        """Return the same with paths from landmarks only: no (n, n) array."""
        lengths = path_lengths(graph, kernel, self.path)
        first = None if isinstance(self.reference, str) else int(self.reference)
        nodes, distances = by_landmarks.draw(lengths, landmarks, first)
        # Edges keep their own lengths, as in the solution of all points.
        for row, node in enumerate(nodes):
            edge = slice(lengths.indptr[node], lengths.indptr[node + 1])
            distances[row, lengths.indices[edge]] = lengths.weights[edge]
        to_squares = partial(squares_of_lengths, kernel, self.path)
        solution = by_landmarks.solve(nodes, distances, to_squares, size, self.reference)
        return Solution(solution, landmarks=nodes)


@validate(graph=check_graph)
def geodesic_frame(graph: CsrGraph, kernel: StationaryKernel, n_components: int) -> Floats:
    """Distance-geodesic coordinates (n, M) that cliques are aligned to."""
    check_components(n_components, graph.n_nodes)
    lengths = geodesics.distance_lengths(graph, kernel)
    count = min(_FRAME_LANDMARKS + n_components, graph.n_nodes)
    nodes, distances = geodesics.farthest_nodes(lengths, count)
    return by_landmarks.solve(nodes, distances, np.square, n_components).coordinates
