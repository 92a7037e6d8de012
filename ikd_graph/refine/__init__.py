"""Refine: move an embedding to lower stress, or to higher likelihood."""

from ._by_core import CoreFit

# Named as themselves: for the layers above, not for users.
from ._closed_forms import closed_form as closed_form
from ._closed_forms import random_closed_form
from ._known import MOST_WORK, KnownFit, known_likelihood
from ._known import centered_known as centered_known
from ._known import column_groups as column_groups
from ._known import known_columns as known_columns
from ._known import known_value as known_value
from ._known import known_variances as known_variances
from ._known import work_of as work_of
from ._likelihood import LikelihoodFit, OptimumRecord, likelihood
from ._likelihood import LocalOptimum as LocalOptimum
from ._likelihood import local_optimum as local_optimum
from ._local import local_likelihood
from ._mirrored import Mirrored as Mirrored
from ._mirrored import SessionJoints as SessionJoints
from ._mirrored import search_mirrored as search_mirrored
from ._nested import NESTED_NOISE, nested_latents
from ._objects import Likelihood, Stress
from ._pairs import distance_precision
from ._stress import StressFit, stress
from ._stress import noise_ratio as noise_ratio
from ._stress import stress_of_distances as stress_of_distances

REFINEMENTS = {"stress": Stress, "likelihood": Likelihood}
"""Class of every refinement, by the name that `IKD` calls it."""

__all__ = [
    "MOST_WORK",
    "NESTED_NOISE",
    "REFINEMENTS",
    "CoreFit",
    "KnownFit",
    "Likelihood",
    "LikelihoodFit",
    "OptimumRecord",
    "Stress",
    "StressFit",
    "distance_precision",
    "known_likelihood",
    "likelihood",
    "local_likelihood",
    "nested_latents",
    "random_closed_form",
    "stress",
]
