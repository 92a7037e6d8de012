"""`IKD`, the scikit-learn estimator: stores, checks, calls, shows itself."""

from __future__ import annotations

import os
from dataclasses import replace
from importlib import import_module
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from .. import (
    _limits,
    alignment,
    auto,
    blocks,
    covariance,
    generative,
    gplvm,
    graph,
    kernels,
    missing,
    pipeline,
    placement,
    refine,
    strategies,
    uncertainty,
)
from .._checks import (
    check_choice,
    check_components,
    check_enough_columns,
    check_enough_rows,
    check_integer,
    check_sparse,
    check_symmetric,
    check_unmasked,
    check_varies,
    few,
)
from .._records import CsrGraph
from .._settings import Result, Settings
from .._stages import Stages
from .._table import dense_rows, rows_of, some_rows, stored_values
from .._threads import limit_threads
from .._version import __version__
from .._warn import warn
from ..cliques import Cliques
from ..eigen import REFERENCES
from ..similarity import AFFINITIES, GIVEN, KnownRows, compare, unique_rows
from ..strategies import Strategy, landmarks
from . import _saved
from ._frame import expand_graph, expand_labels, standard_frame
from ._objects import as_table, is_dask, like, printable

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

_ALL_ALIKE = 1.0 - 1e-12
"""A similarity beyond which the fourth decimal of a distance is rounding."""

_DIAGONAL_ROUNDING = 1e-3
"""Share of the largest distance that rounding leaves on the diagonal (in float32, of roots)."""

FEWEST_COLUMNS = 20
"""Columns below which no Gaussian process places new rows: so few numbers leave many places."""


class IKD(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Inverse kernel decomposition: hidden coordinates from the covariance between points.

    The closed-form, eigen-decomposition solver of the Gaussian-process latent variable model
    (Li & Wu 2024): the covariance between two rows of X estimates a stationary kernel of their
    hidden coordinates; the kernel is inverted to distances, and distances to coordinates. Small
    covariances carry no distance: only large ones are kept, and these form a weighted graph.

    Parameters
    ----------
    n_components : int or "auto"
        Number M of hidden coordinates, less than the number of points. "auto" takes up to ten by
        the gaps in the spectrum of the closed form (see `eigen.eigengap`).
    strategy : {"auto", "geodesic", "blockwise", "eigen", "linear"} or strategy
        "geodesic" fills gaps of the graph with shortest paths; "blockwise" embeds each clique of
        the graph and merges them by rigid motions (Section 2.4); "eigen" inverts all covariances
        (Alg. 1); "linear" takes principal components. An object of `ikd_graph.strategies` has
        parameters of its own. "auto" is "geodesic", or "linear" where no other predicts held-out
        columns better.
    graph : "auto", float, int, rule or graph
        Which similarities are trusted. A float is a threshold of the similarity, an int a number of
        nearest neighbours; `graph.Threshold` and `graph.Neighbors` have parameters of their own. A
        networkx graph, a scipy sparse matrix or a `CsrGraph` is a graph of the rows of X, whose
        weights are similarities. "auto" does not depend on the strategy: a threshold of five
        standard errors and six neighbours where X looks like samples of a Gaussian process, else
        ten neighbours.
    kernel : str or StationaryKernel
        "squared_exponential", "rational_quadratic", "gamma_exponential", "matern", or an instance
        from `ikd_graph.kernels`. Its ``length_scale`` is the unit of the embedding. "auto" takes
        the likeliest of the four where the likelihood refines, else the squared exponential.
    affinity : {"auto", "correlation", "cosine", "covariance", "euclidean", \
            "standardized_euclidean", "hellinger", "shared_neighbors", "precomputed", \
            "precomputed_distance"}
        How rows of X are compared. "euclidean" is 1 - |x_i - x_j|^2 / (2 sigma^2);
        "standardized_euclidean" the same of columns over their standard deviations; "hellinger" the
        cosine between square roots of counts; "shared_neighbors" the correlation times the root of
        the share of common neighbours (it separates groups but distorts continuous gradients). With
        "precomputed" X is the (n_samples, n_samples) covariance, dense, sparse (what is not stored
        is not known) or a graph of networkx or igraph; it is divided by the standard deviations of
        both points. With "precomputed_distance" X is the matrix of distances, dense or sparse.
        "auto" is "correlation" where X
        looks like samples of a Gaussian process (N >= 100 columns), else the simplest that predicts
        held-out columns best (`candidates_`).
    refine : {"auto", "stress", "likelihood", None} or refinement
        An optional second step. "stress" moves points to the distances of the graph's edges;
        "likelihood" maximises the likelihood of the model, with a noise variance of its own;
        `refine.Stress` and `refine.Likelihood` have parameters of their own. "auto" is the
        likelihood where X looks like samples of a Gaussian process, else stress where there is a
        graph.
    missing : {"error", "pairwise"}
        What to do about NaN, masked entries and NA: refuse them, or compare rows over the columns
        that both have, and fill in what the embedding of those similarities expects.
    n_landmarks : "auto", int, float or None
        Number or fraction of points that distances are measured from, so that memory grows with
        points times landmarks. None measures all; "auto" does so up to 10 000 points and takes 300
        landmarks beyond. "blockwise" and "linear" need none.
    n_jobs : int or None
        Number of threads, -1 for all cores. Results are the same for any number.
    random_state : int, RandomState or None
        Seed of the landmarks and of restarts.
    verbose : int
        1 shows a progress bar on a terminal.

    Attributes
    ----------
    embedding_ : (n_samples, n_components) ndarray of float64
        The coordinates, in units of the kernel's length-scale: centred, along principal axes, the
        widest first. Duplicate rows get the same coordinates. Float32 where X is.
    eigenvalues_ : (n_components,) ndarray of float64
        Eigenvalues of the Gram matrix of `embedding_`: squared lengths of its columns.
    explained_variance_ratio_ : (n_components,) ndarray of float64
        For "linear" the share of the variance of the rows as they are compared, as of principal
        components; else ``lambda_m^2 / sum_t lambda_t^2``, whose sum is Eq. 8 of the paper. A
        refined or merged embedding has M eigenvalues and no more: its ratios add up to 1.
    negative_mass_ : float or None
        Share of ``sum_t lambda_t^2`` in negative eigenvalues of the closed form: how far from
        Euclidean the inverted covariances are. None after a refinement.
    closed_form_ : (n_samples, n_components) ndarray of float64
        Coordinates before refinement.
    n_components_ : int
        Number of hidden coordinates.
    spectrum_ : (n_leading,) ndarray of float64
        Leading eigenvalues of the closed form that "auto" chose ``n_components`` by.
    kernel_ : StationaryKernel
        The kernel of `embedding_`.
    graph_ : CsrGraph or None
        Graph of trusted similarities; None for "eigen" and "linear". Of duplicate rows the first
        has the edges and the others hang on it.
    removed_edges_ : (n_removed, 2) ndarray of int64 or None
        Edges that were pruned as short cuts.
    component_labels_ : (n_samples,) ndarray of int64
        Connected component of each point before components were joined.
    cliques_ : Cliques or None
        The cliques that were solved ("blockwise"), a sequence of arrays of rows: ``len`` counts
        them, ``of_point`` finds those of a row, ``to_pandas`` makes a table. Of duplicate rows the
        first stands for all.
    merge_residuals_ : (n_samples,) ndarray of float64 or None
        How far the cliques of each point disagree about it ("blockwise").
    merge_order_ : (n_merges, 3) ndarray of int64 or None
        Pairs of blocks merged and the points they shared ("blockwise").
    merge_start_share_ : float or None
        Weight of the geodesic solution in the merge, all cliques having 1 ("blockwise").
    standard_errors_ : (n_samples, n_components) ndarray of float64
        Standard errors of the coordinates, after rigid alignment with the truth in units of the
        length-scale (see `ikd_graph.uncertainty`). NaN where the fit has no Gaussian process;
        `settings_` says why. Computed in `fit` after a refinement by likelihood, else when first
        asked for.
    reliability_ : float
        R2 with the truth that the standard errors lead to expect, from 0 to 1; NaN without them.
        After a refinement by likelihood `fit` warns below 0.75.
    optima_ : tuple of OptimumRecord
        Local optima of the likelihood that were reached, the likeliest first.
    landmarks_ : (n_landmarks,) ndarray of int64 or None
        Rows that are landmarks.
    n_iter_ : int
        Steps of the refinement.
    settings_ : Settings
        The settings used, and for each that was "auto" the reason (`settings_.reasons`).
    candidates_ : tuple of Candidate
        What "auto" tried, the chosen one first, with the score of each.
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
    _noise: generative.NoiseModel | None
    _process: gplvm.Process | None
    _posterior: uncertainty.LatentPosterior | None
    _standard_errors: Floats | None

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

    def set_params(self, **params: Any) -> IKD:
        """Set parameters, also those of objects, such as ``strategy__path`` or ``kernel__nu``.

        Parameters
        ----------
        **params
            Values by name.

        Returns
        -------
        IKD
            The estimator. A kernel cannot be changed and is replaced.
        """
        nested = {name: params.pop(name) for name in list(params) if name.startswith("kernel__")}
        super().set_params(**params)
        if nested:
            if _is_auto(self.kernel):
                raise ValueError(
                    f"kernel must be a kernel to set {next(iter(nested))}, got 'auto'; pass one of "
                    "ikd_graph.kernels"
                )
            own = {name.removeprefix("kernel__"): value for name, value in nested.items()}
            self.kernel = kernels.get(self.kernel).with_params(**own)
        return self

    def fit(self, X: ArrayLike, y: Any = None) -> IKD:
        """Find the coordinates of the rows of X.

        Parameters
        ----------
        X : (n_samples, n_features) array_like of float64
            Points in rows, or the (n_samples, n_samples) covariance for
            ``affinity="precomputed"``, dense, scipy sparse, or a graph of networkx or igraph whose
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
        before = dict(vars(self))
        stages = Stages(self.verbose, total=6)
        try:
            asked = self._checked_settings()
            table = self._checked_input(X)
            asked = replace(
                asked,
                counts=self._counts,
                graph=self._own_graph(table) if self._has_own_graph else asked.graph,
            )
            with limit_threads(self.n_jobs):
                filled = table
                if self.missing == "pairwise":
                    filled = missing.fill(table, asked, stages)
                self._fit(table, filled, asked, stages)
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
            The coordinates, `embedding_`. An xarray array keeps the coordinates of its rows, and a
            `TsdFrame` of pynapple its times.
        """
        return like(X, self.fit(X).embedding_)

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
            zeros under "cosine", gets NaN, with a warning. Objects come back as from
            `fit_transform`.
        std : (n_new, n_components) ndarray of float64
            Only with ``return_std``; as `standard_errors_`.

        Raises
        ------
        ValueError
            If standard errors of a dask array are asked for.
        """
        if not is_dask(X):
            if not return_std:
                return like(X, self._place(X)[0])
            latent, _, std = self._place(X, errors=True)
            return like(X, latent), std
        from ..distributed import place

        if return_std:
            raise ValueError(
                "return_std must be False for a dask array, got True; pass its blocks one by one"
            )

        check_is_fitted(self)
        return place(self, X, self.embedding_.shape[1], self.embedding_.dtype)

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
        return self._place(X)[1]

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
            rows, std = generative.reconstruct(
                points, self._points, self._rows[self._first], self.noise_model()
            )
            if return_std and not _scales_values(self._result):
                known = self._latent_posterior()
                if known is not None:
                    std = np.hypot(
                        std, uncertainty.row_deviations(self._sampled_process(), known, points)
                    )
        return (rows, std) if return_std else rows

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
            As `inverse_transform` does.
        """
        check_is_fitted(self)
        self._require_rows("score")
        latent, rows = self._place(X)[0], X
        if self.missing == "pairwise":
            rows = missing.fill_new(
                self._read(X, dtype=np.float64, reset=False),
                self._rows,
                self._result.similarity.name,
            )
        placed = np.flatnonzero(np.isfinite(latent).all(axis=1))
        rows = check_array(
            rows, dtype=np.float64, accept_sparse="csr", ensure_all_finite="allow-nan"
        )
        latent, rows = latent[placed], rows_of(rows[placed])
        centred = self._result.similarity.centres_rows
        with limit_threads(self.n_jobs):
            return generative.log_likelihood(self.noise_model(), latent, rows, centred=centred)

    def noise_model(self) -> generative.NoiseModel:
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
        if self._noise is None:
            sample = generative.evenly_spaced(self._first.size, _limits.GENERATIVE)
            cov = gplvm.sample_covariance.unchecked(
                self._rows[self._first[sample]], centered=self._result.similarity.centres_rows
            )
            with limit_threads(self.n_jobs):
                self._noise = generative.fit_noise_model(
                    self._points[sample], cov, self._rows.shape[1], self.kernel_
                )
        return self._noise

    def log_likelihood(self) -> float:
        """Log likelihood of all columns of the rows the model was fitted to, duplicates once."""
        return float(self.noise_model().log_likelihood)

    def plot(self, color: Any = None, **options: Any) -> Any:
        """Draw the embedding; see `ikd_graph.show.plot.embedding` for options.

        Parameters
        ----------
        color : (n_samples,) array_like, optional
            Classes, numbers or angles that colour the points.
        **options
            Passed on, such as ``errors=model.standard_errors_`` or ``period=360``.

        Returns
        -------
        matplotlib Axes
            The picture.

        Examples
        --------
        >>> X = np.random.default_rng(0).normal(size=(60, 20)).cumsum(axis=0)
        >>> IKD().fit(X).plot(color=np.arange(60) > 30).get_xlabel()[:11]
        'dimension 1'
        """
        check_is_fitted(self)
        draw = import_module("ikd_graph.show.plot").embedding
        return draw(self.embedding_, color, **options)

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
            If the kernel is one of your own.

        Examples
        --------
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
        _saved.write(path, {**vars(self), "_process": None})

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
        model = cls()
        model.__dict__.update(_saved.read(path, cls))
        return model

    # Checks ---------------------------------------------------------------------------------------

    def _checked_settings(self) -> Settings:
        """What was asked for, or ValueError on a parameter that breaks a rule."""
        if not _is_auto(self.n_components):
            check_integer("n_components", self.n_components, 1, cure="'auto' chooses")
        strategy: Any = self.strategy
        if not _is_auto(strategy):
            if isinstance(strategy, str):
                check_choice("strategy", strategy, ("auto", *strategies.STRATEGIES))
            strategy = strategies.get(strategy)
        if not _is_auto(self.kernel):
            kernels.get(self.kernel)
        check_choice("affinity", self.affinity, ("auto", *AFFINITIES, *GIVEN))
        if (
            self.affinity == "shared_neighbors"
            and not _is_auto(strategy)
            and not strategy.uses_graph
        ):
            raise ValueError(
                "strategy must be 'geodesic' or 'blockwise' for affinity='shared_neighbors', "
                f"got {strategy.name!r}; most pairs share no neighbour"
            )
        refinement: Any = self.refine
        if isinstance(refinement, str) and refinement != "auto":
            check_choice("refine", refinement, ("auto", *refine.REFINEMENTS))
            refinement = refine.REFINEMENTS[refinement]()
        elif refinement is not None and not isinstance(refinement, str):
            kinds = tuple(refine.REFINEMENTS.values())
            if not isinstance(refinement, kinds):
                raise ValueError(
                    "refine must be 'auto', 'stress', 'likelihood', None or an object from "
                    f"ikd_graph.refine; got {refinement!r}"
                )
            refinement.check()
        if isinstance(refinement, refine.Likelihood):
            self._require_rows("refine='likelihood'")
        landmarks.check_number(
            self.n_landmarks, 1 if self.n_components == "auto" else int(self.n_components)
        )
        check_choice("missing", self.missing, ("error", "pairwise"))
        if self.missing == "pairwise":
            self._require_rows("missing='pairwise'")
        check_integer("verbose", self.verbose, 0)
        jobs = self.n_jobs
        if jobs is not None and (
            not isinstance(jobs, Integral) or isinstance(jobs, bool) or not jobs
        ):
            raise ValueError(
                f"n_jobs must be None or a whole number other than 0, got {jobs!r}; -1 is all cores"
            )
        try:
            check_random_state(self.random_state)
        except ValueError as error:
            raise ValueError(
                "random_state must be None, a whole number from 0 to 2**32 - 1 or a numpy "
                f"RandomState; {error}"
            ) from None
        rule, affinity = self._graph_rule(), self.affinity
        if isinstance(rule, graph.Threshold) and rule.fdr is not None:
            check_choice("affinity", affinity, ("auto", "correlation", "covariance"))
            affinity = "correlation" if affinity == "auto" else affinity
        return Settings(
            n_components=self.n_components,
            strategy=strategy,
            graph=rule,
            kernel=self.kernel,
            affinity=affinity,
            refine=refinement,
            n_landmarks=self.n_landmarks,
            random_state=self.random_state,
        )

    @property
    def _has_own_graph(self) -> bool:
        """Whether ``graph`` is a graph of the rows, and not a rule."""
        rule = (str, float, int, np.number, np.bool_, graph.Threshold, graph.Neighbors)
        return self.graph is not None and not isinstance(self.graph, rule)

    def _graph_rule(self) -> Any:
        """Rule of the graph; one that is a graph itself is taken once X is known."""
        value = rule = self.graph
        if _is_auto(value) or self._has_own_graph:
            return "auto"
        if value is None or isinstance(value, (str, bool, np.bool_)):
            raise ValueError(
                "graph must be 'auto', a threshold in (0, 1), a number of neighbours, an object "
                f"from ikd_graph.graph, or a graph of the rows; got {value!r}"
            )
        if isinstance(value, (int, np.integer)):
            rule = graph.Neighbors(int(value))
        elif isinstance(value, (float, np.floating)):
            rule = graph.Threshold(float(value))
        rule.check()
        if self.affinity == "shared_neighbors" and isinstance(rule, graph.Threshold):
            raise ValueError(
                f"graph must be a number of neighbours for affinity='shared_neighbors', got "
                f"{value!r}; only neighbours are weighted"
            )
        return rule

    def _own_graph(self, X: Any) -> CsrGraph:
        """The given graph of the rows of X."""
        return graph.as_graph(self.graph, X.shape[0])

    def _require_rows(self, what: str) -> None:
        if not self._has_rows:
            raise ValueError(
                f"{what} must know the observations, got affinity={self.affinity!r}; fit the table "
                "itself, with affinity='correlation' or 'cosine'"
            )

    @property
    def _has_rows(self) -> bool:
        """Whether X is a table of rows, and not values between points."""
        affinity: Any = self.affinity
        return not (isinstance(affinity, str) and affinity in GIVEN)

    def _checked_input(self, X: Any) -> Any:
        """X as an array of floats, or a sparse precomputed matrix, that can be worked with."""
        X = as_table(X, pairs=not self._has_rows)
        # In a table of counts a silent row is nothing unusual; elsewhere it is a mistake.
        self._counts = getattr(X, "dtype", np.dtype(float)).kind in "iub"
        X = self._read(
            X,
            dtype=[np.float64, np.float32] if self._has_rows else np.float64,
            accept_sparse="csr" if self._has_rows else ["csr", "csc", "coo"],
        )
        check_enough_rows(X.shape[0])
        if self._has_rows:
            X = rows_of(X)
            least = 2 if self.affinity == "auto" else AFFINITIES[self.affinity].least_columns
            check_enough_columns(X.shape[1], self.affinity, least)
            check_varies(stored_values(X))
        else:
            X = self._checked_pairs(X)
        if self.n_components != "auto":
            check_components(int(self.n_components), X.shape[0])
        return X

    def _checked_pairs(self, X: Any) -> Any:
        """Values of pairs; raise where they are distances and covariances are due, or other way."""
        if not sp.issparse(X):
            check_symmetric("a precomputed X", X)
        # Whatever is stored; a covariance is not larger than both variances.
        stored = X.tocoo() if sp.issparse(X) else None
        values = X if stored is None else stored.data
        diagonal = X.diagonal() if stored is None else stored.data[stored.row == stored.col]
        rounding = _DIAGONAL_ROUNDING * float(np.abs(values).max(initial=0.0))
        zeros = diagonal.size > 0 and bool(np.abs(diagonal).max() <= rounding)
        if self.affinity == "precomputed":
            if zeros and rounding > 0.0:
                raise ValueError(
                    "X must hold covariances, with variances on the diagonal, for "
                    "affinity='precomputed', got a diagonal of zeros, as distances have; "
                    "affinity='precomputed_distance' takes those"
                )
            return X
        least = float(values.min(initial=0.0))
        if (diagonal.size and not zeros) or least < -rounding:
            raise ValueError(
                "X must hold distances, with zeros on the diagonal and no negative values, for "
                f"affinity='precomputed_distance'; got a largest value of "
                f"{np.abs(diagonal).max(initial=0.0):.3g} on the diagonal and a smallest value of "
                f"{least:.3g}; affinity='precomputed' takes covariances"
            )
        return abs(X) if least < 0.0 else X

    def _read(self, X: Any, **options: Any) -> Any:
        """X by scikit-learn's rules, with NaN for what is missing where that may be."""
        check_sparse("X", X)
        gaps = self.missing == "pairwise" and self._has_rows
        if gaps and sp.issparse(X):
            raise ValueError(
                "missing must be 'error' for sparse rows, got 'pairwise'; what a sparse X does not "
                "store is zero, not missing: pass missing='error', or a dense X with NaN"
            )
        if gaps and isinstance(X, np.ma.MaskedArray):
            X = np.ma.filled(X.astype(np.float64), np.nan)
        check_unmasked("X", X)
        try:
            X = validate_data(self, X, ensure_all_finite="allow-nan", **options)
        except ValueError as error:
            # It may tell names of columns, which must not write to a terminal.
            raise ValueError(printable(str(error))) from None
        known = X.data if sp.issparse(X) else X
        # NaN in one entry is NaN in the sum: nothing of the size of X is made.
        some_missing = not gaps and bool(np.isnan(np.sum(known)))
        if some_missing and not self._has_rows:
            raise ValueError(
                f"Input X contains NaN: got {np.count_nonzero(np.isnan(known))} pairs that are not "
                "known; pass a scipy sparse matrix that stores only what is known"
            )
        if not self._has_rows:
            return X
        if some_missing:
            rows = (
                np.unique(sp.coo_array(X).row[np.isnan(known)])
                if sp.issparse(X)
                else (np.flatnonzero(np.isnan(X).any(axis=1)))
            )
            raise ValueError(
                f"Input X contains NaN: every value must be known, got {rows.size} rows with some "
                f"missing: {few(rows)}; pass missing='pairwise', drop those rows, or impute"
            )
        # Moments of larger values would be infinite, of smaller ones zero.
        largest = float(
            np.fmax(
                np.fmax.reduce(known, None, initial=0.0), -np.fmin.reduce(known, None, initial=0.0)
            )
        )
        if largest > 0.0 and not 1e-70 <= largest <= 1e70:
            raise ValueError(
                f"the largest value of X must lie between 1e-70 and 1e+70, got {largest:g}; "
                "multiply X by a power of ten"
            )
        return X

    # Fit and placement ----------------------------------------------------------------------------

    def _fit(self, table: Any, filled: Any, asked: Settings, stages: Stages) -> None:
        """Fit distinct rows, and keep what was learnt of all rows."""
        n = filled.shape[0]
        dense = self._has_rows and isinstance(filled, np.ndarray)
        if dense and np.any(filled != filled[0]) and not covariance.columns_vary(filled).any():
            raise ValueError(
                "columns of X must vary by more than rounding, got values that differ by less than "
                f"{covariance.ROUNDING:g} of their size; subtract the mean of every column, better "
                "where the data come from"
            )
        first = inverse = equal = np.arange(n)
        if self._has_rows and not self._has_own_graph:
            first, inverse, equal = _distinct_rows(filled, self.n_components)
        rows = filled if first is inverse else some_rows(filled, first)
        asked = _seen_among(asked, inverse)
        settings, self.candidates_ = auto.resolve(rows, asked, stages)
        with stages("similarity"):
            try:
                similarity = compare(rows, settings.affinity, counts=settings.counts)
            except ValueError:
                # Rows that cannot be compared are named by their numbers in X.
                compare(filled, settings.affinity, counts=settings.counts)
                raise
        if similarity.has_rows and first.size > 1:
            after = np.arange(1, first.size)
            if similarity.between(after - 1, after).min() > _ALL_ALIKE and not (equal == 0).all():
                warn(
                    f"all {settings.affinity} similarities are 1 up to rounding: the embedding is "
                    "one place or noise; subtract the mean of every column from X if it is large"
                )
        result = pipeline.fit(similarity, rows, settings, stages)
        with stages("placement"):
            self._store(table, filled, result, first, inverse, equal)

    def _store(
        self,
        X: Any,
        rows: Any,
        result: Result,
        first: Indices,
        inverse: Indices,
        equal: Indices,
    ) -> None:
        """Keep what was learnt; the one place where distinct rows become all rows."""
        solution, refined, settings = result.solution, result.refined, result.settings
        strategy = settings.strategy
        frame = standard_frame(result.coordinates, inverse, turn=not result.separate)
        begin = frame
        if refined is not None:
            begin = standard_frame(result.embedding.coordinates, inverse, turn=not result.separate)
        position = np.empty(first.size, dtype=np.int64)
        position[inverse[::-1]] = np.arange(inverse.size)[::-1]
        points = frame.coordinates[position]
        self._result, self._first, self._inverse = result, first, inverse
        self._rows: Any = None
        if self._has_rows:
            # A copy: changing X after the fit changes nothing.
            self._rows = np.array(rows) if isinstance(rows, np.ndarray) else rows
        self._points = points
        self._noise = self._process = self._posterior = self._standard_errors = None
        if (
            isinstance(refined, refine.CoreFit)
            and refined.core.size == first.size
            and not _scales_values(result)
        ):
            self._noise = _noise_of(refined.fit)
        self._known = KnownRows(X if self._has_rows else sp.csr_array(X))
        dtype = X.dtype
        self.embedding_ = frame.coordinates[equal].astype(dtype, copy=False)
        self.closed_form_ = begin.coordinates[equal].astype(dtype, copy=False)
        self.n_components_ = self.embedding_.shape[1]
        self.eigenvalues_ = frame.eigenvalues
        ratio = result.embedding.explained_variance_ratio
        if refined is not None or first.size < inverse.size:
            total = 1.0 if refined is not None else float(ratio.sum())
            squares = frame.eigenvalues ** (1 if strategy.name == "linear" else 2)
            ratio = total * squares / (float(squares.sum()) or 1.0)
        self.explained_variance_ratio_ = ratio
        self.negative_mass_ = None if refined is not None else result.embedding.negative_mass
        self.spectrum_ = (
            result.embedding.eigenvalues if result.spectrum is None else result.spectrum
        )
        self.kernel_ = result.kernel
        self.settings_ = settings
        g = result.graph
        self.graph_ = None if g is None else expand_graph(g, first, inverse)
        labels = np.zeros(first.size, dtype=np.int64) if result.labels is None else result.labels
        self.component_labels_ = expand_labels(labels, inverse)
        self._warn_components(labels, inverse)
        self.removed_edges_ = result.removed
        self._store_cliques(result, points, first, inverse)
        fit: Any = refined.fit if isinstance(refined, refine.CoreFit) else refined
        self.n_iter_ = 0 if fit is None else fit.n_iter
        self.optima_ = getattr(fit, "optima", ())
        marks = solution.landmarks
        self.landmarks_ = None if marks is None else first[marks]
        self._placement = placement.prepare(
            points,
            g,
            result.similarity,
            result.kernel,
            trusted=bool(settings.trusted)
            and strategy.name != "linear"
            and settings.affinity != "precomputed_distance",
            linear=strategy.name == "linear" and refined is None,
        )

    def _store_cliques(
        self, result: Result, points: Floats, first: Indices, inverse: Indices
    ) -> None:
        """Keep the cliques and how far they disagree about each point."""
        solved = result.solution.solved
        self.cliques_: Cliques | None = None
        self.merge_residuals_: Floats | None = None
        self.merge_order_ = result.solution.merge_order
        self.merge_start_share_ = result.solution.start_share
        if solved is None or result.graph is None:
            return
        self.cliques_ = Cliques(solved.blocks.renamed(first), inverse.size)
        residuals = result.solution.residuals
        if result.refined is not None or residuals is None:
            if result.kernel != pipeline.closed_form_kernel(result.settings):
                reference = result.settings.strategy.reference
                solved = blocks.solve.unchecked(
                    result.graph, solved.blocks, result.kernel, points.shape[1], reference
                )
            residuals = alignment.residuals.unchecked(solved, points)
        self.merge_residuals_ = residuals[inverse]

    def _warn_components(self, labels: Indices, inverse: Indices) -> None:
        """Say that components were joined: a warning where the graph was named, else a reason."""
        sizes = np.bincount(labels[inverse])
        if sizes.size < 2:
            return
        rule = self._result.settings.graph
        what = (
            f"the graph has {sizes.size} connected components (largest {int(sizes.max())} of "
            f"{int(sizes.sum())} points); "
        )
        if getattr(rule, "disconnected", "join") == "separate":
            what += (
                "they were laid side by side, so that distances between them mean nothing; "
                "disconnected='join' links them"
            )
        else:
            what += (
                "they were joined by links between their nearest points, which alone fix their "
                "relative positions; more neighbours or a lower threshold leaves fewer"
            )
        self._result.settings.reasons["components"] = what
        if not _is_auto(self.graph):
            warn(what)

    @property
    def standard_errors_(self) -> Floats:
        """Standard errors of the coordinates, (n_samples, n_components)."""
        check_is_fitted(self)
        known = self._latent_posterior()
        if known is None:
            return np.full((self._inverse.size, self._points.shape[1]), np.nan)
        if self._standard_errors is None:
            used = self._sampled()
            others = np.setdiff1d(np.arange(len(self._points)), used)
            errors = np.empty(self._points.shape)
            errors[used] = known.standard_errors
            errors[others] = self._errors_of(self._modelled(others), self._points[others])
            self._standard_errors = errors
        return np.asarray(self._standard_errors[self._inverse])

    @property
    def reliability_(self) -> float:
        """R² with the truth that the standard errors lead to expect."""
        check_is_fitted(self)
        known = self._latent_posterior()
        if known is None:
            return float("nan")
        return uncertainty.reliability(self._points[self._sampled()], known.standard_errors)

    def _report_errors(self) -> None:
        """Say how reliable the embedding is, or why that is not known."""
        reasons = self._result.settings.reasons
        missing_for = self._no_errors_because()
        if missing_for:
            reasons["standard errors"] = f"there are no standard errors: {missing_for}"
            return
        if not isinstance(self._result.refined, refine.CoreFit):
            reasons["standard errors"] = "standard errors are computed when first asked for"
            return
        value = self.reliability_
        reasons["standard errors"] = (
            f"reliability {value:.2f}: the standard errors lead to expect an R² of about that "
            "with the truth"
        )
        if value < uncertainty.TRUSTED:
            warn(
                f"the embedding has a reliability of {value:.2f}, below {uncertainty.TRUSTED}: its "
                "standard errors are large (standard_errors_), and what it shows may not be there; "
                "measure more columns, or average rows that belong together"
            )

    def _no_errors_because(self) -> str:
        """Why there are no standard errors; nothing where there are."""
        result = self._result
        if not self._has_rows:
            return "they need the rows, and values between points were given"
        if isinstance(result.refined, refine.CoreFit):
            return ""
        if result.separate:
            return "components of the graph were laid side by side"
        if self._rows.shape[1] < FEWEST_COLUMNS:
            return f"they need at least {FEWEST_COLUMNS} columns, got {self._rows.shape[1]}"
        if not result.settings.trusted:
            return (
                "the columns were not taken for samples of a Gaussian process; "
                "refine='likelihood' takes them for that"
            )
        return ""

    def _sampled(self) -> Indices:
        """Distinct rows whose posterior is sampled."""
        refined = self._result.refined
        if isinstance(refined, refine.CoreFit):
            return refined.core
        return generative.evenly_spaced(self._first.size, uncertainty.MAX_POINTS)

    def _modelled(self, numbers: Indices) -> Floats:
        """Some of the distinct rows as the model sees them."""
        rows = dense_rows(some_rows(self._rows, self._first[numbers]))
        return np.asarray(self._result.similarity.modelled(rows), dtype=np.float64)

    def _latent_posterior(self) -> uncertainty.LatentPosterior | None:
        """Where the truth of the sampled rows may be; None where that is not known."""
        if self._posterior is None and not self._no_errors_because():
            seed = self._result.settings.random_state
            seed = int(seed) if isinstance(seed, (int, np.integer)) else None
            with limit_threads(self.n_jobs):
                self._posterior = uncertainty.posterior(
                    self._sampled_process(), seed, optima=[end.latent for end in self.optima_[1:]]
                )
        return self._posterior

    def _sampled_process(self) -> gplvm.Process:
        """The process of the sampled rows, in units of the kernel of the embedding."""
        used = self._sampled()
        if isinstance(self._result.refined, refine.CoreFit):
            return self._condition(used, _noise_of(self._result.refined.fit))
        rows = self._modelled(used)
        cov = gplvm.sample_covariance(rows, centered=self._result.similarity.centres_rows)
        fitted = gplvm.fit_variances.unchecked(self._points[used], cov, rows.shape[1], self.kernel_)
        return self._condition(used, generative.NoiseModel(*fitted, self.kernel_))

    def _condition(self, used: Indices, noise: generative.NoiseModel) -> gplvm.Process:
        """The process given some of the distinct rows."""
        return gplvm.condition.unchecked(
            self._points[used],
            self._modelled(used),
            noise.kernel,
            noise.variance,
            noise.noise,
            centred=self._result.similarity.centres_rows,
        )

    def _errors_of(self, rows: NDArray[np.floating], places: NDArray[np.floating]) -> Floats:
        """Standard errors of places of modelled rows that are not among the sampled ones."""
        known = self._latent_posterior()
        if known is None or not len(places):
            return np.full(places.shape, np.nan)
        with limit_threads(self.n_jobs):
            return np.sqrt(
                uncertainty.place_variances(
                    self._sampled_process(), known, rows, places.astype(np.float64)
                )
            )

    def _place(self, X: Any, *, errors: bool = False) -> tuple[Floats, Floats, Floats]:
        """Coordinates and residual of rows, and standard errors where asked for."""
        check_is_fitted(self)
        similarity = self._result.similarity
        X = self._read(
            as_table(X, pairs=not self._has_rows),
            dtype=self._rows.dtype if self._has_rows else np.float64,
            reset=False,
            accept_sparse="csr",
        )
        X = rows_of(X) if self._has_rows else X
        if isinstance(X, np.ndarray):
            # The bits of a product depend on how a row lies in memory.
            X = np.ascontiguousarray(X)
        equal = self._known.find(X if self._has_rows else sp.csr_array(X))
        known, new = np.flatnonzero(equal >= 0), np.flatnonzero(equal < 0)
        latent = np.full((X.shape[0], self.embedding_.shape[1]), np.nan, self.embedding_.dtype)
        residual, std = np.full(X.shape[0], np.nan), np.full(latent.shape, np.nan)
        latent[known], residual[known] = self.embedding_[equal[known]], 0.0
        if errors:
            std[known] = self.standard_errors_[equal[known]]
        if not new.size:
            return latent, residual, std
        fresh = X if new.size == X.shape[0] else some_rows(X, new)
        if self.missing == "pairwise":
            fresh = missing.fill_new(fresh, self._rows, similarity.name)
        comparable = similarity.comparable(fresh)
        if not comparable.all():
            silent = new[~comparable]
            warn(
                f"{silent.size} of {X.shape[0]} rows cannot be compared with the training rows "
                f"(all zero, constant, or too few values) and get NaN: {few(silent)}"
            )
            new, fresh = new[comparable], some_rows(fresh, np.flatnonzero(comparable))
        if new.size:
            with limit_threads(self.n_jobs):
                latent[new], residual[new] = placement.place(
                    self._placement,
                    similarity,
                    fresh,
                    process=self._fitted_process(),
                    verbose=self.verbose,
                )
            if errors:
                std[new] = self._errors_of(
                    self._result.similarity.modelled(dense_rows(fresh)), latent[new]
                )
        return latent, residual, std

    def _fitted_process(self) -> gplvm.Process | None:
        """The process that places new rows; None where the embedding is not one of the model."""
        refined = self._result.refined
        if self._process is not None or refined is None or not self._has_rows:
            return self._process
        if self._rows.shape[1] < FEWEST_COLUMNS:
            return None
        core = refined.core if isinstance(refined, refine.CoreFit) else None
        used = np.arange(self._first.size) if core is None else core
        if used.size > _limits.PLACED_BY_PROCESS or not (
            core is not None or self._result.settings.trusted
        ):
            return None
        noise = (
            _noise_of(refined.fit) if isinstance(refined, refine.CoreFit) else self.noise_model()
        )
        self._process = self._condition(used, noise)
        return self._process

    # What scikit-learn and notebooks ask ----------------------------------------------------------

    def _repr_html_inner(self) -> str:
        """What a notebook shows: a picture and reasons, before a fit the parameters."""
        shown = ""
        if hasattr(self, "_result"):
            # It stands on a floor above this one.
            shown = import_module("ikd_graph.show.notebook").model_html(self)
        return shown or str(super()._repr_html_inner())

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        """The same for front ends that ask for all kinds at once."""
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)
        if "text/html" in bundle:
            bundle["text/html"] = self._repr_html_inner()
        return bundle

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_ikd_graph_version": __version__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        version = state.pop("_ikd_graph_version", "an older version")
        if version != __version__ and "_result" in state:
            warn(
                f"this IKD was pickled by ikd_graph {version} and is read by {__version__}, which "
                "may place rows elsewhere; fit it again, or keep models with IKD.save and IKD.load"
            )
        super().__setstate__(state)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "pairwise"
        tags.input_tags.pairwise, tags.input_tags.sparse = (
            not self._has_rows,
            self.missing == "error",
        )
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self) -> int:
        return self.embedding_.shape[1]


def _is_auto(value: Any) -> bool:
    """Whether a value is the word; arrays are compared entry by entry."""
    return isinstance(value, str) and value == "auto"


def _noise_of(fit: Any) -> generative.NoiseModel:
    """The process that a refinement by likelihood fitted."""
    return generative.NoiseModel(fit.variance, fit.noise, fit.log_likelihood, fit.kernel)


def _scales_values(result: Result) -> bool:
    """Whether the likelihood saw other values than those of X."""
    affinity = result.similarity.affinity
    return affinity.square_roots or affinity.scales_columns


def _distinct_rows(X: Any, n_components: int | str) -> tuple[Indices, Indices, Indices]:
    """First of every set of equal rows, which of those each row is, and the first equal row of X.

    Where they are too few to be solved by themselves, all rows are solved, each by itself.
    """
    first, inverse = unique_rows(X)
    equal = first[inverse]
    least = 2 if n_components == "auto" else int(n_components) + 1
    if first.size >= least:
        return first, inverse, equal
    order = np.argsort(inverse, kind="stable")
    return order, np.argsort(order), equal


def _seen_among(asked: Settings, inverse: Indices) -> Settings:
    """Settings with the reference point, which is a row of X, among the distinct rows."""
    strategy = asked.strategy
    if not isinstance(strategy, Strategy) or isinstance(strategy.reference, str):
        return asked
    check_integer(
        "reference",
        strategy.reference,
        0,
        inverse.size - 1,
        f"it is a row of X, or one of {', '.join(map(repr, REFERENCES))}",
    )
    own = strategy.get_params()
    own["reference"] = int(inverse[int(strategy.reference)])
    return replace(asked, strategy=type(strategy)(**own))
