"""From a similarity to a latent: eigen, geodesic, blockwise, with or without landmarks, and linear.

The first three invert the covariances they trust and end in leading eigenpairs (Li & Wu 2024,
Section 2.4); they differ in what they do about the covariances they do not trust. "eigen" trusts
all, "blockwise" solves cliques of trusted pairs and merges them, "geodesic" replaces the rest by
paths.
"""

from . import landmarks
from ._blockwise import solve_blockwise
from ._components import SolvedGraph, side_by_side, solve_graph
from ._eigen import solve_eigen
from ._geodesic import geodesic_frame, solve_geodesic
from ._linear import solve_linear
from ._memory import require_memory
from ._paths import geodesic_sq_distances, path_lengths, squares_of_lengths
from ._plan import DISCONNECTED, GRAPHLESS, MERGES, PATHS, STRATEGIES, Plan, Solution

__all__ = [
    "DISCONNECTED",
    "GRAPHLESS",
    "MERGES",
    "PATHS",
    "STRATEGIES",
    "Plan",
    "Solution",
    "SolvedGraph",
    "geodesic_frame",
    "geodesic_sq_distances",
    "landmarks",
    "path_lengths",
    "require_memory",
    "side_by_side",
    "solve_blockwise",
    "solve_eigen",
    "solve_geodesic",
    "solve_graph",
    "solve_linear",
    "squares_of_lengths",
]
