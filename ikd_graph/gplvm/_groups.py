r"""Maximum likelihood of a table with holes: every column by the rows that have it.

A column that is known in the rows R is a sample of N(0, v K_RR + n I), so that columns known in the
same rows share one small matrix, and the log likelihood of the known entries is a sum over these
groups of columns. Sessions that overlap have a few groups; holes at random have one for each
column.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs
from scipy.optimize import minimize
from scipy.spatial.distance import cdist

from .._base import validation as check
from .._base.threads import single_threaded_blas
from .._base.types import Floats
from .._base.validation import validate
from ..kernels import StationaryKernel, as_kernel

MOST_WORK = 5e7
"""Sum over groups of columns of the cubed number of rows up to which a likelihood is maximized: one
evaluation takes about 30 ms there."""

_LEAST_NOISE = 1e-4  # of the mean square of the rows
STAGES = ((0.5, 30), (0.0, 150))  # noise floor as a fraction of the mean square, and steps


class ColumnGroup(NamedTuple):
    """Columns that are known in the same rows."""

    rows: NDArray[np.int64]  # (r,)
    root: Floats  # (r, k) with the products of its rows those of the values, k at most r
    n_columns: int


class KnownFit(NamedTuple):
    """Coordinates of largest likelihood of the known entries."""

    latent: Floats  # (n, m)
    variance: float
    noise: float
    log_likelihood: float
    n_iter: int
    converged: bool


def known_columns(
    rows: NDArray[np.floating],
) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Rows and columns of every group of columns that are known in the same rows."""
    known = np.isfinite(rows)
    keys, inverse = np.unique(np.packbits(known, axis=0), axis=1, return_inverse=True)
    groups = []
    for number in range(keys.shape[1]):
        columns = np.flatnonzero(inverse.ravel() == number)
        groups.append((np.flatnonzero(known[:, columns[0]]), columns))
    return groups


def column_groups(rows: NDArray[np.floating]) -> list[ColumnGroup]:
    """Columns of a table (n, p) with NaN in holes, those known in the same rows together."""
    groups = []
    for there, columns in known_columns(rows):
        values = rows[np.ix_(there, columns)].astype(np.float64)
        if there.size > 1:
            # The likelihood sees products of rows alone: more columns than rows say no more.
            root = (
                values
                if values.shape[1] <= there.size
                else np.asarray(np.linalg.qr(values.T, mode="r")).T
            )
            groups.append(ColumnGroup(there, root, columns.size))
    return groups


def work_of(known: NDArray[np.bool_]) -> float:
    """Sum over groups of columns of the cubed number of rows that have them."""
    first = np.unique(np.packbits(known, axis=0), axis=1, return_index=True)[1]
    return float((known[:, first].sum(axis=0).astype(np.float64) ** 3).sum())


def centered_known(rows: NDArray[np.floating]) -> Floats:
    """Rows less the mean of what is known of each."""
    table = np.array(rows, dtype=np.float64)
    known = np.isfinite(table)
    total = np.where(known, table, 0.0).sum(axis=1, keepdims=True)
    return np.asarray(table - total / np.maximum(known.sum(axis=1, keepdims=True), 1))


def value_and_gradient(
    groups: list[ColumnGroup],
    latent: Floats,
    kernel: StationaryKernel,
    variance: float,
    noise: float,
) -> tuple[float, Floats, Floats]:
    """Negative log likelihood without constants, its gradient (n, m), and that in the variances."""
    sq_dist = cdist(latent, latent, "sqeuclidean")
    cov = kernel.covariance(sq_dist)
    pull = np.zeros_like(cov)
    value = 0.0
    for group in groups:
        block = _block(group.rows)
        model = variance * cov[block]
        model.flat[:: len(model) + 1] += noise
        factor, failed = dpotrf(model.T, lower=1, overwrite_a=1)
        if failed:
            return np.inf, np.zeros_like(latent), np.zeros(2)
        solved = dpotrs(factor, group.root, lower=1)[0]
        value += group.n_columns * float(np.log(np.diagonal(factor)).sum())
        value += 0.5 * float(np.vdot(group.root, solved))
        pull[block] += group.n_columns * dpotri(factor, lower=1)[0] - solved @ solved.T
    # LAPACK leaves the upper triangle of an inverse as it was; rows of groups ascend.
    pull = 0.5 * (np.tril(pull) + np.tril(pull, -1).T)
    by_noise = float(np.trace(pull))
    by_variance = float(np.vdot(pull, cov))
    with np.errstate(invalid="ignore"):
        weights = variance * pull * kernel.derivative(sq_dist)
    # Equal points, and one and itself, pull at one another in no direction, whatever the slope.
    weights[sq_dist == 0.0] = 0.0
    gradient = 4.0 * (weights.sum(axis=1)[:, None] * latent - weights @ latent)
    return value, gradient, np.array([by_variance, by_noise])


def _block(rows: NDArray[np.int64]) -> Any:
    """Index of the pairs of some rows, a view where they follow one another."""
    if rows[-1] - rows[0] + 1 == rows.size:
        run = slice(int(rows[0]), int(rows[-1]) + 1)
        return run, run
    return np.ix_(rows, rows)


def known_value(
    rows: NDArray[np.floating],
    latent: Floats,
    kernel: StationaryKernel,
    variance: float,
    noise: float,
) -> float:
    """Log likelihood of the known entries of rows at given coordinates."""
    groups = column_groups(rows)
    entries = sum(group.n_columns * group.rows.size for group in groups)
    value = value_and_gradient(groups, latent, kernel, variance, noise)[0]
    return -value - 0.5 * entries * float(np.log(2.0 * np.pi))


def known_variances(
    rows: NDArray[np.floating], latent: Floats, kernel: StationaryKernel
) -> tuple[float, float]:
    """Signal and noise variance of largest likelihood of the known entries at given coordinates."""
    groups, scale = column_groups(rows), float(np.nanmean(rows**2))

    def objective(x: Floats) -> tuple[float, Floats]:
        variances = scale * np.exp(x)
        value, _, by = value_and_gradient(groups, latent, kernel, variances[0], variances[1])
        return value, variances * by

    bounds = [(np.log(1e-3), np.log(1e3)), (np.log(_LEAST_NOISE), np.log(10.0))]
    found = minimize(objective, np.log([0.5, 0.5]), jac=True, method="L-BFGS-B", bounds=bounds)
    variance, noise = scale * np.exp(found.x)
    return float(variance), float(noise)


@validate(latent=check.table, kernel=as_kernel)
def known_likelihood(
    latent: Floats,
    rows: ArrayLike,
    kernel: StationaryKernel,
) -> KnownFit:
    """Move an embedding to the largest likelihood of the known entries of a table.

    Two descents by L-BFGS, the first with at least half of the mean square as noise, which smooths
    the likelihood, the second without that floor.

    Parameters
    ----------
    latent : (n, m) array_like of float64
        Start, in units of the length-scale of the kernel.
    rows : (n, p) array_like of float64
        Columns are samples of the process, NaN where a value is not known.
    kernel : str or StationaryKernel
        Kernel of the model.

    Returns
    -------
    KnownFit
        Coordinates, variances, and the log likelihood of all known entries.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import refine
    >>> rng = np.random.default_rng(0)
    >>> z = np.linspace(0.0, 3.0, 12)[:, None]
    >>> cov = np.exp(-0.5 * (z - z.T) ** 2) + 1e-9 * np.eye(12)
    >>> X = np.linalg.cholesky(cov) @ rng.normal(size=(12, 80)) + 0.1 * rng.normal(size=(12, 80))
    >>> X[:4, :30] = np.nan  # the first rows lack some columns
    >>> fit = refine.known_likelihood(z + 0.2 * np.sin(9.0 * z), X, "squared_exponential")
    >>> bool(abs(np.corrcoef(fit.latent[:, 0], z[:, 0])[0, 1]) > 0.99)
    True
    """
    start, table = np.array(latent, dtype=np.float64), check.quantities("rows", rows)
    if table.ndim != 2 or len(table) != len(start):
        raise ValueError(
            f"rows must be a table with a row for each of {len(start)} points of the latent, got "
            f"shape {table.shape}; pass the table that was fitted"
        )
    groups = column_groups(table)
    if not groups:
        raise ValueError("rows must have a column that two rows have, got none; fit another table")
    with single_threaded_blas():
        return descend(groups, start, kernel, float(np.nanmean(table**2)))


def descend(
    groups: list[ColumnGroup],
    start: Floats,
    kernel: StationaryKernel,
    scale: float,
    stages: Sequence[tuple[float, int]] = STAGES,
    tolerance: float = 1e-7,
) -> KnownFit:
    """Descend in stages of a floor of the noise, as a fraction of ``scale``, and of steps."""
    n, m = start.shape

    def objective(x: Floats) -> tuple[float, Floats]:
        variances = scale * np.exp(x[n * m :])
        value, slope, by = value_and_gradient(
            groups, x[: n * m].reshape(n, m), kernel, variances[0], variances[1]
        )
        return value, np.concatenate([slope.ravel(), variances * by])

    x, n_iter, converged = np.concatenate([start.ravel(), np.log([0.5, 0.5])]), 0, False
    value = np.inf
    for floor, steps in stages:
        least = np.log(max(floor, _LEAST_NOISE))
        x[-1] = max(x[-1], least)
        bounds = [(None, None)] * (n * m) + [(np.log(1e-3), np.log(1e3)), (least, np.log(10.0))]
        found = minimize(
            objective, x, jac=True, method="L-BFGS-B", bounds=bounds,
            options={"maxiter": steps, "maxfun": 2 * steps, "ftol": tolerance, "maxcor": 20},
        )  # fmt: skip
        if not np.isfinite(found.fun):
            break
        x, value, converged = found.x, float(found.fun), bool(found.success)
        n_iter += int(found.nit)
    entries = sum(group.n_columns * group.rows.size for group in groups)
    variance, noise = scale * np.exp(x[n * m :])
    points = x[: n * m].reshape(n, m)
    likelihood = -value - 0.5 * entries * np.log(2.0 * np.pi)
    return KnownFit(
        points - points.mean(axis=0), float(variance), float(noise), likelihood, n_iter, converged
    )
