"""`IKD`, the scikit-learn estimator: stores, checks, calls, delegates."""

from __future__ import annotations

import functools
import html
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy, deepcopy
from dataclasses import replace
from functools import partial
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
    eigen,
    fingerprint,
    gplvm,
    graph,
    kernels,
    missing,
    refine,
    similarity,
)
from . import fit as pipeline
from ._base import limits
from ._base import validation as check
from ._base.as_table import as_table, check_known, is_dask, placed_lazily, row_names
from ._base.files import write_whole
from ._base.format import printable, setting
from ._base.progress import Stages
from ._base.rounding import ROUNDING
from ._base.table import evenly_spaced, rows_of, some_rows, whole_multiples
from ._base.threads import limit_threads
from ._base.types import Floats, Integers
from ._base.warn import no_warnings, warn
from ._columns_of_model import columns_of_model
from .cliques import Cliques
from .fit import Result
from .gplvm.columns import ColumnRelevance
from .gplvm.loadings import Loadings, chosen_columns
from .model_selection import SPLITS, Facts, agreement_of_halves, predicted_r2, resolve
from .plan import Plan, Report, Request
from .plotting import colors, plot
from .similarity import AFFINITIES, GIVEN, PairwiseSimilarity, find_rows, row_keys
from .strategies import Strategy
from .trust import Trust, chance_of

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
        five standard errors, at most 150 edges of a point, and six neighbors where X looks like
        samples of a Gaussian process, else ten neighbors.
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
        columns do not agree (`agreement_`), else stress where there is a graph or where distances
        of all pairs were given.
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
        landmarks beyond. For "geodesic"; "eigen" measures all, the others need none.
    n_jobs : int or None
        Number of threads, -1 for all cores. Results are the same for any number.
    random_state : int, RandomState or None
        Seed of the landmarks and of restarts. None is the seed 0: fits repeat without one.
    verbose : int
        1 shows stage and time on a terminal, and a line for each stage elsewhere.

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
        most of `agreements_` supports (`ikd_graph.gplvm.supported_r2`); NaN without standard
        errors. After a refinement by likelihood `fit` warns below 0.7.
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
    n_iter_ : int
        Steps of the refinement.
    settings_ : Report
        The settings used, and for each that was "auto" the reason (`settings_.reasons`).
    candidates_ : tuple of Candidate
        What "auto" tried, the chosen one first, with the score of each and the R² of held-out
        columns.
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

    _doc_link_module = "ikd_graph"
    _doc_link_template = (
        "https://ikd-graph.readthedocs.io/page/generated/ikd_graph.{estimator_name}.html"
    )

    settings_: Report
    _request: Request
    _result: Result
    _fitted: gplvm.FittedProcess
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
        with Stages(self.verbose) as stages, check.naming_rows(row_names(X)):
            before = vars(self).copy()
            try:
                self._fit(X, stages)
            except BaseException:
                self.__dict__ = before
                raise
        self.stage_times_ = stages.seconds
        self._row_names = row_names(X)
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
        Z : (n_new, n_components) ndarray of float64
            Coordinates. A row that equals a training row gets the stored coordinates of that; any
            other is a weighted mean of its nearest training rows, or at its most likely position
            where a Gaussian process was fitted. A row that cannot be compared, such as one of
            zeros under "cosine", gets NaN, with a warning.
        std : (n_new, n_components) ndarray of float64
            Only with ``return_std``; as `standard_errors_`.

        """
        check_is_fitted(self)
        if is_dask(X) and not return_std:
            return placed_lazily(self, X)
        with check.naming_rows(row_names(X)):
            latent, _, std = self._place(self._read(X, self._request, new=True), errors=return_std)
        if return_std and (unknown := self._fitted.why_no_errors()):
            warn(f"the standard errors of all rows are NaN: {unknown}")
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
        check_is_fitted(self)
        return self._place(self._read(X, self._request, new=True))[1]

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
        with self._learnt("inverse_transform") as fitted:
            rows, std = fitted.predict(self._read_points(Z), with_errors=return_std)
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
        with self._learnt("score") as fitted:
            rows = self._read(X, self._request, new=True)
            latent = self._place(rows)[0]
            if isinstance(self._request.missing, missing.Impute):
                rows = missing.fill(rows, self._rows, alone=True)
            placed = np.flatnonzero(np.isfinite(latent).all(axis=1))
            if not placed.size:
                raise ValueError(
                    f"X must have a row that transform can place, got none of {len(rows)}; pass "
                    "rows like those of the fit"
                )
            placed = placed[evenly_spaced(placed.size, limits.SAMPLED)]
            points = latent[placed].astype(np.float64)
            return fitted.log_likelihood(rows[placed], points) / rows.shape[1]

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
        with self._learnt("noise_model") as fitted:
            return fitted.noise_model()

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
        with self._learnt():
            return columns_of_model(self, X, options)

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
        with self._learnt("loadings") as fitted:
            points = self._read_points(self._embedding if Z is None else Z)
            kernels.differentiable("the kernel of the model", self.kernel_)
            usual = [f"x{k}" for k in range(self.n_features_in_)]
            names = np.array(getattr(self, "feature_names_in_", usual), object)
            chosen = chosen_columns(columns, names)
            posteriors, spread = fitted.posteriors(chosen), fitted.spread()
        rows = self._row_names if Z is None else row_names(Z)
        return Loadings(points, tuple(names[chosen]), posteriors, spread, rows)

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
        believed = self.settings_.model_based and "error bars" in self._fitted.computed
        errors = self.standard_errors_ if believed else None
        if color is None and isinstance(self._row_names, pd.Index):
            color = colors.paint_index(self._row_names)
        axes = plot.embedding(self.embedding_, color, **{"errors": errors, **options})
        if self.fixed_ is not None:
            plot.mark_open(axes, np.asarray(self.embedding_, np.float64), self.fixed_ != "fixed")
        return axes

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to a file: arrays and JSON in one zip file, no pickle.

        The file appears whole or not at all. It holds the rows the model was fitted to, which new
        rows are compared with, and the parameters of the fit, whatever they were set to since. A
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
        Request.of(self)

    @property
    def joints_(self) -> blockwise.Joints | gplvm.SessionJoints | None:
        """What the cliques, or sessions with other columns each, leave open between them."""

        def found() -> Any:
            joints: Any = self._result.sessions
            solved, embedding = self._result.solution.solved, self._result.solution.embedding
            if joints is None and solved is not None:
                joints = blockwise.joints(solved, embedding.coordinates)
            return joints and joints.of_rows(self._inverse)

        with self._learnt() as fitted:
            return deepcopy(fitted.once("joints", found))

    @property
    def fixed_(self) -> NDArray[np.str_] | None:
        """Whether each row is "fixed", "mirrored" or "free", relative to the largest part."""
        return getattr(self.joints_, "fixed", None)

    @property
    def standard_errors_(self) -> Floats:
        """Standard errors of the coordinates, (n_samples, n_components)."""
        with self._learnt() as fitted:
            return fitted.standard_errors()[self._inverse]

    @property
    def fingerprint_(self) -> str:
        """Few digits by which the embedding is recognized in any frame (`fingerprint`)."""
        check_is_fitted(self)
        return fingerprint.fingerprint(self._embedding)

    @property
    def reliability_(self) -> float:
        """R² with the truth that the standard errors lead to expect."""
        with self._learnt() as fitted:
            return fitted.reliability(self._agreements())

    @property
    def trust_(self) -> Trust:
        """What can be read on the embedding, and the numbers, checks and rivals behind it."""
        with self._learnt() as fitted:
            return Trust.of(self, fitted.once("chance", lambda: chance_of(self._rows)))

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
        with self._learnt() as fitted:
            bars = fitted.unchecked_bars()
            return bars and bars.checks

    @property
    def residuals_(self) -> Floats:
        """Residuals of rows of the fit, each placed by the others."""
        with self._learnt() as fitted:
            return fitted.once("own residuals", fitted.own_residuals).copy()

    @property
    def agreement_(self) -> float:
        """Procrustes R² between maps of two halves of the columns, the mean over splits."""
        return float(self.agreements_.mean())

    @property
    def agreements_(self) -> Floats:
        """Procrustes R² between maps of two halves of the columns, of each of three splits."""
        return np.array(list(self._agreements()))

    def _agreements(self) -> Iterator[float]:
        """Yield the same, one after the other, each computed once."""
        check_is_fitted(self, "embedding_")
        computed = self._fitted.computed
        computed.setdefault("agreements", self.settings_.agreements)
        for split in range(SPLITS):
            if split == len(computed["agreements"]):
                halves = self._of_columns(partial(agreement_of_halves, split=split))
                computed["agreements"] += (halves,)
            yield computed["agreements"][split]

    @property
    def held_out_r2_(self) -> float:
        """R² of columns that were left out, predicted from the map of the others."""
        check_is_fitted(self, "embedding_")
        # Candidates are refined where the map is not.
        if self.candidates_ and self.settings_.agreements and self._request.refine is not None:
            return self.candidates_[0].r2
        return float(self._fitted.once("held-out R2", lambda: self._of_columns(predicted_r2)))

    def _of_columns(self, measure: Callable[..., float]) -> float:
        """Return what parts of the columns, each embedded as the map was, say."""
        plan, rows = self.settings_, self._rows
        if rows is None:
            return np.nan
        option = self._request.filled(
            n_components=plan.n_components, strategy=plan.strategy, affinity=plan.affinity
        )
        likely = isinstance(plan.refine, refine.Likelihood)
        kernel = plan.kernel if likely else option.kernel
        option = replace(option, refine=plan.refine, kernel=kernel)
        with limit_threads(self.n_jobs):
            facts = Facts(some_rows(rows, self._first), True, _least_shared(rows, self._request))
            return measure(facts, option, model_based=plan.model_based)

    @contextmanager
    def _learnt(self, what: str = "") -> Iterator[gplvm.FittedProcess]:
        """Run a block with what was learnt, in the threads of the model.

        Raise where nothing was, or no rows, if ``what`` is asked for of them.
        """
        check_is_fitted(self, "embedding_")
        if what:
            self._request.require_rows(what)
        with limit_threads(self.n_jobs):
            yield self._fitted

    # Input ----------------------------------------------------------------------------------------

    def _read_points(self, Z: Any) -> Floats:
        """Points of the embedding, (b, m)."""
        table = as_table(Z, "Z", dtype=np.float64, accept_sparse=False)
        check_known(table.values, "Z", "drop those points")
        return np.array(table.by_name(self.get_feature_names_out(), "the embedding", "Z").values)

    def _read(self, X: Any, request: Request, *, new: bool = False) -> Any:
        """Rows in one piece or a large sparse table, or values between points, as X holds them."""
        affinity, has_rows = request.affinity, request.has_rows
        options: dict[str, Any] = {} if has_rows else {"dtype": np.float64}
        if new:
            options = {"dtype": self._rows.dtype if has_rows else np.float64}
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
        check_known(values, "Input X", ways, holes=request.missing is not None)
        # What is small next to the rows of the fit is placed alone as it is among others.
        bound = 1e140 if affinity == "precomputed" else 1e70
        stored = values.data if sp.issparse(values) else values
        check.magnitude(0.0 if new else 1.0 / bound, bound)("X", stored)
        if has_rows and sp.issparse(values) and isinstance(request.missing, missing.Impute):
            raise ValueError(
                "missing must be 'error' or 'pairwise' for sparse rows, got 'impute'; what a "
                "sparse X does not store is zero: pass a dense X with NaN"
            )
        rows = rows_of(values) if has_rows else values
        # The bits of a product depend on how a row lies in memory.
        return np.ascontiguousarray(rows) if isinstance(rows, np.ndarray) else rows

    def _read_training(self, X: Any, request: Request) -> Any:
        """Rows of a fit, or values between its points, as they are worked with."""
        rows = self._read(X, request)
        if not request.has_rows:
            similarity.check_pairs(rows, request.affinity)
            # A distance below 0 is one of 0 up to rounding.
            return abs(rows) if request.affinity == "precomputed_distance" else rows
        similarity.warn_of_pairs(rows)
        if isinstance(rows, np.ndarray) and request.missing is not None:
            missing.check_holes(rows)
        return rows

    # Fit ------------------------------------------------------------------------------------------

    def _fit(self, X: Any, stages: Stages) -> None:
        """Fit distinct rows, and keep what was learnt of all rows."""
        request = self._request = Request.of(self)
        if isinstance(self.random_state, np.random.RandomState):
            request = replace(request, random_state=int(self.random_state.randint(2**31)))
        rows = self._read_training(X, request)
        if not isinstance(request.graph, str | graph.Rule):
            weight = None if graph.without_weights(request.graph) else "weight"
            g = graph.as_graph(request.graph, rows.shape[0], weight=weight, names=row_names(X))
            request = replace(request, graph=g)
        elif isinstance(request.graph, graph.Neighbors) and request.graph.k != "auto":
            cure = "a point has no more others; 5 to 15 are usual"
            k, most = request.graph.k, rows.shape[0] - 1
            check.whole(1, most, cure)("the number of neighbors in the graph", k)
        with limit_threads(self.n_jobs):
            dtype = rows.dtype
            if dtype == np.float32 and rows.shape[0] <= limits.DOUBLE:
                rows = rows.astype(np.float64)
            training = row_keys(rows if request.has_rows else sp.csr_array(rows))
            known: dict[str, Any] = {}
            if isinstance(request.missing, missing.Impute):
                # What is filled in by like rows is no evidence that rows are alike.
                known["chance"] = chance_of(rows)
                rows = missing.fill(rows, rows)
            first, inverse = _distinct_rows(rows, request)
            distinct = some_rows(rows, first)
            distinct = distinct if request.has_rows else distinct[:, first]
            facts = Facts(distinct, request.has_rows, _least_shared(rows, request))
            report = resolve(facts, _with_reference(request, inverse), stages)
            for text in report.warnings:
                warn(text)
            with stages("similarity"):
                try:
                    compared = _compare(distinct, request, report, first)
                except ValueError:
                    # Rows that cannot be compared are named by their numbers in X.
                    if not facts.has_holes:
                        _compare(rows, request, report, first)
                    raise
            result = pipeline.fit(compared, distinct, report, stages)
            after, used = np.arange(1, first.size), result.graph
            weights = compared.between(after - 1, after) if used is None else used.weights
            if weights.size and weights.min() > 1.0 - 1e-12:
                cure = "subtract the mean of every column from X if it is large"
                if not request.has_rows:
                    cure = "IKD(graph=G).fit(X) weighs edges by rows X, S / S.max() scales counts S"
                warn(
                    f"all {report.affinity} similarities are 1 up to rounding: the embedding is "
                    f"noise; {cure}"
                )
            with stages("placement"):
                frame = eigen.principal_axes(result.coordinates[inverse]).coordinates
                result = replace(result, coordinates=frame[first])
                # A copy: changing X after the fit changes nothing.
                own = np.array(rows) if isinstance(rows, np.ndarray) else rows
                self._store(own, training, result, inverse, dtype)
                self._fitted.computed.update(known)
            with stages("error bars"):
                self.settings_ = self._reported(self.settings_.explain(result.notes))

    def _store(
        self, rows: Any, training: Integers, result: Result, inverse: Integers, dtype: Any
    ) -> None:
        """Keep what was learnt; the one function where distinct rows become all rows."""
        solution, report, g = result.solution, result.settings, result.graph
        assert isinstance(report, Report)
        first = np.unique(inverse, return_index=True)[1]
        asked = self.get_params(deep=False).items()
        self._parameters = {n: copy(v) if isinstance(v, BaseEstimator) else v for n, v in asked}
        self._result, self._training = result, training
        self._first, self._inverse, self._points = first, inverse, result.coordinates
        self._rows: Any = rows if self._request.has_rows else None
        likelihood = report.refine
        self._fitted = gplvm.FittedProcess(
            self._points,
            self._rows,
            first,
            result.similarity,
            result.kernel,
            graph=g,
            core=result.core,
            model_based=report.model_based,
            is_refined=result.n_iter is not None,
            is_local=isinstance(likelihood, refine.Likelihood) and likelihood.descent == "local",
            is_linear=result.n_iter is None and not report.strategy.uses_kernel,
            random_state=report.random_state,
        )
        # What a command did to the rows of a saved model was not done to these.
        self.__dict__.pop("preprocessor_", None)
        every = self._points[inverse]
        self._embedding = every.astype(dtype)
        # The model does not look at what a user may change: results are copies.
        self.embedding_ = self._embedding.copy()
        self.n_components_ = every.shape[1]
        self.eigenvalues_ = np.sum(every**2, axis=0)
        closed_form, refined = solution.embedding, result.n_iter is not None
        ratio = closed_form.explained_variance_ratio
        if refined or first.size < inverse.size:
            squares = self.eigenvalues_ ** (2 if report.strategy.uses_kernel else 1)
            ratio = (1.0 if refined else ratio.sum()) * squares / (squares.sum() or 1.0)
        self.explained_variance_ratio_ = ratio.copy()
        self.negative_mass_ = None if refined else closed_form.negative_mass
        spectrum = report.spectrum
        self.spectrum_ = (closed_form.eigenvalues if spectrum is None else spectrum).copy()
        self.kernel_ = result.kernel
        self.settings_ = report
        self.candidates_ = report.candidates
        self.n_iter_, self.removed_edges_ = result.n_iter or 0, deepcopy(result.removed)
        self.graph_ = None if g is None else _expand_graph(g, first, inverse)
        labels = np.zeros(first.size, dtype=np.int64) if result.labels is None else result.labels
        # Numbered by their first row.
        self.component_labels_ = pd.factorize(labels[inverse])[0].astype(np.int64)
        solved, residuals = solution.solved, solution.residuals
        self.cliques_ = (
            None if solved is None else Cliques.trusted(solved.blocks.renamed(first), inverse.size)
        )
        self.merge_residuals_ = None if residuals is None else residuals[inverse]
        self.merge_start_weight_ = solution.start_weight
        core = result.core
        self.optima_ = () if core is None else _expand_optima(core, self._points, inverse)
        marks = solution.landmarks
        self.landmarks_ = None if marks is None else first[marks]

    def _reported(self, report: Report) -> Report:
        """Report with what the embedding is to be read with; warn where that is likely to harm."""
        notes: dict[str, str] = {}
        sizes = np.bincount(self.component_labels_)
        if sizes.size > 1:
            text = notes["components"] = (
                f"the graph has {sizes.size} connected components (largest {int(sizes.max())} of "
                f"{int(sizes.sum())} points); they were joined by links between their nearest "
                "points, which alone fix their relative positions; more neighbors or a lower "
                "threshold leaves fewer"
            )
            if not isinstance(self._request.graph, str):
                warn(text)
        points, axis, fraction = eigen.dominant_points(self._points)
        if points.size and self._request.has_rows:
            rows = np.flatnonzero(np.isin(self._inverse, points))
            text = (
                f"dimension {axis + 1} mostly tells row{'s' * (rows.size > 1)} "
                f"{check.few_rows(rows)} from all others ({fraction:.0%} of the squared distances "
                "from its median); look at the values, and drop an error"
            )
            report = replace(report, warnings=(*report.warnings, text))
            warn(text)
        # Noisy cliques of one table leave much open, which the geodesic solution settles.
        unknown = isinstance(self._request.missing, missing.Pairwise)
        distances = self._request.affinity == "precomputed_distance"
        joints = self.joints_ if unknown or distances else None
        if joints is not None and (text := blockwise.describe_open(joints.fixed, joints.n_open)):
            notes["joints"] = text
            warn(text)
        value = 1.0 if self._result.core is None else self.reliability_
        if why := self._fitted.why_no_errors():
            notes["standard errors"] = f"there are no standard errors: {why}"
        elif self._result.core is not None:
            notes["standard errors"] = (
                f"reliability {value:.2f}: the standard errors lead to expect an R² of about that "
                "with the truth"
            )
            if self.checks_ and np.isnan(self.checks_.order.value):
                notes["standard errors"] += "; rows in no order are not asked for noise along them"
        if value < gplvm.TRUSTED:
            rivals = self._result.notes.get("optima", "")
            warn(
                f"the embedding has a reliability of {value:.2f}, below {gplvm.TRUSTED}: its "
                f"standard errors are large (standard_errors_){'; ' * bool(rivals)}{rivals}; "
                "measure more columns, or average rows that belong together"
            )
        return report.explain(notes)

    def _restore(
        self, rows: Any, training: Integers, learnt: dict[str, Any], inverse: Integers, dtype: Any,
        scale: Any,
    ) -> None:  # fmt: skip
        """Become the model that was saved: rows are compared again, and the rest follows."""
        request = self._request = Request.of(self)
        plan = learnt["settings"]
        first = np.unique(inverse, return_index=True)[1]
        # The fit has said all there was to say.
        with warnings.catch_warnings(), limit_threads(self.n_jobs):
            warnings.simplefilter("ignore")
            if request.has_rows:
                rows = self._read_training(rows, request)
                compared = _compare(some_rows(rows, first), request, plan, first)
            else:
                compared = similarity.compare(rows, self.affinity, scale=scale)
                self.n_features_in_ = rows.shape[1]
            self._store(rows, training, Result(similarity=compared, **learnt), inverse, dtype)

    # Placement ------------------------------------------------------------------------------------

    def _place(self, X: Any, *, errors: bool = False) -> tuple[Floats, Floats, Floats]:
        """Coordinates and residual of rows, and standard errors where requested."""
        has_rows = self._request.has_rows
        equal = find_rows(row_keys(X if has_rows else sp.csr_array(X)), self._training)
        old, new = np.flatnonzero(equal >= 0), np.flatnonzero(equal < 0)
        latent = np.full((X.shape[0], self.n_components_), np.nan, self._embedding.dtype)
        residual, std = np.full(X.shape[0], np.nan), np.full(latent.shape, np.nan)
        latent[old], residual[old] = self._embedding[equal[old]], 0.0
        if errors:
            std[old] = self.standard_errors_[equal[old]]
        if not new.size:
            return latent, residual, std
        rows = some_rows(X, new)
        rows = rows if has_rows else rows[:, self._first]
        if isinstance(self._request.missing, missing.Impute):
            rows = missing.fill(rows, self._rows, alone=True)
        rule = self._request.missing
        least = rule.least(rows.shape[1]) if isinstance(rule, missing.Pairwise) else None
        with limit_threads(self.n_jobs):
            placed = self._fitted.place(rows, least, errors=errors, verbose=self.verbose)
        latent[new], residual[new], std[new] = placed
        silent = new[np.isnan(residual[new])]
        if silent.size:
            warn(
                f"{silent.size} of {X.shape[0]} rows cannot be compared with the training rows "
                "(all zero, constant, too far away for a number, or sharing fewer than "
                f"{least or 1} columns with each) and get NaN: {check.few_rows(silent, X.shape[0])}"
            )
        return latent, residual, std

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
        return self._embedding.shape[1]


def _distinct_rows(rows: Any, request: Request) -> tuple[Integers, Integers]:
    """First of every set of equal rows, and which of those each row is; all where pairs differ."""
    size, n = request.n_components, rows.shape[0]
    stress = request.refine if isinstance(request.refine, refine.Stress) else refine.Stress()
    if isinstance(request.graph, graph.CsrGraph) or sp.issparse(rows) or np.ndim(stress.noise) == 2:
        first = inverse = np.arange(n)
    else:
        first, inverse = similarity.unique_rows(rows)
    whole = isinstance(rows, np.ndarray) and not missing.has_holes(rows)
    if whole and (np.ptp(rows, axis=0) <= ROUNDING * np.abs(rows[0])).all():
        check.check_varies(rows)
        raise ValueError(
            "columns of X must vary by more than rounding, got values that differ by less than "
            f"{ROUNDING:g} of their size; subtract the mean of every column, better "
            "where the data come from"
        )
    if size != "auto":
        check.components(first.size)("n_components", size)
    return first, inverse


def _with_reference(request: Request, inverse: Integers) -> Request:
    """Request with the reference point, which is a row of X, among the distinct rows."""
    strategy = request.strategy
    if not isinstance(strategy, Strategy) or isinstance(strategy.reference, str):
        return request
    cure = f"it is a row of X, or one of {', '.join(map(repr, eigen.REFERENCES))}"
    at = check.whole(0, inverse.size - 1, cure)("reference", strategy.reference)
    own = {**strategy.get_params(), "reference": int(inverse[at])}
    return replace(request, strategy=type(strategy)(**own))


def _least_shared(rows: Any, request: Request) -> int | None:
    """Columns that a known pair of rows with holes shares; None of rows without."""
    rule = request.missing
    if isinstance(rule, missing.Pairwise) and missing.has_holes(rows):
        return rule.least(rows.shape[1])
    return None


def _compare(rows: Any, request: Request, plan: Plan, names: Integers) -> similarity.Similarity:
    """Similarity of rows, of those with holes over the columns that both have."""
    if (least := _least_shared(rows, request)) is not None:
        pairwise = PairwiseSimilarity(AFFINITIES[plan.affinity], rows, least)
        pairwise.check_groups(names)
        return pairwise
    # Among whole numbers a constant row is nothing unusual; elsewhere it is a mistake.
    few = evenly_spaced(rows.shape[0], limits.SAMPLED)
    counts = request.has_rows and whole_multiples(some_rows(rows, few)) is not None
    return similarity.compare(rows, plan.affinity, counts=counts, model_based=plan.model_based)


def _expand_graph(g: graph.CsrGraph, first: Integers, inverse: Integers) -> graph.CsrGraph:
    """Graph of all rows from that of distinct rows: each duplicate hangs on its first by 1."""
    if np.array_equal(first, np.arange(inverse.size)):
        return g
    low, high, weights = graph.edges(g)
    copies = np.setdiff1d(np.arange(inverse.size), first)
    ends = np.array([np.append(first[low], first[inverse[copies]]), np.append(first[high], copies)])
    weights = np.append(weights, np.ones(copies.size))
    return graph.from_edges(inverse.size, ends.min(axis=0), ends.max(axis=0), weights)


def _expand_optima(
    core: gplvm.CoreFit, points: Floats, inverse: Integers
) -> tuple[gplvm.OptimumRecord, ...]:
    """Local optima of all rows in the frame of the embedding, NaN outside the core."""
    motion, expanded = blockwise.rigid_fit(core.fit.latent, points[core.core]), []
    for optimum in core.fit.optima:
        latent = np.full(points.shape, np.nan)
        latent[core.core] = motion.apply(optimum.latent)
        expanded.append(optimum._replace(latent=latent[inverse]))
    return tuple(expanded)
