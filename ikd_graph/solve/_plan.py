"""How to solve, and what a solver returns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._records import Embedding, SolvedBlocks
from ..kernels import StationaryKernel

Floats = NDArray[np.float64]

STRATEGIES = ("eigen", "blockwise", "geodesic", "linear")
GRAPHLESS = ("eigen", "linear")
"""Strategies that compare all pairs, and have no graph."""

PATHS = ("covariance", "distance")
MERGES = ("greedy", "global")
DISCONNECTED = ("raise", "join", "separate")


@dataclass(frozen=True)
class Plan:
    """How to go from a similarity to a latent, the same for every component of its graph."""

    strategy: str
    kernel: StationaryKernel
    n_components: int
    path: str = "distance"
    reference: str | int = "center"
    merge: str = "global"
    max_cliques: int | None = None
    n_landmarks: int | None = None  # None solves all points
    random_state: Any = None  # seed of the landmarks


@dataclass(frozen=True)
class Solution:
    """A latent with what is worth knowing about the way to it."""

    embedding: Embedding
    solved: SolvedBlocks | None = None  # the cliques, each in a frame of its own
    merge_order: NDArray[np.int64] | None = None  # (merges, 3) block, block, shared points
    residuals: Floats | None = None  # (n,) how far cliques disagree, where the merger tells
    landmarks: NDArray[np.int64] | None = None  # (l,) points that distances were measured from
    start_share: float | None = None  # weight of the start of a merger, all cliques having 1
    sq_dist: Floats | None = None  # (n, n) squared distances on best paths, of few points

    def leading(self, n_components: int) -> Solution:
        """What solving for fewer coordinates would have found, if eigenpairs made the solution."""
        kept = self.embedding
        return replace(
            self,
            embedding=kept._replace(
                coordinates=kept.coordinates[:, :n_components],
                eigenvalues=kept.eigenvalues[:n_components],
                explained_variance_ratio=kept.explained_variance_ratio[:n_components],
            ),
        )
