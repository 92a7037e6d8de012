"""What a table says about the model, what every "auto" stands for, and why in plain sentences."""

from ._candidates import (
    FEWEST_COLUMNS,
    FEWEST_POINTS,
    TRIED,
    Candidate,
    Trial,
    candidates,
)
from ._choose import CLIQUE_NEIGHBORS, REFINES, Choice, Wishes, choose, sentence
from ._left_out import left_out, length_tells, scaling_helps, varying_columns
from ._prediction import CHANCE, Judge, Prediction, predict, principal_directions
from ._table import Evidence, examine, some_are_related

__all__ = [
    "CHANCE",
    "CLIQUE_NEIGHBORS",
    "FEWEST_COLUMNS",
    "FEWEST_POINTS",
    "REFINES",
    "TRIED",
    "Candidate",
    "Choice",
    "Evidence",
    "Judge",
    "Prediction",
    "Trial",
    "Wishes",
    "candidates",
    "choose",
    "examine",
    "left_out",
    "length_tells",
    "predict",
    "principal_directions",
    "scaling_helps",
    "sentence",
    "some_are_related",
    "varying_columns",
]
