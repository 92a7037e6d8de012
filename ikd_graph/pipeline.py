"""A fit with nothing left to resolve: similarity -> graph -> closed form -> refinement."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _limits, eigen, graph, kernels, refine, strategies
from ._memory import available
from ._records import CsrGraph
from ._settings import Result, Settings
from ._stages import Stages
from ._table import dense_rows
from ._warn import warn
from .graph import Neighbors, Threshold
from .similarity import Similarity
from .strategies import Landmarks, Strategy, landmarks

Floats = NDArray[np.float64]

# Neighbours of a point in a neighbour graph, in a threshold graph, and among which short cuts are
# searched.
_N_NEIGHBORS, _MIN_NEIGHBORS, _N_SUPPORT = 10, 6, 25

# Leading eigenvalues by which n_components="auto" chooses.
_N_LEADING = 15


def fit(similarity: Similarity, rows: Any, settings: Settings, stages: Stages) -> Result:
    """Coordinates of the points of a similarity.

    Parameters
    ----------
    similarity : Similarity
        How the points are compared.
    rows : (n, p) table or None
        Rows that were compared, None where only covariances or distances were given.
    settings : Settings
        Resolved settings; the graph's numbers and ``n_components`` may still be "auto".
    stages : Stages
        Clock and progress bar.

    Returns
    -------
    Result
        Coordinates (n, M) float64 and how they came about.
    """
    settings = replace(settings, reasons=dict(settings.reasons))
    # Closed forms invert the squared exponential until the likelihood chooses.
    kernel = kernels.get("squared_exponential" if settings.kernel == "auto" else settings.kernel)
    strategy, g, labels, removed = settings.strategy, None, None, None
    rule = None
    if strategy.uses_graph:
        with stages("graph"):
            rule = _rule(similarity, settings)
            g, labels, removed = _connected_graph(similarity, rule, settings)
    size, spectrum = settings.n_components, None
    if size == "auto":
        with stages("spectrum"):
            size, spectrum = _size(similarity, g, kernel, settings)
    with stages("closed form"):
        marks = _landmarks(similarity.n_samples, int(size), settings)
        solution = strategy.solve(similarity, g, kernel, int(size), marks)
    settings = replace(settings, n_components=size, graph=rule)
    latent = solution.embedding.coordinates
    refined: refine.StressFit | refine.CoreFit | None = None
    if settings.refine is not None and g is not None:
        stress = settings.refine if isinstance(settings.refine, refine.Stress) else refine.Stress()
        with stages("stress"):
            refined = stress.run(
                latent,
                g,
                kernel,
                similarity.n_observed or 1,
                strategy.path,
                trusted=bool(settings.trusted),
            )
        latent = refined.latent
    if isinstance(settings.refine, refine.Likelihood):
        with stages("likelihood"):
            core = settings.refine.run(
                latent,
                similarity.affinity.modelled(dense_rows(rows)),
                kernel if settings.kernel != "auto" else "auto",
                centered=similarity.centres_rows,
                random_state=_seed(settings.random_state),
            )
        # The process is made again, in the frame of the embedding, when new rows are placed.
        refined = core._replace(process=None)  # type: ignore[arg-type]
        latent, kernel = core.latent, core.fit.kernel
        if settings.kernel == "auto":
            settings.reasons["kernel"] = f"the likeliest of {len(kernels.KERNELS)}"
    return Result(
        coordinates=latent,
        settings=replace(settings, kernel=kernel),
        similarity=similarity,
        solution=solution,
        kernel=kernel,
        graph=g,
        labels=labels,
        removed=removed,
        refined=refined,
        spectrum=spectrum,
    )


def _seed(random_state: Any) -> int:
    """Whole number that starts random sequences."""
    drawn = isinstance(random_state, np.random.RandomState)
    return int(random_state.randint(2**31) if drawn else random_state or 0)


def _landmarks(n_samples: int, size: int, settings: Settings) -> Landmarks | None:
    """Landmarks of a closed form, or MemoryError where the distances do not fit in memory."""
    if settings.strategy.name in ("blockwise", "linear"):
        return None
    number = None if settings.strategy.name == "eigen" else settings.n_landmarks
    count, reason = landmarks.number(number, n_samples, size)
    if reason:
        settings.reasons["n_landmarks"] = reason
    # A table of distances and its intermediate results.
    columns, tables = (n_samples, 4.0) if count is None else (count, 1.2)
    needed, free = 8.0 * n_samples * columns * tables, available()
    if free is not None and needed > free:
        raise MemoryError(
            f"distances between {n_samples} points and {columns} must fit into memory, got "
            f"{int(needed)} bytes ({needed * 1e-9:.1f} GB) with {free} available "
            f"({free * 1e-9:.1f} GB); strategy='geodesic' with fewer n_landmarks, such as 300, "
            "needs less"
        )
    return None if count is None else Landmarks(count, _seed(settings.random_state))


def _connected_graph(
    similarity: Similarity, rule: Threshold | Neighbors | CsrGraph, settings: Settings
) -> tuple[CsrGraph, NDArray[np.int64], NDArray[np.int64] | None]:
    """Connected graph of a rule, the components that were joined, and the edges pruned."""
    removed = None
    g = rule if isinstance(rule, CsrGraph) else _edges(similarity, rule)
    prune = getattr(rule, "prune", False)
    if prune == "auto":
        prune = similarity.has_rows and not settings.trusted and not getattr(rule, "fdr", None)
    if prune:
        # Among more neighbours a surface has hardly any holes, whose rims look like short cuts.
        support = similarity.neighbor_graph(_N_SUPPORT) if similarity.has_rows else None
        g, removed = graph.prune.unchecked(g, support)
        if len(removed):
            settings.reasons["prune"] = (
                f"{len(removed)} of {g.n_edges + len(removed)} edges were removed as "
                "short cuts (removed_edges_); prune=False keeps them"
            )
    labels = np.asarray(graph.component_labels.unchecked(g), dtype=np.int64)
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
            f"the graph must be connected for disconnected='raise', {counted}; more neighbours or "
            "a lower threshold leaves fewer, disconnected='join' links them"
        )
    return similarity.join(g), labels, removed


def _rule(similarity: Similarity, settings: Settings) -> Threshold | Neighbors | CsrGraph:
    """The graph's rule with numbers in place of "auto"."""
    rule, reasons = settings.graph, settings.reasons
    if rule == "auto" and similarity.is_graph:
        return Threshold(0.0, prune=False)
    if rule == "auto" and settings.trusted and similarity.n_samples <= _limits.SOLVED_WHOLE:
        rule = Threshold()
        reasons["graph"] = "the values of correlations are trusted, so small ones are left out"
    elif rule == "auto":
        rule = Neighbors()
        reasons["graph"] = "the order of similarities is more reliable than their values"
    if isinstance(rule, Neighbors) and rule.k == "auto":
        rule = Neighbors(_N_NEIGHBORS, rule.mutual, rule.search, rule.prune, rule.disconnected)
    if isinstance(rule, Threshold) and rule.s0 == "auto" and rule.fdr is None:
        free = similarity.effective_columns(rule.n_removed)
        rule = Threshold(
            graph.auto_threshold.unchecked(free),
            rule.n_neighbors or _MIN_NEIGHBORS,
            rule.prune,
            rule.disconnected,
        )
        width = similarity.n_observed or 0
        if free is not None and free < width - rule.n_removed:
            reasons["columns"] = describe_effective_columns(width, free)
    return rule


def describe_effective_columns(n_observed: int, free: float) -> str:
    """How many independent columns dependent ones are worth, in words."""
    return (
        f"{n_observed} columns that follow one another (in time, or along a line) count as "
        f"{free:.0f} independent ones"
    )


def _edges(similarity: Similarity, rule: Threshold | Neighbors) -> CsrGraph:
    """Edges of a rule whose numbers are fixed."""
    if isinstance(rule, Neighbors):
        similarity.search = rule.search
        return similarity.neighbor_graph(int(rule.k), mutual=rule.mutual)
    if rule.fdr is None:
        g = similarity.threshold_graph(float(rule.s0))
    else:
        g = similarity.significant_graph(rule.fdr, rule.n_removed)
        if not g.n_edges:
            warn(
                f"no two rows are significantly correlated at fdr={rule.fdr:g}: the embedding is "
                "noise; measure more columns"
            )
    if rule.n_neighbors is None:
        return g
    return graph.union.unchecked(g, similarity.neighbor_graph(rule.n_neighbors))


def _size(
    similarity: Similarity,
    g: CsrGraph | None,
    kernel: kernels.StationaryKernel,
    settings: Settings,
) -> tuple[int, Floats]:
    """Number of coordinates at the last wide gap of the spectrum, and the spectrum."""
    strategy: Strategy = settings.strategy
    if strategy.name == "blockwise":
        # Merged cliques have no spectrum of their own; the paths of their graph have.
        strategy = strategies.Geodesic()
    leading = min(_N_LEADING, similarity.n_samples - 1)
    if strategy.name == "linear" and similarity.factor() is not None:
        leading = min(leading, min(similarity.factor().shape) + 1)
    marks = _landmarks(similarity.n_samples, leading, settings)
    with warnings.catch_warnings():
        # There may be fewer positive eigenvalues than are computed.
        warnings.filterwarnings("ignore", ".* leading eigenvalues are not", UserWarning)
        solution = strategy.solve(similarity, g, kernel, leading, marks)
    spectrum = solution.embedding.eigenvalues
    size = eigen.eigengap.unchecked(spectrum) if leading > 1 else 1
    settings.reasons["n_components"] = (
        f"the last wide gap among {spectrum.size} leading eigenvalues lies behind {size}"
    )
    return size, spectrum
