"""What a fit was asked for, what "auto" resolved to, and what the fit gave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ._base.types import Floats
from .eigen import Embedding
from .gplvm import CoreFit, SessionJoints
from .graph import CsrGraph
from .kernels import StationaryKernel
from .similarity import Similarity
from .strategies import Solution


class Candidate(NamedTuple):
    """Settings that "auto" tried, and how well they predict columns that were held out."""

    affinity: str
    strategy: str
    refine: str | None
    score: float  # mean R² over principal directions of the held-out columns, which ranks
    score_error: float  # its standard error
    difference: float  # score less that of the chosen candidate
    difference_error: float  # standard error of that, paired over points
    r2: float  # of the held-out columns, each by its variance
    r2_error: float  # its standard error
    chosen: bool


@dataclass(frozen=True)
class Settings:
    """Settings of a fit; `reasons` says of each that was "auto" why it is what it is."""

    n_components: int | str = 2
    strategy: Any = "auto"  # Strategy once resolved
    graph: Any = "auto"  # Threshold, Neighbors or CsrGraph once resolved, None without one
    kernel: StationaryKernel | str = "auto"  # of the closed form once resolved, then of the result
    affinity: str = "auto"
    refine: Any = "auto"  # Stress, Likelihood or None once resolved
    n_landmarks: float | str | None = "auto"  # a number or None once resolved
    random_state: Any = None
    # Of the likelihood; "auto" compares the four.
    likelihood_kernel: StationaryKernel | str = field(default="auto", repr=False, compare=False)
    model_based: bool = False  # whether similarities estimate the kernel of the model
    candidates: tuple[Candidate, ...] = ()  # that were tried, the chosen one first
    agreement: float = np.nan  # Procrustes R² of embeddings of two halves of the columns
    warnings: tuple[str, ...] = ()  # what the user has to be told
    spectrum: Floats | None = field(default=None, repr=False, compare=False)
    reasons: Mapping[str, str] = field(default_factory=dict)

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

    def choose(self, why: str, **choices: Any) -> Settings:
        """Return settings with a choice for what is still "auto", and the reason."""
        new = {name: value for name, value in choices.items() if getattr(self, name) == "auto"}
        return replace(self, **new).explain(**dict.fromkeys(new, why))

    def explain(self, **reasons: str) -> Settings:
        """Return settings with more reasons."""
        return replace(self, reasons={**self.reasons, **reasons})

    def add_warning(self, text: str) -> Settings:
        """Return settings with one more warning."""
        return replace(self, warnings=(*self.warnings, text))

    @property
    def by_likelihood(self) -> bool:
        """Whether the likelihood of the rows refines the closed form."""
        return getattr(self.refine, "needs_rows", False)

    def reasons_in_words(self) -> dict[str, str]:
        """Why each setting that was "auto" is what it is; settings with one reason together."""
        return {", ".join(n).replace("_", " "): r for r, n in self.names_by_reason().items()}

    def names_by_reason(self) -> dict[str, list[str]]:
        """Return settings that each reason is for."""
        names: dict[str, list[str]] = {}
        for name, reason in self.reasons.items():
            names.setdefault(reason, []).append(name)
        return names


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
    sessions: SessionJoints | None = None  # what unknown pairs leave open between sessions
    n_iter: int | None = None  # steps of the refinement, None without one
    core: CoreFit | None = None  # the fit by likelihood
    notes: Mapping[str, str] = field(default_factory=dict)  # what happened on the way

    @property
    def embedding(self) -> Embedding:
        """The closed form."""
        return self.solution.embedding
