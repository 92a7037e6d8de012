"""Numbers that belong to a latent, computed from the latent."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .. import eigen
from .._records import CsrGraph, Embedding
from ..graph import EdgeScores, add_edges, edges, from_edges
from ._record import Latent

Floats = NDArray[np.float64]

# Columns this near to uncorrelated are left alone: turning them would only mix rounding errors,
# and columns of equal length would be turned by an arbitrary angle.
_UNCORRELATED = 1e-9


def describe(
    coordinates: Floats,
    inverse: NDArray[np.int64] | None = None,
    *,
    captured: float = 1.0,
    negative_mass: float | None = None,
    reference: int | str = "center",
    turn: bool = True,
) -> Latent:
    """Latent in its standard frame, with its own spectrum.

    Centred, along principal axes, signs pinned, eigenvalues descending. ``inverse`` (n,) tells
    which of the coordinates each row has, without it its own. ``captured`` is the share of the sum
    of squared eigenvalues that the M coordinates hold: less than 1 where they are the leading ones
    of a larger spectrum; a polished or merged latent has no more than M. ``negative_mass`` is the
    share in negative eigenvalues. ``turn=False`` keeps the axes, for components laid side by side.

    Examples
    --------
    >>> import numpy as np
    >>> found = describe(np.array([[0.0, 1.0], [0.0, 3.0]]))
    >>> found.coordinates.round(6).tolist(), found.eigenvalues.round(6).tolist()
    ([[-1.0, 0.0], [1.0, 0.0]], [2.0, 0.0])
    """
    if inverse is None:
        inverse = np.arange(len(coordinates))
    points = coordinates - coordinates[inverse].mean(axis=0)
    gram = points[inverse].T @ points[inverse]
    # Turned before equal rows get equal places: the bits of a product depend on where a row stands.
    points = (_to_principal_axes(points, gram) if turn else points)[inverse]
    if turn:
        points = eigen.pin_signs(points)
        values = np.sum(points**2, axis=0)
    else:
        values = np.maximum(np.linalg.eigvalsh(gram)[::-1], 0.0)
    total = float(np.sum(values**2))
    share = captured * values**2 / total if total > 0.0 else np.zeros_like(values)
    return Latent(points, values, share, negative_mass, reference)


def describe_embedding(embedding: Embedding, *, turn: bool = True) -> Latent:
    """Latent of a closed form, with what the spectrum it came from says."""
    return describe(
        embedding.coordinates,
        captured=float(np.sum(embedding.explained_variance_ratio)),
        negative_mass=embedding.negative_mass,
        reference="center" if embedding.reference == eigen.CENTRE else embedding.reference,
        turn=turn,
    )


def _to_principal_axes(points: Floats, gram: Floats) -> Floats:
    """Points turned so that their columns are uncorrelated, the widest first."""
    width = float(np.diagonal(gram).max(initial=0.0))
    off = np.abs(gram - np.diag(np.diagonal(gram))).max(initial=0.0)
    ordered = np.all(np.diff(np.diagonal(gram)) <= _UNCORRELATED * width)
    if off > _UNCORRELATED * width or not ordered:
        axes = np.linalg.eigh(gram)[1][:, ::-1]
        points = points @ axes
    return points


def spread_graph(g: CsrGraph, first: NDArray[np.int64], inverse: NDArray[np.int64]) -> CsrGraph:
    """Graph of all rows from that of the rows that differ, as `unique_rows` found them.

    The same edges between first rows; each further one hangs on its equal by a weight of 1.
    """
    if np.array_equal(first, np.arange(inverse.size)):
        return g
    left, right, weights = edges(g)
    one, other = first[left], first[right]
    low, high = np.minimum(one, other), np.maximum(one, other)
    alone = from_edges(inverse.size, low, high, weights)
    copies = np.setdiff1d(np.arange(inverse.size), first)
    if not copies.size:
        return alone
    return add_edges(alone, first[inverse[copies]], copies, np.ones(copies.size))


def spread_suspicion(
    suspicion: EdgeScores | None, first: NDArray[np.int64]
) -> EdgeScores | None:
    """What speaks against edges, by the numbers of rows among all."""
    if suspicion is None:
        return None
    return suspicion._replace(pairs=np.sort(first[suspicion.pairs], axis=1))


def spread_labels(labels: NDArray[np.int64], inverse: NDArray[np.int64]) -> NDArray[np.int64]:
    """Components of all rows, numbered by their first row."""
    found = labels[inverse]
    _, begins, number = np.unique(found, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(begins))[number]
