"""Coordinates from a few landmarks: memory in proportion to points times landmarks."""

from collections.abc import Callable
from numbers import Integral

import numpy as np
from numpy.typing import NDArray

from .._base.threads import block_rows, map_blocks
from .._base.types import Floats
from ._core import (
    CENTER,
    Embedding,
    inner_products,
    leading,
    origin_weights,
    reference_index,
    warn_flat,
)

Lengths = NDArray[np.floating]


def landmark_coordinates(
    nodes: NDArray[np.int64],
    lengths: Lengths,
    to_squares: Callable[[Lengths], Floats],
    n_components: int,
    reference: str | int = "center",
) -> Embedding:
    """Coordinates of all points from their distances to landmarks.

    The landmarks are solved among themselves, and every other point is placed by Gower's
    interpolation of its squared distances to them (de Silva and Tenenbaum 2004, Sparse
    multidimensional scaling using landmark points). A landmark counts as many points as are nearest
    to it, so that the solution leans to that of all points.

    Parameters
    ----------
    nodes : (l,) ndarray of int64
        The landmarks.
    lengths : (l, n) ndarray of float
        Lengths from the landmarks to all points.
    to_squares : callable
        Maps lengths, of any shape, to squared distances.
    n_components : int
        Number M of coordinates.
    reference : str or int
        As of `coordinates`; an index is that of a landmark among all points.

    Returns
    -------
    Embedding
        Coordinates (n, M), with the spectrum of the landmarks.
    """
    n_points = lengths.shape[1]
    among = to_squares(lengths[:, nodes].astype(np.float64))
    among = 0.5 * (among + among.T)
    counts = np.bincount(np.argmin(lengths, axis=0), minlength=nodes.size)
    fraction = np.maximum(counts, 1) / np.maximum(counts, 1).sum()
    if isinstance(reference, Integral):
        reference = int(np.flatnonzero(nodes == int(reference) % n_points)[0])
    index = reference_index(among, reference)
    origin = fraction if index == CENTER else origin_weights(among, index)
    root = np.sqrt(fraction)
    found = leading(root[:, None] * inner_products(among, origin) * root, n_components)
    if among.any():
        warn_flat(found.coordinates, "the distances between landmarks")
    # Of coordinates scaled to the landmarks, the inner products with those of a point.
    values = np.where(found.coordinates.any(axis=0), found.eigenvalues, 1.0)
    pull = root[:, None] * found.coordinates / values
    gower = 0.5 * (pull - origin[:, None] * pull.sum(axis=0))
    offset = among @ origin
    shift = 0.5 * (offset - origin @ offset) @ pull
    points = np.empty((n_points, n_components))

    def place(start: int, stop: int) -> None:
        squares = to_squares(lengths[:, start:stop].astype(np.float64))
        points[start:stop] = shift - squares.T @ gower

    map_blocks(place, n_points, block_rows(nodes.size))
    center = index if index == CENTER else int(nodes[index])
    values, ratio = n_points * found.eigenvalues, found.explained_variance_ratio
    return Embedding(points, values, ratio, float(found.negative_mass), center)
