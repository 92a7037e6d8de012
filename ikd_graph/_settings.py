"""What a fit was asked for and what "auto" resolved to, and what it gave."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._records import CsrGraph, Embedding
from .kernels import StationaryKernel
from .refine import CoreFit, StressFit
from .similarity import Similarity
from .strategies import Solution

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Settings:
    """Settings of a fit; `reasons` says of each that was "auto" why it is what it is."""

    n_components: int | str = 2
    strategy: Any = "auto"  # Strategy once resolved
    graph: Any = "auto"  # Threshold, Neighbors or CsrGraph once resolved, None without one
    kernel: StationaryKernel | str = "auto"
    affinity: str = "auto"
    refine: Any = "auto"  # Stress, Likelihood or None once resolved
    n_landmarks: float | str | None = "auto"
    random_state: Any = None
    trusted: bool | None = None  # whether similarities estimate the kernel of the model
    counts: bool = False  # whether X is a table of integers
    reasons: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        settings = ("strategy", "affinity", "refine", "graph", "kernel", "n_components")
        lines = []
        for reason, names in self.names_by_reason().items():
            values = ", ".join(
                f"{name}={getattr(self, name)!r}" for name in names if name in settings
            )
            lines.append(f"{values}: {reason}" if values else reason)
        given = [name for name in settings if name not in self.reasons]
        return "\n".join([*(f"{name}={getattr(self, name)!r}" for name in given), *lines])

    def names_by_reason(self) -> dict[str, list[str]]:
        """Settings that each reason is for."""
        names: dict[str, list[str]] = {}
        for name, reason in self.reasons.items():
            names.setdefault(reason, []).append(name)
        return names


class Candidate(NamedTuple):
    """Settings that "auto" tried, and how well they predict columns that were held out."""

    affinity: str
    strategy: str
    refine: str | None
    score: float  # mean R2 over directions of the held-out columns, 0 to 1
    standard_error: float  # of the score
    difference: float  # score less that of the chosen candidate
    difference_error: float  # standard error of that, paired over points
    chosen: bool


@dataclass(frozen=True)
class Result:
    """What a fit gave for the points of one similarity."""

    coordinates: Floats  # (n, m)
    settings: Settings  # nothing left to resolve
    similarity: Similarity
    solution: Solution  # the closed form
    kernel: StationaryKernel  # of the coordinates
    graph: CsrGraph | None = None  # joined where it was to be
    labels: NDArray[np.int64] | None = None  # (n,) component before anything was joined
    removed: NDArray[np.int64] | None = None  # (m, 2) edges that were pruned
    refined: StressFit | CoreFit | None = None
    spectrum: Floats | None = None  # that the number of coordinates was chosen by

    @property
    def core(self) -> CoreFit | None:
        """The fit by likelihood; None without one."""
        return self.refined if isinstance(self.refined, CoreFit) else None

    @property
    def embedding(self) -> Embedding:
        """The closed form."""
        return self.solution.embedding
