"""Standard errors of a latent from the curvature of its likelihood."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from .. import _checks as door
from .. import gplvm
from ..kernels import StationaryKernel, as_kernel

Floats = NDArray[np.float64]


@door.takes(
    latent=door.table,
    n_observed=door.count,
    kernel=as_kernel,
    variance=door.positive,
    noise=door.positive,
)
def standard_errors(
    latent: Floats,
    n_observed: int,
    kernel: StationaryKernel,
    variance: float,
    noise: float,
) -> Floats:
    r"""Standard error of every latent coordinate, after the estimate is rigidly aligned.

    They are the roots of the diagonal of the pseudo-inverse of the expected information (see
    `ikd_graph.gplvm.expected_information`): rigid motions carry none and are left out.

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
    points = np.asarray(latent, dtype=np.float64)
    n, m = points.shape
    known_of_one = gplvm.expected_information.unchecked(points, kernel, variance, noise)
    values, vectors = eigh(n_observed * known_of_one[: n * m, : n * m])
    known = values > 1e-9 * values[-1]
    known[: m * (m + 1) // 2] = False
    return np.sqrt((vectors[:, known] ** 2 / values[known]).sum(axis=1)).reshape(n, m)
