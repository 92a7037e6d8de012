"""What a latent is for: does it predict columns that it was not made from."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ... import _checks as door
from ..._checks import check_integer
from ._tables import Floats, as_pair, as_table, within_reach

_MOST_SPLITS = 10_000  # the standard error of so many is a hundredth of the scatter of one


class CoSmoothing(NamedTuple):
    """How well held-out columns are predicted."""

    r2: float  # mean over the splits
    standard_error: float  # of the mean; NaN for a single split
    splits: Floats  # (n_splits,) R² of each


@door.takes(seed=door.seed)
def co_smoothing(
    estimator: Any, X: ArrayLike, k: int = 10, *, n_splits: int = 4, seed: int = 0
) -> CoSmoothing:
    """Embed one half of the columns and predict the other from it (Wu et al. 2018).

    It asks for no labels and no distances in the data, so that any two methods can be compared; a
    latent that follows the noise of its own columns predicts the others worse.

    Parameters
    ----------
    estimator : estimator with ``fit_transform``
        Copied and fitted anew to each half.
    X : (n, n_features) float64
        The data.
    k : int
        Number of nearest rows in the latent whose mean predicts a row.
    n_splits : int
        Number of random halves.
    seed : int
        Seed of the halves.

    Returns
    -------
    CoSmoothing
        R² over all held-out entries together, its standard error and that of each split; NaN where
        no column varies, and for the error of a single split.

    Examples
    --------
    >>> from sklearn.decomposition import PCA
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2)) @ rng.normal(size=(2, 30))
    >>> co_smoothing(PCA(2), X).r2 > 0.9
    True
    """
    from sklearn.base import clone

    if not hasattr(estimator, "fit_transform") or not hasattr(estimator, "get_params"):
        raise TypeError(
            "estimator must have fit_transform and get_params, as scikit-learn's have, got "
            f"{type(estimator).__name__}"
        )
    data = as_table("X", X)
    check_integer("k", k, 1, data.shape[0] - 1)
    scores = np.array(
        [
            held_out_r2(clone(estimator).fit_transform(data[:, kept]), data[:, ~kept], k)
            for kept in column_halves(data.shape[1], n_splits, seed)
        ]
    )
    return summarise_splits(scores)


@door.takes(seed=door.seed)
def column_halves(n_features: int, n_splits: int, seed: int = 0) -> list[NDArray[np.bool_]]:
    """Random halves of the columns: for each split, which of them are embedded.

    Parameters
    ----------
    n_features : int
        Number of columns, at least two; of an odd number the larger half is embedded.
    n_splits : int
        Number of halves.
    seed : int
        Seed of the halves.

    Returns
    -------
    list of (n_features,) bool
        True where a column is embedded, False where it is predicted.
    """
    check_integer("the number of columns", n_features, 2)
    door.count("the number of columns", n_features)
    check_integer("n_splits", n_splits, 1, _MOST_SPLITS)
    rng = np.random.default_rng(seed)
    held = n_features // 2
    return [rng.permutation(n_features) >= held for _ in range(n_splits)]


def held_out_r2(Z: ArrayLike, held_out: ArrayLike, k: int = 10) -> float:
    """R² of columns predicted for each row by the mean of its k nearest other rows in the latent.

    Parameters
    ----------
    Z : (n, m) float64
        A latent of the rows, made without these columns.
    held_out : (n, n_held) float64
        The columns. Those that do not vary have no part in the R².
    k : int
        Number of nearest rows.

    Returns
    -------
    float
        1 - residual / deviation from the mean of each column, both summed over all columns; NaN
        where none varies.
    """
    from sklearn.neighbors import NearestNeighbors

    latent, wanted = as_pair(Z, held_out, ("Z", "held_out"))
    check_integer("k", k, 1, latent.shape[0] - 1)
    latent, wanted = within_reach(latent)[0], within_reach(wanted)[0]
    # Rows at equal distances are taken in their order, which may say what is alike.
    mixed = np.random.default_rng(0).permutation(latent.shape[0])
    latent, wanted = latent[mixed], wanted[mixed]
    near = NearestNeighbors(n_neighbors=k).fit(latent).kneighbors(return_distance=False)
    predicted = wanted[near].mean(axis=1)
    total = np.sum((wanted - wanted.mean(axis=0)) ** 2)
    return float(1.0 - np.sum((wanted - predicted) ** 2) / total) if total > 0.0 else float("nan")


@door.takes(scores=door.scores)
def summarise_splits(scores: Floats) -> CoSmoothing:
    """Mean and standard error of the R² of some splits, those that are NaN left out.

    Parameters
    ----------
    scores : (n_splits,) float64
        R² of each split.

    Returns
    -------
    CoSmoothing
        NaN where there is nothing to tell.
    """
    known = scores[np.isfinite(scores)]
    mean = float(known.mean()) if known.size else float("nan")
    error = float(known.std(ddof=1) / np.sqrt(known.size)) if known.size > 1 else float("nan")
    return CoSmoothing(mean, error, scores)
