"""Do neighbours stay neighbours: measures of ranks, of near distances and of density.

Beyond 2000 points a random sample is looked at (`MOST_POINTS`), in which k neighbours reach as far
as k n / 2000 among all n. Rows at equal distances are ranked in random order.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..._checks import check_integer, counts
from ._distances import Distances, both_distances
from ._tables import Floats, within_reach
from .distances import rank_correlation


def trustworthiness(
    X: ArrayLike | Distances, Z: ArrayLike | Distances, k: int | Sequence[int] = 5
) -> Any:
    r"""Share of neighbours in the embedding that are neighbours in the data (Venna & Kaski 2001).

    1 - 2 / (n k (2n - 3k - 1)) Σ_i Σ_j max(0, r(i, j) - k) over the k nearest j of each i in the
    embedding, with r(i, j) the rank of j among those nearest to i in the data.

    Parameters
    ----------
    X : (n, n_features) float64 or Distances
        The data, or the true latent.
    Z : (n, m) float64 or Distances
        Its embedding.
    k : int or sequence of int
        Size of a neighbourhood, less than half the number of points; or several sizes.

    Returns
    -------
    float or (len(k),) float64
        1 if nobody became a neighbour who was not; intruders count by their rank in the data.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> trustworthiness(X, 2.0 * X, [5, 15])
    array([1., 1.])
    """
    return _trusted(*both_distances(X, Z), k)


def continuity(
    X: ArrayLike | Distances, Z: ArrayLike | Distances, k: int | Sequence[int] = 5
) -> Any:
    """Share of neighbours in the data that stayed neighbours: `trustworthiness`, spaces swapped."""
    return _trusted(*both_distances(Z, X), k)


def _trusted(before: Distances, after: Distances, k: int | Sequence[int]) -> Any:
    """Trustworthiness of one size of neighbourhood, or of several."""
    asked = counts("k", k)
    sizes: list[int] = asked if isinstance(asked, list) else [asked]
    n = before.n_points
    for size in sizes:
        check_integer("k", size, 1, max((n - 1) // 2, 1), "use fewer neighbours")
    near = after.order[:, 1 : max(sizes) + 1]
    ranks = np.take_along_axis(before.ranks, near, axis=1)
    scores = []
    for size in sizes:
        intrusion = np.maximum(ranks[:, :size] - size, 0).sum()
        scores.append(1.0 - 2.0 * intrusion / (n * size * (2 * n - 3 * size - 1)))
    return float(scores[0]) if asked is not sizes else np.array(scores)


def q_nx(X: ArrayLike | Distances, Z: ArrayLike | Distances) -> Floats:
    """Share of the K nearest neighbours in the data that are so in the embedding, for every K.

    Parameters
    ----------
    X, Z : (n, n_features) and (n, m) float64, or Distances
        As in `trustworthiness`.

    Returns
    -------
    (n - 1,) float64
        Q_NX(1), ..., Q_NX(n - 1) = 1 (Lee & Verleysen 2009).

    Examples
    --------
    >>> line = np.arange(5.0) ** 2
    >>> q_nx(line, -line)
    array([1., 1., 1., 1.])
    """
    before, after = both_distances(X, Z)
    n = before.n_points
    # A pair is shared from that K on which reaches it in both spaces.
    counts = np.bincount(np.maximum(before.ranks, after.ranks).ravel(), minlength=n)[1:]
    return np.cumsum(counts) / (n * np.arange(1, n))


def r_nx(X: ArrayLike | Distances, Z: ArrayLike | Distances) -> Floats:
    """What `q_nx` is above chance: 0 for a random embedding, 1 for a perfect one, for every K.

    Parameters
    ----------
    X, Z : (n, n_features) and (n, m) float64, or Distances
        As in `trustworthiness`; at least three points.

    Returns
    -------
    (n - 2,) float64
        R_NX(1), ..., R_NX(n - 2): ((n - 1) Q_NX(K) - K) / (n - 1 - K) (Lee et al. 2013).
    """
    shared = q_nx(X, Z)
    others = shared.size
    check_integer("the number of points", others + 1, 3)
    sizes = np.arange(1, others)
    return (others * shared[:-1] - sizes) / (others - sizes)


def r_nx_auc(X: ArrayLike | Distances, Z: ArrayLike | Distances) -> float:
    """Area under `r_nx` over a logarithmic axis of K: one number over all sizes, small ones most.

    Parameters
    ----------
    X, Z : (n, n_features) and (n, m) float64, or Distances
        As in `r_nx`.

    Returns
    -------
    float
        Σ R_NX(K) / K over Σ 1 / K (Lee, Peluffo-Ordóñez & Verleysen 2015).
    """
    curve = r_nx(X, Z)
    return float(np.average(curve, weights=1.0 / np.arange(1, curve.size + 1)))


def local_distance_preservation(
    X: ArrayLike | Distances, Z: ArrayLike | Distances, k: int = 10
) -> float:
    """Rank correlation of distances between near points: each point and its k nearest in the data.

    Parameters
    ----------
    X, Z : (n, n_features) and (n, m) float64, or Distances
        The data, or the true latent, and its embedding.
    k : int
        Number of nearest points.

    Returns
    -------
    float
        Spearman's correlation, -1 to 1.
    """
    before, after = both_distances(X, Z)
    check_integer("k", k, 1, before.n_points - 1)
    near = before.order[:, 1 : k + 1]
    return rank_correlation(
        np.take_along_axis(before.matrix, near, axis=1),
        np.take_along_axis(after.matrix, near, axis=1),
    )


def density_preservation(X: ArrayLike | Distances, Z: ArrayLike | Distances, k: int = 15) -> float:
    """Are dense places dense in the embedding: the correlation of log local radii.

    The local radius of a point is the mean squared distance to its k nearest, in each space its
    own. densMAP (Narayan, Berger & Cho 2021) weighs them by the edges of UMAP's graph instead.

    Parameters
    ----------
    X, Z : (n, n_features) and (n, m) float64, or Distances
        The data, or the true latent, and its embedding.
    k : int
        Number of nearest points.

    Returns
    -------
    float
        Pearson's correlation, -1 to 1; 0 where all radii of a space are equal.

    Examples
    --------
    >>> line = np.arange(30.0) ** 3
    >>> round(density_preservation(line, -2.0 * line, 5), 12)
    1.0
    """
    before, after = both_distances(X, Z)
    check_integer("k", k, 1, before.n_points - 1)
    first, second = _log_radii(before, k), _log_radii(after, k)
    if np.ptp(first) == 0.0 or np.ptp(second) == 0.0:
        return 0.0
    return float(np.corrcoef(first, second)[0, 1])


def _log_radii(space: Distances, k: int) -> Floats:
    """Log of the mean squared distance from each point to its k nearest."""
    near = np.take_along_axis(space.matrix, space.order[:, 1 : k + 1], axis=1)
    radii = np.mean(within_reach(near)[0] ** 2, axis=1)
    positive = radii[radii > 0.0]
    # Where k copies of a point leave no radius, the smallest that there is.
    return np.log(np.maximum(radii, positive.min())) if positive.size else np.zeros(radii.size)
