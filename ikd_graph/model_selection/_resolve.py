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
from .._base.format import setting
from .._base.progress import Stages
from .._base.table import dense_rows, evenly_spaced, some_rows
from ..gplvm import MOST_WORK, work_of
from ..plan import Candidate, Refinement, Report, Request, is_auto
from ..refine import Likelihood, Stress
from ..similarity import AFFINITIES
from ..strategies import Eigen, Geodesic, Strategy
from ._candidates import agreement_of_halves, candidates, compare_candidates
from ._exact import exact_rule
from ._facts import Facts, has_significant_correlation
from ._held_out import predicted_values
from ._plan import Choice, make_plan, size_by_spectrum

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
        Clock of the fit.

    Returns
    -------
    Report
        Nothing is left to choose, but the kernel where the likelihood compares several; with the
        reason of each choice, the candidates, the agreement of two halves of the columns and what
        the user has to be told.
    """
    request = asked
    reasons: dict[str, str] = {}
    spectrum = None
    if asked.n_components == "auto" and facts.has_rows:
        request, reasons = _with_estimated_size(facts, asked, stages)
    if not facts.has_rows:
        choice = _of_values(facts.rows, request)
    elif facts.has_holes:
        choice = _of_holes(facts, request)
    else:
        with stages("choosing"):
            choice = _of_rows(facts, request)
    size = request.n_components
    if size == "auto":
        with stages("spectrum"):
            size, spectrum = size_by_spectrum(facts, request, choice)
        why = f"the last wide gap among {spectrum.size} leading eigenvalues lies behind {size}"
        reasons["n_components"] = why
    plan, numbers = make_plan(facts, request, choice, size)
    named = {name for name, value in vars(asked).items() if not is_auto(value)}
    chosen = {name: why for name, why in choice.reasons.items() if name not in named}
    return Report(
        **vars(plan), candidates=choice.candidates, agreement=choice.agreement,
        warnings=choice.warnings, spectrum=spectrum, reasons={**reasons, **chosen, **numbers},
    )  # fmt: skip


def _with_estimated_size(
    facts: Facts, request: Request, stages: Stages
) -> tuple[Request, dict[str, str]]:
    """Request for a number of coordinates that is estimated, if the rows have enough columns."""
    rows = facts.block
    few = dense_rows(some_rows(rows, evenly_spaced(rows.shape[0], limits.SIZED)))
    if len(few) >= 2 and np.count_nonzero(np.ptp(few, axis=0)) >= limits.FEWEST_COLUMNS:
        with stages("dimensions"):
            result = dimension.estimate(few)
        of_block = " of a block without holes" if facts.has_holes else ""
        reasons = {"n_components": f"{result} by held-out columns{of_block}"}
        return replace(request, n_components=result.dimension), reasons
    if facts.has_holes:
        raise ValueError(
            "n_components must be a number for a table with holes whose largest block without "
            f"any has {rows.shape[0]} rows and {rows.shape[1]} columns, got 'auto'; name it"
        )
    return request, {}


def _choice(request: Request, strategy: Strategy, affinity: str, refine: Refinement) -> Choice:
    """Choice of defaults, or of what was asked for in place of them."""
    return Choice(
        strategy if isinstance(request.strategy, str) else request.strategy,
        affinity if request.affinity == "auto" else request.affinity,
        refine if isinstance(request.refine, str) else request.refine,
    )


def _may_use_graph(request: Request) -> bool:
    """Whether a strategy that has a graph was asked for, or none."""
    return isinstance(request.strategy, str) or request.strategy.uses_graph


def _of_values(values: Any, request: Request) -> Choice:
    """Return the method of values between points."""
    # A graph, or a strategy that has one, asks for a manifold.
    free = is_auto(request.graph) and not sp.issparse(values)
    distances = request.affinity == "precomputed_distance"
    if free and distances and isinstance(request.strategy, str):
        why = "every pair is known: stress over all pairs where classical scaling is not exact"
        choice = _choice(request, Eigen(), request.affinity, Stress())
        return choice.explain(strategy=why, refine=why)
    unknown = "the table behind given values is not known"
    if free and not distances and _may_use_graph(request):
        rule = exact_rule(values, request)
        if rule is not None:
            why = "the covariances agree with the kernel"
            choice = replace(_choice(request, Eigen(), request.affinity, None), graph=rule)
            return choice.explain(strategy=why, graph=why, refine=unknown)
    why = "the default: it needs no more than a connected graph"
    choice = _choice(request, Geodesic(), request.affinity, None)
    return choice.explain(strategy=why, refine=unknown)


def _of_holes(facts: Facts, request: Request) -> Choice:
    """Return the method of rows with holes: pairs of them may be unknown."""
    enough = facts.rows.shape[1] >= limits.FEWEST_COLUMNS
    choice = _choice(request, Geodesic(), "correlation" if enough else "euclidean", None).explain(
        strategy="of a table with holes some pairs of rows are unknown: paths on a graph need no "
        "more",
        affinity="rows share different columns, and a correlation needs no common scale"
        if enough
        else "rows share different columns, too few for correlations",
    )
    strategy = choice.strategy
    if not strategy.uses_graph and not strategy.uses_kernel:
        raise ValueError(
            f"strategy must be 'geodesic' or 'blockwise' for {setting('missing', 'pairwise')}, got "
            f"{strategy.name!r}, which projects whole rows; {setting('missing', 'impute')} fills "
            "them in"
        )
    if request.refine is None or isinstance(request.refine, Stress):
        return choice
    costly = work_of(np.isfinite(facts.rows)) > MOST_WORK
    if isinstance(request.refine, Likelihood):
        text = (
            f"{setting('refine', 'likelihood')} became 'stress': the holes leave too many sets of "
            "rows that know the same columns for the likelihood of the known entries; "
            f"{setting('missing', 'impute')} fills them"
        )
        return replace(choice, refine=Stress(), warnings=(text,)) if costly else choice
    if not strategy.uses_graph:
        return choice.explain(refine="all pairs are known")
    modeled = AFFINITIES[choice.affinity].over_pairs == "correlation"
    if modeled and not costly and facts.moments.fit_the_model:
        why = "a block without holes looks like samples of a Gaussian process"
        text = f"{why}: likelihood of the known entries"
        return replace(choice, refine=Likelihood()).explain(refine=text)
    why = "the holes leave no block that fits the model of the likelihood, or cost too much"
    return replace(choice, refine=Stress()).explain(refine=why)


def _of_rows(facts: Facts, request: Request) -> Choice:
    """Return the method of a whole table."""
    observed = facts.moments
    # Who asks for the likelihood says that the columns are samples, if nothing speaks against it.
    plausible = isinstance(request.refine, Likelihood) and observed.is_plausible
    affinity = AFFINITIES["correlation" if request.affinity == "auto" else request.affinity]
    estimates = not (affinity.euclidean or affinity.square_roots or affinity.shared)
    model_like = (observed.fit_the_model or plausible) and estimates
    choice = _of_model(facts, request) if model_like else _of_table(facts, request)
    if np.isfinite(choice.agreement):
        weak = ": the arrangement is weak" if choice.agreement < SUPPORTED else ""
        choice = choice.explain(
            agreement="two halves of the columns, embedded separately, agree by "
            f"R² {choice.agreement:.2f}{weak}"
        )
    if choice.refine is None:
        return choice
    # From many starts, or from the closed form alone.
    local = choice.agreement >= SUPPORTED and not (model_like or observed.fit_the_model)
    return replace(choice, refine=choice.refine.resolve(descent="local" if local else "annealed"))


def _of_model(facts: Facts, request: Request) -> Choice:
    """Return the method of a table that looks like samples of the model."""
    n, width = facts.rows.shape
    why = f"the {width} columns look like samples of a Gaussian process"
    refinement = Likelihood() if _may_use_graph(request) else None
    choice = _choice(request, Geodesic(), "correlation", refinement)
    choice = replace(choice, model_based=True).explain(strategy=why, affinity=why, refine=why)
    if not has_significant_correlation(facts.rows):
        text = (
            f"no two of {min(n, limits.SAMPLED)} rows are correlated more than unrelated rows are "
            f"by chance: the {width} columns carry no distance between rows, and the embedding is "
            "noise; measure more columns, or average rows that belong together"
        )
        refinement = None if isinstance(request.refine, str) else request.refine
        choice = replace(choice, refine=refinement, warnings=(text,))
        return choice.explain(refine="no rows are significantly correlated")
    if "auto" not in (request.affinity, request.refine) and not isinstance(
        choice.refine, Likelihood
    ):
        return choice
    choice = replace(choice, agreement=agreement_of_halves(facts.sample, choice, request))
    if choice.agreement < SUPPORTED:
        why = (
            f"nothing in the {width} columns speaks against a Gaussian process, but two halves of "
            "them do not agree"
        )
    return choice.explain(strategy=why, affinity=why, refine=why)


def _of_table(facts: Facts, request: Request) -> Choice:
    """Return the method of a table that is no sample of the model."""
    options = candidates(facts, request)
    choice = options[0]
    why = f"the default of the {choice.strategy.name} strategy"
    if len(options) == 1 and (request.refine is None or isinstance(request.refine, Stress)):
        return choice.explain(strategy=why, affinity=why)
    values = predicted_values(facts.sample, facts.rows)
    best, tried, predicts = compare_candidates(facts.sample, values, options, request)
    agreement = agreement_of_halves(facts.sample, options[best], request)
    choice = replace(options[best], candidates=tried, agreement=agreement)
    why = _why(tried) if len(tried) > 1 else why
    choice = choice.explain(strategy=why, affinity=why, refine=why)
    if not predicts and not agreement >= SUPPORTED:
        text = (
            "no method predicts held-out columns better than their mean: there may be nothing to "
            "see"
        )
        return replace(choice, warnings=(text,)).explain(warning=text)
    size = request.n_components
    plain = size == "auto" or size <= _MOST_DIMENSIONS
    enough = _may_use_graph(request) and facts.rows.shape[1] >= limits.FEWEST_COLUMNS
    if isinstance(request.refine, str) and enough and plain and agreement < SUPPORTED:
        weak = "the closed forms of two halves of the columns disagree"
        strategy = _choice(request, Geodesic(), choice.affinity, None).strategy
        choice = replace(choice, strategy=strategy, refine=Likelihood())
        choice = choice.explain(strategy=weak, refine=weak)
    return choice


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
