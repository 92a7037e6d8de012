"""`IKD`, the scikit-learn estimator: stores, checks, calls."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from .. import kernels, model
from .._stages import Stages
from .._threads import limit_threads
from ._learnt import LearntEstimator
from ._objects import like

Floats = NDArray[np.float64]


class IKD(ClassNamePrefixFeaturesOutMixin, TransformerMixin, LearntEstimator):
    """Inverse kernel decomposition: hidden coordinates from the covariance between points.

    The closed-form, eigen-decomposition solver of the Gaussian-process latent variable model
    (Li & Wu 2024): the covariance between two rows of X estimates a stationary kernel of their
    hidden coordinates; the kernel is inverted to distances, and distances to coordinates. Small
    covariances carry no distance, so "blockwise" and "geodesic" work on the graph of those that do.

    Parameters
    ----------
    n_components : int or "auto"
        Number M of hidden coordinates, less than the number of points. "auto" takes up to ten by
        the gaps in the spectrum of the closed form (see `eigen.eigengap`).
    strategy : {"auto", "eigen", "blockwise", "geodesic", "linear"}
        "eigen" inverts every covariance (Alg. 1); "blockwise" solves cliques of the graph and
        merges them by rigid motions; "geodesic" replaces what is not an edge by the best path
        (Section 2.4); "linear" takes principal components of the rows as ``affinity`` compares
        them, the closed form of a linear kernel (Lawrence 2005). "auto" is "geodesic", or "linear"
        where nothing about the graph is given and no latent with bends predicts more (see below).
    kernel : str or StationaryKernel
        "squared_exponential", "rational_quadratic", "gamma_exponential", "matern", or an instance
        from `ikd_graph.kernels`. Its ``length_scale`` is the unit of the latent. "auto" takes the
        likeliest of the four where the likelihood polishes, which takes a third more time, else the
        squared exponential.
    affinity : {"auto", "correlation", "cosine", "covariance", "euclidean", \
            "standardized_euclidean", "shared_neighbors", "hellinger", "precomputed"}
        How rows of X are compared. "euclidean" is 1 - |x_i - x_j|^2 / (2 sigma^2), for few columns
        of one unit; "standardized_euclidean" is the same of columns over their standard deviations,
        for columns of many units; "shared_neighbors" is the correlation times the root of the share
        of nearest neighbours in common, for tables of groups (it tells groups apart and spoils a
        continuum); "hellinger" is the cosine between the square roots of counts, whose noise is
        about the same for rare and for frequent ones. An offset or the scale of a row changes
        nothing for "correlation", the scale of a row for "cosine" and "hellinger", an offset of a
        row for "covariance", an offset of a column or of all of X for "euclidean", an offset or the
        scale of a column for "standardized_euclidean" (the likelihood, which sees X itself or for
        "hellinger" its roots, takes offsets of columns for signal); with "precomputed" X is the
        (n_samples, n_samples) covariance, dense, or sparse (what is not stored is not known).
        "auto" is "correlation" where X looks like samples of a Gaussian process with N >= 100
        columns or where ``threshold`` is a number. Else it tries "euclidean", "correlation",
        "cosine", "shared_neighbors" (of 20 columns or more), of counts "hellinger", and
        "standardized_euclidean" where scaling helps to predict columns that are left out, and takes
        the one whose latent predicts the measurements best: each point by the mean of the points
        nearest to it in the latent, on at most 500 rows (`candidates_`). A latent with bends must
        win over principal components by one standard error, "shared_neighbors" by 1.645.
    threshold : "auto", float or None
        Smallest correlation s0 in (0, 1) that makes an edge; "auto" is min(5 / sqrt(N), 0.5) for
        N >= 100 columns that look like samples of a Gaussian process, else None: no such edges.
    n_neighbors : int or None
        Number of neighbours of the k-NN graph. Given with a number as ``threshold`` the two graphs
        are united; given alone it is the graph. None beside ``threshold="auto"`` is 6 (4 for
        cliques) where there is a threshold; else 7 for correlations, 12 for cosines, 15 for other
        affinities and for cliques.
    mutual : "auto" or bool
        Whether neighbours make an edge only where each is one of the other's; pieces that this
        leaves, but those of shared neighbours, are joined by the neighbours of either end. "auto"
        does so for shared neighbours, and where it chooses ``n_neighbors`` for Euclidean
        similarities.
    neighbors : {"auto", "exact", "approximate"}
        How neighbours are searched: exactly, or by faiss (extra ``large``), which finds about
        .97 of them; "auto" is exact up to 20 000 rows (see `graph.row_neighbors`).
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
    keep_edges : "auto" or bool
        Whether edges that the others speak against stay in the graph: short cuts, and entries of a
        precomputed covariance that the other entries contradict. "auto" drops the entries, and
        short cuts where the latent without them predicts the measurements better, by more than a
        standard error; False drops both. `choices_` says what was done and `edge_suspicion_` lists
        what was dropped.
    refine : {"auto", "likelihood", "stress", None}
        Polish of the closed form. "likelihood" maximises the likelihood of the model, with a noise
        variance of its own, from the starts of ``starts``; "stress" moves the points to the
        distances of the graph's edges, each weighted by its precision (up to 300 points in three
        ways, of which the likeliest is taken); None keeps the closed form.
        "auto" takes what predicts the measurements best, see ``affinity``; the likelihood is tried
        with at most 300 points and 20 columns or more. Where the data look like samples of a
        Gaussian process it is taken, of more than 400 points for a core that places the others.
    starts : {"auto", "own", "all"}
        Where the likelihood polish begins: "own" is the closed form of the strategy alone, before
        and after stress, so that strategies can be compared polished; "all" adds the closed forms
        of other graphs and perturbs the best, which takes longer and finds more. "auto" is "own"
        where a strategy is named, or where "auto" polishes data that cannot well be samples of a
        Gaussian process; otherwise "all".
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
        Seed of the landmarks, the only random part.
    missing : {"error", "pairwise"}
        What to do about NaN, masked entries and NA: refuse them, or compare rows over the columns
        that both have, fill in what the latent of those similarities expects (the mean of a
        Gaussian process given what is known of the column), once more from a latent of the filled
        table, and fit that; a latent polished by the likelihood fills it in a last time, for a
        second fit. New rows are filled in from the training rows nearest over what is
        known of them. Rows that share fewer than 3 columns are compared by way of others, with a
        warning; each must share 3 with half of the others.
    verbose : int
        1 shows a progress bar on a terminal.

    Attributes
    ----------
    embedding_ : (n_samples, n_components) ndarray of float64
        The latent, in units of the kernel's length-scale: centred, along its principal axes, the
        widest first. Equal rows have equal places (a precomputed covariance knows no rows; its
        points are solved as they come).
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
        Whether only mutual neighbours make an edge within a piece of the graph.
    reference_ : int or str
        Index of the point that the distances behind `embedding_` were seen from, or "center".
    graph_ : CsrGraph or None
        The graph of trusted covariances (None for "eigen"). Of equal rows the first has the edges
        and the others hang on it.
    edge_suspicion_ : EdgeSuspicion or None
        What spoke against each edge of the graph as it was first made: its ends, a score from 0 to
        1, and whether it was dropped (see `graph.short_cut_edges`, `graph.contradicted_edges`).
        None where edges were kept, or where correlations are measurements of a Gaussian process.
    cliques_ : Blocks or None
        The cliques that were solved ("blockwise"), of equal rows the first.
    merge_residuals_ : (n_samples,) ndarray of float64 or None
        How far the cliques of each point disagree with its place in `embedding_` ("blockwise").
    merge_gap_ : float or None
        Share of its cost that a better global merger could save at most (`alignment.merge_bound`;
        "blockwise", unpolished). Found when asked for: .1 s for 300 points, 1 to 10 s for 1000.
    merge_start_share_ : float or None
        Weight of the geodesic solution, all cliques having 1; it grows with their noise.
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
        Starts of the likelihood polish that were followed to their end, the winner first:
        name, log likelihood it reached, and how far from `embedding_` it ended (root mean square
        after alignment, in length-scales). Of starts that met in one local optimum one is
        followed. Empty without that polish.
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
    candidates_ : tuple of Trial
        What "auto" tried for ``affinity`` and ``refine``, what it took first: score (principal
        directions predicted by the nearest points) and standard error of the difference.
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
    >>> IKD(n_components=2, n_neighbors=7).fit_transform(X).shape
    (400, 2)
    """

    def __init__(
        self,
        n_components: int | str = 2,
        *,
        strategy: str = "auto",
        kernel: str | kernels.StationaryKernel = "auto",
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
        keep_edges: bool | str = "auto",
        refine: str | None = "auto",
        starts: str = "auto",
        fit_shape: bool = False,
        n_landmarks: float | str | None = "auto",
        time_budget: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        missing: str = "error",
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
        self.keep_edges = keep_edges
        self.refine = refine
        self.starts = starts
        self.fit_shape = fit_shape
        self.n_landmarks = n_landmarks
        self.time_budget = time_budget
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.missing = missing
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: Any = None) -> IKD:
        """Find the latent of the rows of X.

        Parameters
        ----------
        X : (n_samples, n_features) array_like of float64
            Points in rows, or the (n_samples, n_samples) covariance for
            ``affinity="precomputed"``, dense, scipy sparse, or a networkx graph whose edges have
            their correlation in the attribute ``weight`` (large tables of rows stay sparse).
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
        given = self._check_input(X)
        stages = Stages(self.verbose, total=6)
        try:
            with limit_threads(self.n_jobs):
                whole = given
                if self.missing == "pairwise":
                    whole = model.fill(given, self._task(), stages)
                found = model.fit(whole, self._task(), stages)
                if self.missing == "pairwise":
                    found = model.fit_again(given, found, self._task(), stages)
        finally:
            stages.close()
        self.stage_times_ = stages.seconds
        self._store(given, found)
        return self

    def fit_transform(self, X: ArrayLike, y: Any = None) -> Any:
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
            The latent, `embedding_`. An xarray array keeps the coordinates of its rows, and a
            `TsdFrame` of pynapple its times.
        """
        return like(X, self.fit(X).embedding_)

    def transform(self, X: ArrayLike) -> Any:
        """Place rows in the latent that was found, each by itself.

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
            After a polish by the likelihood, or by the stress of trusted correlations, of no more
            than 600 rows of 20 columns or more, or of a core, that is only a start: the row is put
            where the Gaussian process finds it likeliest. Objects come back as from
            `fit_transform`.
        """
        return self._placed(X)

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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "pairwise"
        tags.input_tags.pairwise, tags.input_tags.sparse = not self._has_rows, True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self) -> int:
        return self.embedding_.shape[1]
