"""`IKD`, the scikit-learn estimator: stores, checks, calls."""

from ._ikd import IKD

__all__ = ["IKD"]
