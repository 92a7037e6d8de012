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

from .. import _checks as door
from ..kernels import StationaryKernel, as_kernel
from ._model import inverse_model

Floats = NDArray[np.float64]

JITTER = 1e-10
"""Noise that is added, relative to the signal: training points in one place are no obstacle."""

_MOST_STEPS = 40
_SMALLEST_GAIN = 1e-7  # of a log density
_DAMPING = 1e-2


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
    """A new row as the training rows see it."""

    row: Floats  # (r,)
    beside: float  # squared length of what lies outside the space of the training rows
    sq_dist: Floats  # (n,) squared distances to the training rows


class _Look(NamedTuple):
    cost: float
    slope: Floats  # (m,)
    curvature: Floats  # (m, m) expected
    away: float  # squared distance to the nearest training point


_PROCESS = door.record(Process, "gplvm.condition makes one")
_SEEN = door.record(Seen, "gplvm.see makes one")


@door.takes(
    latent=door.table,
    rows=door.table,
    kernel=as_kernel,
    variance=door.positive,
    noise=door.not_negative,
    centred=door.flag,
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


@door.takes(process=_PROCESS, row=door.line)
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
    if row.size != process.n_observed:
        raise ValueError(
            f"row must have the {process.n_observed} columns of the training rows, got {row.size}; "
            "pass one row of the same table"
        )
    # The bits of a sum depend on how its numbers lie in memory.
    values, beside = _values(np.ascontiguousarray(row), process.centred), 0.0
    if process.axes is not None:
        inside = values @ process.axes
        beside = float(np.sum((values - process.axes @ inside) ** 2))
        values = inside
    return Seen(values, beside, np.sum((process.rows - values) ** 2, axis=1) + beside)


@door.takes(process=_PROCESS, view=_SEEN, start=door.line)
def likeliest(process: Process, view: Seen, start: Floats) -> tuple[Floats, float]:
    """Find the likeliest place of a row, and how likely the row is there.

    Descends from a start and from the likeliest training point.

    Parameters
    ----------
    process : Process
        What `condition` returned.
    view : Seen
        The row, from `see`.
    start : (m,) ndarray of float64
        A place not far from it.

    Returns
    -------
    place : (m,) ndarray of float64
        Where the cost c(x) has the lower of two local minima. It is no further from all training
        points than the start was, or than a length-scale: there the process knows nothing.
    log_density : float
        -c(x) there less N/2 log 2 pi: with the noise that makes the row likeliest.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import gplvm, kernels
    >>> latent = np.linspace(0.0, 3.0, 31)[:, None]
    >>> rows = np.column_stack([np.sin(latent), np.cos(latent)])
    >>> kernel = kernels.SquaredExponential()
    >>> process = gplvm.condition(latent, rows, kernel, 1.0, 1e-4, centred=False)
    >>> view = gplvm.see(process, np.array([np.sin(1.234), np.cos(1.234)]))
    >>> place, log_density = gplvm.likeliest(process, view, np.array([1.0]))
    >>> place.round(2)
    array([1.23])
    """
    if start.size != process.latent.shape[1]:
        raise ValueError(
            f"start must have {process.latent.shape[1]} coordinates, got {start.size}; give a "
            "place in the latent of the process"
        )
    starts = (start, _likeliest_point(process, view))
    ends = [_descend(process, view, begin) for begin in starts]
    point, cost = min(ends, key=lambda end: end[1])
    return point, -cost - 0.5 * process.n_observed * float(np.log(2.0 * np.pi))


@door.takes(process=_PROCESS, view=_SEEN, point=door.line)
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
    return _look(process, view, point).curvature


@door.takes(process=_PROCESS, point=door.line)
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
    return _covariances_at(process, point)[2] @ process.weights


def _likeliest_point(process: Process, view: Seen) -> Floats:
    """Training point, (m,), that is the likeliest place of a row."""
    noise = process.noise
    # There v K A^-1 = I - n A^-1 gives m and s.
    misfit = process.rows - noise * process.weights - view.row
    squares = np.sum(misfit**2, axis=1) + view.beside
    spread = noise * (2.0 - noise * process.inverse.diagonal())
    total = np.maximum(spread, squares / process.n_observed)
    cost = process.n_observed * np.log(total) + squares / total
    return np.asarray(process.latent[np.argmin(cost)])


def _descend(process: Process, view: Seen, start: Floats) -> tuple[Floats, float]:
    """Local minimum of the cost, by damped scoring in steps of at most a length-scale."""
    here, at, damping = start, _look(process, view, start), _DAMPING
    reach = max(process.kernel.length_scale**2, at.away)
    for _ in range(_MOST_STEPS):
        step = _step(process, at, damping)
        new = _look(process, view, here + step)
        if new.cost < at.cost and new.away <= reach:
            gain = at.cost - new.cost
            here, at, damping = here + step, new, 0.1 * damping
            if gain < _SMALLEST_GAIN:
                break
        else:
            damping = 10.0 * max(damping, _DAMPING)
    return here, at.cost


def _step(process: Process, at: _Look, damping: float) -> Floats:
    """Damped step of Fisher scoring, at most a length-scale long."""
    tiny = float(np.finfo(np.float64).tiny)
    metric = at.curvature.copy()
    metric.flat[:: len(metric) + 1] *= 1.0 + damping
    metric.flat[:: len(metric) + 1] += 1e-12 * float(np.trace(metric)) + tiny
    step = -np.linalg.solve(metric, at.slope)
    length = max(float(np.sqrt(step @ step)), tiny)
    return np.asarray(step * min(1.0, process.kernel.length_scale / length))


def _look(process: Process, view: Seen, point: Floats) -> _Look:
    """Cost of a place with its slope and expected curvature."""
    n_observed, variance = process.n_observed, process.variance
    squares, cov, moves = _covariances_at(process, point)
    through = process.inverse @ cov
    spread = max(variance + process.noise - float(cov @ through), process.noise)
    wider = -2.0 * (moves @ through)
    predicted = np.vstack([cov, moves]) @ process.weights
    misfit, slopes = view.row - predicted[0], predicted[1:]
    square = float(misfit @ misfit) + view.beside
    total = max(spread, square / n_observed)
    slope = 0.5 * (n_observed - square / total) / total * wider - slopes @ misfit / total
    curvature = slopes @ slopes.T / total
    if total == spread:
        curvature += 0.5 * n_observed * np.outer(wider, wider) / total**2
    cost = 0.5 * n_observed * float(np.log(total)) + 0.5 * square / total
    return _Look(cost, slope, curvature, float(squares.min()))


def _covariances_at(process: Process, point: Floats) -> tuple[Floats, Floats, Floats]:
    """Squared distances of a point to the training points, its covariances and their slopes."""
    away = point - process.latent
    squares = np.sum(away**2, axis=1)
    cov = process.variance * process.kernel.covariance(squares)
    together = squares == 0.0
    # Distance 1 stands in for 0, where the slope of some kernels is infinite and its mean 0.
    change = process.kernel.derivative(np.where(together, 1.0, squares))
    change[together] = 0.0
    return squares, cov, (2.0 * process.variance * change[:, None] * away).T


def _values(rows: NDArray[np.floating], centred: bool) -> Floats:
    """Rows as the model sees them."""
    values = np.asarray(rows, dtype=np.float64)
    return values - values.mean(axis=-1, keepdims=True) if centred else values
