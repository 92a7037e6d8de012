"""What a table says about the model, what every "auto" stands for, and why in plain sentences."""

from ._choose import (
    CLIQUE_NEIGHBORS,
    IN_GROUPS,
    REFINES,
    Choice,
    Wishes,
    choose,
    choose_affinity,
)
from ._table import Evidence, examine, groups, sample_for_groups

__all__ = [
    "CLIQUE_NEIGHBORS",
    "IN_GROUPS",
    "REFINES",
    "Choice",
    "Evidence",
    "Wishes",
    "choose",
    "choose_affinity",
    "examine",
    "groups",
    "sample_for_groups",
]
