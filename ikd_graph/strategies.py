"""Closed forms: how coordinates follow from the covariances that are trusted.

`Eigen`, `Geodesic` and `Blockwise` invert covariances and end in leading eigenpairs (Li & Wu 2024,
Section 2.4). They differ in what they do about small covariances: "eigen" inverts all, "geodesic"
replaces them by paths, "blockwise" solves cliques of large ones and merges them. `Linear` is the
closed form of a linear kernel: principal components.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from . import blockwise, cliques, eigen, geodesics
from ._base import limits
from ._base import validation as check
from ._base.format import setting
from ._base.types import Floats, Integers
from ._base.warn import warn
from .blockwise import SolvedBlocks
from .eigen import Embedding, principal_components
from .graph import CsrGraph, check_graph
from .kernels import StationaryKernel
from .similarity import Similarity

__all__ = [
    "STRATEGIES", "Blockwise", "Eigen", "Geodesic", "Linear", "Problem", "Solution", "Strategy",
    "geodesic_frame", "principal_components",
]  # fmt: skip

PATHS = ("distance", "covariance")
MERGES = ("global", "greedy")

_FRAME_LANDMARKS = 60
"""Landmarks of a frame, and one for each coordinate."""


class Problem(NamedTuple):
    """What a strategy solves: n points in so many coordinates."""

    similarity: Similarity  # how the points are compared
    graph: CsrGraph | None  # connected, of trusted similarities; None for strategies without one
    kernel: StationaryKernel  # that similarities are estimates of
    n_components: int
    n_landmarks: int | None = None  # points that distances are measured from, None for all
    random_state: int = 0  # seed that chooses them


class Solution(NamedTuple):
    """A closed form and what its strategy says of it."""

    embedding: Embedding
    solved: SolvedBlocks | None = None  # the cliques, each in a frame of its own
    residuals: Floats | None = None  # (n,) how far the cliques of a point disagree
    start_weight: float | None = None  # weight of the geodesic solution, all cliques having 1
    landmarks: Integers | None = None  # (l,) points that distances were measured from
    paths: geodesics.Paths | None = None  # the distances, for a refinement


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

    path: str = "distance"
    reference: str | int = "center"

    def check(self) -> None:
        """Raise ValueError where a parameter breaks its rule."""
        if isinstance(self.reference, (int, np.integer)) and not isinstance(self.reference, bool):
            check.whole(0)("reference", self.reference)
        else:
            check.one_of(eigen.REFERENCES)("reference", self.reference)

    @abstractmethod
    def solve(self, problem: Problem) -> Solution:
        """Solve n points in closed form.

        Parameters
        ----------
        problem : Problem
            The points, their graph, the kernel and the number M of coordinates.

        Returns
        -------
        Solution
            Coordinates (n, M) float64 with their spectrum.
        """


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
        """Return the paper's settings."""
        return cls(reference="min_max")

    def solve(self, problem: Problem) -> Solution:
        """See `Strategy.solve`; memory grows with the square of the number of points."""
        _check_memory(problem)
        sq_dist = problem.similarity.sq_distances(problem.kernel)
        return Solution(eigen.coordinates(sq_dist, problem.n_components, self.reference))


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
    path: str = "distance"
    reference: str | int = "center"

    @classmethod
    def paper(cls) -> Geodesic:
        """Return the paper's settings."""
        return cls(path="covariance", reference="min_max")

    def check(self) -> None:
        """See `Strategy.check`."""
        check.one_of(PATHS)("path", self.path)
        super().check()

    def solve(self, problem: Problem) -> Solution:
        """See `Strategy.solve`; from landmarks no (n, n) array is made."""
        graph, kernel, size = problem.graph, problem.kernel, problem.n_components
        assert graph is not None
        _check_memory(problem)
        first = None if isinstance(self.reference, str) else int(self.reference)
        paths = geodesics.best_paths(
            graph, kernel, self.path, problem.n_landmarks, problem.random_state, first
        )
        squares, nodes, counts = paths
        if nodes is None:
            solution = eigen.coordinates(squares, size, self.reference)
        else:
            solution = eigen.landmark_coordinates(nodes, squares, counts, size, self.reference)
        return Solution(solution, landmarks=nodes, paths=paths)


@check.validate(graph=check_graph)
def geodesic_frame(graph: CsrGraph, kernel: StationaryKernel, n_components: int) -> Floats:
    """Distance-geodesic coordinates (n, M) that cliques are aligned to."""
    check.components(graph.n_nodes)("n_components", n_components)
    lengths = geodesics.distance_lengths(graph, kernel)
    count = min(_FRAME_LANDMARKS + n_components, graph.n_nodes)
    nodes, distances = geodesics.farthest_nodes(lengths, count)
    paths = geodesics.Paths.of(np.square(distances), nodes)
    return eigen.landmark_coordinates(
        nodes, paths.sq_distances, paths.counts, n_components
    ).coordinates


@dataclass(repr=False)
class Blockwise(Strategy):
    """Solve cliques of the graph and merge them by rigid motions (Li & Wu 2024, Section 2.4).

    Parameters
    ----------
    merge : {"global", "greedy"} or callable
        "global" solves a cover of the edges and aligns all cliques at once, from the geodesic
        solution, which itself counts where cliques are noisy; "greedy" is the paper's: a clique
        around each point, then always the pair that shares most points, the geodesic solution for
        what fewer than M + 1 of them, or flat ones, leave open. A function of the
        solved cliques (`blockwise.SolvedBlocks`) and the number of points returns coordinates.
    max_cliques : int or None
        Budget of the clique cover; None lets the number of points decide.
    reference : {"center", "min_max", "min_mean"}
        Origin of the inner products of each clique.
    cliques : callable or None
        Function of the graph (`graph.CsrGraph`) that returns the cliques to solve, such as
        `cliques.maximal_cliques`; None takes those of ``merge``. Duplicate rows are one node.

    Examples
    --------
    >>> from ikd_graph import cliques, strategies
    >>> strategies.Blockwise.paper()
    Blockwise(merge='greedy', reference='min_max')
    >>> all_of_them = strategies.Blockwise(cliques=cliques.maximal_cliques)
    """

    name: ClassVar[str] = "blockwise"
    merge: str | Callable[[SolvedBlocks, int], ArrayLike] = "global"
    max_cliques: int | None = None
    reference: str | int = "center"
    cliques: Callable[[CsrGraph], Iterable[ArrayLike]] | None = None

    @classmethod
    def paper(cls) -> Blockwise:
        """Return the settings of the paper's text.

        The text leaves open which cliques, "up to T", are visited before every point is covered,
        and what happens to cliques that share fewer than M + 1 points with the rest. Here a clique
        grows around each point, nearest neighbor first (`cliques.covering_cliques`), and the
        geodesic solution has what is open. Small errors add up from merger to merger, as the paper
        says: on noisy rows "global" is better.
        """
        return cls(merge="greedy", reference="min_max")

    def check(self) -> None:
        """See `Strategy.check`."""
        if not callable(self.merge):
            check.one_of(MERGES)("merge", self.merge)
        if self.max_cliques is not None:
            check.whole(1)("max_cliques", self.max_cliques)
        if self.cliques is not None and not callable(self.cliques):
            raise ValueError(
                "cliques must be None or a function of the graph that returns cliques, got "
                f"{self.cliques!r}; {setting('max_cliques', 7)} limits their number"
            )
        check.one_of(eigen.REFERENCES)("reference", self.reference)

    def solve(self, problem: Problem) -> Solution:
        """See `Strategy.solve`; memory grows with edges and cliques: no landmarks are needed.

        Groups of cliques that share too few points with the others to have a unique place are put
        where a rigid motion brings them nearest to the geodesic solution, with a warning. The
        spectrum is that of the merged coordinates; the negative mass is a mean over cliques.
        """
        graph, kernel, n_components = problem.graph, problem.kernel, problem.n_components
        assert graph is not None
        n = graph.n_nodes
        if self.cliques is not None:
            chosen = cliques.Cliques(self.cliques(graph), n)
            if not len(chosen):
                raise ValueError(
                    "cliques must return one or more cliques of the graph, got none; "
                    "cliques.maximal_cliques lists all"
                )
        elif self.merge == "greedy":
            chosen = cliques.covering_cliques(graph)
        else:
            chosen = cliques.cover(graph, n_components + 2, max_cliques=self.max_cliques)
        counts = problem.similarity.shared_columns(graph.rows, graph.indices)
        solved = blockwise.solve(
            graph, chosen, kernel, n_components, str(self.reference), n_observed=counts
        )
        solved = blockwise.largest_first(solved)
        start_weight = None
        if callable(self.merge):
            points = _merged_by(self.merge, solved, n)
            residuals = blockwise.residuals(solved, points)
        else:
            frame = geodesic_frame(graph, kernel, n_components)
            greedy = self.merge == "greedy"
            merged = (blockwise.merge_greedy if greedy else blockwise.merge)(solved, n, start=frame)
            points, residuals = merged.coordinates, merged.residuals
            start_weight = None if greedy else merged.start_weight
            if merged.labels.any():
                _warn_groups(merged.labels)
        points, values = eigen.principal_axes(points)
        explained = values**2 / (float(np.sum(values**2)) or 1.0)
        mass = float(np.average(solved.negative_mass, weights=solved.blocks.sizes))
        return Solution(Embedding(points, values, explained, mass), solved, residuals, start_weight)


def _merged_by(
    merge: Callable[[SolvedBlocks, int], ArrayLike], solved: SolvedBlocks, n_points: int
) -> Floats:
    """Coordinates that a caller's function makes of solved cliques."""
    points = np.array(merge(solved, n_points), dtype=np.float64)
    expected = (n_points, solved.coordinates.shape[1])
    if points.shape != expected or not np.isfinite(points).all():
        raise ValueError(
            f"merge must return finite coordinates of shape {expected}, got shape {points.shape}; "
            "one row for each node of the graph"
        )
    return points


def _warn_groups(labels: NDArray[np.integer]) -> None:
    """Say how many points no clique connects to the rest."""
    sizes = np.bincount(labels)
    warn(
        f"{sizes.size} groups of cliques share no point with one another; "
        f"{labels.size - sizes.max()} points were placed by the geodesic solution; "
        f"{setting('strategy', 'geodesic')} places all points so"
    )


@dataclass(repr=False)
class Linear(Strategy):
    """Principal components of the rows as they are compared (Lawrence 2005, Section 2).

    Of covariances alone, those of the distances between all pairs.

    Examples
    --------
    >>> from ikd_graph import strategies
    >>> strategies.Linear()
    Linear()
    """

    name: ClassVar[str] = "linear"
    uses_graph: ClassVar[bool] = False
    uses_kernel: ClassVar[bool] = False

    @classmethod
    def paper(cls) -> Linear:
        """Return the paper's settings."""
        return cls()

    def solve(self, problem: Problem) -> Solution:
        """See `Strategy.solve`; the explained variance ratio is that of principal components."""
        similarity, n_components = problem.similarity, problem.n_components
        rows, unit = similarity.rows, similarity.unit
        if rows is not None:
            embedding = principal_components(rows, n_components)
        else:
            values = similarity.matrix()
            own = values.diagonal()
            sq_dist = np.maximum(own[:, None] + own - 2.0 * values, 0.0)
            embedding = eigen.coordinates(sq_dist, n_components)
            total = float(sq_dist.sum()) / (2.0 * len(sq_dist))
            ratio = embedding.eigenvalues / (total or 1.0)
            embedding = embedding._replace(explained_variance_ratio=ratio)
        # Coordinates of distances in units of sigma, in the unit of the distances.
        points, values = unit * embedding.coordinates, unit**2 * embedding.eigenvalues
        return Solution(embedding._replace(coordinates=points, eigenvalues=values))


STRATEGIES: dict[str, type[Strategy]] = {
    kind.name: kind for kind in (Geodesic, Blockwise, Eigen, Linear)
}
"""Class of every strategy, by the name that `IKD` calls it."""


# Landmarks ----------------------------------------------------------------------------------------


def number_of_landmarks(
    n_landmarks: float | str | None, n_samples: int, n_components: int
) -> tuple[int | None, str]:
    """Count landmarks that a setting stands for, and why if "auto" chose.

    The setting is "auto", a number of points, a fraction of them, or None; None is returned where
    all points are solved. There are at least 2 M + 1 landmarks.

    Examples
    --------
    >>> from ikd_graph.strategies import number_of_landmarks
    >>> number_of_landmarks(0.1, 1000, 2)[0]
    100
    >>> number_of_landmarks("auto", 70_000, 2)[1]
    '300 landmarks stand for 70000 points: distances to more tell no more'
    """
    if n_landmarks == "auto":
        count = geodesics.auto_landmarks(n_samples, n_components)
        why = f"{count} landmarks stand for {n_samples} points: distances to more tell no more"
        return count, "" if count is None else why
    if n_landmarks is None:
        return None, ""
    unit = n_samples if isinstance(n_landmarks, float) else 1
    count = max(round(float(n_landmarks) * unit), 2 * n_components + 1)
    return (None if count >= n_samples else count), ""


def check_landmarks(n_landmarks: Any, n_components: int) -> None:
    """Raise unless ``n_landmarks`` is "auto", None, a number of points or a fraction of them."""
    if isinstance(n_landmarks, float):
        check.fraction("n_landmarks", n_landmarks)
    else:
        rule = check.whole(n_components + 1, cure="'auto' chooses a number")
        check.optional(check.auto_or(rule))("n_landmarks", n_landmarks)


def _check_memory(problem: Problem) -> None:
    """Raise MemoryError where the distances of a closed form do not fit in memory."""
    n_samples, n_landmarks = problem.similarity.n_samples, problem.n_landmarks
    # A table of distances and its intermediate results.
    columns, tables = (n_samples, 4.0) if n_landmarks is None else (n_landmarks, 1.2)
    needed, free = 8.0 * n_samples * columns * tables, limits.free_memory()
    if free is not None and needed > free:
        raise MemoryError(
            f"distances between {n_samples} points and {columns} must fit into memory, got "
            f"{int(needed)} bytes ({needed * 1e-9:.1f} GB) with {free} available "
            f"({free * 1e-9:.1f} GB); {setting('strategy', 'geodesic')} and "
            f"{setting('n_landmarks', 300)} need less"
        )
