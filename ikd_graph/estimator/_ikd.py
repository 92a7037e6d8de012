"""`IKD`, the scikit-learn estimator: stores, checks, calls, shows itself."""

from __future__ import annotations

import os
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted

from .. import _fit as pipeline
from .. import (
    blockwise,
    covariance,
    eigen,
    gplvm,
    graph,
    kernels,
    missing,
    model_selection,
    refine,
    strategies,
)
from .. import fingerprint as reproducible
from .._base import limits
from .._base.as_table import row_names
from .._base.dask import is_dask, placed_lazily
from .._base.progress import Stages
from .._base.table import evenly_spaced, rows_of, some_rows, whole_multiples
from .._base.threads import check_jobs, limit_threads
from .._base.types import Floats, Integers
from .._base.validation import (
    check_choice,
    check_components,
    check_integer,
    check_varies,
    few_rows,
    naming_rows,
    validate,
)
from .._base.validation import seed as check_seed
from .._base.warn import warn
from .._settings import Result, Settings
from ..cliques import Cliques
from ..column_relevance import ColumnRelevance
from ..eigen import REFERENCES
from ..graph import without_weights
from ..plotting import plot
from ..similarity import (
    AFFINITIES,
    GIVEN,
    KnownRows,
    PairwiseSimilarity,
    Similarity,
    compare,
    unique_rows,
)
from ..strategies import Strategy
from . import _model_file
from ._columns import columns_of, has_holes
from ._duplicates import expand_graph, expand_labels, expand_optima
from ._hints import with_hints
from ._input import ask_about_pairs, check_pairs, read
from ._notebook import model_html


class IKD(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Inverse kernel decomposition: hidden coordinates from the covariance between points.

    The closed-form, eigen-decomposition solver of the Gaussian-process latent variable model
    (Li & Wu 2024): the covariance between two rows of X estimates a stationary kernel of their
    hidden coordinates; the kernel is inverted to distances, and distances to coordinates. Small
    covariances carry no distance: only large ones are kept, and these form a weighted graph.

    Parameters
    ----------
    n_components : int or "auto"
        Number M of hidden coordinates, less than the number of points. "auto" takes up to seven
        that predict held-out columns (see `dimension.estimate`); with fewer than 20 columns, or no
        table, up to ten by the gaps in the spectrum of the closed form (see `eigen.eigengap`).
    strategy : {"auto", "geodesic", "blockwise", "eigen", "linear"} or strategy
        "geodesic" fills gaps of the graph with shortest paths; "blockwise" embeds each clique of
        the graph and merges them by rigid motions (Section 2.4); "eigen" inverts all covariances
        (Alg. 1); "linear" takes principal components. An object of `ikd_graph.strategies` has
        parameters of its own. "auto" is "geodesic", or "linear" where it predicts held-out
        columns at least as well; "eigen" (classical scaling) for distances of all pairs, and for
        covariances that are exactly those of the kernel.
    graph : "auto", float, int, rule or graph
        Which similarities are trusted. A float is a threshold of the similarity, an int a number of
        nearest neighbors; `graph.Threshold` and `graph.Neighbors` have parameters of their own. A
        networkx graph, a scipy sparse matrix or a `CsrGraph` is a graph of the rows of X, whose
        weights are similarities; nodes of networkx go with the rows of a data frame that have
        their names, see `graph.as_graph`. "auto" does not depend on the strategy: a threshold of
        five standard errors and six neighbors where X looks like samples of a Gaussian process,
        else ten neighbors.
    kernel : str or StationaryKernel
        "squared_exponential", "rational_quadratic", "gamma_exponential", "matern", or an instance
        from `ikd_graph.kernels`. Its ``length_scale`` is the unit of the embedding. "auto" takes
        the most likely of the four where the likelihood refines, else the squared exponential.
    affinity : {"auto", "correlation", "cosine", "covariance", "euclidean", \
            "standardized_euclidean", "hellinger", "shared_neighbors", "precomputed", \
            "precomputed_distance"}
        How rows of X are compared. "euclidean" is their distance d, which no kernel bends: an edge
        has the weight exp(-d^2 / (2 sigma^2)), with sigma^2 half the mean squared distance;
        "standardized_euclidean" the same of columns over their standard deviations; "hellinger" the
        cosine between square roots of counts; "shared_neighbors" the correlation times the root of
        the fraction of common neighbors (it separates groups but distorts continuous gradients).
        With "precomputed" X is the (n_samples, n_samples) covariance, dense, sparse (what is not
        stored is not known) or a networkx graph; it is divided by the standard
        deviations of both points. With "precomputed_distance" X is the matrix of distances, dense
        or sparse (what is not stored is not known), and the embedding is in their unit.
        "auto" is "correlation" where X looks like samples of a Gaussian process (N >= 100 columns),
        "hellinger" for small counts (multiples of one unit, some of them zero, ones common and the
        largest rare), else the one of "euclidean", "standardized_euclidean" and "correlation" (from
        20 columns on) that predicts held-out columns best (`candidates_`). Pixels, ratings and deep
        counts are measurements: name "hellinger" for counts in the hundreds.
    refine : {"auto", "stress", "likelihood", None} or refinement
        An optional second step. "stress" moves points to the distances of the graph's edges;
        "likelihood" maximizes the likelihood of the model, with a noise variance of its own;
        `refine.Stress` and `refine.Likelihood` have parameters of their own. "auto" is the
        likelihood where X looks like samples of a Gaussian process or where two halves of the
        columns do not agree (`agreement_`), else stress where there is a graph or where distances
        of all pairs were given.
    missing : {"error", "pairwise", "impute"} or rule
        What to do about NaN, masked entries and NA. "error" refuses them. "pairwise" compares every
        pair of rows over the columns that both have; pairs that share fewer than 20 columns
        (`missing.Pairwise` sets the number) are unknown, and nothing is filled in; of a sparse X
        a stored NaN is unknown, and what is not stored is zero. "impute", for holes at random,
        fills each in by the mean of the nearest rows (`missing.Impute`).
    n_landmarks : "auto", int, float or None
        Number or fraction of points that distances are measured from, so that memory grows with
        points times landmarks. None measures all; "auto" does so up to 10 000 points and takes 300
        landmarks beyond. For "geodesic"; "eigen" measures all, the others need none.
    n_jobs : int or None
        Number of threads, -1 for all cores. Results are the same for any number.
    random_state : int, RandomState or None
        Seed of the landmarks and of restarts. None is the seed 0: fits repeat without one.
    verbose : int
        1 shows a progress bar on a terminal.

    Attributes
    ----------
    embedding_ : (n_samples, n_components) ndarray of float64
        The coordinates, in units of the kernel's length-scale, or of the distances where distances
        were compared and no likelihood refines: centered, along principal axes, the
        widest first. Duplicate rows get the same coordinates. Float32 where X is.
    eigenvalues_ : (n_components,) ndarray of float64
        Eigenvalues of the Gram matrix of `embedding_`: squared lengths of its columns.
    explained_variance_ratio_ : (n_components,) ndarray of float64
        For "linear" the fraction of the variance of the rows as they are compared, as of principal
        components; else ``lambda_m^2 / sum_t lambda_t^2``, whose sum is Eq. 8 of the paper. A
        refined or merged embedding has M eigenvalues and no more: its ratios add up to 1.
    negative_mass_ : float or None
        Fraction of ``sum_t lambda_t^2`` in negative eigenvalues of the closed form: how far from
        Euclidean the inverted covariances are. None after a refinement.
    joints_ : Joints or SessionJoints or None
        For "blockwise" the joints between cliques (`blockwise.joints`), for sessions with other
        columns each whether one may be mirrored: what is fixed, and how surely. None otherwise.
        Computed when it is asked for, as is `fixed_`.
    fixed_ : (n_samples,) ndarray of str or None
        "fixed", "mirrored" or "free" for each row, relative to the largest part that is rigid.
    n_components_ : int
        Number of hidden coordinates.
    spectrum_ : (n_leading,) ndarray of float64
        Leading eigenvalues of the closed form that "auto" chose ``n_components`` by.
    kernel_ : StationaryKernel
        The kernel of `embedding_`; of distances the squared exponential of length-scale sigma:
        its covariances are the weights of the edges.
    graph_ : CsrGraph or None
        Graph of trusted similarities; None for "eigen" and "linear". Of duplicate rows the first
        has the edges and the others hang on it.
    removed_edges_ : (n_removed, 2) ndarray of int64 or None
        Edges that were pruned as short-circuit edges.
    component_labels_ : (n_samples,) ndarray of int64
        Connected component of each point before components were joined.
    cliques_ : Cliques or None
        The cliques that were solved ("blockwise"), a sequence of arrays of rows: ``len`` counts
        them, ``of_point`` finds those of a row, ``to_pandas`` makes a table. Of duplicate rows the
        first stands for all.
    merge_residuals_ : (n_samples,) ndarray of float64 or None
        How far the cliques of each point disagree about it before refinement ("blockwise").
    merge_start_weight_ : float or None
        Weight of the geodesic solution in the merge, all cliques having 1 ("blockwise").
    standard_errors_ : (n_samples, n_components) ndarray of float64
        Standard errors of the coordinates, after rigid alignment with the truth in units of the
        length-scale (see `ikd_graph.gplvm.posterior`). NaN where the fit has no Gaussian process;
        `settings_` says why. Computed in `fit` after a refinement by likelihood, else when first
        asked for.
    reliability_ : float
        R2 with the truth that the standard errors lead to expect, from 0 to 1, and no more than the
        agreement of two halves of the columns supports; NaN without standard errors. After a
        refinement by likelihood `fit` warns below 0.7.
    optima_ : tuple of OptimumRecord
        Local optima of the likelihood that were reached, the most likely first; their ``latent``
        has the rows and the frame of `embedding_`, NaN for rows outside the core.
    landmarks_ : (n_landmarks,) ndarray of int64 or None
        Rows that are landmarks.
    n_iter_ : int
        Steps of the refinement.
    settings_ : Settings
        The settings used, and for each that was "auto" the reason (`settings_.reasons`).
    candidates_ : tuple of Candidate
        What "auto" tried, the chosen one first, with the score of each and the R² of held-out
        columns.
    agreement_ : float
        Procrustes R² between embeddings of two halves of the columns, the mean of three splits;
        NaN where nothing rests on it, or with too few columns.
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
    >>> X = load_digits().data[:400]
    >>> IKD(n_components=2, graph=7).fit_transform(X).shape
    (400, 2)
    """

    _result: Result
    _fitted: gplvm.FittedProcess

    @with_hints
    def __init__(
        self,
        n_components: int | str = 2,
        *,
        strategy: str | Strategy = "auto",
        graph: Any = "auto",
        kernel: str | kernels.StationaryKernel = "auto",
        affinity: str = "auto",
        refine: str | refine.Stress | refine.Likelihood | None = "auto",
        missing: str = "error",
        n_landmarks: float | str | None = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.strategy = strategy
        self.graph = graph
        self.kernel = kernel
        self.affinity = affinity
        self.refine = refine
        self.missing = missing
        self.n_landmarks = n_landmarks
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @validate()
    def fit(self, X: ArrayLike, y: Any = None) -> IKD:
        """Find the coordinates of the rows of X.

        Parameters
        ----------
        X : (n_samples, n_features) array_like of float64
            Points in rows, or the (n_samples, n_samples) covariance for
            ``affinity="precomputed"``, dense, scipy sparse, or a networkx graph whose
            edges have their correlation in the attribute ``weight``. Large sparse tables of rows
            stay sparse. X is not changed, and changing it later does not change the model.
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
        with naming_rows(row_names(X)):
            return self._fit_or_restore(X)

    def _fit_or_restore(self, X: Any) -> IKD:
        """Fit, and leave what was fitted before as it was where that fails."""
        before = dict(vars(self))
        stages = Stages(self.verbose)
        try:
            settings = self._requested()
            # What a command did to the rows of a saved model was not done to X.
            self.__dict__.pop("preprocessor_", None)
            table = self._checked_input(X)
            if settings.n_components != "auto":
                check_components(int(settings.n_components), table.shape[0])
            if not isinstance(settings.graph, (str, graph.Rule)):
                weight = None if without_weights(settings.graph) else "weight"
                own = graph.as_graph(
                    settings.graph, table.shape[0], weight=weight, names=row_names(X)
                )
                settings = replace(settings, graph=own)
            with limit_threads(self.n_jobs):
                self._fit(table, settings, stages)
                _warn_of_neighbors(settings.graph, table.shape[0])
                with stages("error bars"):
                    self._report_errors()
        except BaseException:
            # What was fitted before stays as it was.
            self.__dict__ = before
            raise
        finally:
            stages.close()
        self.stage_times_ = stages.seconds
        return self

    @validate()
    def fit_transform(self, X: ArrayLike, y: Any = None) -> Any:
        """Find the coordinates of the rows of X and return them.

        Parameters
        ----------
        X : (n_samples, n_features) array_like of float64
            As for `fit`.
        y : ignored
            Present for the scikit-learn interface.

        Returns
        -------
        (n_samples, n_components) ndarray of float64
            The coordinates, `embedding_`.
        """
        return self.fit(X).embedding_

    @validate()
    def transform(self, X: ArrayLike, *, return_std: bool = False) -> Any:
        """Place rows in the embedding, each by itself.

        Parameters
        ----------
        X : (n_new, n_features) array_like of float64
            New rows, or their (n_new, n_samples) covariances or distances with the training rows
            where those were given.
        return_std : bool
            Also return the standard errors of the coordinates.

        Returns
        -------
        Z : (n_new, n_components) ndarray of float64
            Coordinates. A row that equals a training row gets the stored coordinates of that; any
            other is a weighted mean of its nearest training rows, or at its most likely position
            where a Gaussian process was fitted. A row that cannot be compared, such as one of
            zeros under "cosine", gets NaN, with a warning.
        std : (n_new, n_components) ndarray of float64
            Only with ``return_std``; as `standard_errors_`.

        """
        if is_dask(X) and not return_std:
            check_is_fitted(self)
            return placed_lazily(self, X)
        with naming_rows(row_names(X)):
            latent, _, std = self._place(self._read_new(X), errors=return_std)
        if return_std and (unknown := self._fitted.why_no_errors()):
            warn(f"the standard errors of all rows are NaN: {unknown}")
        return (latent, std) if return_std else latent

    @validate()
    def placement_residuals(self, X: ArrayLike) -> Floats:
        """How badly each row fits into the embedding.

        Parameters
        ----------
        X : (n_new, n_features) array_like of float64
            As for `transform`.

        Returns
        -------
        (n_new,) ndarray of float64
            In units of the embedding. A row that is like none of the training rows has a large one.
        """
        return self._place(self._read_new(X))[1]

    @validate()
    def inverse_transform(self, Z: ArrayLike, *, return_std: bool = False) -> Any:
        """Rows of X at given coordinates: the posterior mean of the Gaussian process.

        Parameters
        ----------
        Z : (n_new, n_components) array_like of float64
            Coordinates.
        return_std : bool
            Also return the standard deviation of the noise-free row, given the process and, where
            there are standard errors, what they leave open of the latent.

        Returns
        -------
        X : (n_new, n_features) ndarray of float64
            Rows; the mean row of the training data is given back with each.
        std : (n_new,) ndarray of float64
            Only with ``return_std``; the same for every column.

        Raises
        ------
        ValueError
            If covariances or distances were given, which know no rows.
        """
        check_is_fitted(self)
        self._require_rows("inverse_transform")
        points = check_array(Z, dtype=np.float64)
        width = self.embedding_.shape[1]
        if points.shape[1] != width:
            raise ValueError(
                f"Z must have the {width} columns of the embedding, got {points.shape[1]}; pass "
                "what transform returned"
            )
        with limit_threads(self.n_jobs):
            rows, std = self._fitted.predict(points, with_errors=return_std)
        return (rows, std) if return_std else rows

    @validate()
    def score(self, X: ArrayLike, y: Any = None) -> float:
        """Mean log likelihood of a column of X, the rows being where `transform` puts them.

        Parameters
        ----------
        X : (n, n_features) array_like of float64
            Rows, the training rows or others; at most 2000 are used, and none that `transform`
            gives NaN.
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
            As `inverse_transform` does, and where no row can be placed.
        """
        check_is_fitted(self)
        self._require_rows("score")
        rows = self._read_new(X)
        latent = self._place(rows)[0]
        if isinstance(missing.get(self.missing), missing.Impute):
            rows = missing.fill(rows, self._rows)
        placed = np.flatnonzero(np.isfinite(latent).all(axis=1))
        if not placed.size:
            raise ValueError(
                f"X must have a row that transform can place, got none of {len(rows)}; pass rows "
                "like those of the fit"
            )
        placed = placed[evenly_spaced(placed.size, limits.SAMPLED)]
        points = latent[placed].astype(np.float64)
        with limit_threads(self.n_jobs):
            return self._fitted.log_likelihood(rows[placed], points) / rows.shape[1]

    @validate()
    def noise_model(self) -> gplvm.NoiseModel:
        """Signal and noise variance, kernel and log likelihood of the Gaussian process.

        Without a refinement by likelihood they are fitted, to at most 2000 rows, when first asked
        for.

        Returns
        -------
        NoiseModel
            Variances in the units of X squared.

        Raises
        ------
        ValueError
            If covariances or distances were given, which know no rows.
        """
        check_is_fitted(self)
        self._require_rows("noise_model")
        with limit_threads(self.n_jobs):
            return self._fitted.noise_model()

    @validate()
    def log_likelihood(self) -> float:
        """Log likelihood of all columns of the rows the model was fitted to, duplicates once."""
        return float(self.noise_model().log_likelihood)

    def columns(self, X: Any = None, **options: Any) -> ColumnRelevance:
        """Find the columns that make the embedding; see `ikd_graph.columns`.

        Parameters
        ----------
        X : (n_samples, n_features) array_like, data frame or scipy sparse matrix, optional
            Columns of the same rows; by default those that the model was fitted to as the map sees
            them: correlations and cosines see rows of one length, correlations not their level.
        **options
            Passed on, such as ``where`` or ``names``. The errors are ``standard_errors_``. From
            20 columns on, those that the model was fitted to are judged on maps of at most 600 rows
            that are made without a quarter of the columns each; ``maps=()`` judges them on the
            embedding itself.

        Returns
        -------
        ColumnRelevance
            A row for each column, the best predicted first.

        Raises
        ------
        ValueError
            If covariances or distances were given and no X, or ``missing="pairwise"`` left values
            of the table unknown.

        Examples
        --------
        >>> X = np.random.default_rng(0).normal(size=(60, 20)).cumsum(axis=0)
        >>> len(IKD().fit(X).columns())
        20
        """
        check_is_fitted(self)
        with limit_threads(self.n_jobs):
            return columns_of(self, X, options)

    def plot(self, color: Any = None, **options: Any) -> Any:
        """Draw the embedding; see `ikd_graph.plotting.plot.embedding` for options.

        Standard errors are drawn where they have been computed: by the fit, or by a look at
        ``standard_errors_``.

        Parameters
        ----------
        color : (n_samples,) array_like, optional
            Classes, numbers or angles that color the points.
        **options
            Passed on, such as ``errors=None`` or ``period=360``.

        Returns
        -------
        matplotlib Axes
            The picture.

        Examples
        --------
        >>> import numpy as np
        >>> X = np.random.default_rng(0).normal(size=(60, 20)).cumsum(axis=0)
        >>> IKD().fit(X).plot(color=np.arange(60) > 30).get_xlabel()[:11]
        'dimension 1'
        """
        check_is_fitted(self)
        errors = self.standard_errors_ if "error bars" in self._fitted.computed else None
        axes = plot.embedding(self.embedding_, color, **{"errors": errors, **options})
        if self.fixed_ is not None:
            plot.mark_open(axes, np.asarray(self.embedding_, np.float64), self.fixed_ != "fixed")
        return axes

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file: arrays and JSON in one zip file, no pickle.

        The file appears whole or not at all. It holds the rows the model was fitted to, which new
        rows are compared with. A ``random_state`` that is a RandomState is not kept.

        Parameters
        ----------
        path : str or path-like
            Name of the file, such as ``"model.ikd"``; one that is there is replaced.

        Raises
        ------
        TypeError
            If the kernel is a custom one.

        Examples
        --------
        >>> import numpy as np
        >>> import tempfile, numpy as np
        >>> from ikd_graph import IKD
        >>> X = np.random.default_rng(0).normal(size=(30, 5))
        >>> model = IKD(strategy="geodesic", affinity="euclidean").fit(X)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(folder + "/model.ikd")
        ...     again = IKD.load(folder + "/model.ikd")
        >>> bool(np.all(again.transform(X + 0.1) == model.transform(X + 0.1)))
        True
        """
        check_is_fitted(self)
        _model_file.write(path, self)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> IKD:
        """Read a model that `save` wrote. Nothing in the file is run.

        Parameters
        ----------
        path : str or path-like
            Name of the file.

        Returns
        -------
        IKD
            The fitted estimator: it places rows where the saved one did.

        Raises
        ------
        ValueError
            If the file is not one of a model, is damaged, or was written in a newer format.
        """
        model: IKD = _model_file.read(path, cls)
        return model

    def _restore(
        self,
        rows: Any,
        scale: Any,
        digests: NDArray[np.uint8],
        inverse: Integers,
        equal: Integers,
        dtype: Any,
        learnt: dict[str, Any],
    ) -> None:
        """Become the model that was saved: rows are compared again, and the rest follows."""
        self.check_parameters()
        # The fit has said all there was to say.
        with warnings.catch_warnings(), limit_threads(self.n_jobs):
            warnings.simplefilter("ignore")
            similarity: Similarity
            if self._has_rows:
                rows = self._checked_input(rows)
                first = np.unique(inverse, return_index=True)[1]
                similarity = self._compare(some_rows(rows, first), learnt["settings"], first)
            else:
                similarity = compare(rows, self.affinity, scale=scale)
                self.n_features_in_ = rows.shape[1]
            result = Result(similarity=similarity, **learnt)
            self._store(rows, KnownRows(digests), result, inverse, equal, dtype)

    def check_parameters(self) -> None:
        """Raise if a parameter breaks a rule that needs no data to be known.

        Raises
        ------
        ValueError
            The message names the parameter, the rule and the cure.

        Examples
        --------
        >>> IKD(strategy="blockwise", graph=7).check_parameters()
        """
        self._requested()

    # Computed when it is asked for ----------------------------------------------------------------

    @property
    def joints_(self) -> blockwise.Joints | gplvm.SessionJoints | None:
        """What the cliques, or sessions with other columns each, leave open between them."""
        check_is_fitted(self, "embedding_")
        solution, known = self._result.solution, self._fitted.computed
        if "joints" not in known:
            joints: Any = self._result.sessions
            if joints is None and solution.solved is not None:
                with limit_threads(self.n_jobs):
                    joints = blockwise.joints(solution.solved, solution.embedding.coordinates)
            known["joints"] = joints and joints.of_rows(self._inverse)
        return known["joints"]

    @property
    def fixed_(self) -> NDArray[np.str_] | None:
        """Whether each row is "fixed", "mirrored" or "free", relative to the largest part."""
        joints = self.joints_
        return None if joints is None else joints.fixed

    # Checks ---------------------------------------------------------------------------------------

    @property
    def _has_rows(self) -> bool:
        """Whether X is a table of rows, and not values between points."""
        affinity: Any = self.affinity
        return not (isinstance(affinity, str) and affinity in GIVEN)

    def _require_rows(self, what: str) -> None:
        if not self._has_rows:
            raise ValueError(
                f"{what} must know the observations, got affinity={self.affinity!r}; fit the table "
                "itself, with affinity='correlation' or 'cosine'"
            )

    def _requested(self) -> Settings:
        """Check the parameters; a graph is taken with X."""
        size = self.n_components
        if not (isinstance(size, str) and size == "auto"):
            size = check_integer("n_components", size, 1, cure="'auto' chooses")
        strategy = _object("strategy", self.strategy, strategies.STRATEGIES, (Strategy,))
        refinement = self.refine
        if refinement is not None:
            kinds = refine.REFINEMENTS
            refinement = _object("refine", refinement, kinds, tuple(kinds.values()))
        if getattr(refinement, "needs_rows", False):
            self._require_rows("refine='likelihood'")
        if not (isinstance(self.kernel, str) and self.kernel == "auto"):
            kernels.get(self.kernel)
        affinity = check_choice("affinity", self.affinity, ("auto", *AFFINITIES, *GIVEN))
        rule = _graph_rule(self.graph)
        if getattr(rule, "fdr", None) is not None:
            check_choice("affinity", affinity, ("auto", "correlation", "covariance"))
            affinity = "correlation" if affinity == "auto" else affinity
        if affinity == "shared_neighbors" and (
            getattr(rule, "uses_values", False) or not getattr(strategy, "uses_graph", True)
        ):
            raise ValueError(
                "strategy must be 'geodesic' or 'blockwise' for affinity='shared_neighbors', and "
                f"graph must be a number of neighbors, got {strategy!r} and {self.graph!r}; only "
                "edges to neighbors are weighted"
            )
        strategies.check_landmarks(self.n_landmarks, 1 if size == "auto" else int(size))
        if missing.get(self.missing) is not None:
            self._require_rows(f"missing={self.missing!r}")
        if not isinstance(self.verbose, bool):
            check_integer("verbose", self.verbose, 0)
        check_jobs(self.n_jobs)
        if not isinstance(self.random_state, np.random.RandomState):
            check_seed("random_state", self.random_state)
        return Settings(
            n_components=size,
            strategy=strategy,
            graph=rule,
            kernel=self.kernel,
            affinity=affinity,
            refine=refinement,
            n_landmarks=self.n_landmarks,
            random_state=self.random_state,
        )

    def _checked_input(self, X: Any) -> Any:
        """X as an array of floats, a large sparse table, or a sparse precomputed matrix."""
        if not self._has_rows:
            X = read(
                self,
                X,
                dtype=np.float64,
                accept_sparse=["csr", "csc", "coo"],
                ensure_min_samples=2,
            )
            check_pairs(X, self.affinity)
            # A distance below 0 is one of 0 up to rounding.
            return abs(X) if self.affinity == "precomputed_distance" else X
        least = 2 if self.affinity == "auto" else AFFINITIES[self.affinity].least_columns
        X = read(
            self,
            X,
            dtype=[np.float64, np.float32],
            accept_sparse="csr",
            ensure_min_samples=2,
            ensure_min_features=least,
        )
        ask_about_pairs(X)
        X = rows_of(X)
        if missing.get(self.missing) is not None and isinstance(X, np.ndarray):
            missing.check_holes(X)
        return X

    # Fit and placement ----------------------------------------------------------------------------

    def _fit(self, table: Any, settings: Settings, stages: Stages) -> None:
        """Fit distinct rows, and keep what was learnt of all rows."""
        dtype = table.dtype
        if dtype == np.float32 and table.shape[0] <= limits.SOLVED_WHOLE:
            table = table.astype(np.float64)
        rule = missing.get(self.missing)
        rows = missing.fill(table, table) if isinstance(rule, missing.Impute) else table
        holes = isinstance(rule, missing.Pairwise) and has_holes(rows)
        first = inverse = equal = np.arange(rows.shape[0])
        # Pairs of rows of X have values of their own.
        noise: Any = getattr(settings.refine, "noise", None)
        paired = sp.issparse(rows) or np.ndim(noise) == 2
        if isinstance(settings.graph, graph.CsrGraph) or paired:
            distinct = rows
        else:
            first, inverse, equal = _distinct_rows(rows, settings.n_components)
            distinct = some_rows(rows, first)
            distinct = distinct if self._has_rows else distinct[:, first]
        if self._has_rows and isinstance(rows, np.ndarray) and not holes:
            _check_columns(rows)
        resolve = model_selection.resolve_pairwise if holes else model_selection.resolve
        settings = resolve(distinct, _with_reference(settings, inverse), stages)
        # Those of the pipeline, and similarity, placement and error bars.
        stages.expect(pipeline.count_stages(settings) + 3)
        for text in settings.warnings:
            warn(text)
        with stages("similarity"):
            try:
                similarity = self._compare(distinct, settings, first)
            except ValueError:
                # Rows that cannot be compared are named by their numbers in X.
                if not holes:
                    self._compare(rows, settings, first)
                raise
        if similarity.has_rows and equal.any():
            after = np.arange(1, first.size)
            if similarity.between(after - 1, after).min() > 1.0 - 1e-12:
                warn(
                    f"all {settings.affinity} similarities are 1 up to rounding: the embedding is "
                    "noise; subtract the mean of every column from X if it is large"
                )
        result = pipeline.fit(similarity, distinct, settings, stages)
        with stages("placement"):
            frame = eigen.principal_axes(result.coordinates[inverse]).coordinates
            result = replace(result, coordinates=frame[first])
            training = KnownRows.of(table if self._has_rows else sp.csr_array(table))
            # A copy: changing X after the fit changes nothing.
            rows = np.array(rows) if isinstance(rows, np.ndarray) and self._has_rows else rows
            self._store(rows, training, result, inverse, equal, dtype)
            self._warn_open()

    def _compare(self, rows: Any, settings: Settings, names: Integers) -> Similarity:
        """Compare rows, those with holes over the columns that both have."""
        rule = missing.get(self.missing)
        if not isinstance(rule, missing.Pairwise) or not has_holes(rows):
            # Among whole numbers a constant row is nothing unusual; elsewhere it is a mistake.
            few = evenly_spaced(rows.shape[0], limits.SAMPLED)
            counts = self._has_rows and whole_multiples(some_rows(rows, few)) is not None
            return compare(rows, settings.affinity, counts=counts, model_based=settings.model_based)
        least = rule.least(rows.shape[1])
        similarity = PairwiseSimilarity(AFFINITIES[settings.affinity], rows, least)
        similarity.check_groups(names)
        return similarity

    def _store(
        self,
        rows: Any,
        training: KnownRows,
        result: Result,
        inverse: Integers,
        equal: Integers,
        dtype: Any,
    ) -> None:
        """Keep what was learnt; the one function where distinct rows become all rows."""
        solution, settings, g = result.solution, result.settings, result.graph
        strategy, closed_form = settings.strategy, solution.embedding
        first = np.unique(inverse, return_index=True)[1]
        self._result, self._training = result, training
        self._first, self._inverse, self._equal = first, inverse, equal
        self._points = result.coordinates
        self._rows: Any = rows if self._has_rows else None
        self._fitted = gplvm.FittedProcess(
            self._points,
            self._rows,
            first,
            result.similarity,
            result.kernel,
            graph=g,
            core=result.core,
            model_based=settings.model_based,
            is_refined=result.n_iter is not None,
            is_local=getattr(settings.refine, "descent", "") == "local",
            is_linear=result.n_iter is None and not strategy.uses_kernel,
            random_state=settings.random_state,
        )
        every = self._points[inverse]
        self.embedding_ = every[equal].astype(dtype, copy=False)
        self.n_components_ = self.embedding_.shape[1]
        self.eigenvalues_ = np.sum(every**2, axis=0)
        ratio = closed_form.explained_variance_ratio
        refined = result.n_iter is not None
        if refined or first.size < inverse.size:
            total = 1.0 if refined else float(ratio.sum())
            squares = self.eigenvalues_ ** (2 if strategy.uses_kernel else 1)
            ratio = total * squares / (float(squares.sum()) or 1.0)
        self.explained_variance_ratio_ = ratio
        self.negative_mass_ = None if refined else closed_form.negative_mass
        spectrum = settings.spectrum
        self.spectrum_ = closed_form.eigenvalues if spectrum is None else spectrum
        self.kernel_: kernels.StationaryKernel = result.kernel
        self.settings_ = settings.explain(**result.notes)
        negative = getattr(result.similarity, "n_negative", 0)
        if negative:
            text = (
                f"{negative} of the pairs that are stored are negatively correlated, and no edges"
            )
            self.settings_ = self.settings_.explain(**{"negative correlations": text})
        self.candidates_ = settings.candidates
        self.agreement_ = settings.agreement
        self.graph_ = None if g is None else expand_graph(g, first, inverse)
        self.removed_edges_ = result.removed
        labels = np.zeros(first.size, dtype=np.int64) if result.labels is None else result.labels
        self.component_labels_ = expand_labels(labels, inverse)
        self._warn_components()
        self._warn_dominant()
        self.cliques_: Cliques | None = None
        self.merge_residuals_: Floats | None = None
        self.merge_start_weight_ = solution.start_weight
        if solution.solved is not None and solution.residuals is not None:
            self.cliques_ = Cliques(solution.solved.blocks.renamed(first), inverse.size)
            self.merge_residuals_ = solution.residuals[inverse]
        self.n_iter_ = result.n_iter or 0
        self.optima_: tuple[gplvm.OptimumRecord, ...] = ()
        if result.core is not None:
            self.optima_ = expand_optima(result.core, self._points, inverse)
        marks = solution.landmarks
        self.landmarks_ = None if marks is None else first[marks]

    def _warn_open(self) -> None:
        """Say which points given distances, or sessions, leave open.

        Noisy cliques of one table leave much open, which the geodesic solution settles.
        """
        has_unknown = isinstance(missing.get(self.missing), missing.Pairwise)
        joints = self.joints_ if self.affinity == "precomputed_distance" or has_unknown else None
        text = "" if joints is None else blockwise.describe_open(joints.fixed, joints.n_open)
        if text:
            self.settings_ = self.settings_.explain(joints=text)
            warn(text)

    def _warn_components(self) -> None:
        """Say that components were joined: a warning where the graph was named, else a reason."""
        sizes = np.bincount(self.component_labels_)
        if sizes.size < 2:
            return
        text = (
            f"the graph has {sizes.size} connected components (largest {int(sizes.max())} of "
            f"{int(sizes.sum())} points); they were joined by links between their nearest points, "
            "which alone fix their relative positions; more neighbors or a lower threshold leaves "
            "fewer"
        )
        self.settings_ = self.settings_.explain(components=text)
        if not isinstance(self.graph, str):
            warn(text)

    def _warn_dominant(self) -> None:
        """Warn of the few rows of X that make a dimension alone."""
        points, axis, fraction = eigen.dominant_points(self._points)
        if not points.size or not self._has_rows:
            return
        rows = np.flatnonzero(np.isin(self._inverse, points))
        text = (
            f"dimension {axis + 1} only tells row{'s' * (rows.size > 1)} {few_rows(rows)} from all "
            f"others ({fraction:.0%} of its variance); look at the values, and drop an error"
        )
        self.settings_ = self.settings_.add_warning(text)
        warn(text)

    @property
    def standard_errors_(self) -> Floats:
        """Standard errors of the coordinates, (n_samples, n_components)."""
        check_is_fitted(self)
        with limit_threads(self.n_jobs):
            return np.asarray(self._fitted.standard_errors()[self._inverse])

    @property
    def fingerprint_(self) -> str:
        """Few digits by which the embedding is recognized in any frame (`reproducible`)."""
        check_is_fitted(self)
        return reproducible.fingerprint(self.embedding_)

    @property
    def reliability_(self) -> float:
        """R² with the truth that the standard errors lead to expect."""
        check_is_fitted(self)
        with limit_threads(self.n_jobs):
            return self._fitted.reliability(self.agreement_)

    def _report_errors(self) -> None:
        """Say how reliable the embedding is, or why that is not known."""
        unknown, value = self._fitted.why_no_errors(), 1.0
        if unknown:
            text = f"there are no standard errors: {unknown}"
        elif self._result.core is None:
            text = "standard errors are computed when first asked for"
        else:
            value = self.reliability_
            text = (
                f"reliability {value:.2f}: the standard errors lead to expect an R² of about that "
                "with the truth"
            )
        self.settings_ = self.settings_.explain(**{"standard errors": text})
        if value < gplvm.TRUSTED:
            warn(
                f"the embedding has a reliability of {value:.2f}, below {gplvm.TRUSTED}: its "
                "standard errors are large (standard_errors_), and what it shows may not be there; "
                "measure more columns, or average rows that belong together"
            )

    def _read_new(self, X: Any) -> Any:
        """Return new rows as `_place` takes them."""
        check_is_fitted(self)
        dtype = self._rows.dtype if self._has_rows else np.float64
        X = read(self, X, dtype=dtype, reset=False, accept_sparse="csr")
        X = rows_of(X) if self._has_rows else X
        if isinstance(X, np.ndarray):
            # The bits of a product depend on how a row lies in memory.
            X = np.ascontiguousarray(X)
        return X

    def _place(self, X: Any, *, errors: bool = False) -> tuple[Floats, Floats, Floats]:
        """Coordinates and residual of rows, and standard errors where requested."""
        equal = self._training.find(X if self._has_rows else sp.csr_array(X))
        old, new = np.flatnonzero(equal >= 0), np.flatnonzero(equal < 0)
        latent = np.full((X.shape[0], self.embedding_.shape[1]), np.nan, self.embedding_.dtype)
        residual, std = np.full(X.shape[0], np.nan), np.full(latent.shape, np.nan)
        latent[old], residual[old] = self.embedding_[equal[old]], 0.0
        if errors:
            std[old] = self.standard_errors_[equal[old]]
        if not new.size:
            return latent, residual, std
        rows = some_rows(X, new)
        rows = rows if self._has_rows else rows[:, self._first]
        if isinstance(missing.get(self.missing), missing.Impute):
            rows = missing.fill(rows, self._rows)
        rule = missing.get(self.missing)
        least = rule.least(rows.shape[1]) if isinstance(rule, missing.Pairwise) else None
        with limit_threads(self.n_jobs):
            placed = self._fitted.place(rows, least, errors=errors, verbose=self.verbose)
        latent[new], residual[new], std[new] = placed
        silent = new[np.isnan(residual[new])]
        if silent.size:
            warn(
                f"{silent.size} of {X.shape[0]} rows cannot be compared with the training rows "
                f"({self._result.similarity.incomparable}) and get NaN: "
                f"{few_rows(silent, X.shape[0])}"
            )
        return latent, residual, std

    # What scikit-learn and notebooks ask ----------------------------------------------------------

    def _repr_html_inner(self) -> str:
        """Show a picture and reasons, before a fit the parameters."""
        shown = ""
        if hasattr(self, "_result"):
            shown = model_html(self)
        return shown or str(super()._repr_html_inner())

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        """Show the same to front ends that ask for all kinds at once."""
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)
        if "text/html" in bundle:
            bundle["text/html"] = self._repr_html_inner()
        return bundle

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "error"
        tags.input_tags.pairwise, tags.input_tags.sparse = (
            not self._has_rows,
            not isinstance(self.missing, missing.Impute) and self.missing != "impute",
        )
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self) -> int:
        return self.embedding_.shape[1]


def _object(name: str, value: Any, kinds: dict[str, Any], classes: tuple[type, ...]) -> Any:
    """Return the object that a name stands for, "auto", or the checked object itself."""
    if isinstance(value, classes):
        value.check()  # type: ignore[attr-defined]
        return value
    module = "strategies" if name == "strategy" else name
    check_choice(name, value, ("auto", *kinds), f", or an object from ikd_graph.{module}")
    return value if value == "auto" else kinds[value]()


def _graph_rule(value: Any) -> Any:
    """Rule of a graph, or a graph of the rows as it was given."""
    if value is None or isinstance(value, (str, bool, np.bool_)):
        if value != "auto":
            raise ValueError(
                "graph must be 'auto', a threshold in (0, 1), a number of neighbors, an object "
                f"from ikd_graph.graph, or a graph of the rows; got {value!r}"
            )
        return value
    if isinstance(value, (int, np.integer)):
        check_integer("graph", value, 1, cure="a whole number is one of neighbors")
        value = graph.Neighbors(int(value))
    elif isinstance(value, (float, np.floating)):
        if not 0.0 < value < 1.0:
            raise ValueError(
                f"graph must lie in (0, 1), got {value!r}, to be a threshold; a whole number is "
                "one of neighbors"
            )
        value = graph.Threshold(float(value))
    if isinstance(value, graph.Rule):
        value.check()
    return value


def _warn_of_neighbors(rule: Any, n_samples: int) -> None:
    """Warn of more neighbors than there are other points."""
    k = getattr(rule, "k", None)
    if isinstance(k, (int, np.integer)) and k >= n_samples:
        warn(
            f"graph={k} is more neighbors than the {n_samples - 1} other points: each point is "
            "joined to all of them"
        )


def _check_columns(rows: NDArray[np.floating]) -> None:
    """Raise if rows differ by rounding alone."""
    if not np.any(rows != rows[0]):
        check_varies(rows)
        return
    if not covariance.columns_vary(rows).any():
        raise ValueError(
            "columns of X must vary by more than rounding, got values that differ by less than "
            f"{covariance.ROUNDING:g} of their size; subtract the mean of every column, better "
            "where the data come from"
        )


def _distinct_rows(X: Any, n_components: int | str) -> tuple[Integers, Integers, Integers]:
    """First of every set of equal rows, which of those each row is, and the first equal row of X.

    Where they are too few to be solved by themselves, all rows are solved, each by itself.
    """
    first, inverse = unique_rows(X)
    equal = first[inverse]
    if first.size > (1 if n_components == "auto" else int(n_components)):
        return first, inverse, equal
    order = np.argsort(inverse, kind="stable")
    return order, np.argsort(order), equal


def _with_reference(settings: Settings, inverse: Integers) -> Settings:
    """Return settings with the reference point, which is a row of X, among the distinct rows."""
    reference = getattr(settings.strategy, "reference", "center")
    if isinstance(reference, str):
        return settings
    cure = f"it is a row of X, or one of {', '.join(map(repr, REFERENCES))}"
    check_integer("reference", reference, 0, inverse.size - 1, cure)
    own = {**settings.strategy.get_params(), "reference": int(inverse[int(reference)])}
    return replace(settings, strategy=type(settings.strategy)(**own))
