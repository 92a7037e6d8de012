"""From distinct rows to all rows: the one place where numbers are expanded to duplicates."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import eigen
from .._records import CsrGraph
from ..alignment import rigid_fit
from ..graph import add_edges, edges, from_edges
from ..refine import CoreFit, OptimumRecord

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


class Frame(NamedTuple):
    """Coordinates of all rows in the standard frame, and their spectrum."""

    coordinates: Floats  # (n, m) centered, along principal axes, the widest first
    eigenvalues: Floats  # (m,) squared lengths of the columns


def standard_frame(coordinates: Floats, inverse: Indices) -> Frame:
    """Coordinates of all rows, centered, along principal axes, signs pinned.

    Parameters
    ----------
    coordinates : (u, m) ndarray of float64
        Coordinates of distinct rows.
    inverse : (n,) ndarray of int64
        Which of them each row is.

    Returns
    -------
    Frame
        Coordinates and eigenvalues of their Gram matrix.
    """
    points = coordinates - coordinates[inverse].mean(axis=0)
    gram = points[inverse].T @ points[inverse]
    # Columns this near to uncorrelated are not turned: that would only mix rounding errors.
    rounding = np.sqrt(np.finfo(np.float64).eps)
    width = float(np.diagonal(gram).max(initial=0.0))
    off = np.abs(gram - np.diag(np.diagonal(gram))).max(initial=0.0)
    ordered = np.all(np.diff(np.diagonal(gram)) <= rounding * width)
    if off > rounding * width or not ordered:
        points = points @ np.linalg.eigh(gram)[1][:, ::-1]
    points = eigen.pin_signs(_turned_in_equal_axes(points[inverse]))
    return Frame(points, np.sum(points**2, axis=0))


def _turned_in_equal_axes(points: Floats) -> Floats:
    """Coordinates whose equally long axes point to the outermost points, the first of these first.

    Any turn of such axes is as good: without a rule rounding would choose.
    """
    sizes = np.sum(points**2, axis=0)
    near = np.abs(np.diff(sizes)) <= 1e-9 * sizes.max(initial=0.0)
    for group in np.split(np.arange(sizes.size), np.flatnonzero(~near) + 1):
        if group.size < 2 or not sizes[group].any():
            continue
        rest, axes = points[:, group].copy(), np.zeros((0, group.size))
        for _ in group:
            lengths = np.sum(rest**2, axis=1)
            outermost = int(np.argmax(lengths >= (1.0 - 1e-6) * lengths.max()))
            axis = rest[outermost] / (np.sqrt(lengths[outermost]) or 1.0)
            axes = np.vstack([axes, axis])
            rest = rest - np.outer(rest @ axis, axis)
        if np.allclose(axes @ axes.T, np.eye(group.size), atol=1e-9):
            points = points.copy()
            points[:, group] = points[:, group] @ axes.T
    return points


def expand_graph(g: CsrGraph, first: Indices, inverse: Indices) -> CsrGraph:
    """Graph of all rows from that of distinct rows: each duplicate hangs on its first by 1."""
    if np.array_equal(first, np.arange(inverse.size)):
        return g
    low, high, weights = edges(g)
    low, high = np.minimum(first[low], first[high]), np.maximum(first[low], first[high])
    expanded = from_edges(inverse.size, low, high, weights)
    duplicates = np.setdiff1d(np.arange(inverse.size), first)
    if not duplicates.size:
        return expanded
    return add_edges(expanded, first[inverse[duplicates]], duplicates, np.ones(duplicates.size))


def expand_labels(labels: Indices, inverse: Indices) -> Indices:
    """Components of all rows, numbered by their first row."""
    expanded = labels[inverse]
    _, begins, number = np.unique(expanded, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(begins))[number])


def expand_optima(core: CoreFit, points: Floats, inverse: Indices) -> tuple[OptimumRecord, ...]:
    """Local optima in the order of all rows and the frame of the embedding.

    Parameters
    ----------
    core : CoreFit
        The fit of some distinct rows.
    points : (u, m) ndarray of float64
        Embedding of the distinct rows.
    inverse : (n,) ndarray of int64
        Which of them each row is.

    Returns
    -------
    tuple of OptimumRecord
        NaN for rows outside the core.
    """
    move = rigid_fit(core.fit.latent, points[core.core])
    expanded = []
    for optimum in core.fit.optima:
        latent = np.full(points.shape, np.nan)
        latent[core.core] = optimum.latent @ move.rotation + move.translation
        expanded.append(optimum._replace(latent=latent[inverse]))
    return tuple(expanded)
