"""Polish of a closed form: by the distances of its graph, or by the likelihood of the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .. import _limits, gplvm, graph, refine, solve
from .._records import CsrGraph
from .._stages import Stages
from .._table import dense_rows
from ..evidence import Choice
from ..similarity import Similarity
from ..solve import Plan
from ._record import Noise, Polished

if TYPE_CHECKING:
    from ._task import Task

Floats = NDArray[np.float64]

# Edges of each point through which a second start is found.
_FEW_EDGES = 8

# Steps where every point sees its edges and a few landmarks, of more than `_limits.STRESS_FAR`
# points. Whole fits of 70 000 images in ten dimensions ended with 5-NN accuracy .830 and
# trustworthiness .960 after 20 steps, .835 and .962 after 60 longer ones. Confirmed on 12 000
# samples of the model: R2 .9753 and .9756.
_STEPS, _FEW_STEPS = 60, 20

# Price of a pair without an edge that lies farther apart than its path, where similarities are in
# doubt: none at all lets groups drift.
_SLACK = 0.03


def polish_stress(
    latent: Floats,
    g: CsrGraph,
    similarity: Similarity,
    plan: Plan,
    choice: Choice,
    labels: NDArray[np.int64],
    stages: Stages,
    squares: Floats | None = None,
) -> Polished:
    """Move a latent to the distances of its connected graph.

    ``similarity`` chooses among several polishes of a few points; ``labels`` are the components
    before the graph was joined, and ``squares`` the squared distances on its best paths, where they
    are known.
    """
    kernel, n_observed = plan.kernel, similarity.n_observed or 1
    with stages("stress"):
        if choice.weights != "precision":
            rows = None if similarity.estimates_kernel else _row_distances(similarity)
            weights = refine.Weights(
                choice.weights, labels=labels, slack=_SLACK, rows=rows, squares=squares
            )
            found = refine.stress(latent, g, kernel, weights=weights, path=plan.path)
            return Polished("stress", found.latent, kernel, found.n_iter)
        # Precise edges are left to the distance path, which agrees with the kernel.
        also = []
        if plan.strategy == "geodesic" and g.n_nodes <= _limits.STRESS_TWO_STARTS:
            also = _through_strongest(g, plan)
        if g.n_nodes <= _limits.STRESS_SELECTED:
            found = refine.select_stress(
                latent,
                g,
                similarity.matrix(),
                kernel,
                n_observed,
                threshold=choice.threshold,
                also=also,
            )
        else:
            steps = _STEPS if g.n_nodes <= _limits.STRESS_FAR else _FEW_STEPS
            found = refine.stress(latent, g, kernel, n_observed, also=also, max_iter=steps)
        return Polished("stress", found.latent, kernel, found.n_iter)


def _row_distances(similarity: Similarity) -> Callable[[NDArray[np.int64]], Floats]:
    """Distances between rows as a similarity has them, on the scale where the variance is 1."""

    def measure(points: NDArray[np.int64]) -> Floats:
        whole = points.size == similarity.n_samples
        found = similarity.matrix() if whole else similarity.block(points)
        values = np.multiply(found, -2.0, dtype=np.float64)
        values += 2.0
        np.maximum(values, 0.0, out=values)
        return np.sqrt(values, out=values)

    return measure


def _through_strongest(g: CsrGraph, plan: Plan) -> list[Floats]:
    """Geodesic latent of the strongest edges alone, if they hold all points together.

    Long edges cut corners where kernels have heavy tails, short ones add up their errors: which of
    the two latents is the better start, the stress tells.
    """
    thin = graph.strongest(g, _FEW_EDGES)
    if thin.n_edges == g.n_edges or graph.component_labels(thin).max(initial=0) > 0:
        return []
    return [solve.solve_geodesic(thin, plan, Stages()).embedding.coordinates]


def polish_likelihood(
    starts: dict[str, Floats],
    rows: NDArray[np.floating],
    similarity: Similarity,
    plan: Plan,
    task: Task,
    stages: Stages,
) -> Polished:
    """Finish by the likelihood of the model, from own starts and, if asked, from others."""
    rows = dense_rows(rows)
    modelled = similarity.modelled(rows)
    with stages("likelihood"):
        found = refine.likelihood(
            gplvm.sample_covariance(modelled, centered=similarity.centres_rows),
            rows.shape[1],
            plan.n_components,
            "auto" if task.kernel == "auto" else plan.kernel,
            starts=starts,
            search="wide" if task.searches_widely else "local",
            fit_shape=task.fit_shape,
            time_budget=task.time_budget,
        )
    noise = None
    if modelled is rows:
        # Elsewhere these are not those of X, and are found from its rows when asked for.
        noise = Noise(found.variance, found.noise, found.log_likelihood, found.kernel)
    return Polished(
        "likelihood",
        found.latent,
        found.kernel,
        found.n_iter,
        noise,
        found.standard_errors,
        found.pool,
        task.searches_widely,
    )
