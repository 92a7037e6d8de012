"""Whether a column is related to a map: against the same columns, shifted along the rows.

Values are moved in units of the noise of their rows: a noisy row stays one wherever they go.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.stats import false_discovery_control

from .._base.types import Floats
from ._fit import bayes_factor, evidence
from ._smoother import Smoother

NULLS = ("shift", "permute")
FEWEST_VALUES = 10
"""Values of a column that differ from its most frequent one, below which its tail is its own."""

_POOLED = 20_000  # values of the null distribution
_FEWEST, _MOST = 6, 99  # draws of each column
_ROUNDING = 1e-9  # of the largest draw, below which two do not differ
_PRIOR = 10.0  # draws that moments of all columns count as


def draws(n_columns: int) -> int:
    """Return how often every column is shifted."""
    return int(np.clip(-(-_POOLED // max(n_columns, 1)), _FEWEST, _MOST))


def bayes_factors(
    Y: Floats, smooth: Smoother, n_draws: int, null: str, rng: np.random.Generator
) -> Floats:
    """Bayes factors of standardized columns (n, b), and after random moves of these, (1 + k, b)."""
    n, squares = len(Y), np.einsum("ij,ij->j", Y, Y)
    found = np.empty((1 + n_draws, Y.shape[1]))
    for draw in range(1 + n_draws):
        if draw == 0:
            moved = smooth.basis
        elif null == "shift":
            moved = np.roll(smooth.basis, int(rng.integers(1, n)), axis=0)
        else:
            moved = smooth.basis[rng.permutation(n)]
        found[draw] = bayes_factor(evidence(Y.T @ moved, squares, smooth))
    return found


def p_values(observed: Floats, null: Floats, few_values: NDArray[np.bool_]) -> Floats:
    """Compute p values of columns, (p,), from the null draws of all, (k, p).

    Each column is measured in standard deviations of its own draws, whose moments lean on those of
    all columns; the tail of that distance is pooled. Columns with ``few_values``, whose tail is
    another one, are ranked among their own draws alone.
    """
    mean, spread = _moments(null.sum(axis=0), (null**2).sum(axis=0), len(null), null)
    distance = (observed - mean) / spread
    others = _moments(null.sum(axis=0) - null, (null**2).sum(axis=0) - null**2, len(null) - 1, null)
    pooled = np.sort(((null - others[0]) / others[1])[:, ~few_values], axis=None)
    above = pooled.size - np.searchsorted(pooled, distance, side="left")
    p = (1.0 + above) / (1.0 + pooled.size)
    own = (1.0 + (null >= observed).sum(axis=0)) / (1.0 + len(null))
    return np.asarray(np.where(few_values, own, p))


def _moments(sums: Floats, squares: Floats, count: int, null: Floats) -> tuple[Floats, Floats]:
    """Mean and standard deviation of draws, each with the draws of all columns as a prior."""
    middle, variance = float(null.mean()), float(null.var())
    mean = (sums + _PRIOR * middle) / (count + _PRIOR)
    around = np.maximum(squares - 2.0 * mean * sums + count * mean**2, 0.0)
    spread = np.sqrt((around + _PRIOR * variance) / (count + _PRIOR))
    # Draws of rows that repeat differ by rounding alone.
    return mean, np.maximum(spread, _ROUNDING * max(float(np.abs(null).max()), 1.0))


def q_values(p: Floats) -> Floats:
    """Compute the false discovery rate at which each column is found (Benjamini and Hochberg)."""
    return np.asarray(false_discovery_control(p, method="bh"))
