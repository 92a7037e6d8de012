"""Shortest paths through a graph, and the distances and covariances they stand for."""

from __future__ import annotations

from math import isqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .. import _jit
from .._base import limits
from .._base import validation as check
from .._base.threads import PIECES, block_rows, map_blocks
from .._base.types import Floats, Integers
from ..graph import CsrGraph, check_graph, to_sparse
from ..kernels import StationaryKernel, as_kernel

Nodes = ArrayLike | None


def _check_sources(g: CsrGraph, sources: Any = None, *_: Any, **__: Any) -> None:
    """Raise unless the sources are nodes of the graph."""
    if sources is not None and check.nodes_of(g.n_nodes)("sources", sources).size == 0:
        raise ValueError(
            f"sources must be a list of one or more nodes, got {sources!r}; "
            "leave it out to start from all of them"
        )


def check_lengths(g: CsrGraph, *_: Any, **__: Any) -> None:
    """Raise unless the weights of a graph are lengths."""
    if not np.all(g.weights >= 0.0):
        raise ValueError(
            f"lengths must not be negative, got {np.count_nonzero(~(g.weights >= 0.0))} edges that "
            "are (or are NaN); turn correlations into lengths with distance_lengths first"
        )


_SOURCES = check.optional(check.nodes)


@check.validate(_check_sources, g=check_graph, kernel=as_kernel, sources=_SOURCES)
def distances(g: CsrGraph, kernel: StationaryKernel, sources: Nodes = None) -> Floats:
    """Find the smallest sums of kernel distances sqrt(f^-1(s)) along paths.

    Parameters
    ----------
    g, kernel : CsrGraph and StationaryKernel
        Correlations s of trusted pairs, and the kernel f.
    sources : (s,) array_like of int, optional
        Nodes to start from; all of them by default.

    Returns
    -------
    (s, n) ndarray of float64
        Distances, not squared; infinite where there is no path. With all sources exactly
        symmetric.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import geodesics, graph, kernels
    >>> z = np.array([0.0, 1.0, 2.0, 3.0])
    >>> kernel = kernels.SquaredExponential()
    >>> g = graph.threshold(kernel.covariance((z[:, None] - z) ** 2), 0.5)
    >>> geodesics.distances(g, kernel, [0]).round(12).tolist()
    [[0.0, 1.0, 2.0, 3.0]]
    """
    return shortest_distances(distance_lengths(g, kernel), sources)


@check.validate(_check_sources, g=check_graph, sources=_SOURCES, keep_edges=check.flag)
def covariance(g: CsrGraph, sources: Nodes = None, *, keep_edges: bool = True) -> Floats:
    """Find the largest products of covariances along paths (paper, Section 2.4).

    Parameters
    ----------
    g : CsrGraph
        Correlations of trusted pairs.
    keep_edges : bool
        Leave the entry of an edge as it is, as the paper does: only entries without an edge are
        replaced. Otherwise a detour with a larger product replaces an edge's too.
    sources : (s,) array_like of int, optional
        Nodes to start from; all of them by default.

    Returns
    -------
    (s, n) ndarray of float64
        Covariances; 0 where there is no path and 1 from a node to itself. With all sources
        exactly symmetric. A product that underflows is the smallest number there is; logarithms of
        products are `shortest_distances` of `covariance_lengths`.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import geodesics, graph
    >>> corr = np.array([[1.0, 0.8, 0.0], [0.8, 1.0, 0.5], [0.0, 0.5, 1.0]])
    >>> geodesics.covariance(graph.threshold(corr, 0.4), [0]).round(12).tolist()
    [[1.0, 0.8, 0.4]]
    """
    starts = np.arange(g.n_nodes) if sources is None else np.asarray(sources)
    out = shortest_distances(covariance_lengths(g), sources)

    def to_covariance(start: int, stop: int) -> None:
        block = out[start:stop]
        apart = block == np.inf
        np.exp(np.negative(block, out=block), out=block)
        block[apart] = 0.0
        np.maximum(block, np.finfo(out.dtype).tiny, out=block, where=~apart)

    map_blocks(to_covariance, starts.size, block_rows(g.n_nodes))
    if keep_edges:
        edges = to_sparse(g)[starts].tocoo()
        trusted = edges.data > 0.0
        out[edges.row[trusted], edges.col[trusted]] = edges.data[trusted]
    return out


@check.validate(g=check_graph, kernel=as_kernel)
def distance_lengths(g: CsrGraph, kernel: StationaryKernel) -> CsrGraph:
    """Turn correlations into kernel distances sqrt(f^-1(s)), the lengths of edges.

    Parameters
    ----------
    g : CsrGraph
        Correlations s.
    kernel : StationaryKernel
        The kernel f.

    Returns
    -------
    CsrGraph
        The same graph with lengths as weights; infinite where s <= 0.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import geodesics, graph, kernels
    >>> g = graph.threshold(np.array([[1.0, np.exp(-2.0)], [np.exp(-2.0), 1.0]]), 0.1)
    >>> geodesics.distance_lengths(g, kernels.SquaredExponential()).weights.tolist()
    [2.0, 2.0]
    """
    walkable = g.weights > 0.0
    sq_dist = kernel.sq_distance(np.where(walkable, np.minimum(g.weights, 1.0), 1.0))
    return CsrGraph.trusted(g.indptr, g.indices, np.where(walkable, np.sqrt(sq_dist), np.inf))


@check.validate(g=check_graph)
def covariance_lengths(g: CsrGraph) -> CsrGraph:
    """Turn correlations into -log s, so that the shortest path has the largest product.

    Parameters
    ----------
    g : CsrGraph
        Correlations s.

    Returns
    -------
    CsrGraph
        The same graph with -log s as weights; infinite where s <= 0.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import geodesics, graph
    >>> pair = graph.from_edges(2, np.array([0]), np.array([1]), np.exp([-2.0]))
    >>> geodesics.covariance_lengths(pair).weights.tolist()
    [2.0, 2.0]
    """
    with np.errstate(divide="ignore"):
        # abs: so that s = 1 gives 0, not -0.
        lengths = np.abs(np.log(np.clip(g.weights, 0.0, 1.0)))
    return CsrGraph.trusted(g.indptr, g.indices, lengths)


@check.validate(check_lengths, _check_sources, g=check_graph, sources=_SOURCES)
def shortest_distances(g: CsrGraph, sources: Nodes = None) -> Floats:
    """Find the smallest sums of lengths along paths.

    Parameters
    ----------
    g : CsrGraph
        Weights are lengths here: none negative, infinite where an edge cannot be walked.
    sources : (s,) array_like of int, optional
        Nodes to start from; all of them by default.

    Returns
    -------
    (s, n) ndarray of float64
        Distances; infinite where there is no path. A sum from one end may differ in its last bit
        from the sum from the other: with all sources the smaller is returned for both, so that
        the result is exactly symmetric.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import geodesics, graph
    >>> corr = np.array([[1.0, 0.9, 0.2], [0.9, 1.0, 0.5], [0.2, 0.5, 1.0]])
    >>> g = graph.threshold(corr, 0.4)
    >>> geodesics.shortest_distances(g._replace(weights=1.0 - g.weights)).round(12).tolist()
    [[0.0, 0.1, 0.6], [0.1, 0.0, 0.5], [0.6, 0.5, 0.0]]
    """
    starts = np.arange(g.n_nodes) if sources is None else np.asarray(sources)
    out = np.empty((starts.size, g.n_nodes))
    walkable = g.weights[g.weights < np.inf]
    step = float(walkable.mean()) if walkable.size else 0.0

    def search(start: int, stop: int) -> None:
        workspace = np.empty(g.n_nodes, np.uint8), np.empty((2, g.n_nodes), np.int32)
        _jit.geodesics.search(g, starts[start:stop], step, *workspace, out[start:stop])

    # The sources of a block share one workspace.
    map_blocks(search, starts.size, max(1, starts.size // PIECES))
    if sources is None:

        def mirror_smaller(start: int, stop: int) -> None:
            rows, columns = out[start:stop, start:], out[start:, start:stop].T
            smaller = np.minimum(rows, columns)
            rows[:], columns[:] = smaller, smaller

        map_blocks(mirror_smaller, g.n_nodes, block_rows(g.n_nodes))
    return out


def _check_count(g: CsrGraph, count: int) -> None:
    check.whole(1, max(g.n_nodes, 1))("count", count)


@check.validate(check_lengths, _check_count, g=check_graph, count=check.count)
def farthest_nodes(g: CsrGraph, count: int) -> tuple[Integers, Floats]:
    """Find nodes of a connected graph, each the farthest from those before it.

    The first ends the longest path from the node with the shortest edges, so that the order of the
    nodes does not matter.

    Parameters
    ----------
    g : CsrGraph
        Weights are lengths, as for `shortest_distances`.
    count : int
        How many, up to n. Where nodes lie at the same place some come again.

    Returns
    -------
    nodes : (count,) ndarray of int64
        The nodes.
    distances : (count, n) ndarray of float64
        From each of them to all.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import geodesics, graph
    >>> line = graph.from_edges(4, np.arange(3), np.arange(1, 4), np.array([0.5, 2.0, 1.0]))
    >>> nodes, distances = geodesics.farthest_nodes(line, 2)
    >>> nodes.tolist(), distances[0].tolist()
    ([3, 0], [3.5, 3.0, 1.0, 0.0])
    """
    n, degrees = g.n_nodes, np.diff(g.indptr)
    sums = np.bincount(g.rows, g.weights, minlength=n)
    mean = np.divide(sums, degrees, out=np.full(n, np.inf), where=degrees > 0)
    nodes, distances = np.empty(count, dtype=np.int64), np.empty((count, n))
    nearest = shortest_distances(g, [np.argmin(mean)])[0]
    for row in range(count):
        nodes[row] = np.argmax(nearest)
        distances[row] = shortest_distances(g, nodes[row : row + 1])[0]
        nearest = np.minimum(nearest, distances[row]) if row else distances[row]
    return nodes, distances


class Paths(NamedTuple):
    """Squared distances on best paths through a connected graph, from all nodes or landmarks."""

    sq_distances: Floats  # (a, n) edges keep their own
    landmarks: Integers | None  # (a,) nodes they start from, None for all
    counts: Integers  # (a,) nodes that each stands for: those it is the nearest of

    @classmethod
    def of(cls, sq_distances: Floats, landmarks: Integers | None) -> Paths:
        """Paths with the counts of their starts."""
        n_starts, n = sq_distances.shape
        counts = np.ones(n, dtype=np.int64)
        if landmarks is not None:
            nearest = np.argmin(sq_distances, axis=0)
            counts = np.maximum(np.bincount(nearest, minlength=n_starts), 1)
        return cls(sq_distances, landmarks, counts)


def best_paths(
    g: CsrGraph,
    kernel: StationaryKernel,
    path: str,
    n_landmarks: int | None = None,
    random_state: int = 0,
    first: int | None = None,
) -> Paths:
    """Measure the best paths of a connected graph.

    Landmarks are chosen in batches, far from those before and where there are many points: a point
    with a probability in proportion to its squared distance to the nearest landmark so far. A
    region gets landmarks for being far from them and for being populous.

    Parameters
    ----------
    g, kernel : CsrGraph and StationaryKernel
        Correlations s of trusted pairs, and the kernel f.
    path : {"distance", "covariance"}
        Best are the smallest sums of distances, or the largest products of covariances.
    n_landmarks : int, optional
        Number of starts; all nodes by default.
    random_state : int
        Seed of the landmarks; which are drawn does not depend on the order of the nodes.
    first : int, optional
        A node that has to be a landmark.

    Returns
    -------
    Paths
        Squared distances (n, n) float64, or (l, n) from landmarks.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import geodesics, graph, kernels
    >>> z = np.array([0.0, 1.0, 2.0, 3.0])
    >>> kernel = kernels.SquaredExponential()
    >>> g = graph.threshold(kernel.covariance((z[:, None] - z) ** 2), 0.5)
    >>> geodesics.best_paths(g, kernel, "distance").sq_distances[0].round(12).tolist()
    [0.0, 1.0, 4.0, 9.0]
    """
    by_product = path == "covariance"
    lengths = covariance_lengths(g) if by_product else distance_lengths(g, kernel)
    walkable = np.isfinite(lengths.weights)
    if n_landmarks is None:
        nodes, out = None, shortest_distances(lengths)
        out[g.rows[walkable], g.indices[walkable]] = lengths.weights[walkable]
    else:
        nodes, out = _draw_landmarks(lengths, n_landmarks, random_state, first)
        for row, node in enumerate(nodes):
            edges = slice(g.indptr[node], g.indptr[node + 1])
            own = walkable[edges]
            out[row, g.indices[edges][own]] = lengths.weights[edges][own]

    def invert(start: int, stop: int) -> None:
        # In place: a second matrix is what memory runs out on.
        block = out[start:stop]
        block[:] = kernel.sq_distance_from_log(block) if by_product else np.square(block)

    map_blocks(invert, len(out), block_rows(g.n_nodes))
    return Paths.of(out, nodes)


def auto_landmarks(n_nodes: int, n_components: int) -> int | None:
    """Return how many landmarks stand for so many nodes, None where all pairs are measured."""
    count = max(limits.LANDMARKS, 50 * n_components)
    return None if n_nodes <= max(limits.SOLVED_WHOLE, count) else count


def _draw_landmarks(
    lengths: CsrGraph, count: int, random_state: int, first: int | None
) -> tuple[Integers, Floats]:
    """Landmarks (l,), and the lengths (l, n) of the shortest paths from them."""
    n, rng = lengths.n_nodes, np.random.default_rng(random_state)
    # Random numbers go to nodes by the lengths of their edges, in whatever order nodes come.
    sums = np.bincount(lengths.rows, lengths.weights, minlength=n)
    order = np.argsort(sums, kind="stable")
    waiting, nearest = np.empty(n), np.ones(n)
    distances = np.empty((count, n))
    nodes = np.empty(0, dtype=np.int64)
    while nodes.size < count:
        # The smallest of exponential waiting times: a weighted draw without repetition.
        waiting[order] = rng.standard_exponential(n)
        waiting /= np.maximum(nearest, np.finfo(np.float64).eps) ** 2
        waiting[nodes] = np.inf
        if first is not None and not nodes.size:
            waiting[first] = 0.0
        size = min(1 + isqrt(count), count - nodes.size)
        batch = np.argsort(waiting, kind="stable")[:size]
        measured = shortest_distances(lengths, batch)
        distances[nodes.size : nodes.size + batch.size] = measured
        nearest = measured.min(axis=0) if not nodes.size else np.fmin(nearest, measured.min(axis=0))
        nodes = np.append(nodes, batch)
    return nodes, distances
