"""Blocks merged pair by pair, the pair with the most shared points first."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .. import _jit
from .._base.types import Floats, Indices, Integers
from .._base.validation import count, optional, table, validate
from .._base.warn import warn
from ._rigid import agreement, place_blocks, place_groups
from ._solve import SolvedBlocks, check_solved


class MergeResult(NamedTuple):
    """Blocks merged into one latent, with what the merging knows about its quality."""

    coordinates: Floats  # (n, m)
    labels: Integers  # (n,) component of each point, numbered by first point
    residuals: Floats  # (n,) rms distance from where its blocks would put a point
    order: Integers  # (n_merges, 3) block, block, shared points; the union keeps the lower
    n_weak: int  # merges whose motion was open, on few or flat points, that coordinates rest on
    objective: float  # weighted mean square of the distances from proposals to coordinates
    n_rounds: int  # rounds of global alignment
    converged: bool
    start_weight: float = 0.0  # weight of the start, where all blocks together have 1


class MergeState(NamedTuple):
    """Blocks on their way to one, as arrays that a compiled merger changes in place.

    An entry is a point in a block. Entries never move: a block is a linked list of them, a point
    has a list of those that are its own, and a merger hands entries from one block to another.
    """

    members: Indices  # (total,) point of each entry
    coordinates: Floats  # (total, m) in the frame of the block that owns the entry
    mass: Floats  # (total,) number of cliques averaged into the entry
    owner: Integers  # (total,) block that holds the entry
    following: Integers  # (total,) next entry of the block, -1 at the end
    first: Integers  # (n_blocks,) first entry
    last: Integers  # (n_blocks,) last entry
    size: Integers  # (n_blocks,) number of points
    name: Integers  # (n_blocks,) lowest index of the blocks merged into this one
    slot: Integers  # (n_blocks,) block of each name
    best: Integers  # (n_blocks,) by name: largest number of points shared with another
    partner: Integers  # (n_blocks,) by name: lowest name of those that share as many
    point_starts: Integers  # (n + 1,) start of each point's list of entries
    n_at: Integers  # (n,) length of the list
    entry_at: Integers  # (total,) entries of each point
    best_tops: Integers  # (n_chunks,) largest of every CHUNK of best
    rows: Integers  # (n_rows, n_blocks) points shared with each name, for some blocks
    counted: Integers  # (n_rows, n_blocks) names that a row counts, and some that are gone
    n_counted: Integers  # (n_rows,) how many
    row_owner: Integers  # (n_rows,) block of each row, -1 for none
    row_of: Integers  # (n_blocks,) row of each block, -1 for none


def check_start(
    solved: SolvedBlocks, n_points: int | None = None, start: Floats | None = None, **_: object
) -> None:
    """Raise unless a start has a row for each point and the columns of the blocks."""
    n_points = n_points or solved.n_points
    if start is not None and start.shape != (n_points, solved.coordinates.shape[1]):
        raise ValueError(
            f"start must have a row for each of {n_points} points and the "
            f"{solved.coordinates.shape[1]} columns of the blocks, got shape {start.shape}; it is "
            "an embedding of the same points"
        )


@validate(
    check_solved,
    check_start,
    n_points=optional(count),
    start=optional(table),
)
def merge_greedy(
    solved: SolvedBlocks, n_points: int | None = None, *, start: ArrayLike | None = None
) -> MergeResult:
    """Merge the two blocks with the most shared points until one holds all (Section 2.4).

    The smaller block is moved by the rigid motion that fits it best to the larger one on the shared
    points. The merged block is the union; a shared point comes to lie at the mean of its two
    positions, weighted by how many cliques each already is the mean of. Ties go to the lowest
    indices of blocks.

    A motion is unique from M + 1 shared points on that are not flat: where they are on a line in
    the plane or a plane in space, their mirror image fits nearly as well, judged by what the motion
    leaves. Such pairs merge after all others and are turned as little as possible; a warning counts
    them. With a start, "as little as possible" is counted from there: what shared points leave open
    stays as the start has it. Blocks that share no point stay apart, and `labels` tells these
    components; points in no block are components of one. Each is centered at 0 in a frame of its
    own (see `place_groups`), or with a start where it comes nearest to it.

    Parameters
    ----------
    solved : SolvedBlocks
        Blocks with their own coordinates.
    n_points : int, optional
        Number of points in all; by default the largest in a block, plus 1.
    start : (n_points, M) array_like of float64, optional
        Another embedding in the same units, such as a geodesic one, that settles what shared points
        leave open.

    Returns
    -------
    MergeResult
        Coordinates, components, residuals and the order of merging.

    Raises
    ------
    ValueError
        If the start has another shape, or values that are not finite.

    Warns
    -----
    UserWarning
        If blocks merged on fewer than M + 1 shared points, or on flat ones.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import blockwise, cliques, graph, kernels
    >>> line = np.arange(6.0)
    >>> corr = kernels.SquaredExponential().covariance((line[:, None] - line) ** 2)
    >>> g = graph.threshold(corr, 0.1)
    >>> solved = blockwise.solve(g, cliques.cover(g, 3), "squared_exponential", 1)
    >>> merged = blockwise.merge_greedy(solved, 6)
    >>> abs(np.diff(merged.coordinates[:, 0])).round(6)
    array([1., 1., 1., 1., 1.])
    >>> merged.order[:, 2]
    array([2, 2, 2])
    """
    n_points = n_points or solved.n_points
    frame = None if start is None else np.array(start, dtype=np.float64, order="C")
    merged = merge_pairs(solved, n_points, frame)
    if frame is not None:
        placed = place_groups(merged.coordinates, merged.labels, frame)
        merged = merged._replace(coordinates=placed)
    # All blocks weigh alike, as in the merger.
    alike = solved._replace(precision=np.ones_like(solved.precision))
    objective, residuals = agreement(alike, merged.coordinates)
    if merged.n_weak:
        warn_weak(merged, framed=frame is not None)
    return merged._replace(objective=objective, residuals=residuals)


def merge_pairs(solved: SolvedBlocks, n_points: int, frame: Floats | None = None) -> MergeResult:
    """Greedy merger without the warning, and without residuals.

    With a frame (n, M) blocks are brought to it first, so that what shared points leave open stays
    as it is there.
    """
    state = _start_state(solved, n_points)
    if frame is not None:
        turned, _ = place_blocks(solved.blocks, solved.coordinates, solved.weights, frame)
        state.coordinates[:] = turned
    order = np.empty((max(solved.blocks.n_blocks - 1, 0), 3), dtype=np.int64)
    is_open = np.zeros(len(order), dtype=np.bool_)
    if order.size:
        width = solved.coordinates.shape[1]
        shared = *np.empty((2, n_points, width)), np.ones(n_points)
        squares, means = np.empty((2, width, width)), np.empty((2, width))
        motion = _jit.alignment.Motion(*squares, means, np.empty((3, width, width)))
        framed = frame is not None
        n_mergers = _jit.merging.merge_all(state, order, is_open, framed, motion, shared)
        order = order[:n_mergers].copy()
    covered = state.n_at > 0
    entries = state.entry_at[state.point_starts[:-1][covered]]
    points = np.zeros((n_points, solved.coordinates.shape[1]))
    points[covered] = state.coordinates[entries]
    groups = np.arange(n_points) + solved.blocks.n_blocks
    groups[covered] = state.name[state.owner[entries]]
    # Numbered in the order in which they appear.
    _, first, inverse = np.unique(groups, return_index=True, return_inverse=True)
    labels = first.argsort().argsort()[inverse]
    points = groups_centered(points, labels)
    n_weak = int(np.count_nonzero(is_open))
    return MergeResult(points, labels, np.zeros(n_points), order, n_weak, 0.0, 0, True)


def _start_state(solved: SolvedBlocks, n_points: int) -> MergeState:
    """Every block on its own, named by its position."""
    blocks = solved.blocks
    n_blocks, total = blocks.n_blocks, blocks.members.size
    counts = np.bincount(blocks.members, minlength=n_points)
    following = np.arange(1, total + 1)
    following[blocks.indptr[1:] - 1] = -1
    # Rows of counts stay within the memory of the entries.
    n_rows = max(total // max(n_blocks, 1), 1)
    n_chunks = -(-n_blocks // _jit.merging.CHUNK)
    return MergeState(
        members=blocks.members,
        coordinates=solved.coordinates.copy(),
        mass=np.ones(total),
        owner=np.repeat(np.arange(n_blocks), blocks.sizes),
        following=following,
        first=blocks.indptr[:-1].copy(),
        last=blocks.indptr[1:] - 1,
        size=blocks.sizes,
        name=np.arange(n_blocks),
        slot=np.arange(n_blocks),
        best=np.zeros(n_blocks, dtype=np.int64),
        partner=np.zeros(n_blocks, dtype=np.int64),
        point_starts=np.append(0, np.cumsum(counts)),
        n_at=counts,
        entry_at=np.argsort(blocks.members, kind="stable"),
        best_tops=np.zeros(n_chunks, dtype=np.int64),
        rows=np.zeros((n_rows, n_blocks), dtype=np.int64),
        counted=np.zeros((n_rows, n_blocks), dtype=np.int64),
        n_counted=np.zeros(n_rows, dtype=np.int64),
        row_owner=np.full(n_rows, -1),
        row_of=np.full(n_blocks, -1),
    )


def groups_centered(points: Floats, labels: Integers) -> Floats:
    """Each group moved to have its mean at 0."""
    sizes = np.bincount(labels)
    means = np.column_stack([np.bincount(labels, column) / sizes for column in points.T])
    return points - means[labels]


def warn_weak(result: MergeResult, *, framed: bool = False) -> None:
    """Say how many mergers had too few shared points for a unique motion."""
    needed = result.coordinates.shape[1] + 1
    cure = "merge='global' starts from a geodesic latent, which fixes the angle"
    if framed:
        cure = "there it is that of the start"
    warn(
        f"{result.n_weak} of {result.order.shape[0]} mergers of blocks rest on fewer than {needed} "
        f"shared points or on points that are flat, so that their angle is open; {cure}"
    )
