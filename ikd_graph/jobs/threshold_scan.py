"""What every threshold would make of the same data: edges, components, cliques, coverage."""

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import ArrayLike

from .. import cliques, graph
from .._base.progress import progress_bar
from .._base.types import Floats
from .._base.validation import fraction, one_of, whole
from ..similarity import AFFINITIES, GIVEN, Similarity, compare

__all__ = ["threshold_scan"]

MOST_EDGES = 1_500_000
"""Thresholds whose graph would have more edges are left out: looking should take seconds."""

_SAMPLED_PAIRS = 200_000


def threshold_scan(
    X: ArrayLike | Any,
    *,
    affinity: str = "correlation",
    thresholds: Iterable[float] | None = None,
    also: Iterable[float] = (),
    n_components: int = 2,
    clique_limit: int = 5000,
    verbose: int = 0,
) -> pd.DataFrame:
    """Look at the graph of the same data at many thresholds.

    X and ``affinity`` are as for `ikd_graph.IKD`, or X is a `Similarity`. Without ``thresholds``,
    25 even steps are taken over the range that holds the edges, from the lowest at which the graph
    is still small enough to look at; those of ``also`` are added. With ``verbose`` a progress bar
    is shown.

    Returns
    -------
    pandas.DataFrame
        A row for each ``threshold``, ascending: ``edges``; ``components``; ``largest_component``,
        points in it; ``cliques``, maximal, of at least two points; ``largest_clique``, points in
        it; ``coverage``, fraction of points in a clique large enough to place them (M + 2 points, M
        being ``n_components``). Cliques are NaN where there are more than ``clique_limit``. Among
        its ``attrs``, ``connected_up_to`` is the threshold below which the graph is in one piece.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> levels = threshold_scan(load_digits().data[:100], thresholds=[0.5, 0.9])
    >>> levels.edges.tolist()[0] > levels.edges.tolist()[1]
    True
    """
    whole(1)("clique_limit", clique_limit)
    whole(1)("n_components", n_components)
    one_of((*AFFINITIES, *GIVEN))("affinity", affinity)
    similarity = X if isinstance(X, Similarity) else compare(X, affinity, counts=True)
    if thresholds is None:
        thresholds = _even_levels(similarity)
    chosen = [fraction("thresholds", float(each)) for each in thresholds]
    levels = np.unique([*chosen, *(fraction("also", float(each)) for each in also)])
    if levels.size == 0:
        raise ValueError("thresholds must name at least one, got none; None chooses them")
    base = graph.pairs_above(similarity, float(levels[0]))
    rows = []
    for level in progress_bar(verbose, iterable=levels, desc="thresholds"):
        g = graph.above(base, float(level)) if level > levels[0] else base
        rows.append(_counts(g, n_components + 2, clique_limit))
    names = ("edges", "components", "largest_component", "cliques", "largest_clique", "coverage")
    table = pd.DataFrame(rows, columns=pd.Index(names))
    table.insert(0, "threshold", levels)
    table.attrs |= {"connected_up_to": _connected_up_to(base), "n_points": base.n_nodes}
    return table


def _connected_up_to(g: graph.CsrGraph) -> float:
    """Weakest edge of the strongest spanning tree of a graph, 0 if it is not connected."""
    # Lengths stay positive: what is not stored is no edge.
    lengths = sp.csr_matrix((2.0 - g.weights, g.indices, g.indptr), shape=(g.n_nodes,) * 2)
    tree = sp.csgraph.minimum_spanning_tree(lengths).data
    return min(2.0 - float(tree.max(initial=1.0)), 1.0) if tree.size == g.n_nodes - 1 else 0.0


def _counts(g: graph.CsrGraph, size: int, limit: int) -> tuple[int, int, int, float, float, float]:
    """Edges, components, largest component, cliques, largest clique and coverage of a graph."""
    sizes = np.bincount(graph.component_labels(g))
    listed = list(itertools.islice(cliques.iter_cliques(g, 2), limit + 1))
    covered = np.zeros(g.n_nodes, dtype=bool)
    for clique in listed:
        if clique.size >= size:
            covered[clique] = True
    count, largest = float(len(listed)), float(max((c.size for c in listed), default=1))
    if len(listed) > limit:
        count = largest = np.nan
        if not covered.all():
            covered = cliques.in_large_clique(g, size)
    return g.n_edges, sizes.size, int(sizes.max()), count, largest, float(covered.mean())


def _even_levels(similarity: Similarity) -> Floats:
    """Even steps, in round numbers, over the range of thresholds worth a look."""
    n = similarity.n_samples
    n_pairs = n * (n - 1) // 2
    if similarity.is_graph:
        stored = graph.pairs_above(similarity, 0.0)
        sample, n_pairs = stored.weights, stored.n_edges
    else:
        rng = np.random.default_rng(0)
        first = rng.integers(0, n, _SAMPLED_PAIRS)
        sample = similarity.between(first, (first + rng.integers(1, n, _SAMPLED_PAIRS)) % n)
        sample = sample[np.isfinite(sample)]  # of pairs that are known
    low = np.quantile(sample, max(1.0 - MOST_EDGES / n_pairs, 0.0)) if sample.size else 0.0
    ends = max(float(low), 0.05), min(float(sample.max(initial=0.1)), 0.98)
    return np.unique(np.round(np.linspace(*ends, 25), 2))
