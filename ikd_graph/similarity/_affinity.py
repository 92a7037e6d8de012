"""Affinities: how a table is scaled before its rows are compared, each written once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import covariance
from .._table import SparseTable

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Affinity:
    """What a name of an affinity stands for.

    Rows are compared by their inner products after each was scaled ("correlation", "cosine"), or by
    Euclidean distance as 1 - |x_i - x_j|^2 / (2 sigma^2) with sigma^2 half the mean squared
    distance.
    """

    name: str
    summary: str  # what is compared, in words that end a sentence
    euclidean: bool = False  # squared distances; else products of rows of unit length
    centres_rows: bool = True  # the likelihood takes the mean of each row off first
    square_roots: bool = False  # of counts
    scales_columns: bool = False  # every column over its standard deviation
    shared: bool = False  # edges weigh the share of common neighbours: named only
    scale_invariant: bool = False  # the length of a row changes nothing
    least_columns: int = 2

    @property
    def over_pairs(self) -> str:
        """How `covariance.pairwise` compares rows with missing values."""
        if self.euclidean:
            return "euclidean"
        return "correlation" if self.centres_rows else "cosine"

    def modelled(self, X: Any, units: Floats | None = None) -> Any:
        """Table whose columns the likelihood takes for samples of a Gaussian process."""
        if self.square_roots:
            sparse = isinstance(X, SparseTable)
            least = float((X.stored.data if sparse else X).min(initial=0.0))
            if least < 0.0:
                raise ValueError(
                    f"X must not be negative for affinity={self.name!r}, which takes the roots of "
                    f"counts, got {least:.3g}; use affinity='cosine' for a table of measurements"
                )
            return X.map(np.sqrt) if sparse else np.sqrt(X)
        if not self.scales_columns:
            return X
        units = self.column_units(X) if units is None else units
        if isinstance(X, SparseTable):
            by_entry = np.asarray(units)[X.stored.indices]
            return X.map(lambda data: data / by_entry)
        return np.asarray(X / units, dtype=X.dtype)

    def column_units(self, X: Any) -> Floats | None:
        """Standard deviation of every column, where columns are divided by it."""
        if not self.scales_columns:
            return None
        sparse = isinstance(X, SparseTable)
        return covariance.sparse_column_units(X) if sparse else covariance.column_units.unchecked(X)


_ALL = (
    Affinity("correlation", "Pearson correlations between rows", scale_invariant=True),
    Affinity(
        "cosine",
        "cosines between rows, which are not centred",
        centres_rows=False,
        scale_invariant=True,
        least_columns=1,
    ),
    Affinity(
        "covariance",
        "covariances between rows over the standard deviations of both",
        scale_invariant=True,
    ),
    Affinity("euclidean", "Euclidean distances between rows", euclidean=True),
    Affinity(
        "standardized_euclidean",
        "Euclidean distances between rows, every column scaled to one variance",
        euclidean=True,
        scales_columns=True,
    ),
    Affinity(
        "shared_neighbors",
        "correlations between rows, weighted by the share of neighbours in common",
        shared=True,
        scale_invariant=True,
    ),
    Affinity(
        "hellinger",
        "cosines between the square roots of counts",
        centres_rows=False,
        square_roots=True,
        scale_invariant=True,
        least_columns=1,
    ),
)

AFFINITIES = {affinity.name: affinity for affinity in _ALL}
"""Every affinity between rows, by the name that `IKD` calls it."""

GIVEN = ("precomputed", "precomputed_distance")
"""Affinities whose values are X itself."""


class Scaling:
    """Rows scaled as an affinity asks, and new rows like them.

    Parameters
    ----------
    affinity : Affinity
        How rows are compared.
    X : (n, p) ndarray of float, or SparseTable
        Rows.
    counts : bool
        Whether X is a table of integers, in which a row without spread is nothing unusual.
    double : bool
        Whether rows are kept in double precision; else in that of X.
    """

    def __init__(self, affinity: Affinity, X: Any, *, counts: bool, double: bool) -> None:
        self.affinity, self.counts = affinity, counts or affinity.square_roots
        self.rows: Any
        self.units: Floats | None = None
        self.scale: covariance.EuclideanRows | None = None  # of Euclidean rows, without the rows
        sparse = isinstance(X, SparseTable)
        if affinity.euclidean and sparse:
            self.units = affinity.column_units(X)
            self.rows, scale = covariance.sparse_euclidean_rows(affinity.modelled(X, self.units))
            if self.units is not None:
                scale = scale._replace(units=self.units)
            self.half = 0.5 - self.rows.row_factors[:, 0]
        elif affinity.euclidean:
            scale = covariance.euclidean_rows.unchecked(
                X,
                standardized=affinity.scales_columns,
                dtype=np.float64 if double else X.dtype,
            )
            self.rows, self.half = scale.points, scale.half
        else:
            table = affinity.modelled(X)
            if sparse:
                self.rows = covariance.sparse_unit_rows(table, self._unit, allow_flat=self.counts)
            else:
                rows = covariance.unit_rows.unchecked(table, self._unit, allow_flat=self.counts)
                self.rows = rows if double else rows.astype(X.dtype, copy=False)
            self.half = np.zeros(X.shape[0])
            return
        self.units = scale.units if affinity.scales_columns else None
        self.scale = scale._replace(points=np.empty((0, X.shape[1])), half=np.empty(0))

    @property
    def _unit(self) -> str:
        return "correlation" if self.affinity.centres_rows else "cosine"

    def __call__(self, X: NDArray[np.floating]) -> Floats:
        """New rows (b, p), scaled like those of the fit."""
        X = np.asarray(X, dtype=np.float64)
        if self.scale is not None:
            return self.scale.scaled(X)
        return covariance.unit_rows.unchecked(self.affinity.modelled(X), self._unit)

    def comparable(self, X: NDArray[np.floating]) -> NDArray[np.bool_]:
        """Whether new rows, (b, p), have what is compared: no NaN, and a direction where due."""
        usable = np.isfinite(X).all(axis=1)
        if not self.affinity.euclidean:
            usable[usable] = covariance.rows_vary(self.affinity.modelled(X[usable]), self._unit)
        return np.asarray(usable)
