"""Missing values: filled in with what a latent of the pairs that are known expects of them.

Rows are compared over the columns that both have, which gives a closed form and its refinement by
stress. Given that, the Gaussian process expects a mean of every missing value, and so the table is
filled in; an embedding of that table fills it in once more.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from . import _limits, gplvm, kernels, pipeline
from ._checks import few
from ._settings import Settings
from ._stages import Stages
from ._warn import warn
from .covariance import pairwise
from .generative import NoiseModel, evenly_spaced, fit_noise_model
from .graph import Neighbors
from .refine import Stress
from .similarity import AFFINITIES, compare, unique_rows
from .strategies import Geodesic

Floats = NDArray[np.float64]

LEAST_OVERLAP = 3
"""Columns that two rows must share to be compared, or half of all where there are fewer than six:
two values are always on one line."""

_NEIGHBORS, _NEAREST = 7, 10
# Coordinates that values are filled in from: those of a plane carry too little of a digit.
_COMPONENTS = 10
_ROUNDS = 2  # an embedding of the known pairs, and one of the table filled in from it
_EM_ROUNDS = 5  # of expectation and maximization, after which the variances hardly move
_LEAST_NOISE = 1e-6  # as a share of the variance: below it the covariance cannot be inverted


def least_overlap(n_columns: int) -> int:
    """Columns that two rows must share to be compared."""
    return min(LEAST_OVERLAP, max(1, (n_columns + 1) // 2))


def fill(X: NDArray[np.floating], settings: Settings, stages: Stages) -> NDArray[np.floating]:
    """A table with its missing values filled in, in the precision of X.

    Parameters
    ----------
    X : (n, p) ndarray of float
        Rows; what is missing is NaN.
    settings : Settings
        How rows are compared, the kernel, and the number of coordinates.
    stages : Stages
        Clock and progress bar.

    Returns
    -------
    (n, p) ndarray of float
        The known values as they were, and the filled ones.

    Raises
    ------
    ValueError
        If a row or a column is empty, or a row shares too few columns with too many others.
    """
    known = ~np.isnan(X)
    if known.all():
        return X
    _check_filled("row", known.any(axis=1))
    _check_filled("column", known.any(axis=0))
    kernel = kernels.get("squared_exponential" if settings.kernel == "auto" else settings.kernel)
    with stages("missing values"):
        filled = X
        for _ in range(_ROUNDS):
            latent = _latent_of_pairs(_in_units(filled)[0], settings, kernel)
            filled = _filled_from(latent, X, kernel)
    return filled


def fill_new(X: NDArray[np.floating], rows: NDArray[np.floating], affinity: str) -> Any:
    """New rows (b, p) with their missing values filled in, each by itself.

    Each missing value is the mean of it in the training rows nearest over what is known. A row with
    too few values to be compared keeps its NaN.
    """
    known = ~np.isnan(X)
    if known.all():
        return X
    filled, table = X.copy(), rows.astype(np.float64, copy=False)
    enough = known.sum(axis=1) >= least_overlap(X.shape[1])
    for at in np.flatnonzero(enough & ~known.all(axis=1)):
        row = X[at : at + 1].astype(np.float64)
        values = pairwise.unchecked(row, table, _over_pairs(affinity))[0][0]
        near = np.argsort(-values, kind="stable")[:_NEAREST]
        filled[at, ~known[at]] = table[near].mean(axis=0)[~known[at]]
    return filled


def _check_filled(what: str, some: NDArray[np.bool_]) -> None:
    """Raise if a row or a column holds no value at all."""
    empty = np.flatnonzero(~some)
    if empty.size:
        raise ValueError(
            f"every {what} of X must hold a value, got {empty.size} empty: {few(empty)}; drop them"
        )


def _too_few_in_common(shared: Floats, least: int) -> NDArray[np.bool_]:
    """Pairs of rows with too few columns in common; raise where a row has too many of them.

    A row that can be compared with half of the others is placed by them. Two groups of rows without
    a column in common cannot be laid against one another, and one of them is at most half of all.
    """
    unknown = shared < least
    np.fill_diagonal(unknown, False)
    count, others = unknown.sum(axis=1), max(len(unknown) - 1, 1)
    bad = np.flatnonzero(2 * count > others)
    if bad.size:
        worst = bad[np.argmax(count[bad])]
        raise ValueError(
            f"every row must have at least {least} columns in common with half of the others for "
            f"missing='pairwise', got {others - int(count[worst])} of {others} rows for row "
            f"{worst} ({bad.size} such rows: {few(bad)}); drop those rows, or impute"
        )
    return unknown


def _over_pairs(affinity: str) -> str:
    """How rows with missing values are compared under an affinity, under "auto" by correlation."""
    return AFFINITIES[affinity].over_pairs if affinity in AFFINITIES else "correlation"


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
    """Mean of every missing value given what is known of its column.

    Variances and length-scale are those of the known values, by expectation and maximization: the
    covariance of the rows has, beside that of the filled values, their uncertainty.
    """
    sample = evenly_spaced(len(latent), _limits.GENERATIVE_SCALE)
    points, part, seen = latent[sample], values[sample], known[sample]
    filled, uncertainty = part, np.zeros((sample.size, sample.size))
    for _ in range(_EM_ROUNDS):
        cov = (
            gplvm.sample_covariance.unchecked(filled, centered=False)
            + uncertainty / values.shape[1]
        )
        model = fit_noise_model(points, cov, values.shape[1], kernel)
        uncertainty = np.zeros_like(cov)
        filled = _condition(_precision(points, model), part, seen, uncertainty)
        uncertainty *= model.variance
    return _condition(_precision(latent, model), values, known)


def _precision(latent: Floats, model: NoiseModel) -> Floats:
    """Inverse of the covariance of the rows over the variance."""
    cov = model.kernel.covariance(cdist(latent, latent, "sqeuclidean"))
    cov.flat[:: len(cov) + 1] += max(model.noise / model.variance, _LEAST_NOISE)
    return np.asarray(np.linalg.inv(cov), dtype=np.float64)


def _condition(
    precision: Floats, values: Floats, known: NDArray[np.bool_], uncertainty: Floats | None = None
) -> Floats:
    r"""Mean of what is missing given what is known, each column by itself.

    With P the precision, U the missing and O the known rows of a column, that mean is
    ``-P_UU^-1 P_UO x_O``, and the covariance about it ``P_UU^-1``, which is added to
    ``uncertainty``.
    """
    filled = values.copy()
    # What is missing is zero here, so that only what is known counts.
    pull = precision @ values
    for column in np.flatnonzero(~known.all(axis=0)):
        gone = np.flatnonzero(~known[:, column])
        block = precision[np.ix_(gone, gone)]
        if uncertainty is None:
            filled[gone, column] = -np.linalg.solve(block, pull[gone, column])
        else:
            cov = np.linalg.inv(block)
            filled[gone, column] = -cov @ pull[gone, column]
            uncertainty[np.ix_(gone, gone)] += cov
    return filled


def _latent_of_pairs(
    values: Floats, settings: Settings, kernel: kernels.StationaryKernel
) -> Floats:
    """Coordinates from the similarities of the pairs that are known."""
    n = len(values)
    if n > _limits.PAIRS_FILLED:
        raise ValueError(
            f"missing='pairwise' takes at most {_limits.PAIRS_FILLED} rows, got {n}; impute first"
        )
    over = _over_pairs(settings.affinity)
    similarity, shared = pairwise.unchecked(values, values, over)
    least = least_overlap(values.shape[1])
    unknown = _too_few_in_common(shared, least)
    if unknown.any():
        warn(
            f"{int(unknown.sum()) // 2} of {n * (n - 1) // 2} pairs of rows have fewer than "
            f"{least} columns in common: they are compared by way of other rows; drop the rows "
            "with fewest values, or impute, to avoid such pairs"
        )
    if over == "euclidean":
        # One less the squared distance over its mean, as of whole rows.
        apart = -similarity[~(unknown | np.eye(n, dtype=np.bool_))].mean()
        similarity = 1.0 + similarity / (apart or 1.0)
    # No edge joins what cannot be compared.
    similarity[unknown] = 0.0
    similarity = 0.5 * (similarity + similarity.T)
    # Of few columns any value may come out: such pairs are no neighbours while there are better.
    similarity *= np.sqrt(np.minimum(shared / np.median(shared), 1.0))
    np.fill_diagonal(similarity, 1.0)
    asked = 1 if settings.n_components == "auto" else int(settings.n_components)
    pairs = Settings(
        n_components=min(max(_COMPONENTS, asked), n - 1),
        strategy=Geodesic(),
        graph=Neighbors(min(_NEIGHBORS, n - 1), prune=False),
        kernel=kernel,
        affinity="precomputed",
        refine=Stress(),
        n_landmarks=None,
        trusted=True,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return pipeline.fit(compare(similarity, "precomputed"), None, pairs, Stages()).coordinates
