"""The geodesic strategy: replace what is not an edge by the best path."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from .. import _limits, eigen, geodesics
from .._records import CsrGraph
from .._stages import Stages
from . import landmarks
from ._paths import geodesic_sq_distances, path_lengths, squares_of_lengths
from ._plan import Plan, Solution

Floats = NDArray[np.float64]

# Landmarks of a frame, and one for each coordinate.
_FRAME_LANDMARKS = 60


def solve_geodesic(g: CsrGraph, plan: Plan, stages: Stages) -> Solution:
    """Replace what is not an edge by the best path, then take the leading eigenpairs.

    ``path="covariance"`` takes the largest product of covariances (Li & Wu 2024, Section 2.4),
    ``path="distance"`` the smallest sum of distances, which agrees with the kernel to first order.
    """
    if plan.n_landmarks is not None and plan.n_landmarks < g.n_nodes:
        return _solve_landmarks(g, plan, stages)
    with stages("geodesics"):
        sq_dist = geodesic_sq_distances(g, plan.kernel, plan.path)
    with stages("eigenpairs"):
        found = eigen.coordinates(sq_dist, plan.n_components, plan.reference)
    # A polish by stress aims at all of them.
    return Solution(found, sq_dist=sq_dist if g.n_nodes <= _limits.STRESS_FAR else None)


def _solve_landmarks(g: CsrGraph, plan: Plan, stages: Stages) -> Solution:
    """The same with paths from landmarks only: no (n, n) array."""
    with stages("landmarks"):
        lengths = path_lengths(g, plan.kernel, plan.path)
        sources = np.repeat(np.arange(g.n_nodes), np.diff(g.indptr))
        strength = np.bincount(sources, g.weights, minlength=g.n_nodes).astype(np.float64)
        drawn = landmarks.draw_for(geodesics.distances_from(lengths), strength, plan)
        # Edges keep their own lengths, as in the solution of all points.
        for row, node in enumerate(drawn.nodes):
            edge = slice(lengths.indptr[node], lengths.indptr[node + 1])
            drawn.lengths[row, lengths.indices[edge]] = lengths.weights[edge]
    with stages("eigenpairs"):
        to_squares = partial(squares_of_lengths, plan.kernel, plan.path)
        found = landmarks.solve(drawn, to_squares, plan.n_components, plan.reference)
    return Solution(found, landmarks=drawn.nodes)


def geodesic_frame(g: CsrGraph, plan: Plan) -> Floats:
    """Distance-geodesic latent in which blocks find their place; a large one from landmarks."""
    if g.n_nodes <= _limits.FRAME_WHOLE:
        sq_dist = geodesic_sq_distances(g, plan.kernel, "distance")
        return eigen.coordinates(sq_dist, plan.n_components).coordinates
    lengths = geodesics.distance_lengths(g, plan.kernel)
    count = min(_FRAME_LANDMARKS + plan.n_components, g.n_nodes)
    nodes, distances = geodesics.farthest_nodes(lengths, count)
    drawn = landmarks.Drawn(nodes, distances, np.ones(count, dtype=np.int64))
    return landmarks.solve(drawn, np.square, plan.n_components).coordinates
