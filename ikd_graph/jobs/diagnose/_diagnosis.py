"""Can these data be embedded at all: chance, significant correlations, agreement of halves."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from textwrap import fill
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtr

from ... import covariance, graph, model_selection
from ... import missing as holes
from ..._base import limits
from ..._base.as_table import as_table, check_known, row_names
from ..._base.format import count
from ..._base.progress import Stages
from ..._base.types import Floats
from ..._base.validation import (
    check_components,
    check_enough_columns,
    check_enough_rows,
    check_magnitude,
    few_rows,
    naming_rows,
)
from ..._base.validation import seed as check_seed
from ..._base.warn import warn
from ...eigen import DOMINANT_FRACTION
from ...estimator import IKD
from ...missing import Pairwise
from ...model_selection import ENOUGH_COLUMNS, SUPPORTED, Moments, describe_effective_columns
from ...plotting import charts, colors, plot
from ...plotting.charts import Bars, Chart, Curve
from ...similarity import AFFINITIES, PairwiseSimilarity
from ..used_settings import describe_settings, used_parameters
from .chance import LEVEL, ChanceTest, chance_test
from .quality import describe_row_levels

__all__ = ["Diagnosis", "Step", "diagnose"]


class Step(NamedTuple):
    """One thing to do next: why, in Python, and as a command."""

    words: str
    python: str
    command: str
    settings: dict[str, Any]  # of the command, by their names in Python


class KnownPairs(NamedTuple):
    """Which pairs of rows of a table with holes are known."""

    n_rows: int
    n_known: int
    n_pairs: int
    min_columns: int  # shared columns from which a pair is known
    median_columns: float  # shared columns of the known pairs
    n_groups: int  # groups of rows without a known pair between them
    block: tuple[int, int]  # rows and columns of the largest block without holes

    def __str__(self) -> str:
        text = (
            f"{self.n_known} of {self.n_pairs} pairs of {self.n_rows} rows share at least "
            f"{self.min_columns} columns (in the median {self.median_columns:.0f}); the others are "
            f"unknown; what follows is of the largest block without holes, {self.block[0]} rows "
            f"and {self.block[1]} columns"
        )
        if self.n_groups > 1:
            text += f"; {self.n_groups} groups of rows share too few columns with one another"
        return text


FIGURE_SIZE = (11.0, 5.6)
"""Width and height of the figure in inches."""
_STRONG_LINES = 40
"""Lines of a map above which they are drawn thinner."""

_DRAWN_PER_POINT = 5
"""Significant pairs that a map shows for each point, the strongest of all."""


def _no_rows() -> NDArray[np.int64]:
    return np.zeros(0, dtype=np.int64)


def _no_coordinates() -> Floats:
    return np.zeros((0, 2))


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
        Share of pairs whose correlation, means of columns taken off, exceeds 2 of these; chance
        makes 2.3 %.
    mean_correlation, common_share : float
        Mean correlation of two rows, and its square over the mean squared correlation, before
        means of columns are taken off.
    common_mode : bool
        Whether nearly all pairs correlate before means of columns are taken off.
    trusted_pairs : (m, 2) ndarray of int64
        Rows of X whose correlation is significant, the strongest first.
    trusted_correlations : (m,) ndarray of float64
        Their correlations.
    components, largest_component : int
        Components of the graph of trusted pairs, and points in the largest of them.
    correlation_counts, correlation_edges : tuple
        Histogram of the correlations of all pairs, means of columns taken off.
    graph_components : int
        Components of the graph of the default fit.
    agreement : float
        Procrustes R² between embeddings of two halves of the columns; NaN with too few columns.
    held_out_r2, held_out_error : float
        R² of held-out columns, predicted from the embedding of the others, and its standard error;
        NaN where none were held out.
    reliability : float
        R² with the truth that the standard errors lead to expect; NaN without them.
    noise_fraction : float
        Estimated fraction of independent noise in the variance; NaN with too few columns.
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
    rows : (n_used,) ndarray of int64
        Rows of X that were examined.
    embedding : (n_used, n_components) ndarray of float64
        Coordinates of these rows by the default fit.
    known : KnownPairs or None
        Which pairs of rows of a table with holes are known; all else is said of its largest block
        without holes. None for a table without holes.
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
    common_mode: bool
    trusted_pairs: NDArray[np.int64] = field(repr=False, compare=False)
    trusted_correlations: NDArray[np.float64] = field(repr=False, compare=False)
    components: int
    largest_component: int
    correlation_counts: tuple[int, ...] = field(repr=False)
    correlation_edges: tuple[float, ...] = field(repr=False)
    graph_components: int
    agreement: float
    held_out_r2: float
    held_out_error: float
    reliability: float
    noise_fraction: float
    moments: Moments
    row_levels: tuple[str, ...]
    parameters: dict[str, Any]
    reasons: dict[str, str]
    warnings: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()
    rows: NDArray[np.int64] = field(repr=False, compare=False, default_factory=_no_rows)
    embedding: Floats = field(repr=False, compare=False, default_factory=_no_coordinates)
    known: KnownPairs | None = None

    @property
    def p_value(self) -> float:
        """Probability of as much structure in a table without an embedding."""
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
        return self.largest_component >= DOMINANT_FRACTION * self.n_used

    @property
    def has_common_direction(self) -> bool:
        """Whether one direction, or levels of columns, makes nearly all rows correlate."""
        return self.common_mode and self.common_share >= 0.5

    @property
    def halves_disagree(self) -> bool:
        """Whether two halves of the columns do not support the same embedding."""
        return self.agreement < SUPPORTED

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
        if self.known is not None:
            texts = {"known pairs": str(self.known), **texts}
        if self.n_used < self.n_points:
            texts["data"] += f"; {self.n_used} points, chosen at random, were examined"
        if free < width - self.n_removed:
            texts["columns"] = describe_effective_columns(width, free)
        texts["correlations"] = (
            f"{self.share_above_two:.1%} of the pairs of points correlate by more than "
            f"{2.0 * self.standard_error:.3g}, two standard errors (2.3% would by chance), when "
            "the means of columns are taken off"
        )
        texts["trusted"] = self._trusted_words()
        texts["similarity"], texts["graph"] = self.similarity, self.graph
        seem = "look" if self.moments.fit_the_model else "do not look"
        ratio = self.moments.spread_ratio
        spread = f"spread {ratio:.2g} times as much as expected" if ratio >= 0.005 else "are equal"
        texts["model"] = (
            f"the rows {seem} like samples of a Gaussian process (their variances {spread}; "
            f"excess kurtosis {self.moments.kurtosis_gap:+.2f})"
        )
        if free < ENOUGH_COLUMNS:
            texts["model"] = f"{free:.0f} features are too few to compare the rows with the model"
        texts["noise"] = "too few features to tell the noise"
        if np.isfinite(self.noise_fraction):
            texts["noise"] = f"about {self.noise_fraction:.0%} of the variance is independent noise"
        texts["halves"] = "too few features to be halved"
        if np.isfinite(self.agreement):
            texts["halves"] = (
                f"two halves of the features, embedded separately, agree by R² {self.agreement:.2f}"
            )
        if np.isfinite(self.held_out_r2):
            texts["held-out R²"] = (
                f"{self.held_out_r2:.2f} ± {self.held_out_error:.2f}: held-out features, predicted "
                "from the embedding of the others"
            )
        if np.isfinite(self.reliability):
            texts["reliability"] = (
                f"{self.reliability:.2f}: the R² with the truth that the standard errors lead to "
                "expect"
            )
        return texts

    def _trusted_words(self) -> str:
        """Return the trusted pairs in words."""
        if not self.n_trusted:
            return f"no single pair is significantly correlated (false discovery rate {self.fdr:g})"
        joined = (
            "connect all points"
            if self.components == 1
            else f"leave {self.components} separate groups, the largest of "
            f"{self.largest_component} points"
        )
        least = _near_one(float(self.trusted_correlations[-1]))
        return (
            f"{self.n_trusted} pairs are significantly correlated, by "
            f"{least} or more (false discovery rate {self.fdr:g}), "
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

    def charts(self) -> tuple[Chart, Chart]:
        """Describe the correlations of all pairs against chance, and what the features say."""
        edges = np.asarray(self.correlation_edges)
        numbers = np.asarray(self.correlation_counts, dtype=float)
        free = max(self.n_effective - 2.0, 1.0)
        inside = np.clip(edges, -1.0 + 1e-9, 1.0 - 1e-9)
        chance = np.diff(stdtr(free, inside * np.sqrt(free / (1.0 - inside**2)))) * numbers.sum()
        chance = np.where(chance >= 0.5, chance, np.nan)
        drawn = np.flatnonzero((numbers > 0.0) | np.isfinite(chance))
        drawn = np.arange(drawn[0], drawn[-1] + 1)
        at = 0.5 * (edges[1:] + edges[:-1])[drawn]
        least = float(self.trusted_correlations[-1]) if self.n_trusted else None
        width = 0.8 * float(edges[1] - edges[0])
        pairs = Chart(
            "correlations of all pairs of points, and those expected by chance (line)",
            "correlation", "pairs",
            curves=(Curve("chance", at, chance[drawn], colors.SECOND),),
            bars=(Bars(at, numbers[drawn], name="pairs of points", width=width),),
            log_y=True,
            mark=None if least is None else (least, f"significant from {_near_one(least, 2)}"),
        )  # fmt: skip
        measures = {
            "agreement of two halves": self.agreement,
            "R² of held-out features": self.held_out_r2,
            "reliability": self.reliability,
            "independent noise": self.noise_fraction,
        }
        finite = {name: value for name, value in measures.items() if np.isfinite(value)}
        bars = charts.level_bars(finite, "{:.2f}".format, "fraction")
        return pairs, bars._replace(title="what the features say of the embedding")

    def map(self, names: Sequence[str] = (), labels: Any = None) -> Chart:
        """Describe the embedding of the default fit, with its significantly correlated pairs.

        Parameters
        ----------
        names : sequence of str
            Name of every row of X; none are written without them, or beyond 100 rows.
        labels : (n_points,) array_like or None
            What colors the points.

        Returns
        -------
        ikd_graph.plotting.charts.Chart
            Description of the map.
        """
        rows, shade = self.rows, colors.paint(labels)
        chart = charts.scatter(
            self.embedding,
            shade.take(rows),
            title=self.map_note(),
            fractions=charts.variance_fractions(self.embedding),
            hover=[str(names[row]) if names else f"row {row}" for row in rows],
        )
        assert chart.points is not None
        at = chart.points.at[:, :2]
        ends = np.searchsorted(rows, self.trusted_pairs[: self._n_drawn])
        x, y = charts.with_gaps(at[ends])
        # Thousands of lines leave the points to be seen as dozens do.
        strong = float(np.clip(_STRONG_LINES / max(len(ends), 1), 0.05, 1.0))
        width, opacity = 0.3 + 1.3 * strong, 0.2 + 0.55 * strong
        links = Curve("", x, y, colors.MUTED, width=width, opacity=opacity)
        named = [str(names[row]) for row in rows] if names else []
        written = charts.Names(at, named) if plot.names_of_points(named) else None
        return chart._replace(curves=(links,), names=written)

    @property
    def _n_drawn(self) -> int:
        """Pairs that the map shows."""
        return min(self.n_trusted, _DRAWN_PER_POINT * len(self.rows))

    def map_note(self) -> str:
        """Tell what the lines of the map are, and how many of them are drawn."""
        if not self.n_trusted:
            return "embedding of the default fit; no pair is significantly correlated"
        which = "significantly correlated pairs"
        if self._n_drawn < self.n_trusted:
            which = f"the {self._n_drawn} strongest of {self.n_trusted} {which}"
        return f"embedding of the default fit; lines are {which}"

    def plot(self, ax: Any = None, names: Sequence[str] = (), labels: Any = None) -> Any:
        """Draw the map with its significant pairs, all correlations, and what the features say.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        names, labels
            As in `map`.

        Returns
        -------
        matplotlib Axes
            Of the correlations.
        """
        pairs, measures = self.charts()
        ax = plot.drawing_axes(ax, *FIGURE_SIZE)
        grid = plot.subplot_of(ax).subgridspec(2, 2, width_ratios=(6, 5), height_ratios=(5, 4))
        ax.set_subplotspec(grid[0, 1])
        plot.chart(pairs, ax=ax)
        figure = plot.figure_of(ax)
        plot.chart(measures, ax=figure.add_subplot(grid[1, 1]))
        # The last, since names stay apart in the size that the map has in the end.
        at = figure.add_subplot(grid[:, 0])
        chart = self.map(names, labels)
        title = {"loc": "left", "fontsize": plot.SMALL, "color": colors.INK}
        at.set_title(fill(chart.title, 60), **title)
        plot.chart(chart, ax=at)
        # Classes that are named on the map have written theirs.
        at.set_title(fill(chart.title, 60), **title)
        return ax

    def __str__(self) -> str:
        """As `summary`."""
        return self.summary()


def diagnose(
    X: ArrayLike,
    n_components: int = 2,
    *,
    fdr: float = 0.01,
    n_removed: int = 0,
    missing: str | Pairwise = "error",
    random_state: int | None = 0,
    verbose: int = 0,
) -> Diagnosis:
    """Tell what an embedding of weakly correlated data can be worth before it is believed.

    The p value is that of a table without a latent whose columns keep their values and their order,
    see `chance_test`. Pairs of rows are trusted where they are significantly correlated
    (`graph.significant_graph`). All else is what the default fit says of the same rows, and the
    same numbers: the agreement of embeddings of two halves of the columns, the R² of held-out
    columns, and the reliability where the likelihood refines.

    Parameters
    ----------
    X : (n_samples, n_features) array_like or scipy sparse of float64
        Points in rows; beyond 1000 a fixed random sample of 500 is looked at.
    n_components : int
        Number M of hidden coordinates.
    fdr : float
        False discovery rate of the pairs that are trusted, in (0, 1).
    n_removed : int
        Rows that were regressed out of X (`covariance.remove_mean_row` takes one).
    missing : {"error", "pairwise"} or missing.Pairwise
        With "pairwise" X may have holes: the diagnosis says how many pairs of rows are known, and
        examines the largest block without holes.
    random_state : int or None
        Seed of the test and of the fit.
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
    >>> import numpy as np
    >>> import ikd_graph
    >>> from ikd_graph import datasets
    >>> latent = np.random.default_rng(0).uniform(0.0, 3.0, size=(15, 1))
    >>> diagnosis = ikd_graph.diagnose(datasets.gplvm_data(latent, 300, noise=0.1).X, 1)
    >>> diagnosis.holds_together, diagnosis.p_value, diagnosis.agreement > 0.9
    (True, 0.005, True)
    """
    with naming_rows(row_names(X)):
        rows = as_table(X, dtype=np.float64).values
        known, rows, numbers = _known_pairs(rows, missing)
        data, picked = _sampled(rows)
        picked = picked if numbers is None else numbers[picked]
        names = [few_rows(row) for row in picked[:, None]]
    n_points = rows.shape[0]
    check_components(n_components, n_points)
    check_seed("random_state", random_state)
    stages = Stages(verbose, total=3)
    # Of what the fit says, the diagnosis says what matters, and says it once.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        with stages("chance"):
            chance = chance_test(data, random_state=random_state)
        with stages("correlations"):
            correlations = _correlations(data, picked, fdr, n_removed)
        with stages("fitting"), naming_rows(names):
            model = IKD(n_components, random_state=random_state).fit(data)
    stages.close()
    affinity = AFFINITIES[model.settings_.affinity]
    why, words = model.settings_.reasons_in_words(), describe_settings(model)
    tried = model.candidates_
    parameters = used_parameters(model)
    del parameters["n_components"]
    if model.settings_.by_likelihood:
        # The likelihood chooses it.
        parameters.pop("kernel", None)
    row_levels = tuple(describe_row_levels(data)) if affinity.euclidean else ()
    if row_levels:
        # What is advised is what is warned of.
        parameters["affinity"] = "correlation"
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
        graph_components=int(model.component_labels_.max()) + 1,
        agreement=float(model.agreement_),
        held_out_r2=tried[0].r2 if tried else np.nan,
        held_out_error=tried[0].r2_error if tried else np.nan,
        reliability=float(model.reliability_),
        noise_fraction=(
            covariance.noise_fraction(affinity.modeled(data), correlations["n_effective"])
            if data.shape[1] >= limits.FEWEST_COLUMNS
            else np.nan
        ),
        moments=model_selection.moments(data),
        parameters=parameters,
        reasons=why,
        row_levels=row_levels,
        rows=picked,
        embedding=np.asarray(model.embedding_, dtype=np.float64),
        known=known,
    )
    texts = (*diagnosis.row_levels, *model.settings_.warnings, *problems(diagnosis))
    if texts:
        warn("; ".join(texts))
    return replace(diagnosis, warnings=texts, steps=tuple(steps(diagnosis)))


def _near_one(correlation: float, least: int = 3) -> str:
    """Correlation in words: three digits or another number of them, or as many as tell it from 1.

    Examples
    --------
    >>> _near_one(0.12345), _near_one(0.999876), _near_one(1.0)
    ('0.123', '0.9999', '1')
    """
    digits = next((k for k in range(least, 9) if float(f"{correlation:.{k}g}") < 1.0), least)
    return f"{correlation:.{digits}g}"


def _known_pairs(
    table: Any, rule: str | Pairwise
) -> tuple[KnownPairs | None, Any, NDArray[np.int64] | None]:
    """Known pairs of a table with holes, its largest block without any, and the rows of that."""
    asked: Any = holes.get(rule)
    if asked is not None and not isinstance(asked, Pairwise):
        raise ValueError("missing must be 'error' or 'pairwise' for diagnose, got 'impute'")
    cure = "pass missing='pairwise', which examines a block without any, or fill them in"
    check_known(table, "X", cure, holes=asked is not None)
    if asked is None or not np.isnan(np.sum(table.data if sp.issparse(table) else table)):
        return None, table, None
    table = table.toarray() if sp.issparse(table) else table
    holes.check_holes(table)
    similarity = PairwiseSimilarity(AFFINITIES["correlation"], table, asked.least(table.shape[1]))
    pairs = np.triu_indices(len(table), 1)
    counts = similarity.counts[pairs][similarity.known[pairs]]
    rows, columns = model_selection.complete_block(table)
    if min(rows.size, columns.size) < 2:
        raise ValueError(
            "X must have a block without holes of two rows and columns, got "
            f"{count(rows.size, 'row')} and {count(columns.size, 'column')} as the largest; fill "
            "in holes at random first, as by sklearn.impute.KNNImputer().fit_transform(X)"
        )
    known = KnownPairs(
        len(table),
        int(counts.size),
        pairs[0].size,
        similarity.least,
        float(np.median(counts)) if counts.size else 0.0,
        int(similarity.groups().max()) + 1,
        (rows.size, columns.size),
    )
    return known, table[np.ix_(rows, columns)], rows


def _sampled(table: Any) -> tuple[Floats, NDArray[np.int64]]:
    """Return the rows to examine, dense, and their numbers."""
    n_points, n_observed = table.shape
    picked = np.arange(n_points)
    if n_points > limits.DIAGNOSED_WHOLE:
        rng = np.random.default_rng(0)
        picked = np.sort(rng.choice(n_points, limits.DIAGNOSED_SAMPLE, replace=False))
    check_magnitude("X", table.data if sp.issparse(table) else table)
    check_enough_rows(n_points)
    check_enough_columns(n_observed, "correlation")
    data = table[picked]
    return (data.toarray() if sp.issparse(data) else data), picked


def _correlations(
    data: Floats, picked: NDArray[np.int64], fdr: float, n_removed: int
) -> dict[str, Any]:
    """Return the fields of a diagnosis that say which correlations can be trusted."""
    rows = covariance.unit_rows(data, allow_flat=True)
    upper = np.triu_indices(len(data), 1)
    raw, pairs = (
        covariance.gram(each)[upper] for each in (rows, covariance.doubly_centered_rows(rows))
    )
    effective = covariance.effective_columns(rows, n_removed=n_removed)
    error = 1.0 / float(np.sqrt(max(effective - 1.0, 1.0)))
    trusted = graph.significant_graph(rows, fdr, n_removed=n_removed)
    left, right, corr = graph.edges(trusted)
    order = np.argsort(-corr, kind="stable")
    sizes = np.bincount(graph.component_labels(trusted))
    # Rounding leaves correlations of 1 just above it.
    counts, edges = np.histogram(np.clip(pairs, -1.0, 1.0), np.linspace(-1.0, 1.0, 82))
    mean = float(raw.mean())
    return {
        "n_effective": effective,
        "standard_error": error,
        "share_above_two": float(np.mean(pairs > 2.0 * error)),
        "mean_correlation": mean,
        "common_share": mean**2 / max(float(np.mean(raw**2)), np.finfo(float).tiny),
        "common_mode": float(np.mean(raw > 2.0 * error)) >= DOMINANT_FRACTION,
        "trusted_pairs": np.c_[picked[left[order]], picked[right[order]]],
        "trusted_correlations": corr[order],
        "components": int(sizes.size),
        "largest_component": int(sizes.max()),
        "correlation_counts": tuple(counts.tolist()),
        "correlation_edges": tuple(edges.tolist()),
    }


def problems(diagnosis: Diagnosis) -> list[str]:
    """Return what is to be warned of, as clauses without a capital or a full stop."""
    d, clauses = diagnosis, []
    if d.p_value > LEVEL:
        why = "the embedding is noise" if d.chance.is_noise else "any slow series are as alike"
        if d.n_observed < limits.FEWEST_COLUMNS:
            why = f"the test sees correlations of features alone, and {d.n_observed} are few"
        clauses.append(f"{d.chance}: {why}")
    if d.has_common_direction:
        clauses.append(
            f"nearly all pairs of rows are positively correlated, by {d.mean_correlation:.2f} in "
            "the mean: one direction that all rows share (levels of columns, a market, a season) "
            "may hide what only few of them share"
        )
    if d.halves_disagree:
        clauses.append(
            f"two halves of the features, embedded separately, agree by R² {d.agreement:.2f} only: "
            f"another sample of {d.n_observed} features could give a different arrangement"
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
    """Say what to do next, the most urgent first."""
    d, todo = diagnosis, []
    if d.row_levels:
        words, python = "Compare rows whatever their levels and lengths", "covariance.unit_rows(X)"
        todo.append(Step(words, f"diagnose({python})", "diagnose", {"standardize_rows": True}))
    if d.has_common_direction and not d.n_removed:
        python = "diagnose(covariance.remove_mean_row(X), n_removed=1)"
        todo.append(
            Step("Take off what all rows share", python, "diagnose", {"remove_mean_row": True})
        )
    if d.n_trusted and d.halves_disagree:
        rule = f"graph=graph.Threshold(fdr={d.fdr:g})"
        python = f"IKD({d.n_components}, strategy='blockwise', {rule})"
        used = {"n_components": d.n_components, "graph": graph.Threshold(fdr=d.fdr)}
        todo.append(Step("Look at the significant correlations alone", python, "cliques", used))
    settings = ", ".join(f"{name}={value!r}" for name, value in d.parameters.items())
    words = "Embed the noise all the same" if d.chance.is_noise else "Embed with these settings"
    command = f"IKD({d.n_components}, {settings})"
    used = {"n_components": d.n_components, **d.parameters}
    return [*todo, Step(words, command, "embed", used)]
