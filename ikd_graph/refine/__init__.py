"""Polish of any latent: by the distances the covariances ask for, or by the model's likelihood."""

from __future__ import annotations

from .majorize import StressFit, distance_precision, stress

__all__ = ["StressFit", "distance_precision", "stress"]
