"""Can labels be read from an embedding: classes and quantities, predicted in a cross-validation.

Rows that follow one another are often alike (one writer's digits, one object's views, a recording
in time): shuffled folds test on the neighbours of what they were fitted to, and flatter. Folds of
consecutive rows are the harder test.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ... import _checks as door
from ..._checks import check_finite, check_integer, check_positive
from ._tables import (
    Floats,
    as_classes,
    as_table,
    check_one_label_each,
    sample_of_classes,
    within_reach,
)

MOST_SVM_POINTS = 2000
"""Points a support vector machine is fitted to: its time grows with their square or faster."""


@door.takes(seed=door.seed)
def knn_scores(
    Z: ArrayLike, y: ArrayLike, k: int = 5, *, n_splits: int = 5, seed: int | None = 0
) -> Floats:
    """Accuracy of a k-nearest-neighbour classifier on each part of a cross-validation.

    Parts are stratified by class. The paper does not say whether rows were shuffled. Without a
    shuffle rows that follow one another fall into one part, and the accuracy is some hundredths
    lower. Published figures are best compared with ``seed=None``, scikit-learn's default folds.

    Parameters
    ----------
    Z : (n, m) float64
        An embedding.
    y : (n,) array
        Classes.
    k : int
        Number of neighbours that vote.
    n_splits : int
        Number of parts.
    seed : int or None
        Seed of the shuffle; None does not shuffle: of each class, every part is a run of rows.

    Returns
    -------
    (n_splits,) float64
        Share of each part's points that the others classify rightly.
    """
    from sklearn.neighbors import KNeighborsClassifier

    points = within_reach(as_table("Z", Z))[0]
    codes = as_classes(y, points.shape[0])
    check_integer("n_splits", n_splits, 2)
    check_integer("k", k, 1, points.shape[0] - points.shape[0] // n_splits)
    return _class_scores(KNeighborsClassifier(k), points, codes, n_splits, seed)


@door.takes(seed=door.seed)
def knn_accuracy(
    Z: ArrayLike, y: ArrayLike, k: int = 5, *, n_splits: int = 5, seed: int | None = 0
) -> float:
    """Mean accuracy of a k-nearest-neighbour classifier in a cross-validation: see `knn_scores`.

    Examples
    --------
    >>> Z = np.repeat([[0.0], [9.0]], 20, axis=0) + np.random.default_rng(0).normal(size=(40, 1))
    >>> knn_accuracy(Z, np.repeat([0, 1], 20))
    1.0
    """
    return float(knn_scores(Z, y, k, n_splits=n_splits, seed=seed).mean())


@door.takes(seed=door.seed)
def svm_accuracy(Z: ArrayLike, y: ArrayLike, *, n_splits: int = 5, seed: int | None = 0) -> float:
    """Mean accuracy of a support vector machine in a cross-validation.

    scikit-learn's SVC with a Gaussian kernel in its default settings, on coordinates of one common
    scale. It asks for classes in regions, where neighbours ask for classes in spots.

    Parameters
    ----------
    Z : (n, m) float64
        An embedding; beyond 2000 points a random sample in which every class keeps its share.
    y : (n,) array
        Classes.
    n_splits : int
        Number of parts, stratified by class.
    seed : int or None
        Seed of the sample and of the shuffle; None does not shuffle.

    Returns
    -------
    float
        Mean share of each part's points that the others classify rightly.

    Examples
    --------
    >>> Z = np.repeat([[0.0], [9.0]], 20, axis=0) + np.random.default_rng(0).normal(size=(40, 1))
    >>> svm_accuracy(Z, np.repeat(["a", "b"], 20))
    1.0
    """
    from sklearn.svm import SVC

    points = as_table("Z", Z)
    codes = as_classes(y, points.shape[0])
    rows = sample_of_classes(codes, MOST_SVM_POINTS, n_splits, 0 if seed is None else seed)
    points = points / (np.abs(points).max() or 1.0)
    # The default width of the kernel divides by the variance of all coordinates: scale is free.
    return float(_class_scores(SVC(), points[rows], codes[rows], n_splits, seed).mean())


def silhouette(Z: ArrayLike, y: ArrayLike) -> float:
    """Mean silhouette of classes in an embedding (scikit-learn's).

    Parameters
    ----------
    Z : (n, m) float64
        An embedding.
    y : (n,) array
        Classes, at least two and fewer than points.

    Returns
    -------
    float
        Between -1 (in another class) and 1 (far from other classes).
    """
    from sklearn.metrics import silhouette_score

    points = within_reach(as_table("Z", Z))[0]
    return float(silhouette_score(points, as_classes(y, points.shape[0])))


@door.takes(seed=door.seed, y=door.quantities)
def decoding_r2(
    Z: ArrayLike,
    y: ArrayLike,
    k: int = 10,
    *,
    n_splits: int = 5,
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
        Number of neighbours.
    n_splits : int
        Number of parts.
    seed : int or None
        Seed of the shuffle; None does not shuffle: each part is a block of consecutive rows.
    period : float or None
        Length of the circle that the quantity runs around, such as 360; its sine and cosine are
        then predicted.

    Returns
    -------
    float
        1 if it can be read off, 0 or less if its mean is as good a guess.

    Examples
    --------
    >>> angle = np.linspace(0.0, 720.0, 400)
    >>> ring = np.column_stack([np.cos(np.radians(angle)), np.sin(np.radians(angle))])
    >>> decoding_r2(ring, angle % 360.0, period=360.0) > 0.99
    True
    """
    points, wanted = _known(within_reach(as_table("Z", Z))[0], np.asarray(y, dtype=np.float64))
    check_integer("n_splits", n_splits, 2, points.shape[0], "too few points have a label")
    check_integer("k", k, 1, points.shape[0] - -(-points.shape[0] // n_splits))
    if period is None:
        target = within_reach(wanted)[0][:, None]
    else:
        angle = 2.0 * np.pi * wanted / check_positive("period", period)
        target = np.column_stack([np.sin(angle), np.cos(angle)])
    total = np.sum((target - target.mean(axis=0)) ** 2)
    if not total > 0.0:
        raise ValueError(f"y must vary, got {wanted[0]:g} for every point; leave it out")
    from sklearn.model_selection import KFold, cross_val_predict
    from sklearn.neighbors import KNeighborsRegressor

    folds = KFold(n_splits, shuffle=seed is not None, random_state=seed)
    predicted = cross_val_predict(KNeighborsRegressor(k), points, target, cv=folds)
    return float(1.0 - np.sum((target - predicted) ** 2) / total)


def _known(points: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Points and labels, where there is one."""
    check_one_label_each(y, points.shape[0])
    kept = ~np.isnan(y)
    if np.count_nonzero(kept) < 2:
        raise ValueError(f"y must be known for at least 2 points, got {np.count_nonzero(kept)}")
    check_finite("y", y[kept])
    return points[kept], y[kept]


def _class_scores(
    classifier: Any, points: Floats, codes: NDArray[np.int64], n_splits: int, seed: int | None
) -> Floats:
    """Accuracy of a classifier on each part of a stratified cross-validation."""
    from sklearn.model_selection import StratifiedKFold, cross_val_score

    smallest = int(np.bincount(codes).min())
    check_integer(
        "n_splits", n_splits, 2, max(smallest, 2), "the smallest class has too few points"
    )
    folds = StratifiedKFold(n_splits, shuffle=seed is not None, random_state=seed)
    return cross_val_score(classifier, points, codes, cv=folds)
