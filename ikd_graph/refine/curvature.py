"""Standard errors of a latent from the curvature of its likelihood."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_factor, cho_solve, eigh
from scipy.spatial.distance import cdist

from ..kernels import StationaryKernel, get

Floats = NDArray[np.float64]


def standard_errors(
    latent: ArrayLike,
    n_observed: int,
    kernel: str | StationaryKernel,
    variance: float,
    noise: float,
) -> Floats:
    r"""Standard error of every latent coordinate, after the estimate is rigidly aligned.

    The expected information of parameters a and b is N / 2 tr(A^-1 dA/da A^-1 dA/db). A move of
    point i along axis c changes row and column i of A by u with u_j = 2 v f'(d_ij) (z_ic - z_jc),
    which leaves products of (n, n m) matrices. Rigid motions carry no information; they are left
    out by the pseudo-inverse.

    Parameters
    ----------
    latent : (n, m) array_like of float64
        Latent at the maximum of the likelihood.
    n_observed : int
        Number N of observed dimensions.
    kernel : str or StationaryKernel
        Kernel of the model.
    variance, noise : float
        Signal and noise variance, both known to much better than the latent.

    Returns
    -------
    (n, m) ndarray of float64
        Standard errors in the units of the latent.

    Examples
    --------
    >>> import numpy as np
    >>> from ikd_graph import refine
    >>> z = np.linspace(0.0, 3.0, 10)[:, None]
    >>> few, many = (refine.standard_errors(z, n, "matern", 1.0, 0.1) for n in (100, 400))
    >>> bool(np.allclose(few, 2.0 * many))
    True
    """
    points, kernel = np.asarray(latent, dtype=np.float64), get(kernel)
    n, m = points.shape
    sq_dist = cdist(points, points, "sqeuclidean")
    model = variance * kernel.covariance(sq_dist)
    model.flat[:: n + 1] += noise
    inverse = cho_solve(cho_factor(model, lower=True), np.eye(n))
    apart = sq_dist > 0.0
    slope = 2.0 * variance * np.where(apart, kernel.derivative(np.where(apart, sq_dist, 1.0)), 0.0)
    # Column (i, c) of `change` is u for point i and axis c.
    change = slope[:, :, None] * (points[None, :, :] - points[:, None, :])
    change = change.reshape(n, n * m)
    through = inverse @ change
    crossed = np.repeat(through, m, axis=0)  # row (i, c), column (j, e): e_i^T A^-1 u_je
    information = np.kron(inverse, np.ones((m, m))) * (change.T @ through) + crossed * crossed.T
    information *= n_observed
    values, vectors = eigh(0.5 * (information + information.T))
    known = values > 1e-9 * values[-1]
    known[: m * (m + 1) // 2] = False
    return np.sqrt((vectors[:, known] ** 2 / values[known]).sum(axis=1)).reshape(n, m)
