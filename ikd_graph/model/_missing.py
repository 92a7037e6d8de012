"""Missing values: filled in with what a latent of the pairs that are known expects of them.

Rows are compared over the columns that both have, which gives a closed form and its polish by
stress. Given that latent the Gaussian process expects of every missing value a mean, and so the
table is filled in; a latent of that table fills it in once more, and the fit is then that of a
whole table. Filling in the mean of a column instead pulls rows towards one another, the more the
more of them is missing.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from .. import _limits, gplvm, kernels
from .._gaps import check_common, check_filled, check_overlap
from .._stages import Stages
from .._validation import check_integer
from ..covariance import pairwise
from ..evidence import Wishes
from ..similarity import AFFINITIES, ProductSimilarity, Similarity, unique_rows
from ._fit import fit
from ._generate import explain_covariance
from ._record import Model, Noise
from ._task import Task

Floats = NDArray[np.float64]

LEAST_OVERLAP = 3
"""Columns that two rows must share to be compared, or half of all where there are fewer than six:
two values are always on one line."""

_NEIGHBORS, _NEAREST = 7, 10
# Coordinates that values are filled in from, or as many as are asked for: those of a plane tell too
# little of a digit (root mean square 3.6, with ten 2.9, with twenty 2.9).
_FILLED_FROM = 10
# A latent of the pairs that are known, and one of the table filled in from it: with noise half of
# the loss goes by it. A third gained nothing in 48 tables of Gaussian processes.
_LATENTS = 2
# Rounds of expectation and maximization, after which the variances hardly move.
_ROUNDS = 5
# Noise, as a share of the variance, below which the covariance cannot be inverted.
_LEAST_NOISE = 1e-6


def least_overlap(n_columns: int) -> int:
    """Columns that two rows must share to be compared."""
    return min(LEAST_OVERLAP, max(1, (n_columns + 1) // 2))


def fill(X: NDArray[np.floating], task: Task, stages: Stages) -> NDArray[np.floating]:
    """A table with its missing values filled in, in the precision of X.

    Parameters
    ----------
    X : (n, p) ndarray of float
        Rows; what is missing is NaN.
    task : Task
        What is asked for: the number of coordinates, and how rows are compared.
    stages : Stages
        Where time goes.

    Returns
    -------
    (n, p) ndarray of float
        The known values as they were, and the others.

    Raises
    ------
    ValueError
        If a row or a column is empty, or a row shares too few columns with too many others.
    """
    known = ~np.isnan(X)
    if known.all():
        return X
    check_filled("row", known.any(axis=1))
    check_filled("column", known.any(axis=0))
    kind = _kind(task.affinity)
    kernel = kernels.get("squared_exponential" if task.kernel == "auto" else task.kernel)
    with stages("missing values"):
        filled = X
        for _ in range(_LATENTS):
            latent = _latent_of_pairs(_in_units(filled)[0], task, kind)
            filled = _filled_from(latent, X, kernel)
    return filled


def fit_again(X: NDArray[np.floating], found: Model, task: Task, stages: Stages) -> Model:
    """The fit of a table filled in from the latent of a first fit, where that is one of the model.

    A polish by the likelihood has a latent of its own, and what it expects of the missing values is
    nearer to them: R2 rose in each of 8 tables with half of their values. A budget of time is spent
    by then.
    """
    polished = found.polished
    if not np.isnan(X).any() or polished is None or polished.noise is None or task.time_budget:
        return found
    with stages("missing values"):
        filled = _filled_from(found.latent.coordinates, X, polished.kernel)
    with warnings.catch_warnings():
        # What there is to say was said by the first fit.
        warnings.simplefilter("ignore", UserWarning)
        return fit(filled, task, stages)


def _in_units(X: NDArray[np.floating]) -> tuple[Floats, float]:
    """Values over the largest of them, and that."""
    values = X.astype(np.float64)
    unit = float(np.nanmax(np.abs(values))) or 1.0
    return values / unit, unit


def _filled_from(
    latent: Floats, X: NDArray[np.floating], kernel: kernels.StationaryKernel
) -> NDArray[np.floating]:
    """X with what a latent expects of its missing values."""
    known = ~np.isnan(X)
    values, unit = _in_units(X)
    middle = np.nanmean(values, axis=0)
    expected = _expected(latent, np.where(known, values - middle, 0.0), known, kernel) + middle
    filled = np.where(known, X, (expected * unit).astype(X.dtype))
    # Rows with the same values and the same holes are one row, rounding in the latent or not.
    first, inverse = unique_rows(np.hstack([np.where(known, values, 0.0), known]))
    return filled[first[inverse]]


def _expected(
    latent: Floats, values: Floats, known: NDArray[np.bool_], kernel: kernels.StationaryKernel
) -> Floats:
    """Values with the mean, given what is known of their column, of those that are missing.

    Variances and length-scale are those of the known values: expectation and maximization, where
    the covariance of the rows has, beside that of the filled values, what is open about them.
    """
    few = np.linspace(0, len(latent) - 1, min(len(latent), _limits.GENERATIVE_SCALE)).astype(
        np.int64
    )
    points, some, seen = latent[few], values[few], known[few]
    filled, doubt = some, np.zeros((few.size, few.size))
    for _ in range(_ROUNDS):
        cov = gplvm.sample_covariance(filled, centered=False) + doubt / values.shape[1]
        noise = explain_covariance(points, cov, values.shape[1], kernel)
        doubt = np.zeros_like(cov)
        filled = _condition(_precision(points, noise), some, seen, doubt)
        doubt *= noise.variance
    return _condition(_precision(latent, noise), values, known)


def _precision(latent: Floats, noise: Noise) -> Floats:
    """Inverse of the covariance of the rows over the variance, which may be next to nothing."""
    cov = noise.kernel.covariance(cdist(latent, latent, "sqeuclidean"))
    cov.flat[:: len(cov) + 1] += max(noise.noise / noise.variance, _LEAST_NOISE)
    return np.asarray(np.linalg.inv(cov), dtype=np.float64)


def _condition(
    precision: Floats, values: Floats, known: NDArray[np.bool_], doubt: Floats | None = None
) -> Floats:
    r"""Mean of what is missing given what is known, each column by itself.

    With P the precision, U the missing and O the known rows of a column, that mean is
    ``-P_UU^-1 P_UO x_O``, and the covariance about it ``P_UU^-1``, which is added to ``doubt``.
    """
    filled = values.copy()
    # What is missing is zero here, so that only what is known counts.
    pull = precision @ values
    for column in np.flatnonzero(~known.all(axis=0)):
        gone = np.flatnonzero(~known[:, column])
        block = precision[np.ix_(gone, gone)]
        if doubt is None:
            filled[gone, column] = -np.linalg.solve(block, pull[gone, column])
        else:
            cov = np.linalg.inv(block)
            filled[gone, column] = -cov @ pull[gone, column]
            doubt[np.ix_(gone, gone)] += cov
    return filled


def fill_new(X: NDArray[np.floating], rows: NDArray[np.floating], affinity: str) -> Any:
    """New rows with their missing values filled in, each by itself.

    Parameters
    ----------
    X : (b, p) ndarray of float
        New rows; what is missing is NaN.
    rows : (n, p) ndarray of float
        Training rows, whole.
    affinity : str
        Name of the affinity.

    Returns
    -------
    (b, p) ndarray of float
        Each missing value is the mean of it in the rows that are nearest over what is known.
    """
    known = ~np.isnan(X)
    if known.all():
        return X
    check_filled("row", known.any(axis=1))
    filled, least = X.copy(), least_overlap(X.shape[1])
    check_overlap(known.sum(axis=1), least)
    table = rows.astype(np.float64, copy=False)
    for at in np.flatnonzero(~known.all(axis=1)):
        found = pairwise(X[at : at + 1].astype(np.float64), table, _kind(affinity).over_pairs)[0][0]
        near = np.argsort(-found, kind="stable")[:_NEAREST]
        expected = table[near].mean(axis=0)
        filled[at, ~known[at]] = expected[~known[at]]
    return filled


def _kind(affinity: str) -> type[Similarity]:
    """How rows with missing values are compared under an affinity, under "auto" by correlation."""
    return AFFINITIES.get(affinity, ProductSimilarity)


def _latent_of_pairs(values: Floats, task: Task, kind: type[Similarity]) -> Floats:
    """Latent of the similarities that are known."""
    n = len(values)
    check_integer(
        "the number of rows with missing='pairwise'", n, 2, _limits.PAIRS_FILLED, "impute first"
    )
    similarity, shared = pairwise(values, values, kind.over_pairs)
    least = least_overlap(values.shape[1])
    unknown = check_common(shared, least)
    if unknown.any():
        warnings.warn(
            f"{int(unknown.sum()) // 2} of {n * (n - 1) // 2} pairs of rows have fewer than "
            f"{least} columns in common: they are compared by way of the other rows; drop the rows "
            "with fewest values, or impute, to be rid of such pairs",
            UserWarning, stacklevel=4,
        )  # fmt: skip
    if kind.ignores_columns:
        # One less the squared distance over its mean, as of whole rows.
        apart = -similarity[~(unknown | np.eye(n, dtype=np.bool_))].mean()
        similarity = 1.0 + similarity / (apart or 1.0)
    # No edge joins what cannot be compared.
    similarity[unknown] = 0.0
    similarity = 0.5 * (similarity + similarity.T)
    # Of few columns any value may come out: such pairs are no neighbours while there are better.
    similarity *= np.sqrt(np.minimum(shared / np.median(shared), 1.0))
    np.fill_diagonal(similarity, 1.0)
    asked = 1 if task.n_components == "auto" else int(task.n_components)
    wanted = max(_FILLED_FROM, asked)
    wishes = Wishes(threshold=None, n_neighbors=min(_NEIGHBORS, n - 1), refine="stress")
    pairs = replace(
        task, n_components=min(wanted, n - 1), affinity="precomputed", wishes=wishes,
        disconnected="join", n_landmarks=None, verbose=0,
    )  # fmt: skip
    with warnings.catch_warnings():
        # Of what nobody asked for nobody is warned.
        warnings.simplefilter("ignore", UserWarning)
        return fit(similarity, pairs, Stages()).latent.coordinates
