"""One way from rows to a latent: similarity, closed form, polish."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

from .._stages import Stages
from ..similarity import Similarity, compare
from ._closed import Closed, Ground, solve
from ._describe import describe_embedding
from ._polish import polish_likelihood, polish_stress
from ._record import Latent, Polished
from ._task import Task


class Attempt(NamedTuple):
    """Where one way ended."""

    similarity: Similarity
    closed: Closed
    start: Latent
    polished: Polished | None = None

    @property
    def refine(self) -> str | None:
        """Name of the polish."""
        return None if self.polished is None else self.polished.name

    @property
    def coordinates(self) -> Any:
        """The latent it ended with, (n, m) float64."""
        return self.start.coordinates if self.polished is None else self.polished.coordinates


def similarity_of(rows: Any, task: Task) -> tuple[Similarity, list[str]]:
    """Similarity of rows under a named affinity, and what there was to warn of."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", UserWarning)
        found = compare(rows, task.affinity, counts=task.counts, search=task.neighbors)
    return found, [str(one.message) for one in said]


def close(similarity: Similarity, task: Task, ground: Ground, stages: Stages) -> Attempt:
    """Closed form of rows that can be compared."""
    closed = solve(similarity, task, ground, stages)
    start = describe_embedding(closed.solution.embedding, turn=not closed.alone)
    return Attempt(similarity, closed, start)


def polish(attempt: Attempt, refine: str | None, rows: Any, task: Task, stages: Stages) -> Attempt:
    """The same attempt with its closed form polished, where there is something to polish by.

    A polish by stress that was made already is a start of the likelihood.
    """
    similarity, closed, start, by_stress = attempt
    plan, latent = closed.plan, start.coordinates
    if refine is None:
        return attempt._replace(polished=None)
    if by_stress is None and closed.graph is not None and not closed.alone:
        by_stress = polish_stress(
            latent,
            closed.graph,
            similarity,
            plan,
            closed.choice,
            closed.labels,
            stages,
            closed.solution.sq_dist,
        )
    if refine == "stress":
        return attempt._replace(polished=by_stress)
    starts = {plan.strategy: latent}
    if by_stress is not None:
        starts[f"{plan.strategy} + stress"] = by_stress.coordinates
    return attempt._replace(
        polished=polish_likelihood(starts, rows, similarity, plan, task, stages)
    )
