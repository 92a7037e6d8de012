"""The plan of a fit: numbers of graph, weights, kernel and landmarks once the method is chosen."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import scipy.sparse as sp

from .. import covariance, eigen, graph, kernels
from .._base import limits
from .._base.progress import Stages
from .._base.table import SparseTable, dense_rows, evenly_spaced, some_rows
from .._base.types import Floats
from ..fit import fit
from ..graph import CsrGraph, Neighbors, Threshold
from ..plan import Candidate, GraphRule, Plan, Refinement, Request
from ..refine import Likelihood
from ..similarity import AFFINITIES, compare
from ..strategies import Blockwise, Geodesic, Strategy, number_of_landmarks
from ._facts import Facts

N_NEIGHBORS = 10
"""Neighbors of a point in a neighbor graph (docs/decisions/003-one-rule-for-auto.md)."""

MIN_NEIGHBORS = 6
"""Neighbors of a point in a threshold graph: what keeps every point in it."""

_BLOCKWISE_FLOOR, _FLOOR_FROM = 0.15, 2000
"""Least automatic threshold of blockwise, and the independent columns from which it holds
(docs/decisions/014-threshold.md)."""

_N_LEADING = 15
"""Leading eigenvalues by which the number of coordinates is chosen."""


@dataclass(frozen=True)
class Choice:
    """How rows are compared, solved and refined, and why; the plan follows from it and the table.

    Reasons of what was asked for are dropped when the report is made.
    """

    strategy: Strategy
    affinity: str
    refine: Refinement
    graph: GraphRule | None = None  # None follows from the table
    model_based: bool = False
    reasons: Mapping[str, str] = field(default_factory=dict)
    candidates: tuple[Candidate, ...] = ()
    agreement: float = np.nan
    warnings: tuple[str, ...] = ()

    def explain(self, **reasons: str) -> "Choice":
        """Return the choice with more reasons."""
        return replace(self, reasons={**self.reasons, **reasons})


def make_plan(
    facts: Facts, request: Request, choice: Choice, size: int
) -> tuple[Plan, dict[str, str]]:
    """Choose the numbers of a graph, weights, kernel and landmarks.

    Parameters
    ----------
    facts : Facts
        What is fitted.
    request : Request
        What was asked for.
    choice : Choice
        The method.
    size : int
        Number of coordinates.

    Returns
    -------
    plan : Plan
        Nothing is left to choose.
    reasons : dict of str
        Why, for each that was "auto".
    """
    euclidean = choice.affinity == "precomputed_distance" or (
        facts.has_rows and AFFINITIES[choice.affinity].euclidean
    )
    # Of rows with holes correlations are all that is known.
    by_value = choice.model_based or (facts.has_holes and not euclidean)
    rule, reasons = _graph(facts, request, choice, by_value, euclidean)
    refine = choice.refine
    if refine is not None:
        refine = refine.resolve(weights="precision" if by_value else "uniform")
    kernel = likelihood_kernel = request.kernel
    if isinstance(kernel, str):
        kernel = kernels.SquaredExponential()
        # Heavy tails leave room between what is far apart (docs/decisions/013-local-descent.md).
        likelihood_kernel = "auto" if choice.model_based else kernels.RationalQuadratic()
    count = None
    if choice.strategy.uses_graph and choice.strategy.holds_distances:
        count, why = number_of_landmarks(request.n_landmarks, facts.rows.shape[0], size)
        reasons |= {"n_landmarks": why} if why else {}
    plan = Plan(
        size, choice.strategy, rule, kernel, choice.affinity, refine, count,
        request.random_state, likelihood_kernel, choice.model_based,
    )  # fmt: skip
    if request.kernel != "auto" and euclidean and not isinstance(refine, Likelihood):
        reasons["kernel"] = "distances are taken as they are: no kernel bends them"
    return plan, reasons


def _graph(
    facts: Facts, request: Request, choice: Choice, by_value: bool, euclidean: bool
) -> tuple[GraphRule | CsrGraph | None, dict[str, str]]:
    """Rule of the graph with its numbers, and the reasons."""
    rows, rule = facts.rows, request.graph
    reasons: dict[str, str] = {}
    if not choice.strategy.uses_graph:
        return None, reasons
    if rule == "auto" and sp.issparse(rows) and not facts.has_rows:
        return Threshold(0.0, prune=False), reasons
    if rule == "auto" and choice.graph is not None:
        rule = choice.graph
    elif rule == "auto" and by_value and rows.shape[0] <= limits.SOLVED_WHOLE:
        rule = Threshold()
        reasons["graph"] = (
            "correlations estimate the kernel of the model, so that small ones are left out"
            if choice.model_based
            else "a pair is an edge where its own columns show it"
        )
    elif rule == "auto":
        rule = Neighbors()
        reasons["graph"] = "the order of similarities is more reliable than their values"
    if isinstance(rule, Neighbors) and rule.k == "auto":
        rule = rule.replace(k=N_NEIGHBORS)
    by_fdr = isinstance(rule, Threshold) and rule.fdr is not None
    if isinstance(rule, Threshold) and rule.s0 == "auto" and not by_fdr:
        free = _effective_columns(facts, choice.affinity, rule.n_removed)
        width = rows.shape[1]
        if free is not None and free < width - rule.n_removed and not facts.has_holes:
            reasons["columns"] = describe_effective_columns(width, free)
        s0 = _threshold(facts, request, choice, free, euclidean)
        rule = rule.replace(s0=s0, n_neighbors=rule.n_neighbors or MIN_NEIGHBORS, n_removed=0)
    if isinstance(rule, graph.Rule) and rule.prune == "auto":
        complete = facts.has_rows and not facts.has_holes
        rule = rule.replace(prune=complete and not by_value and not by_fdr)
    return rule, reasons


def _threshold(
    facts: Facts, request: Request, choice: Choice, free: float | None, euclidean: bool
) -> float:
    """Threshold of similarities that stand for so many independent columns."""
    s0 = graph.auto_threshold(free)
    if request.kernel != "auto" and not euclidean and not facts.has_holes:
        of_kernel = graph.auto_threshold(free, request.kernel)
        if free is not None and of_kernel > s0:
            few = evenly_spaced(facts.rows.shape[0], limits.SIZED)
            table = AFFINITIES[choice.affinity].modeled(dense_rows(some_rows(facts.rows, few)))
            noise = covariance.noise_fraction(table, free)
            of_kernel = graph.auto_threshold(free, request.kernel, noise)
        s0 = of_kernel
    floored = choice.strategy.name == "blockwise" and free is not None and free >= _FLOOR_FROM
    return max(s0, _BLOCKWISE_FLOOR) if floored else s0


def _effective_columns(facts: Facts, affinity: str, n_removed: int) -> float | None:
    """Effective number of columns under an affinity, None where there are no rows."""
    if not facts.has_rows:
        return None
    rows = facts.rows
    if facts.has_holes:
        return float(np.median(np.isfinite(rows).sum(axis=1)))
    if isinstance(rows, SparseTable):
        # They have no order.
        return float(max(rows.shape[1] - n_removed, 1))
    table = AFFINITIES[affinity].modeled(rows)
    return float(covariance.effective_columns(table, n_removed=n_removed))


def describe_effective_columns(n_observed: int, free: float) -> str:
    """How many independent columns others are worth, in words."""
    return (
        f"{n_observed} columns that are autocorrelated (in time, or along a line) or differ in "
        f"scale count as {free:.0f} independent ones"
    )


def size_by_spectrum(facts: Facts, request: Request, choice: Choice) -> tuple[int, Floats]:
    """Find the number of coordinates at the last wide gap of the leading eigenvalues, and these.

    Parameters
    ----------
    facts : Facts
        What is fitted.
    request : Request
        What was asked for.
    choice : Choice
        The method.

    Returns
    -------
    size : int
        Number of coordinates.
    spectrum : (n_leading,) ndarray of float64
        Eigenvalues of the closed form, descending.
    """
    # Merged cliques have no spectrum, the paths of their graph have.
    strategy = Geodesic() if isinstance(choice.strategy, Blockwise) else choice.strategy
    n, width = facts.rows.shape
    leading = min(_N_LEADING, n - 1 if strategy.uses_kernel else min(n - 1, width))
    trial, _ = make_plan(facts, request, replace(choice, strategy=strategy, refine=None), leading)
    with warnings.catch_warnings():
        # There may be fewer positive eigenvalues than are computed, and the fit says the rest.
        warnings.simplefilter("ignore", UserWarning)
        similarity = compare(facts.rows, choice.affinity, counts=True)
        spectrum = fit(similarity, None, trial, Stages()).solution.embedding.eigenvalues
    return int(eigen.eigengap(spectrum)) if leading > 1 else 1, spectrum
