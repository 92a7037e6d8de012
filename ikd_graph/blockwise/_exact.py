"""Blocks without noise: bodies are merged exactly, and only what is open is left to a start."""

from typing import Any

import numpy as np

from .._base.types import Floats
from ..cliques import arrays
from ._greedy import merge_pairs
from ._joints import join_blocks, spans
from ._record import SolvedBlocks, solved_blocks
from ._rounds import Rounds

EXACT = 1e-12
"""Variance of what blocks disagree by, as a fraction of that of the points, below which it is
rounding."""

_WORK = 3e8
"""Rounds of what is open times blocks times cubed coordinates: one or two seconds."""


def merge_exact(solved: SolvedBlocks, frame: Floats) -> Floats | None:
    """Merge blocks that agree to rounding, bodies first; None where there is noise.

    A start of small weight, which holds together what blocks leave open, would bend what they fix.

    Parameters
    ----------
    solved : SolvedBlocks
        Blocks with their own coordinates.
    frame : (n, M) ndarray of float64
        Where open bodies, and points in no block, are put.

    Returns
    -------
    (n, M) ndarray of float64 or None
        Coordinates in the frame.
    """
    if not solved.blocks.n_blocks:
        return None
    bodies, exact = solved, float(frame.var(axis=0).sum()) * EXACT
    while True:
        joined = join_blocks(bodies, exact)
        if joined.variance > exact:
            return None
        if len(joined.groups) < bodies.blocks.n_blocks:
            bodies = _merged(bodies, joined.groups, len(frame))
            continue
        larger = _with_located(bodies)
        if larger is None:
            break
        bodies = larger
    return _placed(bodies, frame)


def _merged(solved: SolvedBlocks, groups: list[set[int]], n_points: int) -> SolvedBlocks:
    """One block of all blocks of a group, in coordinates of its own."""
    members: list[list[int]] = []
    places: list[Floats] = []
    for group in groups:
        part = solved.take(np.array(sorted(group)))
        inside = np.unique(part.blocks.members)
        members.append(inside.tolist())
        places.append(merge_pairs(part, n_points).coordinates[inside])
    return solved_blocks(members, places)


def _with_located(bodies: SolvedBlocks) -> SolvedBlocks | None:
    """Give the largest body the points whose distances to enough of its points are known."""
    members: list[Any] = list(arrays(bodies.blocks))
    places = np.split(bodies.coordinates, bodies.blocks.indptr[1:-1])
    largest = int(bodies.blocks.sizes.argmax())
    place = dict(zip(members[largest].tolist(), places[largest], strict=True))
    known: dict[int, dict[int, float]] = {}
    for body, (at, own) in enumerate(zip(members, places, strict=True)):
        inside = np.isin(at, members[largest])
        if body == largest or not inside.any():
            continue
        for point, here in zip(at[~inside].tolist(), own[~inside], strict=True):
            gaps = np.linalg.norm(own[inside] - here, axis=1)
            known.setdefault(point, {}).update(zip(at[inside].tolist(), gaps, strict=True))
    located = {}
    for point, lengths in known.items():
        anchors = np.array([place[anchor] for anchor in lengths])
        if spans(anchors - anchors.mean(axis=0)):
            located[point] = _lateration(anchors, np.array(list(lengths.values())))
    if not located:
        return None
    members[largest] = [*place, *located]
    places[largest] = np.array([*place.values(), *located.values()])
    return solved_blocks(members, places)


def _lateration(anchors: Floats, lengths: Floats) -> Floats:
    """Place of a point from its distances to points that span the space, by linear equations."""
    center = anchors.mean(axis=0)
    own = anchors - center
    squares = (own**2).sum(axis=1) - lengths**2
    shift: Floats = np.linalg.lstsq(2.0 * own, squares - squares.mean(), rcond=None)[0]
    for _ in range(3):
        gaps = shift - own
        sizes = np.linalg.norm(gaps, axis=1)
        step = np.linalg.lstsq(
            gaps / np.maximum(sizes, 1e-300)[:, None], lengths - sizes, rcond=None
        )
        shift = shift + step[0]
    return center + shift


def _placed(bodies: SolvedBlocks, frame: Floats) -> Floats:
    """Coordinates of points of bodies that are brought together as far as they let themselves be.

    A point lies where the largest of its bodies has it, so that what is left of wrong mirror images
    never bends a body.
    """
    starts, members = bodies.blocks.indptr, bodies.blocks.members
    rounds = Rounds(bodies, len(frame))
    rounds.fit(frame)
    if bodies.blocks.n_blocks > 1:
        most = int(_WORK / (bodies.blocks.n_blocks * float(frame.shape[1]) ** 3))
        points = rounds.descend(rounds.average(frame), max(most, 1), 1e-9).points
        rounds.fit(points)
    placed = frame.copy()
    for body in np.argsort(bodies.blocks.sizes, kind="stable"):
        part = slice(starts[body], starts[body + 1])
        placed[members[part]] = rounds.proposals[part]
    return placed
