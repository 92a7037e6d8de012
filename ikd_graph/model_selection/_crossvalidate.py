"""What parts of the columns say of a map: those that were left out, and two halves of them.

Every part is embedded as the map was, so that the numbers are about what is shown.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.spatial import KDTree, procrustes

from .. import covariance, gplvm
from .._base.table import evenly_spaced
from .._base.types import Floats, Integers, Reals
from .._base.validation import count, validate
from ..gplvm._search import MAX_POINTS
from ..graph import CsrGraph
from ..refine import Likelihood, Stress
from ..settings import Candidate, Settings
from ..similarity import compare
from ..strategies import Blockwise, Geodesic
from ._facts import Facts
from ._numbers import trial

REPRESENTATIONS = ("euclidean", "standardized_euclidean", "correlation")
"""Tables as they are, columns standardized, rows standardized."""

MARGIN = 1.05
"""Factor by which another representation must score more than the table as it is, which nobody has
touched (docs/decisions/003-one-rule-for-auto.md)."""

_CHANCE_DRAWS, _CHANCE_ERRORS = 20, 10.0
"""Embeddings with their points exchanged, and standard deviations of their scores beyond which a
score is no chance: scores are the best of several and never below zero, so that one table of noise
in sixty is beyond (docs/decisions/003-one-rule-for-auto.md)."""

_BEHIND = (4.0, 2.0)
"""Standard errors behind the best at which a candidate is not finished: after the first fold, by
whose columns alone others may be ahead, and after more (docs/decisions/003-one-rule-for-auto.md).
"""

_COMPARED, _STRESS_STEPS = 300, 15
"""Rows and steps of stress of a candidate. Of 93 tables 9 and 4 take another one than with 400 rows
and 60 steps, next to none of a score that is lower by a standard error
(docs/decisions/003-one-rule-for-auto.md)."""

SPLITS = 3
"""Splits of the columns in halves: each of three folds is once with the first."""

AGREED = 0.8
"""Agreement of a first split from which a mean below .4 is not to be expected."""

NEAREST = 10
"""Rows whose mean predicts a row."""

NUMBERS = (5, NEAREST, 20)
"""Rows that the score averages over: few see what is near, many average noise."""

_MOST_DIRECTIONS = 60
"""Beyond these there is noise in all tables that were looked at."""


def compare_candidates(
    facts: Facts, options: list[Settings]
) -> tuple[int, tuple[Candidate, ...], bool]:
    """Fit every candidate without a quarter of the columns, four times, and predict these.

    A candidate that is behind the best by some standard errors of their difference, paired over
    points, is not finished, nor is the last one that is left, once it predicts.

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
        Their scores, means of the folds that they were fitted without, the best first.
    predicts : bool
        Whether the best predicts better than its embeddings with their points exchanged do.
    """
    some = evenly_spaced(len(facts.sample), _COMPARED)
    table, values, parts = facts.sample[some], facts.predicted[some], facts.folds
    options = [replace(without_likelihood(each), stress_steps=_STRESS_STEPS) for each in options]
    margins = np.array([MARGIN if o.affinity == REPRESENTATIONS[0] else 1.0 for o in options])
    fits = [list[tuple[Integers, Floats]]() for _ in options]
    # Of the folds that a candidate was not fitted without nothing is known.
    scores, r2 = np.full((2, len(options), len(parts), len(table)), np.nan)
    running, best, predicts = np.arange(len(options)), 0, False
    for fold, held_out in enumerate(parts):
        shown = held_out if held_out.all() else ~held_out
        directions = principal_directions(values[:, held_out])
        for at in running:
            points = embed(table[:, shown], options[at])
            scores[at, fold] = 0.0
            if directions.shape[1]:
                near = nearest_points(points, NUMBERS[-1])
                fits[at].append((near, directions))
                scores[at, fold] = score_of(near, directions)
                if len(parts) > 1:
                    r2[at, fold] = r2_of(near[:, :NEAREST], values[:, held_out])
        so_far = scores[running, : fold + 1].sum(axis=1) * margins[running, None]
        first = int(np.argmax(so_far.sum(axis=1)))
        best = int(running[first])
        ahead, error = np.array([_with_error(so_far[first] - other) for other in so_far]).T
        running = running[ahead <= _BEHIND[fold > 0] * error]
        if running.size == 1 or fold + 1 == len(parts):
            predicts = _beyond_chance(float(np.nansum(scores[best])), fits[best])
            if predicts:
                break
    tried = [
        Candidate(
            option.affinity,
            option.strategy.name,
            None if option.refine is None else type(option.refine).__name__.lower(),
            *_with_error(_mean(scores[at])), *_with_error(_mean(scores[at] - scores[best])),
            *_with_error(_mean(r2[at])), chosen=at == best,
        )
        for at, option in enumerate(options)
    ]  # fmt: skip
    tried.sort(key=lambda each: (not each.chosen, -each.difference))
    return best, tuple(tried), predicts


def _mean(by_fold: Floats) -> Floats:
    """Mean of the folds that are known, (n,) of (f, n); NaN where none is."""
    known = by_fold[~np.isnan(by_fold).all(axis=1)]
    return known.mean(axis=0) if len(known) else by_fold[0]


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


def agreement_of_halves(facts: Facts, option: Settings, split: int) -> float:
    """Procrustes R² between embeddings of two halves of the columns.

    Parameters
    ----------
    facts : Facts
        Of their sample columns are fitted.
    option : Settings
        The settings of the map.
    split : int
        Which of the splits.

    Returns
    -------
    float
        From 0 to 1; NaN with too few columns.
    """
    table, parts = facts.sample, facts.folds
    if len(parts) == 1:
        return np.nan
    half = parts[0] | parts[1 + split]
    points = [embed(table[:, columns], option) for columns in (half, ~half)]
    return float(1.0 - procrustes(*points)[2]) if all(each.any() for each in points) else 0.0


def predicted_r2(facts: Facts, option: Settings) -> float:
    """R² of held-out columns, as `compare_candidates` has it of a candidate.

    Parameters
    ----------
    facts : Facts
        Of their sample columns are fitted, and predicted.
    option : Settings
        The settings of the map.

    Returns
    -------
    float
        At most 1; NaN with too few columns.
    """
    table, values, parts = facts.sample, facts.predicted, facts.folds
    if len(parts) == 1:
        return np.nan
    r2 = []
    for fold in parts:
        points = embed(table[:, ~fold], option)
        columns = values[evenly_spaced(len(table), len(points))][:, fold]
        r2.append(r2_of(nearest_points(points, NEAREST), columns) / len(parts))
    return float(np.sum(r2, axis=0).sum())


def without_likelihood(option: Settings) -> Settings:
    """Return settings by which others are compared: geodesics for cliques, no likelihood."""
    strategy, likely = option.strategy, isinstance(option.refine, Likelihood)
    plain = Geodesic(strategy.path) if isinstance(strategy, Blockwise) else strategy
    return replace(option, strategy=plain, refine=Stress() if likely else option.refine)


def embed(table: Floats, option: Settings) -> Floats:
    """Embed some columns by the settings of a map.

    A row that is constant in these columns is an isolated point. Annealed descents are those from
    two closed forms, of at most 250 evenly spaced rows.
    """
    kernel, size = option.kernel, 5 if option.is_auto("n_components") else option.n_components
    size = int(min(size, len(table) - 1))
    if isinstance(option.refine, Likelihood) and option.refine.descent != "local":
        rows = table[evenly_spaced(len(table), MAX_POINTS["annealed"])]
        similarity = compare(rows, option.affinity, counts=True, model_based=option.model_based)
        cov = gplvm.sample_covariance(similarity.modeled(rows), centered=similarity.centers_rows)
        varies = np.diag(cov) > 0.0
        np.fill_diagonal(cov, np.where(varies, np.diag(cov), np.diag(cov).mean() or 1.0))
        return gplvm.annealed_optimum(cov, size, kernel, rows.shape[1]).latent
    graph: Any = "auto" if isinstance(option.graph, CsrGraph) else option.graph
    strategy = option.strategy
    if not isinstance(strategy.reference, str):
        # A row of the whole table may not be among these.
        strategy = replace(strategy, reference="center")
    settings = replace(option, strategy=strategy, graph=graph, n_landmarks=None, n_components=size)
    return trial(Facts(table), settings).coordinates


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
    return score_of(nearest_points(points, NUMBERS[-1]), directions)


def score_of(near: Integers, directions: Floats) -> Floats:
    """Return what each point adds to the score, given the nearest points of every point."""
    n, width = directions.shape
    counts = sorted({max(1, min(k, (n - 1) // 4)) for k in NUMBERS})
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
    return r2_of(nearest_points(points, k), columns)


def r2_of(near: Integers, columns: Reals) -> Floats:
    """Return what each point adds to the R², given the nearest points of every point."""
    n, values = len(near), columns.astype(np.float64)
    values /= float(np.abs(columns).max(initial=0.0)) or 1.0
    predicted = values[near].mean(axis=1)
    total = float(((values - values.mean(axis=0)) ** 2).sum())
    if not total > 0.0:
        return np.full(n, np.nan)
    return 1.0 / n - ((values - predicted) ** 2).sum(axis=1) / total


def nearest_points(points: Floats, k: int) -> Integers:
    """Nearest other points of every point, (n, k), or all where there are fewer."""
    k = min(k, len(points) - 1)
    near = KDTree(points).query(points, k + 1)[1]
    # A point is the first of its own list, but among equal ones any of them may be.
    distinct = near != np.arange(len(points))[:, None]
    distinct[:, -1] &= ~distinct.all(axis=1)
    return near[distinct].reshape(-1, k)
