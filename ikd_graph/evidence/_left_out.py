"""What rows that are near tell of columns that were left out.

Each quarter of the columns is predicted from rows that are nearest over the others. Nothing is
predicted by itself: a latent tells much of the noise that it was made from, whatever made it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from .. import covariance, similarity
from ._prediction import CHANCE, Judge

Floats = NDArray[np.float64]

PARTS = 4
"""Parts of the columns, each left out once."""

ROWS = 500
"""Rows that are compared over columns but a part: .02 s for digits."""


def scaling_helps(X: NDArray[np.floating]) -> bool:
    """Whether rows that are near over scaled columns tell more of the columns that were left out.

    Parameters
    ----------
    X : (n, p) ndarray of float
        Measurements; of more than 500 rows a random sample is looked at.

    Returns
    -------
    bool
        Whether scaling predicts more than chance would have it, at a level of 5 %.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import evidence
    >>> rng = np.random.default_rng(0)
    >>> z = rng.normal(size=(200, 2))
    >>> X = z @ rng.normal(size=(2, 12)) + 0.1 * rng.normal(size=(200, 12))
    >>> evidence.scaling_helps(X), evidence.scaling_helps(X * np.logspace(-2, 2, 12))
    (False, True)
    """
    columns = varying_columns(X)
    if columns.shape[1] < 2:
        return False
    return _tells_more(columns, lambda kept: kept / kept.std(axis=0), lambda kept: kept)


def length_tells(X: NDArray[np.floating], affinity: str, *, are_counts: bool = False) -> bool:
    """Whether rows near in Euclidean distance tell more of columns that were left out.

    Parameters
    ----------
    X : (n, p) ndarray of float
        Measurements; of more than 500 rows a random sample is looked at.
    affinity : str
        Name of an affinity that does not see how long a row is.
    are_counts : bool
        Whether they are counts, which may have rows of zeros.

    Returns
    -------
    bool
        Whether they tell more than rows near by the affinity do, at a level of 5 %.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import evidence
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(1.0, 3.0, size=(200, 2)) @ rng.uniform(1.0, 2.0, size=(2, 12))
    >>> X = X + 0.1 * rng.normal(size=(200, 12))
    >>> evidence.length_tells(X, "cosine")
    True
    """
    columns = varying_columns(X)
    if columns.shape[1] < 2:
        return False

    def alike(kept: Floats) -> Floats:
        with warnings.catch_warnings():
            # Nobody is warned of what is only tried.
            warnings.simplefilter("ignore", UserWarning)
            made = similarity.compare(kept, affinity, counts=are_counts)
        return np.asarray(made.factor())

    try:
        return _tells_more(columns, lambda kept: kept, alike, are_counts=are_counts)
    except ValueError:
        # Rows that cannot be compared over some of the columns.
        return False


def varying_columns(X: NDArray[np.floating]) -> Floats:
    """Columns (n, q) that vary, of at most 500 rows, over the largest standard deviation."""
    if len(X) > ROWS:
        X = X[np.sort(np.random.default_rng(0).choice(len(X), ROWS, replace=False))]
    units = covariance.column_units(X)
    varies = np.isfinite(units)
    return np.asarray(X[:, varies] / units[varies].max(initial=0.0), dtype=np.float64)


def left_out(columns: Floats) -> Iterator[NDArray[np.bool_]]:
    """Which columns are left out, (q,) each time; parts have columns of all sizes."""
    part = np.empty(columns.shape[1], dtype=np.int64)
    order = np.lexsort((columns.max(axis=0), columns.std(axis=0)))
    part[order] = np.arange(part.size) % PARTS
    for one in range(min(PARTS, part.size)):
        yield part == one


def _tells_more(
    columns: Floats,
    one: Callable[[Floats], Floats],
    other: Callable[[Floats], Floats],
    *,
    are_counts: bool = False,
) -> bool:
    """Whether neighbours among ``one`` of the kept columns predict more than among ``other``."""
    gain = np.zeros(len(columns))
    for away in left_out(columns):
        judge, kept = Judge(columns[:, away], are_counts=are_counts), columns[:, ~away]
        gain += judge.predict(one(kept)).by_point - judge.predict(other(kept)).by_point
    return bool(gain.sum() > CHANCE * gain.std() * np.sqrt(gain.size))
