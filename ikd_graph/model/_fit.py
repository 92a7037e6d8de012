"""From rows to a model: the way of a row through the house, one step after another.

Rows that differ -> similarity -> graph -> closed form -> polish -> latent -> placement of new rows.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import alignment, blocks, eigen, evidence, kernels, placement, solve
from .._records import CsrGraph
from .._stages import Stages
from .._validation import check_reference
from ..evidence import Choice, Wishes
from ..similarity import AFFINITIES, Similarity, compare, unique_rows
from ..solve import Plan, Solution, landmarks
from ._describe import describe, describe_embedding, spread_blocks, spread_graph, spread_labels
from ._pieces import refuse_pieces, report_pieces
from ._polish import polish_likelihood, polish_stress
from ._record import Latent, Model, Polished

Floats = NDArray[np.float64]

# Leading eigenvalues that "auto" looks at, and the most coordinates it takes.
_LEADING, _MOST_COMPONENTS = 15, 10


@dataclass(frozen=True)
class Task:
    """What `IKD` was asked for, checked."""

    n_components: int | str
    affinity: str
    kernel: str | kernels.StationaryKernel
    wishes: Wishes
    neighbors: str = "auto"
    merge: str = "global"
    max_cliques: int | None = None
    disconnected: str = "join"
    starts: str = "auto"
    fit_shape: bool = False
    n_landmarks: float | str | None = "auto"
    time_budget: float | None = None
    random_state: Any = None
    counts: bool = False  # a table of integers, in which a row without spread is nothing unusual
    verbose: int = 0
    copies: NDArray[np.int64] | None = None  # rows that each row that differs stands for

    @property
    def searches_widely(self) -> bool:
        """Whether the likelihood starts from other closed forms than the strategy's own."""
        return self.starts == "all" or (self.starts == "auto" and self.wishes.strategy == "auto")


class _Closed(NamedTuple):
    """A closed form on its way to a model."""

    choice: Choice
    plan: Plan
    solution: Solution
    graph: CsrGraph | None
    labels: NDArray[np.int64]
    alone: bool = False  # whether components of the graph were laid side by side
    spectrum: Floats | None = None  # where it chose the number of coordinates


def fit(X: Any, task: Task, stages: Stages) -> Model:
    """Find the latent of rows."""
    first = inverse = np.arange(X.shape[0])
    has_rows = AFFINITIES.get(task.affinity, Similarity).has_rows
    if has_rows:
        first, inverse = _rows_that_differ(X, task)
    rows = X if first is inverse else X[first]
    task = replace(_seen_from(task, inverse), copies=np.bincount(inverse))
    with stages("similarity"):
        table = evidence.examine(rows) if has_rows else None
        try:
            similarity, why = _compare(rows, task, table)
        except ValueError:
            # Rows that cannot be compared are named by their numbers in X.
            _compare(X, task, table)
            raise
        if similarity.ignores_columns and table is not None and not why:
            # What a named similarity cannot see may not decide what is done with it.
            table = evidence.examine(rows - rows.mean(axis=0))
    closed = _solve(similarity, task, table, why, stages)
    if closed.graph is not None and closed.labels.max(initial=0) > 0:
        report_pieces(similarity, closed.graph, closed.labels, closed.choice, task)
    start = describe_embedding(closed.solution.embedding, turn=not closed.alone)
    polished = _polish(start, rows, similarity, closed, task, stages)
    plan = closed.plan if polished is None else replace(closed.plan, kernel=polished.kernel)
    with stages("placement"):
        found = _assemble(X, first, inverse, similarity, closed, plan, start, polished)
    return replace(found, task=task)


def _rows_that_differ(X: Any, task: Task) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows that differ, or all where those are too few to be solved by themselves."""
    first, inverse = unique_rows(X)
    least = 2 if task.n_components == "auto" else int(task.n_components) + 1
    if first.size < least:
        order = np.argsort(inverse, kind="stable")
        return order, np.argsort(order)
    return first, inverse


def _seen_from(task: Task, inverse: NDArray[np.int64]) -> Task:
    """The task with its reference point among the rows that differ."""
    index = task.wishes.reference
    if isinstance(index, str):
        return task
    check_reference(index, eigen.REFERENCES, inverse.size)
    return replace(task, wishes=task.wishes._replace(reference=int(inverse[index])))


def _compare(rows: Any, task: Task, table: evidence.Evidence | None) -> tuple[Similarity, str]:
    """Similarity of the rows, and why if the affinity was "auto"."""

    def made(affinity: str, among: Any = rows) -> Similarity:
        return compare(
            among,
            affinity,
            counts=task.counts,
            search=task.neighbors,
            random_state=task.random_state,
        )

    def measure_groups() -> float:
        some = evidence.sample_for_groups(rows.shape[0])
        with warnings.catch_warnings():
            # Silent rows are warned of once, when the similarity itself is made.
            warnings.simplefilter("ignore", UserWarning)
            sample = made("shared_neighbors", rows if some.size == len(rows) else rows[some])
        if some.size == len(rows):
            # The neighbours that were found are those of the graph.
            known["shared_neighbors"] = sample
        return evidence.groups(sample)

    known: dict[str, Similarity] = {}
    least = 1 if task.n_components == "auto" else int(task.n_components)
    count, _ = landmarks.number(task.n_landmarks, rows.shape[0], least)
    affinity, why = evidence.choose_affinity(
        task.affinity,
        task.wishes,
        table,
        n_samples=rows.shape[0],
        by_landmarks=count is not None and count < rows.shape[0],
        measure_groups=measure_groups,
    )
    return known.get(affinity) or made(affinity), why


def _settle(
    similarity: Similarity,
    task: Task,
    table: evidence.Evidence | None,
    why: str,
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
        table,
        n_samples=similarity.n_samples,
        n_components=n_components,
    )
    reasons, count = dict(choice.reasons), None
    if why:
        reasons = {"affinity": why, **reasons}
    if choice.strategy != "blockwise":
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
    solve.require_memory(similarity.n_samples, plan)
    return replace(choice, reasons=reasons), plan


def _solve(
    similarity: Similarity,
    task: Task,
    table: evidence.Evidence | None,
    why: str,
    stages: Stages,
) -> _Closed:
    """Closed form; where the number of coordinates is "auto", its spectrum tells it first."""
    if task.n_components != "auto":
        choice, plan = _settle(similarity, task, table, why, int(task.n_components))
        return _solve_plan(similarity, choice, plan, task, stages)
    leading = min(_LEADING, similarity.n_samples - 1)
    choice, plan = _settle(similarity, task, table, why, leading)
    # Merged cliques have no spectrum of their own; the paths of their graph do.
    merges = plan.strategy == "blockwise"
    first_plan = replace(plan, strategy="geodesic") if merges else plan
    found = _solve_plan(similarity, choice, first_plan, task, stages)
    spectrum = found.solution.embedding.eigenvalues
    largest = min(_MOST_COMPONENTS, leading - 1)
    count = eigen.eigengap(spectrum, largest=largest) if largest > 0 else 1
    final, plan = _settle(similarity, task, table, why, count)
    same = _graph_of(final) == _graph_of(choice) and not merges
    if same:
        found = found._replace(choice=final, plan=plan, solution=found.solution.leading(count))
    else:
        found = _solve_plan(similarity, final, plan, task, stages)
    found.choice.reasons["n_components"] = (
        f"{count} coordinates, because the last wide gap among {spectrum.size} leading eigenvalues "
        f"lies behind them. Pass n_components={count + 1} (or another number) to change this."
    )
    return found._replace(spectrum=spectrum)


def _graph_of(choice: Choice) -> tuple[Any, ...]:
    """What the graph and its paths depend on."""
    return choice.threshold, choice.n_neighbors, choice.mutual, choice.path


def _solve_plan(
    similarity: Similarity, choice: Choice, plan: Plan, task: Task, stages: Stages
) -> _Closed:
    """Closed form of one plan."""
    if plan.strategy == "eigen":
        labels = np.zeros(similarity.n_samples, dtype=np.int64)
        solution = solve.solve_eigen(similarity, plan, stages)
        return _Closed(choice, plan, solution, None, labels)
    with stages("graph"):
        g = similarity.graph_of(choice.threshold, choice.n_neighbors, mutual=choice.mutual)
        if task.disconnected == "raise":
            refuse_pieces(similarity, g, choice, task)
    solution, joined, labels = solve.solve_graph(similarity, g, plan, task.disconnected, stages)
    alone = task.disconnected == "separate" and labels.max(initial=0) > 0
    return _Closed(choice, plan, solution, joined, labels, alone)


def _polish(
    start: Latent,
    rows: Any,
    similarity: Similarity,
    closed: _Closed,
    task: Task,
    stages: Stages,
) -> Polished | None:
    """The polish that was chosen, or None."""
    choice, plan = closed.choice, closed.plan
    if choice.refine is None:
        return None
    by_stress = None
    if closed.graph is not None and not closed.alone:
        by_stress = polish_stress(
            start.coordinates, closed.graph, similarity, plan, choice, closed.labels, stages
        )
    if choice.refine == "stress":
        return by_stress
    starts = {plan.strategy: start.coordinates}
    if by_stress is not None:
        starts[f"{plan.strategy} + stress"] = by_stress.coordinates
    return polish_likelihood(starts, rows, similarity, plan, task, stages)


def _assemble(
    X: Any,
    first: NDArray[np.int64],
    inverse: NDArray[np.int64],
    similarity: Similarity,
    closed: _Closed,
    plan: Plan,
    start: Latent,
    polished: Polished | None,
) -> Model:
    """The record, with every number recomputed for the latent it belongs to."""
    choice, solution, g = closed.choice, closed.solution, closed.graph
    begin = _of_all_rows(start, first, inverse, turn=not closed.alone)
    latent = begin
    if polished is not None:
        latent = describe(polished.coordinates[inverse])
    solved = solution.solved
    if solved is not None:
        if plan.kernel != closed.plan.kernel and g is not None:
            reference = "center" if isinstance(plan.reference, int) else plan.reference
            solved = blocks.solve(g, solved.blocks, plan.kernel, plan.n_components, reference)
        residuals = alignment.residuals(solved, latent.coordinates[first])
        latent = replace(latent, residuals=residuals[inverse])
        if polished is None:
            begin = latent
    placed = placement.prepare(
        latent.coordinates[first], g, similarity, plan.kernel, trusted=choice.trusted
    )
    return Model(
        latent=latent,
        start=begin,
        task=None,
        choice=choice,
        plan=plan,
        similarity=similarity,
        rows=X if similarity.has_rows else None,
        first=first,
        inverse=inverse,
        graph=None if g is None else spread_graph(g, first, inverse),
        labels=spread_labels(closed.labels, inverse),
        solved=solved,
        cliques=None if solved is None else spread_blocks(solved.blocks, first),
        merge_order=solution.merge_order,
        landmarks=None if solution.landmarks is None else first[solution.landmarks],
        polished=polished,
        spectrum=begin.eigenvalues if closed.spectrum is None else closed.spectrum,
        placement=placed,
    )


def _of_all_rows(
    start: Latent, first: NDArray[np.int64], inverse: NDArray[np.int64], *, turn: bool
) -> Latent:
    """The closed form of all rows, equal ones in equal places."""
    seen = start.reference
    reference = seen if isinstance(seen, str) else int(first[seen])
    points = start.coordinates[inverse]
    if inverse.size == first.size:
        return replace(start, coordinates=points, reference=reference)
    return describe(
        points,
        captured=float(start.explained_variance_ratio.sum()),
        negative_mass=start.negative_mass,
        reference=reference,
        turn=turn,
    )
