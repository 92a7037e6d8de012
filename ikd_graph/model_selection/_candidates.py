"""Candidates for a table that is no sample of the model, and what columns say about them.

An embedding of some columns is scored by how well it predicts the others.
"""

import hashlib
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from scipy.spatial import KDTree, procrustes

from .. import covariance
from .._base import limits
from .._base.table import SparseTable
from .._base.types import Booleans, Floats, Integers, Reals
from .._base.validation import count, validate
from ..graph import CsrGraph
from ..plan import Candidate, Request
from ..refine import Likelihood, Stress
from ..similarity import AFFINITIES, are_ordered
from ..strategies import Geodesic, Linear, Strategy
from ._facts import Facts
from ._plan import Choice, trial

REPRESENTATIONS = ("euclidean", "standardized_euclidean", "correlation")
"""Tables as they are, columns standardized, rows standardized."""

MARGIN = 1.05
"""Factor by which another representation must score more than the table as it is, which nobody has
touched (docs/decisions/003-one-rule-for-auto.md)."""

_CHANCE_DRAWS, _CHANCE_ERRORS = 20, 10.0
"""Embeddings with their points exchanged, and standard deviations of their scores beyond which a
score is no chance: scores are the best of several and never below zero, so that one table of noise
in sixty is beyond (docs/decisions/003-one-rule-for-auto.md)."""

AGREED = 0.8
"""Agreement of two halves that other splits would not call in question."""

FOLDS = 4
RUNS = 16
"""Runs of autocorrelated columns, so that few are next to columns of another fold."""

NEAREST = 10
"""Rows whose mean predicts a row."""

_NUMBERS = (5, 10, 20)
"""Rows that the score averages over: few see what is near, many average noise."""

_MOST_DIRECTIONS = 60
"""Beyond these there is noise in all tables that were looked at."""


def candidates(facts: Facts, request: Request) -> list[Request]:
    """Return closed forms that agree with what was asked for, the simplest first.

    Parameters
    ----------
    facts : Facts
        What is fitted.
    request : Request
        What was asked for.

    Returns
    -------
    list of Request
        A refinement that is "auto" is stress.
    """
    names: tuple[str, ...] = (request.affinity,)
    if request.affinity == "auto":
        names = tuple(name for name in REPRESENTATIONS if _is_possible(name, facts.whole))
        # Where most was filled in it tells nothing; correlations need no common scale.
        names = names if facts.is_mostly_known else names[-1:]
        # Of a table too large for distances, correlations say which rows they cannot compare.
        names = names or ("correlation",)
        # Counts have one unit and a variance that grows with the mean: roots of proportions.
        names = ("hellinger",) if facts.are_counts else names
    strategies: tuple[Strategy, ...] = (Geodesic(),)
    if not isinstance(request.strategy, str):
        strategies = (request.strategy,)
    elif request.graph == "auto" and request.kernel == "auto" and request.refine in ("auto", None):
        # What has no graph is not tried where something on a graph was asked for, or is needed.
        strategies = (Linear(), Geodesic()) if facts.knows_all_pairs else strategies
    # Which representation is the best does not hang on whether the map is refined.
    request = replace(request, refine=request.refine or "auto")
    return [
        request.filled(
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
    facts: Facts, options: list[Request]
) -> tuple[int, tuple[Candidate, ...], bool]:
    """Fit every candidate without a quarter of the columns, four times, and predict these.

    Parameters
    ----------
    facts : Facts
        Of their sample columns are fitted, and predicted.
    options : list of Request
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
    fits = [list[tuple[Integers, Floats]]() for _ in options]
    scores, r2 = np.zeros((2, len(options), len(table)))
    for held_out in parts:
        shown = held_out if held_out.all() else ~held_out
        directions = principal_directions(values[:, held_out])
        for at, option in enumerate(options):
            points = embed(table[:, shown], option)
            if directions.shape[1]:
                near = _nearest(points, _NUMBERS[-1])
                fits[at].append((near, directions))
                scores[at] += _score(near, directions) / len(parts)
                r2[at] += _r2(near[:, :NEAREST], values[:, held_out]) / len(parts)
    if len(parts) == 1:
        r2[:] = np.nan  # nothing was held out
    as_it_is = [option.affinity == REPRESENTATIONS[0] for option in options]
    best = int(np.argmax(scores.sum(axis=1) * np.where(as_it_is, MARGIN, 1.0)))
    tried = [
        Candidate(
            option.affinity,
            option.solver.name,
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
            drawn[draw] += float(_score(near, directions[order]).sum())
    return bool(score > drawn.mean() + _CHANCE_ERRORS * drawn.std(ddof=1))


def agreement_of_halves(facts: Facts, option: Request, model_based: bool = False) -> float:
    """Procrustes R² between embeddings of two halves of the columns.

    It is the mean of three splits, unless the first shows that they agree.

    Parameters
    ----------
    facts : Facts
        Of their sample columns are fitted.
    option : Request
        A closed form.
    model_based : bool
        Whether similarities estimate the kernel of the model.

    Returns
    -------
    float
        From 0 to 1; NaN with too few columns.
    """
    table, r2 = facts.sample, []
    parts = folds(table)
    if len(parts) == 1:
        return np.nan
    for second in parts[1:]:
        half = parts[0] | second
        points = [embed(table[:, columns], option, model_based) for columns in (half, ~half)]
        spread = all(each.any() for each in points)
        r2.append(1.0 - procrustes(*points)[2] if spread else 0.0)
        if r2[0] > AGREED:
            break
    return float(np.mean(r2))


def predicted_r2(facts: Facts, option: Request, model_based: bool = False) -> float:
    """R² of held-out columns, as `compare_candidates` has it of a candidate.

    Parameters
    ----------
    facts : Facts
        Of their sample columns are fitted, and predicted.
    option : Request
        A closed form.
    model_based : bool
        Whether similarities estimate the kernel of the model.

    Returns
    -------
    float
        At most 1; NaN with too few columns.
    """
    table, values, parts = facts.sample, facts.predicted, folds(facts.sample)
    if len(parts) == 1:
        return np.nan
    fits = [(embed(table[:, ~fold], option, model_based), values[:, fold]) for fold in parts]
    return float(np.mean([_r2(_nearest(Z, NEAREST), columns).sum() for Z, columns in fits]))


def embed(table: Floats, option: Request, model_based: bool = False) -> Floats:
    """Solve some columns under a candidate in closed form.

    Strategies on a graph are compared by their geodesics. A row that is constant in these columns
    is an isolated point.
    """
    strategy, size = option.solver, option.n_components
    settings = replace(
        option,
        strategy=Geodesic(strategy.path) if strategy.uses_graph else type(strategy)(),
        refine=Stress() if isinstance(option.refine, Likelihood) else option.refine,
        graph="auto" if isinstance(option.graph, CsrGraph) else option.graph,
        n_landmarks=None,
        n_components=min(5 if size == "auto" else size, len(table) - 1),
    )
    return trial(Facts(table), Choice(settings, model_based)).coordinates


def folds(table: Floats) -> list[Booleans]:
    """Columns of each of four folds; of fewer than eight different columns all are in the one.

    Folds are of equal size. Which a column is in depends on the values of the columns, not on
    their units, nor on the order of columns or rows; equal columns are in one fold. Columns that
    follow one another are taken in runs: a column would know the one before it.
    """
    columns = np.sort(table.T.astype(np.float64), axis=1)
    extent = columns[:, -1:] - columns[:, :1]
    columns = (columns - columns[:, :1]) / np.where(extent > 0.0, extent, 1.0)
    digests = [hashlib.blake2b(column.round(6).tobytes(), digest_size=8) for column in columns]
    keys = np.array([int.from_bytes(each.digest(), "little") for each in digests], dtype=np.uint64)
    different, number = np.unique(keys, return_inverse=True)
    if different.size < 2 * FOLDS:
        return [np.ones(number.size, dtype=np.bool_)]
    if number.size >= 2 * RUNS and are_ordered(table):
        order = np.random.default_rng(0).permutation(RUNS)
        number = order[np.arange(number.size) * RUNS // number.size]
    return [number % FOLDS == fold for fold in range(FOLDS)]


def principal_directions(X: Reals) -> Floats:
    """Principal coordinates of the columns scaled to one variance, each of unit length.

    Returns
    -------
    (n, r) ndarray of float64
        Directions with the most variance, at most 60; none where no column varies.
    """
    units = covariance.column_units(X)
    columns = X[:, np.isfinite(units)] / units[np.isfinite(units)]
    if not columns.size:
        return np.empty((len(X), 0))
    columns = columns - columns.mean(axis=0, dtype=np.float64)
    if columns.shape[1] < len(columns):
        values, vectors = np.linalg.eigh(columns.T @ columns)
        directions = columns @ vectors
    else:
        values, directions = np.linalg.eigh(columns @ columns.T)
    keep = np.flatnonzero(values > np.sqrt(np.finfo(np.float64).eps) * values[-1])
    directions = directions[:, keep[-_MOST_DIRECTIONS:]]
    return np.ascontiguousarray(directions / np.linalg.norm(directions, axis=0))


def direction_score(points: Floats, directions: Floats) -> Floats:
    """Score each point by what it adds to the mean R² over directions, predicted by its nearest.

    A direction counts by its R², averaged over 5, 10 and 20 nearest points, or as nothing where
    that is below zero. All count alike, however little variance they have: what is large in a
    table, such as levels, is often no structure.
    """
    return _score(_nearest(points, _NUMBERS[-1]), directions)


def _score(near: Integers, directions: Floats) -> Floats:
    """Return what each point adds to the score, given the nearest points of every point."""
    n, width = directions.shape
    counts = sorted({max(1, min(k, (n - 1) // 4)) for k in _NUMBERS})
    error, total = np.zeros((n, width)), np.zeros((n, width))
    for k in range(counts[-1]):
        total += directions[near[:, k]]
        if k + 1 in counts:
            error += (directions - total / (k + 1)) ** 2
    error /= len(counts)
    better = error.sum(axis=0) < 1.0
    by_point = np.count_nonzero(better) / n - error[:, better].sum(axis=1)
    return by_point / width


@validate(k=count)
def held_out_r2(points: Floats, columns: Reals, k: int = NEAREST) -> Floats:
    """Score each point by what it adds to the R² of columns that its nearest points predict.

    Their sum is 1 - residual / deviation from the mean of each column, both summed over all
    columns: a column counts by its variance. NaN where none varies.
    """
    return _r2(_nearest(points, k), columns)


def _r2(near: Integers, columns: Reals) -> Floats:
    """Return what each point adds to the R², given the nearest points of every point."""
    n, values = len(near), columns.astype(np.float64)
    values /= float(np.abs(columns).max(initial=0.0)) or 1.0
    predicted = values[near].mean(axis=1)
    total = float(((values - values.mean(axis=0)) ** 2).sum())
    if not total > 0.0:
        return np.full(n, np.nan)
    return 1.0 / n - ((values - predicted) ** 2).sum(axis=1) / total


def _nearest(points: Floats, k: int) -> Integers:
    """Nearest other points of every point, (n, k), or all where there are fewer."""
    k = min(k, len(points) - 1)
    near = KDTree(points).query(points, k + 1)[1]
    # A point is the first of its own list, but among equal ones any of them may be.
    distinct = near != np.arange(len(points))[:, None]
    distinct[:, -1] &= ~distinct.all(axis=1)
    return near[distinct].reshape(-1, k)
