"""The one function that resolves every "auto" of a fit.

A table that looks like samples of the model, and of which two halves of the columns agree, is
compared by correlations and refined by the likelihood. Any other table is compared in one of three
representations: as it is, columns standardized, or rows standardized; counts by the roots of their
proportions. The one is taken whose closed form, made without a quarter of the columns, predicts
these best. Its refinement is stress, or the likelihood where two halves of the columns, embedded
separately, do not support the closed form. Of rows with holes a copy that was filled in is judged,
and unknown pairs leave a method on a graph. Values between points that were given have no columns
to hold out: what they are solved by follows from what is known of them.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from .. import covariance, dimension, eigen, graph, kernels
from .._base import limits
from .._base.format import setting, spread
from .._base.progress import Stages
from .._base.rounding import SINGLE
from .._base.table import dense_rows, evenly_spaced, some_rows
from .._base.types import Floats
from ..gplvm import likelihood_of_entries
from ..plan import Candidate, Report, Request
from ..refine import Likelihood, Stress
from ..similarity import AFFINITIES, folds
from ..strategies import Blockwise, Eigen, Geodesic
from ._candidates import candidates, compare_candidates
from ._crossvalidate import AGREED, SPLITS, agreement_of_halves, closed_form
from ._facts import ENOUGH_COLUMNS, Facts, has_significant_correlation
from ._plan import MIN_NEIGHBORS, Choice, make_plan, trial

SUPPORTED = 0.4
"""Agreement of two halves of the columns from which a closed form is worth keeping
(docs/decisions/003-one-rule-for-auto.md)."""

_MOST_DIMENSIONS = 3
"""Coordinates up to which the likelihood sharpens neighborhoods; in more they are sharp already."""

_MOST_NEIGHBORS = 200
"""Neighbors of a point, in the mean, in graphs of exact covariances: more cost time and tell no
more."""

_N_LEADING = 15
"""Leading eigenvalues by which the number of coordinates is chosen."""


def resolve(facts: Facts, request: Request, stages: Stages) -> Report:
    """Resolve every setting that is "auto".

    Parameters
    ----------
    facts : Facts
        What is fitted.
    request : Request
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
    choice, spectrum = Choice(request), None
    if request.n_components == "auto" and facts.has_rows:
        _estimate_size(facts, choice, stages)
    if not facts.has_rows:
        _of_values(facts.rows, choice)
    else:
        with stages("choosing"):
            _of_rows(facts, choice)
            if not facts.knows_all_pairs:
                _of_unknown_pairs(facts, choice, request.refine)
    if choice.settings.n_components == "auto":
        with stages("spectrum"):
            spectrum = _leading_eigenvalues(facts, choice)
        size = int(eigen.eigengap(spectrum)) if spectrum.size > 1 else 1
        why = f"the last wide gap among {spectrum.size} leading eigenvalues lies behind {size}"
        choice.take(why, n_components=size)
    shown = ("strategy", "affinity", "refine", "n_components")
    halved, settings = choice.halved, choice.settings
    if any(getattr(halved, name, None) != getattr(settings, name) for name in shown):
        choice.agreements = ()
    plan = make_plan(facts, choice)
    return Report(
        **vars(plan), candidates=choice.candidates, agreements=choice.agreements,
        warnings=choice.warnings, spectrum=spectrum, reasons=choice.reasons,
    )  # fmt: skip


def _estimate_size(facts: Facts, choice: Choice, stages: Stages) -> None:
    """Take the number of coordinates that held-out columns have, if the rows have enough."""
    rows = facts.whole
    few = dense_rows(some_rows(rows, evenly_spaced(rows.shape[0], limits.SIZED)))
    few = few[:, np.ptp(few, axis=0) > 0.0]
    if len(few) >= 2 and few.shape[1] >= limits.FEWEST_COLUMNS and len(folds(few)) > 1:
        with stages("dimensions"):
            result = dimension.estimate(few)
        choice.take(f"{result} by held-out columns", n_components=max(result.dimension, 1))


def _leading_eigenvalues(facts: Facts, choice: Choice) -> Floats:
    """Leading eigenvalues of the closed form, descending."""
    strategy = choice.settings.solver
    if isinstance(strategy, Blockwise):
        # Merged cliques have no spectrum, the paths of their graph have.
        strategy = Geodesic()
    n, width = facts.whole.shape
    size = min(_N_LEADING, n - 1 if strategy.uses_kernel else min(n - 1, width))
    settings = replace(choice.settings, strategy=strategy, refine=None, n_components=size)
    whole = replace(facts, rows=facts.whole, least=None)
    return trial(whole, Choice(settings, choice.model_based)).solution.embedding.eigenvalues


def _may_use_graph(request: Request) -> bool:
    """Whether a strategy that has a graph was asked for, or none."""
    return isinstance(request.strategy, str) or request.strategy.uses_graph


def _of_values(values: Any, choice: Choice) -> None:
    """Choose the method of values between points."""
    request = choice.settings
    if request.graph == "auto" and not sp.issparse(values):
        # A graph, or a strategy that has one, asks for a manifold.
        if request.affinity == "precomputed_distance" and request.strategy == "auto":
            why = "every pair is known: stress over all pairs where classical scaling is not exact"
            choice.take(why, strategy=Eigen(), refine=Stress())
        elif request.affinity == "precomputed" and _may_use_graph(request):
            rule = _exact_rule(values, request)
            if rule is not None:
                why = "the covariances agree with the kernel"
                choice.take(why, strategy=Eigen(), graph=rule)
    choice.take("the default: it needs no more than a connected graph", strategy=Geodesic())
    choice.take("the table behind given values is not known", refine=None)


def _exact_rule(cov: Floats, request: Request) -> graph.Threshold | None:
    """Return the graph of covariances that are exactly those of the kernel, else None.

    Some points are solved in M dimensions by the closed form of all pairs: the coordinates have to
    imply what was given, to rounding.
    """
    n, size = len(cov), request.n_components
    few = evenly_spaced(n, limits.SIZED)
    if size == "auto" or size >= few.size or cov.min() <= 0.0:
        return None
    kernel = kernels.SquaredExponential() if request.kernel == "auto" else request.kernel
    corr = covariance.to_correlation(cov[np.ix_(few, few)])
    corr = 0.5 * (corr + corr.T)
    points = eigen.coordinates(kernel.sq_distance(corr), size).coordinates
    implied = kernel.covariance(cdist(points, points, "sqeuclidean"))
    if np.abs(implied - corr).max() > SINGLE:
        return None
    # Of the smallest covariances, and of too many, none is needed.
    crowded = float(np.quantile(corr, 1.0 - min(_MOST_NEIGHBORS / n, 1.0)))
    s0 = min(graph.auto_threshold(None), max(covariance.FLOOR, crowded))
    return graph.Threshold(s0, n_neighbors=MIN_NEIGHBORS)


def _of_unknown_pairs(facts: Facts, choice: Choice, asked: Any) -> None:
    """Let the method of a table do with those pairs that are known; ``asked`` is the refinement."""
    strategy, refine = choice.settings.solver, choice.settings.refine
    if not strategy.uses_graph:
        raise ValueError(
            f"strategy must be 'geodesic' or 'blockwise' where rows share fewer than {facts.least} "
            f"columns, got {strategy.name!r}, which needs all pairs; {setting('missing', 'impute')}"
            " fills holes in"
        )
    euclidean = AFFINITIES[choice.settings.affinity].euclidean
    is_possible = not euclidean and likelihood_of_entries(facts.rows)
    stress = asked == "auto" and isinstance(refine, Stress)
    if stress and is_possible and facts.has_a_block_of_the_model():
        why = "a block without holes looks like samples of a Gaussian process"
        choice.settings = replace(choice.settings, refine=Likelihood(descent="annealed"))
        choice.reasons["refine"] = f"{why}: likelihood of the known entries"
    elif isinstance(refine, Likelihood) and not is_possible:
        text = (
            f"{setting('refine', 'likelihood')} became 'stress': pairs of rows are unknown, and "
            "the holes leave too many sets of rows that know the same columns for the likelihood "
            f"of the known entries; {setting('missing', 'impute')} fills them"
        )
        choice.settings = replace(choice.settings, refine=Stress())
        choice.reasons["refine"] = text
        choice.warnings += (text,) if asked != "auto" else ()


def _of_rows(facts: Facts, choice: Choice) -> None:
    """Choose the method of a whole table."""
    request = choice.settings
    affinity = AFFINITIES["correlation" if request.affinity == "auto" else request.affinity]
    likely = isinstance(request.refine, Likelihood)
    if not (affinity.euclidean or affinity.square_roots or affinity.shared):
        # Who asks for the likelihood says that the columns are samples, if nothing speaks against.
        fewest = limits.FEWEST_COLUMNS if likely else ENOUGH_COLUMNS
        choice.model_based = facts.fit_the_model(fewest)
    if choice.model_based:
        _of_model(facts, choice)
    elif "auto" in (request.strategy, request.affinity, request.refine) or likely:
        _of_table(facts, choice)
    if np.isfinite(choice.agreement):
        weak = ": the arrangement is weak" if choice.agreement < SUPPORTED else ""
        weak = weak if len(choice.agreements) == SPLITS else ", of one split"
        choice.reasons["agreement"] = (
            "without a likelihood two halves of the columns agree by R² "
            f"{spread(choice.agreements)}{weak}"
        )
    if request.refine == "auto" and (near := list(_near_another(facts, choice))):
        choice.reasons["close"] = f"another refinement was close, by {' and '.join(near)}"
    refine = choice.settings.refine
    if isinstance(refine, Likelihood) and refine.descent == "auto":
        # From the closed form alone, or from many starts.
        local = choice.agreement >= SUPPORTED and not choice.model_based
        local = local and facts.knows_all_pairs and not facts.fit_the_model()
        refine = replace(refine, descent="local" if local else "annealed")
        choice.settings = replace(choice.settings, refine=refine)


def _of_model(facts: Facts, choice: Choice) -> None:
    """Choose the method of a table that looks like samples of the model."""
    n, width = facts.rows.shape
    request, why = choice.settings, f"the {width} columns look like samples of a Gaussian process"
    refine = Likelihood() if _may_use_graph(request) else None
    method = {"strategy": Geodesic(), "affinity": "correlation", "refine": refine}
    if not has_significant_correlation(facts.rows):
        text = (
            f"no two of {min(n, limits.SAMPLED)} rows are correlated more than unrelated rows are "
            f"by chance: the {width} columns carry no distance between rows, and the embedding is "
            "noise; measure more columns, or average rows that belong together"
        )
        choice.warnings = (text,)
        choice.take("no rows are significantly correlated", refine=None)
    elif "auto" in (request.affinity, request.refine) or isinstance(request.refine, Likelihood):
        _halve(facts, choice, request.filled(**method))
        if choice.agreement < SUPPORTED:
            why = (
                f"nothing in the {width} columns speaks against a Gaussian process, but two halves "
                "of them do not agree"
            )
    choice.take(why, **method)


def _of_table(facts: Facts, choice: Choice) -> None:
    """Choose the method of a table that is no sample of the model."""
    request, size = choice.settings, choice.settings.n_components
    best, *others = options = candidates(facts, request)
    if facts.are_counts:
        choice.take("X holds counts", affinity=best.affinity)
    why = f"the default of the {best.solver.name} strategy"
    if others or request.refine == "auto" or isinstance(request.refine, Likelihood):
        at, choice.candidates, predicts = compare_candidates(facts, options)
        best = options[at] if request.refine else replace(options[at], refine=None)
        _halve(facts, choice, best)
        why = _why(choice.candidates, predicts) if others else why
        plain = size == "auto" or size <= _MOST_DIMENSIONS
        enough = _may_use_graph(request) and facts.rows.shape[1] >= limits.FEWEST_COLUMNS
        if not predicts and not choice.agreement >= SUPPORTED:
            text = (
                "no method predicts held-out columns better than their mean: there may be nothing "
                "to see"
            )
            choice.warnings, choice.reasons["warning"] = (text,), text
        elif request.refine == "auto" and enough and plain and choice.agreement < SUPPORTED:
            weak = "without it two halves of the columns disagree"
            # The likelihood sees a core of the rows, elastic edges see all of many.
            few = facts.rows.shape[0] <= limits.DOUBLE
            choice.take(weak, strategy=Geodesic(), refine=Likelihood() if few else Stress())
    choice.take(why, strategy=best.strategy, affinity=best.affinity, refine=best.refine)


def _near_another(facts: Facts, choice: Choice) -> Iterator[str]:
    """Yield by what the refinement would be another one on a table that hardly differs."""
    if facts.is_near_the_model():
        yield "how much the columns look like samples of a Gaussian process"
    if choice.agreements and min(choice.agreements) <= SUPPORTED <= max(choice.agreements):
        yield "the agreement of halves"
    if any(
        other.refine != choice.candidates[0].refine
        and abs(other.difference) <= 2.0 * other.difference_error
        for other in choice.candidates[1:]
    ):
        yield "the score of the candidates"


def _halve(facts: Facts, choice: Choice, option: Request) -> None:
    """Compare halves under a closed form, in every split unless those of the first agree."""
    choice.halved = closed_form(option)
    for split in range(SPLITS):
        r2 = agreement_of_halves(facts, choice.halved, split, choice.model_based)
        choice.agreements += (r2,)
        if not choice.agreements[0] <= AGREED:
            break


def _why(tried: tuple[Candidate, ...], predicts: bool) -> str:
    """Why the first of several candidates was taken."""
    first, second, *_ = tried
    held_out = np.isfinite(first.r2)
    columns = "held-out columns" if held_out else "the columns"
    tail = "" if held_out else ", which are too few to hold any out"
    if not predicts:
        return f"none of {len(tried)} candidates predicts {columns} beyond chance{tail}"
    # The table as it is stays where another representation gains less than the margin.
    how = "best" if second.difference < 0.0 else "about as well as the best"
    worse = "more" if second.difference > 0.0 else "less"
    return (
        f"predicts {columns} {how} of {len(tried)} candidates: score {first.score:.3f} "
        f"({second.affinity}, {second.strategy} scores {abs(second.difference):.3f} ± "
        f"{second.difference_error:.3f} {worse}){tail}"
    )
