"""Solve every clique by itself and merge the solutions by rigid motions on shared points.

`solve` runs Algorithm 1 on many small blocks in one parallel pass. Every block lies in a frame of
its own, and a rigid motion (rotation or reflection, then translation) brings it to the others on
the points that they share (Li & Wu 2024, Section 2.4). `merge_greedy` is the paper's way, `merge`
aligns all cliques to a consensus.
"""

from ._global import merge
from ._greedy import MergeResult, merge_greedy
from ._joints import KINDS, Joints, joints, mirror
from ._joints import describe_open as describe_open
from ._rigid import RigidMap, place_groups, proposals, residuals, rigid_fit
from ._solve import SolvedBlocks, largest_first, solve, solved_blocks

__all__ = [
    "KINDS",
    "Joints",
    "MergeResult",
    "RigidMap",
    "SolvedBlocks",
    "joints",
    "largest_first",
    "merge",
    "merge_greedy",
    "mirror",
    "place_groups",
    "proposals",
    "residuals",
    "rigid_fit",
    "solve",
    "solved_blocks",
]
