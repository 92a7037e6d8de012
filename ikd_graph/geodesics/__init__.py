"""Shortest paths through the trusted covariances.

An entry of the covariance that is not to be trusted is replaced by the best path through entries
that are (paper, Section 2.4). There are two ways to measure a path, and one search for both:

- the paper's: the covariance of a path is the product of those along it, and the best path has the
  largest, which is the shortest for edges of length -log s (:func:`covariance`);
- the one that agrees with the kernel k = f(d): a path is as long as the distances sqrt(f^-1(s))
  along it (:func:`distances`).

Edges of length zero (duplicates, s = 1) are edges. Edges with s <= 0 carry no path.
"""

from ._paths import Paths as Paths
from ._paths import auto_landmarks as auto_landmarks
from ._paths import best_paths as best_paths
from ._paths import (
    covariance,
    covariance_lengths,
    distance_lengths,
    distances,
    farthest_nodes,
    shortest_distances,
)

__all__ = [
    "covariance", "covariance_lengths", "distance_lengths", "distances", "farthest_nodes",
    "shortest_distances",
]  # fmt: skip
