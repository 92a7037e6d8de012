"""Similarities that are inner products of scaled rows."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import _limits, covariance, graph
from .._records import CsrGraph
from .._threads import keep_threads, map_blocks
from .._validation import check_not_negative
from ._base import Floats, GraphRule, Indices, Similarity


class ProductSimilarity(Similarity):
    """Inner products of rows that were centred, scaled, or both.

    ``counts`` tells that X is a table of integers, in which a row without spread is nothing
    unusual.
    """

    scaling: ClassVar[str]
    """What `covariance.unit_rows` calls the way rows are scaled."""

    def __init__(self, X: NDArray[np.floating], *, counts: bool = False) -> None:
        super().__init__(*X.shape)
        self._counts = counts
        self.rows = self._scaled(X)

    def _scaled(self, X: NDArray[np.floating]) -> NDArray[np.floating]:
        """Unit rows in the precision of X if there are many, else in double."""
        if X.shape[0] <= _limits.SOLVED_WHOLE:
            return covariance.unit_rows(X, self.scaling, allow_flat=self._counts)
        rows = np.empty_like(X, order="C")

        def scale(start: int, stop: int) -> None:
            rows[start:stop] = self._scaled_block(X[start:stop])

        try:
            map_blocks(scale, X.shape[0], 512)
        except ValueError:
            # Rows without spread are counted over all rows.
            scaled = covariance.unit_rows(X, self.scaling, allow_flat=self._counts)
            rows = scaled.astype(X.dtype, copy=False)
        return rows

    def _scaled_block(self, X: NDArray[np.floating]) -> Floats:
        """Some of many rows, scaled."""
        return covariance.unit_rows(X, self.scaling)

    def block(self, points: Indices) -> NDArray[np.floating]:
        """See `Similarity.block`."""
        return np.asarray(self.rows[points] @ self.rows.T)

    def between(self, left: Indices, right: Indices) -> Floats:
        """See `Similarity.between`."""
        return graph.row_correlations(self.rows, left, right)

    def nearest(self, X: Any, k: int) -> tuple[Indices, Floats]:
        """See `Similarity.nearest`."""
        return graph.nearest_rows(self._scaled_new(X), self.rows, k)

    def _scaled_new(self, X: NDArray[np.floating]) -> Floats:
        """New rows, scaled like the training rows."""
        return covariance.unit_rows(X, self.scaling, allow_flat=self._counts)

    def factor(self) -> Any:
        """See `Similarity.factor`."""
        return self.rows

    def factor_of(self, X: Any) -> Floats:
        """See `Similarity.factor_of`."""
        return self._scaled_new(X)

    def totals(self) -> Floats:
        """See `Similarity.totals`."""
        return np.asarray(self.rows @ self.rows.sum(axis=0, dtype=np.float64))

    def matrix(self) -> Floats:
        """See `Similarity.matrix`."""
        return covariance.gram(self.rows)

    def threshold_graph(self, s0: float) -> CsrGraph:
        """See `Similarity.threshold_graph`."""
        return graph.row_threshold_graph(self.rows, s0)

    def _search(self, k: int) -> NDArray[np.int32]:
        return graph.row_neighbors(self.rows, k, neighbors=self.search)

    def _rows_by_distance(self) -> Any:
        return self.rows


class Correlation(ProductSimilarity):
    """Pearson correlation between rows: an offset and the scale of a row change nothing."""

    name = scaling = "correlation"
    forgets_length = True
    summary = "Pearson correlations between rows"


class Cosine(ProductSimilarity):
    """Cosine between rows, for a process whose mean is known to be zero (Eq. 1).

    The scale of a row changes nothing; an offset does.
    """

    name = scaling = "cosine"
    forgets_length = True
    summary = "cosines between rows, which are not centred"
    over_pairs = "cosine"
    centres_rows = False
    least_columns = 1
    rule = GraphRule(12, False, "distance", "uniform")


class Hellinger(Cosine):
    r"""Cosine between the square roots of counts, Σ √(p_i p_j) for shares p of a row's total.

    It is the Bhattacharyya coefficient, one less half the squared Hellinger distance. A Poisson
    count has the variance of its mean, its root about 1/4 whatever the mean (Bartlett 1936), so
    that no column is louder than another. A row of zeros is an isolated point.
    """

    name = "hellinger"
    summary = "cosines between the square roots of counts"
    counts_only = True
    linear = True

    def __init__(self, X: NDArray[np.floating], *, counts: bool = True) -> None:
        super().__init__(self.modelled(X), counts=True)

    def modelled(self, rows: NDArray[np.floating]) -> NDArray[np.floating]:
        """See `Similarity.modelled`; the noise of roots is about the same everywhere."""
        check_not_negative("X", rows, f"affinity={self.name!r}")
        return np.asarray(np.sqrt(rows))

    def _scaled_new(self, X: NDArray[np.floating]) -> Floats:
        return super()._scaled_new(self.modelled(X))


class Covariance(ProductSimilarity):
    """Covariance between centred rows over their mean variance (Alg. 1, lines 2 and 3)."""

    name = scaling = "covariance"
    summary = "covariances between rows over their mean variance"

    def __init__(self, X: NDArray[np.floating], *, counts: bool = False) -> None:
        squares = np.empty(X.shape[0])
        for start in range(0, X.shape[0], 512):
            # In double precision: squares of single precision overflow from 1e19 on.
            block = X[start : start + 512].astype(np.float64)
            centred = block - block.mean(axis=1, keepdims=True)
            squares[start : start + 512] = np.sum(centred**2, axis=1)
        degrees = X.shape[1] - 1
        self.variance = float(np.mean(squares) / degrees)
        self._scale = float(np.sqrt(self.variance * degrees))
        super().__init__(X, counts=counts)

    def _scaled_block(self, X: NDArray[np.floating]) -> Floats:
        # All blocks by one number, and none where no row varies.
        return covariance.unit_rows(X, self.scaling, scale=self._scale or None)

    def _rows_by_distance(self) -> None:
        return None

    def between(self, left: Indices, right: Indices) -> Floats:
        """See `Similarity.between`; a row with much variance may have more than 1."""
        return graph.row_products(self.rows, left, right)

    def nearest(self, X: Any, k: int) -> tuple[Indices, Floats]:
        """See `Similarity.nearest`; near is what is at a small distance, not a long row."""
        half = 0.5 * np.einsum("ij,ij->i", self.rows, self.rows, dtype=np.float64)
        found, value = graph.nearest_rows(self._scaled_new(X), self.rows, k, half=half)
        return found, value + half[found]

    def _scaled_new(self, X: NDArray[np.floating]) -> Floats:
        return covariance.unit_rows(X, self.scaling, scale=self._scale)


class SharedNeighbors(Correlation):
    """Correlation times the root of the share of nearest neighbours in common.

    It tells groups apart and spoils a continuum. Rows are near as their correlations say; only the
    edges of the neighbour graph weigh what they share.
    """

    name = "shared_neighbors"
    summary = "correlations between rows, weighted by the share of neighbours in common"
    estimates_kernel = False
    takes_threshold = False
    rule = GraphRule(15, True, "covariance", "path")

    def neighbor_graph(self, k: int, *, mutual: bool = False) -> CsrGraph:
        """See `Similarity.neighbor_graph`."""
        with keep_threads():
            return graph.from_neighbors(self.neighbors(k), self.between, mutual=mutual, shared=True)

    def graph_of(
        self, threshold: float | None, n_neighbors: int | None, *, mutual: bool = False
    ) -> CsrGraph:
        """See `Similarity.graph_of`."""
        if n_neighbors is not None:
            # The ends of a bridge have none in common but themselves.
            self.bridge_strength = 1.0 / (min(n_neighbors, self.n_samples - 1) + 1)
        return super().graph_of(threshold, n_neighbors, mutual=mutual)


class Euclidean(Similarity):
    r"""1 - \|x_i - x_j\|² / (2 σ²), for few columns: an offset of a column changes nothing.

    ``counts`` is not used: a row without spread is a row like any other.
    """

    name = "euclidean"
    summary = "Euclidean distances between rows"
    over_pairs = "euclidean"
    ignores_columns = True
    linear = True
    rule = GraphRule(15, True, "distance", "uniform")

    def __init__(self, X: NDArray[np.floating], *, counts: bool = False) -> None:
        super().__init__(*X.shape)
        # Many rows keep the precision they came in.
        self._made = covariance.euclidean_rows(
            X,
            standardized=self.scales_columns,
            dtype=X.dtype if X.shape[0] > _limits.SOLVED_WHOLE else np.float64,
        )

    def block(self, points: Indices) -> NDArray[np.floating]:
        """See `Similarity.block`."""
        rows, half = self._made.points, self._made.half
        found = rows[points] @ rows.T
        found -= half[points, None] + half - 1.0
        return np.minimum(found, 1.0, out=found)

    def between(self, left: Indices, right: Indices) -> Floats:
        """See `Similarity.between`."""
        points, found = self._made.points, np.empty(len(left))

        def fill(start: int, stop: int) -> None:
            part = slice(start, stop)
            gaps = np.subtract(points[left[part]], points[right[part]], dtype=np.float64)
            found[part] = 1.0 - 0.5 * np.einsum("ij,ij->i", gaps, gaps)

        # Of wide rows some pairs at a time, 32 MB.
        map_blocks(fill, len(left), max(1, 2**22 // points.shape[1]))
        return found

    def nearest(self, X: Any, k: int) -> tuple[Indices, Floats]:
        """See `Similarity.nearest`."""
        new = self._made.scaled(X)
        found, value = graph.nearest_rows(new, self._made.points, k, half=self._made.half)
        return found, value + 1.0 - 0.5 * np.einsum("ij,ij->i", new, new)[:, None]

    def factor(self) -> Any:
        """See `Similarity.factor`."""
        return self._made.points

    def factor_of(self, X: Any) -> Floats:
        """See `Similarity.factor_of`."""
        return self._made.scaled(X)

    def matrix(self) -> Floats:
        """See `Similarity.matrix`."""
        return covariance.euclidean_similarity(self._made)

    def _search(self, k: int) -> NDArray[np.int32]:
        return graph.row_neighbors(self._made.points, k, metric="euclidean", neighbors=self.search)

    def _rows_by_distance(self) -> Any:
        return self._made.points


class StandardizedEuclidean(Euclidean):
    """Euclidean similarity of columns over their standard deviations, for columns of many units.

    Neither the offset nor the scale of a column changes anything. A column of one value says
    nothing, in new rows too.
    """

    name = "standardized_euclidean"
    summary = "Euclidean distances between rows, every column scaled to one variance"
    scales_columns = True

    def modelled(self, rows: NDArray[np.floating]) -> NDArray[np.floating]:
        """See `Similarity.modelled`; the noise is alike in columns of one variance."""
        return np.asarray(rows / self._made.units)
