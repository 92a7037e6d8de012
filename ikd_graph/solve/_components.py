"""A graph in several components: joined, or solved piece by piece."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import eigen, graph
from .._records import CsrGraph, Embedding
from .._stages import Stages
from .._validation import check_has_edges
from ..similarity import Similarity
from ._blockwise import solve_blockwise
from ._geodesic import solve_geodesic
from ._plan import Plan, Solution

Floats = NDArray[np.float64]
Solver = Callable[[CsrGraph, Plan, Stages], Solution]


class SolvedGraph(NamedTuple):
    """A latent, the graph it came from, and the pieces that the graph was in."""

    solution: Solution
    graph: CsrGraph  # joined where it was to be
    labels: NDArray[np.int64]  # component of each point before anything was joined


def solve_graph(
    similarity: Similarity,
    g: CsrGraph,
    plan: Plan,
    disconnected: str,
    stages: Stages,
    frame: Floats | None = None,
) -> SolvedGraph:
    """Solve on a graph, with its components dealt with ("join" or "separate") first.

    ``frame`` is the `geodesic_frame` of the graph when joined, where it is known.
    """
    blockwise = plan.strategy == "blockwise"
    solve: Solver = solve_blockwise if blockwise else solve_geodesic
    labels = np.asarray(graph.component_labels(g), dtype=np.int64)
    sizes = np.bincount(labels)
    if sizes.size > 1:
        if disconnected == "separate":
            return SolvedGraph(_solve_separately(g, labels, plan, stages, solve), g, labels)
        with stages("graph"):
            g = similarity.join(g)
    if blockwise:
        return SolvedGraph(solve_blockwise(g, plan, stages, frame), g, labels)
    return SolvedGraph(solve_geodesic(g, plan, stages), g, labels)


def _solve_separately(
    g: CsrGraph,
    labels: NDArray[np.int64],
    plan: Plan,
    stages: Stages,
    solve: Solver,
) -> Solution:
    """Solve every component of the graph by itself and lay them side by side.

    Components too small for M coordinates get fewer and zeros. The spectrum is that of the largest
    component. ``solve`` is `solve_geodesic` or `solve_blockwise`.
    """
    members = [np.flatnonzero(labels == label) for label in range(int(labels.max()) + 1)]
    check_has_edges(len(members), labels.size)
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
    """Components of a graph laid out on a square grid of their first two coordinates."""
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
