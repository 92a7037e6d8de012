"""One record of what a fit found, in which every number belongs to a named latent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import alignment
from .._records import Blocks, CsrGraph, SolvedBlocks
from ..evidence import Choice, Trial
from ..graph import EdgeScores
from ..kernels import StationaryKernel
from ..placement import Placement
from ..similarity import Similarity
from ..solve import Plan

Floats = NDArray[np.float64]


_WITHOUT_GRAPH = {
    "eigen": "none: every pair is inverted",
    "linear": "none: rows are projected on their principal components",
}


@dataclass(frozen=True)
class Latent:
    """Coordinates and what is said of them; nothing here describes another latent."""

    coordinates: Floats  # (n, m) centred, along principal axes, the widest first
    eigenvalues: Floats  # (m,) of the Gram matrix of the coordinates: squared lengths of columns
    explained_variance_ratio: Floats  # (m,) eigenvalue^2 over all, see `describe`
    negative_mass: float | None  # of the Gram matrix it came from; None where it came from none
    reference: int | str  # point that distances were seen from, or "center"
    residuals: Floats | None = None  # (n,) how far cliques disagree with the place of each point


class Noise(NamedTuple):
    """The generative model of a latent: signal and noise variance, and how well they explain."""

    variance: float  # in units of X squared
    noise: float  # in units of X squared
    log_likelihood: float  # of all observed dimensions
    kernel: StationaryKernel  # with the length-scale of the latent as it was found


class Polished(NamedTuple):
    """What a polish made of the closed form."""

    name: str  # "stress" or "likelihood"
    coordinates: Floats  # (n, m)
    kernel: StationaryKernel
    n_iter: int
    noise: Noise | None = None
    standard_errors: Floats | None = None  # (n, m)
    pool: tuple[Any, ...] = ()  # starts of the likelihood search, most likely first
    wide: bool | None = None  # whether there were starts beside the strategy's own
    core: NDArray[np.int64] | None = None  # rows that were searched and placed the others
    core_noise: Noise | None = None  # the generative model of these


@dataclass(frozen=True)
class Model:
    """A fitted model, from the similarity of the rows to the latent that was returned.

    Rows that are equal are solved once. Arrays of points are those of all n rows, equal rows next
    to equal values; `similarity`, `solved`, `placement` and the Gaussian process know the u rows
    that differ.
    """

    latent: Latent  # what `IKD` returns
    start: Latent  # the closed form it began with; the same object where nothing was polished
    task: Any  # what was asked for
    choice: Choice
    plan: Plan  # its kernel is that of the latent
    similarity: Similarity
    rows: Any  # (n, p) observations as given, None where only their covariance was
    first: NDArray[np.int64]  # (u,) rows that differ
    inverse: NDArray[np.int64]  # (n,) which of them each row is
    graph: CsrGraph | None  # of the n rows
    labels: NDArray[np.int64]  # (n,) component of each point before anything was joined
    solved: SolvedBlocks | None  # cliques of the u rows with their own coordinates
    cliques: Blocks | None  # the same cliques by their numbers among the n rows
    merge_order: NDArray[np.int64] | None
    landmarks: NDArray[np.int64] | None  # (l,)
    polished: Polished | None
    spectrum: Floats  # eigenvalues that the number of coordinates was chosen by
    placement: Placement
    start_share: float | None = None  # weight of the start of a merger, all cliques having 1
    suspicion: EdgeScores | None = None  # about the edges between the n rows
    trials: tuple[Trial, ...] = ()  # candidates that "auto" had, the best first

    def merge_bound(self) -> alignment.MergeBound | None:
        """How far the merger of cliques can be from the best of all; it takes up to 10 s.

        None where cliques were not merged all at once, or were polished since, and where they are
        too many.
        """
        if self.solved is None or self.plan.merge != "global" or self.polished is not None:
            return None
        return alignment.merge_bound(self.solved, self.latent.coordinates[self.first])

    @property
    def similarity_words(self) -> str:
        """How rows were compared: the name of the affinity and what it is."""
        return f"{self.similarity.name} ({self.similarity.summary})"

    @property
    def graph_words(self) -> str:
        """What made the graph, and how large it is."""
        if self.graph is None:
            return _WITHOUT_GRAPH[self.plan.strategy]
        rules = []
        if self.choice.threshold is not None:
            rules.append(f"similarity above {self.choice.threshold:.3g}")
        if self.choice.n_neighbors is not None:
            mutual = "mutual " if self.choice.mutual else ""
            rules.append(f"{self.choice.n_neighbors} nearest {mutual}neighbours")
        made = " or ".join(rules) or "what was stored"
        parts = int(self.labels.max(initial=0)) + 1
        pieces = "one component" if parts == 1 else f"{parts} components"
        return f"{made}: {self.graph.n_edges} edges, {pieces}"

    @property
    def searches_widely(self) -> bool:
        """Whether a likelihood polish started from other closed forms than its own."""
        told = None if self.polished is None else self.polished.wide
        return bool(self.task.searches_widely if told is None else told)

    @property
    def settings(self) -> dict[str, Any]:
        """What was chosen: with it and what else was given `IKD` makes the same latent again."""
        refine = None if self.polished is None else self.polished.name
        if self.polished is not None and self.polished.core is not None:
            # A named likelihood searches all rows.
            refine = "auto"
        found: dict[str, Any] = {
            "n_components": self.latent.coordinates.shape[1],
            "strategy": self.plan.strategy,
            "affinity": self.similarity.name,
            "path": self.plan.path,
            "refine": refine,
        }
        if self.graph is not None:
            found["threshold"] = self.choice.threshold
            found["n_neighbors"] = self.choice.n_neighbors
            found["mutual"] = self.choice.mutual
        if self.task.keep_edges != "auto":
            found["keep_edges"] = self.task.keep_edges
        if refine in ("likelihood", "auto"):
            found["starts"] = "all" if self.searches_widely else "own"
        return found
