"""Eigen, blockwise, geodesic: the three ways from the covariance graph to the latent.

All three invert the covariances they trust and end in leading eigenpairs (Li & Wu 2024, Section
2.4); they differ in what they do about the covariances they do not trust. "eigen" trusts all,
"blockwise" solves cliques of trusted pairs and merges them, "geodesic" replaces the rest by paths.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from . import alignment, blocks, cliques, eigen, geodesics, graph, landmarks
from ._records import Blocks, CsrGraph, Embedding, SolvedBlocks
from ._stages import Stages
from ._threads import map_blocks
from .covariance import FLOOR, into_domain
from .kernels import StationaryKernel

Floats = NDArray[np.float64]

STRATEGIES = ("eigen", "blockwise", "geodesic")
PATHS = ("covariance", "distance")
MERGES = ("greedy", "global")
DISCONNECTED = ("raise", "join", "separate")

# Up to so many points the frame of a blockwise solution is the whole geodesic one.
_WHOLE_FRAME = 1000
_FRAME_LANDMARKS = 60


@dataclass(frozen=True)
class Plan:
    """How to go from a graph to a latent, the same for every component of the graph."""

    strategy: str
    kernel: StationaryKernel
    n_components: int
    path: str = "distance"
    reference: str | int = "center"
    merge: str = "global"
    max_cliques: int | None = None
    n_observed: int | None = None
    n_landmarks: int | None = None  # None solves all points
    random_state: Any = None  # seed of the landmarks


@dataclass(frozen=True)
class Solution:
    """A latent with what is worth knowing about the way to it."""

    embedding: Embedding
    sq_dist: Floats | None = None  # (n, n) squared distances the latent came from
    cliques: Blocks | None = None
    residuals: Floats | None = None  # (n,) how far cliques disagree about each point
    merge_order: NDArray[np.int64] | None = None  # (merges, 3) block, block, shared points
    landmarks: landmarks.Landmarks | None = None


def solve_eigen(corr: Floats, plan: Plan, stages: Stages) -> Solution:
    """Invert every covariance and take the leading eigenpairs (Li & Wu 2024, Alg. 1).

    Parameters
    ----------
    corr : (n, n) ndarray of float64
        Covariances on the scale where the variance is 1.
    plan : Plan
        Kernel, number of components and reference point.
    stages : Stages
        Clock.

    Returns
    -------
    Solution
        The latent.
    """
    with stages("inverse kernel"):
        sq_dist = plan.kernel.sq_distance(into_domain(corr))
    with stages("eigenpairs"):
        embedding = eigen.coordinates(sq_dist, plan.n_components, plan.reference)
    return Solution(embedding, sq_dist)


def solve_geodesic(g: CsrGraph, plan: Plan, stages: Stages) -> Solution:
    """Replace what is not an edge by the best path, then as `solve_eigen`.

    Parameters
    ----------
    g : CsrGraph
        Connected graph of trusted covariances.
    plan : Plan
        Kernel, path, number of components and reference point. ``path="covariance"`` takes the
        largest product of covariances (Li & Wu 2024, Section 2.4), ``path="distance"`` the
        smallest sum of distances, which agrees with the kernel to first order.
    stages : Stages
        Clock.

    Returns
    -------
    Solution
        The latent.
    """
    if plan.n_landmarks is not None and plan.n_landmarks < g.n_nodes:
        return _solve_geodesic_landmarks(g, plan, stages)
    with stages("geodesics"):
        sq_dist = geodesic_sq_distances(g, plan)
    with stages("eigenpairs"):
        embedding = eigen.coordinates(sq_dist, plan.n_components, plan.reference)
    return Solution(embedding, sq_dist)


def _solve_geodesic_landmarks(g: CsrGraph, plan: Plan, stages: Stages) -> Solution:
    """As `solve_geodesic` with paths from landmarks only: no (n, n) array."""
    with stages("landmarks"):
        lengths = landmarks.path_lengths(g, plan.kernel, plan.path)
        drawn = _draw(partial(geodesics.shortest_distances, lengths), g.n_nodes, plan)
        # Edges keep their own lengths, as in the solution of all points.
        for row, node in enumerate(drawn.nodes):
            edge = slice(lengths.indptr[node], lengths.indptr[node + 1])
            drawn.lengths[row, lengths.indices[edge]] = lengths.weights[edge]
    with stages("eigenpairs"):
        to_squares = partial(landmarks.squares_of_lengths, plan.kernel, plan.path)
        embedding, kept = landmarks.solve(drawn, to_squares, plan.n_components, plan.reference)
    return Solution(embedding, landmarks=kept)


def solve_eigen_landmarks(
    correlations: Callable[[NDArray[np.int64]], Floats], n_points: int, plan: Plan, stages: Stages
) -> Solution:
    """Invert the covariances with landmarks only, as `solve_eigen` does all of them.

    Parameters
    ----------
    correlations : callable
        Maps (b,) points to their (b, n) covariances, on the scale where the variance is 1.
    n_points : int
        Number of points.
    plan : Plan
        Kernel, number of components, reference point and number of landmarks.
    stages : Stages
        Clock.

    Returns
    -------
    Solution
        The latent.
    """
    below = 0

    def measure(nodes: NDArray[np.int64]) -> Floats:
        nonlocal below
        corr = correlations(nodes)
        below += int(np.count_nonzero(corr <= 0.0))
        return np.sqrt(plan.kernel.sq_distance(np.clip(corr, FLOOR, 1.0)))

    with stages("landmarks"):
        drawn = _draw(measure, n_points, plan)
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
        embedding, kept = landmarks.solve(drawn, np.square, plan.n_components, plan.reference)
    return Solution(embedding, landmarks=kept)


def _draw(
    measure: Callable[[NDArray[np.int64]], NDArray[np.floating]], n_points: int, plan: Plan
) -> landmarks.Drawn:
    """Landmarks as a plan wants them, the reference point among them."""
    count = plan.n_landmarks or n_points
    first = None if isinstance(plan.reference, str) else int(plan.reference) % n_points
    return landmarks.draw(measure, n_points, count, check_random_state(plan.random_state), first)


def geodesic_sq_distances(g: CsrGraph, plan: Plan) -> Floats:
    """Squared distances along the best paths of a connected graph, edges keeping their own.

    Parameters
    ----------
    g : CsrGraph
        Connected graph.
    plan : Plan
        Kernel and path.

    Returns
    -------
    (n, n) ndarray of float64
        Squared distances, symmetric.
    """
    if plan.path == "covariance":
        matrix = np.asarray(geodesics.geodesic_covariance(g), dtype=np.float64)

        def invert(start: int, stop: int) -> None:
            # In place: at thousands of points a second matrix is what memory runs out on.
            part = matrix[start:stop]
            np.clip(part, landmarks.SMALLEST_PRODUCT, 1.0, out=part)
            part[...] = plan.kernel.sq_distance(part)

        map_blocks(invert, g.n_nodes, 64)
        return matrix
    sq_dist = np.asarray(geodesics.geodesic_distances(g, plan.kernel), dtype=np.float64)
    np.square(sq_dist, out=sq_dist)
    sources, targets, weights = graph.edges(g)
    direct = plan.kernel.sq_distance(np.minimum(weights, 1.0))
    sq_dist[sources, targets] = direct
    sq_dist[targets, sources] = direct
    return sq_dist


def solve_blockwise(g: CsrGraph, plan: Plan, stages: Stages) -> Solution:
    """Solve cliques of the graph and merge them by rigid motions (Li & Wu 2024, Section 2.4).

    ``merge="greedy"`` is the paper's: cliques until every point is covered, then always the pair
    that shares most. ``merge="global"`` solves a cover of the edges and aligns all cliques at once,
    from the geodesic solution. Groups of cliques that share too few points with the others to have
    a unique place are put where a rigid motion brings them nearest to that solution, with a
    warning that counts the points moved so.

    Parameters
    ----------
    g : CsrGraph
        Connected graph of trusted covariances.
    plan : Plan
        Kernel, merge rule, number of components and reference point.
    stages : Stages
        Clock.

    Returns
    -------
    Solution
        The latent, the cliques, the residual of every point and the order of merging.
    """
    size = plan.n_components
    with stages("cliques"):
        if plan.merge == "greedy":
            chosen = cliques.covering_cliques(g)
        else:
            chosen = cliques.cover(g, size + 2, max_cliques=plan.max_cliques)
    with stages("cliques solved"):
        # An index is a point of all; every clique has a reference of its own.
        reference = "center" if isinstance(plan.reference, int) else plan.reference
        solved = blocks.largest_first(blocks.solve(g, chosen, plan.kernel, size, reference))
    with stages("merging"):
        if plan.merge == "greedy":
            merged = alignment.merge_greedy(solved, g.n_nodes)
            points = merged.coordinates
            if merged.labels.max(initial=0) > 0:
                _warn_groups(merged.labels)
                points = alignment.place_groups(points, merged.labels, geodesic_frame(g, plan))
        else:
            merged = alignment.merge_global(solved, g.n_nodes, start=geodesic_frame(g, plan))
            points = merged.coordinates
            if merged.labels.max(initial=0) > 0:
                _warn_groups(merged.labels)
    points = points - points.mean(axis=0)
    # The frame of a merged latent is free: turn it to its principal axes, as eigenpairs would.
    values, axes = np.linalg.eigh(points.T @ points)
    order = np.argsort(values)[::-1]
    points = eigen.pin_signs(points @ axes[:, order])
    share, mass = _mean_spectrum(solved)
    embedding = Embedding(points, values[order], share, mass, eigen.CENTRE)
    return Solution(embedding, None, solved.blocks, merged.residuals, merged.order)


def geodesic_frame(g: CsrGraph, plan: Plan) -> Floats:
    """Distance-geodesic latent in which blocks find their place, from landmarks where it is large.

    Parameters
    ----------
    g : CsrGraph
        Connected graph.
    plan : Plan
        Kernel and number of components.

    Returns
    -------
    (n, m) ndarray of float64
        Latent.
    """
    if g.n_nodes <= _WHOLE_FRAME:
        sq_dist = geodesic_sq_distances(g, replace(plan, path="distance"))
        return eigen.coordinates(sq_dist, plan.n_components).coordinates
    lengths = geodesics.distance_lengths(g, plan.kernel)
    drawn = landmarks.farthest_nodes(lengths, _FRAME_LANDMARKS + plan.n_components)
    return landmarks.solve(drawn, np.square, plan.n_components)[0].coordinates


def _warn_groups(labels: NDArray[np.integer]) -> None:
    """Say how many points no clique connects to the rest."""
    sizes = np.bincount(labels)
    warnings.warn(
        f"{sizes.size} groups of cliques share no point with one another; "
        f"{labels.size - sizes.max()} points were placed by the geodesic solution. A lower "
        "threshold or more neighbours would let them merge",
        UserWarning,
        stacklevel=3,
    )


def _mean_spectrum(solved: SolvedBlocks) -> tuple[Floats, float]:
    """Explained variance ratio and negative mass, averaged over cliques by their sizes."""
    sizes = solved.blocks.sizes.astype(np.float64)
    squares = solved.eigenvalues**2
    leading = squares.sum(axis=1)
    total = np.divide(
        leading,
        solved.explained_variance_ratio,
        out=np.zeros_like(leading),
        where=solved.explained_variance_ratio > 0.0,
    )
    share = np.divide(
        squares, total[:, None], out=np.zeros_like(squares), where=total[:, None] > 0.0
    )
    return np.average(share, axis=0, weights=sizes), float(
        np.average(solved.negative_mass, weights=sizes)
    )


def solve_separately(
    g: CsrGraph,
    labels: NDArray[np.int64],
    plan: Plan,
    stages: Stages,
    solve: Callable[[CsrGraph, Plan, Stages], Solution],
) -> Solution:
    """Solve every component of the graph by itself and lay them side by side.

    Parameters
    ----------
    g : CsrGraph
        The graph.
    labels : (n,) ndarray of int64
        Component of each point.
    plan : Plan
        How to solve; components too small for M coordinates get fewer and zeros.
    stages : Stages
        Clock.
    solve : callable
        `solve_geodesic` or `solve_blockwise`.

    Returns
    -------
    Solution
        The latent; its spectrum is that of the largest component.
    """
    members = [np.flatnonzero(labels == label) for label in range(int(labels.max()) + 1)]
    parts: list[Floats] = []
    spectra: list[Embedding] = []
    for rows in members:
        count = min(plan.n_components, rows.size - 1)
        padded = np.zeros((rows.size, plan.n_components))
        if count:
            reference = "center" if isinstance(plan.reference, int) else plan.reference
            smaller = replace(plan, n_components=count, reference=reference)
            solution = solve(graph.subgraph(g, rows), smaller, stages)
            padded[:, :count] = solution.embedding.coordinates
            spectra.append(solution.embedding)
        parts.append(padded)
    largest = max(spectra, key=lambda spectrum: spectrum.coordinates.shape[0])
    return Solution(
        largest._replace(coordinates=side_by_side(parts, members), reference=eigen.CENTRE)
    )


def side_by_side(parts: list[Floats], members: list[NDArray[np.intp]]) -> Floats:
    """Components of a graph laid out on a square grid of their first two coordinates.

    Parameters
    ----------
    parts : list of (n_i, m) ndarray of float64
        Latent of each component.
    members : list of (n_i,) ndarray of int
        Rows of each component.

    Returns
    -------
    (n, m) ndarray of float64
        Latent of all points, each component in a cell of its own.
    """
    n_components = parts[0].shape[1]
    out = np.zeros((sum(part.shape[0] for part in parts), n_components))
    middle = [0.5 * (part.max(axis=0) + part.min(axis=0)) for part in parts]
    extent = max(float(np.ptp(part, axis=0).max(initial=0.0)) for part in parts)
    pitch = 1.2 * extent if extent > 0.0 else 1.0
    columns = int(np.ceil(np.sqrt(len(parts)))) if n_components > 1 else len(parts)
    for cell, (part, rows) in enumerate(zip(parts, members, strict=True)):
        shift = np.zeros(n_components)
        shift[0] = pitch * (cell % columns)
        if n_components > 1:
            shift[1] = -pitch * (cell // columns)
        out[rows] = part - middle[cell] + shift
    return out
