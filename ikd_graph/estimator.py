"""`IKD`, the scikit-learn estimator: stores, checks, calls."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from . import eigen, graph, kernels, model, placement, solve
from ._records import Blocks, CsrGraph
from ._stages import Stages
from ._threads import limit_threads
from ._validation import (
    check_choice,
    check_components,
    check_enough_columns,
    check_enough_rows,
    check_flag,
    check_fraction,
    check_has_rows,
    check_integer,
    check_no_neighbors,
    check_number_or_auto,
    check_positive,
    check_symmetric,
)
from .evidence import REFINES, Wishes
from .similarity import AFFINITIES, KnownRows
from .solve import landmarks

Floats = NDArray[np.float64]

__all__ = ["IKD"]

STARTS = ("auto", "own", "all")


class IKD(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Inverse kernel decomposition: hidden coordinates from the covariance between points.

    The closed-form, eigen-decomposition solver of the Gaussian-process latent variable model
    (Li & Wu 2024): the covariance between two rows of X estimates a stationary kernel of their
    hidden coordinates; the kernel is inverted to distances, and distances to coordinates. Small
    covariances carry no distance, so all but the "eigen" strategy work on the graph of those that
    do.

    Parameters
    ----------
    n_components : int or "auto"
        Number M of hidden coordinates, less than the number of points. "auto" takes up to ten by
        the gaps in the spectrum of the closed form (see `eigen.eigengap`).
    strategy : {"auto", "eigen", "blockwise", "geodesic"}
        "eigen" inverts every covariance (Alg. 1); "blockwise" solves cliques of the graph and
        merges them by rigid motions; "geodesic" replaces what is not an edge by the best path
        (Section 2.4). "auto" is "geodesic".
    kernel : str or StationaryKernel
        "squared_exponential", "rational_quadratic", "gamma_exponential", "matern", or an instance
        from `ikd_graph.kernels`. Its ``length_scale`` is the unit of the latent. "auto" takes the
        likeliest of the four where the likelihood polishes, else the squared exponential.
    affinity : {"auto", "correlation", "cosine", "covariance", "euclidean", "shared_neighbors", \
            "precomputed"}
        How rows of X are compared. "euclidean" is 1 - |x_i - x_j|^2 / (2 sigma^2), for few columns
        whose length is known; "shared_neighbors" is the correlation times the root of the share of
        nearest neighbours in common, for tables of groups (it tells groups apart and spoils a
        continuum). An offset or the scale of a row changes nothing for "correlation", the scale of
        a row for "cosine", an offset of a row for "covariance", an offset of a column or of all of
        X for "euclidean" (the likelihood, which sees X itself, takes offsets of columns for
        signal); with "precomputed" X is the (n_samples, n_samples) covariance, dense, or sparse
        (what is not stored is not known). "auto" is "correlation" where X looks like samples of a
        Gaussian process with N >= 100 columns, has more than 10 000 rows, or is solved by
        landmarks, or where ``threshold`` is a number; else "shared_neighbors" where the points
        fall into groups; else "cosine" where rows differ in length more than a sample explains;
        else "euclidean".
    threshold : "auto", float or None
        Smallest correlation s0 in (0, 1) that makes an edge; "auto" is min(5 / sqrt(N), 0.5) for
        N >= 100 observed dimensions that look like samples of a Gaussian process, else none; None
        makes no such edges.
    n_neighbors : int or None
        Number of neighbours of the k-NN graph. Given with a number as ``threshold`` the two graphs
        are united; given alone it is the graph. None beside ``threshold="auto"`` is 6 (4 for
        cliques) where there is a threshold; else 7 for correlations, 12 for cosines, 15 for other
        affinities and for cliques.
    mutual : "auto" or bool
        Whether neighbours make an edge only where each is one of the other's. "auto" does so for
        shared neighbours, and where it chooses ``n_neighbors`` for Euclidean similarities.
    neighbors : {"auto", "exact", "approximate"}
        How neighbours are found: blocked products, pynndescent, or by size (20 000 rows).
    path : {"auto", "covariance", "distance"}
        What a geodesic path optimises: the product of covariances (the paper), or the sum of
        distances, which agrees with the kernel. "auto" is "distance" where the data look like
        samples of a Gaussian process.
    reference : {"auto", "min_max", "min_mean", "center"} or int
        Reference point of the Gram matrix (Section 2.5). "auto" is the centre.
    merge : {"global", "greedy"}
        How cliques are merged: all at once to a consensus, or pair by pair (the paper).
    max_cliques : int or None
        Budget of the clique cover; None lets the number of points decide.
    disconnected : {"join", "raise", "separate"}
        What to do with a graph in several components: bridge them along their strongest spanning
        tree, raise an error, or embed each by itself and lay them side by side.
    refine : {"auto", "likelihood", "stress", None}
        Polish of the closed form. "likelihood" maximises the likelihood of the model, with a noise
        variance of its own, from the starts of ``starts``; "stress" moves the points to the
        distances of the graph's edges, each weighted by its precision (up to 300 points in three
        ways, of which the likeliest is taken); None keeps the closed form.
        "auto" is "likelihood" where the data look like samples of a Gaussian process and there are
        at most 300 points (seconds), else "stress" or None; `choices_` says which and why.
    starts : {"auto", "own", "all"}
        Where the likelihood polish begins: "own" is the closed form of the strategy alone, so that
        strategies can be compared polished; "all" adds the closed forms of other graphs, paths and
        affinities and perturbs the best, which takes longer and finds more. "auto" is "own" where
        a strategy is named and "all" for ``strategy="auto"``.
    fit_shape : bool
        Whether the likelihood polish ends with the shape of the kernel free: alpha of the rational
        quadratic, gamma of the gamma-exponential, nu of the Matern. `kernel_` has what was found.
    n_landmarks : "auto", int, float or None
        Number or fraction of points that the others are placed by. Distances are measured from
        these landmarks only, so that memory grows with points times landmarks. None solves all
        points; "auto" does so up to 10 000 points and takes 300 landmarks beyond (50 for each
        coordinate if that is more). The "blockwise" strategy needs none.
    time_budget : float or None
        Seconds after which the likelihood polish returns the best so far. The result then depends
        on the machine.
    n_jobs : int or None
        Number of threads, -1 for all cores. Results are the same for any number.
    random_state : int, RandomState or None
        Seed of the approximate neighbour search and of the landmarks, the only random parts.
    verbose : int
        1 shows a progress bar on a terminal.

    Attributes
    ----------
    embedding_ : (n_samples, n_components) ndarray of float64
        The latent, in units of the kernel's length-scale: centred, along its principal axes, the
        widest first. Equal rows have equal places.
    eigenvalues_ : (n_components,) ndarray of float64
        Eigenvalues of the Gram matrix of `embedding_`: squared lengths of its columns.
    explained_variance_ratio_ : (n_components,) ndarray of float64
        ``lambda_m^2 / sum_t lambda_t^2``; its sum is the paper's ratio. A polished or a merged
        latent has M eigenvalues and no more, so that its ratios add up to 1.
    negative_mass_ : float or None
        Share of ``sum_t lambda_t^2`` in negative eigenvalues: how far from Euclidean the inverted
        covariances are (mean over cliques for "blockwise"). None after a polish, whose latent has
        none; `start_negative_mass_` keeps it.
    start_embedding_ : (n_samples, n_components) ndarray of float64
        The closed form that a polish started from, in the same frame as `embedding_` has; equal to
        it without a polish. `start_eigenvalues_`, `start_explained_variance_ratio_` (mean over
        cliques for "blockwise") and `start_negative_mass_` describe it.
    n_components_ : int
        Number of hidden coordinates.
    spectrum_ : (n_leading,) ndarray of float64
        Leading eigenvalues of the closed form that the number of coordinates was chosen by.
    strategy_, affinity_, path_ : str
        What "auto" chose.
    kernel_ : StationaryKernel
        The kernel of `embedding_`.
    threshold_ : float or None
        The threshold used.
    n_neighbors_ : int or None
        The number of neighbours used.
    mutual_ : bool
        Whether only mutual neighbours make an edge.
    reference_ : int or str
        Index of the point that the distances behind `embedding_` were seen from, or "center".
    graph_ : CsrGraph or None
        The graph of trusted covariances (None for "eigen"). Of equal rows the first has the edges
        and the others hang on it.
    cliques_ : Blocks or None
        The cliques that were solved ("blockwise"), of equal rows the first.
    merge_residuals_ : (n_samples,) ndarray of float64 or None
        How far the cliques of each point disagree with its place in `embedding_` ("blockwise").
    merge_order_ : (n_merges, 3) ndarray of int64 or None
        Pairs of blocks merged and the points they shared ("blockwise").
    component_labels_ : (n_samples,) ndarray of int64
        Component of the graph each point was in before anything was joined.
    n_components_graph_ : int
        Number of those components.
    refine_ : str or None
        The polish that was applied.
    starts_ : str
        "own" or "all": the starts that a likelihood polish has.
    pool_ : tuple of PoolEntry
        Starts of the likelihood polish, the most likely first: name, log likelihood it reached,
        and how far from `embedding_` it ended (root mean square after alignment, in
        length-scales). Empty without that polish.
    variance_ : float
        The scale of the covariance (sigma^2 of Alg. 1, line 3) for "covariance" and
        "precomputed", else 1.
    noise_variance_ : float or None
        Noise variance of the model, in the units of X squared. Without a likelihood polish it is
        fitted, to at most 2000 rows, when it is first asked for. None if X was precomputed.
    signal_variance_ : float or None
        Signal variance of the model, likewise.
    log_likelihood_ : float or None
        Log likelihood of all observed dimensions of these rows, equal ones counted once, likewise.
    standard_errors_ : (n_samples, n_components) ndarray of float64 or None
        Standard errors of the latent from the curvature of the likelihood, after rigid alignment
        (likelihood polish, where affordable).
    n_landmarks_ : int or None
        Number of landmarks, None where all points were solved.
    landmarks_ : (n_landmarks_,) ndarray of int64 or None
        Rows that are landmarks.
    n_iter_ : int
        Steps of the polish.
    choices_ : dict of str to str
        What each "auto" chose, why, and what to pass to change it.
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
        n_components: int | str = 2,
        *,
        strategy: str = "auto",
        kernel: str | kernels.StationaryKernel = "squared_exponential",
        affinity: str = "auto",
        threshold: float | str | None = "auto",
        n_neighbors: int | None = None,
        mutual: bool | str = "auto",
        neighbors: str = "auto",
        path: str = "auto",
        reference: str | int = "auto",
        merge: str = "global",
        max_cliques: int | None = None,
        disconnected: str = "join",
        refine: str | None = "auto",
        starts: str = "auto",
        fit_shape: bool = False,
        n_landmarks: float | str | None = "auto",
        time_budget: float | None = None,
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
        self.mutual = mutual
        self.neighbors = neighbors
        self.path = path
        self.reference = reference
        self.merge = merge
        self.max_cliques = max_cliques
        self.disconnected = disconnected
        self.refine = refine
        self.starts = starts
        self.fit_shape = fit_shape
        self.n_landmarks = n_landmarks
        self.time_budget = time_budget
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
        stages = Stages(self.verbose, total=6)
        try:
            with limit_threads(self.n_jobs):
                found = model.fit(X, self._task(), stages)
        finally:
            stages.close()
        self.stage_times_ = stages.seconds
        self._store(X, found)
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
            The latent. A row that equals a training row gets the stored latent of that; any other
            joins the graph by the rule of the fit and is put where its neighbours there ask for.
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
            In units of the latent. A row that is like none of the training rows has a large one.
        """
        return self._place(X)[1]

    def inverse_transform(self, Z: ArrayLike, *, return_std: bool = False) -> Any:
        """Rows of X that latent points stand for: the posterior mean of the Gaussian process.

        Parameters
        ----------
        Z : (n_new, n_components) array_like of float64
            Latent points.
        return_std : bool
            Also return the posterior standard deviation of the noise-free row.

        Returns
        -------
        X : (n_new, n_features) ndarray of float64
            Rows. A Gaussian process over centred rows knows no level of a row; the mean row of the
            training data is given back with each.
        std : (n_new,) ndarray of float64
            Only with ``return_std``; the same for every column.

        Raises
        ------
        ValueError
            If the model was fitted to a precomputed covariance, which knows no rows.
        """
        check_is_fitted(self)
        check_has_rows(self._has_rows, "inverse_transform")
        points = check_array(Z, dtype=np.float64)
        with limit_threads(self.n_jobs):
            rows, std = model.reconstruct(self._model, self._noise_model(), points)
        return (rows, std) if return_std else rows

    def score(self, X: ArrayLike, y: Any = None) -> float:
        """Mean log likelihood of an observed dimension, the rows being where `transform` puts them.

        Parameters
        ----------
        X : (n, n_features) array_like of float64
            Rows, the training rows or others; at most 2000 are used.
        y : ignored
            Present for the scikit-learn interface.

        Returns
        -------
        float
            Log likelihood of X under the fitted kernel, signal and noise variance, divided by the
            number of columns.

        Raises
        ------
        ValueError
            If the model was fitted to a precomputed covariance, which knows no rows.
        """
        check_is_fitted(self)
        check_has_rows(self._has_rows, "score")
        latent, rows = self.transform(X), check_array(X, dtype=np.float64)
        with limit_threads(self.n_jobs):
            return model.log_likelihood(self._model, self._noise_model(), latent, rows)

    @property
    def noise_variance_(self) -> float | None:
        """Noise variance of the model."""
        return self._of_model("noise")

    @property
    def signal_variance_(self) -> float | None:
        """Signal variance of the model."""
        return self._of_model("variance")

    @property
    def log_likelihood_(self) -> float | None:
        """Log likelihood of the rows the model was fitted to."""
        return self._of_model("log_likelihood")

    def _of_model(self, name: str) -> float | None:
        """A field of the generative model, None where there are no rows to fit it to."""
        check_is_fitted(self)
        return None if self._model.rows is None else float(getattr(self._noise_model(), name))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = tags.input_tags.sparse = not self._has_rows
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self) -> int:
        return self.embedding_.shape[1]

    def _check_parameters(self) -> None:
        """Raise on any parameter that breaks a rule, before work is done."""
        if isinstance(self.n_components, str):
            check_number_or_auto("n_components", self.n_components)
        else:
            check_integer("n_components", self.n_components, 1)
        check_choice("strategy", self.strategy, ("auto", *solve.STRATEGIES))
        if self.kernel != "auto":
            kernels.get(self.kernel)
        check_choice("affinity", self.affinity, ("auto", *AFFINITIES))
        self._check_affinity()
        if self.threshold is not None and self.threshold != "auto":
            check_fraction("threshold", self.threshold, "'auto' chooses by the number of columns")
        if self.n_neighbors is not None:
            check_integer("n_neighbors", self.n_neighbors, 1)
        elif self.threshold is None and self.strategy != "eigen":
            raise ValueError(
                "threshold and n_neighbors must not both be None, got no rule for the graph; set "
                "n_neighbors=7, or threshold='auto'"
            )
        check_choice("neighbors", self.neighbors, graph.SEARCHES)
        check_choice("path", self.path, ("auto", *solve.PATHS))
        if not isinstance(self.reference, (int, np.integer)) or isinstance(self.reference, bool):
            check_choice("reference", self.reference, ("auto", *eigen.REFERENCES))
        check_choice("merge", self.merge, solve.MERGES)
        if self.max_cliques is not None:
            check_integer("max_cliques", self.max_cliques, 1)
        check_choice("disconnected", self.disconnected, solve.DISCONNECTED)
        if self.refine is not None:
            check_choice("refine", self.refine, ("auto", *REFINES))
            if self.refine == "likelihood":
                check_has_rows(self._has_rows, "refine='likelihood'")
        check_choice("starts", self.starts, STARTS)
        check_flag("fit_shape", self.fit_shape)
        least = 1 if self.n_components == "auto" else int(self.n_components)
        landmarks.check_number(self.n_landmarks, least)
        if self.time_budget is not None:
            check_positive("time_budget", self.time_budget)
        check_integer("verbose", self.verbose, 0)
        check_random_state(self.random_state)

    def _check_affinity(self) -> None:
        """Raise on what the affinity cannot be combined with."""
        if not isinstance(self.mutual, (bool, np.bool_)):
            check_choice("mutual", self.mutual, ("auto",))
        if self.affinity == "auto":
            return
        kind = AFFINITIES[self.affinity]
        if not kind.estimates_kernel and self.strategy == "eigen":
            raise ValueError(
                f"strategy must be 'geodesic' or 'blockwise' for affinity={self.affinity!r}, got "
                "'eigen'; most pairs share no neighbour, and only a graph does without them"
            )
        if not kind.takes_threshold and self.threshold is not None and self.threshold != "auto":
            raise ValueError(
                f"threshold must be 'auto' or None for affinity={self.affinity!r}, got "
                f"{self.threshold!r}; the graph is that of n_neighbors"
            )

    @property
    def _has_rows(self) -> bool:
        """Whether X is a table of rows, and not the covariance between them."""
        return self.affinity == "auto" or AFFINITIES[self.affinity].has_rows

    def _check_input(self, X: Any) -> Any:
        """X as an array of floats (or a sparse precomputed matrix) that can be worked with."""
        # In a table of counts a silent row is nothing unusual; elsewhere it is a mistake.
        self._counts = getattr(X, "dtype", np.dtype(float)).kind in "iub"
        X = validate_data(
            self,
            X,
            dtype=[np.float64, np.float32] if self._has_rows else np.float64,
            accept_sparse=False if self._has_rows else ["csr", "csc", "coo"],
        )
        check_enough_rows(X.shape[0])
        if self._has_rows:
            check_enough_columns(X.shape[1], self.affinity, self._least_columns)
        else:
            check_symmetric("a precomputed X", X)
            if sp.issparse(X) and self.n_neighbors is not None:
                check_no_neighbors(self.n_neighbors)
        if self.n_components != "auto":
            check_components(int(self.n_components), X.shape[0])
        return X

    @property
    def _least_columns(self) -> int:
        """Fewest columns that rows can be compared by."""
        return 2 if self.affinity == "auto" else AFFINITIES[self.affinity].least_columns

    def _task(self) -> model.Task:
        """What was asked for, as the model takes it."""
        return model.Task(
            n_components=self.n_components,
            affinity=self.affinity,
            kernel=self.kernel,
            wishes=Wishes(
                self.strategy,
                self.path,
                self.reference,
                self.threshold,
                self.n_neighbors,
                self.mutual,
                self.refine,
            ),
            neighbors=self.neighbors,
            merge=self.merge,
            max_cliques=self.max_cliques,
            disconnected=self.disconnected,
            starts=self.starts,
            fit_shape=bool(self.fit_shape),
            n_landmarks=self.n_landmarks,
            time_budget=self.time_budget,
            random_state=self.random_state,
            counts=self._counts,
            verbose=self.verbose,
        )

    def _store(self, X: Any, found: model.Model) -> None:
        """Keep what was learnt, every number from the one record."""
        latent, start, polished = found.latent, found.start, found.polished
        self._model = found
        self._noise = None if polished is None else polished.noise
        self._known = KnownRows(self._comparable(X[found.first]))
        # Placement works in double precision whatever the type of X.
        self.embedding_ = latent.coordinates.astype(X.dtype, copy=False)
        self.n_components_ = latent.coordinates.shape[1]
        self.eigenvalues_ = latent.eigenvalues
        self.explained_variance_ratio_ = latent.explained_variance_ratio
        self.negative_mass_ = latent.negative_mass
        self.reference_ = latent.reference
        self.merge_residuals_ = latent.residuals
        self.start_embedding_ = start.coordinates.astype(X.dtype, copy=False)
        self.start_eigenvalues_ = start.eigenvalues
        self.start_explained_variance_ratio_ = start.explained_variance_ratio
        self.start_negative_mass_ = start.negative_mass
        self.spectrum_ = found.spectrum
        self.strategy_ = found.plan.strategy
        self.affinity_ = found.similarity.name
        self.path_ = found.plan.path
        self.kernel_ = found.plan.kernel
        self.refine_ = None if polished is None else polished.name
        self.n_iter_ = 0 if polished is None else polished.n_iter
        wide = found.task.searches_widely
        self.starts_ = "all" if wide else "own"
        self.pool_ = () if polished is None else polished.pool
        errors = None if polished is None else polished.standard_errors
        self.standard_errors_ = None if errors is None else errors[found.inverse]
        self.graph_: CsrGraph | None = found.graph
        self.threshold_ = None if found.graph is None else found.choice.threshold
        self.n_neighbors_ = None if found.graph is None else found.choice.n_neighbors
        self.mutual_ = found.graph is not None and found.choice.mutual
        self.cliques_: Blocks | None = found.cliques
        self.merge_order_ = found.merge_order
        self.component_labels_ = found.labels
        self.n_components_graph_ = int(found.labels.max(initial=0)) + 1
        self.variance_ = found.similarity.variance
        self.landmarks_ = found.landmarks
        self.n_landmarks_ = None if found.landmarks is None else int(found.landmarks.size)
        self.choices_ = found.choice.reasons

    def _noise_model(self) -> model.Noise:
        """The generative model, fitted now if the fit left that out."""
        if self._noise is None:
            with limit_threads(self.n_jobs):
                self._noise = model.noise_of(self._model)
        return self._noise

    def _comparable(self, X: Any) -> Any:
        """What equal rows have in common: of a covariance, dense or sparse, its entries."""
        return X if self._has_rows else sp.csr_array(X)

    def _place(self, X: Any) -> tuple[Floats, Floats]:
        """Latent and residual of rows."""
        check_is_fitted(self)
        found = self._model
        X = validate_data(
            self,
            X,
            dtype=np.float64 if found.rows is None else found.rows.dtype,
            reset=False,
            accept_sparse=False if self._has_rows else ["csr"],
        )
        with limit_threads(self.n_jobs):
            latent, residual = placement.place(
                found.placement, found.similarity, X, verbose=self.verbose
            )
        latent = latent.astype(self.embedding_.dtype, copy=False)
        equal = self._known.find(self._comparable(X))
        latent[equal >= 0] = self.embedding_[found.first[equal[equal >= 0]]]
        residual[equal >= 0] = 0.0
        return latent, residual
