"""Maximum likelihood of the known entries of a table with holes."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base import validation as check
from .._base.threads import single_threaded_blas
from .._base.types import Floats
from .._base.validation import validate
from ..kernels import StationaryKernel, as_kernel
from ._descent import Optimum, descend
from ._gradient import GroupLikelihood
from ._groups import column_groups
from ._objective import LEAST_NOISE, Clock, Objective

STAGES = ((0.5, 30), (LEAST_NOISE, 150))
"""Noise floors as fractions of the mean square, and steps; the first smooths the likelihood."""


class KnownFit(NamedTuple):
    """Coordinates of largest likelihood of the known entries."""

    latent: Floats  # (n, m), centered
    variance: float
    noise: float
    log_likelihood: float  # of all known entries
    n_iter: int  # evaluations of the likelihood and its gradient


def known_objective(
    table: NDArray[np.floating], kernel: StationaryKernel, n_components: int
) -> Objective:
    """Negative log likelihood of a column of a table whose known entries have a mean square of 1.

    Of a table in another unit, variances are in units of its mean square.
    """
    groups = column_groups(table / np.sqrt(np.nanmean(table**2)))
    return Objective(GroupLikelihood(groups, len(table)), kernel, n_components, Clock())


def known_value(
    table: NDArray[np.floating],
    latent: Floats,
    kernel: StationaryKernel,
    variance: float,
    noise: float,
) -> float:
    """Log likelihood of the known entries of a table at given coordinates."""
    likelihood = GroupLikelihood(column_groups(table), len(table))
    n_columns = np.count_nonzero(np.isfinite(table).any(axis=0))
    return -n_columns * likelihood(latent, kernel, variance, noise).value


def known_fit(objective: Objective, at: Optimum, table: NDArray[np.floating]) -> KnownFit:
    """Return an optimum in the units of a table."""
    scale, points = float(np.nanmean(table**2)), objective.latent(at.vector)
    variance, noise = (scale * each for each in objective.variances(at.vector))
    value = known_value(table, points, objective.kernel, variance, noise)
    n_iter = objective.clock.n_evaluations
    return KnownFit(points - points.mean(axis=0), variance, noise, value, n_iter)


@validate(latent=check.table, kernel=as_kernel)
def known_likelihood(
    latent: Floats,
    rows: ArrayLike,
    kernel: StationaryKernel,
) -> KnownFit:
    """Move an embedding to the largest likelihood of the known entries of a table.

    Two descents, the first with at least half of the mean square as noise, which smooths the
    likelihood, the second without that floor.

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
    if not (np.isfinite(table).sum(axis=0) > 1).any():
        raise ValueError("rows must have a column that two rows have, got none; fit another table")
    with single_threaded_blas():
        objective = known_objective(table, kernel, start.shape[1])
        return known_fit(objective, descend(objective, start, STAGES), table)
