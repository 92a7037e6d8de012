"""What `IKD` shows of a fit: its results for all rows, and how to read them, with warnings."""

from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from . import blockwise, eigen, gplvm, graph, missing
from ._base import validation as check
from ._base.types import Floats, Integers
from ._base.warn import warn
from .cliques import Cliques
from .model import Model
from .settings import Settings

__all__ = ["attributes", "explain"]


def attributes(model: Model) -> dict[str, Any]:
    """Return the results of all rows that `IKD` shows: copies, of which the model sees none.

    Here what was found for distinct rows becomes that of all rows.
    """
    result, settings, first, inverse = model.result, model.settings, model.first, model.inverse
    solution, g, core = result.solution, result.graph, result.core
    closed_form, refined = solution.embedding, result.n_iter is not None
    eigenvalues = np.sum(model.points[inverse] ** 2, axis=0)
    ratio = closed_form.explained_variance_ratio
    if refined or first.size < inverse.size:
        squares = eigenvalues ** (2 if settings.strategy.uses_kernel else 1)
        ratio = (1.0 if refined else ratio.sum()) * squares / (squares.sum() or 1.0)
    spectrum = closed_form.eigenvalues if settings.spectrum is None else settings.spectrum
    labels = np.zeros(first.size, dtype=np.int64) if result.labels is None else result.labels
    solved, residuals, marks = solution.solved, solution.residuals, solution.landmarks
    cliques = solved and Cliques.trusted(solved.blocks.renamed(first), inverse.size)
    return {
        "embedding_": model.embedding.copy(),
        "n_components_": model.points.shape[1],
        "eigenvalues_": eigenvalues,
        "explained_variance_ratio_": ratio.copy(),
        "negative_mass_": None if refined else closed_form.negative_mass,
        "spectrum_": spectrum.copy(),
        "kernel_": result.kernel,
        "settings_": settings,
        "candidates_": settings.candidates,
        "n_iter_": result.n_iter or 0,
        "removed_edges_": deepcopy(result.removed),
        "graph_": None if g is None else _expand_graph(g, first, inverse),
        # Numbered by their first row.
        "component_labels_": pd.factorize(labels[inverse])[0].astype(np.int64),
        "cliques_": cliques,
        "merge_residuals_": None if residuals is None else residuals[inverse],
        "merge_start_weight_": solution.start_weight,
        "optima_": () if core is None else _expand_optima(core, model.points, inverse),
        "landmarks_": None if marks is None else first[marks],
    }


def explain(model: Model) -> Settings:
    """Add to the settings how to read the embedding; warn where that is likely to harm."""
    notes = {**model.result.notes, **_explained_components(model)}
    warned = _warned_of_rows(model)
    notes |= _explained_joints(model) | _explained_errors(model)
    settings = model.settings.explain(notes)
    settings = replace(settings, warnings=(*settings.warnings, *warned))
    model.result = replace(model.result, settings=settings)
    return settings


def _explained_components(model: Model) -> dict[str, str]:
    """Return that the graph was joined, if it was; warn of a graph that was asked for."""
    labels = model.result.labels
    if labels is None or not labels.any():
        return {}
    sizes = np.bincount(labels[model.inverse])
    text = (
        f"the graph has {sizes.size} connected components (largest {int(sizes.max())} of "
        f"{int(sizes.sum())} points); they were joined by links between their nearest "
        "points, which alone fix their relative positions; more neighbors or a lower "
        "threshold leaves fewer"
    )
    if not model.asked.is_auto("graph"):
        warn(text)
    return {"components": text}


def _warned_of_rows(model: Model) -> list[str]:
    """Warn of a coordinate that mostly tells a few rows from all others, and return that."""
    points, axis, fraction = eigen.dominant_points(model.points)
    if not points.size or model.rows is None:
        return []
    rows = np.flatnonzero(np.isin(model.inverse, points))
    text = (
        f"dimension {axis + 1} mostly tells row{'s' * (rows.size > 1)} "
        f"{check.few_rows(rows)} from all others ({fraction:.0%} of the squared distances "
        "from its median); look at the values, and drop an error"
    )
    warn(text)
    return [text]


def _explained_joints(model: Model) -> dict[str, str]:
    """Return what joints leave open, with a warning, where pairs or distances were given."""
    # Noisy cliques of one table leave much open, which the geodesic solution settles.
    unknown = isinstance(model.asked.missing, missing.Pairwise)
    if not unknown and model.asked.affinity != "precomputed_distance":
        return {}
    joints = model.joints
    text = joints and blockwise.describe_open(joints.fixed, joints.n_open)
    if not text:
        return {}
    warn(text)
    return {"joints": text}


def _explained_errors(model: Model) -> dict[str, str]:
    """Return what standard errors lead to expect, or why there are none; warn of large ones."""
    if why := model.why_no_errors():
        return {"standard errors": f"there are no standard errors: {why}"}
    if model.result.core is None:
        return {}
    value = model.reliability_at_most()
    if value < gplvm.TRUSTED:
        rivals = model.result.notes.get("optima", "")
        warn(
            f"the embedding has a reliability of at most about {value:.2f}, below {gplvm.TRUSTED}: "
            f"its standard errors are large (standard_errors_){'; ' * bool(rivals)}{rivals}; "
            "measure more columns, or average rows that belong together"
        )
    return {
        "standard errors": f"reliability of at most about {value:.2f} by the information of the "
        "columns; reliability_ and standard_errors_, when asked for, simulate tables as well"
    }


def _expand_graph(g: graph.CsrGraph, first: Integers, inverse: Integers) -> graph.CsrGraph:
    """Graph of all rows from that of distinct rows: each duplicate hangs on its first by 1."""
    if np.array_equal(first, np.arange(inverse.size)):
        return g
    low, high, weights = graph.edges(g)
    copies = np.setdiff1d(np.arange(inverse.size), first)
    ends = np.array([np.append(first[low], first[inverse[copies]]), np.append(first[high], copies)])
    weights = np.append(weights, np.ones(copies.size))
    return graph.from_edges(inverse.size, ends.min(axis=0), ends.max(axis=0), weights)


def _expand_optima(
    core: gplvm.CoreFit, points: Floats, inverse: Integers
) -> tuple[gplvm.OptimumRecord, ...]:
    """Local optima of all rows in the frame of the embedding, NaN outside the core."""
    motion, expanded = blockwise.rigid_fit(core.fit.latent, points[core.core]), []
    for optimum in core.fit.optima:
        latent = np.full(points.shape, np.nan)
        latent[core.core] = motion.apply(optimum.latent)
        expanded.append(optimum._replace(latent=latent[inverse]))
    return tuple(expanded)
