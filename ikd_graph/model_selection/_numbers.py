"""Numbers of a fit once its method is chosen: of the graph, weights, kernel and landmarks."""

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from .. import covariance, graph, kernels
from .._base import limits
from .._base.progress import Stages
from .._base.table import SparseTable, dense_rows, evenly_spaced, some_rows
from .._base.warn import no_warnings
from ..fit import Result, fit
from ..graph import Neighbors, Rule, Threshold
from ..refine import Likelihood, Stress
from ..settings import Settings, compares_distances
from ..similarity import AFFINITIES, compare
from ..strategies import Geodesic, number_of_landmarks
from ._facts import Facts

N_NEIGHBORS = 10
"""Neighbors of a point in a neighbor graph (docs/decisions/003-one-rule-for-auto.md)."""

MIN_NEIGHBORS, STRONGEST = 6, 150
"""Neighbors of a point in a threshold graph, which keep every point in it, and its strongest edges,
which keep a graph of many points sparse (docs/decisions/014-threshold.md)."""


def with_numbers(facts: Facts, settings: Settings) -> Settings:
    """Choose the numbers of a graph, weights, kernel and landmarks, with their reasons.

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
    refine = settings.refine
    if isinstance(refine, Stress) and refine.weights == "auto":
        many = facts.has_rows and facts.rows.shape[0] > limits.DOUBLE
        plain = "elastic" if many else "uniform"
        settings = replace(
            settings, refine=replace(refine, weights="precision" if by_value else plain)
        )
    if not settings.is_auto("kernel"):
        settings = replace(settings, closed_form_kernel=settings.kernel)
        if euclidean and not isinstance(refine, Likelihood):
            why = "distances are taken as they are: no kernel bends them"
            settings = settings.explain({"kernel": why})
    elif not isinstance(refine, Likelihood):
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
    if settings.model_based:
        why = "correlations estimate the kernel of the model, so that small ones are left out"
        settings = settings.take(why, graph=Threshold())
    elif by_value:
        why = "a pair is an edge where its own columns show it"
        settings = settings.take(why, graph=Threshold())
    why = "the order of similarities is more reliable than their values"
    settings = settings.take(why, graph=Neighbors())
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
            n_neighbors=rule.n_neighbors or MIN_NEIGHBORS,
            strongest=rule.strongest or STRONGEST,
            n_removed=0,
        )
    if isinstance(rule, Rule) and rule.prune == "auto":
        rule = rule.replace(prune=facts.has_rows and not by_value and not by_fdr)
    return replace(settings, graph=rule)


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
