"""Closed forms: how coordinates follow from the covariances that are trusted.

`Eigen`, `Geodesic` and `Blockwise` invert covariances and end in leading eigenpairs (Li & Wu 2024,
Section 2.4). They differ in what they do about small covariances: "eigen" inverts all, "geodesic"
replaces them by paths, "blockwise" solves cliques of large ones and merges them. `Linear` is the
closed form of a linear kernel: principal components.
"""

from ._base import Landmarks, Solution, Strategy
from ._blockwise import Blockwise
from ._eigen import Eigen
from ._geodesic import Geodesic, geodesic_frame
from ._linear import Linear, principal_components

__all__ = [
    "STRATEGIES",
    "Blockwise",
    "Eigen",
    "Geodesic",
    "Landmarks",
    "Linear",
    "Solution",
    "Strategy",
    "geodesic_frame",
    "principal_components",
]

STRATEGIES: dict[str, type[Strategy]] = {
    kind.name: kind for kind in (Geodesic, Blockwise, Eigen, Linear)
}
"""Class of every strategy, by the name that `IKD` calls it."""
