"""Candidates for a table that is no sample of the model, and what columns say about them.

An embedding of some columns is scored by how well it predicts the others.
"""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from .._base import limits
from .._base.table import SparseTable
from .._base.types import Floats, Integers
from ..refine import Stress
from ..settings import Candidate, Settings
from ..similarity import AFFINITIES, folds
from ..strategies import Geodesic, Linear, Strategy
from ._crossvalidate import (
    NEAREST,
    NUMBERS,
    closed_form,
    embed,
    nearest_points,
    principal_directions,
    r2_of,
    score_of,
)
from ._facts import Facts

REPRESENTATIONS = ("euclidean", "standardized_euclidean", "correlation")
"""Tables as they are, columns standardized, rows standardized."""

MARGIN = 1.05
"""Factor by which another representation must score more than the table as it is, which nobody has
touched (docs/decisions/003-one-rule-for-auto.md)."""

_CHANCE_DRAWS, _CHANCE_ERRORS = 20, 10.0
"""Embeddings with their points exchanged, and standard deviations of their scores beyond which a
score is no chance: scores are the best of several and never below zero, so that one table of noise
in sixty is beyond (docs/decisions/003-one-rule-for-auto.md)."""


def candidates(facts: Facts, asked: Settings) -> list[Settings]:
    """Return closed forms that agree with what was asked for, the simplest first.

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
    free = asked.is_auto("refine")
    if not asked.is_auto("strategy"):
        strategies = (asked.strategy,)
    elif all(map(asked.is_auto, ("graph", "kernel"))) and (free or asked.refine is None):
        # What has no graph is not tried where something on a graph was asked for, or is needed.
        strategies = (Linear(), Geodesic()) if facts.knows_all_pairs else strategies
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


def compare_candidates(
    facts: Facts, options: list[Settings]
) -> tuple[int, tuple[Candidate, ...], bool]:
    """Fit every candidate without a quarter of the columns, four times, and predict these.

    Parameters
    ----------
    facts : Facts
        Of their sample columns are fitted, and predicted.
    options : list of Settings
        Candidates.

    Returns
    -------
    best : int
        The first candidate of the highest score, that of a table as it is raised by the margin.
    candidates : tuple of Candidate
        Their scores, the best first.
    predicts : bool
        Whether the best predicts better than its embeddings with their points exchanged do.
    """
    table, values, parts = facts.sample, facts.predicted, folds(facts.sample)
    options = [closed_form(option) for option in options]
    fits = [list[tuple[Integers, Floats]]() for _ in options]
    scores, r2 = np.zeros((2, len(options), len(table)))
    for held_out in parts:
        shown = held_out if held_out.all() else ~held_out
        directions = principal_directions(values[:, held_out])
        for at, option in enumerate(options):
            points = embed(table[:, shown], option)
            if directions.shape[1]:
                near = nearest_points(points, NUMBERS[-1])
                fits[at].append((near, directions))
                scores[at] += score_of(near, directions) / len(parts)
                r2[at] += r2_of(near[:, :NEAREST], values[:, held_out]) / len(parts)
    if len(parts) == 1:
        r2[:] = np.nan  # nothing was held out
    as_it_is = [option.affinity == REPRESENTATIONS[0] for option in options]
    best = int(np.argmax(scores.sum(axis=1) * np.where(as_it_is, MARGIN, 1.0)))
    tried = [
        Candidate(
            option.affinity,
            option.strategy.name,
            None if option.refine is None else type(option.refine).__name__.lower(),
            *_with_error(scores[at]), *_with_error(scores[at] - scores[best]), *_with_error(r2[at]),
            chosen=at == best,
        )
        for at, option in enumerate(options)
    ]  # fmt: skip
    predicts = _beyond_chance(float(scores[best].sum()) * len(parts), fits[best])
    return best, tuple(sorted(tried, key=lambda each: (not each.chosen, -each.score))), predicts


def _with_error(by_point: Floats) -> tuple[float, float]:
    """Sum over points, and its standard error."""
    return float(by_point.sum()), float(by_point.std() * np.sqrt(by_point.size))


def _beyond_chance(score: float, fits: list[tuple[Integers, Floats]]) -> bool:
    """Whether a sum of scores is beyond those of embeddings with their points exchanged.

    Each comes with the nearest points of every point, and the directions.
    """
    rng, drawn = np.random.default_rng(0), np.zeros(_CHANCE_DRAWS)
    for draw in range(_CHANCE_DRAWS):
        for near, directions in fits:
            order = rng.permutation(len(near))
            drawn[draw] += float(score_of(near, directions[order]).sum())
    return bool(score > drawn.mean() + _CHANCE_ERRORS * drawn.std(ddof=1))
