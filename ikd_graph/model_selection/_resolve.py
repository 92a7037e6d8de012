"""The one function that resolves every "auto" of a fit, and the steps of its ladder."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import scipy.sparse as sp

from .. import covariance, dimension, eigen, graph, kernels
from .._base import limits
from .._base.format import setting, spread
from .._base.progress import Stages
from .._base.rounding import SINGLE
from .._base.table import SparseTable, dense_rows, evenly_spaced, some_rows
from .._base.types import Floats
from ..gplvm._search import JOINED
from ..refine import Likelihood, Stress
from ..settings import Candidate, Settings
from ..similarity import AFFINITIES, folds
from ..strategies import Blockwise, Eigen, Geodesic, Linear, Strategy
from ._crossvalidate import (
    AGREED,
    REPRESENTATIONS,
    SPLITS,
    agreement_of_halves,
    compare_candidates,
    without_likelihood,
)
from ._facts import ENOUGH_COLUMNS, Facts, has_significant_correlation
from ._numbers import trial, with_numbers

SUPPORTED = 0.4
"""Agreement of two halves of the columns from which a closed form is worth keeping
(docs/decisions/003-one-rule-for-auto.md)."""

_METHOD = ("strategy", "affinity", "refine")
"""Settings that the columns of a table choose together."""

_MOST_DIMENSIONS = 3
"""Coordinates up to which the likelihood sharpens neighborhoods; in more they are sharp already."""

_MOST_NEIGHBORS = 200
"""Neighbors of a point, in the mean, in graphs of exact covariances: more cost time and tell no
more."""

_N_LEADING = 15
"""Leading eigenvalues by which the number of coordinates is chosen."""


def resolve(facts: Facts, asked: Settings, stages: Stages) -> Settings:
    """Choose the settings of a fit, all that is "auto"; what was asked for stays.

    Every line that applies is taken, from the first to the last, and gives its reason:

    ==========================  ===================================================================
    What is fitted              What is chosen
    ==========================  ===================================================================
    values between points       of distances all pairs and stress over these; of covariances that
                                agree with the kernel all pairs; else geodesics, which need no more
                                than a connected graph
    rows                        n_components that predicts held-out columns, if there are enough
    samples of the model        correlations, geodesics and the likelihood, whether two halves of
                                the columns agree or not; no refinement where no rows correlate
    any other table             the candidate whose map, made without a quarter of the
                                columns, predicts these best: the table as it is, columns
                                standardized, or rows standardized; counts by the roots of their
                                proportions. Stress, or the likelihood where two halves of the
                                columns, embedded separately, do not support the closed form
    a table with a likelihood   a local descent where halves support the closed form, else a single
                                one that is annealed, or a search by many of samples of the model
    pairs that are not known    a method on a graph; the likelihood of the known entries where a
                                block without holes looks like samples of the model
    no n_components yet         n_components before the last wide gap of the spectrum
    all                         numbers of the graph, weights, kernel, landmarks (`with_numbers`)
    ==========================  ===================================================================

    Of rows with holes a copy that was filled in is judged.

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
    settings = halved = asked
    if not facts.has_rows:
        settings = _of_values(facts.rows, settings)
    else:
        settings = _with_size(facts, settings, stages)
        with stages("choosing"):
            settings = replace(settings, model_based=_is_model_based(facts, settings))
            if settings.model_based:
                settings, halved = _of_model(facts, settings)
            elif isinstance(asked.refine, Likelihood) or any(map(asked.is_auto, _METHOD)):
                settings, halved = _of_table(facts, settings)
            settings = _with_descent(facts, settings, halved, asked)
            if not facts.knows_all_pairs:
                settings = _of_unknown_pairs(facts, settings, asked)
    if settings.is_auto("n_components"):
        settings = _with_gap(facts, settings, stages)
    if all(getattr(halved, n) == getattr(settings, n) for n in (*_METHOD, "n_components")):
        settings = replace(settings, agreements=halved.agreements)
    return with_numbers(facts, settings)


# Values between points ----------------------------------------------------------------------------


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


def _may_use_graph(settings: Settings) -> bool:
    """Whether a strategy that has a graph was asked for, or none."""
    return settings.is_auto("strategy") or settings.strategy.uses_graph


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
    implied = kernel.matrix(points)
    if np.abs(implied - corr).max() > SINGLE:
        return None
    # Of the smallest covariances, and of too many, none is needed.
    crowded = float(np.quantile(corr, 1.0 - min(_MOST_NEIGHBORS / n, 1.0)))
    s0 = min(graph.auto_threshold(None), max(covariance.FLOOR, crowded))
    return graph.Threshold(s0, n_neighbors=JOINED)


# The number of coordinates ------------------------------------------------------------------------


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


def _with_gap(facts: Facts, settings: Settings, stages: Stages) -> Settings:
    """Take the number of coordinates before the last wide gap in the spectrum."""
    strategy = settings.strategy
    if isinstance(strategy, Blockwise):
        # Merged cliques have no spectrum, the paths of their graph have.
        strategy = Geodesic()
    with stages("spectrum"):
        n, width = facts.whole.shape
        size = min(_N_LEADING, n - 1 if strategy.uses_kernel else min(n - 1, width))
        closed = replace(settings, strategy=strategy, refine=None, n_components=size)
        whole = replace(facts, rows=facts.whole, least=None)
        spectrum = trial(whole, closed).solution.embedding.eigenvalues
    size = int(eigen.eigengap(spectrum)) if spectrum.size > 1 else 1
    why = f"the last wide gap among {spectrum.size} leading eigenvalues lies behind {size}"
    return replace(settings.take(why, n_components=size), spectrum=spectrum)


# Samples of the model -----------------------------------------------------------------------------


def _is_model_based(facts: Facts, settings: Settings) -> bool:
    """Whether the similarities of rows, which look like samples of the model, estimate its kernel.

    Who asks for the largest likelihood says that the columns are samples, if nothing speaks
    against.
    """
    affinity = AFFINITIES["correlation" if settings.is_auto("affinity") else settings.affinity]
    if affinity.euclidean or affinity.square_roots or affinity.shared:
        return False
    likely = isinstance(settings.refine, Likelihood) and settings.refine.descent != "single"
    return facts.fit_the_model(limits.FEWEST_COLUMNS if likely else ENOUGH_COLUMNS)


def _of_model(facts: Facts, settings: Settings) -> tuple[Settings, Settings]:
    """Choose the method of samples of the model; with what halves were compared under."""
    halved, (n, width) = settings, facts.rows.shape
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
        halved = _halve(facts, settings.filled(**method))
        if halved.agreement < SUPPORTED:
            why = (
                f"nothing in the {width} columns speaks against a Gaussian process, but two halves "
                "of them do not agree"
            )
    return settings.take(why, **method), halved


def _halve(facts: Facts, option: Settings) -> Settings:
    """Return settings without a likelihood, and how halves of the columns agree under them.

    Every split is tried, unless the halves of the first agree, or no other can change on which side
    the mean lies.
    """
    halved, agreements = without_likelihood(option), list[float]()
    for split in range(SPLITS):
        agreements.append(agreement_of_halves(facts, halved, split))
        least = sum(agreements) / SPLITS
        most = least + (SPLITS - split - 1) / SPLITS
        if not (agreements[0] <= AGREED and least < SUPPORTED <= most):
            break
    return replace(halved, agreements=tuple(agreements))


# Rows that are none -------------------------------------------------------------------------------


def _of_table(facts: Facts, asked: Settings) -> tuple[Settings, Settings]:
    """Choose the method of a table that is no sample; with what halves were compared under."""
    settings = halved = asked
    best, *others = options = candidates(facts, asked)
    if facts.are_counts:
        settings = settings.take("X holds counts", affinity=best.affinity)
    why = f"the default of the {best.strategy.name} strategy"
    if others or asked.is_auto("refine") or isinstance(asked.refine, Likelihood):
        at, tried, predicts = compare_candidates(facts, options)
        best = options[at] if asked.refine else replace(options[at], refine=None)
        settings = replace(settings, candidates=tried)
        why = _why(tried, predicts) if others else why
        plain = asked.is_auto("n_components") or asked.n_components <= _MOST_DIMENSIONS
        enough = _may_use_graph(asked) and facts.rows.shape[1] >= limits.FEWEST_COLUMNS
        may_refine = asked.is_auto("refine") and enough and plain
        if may_refine or not predicts or isinstance(asked.refine, Likelihood):
            halved = _halve(facts, best)
        if not predicts and not halved.agreement >= SUPPORTED:
            text = (
                "no method predicts held-out columns better than their mean: there may be nothing "
                "to see"
            )
            settings = replace(settings, warnings=(text,)).explain({"warning": text})
        elif may_refine and halved.agreement < SUPPORTED:
            weak = "without it two halves of the columns disagree"
            # The likelihood sees a core of the rows, elastic edges see all of many.
            few = facts.rows.shape[0] <= limits.DOUBLE
            likely = Likelihood() if few else Stress()
            settings = settings.take(weak, strategy=Geodesic(), refine=likely)
    method = {name: getattr(best, name) for name in _METHOD}
    return settings.take(why, **method), halved


def candidates(facts: Facts, asked: Settings) -> list[Settings]:
    """Return the settings to compare, the simplest first; what was asked for stays.

    Parameters
    ----------
    facts : Facts
        What is fitted.
    asked : Settings
        What was asked for.

    Returns
    -------
    list of Settings
        A refinement that is "auto" is stress.
    """
    names: tuple[str, ...] = (asked.affinity,)
    if asked.is_auto("affinity"):
        names = tuple(name for name in REPRESENTATIONS if _is_possible(name, facts.whole))
        # Where most was filled in it tells nothing; correlations need no common scale.
        names = names if facts.is_mostly_known else names[-1:]
        # Of a table too large for distances, correlations say which rows they cannot compare.
        names = names or ("correlation",)
        # Counts have one unit and a variance that grows with the mean: roots of proportions.
        names = ("hellinger",) if facts.are_counts else names
    strategies: tuple[Strategy, ...] = (Geodesic(),)
    free = asked.is_auto("refine") or asked.refine is None
    if not asked.is_auto("strategy"):
        strategies = (asked.strategy,)
    elif free and all(map(asked.is_auto, ("graph", "kernel"))) and facts.knows_all_pairs:
        # What has no graph is not tried where something on a graph was asked for, or is needed.
        strategies = (Linear(), Geodesic())
    # Which representation is the best does not hang on whether the map is refined.
    plain = replace(asked, refine="auto") if asked.refine is None else asked  # type: ignore[arg-type]
    return [
        plain.filled(
            strategy=strategy, affinity=name, refine=Stress() if strategy.uses_graph else None
        )
        for strategy, name in product(strategies, names)
    ]


def _is_possible(name: str, rows: Any) -> bool:
    """Whether a representation can be tried on a table; correlations need rows that vary."""
    if AFFINITIES[name].euclidean:
        return rows.shape[0] * rows.shape[1] <= limits.EUCLIDEAN_ENTRIES
    sparse = isinstance(rows, SparseTable)
    spread = np.diff(rows.stored.indptr) if sparse else np.ptp(rows, axis=1)
    return rows.shape[1] >= limits.FEWEST_COLUMNS and bool((spread > 0).all())


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


# Their refinement ---------------------------------------------------------------------------------


def _with_descent(facts: Facts, settings: Settings, halved: Settings, asked: Settings) -> Settings:
    """Choose the descent of a likelihood; say how halves agree, and what was close."""
    if np.isfinite(halved.agreement):
        weak = ": the arrangement is weak" if halved.agreement < SUPPORTED else ""
        known = len(halved.agreements)
        weak += f", of {known} split{'s' * (known > 1)}" * (known < SPLITS)
        text = (
            "without a likelihood two halves of the columns agree by R² "
            f"{spread(halved.agreements)}{weak}"
        )
        settings = settings.explain({"agreement": text})
    if asked.is_auto("refine") and (near := list(_near_another(facts, settings, halved))):
        text = f"another refinement was close, by {' and '.join(near)}"
        settings = settings.explain({"close": text})
    refine = settings.refine
    if isinstance(refine, Likelihood) and refine.descent == "auto":
        # From the closed form alone, or from many starts.
        local = halved.agreement >= SUPPORTED and facts.knows_all_pairs
        local = local and not facts.fit_the_model()
        alone = "local" if local else "single"
        refine = replace(refine, descent="annealed" if settings.model_based else alone)
    return replace(settings, refine=refine)


def _near_another(facts: Facts, settings: Settings, halved: Settings) -> Iterator[str]:
    """Yield by what the refinement would be another one on a table that hardly differs."""
    agreements, candidates = halved.agreements, settings.candidates
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


def _of_unknown_pairs(facts: Facts, settings: Settings, asked: Settings) -> Settings:
    """Let the method of a table do with those pairs that are known."""
    strategy, refine = settings.strategy, settings.refine
    if not strategy.uses_graph:
        raise ValueError(
            f"strategy must be 'geodesic' or 'blockwise' where rows share fewer than {facts.least} "
            f"columns, got {strategy.name!r}, which needs all pairs; {setting('missing', 'impute')}"
            " fills holes in"
        )
    is_possible = facts.have_a_likelihood_of_entries(settings.affinity)
    free = asked.is_auto("refine")
    if free and isinstance(refine, Stress) and is_possible and facts.has_a_block_of_the_model():
        why = "a block without holes looks like samples of a Gaussian process"
        settings = settings.explain({"refine": f"{why}: likelihood of the known entries"})
        return replace(settings, refine=Likelihood(descent="annealed"))
    if isinstance(refine, Likelihood) and not is_possible:
        text = (
            f"{setting('refine', 'likelihood')} became 'stress': pairs of rows are unknown, and "
            "the holes leave too many sets of rows that know the same columns for the likelihood "
            f"of the known entries; {setting('missing', 'impute')} fills them"
        )
        told = settings.warnings if free else (*settings.warnings, text)
        settings = settings.explain({"refine": text})
        return replace(settings, refine=Stress(), warnings=told)
    return settings
