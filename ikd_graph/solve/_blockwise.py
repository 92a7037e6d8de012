"""The blockwise strategy: solve cliques of the graph and merge them by rigid motions."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from .. import _limits, alignment, blocks, cliques, eigen
from .._records import CsrGraph, Embedding, SolvedBlocks
from .._stages import Stages
from .._threads import run_in_parallel
from ._geodesic import geodesic_frame
from ._plan import Plan, Solution

Floats = NDArray[np.float64]

# Where a merger ends. A large one has no certificate that could show the rest. On ten tables of
# 12 000 to 20 000 points a tolerance of 1e-6 instead moved R2 by -.0006 to .003 (median .0002), in
# up to half as much time again; 4e-4 lost .003 where points lie on a tree.
_TOLERANCE, _COARSE = 1e-5, 4e-5


def solve_blockwise(
    g: CsrGraph, plan: Plan, stages: Stages, frame: Floats | None = None
) -> Solution:
    """Solve cliques of the graph and merge them by rigid motions (Li & Wu 2024, Section 2.4).

    ``merge="greedy"`` is the paper's: cliques until every point is covered, then always the pair
    that shares most. ``merge="global"`` solves a cover of the edges and aligns all cliques at once,
    from the geodesic solution, which itself counts where cliques are noisy. Groups of cliques that
    share too few points with the others to have a unique place are put where a rigid motion brings
    them nearest to that solution, with a warning that counts the points moved so. ``frame`` is the
    geodesic solution where it is known.

    The spectrum is that of the merged latent, the explained variance and the negative mass are
    means over cliques.
    """
    size = plan.n_components

    def find_frame() -> Floats:
        return geodesic_frame(g, plan) if frame is None else frame

    with stages("cliques"):
        if plan.merge == "greedy":
            chosen = cliques.covering_cliques(g)
        else:
            chosen, frame = run_in_parallel(
                lambda: cliques.cover(g, size + 2, max_cliques=plan.max_cliques), find_frame
            )
    with stages("cliques solved"):
        # An index is a point of all; every clique has a reference of its own.
        reference = "center" if isinstance(plan.reference, int) else plan.reference
        solved = blocks.largest_first(blocks.solve(g, chosen, plan.kernel, size, reference))
    with stages("merging"):
        if plan.merge == "greedy":
            merged = alignment.merge_greedy(solved, g.n_nodes)
            points = merged.coordinates
            if merged.labels.any():
                points = alignment.place_groups(points, merged.labels, find_frame())
        else:
            tolerance = _TOLERANCE if g.n_nodes <= _limits.SOLVED_WHOLE else _COARSE
            merged = alignment.merge_global(
                solved, g.n_nodes, start=frame, weigh_start=True, tolerance=tolerance
            )
            points = merged.coordinates
    if merged.labels.any():
        _warn_groups(merged.labels)
    points = points - points.mean(axis=0)
    # The frame of a merged latent is free: turn it to its principal axes, as eigenpairs would.
    values, axes = np.linalg.eigh(points.T @ points)
    order = np.argsort(values)[::-1]
    points = eigen.pin_signs(points @ axes[:, order])
    share, mass = _mean_spectrum(solved)
    embedding = Embedding(points, values[order], share, mass, eigen.CENTRE)
    # The greedy merger weighs all points alike, and its residuals with them.
    if plan.merge == "greedy":
        return Solution(embedding, solved, merged.order)
    weight = merged.start_share
    return Solution(embedding, solved, merged.order, merged.residuals, start_share=weight)


def _warn_groups(labels: NDArray[np.integer]) -> None:
    """Say how many points no clique connects to the rest."""
    sizes = np.bincount(labels)
    warnings.warn(
        f"{sizes.size} groups of cliques share no point with one another; "
        f"{labels.size - sizes.max()} points were placed by the geodesic solution; "
        "strategy='geodesic' places all points so",
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
