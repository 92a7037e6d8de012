"""Affinities by name: how rows are compared, and what the values that come of it mean."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._base.format import setting
from .._base.rounding import TINY
from .._base.table import SparseTable
from .._base.types import Floats, Reals
from ..covariance import FLOOR, clip_correlations, column_units
from ..kernels import SquaredExponential, StationaryKernel


@dataclass(frozen=True)
class Affinity:
    """What a name of an affinity stands for.

    Rows are compared by their inner products after each was scaled ("correlation", "cosine"): the
    values are covariances on the scale where the variance is 1.
    """

    euclidean: ClassVar[bool] = False  # squared distances; else products of rows of unit length
    least_weight: ClassVar[float] = FLOOR  # of an edge that is there whatever its similarity
    significant: ClassVar[float] = 2.5
    """Standard errors 1 / sqrt(n) of its own n shared columns that the value of a pair must exceed
    to be an edge of a threshold graph."""

    name: str
    summary: str  # what is compared, in words that end a sentence
    centers_rows: bool = True  # the likelihood takes the mean of each row off first
    square_roots: bool = False  # of counts
    scales_columns: bool = False  # every column over its standard deviation
    shared: bool = False  # edges weigh the fraction of common neighbors: named only

    @property
    def over_pairs(self) -> str:
        """What is compared: "correlation", "cosine" or "euclidean" distances."""
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
        units = column_units(X) if units is None else units
        return np.asarray(X / units, dtype=X.dtype)

    def inverse(self, kernel: StationaryKernel, unit: float) -> StationaryKernel:
        """Kernel that turns weights of edges into squared distances."""
        return kernel

    def edge_weights(self, values: Reals) -> Reals:
        """Weights of the edges between points of such similarities."""
        return values

    def sq_distances(self, values: Floats, kernel: StationaryKernel, unit: float) -> Floats:
        """Squared distances of points of such similarities, in the unit of the embedding."""
        return kernel.sq_distance(clip_correlations(values))

    def sq_distances_of_weights(self, weights: Floats) -> Floats:
        """Squared distances that edges stand for: those of unit vectors."""
        return np.maximum(2.0 - 2.0 * weights, 0.0)

    def unit_of(self, mean_square: Any) -> float:
        """Return the distance sigma of points whose mean squared distance is known."""
        return 1.0

    def similarities(self, moments: Floats, unit: float) -> Floats:
        """Similarities of pairs of rows from their moments, see `covariance.pairwise`."""
        return moments


class DistanceAffinity(Affinity):
    """Squared distances between points, as similarities 1 - |x_i - x_j|^2 / (2 sigma^2).

    Half the mean squared distance is sigma^2. A distance is a distance: the weight of an edge,
    ``exp(-d^2 / (2 sigma^2))``, gives it back in its own unit, whatever the kernel of the model is.
    """

    euclidean: ClassVar[bool] = True
    least_weight: ClassVar[float] = TINY
    significant: ClassVar[float] = 0.0

    @property
    def over_pairs(self) -> str:
        """See `Affinity.over_pairs`."""
        return "euclidean"

    def inverse(self, kernel: StationaryKernel, unit: float) -> StationaryKernel:
        """See `Affinity.inverse`."""
        return SquaredExponential(length_scale=unit)

    def edge_weights(self, values: Reals) -> Reals:
        """See `Affinity.edge_weights`."""
        return np.exp(values - 1.0)

    def sq_distances(self, values: Floats, kernel: StationaryKernel, unit: float) -> Floats:
        """See `Affinity.sq_distances`."""
        return 2.0 * unit**2 * (1.0 - values)

    def sq_distances_of_weights(self, weights: Floats) -> Floats:
        """See `Affinity.sq_distances_of_weights`: in units of sigma."""
        return -2.0 * np.log(weights)

    def unit_of(self, mean_square: Any) -> float:
        """See `Affinity.unit_of`."""
        return float(np.sqrt(0.5 * mean_square))

    def similarities(self, moments: Floats, unit: float) -> Floats:
        """See `Affinity.similarities`."""
        return 1.0 - moments / (2.0 * unit**2)


_ALL = (
    Affinity("correlation", "Pearson correlations between rows"),
    Affinity("cosine", "cosines between rows, which are not centered", centers_rows=False),
    Affinity("covariance", "covariances between rows over the standard deviations of both"),
    DistanceAffinity("euclidean", "Euclidean distances between rows"),
    DistanceAffinity(
        "standardized_euclidean",
        "Euclidean distances between rows, every column scaled to one variance",
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
