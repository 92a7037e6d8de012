r"""Where new rows lie on a map, in one of three ways, each row by itself.

`Reconstruction` is local and linear, among the rows that a new one is joined to. With
C_ij = <x - x_i, x - x_j> for the joined rows, which similarities give, the weights minimize

    \|x - Σ w_j x_j\|² + Σ p_j w_j² \|x - x_j\|²    with Σ w_j = 1, and the latent is Σ w_j z_j.

A row is joined to its most similar training row and to what that is joined to in the graph: it lies
on one sheet of a roll. The weights see no unit of the latent, so that they agree with a latent that
a refinement has stretched here and there. Noise of the rows is in the diagonal of C: much of it
averages over many rows, none leaves a linear interpolation. As x approaches x_1 the penalty of w_1
vanishes and that of no other weight does, hence w_1 -> 1 and the latent goes to z_1.

`Projection`: a linear latent is a projection of the rows, and so is that of a new row.

`MostLikely`: where rows are samples of a Gaussian process, a new one has a point of maximum
likelihood, and the reconstruction is only the start. Near a training row it is all that counts: the
process would put that row, measured with the same noise again, elsewhere than the fit did.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from . import _jit
from ._base.progress import progress_bar
from ._base.table import dense_rows
from ._base.threads import batches, block_rows, map_blocks
from ._base.types import Floats, Integers
from .gplvm import GaussianProcess
from .gplvm._process import SIDE_BY_SIDE, freshness_of, row_products
from .graph import CsrGraph
from .similarity import Similarity

__all__ = ["MostLikely", "Projection", "Reconstruction"]

N_CANDIDATES = 40
"""Most similar training rows that a new row may be joined to."""

_COMPLETE = CsrGraph.trusted(*(np.empty(0, each) for each in (np.int64, np.int32, np.float64)))
"""Stands for the graph that joins all points, which is not made."""

RIDGE = 0.1
"""Penalty p_j of a weight, which a neighborhood that is not flat needs.

From .03 to .3 hardly anything changes; without it weights of exact data are arbitrary.
"""


@dataclass(frozen=True)
class Reconstruction:
    """New rows as weighted means of the points that they are joined to."""

    points: Floats  # (u, m) coordinates of the distinct rows
    similarity: Similarity  # of these rows
    graph: CsrGraph | None  # of these rows

    def place(
        self, rows: Any, *, own: Integers | None = None, verbose: int = 0
    ) -> tuple[Floats, Floats]:
        """Coordinates (b, m) of rows that can be compared, each placed by itself, and residuals.

        A residual is what is left of the squared distance of a row from the mean row. Rows that are
        ``own`` distinct ones of the fit are placed by the others.
        """
        latent = np.empty((rows.shape[0], self.points.shape[1]))
        residual = np.empty(len(latent))
        own = np.full(len(latent), -1) if own is None else own
        bar = progress_bar(verbose, total=len(latent), desc="placing rows")

        def work(start: int, stop: int) -> None:
            few, batch = rows[start:stop], slice(start, stop)
            latent[batch], residual[batch], squares = self._reconstructed(few, own[batch])
            latent[batch] = self._moved(few, latent[batch], squares)
            bar.update(stop - start)

        with bar:
            map_blocks(work, len(latent), SIDE_BY_SIDE)
        return latent, residual

    def _moved(self, rows: Any, latent: Floats, squares: Floats) -> Floats:
        """Return where rows lie, (b, m), given where they are reconstructed.

        ``squares`` (b, k) are their squared distances to the most similar training rows.
        """
        return latent

    def _reconstructed(self, rows: Any, own: Integers) -> tuple[Floats, Floats, Floats]:
        """Return weighted means of the points that rows are joined to, residuals, and distances."""
        sim, graph = self.similarity, self.graph or _COMPLETE
        near, values = sim.nearest(rows, min(N_CANDIDATES, sim.n_samples))
        joined, squares = sim.mutually_known(near, values), _sq_distances(values)
        n_rows, k = near.shape
        first, second = np.empty((2, n_rows * k * (k - 1) // 2), np.int64)
        m = _jit.placement.join(near, own, graph.indptr, graph.indices, joined, first, second)
        between = _sq_distances(sim.between(first[:m], second[:m]))
        points = np.ascontiguousarray(self.points)
        latent, residual = np.empty((n_rows, points.shape[1])), np.empty(n_rows)
        # Products of rows in single precision are not quite those of unit vectors.
        euclidean = sim.rows is not None and sim.rows.dtype == np.float64
        _jit.placement.reconstruct(
            near, joined, squares, between, points, RIDGE, euclidean, latent, residual
        )
        return latent, residual / sim.sq_from_mean(rows), squares


@dataclass(frozen=True)
class Projection(Reconstruction):
    """New rows on the axes that the rows of the fit were projected on."""

    axes: Floats  # (q, m) of rows as they are compared
    origin: Floats  # (m,) where a row of zeros lies

    @classmethod
    def fitted(cls, near: Reconstruction) -> Projection:
        """Return the projection that puts the rows of a linear fit on its points."""
        # Coordinates are centered, so that the mean of the rows takes no part.
        points, similarity = near.points, near.similarity
        center, rows = points.mean(axis=0), similarity.rows
        centered = points - center
        pull = centered @ np.linalg.pinv(centered.T @ centered)
        if rows is None:
            # Similarities with all points are projected.
            axes = similarity.unit**2 * pull
            mean = similarity.matrix().mean(axis=0)
        else:
            axes, mean = np.zeros((rows.shape[1], pull.shape[1])), np.zeros(rows.shape[1])
            for batch in batches(len(rows), block_rows(rows.shape[1])):
                axes += rows[batch].T @ pull[batch]
                mean += rows[batch].sum(axis=0, dtype=np.float64) / len(rows)
            # Least squares: of some columns the loadings are not orthonormal.
            axes = np.linalg.pinv(axes).T
        return cls(points, similarity, near.graph, axes, center - mean @ axes)

    def _moved(self, rows: Any, latent: Floats, squares: Floats) -> Floats:
        """Return the projections of rows."""
        factor = self.similarity.factor_of(rows)
        # A row of which pairs are unknown stays between its nearest.
        known = np.isfinite(factor).all(axis=1)
        latent[known] = self.origin + row_products(factor[known], self.axes)
        return latent


@dataclass(frozen=True)
class MostLikely(Reconstruction):
    """New rows where they are most likely; what is nearly a row of the fit lies beside it."""

    process: GaussianProcess  # of the rows as they were compared

    @cached_property
    def _unit(self) -> float:
        """Return the square of what the process takes for the unit of the similarities."""
        return float(self.process.rows.var(axis=0).sum()) / self.similarity.variance

    def _moved(self, rows: Any, latent: Floats, squares: Floats) -> Floats:
        """Return the most likely points, those near a training row closer to where they started.

        Training rows are not only those of the process: others were placed as new ones are.
        """
        observed = self.process.observe(self.similarity.modeled(dense_rows(rows)))
        away = self.process.place(observed, latent)[0] - latent
        return latent + freshness_of(self.process, self._unit * squares)[:, None] * away


def _sq_distances(similarities: Floats) -> Floats:
    """Squared distances of rows that are similar to themselves by 1, at least a rounding."""
    return np.maximum(2.0 - 2.0 * similarities, np.finfo(np.float64).eps)
