"""What `IKD` knows as a generative model: the way back, likelihoods and variances."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_array, check_is_fitted

from .. import gplvm, model
from .._table import rows_of
from .._threads import limit_threads
from .._validation import check_has_rows
from ._checks import CheckedEstimator

Floats = NDArray[np.float64]


class GenerativeEstimator(CheckedEstimator):
    """Observations from latents, and how likely the observations are."""

    _model: model.Model
    _noise: model.Noise | None
    _process: gplvm.Process | None
    _place: Any

    def inverse_transform(self, Z: ArrayLike, *, return_std: bool = False) -> Any:
        """Rows of X that latent points stand for: the posterior mean of the Gaussian process.

        Parameters
        ----------
        Z : (n_new, n_components) array_like of float64
            Latent points.
        return_std : bool
            Also return the posterior standard deviation of the noise-free row.

        Returns
        -------
        X : (n_new, n_features) ndarray of float64
            Rows. A Gaussian process over centred rows knows no level of a row; the mean row of the
            training data is given back with each.
        std : (n_new,) ndarray of float64
            Only with ``return_std``; the same for every column.

        Raises
        ------
        ValueError
            If the model was fitted to a precomputed covariance, which knows no rows.
        """
        check_is_fitted(self)
        check_has_rows(self._has_rows, "inverse_transform")
        points = check_array(Z, dtype=np.float64)
        width = self._model.latent.coordinates.shape[1]
        if points.shape[1] != width:
            raise ValueError(
                f"Z must have the {width} columns of the latent, got {points.shape[1]}; pass what "
                "transform returned"
            )
        with limit_threads(self.n_jobs):
            rows, std = model.reconstruct(self._model, self._noise_model(), points)
        return (rows, std) if return_std else rows

    def score(self, X: ArrayLike, y: Any = None) -> float:
        """Mean log likelihood of an observed dimension, the rows being where `transform` puts them.

        Parameters
        ----------
        X : (n, n_features) array_like of float64
            Rows, the training rows or others; at most 2000 are used.
        y : ignored
            Present for the scikit-learn interface.

        Returns
        -------
        float
            Log likelihood of X under the fitted kernel, signal and noise variance, divided by the
            number of columns.

        Raises
        ------
        ValueError
            As `inverse_transform` does.
        """
        check_is_fitted(self)
        check_has_rows(self._has_rows, "score")
        latent, rows = self._place(X)[0], X
        if self.missing == "pairwise":
            given = self._read(X, dtype=np.float64, reset=False)
            rows = model.fill_new(given, self._model.rows, self._model.similarity.name)
        rows = rows_of(check_array(rows, dtype=np.float64, accept_sparse="csr"))
        with limit_threads(self.n_jobs):
            return model.log_likelihood(self._model, self._noise_model(), latent, rows)

    @property
    def noise_variance_(self) -> float | None:
        """Noise variance of the model."""
        return self._of_model("noise")

    @property
    def signal_variance_(self) -> float | None:
        """Signal variance of the model."""
        return self._of_model("variance")

    @property
    def log_likelihood_(self) -> float | None:
        """Log likelihood of the rows the model was fitted to."""
        return self._of_model("log_likelihood")

    def _of_model(self, name: str) -> float | None:
        """A field of the generative model, None where there are no rows to fit it to."""
        check_is_fitted(self)
        return None if self._model.rows is None else float(getattr(self._noise_model(), name))

    def _noise_model(self) -> model.Noise:
        """The generative model, fitted now if the fit left that out."""
        if self._noise is None:
            with limit_threads(self.n_jobs):
                self._noise = model.noise_of(self._model)
        return self._noise

    def _process_model(self) -> gplvm.Process | None:
        """The process that places new rows, made now; None where the latent is not the model's."""
        if self._process is None and model.has_process(self._model):
            with limit_threads(self.n_jobs):
                self._process = model.process_of(self._model)
        return self._process
