"""Estimators that misbehave, in a module that a child process can import."""

import os
import time

import numpy as np
from sklearn.base import BaseEstimator

from ikd_graph.study.compare import _worker

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


def memory_of_a_fit():
    """Peak and part of a fit of 40 MB in a process that held 160 before."""
    held = np.ones(20_000_000)
    del held
    job = _worker.Job("", Takes(40), [])
    # A system that takes pages back meanwhile hides as much of a fit: the most of three is its own.
    rows = np.ones((200, 3))
    outcomes = [_worker.run_cell(job, _worker.Cell(0, "", 2, 0), rows, 0.0) for _ in range(3)]
    most = max(outcomes, key=lambda found: found.extra_mb)
    return most.peak_mb, most.extra_mb
