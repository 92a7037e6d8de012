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

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import null_space

from .. import _jit
from .._base import validation as check
from .._base.format import count
from .._base.types import Floats, Integers
from .._base.validation import few_rows, validate
from ..cliques import Blocks
from ._record import SolvedBlocks
from ._rounds import check_places, residuals

KINDS = ("fixed", "mirrored", "free")
"""Classes of joints and points, from certain to open."""

MOST_UNKNOWNS = 900
"""Velocities of bodies whose null space is computed; of more, pairs of bodies decide."""

_PRIOR = 3.0  # degrees of freedom of the noise of all joints in that of one
_FLEX = 1e-6  # of the largest velocity, below which a point does not move
_MANY_TIES = 12  # largest bodies that are tried as the ground


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
            for a, b, n, kind, values in zip(
                self.first,
                self.second,
                self.n_shared,
                self.kinds,
                self.singular_values,
                strict=True,
            )
            if kind != "fixed"
        ]
        counts = ", ".join(f"{int((self.fixed == kind).sum())} {kind}" for kind in KINDS)
        return "\n".join([f"points: {counts}", *lines])


def describe_open(fixed: NDArray[np.str_], n_open: int) -> str:
    """Say how many points open joints leave mirrored or free, and which; "" where none is."""
    found = {kind: np.flatnonzero(fixed == kind) for kind in ("mirrored", "free")}
    words = {
        "mirrored": "may be mirrored",
        "free": "is free" if found["free"].size == 1 else "are free",
    }
    parts = [
        f"{rows.size} {words[kind]}: {few_rows(rows, fixed.size)}"
        for kind, rows in found.items() if rows.size
    ]  # fmt: skip
    if not parts:
        return ""
    return (
        f"{n_open} joint{' is' if n_open == 1 else 's are'} open, so that of {fixed.size} points "
        f"{'; '.join(parts)}; str(joints_) lists the joints"
    )


class _Body(NamedTuple):
    blocks: list[int]
    points: set[int]


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
    return _Search(solved, np.ascontiguousarray(coordinates, dtype=np.float64)).result()


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
    search = _Search(solved, points)
    found = search.result()
    if joint >= found.kinds.size or found.kinds[joint] != "mirrored":
        kinds = np.flatnonzero(found.kinds == "mirrored")
        raise ValueError(
            f"joint must be one that is mirrored, got {joint}; these are mirrored: "
            f"{check.few(kinds) or 'none'}"
        )
    bodies, ends = search.bodies, (int(found.first[joint]), int(found.second[joint]))
    near, far = (next(k for k, body in enumerate(bodies) if end in body.blocks) for end in ends)
    shared = np.array(sorted(bodies[near].points & bodies[far].points))
    links = [pair for pair in search.touching(bodies) if set(pair) != {near, far}]
    side = {far}
    while grown := {b for pair in links for b in pair if side & set(pair)} - side:
        side |= grown
    if near in side:
        raise ValueError(
            f"joint must be the only one between its two sides, got {joint}, whose sides hang "
            "together by others; mirror it together with them"
        )
    center = points[shared].mean(axis=0)
    normal = np.linalg.svd(points[shared] - center)[2][-1]
    moved = np.array(sorted(set().union(*(bodies[k].points for k in side)) - set(shared.tolist())))
    points[moved] -= 2.0 * ((points[moved] - center) @ normal)[:, None] * normal
    return points


class _Search:
    """Blocks on their way to bodies."""

    def __init__(self, solved: SolvedBlocks, points: Floats) -> None:
        self.solved, self.points = solved, points
        self.n, self.m = points.shape
        blocks = solved.blocks
        self.members = [blocks.members[a:b] for a, b in pairwise(blocks.indptr)]
        self.own = [solved.coordinates[a:b] for a, b in pairwise(blocks.indptr)]
        self.parent = list(range(len(self.members)))
        self.rows: list[tuple[int, int, int, str, Floats, float]] = []
        # Coordinates of points are off by what the blocks disagree by.
        self.bodies: list[_Body] = []
        self.residuals = residuals(solved, points) if blocks.n_blocks else np.zeros(self.n)
        self.misfit, self.freedom = 0.0, 0.0
        self.floor = _jit.merging.ROUNDING * float(np.square(points - points.mean(axis=0)).sum())

    def result(self) -> Joints:
        """Find the bodies, and what they can do to one another."""
        self._join_blocks()
        self.bodies = self._grow(self._bodies())
        return self._classified(self.bodies)

    # Blocks to bodies -----------------------------------------------------------------------------

    def _find(self, block: int) -> int:
        while self.parent[block] != block:
            self.parent[block] = self.parent[self.parent[block]]
            block = self.parent[block]
        return block

    def _join_blocks(self) -> None:
        """Join blocks whose shared points span all dimensions, the most shared points first."""
        first, second, counts = self._overlaps()
        for a, b, shared in zip(first, second, counts, strict=True):
            if shared <= self.m:
                break
            left, right = self._find(a), self._find(b)
            if left == right:
                continue
            kind, values, noise = self._joint_of_blocks(a, b)
            if kind == "fixed":
                self.parent[max(left, right)] = min(left, right)
                self.rows.append((a, b, int(shared), kind, values, noise))

    def _overlaps(self) -> tuple[list[int], list[int], list[int]]:
        """Pairs of blocks that share points, those that share most first."""
        blocks = self.solved.blocks
        ones = np.ones(blocks.members.size, dtype=np.int32)
        holds = sp.csr_array((ones, blocks.members, blocks.indptr), shape=(blocks.n_blocks, self.n))
        shared = sp.triu(holds @ holds.T, 1).tocoo()
        order = np.lexsort((shared.col, shared.row, -shared.data))
        return (
            shared.row[order].tolist(), shared.col[order].tolist(), shared.data[order].tolist()
        )  # fmt: skip

    def _joint_of_blocks(self, a: int, b: int) -> tuple[str, Floats, float]:
        """Class of a joint from the coordinates that either block has by itself."""
        _, at_a, at_b = np.intersect1d(
            self.members[a], self.members[b], assume_unique=True, return_indices=True
        )
        source, target = self.own[a][at_a], self.own[b][at_b]
        source, target = source - source.mean(axis=0), target - target.mean(axis=0)
        values = np.linalg.svd(source.T @ target, compute_uv=False)
        sizes = float((source**2).sum()), float((target**2).sum())
        misfit = max(sizes[0] + sizes[1] - 2.0 * float(values.sum()), 0.0)
        freedom = max(len(at_a) * self.m - self.m * (self.m + 1) / 2, 0.0)
        variance = self._variance(misfit, freedom, float(np.sqrt(sizes[0] * sizes[1])))
        self.misfit, self.freedom = self.misfit + misfit, self.freedom + freedom
        return self._kind(values, variance), np.sqrt(values), float(np.sqrt(variance))

    def _variance(self, misfit: float, freedom: float, scale: float) -> float:
        """Variance of a coordinate, of few shared points also from all joints before."""
        prior = self.misfit / self.freedom if self.freedom > 0.0 else 0.0
        weight = _PRIOR if self.freedom > 0.0 else 0.0
        total = max(freedom + weight, 1.0)
        return max((misfit + weight * prior) / total, _jit.merging.ROUNDING * scale)

    def _kind(self, squares: Floats, variance: float) -> str:
        """Class from the squared singular values of the shared points."""
        n_open = (
            int(np.count_nonzero(4.0 * squares <= _jit.merging.FLAT * variance))
            + self.m
            - len(squares)
        )
        return KINDS[min(n_open, 2)]

    # Bodies ---------------------------------------------------------------------------------------

    def _bodies(self) -> list[_Body]:
        """Bodies of blocks, the largest first."""
        found: dict[int, _Body] = {}
        for block, members in enumerate(self.members):
            body = found.setdefault(self._find(block), _Body([], set()))
            body.blocks.append(block)
            body.points.update(members.tolist())
        return sorted(found.values(), key=lambda body: (-len(body.points), body.blocks[0]))

    def _grow(self, bodies: list[_Body]) -> list[_Body]:
        """Join bodies that share points that span all dimensions, until none do."""
        grown = True
        while grown and len(bodies) > 1:
            grown = self._locate(bodies)
            for a, b in self.touching(bodies):
                if not bodies[b].points or not bodies[a].points:
                    continue
                shared = bodies[a].points & bodies[b].points
                if len(shared) <= self.m and not bodies[b].points <= bodies[a].points:
                    continue
                kind, values, noise = self._joint_of_points(shared)
                inside = bodies[b].points <= bodies[a].points
                if kind == "fixed" or inside or self._is_flat(bodies[b], shared):
                    if not inside:
                        pair = bodies[a].blocks[0], bodies[b].blocks[0]
                        self.rows.append((*pair, len(shared), "fixed", values, noise))
                    bodies[a].points.update(bodies[b].points)
                    bodies[a].blocks.extend(bodies[b].blocks)
                    bodies[b].points.clear()
                    grown = True
            bodies = sorted(
                (body for body in bodies if body.points), key=lambda body: -len(body.points)
            )
        return bodies

    def touching(self, bodies: list[_Body]) -> list[tuple[int, int]]:
        """Pairs of bodies that share points, the larger first."""
        at: dict[int, list[int]] = {}
        for number, body in enumerate(bodies):
            for point in body.points:
                at.setdefault(point, []).append(number)
        pairs = {
            (a, b) for owners in at.values() for i, a in enumerate(owners) for b in owners[i + 1 :]
        }
        return sorted(pairs)

    def _locate(self, bodies: list[_Body]) -> bool:
        """Give the largest body the points whose distances to M + 1 of its points fix them."""
        ground, grown = bodies[0].points, False
        near: dict[int, set[int]] = {}
        for body in bodies[1:]:
            for block in body.blocks:
                members = self.members[block].tolist()
                inside = [point for point in members if point in ground]
                for point in members:
                    if inside and point not in ground:
                        near.setdefault(point, set()).update(inside)
        for point, known in near.items():
            if len(known) > self.m and self._joint_of_points(known)[0] == "fixed":
                ground.add(point)
                grown = True
        return grown

    def _joint_of_points(self, shared: set[int]) -> tuple[str, Floats, float]:
        """Class of a joint from where merged points lie, and what blocks disagree by there."""
        which = np.array(sorted(shared))
        if not which.size:
            return "free", np.zeros(self.m), 0.0
        places = self.points[which] - self.points[which].mean(axis=0)
        values = np.zeros(self.m)
        found = np.linalg.svd(places, compute_uv=False)
        values[: found.size] = found
        # Two blocks that are d apart are d / 2 from their mean each.
        noise = 4.0 * float(np.square(self.residuals[which]).sum()) / self.m
        freedom = float(which.size)
        variance = self._variance(noise, freedom, float((places**2).sum()))
        variance = max(variance, self.floor / max(self.n, 1))
        return self._kind(values**2, variance), values, float(np.sqrt(variance))

    def _is_flat(self, body: _Body, shared: set[int]) -> bool:
        """Whether a body lies in the span of what it shares, so that no mirror image moves it."""
        which = np.array(sorted(body.points))
        if len(shared) < min(len(which), 2) or len(shared) < 2:
            return False
        base = self.points[np.array(sorted(shared))]
        center = base.mean(axis=0)
        _, sizes, axes = np.linalg.svd(base - center, full_matrices=False)
        variance = self._joint_of_points(shared)[2] ** 2
        spanned = axes[4.0 * sizes**2 > _jit.merging.FLAT * variance]
        off = self.points[which] - center
        off = off - off @ spanned.T @ spanned
        return bool((off**2).sum() <= _jit.merging.FLAT * variance) and len(spanned) >= 1

    # What is left open ----------------------------------------------------------------------------

    def _classified(self, bodies: list[_Body]) -> Joints:
        """Class of every point and the open joints between bodies."""
        fixed = np.full(self.n, "free", dtype="<U8")
        body_of = np.full(self.n, -1, dtype=np.int64)
        for number in range(len(bodies) - 1, -1, -1):
            body_of[list(bodies[number].points)] = number
        if bodies:
            ground, still = self._still_points(bodies)
            fixed[still] = "mirrored"
            fixed[list(bodies[ground].points)] = "fixed"
        for a, b in self.touching(bodies):
            shared = bodies[a].points & bodies[b].points
            kind, values, noise = self._joint_of_points(shared)
            kind = "mirrored" if kind == "fixed" else kind
            pair = bodies[a].blocks[0], bodies[b].blocks[0]
            self.rows.append((*pair, len(shared), kind, values, noise))
        columns = list(zip(*self.rows, strict=True)) if self.rows else [()] * 6
        return Joints(
            np.array(columns[0], dtype=np.int64),
            np.array(columns[1], dtype=np.int64),
            np.array(columns[2], dtype=np.int64),
            np.array(columns[3], dtype="<U8"),
            np.array(columns[4], dtype=np.float64).reshape(-1, self.m),
            np.array(columns[5], dtype=np.float64),
            fixed,
            body_of,
        )

    def _still_points(self, bodies: list[_Body]) -> tuple[int, list[int]]:
        """Body that is the ground, and points that no motion of bodies moves relative to it."""
        per_body = self.m * (self.m + 1) // 2
        if len(bodies) * per_body > MOST_UNKNOWNS:
            return 0, self._still_by_pairs(bodies)
        ties = [k for k in range(len(bodies)) if len(bodies[k].points) == len(bodies[0].points)]
        best, still = 0, list(bodies[0].points)
        flexes = null_space(self._velocity_equations(bodies), rcond=self._flex_tolerance())
        for ground in ties[:_MANY_TIES]:
            found = self._still_for(bodies, flexes, ground)
            if len(found) > len(still):
                best, still = ground, found
        return best, still

    def _velocities(self, points: Integers) -> Floats:
        """Velocities (k, M, M (M + 1) / 2) of points by motions of a body about the center."""
        places = (self.points[points] - self.points.mean(axis=0)) / self._radius()
        pairs = [(i, j) for i in range(self.m) for j in range(i + 1, self.m)]
        out = np.zeros((points.size, self.m, self.m + len(pairs)))
        out[:, range(self.m), range(self.m)] = 1.0
        for column, (i, j) in enumerate(pairs):
            out[:, i, self.m + column] = places[:, j]
            out[:, j, self.m + column] = -places[:, i]
        return out

    def _radius(self) -> float:
        spread = float(
            np.sqrt(np.square(self.points - self.points.mean(axis=0)).sum(axis=1).mean())
        )
        return spread or 1.0

    def _flex_tolerance(self) -> float:
        noise = (
            np.sqrt(_jit.merging.FLAT * np.square(self.residuals).mean() / self.m) / self._radius()
        )
        return float(np.clip(noise / np.sqrt(max(self.n, 1)), 1e-9, 1e-2))

    def _velocity_equations(self, bodies: list[_Body]) -> Floats:
        """Every shared point has one velocity: a row for each of its coordinates and owners."""
        at: dict[int, list[int]] = {}
        for number, body in enumerate(bodies):
            for point in body.points:
                at.setdefault(point, []).append(number)
        shared = [(point, owners) for point, owners in at.items() if len(owners) > 1]
        width = self.m * (self.m + 1) // 2
        moves = self._velocities(np.array([point for point, _ in shared], dtype=np.int64))
        rows = []
        for move, (_, owners) in zip(moves, shared, strict=True):
            for other in owners[1:]:
                row = np.zeros((self.m, len(bodies) * width))
                row[:, owners[0] * width : (owners[0] + 1) * width] = move
                row[:, other * width : (other + 1) * width] = -move
                rows.append(row)
        return np.vstack(rows) if rows else np.zeros((1, len(bodies) * width))

    def _still_for(self, bodies: list[_Body], flexes: Floats, ground: int) -> list[int]:
        """Points that stay where a body does."""
        width = self.m * (self.m + 1) // 2
        velocity: dict[int, Floats] = {}
        for number, body in enumerate(bodies):
            part = flexes[number * width : (number + 1) * width]
            which = np.array(sorted(body.points))
            moved = np.einsum("pmk,kf->pmf", self._velocities(which), part)
            for point, value in zip(which.tolist(), moved, strict=True):
                velocity.setdefault(point, value)
        held = np.vstack([velocity[point] for point in bodies[ground].points])
        left = null_space(held, rcond=_FLEX) if held.size else np.eye(flexes.shape[1])
        return [
            point
            for point, value in velocity.items()
            if not left.size or np.abs(value @ left).max(initial=0.0) <= 1e2 * _FLEX
        ]

    def _still_by_pairs(self, bodies: list[_Body]) -> list[int]:
        """Points of bodies that mirrored joints, one after another, tie to the largest body."""
        tied, waiting = {0}, [0]
        links: dict[int, list[int]] = {}
        for a, b in self.touching(bodies):
            if self._joint_of_points(bodies[a].points & bodies[b].points)[0] != "free":
                links.setdefault(a, []).append(b)
                links.setdefault(b, []).append(a)
        while waiting:
            for other in links.get(waiting.pop(), []):
                if other not in tied:
                    tied.add(other)
                    waiting.append(other)
        return sorted(set().union(*(bodies[number].points for number in tied)))


def spans(centered: Floats, width: int) -> bool:
    """Whether points without noise span all dimensions by more than rounding."""
    values = np.linalg.svd(centered, compute_uv=False)
    floor = _jit.merging.FLAT * _jit.merging.ROUNDING * float((centered**2).sum())
    return bool(len(centered) > width and values.size >= width and 4.0 * values[-1] ** 2 > floor)


def bodies_of_blocks(solved: SolvedBlocks, points: Floats) -> tuple[Integers, float]:
    """Body of each block by fixed joints of blocks, and the variance that these leave."""
    search = _Search(solved, points)
    search._join_blocks()
    labels = np.array([search._find(block) for block in range(solved.blocks.n_blocks)])
    variance = search.misfit / search.freedom if search.freedom > 0.0 else 0.0
    return labels, variance


def _check_blocks(members: list[list[int]], coordinates: list[Floats]) -> None:
    """Raise unless every block has finite coordinates of each of its points, all of one width."""
    if not len(members):
        raise ValueError("members must hold at least one block, got none")
    if len(members) != len(coordinates):
        raise ValueError(
            f"coordinates must be those of {len(members)} blocks, got {len(coordinates)}; pass one "
            "array for each block"
        )
    width = None
    for number, (part, place) in enumerate(zip(members, coordinates, strict=True)):
        name = f"coordinates[{number}]"
        values = check.table(name, place)
        width = values.shape[1] if width is None else width
        if values.shape != (len(part), width):
            raise ValueError(
                f"{name} must have shape {(len(part), width)}, a row for each point of the block, "
                f"got {values.shape}"
            )


def solved_blocks(members: list[list[int]], coordinates: list[Floats]) -> SolvedBlocks:
    """Blocks from the points of each and their coordinates, all weighed alike.

    Parameters
    ----------
    members : list of (k,) int
        Points of each block.
    coordinates : list of (k, M) array_like of float64
        Their coordinates in the frame of the block.

    Returns
    -------
    SolvedBlocks
        The blocks, members ascending.

    Raises
    ------
    ValueError
        If coordinates are not finite, or not those of the points of their block.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import blockwise
    >>> blockwise.solved_blocks([[1, 0]], [np.array([[5.0], [4.0]])]).coordinates.ravel()
    array([4., 5.])
    """
    _check_blocks(members, coordinates)
    orders = [np.argsort(np.asarray(part)) for part in members]
    sizes = [len(part) for part in members]
    checked = [check.check_nodes("points of a block", part, 2**31 - 1) for part in members]
    parts = [p.astype(np.int32)[o] for p, o in zip(checked, orders, strict=True)]
    own = [np.asarray(c, dtype=np.float64)[o] for c, o in zip(coordinates, orders, strict=True)]
    spectra = []
    for place in own:
        values = np.zeros(place.shape[1])
        found = np.linalg.svd(place - place.mean(axis=0), compute_uv=False) ** 2
        values[: found.size] = found
        spectra.append(values)
    starts = np.cumsum([0, *sizes])
    flat = np.concatenate(parts) if parts else np.empty(0, dtype=np.int32)
    blocks = Blocks(starts.astype(np.int64), flat)
    n_blocks = len(sizes)
    return SolvedBlocks(
        blocks, np.vstack(own), np.ones(flat.size), np.array(spectra), np.ones(n_blocks),
        np.zeros(n_blocks), 0,
    )  # fmt: skip
