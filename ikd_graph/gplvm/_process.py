"""The fitted model as one object: a Gaussian process of given points, conditioned on their rows."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrs
from scipy.spatial.distance import cdist
from sklearn.utils import gen_batches

from .._base import validation as check
from .._base.types import Floats
from .._base.validation import validate
from ..kernels import StationaryKernel, as_kernel
from . import _placement
from ._likelihood import log_likelihood, sample_covariance
from ._model import NOT_POSITIVE, factor_of, inverse_model
from ._placement import Conditioned, ObservedRows

JITTER = 1e-10
"""Noise that is added, relative to the signal: training points in one place are no obstacle."""

_BATCH = 1024  # points that are predicted at a time


class Prediction(NamedTuple):
    """Rows predicted at points."""

    mean: Floats  # (b, n_observed)
    std: Floats  # (b,) of one noise-free value, the same in every column


def _check_points(points: Floats, rows: NDArray[np.floating], **_: object) -> None:
    if len(points) != len(rows):
        raise ValueError(
            f"points and rows must be as many, got {len(points)} and {len(rows)}; pass one row "
            "for each point"
        )


class GaussianProcess:
    r"""A Gaussian process over given points, conditioned on a row of observations for each.

    Every column is a sample of N(0, A) with A = v K + n I and K_ij = f(\|z_i - z_j\|²) (Li & Wu
    2024, Eq. 1, with noise). What is expensive is computed when it is first needed, and kept.

    Parameters
    ----------
    points : (n, m) array_like of float64
        Latent coordinates Z.
    rows : (n, n_observed) array_like of float
        Observations of the points.
    kernel : str or StationaryKernel
        Kernel f of the model.
    variance, noise : float
        Signal variance v > 0 and noise variance n >= 0, in the units of the rows squared. A
        ten-thousand-millionth of v is added to n, so that training points in one place are no
        obstacle.
    centered : bool
        Take the mean off every row first, as a model of rows with means of their own does.

    Attributes
    ----------
    points, rows, kernel, variance, noise, centered
        As given; rows without their means where these are taken off.
    n_observed : int
        Number N of columns.

    References
    ----------
    C. E. Rasmussen and C. K. I. Williams, Gaussian Processes for Machine Learning, 2006, chapter 2.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import gplvm, kernels
    >>> points = np.linspace(0.0, 3.0, 31)[:, None]
    >>> rows = np.column_stack([np.sin(points), np.cos(points)])
    >>> process = gplvm.GaussianProcess(points, rows, kernels.SquaredExponential(), 1.0, 1e-4)
    >>> process.predict([[1.5]]).mean.round(2)
    array([[1.  , 0.07]])
    >>> new = process.observe([[np.sin(1.234), np.cos(1.234)]])
    >>> process.place(new, [[1.0]])[0].round(2)
    array([[1.23]])
    """

    @validate(
        _check_points,
        points=check.table,
        rows=check.table,
        kernel=as_kernel,
        variance=check.positive,
        noise=check.number,
        centered=check.flag,
    )
    def __init__(
        self,
        points: Floats,
        rows: NDArray[np.floating],
        kernel: str | StationaryKernel,
        variance: float = 1.0,
        noise: float = 0.0,
        *,
        centered: bool = False,
    ) -> None:
        self.points = np.asarray(points, dtype=np.float64)
        self.rows = _centered(rows) if centered else np.asarray(rows, dtype=np.float64)
        self.kernel: StationaryKernel = as_kernel("kernel", kernel)
        self.variance = variance
        self.noise = noise + JITTER * variance
        self.centered = centered
        self.n_observed = self.rows.shape[1]

    def log_likelihood(self) -> float:
        """Compute the log likelihood of all columns.

        Returns
        -------
        float
            As `gplvm.log_likelihood`.

        Raises
        ------
        ValueError
            If A is not positive definite to working precision.
        """
        cov = sample_covariance(self.rows, centered=False)
        return float(
            log_likelihood(
                self.points, cov, self.n_observed, self.kernel, self.variance, self.noise
            )
        )

    @validate(points=check.table)
    def predict(self, points: Floats) -> Prediction:
        """Predict the rows of new points: the posterior given the training rows.

        Parameters
        ----------
        points : (b, m) array_like of float64
            Where to predict.

        Returns
        -------
        Prediction
            Mean (b, n_observed) and standard deviation (b,) of the noise-free rows, without the
            mean of a row where these were taken off.

        Raises
        ------
        ValueError
            If the points have another number of coordinates, or A cannot be inverted.
        """
        points = np.asarray(points, dtype=np.float64)
        if points.shape[1] != self.points.shape[1]:
            raise ValueError(
                f"points must have the {self.points.shape[1]} coordinates of the training points, "
                f"got {points.shape[1]}; pass points of the same embedding"
            )
        mean, std = np.empty((len(points), self.n_observed)), np.empty(len(points))
        for batch in gen_batches(len(points), _BATCH):
            sq_dist = cdist(points[batch], self.points, "sqeuclidean")
            across = self.variance * self.kernel.covariance(sq_dist)
            weights, _ = dpotrs(self._factor, np.asfortranarray(across.T), lower=1)
            explained = np.einsum("ij,ji->i", across, weights)
            mean[batch] = weights.T @ self.rows
            std[batch] = np.sqrt(np.maximum(self.variance - explained, 0.0))
        return Prediction(mean, std)

    @validate(point=check.line)
    def gradient(self, point: Floats) -> Floats:
        """Differentiate the predicted row in every coordinate of a point.

        Parameters
        ----------
        point : (m,) array_like of float64
            A point.

        Returns
        -------
        (m, r) ndarray of float64
            In orthonormal coordinates of the space that the training rows span: its columns are
            no columns of the rows, and their lengths and angles are those of the rows.
        """
        known = self._conditioned
        _, _, moves = _placement.covariances_at(known, point[None])
        return _placement.product(moves[0], known.weights)

    @validate(rows=check.table)
    def observe(self, rows: NDArray[np.floating]) -> ObservedRows:
        """Compare new rows with the training rows, each independently of the others.

        Parameters
        ----------
        rows : (b, n_observed) array_like of float
            The rows as given.

        Returns
        -------
        ObservedRows
            Their parts in the space of the training rows, and squared distances to these.

        Raises
        ------
        ValueError
            If the rows have another number of columns.
        """
        if rows.shape[1] != self.n_observed:
            raise ValueError(
                f"rows must have the {self.n_observed} columns of the training rows, got "
                f"{rows.shape[1]}; pass rows of the same table"
            )
        # The bits of a sum depend on how its numbers lie in memory.
        values = np.ascontiguousarray(rows, dtype=np.float64)
        values = np.ascontiguousarray(_centered(values)) if self.centered else values
        outside = np.zeros(len(values))
        training, axes = self._span
        if axes is not None:
            inside = _placement.product(values, axes)
            projected = _placement.product(inside, np.ascontiguousarray(axes.T))
            for i in range(len(values)):
                outside[i] = np.sum((values[i] - projected[i]) ** 2)
            values = inside
        sq_dist = _placement.sq_distances(values, training) + outside[:, None]
        return ObservedRows(values, outside, sq_dist)

    @validate(init=check.table)
    def place(self, observed: ObservedRows, init: Floats) -> tuple[Floats, Floats]:
        """Place new rows at their points of maximum likelihood, each independently of the others.

        Descends from an initial point and from the training point of largest likelihood. The
        result of a row is the same to the bit whichever rows are placed with it.

        Parameters
        ----------
        observed : ObservedRows
            What `observe` returned.
        init : (b, m) array_like of float64
            Initial points, not far from the rows.

        Returns
        -------
        points : (b, m) ndarray of float64
            The better of two local optima. It is no further from all training points than the
            initial point was, or than a length-scale: there the process knows nothing.
        log_densities : (b,) ndarray of float64
            Log density of each row there, with the noise of largest likelihood.

        Raises
        ------
        ValueError
            If there is not one initial point for each row.
        """
        shape = (len(observed.rows), self.points.shape[1])
        if init.shape != shape:
            raise ValueError(
                f"init must have shape {shape}, got {init.shape}; give an initial point for each "
                "row"
            )
        points, cost = _placement.place(self._conditioned, observed, init)
        return points, -cost - 0.5 * self.n_observed * float(np.log(2.0 * np.pi))

    def curvature(self, row: ObservedRows, point: Floats) -> Floats:
        """Compute the expected curvature of the negative log density of a row at a point.

        Parameters
        ----------
        row : ObservedRows
            One of those that `observe` returned, see `ObservedRows.row`.
        point : (m,) ndarray of float64
            A point.

        Returns
        -------
        (m, m) ndarray of float64
            Never indefinite.
        """
        outside = np.array([row.outside])
        at = _placement.evaluate(self._conditioned, row.rows[None], outside, point[None])
        return at.curvature[0]

    @cached_property
    def _span(self) -> tuple[Floats, Floats | None]:
        """Training rows in coordinates of the space that they span, and its axes if it is smaller.

        The likelihood sees no more of a row than its part in that space.
        """
        if self.n_observed <= len(self.rows):
            return self.rows, None
        axes = np.linalg.qr(self.rows.T)[0]
        return self.rows @ axes, axes

    @cached_property
    def _conditioned(self) -> Conditioned:
        """Arrays that placement takes."""
        rows = self._span[0]
        inverse = inverse_model(self.points, self.kernel, self.variance, self.noise)[0]
        return Conditioned(
            points=self.points,
            rows=rows,
            n_observed=self.n_observed,
            inverse=inverse,
            weights=inverse @ rows,
            kernel=self.kernel,
            variance=self.variance,
            noise=self.noise,
        )

    @cached_property
    def _factor(self) -> Floats:
        """Lower Cholesky factor of A."""
        model = self.variance * self.kernel.covariance(
            cdist(self.points, self.points, "sqeuclidean")
        )
        factor = factor_of(model, self.noise)
        if factor is None:
            raise ValueError(NOT_POSITIVE.format(self.noise))
        return factor


def _centered(rows: NDArray[np.floating]) -> Floats:
    values = np.asarray(rows, dtype=np.float64)
    return np.asarray(values - values.mean(axis=-1, keepdims=True))
