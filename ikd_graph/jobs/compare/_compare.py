"""Methods on one table: their names, the shared similarity and graph, draws of noise, scores."""

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import sem

from ... import metrics, model_selection, strategies
from ..._base.as_table import as_table, check_known
from ..._base.dataset import encode_labels
from ..._base.progress import progress_bar
from ..._base.types import Floats
from ..._base.validation import (
    check_choice,
    check_integer,
    check_magnitude,
    check_positive,
    naming_rows,
    quantities,
)
from ...covariance import are_ordered
from ...datasets import Dataset
from ...estimator import IKD
from ...metrics import aligned
from ...similarity import AFFINITIES, GIVEN, unique_rows
from .. import baselines
from .._timing import Timed, timed
from ..label_scores import score_labels
from ..used_settings import describe_settings
from ._result import Comparison, Row

STRATEGIES: dict[str, strategies.Strategy] = {
    "blockwise": strategies.Blockwise(),
    "geodesic": strategies.Geodesic(),
    "eigen": strategies.Eigen(),
    "linear": strategies.Linear(),
    "paper_blockwise": strategies.Blockwise.paper(),
    "paper_geodesic": strategies.Geodesic.paper(),
}
"""Strategies of `IKD` by the name of their method; those of the paper have its settings."""

METHODS = (*STRATEGIES, *baselines.PEERS, "peers")
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
    affinity: str = "auto",
    graph: Any = "auto",
    kernel: Any = "auto",
    refine: Any = "auto",
    n_draws: int = 4,
    max_rows: int = 2000,
    time_limit: float | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
    **more: Any,
) -> Comparison:
    """Compare strategies, and other methods, on the same table, similarity and graph.

    Parameters
    ----------
    X : (n, n_features) array_like, DataFrame or Dataset
        The table. The index of a DataFrame (or AnnData) names its rows; a `Dataset` may know the
        true latent.
    methods : str or iterable of str
        Among "blockwise", "geodesic", "eigen", "linear", "paper_blockwise", "paper_geodesic" and
        the peers of `comparison.baselines` ("pca", "isomap", "umap" ...); "peers" stands for the
        usual ones that are installed.
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
    affinity, graph, kernel, refine
        As for `IKD`. What is "auto" is chosen once, on the table as given, for all strategies.
        With a refinement, strategies on a graph are compared plain and refined.
    n_draws : int
        Draws of noise at every level above 0, and random splits of the columns into halves (half
        as many).
    max_rows : int
        A larger table is compared on so many random rows.
    time_limit : float or None
        Seconds after which a fit of a peer is ended and the peer is dropped. Peers then run in a
        process of their own.
    random_state : int
        Seed of noise, halves and methods.
    n_jobs, verbose
        As for `IKD`.
    **more
        Further parameters of `IKD`, such as ``n_landmarks``.

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
    latents of random halves of the columns; else the R² of columns that were held out, a quarter
    at a time, each row being predicted by its 10 nearest rows in the embedding of the others: the
    number that `IKD` prints.

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
    levels = _levels(noise)
    check_integer("n_draws", n_draws, 2)
    check_integer("max_rows", max_rows, 3)
    if time_limit is not None:
        check_positive("time_limit", time_limit)
    data = _sampled(_with_truth(_dataset(X, labels), truth), max_rows, random_state)
    if affinity in GIVEN:
        raise ValueError(
            f"affinity must compare rows of a table, got {affinity!r}; noise and halves of columns "
            "need the table itself"
        )
    settings = {
        "affinity": affinity, "graph": graph, "kernel": kernel, "random_state": random_state,
        "n_jobs": n_jobs, **more,
    }  # fmt: skip
    head = {"table": f"{data.n_samples} points, {data.n_features} columns"}
    model_based, chosen = False, None
    if any(name in STRATEGIES for name in names):
        settings, chosen, model_based, words = _resolve(data.X, n_components, settings, refine)
        head |= words
    scorer = _Scores(data, settings, model_based, n_components, n_draws, time_limit)
    if scorer.in_runs:
        head["columns"] = "compared in runs, since they follow one another"
    own = ("n_jobs", "random_state")
    used = {name: value for name, value in settings.items() if name not in own}
    result = Comparison(data, scorer.measure, head, [], {}, {}, used | {"refine": chosen})
    fits = [(plan, level) for plan in with_refinements(names, chosen) for level in levels]
    whole = 0
    try:
        for plan, level in progress_bar(verbose, iterable=fits, desc="compare") or fits:
            scorer.add(result, plan, level)
            whole = len(result.rows) if level == levels[-1] else whole
    except KeyboardInterrupt as stopped:
        # What is finished took long, and is kept for those who catch the interrupt.
        finished = _first_rows(result, whole)
        stopped.finished = finished if finished.embeddings else None  # type: ignore[attr-defined]
        raise
    if not result.embeddings:
        reasons = dict.fromkeys(f"{row.title} {row.failure}" for row in result.rows)
        raise ValueError(f"no method gave an embedding: {'; '.join(reasons)}")
    return result


def _first_rows(result: Comparison, n_rows: int) -> Comparison:
    """Return a comparison of the methods that were finished at all levels of noise."""
    rows = result.rows[:n_rows]
    keys = {(row.title, row.noise) for row in rows}
    return replace(
        result,
        rows=rows,
        scores={key: value for key, value in result.scores.items() if key in keys},
        embeddings={key: value for key, value in result.embeddings.items() if key in keys},
    )


@dataclass
class _Scores:
    """How embeddings of one table are made, from it and with noise, and what they are scored by."""

    data: Dataset
    settings: dict[str, Any]  # of `IKD`
    model_based: bool
    n_components: int
    n_draws: int
    time_limit: float | None

    def __post_init__(self) -> None:
        self.seed = self.settings["random_state"]
        X = self.data.X
        # The distinct rows that the default compares its candidates on, in the same order.
        first, _ = unique_rows(X)
        self.rows = first[model_selection.sampled(first.size)]
        parts = model_selection.folds(X[self.rows])
        self.in_runs = len(parts) > 1 and are_ordered(X)
        self.held_out = parts
        self.measure, self.references = "held-out" if len(parts) > 1 else "embedded", []
        if self.data.latent is not None:
            self.measure, self.references = "true", [self.data.latent]
        elif self.model_based:
            self.measure = "maximum_likelihood"
            halves = [parts[0] | parts[k] for k in (1, 2, 3)[: max(self.n_draws // 2, 1)]]
            both = [mask for half in halves for mask in (half, ~half)]
            self.references = [self._most_likely(X[:, mask]) for mask in both]

    def _most_likely(self, X: Floats) -> Floats:
        model = IKD(self.n_components, strategy="geodesic", affinity="correlation",
                    refine="likelihood", random_state=self.seed)  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return np.asarray(model.fit_transform(X))

    def table(self, level: float, draw: int) -> Floats:
        """Return the table with noise, the same for all methods."""
        rng = np.random.default_rng([self.seed, draw])
        scale = level * self.data.X.std(axis=0)
        noisy = self.data.X + scale * rng.standard_normal(self.data.X.shape)
        affinity = AFFINITIES.get(self.settings["affinity"])
        # Roots are taken of counts, which noise must not make negative.
        return np.maximum(noisy, 0.0) if affinity is not None and affinity.square_roots else noisy

    def draws(self, level: float) -> list[tuple[int, NDArray[np.bool_] | None]]:
        """Draws of noise, and columns that are held out, for the scores of a level."""
        if not self.references:
            n = self.n_draws if level else len(self.held_out)
            return [(draw, self.held_out[draw % len(self.held_out)]) for draw in range(n)]
        return [(draw, None) for draw in range(self.n_draws if level else 1)]

    def embed(
        self, name: str, refine: Any, level: float, draw: int, held_out: NDArray[np.bool_] | None
    ) -> Timed:
        """Embedding that is scored."""
        X = self.table(level, draw)
        if held_out is None:
            return self.fit(name, refine, X)
        return self.fit(name, refine, X[self.rows][:, held_out if held_out.all() else ~held_out])

    def score(self, Z: Floats, held_out: NDArray[np.bool_] | None) -> list[float]:
        """Scores of an embedding against every reference."""
        if held_out is None:
            return [metrics.affine_r2(reference, Z) for reference in self.references]
        values = model_selection.predicted_values(self.data.X[self.rows], self.data.X)
        return [float(model_selection.held_out_r2(Z, values[:, held_out]).sum())]

    def fit(self, name: str, refine: Any, X: Floats) -> Timed:
        """Coordinates (n, n_components) of a method, or why there are none."""
        if name in baselines.PEERS:
            peer = partial(baselines.embed, name, X, self.n_components, self.seed)
            return peer() if self.time_limit is None else _run_within(self.time_limit, peer)
        model = IKD(self.n_components, strategy=STRATEGIES[name], refine=refine, **self.settings)
        return timed(lambda: np.asarray(model.fit_transform(X), dtype=np.float64))

    def add(self, result: Comparison, planned: tuple[str, str, Any], level: float) -> None:
        """Add a method at a noise level: its fits, scores and first embedding."""
        title, name, refine = planned
        whole = self.fit(name, refine, self.table(level, 0))
        done, seconds, scores = whole, [whole.seconds], []
        for draw, held_out in self.draws(level) if whole.value is not None else ():
            if draw or held_out is not None:
                done = self.embed(name, refine, level, draw, held_out)
                seconds.append(done.seconds)
            if done.value is None:
                break
            scores.append(self.score(done.value, held_out))
        kind = None if refine is None else type(refine).__name__.lower()
        row = Row(title, name, kind, level, np.nan, np.nan, float(np.median(seconds)), {})
        if done.value is None:
            result.rows.append(row._replace(failure=done.failure, seconds=np.nan))
            return
        values = np.array(scores)
        # Scores of held-out halves are those of one draw against several references.
        values = values if self.references else values.T
        result.scores[title, level] = values
        target = next(iter(result.embeddings.values()), whole.value)
        target = target - target.mean(axis=0)
        result.embeddings[title, level] = aligned(whole.value, target)
        result.notes.setdefault(title, whole.notes)
        marks = {
            mark + f" of {labels.title}" * (k > 0): value
            for k, labels in enumerate(self.data.all_labels)
            for mark, value in score_labels(whole.value, labels).items()
        }
        error = float(sem(values, axis=None)) if values.size > 1 else np.nan
        result.rows.append(row._replace(score=float(values.mean()), error=error, labels=marks))


def _resolve(
    X: Floats, n_components: int, settings: dict[str, Any], refine: Any
) -> tuple[dict[str, Any], Any, bool, dict[str, str]]:
    """Return settings with nothing left to choose, for all strategies, and the words for them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = IKD(n_components, strategy="geodesic", refine=refine, **settings).fit(X)
    chosen, kernel = model.settings_, settings["kernel"]
    refined = "none" if chosen.refine is None else type(chosen.refine).__name__.lower()
    again = ", chosen again by the likelihood" if refined == "likelihood" else ""
    words = describe_settings(model) | {
        "kernel": f"squared_exponential{again}" if kernel == "auto" else str(kernel),
        "refinement": refined,
    }
    settings = {**settings, "affinity": chosen.affinity, "graph": chosen.graph}
    return settings, chosen.refine, chosen.model_based, words


def _levels(noise: float | Sequence[float]) -> list[float]:
    """Noise levels, checked and ascending."""
    levels = np.unique(np.atleast_1d(np.asarray(noise, dtype=np.float64)))
    if levels.size == 0 or not (np.isfinite(levels).all() and levels[0] >= 0.0):
        raise ValueError(
            f"noise must be finite fractions of a column's standard deviation, at least 0; got "
            f"{noise!r}"
        )
    return list(levels.tolist())


def _dataset(X: Any, labels: ArrayLike | None) -> Dataset:
    """Return the table with its names and labels."""
    if isinstance(X, Dataset):
        data = X
    else:
        table = as_table(X)
        names = tuple(map(str, table.row_names))
        data = Dataset(table.dense.astype(np.float64), name="table", row_names=names)
    with naming_rows(data.row_names):
        check_known(data.X, "X", _HOLES)
    check_magnitude("X", data.X)
    if labels is not None:
        values = np.asarray(labels)
        if values.shape != (data.n_samples,):
            raise ValueError(
                f"labels must have one value for each of {data.n_samples} rows, got shape "
                f"{values.shape}"
            )
        y, names = encode_labels(values)
        data = replace(data, y=y, label_names=names, label_title=str(getattr(labels, "name", "")))
    return data


_HOLES = (
    "not every method takes pairs of rows that are unknown, as IKD does: fill them in, as by "
    "sklearn.impute.KNNImputer().fit_transform(X), or drop those rows"
)
"""What to do about missing values."""


def _with_truth(data: Dataset, truth: ArrayLike | None) -> Dataset:
    """Return the data set with the true latent that was given, if any."""
    if truth is None:
        return data
    latent = quantities("truth", truth)
    latent = latent[:, None] if latent.ndim == 1 else latent
    if latent.ndim != 2 or len(latent) != data.n_samples or not latent.shape[1]:
        raise ValueError(
            f"truth must have one row of coordinates for each of {data.n_samples} rows of X, got "
            f"shape {np.shape(truth)}"
        )
    if bad := int(np.count_nonzero(~np.isfinite(latent).all(axis=1))):
        raise ValueError(
            f"truth must be finite, got {bad} rows that are not; leave them out of X and truth"
        )
    check_magnitude("truth", latent)
    return replace(data, latent=latent)


def _sampled(data: Dataset, most: int, seed: int) -> Dataset:
    """Return the data set, or random rows of it in their order."""
    if data.n_samples <= most:
        return data
    rows = np.sort(np.random.default_rng(seed).permutation(data.n_samples)[:most])
    names = data.row_names or tuple(map(str, range(data.n_samples)))
    return replace(
        data,
        X=data.X[rows],
        y=None if data.y is None else data.y[rows],
        latent=None if data.latent is None else data.latent[rows],
        other_labels=tuple(replace(each, y=each.y[rows]) for each in data.other_labels),
        row_names=tuple(names[row] for row in rows),
        notes=(*data.notes, f"{most} of {data.n_samples} rows are compared, at random"),
    )


def expand(methods: str | Iterable[str]) -> list[str]:
    """Names of single methods, each once; of the group "peers" those that are installed."""
    names: list[str] = []
    for name in [methods] if isinstance(methods, str) else methods:
        check_choice("methods", name, METHODS)
        usual = [peer for peer in _USUAL if find_spec(baselines.PEERS[peer].module) is not None]
        names += usual if name == "peers" else [name]
    if not names:
        raise ValueError(f"methods must name at least one of {', '.join(METHODS)}, got none")
    return list(dict.fromkeys(names))


def with_refinements(names: list[str], refine: Any) -> list[tuple[str, str, Any]]:
    """Title, name and refinement of every row: strategies on a graph plain and refined."""
    rows: list[tuple[str, str, Any]] = []
    for name in names:
        rows.append((name, name, None))
        if refine is not None and name in STRATEGIES and STRATEGIES[name].uses_graph:
            rows.append((f"{name} + {type(refine).__name__.lower()}", name, refine))
    return rows


def _run_within(seconds: float, work: Callable[[], Timed]) -> Timed:
    """Return result of work in a process that is ended after so many seconds."""
    from joblib.externals.loky import TimeoutError, get_reusable_executor

    executor = get_reusable_executor(max_workers=1)
    try:
        return executor.submit(work).result(seconds)
    except TimeoutError:
        failure = f"stopped after {seconds:g} s (time limit)"
    # A peer that ends its process.
    except Exception as error:
        failure = f"{type(error).__name__}: its process ended"
    executor.shutdown(kill_workers=True)
    return Timed(None, seconds, 0.0, failure, ())
