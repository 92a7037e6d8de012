"""Graphs for looking at correlations: signed thresholds, a spanning tree, a planar graph.

None of them is a graph to embed with: narrow separators multiply the errors of distances.
"""

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import minimum_spanning_tree

from .. import _validation as check
from .._types import Floats
from .._validation import validate
from .._warn import warn
from ._csr import from_edges
from ._record import CsrGraph

SIGNS = ("positive", "negative", "absolute")


@validate(corr=check.symmetric, s0=check.fraction, sign=check.one_of(SIGNS))
def signed_threshold(corr: ArrayLike, s0: float, sign: str = "absolute") -> CsrGraph:
    """Join the pairs whose correlation is far from 0, for looking at their cliques.

    Parameters
    ----------
    corr : (n, n) array_like of float64, symmetric
        Correlations or partial correlations (`covariance.partial_correlation`).
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
    values = np.asarray(corr, dtype=np.float64)
    low, high = np.triu_indices(len(values), 1)
    of_pairs = values[low, high]
    far = np.abs(of_pairs) > s0
    kept = far
    if sign != "absolute":
        kept = of_pairs > s0 if sign == "positive" else of_pairs < -s0
        dropped = int(np.count_nonzero(far & ~kept))
        if dropped:
            other = f"below {-s0:g}" if sign == "positive" else f"above {s0:g}"
            warn(
                f"{dropped} of {int(np.count_nonzero(far))} pairs beyond {s0:g} are dropped, since "
                f"their correlation is {other}; sign='absolute' keeps them"
            )
    return from_edges(len(values), low[kept], high[kept], np.minimum(np.abs(of_pairs[kept]), 1.0))


@validate(corr=check.symmetric)
def spanning_tree(corr: ArrayLike) -> CsrGraph:
    """Join all points by the tree of largest correlations (Mantegna 1999), for looking.

    It is the minimum spanning tree of the distances sqrt(2 (1 - r)). A tree has no cliques, and
    one wrong edge moves everything beyond it: do not embed with it.

    Parameters
    ----------
    corr : (n, n) array_like of float64, symmetric
        Correlations, in [-1, 1].

    Returns
    -------
    CsrGraph
        n - 1 edges; weights are the correlations, 0 for negative ones.

    References
    ----------
    R. N. Mantegna, Hierarchical structure in financial markets, European Physical Journal B 11,
    1999.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import graph
    >>> corr = np.array([[1.0, 0.9, 0.2], [0.9, 1.0, 0.5], [0.2, 0.5, 1.0]])
    >>> graph.edges(graph.spanning_tree(corr))[2].tolist()
    [0.9, 0.5]
    """
    values = np.asarray(corr, dtype=np.float64)
    n = len(values)
    low, high = np.triu_indices(n, 1)
    # A dense matrix would lose the edges of correlation 1, whose length is 0; all lengths are > 0.
    lengths = sp.coo_array((3.0 - values[low, high], (low, high)), shape=(n, n)).tocsr()
    tree = minimum_spanning_tree(lengths).tocoo()
    return _joined(values, tree.row.astype(np.int64), tree.col.astype(np.int64))


@validate(corr=check.symmetric)
def planar_graph(corr: ArrayLike) -> CsrGraph:
    """Join all points by a planar graph of large correlations (TMFG), for looking.

    The triangulated maximally filtered graph begins with the four points of largest sums of
    correlations and puts one point after another into the triangle where it adds the most. It
    consists of 4-cliques that share triangles. Its separators are narrow: do not embed with it.

    Parameters
    ----------
    corr : (n, n) array_like of float64, symmetric
        Correlations, at least four points.

    Returns
    -------
    CsrGraph
        3 n - 6 edges; weights are the correlations, 0 for negative ones.

    Raises
    ------
    ValueError
        With fewer than four points.

    References
    ----------
    G. P. Massara, T. Di Matteo and T. Aste, Network filtering for big data: triangulated maximally
    filtered graph, Journal of Complex Networks 5, 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import graph
    >>> corr = np.corrcoef(np.random.default_rng(0).normal(size=(20, 50)))
    >>> graph.planar_graph(corr).n_edges
    54
    """
    values = np.asarray(corr, dtype=np.float64)
    n = len(values)
    if n < 4:
        raise ValueError(f"corr must have at least 4 points, got {n}; fewer are all joined")
    others = values.copy()
    np.fill_diagonal(others, 0.0)
    sums = np.where(others > others.mean(), others, 0.0).sum(axis=1)
    first = np.argsort(-sums, kind="stable")[:4]
    pairs = [(a, b) for k, a in enumerate(first) for b in first[:k]]
    faces = [np.delete(first, k) for k in range(4)]
    free = np.setdiff1d(np.arange(n), first)
    # What each point would add in each face, (n_faces, n); points in the graph add nothing.
    gains = np.full((2 * n - 4, n), -np.inf)
    for k, face in enumerate(faces):
        gains[k, free] = others[face][:, free].sum(axis=0)
    for _ in range(n - 4):
        best = gains[: len(faces)].max(axis=1)
        at = int(best.argmax())
        point = int(gains[at].argmax())
        face = faces[at]
        pairs += [(point, corner) for corner in face]
        free = free[free != point]
        gains[:, point] = -np.inf
        new = [np.append(np.delete(face, k), point) for k in range(3)]
        for k, corners in zip([at, len(faces), len(faces) + 1], new, strict=True):
            gains[k] = -np.inf
            gains[k, free] = others[corners][:, free].sum(axis=0)
        faces[at] = new[0]
        faces += new[1:]
    ends = np.sort(np.array(pairs, dtype=np.int64), axis=1)
    return _joined(values, ends[:, 0], ends[:, 1])


def _joined(values: Floats, low: NDArray[np.int64], high: NDArray[np.int64]) -> CsrGraph:
    """Graph of pairs with their correlations as weights."""
    low, high = np.minimum(low, high), np.maximum(low, high)
    return from_edges(len(values), low, high, np.clip(values[low, high], 0.0, 1.0))
