"""From rows to a model: the way of a row through the house, one step after another.

Rows that differ -> similarity -> graph -> closed form -> polish -> latent -> placement of new rows.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import alignment, blocks, eigen, kernels, placement
from .._stages import Stages
from .._table import some_rows
from .._validation import check_reference
from ..evidence import Choice, Judge, sentence
from ..similarity import AFFINITIES, Similarity, unique_rows
from ..solve import Plan
from ._attempt import Attempt, close, polish, similarity_of
from ._closed import Closed, Ground
from ._core import extend_core
from ._describe import describe, spread_graph, spread_labels, spread_suspicion
from ._pieces import report_pieces
from ._portfolio import Verdict, judge
from ._record import Latent, Model, Polished
from ._task import Task

Floats = NDArray[np.float64]
Places = NDArray[np.int64]


def fit(X: Any, task: Task, stages: Stages) -> Model:
    """Find the latent of rows."""
    first = inverse = place = np.arange(X.shape[0])
    has_rows = AFFINITIES.get(task.affinity, Similarity).has_rows
    if has_rows:
        first, inverse, place = _rows_that_differ(X, task)
    rows = X if first is inverse else some_rows(X, first)
    task = replace(_seen_from(task, inverse), copies=np.bincount(inverse))
    verdict = Verdict(task.affinity, task.wishes.strategy, task.wishes.refine, Ground(None))
    if has_rows:
        verdict = judge(rows, task, stages)
    asked = task
    wishes = task.wishes._replace(strategy=verdict.strategy, refine=verdict.refine)
    task = replace(task, affinity=verdict.affinity, wishes=wishes)
    if verdict.own_starts and task.starts == "auto":
        task = replace(task, starts="own")
    attempt = verdict.attempt
    if attempt is None:
        attempt = _attempt(X, rows, task, verdict, stages, asked=asked)
    similarity, closed, start, polished = attempt
    if closed.graph is not None and closed.labels.max(initial=0) > 0:
        report_pieces(similarity, closed.graph, closed.labels, closed.choice, task)
    plan = closed.plan if polished is None else replace(closed.plan, kernel=polished.kernel)
    with stages("placement"):
        found = _assemble(X, first, place, similarity, closed, plan, start, polished)
    choice = _with_kernel(closed.choice, polished, asked)
    return replace(found, task=asked, choice=choice, trials=verdict.trials)


def _with_kernel(choice: Choice, polished: Polished | None, asked: Task) -> Choice:
    """The choices, and the kernel where the likelihood took one of several."""
    if asked.kernel != "auto" or polished is None or polished.name != "likelihood":
        return choice
    name = next(one for one, made in kernels.KERNELS.items() if type(polished.kernel) is made)
    other = next(one for one in kernels.KERNELS if one != name)
    what = f"The {name.replace('_', ' ')} kernel"
    why = f"it makes the measurements the likeliest of {len(kernels.KERNELS)}"
    told = sentence(what, why, f"kernel={other!r} (or another name)")
    return replace(choice, reasons={**choice.reasons, "kernel": told})


def _rows_that_differ(X: Any, task: Task) -> tuple[Places, Places, Places]:
    """Rows that differ, which of those each row is, and whose place it takes.

    Where they are too few to be solved by themselves all rows are, each as one of its own, and
    equal ones take the place of the first all the same.
    """
    first, inverse = unique_rows(X)
    least = 2 if task.n_components == "auto" else int(task.n_components) + 1
    if first.size >= least:
        return first, inverse, inverse
    order = np.argsort(inverse, kind="stable")
    number = np.argsort(order)
    return order, number, number[first[inverse]]


def _seen_from(task: Task, inverse: NDArray[np.int64]) -> Task:
    """The task with its reference point among the rows that differ."""
    index = task.wishes.reference
    if isinstance(index, str):
        return task
    check_reference(index, eigen.REFERENCES, inverse.size)
    return replace(task, wishes=task.wishes._replace(reference=int(inverse[index])))


def _attempt(
    X: Any, rows: Any, task: Task, verdict: Verdict, stages: Stages, *, asked: Task
) -> Attempt:
    """The fit under the settings that were decided; ``asked`` has those that were given."""
    chosen = asked.affinity == "auto"
    with stages("similarity"):
        try:
            similarity, said = similarity_of(rows, task)
        except ValueError:
            # Rows that cannot be compared are named by their numbers in X.
            if rows is not X:
                similarity_of(X, task)
            raise
    for text in said:
        if not chosen:
            warnings.warn(text, UserWarning, stacklevel=4)
    ground = verdict.ground
    if ground.table is not None:
        ground = ground._replace(judge=Judge(rows, are_counts=ground.table.are_counts))
    found = close(similarity, task, ground, stages)
    if chosen and said:
        # Nobody is warned of what was chosen for him.
        found.closed.choice.reasons["rows"] = f"{'; '.join(said)}."
    if asked.n_components == "auto" and verdict.judges_core:
        # The core is searched with the number of coordinates that the spectrum told.
        verdict = judge(rows, replace(asked, n_components=found.closed.plan.n_components), stages)
    if verdict.core is not None:
        lead = polish(found, "stress", rows, task, stages).coordinates
        polished = extend_core(
            verdict.core, lead, rows, similarity, found.closed.plan, task, stages
        )
        return found._replace(polished=polished)
    return polish(found, found.closed.choice.refine, rows, task, stages)


def _assemble(
    X: Any,
    first: NDArray[np.int64],
    inverse: NDArray[np.int64],
    similarity: Similarity,
    closed: Closed,
    plan: Plan,
    start: Latent,
    polished: Polished | None,
) -> Model:
    """The record, with every number recomputed for the latent it belongs to."""
    choice, solution, g = closed.choice, closed.solution, closed.graph
    begin = _of_all_rows(start, first, inverse, turn=not closed.alone)
    latent = begin
    if polished is not None:
        latent = describe(polished.coordinates, inverse)
    solved = solution.solved
    if solved is not None:
        if plan.kernel != closed.plan.kernel and g is not None:
            reference = "center" if isinstance(plan.reference, int) else plan.reference
            solved = blocks.solve(g, solved.blocks, plan.kernel, plan.n_components, reference)
        residuals = solution.residuals
        if residuals is None or polished is not None or solved is not solution.solved:
            residuals = alignment.residuals(solved, latent.coordinates[first])
        latent = replace(latent, residuals=residuals[inverse])
        if polished is None:
            begin = latent
    placed = placement.prepare(
        latent.coordinates[first],
        g,
        similarity,
        plan.kernel,
        trusted=choice.trusted,
        linear=plan.strategy == "linear" and polished is None,
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
        suspicion=spread_suspicion(closed.suspicion, first),
        labels=spread_labels(closed.labels, inverse),
        solved=solved,
        cliques=None if solved is None else solved.blocks.renamed(first),
        merge_order=solution.merge_order,
        start_share=solution.start_share,
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
    if inverse.size == first.size:
        return replace(start, coordinates=start.coordinates[inverse], reference=reference)
    return describe(
        start.coordinates,
        inverse,
        captured=float(start.explained_variance_ratio.sum()),
        negative_mass=start.negative_mass,
        reference=reference,
        turn=turn,
    )
