"""Can these data be embedded at all: correlations worth trusting, and the accuracy to expect."""

from ._diagnose import diagnose, noise_share
from ._record import WEAK_R2, Diagnosis, Step

__all__ = ["WEAK_R2", "Diagnosis", "Step", "diagnose", "noise_share"]
