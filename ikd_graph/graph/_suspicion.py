"""Edges that the rest of the graph speaks against, and pairs that other points contradict."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _doors as door
from .. import _jit
from .._arrays import as_array
from .._records import GRAPH_CURE, CsrGraph, check_graph
from ._csr import edges, from_edges

# More than half: a point with many false edges is a false witness of its true ones.
_MOST_AGAINST = 0.5
# Two witnesses can be false edges of one end; later, when those are not heard, one will do. With
# three to the end a point of few true edges kept a false one (walks of 300 and 1000 points, 2 and
# 5 % of the pairs false, seeds 600, 602 and 604: 14 kept and 15 true ones lost, then 6 and 2; on
# seeds 620 to 622 none is kept at 300 points, at 1000 up to 3).
_LEAST_WITNESSES = (3, 1)
# Then less than half will do where there are many: of knots of 300 points the least share against a
# false edge was .47, the largest against a true one .06 (seed 612, .5 and 1 % of the pairs false).
_MANY_WITNESSES, _MANY_AGAINST = 20, 0.25
# Witnesses that are condemned themselves are not heard, nor missed, and are judged again; it
# settles within so many rounds. After four, where every third edge was false, 3 % of the true ones
# still were condemned (walk, 300 points).
_ROUNDS = 10


class EdgeSuspicion(NamedTuple):
    """What speaks against each edge of a graph."""

    left: NDArray[np.int64]  # (e,) smaller end of each edge
    right: NDArray[np.int64]  # (e,) larger end
    scores: NDArray[np.float64]  # (e,) from 0, nothing, to 1
    condemned: NDArray[np.bool_]  # (e,) whether it was evidence enough

    @property
    def n_condemned(self) -> int:
        """Number of condemned edges."""
        return int(np.count_nonzero(self.condemned))

    @property
    def pairs(self) -> NDArray[np.int64]:
        """Ends of the condemned edges, (n_condemned, 2)."""
        return np.column_stack([self.left, self.right])[self.condemned]


_GRAPH = door.record(CsrGraph, GRAPH_CURE)
_SUSPICION = door.record(EdgeSuspicion, "graph.short_cut_edges finds what it holds")


@door.takes(g=_GRAPH, known=_GRAPH, level=door.optional(door.number))
def contradicted_edges(
    g: CsrGraph, known: CsrGraph, level: float | None = None
) -> tuple[EdgeSuspicion, CsrGraph]:
    """Find edges whose correlation cannot be right if those of other points are.

    Correlations are products of unit vectors, so that ``sqrt(2 - 2 r)`` is a distance and fulfils
    the triangle inequality: a point near one end of an edge must be nearly as near to the other.
    Correlations that were computed from rows are never contradicted; entries of a covariance that
    were estimated one by one, or damaged, can be. The score is the share of witnesses against an
    edge.

    Parameters
    ----------
    g : CsrGraph
        Graph whose edges are judged.
    known : CsrGraph
        Graph of the witnesses, on the same points.
    level : float, optional
        Correlation above which ``known`` has every pair. Without it a pair is expected to be an
        edge only where it would be among the stronger half of the edges of both its ends.

    Returns
    -------
    suspicion : EdgeSuspicion
        What speaks against each edge of ``g``.
    trusted : CsrGraph
        ``known`` without its condemned edges.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import graph, kernels
    >>> line = np.arange(40.0) / 8.0
    >>> corr = kernels.SquaredExponential().covariance((line[:, None] - line) ** 2)
    >>> corr[3, 36] = corr[36, 3] = 0.9
    >>> g = graph.threshold_graph(corr, 0.3)
    >>> graph.contradicted_edges(g, g, 0.3)[0].pairs.tolist()
    [[3, 36]]
    """
    check_same_nodes("known", known, g)
    left, right, weights = edges(known)
    condemned = np.zeros(left.size, dtype=np.bool_)
    for least in _LEAST_WITNESSES:
        for _ in range(_ROUNDS):
            scores = _shares_against(known, known, level, least, condemned)
            before, condemned = condemned, scores > _MOST_AGAINST
            if np.array_equal(before, condemned):
                break
    condemned |= _shares_against(known, known, level, _MANY_WITNESSES, condemned) > _MANY_AGAINST
    # Where the rounds do not settle, an edge that is condemned in every other one is not trusted.
    kept = ~(condemned | before)
    trusted = from_edges(known.n_nodes, left[kept], right[kept], weights[kept])
    scores = _shares_against(g, known, level, least, condemned)
    against = _shares_against(g, known, level, _MANY_WITNESSES, condemned) > _MANY_AGAINST
    left, right, _ = edges(g)
    return EdgeSuspicion(left, right, scores, against | (scores > _MOST_AGAINST)), trusted


@door.takes(g=_GRAPH, suspicion=_SUSPICION)
def without_edges(g: CsrGraph, suspicion: EdgeSuspicion) -> CsrGraph:
    """Graph without its condemned edges.

    Parameters
    ----------
    g : CsrGraph
        The graph.
    suspicion : EdgeSuspicion
        What was found about its edges.

    Returns
    -------
    CsrGraph
        The same nodes with fewer edges.
    """
    left, right, weights = edges(g)
    kept = ~as_array("suspicion.condemned", suspicion.condemned)
    if kept.shape != left.shape or kept.dtype != np.bool_:
        raise ValueError(
            f"suspicion must be of the {left.size} edges of this graph, got shape {kept.shape} of "
            f"{kept.dtype}; find it for this graph"
        )
    return from_edges(g.n_nodes, left[kept], right[kept], weights[kept])


def _shares_against(
    g: CsrGraph,
    known: CsrGraph,
    level: float | None,
    least: int,
    condemned: NDArray[np.bool_] | None = None,
) -> NDArray[np.float64]:
    """Share of the witnesses in a graph against each edge of another.

    What is condemned in it is not known: who was taken for a neighbour by a false edge did not
    thereby become a stranger.
    """
    left, right, weights = edges(g)
    known = known._replace(weights=lengths_of(known.weights))
    if condemned is not None and condemned.any():
        low, high, _ = edges(known)
        at = np.searchsorted(low * known.n_nodes + high, _keys(known))
        known = known._replace(weights=np.where(condemned[at], -1.0, known.weights))
    if level is None:
        reach = _half_reach(known)
    else:
        reach = np.full(g.n_nodes, lengths_of(np.array([level]))[0])
    shares = np.empty(left.size)
    listed = _jit.suspicion.EdgeList(left, right, lengths_of(weights))
    _jit.suspicion.contradict(known, reach, listed, least, shares)
    return shares


def _keys(g: CsrGraph) -> NDArray[np.int64]:
    """A number for the edge of each entry, in the order of `edges`."""
    rows = np.repeat(np.arange(g.n_nodes), np.diff(g.indptr))
    return np.minimum(rows, g.indices) * g.n_nodes + np.maximum(rows, g.indices)


def _half_reach(known: CsrGraph) -> NDArray[np.float64]:
    """Median length of the edges of each point, 0 without any; weights are lengths, if known."""
    rows = np.repeat(np.arange(known.n_nodes), np.diff(known.indptr))
    in_order = known.weights[np.lexsort((known.weights, rows))]
    # Negative ones, which are not known, come first.
    hidden = np.bincount(rows[known.weights < 0.0], minlength=known.n_nodes)
    degrees = np.diff(known.indptr) - hidden
    reach = np.zeros(known.n_nodes)
    some = degrees > 0
    reach[some] = in_order[(known.indptr[:-1] + hidden + (degrees - 1) // 2)[some]]
    return reach


def lengths_of(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Distances between unit vectors with given products."""
    return np.sqrt(np.maximum(2.0 - 2.0 * weights, 0.0))


def check_same_nodes(name: str, other: CsrGraph, g: CsrGraph) -> None:
    """Raise unless two graphs are of the same points."""
    check_graph("g", g)
    check_graph(name, other)
    if other.n_nodes != g.n_nodes:
        raise ValueError(
            f"{name} must have the {g.n_nodes} nodes of g, got {other.n_nodes}; make both of the "
            "same points"
        )
