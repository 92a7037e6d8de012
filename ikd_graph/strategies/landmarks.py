"""Solutions from a few landmarks: memory in proportion to points times landmarks.

Distances are measured from the landmarks only, the landmarks are solved among themselves, and every
other point is placed by Gower's interpolation of its squared distances to them (de Silva and
Tenenbaum 2004, Sparse multidimensional scaling using landmark points). A landmark counts as many
points as are nearest to it, so that the solution leans to that of all points.
"""

from collections.abc import Callable
from math import isqrt
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from sklearn.utils import check_random_state

from .. import eigen, geodesics
from .._base import limits
from .._base.threads import block_rows, map_blocks
from .._base.types import Floats
from .._base.validation import check_fraction, check_integer
from .._base.warn import warn
from ..eigen import Embedding
from ..graph import CsrGraph
from ._base import Landmarks

Lengths = NDArray[np.floating]

AUTO_LANDMARKS = 300
"""Landmarks of "auto", or fifty for each coordinate where these are more."""


def number(
    n_landmarks: float | str | None, n_samples: int, n_components: int
) -> tuple[int | None, str]:
    """Count landmarks that a setting stands for, and why if "auto" chose.

    The setting is "auto", a number of points, a fraction of them, or None; None is returned where
    all points are solved. There are at least 2 M + 1 landmarks.

    Examples
    --------
    >>> from ikd_graph.strategies import landmarks
    >>> landmarks.number(0.1, 1000, 2)[0]
    100
    >>> landmarks.number("auto", 70_000, 2)[1]
    '300 landmarks: distances between all of 70000 points would fill 39.2 GB'
    """
    reason = ""
    if n_landmarks is None or (n_landmarks == "auto" and n_samples <= limits.SOLVED_WHOLE):
        return None, reason
    if n_landmarks == "auto":
        count = max(AUTO_LANDMARKS, 50 * n_components)
        size = f"{8e-9 * n_samples**2:.1f} GB"
        reason = f"{count} landmarks: distances between all of {n_samples} points would fill {size}"
    elif isinstance(n_landmarks, Integral):
        count = int(n_landmarks)
    else:
        count = round(float(n_landmarks) * n_samples)
    count = max(count, 2 * n_components + 1)
    return (None if count >= n_samples else count), reason


def check_number(n_landmarks: Any, n_components: int) -> None:
    """Raise unless ``n_landmarks`` is "auto", None, a number of points or a fraction of them."""
    if isinstance(n_landmarks, float):
        check_fraction("n_landmarks", n_landmarks)
    elif n_landmarks is not None and not (isinstance(n_landmarks, str) and n_landmarks == "auto"):
        check_integer("n_landmarks", n_landmarks, n_components + 1, cure="'auto' chooses a number")


def draw(
    lengths: CsrGraph, landmarks: Landmarks, first: int | None = None
) -> tuple[NDArray[np.int64], Lengths]:
    """Choose landmarks in batches, far from those before and where there are many points.

    A point is chosen with a probability in proportion to its squared distance to the nearest
    landmark so far: a region gets landmarks for being far from them and for being populous.

    Parameters
    ----------
    lengths : CsrGraph
        Connected graph of lengths, n nodes.
    landmarks : Landmarks
        How many, and the seed.
    first : int, optional
        A point that has to be a landmark.

    Returns
    -------
    nodes : (l,) ndarray of int64
        The landmarks.
    distances : (l, n) ndarray of float64, or float32 of more than 10 000 points
        Lengths of the shortest paths from them.
    """
    n, count = lengths.n_nodes, landmarks.number
    rng = check_random_state(landmarks.random_state)
    distances = np.empty((count, n), np.float64 if n <= limits.SOLVED_WHOLE else np.float32)
    nodes, nearest = np.empty(0, dtype=np.int64), np.ones(n)
    while nodes.size < count:
        # The smallest of exponential waiting times: a weighted draw without repetition.
        waiting = rng.standard_exponential(n) / np.maximum(nearest, np.finfo(np.float64).eps) ** 2
        waiting[nodes] = np.inf
        if first is not None and not nodes.size:
            waiting[first] = 0.0
        size = min(1 + isqrt(count), count - nodes.size)
        batch = np.argsort(waiting, kind="stable")[:size]
        measured = geodesics.shortest_distances(lengths, batch)
        distances[nodes.size : nodes.size + batch.size] = measured
        nearest = measured.min(axis=0) if not nodes.size else np.fmin(nearest, measured.min(axis=0))
        nodes = np.append(nodes, batch)
    return nodes, distances


def solve(
    nodes: NDArray[np.int64],
    lengths: Lengths,
    to_squares: Callable[[Lengths], Floats],
    n_components: int,
    reference: str | int = "center",
) -> Embedding:
    """Latent of all points from their distances to the landmarks.

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
        As of `eigen.coordinates`; an index is that of a landmark among all points.

    Returns
    -------
    Embedding
        Coordinates (n, M), with the spectrum of the landmarks.
    """
    among = to_squares(lengths[:, nodes])
    among = 0.5 * (among + among.T)
    counts = np.bincount(np.argmin(lengths, axis=0), minlength=nodes.size)
    fraction = np.maximum(counts, 1) / np.maximum(counts, 1).sum()
    if isinstance(reference, Integral):
        reference = int(np.flatnonzero(nodes == int(reference) % lengths.shape[1])[0])
    index = eigen.reference_index(among, reference)
    origin = fraction if index == eigen.CENTER else np.eye(nodes.size)[index]
    offset = among @ origin
    gram = 0.5 * (offset[:, None] + offset - among - origin @ offset)
    root = np.sqrt(fraction)
    values, vectors = eigh(root[:, None] * gram * root)
    total, negative = float(np.sum(values**2)) or 1.0, float(np.sum(values[values < 0.0] ** 2))
    values = lengths.shape[1] * values[: -n_components - 1 : -1]
    vectors = eigen.pin_signs(vectors[:, : -n_components - 1 : -1])
    positive = values > np.finfo(np.float64).eps * nodes.size * values[0]
    if not positive.all() and among.any():
        warn(
            f"{np.sum(~positive)} of the {n_components} leading eigenvalues are not positive: the "
            f"distances between landmarks span {positive.sum()} dimension(s); the coordinates "
            "beyond are zero"
        )
    pull = np.where(positive, root[:, None] * vectors, 0.0) * np.sqrt(lengths.shape[1])
    pull /= np.sqrt(np.where(positive, values, 1.0))
    gower = 0.5 * (pull - origin[:, None] * pull.sum(axis=0))
    shift = 0.5 * (offset - origin @ offset) @ pull
    points = np.empty((lengths.shape[1], n_components))

    def place(start: int, stop: int) -> None:
        points[start:stop] = shift - to_squares(lengths[:, start:stop]).T @ gower

    map_blocks(place, len(points), block_rows(nodes.size))
    ratio = (values / lengths.shape[1]) ** 2 / total
    center = index if index == eigen.CENTER else int(nodes[index])
    return Embedding(points, values, ratio, negative / total, center)
