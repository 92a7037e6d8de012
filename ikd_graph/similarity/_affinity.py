"""Affinities: how a table is scaled before its rows are compared, each written once."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._base.format import setting
from .._base.table import SparseTable
from .._base.types import Floats
from ._correlations import known_column_units


@dataclass(frozen=True)
class Affinity:
    """What a name of an affinity stands for.

    Rows are compared by their inner products after each was scaled ("correlation", "cosine"), or by
    Euclidean distance as 1 - |x_i - x_j|^2 / (2 sigma^2), with sigma^2 half the mean squared
    distance.
    """

    name: str
    summary: str  # what is compared, in words that end a sentence
    euclidean: bool = False  # squared distances; else products of rows of unit length
    centers_rows: bool = True  # the likelihood takes the mean of each row off first
    square_roots: bool = False  # of counts
    scales_columns: bool = False  # every column over its standard deviation
    shared: bool = False  # edges weigh the fraction of common neighbors: named only

    @property
    def over_pairs(self) -> str:
        """What is compared: "euclidean" distances, "correlation" or "cosine"."""
        if self.euclidean:
            return "euclidean"
        return "correlation" if self.centers_rows else "cosine"

    def modeled(self, X: Any, units: Floats | None = None) -> Any:
        """Table whose columns the likelihood takes for samples of a Gaussian process."""
        if self.square_roots:
            sparse = isinstance(X, SparseTable)
            # Missing values have no least.
            least = float(np.fmin.reduce(X.stored.data if sparse else X, None, initial=0.0))
            if least < 0.0:
                raise ValueError(
                    f"X must not be negative for {setting('affinity', self.name)}, which takes the "
                    f"roots of counts, got {least:.3g}; use {setting('affinity', 'cosine')} for a "
                    "table of measurements"
                )
            return X.map(np.sqrt) if sparse else np.sqrt(X)
        if not self.scales_columns:
            return X
        units = known_column_units(X) if units is None else units
        if isinstance(X, SparseTable):
            by_entry = np.asarray(units)[X.stored.indices]
            return X.map(lambda data: data / by_entry)
        return np.asarray(X / units, dtype=X.dtype)


_ALL = (
    Affinity("correlation", "Pearson correlations between rows"),
    Affinity("cosine", "cosines between rows, which are not centered", centers_rows=False),
    Affinity("covariance", "covariances between rows over the standard deviations of both"),
    Affinity("euclidean", "Euclidean distances between rows", euclidean=True),
    Affinity(
        "standardized_euclidean",
        "Euclidean distances between rows, every column scaled to one variance",
        euclidean=True,
        scales_columns=True,
    ),
    Affinity(
        "shared_neighbors",
        "correlations between rows, weighted by the fraction of neighbors in common",
        shared=True,
    ),
    Affinity(
        "hellinger",
        "cosines between the square roots of counts",
        centers_rows=False,
        square_roots=True,
    ),
)

AFFINITIES = {affinity.name: affinity for affinity in _ALL}
"""Every affinity between rows, by the name that `IKD` calls it."""

GIVEN = ("precomputed", "precomputed_distance")
"""Affinities whose values are X itself."""
