"""What a diagnosis found, in numbers and in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...auto import ENOUGH_COLUMNS
from ...pipeline import describe_effective_columns

WEAK_R2 = 0.8
"""An expected R² that may be below this, by one spread of the splits, is warned of."""

_WHOLE = 0.9
_MOST_COLUMNS = 8  # times as many columns as there are, to which accuracy is extrapolated


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
        Points, those that were looked at, columns N, hidden coordinates M.
    n_effective : float
        Independent columns that the columns are worth, see `ikd_graph.covariance`.
    n_removed : int
        Rows that were regressed out before.
    standard_error : float
        Sampling error of a correlation of nothing, 1 / sqrt(n_effective - 1).
    share_above_two : float
        Share of pairs whose correlation exceeds 2 of these; chance makes 2.3 %.
    mean_correlation, mean_square : float
        Mean correlation of two rows, and mean squared correlation.
    correlated : bool
        Whether any rows are significantly correlated, two of them or all together.
    fdr : float
        False discovery rate of the trusted pairs.
    trusted_pairs : (m, 2) ndarray of int64
        Rows of X whose correlation is significant, the strongest first.
    trusted_correlations : (m,) ndarray of float64
        Their correlations.
    components, largest_component : int
        Components of the graph of trusted pairs, and points in the largest of them.
    correlation_counts, correlation_edges : tuple
        Histogram of the correlations of all pairs.
    similarity, graph : str
        How rows are compared and what makes the graph of `ikd_graph.IKD`, in words.
    compares_correlations : bool
        Whether that is by correlations.
    graph_components : int
        Components of the graph that was fitted.
    predicted_r2, spread_r2 : float
        Expected R² (after affine alignment), NaN with too few columns, and its standard deviation
        over the splits.
    halves_r2, quarters_r2 : tuple of float
        R² that the agreement of embeddings of two halves of the columns speaks for, for each split:
        the expected R² with a half of the columns; the same with a quarter, for the first split.
    noise_share : float
        Estimated share of independent noise in the variance.
    negative_mass : float
        Share of the squared eigenvalues in negative ones: how far from distances in space.
    spread_ratio, kurtosis_gap : float
        How well rows fit the model, see `ikd_graph.auto.Moments`.
    model_holds : bool
        Whether nothing in it speaks against samples of a Gaussian process.
    predicts : str
        What to say where no method predicts columns that were held out, else empty.
    row_levels : tuple of str
        What to say where levels or lengths of rows hold nearly all that is compared.
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
    n_effective: float
    n_removed: int
    n_components: int
    standard_error: float
    share_above_two: float
    mean_correlation: float
    mean_square: float
    correlated: bool
    fdr: float
    trusted_pairs: NDArray[np.int64] = field(repr=False, compare=False)
    trusted_correlations: NDArray[np.float64] = field(repr=False, compare=False)
    components: int
    largest_component: int
    correlation_counts: tuple[int, ...] = field(repr=False)
    correlation_edges: tuple[float, ...] = field(repr=False)
    similarity: str
    graph: str
    compares_correlations: bool
    graph_components: int
    predicted_r2: float
    spread_r2: float
    halves_r2: tuple[float, ...]
    quarters_r2: tuple[float, ...]
    noise_share: float
    negative_mass: float
    spread_ratio: float
    kurtosis_gap: float
    model_holds: bool
    predicts: str
    row_levels: tuple[str, ...]
    parameters: dict[str, Any]
    reasons: dict[str, str]
    warnings: tuple[str, ...] = ()
    steps: tuple[Step, ...] = ()

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
        return self.largest_component >= _WHOLE * self.n_used

    @property
    def common_mode(self) -> bool:
        """Whether one direction makes nearly all rows correlate."""
        all_above = self.share_above_two >= _WHOLE
        return all_above and self.mean_correlation**2 >= 0.5 * self.mean_square

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
        called = range(self.n_points) if names is None else names
        return [
            (called[a], called[b], float(r))
            for (a, b), r in zip(
                self.trusted_pairs.tolist(), self.trusted_correlations, strict=True
            )
        ]

    def findings(self) -> dict[str, str]:
        """What was found, in words.

        Returns
        -------
        dict of str to str
            Name and sentence, in the order to read them.
        """
        width, free = self.n_observed, self.n_effective
        found = {"data": f"{self.n_points} points with {width} features each"}
        if self.n_used < self.n_points:
            found["data"] += f"; {self.n_used} points, chosen at random, were examined"
        if free < width - self.n_removed:
            found["columns"] = describe_effective_columns(width, free)
        found["correlations"] = (
            f"{self.share_above_two:.1%} of the pairs of points correlate by more than "
            f"{2.0 * self.standard_error:.3g}, two standard errors (2.3% would by chance)"
        )
        found["trusted"] = self._say_trusted()
        found["similarity"], found["graph"] = self.similarity, self.graph
        look = "look" if self.model_holds else "do not look"
        found["model"] = (
            f"the rows {look} like samples of a Gaussian process (their variances spread "
            f"{self.spread_ratio:.2g} times as much as expected; excess kurtosis "
            f"{self.kurtosis_gap:+.2f})"
        )
        if free < ENOUGH_COLUMNS:
            found["model"] = f"{free:.0f} features are too few to tell one of the rows"
        found["noise"] = f"about {self.noise_share:.0%} of the variance is independent noise"
        if not np.isfinite(self.predicted_r2):
            found["expected R²"] = "unknown: too few features to be halved"
            return found
        found["expected R²"] = (
            f"{self.predicted_r2:.2f} ± {self.spread_r2:.2f} at most (halves of the features, "
            f"embedded separately: {np.mean(self.halves_r2):.2f})"
        )
        if self.predicted_r2 < WEAK_R2:
            needed = self.columns_for(WEAK_R2)
            found["features"] = (
                f"about {needed:.0f} such features would give R² {WEAK_R2:g}"
                if needed <= _MOST_COLUMNS * width
                else f"more than {_MOST_COLUMNS * width} such features would be needed for R² "
                f"{WEAK_R2:g}"
            )
        return found

    def _say_trusted(self) -> str:
        """The trusted pairs in words."""
        if not self.n_trusted:
            whole = "; only all together are more correlated than by chance"
            return (
                f"no pair is significantly correlated (false discovery rate {self.fdr:g})"
                + whole * self.correlated
            )
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
        """The whole diagnosis in words.

        Returns
        -------
        str
            Lines of findings, warnings and what to do in Python.
        """
        found = self.findings()
        width = max(len(name) for name in found)
        lines = [f"{name:<{width}}  {text}" for name, text in found.items()]
        lines += [f"warning: {text}" for text in self.warnings]
        return "\n".join([*lines, *(f"- {one.words}: {one.python}" for one in self.steps)])

    def __str__(self) -> str:
        """As `summary`."""
        return self.summary()


def problems(found: Diagnosis) -> list[str]:
    """What is to be warned of, as clauses without a capital or a full stop."""
    said = list(found.row_levels)
    if not found.correlated:
        said.append("no two rows are significantly correlated: the embedding is noise")
    if found.predicts:
        said.append(found.predicts)
    if found.common_mode:
        said.append(
            f"{found.share_above_two:.0%} of the pairs of rows are positively correlated, by "
            f"{found.mean_correlation:.2f} in the mean: one direction that all rows share (a "
            "market, a season, a global signal) may hide what some of them share"
        )
    if found.predicted_r2 - found.spread_r2 < WEAK_R2:
        may = "is" if found.predicted_r2 < WEAK_R2 else "may be"
        said.append(
            f"the expected R² is {found.predicted_r2:.2f} ± {found.spread_r2:.2f}, which {may} "
            f"below {WEAK_R2:g}: another sample of {found.n_observed} features could give a "
            "different embedding"
        )
    if found.graph_components > 1:
        said.append(
            f"the graph has {found.graph_components} separate components: where they lie relative "
            "to one another depends on few edges"
        )
    if not found.compares_correlations or not found.n_trusted:
        return said
    if not found.holds_together:
        said.append(
            f"significant correlations connect only {found.largest_component} of {found.n_used} "
            "points: where the others lie relative to these may be noise"
        )
    elif found.mean_degree < 2 * found.n_components:
        said.append(
            f"{found.mean_degree:.1f} significant correlations per point are few: "
            f"{found.n_components} dimensions need {2 * found.n_components}"
        )
    return said


def steps(found: Diagnosis) -> list[Step]:
    """What to do next, the most urgent first."""
    said = []
    if found.row_levels:
        said.append(
            Step(
                "Compare rows whatever their levels and lengths",
                "diagnose(covariance.unit_rows(X))",
                "diagnose",
                ("--standardize-rows",),
            )
        )
    if found.common_mode and not found.n_removed:
        said.append(
            Step(
                "Take off what all rows share",
                "diagnose(covariance.remove_mean_row(X), n_removed=1)",
                "diagnose",
                ("--remove-mean-row",),
            )
        )
    if found.n_trusted and not found.predicted_r2 >= WEAK_R2:
        said.append(
            Step(
                "Look at the significant correlations alone",
                f"IKD({found.n_components}, strategy='blockwise', "
                f"graph=graph.Threshold(fdr={found.fdr:g}))",
                "cliques",
                ("--components", str(found.n_components), "--fdr", f"{found.fdr:g}"),
            )
        )
    settings = ", ".join(f"{name}={value!r}" for name, value in found.parameters.items())
    said.append(
        Step(
            "Embed with the settings that were diagnosed"
            if found.correlated
            else "Embed the noise all the same",
            f"IKD({found.n_components}, {settings})",
            "embed",
            parameters=True,
        )
    )
    return said
