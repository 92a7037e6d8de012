"""`IKD`, the scikit-learn estimator: stores, checks, calls."""

from ._ikd import IKD
from ._notebook import lead

__all__ = ["IKD", "lead"]
