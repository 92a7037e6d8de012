"""Plain records that modules hand to one another, across the Numba border too."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from ._validation import (
    as_array,
    check_finite,
    check_nodes,
    check_point_weights,
    check_ragged,
    check_rows,
    check_type,
    check_values,
    few,
    record,
)


class _CsrArrays(NamedTuple):
    """What a graph is stored as."""

    indptr: NDArray[np.int64]  # (n + 1,) row starts
    indices: NDArray[np.int32]  # (m,) neighbors, sorted in each row
    weights: NDArray[np.float64]  # (m,) correlations


class CsrGraph(_CsrArrays):
    """Undirected weighted graph, each edge stored from both ends, no self loops.

    Rows are sorted by node. A weight may be an explicit zero (``-log 1`` is one): an edge is an
    edge because it is stored, never because its weight is not zero.

    Compiled code follows a graph without looking where it leads. So a graph is checked when it is
    made, from copies of what could still change, and can only be read from then on: whoever is
    handed one need not check it again.

    Parameters
    ----------
    indptr : (n + 1,) int64
        Row starts.
    indices : (m,) int32
        Neighbors, sorted in each row.
    weights : (m,) float64
        Correlations, or lengths.
    """

    __slots__ = ()

    def __new__(cls, indptr: ArrayLike, indices: ArrayLike, weights: ArrayLike) -> CsrGraph:
        """Check the arrays of a graph, and keep them."""
        nodes = as_array("indices", indices)
        strength = check_values("weights", weights, nodes.size)
        check_nodes("indices", nodes, min(np.size(indptr) - 1, 2**31 - 1))
        starts, _ = check_ragged("indices", indptr, nodes)
        n = starts.size - 1
        there = sp.csr_array((strength, nodes, starts), shape=(n, n))
        back = there.tocsc()
        # The two weights of an edge may differ by rounding; a length may be infinite.
        same = (
            np.array_equal(back.indptr, starts)
            and np.array_equal(back.indices, nodes)
            and np.allclose(back.data, strength, rtol=1e-9, atol=1e-12)
        )
        loops = int(np.count_nonzero(np.repeat(np.arange(n), np.diff(starts)) == nodes))
        if loops or not same:
            raise ValueError(
                "a graph must hold every edge from both ends with one weight, and none from a node "
                f"to itself, got {loops} of those{'' if same else ' and ends that differ'}; "
                "graph.from_edges makes graphs of edges"
            )
        return cls.trusted(
            _kept(starts, np.int64), _kept(nodes, np.int32), _kept(strength, np.float64)
        )

    @classmethod
    def trusted(
        cls, indptr: NDArray[Any], indices: NDArray[Any], weights: NDArray[Any]
    ) -> CsrGraph:
        """Graph of arrays that are known to be right, which can only be read from then on."""
        return super().__new__(cls, read_only(indptr), read_only(indices), read_only(weights))

    @classmethod
    def _make(cls, iterable: Iterable[Any]) -> CsrGraph:  # type: ignore[override]
        """Graph of three arrays, checked; ``_replace`` comes through here."""
        return cls(*iterable)

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return self.indptr.size - 1

    @property
    def n_edges(self) -> int:
        """Number of undirected edges."""
        return self.indices.size // 2

    def __repr__(self) -> str:
        """Say how large it is."""
        matrix = sp.csr_array(
            (np.ones(self.indices.size), self.indices, self.indptr), shape=2 * (self.n_nodes,)
        )
        n_components = sp.csgraph.connected_components(matrix, directed=False, return_labels=False)
        counts = (self.n_nodes, "point"), (self.n_edges, "edge"), (n_components, "component")
        text = ", ".join(f"{count} {noun}{'s' * (count != 1)}" for count, noun in counts)
        return f"CsrGraph({text})"


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Freeze an array. Numba compiles for such arrays apart from others."""
    array.flags.writeable = False
    return array


def _kept(array: NDArray[Any], dtype: type) -> NDArray[Any]:
    """Return the array in its type, or a copy where someone else could still write to it."""
    mine = not array.flags.writeable and array.base is None
    return np.asarray(array, dtype, "C") if mine else np.array(array, dtype, order="C")


check_graph = record(CsrGraph, "make one with graph.threshold, graph.neighbors or graph.as_graph")
"""Rule of arguments that are graphs; whatever is one was checked when it was made."""


class Blocks(NamedTuple):
    """Ragged list of node sets (cliques or merged blocks), the members of each sorted."""

    indptr: NDArray[np.int64]  # (n_blocks + 1,) block starts
    members: NDArray[np.int32]  # (total,) nodes, sorted in each block

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return self.indptr.size - 1

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of nodes in each block, (n_blocks,)."""
        return np.diff(self.indptr)

    def entries(self, which: NDArray[np.intp]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return starts of some blocks in a row, and the place of each of their members."""
        starts = np.zeros(which.size + 1, dtype=np.int64)
        np.cumsum(self.sizes[which], out=starts[1:])
        shift = np.repeat(self.indptr[which] - starts[:-1], self.sizes[which])
        return starts, shift + np.arange(starts[-1])

    def renamed(self, names: NDArray[np.integer]) -> Blocks:
        """Return the same sets of nodes by other names, in which members ascend again."""
        members = names[self.members].astype(np.int32)
        ones = np.ones(members.size, dtype=np.bool_)
        shape = (self.n_blocks, int(members.max(initial=-1)) + 1)
        sets = sp.csr_array((ones, members, self.indptr), shape=shape)
        sets.sort_indices()
        return Blocks(self.indptr, sets.indices.astype(np.int32, copy=False))


class RigidMap(NamedTuple):
    """Rotation or reflection, then translation: ``points @ rotation + translation``."""

    rotation: NDArray[np.float64]  # (m, m) orthogonal
    translation: NDArray[np.float64]  # (m,)


class Embedding(NamedTuple):
    """Coordinates with the spectrum they came from; values and vectors travel together."""

    coordinates: NDArray[np.float64]  # (n, m)
    eigenvalues: NDArray[np.float64]  # (m,) leading eigenvalues of the Gram matrix, descending
    explained_variance_ratio: NDArray[np.float64]  # (m,) lambda_i^2 / sum of all lambda^2
    negative_mass: float  # fraction of sum lambda^2 in negative eigenvalues
    reference: int  # index of the reference point, -1 for the center


class SolvedBlocks(NamedTuple):
    """Blocks with the coordinates of each in a frame of its own, row by row with the members."""

    blocks: Blocks
    coordinates: NDArray[np.float64]  # (total, m)
    precision: NDArray[np.float64]  # (total,) 1 / mean variance of a point's distances in its block
    eigenvalues: NDArray[np.float64]  # (n_blocks, m) leading eigenvalues, descending, >= 0
    explained_variance_ratio: NDArray[np.float64]  # (n_blocks,) as in `Embedding`, all m together
    negative_mass: NDArray[np.float64]  # (n_blocks,) as in `Embedding`
    n_clipped: int  # leading eigenvalues that were negative and became 0

    @property
    def n_points(self) -> int:
        """Number of points: the largest in a block, plus 1."""
        return int(self.blocks.members.max(initial=0)) + 1

    def take(self, order: NDArray[np.intp]) -> SolvedBlocks:
        """Return the blocks in another order."""
        starts, entries = self.blocks.entries(order)
        return self._replace(
            blocks=Blocks(starts, self.blocks.members[entries]),
            coordinates=self.coordinates[entries],
            precision=self.precision[entries],
            eigenvalues=self.eigenvalues[order],
            explained_variance_ratio=self.explained_variance_ratio[order],
            negative_mass=self.negative_mass[order],
        )


def check_blocks(name: str, value: Any, n_points: int = 2**31 - 1) -> Blocks:
    """Raise unless ``value`` is sets of points, the members of each ascending."""
    check_type(name, value, Blocks, "cliques.cover makes them")
    members = check_nodes(f"members of {name}", value.members, n_points).astype(np.int32)
    indptr, _ = check_ragged(f"members of {name}", value.indptr, members)
    return Blocks(indptr, members)


def check_solved(solved: Any, n_points: int | None = None, **_: Any) -> None:
    """Raise unless ``solved`` holds blocks of points below ``n_points`` with finite coordinates."""
    check_type("solved", solved, SolvedBlocks, "blocks.solve makes them")
    sizes = check_blocks("solved.blocks", solved.blocks, n_points or 2**31 - 1).sizes
    empty = np.flatnonzero(sizes < 1)
    if empty.size:
        raise ValueError(
            f"blocks must hold at least one point each, got {empty.size} empty: {few(empty)}; "
            "leave them out"
        )
    points = np.asarray(solved.coordinates)
    check_rows("solved.coordinates", points, solved.blocks.members.size)
    check_finite("solved.coordinates", points)
    if points.size:
        check_point_weights("solved.precision", np.asarray(solved.precision), points.shape[0])


class MergeResult(NamedTuple):
    """Blocks merged into one latent, with what the merging knows about its quality."""

    coordinates: NDArray[np.float64]  # (n, m)
    labels: NDArray[np.int64]  # (n,) component of each point, numbered by first point
    residuals: NDArray[np.float64]  # (n,) rms distance from where its blocks would put a point
    order: NDArray[np.int64]  # (n_merges, 3) block, block, shared points; the union keeps the lower
    n_weak: int  # merges whose motion was open, on few or flat points, that coordinates rest on
    objective: float  # weighted mean square of the distances from proposals to coordinates
    n_rounds: int  # rounds of global alignment
    converged: bool
    start_share: float = 0.0  # weight of the start, where all blocks together have 1
