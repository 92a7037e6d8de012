"""Blocks with coordinates: what is solved clique by clique, and what is merged."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._base import validation as check
from .._base.types import Floats
from .._base.validation import few, finite, point_weights, record, table_of
from ..cliques import Blocks, as_blocks, check_blocks


class SolvedBlocks(NamedTuple):
    """Blocks with the coordinates of each in a frame of its own, row by row with the members."""

    blocks: Blocks
    coordinates: NDArray[np.float64]  # (total, m)
    precision: NDArray[np.float64]  # (total,) 1 / mean variance of a point's distances in its block
    eigenvalues: NDArray[np.float64]  # (n_blocks, m) leading eigenvalues, descending, >= 0
    negative_mass: NDArray[np.float64]  # (n_blocks,) as in `Embedding`

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
            negative_mass=self.negative_mass[order],
        )


def check_solved(solved: Any, n_points: int | None = None, **_: Any) -> None:
    """Raise unless ``solved`` holds blocks of points below ``n_points`` with finite coordinates."""
    record(SolvedBlocks, "blockwise.solve makes them")("solved", solved)
    sizes = check_blocks("solved.blocks", solved.blocks, n_points or 2**31 - 1).sizes
    empty = np.flatnonzero(sizes < 1)
    if empty.size:
        raise ValueError(
            f"blocks must hold at least one point each, got {empty.size} empty: {few(empty)}; "
            "leave them out"
        )
    points = np.asarray(solved.coordinates)
    table_of(solved.blocks.members.size)("solved.coordinates", points)
    finite()("solved.coordinates", points)
    if points.size:
        point_weights(points.shape[0])("solved.precision", np.asarray(solved.precision))


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
