"""The one function that resolves every "auto" of a fit.

A table that looks like samples of the model is compared by correlations and refined by the
likelihood, whether two halves of the columns agree or not. Any other table is compared in one of
three representations: as it is, columns standardized, or rows standardized; counts by the roots of
their proportions. The one is taken whose closed form, made without a quarter of the columns,
predicts these best. Its refinement is stress, or the likelihood where two halves of the columns,
embedded separately, do not support the closed form. Of rows with holes a copy that was filled in is
judged, and unknown pairs leave a method on a graph. Values between points that were given have no
columns to hold out: what they are solved by follows from what is known of them.
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
from ..refine import Likelihood, Stress
from ..settings import Candidate, Settings
from ..similarity import AFFINITIES, folds
from ..strategies import Blockwise, Eigen, Geodesic
from ._candidates import candidates, compare_candidates
from ._crossvalidate import AGREED, SPLITS, agreement_of_halves, closed_form
from ._facts import ENOUGH_COLUMNS, Facts, has_significant_correlation
from ._numbers import MIN_NEIGHBORS, trial, with_numbers

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


def resolve(facts: Facts, asked: Settings, stages: Stages) -> Settings:
    """Choose the settings of a fit, all that is "auto".

    Parameters
    ----------
    facts : Facts
        What is fitted.
    asked : Settings
        What was asked for.
    stages : Stages
        Clock of the fit.

    Returns
    -------
    Settings
        Nothing is left to choose, but the kernel where the likelihood compares several; with the
        reason of each choice, the candidates, the agreement of two halves of the columns and what
        the user has to be told.
    """
    settings = asked
    if not facts.has_rows:
        settings = _of_values(facts.rows, settings)
    else:
        settings = _with_size(facts, settings, stages)
        with stages("choosing"):
            settings = _of_rows(facts, settings)
            if not facts.knows_all_pairs:
                settings = _of_unknown_pairs(facts, settings, asked.refine)
    if settings.is_auto("n_components"):
        with stages("spectrum"):
            spectrum = _leading_eigenvalues(facts, settings)
        size = int(eigen.eigengap(spectrum)) if spectrum.size > 1 else 1
        why = f"the last wide gap among {spectrum.size} leading eigenvalues lies behind {size}"
        settings = replace(settings.take(why, n_components=size), spectrum=spectrum)
    shown = ("strategy", "affinity", "refine", "n_components")
    if any(getattr(settings.halved, name, None) != getattr(settings, name) for name in shown):
        settings = replace(settings, agreements=())
    return with_numbers(facts, replace(settings, halved=None))


def _with_size(facts: Facts, settings: Settings, stages: Stages) -> Settings:
    """Take the number of coordinates that held-out columns have, if the rows have enough."""
    if not settings.is_auto("n_components"):
        return settings
    rows = facts.whole
    few = dense_rows(some_rows(rows, evenly_spaced(rows.shape[0], limits.SIZED)))
    few = few[:, np.ptp(few, axis=0) > 0.0]
    if len(few) < 2 or few.shape[1] < limits.FEWEST_COLUMNS or len(folds(few)) == 1:
        return settings
    with stages("dimensions"):
        result = dimension.estimate(few)
    return settings.take(f"{result} by held-out columns", n_components=max(result.dimension, 1))


def _leading_eigenvalues(facts: Facts, settings: Settings) -> Floats:
    """Leading eigenvalues of the closed form, descending."""
    strategy = settings.strategy
    if isinstance(strategy, Blockwise):
        # Merged cliques have no spectrum, the paths of their graph have.
        strategy = Geodesic()
    n, width = facts.whole.shape
    size = min(_N_LEADING, n - 1 if strategy.uses_kernel else min(n - 1, width))
    settings = replace(settings, strategy=strategy, refine=None, n_components=size)
    whole = replace(facts, rows=facts.whole, least=None)
    return trial(whole, settings).solution.embedding.eigenvalues


def _may_use_graph(settings: Settings) -> bool:
    """Whether a strategy that has a graph was asked for, or none."""
    return settings.is_auto("strategy") or settings.strategy.uses_graph


def _of_values(values: Any, settings: Settings) -> Settings:
    """Choose the method of values between points."""
    if settings.is_auto("graph") and not sp.issparse(values):
        # A graph, or a strategy that has one, asks for a manifold.
        if settings.affinity == "precomputed_distance" and settings.is_auto("strategy"):
            why = "every pair is known: stress over all pairs where classical scaling is not exact"
            settings = settings.take(why, strategy=Eigen(), refine=Stress())
        elif settings.affinity == "precomputed" and _may_use_graph(settings):
            rule = _exact_rule(values, settings)
            if rule is not None:
                why = "the covariances agree with the kernel"
                settings = settings.take(why, strategy=Eigen(), graph=rule)
    why = "the default: it needs no more than a connected graph"
    settings = settings.take(why, strategy=Geodesic())
    return settings.take("the table behind given values is not known", refine=None)


def _exact_rule(cov: Floats, settings: Settings) -> graph.Threshold | None:
    """Return the graph of covariances that are exactly those of the kernel, else None.

    Some points are solved in M dimensions by the closed form of all pairs: the coordinates have to
    imply what was given, to rounding.
    """
    n, size = len(cov), settings.n_components
    few = evenly_spaced(n, limits.SIZED)
    if settings.is_auto("n_components") or size >= few.size or cov.min() <= 0.0:
        return None
    kernel = kernels.SquaredExponential() if settings.is_auto("kernel") else settings.kernel
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


def _of_unknown_pairs(facts: Facts, settings: Settings, asked: Any) -> Settings:
    """Let the method of a table do with those pairs that are known; ``asked`` is the refinement."""
    strategy, refine = settings.strategy, settings.refine
    if not strategy.uses_graph:
        raise ValueError(
            f"strategy must be 'geodesic' or 'blockwise' where rows share fewer than {facts.least} "
            f"columns, got {strategy.name!r}, which needs all pairs; {setting('missing', 'impute')}"
            " fills holes in"
        )
    euclidean = AFFINITIES[settings.affinity].euclidean
    is_possible = not euclidean and likelihood_of_entries(facts.rows)
    stress = asked == "auto" and isinstance(refine, Stress)
    if stress and is_possible and facts.has_a_block_of_the_model():
        why = "a block without holes looks like samples of a Gaussian process"
        settings = settings.explain({"refine": f"{why}: likelihood of the known entries"})
        return replace(settings, refine=Likelihood(descent="annealed"))
    if isinstance(refine, Likelihood) and not is_possible:
        text = (
            f"{setting('refine', 'likelihood')} became 'stress': pairs of rows are unknown, and "
            "the holes leave too many sets of rows that know the same columns for the likelihood "
            f"of the known entries; {setting('missing', 'impute')} fills them"
        )
        told = (*settings.warnings, text) if asked != "auto" else settings.warnings
        settings = settings.explain({"refine": text})
        return replace(settings, refine=Stress(), warnings=told)
    return settings


def _of_rows(facts: Facts, asked: Settings) -> Settings:
    """Choose the method of a whole table."""
    settings, likely = asked, isinstance(asked.refine, Likelihood)
    affinity = AFFINITIES["correlation" if asked.is_auto("affinity") else asked.affinity]
    if not (affinity.euclidean or affinity.square_roots or affinity.shared):
        # Who asks for the likelihood says that the columns are samples, if nothing speaks against.
        fewest = limits.FEWEST_COLUMNS if likely else ENOUGH_COLUMNS
        settings = replace(settings, model_based=facts.fit_the_model(fewest))
    if settings.model_based:
        settings = _of_model(facts, settings)
    elif likely or any(map(asked.is_auto, ("strategy", "affinity", "refine"))):
        settings = _of_table(facts, settings)
    if np.isfinite(settings.agreement):
        weak = ": the arrangement is weak" if settings.agreement < SUPPORTED else ""
        weak = weak if len(settings.agreements) == SPLITS else ", of one split"
        text = (
            "without a likelihood two halves of the columns agree by R² "
            f"{spread(settings.agreements)}{weak}"
        )
        settings = settings.explain({"agreement": text})
    if asked.is_auto("refine") and (near := list(_near_another(facts, settings))):
        text = f"another refinement was close, by {' and '.join(near)}"
        settings = settings.explain({"close": text})
    refine = settings.refine
    if isinstance(refine, Likelihood) and refine.descent == "auto":
        # From the closed form alone, or from many starts.
        local = settings.agreement >= SUPPORTED and not settings.model_based
        local = local and facts.knows_all_pairs and not facts.fit_the_model()
        settings = replace(
            settings, refine=replace(refine, descent="local" if local else "annealed")
        )
    return settings


def _of_model(facts: Facts, settings: Settings) -> Settings:
    """Choose the method of a table that looks like samples of the model."""
    n, width = facts.rows.shape
    why = f"the {width} columns look like samples of a Gaussian process"
    refine = Likelihood() if _may_use_graph(settings) else None
    method = {"strategy": Geodesic(), "affinity": "correlation", "refine": refine}
    may_refine = isinstance(settings.refine, Likelihood) or settings.is_auto("refine")
    if not has_significant_correlation(facts.rows):
        text = (
            f"no two of {min(n, limits.SAMPLED)} rows are correlated more than unrelated rows are "
            f"by chance: the {width} columns carry no distance between rows, and the embedding is "
            "noise; measure more columns, or average rows that belong together"
        )
        none = "no rows are significantly correlated"
        settings = replace(settings, warnings=(text,)).take(none, refine=None)
    elif may_refine or settings.is_auto("affinity"):
        settings = _halve(facts, settings, settings.filled(**method))
        if settings.agreement < SUPPORTED:
            why = (
                f"nothing in the {width} columns speaks against a Gaussian process, but two halves "
                "of them do not agree"
            )
    return settings.take(why, **method)


def _of_table(facts: Facts, settings: Settings) -> Settings:
    """Choose the method of a table that is no sample of the model."""
    asked = settings
    best, *others = options = candidates(facts, asked)
    if facts.are_counts:
        settings = settings.take("X holds counts", affinity=best.affinity)
    why = f"the default of the {best.strategy.name} strategy"
    if others or asked.is_auto("refine") or isinstance(asked.refine, Likelihood):
        at, tried, predicts = compare_candidates(facts, options)
        best = options[at] if asked.refine else replace(options[at], refine=None)
        settings = _halve(facts, replace(settings, candidates=tried), best)
        why = _why(tried, predicts) if others else why
        plain = asked.is_auto("n_components") or asked.n_components <= _MOST_DIMENSIONS
        enough = _may_use_graph(asked) and facts.rows.shape[1] >= limits.FEWEST_COLUMNS
        if not predicts and not settings.agreement >= SUPPORTED:
            text = (
                "no method predicts held-out columns better than their mean: there may be nothing "
                "to see"
            )
            settings = replace(settings, warnings=(text,)).explain({"warning": text})
        elif asked.is_auto("refine") and enough and plain and settings.agreement < SUPPORTED:
            weak = "without it two halves of the columns disagree"
            # The likelihood sees a core of the rows, elastic edges see all of many.
            few = facts.rows.shape[0] <= limits.DOUBLE
            likely = Likelihood() if few else Stress()
            settings = settings.take(weak, strategy=Geodesic(), refine=likely)
    return settings.take(why, strategy=best.strategy, affinity=best.affinity, refine=best.refine)


def _near_another(facts: Facts, settings: Settings) -> Iterator[str]:
    """Yield by what the refinement would be another one on a table that hardly differs."""
    agreements, candidates = settings.agreements, settings.candidates
    if facts.is_near_the_model():
        yield "how much the columns look like samples of a Gaussian process"
    if agreements and min(agreements) <= SUPPORTED <= max(agreements):
        yield "the agreement of halves"
    if any(
        other.refine != candidates[0].refine
        and abs(other.difference) <= 2.0 * other.difference_error
        for other in candidates[1:]
    ):
        yield "the score of the candidates"


def _halve(facts: Facts, settings: Settings, option: Settings) -> Settings:
    """Compare halves under a closed form, in every split unless those of the first agree."""
    halved, agreements = closed_form(option), list[float]()
    for split in range(SPLITS):
        agreements.append(agreement_of_halves(facts, halved, split))
        if not agreements[0] <= AGREED:
            break
    return replace(settings, halved=halved, agreements=tuple(agreements))


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
