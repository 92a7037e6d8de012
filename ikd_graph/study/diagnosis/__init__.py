"""Can these data be embedded at all: correlations worth trusting, and the accuracy to expect."""

from ._diagnose import diagnose
from ._record import WEAK_R2, Diagnosis

__all__ = ["WEAK_R2", "Diagnosis", "diagnose"]
