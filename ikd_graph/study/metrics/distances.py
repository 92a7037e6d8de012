"""Are far things far and near things near: measures over all distances, of points and of classes.

Beyond 2000 points a random sample is looked at, of whose pairs 200 000 are ranked.
"""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist
from scipy.stats import spearmanr

from ... import _checks as door
from ..._checks import check_integer
from ._distances import MOST_POINTS, Distances, both_distances
from ._tables import Floats, as_classes, as_pair, within_reach

_MOST_CLASSES = 60


def global_distance_preservation(
    X: ArrayLike | Distances, Z: ArrayLike | Distances, *, max_points: int = MOST_POINTS
) -> float:
    """Rank correlation (Spearman's) of the distances between all points.

    Parameters
    ----------
    X, Z : (n, n_features) and (n, m) float64, or Distances
        The data, or the true latent, and its embedding.
    max_points : int
        Beyond this many points, a random sample of them is compared.

    Returns
    -------
    float
        Spearman's correlation, -1 to 1; 0 where all distances of a space are equal.
    """
    before, after = both_distances(X, Z, max_points)
    first, second = before.pair_ranks, after.pair_ranks
    if np.ptp(first) == 0.0 or np.ptp(second) == 0.0:
        return 0.0
    return float(np.corrcoef(first, second)[0, 1])


@door.takes(seed=door.seed)
def random_triplets(
    X: ArrayLike | Distances, Z: ArrayLike | Distances, *, n_triplets: int = 100_000, seed: int = 0
) -> float:
    """Share of random triplets (i, j, h) in which i is nearer to the same of j and h in both.

    Parameters
    ----------
    X, Z : (n, n_features) and (n, m) float64, or Distances
        The data, or the true latent, and its embedding; at least three points.
    n_triplets : int
        Number of triplets; the standard error is at most 0.5 / √n_triplets.
    seed : int
        Seed of the triplets.

    Returns
    -------
    float
        1 if the order of distances is kept, 0.5 by chance (Wang, Huang, Rudin & Shaposhnik 2021).
        A tie in one space alone counts one half.
    """
    before, after = both_distances(X, Z)
    n = before.n_points
    check_integer("the number of points", n, 3)
    check_integer("n_triplets", n_triplets, 1, 2**31 - 1)
    rng = np.random.default_rng(seed)
    triplets = rng.integers(n, size=(3, n_triplets))
    i, j, other = triplets
    three = (i != j) & (j != other) & (i != other)
    return _agreement(before.matrix, after.matrix, triplets[:, three])


def centroid_triplets(X: ArrayLike, Z: ArrayLike, y: ArrayLike) -> float:
    """Share of triplets of class centroids whose order of distances agrees: `random_triplets`.

    Parameters
    ----------
    X, Z : (n, n_features) and (n, m) float64
        The data, or the true latent, and its embedding.
    y : (n,) array
        Classes, at least three. Beyond 60, the 60 largest are compared.

    Returns
    -------
    float
        Over all triplets of classes: 1 if their layout is kept, 0.5 by chance.

    Examples
    --------
    >>> X = np.array([0.0, 1.0, 5.0, 6.0, 20.0, 21.0])
    >>> centroid_triplets(X, -X, [0, 0, 1, 1, 2, 2])
    1.0
    """
    before, after = _between_centroids(X, Z, y)
    classes = range(before.shape[0])
    pairs = itertools.combinations(classes, 2)
    triplets = np.array([(i, *pair) for pair in pairs for i in classes if i not in pair])
    return _agreement(before, after, triplets.T)


def centroid_distances(X: ArrayLike, Z: ArrayLike, y: ArrayLike) -> float:
    """Rank correlation (Spearman's) of the distances between class centroids.

    Parameters
    ----------
    X, Z, y : (n, n_features) and (n, m) float64, (n,) array
        As in `centroid_triplets`.

    Returns
    -------
    float
        Spearman's correlation, -1 to 1.
    """
    before, after = _between_centroids(X, Z, y)
    upper = np.triu_indices(before.shape[0], 1)
    return rank_correlation(before[upper], after[upper])


def rank_correlation(before: Floats, after: Floats) -> float:
    """Spearman's correlation of two arrays of the same shape, 0 if one is constant."""
    if np.ptp(before) == 0.0 or np.ptp(after) == 0.0:
        return 0.0
    return float(spearmanr(before.ravel(), after.ravel()).statistic)


def _agreement(before: Floats, after: Floats, triplets: NDArray[np.integer]) -> float:
    """Share of triplets (3, n) whose two distances have the same order in both matrices."""
    i, j, other = triplets
    signs = [np.sign(matrix[i, j] - matrix[i, other]) for matrix in (before, after)]
    return float(np.mean(0.5 + 0.5 * np.where(signs[0] == signs[1], 1.0, signs[0] * signs[1])))


def _between_centroids(X: ArrayLike, Z: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
    """Distances between the means of classes, in the data and in the embedding."""
    data, points = as_pair(X, Z, ("X", "Z"))
    codes = as_classes(y, data.shape[0])
    sizes = np.bincount(codes)
    check_integer("the number of classes", sizes.size, 3)
    largest = np.sort(np.argsort(-sizes, kind="stable")[:_MOST_CLASSES])
    means = [
        np.stack([table[codes == code].mean(axis=0) for code in largest])
        for table in (data, points)
    ]
    before, after = (within_reach(one)[0] for one in means)
    return cdist(before, before), cdist(after, after)
