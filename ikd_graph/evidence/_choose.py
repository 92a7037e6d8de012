"""What every "auto" stands for, and why in plain sentences."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from .. import _limits
from ..graph import auto_threshold, sure_threshold
from ..similarity import AFFINITIES, GraphRule, Similarity
from ._table import ENOUGH_DIMENSIONS, WIDE, Evidence

AUTO_NEIGHBORS = 6
"""Neighbours that keep a point in the graph whatever the threshold."""

SURE_NEIGHBORS, SURE_THRESHOLD = 4, 0.45
"""The same for cliques, and the largest threshold, which makes up for the fewer neighbours."""

CLIQUE_NEIGHBORS = 15
"""Neighbours for cliques, which need neighbours that are neighbours of one another."""

FALSE_PAIRS = 1e-5
"""Share of unrelated pairs of rows that may be edges where few columns estimate correlations.

With the `AUTO_NEIGHBORS` beside them cliques gained on 15 neighbours: R2 .662 -> .717 on 156 tables
of 20 to 80 columns and three latents in the plane, where 1e-3 to 1e-6 and 4 to 10 neighbours were
tried. Confirmed on 128 tables of 10 to 90 columns and eight other latents: .605 -> .672.
"""

CURVE = GraphRule(5, False, "distance", "uniform")
"""The Euclidean rule for one coordinate: along a curve few neighbours are near."""

_FEWEST_SURE = 10  # columns; of fewer no threshold was tried

REFINES = ("likelihood", "stress")

_PLANE = 2  # coordinates in which short paths, counted more, push groups over one another


class Wishes(NamedTuple):
    """What a user asked for, "auto" where the table is to decide."""

    strategy: str = "auto"
    path: str = "auto"
    reference: str | int = "auto"
    threshold: float | str | None = "auto"
    n_neighbors: int | None = None
    mutual: bool | str = "auto"
    refine: str | None = "auto"

    @property
    def names_graph(self) -> bool:
        """Whether the graph was given, or part of it."""
        return self.threshold != "auto" or self.n_neighbors is not None


@dataclass(frozen=True)
class Choice:
    """Settings with nothing left to choose."""

    strategy: str
    affinity: str
    path: str
    reference: str | int
    threshold: float | None
    n_neighbors: int | None
    mutual: bool
    refine: str | None
    weights: str  # of the stress polish
    trusted: bool = False  # whether similarities estimate the kernel
    reasons: dict[str, str] = field(default_factory=dict)


def choose(
    affinity: str,
    wishes: Wishes,
    evidence: Evidence | None,
    *,
    n_samples: int,
    n_components: int,
    trusted: bool | None = None,
) -> Choice:
    """Replace every other "auto" by a setting, with the reason for each.

    Without evidence, the values of a precomputed covariance are trusted; ``trusted`` says so where
    more than the evidence is known.
    """
    kind = AFFINITIES[affinity]
    rule = _rule_of(kind, n_components)
    if trusted is None:
        trusted = kind.estimates_kernel and (evidence is None or evidence.is_model)
    if wishes.strategy == "linear":
        return _linear(affinity, wishes, rule)
    reasons: dict[str, str] = {}
    strategy, reference = wishes.strategy, wishes.reference
    if strategy == "auto":
        strategy = "geodesic"
        reasons["strategy"] = sentence(
            "Geodesic", "a connected graph is all it needs", "strategy='blockwise'"
        )
    if reference == "auto":
        reference = "center"
        reasons["reference"] = sentence(
            "Distances seen from the centre", "that averages their errors", "reference='min_max'"
        )
    path = wishes.path
    if path == "auto":
        path, reasons["path"] = _choose_path(kind, rule, evidence, trusted=trusted)
    threshold, n_neighbors, mutual = _choose_graph(wishes, rule, kind, evidence, trusted, reasons)
    if n_samples > _limits.SOLVED_WHOLE and threshold is not None and "threshold" in reasons:
        threshold, n_neighbors = None, CLIQUE_NEIGHBORS
        reasons["threshold"] = sentence(
            "No threshold",
            f"of {n_samples} points too many pairs would lie above one",
            "threshold=0.5 (or another number)",
        )
    if n_neighbors is not None:
        n_neighbors = min(n_neighbors, n_samples - 1)
    refine = wishes.refine
    if refine == "auto":
        refine, reasons["refine"] = _choose_refine(strategy, evidence)
    weights = "precision" if trusted else rule.weights or "precision"
    return Choice(
        strategy,
        affinity,
        path,
        reference,
        threshold,
        n_neighbors,
        mutual,
        refine,
        weights,
        trusted,
        reasons,
    )


def _linear(affinity: str, wishes: Wishes, rule: GraphRule) -> Choice:
    """Settings of the linear strategy, which has no graph, no path and the centre as reference."""
    refine = None if wishes.refine == "auto" else wishes.refine
    weights = rule.weights or "precision"
    return Choice("linear", affinity, "distance", "center", None, None, False, refine, weights)


def _rule_of(kind: type[Similarity], n_components: int) -> GraphRule:
    """Graph and polish of an affinity where the model is in doubt."""
    if kind.ignores_columns and n_components == 1:
        return CURVE
    if not kind.estimates_kernel and n_components <= _PLANE:
        return kind.rule._replace(weights="component")
    return kind.rule


def _choose_path(
    kind: type[Similarity], rule: GraphRule, evidence: Evidence | None, *, trusted: bool
) -> tuple[str, str]:
    """What a path optimises, and why."""
    holds = trusted or (kind.estimates_kernel and (evidence is None or evidence.holds))
    path = "distance" if holds else rule.path
    if path == "distance":
        return path, sentence(
            "Paths with the smallest sum of distances",
            "such sums agree with the kernel to first order",
            "path='covariance'",
        )
    return path, sentence(
        "Paths with the largest product of covariances", _verdict(evidence), "path='distance'"
    )


def _choose_graph(
    wishes: Wishes,
    rule: GraphRule,
    kind: type[Similarity],
    evidence: Evidence | None,
    trusted: bool,
    reasons: dict[str, str],
) -> tuple[float | None, int | None, bool]:
    """Threshold, neighbours, and whether these have to be mutual; why goes into the reasons."""
    level: float | None = None
    n_neighbors, both = wishes.n_neighbors, False
    verdict, cliques = _verdict(evidence), wishes.strategy == "blockwise"
    uncertain = kind.estimates_kernel and not kind.ignores_columns and _is_short(evidence)
    if wishes.threshold == "auto" and n_neighbors is None:
        if trusted:
            n_neighbors = AUTO_NEIGHBORS
            level = auto_threshold(None if evidence is None else evidence.n_observed)
            if cliques:
                # A false edge spoils every clique it is in: neighbours only keep points in.
                n_neighbors, level = SURE_NEIGHBORS, min(level, SURE_THRESHOLD)
            reasons["threshold"] = sentence(
                f"Correlations above {level:.3g} are edges",
                f"that is about five standard errors of a correlation, and {verdict}",
                "threshold=0.3 (or another number)",
            )
            reasons["n_neighbors"] = _kept_in(n_neighbors)
        elif cliques and uncertain and evidence is not None:
            n_neighbors = AUTO_NEIGHBORS
            level = sure_threshold(evidence.n_observed, FALSE_PAIRS)
            reasons["threshold"] = sentence(
                f"Correlations above {level:.3g} are edges",
                f"unrelated rows reach that once in {1.0 / FALSE_PAIRS:.0f} pairs, and {verdict}",
                "threshold=0.3 (or another number)",
            )
            reasons["n_neighbors"] = _kept_in(n_neighbors)
        else:
            n_neighbors = CLIQUE_NEIGHBORS if cliques else rule.n_neighbors
            both = rule.mutual and (not kind.estimates_kernel or not cliques)
            kind_of = "mutual " if both else ""
            reasons["threshold"] = sentence("No threshold", verdict, "threshold=0.3")
            reasons["n_neighbors"] = sentence(
                f"The {n_neighbors} nearest {kind_of}neighbours of each point are edges",
                "the order of similarities is more reliable than their values",
                "n_neighbors=10 (or another number)",
            )
    elif wishes.threshold is not None and wishes.threshold != "auto":
        level = float(wishes.threshold)
    mutual = wishes.mutual
    if mutual == "auto":
        # Without a threshold beside them, and with shares, which mean little one way.
        mutual = both or (not kind.estimates_kernel and level is None)
    return level, n_neighbors, bool(mutual)


def _is_short(evidence: Evidence | None) -> bool:
    """Whether nothing speaks against the model, and columns are too few to be sure."""
    if evidence is None or evidence.is_model:
        return False
    return evidence.holds and evidence.n_observed >= _FEWEST_SURE


def _kept_in(n_neighbors: int) -> str:
    """Why there are neighbours beside a threshold."""
    return sentence(
        f"The {n_neighbors} nearest neighbours of each point are edges too",
        "that keeps every point in the graph",
        "n_neighbors=10 (or another number)",
    )


def _choose_refine(strategy: str, evidence: Evidence | None) -> tuple[str | None, str]:
    """The polish of "auto" where nothing was tried, and why."""
    if evidence is None:
        why = "the observations behind a precomputed covariance are not known"
        return None, sentence("No polish", why, "refine='stress'")
    if strategy == "eigen":
        why = "the eigen strategy has no graph to polish on"
        return None, sentence("No polish", why, "strategy='geodesic'")
    why = "there are too few numbers to judge a latent by"
    return "stress", sentence("Polished by stress", why, "refine=None")


def sentence(what: str, why: str, change: str) -> str:
    """What was chosen, why, and what to pass to have it otherwise."""
    return f"{what}, because {why}. Pass {change} to change this."


def _verdict(evidence: Evidence | None) -> str:
    """What the evidence says, as a clause after "because"."""
    if evidence is None:
        return "the values of a precomputed covariance are trusted"
    if evidence.holds and evidence.n_observed < ENOUGH_DIMENSIONS:
        return f"{evidence.n_observed} columns leave correlations uncertain"
    if evidence.holds:
        return f"the {evidence.n_observed} columns look like samples of a Gaussian process"
    if evidence.spread_ratio > WIDE:
        return (
            f"the variances of rows scatter {evidence.spread_ratio:.1f} times as much as those of "
            "a Gaussian process"
        )
    return f"the rows are not Gaussian (excess kurtosis {evidence.kurtosis_gap:.2f})"
