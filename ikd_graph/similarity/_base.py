"""Affinities by name, and what every similarity offers to graphs, strategies and placement."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base import limits
from .._base.format import setting
from .._base.table import SparseTable, evenly_spaced
from .._base.types import Booleans, Floats, Indices, Integers, Reals
from ..kernels import SquaredExponential, StationaryKernel
from ._correlations import FLOOR, clip_correlations, column_units, symmetric_matrix
from ._neighbors import block_neighbors

_SEARCHED = 25
"""Neighbors that are searched at once: a second graph of the same points asks for as many."""

_TINY = float(np.finfo(np.float64).tiny)


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
        units = column_units(X) if units is None else units
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


class Similarity(ABC):
    """How points are compared: covariances on the scale where the variance is 1.

    A similarity is a source of blocks of rows. Nothing here forms an (n, n) array but `matrix`.
    """

    affinity: Affinity
    n_samples: int
    n_observed: int | None  # number N of columns, None where only covariances were given
    rows: Any = None  # (n, q) whose squared distances are those of the similarities, None without
    is_graph = False  # whether what is stored is the graph, so that no neighbors are chosen
    least_neighbor = -np.inf  # similarity that a neighbor must exceed
    search: str = "auto"  # how neighbors are searched, see `row_neighbors`
    unit: float = 1.0  # the distance sigma between points of similarity 1/2, of distances
    centers_rows: bool  # whether the likelihood takes the mean of each row off first
    _near: Indices | None = None

    def __init__(self, affinity: Affinity, n_samples: int, n_observed: int | None) -> None:
        self.affinity, self.n_samples, self.n_observed = affinity, n_samples, n_observed
        self.centers_rows = affinity.centers_rows and not affinity.euclidean

    def inverse(self, kernel: StationaryKernel) -> StationaryKernel:
        """Kernel that turns weights of edges into squared distances.

        A distance is a distance: its weight ``exp(-d^2 / (2 sigma^2))`` gives it back in its own
        unit, whatever the kernel of the model is.
        """
        return SquaredExponential(length_scale=self.unit) if self.affinity.euclidean else kernel

    def weights(self, values: Floats) -> Floats:
        """Weights of edges that are there whatever the similarities of their ends: positive."""
        if self.affinity.euclidean:
            return np.clip(np.exp(values - 1.0), _TINY, 1.0)
        return np.clip(values, FLOOR, 1.0)

    def sq_distances(self, kernel: StationaryKernel) -> Floats:
        """Squared distances of all pairs, (n, n), in the unit of the embedding."""
        if self.affinity.euclidean:
            return 2.0 * self.unit**2 * (1.0 - self.matrix())
        return kernel.sq_distance(clip_correlations(self.matrix()))

    def sq_distances_of_weights(self, weights: Floats) -> Floats:
        """Squared distances that edges stand for, those of unit vectors where none are given."""
        if self.affinity.euclidean:
            return -2.0 * np.log(weights)
        return np.maximum(2.0 - 2.0 * weights, 0.0)

    def modeled(self, X: Any) -> Any:
        """Rows as the likelihood takes them for samples of a Gaussian process."""
        return X

    def shared_columns(self, first: Integers, second: NDArray[np.integer]) -> int | Integers:
        """Count the columns behind the similarity of pairs; one number where it is that of all."""
        return self.n_observed or 1

    @abstractmethod
    def block(self, points: Integers, first: int = 0) -> Reals:
        """Similarities of some points (b,) with those from ``first`` on, (b, n - first)."""

    @abstractmethod
    def between(self, first: Integers, second: Integers) -> Floats:
        """Similarities of pairs of points, the same bits either way round; -inf if not known."""

    def edge_weights(self, start: int, stop: int) -> Reals:
        """Weights of points from ``start`` to ``stop`` with those from ``start`` on."""
        block = self.block(np.arange(start, stop), start)
        return np.exp(block - 1.0) if self.affinity.euclidean else block

    def least_edge(self, first: Integers, second: Integers, s0: float) -> float | Floats:
        """Weight that the edge between points must exceed where a threshold is ``s0``."""
        return s0

    def matrix(self) -> Floats:
        """Similarity of every pair, (n, n)."""
        return symmetric_matrix(
            lambda start, stop: self.block(np.arange(start, stop), start), self.n_samples
        )

    def neighbors(self, k: int) -> Indices:
        """Most similar points of every point, (n, k) int32; fewer where there are not so many."""
        most = self.n_samples - 1
        k = min(k, most)
        if self._near is None or self._near.shape[1] < k:
            self._near = self._search(min(max(k, _SEARCHED), most))
        return np.ascontiguousarray(self._near[:, :k])

    def _search(self, k: int) -> Indices:
        """Neighbors of every point, (n, k), from blocks of similarities."""
        return block_neighbors(self.block, self.n_samples, k)[0]

    def nearest(self, X: Any, k: int) -> tuple[Integers, Floats]:
        """Points nearest to new rows, whatever other rows come with them.

        The squared distance is s(x, x) + s(i, i) - 2 s(x, i). New rows come as (b, p) rows, or as
        (b, n) values with the points where those were given. Returns (b, k) indices, best first,
        of equals the lower, and their similarities.
        """
        values, n = self.factor_of(X), self.n_samples
        near, values = block_neighbors(values.__getitem__, n, min(k, n), len(values))
        return near.astype(np.int64), values

    def sq_from_mean(self, X: Any) -> Floats:
        """Squared distances (b,) of new rows from the mean point, at most what points have."""
        sample = evenly_spaced(self.n_samples, limits.SAMPLED)
        values = [self.factor_of(X), self.block(sample)]
        means = [np.ma.masked_invalid(each).mean(axis=-1).filled(0.0) for each in values]
        typical = 1.0 - float(means[1].mean())
        squares = 2.0 * (1.0 - means[0]) - typical
        least = np.finfo(np.float64).eps
        return np.clip(squares, least, max(typical, least))

    def comparable(self, X: Any) -> Booleans:
        """Whether new rows can be compared with the points, (b,)."""
        return np.asarray((self.factor_of(X) > self.least_neighbor).any(axis=1))

    def mutually_known(self, near: Integers, values: Floats) -> Booleans:
        """Which of the points near to a new row are known to it and to one another, (k,)."""
        return np.ones(near.size, dtype=np.bool_)

    def factor_of(self, X: Any) -> Floats:
        """Return such rows of new ones, (b, q), or their similarities with all points."""
        raise NotImplementedError
