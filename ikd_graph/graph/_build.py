"""From similarities to graphs: all pairs above a threshold, or nearest neighbors."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from .._base import validation as check
from .._base.threads import PAIRS, block_rows, map_blocks
from .._base.types import Floats, Indices, Integers
from .._base.warn import warn
from ..covariance import FLOOR
from ..similarity import Similarity, SparsePrecomputed, as_similarity, fewer_than
from ._csr import edges, mirrored, strongest
from ._record import CsrGraph

SIGNS = {"absolute": np.abs, "positive": np.positive, "negative": np.negative}

WEIGHT_FLOOR = FLOOR
"""Least weight of an edge that is there whatever its correlation: a neighbor or a bridge."""


@check.validate(corr=as_similarity, s0=check.fraction)
def threshold(corr: Any, s0: float) -> CsrGraph:
    """Keep the pairs whose correlation exceeds a threshold (paper, Section 2.4).

    Parameters
    ----------
    corr : (n, n) float64, symmetric, or Similarity
        Correlations between points.
    s0 : float
        Threshold in (0, 1).

    Returns
    -------
    CsrGraph
        Edges with ``corr > s0``.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import graph
    >>> corr = np.array([[1.0, 0.9, 0.2], [0.9, 1.0, 0.5], [0.2, 0.5, 1.0]])
    >>> graph.threshold(corr, 0.4).indices.tolist()
    [1, 0, 2, 1]
    """
    return pairs_above(as_similarity("corr", corr), s0)


@check.validate(
    corr=check.symmetric, s0=check.fraction, sign=check.one_of(("absolute", "positive", "negative"))
)
def signed_threshold(corr: Any, s0: float, sign: str = "absolute") -> CsrGraph:
    """Join the pairs whose correlation is far from 0, for looking at their cliques.

    Parameters
    ----------
    corr : (n, n) array_like of float64, symmetric
        Correlations.
    s0 : float
        The threshold, in (0, 1).
    sign : {"absolute", "positive", "negative"}
        Which correlations are edges: above ``s0``, below ``-s0``, or both. A clique of positive
        edges moves together; of three rows that are related by negative edges alone, each would
        have to oppose the two others, so that such cliques are small.

    Returns
    -------
    CsrGraph
        Weights are the absolute correlations.

    Warns
    -----
    UserWarning
        With the number of pairs as far from 0 that are dropped for their sign.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import graph
    >>> corr = np.array([[1.0, 0.6, -0.7], [0.6, 1.0, -0.1], [-0.7, -0.1, 1.0]])
    >>> graph.edges(graph.signed_threshold(corr, 0.5))[2].tolist()
    [0.6, 0.7]
    """
    g = pairs_above(as_similarity("corr", SIGNS[sign](corr)), s0)
    if sign != "absolute":
        far = pairs_above(as_similarity("corr", np.abs(corr)), s0).n_edges
        if far > g.n_edges:
            other = f"below {-s0:g}" if sign == "positive" else f"above {s0:g}"
            warn(
                f"{far - g.n_edges} of {far} pairs beyond {s0:g} are dropped, since their "
                f"correlation is {other}; sign='absolute' keeps them"
            )
    return g


@check.validate(corr=as_similarity, mutual=check.flag)
def neighbors(corr: Any, k: int, *, mutual: bool = False) -> CsrGraph:
    """Join each point to the points most correlated with it.

    Ties go to the smaller index, and a point is never its own neighbor, whatever duplicates it
    has. A neighbor's correlation below ``WEIGHT_FLOOR`` (even a negative one, when nothing better
    is there) is stored as ``WEIGHT_FLOOR``, so that every edge can be walked.

    Parameters
    ----------
    corr : (n, n) float64, symmetric, or Similarity
        Correlations between points.
    k : int
        Number of neighbors, at most n - 1.
    mutual : bool
        Keep an edge only where each is among the k nearest of the other; by default one suffices.

    Returns
    -------
    CsrGraph
        The points, joined to their neighbors.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import graph
    >>> corr = np.array([[1.0, 0.9, 0.2], [0.9, 1.0, 0.5], [0.2, 0.5, 1.0]])
    >>> graph.neighbors(corr, 1).indices.tolist()
    [1, 0, 2, 1]
    >>> graph.neighbors(corr, 1, mutual=True).indices.tolist()
    [1, 0]
    """
    similarity = as_similarity("corr", corr)
    k = fewer_than(similarity.n_samples)("k", k)
    return neighbor_graph(similarity, k, mutual=mutual)


def pairs_above(similarity: Similarity, s0: float, most: int | None = None) -> CsrGraph:
    """Graph of the pairs whose similarity exceeds a threshold.

    Parameters
    ----------
    similarity : Similarity
        How points are compared; where it is a graph, 0 takes all that is stored.
    s0 : float
        Weights must exceed it.
    most : int, optional
        Keep the edges that are among so many strongest of one of their ends; all by default.

    Returns
    -------
    CsrGraph
        Its edges are those pairs.
    """
    if most is not None:
        low, high, weights = edges(neighbor_graph(similarity, most))
    elif isinstance(similarity, SparsePrecomputed):
        low, high, weights = similarity.edges()
    else:
        low, high, weights = _pairs_of_blocks(similarity, s0)
    shown = weights > similarity.least_edge(low, high, s0)
    return mirrored(similarity.n_samples, low[shown], high[shown], weights[shown])


def _pairs_of_blocks(similarity: Similarity, s0: float) -> tuple[Integers, Integers, Floats]:
    """Return ends and weights, (m,), of the pairs above a threshold, from blocks of them."""
    n = similarity.n_samples
    size = block_rows(n)
    batches: list[Any] = [None] * -(-n // size)

    def collect(start: int, stop: int) -> None:
        block = similarity.edge_weights(start, stop)
        low, high = np.nonzero(np.triu(block > np.float64(s0), 1))
        batches[start // size] = start + low, start + high, block[low, high]

    map_blocks(collect, n, size)
    low, high, weights = (np.concatenate(column) for column in zip(*batches, strict=True))
    # Rounding takes the correlation of duplicates a little above 1.
    return low, high, np.minimum(weights, 1.0)


def neighbor_graph(similarity: Similarity, k: int, *, mutual: bool = False) -> CsrGraph:
    """Graph that joins each point to its neighbors.

    Parameters
    ----------
    similarity : Similarity
        How points are compared; where it is a graph, the strongest edges of every point stay. A
        weight is multiplied by the root of the fraction of neighbors that its ends have in common
        if that is the affinity (of k + 1, each point being a neighbor of its own): it is small
        across the gap between two groups.
    k : int
        Number of neighbors; all points where there are fewer.
    mutual : bool
        As in :func:`neighbors`.

    Returns
    -------
    CsrGraph
        The neighbor graph; pairs that are not known are no neighbors.
    """
    n = similarity.n_samples
    if isinstance(similarity, SparsePrecomputed):
        return strongest(pairs_above(similarity, 0.0), k)
    near = similarity.neighbors(k)
    nodes, others = np.arange(n)[:, None], near.astype(np.int64)
    keys = np.minimum(nodes, others) * n + np.maximum(nodes, others)
    # A pair stands once for each end that names it.
    keys, counts = np.unique(keys, return_counts=True)
    first, second = np.divmod(keys[counts == 2] if mutual else keys, n)
    values = similarity.between(first, second)
    known = values > similarity.least_neighbor
    first, second, values = first[known], second[known], values[known]
    weights = similarity.weights(values)
    if similarity.affinity.shared:
        fractions = np.sqrt(_shared_fraction(near, first, second))
        weights = np.maximum(weights * fractions, FLOOR)
    return mirrored(n, first, second, weights)


def _shared_fraction(neighbors: Indices, first: Integers, second: Integers) -> Floats:
    """Count common neighbors of pairs over k + 1, each point being a neighbor of its own."""
    n, k = neighbors.shape
    members = np.column_stack((np.arange(n), neighbors)).ravel()
    starts = (k + 1) * np.arange(n + 1)
    holds = sp.csr_array((np.ones(members.size), members, starts), shape=(n, n))
    shared = np.empty(first.size)

    def count(start: int, stop: int) -> None:
        pairs = slice(start, stop)
        shared[pairs] = holds[first[pairs]].multiply(holds[second[pairs]]).sum(axis=1)

    map_blocks(count, first.size, PAIRS)
    return shared / (k + 1.0)
