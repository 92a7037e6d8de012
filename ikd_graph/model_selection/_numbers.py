"""Numbers of a fit once its method is chosen: graph, weights, likelihood, kernel and landmarks."""

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from .. import covariance, graph, kernels
from .._base import limits
from .._base.progress import Stages
from .._base.table import SparseTable, dense_rows, evenly_spaced, some_rows
from .._base.warn import no_warnings
from ..fit import Result, fit
from ..gplvm._search import JOINED
from ..graph import Neighbors, Rule, Threshold
from ..refine import Likelihood, Stress
from ..settings import Settings, compares_distances
from ..similarity import AFFINITIES, compare
from ..strategies import Geodesic, number_of_landmarks
from ._facts import Facts

N_NEIGHBORS = 10
"""Neighbors of a point in a neighbor graph (docs/decisions/003-one-rule-for-auto.md)."""

STRONGEST = 150
"""Strongest edges of a point in a threshold graph, which keep one of many points sparse
(docs/decisions/014-threshold.md)."""


def with_numbers(facts: Facts, settings: Settings) -> Settings:
    """Choose the numbers of a graph, weights, likelihood, kernel and landmarks, with their reasons.

    Parameters
    ----------
    facts : Facts
        What is fitted.
    settings : Settings
        With the method and the number of coordinates.

    Returns
    -------
    Settings
        Nothing is left to choose.
    """
    euclidean = compares_distances(settings.affinity)
    # Where pairs are unknown, those that are known differ in what they are worth.
    by_value = settings.model_based or not (euclidean or facts.knows_all_pairs)
    if settings.strategy.uses_graph:
        settings = _with_graph(facts, settings, by_value, euclidean)
    else:
        settings = replace(settings, graph=None)
    settings = _with_refinement(facts, settings, by_value)
    likely = isinstance(settings.refine, Likelihood)
    if not settings.is_auto("kernel"):
        settings = replace(settings, closed_form_kernel=settings.kernel)
        if euclidean and not likely:
            why = "distances are taken as they are: no kernel bends them"
            settings = settings.explain({"kernel": why})
    elif not likely:
        settings = replace(settings, kernel=settings.closed_form_kernel)
    elif not settings.model_based:
        # Heavy tails leave room between what is far apart (decision 004).
        settings = replace(settings, kernel=kernels.RationalQuadratic())
    asked, n = settings.n_landmarks, facts.rows.shape[0]
    if not isinstance(settings.strategy, Geodesic):
        return replace(settings, n_landmarks=None)
    count, why = number_of_landmarks(asked, n, settings.n_components)
    settings = settings.explain({"n_landmarks": why} if why else {})
    return replace(settings, n_landmarks=count)


def _with_graph(facts: Facts, settings: Settings, by_value: bool, euclidean: bool) -> Settings:
    """Return settings with the numbers of the rule of the graph."""
    rows, affinity = facts.rows, settings.affinity
    if settings.is_auto("graph") and sp.issparse(rows):
        return replace(settings, graph=Threshold(0.0, prune=False))
    why = "the order of similarities is more reliable than their values"
    if settings.model_based:
        why = "correlations estimate the kernel of the model, so that small ones are left out"
    elif by_value:
        why = "a pair is an edge where its own columns show it"
    settings = settings.take(why, graph=Threshold() if by_value else Neighbors())
    rule = settings.graph
    if isinstance(rule, Neighbors) and rule.k == "auto":
        rule = rule.replace(k=N_NEIGHBORS)
    by_fdr = isinstance(rule, Threshold) and rule.fdr is not None
    if isinstance(rule, Threshold) and rule.s0 == "auto" and not by_fdr:
        free, width = _effective_columns(facts, affinity, rule.n_removed), rows.shape[1]
        if free is not None and free < width - rule.n_removed and not facts.has_holes:
            settings = settings.explain({"columns": describe_effective_columns(width, free)})
        rule = rule.replace(
            s0=_threshold(facts, settings, free, euclidean),
            n_neighbors=rule.n_neighbors or JOINED,
            strongest=rule.strongest or STRONGEST,
            n_removed=0,
        )
    if isinstance(rule, Rule) and rule.prune == "auto":
        rule = rule.replace(prune=facts.has_rows and not by_value and not by_fdr)
    return replace(settings, graph=rule)


def _with_refinement(facts: Facts, settings: Settings, by_value: bool) -> Settings:
    """Return settings with the weights of a stress, and what a likelihood is of."""
    refine, many = settings.refine, facts.has_rows and facts.rows.shape[0] > limits.DOUBLE
    weights, of_entries = None, False
    if isinstance(refine, Stress):
        plain = "elastic" if many else "uniform"
        weights = "precision" if by_value else plain
        weights = weights if refine.weights == "auto" else refine.weights
        refine = replace(refine, weights=weights)
    elif isinstance(refine, Likelihood):
        # Stress has what it starts from.
        weights = "precision" if settings.model_based else "uniform"
        annealed = not refine.fit_shape and refine.descent != "local"
        has_one = facts.has_holes and facts.have_a_likelihood_of_entries(settings.affinity)
        of_entries = annealed and has_one
    if settings.graph is None and settings.affinity != "precomputed_distance":
        weights = None
    return replace(settings, refine=refine, stress_weights=weights, of_entries=of_entries)


def _threshold(facts: Facts, settings: Settings, free: float | None, euclidean: bool) -> float:
    """Threshold of similarities that stand for so many independent columns."""
    if settings.is_auto("kernel") or euclidean:
        return graph.auto_threshold(free)
    noise = 0.0
    if free is not None:
        few = evenly_spaced(facts.whole.shape[0], limits.SIZED)
        table = AFFINITIES[settings.affinity].modeled(dense_rows(some_rows(facts.whole, few)))
        noise = covariance.noise_fraction(table, free)
    return graph.auto_threshold(free, settings.kernel, noise)


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


def trial(facts: Facts, settings: Settings) -> Result:
    """Return a fit that decides something, and says nothing."""
    with no_warnings():
        # There may be fewer positive eigenvalues than are computed, and the fit says the rest.
        similarity = compare(facts.rows, settings.affinity, counts=True)
        return fit(similarity, facts.rows, with_numbers(facts, settings), Stages())
