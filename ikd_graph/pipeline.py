"""A fit with nothing left to resolve: similarity -> graph -> closed form -> refinement."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from . import _limits, eigen, graph, kernels, refine, strategies
from ._memory import available
from ._records import CsrGraph, Embedding
from ._settings import Result, Settings
from ._stages import Stages
from ._table import dense_rows
from ._warn import warn
from .graph import Neighbors, Threshold
from .similarity import Similarity
from .strategies import Landmarks, Solution, Strategy, landmarks

Floats = NDArray[np.float64]

# Leading eigenvalues that n_components="auto" looks at, and the most coordinates it takes.
_LEADING, _MOST_COMPONENTS = 15, 10

# Neighbours that keep every point in a threshold graph, and those of a neighbour graph.
_KEPT_NEIGHBORS, _NEIGHBORS = 6, 10

# Neighbours, or similarities where values are given, among which false edges are told from others.
_SUPPORT, _SUPPORT_LEVEL = 25, 0.3


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
    result = refined(fit_closed_form(similarity, settings, stages), rows, stages)
    reasons = result.settings.reasons
    if settings.kernel == "auto" and isinstance(result.refined, refine.CoreFit):
        reasons["kernel"] = f"the likeliest of {len(kernels.KERNELS)}"
    return replace(result, settings=replace(result.settings, kernel=result.kernel))


def fit_closed_form(similarity: Similarity, settings: Settings, stages: Stages) -> Result:
    """The same without refinement; ``n_components="auto"`` is resolved by the spectrum."""
    settings = replace(
        settings,
        kernel=settings.kernel if settings.kernel == "auto" else kernels.get(settings.kernel),
        reasons=dict(settings.reasons),
    )
    strategy = settings.strategy
    g, labels, removed = None, None, None
    separate = False
    if strategy.uses_graph:
        with stages("graph"):
            settings, g, labels, removed, separate = _connected_graph(similarity, settings)
    spectrum = None
    if settings.n_components == "auto":
        largest = g
        if separate and g is not None and labels is not None:
            members = np.flatnonzero(labels == np.bincount(labels).argmax())
            largest = graph.subgraph.unchecked(g, members)
        settings, spectrum = _with_size(similarity, largest, settings, stages)
    size = int(settings.n_components)
    with stages("closed form"):
        count, reason = None, ""
        if strategy.name not in ("blockwise", "linear"):
            count, reason = landmarks.number(settings.n_landmarks, similarity.n_samples, size)
        if reason:
            settings.reasons["n_landmarks"] = reason
        marks = None if count is None else Landmarks(count, settings.random_state)
        _require_memory(similarity.n_samples, count, strategy)
        kernel = closed_form_kernel(settings)
        if separate:
            assert g is not None
            assert labels is not None
            solution = _solve_separately(similarity, g, labels, settings, size)
        else:
            solution = strategy.solve(similarity, g, kernel, size, marks)
    return Result(
        coordinates=solution.embedding.coordinates,
        settings=replace(settings, graph=settings.graph if g is not None else None),
        similarity=similarity,
        solution=solution,
        kernel=kernel,
        graph=g,
        labels=labels,
        removed=removed,
        spectrum=spectrum,
        separate=separate,
    )


def refined(result: Result, rows: Any, stages: Stages) -> Result:
    """A closed form after the refinement that its settings ask for."""
    settings, similarity = result.settings, result.similarity
    refinement = settings.refine
    if refinement is None:
        return result
    latent, g = result.coordinates, result.graph
    if g is not None and not result.separate:
        stress = refinement if isinstance(refinement, refine.Stress) else refine.Stress()
        with stages("stress"):
            found = stress.run(
                latent,
                g,
                result.kernel,
                similarity.n_observed or 1,
                settings.strategy.path,
                trusted=bool(settings.trusted),
            )
        latent = found.latent
        if isinstance(refinement, refine.Stress):
            return replace(result, coordinates=latent, refined=found)
    if isinstance(refinement, refine.Stress):
        return result
    modelled = similarity.affinity.modelled(dense_rows(rows))
    with stages("likelihood"):
        seed = 0 if settings.random_state is None else settings.random_state
        if not isinstance(seed, (int, np.integer)):
            seed = int(check_random_state(seed).randint(2**31))
        found = refinement.run(
            latent,
            modelled,
            settings.kernel,
            centered=similarity.centres_rows,
            random_state=int(seed),
        )
    # The process is made again, in the frame of the embedding, when new rows are placed.
    found = found._replace(process=None)
    return replace(result, coordinates=found.latent, refined=found, kernel=found.fit.kernel)


def closed_form_kernel(settings: Settings) -> kernels.StationaryKernel:
    """Kernel that closed forms invert: the squared exponential until the likelihood chooses."""
    return kernels.get("squared_exponential" if settings.kernel == "auto" else settings.kernel)


def _require_memory(n_samples: int, n_landmarks: int | None, strategy: Strategy) -> None:
    """Raise MemoryError, before work is done, if the distances between points do not fit."""
    if strategy.name in ("blockwise", "linear"):
        return
    columns = n_samples if n_landmarks is None else n_landmarks
    # A table of distances and what is made of it on the way, in such tables.
    needed = 8.0 * n_samples * columns * (4.0 if n_landmarks is None else 1.2)
    what = f"distances between {n_samples} points"
    cure = "n_landmarks=300 measures from a few of them, n_landmarks='auto' chooses how many"
    if n_landmarks is not None:
        what = f"distances from {columns} landmarks to {n_samples} points"
        cure = f"a smaller n_landmarks takes fewer; {columns} is too many here"
    free = available()
    if free is not None and needed > free:
        raise MemoryError(
            f"{what} must fit into memory, got {int(needed)} bytes ({needed * 1e-9:.1f} GB) with "
            f"{free} available ({free * 1e-9:.1f} GB); {cure}"
        )


def _connected_graph(
    similarity: Similarity, settings: Settings
) -> tuple[Settings, CsrGraph, NDArray[np.int64], NDArray[np.int64] | None, bool]:
    """Graph of the settings, its components joined or not, and what was pruned."""
    rule, settings = _rule(similarity, settings)
    settings = replace(settings, graph=rule)
    prune: bool | str = False
    if isinstance(rule, CsrGraph):
        g, disconnected = rule, "join"
    else:
        g, prune, disconnected = _edges(similarity, rule), rule.prune, rule.disconnected
    removed = None
    if prune == "auto":
        prune = similarity.has_rows and not settings.trusted and not getattr(rule, "fdr", None)
    if prune:
        # Among more neighbours a surface has hardly any holes, whose rims look like short cuts.
        support = None
        if similarity.has_rows:
            support = similarity.neighbor_graph(_SUPPORT)
        elif not similarity.is_graph:
            support = similarity.threshold_graph(_SUPPORT_LEVEL)
        g, removed = graph.prune.unchecked(g, support)
        if len(removed):
            settings.reasons["prune"] = (
                f"{len(removed)} of {g.n_edges + len(removed)} edges were removed as "
                "short cuts (removed_edges_); prune=False keeps them"
            )
    labels = np.asarray(graph.component_labels.unchecked(g), dtype=np.int64)
    n_components = int(labels.max(initial=0)) + 1
    if n_components == 1:
        return settings, g, labels, removed, False
    if disconnected == "raise":
        raise ValueError(
            f"the graph must be connected for disconnected='raise', got {n_components} components "
            f"(largest {np.bincount(labels).max()} of {labels.size} points); more neighbours leave "
            "fewer, disconnected='join' bridges it, 'separate' lays the components side by side"
        )
    if disconnected == "separate":
        if n_components == labels.size:
            raise ValueError(
                f"the graph must have an edge to be embedded in parts, got {labels.size} points "
                "without any; lower threshold, or set n_neighbors"
            )
        return settings, g, labels, removed, True
    if similarity.is_graph:
        raise ValueError(
            "a sparse precomputed X must be one connected graph for disconnected='join', got "
            f"{n_components} components with no covariance stored between them; store some, or use "
            "disconnected='separate'"
        )
    return settings, similarity.join(g), labels, removed, False


def _rule(similarity: Similarity, settings: Settings) -> tuple[Any, Settings]:
    """The graph's rule with numbers in place of "auto"."""
    n, reasons, rule = similarity.n_samples, settings.reasons, settings.graph
    if similarity.is_graph and rule == "auto":
        rule = Threshold(0.0, prune=False)
    if rule == "auto" or rule is None:
        if settings.trusted and n <= _limits.SOLVED_WHOLE:
            rule = Threshold()
            reasons["graph"] = "the values of correlations are trusted, so small ones are left out"
        else:
            rule = Neighbors()
            reasons["graph"] = "the order of similarities is more reliable than their values"
    if isinstance(rule, Neighbors) and rule.k == "auto":
        rule = Neighbors(_NEIGHBORS, rule.mutual, rule.search, rule.prune, rule.disconnected)
    if isinstance(rule, Threshold) and rule.s0 == "auto" and rule.fdr is None:
        free = similarity.effective_columns(rule.n_removed)
        kept = _KEPT_NEIGHBORS if rule.n_neighbors is None else rule.n_neighbors
        rule = Threshold(graph.auto_threshold.unchecked(free), kept, rule.prune, rule.disconnected)
        width = similarity.n_observed or 0
        if free is not None and free < width - rule.n_removed:
            reasons["columns"] = say_effective(width, free)
    return rule, settings


def say_effective(n_observed: int, free: float) -> str:
    """How many columns that follow one another are worth, in words."""
    return (
        f"{n_observed} columns that follow one another (in time, or along a line) count as "
        f"{free:.0f} independent ones"
    )


def _edges(similarity: Similarity, rule: Threshold | Neighbors) -> CsrGraph:
    """Edges of a rule whose numbers are known."""
    if isinstance(rule, Neighbors):
        similarity.search = rule.search
        return similarity.neighbor_graph(int(rule.k), mutual=rule.mutual)
    if rule.fdr is not None:
        g = similarity.significant_graph(rule.fdr, rule.n_removed)
        if not g.n_edges:
            warn(
                f"no two rows are significantly correlated at fdr={rule.fdr:g}: the embedding is "
                "noise; measure more columns"
            )
    else:
        g = similarity.threshold_graph(float(rule.s0))
    if rule.n_neighbors is None:
        return g
    return graph.union.unchecked(g, similarity.neighbor_graph(rule.n_neighbors))


def _with_size(
    similarity: Similarity, g: CsrGraph | None, settings: Settings, stages: Stages
) -> tuple[Settings, Floats]:
    """Settings with the number of coordinates behind the last wide gap of the spectrum."""
    n_points = similarity.n_samples if g is None else g.n_nodes
    leading = min(_LEADING, n_points - 1)
    strategy = settings.strategy
    if strategy.name == "blockwise":
        # Merged cliques have no spectrum of their own; the paths of their graph have.
        strategy = strategies.Geodesic()
    if strategy.name == "linear" and similarity.factor() is not None:
        leading = min(leading, min(similarity.factor().shape) + 1)
    count, _ = landmarks.number(settings.n_landmarks, n_points, leading)
    marks = None if count is None else Landmarks(count, settings.random_state)
    with stages("spectrum"), warnings.catch_warnings():
        # More are looked at than there may be.
        warnings.filterwarnings("ignore", ".* leading eigenvalues are not", UserWarning)
        solution = strategy.solve(similarity, g, closed_form_kernel(settings), leading, marks)
    spectrum = solution.embedding.eigenvalues
    largest = min(_MOST_COMPONENTS, leading - 1)
    size = eigen.eigengap.unchecked(spectrum, largest=largest) if largest > 0 else 1
    settings.reasons["n_components"] = (
        f"the last wide gap among {spectrum.size} leading eigenvalues lies behind {size}"
    )
    return replace(settings, n_components=size), spectrum


def _solve_separately(
    similarity: Similarity, g: CsrGraph, labels: NDArray[np.int64], settings: Settings, size: int
) -> Solution:
    """Every component of the graph by itself, laid side by side.

    Components too small for M coordinates get fewer and zeros. The spectrum is that of the largest
    component.
    """
    strategy = settings.strategy
    members = [np.flatnonzero(labels == label) for label in range(int(labels.max()) + 1)]
    parts: list[Floats] = []
    largest: Embedding | None = None
    for points in members:
        count = min(size, points.size - 1)
        padded = np.zeros((points.size, size))
        if count:
            embedding = strategy.solve(
                similarity, graph.subgraph.unchecked(g, points), closed_form_kernel(settings), count
            ).embedding
            padded[:, :count] = embedding.coordinates
            if largest is None or len(embedding.coordinates) > len(largest.coordinates):
                largest = embedding
        parts.append(padded)
    assert largest is not None
    return Solution(
        largest._replace(coordinates=side_by_side(parts, members), reference=eigen.CENTRE)
    )


def side_by_side(parts: list[Floats], members: list[NDArray[np.intp]]) -> Floats:
    """Components of a graph laid out on a square grid of their first two coordinates."""
    size = parts[0].shape[1]
    out = np.zeros((sum(len(part) for part in parts), size))
    middle = [0.5 * (part.max(axis=0) + part.min(axis=0)) for part in parts]
    extent = max(float(np.ptp(part, axis=0).max(initial=0.0)) for part in parts)
    pitch = 1.2 * extent if extent > 0.0 else 1.0
    columns = int(np.ceil(np.sqrt(len(parts)))) if size > 1 else len(parts)
    for cell, (part, points) in enumerate(zip(parts, members, strict=True)):
        shift = np.zeros(size)
        shift[0] = pitch * (cell % columns)
        if size > 1:
            shift[1] = -pitch * (cell // columns)
        out[points] = part - middle[cell] + shift
    return out
