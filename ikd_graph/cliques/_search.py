"""Enumeration of maximal cliques: all of them, some of them, or until every point is covered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .. import _jit
from .._base import validation as check
from .._base.threads import PIECES, map_blocks
from .._base.warn import warn
from ..graph import CsrGraph, GraphLike, any_edges, read_only
from ._sequence import Blocks, Cliques, arrays, join

if TYPE_CHECKING:
    from .._jit.cliques import OrderedGraph

_MOST_MEMBERS = 1 << 24
"""Members of all cliques together that are listed where nobody gives a limit."""

CHUNK = 4096
"""Cliques that are found at a time."""

MEMBERS = 16
"""Members of each, on an average, that there is room for."""

_PATIENCE = 1 << 20
"""Steps between two looks at the keyboard: an interrupt is heard within a second or so."""

_SEARCH_STEPS = 100_000
"""Steps after which the search for a large enough clique of a point is given up."""


@check.validate(
    g=any_edges,
    min_size=check.whole(1),
    limit=check.optional(check.whole(1, cure="None is all")),
)
def maximal_cliques(g: GraphLike, min_size: int = 1, limit: int | None = None) -> Cliques:
    """List the maximal cliques of a graph.

    Bron-Kerbosch with pivoting from the nodes in degeneracy order (Bron & Kerbosch 1973; Tomita et
    al. 2006; Eppstein, Löffler & Strash 2010). Their number can grow as 3^(n/3), which no memory
    holds: to look at a large graph take `iter_cliques`, to solve on it take `cover`.

    Parameters
    ----------
    g : CsrGraph, networkx.Graph or scipy sparse array
        The graph, see `graph.as_graph`; weights play no part.
    min_size : int
        Smallest clique to list. An isolated point is a clique of size 1.
    limit : int, optional
        Stop after so many. By default after those with 2^24 members in all: 64 MB.

    Returns
    -------
    Cliques
        Sequence of (k,) int32 arrays, the points of each clique, ascending. The order depends on
        the graph alone: cliques come by the first of their points in degeneracy order.

    Warns
    -----
    UserWarning
        If there are more than the limit.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import cliques, graph
    >>> place = np.array([0, 1, 2, 4])
    >>> corr = np.exp(-0.1 * (place[:, None] - place) ** 2)
    >>> [clique.tolist() for clique in cliques.maximal_cliques(graph.threshold(corr, 0.5))]
    [[2, 3], [0, 1, 2]]
    """
    ordered, chunk = prepare(g)[0], min(limit or CHUNK, CHUNK)
    step = max(1, g.n_nodes // PIECES)
    pieces: list[list[Blocks]] = [[] for _ in range(0, g.n_nodes, step)]
    sizes = np.zeros(len(pieces), dtype=np.int64)
    most = limit or _MOST_MEMBERS

    def work(first: int, stop: int) -> None:
        number = first // step
        for blocks in fill(ordered, min_size, first, stop, chunk):
            pieces[number].append(blocks)
            sizes[number] += blocks.n_blocks if limit else blocks.members.size
            # What comes before only grows: the first so many are known to be there.
            if sizes[: number + 1].sum() > most:
                break

    map_blocks(work, g.n_nodes, step)
    every = join([blocks for piece in pieces for blocks in piece])
    count = limit or int(np.searchsorted(every.indptr, most, side="right")) - 1
    listed = Blocks(every.indptr[: count + 1], every.members[: every.indptr[: count + 1][-1]])
    if listed.n_blocks < every.n_blocks:
        covered = np.unique(listed.members).size
        warn(
            f"stopped at the limit of {count} maximal cliques, there are more: these cover "
            f"{covered} of {g.n_nodes} points; raise limit or the threshold of the graph, or use "
            "cliques.cover(), which covers every point"
        )
    return Cliques.trusted(listed, g.n_nodes)


@check.validate(g=any_edges, min_size=check.whole(1), chunk=check.whole(1))
def iter_cliques(g: GraphLike, min_size: int = 1, chunk: int = 1024) -> Iterator[NDArray[np.int32]]:
    """Yield the maximal cliques of a graph one by one, finding no more than is asked for.

    Parameters
    ----------
    g : CsrGraph, networkx.Graph or scipy sparse array
        The graph.
    min_size : int
        Smallest clique to yield.
    chunk : int
        Number of cliques found ahead.

    Yields
    ------
    (k,) int32 array
        Points of a clique, ascending; the order is that of `maximal_cliques`.

    Examples
    --------
    >>> import itertools
    >>> import numpy as np
    >>> from ikd_graph import cliques, graph
    >>> g = graph.threshold(np.ones((1000, 1000)) * 0.5, 0.4)
    >>> [clique.size for clique in itertools.islice(cliques.iter_cliques(g), 10)]
    [1000]
    """
    # Not a generator itself: bad arguments are refused at the call, not at the first clique.
    chunks = fill(prepare(g)[0], min_size, 0, g.n_nodes, chunk)
    return (clique for blocks in chunks for clique in arrays(blocks))


def prepare(g: CsrGraph) -> tuple[OrderedGraph, NDArray[np.int32]]:
    """Order the nodes by degeneracy and split their rows at it; core numbers (n,) come with it."""
    core = np.diff(g.indptr).astype(np.int32)
    order = np.argsort(core, kind="stable").astype(np.int32)
    start = np.concatenate(([0], np.cumsum(np.bincount(core))))
    rank = np.empty_like(order)
    rank[order] = np.arange(g.n_nodes, dtype=np.int32)
    _jit.cliques.degeneracy_order(g, order, core, rank, start)
    rows = g.rows
    is_later = rank[g.indices] > rank[rows]
    middle = g.indptr[:-1] + np.bincount(rows[~is_later], minlength=g.n_nodes)
    indices = g.indices[np.argsort(2 * rows + is_later, kind="stable")]
    pieces = (read_only(array) for array in (middle, indices, order))
    return _jit.cliques.OrderedGraph(g.indptr, *pieces), core


def fill(
    graph: OrderedGraph,
    min_size: int,
    first: int,
    stop: int,
    n_most: int = CHUNK,
    *,
    patient: bool = True,
) -> Iterator[Blocks]:
    """Yield the cliques of the starts from ``first`` to ``stop``, at most ``n_most`` at a time.

    Without patience it ends where none was found for 100 000 steps.
    """
    steps = _PATIENCE if patient else _SEARCH_STEPS
    starts = graph.order[first:stop]
    width = int((graph.indptr[starts + 1] - graph.middle[starts]).max(initial=0))
    words = max(1, (width + _jit.cliques.LAST) >> _jit.cliques.SHIFT)
    bits = np.empty((width + 2, words), dtype=np.uint64)
    search = _jit.cliques.Search(
        cursor=np.array([first - 1, -1, 0], dtype=np.int64),
        local=np.full(graph.middle.size, -1, dtype=np.int32),
        nodes=np.empty(width, dtype=np.int32),
        rows=np.empty_like(bits[:width]),
        candidates=bits,
        clique=np.empty_like(bits),
        todo=np.empty_like(bits),
        first=np.zeros(width + 2, dtype=np.int64),
        last=np.zeros(width + 2, dtype=np.int64),
        masks=np.empty_like(bits),
    )
    indptr = np.empty(n_most + 1, dtype=np.int64)
    members = np.empty(n_most * min(MEMBERS, width + 1) + width + 1, dtype=np.int32)
    status = None
    while status != _jit.cliques.DONE:
        count = _jit.cliques.advance(graph, search, stop, min_size, steps, indptr, members)
        status = search.cursor[2]
        if count:
            yield Blocks(indptr[: count + 1].copy(), members[: indptr[count]].copy())
        if status == _jit.cliques.TIRED and not patient:
            break
        if status == _jit.cliques.MASKS_FULL:
            masks = np.empty((2 * len(search.masks), words), dtype=np.uint64)
            masks[: len(search.masks)] = search.masks
            search = search._replace(masks=masks)
