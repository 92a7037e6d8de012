"""What a diagnosis found, in numbers and in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

WEAK_R2 = 0.8
"""A predicted R² that may be below this, by one spread of its samples, is warned of."""

_WHOLE = 0.9


@dataclass(frozen=True)
class Diagnosis:
    """What can be expected of an embedding of some data; see `diagnose`.

    Attributes
    ----------
    n_points, n_used, n_observed, n_components : int
        Points, those that were looked at, observed dimensions N, hidden coordinates M.
    standard_error : float
        Sampling error of a correlation of nothing, 1 / sqrt(N).
    share_above_two, share_above_five : float
        Share of pairs whose correlation exceeds 2 and 5 of these; chance makes 2.3 % and none.
    similarity, graph : str
        How rows are compared and what makes the graph of `ikd_graph.IKD`, in words.
    threshold : float
        Correlation from which a pair is trusted, five standard errors of none.
    n_edges, components, largest_component : int
        Pairs above it, components of their graph, points in the largest of them.
    mean_degree : float
        Trusted correlations of a point.
    connected_up_to : float
        The weakest link: every threshold below it leaves the graph in one piece.
    graph_components : int
        Components of the graph that was fitted, in which nearest neighbours are edges too.
    predicted_r2, spread_r2 : float
        Expected R² (after affine alignment), and the standard deviation of ``draws_r2``.
    draws_r2 : tuple of float
        R² of the latent of each sample.
    agreement : float
        R² of the embedding against that with the squared exponential kernel; 1 where no
        likelihood chose another.
    halves_r2 : float
        R² that the agreement of two halves of the features speaks for; NaN below 20 of them.
    resampled_r2 : float
        Mean R² of the embedding with those of resampled features.
    likeliest_kernel : str
        Name of that kernel, from which data are sampled; "Linear" for principal components.
    noise_share : float
        Estimated share of noise in the variance of a feature.
    negative_mass : float
        Share of the squared eigenvalues in negative ones: how far from distances in space.
    spread_ratio, kurtosis_gap : float
        How well rows fit the model, see `ikd_graph.auto.Moments`.
    correlated : bool
        Whether any rows are significantly correlated.
    model_holds : bool
        Whether nothing in it speaks against the model, on which the prediction rests.
    refine : str or None
        Refinement of the fits behind the prediction.
    parameters : dict
        Parameters for `ikd_graph.IKD` on all points.
    suggestions, warnings : tuple of str
        What to do, and what is wrong, in sentences.
    """

    n_points: int
    n_used: int
    n_observed: int
    n_components: int
    standard_error: float
    share_above_two: float
    share_above_five: float
    similarity: str
    graph: str
    threshold: float
    n_edges: int
    components: int
    largest_component: int
    mean_degree: float
    connected_up_to: float
    graph_components: int
    predicted_r2: float
    spread_r2: float
    draws_r2: tuple[float, ...]
    agreement: float
    halves_r2: float
    resampled_r2: float
    likeliest_kernel: str
    noise_share: float
    negative_mass: float
    spread_ratio: float
    kurtosis_gap: float
    model_holds: bool
    correlated: bool
    refine: str | None
    parameters: dict[str, Any]
    suggestions: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def holds_together(self) -> bool:
        """Whether the graph is whole, and trusted correlations alone join nearly all points."""
        return self.graph_components == 1 and self.largest_component >= _WHOLE * self.n_used

    @property
    def enough_trusted(self) -> bool:
        """Whether a point has 2 M trusted correlations: fewer cannot fix places in M dimensions."""
        return self.mean_degree >= 2 * self.n_components

    @property
    def is_linear(self) -> bool:
        """Whether the latent is principal components, and tables are simulated from lines."""
        return self.likeliest_kernel == "Linear"

    def findings(self) -> dict[str, str]:
        """What was found, in words.

        Returns
        -------
        dict of str to str
            Name and sentence, in the order to read them.
        """
        sampled = (
            ""
            if self.n_used == self.n_points
            else f"; {self.n_used} points, chosen at random, were examined"
        )
        pieces = (
            "connect all points"
            if self.components == 1
            else f"leave {self.components} separate groups, the largest of "
            f"{self.largest_component} points"
        )
        if self.connected_up_to > 0.0:
            link = f"thresholds up to {self.connected_up_to:.3g} connect all points"
        else:
            link = "no threshold above 0 connects all points"
        error = self.standard_error
        doubt = (
            ""
            if self.enough_trusted
            else "; the latent is wider than the kernel, so distant points cannot be told apart"
        )
        refined = f"refined by {self.refine}" if self.refine else "not refined"
        look = "look" if self.model_holds else "do not look"
        assumed = "" if self.is_linear else ", as the prediction assumes"
        agreement = []
        if self.refine == "likelihood" and self.likeliest_kernel != "SquaredExponential":
            agreement.append(
                f"R² {self.agreement:.2f} between the embedding and that with the squared "
                "exponential kernel"
            )
        if np.isfinite(self.halves_r2):
            agreement.append(f"split-half reliability {self.halves_r2:.2f}")
        return {
            "data": f"{self.n_points} points with {self.n_observed} features each{sampled}",
            "similarity": self.similarity,
            "graph": self.graph,
            "correlations": f"{self.share_above_two:.1%} of the pairs of points correlate by more "
            f"than {2.0 * error:.3g}, two standard errors (2.3% would by chance); "
            f"{self.share_above_five:.1%} by more than {5.0 * error:.3g}, five of them",
            "trusted": f"{self.n_edges} pairs correlate by more than {self.threshold:.3g}, "
            f"{self.mean_degree:.1f} per point; they {pieces}",
            "threshold": link,
            "model": f"the rows {look} like samples of a Gaussian process{assumed} "
            f"(their variances spread {self.spread_ratio:.2g} times as much as expected; "
            f"excess kurtosis {self.kurtosis_gap:+.2f})",
            "noise": f"{self.noise_share:.0%} of the variance{doubt}",
            "distances": f"{self.negative_mass:.1%} of their spectrum is negative (0% for exact "
            "distances)",
            "simulation": f"R² {np.mean(self.draws_r2):.2f}, the mean over {len(self.draws_r2)} "
            f"simulated data sets ({self.likeliest_kernel} kernel, {refined})",
            "agreement": "; ".join(agreement) or "too few features to be halved",
            "resampling": f"R² {self.resampled_r2:.2f} between the embedding and those of "
            "resampled features",
            "expected R²": f"{self.predicted_r2:.2f} ± {self.spread_r2:.2f}",
        }

    def summary(self) -> str:
        """The whole diagnosis in words.

        Returns
        -------
        str
            Lines of findings, warnings and suggestions.
        """
        found = self.findings()
        width = max(len(name) for name in found)
        lines = [f"{name:<{width}}  {text}" for name, text in found.items()]
        lines += [f"warning: {text}" for text in self.warnings]
        return "\n".join([*lines, *(f"- {text}" for text in self.suggestions)])

    def __str__(self) -> str:
        """As `summary`."""
        return self.summary()


def problems(found: Diagnosis) -> list[str]:
    """What is to be warned of, as clauses without a capital or a full stop."""
    said = []
    if not found.correlated:
        said.append("no two rows are significantly correlated: the embedding is noise")
    low = found.predicted_r2 - found.spread_r2
    if low < WEAK_R2:
        may = "is" if found.predicted_r2 < WEAK_R2 else "may be"
        said.append(
            f"the expected R² is {found.predicted_r2:.2f} ± {found.spread_r2:.2f}, which {may} "
            f"below {WEAK_R2:g}: another sample of {found.n_observed} features could give a "
            "different embedding; more features help"
        )
    if found.graph_components > 1:
        said.append(
            f"the graph has {found.graph_components} separate components: where they lie relative "
            "to one another depends on single edges; more neighbours connect them"
        )
    elif not found.holds_together:
        said.append(
            f"correlations above {found.threshold:.3g}, which can be trusted, connect only "
            f"{found.largest_component} of {found.n_used} points: where the others lie relative to "
            "these may be noise; more features help"
        )
    if not found.enough_trusted:
        said.append(
            f"too few correlations can be trusted: {found.mean_degree:.1f} per point, while "
            f"{found.n_components} dimensions need {2 * found.n_components}; fewer dimensions "
            "(n_components) or more features help"
        )
    return said


def advice(found: Diagnosis) -> list[str]:
    """Sentences that the reasons of the settings leave unsaid."""
    said = []
    if not (found.model_holds or found.is_linear):
        said.append(
            "The expected R² assumes samples of a Gaussian process, which these data do not look "
            "like: trust it less."
        )
    if found.n_used < found.n_points:
        said.append(
            f"Correlations and R² are those of {found.n_used} points; all {found.n_points} "
            "together, which lie closer to one another, were not tested."
        )
    return said
