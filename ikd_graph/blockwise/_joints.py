r"""Who is fixed: what the points that blocks share leave open between them.

A joint of two blocks is fixed where the points that they share span all M dimensions, mirrored
where they span M - 1, so that either block may be mirrored across the hyperplane through them, and
free below. A direction counts as spanned where mirroring the shared points across it would fit
worse by 50 times the variance of what the best motion leaves (as `merge_greedy` decides).

Blocks with fixed joints are one body, and so are bodies that share points that span M dimensions.
What bodies still can do to one another is the null space of linear equations, that every shared
point has one velocity, whichever body moves it (the rigidity matrix of bodies and bars). Points
that no infinitesimal motion moves, but that are in no common body with the largest one, have mirror
images or other places apart.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.cluster.hierarchy import DisjointSet
from scipy.linalg import null_space
from scipy.sparse.csgraph import connected_components

from .. import _jit
from .._base import validation as check
from .._base.format import count
from .._base.types import Floats, Integers
from .._base.validation import validate
from ..cliques import arrays, incidence
from ._rigid import check_places, residuals
from ._solve import SolvedBlocks

KINDS = ("fixed", "mirrored", "free")
"""Classes of joints and points, from certain to open."""

MOST_UNKNOWNS = 600
"""Velocities of bodies whose null space is computed: those of the largest bodies."""

_PRIOR = 3.0  # degrees of freedom of the noise of all joints in that of one
_FLEX = 1e-6  # of the largest velocity, below which a point does not move


class Joints(NamedTuple):
    """Joints between blocks, and which points they fix relative to the largest body."""

    first: Integers  # (k,) block
    second: Integers  # (k,) block
    n_shared: Integers  # (k,) points that their bodies share
    kinds: NDArray[np.str_]  # (k,) "fixed", "mirrored" or "free"
    singular_values: Floats  # (k, M) of the centered shared points, descending
    noise: Floats  # (k,) standard deviation of a coordinate that the joint was judged by
    fixed: NDArray[np.str_]  # (n,) the same of every point
    body: Integers  # (n,) body of each point, the largest 0, -1 for points in no block

    @property
    def n_open(self) -> int:
        """Number of joints that are mirrored or free."""
        return int(np.count_nonzero(self.kinds != "fixed"))

    def of_rows(self, inverse: Integers) -> Joints:
        """Return the joints with what they say of points said of rows, ``inverse`` (n,) of them."""
        return self._replace(fixed=self.fixed[inverse], body=self.body[inverse])

    def __str__(self) -> str:
        lines = [
            f"blocks {a} and {b}: {kind}, {count(int(n), 'shared point')}, singular values "
            + ", ".join(f"{value:.3g}" for value in values)
            for a, b, n, kind, values in zip(*self[:5], strict=True)
            if kind != "fixed"
        ]
        counts = ", ".join(f"{int((self.fixed == kind).sum())} {kind}" for kind in KINDS)
        return "\n".join([f"points: {counts}", *lines])


def describe_open(fixed: NDArray[np.str_], n_open: int) -> str:
    """Say how many points open joints leave mirrored or free; "" where none is."""
    mirrored, free = (int(np.count_nonzero(fixed == kind)) for kind in KINDS[1:])
    if not mirrored + free:
        return ""
    return (
        f"{count(n_open, 'joint')} left open, so that of {fixed.size} points {mirrored} may be "
        f"mirrored and {free} may move freely; fixed_ says which, str(joints_) lists the joints"
    )


@validate(check_places, coordinates=check.table)
def joints(solved: SolvedBlocks, coordinates: Floats) -> Joints:
    """Tell which joints between blocks, and which points, are fixed, mirrored or free.

    Parameters
    ----------
    solved : SolvedBlocks
        Blocks with their own coordinates.
    coordinates : (n, M) ndarray of float64
        Merged positions of the points.

    Returns
    -------
    Joints
        The joints that make bodies of blocks, then the open ones between bodies; and the class of
        every point relative to the largest body. Points in no block are free.

    Raises
    ------
    ValueError
        If the coordinates are not those of the blocks.

    Examples
    --------
    Two squares that share an edge may be folded over it.

    >>> import numpy as np
    >>> from ikd_graph import blockwise
    >>> from ikd_graph.blockwise import solved_blocks
    >>> points = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1.0]])
    >>> solved = solved_blocks([[0, 1, 2, 3], [2, 3, 4, 5]], [points[:4], points[2:]])
    >>> found = blockwise.joints(solved, points)
    >>> found.kinds, found.fixed[-1]
    (array(['mirrored'], dtype='<U8'), np.str_('mirrored'))
    """
    return _Bodies(solved, np.ascontiguousarray(coordinates, dtype=np.float64)).joints


@validate(check_places, coordinates=check.table)
def mirror(solved: SolvedBlocks, coordinates: Floats, joint: int) -> Floats:
    """Return the other mirror image of an embedding at a joint that is mirrored.

    Parameters
    ----------
    solved, coordinates : see `joints`
        Blocks, and the merged positions of the points.
    joint : int
        Which of the joints that `joints` lists.

    Returns
    -------
    (n, M) ndarray of float64
        Coordinates in which the body of the second block, and what hangs on it, is mirrored across
        the hyperplane through the points that it shares with that of the first.

    Raises
    ------
    ValueError
        If the joint is not mirrored, or both sides hang together by other joints as well.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import blockwise
    >>> points = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1.0]])
    >>> solved = blockwise.solved_blocks([[0, 1, 2, 3], [2, 3, 4, 5]], [points[:4], points[2:]])
    >>> blockwise.mirror(solved, points, 0)[4:].round(9) + 0.0
    array([[0., 0.],
           [0., 1.]])
    """
    points = np.array(coordinates, dtype=np.float64)
    search = _Bodies(solved, points)
    found = search.joints
    if joint >= found.kinds.size or found.kinds[joint] != "mirrored":
        kinds = np.flatnonzero(found.kinds == "mirrored")
        raise ValueError(
            f"joint must be one that is mirrored, got {joint}; these are mirrored: "
            f"{check.few(kinds) or 'none'}"
        )
    ends = int(found.first[joint]), int(found.second[joint])
    near, far = (next(body for body in search.bodies if end in body.blocks) for end in ends)
    shared = np.array(sorted(near.points & far.points))
    # What hangs on either side, by other points than those of the joint.
    unshared = np.setdiff1d(np.arange(len(points)), shared)
    holds = incidence(solved.blocks, len(points))[:, unshared]
    side = connected_components(holds @ holds.T, directed=False)[1]
    if side[ends[0]] == side[ends[1]]:
        raise ValueError(
            f"joint must be the only one between its two sides, got {joint}, whose sides hang "
            "together by others; mirror it together with them"
        )
    center = points[shared].mean(axis=0)
    normal = np.linalg.svd(points[shared] - center)[2][-1]
    part = solved.take(np.flatnonzero(side == side[ends[1]])).blocks.members
    moved = np.setdiff1d(part, shared)
    points[moved] -= 2.0 * ((points[moved] - center) @ normal)[:, None] * normal
    return points


class _Body(NamedTuple):
    blocks: list[int]
    points: set[int]


@dataclass
class BlockJoints:
    """Groups of blocks by fixed joints, these joints, and how far blocks disagree at them."""

    groups: list[set[int]] = field(default_factory=list)
    rows: list[tuple[Any, ...]] = field(default_factory=list)  # as the first six of `Joints`
    misfit: float = 0.0  # sum of squares
    freedom: float = 0.0  # its degrees of freedom

    def variance(self, misfit: float, freedom: float, scale: float) -> float:
        """Variance of a coordinate, of few shared points also from all joints so far."""
        prior = _PRIOR if self.freedom > 0.0 else 0.0
        misfit += prior * self.misfit / max(self.freedom, 1.0)
        return max(misfit / max(freedom + prior, 1.0), _jit.merging.ROUNDING * scale)


def join_blocks(solved: SolvedBlocks, most_variance: float = np.inf) -> BlockJoints:
    """Join blocks whose shared points span all dimensions, the most shared points first.

    It ends where they disagree by more than a variance.
    """
    blocks, width = solved.blocks, solved.coordinates.shape[1]
    sets, known = DisjointSet(range(blocks.n_blocks)), BlockJoints()
    starts, members = blocks.indptr, blocks.members
    holds = incidence(blocks, int(members.max(initial=0)) + 1)
    pairs = sp.triu(holds @ holds.T, 1).tocoo()
    enough = pairs.data > width
    order = np.lexsort((pairs.col[enough], pairs.row[enough], -pairs.data[enough]))
    for a, b in np.column_stack([pairs.row, pairs.col])[enough][order].tolist():
        if known.misfit > most_variance * known.freedom:
            break
        if sets.connected(a, b):
            continue
        parts = slice(*starts[a : a + 2]), slice(*starts[b : b + 2])
        shared, *at = np.intersect1d(
            members[parts[0]], members[parts[1]], assume_unique=True, return_indices=True
        )
        # From the coordinates that either block has by itself.
        own = [solved.coordinates[part][rows] for part, rows in zip(parts, at, strict=True)]
        source, target = (values - values.mean(axis=0) for values in own)
        values = np.linalg.svd(source.T @ target, compute_uv=False)
        sizes = float((source**2).sum()), float((target**2).sum())
        misfit = max(sum(sizes) - 2.0 * float(values.sum()), 0.0)
        freedom = shared.size * width - width * (width + 1) / 2
        variance = known.variance(misfit, freedom, float(np.sqrt(sizes[0] * sizes[1])))
        known.misfit += misfit
        known.freedom += freedom
        if _kind(values, variance) == "fixed":
            sets.merge(a, b)
            noise = float(np.sqrt(variance))
            known.rows.append((a, b, shared.size, "fixed", np.sqrt(values), noise))
    known.groups = sets.subsets()
    return known


def _kind(squares: Floats, variance: float) -> str:
    """Class from the squared singular values of the shared points, one for each dimension."""
    return KINDS[min(int(np.count_nonzero(4.0 * squares <= _jit.merging.FLAT * variance)), 2)]


class _Bodies:
    """Blocks that were joined to rigid bodies, the largest first."""

    def __init__(self, solved: SolvedBlocks, points: Floats) -> None:
        self.points, self.blocks = points, solved.blocks
        self.known = join_blocks(solved)
        self.residuals = residuals(solved, points) if solved.blocks.n_blocks else points[:, 0]
        spread = float(points.var(axis=0).sum())
        self.floor, self.radius = _jit.merging.ROUNDING * spread, np.sqrt(spread) or 1.0
        members = [set(part.tolist()) for part in arrays(solved.blocks)]
        found = [
            _Body(sorted(group), set().union(*(members[block] for block in group)))
            for group in self.known.groups
        ]
        self.bodies = sorted(found, key=lambda body: (-len(body.points), body.blocks[0]))
        grown = True
        while grown and len(self.bodies) > 1:
            grown = self._locate(members)
            grown |= self._join()

    def _join(self) -> bool:
        """Join bodies that share points that span all dimensions; False if none do."""
        n_bodies, width = len(self.bodies), self.points.shape[1]
        for a, b in self._touching():
            first, second = self.bodies[a], self.bodies[b]
            shared = first.points & second.points
            is_inside = bool(second.points) and second.points <= first.points
            if len(shared) <= width and not is_inside:
                continue
            kind, values, noise = self._joint(shared)
            if kind == "fixed" or is_inside or self._is_flat(second, shared):
                if not is_inside:
                    pair = first.blocks[0], second.blocks[0]
                    self.known.rows.append((*pair, len(shared), "fixed", values, noise))
                first.points.update(second.points)
                first.blocks.extend(second.blocks)
                second.points.clear()
        bodies = [body for body in self.bodies if body.points]
        self.bodies = sorted(bodies, key=lambda body: -len(body.points))
        return len(bodies) < n_bodies

    def _touching(self) -> list[tuple[int, int]]:
        """Pairs of bodies that share points, the larger first."""
        at: dict[int, list[int]] = {}
        for number, body in enumerate(self.bodies):
            for point in body.points:
                at.setdefault(point, []).append(number)
        return sorted({pair for owners in at.values() for pair in combinations(owners, 2)})

    def _locate(self, members: list[set[int]]) -> bool:
        """Give the largest body the points whose distances to M + 1 of its points fix them."""
        ground = self.bodies[0].points
        near: dict[int, set[int]] = {}
        for body in self.bodies[1:]:
            for block in body.blocks:
                inside = members[block] & ground
                for point in members[block] - ground if inside else ():
                    near.setdefault(point, set()).update(inside)
        wide = [point for point, known in near.items() if len(known) > self.points.shape[1]]
        located = [point for point in wide if self._joint(near[point])[0] == "fixed"]
        ground.update(located)
        return bool(located)

    def _joint(self, shared: set[int]) -> tuple[str, Floats, float]:
        """Class of a joint from where merged points lie, and what blocks disagree by there."""
        which, width = np.array(sorted(shared), dtype=np.int64), self.points.shape[1]
        values = np.zeros(width)
        places = self.points[which] - self.points[which].mean(axis=0)
        sizes = np.linalg.svd(places, compute_uv=False)
        values[: sizes.size] = sizes
        # Two blocks that are d apart are d / 2 from their mean each.
        misfit = 4.0 * float(np.square(self.residuals[which]).sum()) / width
        variance = self.known.variance(misfit, float(which.size), float((places**2).sum()))
        variance = max(variance, self.floor)
        return _kind(values**2, variance), values, float(np.sqrt(variance))

    def _is_flat(self, body: _Body, shared: set[int]) -> bool:
        """Whether a body lies in the span of what it shares, so that no mirror image moves it."""
        base, which = self.points[sorted(shared)], sorted(body.points)
        center = base.mean(axis=0)
        _, sizes, axes = np.linalg.svd(base - center, full_matrices=False)
        least = _jit.merging.FLAT * self._joint(shared)[2] ** 2
        spanned = axes[4.0 * sizes**2 > least]
        off = self.points[which] - center
        off -= off @ spanned.T @ spanned
        return len(spanned) > 0 and bool((off**2).sum() <= least)

    @property
    def joints(self) -> Joints:
        """Class of every point, and the open joints between bodies."""
        n, width = self.points.shape
        fixed, body_of = np.full(n, "free", dtype="<U8"), np.full(n, -1, dtype=np.int64)
        for number, body in reversed([*enumerate(self.bodies)]):
            body_of[list(body.points)] = number
        if self.bodies:
            fixed[self._still_points()] = "mirrored"
        fixed[body_of == 0] = "fixed"
        rows = list(self.known.rows)
        for a, b in self._touching():
            shared = self.bodies[a].points & self.bodies[b].points
            kind, values, noise = self._joint(shared)
            kind = "mirrored" if kind == "fixed" else kind
            ends = self.bodies[a].blocks[0], self.bodies[b].blocks[0]
            rows.append((*ends, len(shared), kind, values, noise))
        columns = [*zip(*rows, strict=True)] or [()] * 6
        first, second, n_shared = (np.array(column, dtype=np.int64) for column in columns[:3])
        kinds, noises = np.array(columns[3], dtype="<U8"), np.array(columns[5], dtype=np.float64)
        sizes = np.array(columns[4], dtype=np.float64).reshape(-1, width)
        return Joints(first, second, n_shared, kinds, sizes, noises, fixed, body_of)

    def _still_points(self) -> Integers:
        """Points that no infinitesimal motion of bodies moves relative to the largest one.

        Only as many bodies are looked at as equations are solved for; points of others are free.
        """
        width = self.points.shape[1]
        size = width * (width + 1) // 2
        bodies = self.bodies[: max(MOST_UNKNOWNS // size, 1)]
        sizes = [len(body.points) for body in bodies]
        owner = np.repeat(np.arange(len(bodies)), sizes)
        point = np.array([p for body in bodies for p in sorted(body.points)], dtype=np.int64)
        order = np.argsort(point, kind="stable")
        owner, point = owner[order], point[order]
        moves = self._velocities(point)
        # A shared point has one velocity, whichever body moves it.
        again = np.flatnonzero(point[1:] == point[:-1])
        equations = np.zeros((again.size, width, len(bodies), size))
        equations[np.arange(again.size), :, owner[again]] = moves[again]
        equations[np.arange(again.size), :, owner[again + 1]] = -moves[again]
        matrix = equations.reshape(-1, len(bodies) * size)
        if len(matrix) > matrix.shape[1]:
            matrix = np.asarray(np.linalg.qr(matrix, mode="r"))
        if not len(matrix):
            matrix = np.zeros((1, matrix.shape[1]))
        flexes = null_space(matrix, rcond=self._flex_tolerance())
        moved = np.einsum("pmk,pkf->pmf", moves, flexes.reshape(len(bodies), size, -1)[owner])
        rest = null_space(moved[owner == 0].reshape(-1, flexes.shape[1]), rcond=_FLEX)
        is_still = np.abs(moved @ rest).max(axis=(1, 2), initial=0.0) <= 1e2 * _FLEX
        return point[is_still]

    def _velocities(self, points: Integers) -> Floats:
        """Velocities (k, M, M (M + 1) / 2) of points by motions of a body about the center."""
        width = self.points.shape[1]
        places = (self.points[points] - self.points.mean(axis=0)) / self.radius
        pairs = [*combinations(range(width), 2)]
        out = np.zeros((points.size, width, width + len(pairs)))
        out[:, range(width), range(width)] = 1.0
        for column, (i, j) in enumerate(pairs, start=width):
            out[:, i, column], out[:, j, column] = places[:, j], -places[:, i]
        return out

    def _flex_tolerance(self) -> float:
        """Singular value, over the largest, that noise leaves of motions without resistance."""
        n, width = self.points.shape
        noise = np.sqrt(_jit.merging.FLAT * np.square(self.residuals).mean() / width)
        return float(np.clip(noise / self.radius / np.sqrt(n), 1e-9, 1e-2))


def spans(centered: Floats) -> bool:
    """Whether points (k, M) without noise span all dimensions by more than rounding."""
    values = np.linalg.svd(centered, compute_uv=False)
    floor = _jit.merging.FLAT * _jit.merging.ROUNDING * float((centered**2).sum())
    enough = len(centered) > centered.shape[1]
    return bool(enough and 4.0 * values[-1] ** 2 > floor)
