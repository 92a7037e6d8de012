"""A diagnosis in numbers and in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...auto import ENOUGH_COLUMNS, Moments
from ...pipeline import describe_effective_columns
from ..judgement import DOMINANT_SHARE
from ._chance import LEVEL, ChanceTest

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
        How well rows fit the model, see `ikd_graph.auto.Moments`.
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
