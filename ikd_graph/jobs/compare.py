"""Blockwise against geodesic on one similarity and one graph, and against other methods on it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from multiprocessing import TimeoutError
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import ArrayLike

from .. import metrics, model_selection, similarity, strategies
from .._base import limits
from .._base import validation as check
from .._base.as_table import as_table, check_known, row_names, rows_by_name
from .._base.progress import stage
from .._base.table import evenly_spaced
from .._base.types import Floats
from .._base.warn import no_warnings
from ..datasets import Dataset
from ..estimator import IKD
from ..similarity import AFFINITIES, GIVEN, unique_rows, warn_of_pairs
from ..trust import Trust, chance_of
from . import baselines
from .baselines import PEERS, Timed, timed
from .compare_result import RULE, SCORES, Comparison, Difference, Row, half_width, sentences
from .label_scores import score_labels

__all__ = [
    "METHODS", "RULE", "SCORES", "STRATEGIES", "Comparison", "Difference", "Row", "compare",
    "sentences",
]  # fmt: skip

STRATEGIES: dict[str, strategies.Strategy] = {
    "blockwise": strategies.Blockwise(),
    "geodesic": strategies.Geodesic(),
    "eigen": strategies.Eigen(),
    "linear": strategies.Linear(),
    "paper_blockwise": strategies.Blockwise.paper(),
    "paper_geodesic": strategies.Geodesic.paper(),
}
"""Strategies of `IKD` by the name of their method; those of the paper have its settings."""

METHODS = (*STRATEGIES, *PEERS, "peers")
"""Names that `compare` takes: strategies of `IKD`, peers, and one that stands for several."""

_USUAL = ("pca", "isomap", "laplacian_eigenmaps", "tsne", "umap", "pacmap", "phate")


def compare(
    X: Any,
    methods: str | Iterable[str] = ("blockwise", "geodesic"),
    *,
    n_components: int = 2,
    noise: float | Sequence[float] = (0.0, 0.5, 1.0),
    labels: ArrayLike | None = None,
    truth: ArrayLike | None = None,
    n_draws: int = 4,
    max_rows: int = 2000,
    time_limit: float | None = None,
    null: str = "shift",
    random_state: int = 0,
    verbose: int = 0,
    **settings: Any,
) -> Comparison:
    """Compare strategies, and other methods, on one similarity.

    Strategies have one graph as well. Other methods are given the rows as the similarity compares
    them: scaled so that their Euclidean distances are those of the strategies.

    Parameters
    ----------
    X : (n, n_features) array_like, DataFrame or Dataset
        The table. The index of a DataFrame (or AnnData) names its rows; a `Dataset` may know the
        true latent.
    methods : str or iterable of str
        Among "blockwise", "geodesic", "eigen", "linear", "paper_blockwise", "paper_geodesic" and
        the peers of `ikd_graph.jobs.baselines` ("pca", "isomap", "umap" ...); "peers" stands for
        the usual ones that are installed.
    n_components : int
        Number of coordinates.
    noise : float or sequence of float
        Standard deviations of Gaussian noise to add, in those of each column. Scores are always
        those against the table as given.
    labels : (n,) array_like, optional
        Classes or numbers that color the points and are predicted from each embedding.
    truth : (n, m) or (n,) array_like of float64, optional
        The true latent coordinates, where they are known, as of a simulation: embeddings are
        scored against them. It replaces the latent of a `Dataset`.
    n_draws : int
        Draws of noise at every level above 0, and splits of the columns into halves (half as
        many, at most three).
    max_rows : int
        A larger table is compared on so many random rows.
    time_limit : float or None
        Seconds after which a fit of a peer is ended and the peer is dropped. Peers then run in a
        process of their own, where times may include compiling; else every method is compiled
        before it is timed.
    null : {"shift", "permute", "permute_all"}
        What the p value compares X with, see `chance_test`: "permute" where the order of the rows
        is arbitrary.
    random_state : int
        Seed of noise, halves and methods.
    verbose : int
        1 shows stage and time on a terminal, and a line for each stage elsewhere.
    **settings
        Further parameters of `IKD`: ``affinity``, ``graph``, ``kernel``, ``refine``,
        ``n_landmarks``, ``n_jobs``. What is "auto" is chosen once, on the table as given, for all
        strategies. With a refinement, strategies on a graph are compared plain and refined.

    Returns
    -------
    Comparison
        Prints, plots (``plot()``), goes to pandas (``to_pandas()``).

    Raises
    ------
    ValueError
        Where a parameter breaks its rule, or no method gave an embedding.

    Notes
    -----
    A score is the R² of the true latent where ``truth`` or a `Dataset` has one; else, where the
    table looks like samples of the model, the R² (affine, as in Li & Wu 2024) of the most likely
    latents of halves of the columns; else the R² of columns that were held out, a quarter at a
    time, each row being predicted by its 10 nearest rows in the embedding of the others. Held-out
    columns are scored as the similarity compares them, each by its part in the squared distances.
    What stands after ± is half of a 95 % interval of this score, and 0.01 more: where the truth is
    not known the interval holds the difference of the R² with the truth less often.

    Examples
    --------
    >>> import ikd_graph
    >>> from ikd_graph import datasets
    >>> result = ikd_graph.compare(datasets.half_moons(80), noise=0, refine=None)
    >>> [row.title for row in result.rows]
    ['blockwise', 'geodesic']

    Against coordinates that are known:

    >>> data = datasets.gplvm_data(datasets.fixed_latent("medium"), 200)
    >>> ikd_graph.compare(data.X, truth=data.latent, n_components=3, noise=0, refine=None).measure
    'true'
    """
    names = expand(methods)
    levels = np.unique(check.quantities("noise", noise)).tolist()
    if not levels or not (np.isfinite(levels).all() and levels[0] >= 0.0):
        raise ValueError(
            "noise must be finite fractions of a column's standard deviation, at least 0; got "
            f"{noise!r}"
        )
    check.whole(2)("n_draws", n_draws)
    check.whole(3)("max_rows", max_rows)
    if time_limit is not None:
        check.positive("time_limit", time_limit)
    settings = dict.fromkeys(("affinity", "graph", "kernel"), "auto") | settings
    settings["random_state"], refine = random_state, settings.pop("refine", "auto")
    if settings["affinity"] in GIVEN:
        raise ValueError(
            f"affinity must compare rows of a table, got {settings['affinity']!r}; noise and "
            "halves of columns need the table itself"
        )
    data = _sampled(_dataset(X, labels, truth), max_rows, random_state)
    ours = any(name in STRATEGIES for name in names)
    with stage(verbose, "choosing"), no_warnings():
        # Rows are compared as by the default fit, whatever is compared here.
        model = IKD(n_components, **settings).fit(data.X)
        trust = Trust.of(model, chance_of(data.X, null)) if ours else None
        warned = model.settings_.warnings
        settings["affinity"] = model.settings_.affinity
        if refine != "auto" or model.settings_.strategy.name != "geodesic":
            model = IKD(n_components, strategy="geodesic", refine=refine, **settings).fit(data.X)
    chosen = model.settings_
    settings["graph"], refine = chosen.graph, chosen.refine
    head = {
        "table": f"{data.n_samples} points, {data.n_features} columns",
        "similarity": AFFINITIES[chosen.affinity].summary,
    }
    if ours:
        likeliest = ", with likelihood the likeliest" * (_name(refine) == "likelihood")
        usual = f"squared_exponential{likeliest}"
        head |= {
            "graph": chosen.describe_graph(),
            "kernel": str(settings["kernel"]).replace("auto", usual),
            "refinement": _name(refine) or "none",
        }
    bench = _Bench(data, settings, chosen.model_based, n_components, n_draws, time_limit)
    used = {name: settings[name] for name in settings if name not in ("n_jobs", "random_state")}
    used["refine"] = refine
    result = Comparison(data, bench.measure, head, [], used, trust, warned)
    plans = [(name, how) for name in names for how in _refinements(name, refine)]
    try:
        for name, how in plans:
            with stage(verbose, f"{name}, {_name(how) or 'plain'}"):
                bench.compile(name, how)
                result.rows.extend([bench.row(name, how, level) for level in levels])
    except KeyboardInterrupt as stopped:
        # What is finished took long, and is kept for those who catch the interrupt.
        stopped.finished = result if result.titles else None  # type: ignore[attr-defined]
        raise
    if not result.titles:
        reasons = dict.fromkeys(f"{row.title} {row.failure}" for row in result.rows if row.failure)
        raise ValueError(f"no method gave an embedding: {'; '.join(reasons)}")
    return result


@dataclass
class _Bench:
    """How embeddings of one table are made, from it and with noise, and what they are scored by."""

    data: Dataset
    settings: dict[str, Any]  # of `IKD`
    model_based: bool
    n_components: int
    n_draws: int
    time_limit: float | None

    def __post_init__(self) -> None:
        self.seed = self.settings["random_state"]
        self.target: Floats | None = None  # the first embedding, centered
        X = self.data.X
        # The distinct rows that the default compares its candidates on, in the same order.
        first, _ = unique_rows(X)
        self.rows = first[model_selection.sampled(first.size)]
        self.folds = parts = model_selection.folds(X[self.rows])
        self.measure, self.references = "held-out" if len(parts) > 1 else "embedded", []
        if self.data.latent is not None:
            self.measure, self.references = "true", [self.data.latent]
        elif self.model_based:
            self.measure = "maximum_likelihood"
            halves = [parts[0] | parts[k] for k in (1, 2, 3)[: self.n_draws // 2]]
            both = [mask for half in halves for mask in (half, ~half)]
            likely = IKD(self.n_components, strategy="geodesic", affinity="correlation",
                         refine="likelihood", random_state=self.seed)  # fmt: skip
            with no_warnings():
                self.references = [likely.fit_transform(X[:, mask]) for mask in both]
        self.predicted = self.compared(X[self.rows])

    def table(self, level: float, draw: int) -> Floats:
        """Return the table with noise, the same for all methods."""
        rng = np.random.default_rng([self.seed, draw])
        scale = level * self.data.X.std(axis=0)
        noisy = self.data.X + scale * rng.standard_normal(self.data.X.shape)
        # Roots are taken of counts, which noise must not make negative.
        roots = AFFINITIES[self.settings["affinity"]].square_roots
        return np.maximum(noisy, 0.0) if roots else noisy

    def compared(self, X: Floats) -> Floats:
        """Rows whose squared distances are those of the similarity, (n, n_features)."""
        with no_warnings():
            return np.asarray(similarity.compare(X, self.settings["affinity"], counts=True).rows)

    def fit(self, name: str, refine: Any, X: Floats) -> Timed:
        """Coordinates (n, n_components) of a method, or why there are none."""
        if name in PEERS:
            peer = partial(baselines.embed, name, self.compared(X), self.n_components, self.seed)
            return peer() if self.time_limit is None else _run_within(self.time_limit, peer)
        model = IKD(self.n_components, strategy=STRATEGIES[name], refine=refine, **self.settings)
        return timed(lambda: np.asarray(model.fit_transform(X), dtype=np.float64))

    def compile(self, name: str, refine: Any) -> None:
        """Fit some rows, so that no time of a fit is one of compiling."""
        # A process of its own would not be the one that is timed.
        if name in STRATEGIES or self.time_limit is None:
            few = self.rows[evenly_spaced(self.rows.size, limits.SIZED)]
            self.fit(name, refine, self.data.X[few])

    def row(self, name: str, refine: Any, level: float) -> Row:
        """Score a method at a noise level, and embed the first table."""
        kind = _name(refine)
        row = Row(f"{name} + {kind}" if kind else name, name, kind, level)
        fits = [self.fit(name, refine, self.table(level, 0))]
        scores: list[list[float]] = []
        n_tables = self.n_draws if level else 1 if self.references else len(self.folds)
        for draw in range(n_tables) if fits[0].value is not None else ():
            X, fold = self.table(level, draw), self.folds[draw % len(self.folds)]
            if not self.references:
                X = X[self.rows][:, fold if fold.all() else ~fold]
            # Against references the first table has been embedded.
            if scores or not self.references:
                fits.append(self.fit(name, refine, X))
            Z = fits[-1].value
            if Z is None:
                break
            scores.append(
                [metrics.affine_r2(each, Z) for each in self.references]
                or [float(model_selection.held_out_r2(Z, self.predicted[:, fold]).sum())]
            )
        if fits[-1].value is None:
            return row._replace(failure=fits[-1].failure)
        Z = fits[0].value
        # Scores of held-out columns are those of one draw against several references.
        values = np.array(scores) if self.references else np.array(scores).T
        if self.target is None:
            self.target = Z - Z.mean(axis=0)
        return row._replace(
            score=float(values.mean()),
            half_width=half_width(values, self.measure),
            seconds=float(np.median([fit.seconds for fit in fits])),
            labels={
                mark + f" of {labels.title}" * (k > 0): value
                for k, labels in enumerate(self.data.labels)
                for mark, value in score_labels(Z, labels).items()
            },
            values=values,
            embedding=metrics.aligned(Z, self.target),
            notes=fits[0].notes,
        )


def _dataset(X: Any, labels: ArrayLike | None, truth: ArrayLike | None) -> Dataset:
    """Return the table with its names, its labels and the true latent, if any is given."""
    data = X
    if not isinstance(X, Dataset):
        table = as_table(X)
        names = tuple(map(str, table.row_names))
        data = Dataset(table.dense.astype(np.float64), name="table", row_names=names)
    cure = (
        "not every method takes pairs of rows that are unknown, as IKD does: fill them in, as by "
        "sklearn.impute.KNNImputer().fit_transform(X), or drop those rows"
    )
    with check.naming_rows(data.row_names):
        check_known(data.X, "X", cure)
    warn_of_pairs(data.X)
    check.magnitude()("X", data.X)
    data = data.labeled(labels, row_names(X))
    if truth is not None:
        truth = check.numbers("truth", rows_by_name("truth", truth, row_names(X)))
        latent = np.asarray(truth, dtype=np.float64)
        latent = latent[:, None] if latent.ndim == 1 else latent
        check.table_of(data.n_samples)("truth", latent)
        check.magnitude()("truth", latent)
        data = replace(data, latent=latent)
    return data


def _sampled(data: Dataset, most: int, seed: int) -> Dataset:
    """Return the data set, or random rows of it in their order."""
    if data.n_samples <= most:
        return data
    rows = np.sort(np.random.default_rng(seed).permutation(data.n_samples)[:most])
    return replace(
        data,
        X=data.X[rows],
        latent=None if data.latent is None else data.latent[rows],
        labels=tuple(replace(each, y=each.y[rows]) for each in data.labels),
        row_names=tuple(data.names[row] for row in rows),
    )


def expand(methods: str | Iterable[str]) -> list[str]:
    """Names of single methods, each once; of the group "peers" those that are installed."""
    names: list[str] = []
    for name in [methods] if isinstance(methods, str) else methods:
        check.one_of(METHODS)("methods", name)
        usual = [peer for peer in _USUAL if find_spec(PEERS[peer].module) is not None]
        names += usual if name == "peers" else [name]
    if not names:
        raise ValueError(f"methods must name at least one of {', '.join(METHODS)}, got none")
    return list(dict.fromkeys(names))


def _refinements(name: str, refine: Any) -> list[Any]:
    """Refinements that a method is compared with: strategies on a graph plain and refined."""
    refined = refine is not None and name in STRATEGIES and STRATEGIES[name].uses_graph
    return [None, refine] if refined else [None]


def _name(refine: Any) -> str | None:
    """Name of a refinement, None of none."""
    return None if refine is None else type(refine).__name__.lower()


def _run_within(seconds: float, work: Callable[[], Timed]) -> Timed:
    """Return result of work in a process that is ended after so many seconds."""
    try:
        # One job alone would run here.
        return Parallel(n_jobs=2, timeout=seconds)([delayed(work)()])[0]
    except TimeoutError:
        failure = f"stopped after {seconds:g} s (time limit)"
    # A peer that ends its process.
    except Exception as error:
        failure = f"{type(error).__name__}: its process ended"
    return Timed(None, seconds, 0.0, failure, ())
