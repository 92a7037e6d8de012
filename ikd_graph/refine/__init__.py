from dataclasses import dataclass
from typing import NamedTuple

from sklearn.base import BaseEstimator

from ._pairs import Weights, distance_precision
from .majorize import StressFit, stress


class Optimum(NamedTuple):
    a: int


class LikelihoodFit(NamedTuple):
    a: int


@dataclass(repr=False)
class Stress(BaseEstimator):
    weights: str = "auto"

    def check(self):
        pass

    def run(self, latent, g, kernel, n_observed, path, *, trusted):
        return stress(
            latent, g, kernel, n_observed, weights="precision" if trusted else "uniform", path=path
        )


@dataclass(repr=False)
class Likelihood(BaseEstimator):
    restarts: int = 0

    def check(self):
        pass


REFINEMENTS = {"stress": Stress, "likelihood": Likelihood}
