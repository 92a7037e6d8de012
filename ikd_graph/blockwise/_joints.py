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
from .._base.format import count
from .._base.rounding import COMPUTED
from .._base.types import Booleans, Floats, Integers
from .._base.validation import few, table, validate
from ..cliques import incidence
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
        counts = ", ".join(f"{(self.fixed == kind).sum()} {kind}" for kind in KINDS)
        return "\n".join([f"points: {counts}", *lines])


def describe_open(fixed: NDArray[np.str_], n_open: int) -> str:
    """Say how many points open joints leave mirrored or free; "" where none is."""
    mirrored, free = (np.count_nonzero(fixed == kind) for kind in KINDS[1:])
    if not mirrored + free:
        return ""
    return (
        f"{count(n_open, 'joint')} left open, so that of {fixed.size} points {mirrored} may be "
        f"mirrored and {free} may move freely; in Python, fixed_ says which, and joints_ why"
    )


@validate(check_places, coordinates=table)
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


@validate(check_places, coordinates=table)
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
            f"{few(kinds) or 'none'}"
        )
    ends = int(found.first[joint]), int(found.second[joint])
    near, far = search.holds[search.body[[*ends]]].toarray() > 0.0
    shared = np.flatnonzero(near & far)
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


@dataclass
class BlockJoints:
    """Groups of blocks by fixed joints, these joints, and how far blocks disagree at them."""

    labels: Integers  # (n_blocks,) the first block of each one's group
    rows: list[tuple[Any, ...]] = field(default_factory=list)  # as the first six of `Joints`
    misfit: float = 0.0  # sum of squares
    freedom: float = 0.0  # its degrees of freedom

    def variance(self, misfit: Any, freedom: Any, scale: Any) -> Any:
        """Variances of a coordinate, of few shared points also from all joints so far."""
        prior = _PRIOR if self.freedom > 0.0 else 0.0
        misfit = misfit + prior * self.misfit / max(self.freedom, 1.0)
        noise = misfit / np.maximum(freedom + prior, 1.0)
        return np.maximum(noise, _jit.merging.ROUNDING * scale)


def join_blocks(solved: SolvedBlocks, most_variance: float = np.inf) -> BlockJoints:
    """Join blocks whose shared points span all dimensions, the most shared points first.

    It ends where they disagree by more than a variance.
    """
    blocks, width = solved.blocks, solved.coordinates.shape[1]
    groups, known = DisjointSet(range(blocks.n_blocks)), BlockJoints(np.arange(blocks.n_blocks))
    starts, members = blocks.indptr, blocks.members
    holds = incidence(blocks, int(members.max(initial=0)) + 1)
    pairs = sp.triu(holds @ holds.T, 1).tocoo()
    enough = pairs.data > width
    order = np.lexsort((pairs.col[enough], pairs.row[enough], -pairs.data[enough]))
    for at_pair in np.flatnonzero(enough)[order]:
        a, b = int(pairs.row[at_pair]), int(pairs.col[at_pair])
        if known.misfit > most_variance * known.freedom:
            break
        if groups.connected(a, b):
            continue
        parts = slice(*starts[a : a + 2]), slice(*starts[b : b + 2])
        shared, *at = np.intersect1d(
            members[parts[0]], members[parts[1]], assume_unique=True, return_indices=True
        )
        # From the coordinates that either block has by itself.
        own = [solved.coordinates[part][rows] for part, rows in zip(parts, at, strict=True)]
        source, target = (values - values.mean(axis=0) for values in own)
        values = np.linalg.svd(source.T @ target, compute_uv=False)
        sizes = (source**2).sum(), (target**2).sum()
        misfit = max(sum(sizes) - 2.0 * values.sum(), 0.0)
        freedom = shared.size * width - width * (width + 1) / 2
        variance = known.variance(misfit, freedom, np.sqrt(sizes[0] * sizes[1]))
        known.misfit += misfit
        known.freedom += freedom
        if _kinds(values, variance) == 0:
            groups.merge(a, b)
            known.rows.append((a, b, shared.size, "fixed", np.sqrt(values), np.sqrt(variance)))
    for group in groups.subsets():
        known.labels[list(group)] = min(group)
    return known


def _kinds(squares: Floats, variance: Floats) -> Integers:
    """Places in `KINDS` from the squared singular values (..., M) of shared points."""
    flat = 4.0 * squares <= _jit.merging.FLAT * variance[..., None]
    return np.minimum(flat.sum(axis=-1), 2)


class _Judged(NamedTuple):
    """What sets of points that are shared say, one set a row."""

    n_shared: Integers  # (k,)
    center: Floats  # (k, M)
    scatter: Floats  # (k, M, M) about it
    squares: Floats  # (k, M) squared singular values, descending
    axes: Floats  # (k, M, M) their directions, as columns
    variance: Floats  # (k,) of a coordinate
    kinds: Integers  # (k,) places in `KINDS`


def _are_flat(bodies: _Judged, joints: _Judged) -> Booleans:
    """Whether bodies lie in the span of what they share, so that no mirror image moves them."""
    gaps = bodies.center - joints.center
    outer = gaps[:, :, None] * gaps[:, None, :] * bodies.n_shared[:, None, None]
    least = _jit.merging.FLAT * joints.variance
    spanned = 4.0 * joints.squares > least[:, None]
    off = np.einsum("kip,kij,kjp->kp", joints.axes, bodies.scatter + outer, joints.axes)
    return spanned.any(axis=1) & ((off * ~spanned).sum(axis=1) <= least)


class _Bodies:
    """Blocks that were joined to rigid bodies, the largest first."""

    def __init__(self, solved: SolvedBlocks, points: Floats) -> None:
        self.points, self.in_blocks = points, incidence(solved.blocks, len(points))
        self.known = join_blocks(solved)
        self.residuals = residuals(solved, points) if solved.blocks.n_blocks else points[:, 0]
        spread = float(points.var(axis=0).sum())
        self.floor, self.radius = _jit.merging.ROUNDING * spread, np.sqrt(spread) or 1.0
        # Points of every body (n_bodies, n), one block of each, and the body of each block.
        self.holds, self.ends = sp.csr_array(self.in_blocks), np.arange(solved.blocks.n_blocks)
        self.body = self.ends
        self._merge(self.known.labels)
        grown = True
        while grown and self.ends.size > 1:
            grown = self._locate()
            grown |= self._join()

    def _merge(self, labels: Integers) -> None:
        """Make one body of all with one label."""
        _, first, group = np.unique(labels, return_index=True, return_inverse=True)
        joined = sp.csr_array((np.ones(group.size), (group, np.arange(group.size))))
        holds = sp.csr_array(joined @ self.holds)
        order = np.lexsort((first, -np.diff(holds.indptr)))
        self.holds, self.ends = holds[order], self.ends[first[order]]
        self.body = np.argsort(order)[group][self.body]

    def _join(self) -> bool:
        """Join bodies that share points that span all dimensions; False if none do."""
        a, b, shared = self._touching()
        joint, decided = self._decide(shared, self.holds[b])
        points = np.split(self.holds.indices, self.holds.indptr[1:-1])
        labels, grown = np.arange(self.ends.size), set()
        for at, (first, second) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
            if not points[first].size or not points[second].size:
                continue
            one, (is_joined, is_inside), row = joint, decided[:, at], at
            if first in grown or second in grown:
                common = np.intersect1d(points[first], points[second], assume_unique=True)
                if common.size <= self.points.shape[1] and common.size < points[second].size:
                    continue
                one, decision = self._decide(self._row(common), self._row(points[second]))
                (is_joined, is_inside), row = decision[:, 0], 0
            if not is_joined:
                continue
            if not is_inside:
                values, noise = np.sqrt(one.squares[row]), np.sqrt(one.variance[row])
                ends = self.ends[[first, second]]
                self.known.rows.append((*ends, one.n_shared[row], "fixed", values, noise))
            points[first] = np.union1d(points[first], points[second])
            points[second] = points[second][:0]
            labels[labels == second] = first
            grown.add(first)
        self._merge(labels)
        return bool(grown)

    def _row(self, points: Integers) -> sp.csr_array:
        """One set of points, (1, n)."""
        entries = np.ones(points.size), (np.zeros_like(points), points)
        return sp.csr_array(entries, shape=(1, len(self.points)))

    def _touching(self) -> tuple[Integers, Integers, sp.csr_array]:
        """Pairs of bodies that share points, the larger first, and these points."""
        pairs = sp.csr_array(sp.triu(self.holds @ self.holds.T, 1))
        pairs.sort_indices()
        a, b = pairs.tocoo().coords
        return a, b, sp.csr_array(self.holds[a].multiply(self.holds[b]))

    def _decide(self, shared: Any, smaller: Any) -> tuple[_Judged, Booleans]:
        """Judge joints; also whether each joins two bodies, and the smaller is inside, (2, k)."""
        joint, whole = self._judge(shared), self._judge(smaller)
        is_inside = joint.n_shared == whole.n_shared
        enough = joint.n_shared > self.points.shape[1]
        is_joined = is_inside | (enough & ((joint.kinds == 0) | _are_flat(whole, joint)))
        return joint, np.array([is_joined, is_inside])

    def _locate(self) -> bool:
        """Give the largest body the points whose distances to M + 1 of its points fix them."""
        is_ground = np.zeros(len(self.points), dtype=np.bool_)
        is_ground[self.holds[[0]].indices] = True
        blocks, rest = self.in_blocks[self.body > 0], np.flatnonzero(~is_ground)
        near = sp.csr_array(blocks[:, rest].T @ (blocks * is_ground[None]))
        near.eliminate_zeros()
        wide = np.flatnonzero(np.diff(near.indptr) > self.points.shape[1])
        located = rest[wide[self._judge(near[wide]).kinds == 0]]
        ground = self._row(np.append(self.holds[[0]].indices, located))
        self.holds = sp.csr_array(sp.vstack([ground, self.holds[1:]]))
        return bool(located.size)

    def _judge(self, shared: Any) -> _Judged:
        """Judge sets of points (k, n) from where merged points lie, and what blocks disagree by."""
        shared, width = sp.csr_array(shared), self.points.shape[1]
        n_shared, at = np.diff(shared.indptr), shared.indices
        entries = np.ones(at.size), np.arange(at.size), shared.indptr
        total = sp.csr_array(entries, shape=(n_shared.size, at.size))
        center = (total @ self.points[at]) / n_shared[:, None]
        places = self.points[at] - np.repeat(center, n_shared, axis=0)
        scatter = np.stack([total @ (places * places[:, [i]]) for i in range(width)], axis=1)
        squares, axes = np.linalg.eigh(scatter)
        squares, axes = np.maximum(squares[:, ::-1], 0.0), axes[:, :, ::-1]
        # Two blocks that are d apart are d / 2 from their mean each.
        misfit = 4.0 * (total @ np.square(self.residuals[at])) / width
        variance = self.known.variance(misfit, n_shared, np.einsum("kii->k", scatter))
        variance = np.maximum(variance, self.floor)
        kinds = _kinds(squares, variance)
        return _Judged(n_shared, center, scatter, squares, axes, variance, kinds)

    @property
    def joints(self) -> Joints:
        """Class of every point, and the open joints between bodies."""
        n, width = self.points.shape
        fixed, body_of = np.full(n, "free", dtype="<U8"), np.full(n, -1, dtype=np.int64)
        owners = self.holds.tocsc()
        is_held = np.diff(owners.indptr) > 0
        body_of[is_held] = owners.indices[owners.indptr[:-1][is_held]]
        if self.ends.size:
            fixed[self._still_points()] = "mirrored"
        fixed[body_of == 0] = "fixed"
        a, b, shared = self._touching()
        joint = self._judge(shared)
        kinds = np.array(KINDS)[np.maximum(joint.kinds, 1)]
        values, noise = np.sqrt(joint.squares), np.sqrt(joint.variance)
        between = zip(self.ends[a], self.ends[b], joint.n_shared, kinds, values, noise, strict=True)
        types: Any = (np.int64, np.int64, np.int64, "<U8", np.float64, np.float64)
        columns = [*zip(*self.known.rows, *between, strict=True)] or [()] * len(types)
        arrays = [np.array(own, dtype=kind) for own, kind in zip(columns, types, strict=True)]
        arrays[4] = arrays[4].reshape(-1, width)
        return Joints._make([*arrays, fixed, body_of])

    def _still_points(self) -> Integers:
        """Points that no infinitesimal motion of bodies moves relative to the largest one.

        Only as many bodies are looked at as equations are solved for; points of others are free.
        """
        width = self.points.shape[1]
        size = width * (width + 1) // 2
        bodies = self.holds[: max(MOST_UNKNOWNS // size, 1)]
        owners, n_bodies = bodies.tocsc(), bodies.shape[0]
        owner, point = owners.indices, owners.tocoo().coords[1]
        moves = self._velocities(point)
        # A shared point has one velocity, whichever body moves it.
        again = np.flatnonzero(point[1:] == point[:-1])
        equations = np.zeros((again.size, width, n_bodies, size))
        equations[np.arange(again.size), :, owner[again]] = moves[again]
        equations[np.arange(again.size), :, owner[again + 1]] = -moves[again]
        matrix = equations.reshape(-1, n_bodies * size)
        if len(matrix) > matrix.shape[1]:
            matrix = np.asarray(np.linalg.qr(matrix, mode="r"))
        if not len(matrix):
            matrix = np.zeros((1, matrix.shape[1]))
        flexes = null_space(matrix, rcond=self._flex_tolerance())
        moved = np.einsum("pmk,pkf->pmf", moves, flexes.reshape(n_bodies, size, -1)[owner])
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
        return float(np.clip(noise / self.radius / np.sqrt(n), COMPUTED, 1e-2))


def spans(centered: Floats) -> bool:
    """Whether points (k, M) without noise span all dimensions by more than rounding."""
    values = np.linalg.svd(centered, compute_uv=False)
    floor = _jit.merging.FLAT * _jit.merging.ROUNDING * (centered**2).sum()
    enough = len(centered) > centered.shape[1]
    return bool(enough and 4.0 * values[-1] ** 2 > floor)
