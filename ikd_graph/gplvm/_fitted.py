r"""The Gaussian process of a fitted embedding: error bars, noise model, prediction, placement.

New rows are placed by local linear reconstruction among the rows they are joined to. With
C_ij = <x - x_i, x - x_j> for the joined rows, which similarities give, the weights minimize

    \|x - Σ w_j x_j\|² + Σ p_j w_j² \|x - x_j\|²    with Σ w_j = 1, and the latent is Σ w_j z_j.

A row is joined to its most similar training row and to what that is joined to in the graph: it lies
on one sheet of a roll. The weights see no unit of the latent, so that they agree with a latent that
a refinement has stretched here and there. Noise of the rows is in the diagonal of C: much of it
averages over many rows, none leaves a linear interpolation. As x approaches x_1 the penalty of w_1
vanishes and that of no other weight does, hence w_1 -> 1 and the latent goes to z_1.

A linear latent is a projection of the rows, and so is that of a new row.

Where rows are samples of a Gaussian process, a new one has a point of maximum likelihood, and the
reconstruction is only the start. Near a training row it is all that counts: the process would put
that row, measured with the same noise again, elsewhere than the fit did.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base import limits
from .._base.format import setting
from .._base.progress import progress_bar
from .._base.table import dense_rows, evenly_spaced, some_rows, take_columns
from .._base.threads import batches, block_rows, map_blocks
from .._base.types import Floats, Integers
from .._base.warn import warn
from ..covariance import column_moments
from ..graph import CsrGraph
from ..kernels import StationaryKernel
from ..missing import fill, filled_rows
from ..similarity import PairwiseSimilarity, Similarity, compare
from ._likelihood import (
    NoiseModel,
    centered_known,
    fit_noise_model,
    fit_variances,
    known_columns,
    known_log_likelihood,
    sample_covariance,
    work_of,
)
from ._posterior import ColumnPosterior
from ._process import SIDE_BY_SIDE, GaussianProcess, Prediction, column_posterior, freshness
from ._search import CoreFit
from ._uncertainty import (
    MAX_POINTS,
    LatentPosterior,
    place_variances,
    posterior,
    reliability,
    row_deviations,
    supported_r2,
)

N_CANDIDATES = 40
"""Most similar training rows that a new row may be joined to."""

_MOST_OWN = 500
"""Rows of the fit that residuals of new rows are compared with."""

RIDGE = 0.1
"""Penalty p_j of a weight, which a neighborhood that is not flat needs.

From .03 to .3 hardly anything changes; without it weights of exact data are arbitrary.
"""


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
    random_state: int | None = None
    computed: dict[str, Any] = field(default_factory=dict)

    def once(self, name: str, compute: Callable[[], Any]) -> Any:
        """Return what is kept under a name, computed when it is first asked for."""
        if name not in self.computed:
            self.computed[name] = compute()
        return self.computed[name]

    @cached_property
    def has_holes(self) -> bool:
        """Whether rows were compared over the columns that they share."""
        return isinstance(self.similarity, PairwiseSimilarity)

    def why_no_errors(self) -> str:
        """Say why there are no standard errors, as far as is known; nothing where there are."""
        bars = self.computed.get("error bars")
        return self._why_unknown() or (bars.misfit if bars else "")

    def _why_unknown(self) -> str:
        """Say why the likelihood tells no standard errors; nothing where it does."""
        if isinstance(self.similarity, PairwiseSimilarity) and not self.similarity.known.all():
            return (
                "they need all pairs of rows; in Python, fixed_ of strategy 'blockwise' says which "
                "may lie elsewhere"
            )
        if self.rows is None:
            return "they need the rows, and values between points were given"
        annealed = (
            f"they come with {setting('refine', 'likelihood')} and its descent 'annealed', where "
            "the model fits"
        )
        if self.is_local:
            return (
                "a local descent stays near its closed form and is no maximum of the likelihood; "
                f"{annealed}"
            )
        if self.core is not None:
            return ""
        least = limits.FEWEST_COLUMNS
        if self.rows.shape[1] < least:
            return f"they need at least {least} columns, got {self.rows.shape[1]}"
        if not self.model_based:
            return annealed
        return ""

    @cached_property
    def sample(self) -> Integers:
        """Distinct rows that the process is conditioned on: the core, or evenly spaced ones."""
        return evenly_spaced(self.first.size, MAX_POINTS) if self.core is None else self.core.core

    @cached_property
    def process(self) -> GaussianProcess:
        """The process of the sampled rows as they were compared."""
        points, rows = self.points[self.sample], self._compared(self.sample)
        centered = self._compares.centers_rows
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
            latent[at], residual[at] = fitted._place(part, verbose)
            if errors:
                part = fill(part, self.rows, alone=True) if self.has_holes else dense_rows(part)
                std[at] = fitted._errors_of(fitted._compares.modeled(part), latent[at])
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
        first, name = some_rows(rows, self.first), self.similarity.affinity.name
        similarity = compare(first, name, counts=True, model_based=self.model_based)
        return replace(self, rows=rows, similarity=similarity, computed=computed)

    def own_residuals(self) -> Floats:
        """Residuals of at most 500 distinct rows, each placed by the others as a new one is."""
        if self.rows is None or self.first.size < 2:
            return np.empty(0)
        own = evenly_spaced(self.first.size, _MOST_OWN)
        rows = some_rows(self.rows, self.first[own])
        return self._place(rows, 0, own)[1]

    def _place(self, rows: Any, verbose: int, own: Integers | None = None) -> tuple[Floats, Floats]:
        """Coordinates of rows that can be compared, each placed by itself, and residuals.

        Rows that are ``own`` distinct ones of the fit are placed by the others.
        """
        latent = np.empty((rows.shape[0], self.points.shape[1]))
        residual = np.empty(len(latent))
        bar = progress_bar(verbose, total=len(latent), desc="placing rows")
        # Residuals do not depend on where a row is put.
        moved = own is None
        facts = (
            self._placing_process if moved else None,
            self._projection if moved and self.is_linear else None,
        )

        def work(start: int, stop: int) -> None:
            batch = slice(start, stop)
            out = None if own is None else own[batch]
            latent[batch], residual[batch] = self._place_block(rows[batch], out, *facts)
            bar.update(stop - start)

        with bar:
            map_blocks(work, len(latent), SIDE_BY_SIDE)
        return latent, residual

    def _place_block(
        self,
        rows: Any,
        own: Integers | None,
        process: GaussianProcess | None,
        projection: tuple[Floats, Floats] | None,
    ) -> tuple[Floats, Floats]:
        """Return the same for a few rows."""
        sim, g = self.similarity, self.graph
        latent = np.empty((rows.shape[0], self.points.shape[1]))
        residual = np.empty(len(latent))
        # One row at a time: the bits of a product depend on how many rows it is made of.
        near, values = sim.nearest(rows, min(N_CANDIDATES, sim.n_samples))
        for index in range(len(latent)):
            joined = sim.mutually_known(near[index], values[index])
            others = near[index] if own is None else near[index][near[index] != own[index]]
            joined &= np.isin(near[index], others)
            if g is not None:
                first = others[0]
                of_first = g.indices[g.indptr[first] : g.indptr[first + 1]]
                joined &= np.isin(near[index], np.append(of_first, first))
            numbers = near[index][joined]
            points, squares = self.points[numbers], _sq_distances(values[index][joined])
            i, j = np.triu_indices(len(points), 1)
            between = np.zeros((len(points), len(points)))
            between[i, j] = between[j, i] = _sq_distances(sim.between(numbers[i], numbers[j]))
            weights, left_over = _reconstruct(squares, between)
            latent[index] = weights @ points
            residual[index] = left_over
        if process is not None:
            observed = process.observe(sim.modeled(dense_rows(rows)))
            # Near a training row the point of maximum likelihood goes over into where it started.
            away = process.place(observed, latent)[0] - latent
            latent += freshness(process, observed)[:, None] * away
        if projection is not None:
            axes, origin = projection
            for index, projected in enumerate(sim.factor_of(rows)):
                # A row of which pairs are unknown stays between its nearest.
                if np.isfinite(projected).all():
                    latent[index] = origin + projected @ axes
        return latent, residual / sim.sq_from_mean(rows)

    @cached_property
    def _projection(self) -> tuple[Floats, Floats]:
        """Axes (q, m) that rows as they are compared are projected on, and where zeros lie (m,)."""
        # Coordinates are centered, so that the mean of the rows takes no part.
        center, rows = self.points.mean(axis=0), self.similarity.rows
        centered = self.points - center
        pull = centered @ np.linalg.pinv(centered.T @ centered)
        if rows is None:
            # Similarities with all points are projected.
            axes = self.similarity.unit**2 * pull
            return axes, center - self.similarity.matrix().mean(axis=0) @ axes
        axes, mean = np.zeros((rows.shape[1], pull.shape[1])), np.zeros(rows.shape[1])
        for batch in batches(len(rows), block_rows(rows.shape[1])):
            axes += rows[batch].T @ pull[batch]
            mean += rows[batch].sum(axis=0, dtype=np.float64) / len(rows)
        # Least squares: of some columns the loadings are not orthonormal.
        axes = np.linalg.pinv(axes).T
        return axes, center - mean @ axes

    @cached_property
    def _placing_process(self) -> GaussianProcess | None:
        """The process that places new rows; None where the embedding is not one of it."""
        settled = self.is_refined and (self.is_local or not self._why_unknown())
        if not settled or self.has_holes or self.rows.shape[1] < limits.FEWEST_COLUMNS:
            return None
        whole = self.core is not None or self.sample.size == self.first.size
        return self.process if whole else None

    # Error bars -----------------------------------------------------------------------------------

    def error_bars(self) -> LatentPosterior | None:
        """Estimate how far the sampled rows are from the truth; None where that is not known."""
        bars = self.unchecked_bars()
        return None if bars is None or bars.misfit else bars

    def unchecked_bars(self) -> LatentPosterior | None:
        """Estimate the same, whether the model fits the rows or not."""
        if self._why_unknown():
            return None
        seed, optima = self.random_state, () if self.core is None else self.core.fit.optima

        def estimated() -> LatentPosterior:
            bars = posterior(self.process, seed, optima=optima, places=self.first[self.sample])
            # What was filled in is no information.
            known = float(np.isfinite(self.rows).mean()) if self.has_holes else 1.0
            covariances, free = bars.covariances / known, known * bars.free_columns
            if bars.misfit:
                warn(f"the model does not fit X, so that reliability is NaN: {bars.misfit}")
            return bars._replace(covariances=covariances, free_columns=free)

        return self.once("error bars", estimated)

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

    def reliability(self, agreements: Iterable[float]) -> float:
        """Compute the R² with the truth that error bars and the agreement of halves support.

        Splits of the columns scatter, so that the one of most agreement limits it.
        """
        bars, supported = self.error_bars(), 0.0
        if bars is None:
            return float("nan")
        value = reliability(self.points[self.sample], bars.standard_errors)
        for agreement in agreements:
            supported = max(supported, supported_r2(agreement))
            if supported >= value:
                break
        return min(value, supported)

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

        def fitted() -> NoiseModel:
            sample = self._conditioned
            table = self._centered(self.rows[self.first[sample]])
            return fit_noise_model(self.points[sample], table, self.kernel)

        return self.once("noise model", fitted)

    def predict(self, points: Floats, *, with_errors: bool = False) -> Prediction:
        """Predict rows of X at points; ``with_errors`` adds what error bars leave open.

        A column is predicted by the rows that have it; the error is the root mean square.
        """
        model, width = self.noise_model(), self.rows.shape[1]
        predicted = np.zeros((len(points), width))
        explained = np.zeros(len(points))
        for columns, process in self._processes(np.arange(width)):
            predicted[:, columns], std = process.predict(points)
            explained += columns.size / width * (model.variance - std**2)
        std = np.sqrt(np.maximum(model.variance - explained, 0.0))
        bars = self.error_bars() if with_errors else None
        if bars is not None and self.model_based:
            std = np.hypot(std, row_deviations(self.process, bars, points))
            # Nothing is less certain than where nothing was measured.
            std = np.minimum(std, np.sqrt(model.variance))
        return Prediction(predicted + self._mean, std)

    def posteriors(self, columns: Integers) -> list[ColumnPosterior]:
        """Posteriors of some columns of X, together all; a column no row has is in none."""
        mean = self._mean
        return [
            column_posterior(process, at, mean[columns[at]], alike=self.model_based)
            for at, process in self._processes(columns)
        ]

    def spread(self) -> Floats | None:
        """Mean error covariance of the points, (m, m); None where it is not known."""
        bars = self.error_bars() if self.model_based else None
        return None if bars is None else np.asarray(bars.covariances.mean(axis=0))

    def _processes(self, columns: Integers) -> Iterator[tuple[Integers, GaussianProcess]]:
        """Yield which of some columns of X are known in the same rows, and their process."""
        sample, model = self._conditioned, self.noise_model()
        rows = dense_rows(take_columns(some_rows(self.rows, self.first[sample]), columns))
        for there, at in known_columns(rows):
            if there.size:
                points, known = self.points[sample[there]], rows[np.ix_(there, at)]
                known = known - self._mean[columns[at]]
                process = GaussianProcess(points, known, model.kernel, model.variance, model.noise)
                yield at, process

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
        filled, rows = self._filled, some_rows(self.rows, self.first[numbers])
        rows = dense_rows(rows) if filled is None else filled[0][numbers]
        return np.asarray(self._compares.modeled(rows), dtype=np.float64)

    @cached_property
    def _filled(self) -> tuple[Floats, Similarity] | None:
        """Distinct rows with their holes filled in, and how these compare; None of whole ones."""
        if not self.has_holes:
            return None
        name = self.similarity.affinity.name
        return filled_rows(dense_rows(self.rows[self.first]), name, self.model_based)

    @property
    def _compares(self) -> Similarity:
        """How rows without holes, or with what was filled in, compare."""
        return self.similarity if self._filled is None else self._filled[1]


def _sq_distances(similarities: Floats) -> Floats:
    """Squared distances of rows that are similar to themselves by 1, at least a rounding."""
    return np.maximum(2.0 - 2.0 * similarities, np.finfo(np.float64).eps)


def _reconstruct(squares: Floats, between: Floats) -> tuple[Floats, float]:
    r"""Weights of sum 1 that make up a row from those it is joined to, and \|x - Σ w_j x_j\|².

    ``squares`` (k,) are squared distances of the row to these, ``between`` (k, k) those among them.
    """
    gram = 0.5 * (squares[:, None] + squares - between)
    # In units of each distance, in which no weight is near the rounding of another.
    scale = 1.0 / np.sqrt(squares)
    values, vectors = np.linalg.eigh(gram * scale[:, None] * scale + RIDGE * np.eye(scale.size))
    # Squared distances of no points have negative eigenvalues.
    values = np.maximum(values, RIDGE)
    weights = (vectors @ ((scale @ vectors) / values)) * scale
    weights /= weights.sum()
    return weights, max(float(weights @ gram @ weights), 0.0)
