"""Ragged lists of points: records and lists of arrays."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._checks import as_array
from .._records import Blocks, check_blocks


def arrays(blocks: Blocks) -> Iterator[NDArray[np.int32]]:
    """Yield the blocks as arrays, views of the record."""
    members = blocks.members
    return (members[a:b] for a, b in itertools.pairwise(blocks.indptr.tolist()))


def as_blocks(cliques: Blocks | Sequence[ArrayLike], n_points: int | None = None) -> Blocks:
    """Make a record of a list of cliques of points below ``n_points``, members ascending."""
    most = 2**31 - 1 if n_points is None else n_points
    if isinstance(cliques, Blocks):
        return check_blocks("blocks", cliques, most)
    scalar = isinstance(cliques, np.ndarray) and not cliques.ndim
    if scalar or not isinstance(cliques, Iterable) or isinstance(cliques, (str, bytes)):
        raise TypeError(f"cliques must be a list of lists of points, got {type(cliques).__name__}")
    parts = [np.sort(as_array("a clique", clique).ravel()) for clique in cliques]
    indptr = np.zeros(len(parts) + 1, dtype=np.int64)
    np.cumsum([part.size for part in parts], out=indptr[1:])
    # An empty list is one of floats, and would make floats of all.
    members = [np.empty(0, dtype=np.int32), *(part for part in parts if part.size)]
    return check_blocks("blocks", Blocks(indptr, np.concatenate(members)), most)


def join(parts: Sequence[Blocks]) -> Blocks:
    """Put lists of blocks one after the other."""
    indptr = np.zeros(sum(part.n_blocks for part in parts) + 1, dtype=np.int64)
    np.cumsum(np.concatenate([indptr[:0], *(part.sizes for part in parts)]), out=indptr[1:])
    members = [np.empty(0, dtype=np.int32), *(part.members for part in parts)]
    return Blocks(indptr, np.concatenate(members))


def take(blocks: Blocks, which: NDArray[np.intp]) -> Blocks:
    """Take some of the blocks."""
    indptr, entries = blocks.entries(which)
    return Blocks(indptr, blocks.members[entries])
