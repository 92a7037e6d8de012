"""The stages of a fit, one after another: covariances, graph, latent, polish."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from . import _memory, covariance, gplvm, graph, kernels, refine, strategies
from ._records import CsrGraph
from ._stages import Stages
from ._threads import map_blocks
from ._validation import (
    check_bridges_known,
    check_graph_connected,
    check_memory,
    check_varies,
    check_whole_matrix,
)

Floats = NDArray[np.float64]

# From so many rows on the precision of X is kept: its copy in double would be large.
_MANY_ROWS = 10_000

MODEL_POINTS = 2000
"""Most points whose full covariance the generative model inverts."""

# Up to so many points the stress is polished from two starts, one through so few edges of a point.
_TWO_STARTS, _FEW_EDGES = 2000, 8

# Up to so many points it is polished in three ways; of more, the first is the best in noise.
_THREE_WAYS = 300

# The length-scale of the generative model: so many points choose it, on this logarithmic line.
_SCALE_POINTS = 500
_LOG_SCALES = (-4.0, 1.5)


class Source(NamedTuple):
    """Where the covariances between points come from: rows, a dense matrix or a sparse one."""

    n_samples: int
    n_observed: int | None  # number of observed dimensions, None if not known
    variance: float  # what covariances were divided by
    rows: NDArray[np.floating] | None = None  # (n, p) scaled rows
    corr: Floats | None = None  # (n, n)
    sparse: Any = None  # (n, n) csr_array

    @property
    def matrix(self) -> Floats:
        """The covariance of every pair."""
        if self.rows is not None:
            return covariance.gram(self.rows)
        return np.asarray(self.sparse.toarray() if self.corr is None else self.corr)

    def of(self, points: NDArray[np.int64]) -> Floats:
        """Covariances of some points with all.

        Parameters
        ----------
        points : (b,) ndarray of int64
            The points.

        Returns
        -------
        (b, n) ndarray of float64
            Covariances on the scale where the variance is 1.
        """
        if self.rows is not None:
            return np.asarray(self.rows[points] @ self.rows.T, dtype=np.float64)
        return np.asarray(self.sparse[points].toarray() if self.corr is None else self.corr[points])


class Noise(NamedTuple):
    """The generative model of a latent: signal and noise variance, and how well they explain."""

    variance: float  # in units of X squared
    noise: float  # in units of X squared
    log_likelihood: float  # of all observed dimensions
    kernel: kernels.StationaryKernel  # with the length-scale of the latent as it was found


class Fit(NamedTuple):
    """A latent and all that was learnt on the way to it."""

    solution: strategies.Solution
    plan: strategies.Plan
    graph: CsrGraph | None
    labels: NDArray[np.int64]  # component of each point before anything was joined
    noise: Noise | None
    standard_errors: Floats | None
    n_iter: int


def source_of(X: Any, affinity: str, *, counts: bool) -> Source:
    """Scaled rows, or the precomputed matrix on the scale where the variance is 1.

    Parameters
    ----------
    X : (n, p) ndarray of float64, or a (n, n) covariance, dense or sparse
        Checked input.
    affinity : str
        As in the estimator.
    counts : bool
        Whether X is a table of integers, in which a row without spread is nothing unusual.

    Returns
    -------
    Source
        Covariances to be.
    """
    n_samples, n_features = X.shape
    if affinity == "precomputed":
        if sp.issparse(X):
            scaled, variance = covariance.scale_sparse_to_correlation(X)
            return Source(n_samples, None, variance, sparse=scaled)
        corr, variance = covariance.scale_to_correlation(X)
        return Source(n_samples, None, variance, corr=corr)
    if affinity == "euclidean":
        check_varies(X)
        return Source(n_samples, n_features, 1.0, corr=covariance.euclidean(X))
    if affinity == "shared_neighbors":
        affinity = "correlation"  # that is what neighbours are found by
    rows = _scaled_rows(X, affinity, counts)
    variance = 1.0
    if affinity == "covariance":
        centred = X - X.mean(axis=1, keepdims=True)
        variance = float(np.mean(np.sum(centred**2, axis=1)) / (n_features - 1))
    return Source(n_samples, n_features, variance, rows=rows)


def _scaled_rows(X: NDArray[np.floating], affinity: str, counts: bool) -> NDArray[np.floating]:
    """Unit rows in the precision of X if there are many, else in double."""
    many = X.shape[0] > _MANY_ROWS
    if not many or affinity == "covariance":
        rows = covariance.unit_rows(X, affinity, allow_flat=counts)
        return rows.astype(X.dtype, copy=False) if many else rows
    rows = np.empty_like(X, order="C")

    def scale(start: int, stop: int) -> None:
        rows[start:stop] = covariance.unit_rows(X[start:stop], affinity)

    try:
        map_blocks(scale, X.shape[0], 512)
    except ValueError:
        # Rows without spread are counted over all rows.
        rows = covariance.unit_rows(X, affinity, allow_flat=counts).astype(X.dtype, copy=False)
    return rows


def require_memory(n_samples: int, plan: strategies.Plan) -> None:
    """Raise before work is done if the distances of a plan do not fit into memory.

    Parameters
    ----------
    n_samples : int
        Number of points.
    plan : Plan
        How to solve.

    Raises
    ------
    MemoryError
        With the number of bytes and the parameter that takes fewer.
    """
    if plan.strategy == "blockwise":
        return
    columns = n_samples if plan.n_landmarks is None else min(plan.n_landmarks, n_samples)
    # A table of distances and what is made of it on the way, in such tables, as measured.
    tables = 4.2 if plan.strategy == "eigen" else 3.0
    needed = 8.0 * n_samples * columns * (tables if plan.n_landmarks is None else 1.2)
    if plan.n_landmarks is None:
        what = f"squared distances between {n_samples} points"
        cure = "n_landmarks=300 takes a few of them, n_landmarks='auto' chooses how many"
    else:
        what = f"distances from {columns} landmarks to {n_samples} points"
        cure = f"a smaller n_landmarks takes fewer; {columns} is too many here"
    check_memory(what, needed, _memory.available(), cure)


def graph_of(
    source: Source,
    threshold: float | None,
    n_neighbors: int | None,
    *,
    mutual: bool = False,
    shared: bool = False,
    neighbors: str = "auto",
    random_state: Any = None,
) -> CsrGraph:
    """The graph of trusted covariances.

    Parameters
    ----------
    source : Source
        Covariances.
    threshold : float or None
        Smallest correlation that makes an edge.
    n_neighbors : int or None
        Neighbours of the k-NN graph, united with the threshold graph if both are given.
    mutual : bool
        Neighbours make an edge only where each is one of the other's.
    shared : bool
        Weights are multiplied by the share of neighbours in common.
    neighbors : {"auto", "exact", "approximate"}
        How neighbours are found.
    random_state : int, RandomState or None
        Seed of the approximate search.

    Returns
    -------
    CsrGraph
        The graph; a sparse precomputed matrix is one already, and a threshold thins it.
    """
    if source.sparse is not None:
        return graph.from_sparse(_above(source.sparse, threshold))
    found = []
    if threshold is not None:
        found.append(
            graph.threshold_graph(source.matrix, threshold)
            if source.rows is None
            else graph.row_threshold_graph(source.rows, threshold)
        )
    if n_neighbors is not None:
        count = min(n_neighbors, source.n_samples - 1)
        found.append(
            graph.neighbor_graph(source.matrix, count, mutual=mutual, shared=shared)
            if source.rows is None
            else graph.row_neighbor_graph(
                source.rows,
                count,
                neighbors=neighbors,
                mutual=mutual,
                shared=shared,
                random_state=random_state,
            )
        )
    return found[0] if len(found) == 1 else graph.union(*found)


def fit_eigen(source: Source, plan: strategies.Plan, stages: Stages) -> Fit:
    """The eigen strategy.

    Parameters
    ----------
    source : Source
        Covariances.
    plan : Plan
        How to solve.
    stages : Stages
        Clock.

    Returns
    -------
    Fit
        The latent.
    """
    if source.sparse is not None:
        check_whole_matrix(source.sparse)
    n = source.n_samples
    if plan.n_landmarks is not None and plan.n_landmarks < n:
        solution = strategies.solve_eigen_landmarks(source.of, n, plan, stages)
    else:
        with stages("covariance"):
            corr = source.matrix
        solution = strategies.solve_eigen(corr, plan, stages)
    labels = np.zeros(source.n_samples, dtype=np.int64)
    return Fit(solution, plan, None, labels, None, None, 0)


def fit_graph(
    source: Source,
    g: CsrGraph,
    plan: strategies.Plan,
    disconnected: str,
    stages: Stages,
    *,
    strength: float = 1.0,
) -> Fit:
    """The strategies on a graph, with its components dealt with first.

    Parameters
    ----------
    source : Source
        Covariances, for bridges between components.
    g : CsrGraph
        The graph.
    plan : Plan
        How to solve.
    disconnected : {"raise", "join", "separate"}
        What to do with several components.
    stages : Stages
        Clock.
    strength : float
        What the covariances of bridges are multiplied with.

    Returns
    -------
    Fit
        The latent and the graph it came from.
    """
    solve = strategies.solve_geodesic
    if plan.strategy == "blockwise":
        solve = strategies.solve_blockwise
    labels = np.asarray(graph.component_labels(g), dtype=np.int64)
    sizes = np.bincount(labels)
    if sizes.size > 1:
        if disconnected == "raise":
            check_graph_connected(sizes)
        if disconnected == "join" and source.sparse is not None:
            check_bridges_known(sizes.size)
        _warn_pieces(sizes, disconnected)
        if disconnected == "separate":
            solution = strategies.solve_separately(g, labels, plan, stages, solve)
            return Fit(solution, plan, g, labels, None, None, 0)
        with stages("graph"):
            g = graph.join_components(g, source.corr, rows=source.rows, strength=strength).graph
    return Fit(solve(g, plan, stages), plan, g, labels, None, None, 0)


def polish_stress(
    fit: Fit,
    g: CsrGraph,
    source: Source,
    weights: str,
    threshold: float | None,
    stages: Stages,
) -> Fit:
    """Move the latent to the distances of the graph.

    Parameters
    ----------
    fit : Fit
        A latent.
    g : CsrGraph
        Its connected graph.
    source : Source
        Covariances, which choose among several polishes of a few points.
    weights : {"precision", "path", "uniform", "component"}
        How much each distance counts.
    threshold : float or None
        Correlation from which a pair was an edge.
    stages : Stages
        Clock.

    Returns
    -------
    Fit
        The polished latent.
    """
    kernel, n_observed = fit.plan.kernel, source.n_observed or 1
    with stages("stress"):
        latent = fit.solution.embedding.coordinates
        if weights != "precision":
            rule = refine.Weights(weights, labels=fit.labels)
            polished = refine.stress(latent, g, kernel, weights=rule, path=fit.plan.path)
        else:
            # Precise edges are left to the distance path, which agrees with the kernel.
            also = []
            if fit.plan.strategy == "geodesic" and g.n_nodes <= _TWO_STARTS:
                also = _through_strongest(g, fit.plan)
            if g.n_nodes <= _THREE_WAYS and source.sparse is None:
                polished = refine.select_stress(
                    latent, g, source.matrix, kernel, n_observed, threshold=threshold, also=also
                )
            else:
                polished = refine.stress(latent, g, kernel, n_observed, also=also)
    embedding = fit.solution.embedding._replace(coordinates=polished.latent)
    solution = replace(fit.solution, embedding=embedding, sq_dist=None, landmarks=None)
    return fit._replace(solution=solution, n_iter=polished.n_iter)


def _through_strongest(g: CsrGraph, plan: strategies.Plan) -> list[Floats]:
    """Geodesic latent of the strongest edges alone, if they hold all points together.

    Long edges cut corners where kernels have heavy tails, short ones add up their errors: which of
    the two latents is the better start, the stress tells.
    """
    thin = graph.strongest(g, _FEW_EDGES)
    if thin.n_edges == g.n_edges or graph.component_labels(thin).max(initial=0) > 0:
        return []
    return [strategies.solve_geodesic(thin, plan, Stages()).embedding.coordinates]


def polish_likelihood(
    fit: Fit,
    X: Floats,
    kernel: str | kernels.StationaryKernel,
    stages: Stages,
    *,
    centred: bool,
    fit_shape: bool = False,
    time_budget: float | None,
    verbose: int,
) -> Fit:
    """Finish by the likelihood of the model, from this and other closed-form starts.

    Parameters
    ----------
    fit : Fit
        A closed-form latent.
    X : (n, n_features) ndarray of float64
        The observations.
    kernel : str or StationaryKernel
        The kernel, or "auto" to choose it by likelihood.
    stages : Stages
        Clock.
    centred : bool
        Whether rows are centred first.
    fit_shape : bool
        Whether the shape of the kernel is fitted too.
    time_budget : float or None
        Seconds after which the best so far is taken.
    verbose : int
        1 shows a bar on a terminal.

    Returns
    -------
    Fit
        The likeliest latent found, its noise and its standard errors.
    """
    with stages("likelihood"):
        found = refine.likelihood(
            gplvm.sample_covariance(X, centered=centred),
            X.shape[1],
            fit.plan.n_components,
            kernel,
            fit_shape=fit_shape,
            time_budget=time_budget,
            verbose=verbose,
        )
    plan = replace(fit.plan, kernel=found.kernel)
    embedding = fit.solution.embedding._replace(coordinates=found.latent)
    noise = Noise(found.variance, found.noise, found.log_likelihood, found.kernel)
    return fit._replace(
        solution=replace(fit.solution, embedding=embedding, sq_dist=None, landmarks=None),
        plan=plan,
        noise=noise,
        standard_errors=found.standard_errors,
        n_iter=found.n_iter,
    )


def explain(latent: Floats, X: Floats, kernel: kernels.StationaryKernel, *, centred: bool) -> Noise:
    """Variances and length-scale under which a latent explains the observations best.

    A closed-form latent has the unit of the kernel only as far as the covariances are those of the
    model; where they are not, a Gaussian process of that length-scale would swing between points.

    Parameters
    ----------
    latent : (n, m) ndarray of float64
        Latent of the rows.
    X : (n, n_features) ndarray of float64
        The observations.
    kernel : StationaryKernel
        The kernel.
    centred : bool
        Whether rows are centred first.

    Returns
    -------
    Noise
        The model.
    """
    n_observed = X.shape[1]
    cov = gplvm.sample_covariance(X, centered=centred)
    few = np.linspace(0, len(latent) - 1, min(len(latent), _SCALE_POINTS)).astype(np.int64)
    some, some_cov = latent[few], cov[np.ix_(few, few)]

    def scaled(log_scale: float) -> kernels.StationaryKernel:
        return replace(kernel, length_scale=kernel.length_scale * float(np.exp(log_scale)))

    def cost(log_scale: float) -> float:
        return -gplvm.fit_variances(some, some_cov, n_observed, scaled(log_scale))[2]

    best = minimize_scalar(cost, bounds=_LOG_SCALES, method="bounded", options={"xatol": 0.05})
    if best.fun < cost(0.0):
        kernel = scaled(best.x)
    return Noise(*gplvm.fit_variances(latent, cov, n_observed, kernel), kernel)


def _warn_pieces(sizes: NDArray[np.int64], disconnected: str) -> None:
    """Say what a graph in several components means and what would cure it."""
    what = (
        f"they were joined by {sizes.size - 1} bridges"
        if disconnected == "join"
        else "they were laid side by side"
    )
    warnings.warn(
        f"the graph has {sizes.size} components (largest {int(sizes.max())} of {int(sizes.sum())} "
        f"points); {what}; a lower threshold or a larger n_neighbors connects it",
        UserWarning,
        stacklevel=5,
    )


def _above(matrix: Any, threshold: float | None) -> Any:
    """Sparse matrix without the entries at or below a threshold."""
    if threshold is None:
        return matrix
    entries = matrix.tocoo()
    keep = entries.data > threshold
    kept = (entries.data[keep], (entries.row[keep], entries.col[keep]))
    return sp.csr_array(kept, shape=matrix.shape)


__all__ = [
    "MODEL_POINTS",
    "Fit",
    "Noise",
    "Source",
    "explain",
    "fit_eigen",
    "fit_graph",
    "graph_of",
    "polish_likelihood",
    "polish_stress",
    "require_memory",
    "source_of",
]
