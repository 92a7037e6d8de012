"""Solutions from a few landmarks: memory in proportion to points times landmarks.

Distances are measured from the landmarks only, the landmarks are solved among themselves, and every
other point is placed by Gower's interpolation of its squared distances to them. A landmark counts
as many points as are nearest to it, so that the solution leans to that of all points: with every
point a landmark it is that one.
"""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from sklearn.utils import check_random_state

from .. import _limits, eigen
from .._checks import check_fraction, check_integer
from .._records import Embedding
from .._threads import block_rows, map_blocks
from .._warn import warn
from ._base import Landmarks

Floats = NDArray[np.float64]
Lengths = NDArray[np.floating]

AUTO_LANDMARKS, AUTO_PER_COMPONENT = 300, 50
"""Landmarks of "auto": so many, and so many for each coordinate."""

BATCH = 20
"""Landmarks that are drawn together, before distances are looked at again."""

_SINGLE_FROM = 2**30  # bytes of lengths from which they are kept in single precision


class Drawn(NamedTuple):
    """Landmarks and their distances, before they are solved."""

    nodes: NDArray[np.int64]  # (l,)
    lengths: Lengths  # (l, n)
    counts: NDArray[np.int64]  # (l,) points that are nearest to each, itself included


def number(
    n_landmarks: float | str | None, n_samples: int, n_components: int
) -> tuple[int | None, str]:
    """Number of landmarks that a setting stands for, and why if "auto" chose.

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
    if n_landmarks is None:
        return None, ""
    least, reason = 2 * n_components + 1, ""
    if n_landmarks == "auto":
        if n_samples <= _limits.SOLVED_WHOLE:
            return None, ""
        count = max(AUTO_LANDMARKS, AUTO_PER_COMPONENT * n_components)
        size = f"{8e-9 * n_samples**2:.1f} GB"
        reason = f"{count} landmarks: distances between all of {n_samples} points would fill {size}"
    elif isinstance(n_landmarks, Integral):
        count = int(n_landmarks)
    else:
        count = round(float(n_landmarks) * n_samples)
    count = max(count, least)
    return (None if count >= n_samples else count), reason


def entry_bytes(n_points: int, count: int) -> int:
    """Bytes of the distances of one point to so many landmarks."""
    return count * (8 if 8 * count * n_points < _SINGLE_FROM else 4)


def check_number(n_landmarks: Any, n_components: int) -> None:
    """Raise unless ``n_landmarks`` is "auto", None, a number of points or a fraction of them."""
    if n_landmarks is None or (isinstance(n_landmarks, str) and n_landmarks == "auto"):
        return
    if isinstance(n_landmarks, float):
        check_fraction("n_landmarks", n_landmarks)
        return
    check_integer("n_landmarks", n_landmarks, n_components + 1, cure="'auto' chooses a number")


def draw(
    measure: Callable[[NDArray[np.int64]], Lengths],
    n_points: int,
    count: int,
    rng: np.random.RandomState,
    first: int | None = None,
    rank: NDArray[np.int64] | None = None,
) -> Drawn:
    """Choose landmarks in batches, far from those before and where there are many points.

    A point is chosen with a probability in proportion to its squared distance to the nearest
    landmark so far: a region gets landmarks for being far from them and for being populous.
    ``measure`` maps (b,) points to their (b, n) lengths to all points; ``first`` has to be a
    landmark. Chance goes by ``rank``, the places of the points in an order that does not depend on
    the one they came in.
    """
    rank = np.arange(n_points) if rank is None else rank
    dtype = np.dtype(f"f{entry_bytes(n_points, count) // count}")
    lengths = np.empty((count, n_points), dtype)
    nodes = np.empty(count, dtype=np.int64)
    nearest = np.full(n_points, np.inf)
    owner = np.zeros(n_points, dtype=np.int64)
    weights = np.ones(n_points)
    done = 0
    while done < count:
        size = min(BATCH, count - done)
        # The smallest of exponential waiting times: a weighted draw without repetition.
        waiting = rng.standard_exponential(n_points)[rank] / np.maximum(weights, 1e-300)
        waiting[nodes[:done]] = np.inf
        if done == 0 and first is not None:
            waiting[first] = 0.0
        batch = np.argpartition(waiting, size - 1)[:size]
        batch = batch[np.argsort(waiting[batch])]
        part = slice(done, done + size)
        nodes[part] = batch
        # What is measured comes in double precision, and need not be held for all of a batch.
        step = block_rows(n_points)
        for start in range(0, size, step):
            some = batch[start : start + step]
            lengths[done + start : done + start + some.size] = measure(some)
        for row in range(done, done + size):
            nearer = lengths[row] < nearest
            owner[nearer] = row
            np.minimum(nearest, lengths[row], out=nearest)
        done += size
        np.square(nearest, out=weights)
        weights[nodes[:done]] = 0.0
    # A duplicate of an earlier landmark owns itself at least.
    owner[nodes] = np.arange(count)
    return Drawn(nodes, lengths, np.bincount(owner, minlength=count))


def draw_for(
    measure: Callable[[NDArray[np.int64]], Lengths],
    statistic: NDArray[np.floating],
    landmarks: Landmarks,
    reference: str | int,
) -> Drawn:
    """So many landmarks, the reference point among them; ``measure`` as in `draw`.

    ``statistic`` is a number of each point that does not depend on the order they came in.
    """
    n_points = statistic.size
    first = None if isinstance(reference, str) else int(reference) % n_points
    rank = np.empty(n_points, dtype=np.int64)
    rank[np.argsort(statistic, kind="stable")] = np.arange(n_points)
    rng = check_random_state(landmarks.random_state)
    return draw(measure, n_points, landmarks.number, rng, first, rank)


def solve(
    drawn: Drawn,
    to_squares: Callable[[Lengths], Floats],
    n_components: int,
    reference: str | int = "center",
) -> Embedding:
    """Latent of all points from their distances to the landmarks.

    ``to_squares`` maps lengths, of any shape, to squared distances. A reference point that is named
    is chosen among the landmarks; an index is that of a landmark among all points. The spectrum is
    that of the landmarks, weighted by the points they stand for.
    """
    nodes = drawn.nodes
    among = to_squares(drawn.lengths[:, nodes])
    among = 0.5 * (among + among.T)
    if isinstance(reference, Integral):
        reference = int(np.flatnonzero(nodes == int(reference) % drawn.lengths.shape[1])[0])
    at = eigen.reference_index.unchecked(among, reference)
    share = drawn.counts / drawn.counts.sum()
    # What the distances of a point to the reference are made of: the mean, or one of them.
    seen = share if at == eigen.CENTRE else (np.arange(nodes.size) == at).astype(np.float64)
    offset = among @ seen
    constant = 0.5 * float(seen @ offset)
    gram = 0.5 * (offset[:, None] + offset - among) - constant
    root = np.sqrt(drawn.counts.astype(np.float64))
    values, vectors = eigh(root[:, None] * gram * root, check_finite=False)
    total, negative = float(np.sum(values**2)), float(np.sum(np.minimum(values, 0.0) ** 2))
    values = values[: -n_components - 1 : -1].copy()
    vectors = eigen.pin_signs.unchecked(vectors[:, : -n_components - 1 : -1])
    real = values > 1e-12 * max(float(values[0]), 0.0)
    if not real.all() and float(among.max()) > 0.0:
        _warn_flat(n_components, int(real.sum()))
    scale = np.sqrt(np.where(real, values, 0.0))
    # Rows of points per unit of Gram row: the eigenvector equation, solved for a new row.
    pull = np.zeros((n_components, nodes.size))
    pull[real] = (root[:, None] * vectors[:, real] / scale[real]).T
    gower = 0.5 * (pull - pull.sum(axis=1, keepdims=True) * seen)
    origin = pull @ (0.5 * offset - constant)
    points = np.empty((drawn.lengths.shape[1], n_components))

    def place(start: int, stop: int) -> None:
        points[start:stop] = origin - to_squares(drawn.lengths[:, start:stop]).T @ gower.T

    map_blocks(place, points.shape[0], block_rows(nodes.size))
    points[nodes] = vectors * scale / root[:, None]
    ratio = values**2 / total if total > 0.0 else np.zeros_like(values)
    mass = negative / total if total > 0.0 else 0.0
    centre = eigen.CENTRE if at == eigen.CENTRE else int(nodes[at])
    return Embedding(points, values, ratio, mass, centre)


def _warn_flat(n_components: int, n_real: int) -> None:
    """Say that the landmarks span fewer dimensions than were asked for."""
    warn(
        f"{n_components - n_real} of the {n_components} leading eigenvalues are not positive: the "
        f"distances between landmarks span {n_real} dimension(s); the coordinates beyond are zero"
    )
