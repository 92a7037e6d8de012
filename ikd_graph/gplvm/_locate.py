r"""Where a new row of observations is likeliest, given the training rows and their latent.

At a latent point x a Gaussian process with signal variance v and noise n predicts

    m(x) = k^T A^-1 Y,  s(x) = v + n - k^T A^-1 k,  A = v K + n I,  k_i = v f(\|x - z_i\|²),

so that a row y of N values has the log density -N/2 log s(x) - \|y - m(x)\|² / (2 s(x)). A row may
have more noise than the training rows had, and their latent is not exact: of all variances t from
s(x) up the likeliest is t = max(s(x), \|y - m(x)\|² / N), which leaves the cost

    c(x) = N/2 log t + \|y - m(x)\|² / (2 t).

With s(x) alone and next to no noise, a place so far away that s(x) covers all of y would be
likelier than a good one.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches

from .. import _jit
from .. import _validation as check
from .._validation import validate
from ..kernels import StationaryKernel, as_kernel, compiled_form
from ._model import inverse_model

Floats = NDArray[np.float64]

JITTER = 1e-10
"""Noise that is added, relative to the signal: training points in one place are no obstacle."""

_MOST_STEPS = 40
_SMALLEST_GAIN = 1e-7  # of a log density
_LEAST_EXPECTED = 1e-12  # gain of a log density below which rounding decides
_DAMPING = 1e-2
_BATCH = 64  # rows side by side: their covariances with 1 000 training rows stay in the cache


class Process(NamedTuple):
    """A Gaussian process given its training rows, ready to place others, in plain arrays."""

    latent: Floats  # (n, m)
    rows: Floats  # (n, r) training rows, in coordinates of the space that they span
    axes: Floats | None  # (N, r) of that space; None where r = N
    n_observed: int  # N
    centred: bool  # whether the mean was taken off every row
    inverse: Floats  # (n, n) A^-1
    weights: Floats  # (n, r) A^-1 Y
    kernel: StationaryKernel
    variance: float
    noise: float


class Seen(NamedTuple):
    """A new row as the training rows see it; of b rows every field has one more axis in front."""

    row: Floats  # (r,)
    beside: Floats  # () squared length of what lies outside the space of the training rows
    sq_dist: Floats  # (n,) squared distances to the training rows


class _Look(NamedTuple):
    cost: Floats  # (t,)
    slope: Floats  # (t, m)
    curvature: Floats  # (t, m, m) expected
    away: Floats  # (t,) squared distances to the nearest training points


_PROCESS = check.record(Process, "gplvm.condition makes one")
_SEEN = check.record(Seen, "gplvm.see makes one")


@validate(
    latent=check.table,
    rows=check.table,
    kernel=as_kernel,
    variance=check.positive,
    noise=check.not_negative,
    centred=check.flag,
)
def condition(
    latent: Floats,
    rows: NDArray[np.floating],
    kernel: StationaryKernel,
    variance: float,
    noise: float,
    *,
    centred: bool,
) -> Process:
    """Prepare a Gaussian process to place new rows.

    Parameters
    ----------
    latent, rows : (n, m) and (n, n_observed) ndarray of float
        Latent and training rows as given.
    kernel : StationaryKernel
        Kernel of the model.
    variance, noise : float
        Signal and noise variance, in the units of the rows squared.
    centred : bool
        Whether the model was fitted to rows without their means.

    Returns
    -------
    Process
        Plain arrays.

    Raises
    ------
    ValueError
        If the covariance of the latent is not positive definite to working precision.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import gplvm, kernels
    >>> latent, kernel = np.array([[0.0], [1.0]]), kernels.SquaredExponential()
    >>> gplvm.condition(latent, np.eye(2), kernel, 1.0, 0.1, centred=False).n_observed
    2
    """
    if len(latent) != len(rows):
        raise ValueError(
            f"latent and rows must have the same points, got {len(latent)} and {len(rows)}"
        )
    values, axes = _values(rows, centred), None
    n_observed = values.shape[1]
    if n_observed > len(values):
        # The likelihood sees no more of a row than its part in the space of the training rows.
        axes = np.linalg.qr(values.T)[0]
        values = values @ axes
    points = np.asarray(latent, dtype=np.float64)
    noise = noise + JITTER * variance
    inverse = inverse_model(points, kernel, variance, noise)[0]
    weights = inverse @ values
    return Process(
        points, values, axes, n_observed, centred, inverse, weights, kernel, variance, noise
    )


@validate(process=_PROCESS, row=check.line)
def see(process: Process, row: NDArray[np.floating]) -> Seen:
    """A new row as the training rows see it.

    Parameters
    ----------
    process : Process
        What `condition` returned.
    row : (n_observed,) ndarray of float
        The row as given.

    Returns
    -------
    Seen
        Its part in the space of the training rows, and its squared distances to them.
    """
    _check_columns(process, row[None])
    seen = see_rows(process, row[None])
    return Seen(*(field[0] for field in seen))


def _check_columns(process: Process, rows: NDArray[np.floating], **_: object) -> None:
    if rows.shape[1] != process.n_observed:
        raise ValueError(
            f"rows must have the {process.n_observed} columns of the training rows, got "
            f"{rows.shape[1]}; pass rows of the same table"
        )


@validate(_check_columns, process=_PROCESS, rows=check.table)
def see_rows(process: Process, rows: NDArray[np.floating]) -> Seen:
    """New rows as the training rows see them, each independently of the others.

    Parameters
    ----------
    process : Process
        What `condition` returned.
    rows : (b, n_observed) ndarray of float
        The rows as given.

    Returns
    -------
    Seen
        As `see` returns for one row, with one more axis in front.
    """
    # The bits of a sum depend on how its numbers lie in memory.
    values = np.ascontiguousarray(_values(np.ascontiguousarray(rows), process.centred))
    beside = np.zeros(len(values))
    if process.axes is not None:
        inside = _product(values, process.axes)
        left_over = _product(inside, np.ascontiguousarray(process.axes.T))
        for i in range(len(values)):
            beside[i] = np.sum((values[i] - left_over[i]) ** 2)
        values = inside
    return Seen(values, beside, _sq_distances(values, process.rows) + beside[:, None])


def _check_starts(process: Process, seen: Seen, starts: Floats) -> None:
    shape = (len(seen.row), process.latent.shape[1])
    if starts.shape != shape:
        raise ValueError(
            f"starts must have shape {shape}, got {starts.shape}; give a latent point for each row"
        )


@validate(_check_starts, process=_PROCESS, seen=_SEEN, starts=check.table)
def place_rows(process: Process, seen: Seen, starts: Floats) -> tuple[Floats, Floats]:
    """Place new rows where they have the largest likelihood, each independently of the others.

    Descends from a start and from the training point of largest likelihood. The results of a row
    are the same to the bit whichever rows are placed with it.

    Parameters
    ----------
    process : Process
        What `condition` returned.
    seen : Seen
        The rows, from `see_rows`.
    starts : (b, m) ndarray of float64
        Latent points not far from them.

    Returns
    -------
    latent : (b, m) ndarray of float64
        Where the cost c(x) has the lower of two local minima. It is no further from all training
        points than the start was, or than a length-scale: there the process knows nothing.
    log_densities : (b,) ndarray of float64
        -c(x) there less N/2 log 2 pi: with the noise of largest likelihood.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import gplvm, kernels
    >>> latent = np.linspace(0.0, 3.0, 31)[:, None]
    >>> rows = np.column_stack([np.sin(latent), np.cos(latent)])
    >>> kernel = kernels.SquaredExponential()
    >>> process = gplvm.condition(latent, rows, kernel, 1.0, 1e-4, centred=False)
    >>> seen = gplvm.see_rows(process, np.array([[np.sin(1.234), np.cos(1.234)]]))
    >>> gplvm.place_rows(process, seen, np.array([[1.0]]))[0].round(2)
    array([[1.23]])
    """
    latent, cost = np.empty(starts.shape), np.empty(len(starts))
    fitted = process.rows - process.noise * process.weights
    for batch in gen_batches(len(starts), _BATCH):
        rows, beside = seen.row[batch], seen.beside[batch]
        tried = np.concatenate([starts[batch], _best_points(process, fitted, rows, beside)])
        ends, at = _descend(process, np.tile(rows, (2, 1)), np.tile(beside, 2), tried)
        second = at[len(rows) :] < at[: len(rows)]
        latent[batch] = np.where(second[:, None], ends[len(rows) :], ends[: len(rows)])
        cost[batch] = np.where(second, at[len(rows) :], at[: len(rows)])
    return latent, -cost - 0.5 * process.n_observed * float(np.log(2.0 * np.pi))


@validate(process=_PROCESS, view=_SEEN, point=check.line)
def curvature_at(process: Process, view: Seen, point: Floats) -> Floats:
    """Expected curvature of the cost of a row at a latent point.

    Parameters
    ----------
    process : Process
        What `condition` returned.
    view : Seen
        The row, from `see`.
    point : (m,) ndarray of float64
        A latent point.

    Returns
    -------
    (m, m) ndarray of float64
        Never indefinite.
    """
    return _look(process, view.row[None], np.array([view.beside]), point[None]).curvature[0]


@validate(process=_PROCESS, point=check.line)
def slopes_at(process: Process, point: Floats) -> Floats:
    """Derivative of what the process predicts, in every coordinate of a latent point.

    Parameters
    ----------
    process : Process
        What `condition` returned.
    point : (m,) ndarray of float64
        A latent point.

    Returns
    -------
    (m, r) ndarray of float64
        In coordinates of the space that the training rows span.
    """
    return _product(_covariances_at(process, point[None])[2][0], process.weights)


def _best_points(process: Process, fitted: Floats, rows: Floats, beside: Floats) -> Floats:
    """Training points, (b, m), at which rows have the largest likelihood.

    There v K A^-1 = I - n A^-1 gives m, which is ``fitted`` (n, r), and s.
    """
    noise, n_observed = process.noise, process.n_observed
    squares = _sq_distances(rows, fitted) + beside[:, None]
    spread = noise * (2.0 - noise * process.inverse.diagonal())
    total = np.maximum(spread, squares / n_observed)
    cost = n_observed * np.log(total) + squares / total
    return np.asarray(process.latent[np.argmin(cost, axis=1)])


def _descend(
    process: Process, rows: Floats, beside: Floats, starts: Floats
) -> tuple[Floats, Floats]:
    """Local minima of the cost, (t, m) and (t,), by damped scoring side by side."""
    here, at = starts.copy(), _look(process, rows, beside, starts)
    damping = np.full(len(starts), _DAMPING)
    reach = np.maximum(process.kernel.length_scale**2, at.away)
    open_ = np.arange(len(starts))
    for _ in range(_MOST_STEPS):
        step, expected = _steps(process, at.slope[open_], at.curvature[open_], damping[open_])
        more = expected > _LEAST_EXPECTED
        open_, step = open_[more], step[more]
        if not open_.size:
            break
        new = _look(process, rows[open_], beside[open_], here[open_] + step)
        gain = at.cost[open_] - new.cost
        down = (gain > 0.0) & (new.away <= reach[open_])
        moved = open_[down]
        here[moved] += step[down]
        for field, value in zip(at, new, strict=True):
            field[moved] = value[down]
        damping[open_] = np.where(
            down, 0.1 * damping[open_], 10.0 * np.maximum(damping[open_], _DAMPING)
        )
        open_ = open_[~(down & (gain < _SMALLEST_GAIN))]
    return here, at.cost


def _steps(
    process: Process, slope: Floats, curvature: Floats, damping: Floats
) -> tuple[Floats, Floats]:
    """Damped steps of Fisher scoring, at most a length-scale long, and what they may gain."""
    tiny = float(np.finfo(np.float64).tiny)
    metric, size = curvature.copy(), range(slope.shape[1])
    trace = np.einsum("tcc->t", curvature)[:, None]
    metric[:, size, size] *= 1.0 + damping[:, None]
    metric[:, size, size] += 1e-12 * trace + tiny
    step = -np.linalg.solve(metric, slope[:, :, None])[:, :, 0]
    length = np.maximum(np.sqrt((step**2).sum(axis=1)), tiny)
    step *= np.minimum(1.0, process.kernel.length_scale / length)[:, None]
    return np.asarray(step), -(step * slope).sum(axis=1)


def _look(process: Process, rows: Floats, beside: Floats, points: Floats) -> _Look:
    """Costs of rows at latent points, (t, m), with their slopes and expected curvatures."""
    n_points, m = points.shape
    squares, cov, moves = _covariances_at(process, points)
    out = np.empty((n_points, 1 + m + m * m))
    _jit.placement.costs(
        np.ascontiguousarray(rows),
        beside,
        process.n_observed,
        process.variance + process.noise,
        process.noise,
        cov,
        moves,
        _product(cov, process.inverse),
        _product(cov, process.weights),
        _product(moves.reshape(n_points * m, -1), process.weights).reshape(n_points, m, -1),
        out,
    )
    curvature = out[:, 1 + m :].reshape(n_points, m, m)
    return _Look(out[:, 0].copy(), out[:, 1 : 1 + m].copy(), curvature, squares.min(axis=1))


def _covariances_at(process: Process, points: Floats) -> tuple[Floats, Floats, Floats]:
    """Squared distances of points (t, m) to the training points, covariances and their slopes."""
    points = np.ascontiguousarray(points)
    squares = _sq_distances(points, process.latent)
    cov, change = np.empty(squares.shape), np.empty(squares.shape)
    form = compiled_form(process.kernel)
    if form is not None:
        sq_length = process.kernel.length_scale**2
        _jit.placement.covariances(squares, *form, sq_length, cov, change)
    else:
        for i, row in enumerate(squares):
            cov[i] = process.kernel.covariance(row)
            together = row == 0.0
            # Distance 1 stands in for 0, where the slope of some kernels is infinite, its mean 0.
            change[i] = process.kernel.derivative(np.where(together, 1.0, row))
            change[i, together] = 0.0
    cov *= process.variance
    change *= 2.0 * process.variance
    return squares, cov, change[:, None] * (points[:, :, None] - process.latent.T)


def _product(left: Floats, right: Floats) -> Floats:
    """Product of two matrices, each row of it the same to the bit whatever the other rows are."""
    out = np.empty((len(left), right.shape[1]))
    _jit.placement.products(np.ascontiguousarray(left), np.ascontiguousarray(right), out)
    return out


def _sq_distances(left: Floats, right: Floats) -> Floats:
    """Squared distances, (t, n), between rows of two tables."""
    out = np.empty((len(left), len(right)))
    _jit.placement.sq_distances(left, np.ascontiguousarray(right), out)
    return out


def _values(rows: NDArray[np.floating], centred: bool) -> Floats:
    """Rows as the model sees them."""
    values = np.asarray(rows, dtype=np.float64)
    return values - values.mean(axis=-1, keepdims=True) if centred else values
