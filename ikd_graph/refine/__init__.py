"""Polish of any latent: by the distances the covariances ask for, or by the model's likelihood."""

from __future__ import annotations

from ._pairs import Weights, distance_precision
from .closed_forms import starts
from .curvature import standard_errors
from .fit import LikelihoodFit, PoolEntry, likelihood
from .majorize import StressFit, stress
from .stress_by_likelihood import select_stress

__all__ = [
    "LikelihoodFit",
    "PoolEntry",
    "StressFit",
    "Weights",
    "distance_precision",
    "likelihood",
    "select_stress",
    "standard_errors",
    "starts",
    "stress",
]
