"""Sets of points as two arrays, which compiled code takes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._base.validation import check_nodes, check_ragged, record


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
        owner = np.repeat(np.arange(self.n_blocks), self.sizes)
        return Blocks(self.indptr, members[np.lexsort((members, owner))])


def check_blocks(name: str, value: Any, n_points: int = 2**31 - 1) -> Blocks:
    """Raise unless ``value`` is sets of points, the members of each ascending."""
    record(Blocks, "cliques.cover makes them")(name, value)
    members = check_nodes(f"members of {name}", value.members, n_points).astype(np.int32)
    return Blocks(check_ragged(f"members of {name}", value.indptr, members), members)
