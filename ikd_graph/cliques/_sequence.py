"""Cliques as a sequence of arrays, stored as two: where each begins, and all members."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence, Set
from typing import Any, NamedTuple, overload

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from .._base.limits import NODES
from .._base.types import Indices, Integers
from .._base.validation import as_array, nodes_of, one_each, ragged, record, whole
from ..graph import CsrGraph


class Blocks(NamedTuple):
    """Ragged list of node sets (cliques or merged blocks), the members of each sorted."""

    indptr: Integers  # (n_blocks + 1,) block starts
    members: Indices  # (total,) nodes, sorted in each block

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return self.indptr.size - 1

    @property
    def sizes(self) -> Integers:
        """Number of nodes in each block, (n_blocks,)."""
        return np.diff(self.indptr)

    def entries(self, which: NDArray[np.intp]) -> tuple[Integers, Integers]:
        """Return starts of some blocks in a row, and the place of each of their members."""
        starts = np.append(0, np.cumsum(self.sizes[which]))
        shift = np.repeat(self.indptr[which] - starts[:-1], self.sizes[which])
        return starts, shift + np.arange(starts[-1])

    def renamed(self, names: NDArray[np.integer]) -> Blocks:
        """Return the same sets of nodes by other names, in which members ascend again."""
        members = names[self.members].astype(np.int32)
        owner = np.repeat(np.arange(self.n_blocks), self.sizes)
        return Blocks(self.indptr.copy(), members[np.lexsort((members, owner))])


def check_blocks(name: str, value: Any, n_points: int = NODES) -> Blocks:
    """Raise unless ``value`` is sets of points, the members of each ascending."""
    record(Blocks, "cliques.cover makes them")(name, value)
    members = nodes_of(n_points)(f"members of {name}", value.members).astype(np.int32)
    return Blocks(ragged(f"members of {name}", members)("indptr", value.indptr), members)


class Cliques(Sequence[Indices]):
    """Cliques of points: a sequence of arrays of point numbers, each ascending.

    Parameters
    ----------
    cliques : iterable of (k,) int arrays
        Cliques, such as those of `networkx.find_cliques`.
    n_points : int, optional
        Number of points there are; by default the largest number in a clique, plus 1.

    Examples
    --------
    >>> from ikd_graph.cliques import Cliques
    >>> cliques = Cliques([[0, 1, 2], [3, 2]], n_points=5)
    >>> cliques
    2 cliques of 5 points, largest 3
    >>> cliques[1]
    array([2, 3], dtype=int32)
    >>> cliques.of_point(2)
    array([0, 1])
    """

    n_points: int
    blocks: Blocks
    """Where each clique begins, and all members, as compiled code takes them."""

    def __init__(
        self, cliques: Iterable[ArrayLike] | Blocks | Cliques, n_points: int | None = None
    ) -> None:
        self.blocks = as_blocks(cliques, n_points)
        n_known = getattr(cliques, "n_points", int(self.blocks.members.max(initial=-1)) + 1)
        self.n_points = n_known if n_points is None else whole(0)("n_points", n_points)

    @classmethod
    def trusted(cls, blocks: Blocks, n_points: int) -> Cliques:
        """Return cliques that are known to be right, of points below ``n_points``."""
        cliques = cls.__new__(cls)
        cliques.blocks, cliques.n_points = blocks, n_points
        return cliques

    @property
    def sizes(self) -> Integers:
        """Number of points in each clique, (n_cliques,)."""
        return self.blocks.sizes

    def of_point(self, point: int) -> Integers:
        """Numbers of the cliques that hold a point, ascending.

        Parameters
        ----------
        point : int
            Number of the point, from 0.

        Returns
        -------
        (k,) ndarray of int64
            Positions in this sequence.
        """
        whole(0, self.n_points - 1)("point", point)
        entries = np.flatnonzero(self.blocks.members == point)
        return np.searchsorted(self.blocks.indptr, entries, side="right") - 1

    def to_pandas(
        self, names: Sequence[Any] | None = None, labels: Sequence[Any] | None = None
    ) -> pd.DataFrame:
        """Table of memberships, a row for each member of each clique.

        Parameters
        ----------
        names : sequence of length n_points, optional
            Names of the points; by default their numbers.
        labels : sequence of length n_points, optional
            Label of each point.

        Returns
        -------
        pandas.DataFrame
            Columns ``clique`` (its number), ``member`` and, if given, ``label``.

        Examples
        --------
        >>> from ikd_graph.cliques import Cliques
        >>> Cliques([[0, 1], [1, 2]]).to_pandas(names=["a", "b", "c"]).member.tolist()
        ['a', 'b', 'b', 'c']
        """
        members = self.blocks.members
        columns = {"clique": np.repeat(np.arange(len(self)), self.sizes), "member": members}
        for column, values in (("member", names), ("label", labels)):
            if values is None:
                continue
            one_each(f"{column}s", values, self.n_points)
            columns[column] = pd.Series(values).to_numpy()[members]
        return pd.DataFrame(columns)

    @overload
    def __getitem__(self, at: int) -> Indices: ...
    @overload
    def __getitem__(self, at: slice) -> Cliques: ...
    def __getitem__(self, at: int | slice) -> Indices | Cliques:
        """Points of a clique, or some of the cliques."""
        if isinstance(at, slice):
            starts, entries = self.blocks.entries(np.arange(len(self))[at])
            return Cliques.trusted(Blocks(starts, self.blocks.members[entries]), self.n_points)
        at = range(len(self))[at]
        return self.blocks.members[self.blocks.indptr[at] : self.blocks.indptr[at + 1]]

    def __iter__(self) -> Iterator[Indices]:
        """Return the cliques in turn."""
        return arrays(self.blocks)

    def __len__(self) -> int:
        """Count the cliques."""
        return self.blocks.n_blocks

    def __repr__(self) -> str:
        """Say how many there are, and how large."""
        of = f"{len(self)} clique{'s' * (len(self) != 1)} of {self.n_points} points"
        return f"{of}, largest {self.sizes.max(initial=0)}"


def as_texts(names: Sequence[Any] | None, n_points: int) -> NDArray[np.object_]:
    """Names of the points as texts, by default their numbers."""
    texts = np.array([*map(str, range(n_points) if names is None else names)], dtype=object)
    one_each("names", texts, n_points)
    return texts


def arrays(blocks: Blocks) -> Iterator[Indices]:
    """Yield the blocks as arrays, views of the record."""
    members = blocks.members
    return (members[a:b] for a, b in itertools.pairwise(blocks.indptr.tolist()))


def as_blocks(
    cliques: Blocks | Cliques | Iterable[ArrayLike], n_points: int | None = None
) -> Blocks:
    """Make a record of a list of cliques of points below ``n_points``, members ascending."""
    most = NODES if n_points is None else n_points
    if isinstance(cliques, Cliques) and cliques.n_points <= most:
        return cliques.blocks  # checked when they were made
    if isinstance(cliques, (Blocks, Cliques)):
        return check_blocks("cliques", getattr(cliques, "blocks", cliques), most)
    if isinstance(cliques, (CsrGraph, str)) or not isinstance(cliques, Iterable):
        raise TypeError(
            f"cliques must be a list of lists of points, got {type(cliques).__name__}; pass "
            "cliques.maximal_cliques(graph) for a graph"
        )
    lists = [
        # Of sets numpy makes no arrays.
        np.sort(as_array("a clique", list(clique) if isinstance(clique, Set) else clique))
        for clique in cliques
    ]
    indptr = np.cumsum([0, *(item.size for item in lists)], dtype=np.int64)
    # An empty list is one of floats, and would make floats of all.
    members = np.concatenate([np.empty(0, dtype=np.int32), *(item for item in lists if item.size)])
    return check_blocks("cliques", Blocks(indptr, members), most)


def join(lists: Sequence[Blocks]) -> Blocks:
    """Put lists of blocks one after the other."""
    sizes = [np.zeros(1, dtype=np.int64), *(item.sizes for item in lists)]
    members = [np.empty(0, dtype=np.int32), *(item.members for item in lists)]
    return Blocks(np.cumsum(np.concatenate(sizes)), np.concatenate(members))
