"""A fit whose settings are chosen: similarity -> graph -> closed form -> refinement."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from . import geodesics, gplvm, graph, kernels
from . import stress as stresses
from ._base.format import setting
from ._base.progress import Stages
from ._base.table import MappedRows
from ._base.types import Floats, Integers
from ._base.warn import warn
from .graph import CsrGraph, Rule
from .missing import filled_rows
from .refine import Likelihood, Stress
from .settings import Settings
from .similarity import PairwiseSimilarity, Precomputed, Similarity
from .similarity._similarity import SEARCHED
from .strategies import Problem, Solution
from .stress import Noise

__all__ = ["Result", "fit"]

_MOST_NOISE = 1.5
"""Noise, in units of what was said, above which something else must be wrong."""


@dataclass(frozen=True)
class Result:
    """What a fit gave for the points of one similarity."""

    coordinates: Floats  # (n, m)
    settings: Settings
    similarity: Similarity
    solution: Solution  # the closed form
    kernel: kernels.StationaryKernel  # of the coordinates
    graph: CsrGraph | None = None  # joined where it was to be
    labels: Integers | None = None  # (n,) component before anything was joined
    removed: Integers | None = None  # (m, 2) edges that were pruned
    sessions: gplvm.SessionJoints | None = None  # which sessions with other columns may be mirrored
    n_iter: int | None = None  # steps of the refinement, None without one
    core: gplvm.CoreFit | None = None  # the fit by likelihood
    notes: dict[str, str] = field(default_factory=dict)  # what happened on the way


def fit(similarity: Similarity, rows: Any, settings: Settings, stages: Stages) -> Result:
    """Find coordinates of the points of a similarity.

    Parameters
    ----------
    similarity : Similarity
        How the points are compared.
    rows : (n, p) table or None
        Rows that were compared, None where only covariances or distances were given.
    settings : Settings
        What is done.
    stages : Stages
        Clock of the fit.

    Returns
    -------
    Result
        Coordinates (n, M) float64 and how they came about.
    """
    kernel, refine = similarity.inverse(settings.closed_form_kernel), settings.refine
    noise = refine.noise if isinstance(refine, Stress) else None
    if noise is not None:
        _check_noise(similarity, settings, noise)
    g, labels, removed = None, None, None
    if settings.graph is not None:
        with stages("graph"):
            g, labels, removed = _connected_graph(similarity, settings.graph)
    with stages("closed form"):
        size, seed = settings.n_components, settings.random_state or 0
        problem = Problem(similarity, g, kernel, size, settings.n_landmarks, seed)
        solution = settings.strategy.solve(problem)
    result = Result(
        solution.embedding.coordinates, settings, similarity, solution, kernel, g, labels, removed
    )
    if g is not None and removed is not None and len(removed):
        result.notes["prune"] = (
            f"{len(removed)} of {g.n_edges + len(removed)} edges were removed as short-circuit "
            "edges (removed_edges_); prune=False keeps them"
        )
    if settings.stress_weights is not None:
        with stages("stress"):
            result = _by_stress(result, settings.stress_weights, noise)
    # A result keeps no distances.
    result = replace(result, solution=solution._replace(paths=None))
    if isinstance(refine, Likelihood):
        with stages("likelihood"):
            result = _by_likelihood(result, rows, refine)
    return replace(result, settings=replace(settings, kernel=result.kernel))


def _by_stress(result: Result, weights: str, noise: Noise) -> Result:
    """Return a result of less stress, over the edges of the graph or over all distances."""
    g, similarity, kernel = result.graph, result.similarity, result.kernel
    latent = result.coordinates
    if g is not None:
        shared = similarity.shared_columns(g.rows, g.indices)
        paths = result.solution.paths
        if paths is None:
            count = geodesics.auto_landmarks(*latent.shape)
            paths = geodesics.best_paths(g, kernel, result.settings.strategy.path, count)
        refined = stresses.stress_of_paths(
            latent, g, kernel, shared, paths, weights, noise, result.settings.stress_steps
        )
    else:
        distances = np.sqrt(similarity.sq_distances(kernel))
        refined = stresses.stress_of_distances(latent, distances, noise)
    if noise is not None:
        if g is not None:
            known = graph.edges(geodesics.distance_lengths(g, kernel))
        else:
            pairs = np.triu_indices(len(latent), 1)
            known = (*pairs, distances[pairs])
        ratio = stresses.noise_ratio(refined.latent, known, noise)
        text = f"the distances differ from those given by {ratio:.2g} times their noise"
        result.notes["refine"] = text
        if _MOST_NOISE < ratio < np.inf:
            warn(
                f"{text}: the noise is larger than said, the points need more dimensions, or a "
                "part of the embedding is folded; compare with other strategies, or with more noise"
            )
    return replace(result, coordinates=refined.latent, n_iter=refined.n_iter)


def _by_likelihood(result: Result, rows: Any, likelihood: Likelihood) -> Result:
    """Return a result of largest likelihood of the rows, or of their known entries."""
    settings, similarity = result.settings, result.similarity
    if settings.of_entries:
        table = gplvm.centered_known(similarity.modeled(rows))
        latent, n_iter, joints = gplvm.search_mirrored(
            result.coordinates, table, result.kernel, likelihood.time_budget
        )
        return replace(result, coordinates=latent, n_iter=n_iter, sessions=joints)
    if isinstance(similarity, PairwiseSimilarity):
        if not similarity.known.all():
            raise ValueError(
                "refine.Likelihood must have fit_shape=False and annealed descents where pairs of "
                f"rows are unknown, got {likelihood!r}; {setting('missing', 'impute')} fills holes"
            )
        rows, similarity = filled_rows(rows, settings.affinity, settings.model_based)
    core = likelihood.run(
        result.coordinates / similarity.unit,
        MappedRows(rows, similarity.modeled),
        "auto" if settings.is_auto("kernel") else settings.kernel,
        centered=similarity.centers_rows,
        random_state=settings.random_state or 0,
    )
    if told := core.fit.describe_rivals():
        result.notes["optima"] = told
    if settings.is_auto("kernel"):
        result.notes["kernel"] = f"the one of largest likelihood of {len(kernels.KERNELS)}"
    return replace(
        result, coordinates=core.latent, n_iter=core.fit.n_iter, kernel=core.fit.kernel, core=core
    )


def _check_noise(similarity: Similarity, settings: Settings, noise: Noise) -> None:
    """Raise where a fit has no distances that a noise could be of."""
    one = np.ndim(noise) == 0
    between_rows = one and settings.graph is not None
    if not similarity.affinity.euclidean or (similarity.rows is not None and not between_rows):
        kind = "a number" if one else "a matrix"
        raise ValueError(
            "noise must be one number for distances between rows on a graph, and one for each "
            f"pair only for {setting('affinity', 'precomputed_distance')}, got {kind} for "
            f"{setting('affinity', settings.affinity)}, "
            f"{setting('strategy', settings.strategy.name)}; "
            "leave it out: the errors of correlations are known"
        )


def _weighted(similarity: Similarity, g: CsrGraph) -> CsrGraph:
    """Graph that was given, its edges weighted by how similar their ends are if all weigh 1.

    A graph of nearest neighbors says who is joined; as lengths, weights of 1 put all points on one
    place. The mean with its transpose weighs 1/2 what is an edge one way round only.
    """
    if not np.isin(g.weights, (0.5, 1.0)).all() or not np.any(g.weights == 1.0):
        return g
    low, high, _ = graph.edges(g)
    known = np.maximum(similarity.weights(similarity.between(low, high)), graph.WEIGHT_FLOOR)
    return graph.from_edges(g.n_nodes, low, high, known)


def _connected_graph(
    similarity: Similarity, rule: Rule | CsrGraph
) -> tuple[CsrGraph, Integers, Integers | None]:
    """Graph of a rule, connected; with components before joining, and pruned edges."""
    removed = None
    if isinstance(rule, CsrGraph):
        g = _weighted(similarity, rule)
    else:
        g = rule.build(similarity)
        if rule.prune:
            given = isinstance(similarity, Precomputed)
            support = None if given else graph.neighbor_graph(similarity, SEARCHED)
            affinity = similarity.affinity
            g, removed = graph.prune(g, support, sq_distance=affinity.sq_distances_of_weights)
    labels = np.asarray(graph.component_labels(g), dtype=np.int64)
    if not labels.any():
        return g, labels, removed
    sizes = np.bincount(labels)
    counted = f"got {sizes.size} components (largest {sizes.max()} of {labels.size} points)"
    if similarity.is_graph:
        raise ValueError(
            f"a sparse precomputed X must be one connected graph, {counted} with no covariance "
            "stored between them; store some, or fit each component by itself"
        )
    if isinstance(rule, Rule) and rule.disconnected == "raise":
        raise ValueError(
            f"the graph must be connected for disconnected='raise', {counted}; more neighbors or "
            "a lower threshold leaves fewer, disconnected='join' links them"
        )
    return graph.join(g, similarity).graph, labels, removed
