"""Plain records that modules hand to one another, across the Numba border too."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class CsrGraph(NamedTuple):
    """Undirected weighted graph, each edge stored from both ends, no self loops.

    Rows are sorted by node. A weight may be an explicit zero (``-log 1`` is one): an edge is an
    edge because it is stored, never because its weight is not zero.
    """

    indptr: NDArray[np.int64]  # (n + 1,) row starts
    indices: NDArray[np.int32]  # (m,) neighbours, sorted in each row
    weights: NDArray[np.float64]  # (m,) correlations

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return self.indptr.size - 1

    @property
    def n_edges(self) -> int:
        """Number of undirected edges."""
        return self.indices.size // 2


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
        """Starts of some blocks put one after the other, and the place of each of their members."""
        starts = np.zeros(which.size + 1, dtype=np.int64)
        np.cumsum(self.sizes[which], out=starts[1:])
        shift = np.repeat(self.indptr[which] - starts[:-1], self.sizes[which])
        return starts, shift + np.arange(starts[-1])


class RigidMap(NamedTuple):
    """Rotation or reflection, then translation: ``points @ rotation + translation``."""

    rotation: NDArray[np.float64]  # (m, m) orthogonal
    translation: NDArray[np.float64]  # (m,)


class Embedding(NamedTuple):
    """Coordinates with the spectrum they came from; values and vectors travel together."""

    coordinates: NDArray[np.float64]  # (n, m)
    eigenvalues: NDArray[np.float64]  # (m,) leading eigenvalues of the Gram matrix, descending
    explained_variance_ratio: NDArray[np.float64]  # (m,) lambda_i^2 / sum of all lambda^2
    negative_mass: float  # share of sum lambda^2 in negative eigenvalues
    reference: int  # index of the reference point, -1 for the centre


class SolvedBlocks(NamedTuple):
    """Blocks with the coordinates of each in a frame of its own, row by row with the members."""

    blocks: Blocks
    coordinates: NDArray[np.float64]  # (total, m)
    precision: NDArray[np.float64]  # (total,) 1 / mean variance of a point's distances in its block
    eigenvalues: NDArray[np.float64]  # (n_blocks, m) leading eigenvalues, descending, >= 0
    explained_variance_ratio: NDArray[np.float64]  # (n_blocks,) as in `Embedding`, all m together
    negative_mass: NDArray[np.float64]  # (n_blocks,) as in `Embedding`
    n_clipped: int  # leading eigenvalues that were negative and became 0


class MergeResult(NamedTuple):
    """Blocks merged into one latent, with what the merging knows about its quality."""

    coordinates: NDArray[np.float64]  # (n, m)
    labels: NDArray[np.int64]  # (n,) component of each point, numbered by first point
    residuals: NDArray[np.float64]  # (n,) rms distance from where its blocks would put a point
    order: NDArray[np.int64]  # (n_merges, 3) block, block, shared points; the union keeps the lower
    n_weak: int  # merges on fewer than m + 1 shared points that the coordinates rest on
    objective: float  # weighted mean square of the distances from proposals to coordinates
    n_rounds: int  # rounds of global alignment
    converged: bool
