r"""How good is an embedding: against a known latent, against labels, against the data's distances.

The R² of the paper is measured after an affine alignment, which flatters: it forgives every linear
distortion of the latent. ``rigid_r2`` forgives only a rigid motion (and, if asked, a scale).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import orthogonal_procrustes
from scipy.spatial.distance import cdist
from scipy.stats import spearmanr

from .._validation import check_finite, check_integer

Floats = NDArray[np.float64]


def affine_r2(true: ArrayLike, estimate: ArrayLike) -> float:
    r"""R² of a latent after the best affine map of its estimate, the paper's measure.

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
    >>> true = np.random.default_rng(0).normal(size=(50, 2))
    >>> round(affine_r2(true, true @ [[2.0, 1.0], [0.0, -3.0]] + 5.0), 12)
    1.0
    """
    truth, points = _pair(true, estimate)
    design = np.column_stack([np.ones(points.shape[0]), points])
    fitted = design @ np.linalg.lstsq(design, truth, rcond=None)[0]
    return _mean_r2(truth, fitted)


def rigid_r2(true: ArrayLike, estimate: ArrayLike, *, scale: bool = False) -> float:
    """R² of a latent after the best rotation or reflection and translation of its estimate.

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
    >>> true = np.random.default_rng(0).normal(size=(50, 2))
    >>> round(rigid_r2(true, 3.0 * true[:, ::-1] + 1.0, scale=True), 12)
    1.0
    """
    truth, points = _pair(true, estimate)
    if points.shape[1] > truth.shape[1]:
        raise ValueError(
            f"estimate must have at most the {truth.shape[1]} dimensions of the truth for a rigid "
            f"alignment, got {points.shape[1]}; use affine_r2, or fit n_components={truth.shape[1]}"
        )
    padded = np.zeros_like(truth)
    padded[:, : points.shape[1]] = points
    centred = padded - padded.mean(axis=0)
    target = truth - truth.mean(axis=0)
    rotation, trace = orthogonal_procrustes(centred, target)
    size = np.sum(centred**2)
    factor = trace / size if scale and size > 0.0 else 1.0
    return _mean_r2(target, factor * centred @ rotation)


def knn_scores(
    Z: ArrayLike, y: ArrayLike, k: int = 5, *, n_splits: int = 5, seed: int | None = 0
) -> Floats:
    """Accuracy of a k-nearest-neighbour classifier on each part of a cross-validation.

    Parts are stratified by class. The paper does not say whether rows were shuffled. Rows that
    follow one another are often alike (one writer's digits, one object's views): without a shuffle
    they fall into one part, and the accuracy is some hundredths lower. Published figures are best
    compared with ``seed=None``, scikit-learn's default folds.

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
        Seed of the shuffle; None does not shuffle.

    Returns
    -------
    (n_splits,) float64
        Share of each part's points that the others classify rightly.
    """
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.neighbors import KNeighborsClassifier

    points, labels = _matrix("Z", Z), _classes(y, Z)
    check_integer("k", k, 1, points.shape[0] - points.shape[0] // n_splits)
    smallest = int(np.bincount(labels).min())
    check_integer(
        "n_splits", n_splits, 2, max(smallest, 2), "the smallest class has too few points"
    )
    folds = StratifiedKFold(n_splits, shuffle=seed is not None, random_state=seed)
    return cross_val_score(KNeighborsClassifier(k), points, labels, cv=folds)


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

    return float(silhouette_score(_matrix("Z", Z), _classes(y, Z)))


def trustworthiness(X: ArrayLike, Z: ArrayLike, k: int = 5) -> float:
    """Share of neighbours in the embedding that are neighbours in the data (scikit-learn's).

    Parameters
    ----------
    X : (n, n_features) float64
        The data, or the true latent.
    Z : (n, m) float64
        Its embedding.
    k : int
        Size of a neighbourhood, less than half the number of points.

    Returns
    -------
    float
        1 if nobody became a neighbour who was not; intruders count by their rank in the data.
    """
    from sklearn.manifold import trustworthiness as sklearn_trustworthiness

    data, points = _pair(X, Z, ("X", "Z"))
    check_integer("k", k, 1, max((data.shape[0] - 1) // 2, 1), "use fewer neighbours")
    return float(sklearn_trustworthiness(data, points, n_neighbors=k))


def continuity(X: ArrayLike, Z: ArrayLike, k: int = 5) -> float:
    """Share of neighbours in the data that stayed neighbours: `trustworthiness`, spaces swapped."""
    return trustworthiness(Z, X, k)


def local_distance_preservation(X: ArrayLike, Z: ArrayLike, k: int = 10) -> float:
    """Rank correlation of distances between near points: each point and its k nearest in the data.

    Parameters
    ----------
    X, Z : (n, n_features) and (n, m) float64
        The data, or the true latent, and its embedding.
    k : int
        Number of nearest points.

    Returns
    -------
    float
        Spearman's correlation, -1 to 1.
    """
    from sklearn.neighbors import NearestNeighbors

    data, points = _pair(X, Z, ("X", "Z"))
    check_integer("k", k, 1, data.shape[0] - 1)
    near = NearestNeighbors(n_neighbors=k).fit(data)
    before, who = near.kneighbors()
    after = np.linalg.norm(points[:, None, :] - points[who], axis=2)
    return _rank_correlation(before, after)


def global_distance_preservation(
    X: ArrayLike, Z: ArrayLike, *, max_points: int = 1500, seed: int = 0
) -> float:
    """Rank correlation of all distances between points.

    Parameters
    ----------
    X, Z : (n, n_features) and (n, m) float64
        As in `local_distance_preservation`.
    max_points : int
        Beyond this many points, a random sample of them is compared.
    seed : int
        Seed of the sample.

    Returns
    -------
    float
        Spearman's correlation.
    """
    data, points = _pair(X, Z, ("X", "Z"))
    if data.shape[0] > max_points:
        picked = np.random.default_rng(seed).choice(data.shape[0], max_points, replace=False)
        data, points = data[picked], points[picked]
    upper = np.triu_indices(data.shape[0], 1)
    return _rank_correlation(cdist(data, data)[upper], cdist(points, points)[upper])


def _rank_correlation(before: Floats, after: Floats) -> float:
    """Spearman's correlation, 0 if one side is constant."""
    if np.ptp(before) == 0.0 or np.ptp(after) == 0.0:
        return 0.0
    return float(spearmanr(before.ravel(), after.ravel()).statistic)


def _mean_r2(truth: Floats, fitted: Floats) -> float:
    """Mean over dimensions of 1 - residual / total sum of squares."""
    total = np.sum((truth - truth.mean(axis=0)) ** 2, axis=0)
    if not np.all(total > 0.0):
        flat = int(np.flatnonzero(~(total > 0.0))[0])
        raise ValueError(
            f"every dimension of the true latent must vary, got a constant one (dimension {flat}); "
            "leave it out"
        )
    return float(np.mean(1.0 - np.sum((truth - fitted) ** 2, axis=0) / total))


def _matrix(name: str, values: ArrayLike) -> Floats:
    """Float64 table of finite numbers, (n, m)."""
    array = np.asarray(values, dtype=np.float64)
    array = array[:, None] if array.ndim == 1 else array
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(f"{name} must be a table (points x dimensions), got shape {array.shape}")
    check_finite(name, array)
    return array


def _pair(
    first: ArrayLike, second: ArrayLike, names: tuple[str, str] = ("true", "estimate")
) -> tuple[Floats, Floats]:
    """Two tables with the same number of rows."""
    a, b = _matrix(names[0], first), _matrix(names[1], second)
    if a.shape[0] != b.shape[0]:
        raise ValueError(
            f"{names[0]} and {names[1]} must have the same points in the same order, got "
            f"{a.shape[0]} and {b.shape[0]} rows"
        )
    return a, b


def _classes(y: ArrayLike, Z: ArrayLike) -> NDArray[np.int64]:
    """Codes of the classes of each point, 0 .. n_classes - 1."""
    labels = np.asarray(y)
    n_points = len(np.asarray(Z))
    if labels.shape != (n_points,):
        raise ValueError(
            f"y must have one label for each of the {n_points} points, got shape {labels.shape}"
        )
    names, codes = np.unique(labels, return_inverse=True)
    if not 2 <= names.size < n_points:
        raise ValueError(
            f"y must have at least 2 classes and fewer than points, got {names.size} classes for "
            f"{n_points} points; measurements are no classes"
        )
    return codes.astype(np.int64)
