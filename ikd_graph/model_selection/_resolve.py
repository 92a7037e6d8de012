"""The one function that resolves every "auto" of a fit.

A table that looks like samples of the model, and of which two halves of the columns agree, is
compared by correlations and refined by the likelihood. Any other table is compared in one of three
representations: as it is, columns standardized, or rows standardized; counts by the roots of their
proportions. The one is taken whose closed form, made without a quarter of the columns, predicts
these best. Its refinement is stress, or the likelihood where two halves of the columns, embedded
separately, do not support the closed form. Rows with holes, and values between points that were
given, leave no columns to hold out: what they are solved by follows from what is known of them.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from .. import dimension
from .._base import limits
from .._base.progress import Stages
from .._base.table import dense_rows, evenly_spaced, some_rows
from ..plan import Candidate, Report, Request
from ..refine import MOST_WORK, Likelihood, Stress, work_of
from ..similarity import AFFINITIES
from ..strategies import Eigen, Geodesic, Strategy
from ._candidates import agreement_of_halves, candidates, compare_candidates
from ._exact import exact_choice
from ._facts import Facts
from ._held_out import predicted_values
from ._moments import has_significant_correlation
from ._numbers import Choice, make_plan, size_by_spectrum

SUPPORTED = 0.4
"""Agreement of two halves of the columns from which a closed form is worth keeping
(docs/decisions/003-one-rule-for-auto.md)."""

_MOST_DIMENSIONS = 3
"""Coordinates up to which the likelihood sharpens neighborhoods; in more they are sharp already."""


def resolve(facts: Facts, asked: Request, stages: Stages) -> Report:
    """Resolve every setting that is "auto".

    Parameters
    ----------
    facts : Facts
        What is fitted.
    asked : Request
        What was asked for.
    stages : Stages
        Clock and progress bar.

    Returns
    -------
    Report
        Nothing is left to choose, but the kernel where the likelihood compares several; with the
        reason of each choice, the candidates, the agreement of two halves of the columns and what
        the user has to be told.
    """
    request, reasons, spectrum = asked, {}, None
    if asked.n_components == "auto":
        request, reasons = _with_estimated_size(facts, asked, stages)
    if not facts.has_rows:
        choice = _of_values(facts.rows, request)
    elif facts.has_holes:
        choice = _of_holes(facts, request)
    else:
        choice = _of_rows(facts, request, stages)
    size = request.n_components
    if size == "auto":
        with stages("spectrum"):
            size, spectrum = size_by_spectrum(facts, request, choice)
        why = f"the last wide gap among {spectrum.size} leading eigenvalues lies behind {size}"
        reasons["n_components"] = why
    plan, numbers = make_plan(facts, request, choice, size)
    wanted = vars(asked)
    chosen = {
        name: why for name, why in choice.reasons.items() if wanted.get(name, "auto") == "auto"
    }
    return Report(
        **vars(plan), candidates=choice.candidates, agreement=choice.agreement,
        warnings=choice.warnings, spectrum=spectrum, reasons={**reasons, **chosen, **numbers},
    )  # fmt: skip


def _with_estimated_size(
    facts: Facts, request: Request, stages: Stages
) -> tuple[Request, dict[str, str]]:
    """Request for a number of coordinates that is estimated, if the rows have enough columns."""
    if not facts.has_rows:
        return request, {}
    rows = facts.block
    few = dense_rows(some_rows(rows, evenly_spaced(rows.shape[0], limits.SIZED)))
    if len(few) < 2 or np.count_nonzero(np.ptp(few, axis=0)) < limits.FEWEST_COLUMNS:
        if facts.has_holes:
            raise ValueError(
                "n_components must be a number for a table with holes whose largest block without "
                f"any has {rows.shape[0]} rows and {rows.shape[1]} columns, got 'auto'; name it"
            )
        return request, {}
    with stages("dimensions"):
        result = dimension.estimate(few)
    of_block = " of a block without holes" if facts.has_holes else ""
    why = f"{result} by held-out columns{of_block}"
    return replace(request, n_components=result.dimension), {"n_components": why}


def _named(request: Request, choice: Choice) -> Choice:
    """Choice in which what was asked for stands in place of the default."""
    asked: dict[str, Any] = {
        "strategy": request.strategy, "affinity": request.affinity, "refine": request.refine
    }  # fmt: skip
    return replace(choice, **{name: value for name, value in asked.items() if value != "auto"})


def _may_use_graph(request: Request) -> bool:
    """Whether a strategy that has a graph was asked for, or none."""
    return not isinstance(request.strategy, Strategy) or request.strategy.uses_graph


def _of_values(values: Any, request: Request) -> Choice:
    """Return the method of values between points."""
    # A graph, or a strategy that has one, asks for a manifold.
    free = isinstance(request.graph, str) and not sp.issparse(values)
    distances = request.affinity == "precomputed_distance"
    if free and distances and request.strategy == "auto":
        why = "every pair is known: stress over all pairs where classical scaling is not exact"
        choice = Choice(Eigen(), request.affinity, Stress())
        return _named(request, choice.explain(strategy=why, refine=why))
    choice = None
    if free and not distances and _may_use_graph(request):
        choice = exact_choice(values, request)
    if choice is not None:
        why = "the covariances agree with the kernel"
        choice = choice.explain(strategy=why, graph=why)
    else:
        why = "the default: it needs no more than a connected graph"
        choice = Choice(Geodesic(), request.affinity, None).explain(strategy=why)
    return _named(request, choice.explain(refine="the table behind given values is not known"))


def _of_holes(facts: Facts, request: Request) -> Choice:
    """Return the method of rows with holes: pairs of them may be unknown."""
    enough = facts.rows.shape[1] >= limits.FEWEST_COLUMNS
    why = "rows share different columns" + (
        ", and a correlation needs no common scale" if enough else ", too few for correlations"
    )
    choice = Choice(Geodesic(), "correlation" if enough else "euclidean", None)
    choice = _named(request, choice).explain(
        strategy="of a table with holes some pairs of rows are unknown: paths on a graph need no "
        "more",
        affinity=why,
    )
    strategy = choice.strategy
    if not strategy.uses_graph and not strategy.uses_kernel:
        raise ValueError(
            "strategy must be 'geodesic' or 'blockwise' for missing='pairwise', got "
            f"{strategy.name!r}, which projects whole rows; missing='impute' fills them in"
        )
    if request.refine is None or isinstance(request.refine, Stress):
        return choice
    many = work_of(np.isfinite(facts.rows)) > MOST_WORK
    if isinstance(request.refine, Likelihood):
        text = (
            "refine='likelihood' became 'stress': the holes leave too many sets of rows that know "
            "the same columns for the likelihood of the known entries; missing='impute' fills them"
        )
        return replace(choice, refine=Stress(), warnings=(text,)) if many else choice
    if not strategy.uses_graph:
        return choice.explain(refine="all pairs are known")
    correlations = AFFINITIES[choice.affinity].over_pairs == "correlation"
    if many or not (correlations and facts.moments.fit_the_model):
        why = (
            "the holes leave no block that fits the model of the likelihood, or make it too costly"
        )
        return replace(choice, refine=Stress()).explain(refine=why)
    why = "a block without holes looks like samples of a Gaussian process"
    return replace(choice, refine=Likelihood()).explain(
        refine=f"{why}: likelihood of the known entries"
    )


def _of_rows(facts: Facts, request: Request, stages: Stages) -> Choice:
    """Return the method of a whole table."""
    # Who asks for the likelihood says that the columns are samples, if nothing speaks against it.
    plausible = isinstance(request.refine, Likelihood) and facts.moments.is_plausible
    model_like = facts.moments.fit_the_model or plausible
    if model_like and _estimates_the_kernel(request):
        if not has_significant_correlation(facts.rows):
            return _of_noise(facts, request)
        with stages("halves"):
            choice = _of_model(facts, request)
    else:
        with stages("choosing"):
            choice = _of_table(facts, request)
    if choice.refine is None:
        return choice
    # From many starts, or from the closed form alone.
    likely = choice.model_based or facts.moments.fit_the_model
    annealed = likely or not choice.agreement >= SUPPORTED
    descent = "annealed" if annealed else "local"
    return replace(choice, refine=choice.refine.resolve(descent=descent))


def _estimates_the_kernel(request: Request) -> bool:
    """Whether similarities of samples of the model estimate its kernel."""
    affinity = AFFINITIES["correlation" if request.affinity == "auto" else request.affinity]
    return not (affinity.euclidean or affinity.square_roots or affinity.shared)


def _of_noise(facts: Facts, request: Request) -> Choice:
    """Return the method of a table of which no rows are correlated."""
    width = facts.rows.shape[1]
    why = f"the {width} columns look like samples of a Gaussian process"
    text = (
        f"no two of {min(facts.rows.shape[0], limits.SAMPLED)} rows are correlated more than "
        f"unrelated rows are by chance: the {width} columns carry no distance "
        "between rows, and the embedding is noise; measure more columns, or average rows that "
        "belong together"
    )
    choice = Choice(Geodesic(), "correlation", None, model_based=True, warnings=(text,)).explain(
        strategy=why, affinity=why, refine="no rows are significantly correlated"
    )
    return _named(request, choice)


def _of_model(facts: Facts, request: Request) -> Choice:
    """Return the method of a table that looks like samples of the model."""
    refinement = Likelihood() if _may_use_graph(request) else None
    choice = _named(request, Choice(Geodesic(), "correlation", refinement, model_based=True))
    width, agreement = facts.rows.shape[1], np.nan
    if "auto" in (request.affinity, request.refine) or isinstance(choice.refine, Likelihood):
        agreement = agreement_of_halves(facts.sample, choice, request)
    why = f"the {width} columns look like samples of a Gaussian process"
    if agreement < SUPPORTED:
        why = (
            f"nothing in the {width} columns speaks against a Gaussian process, but two halves of "
            "them do not agree"
        )
    return _agreeing(choice.explain(strategy=why, affinity=why, refine=why), agreement)


def _agreeing(choice: Choice, agreement: float) -> Choice:
    """Choice with the agreement of two halves of the columns."""
    if not np.isfinite(agreement):
        return choice
    weak = ": the arrangement is weak" if agreement < SUPPORTED else ""
    text = f"two halves of the columns, embedded separately, agree by R² {agreement:.2f}{weak}"
    return replace(choice, agreement=agreement).explain(agreement=text)


def _of_table(facts: Facts, request: Request) -> Choice:
    """Return the method of a table that is no sample of the model."""
    options = candidates(facts, request)
    choice, agreement, predicts = options[0], np.nan, True
    why = f"the default of the {choice.strategy.name} strategy"
    if len(options) > 1 or request.refine == "auto" or isinstance(request.refine, Likelihood):
        values = predicted_values(facts.sample, facts.rows)
        best, tried, predicts = compare_candidates(facts.sample, values, options, request)
        choice = replace(options[best], candidates=tried)
        agreement = agreement_of_halves(facts.sample, choice, request)
        why = _why(tried) if len(tried) > 1 else why
    choice = choice.explain(strategy=why, affinity=why, refine=why)
    predicts = predicts or agreement >= SUPPORTED
    size = request.n_components
    plain = size == "auto" or size <= _MOST_DIMENSIONS
    enough = _may_use_graph(request) and facts.rows.shape[1] >= limits.FEWEST_COLUMNS and plain
    if request.refine == "auto" and enough and predicts and agreement < SUPPORTED:
        weak = "the closed forms of two halves of the columns disagree"
        choice = replace(choice, strategy=Geodesic(), refine=Likelihood())
        choice = _named(request, choice.explain(strategy=weak, refine=weak))
    choice = _agreeing(choice, agreement)
    if predicts:
        return choice
    text = "no method predicts held-out columns better than their mean: there may be nothing to see"
    return replace(choice, warnings=(text,)).explain(warning=text)


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
