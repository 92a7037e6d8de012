"""Which edges and cliques would be there again: halves of the columns, and null tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import gaussian_filter1d

from .. import graph as graphs
from .._base import validation as check
from .._base.rounding import COMPUTED, TINY
from .._base.threads import single_threaded_blas
from .._base.types import Booleans, Floats, Integers
from ..covariance import are_ordered, correlation, effective_columns, unit_rows
from ..graph import CsrGraph
from ._describe import incidence
from ._search import maximal_cliques
from ._sequence import Blocks, Cliques, as_texts

GraphOf = Callable[[Floats], CsrGraph]

_HIGHEST = 1.0 - COMPUTED
_WIDTH = 0.6  # of the kernel that estimates the density of z, in standard errors
_UNRELATED = 0.05  # of all pairs, the least correlated: no two of them are related
_FEWEST = 8  # columns, or runs of them, that are halved
_RUNS = 4.0  # lengths of a run of columns, in columns that count as one independent one


@dataclass(frozen=True)
class Stability:
    """How often edges and cliques of a graph would be there again; see `stability`.

    Attributes
    ----------
    graph : CsrGraph
        The graph of all columns.
    edges : (n_edges,) ndarray of float64
        Stability of each edge, in the order of `graph.edges`.
    cliques : Cliques
        Its maximal cliques, or those that were given.
    of_cliques : (n_cliques,) ndarray of float64
        Stability of each clique: how often all its members stay joined.
    expected_false : dict of int to float
        Number of maximal cliques of at least so many points in a table of unrelated rows.
    n_columns : float
        Columns that count as independent.
    """

    graph: CsrGraph
    edges: Floats
    cliques: Cliques
    of_cliques: Floats
    expected_false: dict[int, float]
    n_columns: float

    def expected(self, size: int) -> float:
        """Return how many cliques of at least a size unrelated rows have.

        Parameters
        ----------
        size : int
            Number of points.

        Returns
        -------
        float
            Mean over null tables.
        """
        check.whole(1)("size", size)
        return self.expected_false.get(max(size, 2), 0.0)

    def weighted(self) -> CsrGraph:
        """Return the graph with the stability of each edge as its weight.

        Returns
        -------
        CsrGraph
            The same edges.
        """
        low, high, _ = graphs.edges(self.graph)
        return graphs.from_edges(self.graph.n_nodes, low, high, self.edges)

    def to_pandas(self, names: Sequence[Any] | None = None) -> pd.DataFrame:
        """Make a table of the cliques, the largest first.

        Parameters
        ----------
        names : sequence of length n_points, optional
            Names of the points; by default their numbers.

        Returns
        -------
        pandas.DataFrame
            Columns ``clique`` (its number), ``size``, ``stability``, ``expected_false`` (cliques of
            that size or more in a table of unrelated rows) and ``members``.
        """
        called = as_texts(names, self.cliques.n_points)
        order = np.lexsort((-self.of_cliques, -self.cliques.sizes))
        sizes = self.cliques.sizes[order]
        return pd.DataFrame(
            {
                "clique": order,
                "size": sizes,
                "stability": self.of_cliques[order],
                "expected_false": [self.expected(int(size)) for size in sizes],
                "members": [", ".join(called[self.cliques[k]]) for k in order],
            }
        )


@check.validate(
    X=check.table,
    n_resamples=check.whole(2),
    n_shifted=check.whole(1),
    random_state=check.seed,
)
def stability(
    X: ArrayLike,
    graph: float | int | CsrGraph | GraphOf,
    n_resamples: int = 200,
    *,
    cliques: Cliques | Blocks | Iterable[ArrayLike] | None = None,
    n_shifted: int = 20,
    random_state: int | None = 0,
) -> Stability:
    r"""Estimate how often edges and cliques would be there on as many fresh columns.

    Each resample is a random half of the columns, in runs where they follow in time. The difference
    between the correlations of a half and those of all has the variance and the dependence that
    correlations of all columns have around the truth (Fisher's z, variance 1 / (N - 3)). It is
    scaled to what fresh columns differ by, and put around what is expected of the truth:
    correlations above a threshold are there by luck as well, and come back lower. By how much
    follows from the distribution of all correlations (Tweedie's formula, Efron 2011):
    E[ζ | z] = z + s² d/dz log m(z), Var[ζ | z] = s² (1 + s² d²/dz² log m(z)), with m the density of
    the z of all pairs.

    In a table of unrelated rows cliques are false: their mean number is `expected_false`. In null
    tables the values of each column are permuted, so that columns keep levels and scales; where
    columns follow in time, each row is shifted along them instead, columns having been standardized
    before. Of levels there is as much as the pairs share that are least related.

    Parameters
    ----------
    X : (n_samples, n_features) array_like of float64
        Points in rows, at least 8 columns; in order, where these follow in time.
    graph : float, int, CsrGraph or callable
        How rows are joined: a threshold of the correlation, a number of nearest neighbors, or a
        function of the (n, n) correlations that returns a CsrGraph. A CsrGraph is one whose edges
        stay where their correlation is at least that of its weakest edge.
    n_resamples : int
        Number of resamples.
    cliques : Cliques or iterable of (k,) int arrays, optional
        Cliques to follow; by default all maximal ones of at least two points.
    n_shifted : int
        Number of null tables.
    random_state : int or None
        Seed of halves and null tables.

    Returns
    -------
    Stability
        Of edges and cliques.

    Raises
    ------
    ValueError
        If the graph has another number of points, or cliques hold pairs that are no edges.

    References
    ----------
    B. Efron, Tweedie's formula and selection bias, Journal of the American Statistical Association
    106, 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import cliques
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(20, 200))
    >>> X[:5] += 1.5 * rng.normal(size=200)
    >>> result = cliques.stability(X, 0.4)
    >>> result.cliques[int(np.argmax(result.cliques.sizes))].tolist()
    [0, 1, 2, 3, 4]
    >>> bool(result.of_cliques.max() > 0.95), result.expected(3)
    (True, 0.0)
    """
    rows = _scaled(X)
    n, width = rows.shape
    if width < _FEWEST:
        raise ValueError(
            f"X must have at least {_FEWEST} columns to be halved, got {width}; stability is that "
            "on fresh columns"
        )
    if n < 2:
        raise ValueError(f"X must have at least 2 rows, got {n}; an edge joins two")
    with single_threaded_blas():
        corr = correlation(rows)
        build, g = _builder(graph, corr)
        found = Cliques(maximal_cliques(g, 2) if cliques is None else cliques, n)
        open_cliques = np.flatnonzero(~_are_complete(found, g))
        if open_cliques.size:
            raise ValueError(
                f"cliques must be those of the graph, got {found[open_cliques[0]].tolist()[:8]}, "
                "of which some pairs are no edges; cliques.maximal_cliques lists them"
            )
        free, ordered = max(effective_columns(rows), 4.0), are_ordered(rows)
        rng = np.random.default_rng(random_state)
        run = min(np.ceil(_RUNS * width / free), max(width // _FEWEST, 1)) if ordered else 1
        edges, stays = np.zeros(g.n_edges), np.zeros(len(found))
        expected, scale = _fresh(corr, free)
        z = _fisher(corr)
        for _ in range(n_resamples):
            half = _half(width, int(run), rng)
            with np.errstate(invalid="ignore", divide="ignore"):
                part = np.asarray(np.nan_to_num(np.corrcoef(rows[:, half])))
            fresh: Floats = np.tanh(expected + scale * (_fisher(part) - z))
            np.fill_diagonal(fresh, 1.0)
            again = build(fresh)
            edges += np.isin(_keys(g), _keys(again), assume_unique=True)
            stays += _are_complete(found, again)
        false = _false_cliques(rows, build, n_shifted, ordered, rng)
    return Stability(g, edges / n_resamples, found, stays / n_resamples, false, free)


def false_cliques(
    X: ArrayLike, graph: float | int | CsrGraph | GraphOf, n_tables: int, random_state: int = 0
) -> dict[int, float]:
    """Return ``expected_false`` of `stability` alone, from so many null tables."""
    rows, rng = _scaled(X), np.random.default_rng(random_state)
    with single_threaded_blas():
        build = _builder(graph, correlation(rows))[0]
        return _false_cliques(rows, build, n_tables, are_ordered(rows), rng)


def _scaled(X: ArrayLike) -> Floats:
    """Rows of a size whose squares neither overflow nor vanish."""
    rows = np.asarray(X, dtype=np.float64)
    return rows / np.maximum(np.abs(rows).max(axis=1, keepdims=True), TINY)


def _builder(graph: Any, corr: Floats) -> tuple[GraphOf, CsrGraph]:
    """Return the function that makes a graph of correlations, and the graph of these."""
    build = graph
    if isinstance(graph, Integral):
        k = check.whole(1)("graph", graph)
        build = partial(graphs.neighbors, k=min(k, len(corr) - 1))
    elif isinstance(graph, Real) and 0.0 < float(graph) < 1.0:
        build = partial(graphs.threshold, s0=float(graph))
    elif not (isinstance(graph, CsrGraph) or callable(graph)):
        raise ValueError(
            "graph must be a threshold in (0, 1), a number of neighbors, a CsrGraph of the rows, "
            f"or a function of the correlations that makes one, got {graph!r}"
        )
    g: Any = graph if isinstance(graph, CsrGraph) else build(corr)
    if not isinstance(g, CsrGraph) or g.n_nodes != len(corr):
        got = f"one of {g.n_nodes}" if isinstance(g, CsrGraph) else type(g).__name__
        raise ValueError(
            f"graph must be or return a CsrGraph of {len(corr)} points, got {got}; graph.threshold "
            "and graph.neighbors make one of the same rows"
        )
    if g is graph:
        low, high, _ = graphs.edges(g)
        least = float(corr[low, high].min(initial=1.0))
        # An edge at the threshold is one.
        build = partial(graphs.threshold, s0=np.nextafter(min(max(least, COMPUTED), _HIGHEST), 0.0))
    return build, g


def _keys(g: CsrGraph) -> Integers:
    """Return a number for each edge."""
    low, high, _ = graphs.edges(g)
    return np.asarray(low * g.n_nodes + high, dtype=np.int64)


def _are_complete(found: Cliques, g: CsrGraph) -> Booleans:
    """Whether the members of each clique are all joined in a graph, (n_cliques,)."""
    holds = incidence(found.blocks, g.n_nodes)
    ends = (holds @ g.adjacency).multiply(holds).sum(axis=1)
    return np.asarray(ends == found.sizes * (found.sizes - 1))


def _half(width: int, run: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Half of the columns, in runs that begin at a random column, around the end."""
    if run == 1:
        return np.sort(rng.permutation(width)[: width // 2])
    starts = np.arange(0, width, run)
    chosen = rng.permutation(starts.size)[: starts.size // 2]
    columns = (starts[chosen][:, None] + np.arange(run)).ravel()
    columns = columns[columns < width]
    return np.sort((columns + int(rng.integers(width))) % width)


def _fisher(corr: Floats) -> Floats:
    """Fisher's z of correlations; that of 1 is large, not infinite."""
    return np.asarray(np.arctanh(np.clip(corr, -_HIGHEST, _HIGHEST)))


def _fresh(corr: Floats, free: float) -> tuple[Floats, Floats]:
    """Return the expected z of the truth, and what scales the deviation of a half."""
    z = _fisher(corr)
    variance = 1.0 / max(free - 3.0, 1.0)
    width = _WIDTH * np.sqrt(variance)
    slope, bend = _log_density(z[np.triu_indices(len(z), 1)], z, width)
    # The density is that of z with the error of the kernel estimate.
    both = variance + width**2
    expected = z + both * slope
    of_truth = variance * np.clip(1.0 + both * bend, 0.0, 1.0)
    # A half differs from the whole by as much as the whole from the truth.
    return expected, np.sqrt((of_truth + variance) / variance)


def _log_density(sample: Floats, at: Floats, width: float) -> tuple[Floats, Floats]:
    """First and second derivative of the log density of z, each pair's own part included."""
    # More bins than the kernel has, whatever the sample.
    margin = 8.0 * width
    low, high = float(sample.min()) - margin, float(sample.max()) + margin
    bins = int(min(np.ceil((high - low) / (0.1 * width)), 20_000))
    counts, edges = np.histogram(sample, bins=bins, range=(low, high))
    middle, step = 0.5 * (edges[1:] + edges[:-1]), float(edges[1] - edges[0])
    density, first, second = (
        gaussian_filter1d(counts.astype(np.float64), width / step, order=k, mode="constant")
        / step**k
        for k in range(3)
    )
    safe = np.maximum(density, 1e-12)
    slope, bend = first / safe, second / safe - (first / safe) ** 2
    return np.interp(at, middle, slope), np.interp(at, middle, bend)


def _false_cliques(
    rows: Floats, build: GraphOf, n_shifted: int, ordered: bool, rng: np.random.Generator
) -> dict[int, float]:
    """Mean number of maximal cliques of at least so many points in null tables, from 2 on."""
    n, width = rows.shape
    unit = unit_rows(rows, allow_flat=True)
    # Unlike the deviation, this leaves a value far out what it is.
    unit /= np.maximum(np.abs(unit).mean(axis=1, keepdims=True), TINY)
    level, scale = unit.mean(axis=0), np.maximum(unit.std(axis=0), TINY)
    alike, pairs = (unit - level) / scale, np.triu_indices(n, 1)

    def drawn(share: float) -> Floats:
        """Return correlations of a null table with a share of the levels."""
        at = (np.arange(width) + rng.integers(width, size=(n, 1))) % width
        fresh = np.take_along_axis(alike, at, 1) if ordered else rng.permuted(alike, axis=0)
        return correlation((fresh - fresh.mean(axis=0)) * scale + share * level)

    # What some rows share is in the mean of all, but not in the pairs that are least related.
    of_null, of_rows = (_fisher(corr)[pairs] for corr in (drawn(1.0), correlation(rows)))
    gap = np.quantile(of_null, _UNRELATED) - np.quantile(of_rows, _UNRELATED)
    whole = max(float(of_null.mean()), 0.0)
    kept = float(np.clip(whole - gap, 0.0, whole))
    # The mean of n unrelated rows has 1 / n of their variance.
    share = np.sqrt((np.expm1(2.0 * kept) + 2.0 / n) / (np.expm1(2.0 * whole) + 2.0 / n))
    counts: Floats = np.zeros(n + 2)
    for _ in range(n_shifted):
        sizes = maximal_cliques(build(drawn(share)), 2).sizes
        counts += np.bincount(sizes, minlength=n + 2)[: n + 2]
    above = np.flip(np.cumsum(np.flip(counts))) / n_shifted
    return {size: float(above[size]) for size in range(2, n + 1) if above[size] > 0.0}
