r"""How good is an embedding: against a known latent, for prediction, for labels.

Every measure takes tables with points in rows. The R² of the paper is measured after an affine
alignment, which flatters: it forgives every linear distortion of the latent. ``rigid_r2`` forgives
only a rigid motion (and, if asked, a scale).

Rows that follow one another are often alike (one writer's digits, one object's views, a recording
in time): shuffled folds test on the neighbors of what they were fitted to, and flatter. Folds of
consecutive rows are the harder test.
"""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.stats import mode
from sklearn.metrics import r2_score, silhouette_score
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_predict, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors

from ._base import limits
from ._base import validation as check
from ._base.as_table import row_names, rows_by_name
from ._base.types import Floats, Integers
from ._base.warn import warn
from .blockwise import rigid_fit

__all__ = [
    "affine_r2", "decoding_r2", "held_out_r2", "knn_accuracy", "knn_scores", "rigid_r2",
    "silhouette",
]  # fmt: skip

_VOTERS = 5  # nearest points whose classes vote
_AVERAGED = 10  # nearest points whose values are averaged
_FOLDS = 5  # parts of a cross-validation


def affine_r2(true: ArrayLike, estimate: ArrayLike) -> float:
    r"""R² of an embedding after the best affine map of its estimate, the paper's measure.

    For each true dimension 1 - \|residual\|² / \|deviation from the mean\|², then their mean.

    Parameters
    ----------
    true : (n, m) float64
        The true latent.
    estimate : (n, k) float64
        An embedding of the same points, of any dimension.

    Returns
    -------
    float
        1 if the estimate is an affine image of the truth, 0 if it explains nothing.

    Examples
    --------
    >>> import numpy as np
    >>> true = np.random.default_rng(0).normal(size=(50, 2))
    >>> round(affine_r2(true, true @ [[2.0, 1.0], [0.0, -3.0]] + 5.0), 12)
    1.0
    """
    truth, design = (centered(each, axis=0) for each in _as_pair(true, estimate))
    design, middle = design - design.mean(axis=0), truth.mean(axis=0)
    affine = np.linalg.lstsq(design, truth - middle, rcond=None)[0]
    return _mean_r2(truth, design @ affine + middle)


def centered(values: Floats, axis: int | None = None) -> Floats:
    """Columns (n, m) less their medians, all in one unit or (``axis=0``) each in its own.

    The unit is a power of two, so that nothing is rounded, and the largest value is about 1, so
    that neither offsets nor units spoil squares. Medians of whole numbers leave ties as they are.
    """

    def in_unit(values: Floats) -> Floats:
        largest = np.abs(values).max(axis=axis, keepdims=True)
        return np.ldexp(values, -np.frexp(largest)[1])

    values = in_unit(values)
    return in_unit(values - np.median(values, axis=0))


@check.validate(scale=check.flag)
def rigid_r2(true: ArrayLike, estimate: ArrayLike, *, scale: bool = False) -> float:
    """R² of an embedding after the best rotation or reflection and translation of its estimate.

    Parameters
    ----------
    true : (n, m) float64
        The true latent.
    estimate : (n, k) float64
        An embedding of the same points in the same units; zeros are added to it if k < m.
    scale : bool
        Also fit one factor for all dimensions, for methods that do not know the unit.

    Returns
    -------
    float
        1 if only a rigid motion (and a scale) separates the two; may be very negative.

    Examples
    --------
    >>> import numpy as np
    >>> true = np.random.default_rng(0).normal(size=(50, 2))
    >>> round(rigid_r2(true, 3.0 * true[:, ::-1] + 1.0, scale=True), 12)
    1.0
    """
    truth, points = _as_pair(true, estimate)
    if points.shape[1] > truth.shape[1]:
        raise ValueError(
            f"estimate must have at most the {truth.shape[1]} dimensions of the truth for a rigid "
            f"alignment, got {points.shape[1]}; use affine_r2, or fit n_components={truth.shape[1]}"
        )
    padded = np.pad(points, ((0, 0), (0, truth.shape[1] - points.shape[1])))
    pair = [centered(table) for table in (truth, padded)] if scale else [truth, padded]
    target, padded = np.hsplit(centered(np.hstack(pair)), 2)
    target = target - target.mean(axis=0)
    return _mean_r2(target, aligned(padded, target, scale=scale))


def aligned(points: Floats, target: Floats, *, scale: bool = True) -> Floats:
    """Points after the best rigid motion, and scale, onto a centered target of as many columns."""
    centered = points - points.mean(axis=0)
    turned = centered @ rigid_fit(centered, target).rotation
    factor = float(np.sum(turned * target)) / (float(np.sum(centered**2)) or 1.0) if scale else 1.0
    return factor * turned


def _mean_r2(truth: Floats, fitted: Floats) -> float:
    """Mean over dimensions of 1 - residual / total sum of squares."""
    flat = np.flatnonzero(np.ptp(truth, axis=0) == 0.0)
    if flat.size:
        raise ValueError(
            "every dimension of the true latent must vary, got a constant one (dimension "
            f"{flat[0]}); leave it out"
        )
    return float(r2_score(truth, fitted))


def held_out_r2(Z: ArrayLike, held_out: ArrayLike, k: int = _AVERAGED) -> float:
    """R² of columns predicted for each row by the mean of its k nearest other rows in the latent.

    Parameters
    ----------
    Z : (n, m) float64
        A latent of the rows, made without these columns.
    held_out : (n, n_held) float64
        The columns. Those that do not vary have no part in the R².
    k : int
        Number of nearest rows.

    Returns
    -------
    float
        1 - residual / deviation from the mean of each column, both summed over all columns; NaN
        where none varies.
    """
    latent, wanted = _as_pair(Z, held_out, ("Z", "held_out"))
    check.whole(1, latent.shape[0] - 1)("k", k)
    latent, wanted = _mixed(centered(latent), centered(wanted))
    near = NearestNeighbors(n_neighbors=k).fit(latent).kneighbors(return_distance=False)
    predicted = wanted[near].mean(axis=1)
    varies = np.ptp(wanted, axis=0).any()
    return _whole_r2(wanted, predicted) if varies else np.nan


@check.validate(k=check.count, seed=check.seed)
def knn_scores(
    Z: ArrayLike, y: ArrayLike, k: int = _VOTERS, *, n_splits: int = _FOLDS, seed: int | None = 0
) -> Floats:
    """Accuracy of a k-nearest-neighbor classifier on each part of a cross-validation.

    Parts are stratified by class. The paper does not say whether rows were shuffled. Without a
    shuffle rows that follow one another fall into one part, and the accuracy is some hundredths
    lower. Published figures are best compared with ``seed=None``, scikit-learn's default folds.

    Parameters
    ----------
    Z : (n, m) float64
        An embedding.
    y : (n,) array
        Classes; points where it is None, NaN, NaT or NA are left out.
    k : int
        Number of neighbors that vote.
    n_splits : int
        Number of parts.
    seed : int or None
        Seed of the shuffle; None does not shuffle: of each class, every part is a run of rows.

    Returns
    -------
    (n_splits,) float64
        Fraction of each part's points that the others classify rightly.
    """
    points, codes = _as_classes(Z, y)
    smallest = max(int(np.bincount(codes).min()), 2)
    check.whole(2, smallest, "the smallest class has too few points")("n_splits", n_splits)
    check.whole(1, points.shape[0] - points.shape[0] // n_splits)("k", k)
    folds = StratifiedKFold(n_splits, shuffle=seed is not None, random_state=seed)
    return cross_val_score(KNeighborsClassifier(k), points, codes, cv=folds)


def knn_accuracy(Z: ArrayLike, y: ArrayLike, k: int = _VOTERS) -> float:
    """Fraction of points in the class that most of their k nearest other points have.

    Of classes with as many votes it is the first, as scikit-learn has it. Where rows follow one
    another, those next to a point vote; folds of consecutive rows (`knn_scores`) are harder.

    Parameters
    ----------
    Z : (n, m) float64
        An embedding.
    y : (n,) array
        Classes; points where it is None, NaN, NaT or NA are left out.
    k : int
        Number of neighbors that vote.

    Returns
    -------
    float
        The same for any order of the rows.

    Examples
    --------
    >>> import numpy as np
    >>> Z = np.repeat([[0.0], [9.0]], 20, axis=0) + np.random.default_rng(0).normal(size=(40, 1))
    >>> knn_accuracy(Z, np.repeat([0, 1], 20))
    1.0
    """
    points, codes = _mixed(*_as_classes(Z, y))
    check.whole(1, codes.size - 1)("k", k)
    near = NearestNeighbors(n_neighbors=k).fit(points).kneighbors(return_distance=False)
    return float(np.mean(mode(codes[near], axis=1).mode == codes))


def silhouette(Z: ArrayLike, y: ArrayLike) -> float:
    """Mean silhouette of classes in an embedding (scikit-learn's).

    Parameters
    ----------
    Z : (n, m) float64
        An embedding.
    y : (n,) array
        Classes, at least two and fewer than points; points where it is None, NaN, NaT or NA are
        left out. Beyond 10 000 points a random sample is measured.

    Returns
    -------
    float
        Between -1 (in another class) and 1 (far from other classes).
    """
    points, codes = _mixed(*_as_classes(Z, y))
    size = min(codes.size, limits.DOUBLE)
    return float(silhouette_score(points, codes, sample_size=size, random_state=0))


@check.validate(k=check.count, seed=check.seed, y=check.quantities)
def decoding_r2(
    Z: ArrayLike,
    y: ArrayLike,
    k: int = _AVERAGED,
    *,
    n_splits: int = _FOLDS,
    seed: int | None = 0,
    period: float | None = None,
) -> float:
    """R² of a quantity read from an embedding, as the mean of the k nearest points' values.

    Each part of a cross-validation is predicted from the others; the R² is that of all predictions
    together.

    Parameters
    ----------
    Z : (n, m) float64
        An embedding.
    y : (n,) float64
        The quantity; points where it is NaN are left out.
    k : int
        Number of neighbors.
    n_splits : int
        Number of parts.
    seed : int or None
        Seed of the parts, the same for any order of the rows; None does not shuffle: each part is a
        block of consecutive rows.
    period : float or None
        Length of the circle that the quantity runs around, such as 360; its sine and cosine are
        then predicted.

    Returns
    -------
    float
        1 if it can be read off, 0 or less if its mean is as good a guess.

    Examples
    --------
    >>> import numpy as np
    >>> angle = np.linspace(0.0, 720.0, 400)
    >>> ring = np.column_stack([np.cos(np.radians(angle)), np.sin(np.radians(angle))])
    >>> decoding_r2(ring, angle % 360.0, period=360.0) > 0.99
    True
    """
    points, wanted = _labeled(Z, y)
    check.whole(2)("the number of labels", wanted.size)
    check.finite()("y", wanted)
    check.whole(2, points.shape[0], "too few points have a label")("n_splits", n_splits)
    check.whole(1, points.shape[0] - -(-points.shape[0] // n_splits))("k", k)
    if period is None:
        target = centered(wanted[:, None])
    else:
        angle = 2.0 * np.pi * wanted / check.positive("period", period)
        target = np.column_stack([np.sin(angle), np.cos(angle)])
    if not np.ptp(target, axis=0).any():
        raise ValueError(f"y must vary, got {wanted[0]:g} for every point; leave it out")
    points, target = (points, target) if seed is None else _mixed(points, target)
    folds = KFold(n_splits, shuffle=seed is not None, random_state=seed)
    return _whole_r2(target, cross_val_predict(KNeighborsRegressor(k), points, target, cv=folds))


def _whole_r2(target: Floats, predicted: Floats) -> float:
    """1 - residual / deviation from the mean of each column, both summed over all columns."""
    return float(r2_score(target, predicted, multioutput="variance_weighted"))


def _mixed(points: Floats, values: NDArray[Any]) -> tuple[Floats, NDArray[Any]]:
    """Points and their values in an order that neither their own nor their values tell.

    What is as near as another point is taken in this order.
    """
    in_order = np.lexsort((*values.reshape(len(points), -1).T, *points.T))
    mixed = in_order[np.random.default_rng(0).permutation(len(points))]
    return points[mixed], values[mixed]


def _as_table(name: str, values: ArrayLike) -> Floats:
    """Float64 table of finite numbers, (n, m); a flat list is one column."""
    array = check.numbers(name, values)
    table = check.table(name, array[:, None] if array.ndim == 1 else array)
    return np.asarray(table, dtype=np.float64)


def _as_pair(
    first: ArrayLike, second: ArrayLike, names: tuple[str, str] = ("true", "estimate")
) -> tuple[Floats, Floats]:
    """Two tables with the same number of rows."""
    second = rows_by_name(names[1], second, row_names(first), names[0])
    a, b = _as_table(names[0], first), _as_table(names[1], second)
    if a.shape[0] != b.shape[0]:
        raise ValueError(
            f"{names[0]} and {names[1]} must have the same points in the same order, got "
            f"{a.shape[0]} and {b.shape[0]} rows"
        )
    return a, b


def _as_classes(Z: ArrayLike, y: ArrayLike) -> tuple[Floats, Integers]:
    """Points that have a label, and codes of their classes, 0 .. n_classes - 1."""
    points, labels = _labeled(Z, y)
    try:
        names, codes = np.unique(labels, return_inverse=True)
    except TypeError:
        raise ValueError(
            "y must hold labels of one kind, got some that cannot be compared; make them strings"
        ) from None
    if not 2 <= names.size < codes.size:
        raise ValueError(
            f"y must have at least 2 classes and fewer than points, got {names.size} classes for "
            f"{codes.size} points; measurements are no classes: see decoding_r2"
        )
    return points, codes.astype(np.int64)


def _labeled(Z: ArrayLike, y: ArrayLike) -> tuple[Floats, NDArray[Any]]:
    """Centered points that have a label, and their labels."""
    points, y = centered(_as_table("Z", Z)), rows_by_name("y", y, row_names(Z), "Z")
    # A list of words and NaN would become one of words.
    labels = np.array(y, dtype=object) if isinstance(y, (list, tuple)) else check.as_array("y", y)
    check.one_each("y", labels, len(points))
    known = ~pd.isna(labels)
    if known.any() and not known.all():
        missing = np.count_nonzero(~known)
        warn(f"{missing} of {known.size} points have no label and are left out")
    return points[known], labels[known]
