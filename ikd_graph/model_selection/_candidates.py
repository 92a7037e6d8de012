"""Candidates for a table that is no sample of the model, and what columns say about them."""

import warnings
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from scipy.spatial import procrustes

from .._base import limits
from .._base.progress import Stages
from .._base.table import SparseTable
from .._base.types import Floats
from ..fit import fit
from ..graph import CsrGraph
from ..plan import Candidate, Request, is_auto
from ..refine import Likelihood, Stress
from ..similarity import AFFINITIES, compare
from ..strategies import Geodesic, Linear, Strategy
from ._facts import Facts
from ._held_out import direction_score, folds, held_out_r2, principal_directions, standard_error
from ._plan import Choice, make_plan

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


def candidates(facts: Facts, request: Request) -> list[Choice]:
    """Return closed forms that agree with what was asked for, the simplest first.

    Parameters
    ----------
    facts : Facts
        What is fitted.
    request : Request
        What was asked for.

    Returns
    -------
    list of Choice
        A refinement that is "auto" is stress.
    """
    rows = facts.rows
    names: tuple[str, ...] = (request.affinity,)
    if request.affinity == "auto":
        names = tuple(name for name in REPRESENTATIONS if _is_possible(name, rows))
        # Of a table too large for distances, correlations say which rows they cannot compare.
        names = OF_COUNTS if facts.moments.are_counts else names or ("correlation",)
    strategies: tuple[Strategy, ...] = (Geodesic(),)
    if not isinstance(request.strategy, str):
        strategies = (request.strategy,)
    elif is_auto(request.graph) and is_auto(request.kernel) and request.refine in ("auto", None):
        # What has no graph is not tried where something on a graph was asked for.
        strategies = (Linear(), Geodesic())
    options = []
    for strategy, name in product(strategies, names):
        refine = request.refine
        if isinstance(refine, str):
            refine = Stress() if strategy.uses_graph else None
        options.append(Choice(strategy, name, refine))
    return options


def _is_possible(name: str, rows: Any) -> bool:
    """Whether a representation can be tried on a table; correlations need rows that vary."""
    if AFFINITIES[name].euclidean:
        return rows.shape[0] * rows.shape[1] <= limits.EUCLIDEAN_ENTRIES
    sparse = isinstance(rows, SparseTable)
    spread = np.diff(rows.stored.indptr) if sparse else np.ptp(rows, axis=1)
    return rows.shape[1] >= limits.FEWEST_COLUMNS and bool((spread > 0).all())


def compare_candidates(
    table: Floats, values: Floats, options: list[Choice], request: Request
) -> tuple[int, tuple[Candidate, ...], bool]:
    """Fit every candidate without a quarter of the columns, four times, and predict these.

    Parameters
    ----------
    table : (n, p) float64
        Rows to fit.
    values : (n, p) float64
        The same columns as they are predicted: roots of counts.
    options : list of Choice
        Candidates.
    request : Request
        What was asked for.

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
            points = embed(table[:, shown], option, request)
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


def agreement_of_halves(table: Floats, option: Choice, request: Request) -> float:
    """Procrustes R² between embeddings of two halves of the columns, the mean of three splits.

    Parameters
    ----------
    table : (n, p) float64
        Rows.
    option : Choice
        A closed form.
    request : Request
        What was asked for.

    Returns
    -------
    float
        From 0 to 1; NaN with too few columns.
    """
    parts, r2 = folds(table), []
    if len(parts) == 1:
        return np.nan
    for first, second in _HALVES:
        half = parts[first] | parts[second]
        points = [embed(table[:, columns], option, request) for columns in (half, ~half)]
        spread = all(each.any() for each in points)
        r2.append(1.0 - procrustes(*points)[2] if spread else 0.0)
    return float(np.mean(r2))


def embed(table: Floats, option: Choice, request: Request) -> Floats:
    """Solve some columns under a candidate in closed form.

    Strategies on a graph are compared by their geodesics. A row that is constant in these columns
    is an isolated point.
    """
    strategy = option.strategy
    strategy = Geodesic(strategy.path) if strategy.uses_graph else type(strategy)()
    if isinstance(option.refine, Likelihood):
        option = replace(option, refine=Stress())
    if isinstance(request.graph, CsrGraph):
        request = replace(request, graph="auto")
    request = replace(request, n_landmarks=None)
    size = 5 if request.n_components == "auto" else request.n_components
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        plan, _ = make_plan(
            Facts(table), request, replace(option, strategy=strategy), min(size, len(table) - 1)
        )
        similarity = compare(table, option.affinity, counts=True)
        return fit(similarity, table, plan, Stages()).coordinates
