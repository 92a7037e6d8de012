"""What "auto" stands for: facts of a table, candidates, and the settings of a fit."""

from ..similarity import folds
from ._crossvalidate import (
    AGREED,
    SPLITS,
    agreement_of_halves,
    compare_candidates,
    direction_score,
    held_out_r2,
    predicted_r2,
    principal_directions,
)
from ._facts import (
    ENOUGH_COLUMNS,
    Facts,
    Moments,
    has_significant_correlation,
    moments,
    sampled,
)
from ._numbers import describe_effective_columns
from ._resolve import SUPPORTED, candidates, resolve

__all__ = [
    "AGREED", "ENOUGH_COLUMNS", "SPLITS", "SUPPORTED", "Facts", "Moments", "agreement_of_halves",
    "candidates", "compare_candidates", "describe_effective_columns",
    "direction_score", "folds", "has_significant_correlation", "held_out_r2", "moments",
    "predicted_r2", "principal_directions", "resolve", "sampled",
]  # fmt: skip
