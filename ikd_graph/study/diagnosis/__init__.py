"""Can these data be embedded at all: correlations worth trusting, and the accuracy to expect."""

from ._diagnose import MOST_POINTS, SAMPLE_POINTS, diagnose
from ._record import WEAK_R2, Diagnosis

__all__ = ["MOST_POINTS", "SAMPLE_POINTS", "WEAK_R2", "Diagnosis", "diagnose"]
