r"""Likelihood of an embedding and of its variances, with its gradient and expected information.

A column that is known in the rows R is a sample of N(0, v K_RR + n I), so that columns that are
known in the same rows share one matrix. Complete data are one group, sessions that overlap a few;
holes at random have a group for each column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg.blas import dsyrk, dtrmm
from scipy.linalg.lapack import dlauum, dpotrf, dtrtri
from scipy.optimize import minimize_scalar

from .. import _jit
from .._base import limits
from .._base import validation as check
from .._base.rounding import TINY
from .._base.table import evenly_spaced
from .._base.types import Floats, Integers
from ..kernels import StationaryKernel, as_kernel

LOG_2PI = float(np.log(2.0 * np.pi))

_LOG_SCALES = (-4.0, 1.5)  # the logarithmic line on which the length-scale is chosen

_SMALL = 64  # rows of a triangle that is inverted as a whole

_MOST_WORK = 5e7
"""Sum over groups of columns of the cubed number of rows up to which a likelihood is maximized: one
evaluation takes about 30 ms there."""


class ColumnGroup(NamedTuple):
    """Columns that are known in the same rows, and their covariance C C^T."""

    rows: Integers  # (r,) ascending
    weight: float  # fraction of all columns that are in the group
    root: Floats  # (r, k) C; a lower triangle if it is square, else k is less than r

    @classmethod
    def of(cls, rows: Integers, weight: float, values: Floats) -> ColumnGroup:
        """Return the group of rows (r,) with the covariance of values (r, any)."""
        if values.shape[1] < rows.size:
            return cls(rows, weight, np.ascontiguousarray(values))
        # The likelihood sees products of rows alone: more columns than rows say no more.
        return cls(rows, weight, np.asfortranarray(np.asarray(np.linalg.qr(values.T, mode="r")).T))

    @property
    def block(self) -> Any:
        """Index of the pairs of its rows, a view where they follow one another."""
        first, last = int(self.rows[0]), int(self.rows[-1]) + 1
        if last - first == self.rows.size:
            return slice(first, last), slice(first, last)
        return np.ix_(self.rows, self.rows)


def column_groups(table: NDArray[np.floating]) -> list[ColumnGroup]:
    """Group the columns of a table (n, p), NaN where a value is not known."""
    found = [each for each in known_columns(table) if each[0].size]
    total = sum(columns.size for _, columns in found)
    groups = []
    for rows, columns in found:
        values = table[np.ix_(rows, columns)].astype(np.float64) / total**0.5
        groups.append(ColumnGroup.of(rows, columns.size / total, values))
    return groups


def known_columns(rows: NDArray[np.floating]) -> list[tuple[Integers, Integers]]:
    """Rows and columns of every group of columns that are known in the same rows."""
    known = np.isfinite(rows)
    if known.all():
        return [(np.arange(len(rows)), np.arange(rows.shape[1]))]
    bits = np.packbits(known, axis=0)
    _, inverse, counts = np.unique(bits, axis=1, return_inverse=True, return_counts=True)
    groups = np.split(np.argsort(inverse.ravel(), kind="stable"), np.cumsum(counts)[:-1])
    return [(np.flatnonzero(known[:, columns[0]]), columns) for columns in groups]


def work_of(known: NDArray[np.bool_]) -> float:
    """Sum over groups of columns of the cubed number of rows that have them."""
    first = np.unique(np.packbits(known, axis=0), axis=1, return_index=True)[1]
    return float((known[:, first].sum(axis=0).astype(np.float64) ** 3).sum())


def likelihood_of_entries(rows: NDArray[np.floating]) -> bool:
    """Whether the likelihood of the known entries of rows can be maximized in seconds."""
    return work_of(np.isfinite(rows)) <= _MOST_WORK


def centered_known(rows: NDArray[np.floating]) -> Floats:
    """Rows less the mean of what is known of each."""
    table = np.array(rows, dtype=np.float64)
    known = np.isfinite(table)
    total = np.where(known, table, 0.0).sum(axis=1, keepdims=True)
    return np.asarray(table - total / np.maximum(known.sum(axis=1, keepdims=True), 1))


class Model(NamedTuple):
    """An embedding, and the kernel and the variances of its columns."""

    latent: Floats  # (n, m)
    kernel: StationaryKernel
    variance: float  # signal variance v
    noise: float  # noise variance n


class LikelihoodGradient(NamedTuple):
    """Negative log likelihood per column and its derivatives."""

    value: float
    latent: Floats  # (n, m) derivative in every coordinate
    log_variance: float  # derivative in log v
    log_noise: float  # derivative in log n


class GroupLikelihood:
    r"""Negative log likelihood of one column, of any latent, with its exact gradient.

    The mean over the columns of a table, those that are known in the same rows together: of a group
    with the weight w, the rows R and the covariance S = C C^T it is, with A = v K_RR + n I,

        1/2 (w (r log 2 pi + log det A) + tr(A^-1 S)).

    With G = 1/2 sum (w A^-1 - A^-1 S A^-1), each group at its rows, and f' the derivative of the
    kernel in the squared distance, dL/dz_i = 4 v sum_j G_ij f'(d_ij) (z_i - z_j), dL/dlog v =
    v sum(G * K), dL/dlog n = n tr G. Two points in the same place exert no force on one another:
    the kernels that are not differentiable there have a peak, whose mean slope is 0.

    A descent asks thousands of times, of arguments that are known to be right. With W = A^-1 C it
    is tr(A^-1 S) = sum(W * C) and 2 G = w A^-1 - W W^T, which is half the work of products of
    squares where C is a triangle, and less where fewer columns than rows are known.

    Parameters
    ----------
    groups : sequence of ColumnGroup
        Columns that are known in the same rows.
    """

    def __init__(self, groups: Sequence[ColumnGroup]) -> None:
        self.groups = groups

    def __call__(
        self, latent: Floats, kernel: StationaryKernel, variance: float, noise: float
    ) -> LikelihoodGradient:
        """Value and gradient; infinite, derivatives 0, where A is not positive definite."""
        cov, change = covariances(latent, kernel)
        value = 0.0
        by_cov: Any = None  # 2 G, of which the lower triangle is used
        for group in self.groups:
            try:
                factor = factor_of(variance * cov[group.block], noise)
            except np.linalg.LinAlgError:
                return LikelihoodGradient(np.inf, np.zeros_like(latent), 0.0, 0.0)
            inverse = inverse_of(factor)
            if len(group.root) == group.root.shape[1]:
                through = dtrmm(1.0, group.root, inverse.T, side=1, lower=1)
            else:
                through = inverse @ group.root
            log_det = 2.0 * float(np.log(np.diagonal(factor)).sum())
            value += 0.5 * group.weight * (len(factor) * LOG_2PI + log_det)
            value += 0.5 * float(np.dot(through.ravel("K"), group.root.ravel("K")))
            own = dsyrk(-1.0, through, beta=group.weight, c=inverse.T, overwrite_c=1).T
            if by_cov is None and own.shape == cov.shape:
                by_cov = own
                continue
            by_cov = np.zeros_like(cov) if by_cov is None else by_cov
            by_cov[group.block] += own
        by_latent = np.empty_like(latent)
        inner = _jit.likelihood.forces(latent, change, cov, by_cov, 2.0 * variance, by_latent)
        by_noise = 0.5 * noise * float(np.trace(by_cov))
        return LikelihoodGradient(value, by_latent, 0.5 * variance * inner, by_noise)


class SampleLikelihood(GroupLikelihood):
    """The same of complete data, from their sample covariance: one group of all rows.

    Parameters
    ----------
    sample_cov : (n, n) float64, symmetric
        S = X X^T / N. Not checked; negative eigenvalues, which covariances over the columns that
        pairs of rows share may have, count as 0.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import gplvm, kernels
    >>> latent = np.array([[0.0], [1.0], [3.0]])
    >>> kernel = kernels.SquaredExponential()
    >>> cov = kernel.covariance((latent - latent.T) ** 2) + 0.1 * np.eye(3)
    >>> at = gplvm.SampleLikelihood(cov)(latent, kernel, 1.0, 0.1)
    >>> bool(np.abs(at.latent).max() < 1e-9)
    True
    """

    def __init__(self, sample_cov: Floats) -> None:
        self.eigenvalues, vectors = np.linalg.eigh(sample_cov)
        n, values = len(sample_cov), np.maximum(self.eigenvalues, 0.0)
        used = values > n * np.finfo(np.float64).eps * values[-1]
        used[-1] = True
        root = vectors[:, used] * np.sqrt(values[used])
        super().__init__([ColumnGroup.of(np.arange(n), 1.0, root)])


def covariances(latent: Floats, kernel: StationaryKernel) -> tuple[Floats, Floats]:
    """f(d_ij) and f'(d_ij) of every pair, both (n, n); f' is 0 for a pair in one place."""
    n = len(latent)
    squares, cov, change = np.empty(n * (n - 1) // 2), np.empty((n, n)), np.empty((n, n))
    _jit.likelihood.sq_distances(latent, squares)
    _jit.likelihood.unpack(*value_and_slope(kernel, squares), cov, change)
    return cov, change


def value_and_slope(kernel: StationaryKernel, sq_dist: Floats) -> tuple[Floats, Floats]:
    """f and f' of squared distances; f' is 0, its mean, for a pair in one place."""
    together = sq_dist == 0.0
    # Distance 1 stands in for 0, where the slope of some kernels is infinite.
    change = kernel.derivative(np.where(together, 1.0, sq_dist))
    return kernel.covariance(sq_dist), np.where(together, 0.0, change)


def factor_of(signal: Floats, noise: float) -> Floats:
    """Lower Cholesky factor of a covariance, which is overwritten, and noise."""
    signal.flat[:: len(signal) + 1] += noise
    factor, failed = dpotrf(signal.T, lower=1, overwrite_a=1)
    if failed:
        raise np.linalg.LinAlgError(
            "noise must be large enough to invert the covariance of the latent, got "
            f"{noise!r}; a noise of 1e-6 times the variance is enough"
        )
    return np.asarray(factor)


def inverse_model(
    latent: Floats, kernel: StationaryKernel, variance: float, noise: float
) -> tuple[Floats, Floats]:
    """A^-1 and how A changes with the squared distances, v f'(d_ij), both (n, n).

    Raises ValueError where A is not positive definite to working precision.
    """
    cov, change = covariances(latent, kernel)
    return inverse_of(factor_of(variance * cov, noise)), variance * change


def inverse_of(factor: Floats) -> Floats:
    """Inverse of a matrix from its lower Cholesky factor, both triangles."""
    inverse = np.asarray(dlauum(inverse_triangle(factor), lower=1, overwrite_c=1)[0].T)
    _jit.likelihood.mirror_upper(inverse)
    return inverse


def inverse_triangle(factor: Floats) -> Floats:
    """Inverse of a lower triangle, by halves: LAPACK's own takes twice as long."""
    n, half = len(factor), len(factor) // 2
    if n <= _SMALL:
        return np.asarray(dtrtri(factor, lower=1)[0])
    inverse = np.zeros((n, n), order="F")
    first, last = inverse_triangle(factor[:half, :half]), inverse_triangle(factor[half:, half:])
    inverse[:half, :half], inverse[half:, half:] = first, last
    below = dtrmm(1.0, first, factor[half:, :half], side=1, lower=1)
    inverse[half:, :half] = dtrmm(-1.0, last, below, lower=1)
    return inverse


def expected_information(
    latent: Floats, kernel: StationaryKernel, variance: float, noise: float
) -> Floats:
    r"""Compute the expected information of one column about points and variances.

    For parameters a and b it is 1/2 tr(A^-1 dA/da A^-1 dA/db). A move of point i along axis c
    changes row and column i of A by u_ic, with entries 2 v f'(d_ij) (z_ic - z_jc), so that

        I(ic, je) = A^-1_ij u_ic^T A^-1 u_je + (A^-1 u_ic)_j (A^-1 u_je)_i,

    which takes products of (n m, n) matrices. Unlike the curvature it is never indefinite.

    Parameters
    ----------
    latent : (n, m) float64
        Latent points Z.
    kernel : StationaryKernel
        Kernel of the model.
    variance, noise : float
        Signal variance v > 0 and noise variance n > 0.

    Returns
    -------
    (n m + 2, n m + 2) ndarray of float64, symmetric
        Coordinates row by row, then log v, then log n.

    Raises
    ------
    ValueError
        If A is not positive definite to working precision.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import gplvm, kernels
    >>> latent = np.array([[0.0], [1.0], [3.0]])
    >>> gplvm.expected_information(latent, kernels.Matern(), 1.0, 0.1).shape
    (5, 5)
    """
    n, m = latent.shape
    size = n * m
    inverse, change = inverse_model(latent, kernel, variance, noise)
    squared = inverse @ inverse
    # Row (i, c): how row i of the model changes when point i moves along axis c.
    gaps = latent[:, :, None] - latent.T
    moves = (2.0 * change[:, None, :] * gaps).reshape(size, n)
    through = moves @ inverse
    out = np.empty((size + 2, size + 2))
    crossed = (moves @ through.T).reshape(n, m, n, m)
    by_point = through.reshape(n, m, n)
    latents = inverse[:, None, :, None] * crossed
    latents += by_point[:, :, :, None] * by_point.transpose(2, 0, 1)[:, None]
    out[:size, :size] = latents.reshape(size, size)
    # Point i meets row i of A^-1 dA A^-1, once from its row of A and once from its column. That of
    # the noise is n A^-2, and that of the signal A^-1 less it, as v K is A - n I.
    by_point = moves.reshape(n, m, n)
    whole = np.einsum("ij,icj->ic", inverse, by_point).ravel()
    out[size + 1, :size] = noise * np.einsum("ij,icj->ic", squared, by_point).ravel()
    out[size, :size] = whole - out[size + 1, :size]
    by_noise: Any = 0.5 * noise**2 * float(np.trace(squared))
    signal: Any = noise * float(np.trace(inverse))
    out[size + 1, size + 1] = by_noise
    out[size + 1, size] = 0.5 * signal - by_noise
    out[size, size] = 0.5 * n - signal + by_noise
    return np.asarray(np.tril(out) + np.tril(out, -1).T)


def column_scores(
    latent: Floats, rows: Floats, kernel: StationaryKernel, variance: float, noise: float
) -> Floats:
    r"""Compute the derivative of the log likelihood of each column in points and variances.

    With w = A^-1 x it is 1/2 (w^T dA w - tr(A^-1 dA)) for a column x. Over samples of the model its
    mean is 0 and its covariance the expected information.

    Parameters
    ----------
    latent : (n, m) float64
        Latent points Z.
    rows : (n, n_observed) float64
        Observations, centered if the model was fitted to centered rows.
    kernel : StationaryKernel
        Kernel of the model.
    variance, noise : float
        Signal variance v > 0 and noise variance n > 0, in the units of the rows squared.

    Returns
    -------
    (n m + 2, n_observed) ndarray of float64
        Coordinates row by row, then log v, then log n.

    Raises
    ------
    ValueError
        If A is not positive definite to working precision.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import gplvm, kernels
    >>> latent, rows = np.array([[0.0], [1.0], [3.0]]), np.ones((3, 7))
    >>> gplvm.column_scores(latent, rows, kernels.Matern(), 1.0, 0.1).shape
    (5, 7)
    """
    n, m = latent.shape
    inverse, change = inverse_model(latent, kernel, variance, noise)
    weighted = inverse @ rows
    out = np.empty((n * m + 2, rows.shape[1]))
    for axis in range(m):
        move = 2.0 * change * (latent[:, axis, None] - latent[:, axis])
        mean = np.sum(inverse * move, axis=1)[:, None]
        out[axis : n * m : m] = weighted * (move @ weighted) - mean
    by_noise = 0.5 * noise * (np.sum(weighted**2, axis=0) - np.trace(inverse))
    out[-1] = by_noise
    # w^T v K w = w^T x - n w^T w.
    out[-2] = 0.5 * (np.sum(weighted * rows, axis=0) - n) - by_noise
    return out


@check.validate(rows=check.table, centered=check.flag)
def sample_covariance(rows: ArrayLike, centered: bool = True) -> Floats:
    """Covariance between points, S = X X^T / N, all that the likelihood sees of X.

    Parameters
    ----------
    rows : (n, n_observed) array_like of float64
        One point per row, one column per column.
    centered : bool
        Take the mean off every row first.

    Returns
    -------
    (n, n) ndarray of float64
        Symmetric to the last bit.

    Examples
    --------
    >>> from ikd_graph import gplvm
    >>> gplvm.sample_covariance([[1.0, 3.0], [2.0, 0.0]])
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    values = np.asarray(rows, dtype=np.float64)
    if centered:
        values = values - values.mean(axis=1, keepdims=True)
    product = values @ values.T / values.shape[1]
    return 0.5 * (product + product.T)


def _check_points(latent: Floats, sample_cov: Floats, **_: object) -> None:
    check.table_of(len(sample_cov))("latent", latent)


@check.validate(
    _check_points,
    latent=check.table,
    sample_cov=check.symmetric,
    n_observed=check.count,
    kernel=as_kernel,
    variance=check.positive,
    noise=check.not_negative,
)
def log_likelihood(
    latent: Floats,
    sample_cov: Floats,
    n_observed: int,
    kernel: StationaryKernel,
    variance: float = 1.0,
    noise: float = 0.0,
) -> float:
    """Log likelihood of all columns; divided by ``n_observed`` it is the mean of one.

    Parameters
    ----------
    latent : (n, m) array_like of float64
        Latent points Z.
    sample_cov : (n, n) array_like of float64
        S = X X^T / N, see `sample_covariance`.
    n_observed : int
        Number N of columns.
    kernel : str or StationaryKernel
        Kernel of the model.
    variance, noise : float
        Signal variance v and noise variance n, in the units of S.

    Returns
    -------
    float
        Sum over dimensions of log N(x; 0, v K + n I); minus infinity where v K + n I is not
        positive definite to working precision.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import gplvm
    >>> rows = np.random.default_rng(0).standard_normal((3, 50))
    >>> latent = np.array([[0.0], [5.0], [10.0]])
    >>> cov = gplvm.sample_covariance(rows, centered=False)
    >>> round(gplvm.log_likelihood(latent, cov, 50, "squared_exponential", 1.0, 0.1) / 50, 3)
    -4.158
    """
    return -n_observed * SampleLikelihood(sample_cov)(latent, kernel, variance, noise).value


@check.validate(
    _check_points,
    latent=check.table,
    sample_cov=check.symmetric,
    n_observed=check.count,
    kernel=as_kernel,
)
def fit_variances(
    latent: Floats, sample_cov: Floats, n_observed: int, kernel: StationaryKernel
) -> tuple[float, float, float]:
    """Signal and noise variance under which an embedding is most likely.

    One eigendecomposition of K turns the likelihood of v (K + r I) into sums over eigenvalues; the
    best v for a ratio r is in closed form, and r is searched on a line.

    Parameters
    ----------
    latent, sample_cov, n_observed, kernel : see `log_likelihood`
        What is given.

    Returns
    -------
    variance, noise : float
        Signal and noise variance, in the units of S.
    log_likelihood : float
        As `log_likelihood`.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import gplvm
    >>> rows = 3.0 * np.random.default_rng(0).standard_normal((40, 500))
    >>> latent = 100.0 * np.arange(40.0)[:, None]
    >>> variance, noise, _ = gplvm.fit_variances(latent, rows @ rows.T / 500, 500, "matern")
    >>> bool(8.5 < variance + noise < 9.5)
    True
    """
    groups = SampleLikelihood(sample_cov).groups
    variance, noise, value = fit_group_variances(latent, groups, kernel)
    return variance, noise, -n_observed * value


def known_log_likelihood(
    table: NDArray[np.floating],
    latent: Floats,
    kernel: StationaryKernel,
    variance: float,
    noise: float,
) -> float:
    """Log likelihood of the known entries of a table at given coordinates."""
    likelihood = GroupLikelihood(column_groups(table))
    n_columns = np.count_nonzero(np.isfinite(table).any(axis=0))
    return -n_columns * likelihood(latent, kernel, variance, noise).value


def fit_group_variances(
    latent: Floats, groups: Sequence[ColumnGroup], kernel: StationaryKernel
) -> tuple[float, float, float]:
    """Variances as `fit_variances` fits them, and the negative log likelihood of one column."""
    cov = kernel.matrix(latent)
    parts = []
    for group in groups:
        spectrum, vectors = np.linalg.eigh(cov[group.block])
        power = np.sum((vectors.T @ group.root) ** 2, axis=1)
        parts.append((np.maximum(spectrum, 0.0), power, np.full(power.size, group.weight)))
    values, power, weights = (np.concatenate(each) for each in zip(*parts, strict=True))
    total = float(weights.sum())

    def scale(log_ratio: float) -> float:
        # Rows that do not vary have none, and a likelihood without bound.
        variance = float(np.sum(power / (values + np.exp(log_ratio)))) / total
        return max(variance, TINY)

    def cost(log_ratio: float) -> float:
        log_det = float(weights @ np.log(values + np.exp(log_ratio)))
        return total * float(np.log(scale(log_ratio))) + log_det

    log_ratio = float(minimize_scalar(cost, bounds=(-18.0, 7.0), method="bounded").x)
    variance = scale(log_ratio)
    value = 0.5 * (total * (LOG_2PI + 1.0) + cost(log_ratio))
    return variance, variance * float(np.exp(log_ratio)), value


class NoiseModel(NamedTuple):
    """Variances and kernel of the Gaussian process of an embedding."""

    variance: float  # signal variance, in units of X squared
    noise: float  # noise variance, in units of X squared
    log_likelihood: float  # of all columns
    kernel: StationaryKernel  # with the length-scale of the embedding


@check.validate(latent=check.table, kernel=as_kernel)
def fit_noise_model(
    latent: Floats, rows: NDArray[np.floating], kernel: StationaryKernel
) -> NoiseModel:
    """Fit the variances and the length-scale under which an embedding explains rows best.

    A closed form has the unit of the kernel only as far as covariances are those of the model.

    Parameters
    ----------
    latent : (n, m) ndarray of float64
        Coordinates.
    rows : (n, n_observed) ndarray of float
        Observations, centered, NaN where a value is not known.
    kernel : StationaryKernel
        Kernel of the coordinates.

    Returns
    -------
    NoiseModel
        The fitted process.
    """
    check.table_of(len(latent))("rows", rows)
    sample = evenly_spaced(len(latent), limits.SAMPLED_SCALE)
    points, groups = latent[sample], column_groups(rows[sample])

    def scaled(log_scale: float) -> StationaryKernel:
        return replace(kernel, length_scale=kernel.length_scale * float(np.exp(log_scale)))

    def cost(log_scale: float) -> float:
        return fit_group_variances(points, groups, scaled(log_scale))[2]

    best = minimize_scalar(cost, bounds=_LOG_SCALES, method="bounded", options={"xatol": 0.05})
    if best.fun < cost(0.0):
        kernel = scaled(best.x)
    variance, noise, value = fit_group_variances(latent, column_groups(rows), kernel)
    n_columns = np.count_nonzero(np.isfinite(rows).any(axis=0))
    return NoiseModel(variance, noise, -n_columns * value, kernel)
