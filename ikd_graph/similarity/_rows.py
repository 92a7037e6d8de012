"""Similarity of the rows of a table, dense or sparse."""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import covariance, graph
from .._base import limits
from .._base.table import SparseTable
from .._base.threads import block_rows
from .._base.types import Floats, Integers
from ..graph import CsrGraph
from ._affinity import Affinity
from ._base import Similarity

_FARTHEST = 1e100
"""Units from the mean row beyond which squared distances are no numbers."""


class RowSimilarity(Similarity):
    """An affinity on rows: inner products of scaled rows, or squared distances between them.

    Rows are scaled once, in double precision up to 10 000 of them, beyond in that of X.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import similarity
    >>> rows = np.array([[1.0, 2.0, 3.0], [1.0, 3.0, 2.0]])
    >>> similarity.compare(rows, "correlation").matrix().round(3)
    array([[1. , 0.5],
           [0.5, 1. ]])
    """

    model_based: bool
    rows: Any
    half: Floats
    scale: covariance.EuclideanRows | None  # of Euclidean rows, without the rows
    _sparse: bool

    def __init__(
        self, affinity: Affinity, X: Any, *, counts: bool = False, model_based: bool = False
    ) -> None:
        super().__init__(affinity, *X.shape)
        self.model_based = model_based
        self._sparse = isinstance(X, SparseTable)
        self.scale = None
        dtype = np.float64 if X.shape[0] <= limits.SOLVED_WHOLE else X.dtype
        if not affinity.euclidean:
            table, counts = affinity.modeled(X), counts or affinity.square_roots
            if self._sparse:
                self.rows = covariance.sparse_unit_rows(table, self._unit, allow_flat=counts)
            else:
                rows = covariance.unit_rows(table, self._unit, allow_flat=counts)
                self.rows = rows.astype(dtype, copy=False)
            self.half = np.zeros(self.n_samples)
            return
        if self._sparse:
            self.rows, scale = covariance.sparse_euclidean_rows(X, affinity.scales_columns)
            self.half = 0.5 - self.rows.row_factors[:, 0]
        else:
            scale = covariance.euclidean_rows(X, standardized=affinity.scales_columns, dtype=dtype)
            self.rows, self.half = scale.points, scale.half
        self.scale = scale._replace(points=np.empty((0, X.shape[1])), half=np.empty(0))

    @property
    def unit(self) -> float:
        """See `Similarity.unit`."""
        sigma = 1.0 if self.scale is None else float(self.scale.scale)
        return sigma if np.isfinite(sigma) else 1.0

    @property
    def _unit(self) -> str:
        return "correlation" if self.affinity.centers_rows else "cosine"

    @property
    def _half(self) -> Floats | None:
        # Products of sparse Euclidean rows are similarities already.
        return self.half if self.affinity.euclidean and not self._sparse else None

    @property
    def centers_rows(self) -> bool:
        """See `Similarity.centers_rows`."""
        return self.model_based and self.affinity.centers_rows

    def modeled(self, X: Any) -> Floats:
        """Rows as the likelihood takes them for samples of a Gaussian process.

        Samples of the model as they are; other rows as they are compared, each column less its
        mean, which the similarities of rows do not see.
        """
        if self.model_based:
            return np.asarray(X, dtype=np.float64)
        return (self.factor_of(X) - self._mean) * np.sqrt(X.shape[1])

    @cached_property
    def _mean(self) -> Floats:
        """Mean of the rows as they are compared, (p,)."""
        total, step = np.zeros(self.rows.shape[1]), block_rows(self.rows.shape[1])
        for start in range(0, self.n_samples, step):
            total += self.rows[start : start + step].sum(axis=0, dtype=np.float64)
        return total / self.n_samples

    def block(self, points: Integers) -> NDArray[np.floating]:
        """See `Similarity.block`."""
        points = np.asarray(points, dtype=np.int64)
        if self._sparse:
            values = self.rows.products(points)
        else:
            values = np.asarray(self.rows[points] @ self.rows.T)
        if self._half is not None:
            values -= self._half.astype(values.dtype, copy=False)
            values += (1.0 - self._half[points]).astype(values.dtype, copy=False)[:, None]
        return np.minimum(values, 1.0, out=values)

    def between(self, first: Integers, second: Integers) -> Floats:
        """See `Similarity.between`."""
        first, second = np.asarray(first, dtype=np.int64), np.asarray(second, dtype=np.int64)
        if self._sparse:
            return np.minimum(self.rows.pairs(first, second), 1.0)
        if self._half is None:
            return graph.row_correlations(self.rows, first, second)
        values = np.empty(first.size)
        step = block_rows(self.rows.shape[1])
        for start in range(0, first.size, step):
            batch = slice(start, start + step)
            gaps = self.rows[first[batch]].astype(np.float64, copy=False) - self.rows[second[batch]]
            values[batch] = 1.0 - 0.5 * np.einsum("ij,ij->i", gaps, gaps)
        return values

    def nearest(self, X: Any, k: int) -> tuple[Integers, Floats]:
        """See `Similarity.nearest`."""
        new, half = self.factor_of(X), self.half
        if self._sparse:
            blocks = [new[start : start + 16] for start in range(0, len(new), 16)]
            batches = [graph.nearest_values(self.rows.products_with(b) - half, k) for b in blocks]
            near, values = (np.concatenate(batch) for batch in zip(*batches, strict=True))
        else:
            near, values = graph.nearest_rows(new, self.rows, k, half=self._half)
        if self.affinity.euclidean:
            values = values + 1.0 - 0.5 * np.einsum("ij,ij->i", new, new)[:, None]
        return near, values

    def comparable(self, X: Any) -> NDArray[np.bool_]:
        """See `Similarity.comparable`."""
        comparable = np.empty(len(X), dtype=np.bool_)
        step = block_rows(X.shape[1])
        for start in range(0, len(X), step):
            block = np.asarray(X[start : start + step])
            usable = np.isfinite(block).all(axis=1)
            if self.affinity.euclidean:
                with np.errstate(over="ignore", invalid="ignore"):
                    far = np.abs(self.factor_of(block)).max(axis=1, initial=0.0)
                usable &= far < _FARTHEST
            else:
                table = self.affinity.modeled(block[usable])
                usable[usable] = covariance.rows_vary(table, self._unit)
            comparable[start : start + step] = usable
        return comparable

    def factor(self) -> Any:
        """See `Similarity.factor`."""
        return self.rows

    def factor_of(self, X: Any) -> Floats:
        """See `Similarity.factor_of`."""
        X = np.asarray(X, dtype=np.float64)
        if self.scale is not None:
            return self.scale.scaled(X)
        rows, lengths = covariance.centered_rows(self.affinity.modeled(X), self._unit)
        # A row without spread is correlated with nothing.
        rows[lengths == 0.0] = 0.0
        return rows / np.where(lengths > 0.0, lengths, 1.0)[:, None]

    def matrix(self) -> Floats:
        """See `Similarity.matrix`."""
        if self._sparse:
            return super().matrix()
        values = covariance.gram(self.rows)
        if self._half is not None:
            values -= self._half
            values += 1.0 - self._half[:, None]
        np.minimum(values, 1.0, out=values)
        return values

    def threshold_graph(self, s0: float) -> CsrGraph:
        """See `Similarity.threshold_graph`."""
        if self._sparse or self._half is not None:
            return super().threshold_graph(s0)
        rows = self.rows
        return graph.pairs_above(
            lambda start, stop: rows[start:stop] @ rows[start:].T, self.n_samples, s0
        )

    def effective_columns(self, n_removed: int = 0) -> float | None:
        """See `Similarity.effective_columns`; the columns of a sparse table have no order."""
        if self._sparse:
            return max((self.n_observed or 0) - n_removed, 1)
        return covariance.effective_columns(self.rows, n_removed=n_removed)

    def significant_graph(self, fdr: float, n_removed: int = 0) -> CsrGraph:
        """See `Similarity.significant_graph`."""
        if self._sparse or self.affinity.over_pairs != "correlation":
            return super().significant_graph(fdr, n_removed)
        return graph.significant_graph(self.rows, fdr, n_removed=n_removed)

    def _search(self, k: int) -> NDArray[np.int32]:
        metric = "product" if self._half is None else "euclidean"
        return graph.row_neighbors(self.rows, k, metric=metric, neighbors=self.search)
