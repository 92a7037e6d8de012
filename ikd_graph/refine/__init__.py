"""Polish of any latent: by the distances the covariances ask for, or by the model's likelihood."""

from __future__ import annotations

from .curvature import standard_errors
from .majorize import StressFit, distance_precision, stress
from .search import LikelihoodFit, likelihood
from .starts import starts

__all__ = [
    "LikelihoodFit",
    "StressFit",
    "distance_precision",
    "likelihood",
    "standard_errors",
    "starts",
    "stress",
]
