"""What every threshold would make of the same data: edges, components, cliques, coverage."""

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from .. import cliques, graph
from .._base.types import Floats
from .._base.validation import check_choice, check_fraction, check_integer
from ..graph import CsrGraph
from ..plotting import colors
from ..plotting.charts import Chart, Curve
from ..similarity import AFFINITIES, GIVEN, Similarity, compare

__all__ = ["ThresholdScan", "threshold_scan"]

MOST_EDGES = 1_500_000
"""Thresholds whose graph would have more edges are left out: looking should take seconds."""


@dataclass(frozen=True)
class ThresholdScan:
    """Graphs at rising thresholds, in numbers, one for each of k levels."""

    threshold: Floats  # ascending
    edges: NDArray[np.int64]
    components: NDArray[np.int64]
    largest_component: NDArray[np.int64]  # points in it
    cliques: Floats  # maximal, of at least two points; NaN where more than ``clique_limit``
    largest_clique: Floats  # points in it; NaN where not all were listed
    coverage: Floats  # fraction of points in a clique large enough to place them (M + 2 points)
    n_points: int
    clique_limit: int  # how many cliques were listed at most
    connected_up_to: float  # threshold below which the graph is in one piece

    def charts(self, used: float | None = None) -> tuple[Chart, ...]:
        """Describe what becomes of the graph over the threshold: counts and fractions of points.

        ``used``, the threshold of a graph, is marked.
        """
        rows = {
            "edges": self.edges,
            "components": self.components,
            "cliques": self.cliques,
            "covered": 100.0 * self.coverage,
            "largest component": 100.0 * self.largest_component / self.n_points,
        }
        curves = tuple(
            Curve(name, self.threshold, np.where(y > 0, y, np.nan), colors.class_color(code))
            for code, (name, y) in enumerate(rows.items())
        )
        axis, marks = "threshold on the similarity", {}
        if used is not None:
            marks = {"count": (used, f"used: {used:.3g}"), "% of points": (used, "")}
        return tuple(
            Chart(f"{what} over the threshold", axis, y, curves=lines, mark=marks.get(y), log_y=log)
            for what, y, lines, log in (
                ("numbers", "count", curves[:3], True),
                ("fractions", "% of points", curves[3:], False),
            )
        )


def threshold_scan(
    X: ArrayLike | Any,
    *,
    affinity: str = "correlation",
    thresholds: Iterable[float] | None = None,
    also: Iterable[float] = (),
    n_components: int = 2,
    clique_limit: int = 5000,
    progress: Callable[[Any], Iterable[Any]] | None = None,
) -> ThresholdScan:
    """Look at the graph of the same data at many thresholds.

    X and ``affinity`` are as for `ikd_graph.IKD`. Without ``thresholds``, 25 even steps are taken
    over the range that holds the edges, from the lowest at which the graph is still small enough to
    look at; those of ``also`` are added. A clique places its points from M + 2 points on, M being
    ``n_components``; at most ``clique_limit`` are listed at a level. ``progress`` wraps the
    iterable of thresholds, as ``tqdm`` does.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> levels = threshold_scan(load_digits().data[:100], thresholds=[0.5, 0.9])
    >>> levels.edges.tolist()[0] > levels.edges.tolist()[1]
    True
    """
    check_integer("clique_limit", clique_limit, 1)
    check_integer("n_components", n_components, 1)
    check_choice("affinity", affinity, (*AFFINITIES, *GIVEN))
    similarity = compare(X, affinity, counts=True)
    n = similarity.n_samples
    sample, n_pairs = similarity.between(*_sampled_pairs(n)), n * (n - 1) // 2
    if similarity.is_graph:
        stored = graph.pairs_above(similarity, 0.0)
        sample, n_pairs = stored.weights, stored.n_edges
    if thresholds is None:
        levels = _even_levels(sample, n_pairs)
    else:
        levels = np.array([check_fraction("thresholds", float(t)) for t in thresholds])
    levels = np.unique([*levels, *(check_fraction("also", float(t)) for t in also)])
    if levels.size == 0:
        raise ValueError("thresholds must name at least one, got none; None chooses them")
    base = graph.pairs_above(similarity, float(levels[0]))
    rows = []
    for level in progress(levels) if progress else levels:
        g = graph.above(base, float(level)) if level > levels[0] else base
        rows.append(_counts(g, n_components + 2, clique_limit))
    columns: Any = map(np.array, zip(*rows, strict=True))
    numbers: tuple[Any, ...] = (base.n_nodes, clique_limit, connected_up_to(similarity))
    return ThresholdScan(levels, *columns, *numbers)


def connected_up_to(similarity: Similarity) -> float:
    """Threshold below which the graph of the pairs above it is connected, 0 if there is none.

    It is the weakest edge of the strongest spanning tree of nearest neighbors and the links that
    join them.
    """
    n = similarity.n_samples
    if n < 2:
        return 1.0
    if similarity.is_graph:
        g = graph.pairs_above(similarity, 0.0)
        if graph.component_labels(g).any():
            return 0.0
    else:
        g = graph.neighbor_graph(similarity, 15)
        if graph.component_labels(g).any():
            g = graph.join(g, similarity).graph
    # Lengths stay positive: what is not stored is no edge.
    lengths = sp.csr_matrix((2.0 - g.weights, g.indices, g.indptr), shape=(n, n))
    link = 2.0 - sp.csgraph.minimum_spanning_tree(lengths).data.max()
    return float(min(link, 1.0)) if link > graph.WEIGHT_FLOOR else 0.0


def _counts(g: CsrGraph, size: int, limit: int) -> tuple[int, int, int, float, float, float]:
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


def _sampled_pairs(n: int, most: int = 200_000) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All pairs of points while they are few, else a sample of them."""
    if n * (n - 1) // 2 <= most:
        return np.triu_indices(n, 1)
    rng = np.random.default_rng(0)
    first = rng.integers(0, n, most)
    return first, (first + rng.integers(1, n, most)) % n


def _even_levels(sample: Floats, n_pairs: int) -> Floats:
    """Even steps, in round numbers, over the range of thresholds worth a look."""
    top = float(np.clip(sample.max(initial=0.1), 0.1, 0.98))
    fraction = min(1.0, MOST_EDGES / max(n_pairs, 1))
    low = float(np.quantile(sample, 1.0 - fraction)) if sample.size else 0.0
    low = min(max(low, 0.05), top - 0.05)
    step = max(0.01, float(np.ceil((top - low) / 24.0 * 100.0)) / 100.0)
    steps = np.arange(int(np.ceil(low / step)), int(top / step + 1e-9) + 1)
    return np.asarray(np.round(steps * step, 4), dtype=np.float64)
