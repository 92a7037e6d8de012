"""Refine: move a latent to lower stress, or to higher likelihood."""

from __future__ import annotations

from ._by_core import CoreFit, likelihood_by_core
from ._closed_forms import closed_form, random_closed_form
from ._likelihood import (
    LikelihoodFit,
    LocalOptimum,
    OptimumRecord,
    likelihood,
    local_optimum,
)
from ._objects import Likelihood, Stress
from ._pairs import distance_precision
from ._stress import StressFit, stress

REFINEMENTS = {"stress": Stress, "likelihood": Likelihood}
"""Class of every refinement, by the name that `IKD` calls it."""

__all__ = [
    "REFINEMENTS",
    "CoreFit",
    "Likelihood",
    "LikelihoodFit",
    "LocalOptimum",
    "OptimumRecord",
    "Stress",
    "StressFit",
    "closed_form",
    "distance_precision",
    "likelihood",
    "likelihood_by_core",
    "local_optimum",
    "random_closed_form",
    "stress",
]
