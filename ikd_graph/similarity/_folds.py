"""Folds of the columns, of which each is held out once."""

import numpy as np

from .._base.types import Booleans, Floats
from ..covariance import are_ordered, column_units

FOLDS = 4
RUNS = 16
"""Runs of autocorrelated columns, so that few are next to columns of another fold."""

_TURNS, _LIKENESS = 300.0, 2.0
"""Turns of a circle by which a column moves on with its shape, and with its likeness to the mean of
all: what differs by noise is far apart, what differs by rounding is not."""


def folds(table: Floats) -> list[Booleans]:
    """Columns of each of four folds; of fewer than eight different columns all are in the one.

    Folds are of equal size. Which a column is in depends on what it looks like beside the others,
    not on units, last digits, or the order of columns or rows; equal columns are in one fold.
    Columns that follow one another are taken in runs: a column would know the one before it.
    """
    columns = (table - table.mean(axis=0, dtype=np.float64)) / column_units(table)
    mean = columns.mean(axis=1)
    likeness = columns.T @ mean / (len(mean) * (mean.std() or 1.0))
    shape = np.tanh(columns).mean(axis=0)
    place = np.mod((_TURNS * shape + _LIKENESS * likeness).round(9), 1.0)
    different, number = np.unique(place, return_inverse=True)
    if different.size < 2 * FOLDS:
        return [np.ones(number.size, dtype=np.bool_)]
    fold = number * FOLDS // different.size
    if number.size >= 2 * RUNS and are_ordered(table):
        order = np.random.default_rng(0).permutation(RUNS)
        fold = order[np.arange(number.size) * RUNS // number.size] % FOLDS
    return [fold == part for part in range(FOLDS)]
