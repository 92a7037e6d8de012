"""The backend of networkx: cliques and path lengths of its graphs by compiled code.

networkx loads this module when a function is first called with ``backend="ikd_graph"``, or with
the backend among its priorities; what is heavy is imported when one of the functions below runs.
Graphs are converted to arrays, which networkx keeps for the next call.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import networkx as nx
    import numpy as np
    from numpy.typing import NDArray

    from .cliques import Blocks
    from .graph import CsrGraph

Node = Hashable

FEWEST_EDGES = 1000
"""Edges from which a conversion is worth its time."""


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """Graph of networkx as arrays, with the names of its nodes."""

    __networkx_backend__ = "ikd_graph"

    edges: CsrGraph  # without loops and weights; each row has the nodes that edges lead to
    names: Sequence[Node]  # a range where nodes are their own numbers
    number: dict[Node, int]
    lengths: dict[Any, tuple[CsrGraph, bool]]  # by attribute, and whether all are integers
    directed: bool

    def is_directed(self) -> bool:
        """Whether edges have a direction."""
        return self.directed

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        """Leave the arrays out of copies and files of the graph that they were made of."""
        return type(None), ()


def convert_from_nx(
    G: nx.Graph, *, edge_attrs: dict[Any, Any] | None = None, **preserved: Any
) -> Graph:
    """Convert a graph of networkx, with the edge attributes that are lengths."""
    import numpy as np

    from .graph import CsrGraph

    if hasattr(G, "_graph"):
        G.__networkx_cache__ = None  # networkx does not see when what a view shows has changed
    n, given = len(G), [*G._adj]
    numbered = {*map(type, given)} == {int} and given == [*range(n)]
    names: Sequence[Node] = range(n) if numbered else given
    # A view does not know how many of its edges it shows.
    rows = [row if type(row) is dict else [*row] for row in G._adj.values()]
    number = dict(zip(names, range(n), strict=True))
    starts = np.append(0, np.cumsum(np.fromiter(map(len, rows), np.int64, n)))
    every: Any = chain.from_iterable(rows)
    every = every if numbered else map(number.__getitem__, every)
    ends = np.fromiter(every, np.int32, starts[-1])
    owners = np.repeat(np.arange(n), np.diff(starts))
    order = np.argsort(owners * n + ends, kind="stable")
    no_loop = ends[order] != owners
    indptr = np.concatenate(([0], np.cumsum(no_loop)))[starts]
    order = order[no_loop]
    indices = ends[order]
    lengths = {}
    for attribute, default in (edge_attrs or {}).items():
        values, whole = _lengths(G, attribute, default)
        lengths[attribute] = CsrGraph.trusted(indptr, indices, values[order]), whole
    edges = CsrGraph.trusted(indptr, indices, np.ones(indices.size))
    return Graph(edges, names, number, lengths, G.is_directed())


def convert_to_nx(result: Any, **_: Any) -> Any:
    """Return what a function returned; a converted graph has lost too much to go back."""
    if isinstance(result, Graph):
        raise NotImplementedError(
            "a graph that was converted has its edges only, call networkx with the graph itself"
        )
    return result


def _lengths(G: nx.Graph, attribute: Any, default: Any) -> tuple[NDArray[np.float64], bool]:
    """Lengths of the edges in the order of networkx, and whether all are integers."""
    import numpy as np

    of_edges = chain.from_iterable(row.values() for row in G._adj.values())
    if G.is_multigraph():
        given = [min(e.get(attribute, default) for e in edges.values()) for edges in of_edges]
    else:
        given = [edge.get(attribute, default) for edge in of_edges]
    types = {*map(type, given)}
    whole = types <= {int, np.int64}
    if types <= {int, float, np.int64, np.float64, type(None)}:
        with suppress(OverflowError):
            lengths = np.array(given, dtype=np.float64)  # None, a hidden edge, becomes NaN
            hidden = np.isnan(lengths)
            lengths[hidden] = 0.0
            # Sums of larger integers have no exact double, and sums of larger numbers none at all.
            largest = 2.0 / np.finfo(np.float64).eps if whole else np.finfo(np.float64).max
            right = (lengths >= 0.0) & (lengths <= largest / max(len(G), 1))
            if right.all() and hidden.sum() == given.count(None):
                lengths[hidden] = np.inf
                return lengths, whole
    raise NotImplementedError(
        f"the attribute {attribute!r} of edges must be finite numbers from 0, integers or of "
        "double precision, or None for no edge"
    )


@functools.cache
def _signature(name: str) -> inspect.Signature:
    """Return the signature of a function of the backend."""
    return inspect.signature(globals()[name])


def can_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Whether a function takes these arguments, or why not."""
    given = _signature(name).bind(*args, **kwargs).arguments
    if given["G"].is_directed() and "weight" not in _signature(name).parameters:
        return "the graph is directed"
    if callable(given.get("weight")):
        return "the weight is a function"
    if given.get("cliques") is not None:
        return "cliques are given"
    if name == "node_clique_number" and given.get("nodes") is not None:
        return "some nodes need a small part of the graph"
    return True


def should_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
    """Whether a function gains more time than the conversion takes, or why not."""
    given = _signature(name).bind(*args, **kwargs).arguments
    if given.get("cutoff") is not None or given.get("nodes") is not None:
        return "a small part of the graph is enough"
    if sum(map(len, given["G"]._adj.values())) < 2 * FEWEST_EDGES:
        return f"the graph has fewer than {FEWEST_EDGES} edges"
    return True


def _blocks(g: CsrGraph, min_size: int = 1) -> Iterator[Blocks]:
    """Yield the maximal cliques of a graph, some thousands at a time."""
    from .cliques import fill, prepare

    return fill(prepare(g)[0], min_size, 0, g.n_nodes)


def find_cliques(G: Graph, nodes: list[Node] | None = None) -> Iterator[list[Node]]:
    """Yield the maximal cliques that hold all of some nodes."""
    yield from find_cliques_recursive(G, nodes)


def find_cliques_recursive(G: Graph, nodes: list[Node] | None = None) -> Iterator[list[Node]]:
    """Return an iterator of the maximal cliques that hold all of some nodes."""
    import numpy as np

    from .graph import subgraph

    g, names, first = G.edges, G.names, [] if nodes is None else [*nodes]
    if not names or not first:
        return chain.from_iterable(_named(g, names))
    common = {*G.number.values()}
    for node in first:
        at = G.number.get(node, -1)
        if at not in common:
            raise ValueError(f"The given `nodes` {nodes} do not form a clique")
        common &= {*g.indices[g.indptr[at] : g.indptr[at + 1]].tolist()}
    if not common:
        return iter((first,))
    inside = np.array(sorted(common))
    further = chain.from_iterable(_named(subgraph(g, inside), [names[at] for at in inside]))
    return map(first.__add__, further)


def _named(g: CsrGraph, names: Sequence[Node]) -> Iterator[list[list[Node]]]:
    """Yield the cliques of a graph as lists of names, some thousands at a time."""
    for blocks in _blocks(g):
        members = blocks.members.tolist()
        if not isinstance(names, range):
            members = [*map(names.__getitem__, members)]
        yield [members[start:stop] for start, stop in pairwise(blocks.indptr.tolist())]


def node_clique_number(
    G: Graph, nodes: None = None, cliques: None = None, separate_nodes: bool = False
) -> dict[Node, int]:
    """Return the size of the largest clique of each node."""
    import numpy as np

    largest = np.zeros(len(G.names), dtype=np.int64)
    for blocks in _blocks(G.edges):
        np.maximum.at(largest, blocks.members, np.repeat(blocks.sizes, blocks.sizes))
    return defaultdict(int, zip(G.names, largest.tolist(), strict=True))


def k_clique_communities(G: Graph, k: int, cliques: None = None) -> Iterator[frozenset[Node]]:
    """Yield the communities of cliques of k nodes that share all but one."""
    import networkx as nx

    from .cliques import Cliques, communities, join

    if k < 2:
        raise nx.NetworkXError(f"k={k}, k must be greater than 1.")
    size = math.ceil(k)
    every = Cliques.trusted(join([*_blocks(G.edges, size)]), len(G.names))
    for members in communities(every, size):
        yield frozenset(map(G.names.__getitem__, members.tolist()))


def all_pairs_dijkstra_path_length(
    G: Graph, cutoff: float | None = None, weight: Any = "weight"
) -> Iterator[tuple[Node, dict[Node, float]]]:
    """Yield each node with the lengths of the shortest paths from it, the shortest first."""
    import numpy as np

    from ._base.threads import batches, block_rows
    from .geodesics import shortest_distances

    lengths, whole = (G.edges, True) if weight is None else G.lengths[weight]
    name, numbers = G.names.__getitem__, np.arange(len(G.names))
    for some in batches(numbers.size, block_rows(numbers.size)):
        from_some = shortest_distances(lengths, numbers[some])
        for at, row in zip(numbers[some].tolist(), from_some, strict=True):
            row[at] = -1.0  # so that the node itself comes first
            order = np.argsort(row, kind="stable")
            values = row[order]
            values[0] = 0.0
            count = int(np.searchsorted(values, np.inf))
            if cutoff is not None:
                count = max(1, min(count, int(np.searchsorted(values, cutoff, side="right"))))
            values = values[:count].astype(np.int64 if whole else np.float64)
            nodes = map(name, order[:count].tolist())
            yield name(at), dict(zip(nodes, values.tolist(), strict=True))
