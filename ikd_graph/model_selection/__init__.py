"""What "auto" stands for: settings of a fit from what was asked and the table."""

from ._moments import ENOUGH_COLUMNS, Moments, has_significant_correlation, moments
from ._resolve import (
    FEWEST_COLUMNS,
    first_unbeaten,
    held_out_scores,
    options,
    predict,
    principal_directions,
    resolve,
)

__all__ = [
    "ENOUGH_COLUMNS",
    "FEWEST_COLUMNS",
    "Moments",
    "first_unbeaten",
    "has_significant_correlation",
    "held_out_scores",
    "moments",
    "options",
    "predict",
    "principal_directions",
    "resolve",
]
