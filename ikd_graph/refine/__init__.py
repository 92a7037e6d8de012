"""Polish of any latent: by the distances the covariances ask for, or by the model's likelihood."""

from __future__ import annotations

from .closed_forms import starts
from .curvature import standard_errors
from .fit import LikelihoodFit, likelihood
from .likeliest import likeliest_stress
from .majorize import StressFit, distance_precision, stress

__all__ = [
    "LikelihoodFit",
    "StressFit",
    "distance_precision",
    "likeliest_stress",
    "likelihood",
    "standard_errors",
    "starts",
    "stress",
]
