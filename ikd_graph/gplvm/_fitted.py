"""The Gaussian process of a fitted embedding: error bars, noise model, prediction, placement."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base import limits
from .._base.table import dense_rows, evenly_spaced, some_rows, take_columns
from .._base.types import Floats, Integers
from ..graph import CsrGraph
from ..kernels import StationaryKernel
from ..similarity import PairwiseSimilarity, Similarity, column_moments, compare
from ._groups import centered_known, known_columns, work_of
from ._likelihood import (
    NoiseModel,
    fit_noise_model,
    fit_variances,
    known_log_likelihood,
    sample_covariance,
)
from ._out_of_sample import CoreFit, place, prepare
from ._process import GaussianProcess, Prediction
from ._uncertainty import (
    MAX_POINTS,
    LatentPosterior,
    place_variances,
    posterior,
    reliability,
    row_deviations,
    supported_r2,
)


@dataclass(eq=False)
class FittedProcess:
    """What the Gaussian-process model says of an embedding.

    There are two processes of the same points: of rows as they were compared, for error bars and
    the placement of new rows, and of the values of X, for predictions. What takes seconds is
    computed when it is first asked for, kept in ``computed``, and saved with the model.
    """

    points: Floats  # (u, m) coordinates of the distinct rows, in the frame of the embedding
    rows: Any  # (n, p) rows of X, NaN where a value stays unknown; None of values between points
    first: Integers  # (u,) which of them are the distinct ones
    similarity: Similarity  # of the distinct rows
    kernel: StationaryKernel  # of the coordinates
    graph: CsrGraph | None = None  # of the distinct rows
    core: CoreFit | None = None  # the fit by likelihood
    model_based: bool = False  # whether the columns are taken for samples of the model
    is_refined: bool = False
    is_local: bool = False  # whether the likelihood descended from the closed form alone
    is_linear: bool = False  # whether the points are a projection of the rows
    random_state: Any = None
    computed: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def has_holes(self) -> bool:
        """Whether rows were compared over the columns that they share."""
        return isinstance(self.similarity, PairwiseSimilarity)

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
        if self.core is not None:
            return ""
        least = limits.FEWEST_COLUMNS
        if self.rows.shape[1] < least:
            return f"they need at least {least} columns, got {self.rows.shape[1]}"
        if not self.model_based:
            return "they come with refine='likelihood', descent='annealed'"
        return ""

    @cached_property
    def sample(self) -> Integers:
        """Distinct rows that the process is conditioned on: the core, or evenly spaced ones."""
        return evenly_spaced(self.first.size, MAX_POINTS) if self.core is None else self.core.core

    @cached_property
    def process(self) -> GaussianProcess:
        """The process of the sampled rows as they were compared."""
        points, rows = self.points[self.sample], self._compared(self.sample)
        centered = self.similarity.centers_rows
        if self.core is not None:
            variance, noise = self.core.fit.variance, self.core.fit.noise
        else:
            cov = sample_covariance(rows, centered=centered)
            variance, noise, _ = fit_variances(points, cov, rows.shape[1], self.kernel)
        return GaussianProcess(points, rows, self.kernel, variance, noise, centered=centered)

    # New rows -------------------------------------------------------------------------------------

    def place(
        self, rows: Any, least: int | None, *, errors: bool = False, verbose: int = 0
    ) -> tuple[Floats, Floats, Floats]:
        """Coordinates and residuals of new rows, and standard errors where they are asked for.

        Rows with holes are placed by the same fit over the columns that they have, at least
        ``least`` (None: all); what cannot be compared gets NaN.
        """
        latent = np.full((rows.shape[0], self.points.shape[1]), np.nan)
        residual, std = np.full(len(latent), np.nan), np.full(latent.shape, np.nan)
        for fitted, numbers, part in self._parts(rows, least):
            comparable = np.flatnonzero(fitted.similarity.comparable(part))
            at, part = numbers[comparable], some_rows(part, comparable)
            if not at.size:
                continue
            latent[at], residual[at] = place(
                fitted._placement,
                fitted.similarity,
                part,
                process=fitted._placing_process,
                verbose=verbose,
            )
            if errors:
                compared = fitted.similarity.modeled(dense_rows(part))
                std[at] = fitted._errors_of(compared, latent[at])
        return latent, residual, std

    def _parts(self, rows: Any, least: int | None) -> Iterator[tuple[FittedProcess, Integers, Any]]:
        """Yield the fit over the columns that some rows have, their numbers, and their values."""
        holes = isinstance(rows, np.ndarray) and bool(np.isnan(rows).any())
        if least is None or self.has_holes or not holes:
            yield self, np.arange(rows.shape[0]), rows
            return
        for columns, numbers in known_columns(rows.T):
            if columns.size >= least:
                yield self._over(columns), numbers, rows[np.ix_(numbers, columns)]

    def _over(self, columns: Integers) -> FittedProcess:
        """Return the same points and variances, and their errors, over some of the columns."""
        if columns.size == self.rows.shape[1]:
            return self
        rows, computed = take_columns(self.rows, columns), {}
        if "error bars" in self.computed:
            bars = self.computed["error bars"]
            free = bars.free_columns * columns.size / self.rows.shape[1]
            computed["error bars"] = bars._replace(free_columns=free)
        # A row may well be constant where others are not.
        similarity = compare(
            some_rows(rows, self.first),
            self.similarity.affinity.name,
            counts=True,
            model_based=self.model_based,
        )
        return replace(self, rows=rows, similarity=similarity, computed=computed)

    @cached_property
    def _placement(self) -> Any:
        return prepare(self.points, self.graph, self.similarity, linear=self.is_linear)

    @cached_property
    def _placing_process(self) -> GaussianProcess | None:
        """The process that places new rows; None where the embedding is not one of it."""
        settled = self.is_refined and (self.is_local or not self.why_no_errors())
        settled &= not self.has_holes
        if not settled or self.rows is None or self.rows.shape[1] < limits.FEWEST_COLUMNS:
            return None
        whole = self.core is not None or self.sample.size == self.first.size
        return self.process if whole else None

    # Error bars -----------------------------------------------------------------------------------

    def error_bars(self) -> LatentPosterior | None:
        """Estimate how far the sampled rows are from the truth; None where that is not known."""
        if self.why_no_errors():
            return None
        if "error bars" not in self.computed:
            seed = self.random_state
            self.computed["error bars"] = posterior(
                self.process,
                int(seed) if isinstance(seed, (int, np.integer)) else None,
                optima=() if self.core is None else self.core.fit.optima,
            )
        bars: LatentPosterior = self.computed["error bars"]
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
            errors[outside] = self._errors_of(self._compared(outside), self.points[outside])
            self.computed["standard errors"] = errors
        return np.asarray(self.computed["standard errors"])

    def reliability(self, agreement: float) -> float:
        """Compute the R² with the truth that error bars and the agreement of halves support."""
        bars = self.error_bars()
        if bars is None:
            return float("nan")
        value = reliability(self.points[self.sample], bars.standard_errors)
        return min(value, supported_r2(agreement))

    def _errors_of(self, rows: NDArray[np.floating], points: Floats) -> Floats:
        """Compute standard errors (b, m) of rows, as they are compared, that are not sampled."""
        bars = self.error_bars()
        if bars is None or not len(points):
            return np.full(points.shape, np.nan)
        return np.sqrt(place_variances(self.process, bars, rows, points))

    # Values of X ----------------------------------------------------------------------------------

    def noise_model(self) -> NoiseModel:
        """Fit the noise model of the values of X, or take that of the likelihood."""
        core = self.core
        if core is not None and core.core.size == self.first.size and self.model_based:
            fit = core.fit
            return NoiseModel(fit.variance, fit.noise, fit.log_likelihood, fit.kernel)
        if "noise model" not in self.computed:
            sample = self._conditioned
            table = self._centered(self.rows[self.first[sample]])
            self.computed["noise model"] = fit_noise_model(self.points[sample], table, self.kernel)
        model: NoiseModel = self.computed["noise model"]
        return model

    def predict(self, points: Floats, *, with_errors: bool = False) -> Prediction:
        """Predict rows of X at points; ``with_errors`` adds what error bars leave open.

        A column is predicted by the rows that have it; the error is the root mean square.
        """
        sample, model = self._conditioned, self.noise_model()
        rows, latent = dense_rows(self.rows[self.first[sample]]) - self._mean, self.points[sample]
        predicted = np.zeros((len(points), rows.shape[1]))
        explained = np.zeros(len(points))
        for there, columns in known_columns(rows):
            if there.size:
                process = GaussianProcess(
                    latent[there],
                    rows[np.ix_(there, columns)],
                    model.kernel,
                    model.variance,
                    model.noise,
                )
                predicted[:, columns], std = process.predict(points)
                explained += columns.size / rows.shape[1] * (model.variance - std**2)
        std = np.sqrt(np.maximum(model.variance - explained, 0.0))
        bars = self.error_bars() if with_errors else None
        if bars is not None and self.model_based:
            std = np.hypot(std, row_deviations(self.process, bars, points))
            # Nothing is less certain than where nothing was measured.
            std = np.minimum(std, np.sqrt(model.variance))
        return Prediction(predicted + self._mean, std)

    def log_likelihood(self, rows: NDArray[np.floating], points: Floats) -> float:
        """Compute the log likelihood of all columns of rows of X at points."""
        model, table = self.noise_model(), self._centered(rows)
        return known_log_likelihood(table, points, model.kernel, model.variance, model.noise)

    @cached_property
    def _conditioned(self) -> Integers:
        """Distinct rows that predictions are conditioned on, fewer where there are many groups."""
        sample = evenly_spaced(self.first.size, limits.SAMPLED)
        while True:
            known = np.isfinite(dense_rows(self.rows[self.first[sample]]))
            if work_of(known) <= limits.SAMPLED**3 or sample.size <= limits.FEWEST_COLUMNS:
                return sample
            sample = evenly_spaced(self.first.size, sample.size // 2)

    @cached_property
    def _mean(self) -> Floats:
        """Mean of what is known of every column of X, (p,)."""
        if self.has_holes:
            return column_moments(dense_rows(self.rows))[0]
        return np.asarray(self.rows.mean(axis=0))

    def _centered(self, rows: NDArray[np.floating]) -> Floats:
        """Rows of X: of samples of the model about their means, else about those of X too."""
        table = dense_rows(rows)
        if not self.model_based:
            table = table - self._mean
        if self.similarity.centers_rows:
            return centered_known(table)
        return np.asarray(table, dtype=np.float64)

    def _compared(self, numbers: Integers) -> Floats:
        """Return some of the distinct rows as they were compared."""
        rows = dense_rows(some_rows(self.rows, self.first[numbers]))
        return np.asarray(self.similarity.modeled(rows), dtype=np.float64)
