"""The plan of a fit: numbers of graph, weights, kernel and landmarks once the method is chosen."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from .. import covariance, graph, kernels
from .._base import limits
from .._base.progress import Stages
from .._base.table import SparseTable, dense_rows, evenly_spaced, some_rows
from .._base.warn import no_warnings
from ..fit import Result, fit
from ..graph import CsrGraph, Neighbors, Rule, Threshold
from ..plan import Candidate, Plan, Request, compares_distances
from ..refine import Likelihood, Stress
from ..similarity import AFFINITIES, compare
from ..strategies import Geodesic, number_of_landmarks
from ._facts import Facts

N_NEIGHBORS = 10
"""Neighbors of a point in a neighbor graph (docs/decisions/003-one-rule-for-auto.md)."""

MIN_NEIGHBORS, STRONGEST = 6, 150
"""Neighbors of a point in a threshold graph, which keep every point in it, and its strongest edges,
which keep a graph of many points sparse (docs/decisions/014-threshold.md)."""


@dataclass
class Choice:
    """Settings as they are chosen, one after the other, and why."""

    settings: Request
    model_based: bool = False
    reasons: dict[str, str] = field(default_factory=dict)
    candidates: tuple[Candidate, ...] = ()
    halved: Request | None = None  # the closed form by which halves of the columns were compared
    agreements: tuple[float, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def agreement(self) -> float:
        """Mean R² between closed forms of two halves of the columns; NaN without any."""
        return float(np.mean(self.agreements)) if self.agreements else np.nan

    def take(self, why: str, **settings: Any) -> None:
        """Take settings for a reason; what was asked for, or taken before, stays."""
        before, self.settings = self.settings, self.settings.filled(**settings)
        self.reasons |= {name: why for name in settings if getattr(before, name) == "auto"}


def make_plan(facts: Facts, choice: Choice) -> Plan:
    """Choose the numbers of a graph, weights, kernel and landmarks, for reasons that are added.

    Parameters
    ----------
    facts : Facts
        What is fitted.
    choice : Choice
        The method and the number of coordinates.

    Returns
    -------
    Plan
        Nothing is left to choose.
    """
    request, strategy, size = choice.settings, choice.settings.solver, choice.settings.n_components
    assert size != "auto"
    assert request.refine != "auto"
    euclidean = compares_distances(request.affinity)
    # Where pairs are unknown, those that are known differ in what they are worth.
    by_value = choice.model_based or not (euclidean or facts.knows_all_pairs)
    rule = _graph(facts, choice, by_value, euclidean) if strategy.uses_graph else None
    refine = request.refine
    if isinstance(refine, Stress) and refine.weights == "auto":
        many = facts.has_rows and facts.rows.shape[0] > limits.DOUBLE
        plain = "elastic" if many else "uniform"
        refine = replace(refine, weights="precision" if by_value else plain)
    kernel = likelihood_kernel = request.kernel
    if isinstance(kernel, str):
        kernel = kernels.SquaredExponential()
        # Heavy tails leave room between what is far apart (decision 004).
        likelihood_kernel = "auto" if choice.model_based else kernels.RationalQuadratic()
    elif euclidean and not isinstance(refine, Likelihood):
        choice.reasons["kernel"] = "distances are taken as they are: no kernel bends them"
    count = None
    if isinstance(strategy, Geodesic):
        count, why = number_of_landmarks(request.n_landmarks, facts.rows.shape[0], size)
        choice.reasons |= {"n_landmarks": why} if why else {}
    return Plan(
        size, strategy, rule, kernel, request.affinity, refine, count,
        request.random_state, likelihood_kernel, choice.model_based,
    )  # fmt: skip


def _graph(facts: Facts, choice: Choice, by_value: bool, euclidean: bool) -> Rule | CsrGraph:
    """Rule of the graph with its numbers."""
    rows, affinity = facts.rows, choice.settings.affinity
    if choice.settings.graph == "auto" and sp.issparse(rows):
        return Threshold(0.0, prune=False)
    if choice.model_based:
        why = "correlations estimate the kernel of the model, so that small ones are left out"
        choice.take(why, graph=Threshold())
    elif by_value:
        choice.take("a pair is an edge where its own columns show it", graph=Threshold())
    why = "the order of similarities is more reliable than their values"
    choice.take(why, graph=Neighbors())
    rule = choice.settings.graph
    if isinstance(rule, Neighbors) and rule.k == "auto":
        rule = rule.replace(k=N_NEIGHBORS)
    by_fdr = isinstance(rule, Threshold) and rule.fdr is not None
    if isinstance(rule, Threshold) and rule.s0 == "auto" and not by_fdr:
        free, width = _effective_columns(facts, affinity, rule.n_removed), rows.shape[1]
        if free is not None and free < width - rule.n_removed and not facts.has_holes:
            choice.reasons["columns"] = describe_effective_columns(width, free)
        rule = rule.replace(
            s0=_threshold(facts, choice.settings, free, euclidean),
            n_neighbors=rule.n_neighbors or MIN_NEIGHBORS,
            strongest=rule.strongest or STRONGEST,
            n_removed=0,
        )
    if isinstance(rule, Rule) and rule.prune == "auto":
        rule = rule.replace(prune=facts.has_rows and not by_value and not by_fdr)
    return rule


def _threshold(facts: Facts, request: Request, free: float | None, euclidean: bool) -> float:
    """Threshold of similarities that stand for so many independent columns."""
    if request.kernel == "auto" or euclidean:
        return graph.auto_threshold(free)
    noise = 0.0
    if free is not None:
        few = evenly_spaced(facts.whole.shape[0], limits.SIZED)
        table = AFFINITIES[request.affinity].modeled(dense_rows(some_rows(facts.whole, few)))
        noise = covariance.noise_fraction(table, free)
    return graph.auto_threshold(free, request.kernel, noise)


def _effective_columns(facts: Facts, affinity: str, n_removed: int) -> float | None:
    """Effective number of columns under an affinity, None where there are no rows."""
    if not facts.has_rows:
        return None
    rows = facts.rows
    if isinstance(rows, SparseTable):
        # They have no order.
        return float(max(rows.shape[1] - n_removed, 1))
    table = AFFINITIES[affinity].modeled(facts.whole)
    effective = float(covariance.effective_columns(table, n_removed=n_removed))
    return effective * float(np.isfinite(rows).mean()) if facts.has_holes else effective


def describe_effective_columns(n_observed: int, free: float) -> str:
    """How many independent columns others are worth, in words."""
    return (
        f"{n_observed} columns that are autocorrelated (in time, or along a line) or differ in "
        f"scale count as {free:.0f} independent ones"
    )


def trial(facts: Facts, choice: Choice) -> Result:
    """Return a fit that decides something, and says nothing."""
    with no_warnings():
        # There may be fewer positive eigenvalues than are computed, and the fit says the rest.
        similarity = compare(facts.rows, choice.settings.affinity, counts=True)
        return fit(similarity, facts.rows, make_plan(facts, choice), Stages())
