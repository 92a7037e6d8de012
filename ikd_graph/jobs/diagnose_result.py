"""What a diagnosis gives: numbers about a table and its fit, what to do next, and sentences."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from textwrap import fill
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import beta

from .. import model_selection
from .._base.format import count, in_columns
from .._base.types import Floats, Integers
from ..chance import ChanceTest
from ..eigen import DOMINANT_FRACTION
from ..estimator import IKD
from ..plotting import charts, colors, plot
from ..similarity import AFFINITIES
from ..trust import Trust
from .compare_result import Difference

__all__ = ["Diagnosis", "Step"]

FIGURE_SIZE = (11.0, 5.6)
"""Width and height of the figure in inches."""

_SETTINGS = ("strategy", "graph", "kernel", "affinity", "refine")
"""Parameters of `IKD` that a step names."""

_DRAWN_PER_POINT = 5
"""Significant pairs that a map shows for each point, the strongest of all."""


class Step(NamedTuple):
    """One thing to do next; what is typed in Python needs ``import ikd_graph``, and X."""

    words: str
    python: str
    command: str
    settings: dict[str, Any]  # of the command, by their names in Python


@dataclass(frozen=True, repr=False)
class Diagnosis:
    """What can be expected of an embedding of some data; see `diagnose`.

    Attributes
    ----------
    model : IKD
        The fit, which all that is not of correlations is about.
    trust : Trust
        What can be read on it, as `IKD.trust_`.
    fdr : float
        False discovery rate of the trusted pairs.
    n_removed : int
        Rows that were regressed out before.
    rows : (n_used,) ndarray of int64
        Rows of X whose correlations were examined.
    n_effective : float
        Independent columns that the columns are worth, see `ikd_graph.covariance`.
    mean_correlation : float
        Mean correlation of two rows, before means of columns are taken off.
    has_common_direction : bool
        Whether one direction, or levels of columns, makes nearly all rows correlate.
    trusted_pairs : (m, 2) ndarray of int64
        Rows of X whose correlation is significant, the strongest first.
    trusted_correlations : (m,) ndarray of float64
        Their correlations.
    largest_component : int
        Points in the largest component of the graph of trusted pairs.
    correlation_counts, correlation_edges : tuple
        Histogram of the correlations of all pairs, means of columns taken off.
    noise_fraction : float
        Estimated fraction of independent noise in the variance; NaN where the rows do not look like
        samples of the model, of which it is estimated, held-out columns contradict it, or there are
        holes.
    moments : Moments
        How well rows fit the model, see `ikd_graph.model_selection.Moments`.
    known : str
        What is known of a table with holes; correlations are those of it with holes filled in.
        Empty for a table without holes.
    tried : tuple of (Difference, Step)
        How much better held-out columns are predicted with a step than by the fit.
    warnings : tuple of str
        What is wrong, in clauses.
    """

    model: IKD = field(compare=False)
    trust: Trust = field(compare=False)
    fdr: float
    n_removed: int
    rows: Integers = field(compare=False)
    n_effective: float
    mean_correlation: float
    has_common_direction: bool
    trusted_pairs: Integers = field(compare=False)
    trusted_correlations: Floats = field(compare=False)
    largest_component: int
    correlation_counts: tuple[int, ...]
    correlation_edges: tuple[float, ...]
    noise_fraction: float
    moments: model_selection.Moments
    known: str
    tried: tuple[tuple[Difference, Step], ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def chance(self) -> ChanceTest:
        """Whether there is more structure than by chance."""
        assert self.trust.chance is not None
        return self.trust.chance

    @property
    def p_value(self) -> float:
        """Probability of as much structure in a table without an embedding."""
        return self.chance.p_value

    @property
    def _row_names(self) -> Sequence[Any]:
        """Names of the rows, by which colors are matched."""
        return self.model._row_names

    @property
    def n_points(self) -> int:
        """Number of points."""
        return len(self.model.embedding_)

    @property
    def n_observed(self) -> int:
        """Number N of columns."""
        return self.trust.n_columns

    @property
    def n_components(self) -> int:
        """Number M of hidden coordinates."""
        return self.model.n_components_

    @property
    def embedding(self) -> Floats:
        """Coordinates of the rows that were examined."""
        return np.asarray(self.model.embedding_, dtype=np.float64)[self.rows]

    @property
    def parameters(self) -> dict[str, Any]:
        """Parameters for `ikd_graph.IKD` with which the fit has nothing left to choose."""
        used = self.model.settings_.parameters()
        kept = {name: used[name] for name in _SETTINGS if name in used}
        asked = {
            name: self.typed[name] for name in ("missing", "n_landmarks") if name in self.typed
        }
        return kept | asked

    @property
    def typed(self) -> dict[str, Any]:
        """Parameters of the fit that were asked for, but for the number of coordinates."""
        names = (*_SETTINGS, "missing", "n_landmarks")
        asked, usual = self.model.get_params(deep=False), IKD().get_params(deep=False)
        return {name: asked[name] for name in names if repr(asked[name]) != repr(usual[name])}

    @property
    def n_used(self) -> int:
        """Number of points that were examined."""
        return len(self.rows)

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
    def agreement(self) -> float:
        """Mean agreement of two halves of the columns."""
        return self.trust.agreement

    @property
    def reliability(self) -> float:
        """R² with the truth that the standard errors lead to expect; NaN without them."""
        return self.trust.reliability

    @property
    def steps(self) -> tuple[Step, ...]:
        """What to do next, the best first: what predicts held-out columns better, or else embed."""
        settings = {"n_components": self.n_components, **self.parameters}
        same = "all the same" if self.trust.found_nothing else "with these settings"
        embed = Step(
            f"Embed {same}", f"ikd_graph.IKD({as_typed(settings)}).fit(X)", "embed", settings
        )
        tried = sorted(self.tried, key=lambda pair: -pair[0].mean)
        return (*(step for gain, step in tried if gain.better == gain.first), embed)

    def to_pandas(self, names: Sequence[str] | None = None) -> pd.DataFrame:
        """Trusted pairs, the strongest first.

        Parameters
        ----------
        names : sequence of str or None
            Name of every row of X; None gives their numbers.

        Returns
        -------
        pandas.DataFrame
            Columns ``row``, ``other`` and ``correlation``.
        """
        pairs = self.trusted_pairs
        pairs = pairs if names is None else np.array(names, dtype=object)[pairs]
        parts = {"row": pairs[:, 0], "other": pairs[:, 1]}
        return pd.DataFrame({**parts, "correlation": self.trusted_correlations})

    def findings(self) -> dict[str, str]:
        """Name the results in words.

        Returns
        -------
        dict of str to str
            Name and sentence, in the order to read them.
        """
        texts = {"known pairs": self.known} if self.known else {}
        texts["data"] = f"{self.n_points} points of {self.n_observed} columns"
        if self.n_used < self.n_points:
            texts["data"] += f"; {self.n_used} points, chosen at random, were examined"
        texts["chance"] = str(self.chance)
        if self.n_effective < self.n_observed - self.n_removed:
            texts["columns"] = model_selection.describe_effective_columns(
                self.n_observed, self.n_effective
            )
        texts["trusted"] = (
            f"no single pair is significantly correlated (false discovery rate {self.fdr})"
        )
        if self.n_trusted:
            texts["trusted"] = (
                f"{count(self.n_trusted, 'significant correlation')} of {self._least:.3g} or more "
                f"(false discovery rate {self.fdr:g}), {self.mean_degree:.1f} per point; the "
                f"largest group that they connect has {self.largest_component} points"
            )
        if self.has_common_direction:
            mean = f"rows correlate by {self.mean_correlation:.2f} in the mean"
            texts["shared"] = f"{mean} (levels of columns, a market, a season)"
        settings = self.model.settings_
        similarity, graph = AFFINITIES[settings.affinity].summary, settings.describe_graph()
        texts |= {"similarity": similarity, "graph": graph}
        if self.n_effective >= model_selection.ENOUGH_COLUMNS:
            seem = "look" if self.moments.fit_the_model else "do not look"
            texts["model"] = f"the rows {seem} like samples of a Gaussian process"
        if np.isfinite(self.noise_fraction):
            texts["noise"] = f"about {self.noise_fraction:.0%} of the variance is independent noise"
        if others := [step.words for _, step in self.tried if step not in self.steps]:
            texts["tried"] = "; ".join(others)
        # The verdict has a cure of its own of a model that does not fit, and of an order.
        own = self.trust.misfit or (self.trust.found_nothing and self.chance.beyond[1])
        if self.trust.is_weak and len(self.steps) == 1 and not own:
            texts["cure"] = "more columns, or means of rows that belong together, may help"
        return texts

    @property
    def _least(self) -> float:
        """Smallest significant correlation, rounded down: none but 1 is written as 1."""
        steps = 1e3
        return float(np.floor(steps * self.trusted_correlations[-1]) / steps)

    def chart(self) -> charts.Chart:
        """Describe the correlations of all pairs against chance."""
        edges, numbers = np.array(self.correlation_edges), np.array(self.correlation_counts, float)
        at = 0.5 * (edges[1:] + edges[:-1])
        # The correlation of unrelated rows has a beta distribution from -1 to 1.
        free = 0.5 * max(self.n_effective - 2.0, 1.0)
        chance = np.diff(beta.cdf(edges, free, free, -1.0, 2.0)) * numbers.sum()
        chance = np.where(chance >= 0.5, chance, np.nan)
        return charts.Chart(
            "correlations of all pairs of points, and those expected by chance (line)",
            "correlation", "pairs",
            curves=(charts.Curve("chance", at, chance, colors.SECOND),),
            bars=(charts.Bars(at, numbers, name="pairs of points", width=0.8 * (at[1] - at[0])),),
            log_y=True,
            mark=(self._least, f"significant from {self._least:.2g}") if self.n_trusted else None,
        )  # fmt: skip

    def map(self, names: Sequence[str] = (), color: Any = None) -> charts.Chart:
        """Describe the embedding of the fit, with its significantly correlated pairs.

        Parameters
        ----------
        names : sequence of str
            Name of every row of X; none are written without them, or beyond 100 rows.
        color : (n_points,) array_like or None
            Classes, numbers or times that color the points, one for every row of X.

        Returns
        -------
        ikd_graph.plotting.charts.Chart
            Description of the map.
        """
        pairs = self.trusted_pairs[: _DRAWN_PER_POINT * self.n_used]
        named = [str(names[row]) for row in self.rows] if names else []
        some = f"the {len(pairs)} strongest of" if len(pairs) < self.n_trusted else "all"
        chart = charts.scatter(
            self.embedding,
            colors.paint(color, n=self.n_points).take(self.rows),
            title=f"embedding of the fit; lines are {some} {self.n_trusted} significant pairs",
            fractions=charts.variance_fractions(self.embedding),
            hover=named or [f"row {row}" for row in self.rows],
        )
        at = charts.plane(self.embedding)
        links = charts.lines(at[np.searchsorted(self.rows, pairs)], 0.5, 0.5)
        written = charts.Names(at, named) if plot.names_of_points(named) else None
        return chart._replace(curves=(links,), names=written)

    @plot.labels_are_color
    def plot(self, ax: Any = None, names: Sequence[str] = (), color: Any = None) -> Any:
        """Draw the map with its significant pairs, next to all correlations.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        names, color
            As in `map`; ``labels=`` is another name of ``color``.

        Returns
        -------
        matplotlib Axes
            Of the correlations.
        """
        ax = plot.drawing_axes(ax, *FIGURE_SIZE)
        figure = plot.figure_of(ax)
        grid = plot.subplot_of(ax).subgridspec(1, 2, width_ratios=(6, 5))
        ax.set_subplotspec(grid[1])
        plot.chart(self.chart(), ax=ax)
        chart = self.map(names, color)
        # The last, since names stay apart in the size that the map has in the end.
        at = plot.chart(chart, ax=figure.add_subplot(grid[0]))
        at.set_title(fill(chart.title, 60), loc="left", fontsize="medium", color=colors.INK)
        return ax

    def __str__(self) -> str:
        """Return the answer, what to do in Python, findings and further warnings, in lines."""
        # Rows that were regressed out before are not in it.
        answer = self.trust.sentences()
        needs = "X is the table of this diagnosis; import ikd_graph"
        first, *others = (f"{step.words} ({needs}):\n  {step.python}" for step in self.steps)
        lines = in_columns(self.findings().items())
        # Some of them are in the answer.
        told = " ".join(answer).lower()
        lines += [f"warning: {text}" for text in self.warnings if text.lower() not in told]
        lines = [*answer, first, "Details", *lines, *others]
        return "\n".join(lines)

    __repr__ = __str__


def as_typed(settings: dict[str, Any]) -> str:
    """Return settings as they are typed after ``import ikd_graph``."""
    texts = []
    for name, value in settings.items():
        home, *rest = type(value).__module__.split(".")
        texts.append(f"{name}={f'{home}.{rest[0]}.' if rest else ''}{value!r}")
    return ", ".join(texts)


def problems(d: Diagnosis) -> list[str]:
    """Return what is to be warned of, as clauses without a capital or a full stop."""
    clauses = [d.trust.verdict] if d.trust.is_weak else []
    if (n_components := int(d.model.component_labels_.max()) + 1) > 1:
        clauses.append(
            f"the graph has {n_components} separate components: where they lie relative "
            "to one another depends on few edges"
        )
    of_correlations = d.parameters["affinity"] == "correlation" and d.n_trusted
    if of_correlations and d.trust.is_weak and not d.holds_together:
        clauses.append(
            f"significant correlations connect only {d.largest_component} of {d.n_used} "
            "points: where all others lie relative to these may be noise"
        )
    return clauses
