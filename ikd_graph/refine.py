"""Refine: move an embedding to lower stress, or to higher likelihood."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from ._base.table import MappedRows
from ._base.threads import single_threaded_blas
from ._base.validation import flag, one_of, positive, table_of, whole
from .covariance import effective_columns
from .gplvm import GaussianProcess, sample_covariance
from .gplvm._search import (
    MAX_ITER,
    MAX_POINTS,
    CoreFit,
    LikelihoodFit,
    OptimumRecord,
    farthest_points,
    likelihood,
    local_likelihood,
    place_outside,
    random_closed_form,
)
from .kernels import StationaryKernel
from .stress import WEIGHTS, Noise, StressFit, distance_precision, stress

__all__ = [
    "REFINEMENTS", "CoreFit", "Likelihood", "LikelihoodFit", "OptimumRecord", "Stress", "StressFit",
    "distance_precision", "likelihood", "local_likelihood", "random_closed_form", "stress",
]  # fmt: skip


@dataclass(repr=False)
class Stress(BaseEstimator):
    """Refine by weighted stress, see `stress`.

    Parameters
    ----------
    weights : {"auto", "precision", "uniform", "elastic"}
        "auto" weighs edges by their sampling precision where similarities are correlations of data
        with a kernel, else all pairs alike; of more than 10 000 rows "elastic" edges also pull a
        point to its neighbors.
    noise : float or (n, n) array_like or sparse matrix, optional
        Standard error of the distances, or of each, in their unit. Every edge then weighs
        1 / noise² and a pair without an edge nothing, whatever ``weights`` is: for distances whose
        errors are known and independent, this is maximum likelihood.

    Examples
    --------
    >>> from ikd_graph import refine
    >>> refine.Stress(weights="uniform")
    Stress(weights='uniform')
    """

    weights: str = "auto"
    noise: Noise = None

    def check(self) -> None:
        """Raise ValueError where a parameter breaks its rule."""
        one_of(("auto", *WEIGHTS))("weights", self.weights)
        if self.noise is not None and not sp.issparse(self.noise) and np.ndim(self.noise) != 2:
            positive("noise", self.noise)


@dataclass(repr=False)
class Likelihood(BaseEstimator):
    """Refine by the likelihood of the model, see `likelihood`.

    A fit on a graph runs stress first: the likelihood starts from what that gave. Tables that look
    like samples of the model are searched for the largest likelihood. On others a local descent
    takes a few steps from the embedding after stress: rows that are similar move together, which
    sharpens neighborhoods and takes some metric and stability (`local_likelihood`).

    Parameters
    ----------
    restarts : int
        Descents from closed forms on random graphs, next to those that `likelihood` makes.
    fit_shape : bool
        Also fit the kernel's alpha or gamma.
    time_budget : float, optional
        Seconds after which the best so far is returned.
    descent : {"auto", "annealed", "single", "local"}
        "annealed" searches for the largest likelihood from many starts, "single" anneals from the
        embedding alone, "local" descends from it; "auto" is decided by the table: "annealed" is for
        samples of the model.
    max_iter : int
        Largest number of steps of a local descent.

    Notes
    -----
    Of rows with holes whose columns are known in few sets of rows, such as sessions, the likelihood
    of the known entries is searched by annealed descents, and mirror images of parts of the map
    take the place of ``restarts``. Of others it is that of rows that were filled in; their error
    bars count the known values alone.

    Examples
    --------
    >>> from ikd_graph import refine
    >>> refine.Likelihood(restarts=20)
    Likelihood(restarts=20)
    """

    restarts: int = 0
    fit_shape: bool = False
    time_budget: float | None = None
    descent: str = "auto"
    max_iter: int = MAX_ITER

    def check(self) -> None:
        """Raise ValueError where a parameter breaks its rule."""
        whole(0)("restarts", self.restarts)
        flag("fit_shape", self.fit_shape)
        if self.time_budget is not None:
            positive("time_budget", self.time_budget)
        one_of(("auto", *MAX_POINTS))("descent", self.descent)
        whole(1)("max_iter", self.max_iter)

    def run(
        self,
        latent: ArrayLike,
        rows: ArrayLike | MappedRows,
        kernel: str | StationaryKernel,
        *,
        centered: bool = True,
        descent: str = "annealed",
        max_points: int | None = None,
        random_state: int | None = None,
    ) -> CoreFit:
        """Refine the latent of rows, or of a well-spread core that places the others.

        Parameters
        ----------
        latent : (n, m) array_like of float64
            Latent of all rows after stress.
        rows : (n, n_observed) array_like of float64
            The rows as the similarity models them; a fit makes some at a time.
        kernel : str or StationaryKernel
            Kernel of the model, or "auto": the one of largest likelihood, in a local descent the
            rational quadratic.
        centered : bool
            Whether the similarity takes the mean off every row.
        descent : {"annealed", "single", "local"}
            What "auto" stands for on this table.
        max_points : int, optional
            Rows of the core: each the farthest in ``latent`` from those before it. 250 for annealed
            descents and 1 000 for a local one unless given.
        random_state : int, optional
            Seed of closed forms and restarts.

        Returns
        -------
        CoreFit
            The latent of all rows and the fit of the core.

        Examples
        --------
        >>> import numpy as np
        >>> from ikd_graph import kernels, refine
        >>> rng = np.random.default_rng(0)
        >>> z = np.sort(rng.uniform(0.0, 5.0, 60))[:, None]
        >>> model = kernels.Matern().covariance((z - z.T) ** 2) + 0.01 * np.eye(60)
        >>> rows = np.linalg.cholesky(model) @ rng.standard_normal((60, 500))
        >>> start = z + 0.1 * np.sin(9 * z)
        >>> fit = refine.Likelihood(restarts=0).run(start, rows, "matern", max_points=40)
        >>> fit.core.size, bool(abs(np.corrcoef(fit.latent[:, 0], z[:, 0])[0, 1]) > 0.99)
        (40, True)
        """
        self.check()
        descent = one_of(MAX_POINTS)("descent", descent)
        descent = descent if self.descent == "auto" else self.descent
        values = rows if isinstance(rows, MappedRows) else np.asarray(rows)
        init = table_of(len(values))("latent", np.asarray(latent, dtype=np.float64))
        core = farthest_points(init, max_points or MAX_POINTS[descent])
        inside = np.ascontiguousarray(values[core], dtype=np.float64)
        common: dict[str, Any] = {"fit_shape": self.fit_shape, "time_budget": self.time_budget}
        with single_threaded_blas():
            if descent == "local":
                fit = local_likelihood(
                    inside, init[core], kernel, centered=centered, max_iter=self.max_iter, **common
                )
            else:
                sample_cov = sample_covariance(inside, centered)
                common |= {"restarts": self.restarts, "search": descent == "annealed"}
                common["random_state"] = random_state
                common["n_effective"] = effective_columns(inside)
                fit = likelihood(sample_cov, inside.shape[1], kernel, init=init[core], **common)
            process = GaussianProcess(
                fit.latent, inside, fit.kernel, fit.variance, fit.noise, centered=centered
            )
            return CoreFit(place_outside(process, values, init, core), core, fit)


REFINEMENTS = {"stress": Stress, "likelihood": Likelihood}
"""Class of every refinement, by the name that `IKD` calls it."""
