"""Every clique's own embedding: Algorithm 1 on many small blocks in one parallel pass."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import eigen
from .._base import validation as check
from .._base.limits import NODES
from .._base.threads import block_rows, map_blocks, single_threaded_blas
from .._base.types import Floats, Integers
from ..cliques import Blocks, Cliques, as_blocks, check_blocks
from ..graph import CsrGraph, GraphLike, any_graph, distance_variance
from ..kernels import StationaryKernel, as_kernel


class SolvedBlocks(NamedTuple):
    """Blocks with the coordinates of each in a frame of its own, row by row with the members."""

    blocks: Blocks
    coordinates: Floats  # (total, m)
    precision: Floats  # (total,) 1 / mean variance of a point's distances in its block
    eigenvalues: Floats  # (n_blocks, m) leading eigenvalues, descending, >= 0
    negative_mass: Floats  # (n_blocks,) as in `Embedding`

    @property
    def n_points(self) -> int:
        """Number of points: the largest in a block, plus 1."""
        return int(self.blocks.members.max(initial=0)) + 1

    @property
    def weights(self) -> Floats:
        """Weights of the points in their blocks, (total,): the roots of precisions, 1 in all."""
        weights = np.sqrt(self.precision)
        return weights / weights.sum()

    def take(self, order: NDArray[np.intp]) -> SolvedBlocks:
        """Return the blocks in another order."""
        starts, entries = self.blocks.entries(order)
        return self._replace(
            blocks=Blocks(starts, self.blocks.members[entries]),
            coordinates=self.coordinates[entries],
            precision=self.precision[entries],
            eigenvalues=self.eigenvalues[order],
            negative_mass=self.negative_mass[order],
        )


def check_solved(solved: Any, n_points: int | None = None, **_: Any) -> None:
    """Raise unless ``solved`` holds blocks of points below ``n_points`` with finite coordinates."""
    check.record(SolvedBlocks, "blockwise.solve makes them")("solved", solved)
    sizes = check_blocks("solved.blocks", solved.blocks, n_points or NODES).sizes
    empty = np.flatnonzero(sizes < 1)
    if empty.size:
        raise ValueError(
            f"blocks must hold at least one point each, got {empty.size} empty: "
            f"{check.few(empty)}; leave them out"
        )
    points = np.asarray(solved.coordinates)
    check.table_of(solved.blocks.members.size)("solved.coordinates", points)
    check.finite()("solved.coordinates", points)
    if points.size:
        check.point_weights(points.shape[0])("solved.precision", np.asarray(solved.precision))


def solved_blocks(members: list[list[int]], coordinates: list[Floats]) -> SolvedBlocks:
    """Blocks from the points of each and their coordinates, all weighed alike.

    Parameters
    ----------
    members : list of (k,) int
        Points of each block.
    coordinates : list of (k, M) array_like of float64
        Their coordinates in the frame of the block.

    Returns
    -------
    SolvedBlocks
        The blocks, members ascending.

    Raises
    ------
    ValueError
        If coordinates are not finite, or not those of the points of their block.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import blockwise
    >>> blockwise.solved_blocks([[1, 0]], [np.array([[5.0], [4.0]])]).coordinates.ravel()
    array([4., 5.])
    """
    blocks = as_blocks(members)
    places = [check.table(f"coordinates[{at}]", place) for at, place in enumerate(coordinates)]
    width = places[0].shape[1] if places else 0
    if not places or [place.shape for place in places] != [(len(part), width) for part in members]:
        raise ValueError(
            f"coordinates must be one array for each of {len(members)} blocks (at least one), a "
            "row for each of its points and as many columns for all, got shapes "
            f"{[place.shape for place in places][:8]}"
        )
    own = [place[np.argsort(part)] for part, place in zip(members, places, strict=True)]
    centered = (place - place.mean(axis=0) for place in own)
    values = np.linalg.eigvalsh([place.T @ place for place in centered])[:, ::-1]
    ones, mass = np.ones(blocks.members.size), np.zeros(blocks.n_blocks)
    return SolvedBlocks(blocks, np.vstack(own), ones, np.maximum(values, 0.0), mass)


@check.validate(
    graph=any_graph,
    kernel=as_kernel,
    n_components=check.count,
    reference=check.one_of(eigen.REFERENCES),
    n_observed=check.observations,
)
def solve(
    graph: GraphLike,
    cliques: Cliques | Blocks | Iterable[ArrayLike],
    kernel: StationaryKernel,
    n_components: int,
    reference: str = "center",
    *,
    n_observed: int | NDArray[np.integer] = 1,
) -> SolvedBlocks:
    """Solve the inverse kernel eigenproblem of every clique (Li & Wu 2024, Alg. 1, Section 2.4).

    The covariances of a clique are all edges, so nothing but the graph is read: memory is
    proportional to the edges and the cliques. Signs of eigenvectors are pinned; a clique whose
    points span fewer than M dimensions gets zeros in the others.

    Parameters
    ----------
    graph : CsrGraph, networkx.Graph or scipy sparse array
        Graph whose weights are correlations in (0, 1], see `graph.as_graph`.
    cliques : Cliques or iterable of (k,) int arrays
        Cliques of the graph: all, some, or those of `networkx.find_cliques`.
    kernel : str or StationaryKernel
        Kernel to invert.
    n_components : int
        M, number of latent coordinates.
    reference : {"center", "min_max", "min_mean"}
        Origin of each clique's inner products: its center, or the point whose largest or mean
        squared distance to the others is smallest (Section 2.5).
    n_observed : int or (m,) array_like of int
        Number N of columns behind the correlations, or that of each entry of the graph where they
        differ. Distances of few columns are less precise.

    Returns
    -------
    SolvedBlocks
        Coordinates of every clique in a frame of its own, with what its spectrum says.

    Raises
    ------
    ValueError
        If a block is not a clique of the graph, or a parameter is out of range.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import blockwise, cliques, graph, kernels
    >>> line = np.arange(6.0)
    >>> corr = kernels.SquaredExponential().covariance((line[:, None] - line) ** 2)
    >>> g = graph.threshold(corr, 0.1)
    >>> solved = blockwise.solve(g, cliques.cover(g, 3), "squared_exponential", 1)
    >>> abs(solved.coordinates[:3, 0]).round(6)
    array([1., 0., 1.])
    """
    assert isinstance(graph, CsrGraph)
    cliques = as_blocks(cliques, graph.n_nodes)
    n, total, n_blocks = graph.n_nodes, cliques.members.size, cliques.n_blocks
    sq_dist = kernel.sq_distance(graph.weights)
    variance = distance_variance(graph.weights, kernel, n_observed)
    variance[~np.isfinite(variance)] = 0.0  # of equal points
    coordinates, spread = np.zeros((total, n_components)), np.zeros(total)
    eigenvalues, mass = np.zeros((n_blocks, n_components)), np.zeros(n_blocks)
    n_missing = np.zeros(n_blocks, dtype=np.int64)
    # Ascending, with a last entry that no pair has.
    keys = np.append(graph.rows * n + graph.indices, n * n)
    edges = np.append(sq_dist, 0.0), np.append(variance, 0.0)
    batches = _batches_of(cliques.sizes)

    def solve_batch(start: int, stop: int) -> None:
        for batch in batches[start:stop]:
            size = int(cliques.sizes[batch[0]])
            entries = cliques.indptr[batch][:, None] + np.arange(size)
            members = cliques.members[entries].astype(np.int64)
            row, column = np.triu_indices(size, 1)
            wanted = members[:, row] * n + members[:, column]
            at = np.searchsorted(keys, wanted)
            n_missing[batch] = np.count_nonzero(keys[at] != wanted, axis=1)
            between, noise = np.zeros((2, batch.size, size, size))
            for matrix, values in zip((between, noise), edges, strict=True):
                matrix[:, row, column] = matrix[:, column, row] = values[at]
            spread[entries] = noise.sum(axis=2) / max(size - 1, 1)
            origin = eigen.origin_weights(between, reference)
            found = eigen.leading(eigen.inner_products(between, origin), n_components)
            width = found.eigenvalues.shape[1]
            coordinates[entries, :width] = found.coordinates
            eigenvalues[batch, :width] = np.maximum(found.eigenvalues, 0.0)
            mass[batch] = found.negative_mass

    # BLAS on one thread also for callers without a fit around them: it is called in parallel.
    with single_threaded_blas():
        map_blocks(solve_batch, len(batches), 1)
    bad = np.flatnonzero(n_missing)
    if bad.size:
        raise ValueError(
            f"blocks must be cliques of the graph, got {bad.size} with "
            f"{int(n_missing.sum())} pairs that are not edges: blocks {check.few(bad)}; "
            "find them by cliques.cover or cliques.maximal_cliques on the same graph"
        )
    # Copies of a point are known exactly, but may not outvote everything else.
    floor = 1e-4 * float(np.median(spread[spread > 0.0])) if spread.any() else 1.0
    precision = 1.0 / np.maximum(spread, floor)
    return SolvedBlocks(cliques, coordinates, precision, eigenvalues, mass)


def _batches_of(sizes: Integers) -> list[Integers]:
    """Blocks of equal size, as many together as a batch has entries for."""
    batches = []
    for size in np.unique(sizes[sizes > 0]):
        same = np.flatnonzero(sizes == size)
        count = block_rows(int(size * size))
        batches += [same[start : start + count] for start in range(0, same.size, count)]
    return batches


@check.validate(check_solved)
def largest_first(solved: SolvedBlocks) -> SolvedBlocks:
    """Order blocks by their size and, of equals, by how far they reach.

    What is merged first then does not depend on the order of the points, of which the order of
    cliques is made.

    Parameters
    ----------
    solved : SolvedBlocks
        Solved blocks in any order.

    Returns
    -------
    SolvedBlocks
        The same blocks, the largest first; of those with as many points, the one with the largest
        leading eigenvalue.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import blockwise, cliques, graph, kernels
    >>> line = np.array([0.0, 1.0, 2.0, 2.5, 3.0])
    >>> corr = kernels.SquaredExponential().covariance((line[:, None] - line) ** 2)
    >>> g = graph.threshold(corr, 0.2)
    >>> solved = blockwise.solve(g, cliques.cover(g, 3), "squared_exponential", 1)
    >>> blockwise.largest_first(solved).blocks.sizes
    array([3, 3, 2])
    """
    order = np.lexsort((-solved.eigenvalues[:, 0], -solved.blocks.sizes))
    return solved.take(order)
