"""Refine: move a latent to lower stress, or to higher likelihood."""

from __future__ import annotations

from ._likelihood import LikelihoodFit, OptimumRecord, likelihood
from ._pairs import distance_precision
from ._standard_errors import standard_errors
from ._stress import StressFit, stress

__all__ = ["LikelihoodFit", "OptimumRecord", "StressFit", "distance_precision", "likelihood", "standard_errors", "stress"]
