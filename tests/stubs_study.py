"""Estimators that misbehave, in a module that a child process can import."""

import os
import time

import numpy as np
from sklearn.base import BaseEstimator

WARM_UP = 150
"""Number of points up to which they behave: the first call on a few points."""


class Dies(BaseEstimator):
    def fit_transform(self, X):
        if X.shape[0] > WARM_UP:
            os._exit(3)
        return X


class Hangs(BaseEstimator):
    def fit_transform(self, X):
        time.sleep(60.0 if X.shape[0] > WARM_UP else 0.0)
        return X


class Raises(BaseEstimator):
    def fit_transform(self, X):
        raise RuntimeError("no luck")


class Takes(BaseEstimator):
    def __init__(self, mib):
        self.mib = mib

    def fit_transform(self, X):
        return X + np.ones(self.mib * 2**17)[-1]
