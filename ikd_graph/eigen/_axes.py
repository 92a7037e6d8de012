"""The frame of an embedding: signs of vectors, principal axes, points that make an axis alone."""

from typing import NamedTuple

import numpy as np

from .._base.rounding import COMPUTED, SINGLE, TINY
from .._base.types import Floats, Integers
from .._base.validation import table, validate

DOMINANT_FRACTION = 0.9
"""Fraction of the total from which points, columns, or levels of rows decide alone."""


class PrincipalAxes(NamedTuple):
    """Coordinates along their principal axes, and how far they reach along each."""

    coordinates: Floats  # (n, m) centered, uncorrelated, the widest first, signs pinned
    eigenvalues: Floats  # (m,) of their Gram matrix: squared lengths of the columns


@validate(coordinates=table)
def principal_axes(coordinates: Floats) -> PrincipalAxes:
    """Center coordinates and rotate them to their principal axes.

    The frame of an embedding is free; this one is the frame of every embedding of the package.

    Parameters
    ----------
    coordinates : (n, m) ndarray of float64
        Coordinates in any frame.

    Returns
    -------
    PrincipalAxes
        Coordinates, and the eigenvalues of their Gram matrix, descending.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import eigen
    >>> axes = eigen.principal_axes(np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]))
    >>> axes.eigenvalues.round(6)
    array([10.,  0.])
    """
    points = coordinates - coordinates.mean(axis=0)
    gram = points.T @ points
    # Columns this near to uncorrelated are not rotated: that would only mix rounding errors.
    rounding = np.sqrt(np.finfo(np.float64).eps)
    width = float(np.diagonal(gram).max(initial=0.0))
    off = np.abs(gram - np.diag(np.diagonal(gram))).max(initial=0.0)
    ordered = np.all(np.diff(np.diagonal(gram)) <= rounding * width)
    if off > rounding * width or not ordered:
        points = points @ np.linalg.eigh(gram)[1][:, ::-1]
    points = pinned(_turned_in_equal_axes(points))
    return PrincipalAxes(points, np.sum(points**2, axis=0))


def dominant_points(coordinates: Floats) -> tuple[Integers, int, float]:
    """Find the few points that make an axis nearly alone.

    Parameters
    ----------
    coordinates : (n, m) ndarray of float64
        Coordinates.

    Returns
    -------
    points : (k,) ndarray of int64
        At most three, and 1 of 20, whose squared distances from the median along an axis are nine
        tenths of those of all points; usually none.
    axis : int
        The first such axis.
    fraction : float
        Which fraction of all squared distances theirs are.
    """
    squares = (coordinates - np.median(coordinates, axis=0)) ** 2
    order = np.argsort(-squares, axis=0, kind="stable")[: min(len(squares) // 20, 3)]
    held = np.take_along_axis(squares, order, axis=0).cumsum(axis=0)
    fractions = held / np.maximum(squares.sum(axis=0), TINY)
    for axis, last in np.argwhere(fractions.T >= DOMINANT_FRACTION):
        # The first such axis, and the fewest points that hold it.
        return order[: last + 1, axis], int(axis), float(fractions[last, axis])
    return np.zeros(0, dtype=np.int64), 0, 0.0


def _turned_in_equal_axes(points: Floats) -> Floats:
    """Turn equally long axes to the outermost points, the first of these first.

    Any turn of such axes is as good: without a rule rounding would choose.
    """
    sizes = np.sum(points**2, axis=0)
    near = np.abs(np.diff(sizes)) <= COMPUTED * sizes.max(initial=0.0)
    for group in np.split(np.arange(sizes.size), np.flatnonzero(~near) + 1):
        if group.size < 2 or not sizes[group].any():
            continue
        rest, axes = points[:, group].copy(), np.zeros((0, group.size))
        for _ in group:
            lengths = np.sum(rest**2, axis=1)
            outermost = int(np.argmax(lengths >= (1.0 - SINGLE) * lengths.max()))
            axis = rest[outermost] / (np.sqrt(lengths[outermost]) or 1.0)
            axes = np.vstack([axes, axis])
            rest = rest - np.outer(rest @ axis, axis)
        if np.allclose(axes @ axes.T, np.eye(group.size), atol=COMPUTED):
            points = points.copy()
            points[:, group] = points[:, group] @ axes.T
    return points


@validate(vectors=table)
def pin_signs(vectors: Floats) -> Floats:
    """Columns turned so that the entry of largest magnitude is positive.

    A vector and its negative are both right; pinned, two runs can be compared.

    Parameters
    ----------
    vectors : (n, m) ndarray of float64
        Vectors in columns.

    Returns
    -------
    (n, m) ndarray of float64
        The same vectors up to their signs.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import eigen
    >>> eigen.pin_signs(np.array([[1.0], [-2.0]])).ravel()
    array([-1.,  2.])
    """
    return pinned(vectors)


def pinned(vectors: Floats) -> Floats:
    """Return vectors of one matrix or of many, (..., n, m), with their signs pinned."""
    magnitude = np.abs(vectors)
    peak = magnitude.max(axis=-2, keepdims=True)
    # Entries within rounding of the peak compete. The order of rows should not choose among them,
    # so the sign of their sum does; where they cancel, nothing but the order is left.
    near = magnitude >= peak * (1.0 - SINGLE)
    total = np.where(near, vectors, 0.0).sum(axis=-2, keepdims=True)
    first = np.take_along_axis(vectors, near.argmax(axis=-2, keepdims=True), axis=-2)
    return vectors * np.where(np.where(np.abs(total) < 0.5 * peak, first, total) < 0.0, -1.0, 1.0)
