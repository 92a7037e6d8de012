"""From a similarity to a closed form: settings, graph, solution."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import eigen, evidence, kernels
from .._records import CsrGraph
from .._stages import Stages
from ..evidence import Choice, Judge
from ..graph import EdgeScores
from ..similarity import Similarity
from ..solve import (
    GRAPHLESS,
    Plan,
    Solution,
    landmarks,
    require_memory,
    solve_eigen,
    solve_graph,
    solve_linear,
)
from ._edges import graph_for
from ._pieces import refuse_pieces
from ._task import Task

Floats = NDArray[np.float64]

# Leading eigenvalues that "auto" looks at, and the most coordinates it takes.
_LEADING, _MOST_COMPONENTS = 15, 10


class Ground(NamedTuple):
    """What every "auto" is decided by."""

    table: evidence.Evidence | None  # None for a precomputed covariance
    trusted: bool | None = None  # whether values are those of a kernel; None leaves it to the table
    reasons: Mapping[str, str] = MappingProxyType({})  # of what was decided already
    judge: Judge | None = None  # of latents; None for a precomputed covariance


class Closed(NamedTuple):
    """A closed form on its way to a model."""

    choice: Choice
    plan: Plan
    solution: Solution
    graph: CsrGraph | None
    labels: NDArray[np.int64]
    alone: bool = False  # whether components of the graph were laid side by side
    suspicion: EdgeScores | None = None  # about the edges as they were first made
    spectrum: Floats | None = None  # where it chose the number of coordinates


def settle(
    similarity: Similarity,
    task: Task,
    ground: Ground,
    n_components: int,
) -> tuple[Choice, Plan]:
    """Settings and plan for a number of coordinates."""
    wishes = task.wishes
    if similarity.is_graph:
        # What a sparse matrix stores is the graph; only a number thins it.
        wishes = wishes._replace(threshold=None if wishes.threshold == "auto" else wishes.threshold)
    choice = evidence.choose(
        similarity.name,
        wishes,
        ground.table,
        n_samples=similarity.n_samples,
        n_components=n_components,
        trusted=ground.trusted,
    )
    reasons, count = {**ground.reasons, **choice.reasons}, None
    if choice.strategy not in ("blockwise", "linear"):
        count, reason = landmarks.number(task.n_landmarks, similarity.n_samples, n_components)
        if reason:
            reasons["n_landmarks"] = reason
    plan = Plan(
        strategy=choice.strategy,
        kernel=kernels.get("squared_exponential" if task.kernel == "auto" else task.kernel),
        n_components=n_components,
        path=choice.path,
        reference=choice.reference,
        merge=task.merge,
        max_cliques=task.max_cliques,
        n_landmarks=count,
        random_state=task.random_state,
    )
    if plan.strategy != "linear" or similarity.factor() is None:
        require_memory(similarity.n_samples, plan)
    return replace(choice, reasons=reasons), plan


def solve(
    similarity: Similarity,
    task: Task,
    ground: Ground,
    stages: Stages,
) -> Closed:
    """Closed form; where the number of coordinates is "auto", its spectrum tells it first."""
    if task.n_components != "auto":
        choice, plan = settle(similarity, task, ground, int(task.n_components))
        return solve_plan(similarity, choice, plan, task, ground, stages)
    leading = min(_LEADING, similarity.n_samples - 1)
    rows = similarity.factor() if task.wishes.strategy == "linear" else None
    if rows is not None:
        # The gap behind the last is one like any other, unless there are as many as points.
        leading = min(leading, min(rows.shape) + 1)
    choice, plan = settle(similarity, task, ground, leading)
    # Merged cliques have no spectrum of their own; the paths of their graph do.
    merges = plan.strategy == "blockwise"
    first_plan = replace(plan, strategy="geodesic") if merges else plan
    with warnings.catch_warnings():
        # More are looked at than there may be.
        warnings.filterwarnings("ignore", ".* leading eigenvalues are not", UserWarning)
        found = solve_plan(similarity, choice, first_plan, task, ground, stages)
    spectrum = found.solution.embedding.eigenvalues
    largest = min(_MOST_COMPONENTS, leading - 1)
    count = eigen.eigengap(spectrum, largest=largest) if largest > 0 else 1
    final, plan = settle(similarity, task, ground, count)
    same = _graph_of(final) == _graph_of(choice) and not merges
    if same:
        # What was said of the graph holds for it still.
        final = replace(final, reasons={**choice.reasons, **final.reasons})
        found = found._replace(choice=final, plan=plan, solution=found.solution.leading(count))
    else:
        found = solve_plan(similarity, final, plan, task, ground, stages)
    found.choice.reasons["n_components"] = (
        f"{count} coordinates, because the last wide gap among {spectrum.size} leading eigenvalues "
        f"lies behind them. Pass n_components={count + 1} (or another number) to change this."
    )
    return found._replace(spectrum=spectrum)


def _graph_of(choice: Choice) -> tuple[Any, ...]:
    """What the graph and its paths depend on."""
    return choice.threshold, choice.n_neighbors, choice.mutual, choice.path


def solve_plan(
    similarity: Similarity, choice: Choice, plan: Plan, task: Task, ground: Ground, stages: Stages
) -> Closed:
    """Closed form of one plan."""
    if plan.strategy in GRAPHLESS:
        labels = np.zeros(similarity.n_samples, dtype=np.int64)
        solve_pairs = solve_eigen if plan.strategy == "eigen" else solve_linear
        solution = solve_pairs(similarity, plan, stages)
        return Closed(choice, plan, solution, None, labels)
    with stages("graph"):
        g, suspicion, frame = graph_for(similarity, choice, plan, task, ground.judge)
        if task.disconnected == "raise":
            refuse_pieces(similarity, g, choice, task)
    solution, joined, labels = solve_graph(similarity, g, plan, task.disconnected, stages, frame)
    alone = task.disconnected == "separate" and labels.max(initial=0) > 0
    return Closed(choice, plan, solution, joined, labels, alone, suspicion)
