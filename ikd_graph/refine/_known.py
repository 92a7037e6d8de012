r"""Maximum likelihood of a table with holes: every column by the rows that have it.

A column that is known in the rows R is a sample of N(0, v K_RR + n I), so that columns known in the
same rows share one small matrix, and the log likelihood of the known entries is a sum over these
groups of columns. Sessions that overlap have a few groups; holes at random have one for each
column.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg.lapack import dpotrf, dpotri
from scipy.optimize import minimize
from scipy.spatial.distance import cdist

from .. import _validation as check
from .._threads import single_threaded_blas
from .._types import Floats
from .._validation import few, validate
from ..covariance import pairwise
from ..kernels import StationaryKernel, as_kernel
from ._closed_forms import closed_form, random_closed_form

MOST_WORK = 5e7
"""Sum over groups of columns of the cubed number of rows up to which a likelihood is maximized: one
evaluation takes about 30 ms there."""

_LEAST_NOISE = 1e-4  # of the mean square of the rows
_STAGES = ((0.5, 30), (0.0, 150))  # noise floor as a fraction of the mean square, and steps

_TRIAL = ((0.5, 15), (0.0, 25))  # the same of a mirrored start
_ROUNDS = 3
_RANDOM_STARTS = 2  # of a session by itself

MOST_SESSIONS = 30
"""Sessions up to which each is mirrored once a round."""

_SAME = 0.02  # of the sum of squares, by which embeddings of one optimum may differ


class ColumnGroup(NamedTuple):
    """Columns that are known in the same rows."""

    rows: NDArray[np.int64]  # (r,)
    scatter: Floats  # (r, r) sum over the columns of products of their values
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
            groups.append(ColumnGroup(there, values @ values.T, columns.size))
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
    value, by_noise = 0.0, 0.0
    for group in groups:
        model = variance * cov[np.ix_(group.rows, group.rows)]
        model.flat[:: len(model) + 1] += noise
        factor, failed = dpotrf(model, lower=1)
        if failed:
            return np.inf, np.zeros_like(latent), np.zeros(2)
        value += group.n_columns * float(np.log(np.diagonal(factor)).sum())
        inverse = dpotri(factor, lower=1)[0]
        inverse = np.tril(inverse) + np.tril(inverse, -1).T
        pulled = inverse @ group.scatter
        value += 0.5 * float(np.trace(pulled))
        slope = 0.5 * (group.n_columns * inverse - pulled @ inverse)
        pull[np.ix_(group.rows, group.rows)] += slope
        by_noise += float(np.trace(slope))
    by_variance = float(np.vdot(pull, cov))
    with np.errstate(invalid="ignore"):
        weights = variance * pull * kernel.derivative(sq_dist)
    # The distance of a point from itself does not move, whatever the slope of the kernel there.
    np.fill_diagonal(weights, 0.0)
    gradient = 4.0 * (weights.sum(axis=1)[:, None] * latent - weights @ latent)
    return value, gradient, np.array([by_variance, by_noise])


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
        return _descend(groups, start, kernel, float(np.nanmean(table**2)))


def _descend(
    groups: list[ColumnGroup],
    start: Floats,
    kernel: StationaryKernel,
    scale: float,
    stages: Sequence[tuple[float, int]] = _STAGES,
) -> KnownFit:
    """Descend in stages, each with a lower floor of the noise."""
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
            options={"maxiter": steps, "maxfun": 2 * steps, "ftol": 1e-7, "maxcor": 20},
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


# Sessions -----------------------------------------------------------------------------------------


OPEN_BELOW = 60.0
"""Nats of log likelihood by which a mirrored session must fall short for its joint to be fixed."""


class SessionJoints(NamedTuple):
    """Whether rows that know the same columns may be mirrored against all others."""

    sessions: NDArray[np.int64]  # (n,) session of each row, -1 for rows that are in none
    gaps: Floats  # (n_sessions,) log likelihood lost by the best mirrored session, in nats

    @property
    def kinds(self) -> NDArray[np.str_]:
        """Class of each session, "fixed" or "mirrored"."""
        return np.where(self.gaps > OPEN_BELOW, "fixed", "mirrored").astype("<U8")

    @property
    def n_open(self) -> int:
        """Number of sessions that may be mirrored."""
        return int(np.count_nonzero(self.kinds != "fixed"))

    def of_rows(self, inverse: NDArray[np.int64]) -> SessionJoints:
        """Return the same of all rows, of which ``inverse`` (n,) names the distinct ones."""
        return self._replace(sessions=self.sessions[inverse])

    @property
    def fixed(self) -> NDArray[np.str_]:
        """Class of every row, that of its session; rows in none are as fixed as their pairs are."""
        kinds = np.append(self.kinds, "fixed").astype("<U8")
        return np.asarray(kinds[self.sessions])

    def __str__(self) -> str:
        lines = []
        for session in np.flatnonzero(self.kinds != "fixed"):
            rows = np.flatnonzero(self.sessions == session)
            lines.append(
                f"rows {few(rows)} may be mirrored: that costs {self.gaps[session]:.0f} nats"
            )
        return "\n".join(lines or ["no session may be mirrored"])


class Mirrored(NamedTuple):
    """The fit of largest likelihood that was found, and what mirroring sessions costs."""

    fit: KnownFit
    joints: SessionJoints | None


def sessions_of(known: NDArray[np.bool_], least: int) -> NDArray[np.int64]:
    """Session of each row, -1 for rows that share their known columns with fewer than ``least``."""
    keys, inverse = np.unique(np.packbits(known, axis=1), axis=0, return_inverse=True)
    labels = inverse.ravel().astype(np.int64)
    large = np.bincount(labels, minlength=len(keys)) >= least
    number = np.where(large, np.cumsum(large) - 1, -1)
    return np.asarray(number[labels])


def search_mirrored(
    latent: Floats, rows: NDArray[np.floating], kernel: StationaryKernel
) -> Mirrored:
    """Maximize the likelihood of the known entries over mirror images of sessions as well.

    A session is solved well by itself, and few columns may leave open whether it is mirrored.
    Every session, turned about its own mean in each of its principal axes, is the start of
    another descent; what these reach is kept where it is better, and says how sure each session is.
    """
    groups = column_groups(rows)
    scale = float(np.nanmean(rows**2))
    width = latent.shape[1]
    sessions = sessions_of(np.isfinite(rows), width + 3)
    n_sessions = int(sessions.max(initial=-1)) + 1
    with single_threaded_blas():
        best = _descend(groups, latent, kernel, scale)
        if not 1 < n_sessions <= MOST_SESSIONS:
            return Mirrored(best, None)
        if (sessions >= 0).all():
            start = _assembled(groups, rows, sessions, kernel, latent)
            other = _descend(groups, start, kernel, scale)
            best = max(best, other, key=lambda fit: fit.log_likelihood)
        gaps = np.full(n_sessions, np.inf)
        for _ in range(_ROUNDS):
            before, gaps = best.log_likelihood, np.full(n_sessions, np.inf)
            for session in range(n_sessions):
                inside = sessions == session
                start = _best_flip(groups, best, kernel, inside)
                tried = _descend(groups, start, kernel, scale, _TRIAL)
                if not _same(tried.latent, best.latent):
                    gaps[session] = min(gaps[session], best.log_likelihood - tried.log_likelihood)
                if tried.log_likelihood > best.log_likelihood:
                    best = _descend(groups, tried.latent, kernel, scale, _STAGES[1:])
            if best.log_likelihood <= before + 1e-6 * abs(before):
                break
    return Mirrored(best, SessionJoints(sessions, gaps))


def _best_flip(
    groups: list[ColumnGroup], fit: KnownFit, kernel: StationaryKernel, inside: NDArray[np.bool_]
) -> Floats:
    """Return the mirror image of some rows that costs least before anything else moves."""
    center = fit.latent[inside].mean(axis=0)
    axes = np.linalg.svd(fit.latent[inside] - center, full_matrices=False)[2]
    found, least = fit.latent, np.inf
    total = fit.variance + fit.noise
    for number in range(1, 2 ** len(axes)):
        signs = np.array([-1.0 if number >> axis & 1 else 1.0 for axis in range(len(axes))])
        moved = fit.latent.copy()
        moved[inside] = center + (moved[inside] - center) @ (axes.T * signs) @ axes
        # With as much noise as signal, which smooths the likelihood.
        value = value_and_gradient(groups, moved, kernel, 0.5 * total, 0.5 * total)[0]
        if value < least:
            found, least = moved, value
    return found


def _same(first: Floats, second: Floats) -> bool:
    """Whether two embeddings are the same up to a rigid motion and small moves."""
    a, b = first - first.mean(axis=0), second - second.mean(axis=0)
    fitted = np.linalg.svd(a.T @ b, compute_uv=False).sum()
    left = (a**2).sum() + (b**2).sum() - 2.0 * fitted
    return bool(left <= _SAME * (b**2).sum())


def _assembled(
    groups: list[ColumnGroup],
    rows: NDArray[np.floating],
    sessions: NDArray[np.int64],
    kernel: StationaryKernel,
    given: Floats,
) -> Floats:
    """Solve every session by itself, and put one to the others after the other.

    A row lies about at the mean of the placed rows that it is correlated with, which gives the
    rigid motion of a session; of its mirror images the most likely is taken, given those placed.
    """
    corr, counts = pairwise(rows)
    scale, latent = float(np.nanmean(rows**2)), np.zeros_like(given)
    for session in range(int(sessions.max()) + 1):
        inside = np.flatnonzero(sessions == session)
        own = np.isfinite(rows[inside[0]])
        alone = column_groups(rows[np.ix_(inside, np.flatnonzero(own))])
        within, width = corr[np.ix_(inside, inside)], given.shape[1]
        rng = np.random.default_rng(0)
        starts = [
            closed_form(within, width, kernel, int(own.sum())),
            given[inside],
            *(random_closed_form(within, width, kernel, rng) for _ in range(_RANDOM_STARTS)),
        ]
        fits = [_descend(alone, start, kernel, scale, _TRIAL) for start in starts]
        latent[inside] = max(fits, key=lambda fit: fit.log_likelihood).latent
    placed = sessions == np.bincount(sessions).argmax()
    near = np.where(np.isfinite(corr), np.clip(corr, 0.0, 1.0) ** 2 * np.sqrt(counts), 0.0)
    while not placed.all():
        pull = np.bincount(sessions[~placed], near[np.ix_(~placed, placed)].sum(axis=1))
        inside = sessions == pull.argmax()
        weights = near[np.ix_(inside, placed)] ** 2
        aims = weights @ latent[placed] / np.maximum(weights.sum(axis=1), 1e-12)[:, None]
        latent[inside] = _best_motion(groups, latent, aims, inside, placed, kernel, scale)
        placed |= inside
    return latent


def _best_motion(
    groups: list[ColumnGroup],
    latent: Floats,
    aims: Floats,
    inside: NDArray[np.bool_],
    placed: NDArray[np.bool_],
    kernel: StationaryKernel,
    scale: float,
) -> Floats:
    """Return rows of a session, moved rigidly to their aims or mirrored, whichever is likelier."""
    own, center = latent[inside] - latent[inside].mean(axis=0), aims.mean(axis=0)
    left, _, right = np.linalg.svd(own.T @ (aims - center))
    part = _among(groups, inside | placed)
    found, least = own + center, np.inf
    for number in range(2 ** own.shape[1]):
        signs = [-1.0 if number >> axis & 1 else 1.0 for axis in range(own.shape[1])]
        moved = latent.copy()
        moved[inside] = own @ (left * signs) @ right + center
        value = value_and_gradient(part, moved, kernel, 0.5 * scale, 0.5 * scale)[0]
        if value < least:
            found, least = moved[inside], value
    return found


def _among(groups: list[ColumnGroup], inside: NDArray[np.bool_]) -> list[ColumnGroup]:
    """Return the same columns of some rows alone."""
    kept = []
    for group in groups:
        there = inside[group.rows]
        if there.any():
            scatter = group.scatter[np.ix_(there, there)]
            kept.append(ColumnGroup(group.rows[there], scatter, group.n_columns))
    return kept
