"""Blocks with coordinates: what is solved clique by clique, and what is merged."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._base.validation import check_finite, check_point_weights, check_rows, check_type, few
from ..cliques import Blocks, check_blocks


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


def check_solved(solved: Any, n_points: int | None = None, **_: Any) -> None:
    """Raise unless ``solved`` holds blocks of points below ``n_points`` with finite coordinates."""
    check_type("solved", solved, SolvedBlocks, "blockwise.solve makes them")
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
