"""What a data set is: points, what is known about them, and what kind of knowledge it is."""

from typing import NamedTuple

import numpy as np

KINDS = {
    "latent": "affine R2 of the true coordinates",
    "position": "R2 of the truth decoded by 10 neighbors, 5-fold cross-validation",
    "circular": "R2 of sine and cosine of true angles decoded by 10 neighbors, 5 folds",
    "classes": "accuracy of 5 neighbors that vote, 5 stratified folds",
}
"""How each kind of knowledge is scored."""


class Points(NamedTuple):
    """Points of one data set and what is known about them."""

    X: np.ndarray  # (n, n_features) float64
    truth: np.ndarray  # (n, m) coordinates or angles, or (n,) codes of classes
    kind: str  # a key of KINDS


class Absent(Exception):
    """Data that this machine does not have: the message says what to install or set."""
