r"""The fitted model as one object: a Gaussian process of given points, conditioned on their rows.

At a point x a Gaussian process with signal variance v and noise n predicts

    m(x) = k^T A^-1 Y,  s(x) = v + n - k^T A^-1 k,  A = v K + n I,  k_i = v f(\|x - z_i\|²),

so that a row y of N values has the log density -N/2 log s(x) - \|y - m(x)\|² / (2 s(x)). A row may
have more noise than the training rows had, and their points are not exact: of all variances t from
s(x) up the most likely is t = max(s(x), \|y - m(x)\|² / N), which leaves the cost

    c(x) = N/2 log t + \|y - m(x)\|² / (2 t).

With s(x) alone and next to no noise, a point so far away that s(x) covers all of y would be
more likely than a good one.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrs
from scipy.spatial.distance import cdist

from .. import _jit
from .._base import validation as check
from .._base.rounding import TINY
from .._base.threads import batches, block_rows
from .._base.types import Floats
from ..kernels import StationaryKernel, as_kernel
from ._descent import DAMPING
from ._likelihood import centered_known, factor_of, known_log_likelihood, value_and_slope

JITTER = 1e-10
"""Noise that is added, relative to the signal: training points in one place are no obstacle."""

FRESH = 0.25
"""A row is no copy of a training row from this fraction of the squared distance that noise makes.

Two rows of one latent with noise n of their own in N values are 2 n N apart in square, times
chi²_N / N, which is below a quarter once in 3600 such pairs for 20 values, and once in
80 million for 50.
"""

FAINTEST = 1e-5
"""Variance of a mode of the training points, over the noise, that no row can tell."""

_MOST_STEPS = 40
_SMALLEST_GAIN = 1e-6  # of a log density
_LEAST_EXPECTED = 1e-12  # gain of a log density below which rounding decides
SIDE_BY_SIDE = 64
"""New rows that are placed together: their covariances with 1 000 training rows stay in the cache.
"""


class Prediction(NamedTuple):
    """Rows predicted at points."""

    mean: Floats  # (b, n_observed)
    std: Floats  # (b,) of one noise-free value, the same in every column


@dataclass(frozen=True, eq=False)
class ObservedRows:
    """New rows relative to the training rows."""

    rows: Floats  # (b, r) in the space that the training rows span
    outside: Floats  # (b,) squared length of what lies outside of it
    training: Floats  # (n, r) the training rows in that space

    @cached_property
    def sq_dist(self) -> Floats:
        """Squared distances to the training rows, (b, n)."""
        return np.asarray(cdist(self.rows, self.training, "sqeuclidean") + self.outside[:, None])


class _Modes(NamedTuple):
    """Features g(x) = B^T v k(x) with m(x) = g^T R and s(x) = v + n - g^T g."""

    basis: Floats  # (n, q) B
    at_training: Floats  # (n, q) features of the training points
    rows: Floats  # (q, r) R, along the axes
    axes: Floats | None  # of the space that these span; None where it is that of the training rows


class _Costs(NamedTuple):
    cost: Floats  # (t,)
    slope: Floats  # (t, m)
    curvature: Floats  # (t, m, m) expected
    away: Floats  # (t,) squared distances to the nearest training points


def _check_points(points: Floats, rows: NDArray[np.floating], **_: object) -> None:
    check.table_of(len(rows))("points", points)


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

    @check.validate(
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
        self.rows = centered_known(rows) if centered else np.asarray(rows, dtype=np.float64)
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
        """
        return known_log_likelihood(self.rows, self.points, self.kernel, self.variance, self.noise)

    @check.validate(points=check.table)
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
        mean, std = np.empty((len(points), self.n_observed)), np.empty(len(points))
        for batch in batches(len(points), block_rows(len(self.points))):
            across = self.variance * self.kernel.matrix(points[batch], self.points)
            weights, _ = dpotrs(self._factor, np.asfortranarray(across.T), lower=1)
            explained = np.einsum("ij,ji->i", across, weights)
            mean[batch] = weights.T @ self.rows
            std[batch] = np.sqrt(np.maximum(self.variance - explained, 0.0))
        return Prediction(mean, std)

    @check.validate(point=check.line)
    def gradient(self, point: Floats) -> Floats:
        """Differentiate the predicted row in every coordinate of a point.

        Parameters
        ----------
        point : (m,) array_like of float64
            A point.

        Returns
        -------
        (m, r) ndarray of float64
            In orthonormal coordinates of the space that the predicted rows span: its columns are
            no columns of the rows, and their lengths and angles are those of the rows.
        """
        return row_products(_features_at(self, point[None])[2][0], self._modes.rows)

    @check.validate(rows=check.table)
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
        values = centered_known(values) if self.centered else values
        outside = np.zeros(len(values))
        training, axes = self._span
        if axes is not None:
            inside = row_products(values, axes)
            outside = np.sum((values - row_products(inside, axes.T)) ** 2, axis=1)
            values = inside
        return ObservedRows(values, outside, training)

    @check.validate(init=check.table)
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
        rows, outside = self._along(observed)
        modes = self._modes
        means, explained = modes.at_training @ modes.rows, np.sum(modes.at_training**2, axis=1)
        spread = np.maximum(self.variance + self.noise - explained, self.noise)
        squares = cdist(rows, means, "sqeuclidean") + outside[:, None]
        total = np.maximum(spread, squares / self.n_observed)
        best = np.argmin(self.n_observed * np.log(total) + squares / total, axis=1)
        starts = np.concatenate([init, self.points[best]])
        points, cost = _descend(self, np.tile(rows, (2, 1)), np.tile(outside, 2), starts)
        (points, others), (cost, at) = np.split(points, 2), np.split(cost, 2)
        points = np.where((at < cost)[:, None], others, points)
        return points, -np.minimum(at, cost) - 0.5 * self.n_observed * float(np.log(2.0 * np.pi))

    def curvature(self, observed: ObservedRows, points: Floats) -> Floats:
        """Compute the expected curvature of the negative log density of rows at points.

        Parameters
        ----------
        observed : ObservedRows
            What `observe` returned.
        points : (b, m) ndarray of float64
            A point for each row.

        Returns
        -------
        (b, m, m) ndarray of float64
            Never indefinite.
        """
        return _evaluate(self, *self._along(observed), points).curvature

    @cached_property
    def _span(self) -> tuple[Floats, Floats | None]:
        """Training rows in coordinates of the space that they span, and its axes if it is smaller.

        The likelihood sees no more of a row than its part in that space.
        """
        if self.n_observed <= len(self.rows):
            return self.rows, None
        axes = np.linalg.qr(self.rows.T)[0]
        return self.rows @ axes, axes

    def _along(self, observed: ObservedRows) -> tuple[Floats, Floats]:
        """Rows in the space that predicted rows span, and squared lengths of what lies outside."""
        rows, outside = observed.rows, observed.outside
        if self._modes.axes is None:
            return rows, outside
        inside = row_products(rows, self._modes.axes)
        gap = np.einsum("ij,ij->i", rows, rows) - np.einsum("ij,ij->i", inside, inside)
        return inside, outside + np.maximum(gap, 0.0)

    @cached_property
    def _modes(self) -> _Modes:
        """Eigenvectors of v K whose variance is not hidden by the noise, over the root of A's."""
        values, vectors = np.linalg.eigh(self.variance * self.kernel.matrix(self.points))
        kept = values > FAINTEST * self.noise
        basis = np.ascontiguousarray(vectors[:, kept] / np.sqrt(values[kept] + self.noise))
        rows, axes = basis.T @ self._span[0], None
        if len(rows) < rows.shape[1]:
            axes = np.ascontiguousarray(np.linalg.qr(rows.T)[0])
            rows = rows @ axes
        return _Modes(basis, basis * values[kept], rows, axes)

    @cached_property
    def _factor(self) -> Floats:
        """Lower Cholesky factor of A."""
        return factor_of(self.variance * self.kernel.matrix(self.points), self.noise)


def _descend(
    process: GaussianProcess, rows: Floats, outside: Floats, starts: Floats
) -> tuple[Floats, Floats]:
    """Local minima of the cost, (t, m) and (t,), by damped scoring side by side."""
    here, at = starts.copy(), _evaluate(process, rows, outside, starts)
    damping = np.full(len(starts), DAMPING)
    reach = np.maximum(process.kernel.length_scale**2, at.away)
    open_ = np.arange(len(starts))
    for _ in range(_MOST_STEPS):
        step, expected = _steps(process, at.slope[open_], at.curvature[open_], damping[open_])
        more = expected > _LEAST_EXPECTED
        open_, step = open_[more], step[more]
        if not open_.size:
            break
        new = _evaluate(process, rows[open_], outside[open_], here[open_] + step)
        gain = at.cost[open_] - new.cost
        down = (gain > 0.0) & (new.away <= reach[open_])
        moved = open_[down]
        here[moved] += step[down]
        for field, value in zip(at, new, strict=True):
            field[moved] = value[down]
        raised = 10.0 * np.maximum(damping[open_], DAMPING)
        damping[open_] = np.where(down, 0.1 * damping[open_], raised)
        open_ = open_[~(down & (gain < _SMALLEST_GAIN))]
    return here, at.cost


def _steps(
    process: GaussianProcess, slope: Floats, curvature: Floats, damping: Floats
) -> tuple[Floats, Floats]:
    """Damped steps of Fisher scoring, at most a length-scale long, and what they may gain."""
    metric, size = curvature.copy(), range(slope.shape[1])
    trace = np.einsum("tcc->t", curvature)[:, None]
    metric[:, size, size] *= 1.0 + damping[:, None]
    metric[:, size, size] += 1e-12 * trace + TINY
    step = -np.linalg.solve(metric, slope[:, :, None])[:, :, 0]
    length = np.maximum(np.sqrt((step**2).sum(axis=1)), TINY)
    step *= np.minimum(1.0, process.kernel.length_scale / length)[:, None]
    return np.asarray(step), -(step * slope).sum(axis=1)


def _evaluate(process: GaussianProcess, rows: Floats, outside: Floats, points: Floats) -> _Costs:
    """Costs of rows at points, (t, m), with their slopes and expected curvatures."""
    (t, m), n_observed = points.shape, process.n_observed
    away, features, moves = _features_at(process, points)
    mean = process._modes.rows
    residual = rows - row_products(features, mean)
    slopes = row_products(moves.reshape(t * m, -1), mean).reshape(t, m, -1)
    explained = np.einsum("tj,tj->t", features, features)
    spread = np.maximum(process.variance + process.noise - explained, process.noise)
    square = outside + np.einsum("tk,tk->t", residual, residual)
    total = np.maximum(spread, square / n_observed)
    cost = 0.5 * n_observed * np.log(total) + 0.5 * square / total
    wider = -2.0 * np.einsum("tcj,tj->tc", moves, features)
    slope = (0.5 * (n_observed - square / total) / total)[:, None] * wider
    slope -= np.einsum("tck,tk->tc", slopes, residual) / total[:, None]
    curvature = np.einsum("tck,tek->tce", slopes, slopes) / total[:, None, None]
    # The variance that is most likely for the row alone does not change with the point.
    weight = np.where(total == spread, 0.5 * n_observed / total**2, 0.0)
    curvature += weight[:, None, None] * wider[:, :, None] * wider[:, None]
    return _Costs(cost, slope, curvature, away)


def _features_at(process: GaussianProcess, points: Floats) -> tuple[Floats, Floats, Floats]:
    """Squared distances of points (t, m) to the nearest training points, features, their slopes."""
    squares, basis = cdist(points, process.points, "sqeuclidean"), process._modes.basis
    cov, change = value_and_slope(process.kernel, squares)
    features = np.empty((len(points), basis.shape[1]))
    slopes = np.empty((*points.shape, basis.shape[1]))
    _jit.likelihood.features(cov, change, points, process.points, basis, features, slopes)
    features *= process.variance
    slopes *= 2.0 * process.variance
    return squares.min(axis=1), features, slopes


def row_products(left: Floats, right: Floats) -> Floats:
    """Product of two matrices, each row of it the same to the bit whatever the other rows are."""
    out = np.empty((len(left), right.shape[1]))
    _jit.likelihood.products(np.ascontiguousarray(left), np.ascontiguousarray(right), out)
    return out


def freshness(process: GaussianProcess, observed: ObservedRows) -> Floats:
    """0 for a copy of a training row, 1 for a row with noise of its own, smooth in between."""
    return freshness_of(process, observed.sq_dist)


def freshness_of(process: GaussianProcess, sq_dist: Floats) -> Floats:
    """Return the same of squared distances to training rows, (b, k)."""
    by_noise = 2.0 * process.noise * process.n_observed
    # A product, not the nearest row alone: it has no kink where another row becomes the nearest.
    fraction = np.minimum(sq_dist / (FRESH * by_noise), 1.0)
    return np.asarray(np.prod(fraction * fraction * (3.0 - 2.0 * fraction), axis=-1))
