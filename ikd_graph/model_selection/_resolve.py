"""The one function that resolves every "auto" of a fit.

A table that looks like samples of the model, and of which two halves of the columns agree, is
compared by correlations and refined by the likelihood. Any other table is compared in one of three
representations: as it is, columns standardized, or rows standardized; counts by the roots of their
proportions. The one is taken whose closed form, made without a quarter of the columns, predicts
these best. Its refinement is stress, or the likelihood where two halves of the columns, embedded
separately, do not support the closed form.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from .. import dimension
from .._base import limits
from .._base.progress import Stages
from .._base.table import dense_rows, evenly_spaced, some_rows
from .._base.types import Floats
from .._settings import Candidate, Settings
from ..refine import Likelihood, Stress
from ..similarity import AFFINITIES, GIVEN
from ..strategies import Eigen, Geodesic
from ._candidates import agreement_of_halves, candidates, compare_candidates
from ._given import exact_choices
from ._held_out import predicted_values, sample
from ._moments import Moments, has_significant_correlation, moments
from ._numbers import with_landmarks, with_numbers, with_size

SUPPORTED = 0.4
"""Agreement of two halves of the columns from which a closed form is worth keeping
(docs/decisions/003-one-rule-for-auto.md)."""

_MOST_DIMENSIONS = 3
"""Coordinates up to which the likelihood sharpens neighborhoods; in more they are sharp already."""


def resolve(rows: Any, requested: Settings, stages: Stages) -> Settings:
    """Resolve every setting that is "auto".

    Parameters
    ----------
    rows : (n, p) table, or (n, n) covariances or distances
        What is fitted.
    requested : Settings
        What was asked for.
    stages : Stages
        Clock and progress bar.

    Returns
    -------
    Settings
        Nothing is left to choose, but the kernel where the likelihood compares several; with the
        reason of each choice, the candidates, the agreement of two halves of the columns and what
        the user has to be told.
    """
    if requested.affinity in GIVEN:
        settings = _of_given(rows, requested)
    else:
        settings = _of_rows(rows, _with_estimated_size(rows, requested, stages), stages)
    settings = with_numbers(rows, with_size(rows, settings, stages))
    return with_landmarks(rows, settings)


def _of_given(values: Any, settings: Settings) -> Settings:
    """Return settings of values between points: strategy and refinement are named."""
    # A graph, or a strategy that has one, asks for a manifold.
    free = settings.graph == "auto" and not sp.issparse(values)
    if free and settings.affinity == "precomputed_distance" and settings.strategy == "auto":
        why = "every pair is known: stress over all pairs where classical scaling is not exact"
        return settings.choose(why, strategy=Eigen(), refine=Stress())
    if free and settings.affinity == "precomputed" and _may_use_graph(settings):
        choices = exact_choices(values, settings)
        settings = settings.choose("the covariances agree with the kernel", **choices)
    why = "the default: it needs no more than a connected graph"
    settings = settings.choose(why, strategy=Geodesic())
    return settings.choose("the table behind given values is not known", refine=None)


def _may_use_graph(settings: Settings) -> bool:
    """Whether a strategy that has a graph was asked for, or none."""
    return settings.strategy == "auto" or bool(settings.strategy.uses_graph)


def _with_estimated_size(rows: Any, settings: Settings, stages: Stages) -> Settings:
    """Return settings whose number of coordinates is estimated, if the rows have enough columns."""
    if settings.n_components != "auto" or rows.shape[0] < 2:
        return settings
    few = dense_rows(some_rows(rows, evenly_spaced(rows.shape[0], limits.SIZED)))
    if np.count_nonzero(np.ptp(few, axis=0)) < limits.FEWEST_COLUMNS:
        return settings
    with stages("dimensions"):
        result = dimension.estimate(few)
    return settings.choose(f"{result} by held-out columns", n_components=result.dimension)


def _of_rows(rows: Any, settings: Settings, stages: Stages) -> Settings:
    """Return settings of a table of rows: strategy, affinity and refinement are named."""
    observed, table = moments(rows), sample(rows)
    # Who asks for the likelihood says that the columns are samples, if nothing speaks against it.
    asked = settings.by_likelihood and observed.is_plausible
    model_like = (observed.fit_the_model or asked) and _estimates_the_kernel(settings)
    if model_like and not has_significant_correlation(rows):
        return _of_noise(rows, settings, observed)
    if model_like:
        with stages("halves"):
            return _with_descent(_of_model(table, settings, observed), observed)
    with stages("choosing"):
        return _with_descent(_of_table(rows, table, settings, observed), observed)


def _estimates_the_kernel(settings: Settings) -> bool:
    """Whether similarities of samples of the model estimate its kernel."""
    affinity = AFFINITIES["correlation" if settings.affinity == "auto" else settings.affinity]
    return not (affinity.euclidean or affinity.square_roots or affinity.shared)


def _of_noise(rows: Any, settings: Settings, observed: Moments) -> Settings:
    """Return settings of a table of which no rows are correlated."""
    why = f"the {observed.n_observed} columns look like samples of a Gaussian process"
    settings = settings.choose(why, strategy=Geodesic(), affinity="correlation")
    settings = replace(settings, model_based=True)
    return settings.choose("no rows are significantly correlated", refine=None).add_warning(
        f"no two of {min(rows.shape[0], limits.SAMPLED)} rows are correlated more than "
        f"unrelated rows are by chance: the {observed.n_observed} columns carry no distance "
        "between rows, and the embedding is noise; measure more columns, or average rows that "
        "belong together"
    )


def _of_model(table: Floats, asked: Settings, observed: Moments) -> Settings:
    """Return settings of a table that looks like samples of the model."""
    choices = {
        "strategy": Geodesic(),
        "affinity": "correlation",
        "refine": Likelihood() if _may_use_graph(asked) else None,
    }
    asked, agreement = replace(asked, model_based=True), np.nan
    if "auto" in (asked.affinity, asked.refine) or asked.by_likelihood:
        agreement = agreement_of_halves(table, asked.choose("", **choices))
    why = f"the {observed.n_observed} columns look like samples of a Gaussian process"
    if agreement < SUPPORTED:
        why = (
            f"nothing in the {observed.n_observed} columns speaks against a Gaussian process, but "
            "two halves of them do not agree"
        )
    return _agreeing(asked.choose(why, **choices), agreement)


def _agreeing(settings: Settings, agreement: float) -> Settings:
    """Return settings with the agreement of two halves of the columns."""
    if not np.isfinite(agreement):
        return settings
    weak = ": the arrangement is weak" if agreement < SUPPORTED else ""
    return replace(settings, agreement=agreement).explain(
        agreement=f"two halves of the columns, embedded separately, agree by R² {agreement:.2f}"
        + weak
    )


def _of_table(rows: Any, table: Floats, asked: Settings, observed: Moments) -> Settings:
    """Return settings of a table that is no sample of the model."""
    options = candidates(rows, asked, observed.are_counts)
    tried: tuple[Candidate, ...] = ()
    chosen, agreement, seen = options[0], np.nan, True
    why = f"the default of the {chosen.strategy.name} strategy"
    if len(options) > 1 or asked.refine == "auto" or asked.by_likelihood:
        best, tried, seen = compare_candidates(table, predicted_values(table, rows), options)
        chosen, agreement = options[best], agreement_of_halves(table, options[best])
        why = _why(tried) if len(tried) > 1 else why
    seen = seen or agreement >= SUPPORTED
    settings = replace(asked, candidates=tried)
    plain = asked.n_components == "auto" or int(asked.n_components) <= _MOST_DIMENSIONS
    enough = _may_use_graph(asked) and rows.shape[1] >= limits.FEWEST_COLUMNS and plain
    if asked.refine == "auto" and enough and seen and agreement < SUPPORTED:
        weak = "the closed forms of two halves of the columns disagree"
        settings = settings.choose(weak, strategy=Geodesic(), refine=Likelihood())
    settings = settings.choose(
        why, strategy=chosen.strategy, affinity=chosen.affinity, refine=chosen.refine
    )
    settings = _agreeing(settings, agreement)
    return _close_call(settings) if seen else _nothing_to_see(settings)


def _why(tried: tuple[Candidate, ...]) -> str:
    """Why the first of several candidates was taken."""
    first, second, *_ = tried
    held_out = np.isfinite(first.r2)
    return (
        f"predicts {'held-out' if held_out else 'the'} columns best of {len(tried)} candidates: "
        f"score {first.score:.3f} (next {second.affinity}, {second.strategy}: "
        f"{second.difference:+.3f} ± {second.difference_error:.3f})"
        + (f", held-out R² {first.r2:.2f}" if held_out else ", which are too few to hold any out")
    )


def _nothing_to_see(settings: Settings) -> Settings:
    """Return settings with the warning that columns do not predict one another."""
    text = "no method predicts held-out columns better than their mean: there may be nothing to see"
    return settings.explain(warning=text).add_warning(text)


def _close_call(settings: Settings) -> Settings:
    """Return settings with a word where other candidates predict as well."""
    close = [each for each in settings.candidates[1:] if each.difference > -each.difference_error]
    if not close:
        return settings
    text = (
        f"{len(close) + 1} of {len(settings.candidates)} candidates predict columns "
        "equally well (within a standard error of the difference)"
    )
    return settings.explain(**{"close call": text})


def _with_descent(settings: Settings, observed: Moments) -> Settings:
    """Choose whether a likelihood descends from many starts, or from the closed form alone."""
    if settings.refine is None:
        return settings
    likely = settings.model_based or observed.fit_the_model
    annealed = likely or not settings.agreement >= SUPPORTED
    descent = "annealed" if annealed else "local"
    return replace(settings, refine=settings.refine.resolve(descent=descent))
