"""A budgeted clique cover: points, then edges."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from .. import _jit
from .._base import validation as check
from .._base.types import Booleans, Indices, Integers
from ..graph import CsrGraph, GraphLike, any_graph, check_graph, read_only, subgraph
from ._search import CHUNK, MEMBERS, fill, prepare
from ._sequence import Blocks, Cliques, arrays, as_blocks, join

if TYPE_CHECKING:
    from .._jit.cliques import Cover

_CLIQUES_PER_POINT = 2
"""Cliques for each point that the automatic budget allows: correlation graphs take about one."""

_ENTRIES_PER_POINT = 64
"""Members of all cliques together, for each point, that the automatic budget allows.

From 16 to all edges covered (71 to 130) the latent was equally good in 12 of 12 dense graphs of 800
and 1500 points; the cost is that of the members."""


@check.validate(
    g=any_graph,
    min_size=check.whole(2, cure="take M + 2 for M latent dimensions"),
    max_cliques=check.optional(check.whole(1, cure="None is two a point")),
)
def cover(g: GraphLike, min_size: int, *, max_cliques: int | None = None) -> Cliques:
    """Choose maximal cliques that cover a graph, to solve on: about as many as there are points.

    Two stages, each of which grows maximal cliques, taking at each step the point that brings most
    edges no clique has yet, of several the one with the strongest edges:

    1. Points, in degeneracy order, until every point is in a clique. A point whose clique is
       smaller than ``min_size`` gets one that is not, if there is one.
    2. Edges, in rounds: each point in turn gets a clique around its strongest uncovered edge, until
       every edge is in a clique or the budget is spent.

    Parameters
    ----------
    g : CsrGraph, networkx.Graph or scipy sparse array
        The graph; strong edges are preferred, so weights should be correlations.
    min_size : int
        Size from which a clique can be solved and placed: M + 2 for M latent dimensions.
    max_cliques : int, optional
        Budget: stage 2 adds no more once there are so many. Points are not cut short.
        By default twice the number of points, with 64 members for each point in all: in graphs of
        neighbors that covers every edge, in dense ones it is as many as an embedding gains from.

    Returns
    -------
    Cliques
        The cliques in the order found, those smaller than ``min_size`` too.

    Notes
    -----
    Every point is in a clique, an isolated one in a clique of its own. A point is in a clique of at
    least ``min_size`` points whenever the graph has one (the search for it gives up after 100 000
    steps). Every edge is in a clique unless the budget was spent.

    Cliques that share fewer than ``min_size - 1`` points leave a motion between them open, which
    `blockwise.merge` takes from its start; `summary` tells how many groups of cliques there are.

    The result depends on the graph alone, not on the order of its points: of those that tie, the
    one whose edges are weakest in sum counts as the first. The cost is about the number of cliques
    times their size times the number of neighbors of a point.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import cliques, graph
    >>> place = np.arange(8)
    >>> corr = np.exp(-0.1 * (place[:, None] - place) ** 2)
    >>> [clique.tolist() for clique in cliques.cover(graph.threshold(corr, 0.3), min_size=3)]
    [[4, 5, 6, 7], [0, 1, 2, 3], [3, 4, 5, 6], [1, 2, 3, 4], [2, 3, 4, 5]]
    """
    budget, most_entries = _CLIQUES_PER_POINT * g.n_nodes, _ENTRIES_PER_POINT * g.n_nodes
    if max_cliques is not None:
        budget, most_entries = max_cliques, max_cliques * g.n_nodes
    names, g, state, order, of_points = _cover_points(g, min_size)
    budget -= of_points.n_blocks
    most_entries -= of_points.members.size
    of_edges = _rounds(g, state, order, False, budget, most_entries)
    return Cliques.trusted(join([of_points, *of_edges]).renamed(names), g.n_nodes)


def _cover_points(g: CsrGraph, min_size: int) -> tuple[Integers, CsrGraph, Cover, Indices, Blocks]:
    """Cover the points of a graph: every one is in a clique, large enough if it can.

    Returned are the names of the points, the graph of the renamed points, the state of the cover,
    the order of the points, and the cliques.
    """
    names, g = _by_strength(g)
    (ordered, core), width = prepare(g), int(np.diff(g.indptr).max(initial=0))
    state = _jit.cliques.Cover(
        covered=np.zeros(g.indices.size, dtype=np.bool_),
        largest=np.zeros(g.n_nodes, dtype=np.int32),
        inside=np.zeros(g.n_nodes, dtype=np.bool_),
        candidates=np.empty(width, dtype=np.int32),
        score=np.zeros((g.n_nodes, 3)),
    )
    order = ordered.order
    batches = [*_rounds(g, state, order, True, g.n_nodes, g.n_nodes**2)]
    # Cliques of enough points where those so far are too small.
    lacking = order[(core[order] >= min_size - 1) & (state.largest[order] < min_size)]
    # With every neighbor a later one, a search lists cliques through its start in the whole graph.
    whole = ordered._replace(middle=g.indptr[:-1], indices=g.indices, order=read_only(lacking))
    for position, point in enumerate(lacking.tolist()):
        if state.largest[point] < min_size:
            search = fill(whole, min_size, position, position + 1, 1, patient=False)
            if (clique := next(search, None)) is not None:
                _jit.cliques.mark(g, state, clique.members, clique.members.size)
                batches.append(clique)
    return names, g, state, order, join(batches)


@check.validate(g=check_graph, min_size=check.whole(1))
def in_large_clique(g: CsrGraph, min_size: int) -> Booleans:
    """Whether each point lies in a clique of at least ``min_size`` points, as `cover` finds them.

    Parameters
    ----------
    g : CsrGraph
        The graph.
    min_size : int
        Size from which a clique counts.

    Returns
    -------
    (n,) ndarray of bool
        False, too, where the search for such a clique was given up.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import cliques, graph
    >>> corr = np.array([[1.0, 0.9, 0.2], [0.9, 1.0, 0.2], [0.2, 0.2, 1.0]])
    >>> g = graph.threshold(corr, 0.5)
    >>> cliques.in_large_clique(g, 2).tolist()
    [True, True, False]
    """
    names, _, state, *_ = _cover_points(g, min_size)
    is_inside = np.empty(g.n_nodes, dtype=np.bool_)
    is_inside[names] = state.largest >= min_size
    return is_inside


@check.validate(g=any_graph)
def covering_cliques(g: GraphLike) -> Cliques:
    """Grow a maximal clique around each point, nearest neighbor first (Li & Wu 2024, Section 2.4).

    One reading of the paper's early stop at "up to T maximal cliques". The neighbors of a point
    join its clique in the order of their edges to it, the strongest first, each if it knows all of
    the clique so far. Of equal cliques one is kept. They need not be linked to one another.

    Parameters
    ----------
    g : CsrGraph, networkx.Graph or scipy sparse array
        The graph; strong edges are preferred, so weights should be correlations.

    Returns
    -------
    Cliques
        At most n different cliques, which hold every point; an isolated point is one of size 1.

    Notes
    -----
    The result depends on the graph alone, not on the order of its points: of edges that are equally
    strong, the one to the point whose edges are weakest in sum comes first.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import cliques, graph
    >>> place = np.arange(6)
    >>> corr = np.exp(-0.1 * (place[:, None] - place) ** 2)
    >>> g = graph.threshold(corr, 0.5)
    >>> [clique.tolist() for clique in cliques.covering_cliques(g)]
    [[0, 1, 2], [3, 4, 5], [1, 2, 3], [2, 3, 4]]
    """
    names, g = _by_strength(g)
    nearest = g.indices[np.lexsort((-g.weights, g.rows))]
    ends, members = (
        np.zeros(g.n_nodes + 1, np.int64),
        np.empty(g.indices.size + g.n_nodes, np.int32),
    )
    _jit.cliques.grow_nearest(g.indptr, nearest, np.empty_like(names), ends, members)
    different = {clique.tobytes(): clique for clique in arrays(Blocks(ends, members))}
    return Cliques.trusted(as_blocks(different.values(), g.n_nodes).renamed(names), g.n_nodes)


def _by_strength(g: CsrGraph) -> tuple[Integers, CsrGraph]:
    """Points by the sum of their edges, the weakest first, and the graph of them in this order.

    The weakest then wins a tie, and row order decides nothing.
    """
    names = np.argsort(np.bincount(g.rows, g.weights, minlength=g.n_nodes), kind="stable")
    return names, subgraph(g, names)


def _rounds(
    g: CsrGraph,
    state: Cover,
    order: Indices,
    points: bool,
    budget: int,
    entries_left: int,
) -> Iterator[Blocks]:
    """Give each node that needs one a clique, in the given order; yields cliques, some at a time.

    With ``points`` a node in no clique needs one, else a node with an edge in none, again and again
    until there is none. It ends when the ``budget`` of cliques or the ``entries_left`` for their
    members are used up. ``state`` is updated.
    """
    position = 0
    while budget > 0 and entries_left > 0:
        if position == order.size and not points:
            position = 0
        if position == order.size or (position == 0 and not points and state.covered.all()):
            break
        count = min(budget, CHUNK)
        n_members = min(count * MEMBERS, entries_left) + state.candidates.size + 1
        indptr, members = np.empty(count + 1, dtype=np.int64), np.empty(n_members, dtype=np.int32)
        position, count = _jit.cliques.cover_round(
            g, state, order, position, points, indptr, members
        )
        budget -= count
        entries_left -= int(indptr[count])
        yield Blocks(indptr[: count + 1], members[: indptr[count]])
