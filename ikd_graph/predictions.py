"""The values of X as samples of a Gaussian process of the points: noise, predictions, scores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._base import limits
from ._base.table import dense_rows, evenly_spaced, some_rows, take_columns
from ._base.types import Floats, Integers
from .chance import ChanceTest
from .fit import Result
from .gplvm import (
    GaussianProcess,
    LatentPosterior,
    NoiseModel,
    Prediction,
    centered_known,
    fit_noise_model,
)
from .gplvm._likelihood import known_columns, known_log_likelihood, work_of
from .maps._posterior import ColumnPosterior, column_posterior

__all__ = ["Computed", "Predictions"]


@dataclass
class Computed:
    """What took seconds and is saved with a model; None until it is asked for."""

    chance: ChanceTest | None = None  # whether X has more structure than by chance
    error_bars: LatentPosterior | None = None  # of the rows that the process is conditioned on
    standard_errors: Floats | None = None  # (u, m) of the distinct rows
    agreements: tuple[float, ...] | None = None  # of maps of two halves, by their splits
    noise_model: NoiseModel | None = None  # of the values of X


@dataclass(eq=False, repr=False)
class Predictions:
    """Rows of X and where they lie; a column is known in the rows that have it."""

    rows: Any  # (u, p) distinct rows of X, NaN where a value is not known
    mean: Floats  # (p,) of what is known of every column
    result: Result  # of these rows
    computed: Computed  # keeps the noise model

    @property
    def noise_model(self) -> NoiseModel:
        """Noise model of the values, that of the likelihood where it is of all of them."""
        core = self.result.core
        if core is not None and core.core.size == self.rows.shape[0] and self._model_based:
            fit = core.fit
            return NoiseModel(fit.variance, fit.noise, fit.log_likelihood, fit.kernel)
        if self.computed.noise_model is None:
            sample = self._conditioned
            table = self._centered(self._some(sample))
            fitted = fit_noise_model(self._points[sample], table, self.result.kernel)
            self.computed.noise_model = fitted
        return self.computed.noise_model

    def predict(self, points: Floats) -> Prediction:
        """Predict rows at points, each column by the rows that have it.

        The error of a point is the root mean square over columns.
        """
        model, width = self.noise_model, self.rows.shape[1]
        predicted, explained = np.zeros((len(points), width)), np.zeros(len(points))
        for columns, process in self._processes(np.arange(width)):
            predicted[:, columns], std = process.predict(points)
            explained += columns.size / width * (model.variance - std**2)
        std = np.sqrt(np.maximum(model.variance - explained, 0.0))
        return Prediction(predicted + self.mean, std)

    def posteriors(self, columns: Integers) -> list[ColumnPosterior]:
        """Posteriors of some columns, together all; a column no row has is in none."""
        return [
            column_posterior(process, at, self.mean[columns[at]], alike=self._model_based)
            for at, process in self._processes(columns)
        ]

    def score(self, rows: Any, points: Floats) -> float:
        """Mean log likelihood of a column of rows that lie at points."""
        few = evenly_spaced(len(points), limits.SAMPLED)
        model, table = self.noise_model, self._centered(rows[few])
        at = points[few].astype(np.float64)
        value = known_log_likelihood(table, at, model.kernel, model.variance, model.noise)
        return value / rows.shape[1]

    @property
    def _points(self) -> Floats:
        """Where the rows lie, (u, m)."""
        return self.result.coordinates

    @property
    def _model_based(self) -> bool:
        """Whether rows are samples of the model."""
        return self.result.settings.model_based

    def _some(self, numbers: Integers) -> Floats:
        """Return some of the rows, dense."""
        return dense_rows(some_rows(self.rows, numbers))

    def _processes(self, columns: Integers) -> Iterator[tuple[Integers, GaussianProcess]]:
        """Yield which of some columns are known in the same rows, and their process."""
        sample, model = self._conditioned, self.noise_model
        rows = dense_rows(take_columns(some_rows(self.rows, sample), columns))
        for there, at in known_columns(rows):
            if there.size:
                points, known = self._points[sample[there]], rows[np.ix_(there, at)]
                known = known - self.mean[columns[at]]
                process = GaussianProcess(points, known, model.kernel, model.variance, model.noise)
                yield at, process

    @cached_property
    def _conditioned(self) -> Integers:
        """Rows that predictions are conditioned on, fewer where there are many groups."""
        sample = evenly_spaced(self.rows.shape[0], limits.SAMPLED)
        while True:
            known = np.isfinite(self._some(sample))
            if work_of(known) <= limits.SAMPLED**3 or sample.size <= limits.FEWEST_COLUMNS:
                return sample
            sample = evenly_spaced(self.rows.shape[0], sample.size // 2)

    def _centered(self, rows: NDArray[np.floating]) -> Floats:
        """Rows of X: of samples of the model about their means, else about those of X too."""
        table = dense_rows(rows)
        if not self._model_based:
            table = table - self.mean
        if self.result.similarity.centers_rows:
            return centered_known(table)
        return np.asarray(table, dtype=np.float64)
