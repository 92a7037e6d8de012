"""Rigid motions between blocks: one fit, blocks merged pair by pair, and all at once.

Every clique is solved in a frame of its own, and a rigid motion (rotation or reflection, then
translation) brings it to the others on the points that they share (Li & Wu 2024, Section 2.4).
`merge_greedy` is the paper's way, `merge` aligns all cliques to a consensus.
"""

from ._consensus import merge
from ._greedy import MergeResult, merge_greedy
from ._joints import KINDS, Joints, joints, mirror, solved_blocks
from ._joints import describe_open as describe_open
from ._rigid import RigidMap, place_groups, rigid_fit
from ._rounds import proposals, residuals

__all__ = [
    "KINDS",
    "Joints",
    "MergeResult",
    "RigidMap",
    "joints",
    "merge",
    "merge_greedy",
    "mirror",
    "place_groups",
    "proposals",
    "residuals",
    "rigid_fit",
    "solved_blocks",
]
