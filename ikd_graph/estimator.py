"""`IKD`, the scikit-learn estimator: stores, checks, calls."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    clone,
)
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from . import choices, covariance, eigen, gplvm, kernels, landmarks, newpoints, pipeline, strategies
from ._records import Blocks
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
from .placer import Placer

Floats = NDArray[np.float64]

__all__ = ["IKD"]

# Leading eigenvalues that "auto" looks at, and the most coordinates it takes.
_LEADING, _MOST_COMPONENTS = 15, 10


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
        the gaps in the spectrum of a first closed form (see `eigen.eigengap`), which costs a
        second fit.
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
        continuum); with "precomputed" X is the (n_samples, n_samples) covariance, dense, or sparse
        (what is not stored is not known). "auto" is "correlation" where X looks like draws of a
        Gaussian process with N >= 100 columns, has more than 10 000 rows, or is solved by
        landmarks, or where ``threshold`` is a number; else "shared_neighbors" where the points
        fall into groups; else "cosine" where rows differ in length more than a sample explains;
        else "euclidean".
    threshold : "auto", float or None
        Smallest correlation s0 in (0, 1) that makes an edge; "auto" is min(5 / sqrt(N), 0.5) for
        N >= 100 observed dimensions that look like draws of a Gaussian process, else none; None
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
    refine : {"auto", "likelihood", "stress", None}
        Polish of the closed form. "likelihood" maximises the likelihood of the model from several
        closed-form starts, with a noise variance of its own; "stress" moves the points to the
        distances of the graph's edges, each weighted by its precision (up to 300 points in three
        ways, of which the likeliest is taken); None keeps the closed form.
        "auto" is "likelihood" where the data look like draws of a Gaussian process and there are
        at most 300 points (seconds), else "stress" or None; `choices_` says which and why.
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
        The latent, in units of the kernel's length-scale.
    eigenvalues_ : (n_components,) ndarray of float64
        Leading eigenvalues of the Gram matrix (of the merged latent for "blockwise").
    n_components_ : int
        Number of hidden coordinates.
    spectrum_ : (n_leading,) ndarray of float64
        Leading eigenvalues that the number of coordinates was chosen by; `eigenvalues_` where it
        was given.
    explained_variance_ratio_ : (n_components,) ndarray of float64
        ``lambda_m^2 / sum_t lambda_t^2``; its sum is the paper's ratio (mean over cliques for
        "blockwise").
    negative_mass_ : float
        Share of ``sum_t lambda_t^2`` in negative eigenvalues: how far from Euclidean the inverted
        covariances are.
    strategy_, affinity_, path_ : str
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
    refine_ : str or None
        The polish that was applied.
    variance_ : float
        The scale of the covariance (sigma^2 of Alg. 1, line 3) for "covariance" and
        "precomputed", else 1.
    noise_variance_ : float or None
        Noise variance of the model, in the units of X squared. Without a likelihood polish it is
        fitted, to at most 2000 rows, when it is first asked for. None if X was precomputed.
    signal_variance_ : float or None
        Signal variance of the model, likewise.
    log_likelihood_ : float or None
        Log likelihood of all observed dimensions of these rows, likewise.
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
        spectrum = self._count_components(X)
        stages = Stages(self.verbose, total=6)
        try:
            with limit_threads(self.n_jobs):
                self._fit(X, stages)
        finally:
            stages.close()
        self.stage_times_ = stages.seconds
        self.spectrum_ = self.eigenvalues_ if spectrum is None else spectrum
        if spectrum is not None:
            self.choices_["n_components"] = (
                f"{self.n_components_}: the last wide gap among {spectrum.size} leading eigenvalues"
            )
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
            The latent. A row that equals a training row gets the stored latent of that row; any
            other walks through its nearest training rows to the landmarks (through the nearest
            one only where the data do not look like draws of a Gaussian process).
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
        check_has_rows(self.affinity, "inverse_transform")
        points = check_array(Z, dtype=np.float64)
        noise, used = self._model(), self._used
        mean_row = self._X.mean(axis=0)
        rows = np.empty((points.shape[0], self._X.shape[1]))
        std = np.empty(points.shape[0])
        with limit_threads(self.n_jobs):
            for start in range(0, points.shape[0], 1024):
                part = slice(start, start + 1024)
                posterior = gplvm.posterior_mean(
                    points[part],
                    self.embedding_[used],
                    self._X[used] - mean_row,
                    noise.kernel,
                    noise.variance,
                    noise.noise,
                )
                rows[part], std[part] = posterior.mean + mean_row, posterior.std
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
        check_has_rows(self.affinity, "score")
        latent, rows = self.transform(X), check_array(X, dtype=np.float64)
        take = _evenly(rows.shape[0])
        noise = self._model()
        with limit_threads(self.n_jobs):
            centred = self.affinity_ not in covariance.UNCENTRED
            cov = gplvm.sample_covariance(rows[take], centered=centred)
            total = gplvm.log_likelihood(
                latent[take], cov, rows.shape[1], noise.kernel, noise.variance, noise.noise
            )
        return total / rows.shape[1]

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
        return None if self._X is None else float(getattr(self._model(), name))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.affinity == "precomputed"
        tags.input_tags.sparse = self.affinity == "precomputed"
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
        check_choice("strategy", self.strategy, ("auto", *strategies.STRATEGIES))
        if self.kernel != "auto":
            kernels.get(self.kernel)
        check_choice("affinity", self.affinity, choices.AFFINITIES)
        self._check_shared()
        if self.threshold is not None and self.threshold != "auto":
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
            check_choice("reference", self.reference, ("auto", *eigen.REFERENCES))
        check_choice("merge", self.merge, strategies.MERGES)
        if self.max_cliques is not None:
            check_integer("max_cliques", self.max_cliques, 1)
        check_choice("disconnected", self.disconnected, strategies.DISCONNECTED)
        if self.refine is not None:
            check_choice("refine", self.refine, ("auto", *choices.REFINES))
            if self.refine == "likelihood":
                check_has_rows(self.affinity, "refine='likelihood'")
        check_flag("fit_shape", self.fit_shape)
        least = 1 if self.n_components == "auto" else int(self.n_components)
        landmarks.check_number(self.n_landmarks, least)
        if self.time_budget is not None:
            check_positive("time_budget", self.time_budget)
        check_integer("verbose", self.verbose, 0)
        check_random_state(self.random_state)

    def _check_shared(self) -> None:
        """Raise on what shared neighbours cannot be combined with."""
        if not isinstance(self.mutual, (bool, np.bool_)):
            check_choice("mutual", self.mutual, ("auto",))
        if self.affinity != "shared_neighbors":
            return
        if self.strategy == "eigen":
            raise ValueError(
                "strategy must be 'geodesic' or 'blockwise' for affinity='shared_neighbors', got "
                "'eigen'; most pairs share no neighbour, and only a graph does without them"
            )
        if self.threshold is not None and self.threshold != "auto":
            raise ValueError(
                "threshold must be 'auto' or None for affinity='shared_neighbors', got "
                f"{self.threshold!r}; the graph is that of n_neighbors"
            )

    def _check_input(self, X: Any) -> Any:
        """X as an array of floats (or a sparse precomputed matrix) that can be worked with."""
        precomputed = self.affinity == "precomputed"
        # In a table of counts a silent row is nothing unusual; elsewhere it is a mistake.
        self._counts = getattr(X, "dtype", np.dtype(float)).kind in "iub"
        X = validate_data(
            self,
            X,
            dtype=np.float64 if precomputed else [np.float64, np.float32],
            accept_sparse=["csr", "csc", "coo"] if precomputed else False,
        )
        check_enough_rows(X.shape[0])
        if precomputed:
            check_symmetric("a precomputed X", X)
            if sp.issparse(X) and self.n_neighbors is not None:
                check_no_neighbors(self.n_neighbors)
        else:
            check_enough_columns(X.shape[1], self.affinity)
        if self.n_components != "auto":
            check_components(int(self.n_components), X.shape[0])
        return X

    def _count_components(self, X: Any) -> Floats | None:
        """Set the number of coordinates, and return the spectrum that chose it."""
        if self.n_components != "auto":
            self.n_components_ = int(self.n_components)
            return None
        leading = min(_LEADING, X.shape[0] - 1)
        # Merged cliques have no spectrum of their own; the paths of their graph do.
        strategy = "geodesic" if self.strategy == "blockwise" else self.strategy
        first = clone(self).set_params(n_components=leading, strategy=strategy, refine=None)
        with warnings.catch_warnings():
            # Whatever there is to say about the graph, the fit itself will say.
            warnings.simplefilter("ignore", UserWarning)
            values = first.fit(X).eigenvalues_
        largest = min(_MOST_COMPONENTS, leading - 1)
        self.n_components_ = eigen.eigengap(values, largest=largest) if largest > 0 else 1
        return values

    def _fit(self, X: Any, stages: Stages) -> None:
        """Run the stages on checked input."""
        with stages("covariance"):
            evidence = None if self.affinity == "precomputed" else choices.examine(X)
            affinity, why = self._choose_affinity(X, evidence)
            source = pipeline.source_of(X, affinity, counts=self._counts)
        sparse_auto = source.sparse is not None and self.threshold == "auto"
        chosen = choices.choose(
            affinity=affinity,
            strategy=self.strategy,
            path=self.path,
            reference=self.reference,
            # What a sparse matrix stores is the graph; only a number thins it.
            threshold=None if sparse_auto else self.threshold,
            n_neighbors=self.n_neighbors,
            mutual=self.mutual,
            refine=self.refine,
            n_samples=source.n_samples,
            n_components=self.n_components_,
            evidence=evidence,
        )
        if why:
            chosen = replace(chosen, reasons={"affinity": why, **chosen.reasons})
        chosen, n_landmarks = self._for_many(chosen, source.n_samples)
        plan = strategies.Plan(
            strategy=chosen.strategy,
            kernel=kernels.get("squared_exponential" if self.kernel == "auto" else self.kernel),
            n_components=self.n_components_,
            path=chosen.path,
            reference=chosen.reference,
            merge=self.merge,
            max_cliques=self.max_cliques,
            n_landmarks=n_landmarks,
            random_state=self.random_state,
        )
        pipeline.require_memory(source.n_samples, plan)
        if plan.strategy == "eigen":
            fit = pipeline.fit_eigen(source, plan, stages)
        else:
            with stages("graph"):
                g = pipeline.graph_of(
                    source,
                    chosen.threshold,
                    chosen.n_neighbors,
                    mutual=chosen.mutual,
                    shared=affinity == "shared_neighbors",
                    neighbors=self.neighbors,
                    random_state=self.random_state,
                )
            strength = 1.0
            if affinity == "shared_neighbors" and chosen.n_neighbors is not None:
                strength /= chosen.n_neighbors + 1
            fit = pipeline.fit_graph(source, g, plan, self.disconnected, stages, strength=strength)
        self._store(X, source, chosen, evidence, self._polish(fit, X, source, chosen, stages))

    def _choose_affinity(self, X: Any, evidence: choices.Evidence | None) -> tuple[str, str]:
        """The affinity, and why if it was "auto"."""

        def measure_groups() -> float:
            with warnings.catch_warnings():
                # Silent rows are warned of once, when the rows of the choice are made.
                warnings.simplefilter("ignore", UserWarning)
                rows = covariance.unit_rows(X, allow_flat=self._counts)
            return choices.groups(rows)

        count, _ = landmarks.number(self.n_landmarks, X.shape[0], self.n_components_)
        return choices.choose_affinity(
            self.affinity,
            strategy=self.strategy,
            path=self.path,
            threshold=self.threshold,
            n_neighbors=self.n_neighbors,
            n_samples=X.shape[0],
            by_landmarks=count is not None and count < X.shape[0],
            evidence=evidence,
            measure_groups=measure_groups,
        )

    def _for_many(
        self, chosen: choices.Choice, n_samples: int
    ) -> tuple[choices.Choice, int | None]:
        """Number of landmarks, and a graph that grows with the points and not with their pairs."""
        reasons, count = dict(chosen.reasons), None
        if chosen.strategy != "blockwise":
            count, why = landmarks.number(self.n_landmarks, n_samples, self.n_components_)
            if why:
                reasons["n_landmarks"] = why
        chosen = replace(chosen, reasons=reasons)
        many = n_samples > landmarks.AUTO_POINTS
        if many and "threshold" in reasons and chosen.threshold is not None:
            k = choices.CLIQUE_NEIGHBORS
            reasons["threshold"] = f"none: too many of {n_samples} points would lie above one"
            reasons["n_neighbors"] = f"{k}: the graph grows with the points, not with their pairs"
            chosen = replace(chosen, threshold=None, n_neighbors=k)
        return chosen, count

    def _polish(
        self,
        fit: pipeline.Fit,
        X: Any,
        source: pipeline.Source,
        chosen: choices.Choice,
        stages: Stages,
    ) -> pipeline.Fit:
        """Refine the closed form."""
        if chosen.refine == "likelihood":
            return pipeline.polish_likelihood(
                fit,
                X,
                self.kernel if self.kernel == "auto" else fit.plan.kernel,
                stages,
                centred=chosen.affinity not in covariance.UNCENTRED,
                fit_shape=bool(self.fit_shape),
                time_budget=self.time_budget,
                verbose=self.verbose,
            )
        in_pieces = self.disconnected == "separate" and fit.labels.max(initial=0) > 0
        if chosen.refine == "stress" and fit.graph is not None and not in_pieces:
            return pipeline.polish_stress(
                fit, fit.graph, source, chosen.weights, chosen.threshold, stages
            )
        return fit

    def _store(
        self,
        X: Any,
        source: pipeline.Source,
        chosen: choices.Choice,
        evidence: choices.Evidence | None,
        fit: pipeline.Fit,
    ) -> None:
        """Keep what was learnt."""
        solution, plan, g = fit.solution, fit.plan, fit.graph
        embedding = solution.embedding
        # Placement works in double precision whatever the type of X.
        self.embedding_ = embedding.coordinates.astype(X.dtype, copy=False)
        self.eigenvalues_ = embedding.eigenvalues
        self.explained_variance_ratio_ = embedding.explained_variance_ratio
        self.negative_mass_ = embedding.negative_mass
        self.reference_: int | str = "center" if embedding.reference < 0 else embedding.reference
        self.strategy_ = plan.strategy
        self.affinity_ = chosen.affinity
        self.path_ = plan.path
        self.kernel_ = plan.kernel
        self.refine_ = chosen.refine if fit.n_iter else None
        self.threshold_ = chosen.threshold if g is not None else None
        self.n_neighbors_ = chosen.n_neighbors if g is not None else None
        self.graph_ = g
        self.cliques_: Blocks | None = solution.cliques
        self.merge_residuals_ = solution.residuals
        self.merge_order_ = solution.merge_order
        self.component_labels_ = fit.labels
        self.n_components_graph_ = int(fit.labels.max(initial=0)) + 1
        self.variance_ = source.variance
        self.standard_errors_ = fit.standard_errors
        self.n_iter_ = fit.n_iter
        self.choices_ = chosen.reasons
        self._noise = fit.noise
        self._X: Any = None if self.affinity == "precomputed" else X
        self._used = _evenly(X.shape[0])
        placement = newpoints.prepare(
            embedding.coordinates,
            solution.sq_dist,
            solution.landmarks,
            kernel=plan.kernel,
            path="direct" if plan.strategy == "eigen" and fit.n_iter == 0 else plan.path,
            n_neighbors=newpoints.walkable(
                chosen.n_neighbors or choices.AUTO_NEIGHBORS,
                trusted=chosen.affinity != "shared_neighbors"
                and (evidence is None or evidence.holds),
                threshold=chosen.threshold,
            ),
            threshold=chosen.threshold,
        )
        kept = solution.landmarks
        self.landmarks_ = None if kept is None else kept.nodes
        self.n_landmarks_ = None if kept is None else int(kept.nodes.size)
        self._placer = Placer(
            X,
            source.rows,
            placement,
            affinity=chosen.affinity,
            variance=source.variance,
            counts=self._counts,
            n_mutual=chosen.n_neighbors if chosen.affinity == "shared_neighbors" else None,
        )

    def _model(self) -> pipeline.Noise:
        """The generative model, fitted now if the fit left that out."""
        if self._noise is None:
            with limit_threads(self.n_jobs):
                self._noise = pipeline.explain(
                    self.embedding_[self._used].astype(np.float64),
                    self._X[self._used],
                    self.kernel_,
                    centred=self.affinity_ not in covariance.UNCENTRED,
                )
        return self._noise

    def _place(self, X: Any) -> tuple[Floats, Floats]:
        """Latent and residual of rows."""
        check_is_fitted(self)
        precomputed = self.affinity == "precomputed"
        X = validate_data(
            self,
            X,
            dtype=np.float64 if precomputed else self._X.dtype,
            reset=False,
            accept_sparse=["csr"] if precomputed else False,
        )
        with limit_threads(self.n_jobs):
            return self._placer.place(X, self.embedding_, self.verbose)


def _evenly(n_rows: int) -> NDArray[np.int64]:
    """Rows that stand for all of them in the generative model: all, or 2000 evenly spaced ones."""
    count = min(n_rows, pipeline.MODEL_POINTS)
    return np.linspace(0, n_rows - 1, count).astype(np.int64)
