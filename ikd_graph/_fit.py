"""A fit with nothing left to resolve: similarity -> graph -> closed form -> refinement."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from . import geodesics, gplvm, graph, kernels, refine
from . import stress as stresses
from ._base.memory import available
from ._base.progress import Stages
from ._base.table import dense_rows
from ._base.types import Floats
from ._base.warn import warn
from ._settings import Result, Settings
from .graph import CsrGraph, Rule
from .similarity import PairwiseSimilarity, Similarity
from .strategies import Landmarks

_N_SUPPORT = 25
"""Neighbors among which short-circuit edges are searched: of fewer a surface has holes, whose rims
look like short-circuit edges."""

_MOST_NOISE = 1.5
"""Noise, in units of what was said, above which something else must be wrong."""


def fit(similarity: Similarity, rows: Any, settings: Settings, stages: Stages) -> Result:
    """Find coordinates of the points of a similarity.

    Parameters
    ----------
    similarity : Similarity
        How the points are compared.
    rows : (n, p) table or None
        Rows that were compared, None where only covariances or distances were given.
    settings : Settings
        Resolved settings.
    stages : Stages
        Clock and progress bar.

    Returns
    -------
    Result
        Coordinates (n, M) float64 and how they came about.
    """
    kernel: Any = similarity.inverse(settings.kernel)  # type: ignore[arg-type]
    noise = getattr(settings.refine, "noise", None)
    if noise is not None:
        _check_noise(noise, similarity, settings)
    strategy, g, labels, removed, notes = settings.strategy, None, None, None, {}
    if strategy.uses_graph:
        with stages("graph"):
            g, labels, removed = _connected_graph(similarity, settings.graph)
        if removed is not None and len(removed):
            notes["prune"] = (
                f"{len(removed)} of {g.n_edges + len(removed)} edges were removed as "
                "short-circuit edges (removed_edges_); prune=False keeps them"
            )
    with stages("closed form"):
        marks = _landmarks(similarity.n_samples, settings)
        solution = strategy.solve(similarity, g, kernel, int(settings.n_components), marks)
    latent = solution.embedding.coordinates
    sessions: gplvm.SessionJoints | None = None
    n_iter: int | None = None
    core: gplvm.CoreFit | None = None
    refined: stresses.StressFit | None = None
    if settings.refine is not None and g is not None:
        stress = settings.refine
        if settings.by_likelihood:
            stress = refine.Stress("precision" if settings.model_based else "uniform")
        with stages("stress"):
            refined = stress.run(
                latent, g, kernel, similarity.shared_columns(g.rows, g.indices), strategy.path
            )
    elif settings.refine is not None and similarity.name == "precomputed_distance":
        with stages("stress"):
            distances = np.sqrt(similarity.sq_distances(kernel))
            refined = stresses.stress_of_distances(latent, distances, noise)
    if refined is not None:
        latent, n_iter = refined.latent, refined.n_iter
        if noise is not None:
            upper = np.triu_indices(len(latent), 1)
            pairs = (
                (*upper, distances[upper])
                if g is None
                else graph.edges(geodesics.distance_lengths(g, kernel))
            )
            notes["refine"] = _in_noise(stresses.noise_ratio(latent, pairs, noise))
    if settings.by_likelihood and isinstance(similarity, PairwiseSimilarity):
        with stages("likelihood"):
            table = gplvm.centered_known(similarity.modeled(rows))
            known, sessions = gplvm.search_mirrored(latent, table, kernel)
        latent, n_iter = known.latent, known.n_iter
    elif settings.by_likelihood:
        with stages("likelihood"):
            core = settings.refine.run(
                latent / similarity.unit,
                similarity.modeled(dense_rows(rows)),
                settings.likelihood_kernel,
                centered=similarity.centers_rows,
                random_state=_seed(settings.random_state),
            )
        latent, n_iter, kernel = core.latent, core.fit.n_iter, core.fit.kernel
        if settings.likelihood_kernel == "auto":
            notes["kernel"] = f"the one of largest likelihood of {len(kernels.KERNELS)}"
    return Result(
        coordinates=latent,
        settings=replace(settings, kernel=kernel),
        similarity=similarity,
        solution=solution,
        kernel=kernel,
        graph=g,
        labels=labels,
        removed=removed,
        n_iter=n_iter,
        core=core,
        notes=notes,
        sessions=sessions,
    )


def _check_noise(noise: Any, similarity: Similarity, settings: Settings) -> None:
    """Raise where a fit has no distances that a noise could be of."""
    given = similarity.affinity.euclidean and not similarity.has_rows
    one = np.ndim(noise) == 0 and not sparse.issparse(noise)
    if not similarity.affinity.euclidean or not (given or one):
        raise ValueError(
            "noise must be one number for distances between rows, and one for each pair only for "
            "affinity='precomputed_distance', got "
            f"{'a number' if one else 'a matrix'} for affinity={similarity.name!r}; leave it out: "
            "the errors of correlations are known"
        )
    if not (settings.strategy.uses_graph or given):
        raise ValueError(
            f"noise must be that of the edges of a graph, got strategy={settings.strategy.name!r}, "
            "which has none; strategy='blockwise' or 'geodesic' has one"
        )


def _in_noise(ratio: float) -> str:
    """Say how far distances are from those given, in units of their noise."""
    text = f"the distances differ from those given by {ratio:.2g} times their noise"
    if _MOST_NOISE < ratio < np.inf:
        warn(
            f"{text}: the noise is larger than said, the points need more dimensions, or a part "
            "of the embedding is folded; compare with other strategies, or with more noise"
        )
    return text


def count_stages(settings: Settings) -> int:
    """Count the stages of `fit` under resolved settings."""
    stress = settings.refine is not None and settings.strategy.uses_graph
    return 1 + settings.strategy.uses_graph + stress + settings.by_likelihood


def spectrum(similarity: Similarity, settings: Settings) -> Floats:
    """Leading eigenvalues of a closed form.

    Parameters
    ----------
    similarity : Similarity
        How the points are compared.
    settings : Settings
        Resolved settings; as many eigenvalues as coordinates.

    Returns
    -------
    (n_components,) ndarray of float64
        Eigenvalues, descending; fewer where there are not so many.
    """
    with warnings.catch_warnings():
        # There may be fewer positive eigenvalues than are computed, and the fit says the rest.
        warnings.simplefilter("ignore", UserWarning)
        return fit(similarity, None, settings, Stages()).embedding.eigenvalues


def _seed(random_state: Any) -> int:
    """Whole number that starts random sequences."""
    drawn = isinstance(random_state, np.random.RandomState)
    return int(random_state.randint(2**31) if drawn else random_state or 0)


def _landmarks(n_samples: int, settings: Settings) -> Landmarks | None:
    """Landmarks of a closed form, or MemoryError where the distances do not fit in memory."""
    if not settings.strategy.holds_distances:
        return None
    count = settings.n_landmarks
    # A table of distances and its intermediate results.
    columns, tables = (n_samples, 4.0) if count is None else (int(count), 1.2)
    needed, free = 8.0 * n_samples * columns * tables, available()
    if free is not None and needed > free:
        raise MemoryError(
            f"distances between {n_samples} points and {columns} must fit into memory, got "
            f"{int(needed)} bytes ({needed * 1e-9:.1f} GB) with {free} available "
            f"({free * 1e-9:.1f} GB); strategy='geodesic' with fewer n_landmarks, such as 300, "
            "needs less"
        )
    return None if count is None else Landmarks(int(count), _seed(settings.random_state))


def _weighted(similarity: Similarity, g: CsrGraph) -> CsrGraph:
    """Graph that was given, its edges weighted by how similar their ends are if all weigh 1.

    A graph of nearest neighbors says who is joined; as lengths, weights of 1 put all points on one
    place. The mean with its transpose weighs 1/2 what is an edge one way round only.
    """
    if not np.isin(g.weights, (0.5, 1.0)).all() or not np.any(g.weights == 1.0):
        return g
    low, high, _ = graph.edges(g)
    known = np.asarray(similarity.weights(similarity.between(low, high)))
    return graph.from_edges(g.n_nodes, low, high, np.clip(known, graph.WEIGHT_FLOOR, 1.0))


def _connected_graph(
    similarity: Similarity, rule: Rule | CsrGraph
) -> tuple[CsrGraph, NDArray[np.int64], NDArray[np.int64] | None]:
    """Build the graph of a rule, connected; with components before joining, and pruned edges."""
    removed = None
    g = _weighted(similarity, rule) if isinstance(rule, CsrGraph) else rule.build(similarity)
    if getattr(rule, "prune", False):
        support = graph.neighbor_graph(similarity, _N_SUPPORT) if similarity.has_rows else None
        g, removed = graph.prune(g, support, sq_distance=similarity.sq_distances_of_weights)
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
    if getattr(rule, "disconnected", "join") == "raise":
        raise ValueError(
            f"the graph must be connected for disconnected='raise', {counted}; more neighbors or "
            "a lower threshold leaves fewer, disconnected='join' links them"
        )
    return graph.join(g, similarity).graph, labels, removed
