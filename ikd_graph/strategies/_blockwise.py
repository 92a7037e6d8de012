"""The blockwise strategy: solve cliques of the graph and merge them by rigid motions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import blockwise, cliques, eigen
from .._base.types import Floats
from .._base.validation import check_choice, check_integer, validating
from .._base.warn import warn
from ..blockwise import SolvedBlocks
from ..eigen import Embedding
from ..graph import CsrGraph
from ..kernels import StationaryKernel
from ..similarity import Similarity
from ._base import Landmarks, Solution, Strategy
from ._geodesic import Geodesic, geodesic_frame

MERGES = ("global", "greedy")


@dataclass(repr=False)
class Blockwise(Strategy):
    """Solve cliques of the graph and merge them by rigid motions (Li & Wu 2024, Section 2.4).

    Parameters
    ----------
    merge : {"global", "greedy"} or callable
        "global" solves a cover of the edges and aligns all cliques at once, from the geodesic
        solution, which itself counts where cliques are noisy; "greedy" is the paper's: cliques
        until every point is covered, then always the pair that shares most points, the geodesic
        solution for what fewer than M + 1 of them, or flat ones, leave open. A function of the
        solved cliques (`blocks.SolvedBlocks`) and the number of points returns coordinates.
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

        The text leaves open which cliques are visited before every point is covered, and what
        happens to cliques that share fewer than M + 1 points with the rest. Here each clique starts
        at a point that is in none, further ones are visited until all hang together, if as many
        as there are points do (`cliques.covering_cliques`), and the geodesic solution has what is
        open. Small errors add up from merger to merger, as the paper says: on noisy rows
        "global" is better.
        """
        return cls(merge="greedy", reference="min_max")

    def check(self) -> None:
        """See `Strategy.check`."""
        if not callable(self.merge):
            check_choice("merge", self.merge, MERGES)
        if self.max_cliques is not None:
            check_integer("max_cliques", self.max_cliques, 1)
        check_choice("reference", self.reference, eigen.REFERENCES)

    def with_spectrum(self) -> Strategy:
        """See `Strategy.with_spectrum`: merged cliques have none, the paths of their graph have."""
        return Geodesic()

    def solve(
        self,
        similarity: Similarity,
        graph: CsrGraph | None,
        kernel: StationaryKernel,
        n_components: int,
        landmarks: Landmarks | None = None,
    ) -> Solution:
        """See `Strategy.solve`; memory grows with edges and cliques: no landmarks are needed.

        Groups of cliques that share too few points with the others to have a unique place are put
        where a rigid motion brings them nearest to the geodesic solution, with a warning. The
        spectrum is that of the merged coordinates; the negative mass is a mean over cliques.
        """
        assert graph is not None
        n = graph.n_nodes
        if self.cliques is not None:
            with validating():
                chosen = cliques.Cliques(self.cliques(graph), n)
        elif self.merge == "greedy":
            chosen = cliques.covering_cliques(graph, min_shared=n_components + 1)
        else:
            chosen = cliques.cover(graph, n_components + 2, max_cliques=self.max_cliques)
        # Cliques of a caller are checked against the graph.
        with validating() if self.cliques else nullcontext():
            solved = blockwise.solve(
                graph,
                chosen.blocks,
                kernel,
                n_components,
                str(self.reference),
                n_observed=similarity.shared_columns(graph.rows, graph.indices),
            )
        solved = blockwise.largest_first(solved)
        fraction = None
        if callable(self.merge):
            points = _merged_by(self.merge, solved, n)
            residuals = blockwise.residuals(solved, points)
            joints = blockwise.joints(solved, points)
            return Solution(_embedding(points, solved), solved, residuals, joints=joints)
        frame = geodesic_frame(graph, kernel, n_components)
        if self.merge == "greedy":
            merged = blockwise.merge_greedy(solved, n, start=frame)
        else:
            merged = blockwise.merge(solved, n, start=frame)
            fraction = merged.start_weight
        points = merged.coordinates
        if merged.labels.any():
            _warn_groups(merged.labels)
        joints = blockwise.joints(solved, points)
        return Solution(_embedding(points, solved), solved, merged.residuals, fraction, joints)


def _merged_by(
    merge: Callable[[SolvedBlocks, int], ArrayLike], solved: SolvedBlocks, n_points: int
) -> Floats:
    """Coordinates that a caller's function makes of solved cliques."""
    with validating():
        points = np.array(merge(solved, n_points), dtype=np.float64)
    expected = (n_points, solved.coordinates.shape[1])
    if points.shape != expected or not np.isfinite(points).all():
        raise ValueError(
            f"merge must return finite coordinates of shape {expected}, got shape {points.shape}; "
            "one row for each node of the graph"
        )
    return points


def _embedding(points: Floats, solved: SolvedBlocks) -> Embedding:
    """Turn merged coordinates to their principal axes, with the mean negative mass of cliques."""
    points, values = eigen.principal_axes(points)
    fraction = values**2 / (float(np.sum(values**2)) or 1.0)
    mass = float(np.average(solved.negative_mass, weights=solved.blocks.sizes))
    return Embedding(points, values, fraction, mass, eigen.CENTER)


def _warn_groups(labels: NDArray[np.integer]) -> None:
    """Say how many points no clique connects to the rest."""
    sizes = np.bincount(labels)
    warn(
        f"{sizes.size} groups of cliques share no point with one another; "
        f"{labels.size - sizes.max()} points were placed by the geodesic solution; "
        "strategy='geodesic' places all points so"
    )
