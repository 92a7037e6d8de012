"""Candidates for a table that is no sample of the model, and what columns say about them."""

import warnings
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from .. import _fit as pipeline
from .._base import limits
from .._base.progress import Stages
from .._base.table import SparseTable
from .._base.types import Floats
from .._settings import Candidate, Settings
from ..blockwise import rigid_fit
from ..graph import CsrGraph
from ..refine import Stress
from ..similarity import AFFINITIES, compare
from ..strategies import Geodesic, Linear
from ._held_out import direction_score, folds, held_out_r2, principal_directions, standard_error
from ._numbers import with_numbers

REPRESENTATIONS = ("euclidean", "standardized_euclidean", "correlation")
"""Tables as they are, columns standardized, rows standardized."""

MARGIN = 1.05
"""Factor by which another representation must score more than the table as it is, which nobody has
touched (docs/decisions/003-one-rule-for-auto.md)."""

OF_COUNTS = ("hellinger",)
"""Counts have one unit and a variance that grows with the mean: roots of proportions."""

_CHANCE_DRAWS, _CHANCE_ERRORS = 20, 10.0
"""Embeddings with their points exchanged, and standard deviations of their scores beyond which a
score is no chance: scores are the best of several and never below zero, so that one table of noise
in sixty is beyond (docs/decisions/003-one-rule-for-auto.md)."""

_HALVES = ((0, 1), (0, 2), (0, 3))  # folds that make one half: all three ways


def candidates(rows: Any, settings: Settings, are_counts: bool) -> list[Settings]:
    """Return closed forms that agree with what was asked for, the simplest first.

    Parameters
    ----------
    rows : (n, p) table
        What is fitted.
    settings : Settings
        What was asked for.
    are_counts : bool
        Whether the table holds counts.

    Returns
    -------
    list of Settings
        Affinity, strategy and refinement are named; a refinement that is "auto" is stress.
    """
    names: tuple[str, ...] = (settings.affinity,)
    if settings.affinity == "auto":
        names = tuple(name for name in REPRESENTATIONS if _is_possible(name, rows))
        # Of a table too large for distances, correlations say which rows they cannot compare.
        names = OF_COUNTS if are_counts else names or ("correlation",)
    strategies: tuple[Any, ...] = (settings.strategy,)
    if settings.strategy == "auto":
        # What has no graph is not tried where something on a graph was asked for.
        free = settings.graph == settings.kernel == "auto" and settings.refine in ("auto", None)
        strategies = (Linear(), Geodesic()) if free else (Geodesic(),)
    return [
        replace(settings, strategy=strategy, affinity=name).choose(
            "", refine=Stress() if strategy.uses_graph else None
        )
        for strategy, name in product(strategies, names)
    ]


def _is_possible(name: str, rows: Any) -> bool:
    """Whether a representation can be tried on a table."""
    if AFFINITIES[name].euclidean:
        return rows.shape[0] * rows.shape[1] <= limits.EUCLIDEAN_ENTRIES
    return rows.shape[1] >= limits.FEWEST_COLUMNS and _all_vary(rows)


def _all_vary(rows: Any) -> bool:
    """Whether no row has one value throughout."""
    if isinstance(rows, SparseTable):
        return bool(np.diff(rows.stored.indptr).all())
    return bool((np.ptp(rows, axis=1) > 0.0).all())


def compare_candidates(
    table: Floats, values: Floats, options: list[Settings]
) -> tuple[int, tuple[Candidate, ...], bool]:
    """Fit every candidate without a quarter of the columns, four times, and predict these.

    Parameters
    ----------
    table : (n, p) float64
        Rows to fit.
    values : (n, p) float64
        The same columns as they are predicted: roots of counts.
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
    n_options, n = len(options), len(table)
    scores, r2 = np.zeros((n_options, n)), np.zeros((n_options, n))
    parts, fits = folds(table), []
    for held_out in parts:
        shown = held_out if held_out.all() else ~held_out
        directions = principal_directions(values[:, held_out])
        for at, option in enumerate(options):
            points = embed(table[:, shown], option)
            if directions.shape[1]:
                fits.append((at, points, directions))
                scores[at] += direction_score(points, directions) / len(parts)
                r2[at] += held_out_r2(points, values[:, held_out]) / len(parts)
    if len(parts) == 1:
        r2[:] = np.nan  # nothing was held out
    as_it_is = [option.affinity == REPRESENTATIONS[0] for option in options]
    best = int(np.argmax(scores.sum(axis=1) * np.where(as_it_is, MARGIN, 1.0)))
    tried = [
        Candidate(
            affinity=option.affinity,
            strategy=option.strategy.name,
            refine=None if option.refine is None else type(option.refine).__name__.lower(),
            score=float(scores[at].sum()),
            score_error=standard_error(scores[at]),
            difference=float((scores[at] - scores[best]).sum()),
            difference_error=standard_error(scores[at] - scores[best]),
            r2=float(r2[at].sum()),
            r2_error=standard_error(r2[at]),
            chosen=at == best,
        )
        for at, option in enumerate(options)
    ]
    of_best = [(points, directions) for at, points, directions in fits if at == best]
    predicts = _beyond_chance(float(scores[best].sum()) * len(parts), of_best)
    return best, tuple(sorted(tried, key=lambda each: (not each.chosen, -each.score))), predicts


def _beyond_chance(score: float, fits: list[tuple[Floats, Floats]]) -> bool:
    """Whether a sum of scores is beyond those of embeddings with their points exchanged."""
    rng, drawn = np.random.default_rng(0), np.zeros(_CHANCE_DRAWS)
    for draw in range(_CHANCE_DRAWS):
        for points, directions in fits:
            order = rng.permutation(len(points))
            drawn[draw] += float(direction_score(points, directions[order]).sum())
    return bool(score > drawn.mean() + _CHANCE_ERRORS * drawn.std(ddof=1))


def agreement_of_halves(table: Floats, option: Settings) -> float:
    """Procrustes R² between embeddings of two halves of the columns, the mean of three splits.

    Parameters
    ----------
    table : (n, p) float64
        Rows.
    option : Settings
        Settings of a closed form.

    Returns
    -------
    float
        From 0 to 1; NaN with too few columns.
    """
    parts, found = folds(table), []
    if len(parts) == 1:
        return np.nan
    for first, second in _HALVES:
        half = parts[first] | parts[second]
        found.append(_procrustes_r2(embed(table[:, half], option), embed(table[:, ~half], option)))
    return float(np.mean(found))


def _procrustes_r2(first: Floats, second: Floats) -> float:
    """R² of one embedding after the best rotation or reflection, shift and scale of another."""
    turned, target = rigid_fit(first, second).apply(first), second - second.mean(axis=0)
    sizes = float(turned.var(axis=0).sum() * second.var(axis=0).sum())
    shared = float((turned * target).sum(axis=1).mean())
    return shared**2 / sizes if sizes > 0.0 else 0.0


def embed(table: Floats, option: Settings) -> Floats:
    """Solve some columns under a candidate in closed form.

    Strategies on a graph are compared by their geodesics. A row that is constant in these columns
    is an isolated point.
    """
    strategy = option.strategy
    strategy = Geodesic(strategy.path) if strategy.uses_graph else type(strategy)()
    size = option.n_components
    size = min(5 if size == "auto" else int(size), len(table) - 1)
    option = replace(
        option,
        strategy=strategy,
        refine=Stress() if option.by_likelihood else option.refine,
        graph="auto" if isinstance(option.graph, CsrGraph) else option.graph,
        n_components=size,
        n_landmarks=None,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        option = with_numbers(table, option)
        similarity = compare(table, option.affinity, counts=True)
        return pipeline.fit(similarity, table, option, Stages()).coordinates
