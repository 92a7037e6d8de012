"""Refine: move an embedding to lower stress, or to higher likelihood."""

from ._by_core import CoreFit

# Named as themselves: for the layers above, not for users.
from ._closed_forms import closed_form as closed_form
from ._closed_forms import random_closed_form
from ._likelihood import LikelihoodFit, OptimumRecord, likelihood
from ._likelihood import LocalOptimum as LocalOptimum
from ._likelihood import local_optimum as local_optimum
from ._likelihood import noise_floor_of as noise_floor_of
from ._local import local_likelihood
from ._nested import NESTED_NOISE, nested_latents
from ._objects import Likelihood, Stress
from ._pairs import distance_precision
from ._stress import StressFit, stress

REFINEMENTS = {"stress": Stress, "likelihood": Likelihood}
"""Class of every refinement, by the name that `IKD` calls it."""

__all__ = [
    "NESTED_NOISE",
    "REFINEMENTS",
    "CoreFit",
    "Likelihood",
    "LikelihoodFit",
    "OptimumRecord",
    "Stress",
    "StressFit",
    "distance_precision",
    "likelihood",
    "local_likelihood",
    "nested_latents",
    "random_closed_form",
    "stress",
]
