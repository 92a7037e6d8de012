"""Numbers of a graph, weights, kernel and landmarks that are still "auto" in named settings."""

from dataclasses import replace
from typing import Any

import scipy.sparse as sp

from .. import _fit as pipeline
from .. import covariance, eigen, graph, kernels
from .._base import limits
from .._base.progress import Stages
from .._base.table import SparseTable, dense_rows, evenly_spaced, some_rows
from .._settings import Settings
from ..graph import Neighbors, Threshold
from ..similarity import AFFINITIES, GIVEN, compare
from ..strategies import number_of_landmarks

N_NEIGHBORS = 10
"""Neighbors of a point in a neighbor graph (docs/decisions/003-one-rule-for-auto.md)."""

MIN_NEIGHBORS = 6
"""Neighbors of a point in a threshold graph: what keeps every point in it."""

_BLOCKWISE_FLOOR, _FLOOR_FROM = 0.15, 2000
"""Least automatic threshold of blockwise, and the independent columns from which it holds
(docs/decisions/014-threshold.md)."""

_DISTANCES = ("precomputed_distance", *(a.name for a in AFFINITIES.values() if a.euclidean))

_N_LEADING = 15
"""Leading eigenvalues by which the number of coordinates is chosen."""


def with_numbers(rows: Any, settings: Settings) -> Settings:
    """Return settings in which graph, weights of the stress and kernel have no "auto" left.

    Parameters
    ----------
    rows : (n, p) table, or (n, n) covariances or distances
        What is fitted.
    settings : Settings
        Strategy, affinity and refinement are named.

    Returns
    -------
    Settings
        The same with numbers.
    """
    settings = _graph_rule(rows, settings)
    if settings.refine is not None:
        weights = "precision" if settings.model_based else "uniform"
        settings = replace(settings, refine=settings.refine.resolve(weights=weights))
    if settings.kernel != "auto":
        named = kernels.get(settings.kernel)
        if settings.affinity in _DISTANCES and not settings.by_likelihood:
            settings = settings.explain(
                kernel="distances are taken as they are: no kernel bends them"
            )
        return replace(settings, kernel=named, likelihood_kernel=named)
    # Heavy tails leave room between what is far apart (docs/decisions/013-local-descent.md).
    of_likelihood = "auto" if settings.model_based else kernels.RationalQuadratic()
    return replace(settings, kernel=kernels.SquaredExponential(), likelihood_kernel=of_likelihood)


def _graph_rule(rows: Any, settings: Settings) -> Settings:
    """Return settings with the numbers of the graph."""
    if not settings.strategy.uses_graph:
        return replace(settings, graph=None)
    has_rows = settings.affinity not in GIVEN
    if settings.graph == "auto" and sp.issparse(rows) and not has_rows:
        return replace(settings, graph=Threshold(0.0, prune=False))
    if settings.model_based and rows.shape[0] <= limits.SOLVED_WHOLE:
        why = "correlations estimate the kernel of the model, so that small ones are left out"
        settings = settings.choose(why, graph=Threshold())
    why = "the order of similarities is more reliable than their values"
    settings = settings.choose(why, graph=Neighbors())
    rule = settings.graph
    if isinstance(rule, Neighbors) and rule.k == "auto":
        rule = rule.replace(k=N_NEIGHBORS)
    if isinstance(rule, Threshold) and rule.s0 == "auto" and rule.fdr is None:
        free = effective_columns(rows, settings.affinity, rule.n_removed)
        s0 = _threshold(rows, settings, free)
        if settings.strategy.name == "blockwise" and (free or 0.0) >= _FLOOR_FROM:
            s0 = max(s0, _BLOCKWISE_FLOOR)
        rule = rule.replace(s0=s0, n_neighbors=rule.n_neighbors or MIN_NEIGHBORS, n_removed=0)
        width = rows.shape[1]
        if free is not None and free < width - settings.graph.n_removed:
            settings = settings.explain(columns=describe_effective_columns(width, free))
    if isinstance(rule, graph.Rule) and rule.prune == "auto":
        prune = has_rows and not settings.model_based and not getattr(rule, "fdr", None)
        rule = rule.replace(prune=prune)
    return replace(settings, graph=rule)


def _threshold(rows: Any, settings: Settings, free: float | None) -> float:
    """Threshold of similarities that stand for so many independent columns."""
    if settings.kernel == "auto" or settings.affinity in _DISTANCES:
        return graph.auto_threshold(free)
    s0 = graph.auto_threshold(free, settings.kernel)
    if free is None or s0 <= graph.auto_threshold(free):
        return s0
    few = dense_rows(some_rows(rows, evenly_spaced(rows.shape[0], limits.SIZED)))
    noise = covariance.noise_fraction(AFFINITIES[settings.affinity].modeled(few), free)
    return graph.auto_threshold(free, settings.kernel, noise)


def effective_columns(rows: Any, affinity: str, n_removed: int = 0) -> float | None:
    """Effective number of columns under an affinity, None where there are no rows."""
    if affinity in GIVEN:
        return None
    if isinstance(rows, SparseTable):
        # They have no order.
        return float(max(rows.shape[1] - n_removed, 1))
    table = AFFINITIES[affinity].modeled(rows)
    return float(covariance.effective_columns(table, n_removed=n_removed))


def describe_effective_columns(n_observed: int, free: float) -> str:
    """How many independent columns others are worth, in words."""
    return (
        f"{n_observed} columns that are autocorrelated (in time, or along a line) or differ in "
        f"scale count as {free:.0f} independent ones"
    )


def with_size(rows: Any, settings: Settings, stages: Stages) -> Settings:
    """Choose the number of coordinates, at the last wide gap of the spectrum.

    Parameters
    ----------
    rows : (n, p) table, or (n, n) covariances or distances
        What is fitted.
    settings : Settings
        Strategy, affinity and refinement are named.
    stages : Stages
        Clock and progress bar.

    Returns
    -------
    Settings
        The same with a number of coordinates.
    """
    if settings.n_components != "auto":
        return settings
    with stages("spectrum"):
        strategy = settings.strategy.with_spectrum()
        leading = min(_N_LEADING, strategy.most_components(*rows.shape))
        trial = replace(with_numbers(rows, settings), strategy=strategy, refine=None)
        trial = with_landmarks(rows, replace(trial, n_components=leading))
        similarity = compare(rows, settings.affinity, counts=True)
        spectrum = pipeline.spectrum(similarity, trial)
    size = int(eigen.eigengap(spectrum)) if leading > 1 else 1
    why = f"the last wide gap among {spectrum.size} leading eigenvalues lies behind {size}"
    return replace(settings, spectrum=spectrum).choose(why, n_components=size)


def with_landmarks(rows: Any, settings: Settings) -> Settings:
    """Return settings with the number of landmarks, None where all points are solved."""
    if not settings.strategy.uses_landmarks:
        return replace(settings, n_landmarks=None)
    n, size = rows.shape[0], int(settings.n_components)
    count, reason = number_of_landmarks(settings.n_landmarks, n, size)
    settings = replace(settings, n_landmarks=count)
    return settings.explain(n_landmarks=reason) if reason else settings
