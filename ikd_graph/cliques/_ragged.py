"""Ragged lists of points: records and lists of arrays."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._records import Blocks


def arrays(blocks: Blocks) -> Iterator[NDArray[np.int32]]:
    """Yield the blocks as arrays, views of the record."""
    members = blocks.members
    return (members[a:b] for a, b in itertools.pairwise(blocks.indptr.tolist()))


def as_blocks(cliques: Blocks | Sequence[ArrayLike]) -> Blocks:
    """Make a record of a list of cliques, members ascending."""
    if isinstance(cliques, Blocks):
        return cliques
    members = [np.sort(np.asarray(clique, dtype=np.int32)) for clique in cliques]
    indptr = np.zeros(len(members) + 1, dtype=np.int64)
    np.cumsum([clique.size for clique in members], out=indptr[1:])
    return Blocks(indptr, np.concatenate([np.empty(0, dtype=np.int32), *members]))


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
