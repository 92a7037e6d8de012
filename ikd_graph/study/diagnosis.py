"""Can these data be embedded at all: chance, significant correlations, the accuracy to expect."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_array

from .. import _limits, covariance, graph, model_selection
from .._checks import check_components, check_enough_columns, check_enough_rows, check_integer
from .._settings import Settings
from .._stages import Stages
from .._warn import warn
from ..estimator import IKD
from ..generative import evenly_spaced
from ..model_selection import ENOUGH_COLUMNS, Moments
from ..pipeline import describe_effective_columns
from ..refine import Likelihood
from ..similarity import AFFINITIES
from .chance import LEVEL, ChanceTest, chance_test
from .judgement import DOMINANT_SHARE, say_row_levels
from .metrics import Floats, affine_r2
from .settings import reasons, say_settings, used_parameters

__all__ = [
    "WEAK_R2", "Diagnosis", "Step", "diagnose",
]  # fmt: skip

WEAK_R2 = 0.8
"""An expected R² that may be below this, by one spread of the splits, is warned of."""


class Step(NamedTuple):
    """One thing to do next: why, in Python, and as a command."""

    words: str
    python: str
    command: str
    flags: tuple[str, ...] = ()
    parameters: bool = False  # whether the settings of the fit are to be added


@dataclass(frozen=True)
class Diagnosis:
    """What can be expected of an embedding of some data; see `diagnose`.

    Attributes
    ----------
    n_points, n_used, n_observed, n_components : int
        Points, those that were examined, columns N, hidden coordinates M.
    n_removed : int
        Rows that were regressed out before.
    fdr : float
        False discovery rate of the trusted pairs.
    chance : ChanceTest
        Whether there is more structure than by chance, see `chance_test`.
    similarity, graph : str
        How rows are compared and what makes the graph of `ikd_graph.IKD`, in words.
    n_effective : float
        Independent columns that the columns are worth, see `ikd_graph.covariance`.
    standard_error : float
        Sampling error of a correlation of nothing, 1 / sqrt(n_effective - 1).
    share_above_two : float
        Share of pairs whose correlation exceeds 2 of these; chance makes 2.3 %.
    mean_correlation, common_share : float
        Mean correlation of two rows, and its square over the mean squared correlation.
    trusted_pairs : (m, 2) ndarray of int64
        Rows of X whose correlation is significant, the strongest first.
    trusted_correlations : (m,) ndarray of float64
        Their correlations.
    components, largest_component : int
        Components of the graph of trusted pairs, and points in the largest of them.
    correlation_counts, correlation_edges : tuple
        Histogram of the correlations of all pairs.
    graph_components : int
        Components of the graph of the default fit.
    predicted_r2, spread_r2 : float
        Expected R² (after affine alignment), NaN with too few columns, and its standard deviation
        over the splits.
    halves_r2 : tuple of float
        R² that the agreement of embeddings of two halves of the columns speaks for, for each split:
        the expected R² with a half of the columns.
    noise_share : float
        Estimated share of independent noise in the variance.
    moments : Moments
        How well rows fit the model, see `ikd_graph.model_selection.Moments`.
    row_levels : tuple of str
        What to warn of where levels or lengths of rows hold nearly all that is compared.
    parameters : dict
        Parameters for `ikd_graph.IKD` on all points.
    reasons : dict of str to str
        Why they are what they are.
    warnings : tuple of str
        What is wrong, in clauses.
    steps : tuple of Step
        What to do next.
    """

    n_points: int
    n_used: int
    n_observed: int
    n_components: int
    n_removed: int
    fdr: float
    chance: ChanceTest
    similarity: str
    graph: str
    n_effective: float
    standard_error: float
    share_above_two: float
    mean_correlation: float
    common_share: float
    trusted_pairs: NDArray[np.int64] = field(repr=False, compare=False)
    trusted_correlations: NDArray[np.float64] = field(repr=False, compare=False)
    components: int
    largest_component: int
    correlation_counts: tuple[int, ...] = field(repr=False)
    correlation_edges: tuple[float, ...] = field(repr=False)
    graph_components: int
    predicted_r2: float
    spread_r2: float
    halves_r2: tuple[float, ...]
    noise_share: float
    moments: Moments
    row_levels: tuple[str, ...]
    parameters: dict[str, Any]
    reasons: dict[str, str]
    warnings: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()

    @property
    def p_value(self) -> float:
        """Probability of as much structure in a table without a latent."""
        return self.chance.p_value

    @property
    def n_trusted(self) -> int:
        """Number of trusted pairs."""
        return len(self.trusted_pairs)

    @property
    def mean_degree(self) -> float:
        """Trusted correlations of a point."""
        return 2.0 * self.n_trusted / self.n_used

    @property
    def holds_together(self) -> bool:
        """Whether trusted pairs join nearly all points."""
        return self.largest_component >= DOMINANT_SHARE * self.n_used

    @property
    def common_mode(self) -> bool:
        """Whether one direction makes nearly all rows correlate."""
        return self.share_above_two >= DOMINANT_SHARE and self.common_share >= 0.5

    def expected_r2(self, n_columns: Any) -> Any:
        """Expected R² with another number of columns of the same kind (Spearman and Brown 1910)."""
        more = n_columns / self.n_observed
        return more * self.predicted_r2 / (1.0 + (more - 1.0) * self.predicted_r2)

    def columns_for(self, r2: float) -> float:
        """Number of columns of the same kind with which an R² is expected, at most infinite."""
        odds = self.predicted_r2 / max(1.0 - self.predicted_r2, 1e-12)
        return self.n_observed * r2 / (1.0 - r2) / odds if odds > 0.0 else np.inf

    def pairs(self, names: Sequence[str] | None = None) -> list[tuple[Any, Any, float]]:
        """Trusted pairs by name, the strongest first.

        Parameters
        ----------
        names : sequence of str or None
            Name of every row of X; None gives their numbers.

        Returns
        -------
        list of (name, name, float)
            Two rows and their correlation.
        """
        named = range(self.n_points) if names is None else names
        values = zip(self.trusted_pairs.tolist(), self.trusted_correlations.tolist(), strict=True)
        return [(named[a], named[b], r) for (a, b), r in values]

    def findings(self) -> dict[str, str]:
        """Name the results in words.

        Returns
        -------
        dict of str to str
            Name and sentence, in the order to read them.
        """
        width, free = self.n_observed, self.n_effective
        texts = {
            "data": f"{self.n_points} points with {width} features each",
            "chance": str(self.chance),
        }
        if self.n_used < self.n_points:
            texts["data"] += f"; {self.n_used} points, chosen at random, were examined"
        if free < width - self.n_removed:
            texts["columns"] = describe_effective_columns(width, free)
        texts["correlations"] = (
            f"{self.share_above_two:.1%} of the pairs of points correlate by more than "
            f"{2.0 * self.standard_error:.3g}, two standard errors (2.3% would by chance)"
        )
        texts["trusted"] = self._trusted_words()
        texts["similarity"], texts["graph"] = self.similarity, self.graph
        seem = "look" if self.moments.fit_the_model else "do not look"
        texts["model"] = (
            f"the rows {seem} like samples of a Gaussian process (their variances spread "
            f"{self.moments.spread_ratio:.2g} times as much as expected; excess kurtosis "
            f"{self.moments.kurtosis_gap:+.2f})"
        )
        if free < ENOUGH_COLUMNS:
            texts["model"] = f"{free:.0f} features are too few to compare the rows with the model"
        texts["noise"] = f"about {self.noise_share:.0%} of the variance is independent noise"
        if not np.isfinite(self.predicted_r2):
            return {**texts, "expected R²": "unknown: too few features to be halved"}
        texts["expected R²"] = (
            f"{self.predicted_r2:.2f} ± {self.spread_r2:.2f} at most (halves of the features, "
            f"embedded separately: {np.mean(self.halves_r2):.2f})"
        )
        if self.predicted_r2 < WEAK_R2:
            needed = self.columns_for(WEAK_R2)
            texts["features"] = f"about {needed:.0f} such features would give R² {WEAK_R2:g}"
            if needed > 10 * width:
                texts["features"] = "more than ten times as many features would be needed"
        return texts

    def _trusted_words(self) -> str:
        """The trusted pairs in words."""
        if not self.n_trusted:
            return f"no pair is significantly correlated (false discovery rate {self.fdr:g})"
        joined = (
            "connect all points"
            if self.components == 1
            else f"leave {self.components} separate groups, the largest of "
            f"{self.largest_component} points"
        )
        return (
            f"{self.n_trusted} pairs are significantly correlated, by "
            f"{self.trusted_correlations[-1]:.3g} or more (false discovery rate {self.fdr:g}), "
            f"{self.mean_degree:.1f} per point; they {joined}"
        )

    def summary(self) -> str:
        """Tell the whole diagnosis.

        Returns
        -------
        str
            Lines of findings, warnings and what to do in Python.
        """
        texts = self.findings()
        width = max(map(len, texts))
        lines = [f"{name:<{width}}  {text}" for name, text in texts.items()]
        lines += [f"warning: {text}" for text in self.warnings]
        return "\n".join([*lines, *(f"- {step.words}: {step.python}" for step in self.steps)])

    def __str__(self) -> str:
        """As `summary`."""
        return self.summary()


def diagnose(
    X: ArrayLike,
    n_components: int = 2,
    *,
    fdr: float = 0.01,
    n_removed: int = 0,
    n_splits: int = 3,
    random_state: int | None = 0,
    verbose: int = 0,
) -> Diagnosis:
    """Tell what an embedding of weakly correlated data can be worth before it is believed.

    The p value is that of a table without a latent whose columns keep their values and their order,
    see `chance_test`. Pairs of rows are trusted where they are significantly correlated
    (`graph.significant_graph`). The expected accuracy is a split-half reliability: the default
    embedding of X is computed from either half of the columns alone. The R² of one half with the
    other, less what chance gives, is the square of that of a half with the truth, and Spearman and
    Brown's formula (1910) takes it to all columns, or to more. Columns that follow one another are
    cut into two runs, others are divided at random. It is an upper bound: what both halves distort
    alike, as principal components do a curve, is not seen.

    Parameters
    ----------
    X : (n_samples, n_features) array_like of float64
        Points in rows; beyond 1000 a fixed random sample of 500 is looked at. Halves that the
        likelihood refines are those of 100 rows.
    n_components : int
        Number M of hidden coordinates.
    fdr : float
        False discovery rate of the pairs that are trusted, in (0, 1).
    n_removed : int
        Rows that were regressed out of X (`covariance.remove_mean_row` takes one).
    n_splits : int
        Number of times that the columns are split, at least 2.
    random_state : int or None
        Seed of the splits and of the test.
    verbose : int
        1 shows a progress bar on a terminal.

    Returns
    -------
    Diagnosis
        Numbers, and sentences about them.

    Warns
    -----
    UserWarning
        Once, with all that speaks against an embedding.

    Examples
    --------
    >>> import ikd_graph
    >>> from ikd_graph.study import datasets
    >>> latent = np.random.default_rng(0).uniform(0.0, 3.0, size=(15, 1))
    >>> diagnosis = ikd_graph.diagnose(datasets.gplvm_data(latent, 300, noise=0.1).X, 1)
    >>> diagnosis.holds_together, diagnosis.p_value, diagnosis.predicted_r2 > 0.9
    (True, 0.005, True)
    """
    check_integer("n_splits", n_splits, 2)
    table, data, picked, n_points = _sampled(X)
    check_components(n_components, n_points)
    stages = Stages(verbose, total=3 + n_splits)
    # Of what the fits say of their graphs, the diagnosis says what matters, and says it once.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        with stages("chance"):
            chance = chance_test(data, random_state=random_state)
        with stages("correlations"):
            correlations = _correlations(data, picked, fdr, n_removed)
        with stages("fitting"):
            whole, parameters = _default_fit(X, table, n_components, stages)
        ordered = correlations["n_effective"] < data.shape[1] - n_removed
        halves = _halves(whole, parameters, table, n_splits, ordered, random_state, stages)
    stages.close()
    affinity = AFFINITIES[whole.settings_.affinity]
    whole_r2 = 2.0 * np.array(halves) / (1.0 + np.array(halves))
    why, words = reasons(whole), say_settings(whole)
    warned = why.pop("warning", "")
    diagnosis = Diagnosis(
        n_points=n_points,
        n_used=len(data),
        n_observed=data.shape[1],
        n_components=n_components,
        n_removed=n_removed,
        fdr=fdr,
        chance=chance,
        similarity=words["similarity"],
        graph=words["graph"],
        **correlations,
        graph_components=int(whole.component_labels_.max()) + 1,
        predicted_r2=float(whole_r2.mean()),
        spread_r2=float(whole_r2.std(ddof=1)),
        halves_r2=tuple(halves),
        noise_share=covariance.noise_fraction(affinity.modelled(data), correlations["n_effective"]),
        moments=model_selection.moments(data),
        parameters=parameters,
        reasons=why,
        row_levels=() if affinity.scale_invariant else tuple(say_row_levels(data)),
    )
    texts = (*diagnosis.row_levels, *filter(None, [warned]), *problems(diagnosis))
    if texts:
        warn("; ".join(texts))
    return replace(diagnosis, warnings=texts, steps=tuple(steps(diagnosis)))


def _sampled(X: ArrayLike) -> tuple[NDArray[Any], Floats, NDArray[np.int64], int]:
    """The rows to examine, as they came and as floats, their numbers, and the number of all."""
    # The estimator knows a table of counts, where a row may be silent, by its type.
    counts = np.asarray(X).dtype.kind in "iub"
    data = check_array(X, dtype=np.float64)
    n_points, n_observed = data.shape
    check_enough_rows(n_points)
    check_enough_columns(n_observed, "correlation")
    picked = np.arange(n_points)
    if n_points > _limits.DIAGNOSED_WHOLE:
        rng = np.random.default_rng(0)
        picked = np.sort(rng.choice(n_points, _limits.DIAGNOSED_SAMPLE, replace=False))
    data = data[picked]
    return (data.astype(np.int64) if counts else data), data, picked, n_points


def _correlations(
    data: Floats, picked: NDArray[np.int64], fdr: float, n_removed: int
) -> dict[str, Any]:
    """The fields of a diagnosis that say which correlations can be trusted."""
    rows = covariance.unit_rows(data, allow_flat=True)
    pairs = covariance.gram(rows)[np.triu_indices(len(data), 1)]
    effective = covariance.effective_columns(rows, n_removed=n_removed)
    error = 1.0 / float(np.sqrt(max(effective - 1.0, 1.0)))
    trusted = graph.significant_graph(rows, fdr, n_removed=n_removed)
    left, right, corr = graph.edges(trusted)
    order = np.argsort(-corr, kind="stable")
    sizes = np.bincount(graph.component_labels(trusted))
    counts, edges = np.histogram(pairs, np.linspace(-1.0, 1.0, 82))
    mean = float(pairs.mean())
    return {
        "n_effective": effective,
        "standard_error": error,
        "share_above_two": float(np.mean(pairs > 2.0 * error)),
        "mean_correlation": mean,
        "common_share": mean**2 / max(float(np.mean(pairs**2)), np.finfo(float).tiny),
        "trusted_pairs": np.c_[picked[left[order]], picked[right[order]]],
        "trusted_correlations": corr[order],
        "components": int(sizes.size),
        "largest_component": int(sizes.max()),
        "correlation_counts": tuple(counts.tolist()),
        "correlation_edges": tuple(edges.tolist()),
    }


def _default_fit(
    X: ArrayLike, table: NDArray[Any], n_components: int, stages: Stages
) -> tuple[IKD, dict[str, Any]]:
    """The default fit before its refinement, and the parameters of `IKD` with it."""
    counts = table.dtype.kind == "i"
    asked = Settings(n_components=n_components, n_landmarks=None, counts=counts)
    settings, _ = model_selection.resolve(np.unique(table, axis=0), asked, stages)
    model = IKD(n_components, strategy=settings.strategy, affinity=settings.affinity)
    model.set_params(refine=None, n_landmarks=None).fit(np.asarray(X))
    model.settings_.reasons.update(settings.reasons)
    parameters = {**used_parameters(model), "refine": settings.refine}
    del parameters["n_components"]
    if isinstance(settings.refine, Likelihood):
        # The likelihood chooses it.
        parameters.pop("kernel", None)
    return model, parameters


def _halves(
    whole: IKD,
    parameters: dict[str, Any],
    table: NDArray[Any],
    n_splits: int,
    ordered: bool,
    random_state: int | None,
    stages: Stages,
) -> list[float]:
    """The reliability of halves of the columns, NaN where they are too few to be embedded."""
    model = IKD(whole.n_components_, **parameters, n_landmarks=None)
    rule = parameters.get("graph")
    if isinstance(rule, graph.Threshold):
        # The threshold is that of the columns of a half.
        prune = False if whole.settings_.trusted else rule.prune
        model.set_params(graph=graph.Threshold(n_neighbors=rule.n_neighbors, prune=prune))
    if isinstance(model.refine, Likelihood):
        table = table[evenly_spaced(len(table), _limits.DIAGNOSED_BY_LIKELIHOOD)]
    width = table.shape[1]
    size = width // 2
    if size < max(2, whole.n_components_):
        return [np.nan] * n_splits
    rng, halves = np.random.default_rng(random_state), []
    for split in range(n_splits):
        columns = rng.permutation(width)
        if ordered:
            columns = np.roll(np.arange(width), -split * width // (2 * n_splits))
        with stages(f"{size} of {width} columns"):
            parts = columns[: 2 * size].reshape(2, size)
            halves.append(_reliability(model, *(table[:, half] for half in parts)))
    return halves


def _reliability(model: IKD, first: NDArray[Any], second: NDArray[Any]) -> float:
    """R² with the truth that the agreement of embeddings of separate columns speaks for."""
    try:
        a, b = (clone(model).fit_transform(half) for half in (first, second))
        shared = 0.5 * (affine_r2(a, b) + affine_r2(b, a))
    # A row that is constant in one half, or a half that falls into one point.
    except ValueError:
        return 0.0
    n, m = a.shape
    # Any unrelated embedding explains a share m / (n - 1).
    shared = 1.0 - (1.0 - shared) * (n - 1.0) / max(n - 1.0 - m, 1.0)
    return float(np.sqrt(max(shared, 0.0)))


def problems(diagnosis: Diagnosis) -> list[str]:
    """What is to be warned of, as clauses without a capital or a full stop."""
    d, clauses = diagnosis, []
    if d.p_value > LEVEL:
        why = "the embedding is noise" if d.chance.is_noise else "any slow series are as alike"
        clauses.append(f"{d.chance}: {why}")
    if d.common_mode:
        clauses.append(
            f"{d.share_above_two:.0%} of the pairs of rows are positively correlated, by "
            f"{d.mean_correlation:.2f} in the mean: one direction that all rows share (a "
            "market, a season, a global signal) may hide what only few of them share"
        )
    if d.predicted_r2 - d.spread_r2 < WEAK_R2:
        may = "is" if d.predicted_r2 < WEAK_R2 else "may be"
        clauses.append(
            f"the expected R² is {d.predicted_r2:.2f} ± {d.spread_r2:.2f}, which {may} "
            f"below {WEAK_R2:g}: another sample of {d.n_observed} features could give a "
            "different embedding"
        )
    if d.graph_components > 1:
        clauses.append(
            f"the graph has {d.graph_components} separate components: where they lie relative "
            "to one another depends on few edges"
        )
    if d.parameters["affinity"] != "correlation" or not d.n_trusted:
        return clauses
    if not d.holds_together:
        clauses.append(
            f"significant correlations connect only {d.largest_component} of {d.n_used} "
            "points: where all others lie relative to these may be noise"
        )
    elif d.mean_degree < 2 * d.n_components:
        clauses.append(
            f"{d.mean_degree:.1f} significant correlations per point are few: "
            f"{d.n_components} dimensions need {2 * d.n_components}"
        )
    return clauses


def steps(diagnosis: Diagnosis) -> list[Step]:
    """What to do next, the most urgent first."""
    d, todo = diagnosis, []
    if d.row_levels:
        words, python = "Compare rows whatever their levels and lengths", "covariance.unit_rows(X)"
        todo.append(Step(words, f"diagnose({python})", "diagnose", ("--standardize-rows",)))
    if d.common_mode and not d.n_removed:
        python = "diagnose(covariance.remove_mean_row(X), n_removed=1)"
        todo.append(
            Step("Take off what all rows share", python, "diagnose", ("--remove-mean-row",))
        )
    if d.n_trusted and not d.predicted_r2 >= WEAK_R2:
        rule = f"graph=graph.Threshold(fdr={d.fdr:g})"
        python = f"IKD({d.n_components}, strategy='blockwise', {rule})"
        flags = ("--components", str(d.n_components), "--fdr", f"{d.fdr:g}")
        todo.append(Step("Look at the significant correlations alone", python, "cliques", flags))
    settings = ", ".join(f"{name}={value!r}" for name, value in d.parameters.items())
    words = "Embed the noise all the same" if d.chance.is_noise else "Embed with these settings"
    command = f"IKD({d.n_components}, {settings})"
    return [*todo, Step(words, command, "embed", parameters=True)]
