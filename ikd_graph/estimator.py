"""`IKD`, the scikit-learn estimator: stores, checks, calls, delegates."""

from __future__ import annotations

import functools
import html
import os
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from copy import copy, deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from . import (
    _model_file,
    blockwise,
    fingerprint,
    gplvm,
    graph,
    kernels,
    missing,
    refine,
    results,
    similarity,
)
from ._base import limits
from ._base import validation as check
from ._base.as_table import as_table, check_known, row_names, rows_by_name, without_counts
from ._base.dask_tables import any_row, is_dask, placed_lazily, sample_rows
from ._base.files import write_whole
from ._base.format import printable, setting
from ._base.progress import Stages
from ._base.table import rows_of
from ._base.threads import limit_threads
from ._base.types import Floats, Integers
from ._base.warn import no_warnings, warn
from .cliques import Cliques
from .maps.columns import ColumnRelevance, rows_on_map
from .maps.columns import columns as find_columns
from .maps.dubious import NEW_ROWS, DubiousRows
from .maps.dubious import dubious as find_dubious
from .maps.loadings import Loadings, chosen_columns
from .model import Model
from .plotting import colors, plot
from .settings import Candidate, Settings
from .similarity import AFFINITIES, GIVEN
from .strategies import Strategy
from .trust import Trust

__all__ = ["IKD"]


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
        five standard errors, the 150 strongest edges of a point, and six neighbors where X looks
        like samples of a Gaussian process, else ten neighbors.
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
        "likelihood" maximizes the likelihood of the model, with a noise variance of its own,
        and on a graph stress runs before it;
        `refine.Stress` and `refine.Likelihood` have parameters of their own. "auto" is the
        likelihood where X looks like samples of a Gaussian process or where two halves of the
        columns do not agree (`agreement_`), else stress where rows have a graph or where distances
        of all pairs were given, and none for covariances that were given.
    missing : {"error", "pairwise", "impute"} or rule
        What to do about NaN, masked entries and NA. "error" refuses them. "pairwise" compares every
        pair of rows over the columns that both have; pairs that share fewer than 20 columns
        (`missing.Pairwise` sets the number) are unknown. What "auto" chooses is judged on a copy
        that is filled in, and error bars come from it. Of a sparse X a stored NaN is unknown, and
        what is not stored is zero. "impute", for holes at random, fills each in by the mean of the
        nearest rows (`missing.Impute`).
    n_landmarks : "auto", int, float or None
        Number or fraction of points that distances are measured from, so that memory grows with
        points times landmarks. None measures all; "auto" does so up to 2 000 points and takes 300
        landmarks, or 50 for each coordinate, beyond. For "geodesic"; "eigen" measures all, the
        others need none.
    n_jobs : int or None
        Number of threads, -1 for all cores. Results are the same for any number.
    random_state : int, RandomState or None
        Seed of the landmarks, of restarts, and of the sample of a table of Dask. None is the seed
        0: fits repeat without one.
    verbose : int
        1 shows stage and time on a terminal, and a line for each stage elsewhere.

    Attributes
    ----------
    embedding_ : (n_samples, n_components) ndarray of float64
        The coordinates, in units of the kernel's length-scale, or of the distances where distances
        were compared and no likelihood refines: centered, along principal axes, the
        widest first. Duplicate rows get the same coordinates. Float32 where X is. Of a table of
        Dask a dask array, computed block by block.
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
        `settings_` says why. Computed when first asked for.
    reliability_ : float
        R2 with the truth that the standard errors lead to expect, from 0 to 1, and no more than the
        most of `agreements_` supports (`ikd_graph.gplvm.supported_r2`); NaN without standard
        errors. After a refinement by likelihood `fit` warns where the columns allow no 0.7.
    residuals_ : (at most 500,) ndarray of float64
        Residuals of evenly spaced rows of the fit, each placed by the others: what
        `placement_residuals` of new rows is compared with. Empty where values between points were
        given. Computed when asked for.
    trust_ : Trust
        What can be read on the embedding (``verdict``), and what that rests on: the p value of
        ``chance``, which says whether there is more structure than by chance, `agreements_`,
        `reliability_`, `checks_`, and of `optima_` the ``rivals`` that the columns cannot tell from
        what is shown. It is computed when asked for or when the model is printed, which says the
        verdict.
    checks_ : ModelChecks or None
        What the model leaves unexplained: whether one more coordinate, noise that follows along
        rows or a factor that rows share would explain more than chance (`gplvm.ModelChecks`).
        Where it does, a warning names the cure, and standard errors and reliability are NaN. None
        where the likelihood tells no standard errors. Computed with them.
    optima_ : tuple of OptimumRecord
        Local optima of the likelihood that were reached, the most likely first, with ``z``, what
        each lacks of the largest log likelihood in standard errors, and ``weight``, the chance that
        it would be the likeliest on other columns, by which it counts in the standard errors; their
        ``latent`` has the rows and the frame of `embedding_`, NaN for rows outside the core.
    landmarks_ : (n_landmarks,) ndarray of int64 or None
        Rows that are landmarks.
    sample_indices_ : (n_sampled,) ndarray of int64 or None
        Rows of a table of Dask that the model was fitted to, ascending: one of each of 10 000
        stretches, or all of no more rows. Of what has a value for each row, `embedding_` alone is
        of all rows, and the rest of these. None of a table in memory.
    n_iter_ : int
        Steps of the refinement.
    settings_ : Settings
        The settings used, and for each that was "auto" the reason (`settings_.reasons`).
    candidates_ : tuple of Candidate
        What "auto" tried, the chosen one first, with the score of each and the R² of held-out
        columns; of one that was behind, or alone ahead, by the first folds of the columns.
    agreement_ : float
        Procrustes R² between maps of two halves of the columns, the mean of `agreements_`: whether
        the arrangement is there.
    agreements_ : (3,) ndarray of float64
        The same of each of three splits, whose range says how sure the mean is. Halves of at most
        400 rows are embedded by the settings of the fit; by an annealed likelihood at most 250,
        from two closed forms, under the kernel of the fit. Holes are filled in for it. NaN with too
        few columns, or without any. Computed when asked for where the fit did not need it, as is
        `held_out_r2_`.
    held_out_r2_ : float
        R² of a quarter of the columns, predicted by the ten nearest rows in the map of the others,
        made as a half is, the mean over four quarters: what the map predicts. NaN as `agreement_`.
    stage_times_ : dict of str to float
        Seconds per stage of the last fit.
    model_ : Model
        What all of this comes from: distinct rows, their similarity and points (`ikd_graph.model`).
    n_features_in_ : int
        Number of columns of X.

    References
    ----------
    C. Li and A. Wu, Inverse Kernel Decomposition, Transactions on Machine Learning Research, 2024.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from ikd_graph import IKD
    >>> IKD(n_components=2, graph=7).fit_transform(load_wine().data).shape
    (178, 2)
    """

    _doc_link_module = "ikd_graph"
    _doc_link_template = (
        "https://ikd-graph.readthedocs.io/page/generated/ikd_graph.{estimator_name}.html"
    )

    model_: Model
    embedding_: Floats
    n_components_: int
    eigenvalues_: Floats
    explained_variance_ratio_: Floats
    negative_mass_: float | None
    spectrum_: Floats
    kernel_: kernels.StationaryKernel
    settings_: Settings
    candidates_: tuple[Candidate, ...]
    n_iter_: int
    removed_edges_: Integers | None
    graph_: graph.CsrGraph | None
    component_labels_: Integers
    cliques_: Cliques | None
    merge_residuals_: Floats | None
    merge_start_weight_: float | None
    optima_: tuple[gplvm.OptimumRecord, ...]
    landmarks_: Integers | None
    sample_indices_: Integers | None = None
    _row_names: Any = ()

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

    @check.validate()
    def fit(self, X: ArrayLike, y: Any = None) -> IKD:
        """Find the coordinates of the rows of X.

        Parameters
        ----------
        X : (n_samples, n_features) array_like of float64
            Points in rows, or the (n_samples, n_samples) covariance for
            ``affinity="precomputed"``, dense, scipy sparse, or a networkx graph whose
            edges have their correlation in the attribute ``weight``. Large sparse tables of rows
            stay sparse. X is not changed, and changing it later does not change the model. Of a
            dask array or data frame at most 10 000 rows are fitted (`sample_indices_`), and
            `embedding_` places all rows once it is computed.
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
        with Stages(self.verbose) as stages:
            before = vars(self).copy()
            try:
                asked = Settings.of(self)
                if isinstance(self.random_state, np.random.RandomState):
                    asked = replace(asked, random_state=int(self.random_state.randint(2**31)))
                if is_dask(X) and asked.has_rows:
                    self._fit_sample(X, asked, stages)
                else:
                    self._fit(X, asked, stages, row_names(X))
            except BaseException:
                self.__dict__ = before
                raise
        self.stage_times_ = stages.seconds
        return self

    def fit_transform(self, X: ArrayLike, y: Any = None) -> Floats:
        """Find the coordinates of the rows of X and return them.

        Parameters
        ----------
        X : (n_samples, n_features) array_like of float64
            As for `fit`.
        y : ignored
            Present for the scikit-learn interface.

        Returns
        -------
        (n_samples, n_components) ndarray of float64 or dask array
            The coordinates, a copy of `embedding_`.
        """
        return self.fit(X).embedding_.copy()

    @check.validate()
    def transform(self, X: ArrayLike, *, return_std: bool = False) -> Any:
        """Place rows in the embedding, each by itself.

        Parameters
        ----------
        X : (n_new, n_features) array_like of float64
            New rows, their columns matched by name where those of the fit had names; or their
            (n_new, n_samples) covariances or distances with the training rows, where those were
            given.
        return_std : bool
            Also return the standard errors of the coordinates.

        Returns
        -------
        Z : (n_new, n_components) ndarray of float64, or dask array where X is of Dask
            Coordinates. A row that equals a training row gets the stored coordinates of that; any
            other is a weighted mean of its nearest training rows, a projection where the fit is
            linear, or at its most likely position where a refined fit is one of a Gaussian process.
            A row that cannot be compared, such as one of zeros under "cosine", gets NaN, with a
            warning.
        std : (n_new, n_components) ndarray of float64
            Only with ``return_std``; as `standard_errors_`.

        """
        check_is_fitted(self)
        if is_dask(X) and not return_std:
            # What is wrong with the columns is said before anything is computed.
            self._read(any_row(X), self.model_.asked, new=True)
            return placed_lazily(self._of_fitted_rows(), X)
        latent, _, std = self._place(X, errors=return_std)
        return (latent, std) if return_std else latent

    @check.validate()
    def placement_residuals(self, X: ArrayLike) -> Floats:
        """How badly each row fits the rows of the fit.

        Compare with `residuals_`: rows from elsewhere have larger ones than most of these.

        Parameters
        ----------
        X : (n_new, n_features) array_like of float64
            As for `transform`.

        Returns
        -------
        (n_new,) ndarray of float64
            What the rows next to a row leave unexplained of its squared distance from the mean
            row, or of the mean of that over the rows of the fit where it is less: 0 for a copy of a
            row of the fit, about 1 or more for a row that is like none of them.
        """
        return self._place(X)[1]

    @check.validate()
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
        with self._learnt("inverse_transform") as model:
            rows, std = model.predict(self._read_points(Z), with_errors=return_std)
        return (rows, std) if return_std else rows

    @check.validate()
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
        with self._learnt("score") as model:
            return model.score(self._read(X, model.asked, new=True), verbose=self.verbose)

    @check.validate()
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
        with self._learnt("noise_model") as model:
            return model.predictions.noise_model

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
        with self._learnt() as model:
            own: dict[str, Any] = {"errors": self.standard_errors_}
            if X is None:
                model.asked.require_rows("columns")
                X = rows_on_map(model.rows, AFFINITIES[self.settings_.affinity])
                own["names"] = getattr(self, "feature_names_in_", None)
                if "maps" not in options:
                    own["maps"] = model.held_out_maps()
            Z = pd.DataFrame(model.embedding, self._row_names if len(self._row_names) else None)
            X = rows_by_name("X", X, self._row_names, "the fit")
            return find_columns(Z, X, **{**own, **options})

    @check.validate()
    def loadings(self, Z: ArrayLike | None = None, columns: Any = None) -> Loadings:
        """Find which columns change where, in which direction, and how surely.

        The derivatives of `inverse_transform` at points of the map, in closed form.

        Parameters
        ----------
        Z : (n_points, n_components) array_like of float64, optional
            Points; by default the rows.
        columns : sequence of str or int, optional
            Names or positions of columns of X; by default all.

        Returns
        -------
        Loadings
            Derivatives of the columns with standard errors, see `ikd_graph.loadings`.

        Raises
        ------
        ValueError
            If covariances or distances were given, which know no rows, or the kernel has no
            derivative at distance 0.

        Examples
        --------
        >>> import numpy as np
        >>> X = np.random.default_rng(0).normal(size=(60, 20)).cumsum(axis=0)
        >>> IKD().fit(X).loadings(columns=[3, 7]).values.shape
        (60, 2, 2)
        """
        with self._learnt("loadings") as model:
            points = self._read_points(model.embedding if Z is None else Z)
            kernels.differentiable("the kernel of the model", self.kernel_)
            usual = [f"x{k}" for k in range(self.n_features_in_)]
            names = np.array(getattr(self, "feature_names_in_", usual), object)
            chosen = chosen_columns(columns, names)
            posteriors, spread = model.predictions.posteriors(chosen), model.spread()
        rows = self._row_names if Z is None else row_names(Z)
        return Loadings(points, tuple(names[chosen]), posteriors, spread, rows)

    @check.validate(new=NEW_ROWS)
    def dubious(
        self, X: Any = None, *, new: tuple[ArrayLike, Any] | None = None, **options: Any
    ) -> DubiousRows:
        """Find rows whose neighbors on the embedding the columns contradict.

        Parameters
        ----------
        X : (n_samples, n_features) array_like, data frame or scipy sparse matrix, optional
            Columns of the same rows; by default those that the model was fitted to, compared as the
            map compares them.
        new : (Z_new, X_new), optional
            Coordinates of new rows (`transform`), and these as `transform` takes them: the result
            is about these.
        **options
            Passed on to `ikd_graph.dubious`.

        Returns
        -------
        DubiousRows
            p values of the rows, which of them are dubious, and by how much.

        Raises
        ------
        ValueError
            If covariances or distances were given and no X, or the table is too small.

        Examples
        --------
        >>> X = np.random.default_rng(0).normal(size=(60, 20)).cumsum(axis=0)
        >>> IKD().fit(X).dubious().n_dubious
        0
        """
        with self._learnt() as model:
            if X is None:
                model.asked.require_rows("dubious")
                X = getattr(model.rows, "stored", model.rows)
                options = {"affinity": self.settings_.affinity, **options}
            if new is not None:
                rows, names = self._read(new[1], model.asked, new=True), row_names(new[1])
                rows = getattr(rows, "stored", rows)
                new = new[0], pd.DataFrame(rows, names) if len(names) else rows
            Z = pd.DataFrame(model.embedding, self._row_names if len(self._row_names) else None)
            X = rows_by_name("X", X, self._row_names, "the fit")
            return find_dubious(Z, X, new=new, **options)

    @plot.labels_are_color
    def plot(self, color: Any = None, **options: Any) -> Any:
        """Draw the embedding; see `ikd_graph.plotting.plot.embedding` for options.

        Standard errors are drawn where the columns look like samples of a Gaussian process, on
        which they rest, and where they have been computed: by the fit, or by a look at
        ``standard_errors_``.

        Parameters
        ----------
        color : (n_samples,) array_like, optional
            Classes, numbers, times or angles that color the points; ``labels=`` is another name
            of it. By default the index of the data frame that was fitted, where that is a clock
            or rising or falling numbers: consecutive rows are then joined.
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
        known = self.model_.computed.error_bars is not None
        believed = self.settings_.model_based and known
        errors = self.standard_errors_ if believed else None
        if color is None and isinstance(self._row_names, pd.Index):
            color = colors.paint_index(self._row_names)
        Z = self.model_.embedding
        axes = plot.embedding(Z, color, **{"errors": errors, **options})
        if self.fixed_ is not None:
            plot.mark_open(axes, np.asarray(Z, np.float64), self.fixed_ != "fixed")
        return axes

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file: arrays and JSON in one zip file, no pickle.

        The file appears whole or not at all. It holds the rows the model was fitted to (of a table
        of Dask the sample, whose coordinates the loaded ``embedding_`` has), which new rows are
        compared with, and the parameters of the fit, whatever they were set to since. A
        ``random_state`` that is a RandomState is not kept.

        Parameters
        ----------
        path : str or path-like
            Name of the file, such as ``"model.ikd"``; one that is there is replaced, and what a
            link leads to.

        Raises
        ------
        TypeError
            If the kernel is a custom one.

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
        write_whole(path, functools.partial(_model_file.write, self))

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
        Settings.of(self)

    @property
    def joints_(self) -> blockwise.Joints | gplvm.SessionJoints | None:
        """What the cliques, or sessions with other columns each, leave open between them."""
        with self._learnt() as model:
            return deepcopy(model.joints)

    @property
    def fixed_(self) -> NDArray[np.str_] | None:
        """Whether each row is "fixed", "mirrored" or "free", relative to the largest part."""
        return getattr(self.joints_, "fixed", None)

    @property
    def standard_errors_(self) -> Floats:
        """Standard errors of the coordinates, (n_samples, n_components)."""
        with self._learnt() as model:
            return model.standard_errors()[model.inverse]

    @property
    def fingerprint_(self) -> str:
        """Few digits by which the embedding is recognized in any frame (`fingerprint`)."""
        check_is_fitted(self)
        return fingerprint.fingerprint(self.model_.embedding)

    @property
    def reliability_(self) -> float:
        """R² with the truth that the standard errors lead to expect."""
        with self._learnt() as model:
            return model.reliability()

    @property
    def trust_(self) -> Trust:
        """What can be read on the embedding, and the numbers, checks and rivals behind it."""
        with self._learnt() as model:
            return Trust.of(self, model.chance())

    def __dir__(self) -> Iterable[str]:
        """Return the names of all attributes; to ask for their values would compute them."""
        return object.__dir__(self)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """Return the parameters that were set; of a fitted model also what can be read on it."""
        text: str = super().__repr__(N_CHAR_MAX)
        return f"{text}\n{verdict}" if (verdict := self._verdict()) else text

    def _html_repr(self) -> str:
        """Return the diagram of notebooks; of a fitted model below what can be read on it."""
        verdict, diagram = html.escape(self._verdict()), super()._html_repr()
        return f"{diagram}<p>{verdict}</p>" if verdict else diagram

    def _verdict(self) -> str:
        """Return what can be read on the embedding as a sentence; nothing before a fit."""
        if not hasattr(self, "embedding_"):
            return ""
        with no_warnings():
            return self.trust_.sentences()[0]

    @property
    def checks_(self) -> gplvm.ModelChecks | None:
        """What the model leaves unexplained, with what is expected by chance."""
        with self._learnt() as model:
            bars = model.unchecked_bars()
            return bars and bars.checks

    @property
    def residuals_(self) -> Floats:
        """Residuals of rows of the fit, each placed by the others."""
        with self._learnt() as model:
            return model.residuals.copy()

    @property
    def agreement_(self) -> float:
        """Procrustes R² between maps of two halves of the columns, the mean over splits."""
        return float(self.agreements_.mean())

    @property
    def agreements_(self) -> Floats:
        """Procrustes R² between maps of two halves of the columns, of each of three splits."""
        with self._learnt() as model:
            return np.array(list(model.agreements()))

    @property
    def held_out_r2_(self) -> float:
        """R² of columns that were left out, predicted from the map of the others."""
        with self._learnt() as model:
            return model.held_out_r2

    @contextmanager
    def _learnt(self, what: str = "") -> Iterator[Model]:
        """Run a block with what was learnt, in the threads of the model.

        Raise where nothing was, or no rows, if ``what`` is asked for of them.
        """
        check_is_fitted(self, "embedding_")
        if what:
            self.model_.asked.require_rows(what)
        with limit_threads(self.n_jobs):
            yield self.model_

    # Input ----------------------------------------------------------------------------------------

    def _place(self, X: Any, *, errors: bool = False) -> tuple[Floats, Floats, Floats]:
        """Return coordinates, residuals and, where they are asked for, standard errors of rows."""
        with check.naming_rows(row_names(X)), self._learnt() as model:
            rows = self._read(X, model.asked, new=True)
            placed = model.place(rows, errors=errors, verbose=self.verbose)
            if errors and (unknown := model.why_no_errors()):
                warn(f"the standard errors of all rows are NaN: {unknown}")
        return placed

    def _read_points(self, Z: Any) -> Floats:
        """Points of the embedding, (b, m)."""
        table = as_table(Z, "Z", dtype=np.float64, accept_sparse=False)
        check_known(table.values, "Z", "drop those points")
        return np.array(table.by_name(self.get_feature_names_out(), "the embedding", "Z").values)

    def _read(self, X: Any, asked: Settings, *, new: bool = False) -> Any:
        """Rows in one piece or a large sparse table, or values between points, as X holds them."""
        affinity, has_rows = asked.affinity, asked.has_rows
        options: dict[str, Any] = {} if has_rows else {"dtype": np.float64}
        if new:
            options = {"dtype": self.model_.rows.dtype if has_rows else np.float64}
        else:
            known = has_rows and affinity != "auto"
            least = 1 + AFFINITIES[affinity].centers_rows if known else 2
            options |= {"ensure_min_samples": 2, "ensure_min_features": least}
        table = as_table(X if has_rows else graph.as_pairs(X, new=new), estimator=self, **options)
        fitted: Any = getattr(self, "feature_names_in_", range(table.values.shape[1]))
        if new and {*table.column_names} == {*map(str, fitted)}:
            table = table.by_name(fitted, "the fit")
        # scikit-learn looks at names of a frame that are text, and says which it does not know.
        names = table.column_names
        named = pd.DataFrame(np.empty((0, len(names))), None, names) if names else table.values
        try:
            validate_data(self, named, reset=not new, skip_check_array=True)
        except ValueError as error:
            raise ValueError(printable(str(error))) from None
        values, steps = table.values, getattr(self, "preprocessor_", None)
        if new and steps is not None:
            values = steps.apply(table.dense).astype(values.dtype, copy=False)
        fit = f"fit the model with {setting('missing', 'pairwise')} (nothing is filled in)"
        ways = f"{fit} or {setting('missing', 'impute')}, or fill or drop those rows"
        if not has_rows:
            ways = "a scipy sparse matrix stores only the pairs that are known"
            if not new and np.isnan(values.diagonal()).all():
                ones = int(affinity == "precomputed")
                ways = f"numpy.where(numpy.eye(len(X)), {ones}, X) fills the diagonal"
        check_known(values, "Input X", ways, holes=asked.missing is not None)
        # What is small next to the rows of the fit is placed alone as it is among others.
        bound = 1e140 if affinity == "precomputed" else 1e70
        stored = values.data if sp.issparse(values) else values
        check.magnitude(0.0 if new else 1.0 / bound, bound)("X", stored)
        if has_rows and sp.issparse(values) and isinstance(asked.missing, missing.Impute):
            raise ValueError(
                "missing must be 'error' or 'pairwise' for sparse rows, got 'impute'; what a "
                "sparse X does not store is zero: pass a dense X with NaN"
            )
        rows = rows_of(values) if has_rows else values
        # The bits of a product depend on how a row lies in memory.
        return np.ascontiguousarray(rows) if isinstance(rows, np.ndarray) else rows

    def _read_training(self, X: Any, asked: Settings) -> Any:
        """Rows of a fit, or values between its points, as they are worked with."""
        rows = self._read(X, asked)
        if not asked.has_rows:
            similarity.check_pairs(rows, asked.affinity)
            # A distance below 0 is one of 0 up to rounding.
            return abs(rows) if asked.affinity == "precomputed_distance" else rows
        similarity.warn_of_pairs(rows)
        if isinstance(rows, np.ndarray) and asked.missing is not None:
            missing.check_holes(rows)
        return rows

    # Fit ------------------------------------------------------------------------------------------

    def _fit(self, X: Any, asked: Settings, stages: Stages, names: Any) -> None:
        """Fit distinct rows, and keep what was learnt of all rows and their names."""
        with check.naming_rows(names):
            rows = self._read_training(X, asked)
            if not isinstance(asked.graph, str | graph.Rule):
                weight = None if graph.without_weights(asked.graph) else "weight"
                g = graph.as_graph(asked.graph, rows.shape[0], weight=weight, names=row_names(X))
                asked = replace(asked, graph=g)
            elif isinstance(asked.graph, graph.Neighbors) and asked.graph.k != "auto":
                cure = "a point has no more others; 5 to 15 are usual"
                k, most = asked.graph.k, rows.shape[0] - 1
                check.whole(1, most, cure)("the number of neighbors in the graph", k)
            with limit_threads(self.n_jobs):
                self._keep(Model.of(rows, asked, stages))
                with stages("error bars"):
                    self.settings_ = results.explain(self.model_)
        self._row_names = names

    def _fit_sample(self, X: Any, asked: Settings, stages: Stages) -> None:
        """Fit some rows of a table of Dask, and place all of them lazily."""
        if not isinstance(asked.graph, str | graph.Rule):
            raise ValueError(
                "graph must be 'auto', a number or a rule for a table of Dask, of which a sample "
                f"is fitted, got one of all rows; {setting('graph', 10)} makes one of the sample, "
                "and X.compute() brings all rows into memory"
            )
        with stages("sample"):
            sample = sample_rows(X, limits.FITTED_OF_DASK, asked.random_state)
        names = row_names(sample.rows)
        if not without_counts(names):
            names = without_counts(sample.numbers.tolist())
        self._fit(sample.rows, asked, stages, names)
        self.sample_indices_ = sample.numbers
        self.embedding_ = placed_lazily(self, sample.table, sample.lengths)

    def _of_fitted_rows(self) -> IKD:
        """Return the model, of a table of Dask one with coordinates of its sample, in memory."""
        if self.sample_indices_ is None:
            return self
        model = copy(self)
        model.embedding_ = self.model_.embedding.copy()
        return model

    def _keep(self, model: Model) -> None:
        """Keep what was learnt, and show it."""
        asked = self.get_params(deep=False).items()
        self._parameters = {n: copy(v) if isinstance(v, BaseEstimator) else v for n, v in asked}
        # What a command did to the rows of a saved model was not done to these.
        self.__dict__.pop("preprocessor_", None)
        self.model_ = model
        self.__dict__.update(results.attributes(model), sample_indices_=None)

    def _restore(self, rows: Any, **learnt: Any) -> None:
        """Become the model that was saved."""
        asked = Settings.of(self)
        # The fit has said all there was to say.
        with warnings.catch_warnings(), limit_threads(self.n_jobs):
            warnings.simplefilter("ignore")
            if asked.has_rows:
                rows = self._read_training(rows, asked)
            else:
                self.n_features_in_ = rows.shape[1]
            self._keep(Model.restored(rows, asked=asked, **learnt))

    # scikit-learn ---------------------------------------------------------------------------------

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "error"
        tags.input_tags.pairwise = self.affinity in GIVEN
        imputes = isinstance(self.missing, missing.Impute) or self.missing == "impute"
        tags.input_tags.sparse = not imputes
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self) -> int:
        return self.model_.points.shape[1]
