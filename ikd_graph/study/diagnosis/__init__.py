"""Can these data be embedded at all: chance, significant correlations, the accuracy to expect."""

from ._chance import ChanceTest, chance_test
from ._diagnose import WEAK_R2, Diagnosis, Step, diagnose, noise_share

__all__ = [
    "WEAK_R2", "ChanceTest", "Diagnosis", "Step", "chance_test", "diagnose", "noise_share",
]  # fmt: skip
