"""What "auto" stands for: one score, one rule.

A table that looks like samples of the model is compared by correlations and refined by the
likelihood. Else candidates are tried in a fixed order, the simplest first. Each is fitted without a
quarter of the columns, which it then has to predict: every point by the mean of the points nearest
to it in the embedding. A candidate replaces a simpler one only where it predicts better by three
standard errors of the paired difference.
"""

import hashlib
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from .. import _limits, covariance, pipeline
from .._settings import Candidate, Settings
from .._stages import Stages
from .._table import dense_rows
from .._warn import warn
from ..refine import Likelihood, Stress
from ..similarity import AFFINITIES, GIVEN, compare
from ..strategies import Geodesic, Linear
from ._moments import Moments, has_significant_correlation, moments

Floats = NDArray[np.float64]

ORDER = ("euclidean", "standardized_euclidean", "correlation", "hellinger")
"""Affinities that "auto" tries, the simplest first."""

FEWEST_COLUMNS = 20
"""Columns below which correlations are mostly chance, and several positions of a row as likely."""

ERRORS = 3.0
"""Standard errors by which a later candidate must predict better than a simpler one."""

CHANCE = 2.0
"""Standard errors below which a score is one that chance gives."""

FOLDS = 4
NEAREST = (5, 10, 20)  # points whose mean predicts: few see what is near, many what is not noise

_ROWS = 400  # that candidates are fitted to, of more a random sample
_MOST_DIRECTIONS = 60


def resolve(
    rows: Any, requested: Settings, stages: Stages
) -> tuple[Settings, tuple[Candidate, ...]]:
    """Settings in which strategy, affinity and refinement are no longer "auto".

    Parameters
    ----------
    rows : (n, p) table, or (n, n) covariances or distances
        What is fitted.
    requested : Settings
        What was asked for.
    stages : Stages
        Clock and progress bar.

    Returns
    -------
    settings : Settings
        The same with every choice made, each with its reason.
    candidates : tuple of Candidate
        The chosen one first, then by their scores.
    """
    settings = replace(requested, trusted=True, reasons=dict(requested.reasons))
    if settings.affinity in GIVEN:
        why = "the default: it needs no more than a connected graph"
        settings = _choose(settings, why, strategy=Geodesic())
        return _choose(settings, "the table behind given values is not known", refine=None), ()
    observed = moments(rows)
    correlated = settings.affinity in ("auto", "correlation", "covariance")
    if observed.fit_the_model and correlated and not isinstance(settings.strategy, Linear):
        return _of_model(rows, settings, observed), ()
    settings = replace(settings, trusted=False)
    tried = options(rows, settings, observed)
    if len(tried) > 1:
        with stages("choosing"):
            return _best(rows, tried, settings, observed)
    (only,) = tried
    why = f"the default of the {only.strategy.name} strategy"
    return _choose(
        settings, why, strategy=only.strategy, affinity=only.affinity, refine=only.refine
    ), ()


def _choose(settings: Settings, why: str, **choices: Any) -> Settings:
    """Settings with a choice for what is still "auto", and the reason."""
    open_ = {name: value for name, value in choices.items() if getattr(settings, name) == "auto"}
    settings.reasons.update(dict.fromkeys(open_, why))
    return replace(settings, **open_)


def _of_model(rows: Any, settings: Settings, observed: Moments) -> Settings:
    """Settings of a table that looks like samples of the model."""
    why = f"the {observed.n_observed} columns look like samples of a Gaussian process"
    settings = _choose(settings, why, strategy=Geodesic(), affinity="correlation")
    if has_significant_correlation(rows):
        return _choose(settings, why, refine=Likelihood() if settings.strategy.uses_graph else None)
    warn(
        f"no two of {min(rows.shape[0], _limits.SAMPLED)} rows are correlated more than "
        f"unrelated rows are by chance: the {observed.n_observed} columns carry no distance "
        "between rows, and the embedding is noise; measure more columns, or average rows that "
        "belong together"
    )
    return _choose(settings, "no rows are significantly correlated", refine=None)


def options(rows: Any, requested: Settings, observed: Moments) -> list[Settings]:
    """Candidates that agree with what was asked for, the simplest first."""
    names = [requested.affinity]
    if requested.affinity == "auto":
        names = [name for name in ORDER if _is_possible(name, rows, observed)]
    free = (
        requested.graph == "auto"
        and requested.kernel == "auto"
        and requested.refine in ("auto", None)
    )
    strategy, refine, candidates = requested.strategy, requested.refine, []
    if strategy == "auto":
        strategy = Geodesic()
        linear = replace(requested, strategy=Linear(), refine=None)
        euclidean = [name for name in names if AFFINITIES[name].euclidean] if free else []
        candidates = [replace(linear, affinity=name) for name in euclidean]
    if refine == "auto":
        refine = Stress() if strategy.uses_graph else None
    curved = replace(requested, strategy=strategy, refine=refine)
    return candidates + [replace(curved, affinity=name) for name in names]


def _is_possible(name: str, rows: Any, observed: Moments) -> bool:
    """Whether an affinity can be tried on a table."""
    affinity = AFFINITIES[name]
    if affinity.euclidean and rows.shape[0] * rows.shape[1] > _limits.EUCLIDEAN_ENTRIES:
        return False
    if affinity.square_roots or affinity.scales_columns:
        # Counts have one unit; scaling makes the rarest columns the loudest.
        return affinity.square_roots == observed.are_counts
    return affinity.euclidean or rows.shape[1] >= FEWEST_COLUMNS


def held_out_scores(rows: Any, options: list[Settings], observed: Moments) -> Floats:
    """What each point adds to the held-out R2 of each candidate, (c, n) float64.

    The sum over points is the score of a candidate, from 0 to 1. Of more than 400 rows a random
    sample is fitted.
    """
    n = rows.shape[0]
    sample = rows
    if n > _ROWS:
        sample = rows[np.sort(np.random.default_rng(0).choice(n, _ROWS, replace=False))]
    table = dense_rows(sample)
    values = np.sqrt(table) if observed.are_counts else table
    scores, n_folds = np.zeros((len(options), len(table))), 0
    for shown, held_out in _folds(table):
        n_folds += 1
        directions = principal_directions(values[:, held_out])
        for at, option in enumerate(options):
            latent = _embedded(table[:, shown], option)
            if latent is not None and directions.shape[1]:
                scores[at] += predict(latent, directions)
    return scores / n_folds


def standard_error(by_point: Floats) -> float:
    """Standard error of a sum over points."""
    return float(by_point.std() * np.sqrt(by_point.size))


def first_unbeaten(scores: Floats, errors: float = ERRORS) -> int:
    """First candidate that no later one beats by so many standard errors of the difference."""
    best = 0
    for at in range(1, len(scores)):
        gain = scores[at] - scores[best]
        if gain.sum() > errors * standard_error(gain):
            best = at
    return best


def _best(
    rows: Any, options: list[Settings], settings: Settings, observed: Moments
) -> tuple[Settings, tuple[Candidate, ...]]:
    """Settings of the first candidate that no later one beats, and all candidates."""
    scores = held_out_scores(rows, options, observed)
    best = first_unbeaten(scores)
    tried = [
        Candidate(
            affinity=option.affinity,
            strategy=option.strategy.name,
            refine=None if option.refine is None else type(option.refine).__name__.lower(),
            score=float(score.sum()),
            standard_error=standard_error(score),
            difference=float((score - scores[best]).sum()),
            difference_error=standard_error(score - scores[best]),
            chosen=number == best,
        )
        for number, (option, score) in enumerate(zip(options, scores, strict=True))
    ]
    candidates = tuple(sorted(tried, key=lambda each: (not each.chosen, -each.score)))
    first, *beaten = candidates
    runner_up = next((each for each in beaten if each.affinity != first.affinity), beaten[0])
    why = (
        f"held-out R² {first.score:.2f}, the simplest near the best of {len(candidates)} candidates"
        f" (next {runner_up.affinity}, {runner_up.strategy}: {runner_up.difference:+.2f} "
        f"± {runner_up.difference_error:.2f})"
    )
    option = options[best]
    settings = _choose(
        settings, why, strategy=option.strategy, affinity=option.affinity, refine=option.refine
    )
    close = [each for each in beaten if each.difference > -ERRORS * each.difference_error]
    if not first.score > CHANCE * first.standard_error:
        settings.reasons["warning"] = (
            "no method predicts held-out columns better than their mean: there may be nothing "
            "to see"
        )
        warn(settings.reasons["warning"])
    elif close:
        settings.reasons["close call"] = (
            f"{len(close) + 1} of {len(candidates)} candidates predict held-out columns equally "
            "well; the embedding depends on the choice, and the simplest was taken"
        )
    return settings, candidates


def _embedded(table: Floats, option: Settings) -> Floats | None:
    """Embedding of the kept columns under a candidate, None where rows cannot be compared."""
    strategy = option.strategy
    # One similarity for all strategies: those on a graph are compared by their geodesics.
    strategy = Geodesic(strategy.path) if strategy.uses_graph else type(strategy)()
    size = option.n_components
    size = min(5 if size == "auto" else int(size), len(table) - 1)
    refine = option.refine if option.refine is None else Stress()
    settings = replace(
        option,
        strategy=strategy,
        refine=refine,
        n_components=size,
        n_landmarks=None,
        graph="auto" if not hasattr(option.graph, "disconnected") else option.graph,
        reasons={},
    )
    varying = np.ptp(table, axis=1) > 0.0
    if not AFFINITIES[option.affinity].euclidean and not varying.all() and not option.counts:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        similarity = compare(table, option.affinity, counts=option.counts)
        return pipeline.fit(similarity, table, settings, Stages()).coordinates


def _folds(table: Floats) -> Iterator[tuple[NDArray[np.bool_], NDArray[np.bool_]]]:
    """Columns that are kept and held out; of few different columns, all are both.

    Folds are of equal size. Which a column is in depends on the values of the columns, not on
    their units, nor on the order of columns or rows; equal columns are in one fold.
    """
    columns = np.sort(table.T.astype(np.float64), axis=1)
    extent = columns[:, -1:] - columns[:, :1]
    columns = (columns - columns[:, :1]) / np.where(extent > 0.0, extent, 1.0)
    digests = [hashlib.blake2b(column.round(6).tobytes(), digest_size=8) for column in columns]
    keys = [int.from_bytes(digest.digest(), "little") for digest in digests]
    different, column = np.unique(np.array(keys, dtype=np.uint64), return_inverse=True)
    if different.size < 2 * FOLDS:
        every = np.ones(column.size, dtype=np.bool_)
        yield every, every
        return
    for number in range(FOLDS):
        yield column % FOLDS != number, column % FOLDS == number


def principal_directions(X: NDArray[np.floating]) -> Floats:
    """Principal coordinates of the columns scaled to one variance, each of unit length.

    Returns
    -------
    (n, r) ndarray of float64
        Directions with the most variance, at most 60; none where no column varies.
    """
    units = covariance.column_units.unchecked(X)
    columns = X[:, np.isfinite(units)] / units[np.isfinite(units)]
    columns = (columns - columns.mean(axis=0, dtype=np.float64)) / np.sqrt(max(len(X), 1))
    n, width = columns.shape
    if width == 0:
        return np.empty((n, 0))
    if width < n:
        values, vectors = np.linalg.eigh(columns.T @ columns)
        directions = columns @ vectors
    else:
        values, directions = np.linalg.eigh(columns @ columns.T)
    keep = np.flatnonzero(values > np.sqrt(np.finfo(np.float64).eps) * values[-1])[
        -_MOST_DIRECTIONS:
    ]
    directions = directions[:, keep]
    return np.ascontiguousarray(directions / np.linalg.norm(directions, axis=0))


def predict(latent: Floats, directions: Floats) -> Floats:
    """What each point adds to the mean R2 over directions, (n,), predicted by its nearest points.

    A direction counts by its R2, averaged over 5, 10 and 20 nearest points, or as nothing where
    that is below zero.
    """
    n, width = directions.shape
    counts = sorted({max(1, min(k, (n - 1) // 4)) for k in NEAREST})
    near = _nearest(latent, counts[-1])
    error, total = np.zeros((n, width)), np.zeros((n, width))
    for k in range(counts[-1]):
        total += directions[near[:, k]]
        if k + 1 in counts:
            error += (directions - total / (k + 1)) ** 2
    error /= len(counts)
    better = error.sum(axis=0) < 1.0
    by_point = np.count_nonzero(better) / n - error[:, better].sum(axis=1)
    return np.asarray(by_point / width)


def _nearest(points: Floats, k: int) -> NDArray[np.intp]:
    """Nearest points of every point beside itself, (n, k)."""
    near = KDTree(points).query(points, k + 1)[1]
    # A point is the first of its own list, but among equal ones any of them may be.
    distinct = near != np.arange(len(points))[:, None]
    distinct[:, -1] &= ~distinct.all(axis=1)
    return np.asarray(near[distinct].reshape(-1, k))
