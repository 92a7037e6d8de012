"""What a list of cliques looks like: numbers, overlaps, the graph of cliques, communities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import connected_components

from .._base import validation as check
from .._base.threads import block_rows
from .._base.types import Floats
from ..graph import CsrGraph, GraphLike, any_edges, component_labels
from ._sequence import Blocks, Cliques, arrays, as_blocks, as_texts

if TYPE_CHECKING:
    import networkx as nx

Numbers = NDArray[np.integer]
AnyCliques = Cliques | Blocks | Iterable[ArrayLike]


@check.validate(g=any_edges, n_components=check.optional(check.whole(1)))
def summary(g: GraphLike, cliques: AnyCliques, n_components: int | None = None) -> dict[str, Any]:
    """Describe a list of cliques of a graph in numbers.

    Parameters
    ----------
    g : CsrGraph, networkx.Graph or scipy sparse array
        The graph.
    cliques : Cliques or iterable of (k,) int arrays
        Cliques of it, all or some.
    n_components : int, optional
        Latent dimension M. With it the summary tells how many cliques are large enough to be
        solved and placed, and how the cliques that share M + 1 points hang together.

    Returns
    -------
    dict
        Plain numbers and dicts of them:

        - ``n_points``, ``n_edges``, ``graph_components``: the graph;
        - ``n_cliques``: how many;
        - ``sizes``, ``overlaps``, ``cliques_per_point``, ``degrees``: ``min``, ``median``,
          ``mean``, ``max`` and ``histogram`` (value: count) of points in a clique, points shared by
          two cliques that share any, cliques of a point, and neighbors of a point;
        - ``overlapping_pairs``: pairs of cliques that share a point;
        - ``points_covered``, ``point_coverage``, ``edges_covered``, ``edge_coverage``: points and
          edges that lie in a clique, and their fraction of all;
        - ``truncated``: whether a point or an edge is left out, which no full list does;
        - with ``n_components`` also ``merge_overlap`` (M + 1), ``n_solvable`` (cliques of at least
          M + 2 points), ``solvable_coverage`` (fraction of points in one of these) and
          ``merge_components`` (groups of these that hang together), else None.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import cliques, graph
    >>> g = graph.threshold(np.array([[1, 0.9, 0.2], [0.9, 1, 0.8], [0.2, 0.8, 1]]), 0.5)
    >>> facts = cliques.summary(g, cliques.maximal_cliques(g), n_components=1)
    >>> facts["n_cliques"], facts["sizes"]["histogram"], facts["overlaps"]["max"]
    (2, {2: 2}, 1)
    >>> facts["point_coverage"], facts["truncated"], facts["merge_components"]
    (1.0, False, 0)
    """
    blocks = as_blocks(cliques, g.n_nodes)
    overlap = None if n_components is None else n_components + 1
    sizes = blocks.sizes
    histogram = np.zeros(int(sizes.max(initial=0)) + 1, dtype=np.int64)
    group: Numbers = np.arange(sizes.size)
    holds = incidence(blocks, g.n_nodes)
    for rows, columns, shared in shared_points(holds):
        histogram += np.bincount(shared, minlength=histogram.size)
        if overlap is not None:
            chained = shared >= overlap
            group = joined(group, rows[chained], columns[chained])
    names = ("merge_overlap", "n_solvable", "solvable_coverage", "merge_components")
    merge: dict[str, Any] = dict.fromkeys(names)
    if overlap is not None:
        solvable = sizes > overlap
        held = np.unique(blocks.members[np.repeat(solvable, sizes)]).size
        merge = {
            "merge_overlap": overlap,
            "n_solvable": int(np.count_nonzero(solvable)),
            "solvable_coverage": held / g.n_nodes if g.n_nodes else 1.0,
            "merge_components": int(np.unique(group[solvable]).size),
        }
    per_point = np.bincount(blocks.members, minlength=g.n_nodes)
    edges = _count_covered(g, holds)
    points = int(np.count_nonzero(per_point))
    return {
        "n_points": g.n_nodes,
        "n_edges": g.n_edges,
        "graph_components": int(component_labels(g).max(initial=-1)) + 1,
        "n_cliques": blocks.n_blocks,
        "sizes": _distribution(np.bincount(sizes)),
        "overlaps": _distribution(histogram),
        "overlapping_pairs": int(histogram.sum()),
        "cliques_per_point": _distribution(np.bincount(per_point)),
        "degrees": _distribution(np.bincount(np.diff(g.indptr))),
        "points_covered": points,
        "point_coverage": points / g.n_nodes if g.n_nodes else 1.0,
        "edges_covered": edges,
        "edge_coverage": edges / g.n_edges if g.n_edges else 1.0,
        "truncated": points < g.n_nodes or edges < g.n_edges,
        **merge,
    }


@check.validate(min_overlap=check.count)
def overlaps(cliques: AnyCliques, min_overlap: int = 1) -> sp.csr_matrix:
    """Count the points that cliques share.

    Parameters
    ----------
    cliques : Cliques or iterable of (k,) int arrays
        The cliques.
    min_overlap : int
        Pairs that share fewer points are left out.

    Returns
    -------
    (n_cliques, n_cliques) csr_matrix of int32
        Points shared by each pair, symmetric, nothing on the diagonal, rows sorted.

    Examples
    --------
    >>> from ikd_graph import cliques
    >>> cliques.overlaps([[0, 1, 2], [1, 2, 3], [3, 4]]).toarray().tolist()
    [[0, 2, 0], [2, 0, 1], [0, 1, 0]]
    """
    blocks = as_blocks(cliques)
    # Numbered again: room is made for each point up to the last.
    points, members = np.unique(blocks.members, return_inverse=True)
    holds = incidence(Blocks(blocks.indptr, members.astype(np.int32)), points.size)
    shared = sp.coo_array(holds @ holds.T)
    enough = (shared.data >= min_overlap) & (shared.row != shared.col)
    entries = shared.row[enough], shared.col[enough]
    out = sp.csr_matrix((shared.data[enough], entries), shape=shared.shape)
    out.sort_indices()
    return out


def clique_graph(
    cliques: AnyCliques, min_overlap: int = 1, *, names: Sequence[object] | None = None
) -> nx.Graph:
    """Make the graph of cliques, an edge where two share enough points.

    Parameters
    ----------
    cliques : Cliques or iterable of (k,) int arrays
        The cliques.
    min_overlap : int
        Points to share: M + 1 for the pairs that a rigid motion in M dimensions can join.
    names : sequence, optional
        Names of the points; by default their numbers.

    Returns
    -------
    networkx.Graph
        Nodes are numbers of cliques, with attributes ``size`` and ``members`` (text, the members
        between semicolons, which GraphML and GEXF hold); edges have the attribute ``overlap``.

    Examples
    --------
    >>> from ikd_graph import cliques
    >>> joined = cliques.clique_graph([[0, 1, 2], [1, 2, 3], [3, 4]], min_overlap=2)
    >>> joined.nodes[0]["members"], list(joined.edges(data="overlap"))
    ('0;1;2', [(0, 1, 2)])
    """
    import networkx as nx

    blocks = as_blocks(cliques)
    pairs = sp.triu(overlaps(blocks, min_overlap), format="coo")
    joined = nx.Graph()
    for number, members in enumerate(arrays(blocks)):
        own = members.tolist() if names is None else [names[point] for point in members.tolist()]
        joined.add_node(number, size=int(members.size), members=";".join(map(str, own)))
    ends = zip(pairs.row.tolist(), pairs.col.tolist(), pairs.data.tolist(), strict=True)
    joined.add_edges_from((i, j, {"overlap": overlap}) for i, j, overlap in ends)
    return joined


def incidence(blocks: Blocks, n_points: int) -> sp.csr_array:
    """Matrix of ones (n_blocks, n_points) where a block holds a point."""
    ones = np.ones(blocks.members.size, dtype=np.int32)
    return sp.csr_array((ones, blocks.members, blocks.indptr), shape=(blocks.n_blocks, n_points))


def edge_weights(g: CsrGraph, cliques: Cliques) -> tuple[Floats, Floats]:
    """Smallest and mean weight of the edges of each clique of two points or more, (n_cliques,)."""
    keys, smallest, mean = g.rows * g.n_nodes + g.indices, *np.empty((2, len(cliques)))
    for number, members in enumerate(cliques):
        low, high = (members[ends].astype(np.int64) for ends in np.triu_indices(members.size, 1))
        weights = g.weights[np.searchsorted(keys, low * g.n_nodes + high)]
        smallest[number], mean[number] = weights.min(), weights.mean()
    return smallest, mean


def shared_points(holds: sp.csr_array) -> Iterator[tuple[Numbers, Numbers, Numbers]]:
    """Pairs of blocks that share points, the first below the second, and how many; in batches."""
    n_blocks, held_by = holds.shape[0], holds.T.tocsr()
    step = block_rows(n_blocks)
    for start in range(0, n_blocks, step):
        pairs = (holds[start : start + step] @ held_by).tocoo()
        later = pairs.col > pairs.row + start
        yield pairs.row[later] + start, pairs.col[later], pairs.data[later]


def joined(group: Numbers, rows: Numbers, columns: Numbers) -> Numbers:
    """Return groups (k,) of blocks after pairs of blocks were joined."""
    n = group.size
    links = sp.csr_array((np.ones(rows.size), (group[rows], group[columns])), shape=(n, n))
    return connected_components(links, directed=False)[1][group]


def _count_covered(g: CsrGraph, holds: sp.csr_array) -> int:
    """Count edges that lie in a block."""
    count, step, held_by, adjacent = 0, block_rows(g.n_nodes), holds.T.tocsr(), g.adjacency
    for start in range(0, g.n_nodes, step):
        together = held_by[start : start + step] @ holds
        count += int(together.multiply(adjacent[start : start + step]).count_nonzero())
    return count // 2


def _distribution(counts: NDArray[np.int64]) -> dict[str, Any]:
    """Minimum, median, mean, maximum (0 without numbers) and histogram of counts of 0, 1, 2, ..."""
    values = np.flatnonzero(counts)
    if values.size == 0:
        return {"min": 0, "median": 0.0, "mean": 0.0, "max": 0, "histogram": {}}
    below = np.cumsum(counts[values])
    total = int(below[-1])
    middle = values[np.searchsorted(below, [(total - 1) // 2, total // 2], side="right")]
    return {
        "min": int(values[0]),
        "median": float(middle.mean()),
        "mean": float(values @ counts[values] / total),
        "max": int(values[-1]),
        "histogram": dict(zip(values.tolist(), counts[values].tolist(), strict=True)),
    }


class Communities(Cliques):
    """Communities of points: a sequence of arrays of point numbers, the largest first.

    Communities may share points.

    Parameters
    ----------
    members : sequence of (k,) int arrays
        Points of each community, ascending.
    k : int
        Size of the cliques that percolate.
    n_points : int
        Number of points there are.
    """

    def __init__(self, members: Sequence[NDArray[np.int32]], k: int, n_points: int) -> None:
        super().__init__(members, n_points)
        self.k = k

    def __repr__(self) -> str:
        """Say how many there are, and how many points they hold."""
        held = np.unique(self.blocks.members).size
        found = f"{len(self)} communit{'y' if len(self) == 1 else 'ies'}"
        return f"{found} of {self.k}-cliques, {held} of {self.n_points} points"

    @property
    def labels(self) -> NDArray[np.int64]:
        """Community of each point, (n_points,): the largest that holds it, -1 for none."""
        labels = np.full(self.n_points, -1, dtype=np.int64)
        for number in reversed(range(len(self))):
            labels[self[number]] = number
        return labels

    def to_pandas(
        self, names: Sequence[Any] | None = None, labels: Sequence[Any] | None = None
    ) -> pd.DataFrame:
        """Make a table, a row for each community, the largest first.

        Parameters
        ----------
        names : sequence of length n_points, optional
            Names of the points; by default their numbers.
        labels : sequence of length n_points, optional
            Label of each point; the table counts them.

        Returns
        -------
        pandas.DataFrame
            Columns ``community``, ``size``, ``members`` and, with labels, ``labels``.
        """
        called = as_texts(names, self.n_points)
        members = [", ".join(called[points]) for points in self]
        counted = {"community": range(len(self)), "size": self.sizes, "members": members}
        table = pd.DataFrame(counted)
        if labels is not None:
            check.one_each("labels", labels, self.n_points)
            words = as_texts(labels, self.n_points)
            often = [Counter(words[points].tolist()).most_common() for points in self]
            table["labels"] = [", ".join(f"{name} × {n}" for name, n in each) for each in often]
        return table

    def compare(self, labels: Sequence[Any]) -> dict[str, float]:
        """Compare the communities with labels of the points.

        Parameters
        ----------
        labels : sequence of length n_points
            Label of each point; None, NaN and NA are no labels.

        Returns
        -------
        dict of str to float
            ``adjusted_rand``: agreement of labels and communities, 0 by chance and 1 where they are
            the same (Hubert and Arabie 1985); ``purity``: fraction of points with the most frequent
            label of their community; both over ``covered``, the fraction of the labeled points that
            are in a community. A point of several counts for the largest.
        """
        from sklearn.metrics import adjusted_rand_score
        from sklearn.metrics.cluster import contingency_matrix

        check.one_each("labels", labels, self.n_points)
        # By position, whatever index a series has.
        given = list(labels)
        known = ~pd.isna(np.array(given, dtype=object))
        held = known & (self.labels >= 0)
        if not held.any():
            return {"adjusted_rand": 0.0, "purity": 0.0, "covered": 0.0}
        truth = [str(given[point]) for point in np.flatnonzero(held).tolist()]
        own = self.labels[held]
        return {
            "adjusted_rand": float(adjusted_rand_score(truth, own)),
            "purity": float(contingency_matrix(truth, own).max(axis=0).sum() / own.size),
            "covered": float(held.sum() / known.sum()),
        }


@check.validate(k=check.whole(2))
def communities(cliques: AnyCliques, k: int = 3, *, n_points: int | None = None) -> Communities:
    """Find communities by percolation of k-cliques (Palla, Derényi, Farkas and Vicsek 2005).

    Maximal cliques of at least k points that share k - 1 belong together; a community is the union
    of all that hang together.

    Parameters
    ----------
    cliques : Cliques or iterable of (k,) int arrays
        All maximal cliques of a graph, see `maximal_cliques`; of some, communities may fall apart.
    k : int
        Size of the cliques that percolate, from 2: with 2 communities are the components of the
        graph; larger ones are smaller and denser.
    n_points : int, optional
        Number of points there are; by default that of the cliques.

    Returns
    -------
    Communities
        The communities, the largest first, those of a size by their first points.

    References
    ----------
    G. Palla, I. Derényi, I. Farkas and T. Vicsek, Uncovering the overlapping community structure of
    complex networks in nature and society, Nature 435, 2005.

    Examples
    --------
    >>> from ikd_graph import cliques
    >>> found = cliques.communities([[0, 1, 2], [1, 2, 3], [3, 4, 5]], k=3)
    >>> found
    2 communities of 3-cliques, 6 of 6 points
    >>> [members.tolist() for members in found]
    [[0, 1, 2, 3], [3, 4, 5]]
    """
    every = Cliques(cliques, n_points)
    starts, entries = every.blocks.entries(np.flatnonzero(every.sizes >= k))
    large = Blocks(starts, every.blocks.members[entries])
    group: NDArray[np.integer] = np.arange(large.n_blocks)
    for rows, columns, shared in shared_points(incidence(large, every.n_points)):
        enough = shared >= k - 1
        group = joined(group, rows[enough], columns[enough])
    order = np.argsort(group, kind="stable")
    starts, entries = large.entries(order)
    firsts = starts[np.flatnonzero(np.diff(group[order])) + 1]
    found = [np.unique(part) for part in np.split(large.members[entries], firsts) if part.size]
    found.sort(key=lambda members: (-members.size, members.tolist()))
    return Communities(found, k, every.n_points)
