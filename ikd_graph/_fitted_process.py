"""The Gaussian process of a fitted embedding: error bars, noise model, prediction, placement."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import covariance, gplvm, refine, uncertainty
from ._base import limits
from ._base.table import dense_rows, evenly_spaced, some_rows, take_columns
from ._base.types import Floats, Integers
from .fit import Result
from .similarity import PairwiseSimilarity, compare, with_holes


class FittedProcess:
    """What the Gaussian-process model says of an embedding.

    There are two processes of the same points: of rows as they were compared, for error bars and
    the placement of new rows, and of the values of X, for predictions. What takes seconds is
    computed when it is first asked for, kept in ``computed``, and saved with the model.

    Parameters
    ----------
    result : Result
        The fit of the distinct rows.
    points : (u, m) ndarray of float64
        Coordinates of the distinct rows, in the frame of the embedding.
    rows : (n, p) table or None
        Rows of X, NaN where a value stays unknown; None where values between points were given.
    first : (u,) ndarray of int64
        Which of them are the distinct ones.
    """

    result: Result
    points: Floats
    rows: Any
    first: Integers
    computed: dict[str, Any]

    def __init__(self, result: Result, points: Floats, rows: Any, first: Integers) -> None:
        self.result, self.points, self.rows, self.first = result, points, rows, first
        self.computed = {}

    def over(self, columns: Integers) -> FittedProcess:
        """Return the same points and variances, and their errors, over some of the columns."""
        if columns.size == self.rows.shape[1]:
            return self
        rows, settings = take_columns(self.rows, columns), self.result.settings
        similarity = compare(
            some_rows(rows, self.first),
            self.result.similarity.name,
            # A row may well be constant where others are not.
            counts=True,
            model_based=settings.model_based,
        )
        result = replace(self.result, similarity=similarity)
        part = FittedProcess(result, self.points, rows, self.first)
        if "error bars" in self.computed:
            bars = self.computed["error bars"]
            free = bars.free_columns * columns.size / self.rows.shape[1]
            part.computed["error bars"] = bars._replace(free_columns=free)
        return part

    @property
    def is_local(self) -> bool:
        """Whether the likelihood descended from the closed form alone."""
        return getattr(self.result.settings.refine, "descent", "") == "local"

    @cached_property
    def has_holes(self) -> bool:
        """Whether rows were compared over the columns that they share."""
        return isinstance(self.result.similarity, PairwiseSimilarity)

    def why_no_errors(self) -> str:
        """Say why there are no standard errors; nothing where there are."""
        if self.has_holes:
            return (
                "they need rows without holes, and pairs of these share different columns; fixed_ "
                "says which rows may lie elsewhere"
            )
        if self.rows is None:
            return "they need the rows, and values between points were given"
        if self.is_local:
            return (
                "a local descent stays near its closed form and is no maximum of the likelihood; "
                "they come with refine='likelihood', descent='annealed'"
            )
        if self.result.core is not None:
            return ""
        least = limits.FEWEST_COLUMNS
        if self.rows.shape[1] < least:
            return f"they need at least {least} columns, got {self.rows.shape[1]}"
        if not self.result.settings.model_based:
            return "they come with refine='likelihood', descent='annealed'"
        return ""

    @cached_property
    def sample(self) -> Integers:
        """Distinct rows that the process is conditioned on: the core, or evenly spaced ones."""
        if self.result.core is not None:
            return self.result.core.core
        return evenly_spaced(self.first.size, uncertainty.MAX_POINTS)

    @cached_property
    def process(self) -> gplvm.GaussianProcess:
        """The process of the sampled rows as they were compared."""
        points, rows = self.points[self.sample], self._compared(self.sample)
        centered, core = self.result.similarity.centers_rows, self.result.core
        if core is not None:
            variance, noise = core.fit.variance, core.fit.noise
        else:
            cov = gplvm.sample_covariance(rows, centered=centered)
            variance, noise, _ = gplvm.fit_variances(points, cov, rows.shape[1], self.result.kernel)
        return gplvm.GaussianProcess(
            points, rows, self.result.kernel, variance, noise, centered=centered
        )

    def placing_process(self) -> gplvm.GaussianProcess | None:
        """Return the process that places new rows; None where the embedding is not one of it."""
        settled = self.result.n_iter is not None and (self.is_local or not self.why_no_errors())
        settled &= not self.has_holes
        if not settled or self.rows is None or self.rows.shape[1] < limits.FEWEST_COLUMNS:
            return None
        whole = self.result.core is not None or self.sample.size == self.first.size
        return self.process if whole else None

    # Error bars -----------------------------------------------------------------------------------

    def error_bars(self) -> uncertainty.LatentPosterior | None:
        """Estimate how far the sampled rows are from the truth; None where that is not known."""
        if self.why_no_errors():
            return None
        if "error bars" not in self.computed:
            seed, core = self.result.settings.random_state, self.result.core
            self.computed["error bars"] = uncertainty.posterior(
                self.process,
                int(seed) if isinstance(seed, (int, np.integer)) else None,
                optima=() if core is None else core.fit.optima,
            )
        bars: uncertainty.LatentPosterior = self.computed["error bars"]
        return bars

    def standard_errors(self) -> Floats:
        """Compute the standard errors of the distinct rows, (u, m)."""
        bars = self.error_bars()
        if bars is None:
            return np.full(self.points.shape, np.nan)
        if "standard errors" not in self.computed:
            outside = np.setdiff1d(np.arange(len(self.points)), self.sample)
            errors = np.empty(self.points.shape)
            errors[self.sample] = bars.standard_errors
            errors[outside] = self.errors_of(self._compared(outside), self.points[outside])
            self.computed["standard errors"] = errors
        return np.asarray(self.computed["standard errors"])

    def reliability(self, agreement: float) -> float:
        """Compute the R² with the truth that error bars and the agreement of halves support."""
        bars = self.error_bars()
        if bars is None:
            return float("nan")
        value = uncertainty.reliability(self.points[self.sample], bars.standard_errors)
        return min(value, uncertainty.supported_r2(agreement))

    def errors_of(self, rows: NDArray[np.floating], points: NDArray[np.floating]) -> Floats:
        """Compute standard errors (b, m) of rows, as they are compared, that are not sampled."""
        bars = self.error_bars()
        if bars is None or not len(points):
            return np.full(points.shape, np.nan)
        latent = np.asarray(points, dtype=np.float64)
        return np.sqrt(uncertainty.place_variances(self.process, bars, rows, latent))

    # Values of X ----------------------------------------------------------------------------------

    def noise_model(self) -> gplvm.NoiseModel:
        """Fit the noise model of the values of X, or take that of the likelihood."""
        if self.has_holes:
            return self._known_model()
        core = self.result.core
        whole = core is not None and core.core.size == self.first.size
        if core is not None and whole and self.result.settings.model_based:
            fit = core.fit
            return gplvm.NoiseModel(fit.variance, fit.noise, fit.log_likelihood, fit.kernel)
        if "noise model" not in self.computed:
            sample = evenly_spaced(self.first.size, limits.SAMPLED)
            cov = self._sample_covariance(self.rows[self.first[sample]])
            self.computed["noise model"] = gplvm.fit_noise_model(
                self.points[sample], cov, self.rows.shape[1], self.result.kernel
            )
        model: gplvm.NoiseModel = self.computed["noise model"]
        return model

    def predict(self, points: Floats, *, with_errors: bool = False) -> gplvm.Prediction:
        """Predict rows of X at points; ``with_errors`` adds what error bars leave open."""
        if self.has_holes:
            return self._predict_known(points)
        sample, model = evenly_spaced(self.first.size, limits.SAMPLED), self.noise_model()
        mean = self.rows.mean(axis=0)
        rows = self.rows[self.first[sample]] - mean
        process = gplvm.GaussianProcess(
            self.points[sample], rows, model.kernel, model.variance, model.noise
        )
        predicted, std = process.predict(points)
        bars = self.error_bars() if with_errors else None
        if bars is not None and self.result.settings.model_based:
            std = np.hypot(std, uncertainty.row_deviations(self.process, bars, points))
            # Nothing is less certain than where nothing was measured.
            std = np.minimum(std, np.sqrt(model.variance))
        return gplvm.Prediction(predicted + mean, std)

    def log_likelihood(self, rows: NDArray[np.floating], points: Floats) -> float:
        """Compute the log likelihood of all columns of rows of X at points."""
        model = self.noise_model()
        if self.has_holes or np.isnan(rows[:]).any():
            table = with_holes(rows)
            if self.has_holes or not self.result.settings.model_based:
                table = table - self._known_mean
            elif self.result.similarity.centers_rows:
                table = refine.centered_known(table)
            return refine.known_value(table, points, model.kernel, model.variance, model.noise)
        cov = self._sample_covariance(np.asarray(rows, dtype=np.float64))
        return float(
            gplvm.log_likelihood(
                points, cov, rows.shape[1], model.kernel, model.variance, model.noise
            )
        )

    @cached_property
    def _known_mean(self) -> Floats:
        """Mean of what is known of every column of X, (p,)."""
        return covariance.known_column_means(with_holes(self.rows))

    @cached_property
    def _known_sample(self) -> Integers:
        """Distinct rows that a process of the known entries is conditioned on."""
        most = limits.SAMPLED
        while True:
            sample = evenly_spaced(self.first.size, most)
            work = refine.work_of(np.isfinite(with_holes(self.rows)[self.first[sample]]))
            if work <= 20.0 * refine.MOST_WORK or sample.size <= limits.FEWEST_COLUMNS:
                return sample
            most = sample.size // 2

    def _known_model(self) -> gplvm.NoiseModel:
        """Signal and noise variance of largest likelihood of the known entries of X."""
        if "noise model" not in self.computed:
            kernel, sample = self.result.kernel, self._known_sample
            if self.result.similarity.affinity.euclidean:
                # Distances have no unit of the kernel: its length-scale is their typical size.
                kernel = kernel.__class__(**{**vars(kernel), "length_scale": self._spread})
            rows = with_holes(self.rows)[self.first[sample]] - self._known_mean
            points = self.points[sample]
            variance, noise = refine.known_variances(rows, points, kernel)
            value = refine.known_value(rows, points, kernel, variance, noise)
            self.computed["noise model"] = gplvm.NoiseModel(variance, noise, value, kernel)
        model: gplvm.NoiseModel = self.computed["noise model"]
        return model

    @property
    def _spread(self) -> float:
        return float(np.sqrt(self.points.var(axis=0).sum())) or 1.0

    def _predict_known(self, points: Floats) -> gplvm.Prediction:
        """Predict every column by the rows that have it; the error is the root mean square."""
        sample, model = self._known_sample, self._known_model()
        rows = with_holes(self.rows)[self.first[sample]] - self._known_mean
        latent = self.points[sample]
        predicted = np.zeros((len(points), rows.shape[1]))
        squares = np.zeros(len(points))
        for there, columns in refine.known_columns(rows):
            if not there.size:
                squares += columns.size * model.variance
                continue
            process = gplvm.GaussianProcess(
                latent[there],
                rows[np.ix_(there, columns)],
                model.kernel,
                model.variance,
                model.noise,
                centered=False,
            )
            predicted[:, columns], std = process.predict(points)
            squares += columns.size * std**2
        return gplvm.Prediction(
            predicted + self._known_mean, np.sqrt(squares / max(rows.shape[1], 1))
        )

    def _compared(self, numbers: Integers) -> Floats:
        """Return some of the distinct rows as they were compared."""
        rows = dense_rows(some_rows(self.rows, self.first[numbers]))
        return np.asarray(self.result.similarity.modeled(rows), dtype=np.float64)

    def _sample_covariance(self, rows: Floats) -> Floats:
        """Covariance of rows: of samples of the model about their means, else about those of X."""
        if not self.result.settings.model_based:
            rows = rows - self.rows.mean(axis=0)
        return gplvm.sample_covariance(rows, centered=self.result.similarity.centers_rows)
