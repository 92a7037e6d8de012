"""The weighted graph as a record: checked when it is made, read-only from then on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from .._base.limits import NODES
from .._base.types import Floats, Indices, Integers
from .._base.validation import as_array, entries, nodes_of, ragged, record


class _CsrArrays(NamedTuple):
    """What a graph is stored as."""

    indptr: Integers  # (n + 1,) row starts
    indices: Indices  # (m,) neighbors, sorted in each row
    weights: Floats  # (m,) correlations


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
        strength = entries(nodes.size)("weights", weights)
        nodes_of(min(np.size(indptr) - 1, NODES))("indices", nodes)
        starts = ragged("indices", nodes)("indptr", indptr)
        n = starts.size - 1
        there = sp.csr_array((strength, nodes, starts), shape=(n, n))
        back = there.tocsc()
        # The two weights of an edge may differ by rounding; a length may be infinite.
        same = (
            np.array_equal(back.indptr, starts)
            and np.array_equal(back.indices, nodes)
            and np.allclose(back.data, strength)
        )
        loops = np.count_nonzero(np.repeat(np.arange(n), np.diff(starts)) == nodes)
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

    @property
    def rows(self) -> Integers:
        """Row of each stored entry, (m,)."""
        return np.repeat(np.arange(self.n_nodes), np.diff(self.indptr))

    @property
    def adjacency(self) -> sp.csr_array:
        """Matrix (n, n) of ones where nodes are joined."""
        ones = np.ones(self.indices.size, dtype=np.int32)
        return sp.csr_array((ones, self.indices, self.indptr), shape=2 * (self.n_nodes,))

    def __repr__(self) -> str:
        """Say how large it is."""
        options = {"directed": False, "return_labels": False}
        n_components = sp.csgraph.connected_components(self.adjacency, **options)
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
