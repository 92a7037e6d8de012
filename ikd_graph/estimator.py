"""`IKD`, the scikit-learn estimator: stores, checks, calls."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from . import choices, covariance, graph, kernels, newpoints, strategies
from ._records import Blocks, CsrGraph
from ._stages import Stages
from ._threads import limit_threads
from ._validation import (
    check_bridges_known,
    check_choice,
    check_components,
    check_enough_columns,
    check_enough_rows,
    check_fraction,
    check_integer,
    check_no_neighbors,
    check_symmetric,
    check_whole_matrix,
)
from .eigen import REFERENCES

Floats = NDArray[np.float64]

__all__ = ["IKD"]


class _Source(NamedTuple):
    """Where the covariances between points come from: rows, a dense matrix or a sparse one."""

    rows: Floats | None  # (n, p) scaled rows
    corr: Floats | None  # (n, n)
    sparse: Any  # (n, n) scipy sparse
    n_samples: int
    n_observed: int | None  # number of observed dimensions, None if not known


class IKD(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Inverse kernel decomposition: hidden coordinates from the covariance between points.

    The closed-form, eigen-decomposition solver of the Gaussian-process latent variable model
    (Li & Wu 2024): the covariance between two rows of X estimates a stationary kernel of their
    hidden coordinates; the kernel is inverted to distances, and distances to coordinates. Small
    covariances carry no distance, so all but the "eigen" strategy work on the graph of those that
    do.

    Parameters
    ----------
    n_components : int
        Number M of hidden coordinates, less than the number of points.
    strategy : {"auto", "eigen", "blockwise", "geodesic"}
        "eigen" inverts every covariance (Alg. 1); "blockwise" solves cliques of the graph and
        merges them by rigid motions; "geodesic" replaces what is not an edge by the best path
        (Section 2.4). "auto" is "geodesic", or "eigen" where every covariance can be trusted.
    kernel : str or StationaryKernel
        "squared_exponential", "rational_quadratic", "gamma_exponential", "matern", or an instance
        from `ikd_graph.kernels`. Its ``length_scale`` is the unit of the latent.
    affinity : {"correlation", "cosine", "covariance", "precomputed"}
        How rows of X are compared; with "precomputed" X is the (n_samples, n_samples) covariance,
        dense, or sparse (what is not stored is not known).
    threshold : "auto", float or None
        Smallest correlation s0 in (0, 1) that makes an edge; "auto" is min(5 / sqrt(N), 0.5) for
        N >= 100 observed dimensions that look like draws of a Gaussian process, else none; None
        makes no such edges.
    n_neighbors : int or None
        Number of neighbours of the k-NN graph. Given with a number as ``threshold`` the two graphs
        are united; given alone it is the graph. None beside ``threshold="auto"`` is 6 where there
        is a threshold, else 7 (15 for cliques).
    neighbors : {"auto", "exact", "approximate"}
        How neighbours are found: blocked products, pynndescent, or by size (20 000 rows).
    path : {"auto", "covariance", "distance"}
        What a geodesic path optimises: the product of covariances (the paper), or the sum of
        distances, which agrees with the kernel. "auto" is "distance" where the data look like
        draws of a Gaussian process.
    reference : {"auto", "min_max", "min_mean", "center"} or int
        Reference point of the Gram matrix (Section 2.5). "auto" is the centre.
    merge : {"global", "greedy"}
        How cliques are merged: all at once to a consensus, or pair by pair (the paper).
    max_cliques : int or None
        Budget of the clique cover; None lets the number of points decide.
    disconnected : {"join", "raise", "separate"}
        What to do with a graph in several components: bridge them along their strongest spanning
        tree, raise an error, or embed each by itself and lay them side by side.
    n_jobs : int or None
        Number of threads, -1 for all cores. Results are the same for any number.
    random_state : int, RandomState or None
        Seed of the approximate neighbour search, the only random part.
    verbose : int
        1 shows a progress bar on a terminal.

    Attributes
    ----------
    embedding_ : (n_samples, n_components) ndarray of float64
        The latent, in units of the kernel's length-scale.
    eigenvalues_ : (n_components,) ndarray of float64
        Leading eigenvalues of the Gram matrix (of the merged latent for "blockwise").
    explained_variance_ratio_ : (n_components,) ndarray of float64
        ``lambda_m^2 / sum_t lambda_t^2``; its sum is the paper's ratio (mean over cliques for
        "blockwise").
    negative_mass_ : float
        Share of ``sum_t lambda_t^2`` in negative eigenvalues: how far from Euclidean the inverted
        covariances are.
    strategy_, path_ : str
        What "auto" chose.
    kernel_ : StationaryKernel
        The kernel.
    threshold_ : float or None
        The threshold used.
    reference_ : int or str
        Index of the reference point, "center", or "none" where cliques have their own.
    graph_ : CsrGraph or None
        The graph of trusted covariances (None for "eigen").
    cliques_ : Blocks or None
        The cliques that were solved ("blockwise").
    merge_residuals_ : (n_samples,) ndarray of float64 or None
        How far the cliques of each point disagree about its place ("blockwise").
    merge_order_ : (n_merges, 3) ndarray of int64 or None
        Pairs of blocks merged and the points they shared ("blockwise").
    component_labels_ : (n_samples,) ndarray of int64
        Component of the graph each point was in before anything was joined.
    n_components_graph_ : int
        Number of those components.
    variance_ : float
        The scale of the covariance (sigma^2 of Alg. 1, line 3) for "covariance" and
        "precomputed", else 1.
    choices_ : dict of str to str
        What each "auto" chose, and why, in words.
    stage_times_ : dict of str to float
        Seconds per stage of the last fit.
    n_features_in_ : int
        Number of columns of X.

    References
    ----------
    C. Li and A. Wu, Inverse Kernel Decomposition, Transactions on Machine Learning Research, 2024.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from ikd_graph import IKD
    >>> X = load_digits().data[:200]
    >>> IKD(n_components=2, n_neighbors=7).fit_transform(X).shape
    (200, 2)
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        strategy: str = "auto",
        kernel: str | kernels.StationaryKernel = "squared_exponential",
        affinity: str = "correlation",
        threshold: float | str | None = "auto",
        n_neighbors: int | None = None,
        neighbors: str = "auto",
        path: str = "auto",
        reference: str | int = "auto",
        merge: str = "global",
        max_cliques: int | None = None,
        disconnected: str = "join",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.strategy = strategy
        self.kernel = kernel
        self.affinity = affinity
        self.threshold = threshold
        self.n_neighbors = n_neighbors
        self.neighbors = neighbors
        self.path = path
        self.reference = reference
        self.merge = merge
        self.max_cliques = max_cliques
        self.disconnected = disconnected
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: Any = None) -> IKD:
        """Find the latent of the rows of X.

        Parameters
        ----------
        X : (n_samples, n_features) array_like of float64
            Points in rows, or the (n_samples, n_samples) covariance for
            ``affinity="precomputed"``, dense or scipy sparse.
        y : ignored
            Present for the scikit-learn interface.

        Returns
        -------
        IKD
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter or X breaks a rule; the message names the rule and the cure.
        """
        self._check_parameters()
        X = self._check_input(X)
        with limit_threads(self.n_jobs):
            self._fit(X)
        return self

    def fit_transform(self, X: ArrayLike, y: Any = None) -> Floats:
        """Find the latent of the rows of X and return it.

        Parameters
        ----------
        X : (n_samples, n_features) array_like of float64
            As for `fit`.
        y : ignored
            Present for the scikit-learn interface.

        Returns
        -------
        (n_samples, n_components) ndarray of float64
            The latent, `embedding_`.
        """
        return self.fit(X).embedding_

    def transform(self, X: ArrayLike) -> Floats:
        """Place rows in the latent that was found, each by itself and in closed form.

        Parameters
        ----------
        X : (n_new, n_features) array_like of float64
            New rows, or their (n_new, n_samples) covariances with the training rows for
            ``affinity="precomputed"``.

        Returns
        -------
        (n_new, n_components) ndarray of float64
            The latent. A row that equals a training row gets the stored latent of that row.
        """
        return self._place(X)[0]

    def placement_residuals(self, X: ArrayLike) -> Floats:
        """How badly each row fits into the latent that was found.

        Parameters
        ----------
        X : (n_new, n_features) array_like of float64
            As for `transform`.

        Returns
        -------
        (n_new,) ndarray of float64
            Distance to the nearest training row and the root mean square misfit of the distances
            to the landmarks, in quadrature, in units of the latent. A row that is like none of the
            training rows has a large one.
        """
        return self._place(X)[1]

    def _place(self, X: Any) -> tuple[Floats, Floats]:
        """Latent and residual of rows."""
        check_is_fitted(self)
        precomputed = self.affinity == "precomputed"
        X = validate_data(
            self,
            X,
            dtype=np.float64,
            reset=False,
            accept_sparse=["csr"] if precomputed else False,
        )
        placement = self._placement
        latent = np.empty((X.shape[0], self.embedding_.shape[1]))
        residual = np.empty(X.shape[0])
        chunk = max(1, 2**22 // placement.latent.shape[0])
        with limit_threads(self.n_jobs):
            for start in range(0, X.shape[0], chunk):
                part = slice(start, start + chunk)
                latent[part], residual[part] = newpoints.place(placement, self._compare(X[part]))
        for row, key in enumerate(newpoints.row_keys(X)):
            if key in placement.known:
                latent[row] = self.embedding_[placement.known[key]]
        return latent, residual

    def _compare(self, X: Any) -> Floats:
        """Covariances of new rows with the training rows, on the scale of variance 1."""
        if self.affinity != "precomputed":
            scale = np.sqrt(self.variance_ * (X.shape[1] - 1))
            rows = covariance.unit_rows(X, self.affinity, scale=scale, allow_flat=self._counts)
            return rows @ self._rows.T
        dense = X.toarray() if sp.issparse(X) else X
        return np.asarray(dense / self.variance_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.affinity == "precomputed"
        tags.input_tags.sparse = self.affinity == "precomputed"
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags

    @property
    def _n_features_out(self) -> int:
        return self.embedding_.shape[1]

    def _check_parameters(self) -> None:
        """Raise on any parameter that breaks a rule, before work is done."""
        check_integer("n_components", self.n_components, 1)
        check_choice("strategy", self.strategy, ("auto", *strategies.STRATEGIES))
        kernels.get(self.kernel)
        check_choice("affinity", self.affinity, (*covariance.AFFINITIES, "precomputed"))
        if self.threshold is not None and not (
            isinstance(self.threshold, str) and self.threshold == "auto"
        ):
            check_fraction("threshold", self.threshold, "'auto' chooses by the number of columns")
        if self.n_neighbors is not None:
            check_integer("n_neighbors", self.n_neighbors, 1)
        elif self.threshold is None and self.strategy != "eigen":
            raise ValueError(
                "threshold and n_neighbors must not both be None, got no rule for the graph; set "
                "n_neighbors=7, or threshold='auto'"
            )
        check_choice("neighbors", self.neighbors, ("auto", "exact", "approximate"))
        check_choice("path", self.path, ("auto", *strategies.PATHS))
        if not isinstance(self.reference, (int, np.integer)) or isinstance(self.reference, bool):
            check_choice("reference", self.reference, ("auto", *REFERENCES))
        check_choice("merge", self.merge, strategies.MERGES)
        if self.max_cliques is not None:
            check_integer("max_cliques", self.max_cliques, 1)
        check_choice("disconnected", self.disconnected, strategies.DISCONNECTED)
        check_integer("verbose", self.verbose, 0)
        check_random_state(self.random_state)

    def _check_input(self, X: Any) -> Any:
        """X as an array of float64 (or a sparse precomputed matrix) that can be worked with."""
        precomputed = self.affinity == "precomputed"
        # In a table of counts a silent row is nothing unusual; elsewhere it is a mistake.
        self._counts = getattr(X, "dtype", np.dtype(float)).kind in "iub"
        X = validate_data(
            self,
            X,
            dtype=np.float64,
            accept_sparse=["csr", "csc", "coo"] if precomputed else False,
            ensure_min_samples=1,
        )
        check_enough_rows(X.shape[0])
        if precomputed:
            check_symmetric("a precomputed X", X)
            if sp.issparse(X) and self.n_neighbors is not None:
                check_no_neighbors(self.n_neighbors)
        else:
            check_enough_columns(X.shape[1], self.affinity)
        check_components(self.n_components, X.shape[0])
        return X

    def _fit(self, X: Any) -> None:
        """Run the stages on checked input."""
        stages = Stages(self.verbose)
        try:
            with stages("covariance"):
                source = self._source(X)
            chosen = choices.choose(
                strategy=self.strategy,
                path=self.path,
                reference=self.reference,
                threshold=self.threshold,
                n_neighbors=self.n_neighbors,
                n_samples=source.n_samples,
                evidence=None if source.n_observed is None else choices.examine(X),
            )
            plan = strategies.Plan(
                strategy=chosen.strategy,
                kernel=kernels.get(self.kernel),
                n_components=self.n_components,
                path=chosen.path,
                reference=chosen.reference,
                merge=self.merge,
                max_cliques=self.max_cliques,
                n_observed=source.n_observed,
            )
            if plan.strategy == "eigen":
                if source.sparse is not None:
                    check_whole_matrix(source.sparse)
                solution, g = self._solve_whole(source, plan, stages), None
                labels = np.zeros(source.n_samples, dtype=np.int64)
            else:
                with stages("graph"):
                    g = self._graph(source, chosen)
                    labels = graph.component_labels(g)
                solution, g = self._solve_graph(source, g, labels, plan, stages)
            self._store(X, source, plan, chosen, solution, g, labels)
        finally:
            stages.close()
        self.stage_times_ = stages.seconds

    def _source(self, X: Any) -> _Source:
        """Scaled rows, or the precomputed matrix on the scale where the variance is 1."""
        self.variance_ = 1.0
        n_samples, n_features = X.shape
        if self.affinity != "precomputed":
            rows = covariance.unit_rows(X, self.affinity, allow_flat=self._counts)
            if self.affinity == "covariance":
                centred = X - X.mean(axis=1, keepdims=True)
                self.variance_ = float(np.mean(np.sum(centred**2, axis=1)) / (n_features - 1))
            return _Source(rows, None, None, n_samples, n_features)
        if sp.issparse(X):
            scaled, self.variance_ = covariance.scale_sparse_to_correlation(X)
            return _Source(None, None, scaled, n_samples, None)
        corr, self.variance_ = covariance.scale_to_correlation(X)
        return _Source(None, corr, None, n_samples, None)

    def _graph(self, source: _Source, chosen: choices.Choice) -> CsrGraph:
        """The graph of trusted covariances."""
        if source.sparse is not None:
            # What the caller left out is not known; a threshold can only leave out more.
            return graph.from_sparse(_above(source.sparse, self.threshold))
        found = []
        if chosen.threshold is not None:
            found.append(
                graph.row_threshold_graph(source.rows, chosen.threshold)
                if source.rows is not None
                else graph.threshold_graph(source.corr, chosen.threshold)
            )
        if chosen.n_neighbors is not None:
            count = min(chosen.n_neighbors, source.n_samples - 1)
            found.append(
                graph.row_neighbor_graph(
                    source.rows,
                    count,
                    neighbors=self.neighbors,
                    random_state=self.random_state,
                )
                if source.rows is not None
                else graph.neighbor_graph(source.corr, count)
            )
        return found[0] if len(found) == 1 else graph.union(*found)

    def _solve_whole(
        self, source: _Source, plan: strategies.Plan, stages: Stages
    ) -> strategies.Solution:
        """The eigen strategy."""
        if source.sparse is not None:
            corr = source.sparse.toarray()
        elif source.corr is not None:
            corr = source.corr
        else:
            with stages("covariance"):
                corr = covariance.gram(source.rows)
        return strategies.solve_eigen(corr, plan, stages)

    def _solve_graph(
        self,
        source: _Source,
        g: CsrGraph,
        labels: NDArray[np.int64],
        plan: strategies.Plan,
        stages: Stages,
    ) -> tuple[strategies.Solution, CsrGraph]:
        """The strategies on a graph, with its components dealt with first."""
        solve = (
            strategies.solve_blockwise
            if plan.strategy == "blockwise"
            else strategies.solve_geodesic
        )
        sizes = np.bincount(labels)
        if sizes.size == 1:
            return solve(g, plan, stages), g
        if source.sparse is not None and self.disconnected == "join":
            check_bridges_known(sizes.size)
        self._refuse_or_warn(sizes)
        if self.disconnected == "separate":
            return strategies.solve_separately(g, labels, plan, stages, solve), g
        with stages("graph"):
            joined = graph.join_components(g, source.corr, rows=source.rows).graph
        return solve(joined, plan, stages), joined

    def _refuse_or_warn(self, sizes: NDArray[np.int64]) -> None:
        """Say what a graph in several components means and what would cure it."""
        largest = np.sort(sizes)[::-1]
        found = (
            f"the graph has {sizes.size} components (largest {int(largest[0])} of "
            f"{int(sizes.sum())} points)"
        )
        cure = "a lower threshold or a larger n_neighbors connects it"
        if self.disconnected == "raise":
            raise ValueError(
                f"the graph must be connected for disconnected='raise', got {found[4:]}; {cure}, "
                "disconnected='join' bridges it, 'separate' lays the components side by side"
            )
        what = (
            f"they were joined by {sizes.size - 1} bridges"
            if self.disconnected == "join"
            else "they were laid side by side"
        )
        warnings.warn(f"{found}; {what}; {cure}", UserWarning, stacklevel=6)

    def _store(
        self,
        X: Any,
        source: _Source,
        plan: strategies.Plan,
        chosen: choices.Choice,
        solution: strategies.Solution,
        g: CsrGraph | None,
        labels: NDArray[np.int64],
    ) -> None:
        """Keep what was learnt."""
        embedding = solution.embedding
        self.embedding_ = embedding.coordinates
        self.eigenvalues_ = embedding.eigenvalues
        self.explained_variance_ratio_ = embedding.explained_variance_ratio
        self.negative_mass_ = embedding.negative_mass
        self.reference_: int | str = "center" if embedding.reference < 0 else embedding.reference
        self.strategy_ = plan.strategy
        self.path_ = plan.path
        self.kernel_ = plan.kernel
        self.threshold_ = chosen.threshold if g is not None else None
        self.n_neighbors_ = chosen.n_neighbors if g is not None else None
        self.graph_ = g
        self.cliques_: Blocks | None = solution.cliques
        self.merge_residuals_ = solution.residuals
        self.merge_order_ = solution.merge_order
        self.component_labels_ = labels
        self.n_components_graph_ = int(labels.max(initial=0)) + 1
        self.choices_ = chosen.reasons
        self._rows = source.rows
        self._placement = newpoints.prepare(
            self.embedding_,
            solution.sq_dist,
            kernel=plan.kernel,
            path="direct" if plan.strategy == "eigen" else plan.path,
            n_neighbors=chosen.n_neighbors or choices.AUTO_NEIGHBORS,
            keys=newpoints.row_keys(X),
        )


def _above(matrix: Any, threshold: float | str | None) -> Any:
    """Sparse matrix without the entries at or below a threshold, if one is given as a number."""
    if not isinstance(threshold, float):
        return matrix
    entries = matrix.tocoo()
    keep = entries.data > threshold
    kept = (entries.data[keep], (entries.row[keep], entries.col[keep]))
    return sp.csr_array(kept, shape=matrix.shape)
