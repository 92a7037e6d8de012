"""What a fit knows of the rows of a table, and what it answers of these and of new ones.

There are two Gaussian processes of the same points: of rows as they were compared, for error bars
and the placement of new rows, and of the values of X, for predictions. What takes seconds is
computed when it is first asked for, kept in ``computed``, and saved with the model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from . import blockwise, covariance, eigen, gplvm, graph, missing, refine, similarity
from ._base import limits
from ._base import validation as check
from ._base.format import setting
from ._base.progress import Stages
from ._base.rounding import ROUNDING
from ._base.table import dense_rows, evenly_spaced, some_rows, take_columns, whole_multiples
from ._base.types import Booleans, Floats, Integers
from ._base.warn import no_warnings, warn
from .chance import ChanceTest
from .fit import Result, fit
from .gplvm import (
    GaussianProcess,
    LatentPosterior,
    Prediction,
    fit_variances,
    posterior,
    reliability,
    sample_covariance,
    supported_r2,
)
from .gplvm._likelihood import known_columns
from .gplvm._uncertainty import MAX_POINTS, place_variances, row_deviations
from .model_selection import SPLITS, Facts, agreement_of_halves, predicted_r2, resolve
from .placement import MostLikely, Projection, Reconstruction
from .predictions import Computed, Predictions
from .settings import Settings
from .similarity import AFFINITIES, PairwiseSimilarity, Similarity, find_rows, row_keys
from .trust import chance_of

__all__ = ["Model"]

_MOST_OWN = 500
"""Rows of the fit that residuals of new rows are compared with."""

_JUDGED = 600
"""Rows of a map that columns are judged on: four fits of .3 s."""


@dataclass(eq=False, repr=False)
class Model:
    """What a fit knows of n rows, u of them distinct, or of values between so many points."""

    rows: Any  # (n, p) rows of X, NaN where a value stays unknown; None of values between points
    keys: Integers  # (n,) by which a row of the fit is known again
    inverse: Integers  # (n,) which of the distinct rows each is
    asked: Settings  # what was asked for
    result: Result  # what was found for the distinct rows, in the frame of the embedding
    dtype: Any = np.float64
    computed: Computed = field(default_factory=Computed)

    def __repr__(self) -> str:
        """Say how many points of how many coordinates there are."""
        return f"Model of {len(self.inverse)} points in {self.points.shape[1]} dimensions"

    # A fit ----------------------------------------------------------------------------------------

    @classmethod
    def of(cls, rows: Any, asked: Settings, stages: Stages) -> Model:
        """Fit rows, or values between points, which were checked, by what is asked for."""
        dtype, known = rows.dtype, Computed()
        if dtype == np.float32 and rows.shape[0] <= limits.DOUBLE:
            rows = rows.astype(np.float64)
        keys = row_keys(rows if asked.has_rows else sp.csr_array(rows))
        if isinstance(asked.missing, missing.Impute):
            # What is filled in by like rows is no evidence that rows are alike.
            known.chance = chance_of(rows)
            rows = missing.fill(rows, rows)
        first, inverse = _distinct_rows(rows, asked)
        distinct = some_rows(rows, first)
        distinct = distinct if asked.has_rows else distinct[:, first]
        facts = Facts(distinct, asked.has_rows, _least_shared(rows, asked))
        settings = resolve(facts, _with_reference(asked, inverse), stages)
        for text in settings.warnings:
            warn(text)
        with stages("similarity"):
            try:
                compared = _compare(distinct, settings, first)
            except ValueError:
                # Rows that cannot be compared are named by their numbers in X.
                if not facts.has_holes:
                    _compare(rows, settings, first)
                raise
        result = fit(compared, distinct, settings, stages)
        _warn_of_equal_rows(result, asked)
        with stages("placement"):
            frame = eigen.principal_axes(result.coordinates[inverse]).coordinates
            result = replace(result, coordinates=frame[first])
        # A copy: changing X after the fit changes nothing.
        own = np.array(rows) if isinstance(rows, np.ndarray) else rows
        return cls(own if asked.has_rows else None, keys, inverse, asked, result, dtype, known)

    @classmethod
    def restored(
        cls, rows: Any, keys: Integers, inverse: Integers, asked: Settings, dtype: Any,
        scale: Any, learnt: dict[str, Any],
    ) -> Model:  # fmt: skip
        """Return the model that was saved: rows are compared again, the rest was learnt."""
        first = np.unique(inverse, return_index=True)[1]
        settings = replace(learnt["settings"], missing=asked.missing)
        if asked.has_rows:
            compared = _compare(some_rows(rows, first), settings, first)
        else:
            compared = similarity.compare(rows, asked.affinity, scale=scale)
            rows = None
        result = Result(similarity=compared, **{**learnt, "settings": settings})
        return cls(rows, keys, inverse, asked, result, dtype)

    @cached_property
    def first(self) -> Integers:
        """First of every set of equal rows, (u,): the distinct rows."""
        return np.unique(self.inverse, return_index=True)[1]

    @property
    def points(self) -> Floats:
        """Coordinates of the distinct rows, (u, m)."""
        return self.result.coordinates

    @cached_property
    def embedding(self) -> Floats:
        """Coordinates of all rows, (n, m), in the type of X."""
        return self.points[self.inverse].astype(self.dtype)

    @property
    def similarity(self) -> Similarity:
        """How the distinct rows are compared."""
        return self.result.similarity

    @property
    def settings(self) -> Settings:
        """What was done, and why."""
        return self.result.settings

    @cached_property
    def has_holes(self) -> bool:
        """Whether rows were compared over the columns that they share."""
        return isinstance(self.similarity, PairwiseSimilarity)

    @property
    def is_local(self) -> bool:
        """Whether the likelihood descended from the closed form alone."""
        likelihood = self.settings.refine
        return isinstance(likelihood, refine.Likelihood) and likelihood.descent == "local"

    # New rows -------------------------------------------------------------------------------------

    def place(
        self, X: Any, *, errors: bool = False, verbose: int = 0
    ) -> tuple[Floats, Floats, Floats]:
        """Coordinates and residuals of rows, and standard errors where they are asked for.

        Rows of the fit lie where they are. Rows with holes are placed over the columns that they
        have; what cannot be compared gets NaN, with a warning.
        """
        equal = find_rows(row_keys(X if self.rows is not None else sp.csr_array(X)), self.keys)
        old, new = np.flatnonzero(equal >= 0), np.flatnonzero(equal < 0)
        latent = np.full((X.shape[0], self.points.shape[1]), np.nan, self.dtype)
        residual, std = np.full(X.shape[0], np.nan), np.full(latent.shape, np.nan)
        latent[old], residual[old] = self.embedding[equal[old]], 0.0
        if errors:
            std[old] = self.standard_errors()[self.inverse[equal[old]]]
        if not new.size:
            return latent, residual, std
        rule, rows = self.asked.missing, some_rows(X, new)
        rows = rows[:, self.first] if self.rows is None else rows
        if isinstance(rule, missing.Impute):
            rows = missing.fill(rows, self.rows, alone=True)
        least = rule.least(rows.shape[1]) if isinstance(rule, missing.Pairwise) else None
        for fitted, numbers, part in self._parts(rows, least):
            comparable = np.flatnonzero(fitted.similarity.comparable(part))
            at, part = new[numbers[comparable]], some_rows(part, comparable)
            if not at.size:
                continue
            points, residual[at] = fitted.placement.place(part, verbose=verbose)
            latent[at] = points
            if errors:
                part = missing.fill(part, self.rows, alone=True) if self.has_holes else part
                compared = fitted._compares.modeled(dense_rows(part))
                std[at] = fitted._errors_of(compared, points)
        silent = np.flatnonzero(np.isnan(residual))
        if silent.size:
            warn(
                f"{silent.size} of {X.shape[0]} rows cannot be compared with the training rows "
                "(all zero, constant, too far away for a number, or sharing fewer than "
                f"{least or 1} columns with each) and get NaN: {check.few_rows(silent, X.shape[0])}"
            )
        return latent, residual, std

    @cached_property
    def placement(self) -> Reconstruction:
        """How new rows are placed: where they are most likely, by projection, or among others."""
        result, near = self.result, self._reconstruction
        if result.n_iter is None:
            return near if self.settings.strategy.uses_kernel else Projection.fitted(near)
        settled = self.is_local or self.knows_errors
        if not settled or self.has_holes or self.rows.shape[1] < limits.FEWEST_COLUMNS:
            return near
        if result.core is None and self.sample.size < self.first.size:
            return near
        return MostLikely(near.points, near.similarity, near.graph, self.process)

    @property
    def _reconstruction(self) -> Reconstruction:
        """Placement of new rows among those that they are joined to."""
        return Reconstruction(self.points, self.similarity, self.result.graph)

    def _parts(self, rows: Any, least: int | None) -> Iterator[tuple[Model, Integers, Any]]:
        """Yield the fit over the columns that some rows have, their numbers, and their values."""
        holes = isinstance(rows, np.ndarray) and bool(np.isnan(rows).any())
        if least is None or self.has_holes or not holes:
            yield self, np.arange(rows.shape[0]), rows
            return
        for columns, numbers in known_columns(rows.T):
            if columns.size >= least:
                yield self._over(columns), numbers, rows[np.ix_(numbers, columns)]

    def _over(self, columns: Integers) -> Model:
        """Return the same points and variances, and their errors, over some of the columns."""
        if columns.size == self.rows.shape[1]:
            return self
        rows, bars = take_columns(self.rows, columns), self.computed.error_bars
        if bars is not None:
            free = bars.free_columns * columns.size / self.rows.shape[1]
            bars = bars._replace(free_columns=free)
        # A row may well be constant where others are not.
        first, name = some_rows(rows, self.first), self.similarity.affinity.name
        model_based = self.settings.model_based
        compared = similarity.compare(first, name, counts=True, model_based=model_based)
        result = replace(self.result, similarity=compared)
        return replace(self, rows=rows, result=result, computed=Computed(error_bars=bars))

    @cached_property
    def residuals(self) -> Floats:
        """Residuals of at most 500 distinct rows, each placed by the others as a new one is."""
        if self.rows is None or self.first.size < 2:
            return np.empty(0)
        own = evenly_spaced(self.first.size, _MOST_OWN)
        return self._reconstruction.place(some_rows(self.rows, self.first[own]), own=own)[1]

    # Error bars -----------------------------------------------------------------------------------

    @property
    def knows_errors(self) -> bool:
        """Whether the likelihood tells standard errors, and where a new row is most likely."""
        return not self._why_unknown()

    def why_no_errors(self) -> str:
        """Say why there are no standard errors, as far as is known; nothing where there are."""
        bars = self.computed.error_bars
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
        if self.result.core is not None:
            return ""
        least = limits.FEWEST_COLUMNS
        if self.rows.shape[1] < least:
            return f"they need at least {least} columns, got {self.rows.shape[1]}"
        if not self.settings.model_based:
            return annealed
        return ""

    @cached_property
    def sample(self) -> Integers:
        """Distinct rows that the process is conditioned on: the core, or evenly spaced ones."""
        core = self.result.core
        return evenly_spaced(self.first.size, MAX_POINTS) if core is None else core.core

    @cached_property
    def process(self) -> GaussianProcess:
        """The process of the sampled rows as they were compared."""
        points, rows = self.points[self.sample], self._compared(self.sample)
        centered = self._compares.centers_rows
        if self.result.core is not None:
            variance, noise = self.result.core.fit.variance, self.result.core.fit.noise
        else:
            cov = sample_covariance(rows, centered=centered)
            variance, noise, _ = fit_variances(points, cov, rows.shape[1], self.result.kernel)
        return GaussianProcess(points, rows, self.result.kernel, variance, noise, centered=centered)

    def error_bars(self) -> LatentPosterior | None:
        """Estimate how far the sampled rows are from the truth; None where that is not known."""
        bars = self.unchecked_bars()
        if bars is None or not bars.misfit:
            return bars
        warn(f"the model does not fit X, so that reliability is NaN: {bars.misfit}")
        return None

    def unchecked_bars(self) -> LatentPosterior | None:
        """Estimate the same, whether the model fits the rows or not."""
        if not self.knows_errors:
            return None
        if self.computed.error_bars is None:
            self.computed.error_bars = self._bars()
        return self.computed.error_bars

    def _bars(self, **how: int) -> LatentPosterior:
        """Return error bars of the sampled rows; ``how`` they are simulated."""
        seed, core = self.settings.random_state, self.result.core
        optima = () if core is None else core.fit.optima
        bars = posterior(self.process, seed, optima=optima, places=self.first[self.sample], **how)
        # What was filled in is no information.
        known = float(np.isfinite(self.rows).mean()) if self.has_holes else 1.0
        covariances, free = bars.covariances / known, known * bars.free_columns
        return bars._replace(covariances=covariances, free_columns=free)

    def reliability_at_most(self) -> float:
        """Compute about the largest reliability that simulated tables may leave; NaN without."""
        if not self.knows_errors:
            return float("nan")
        return reliability(self.points[self.sample], self._bars(n_simulations=0).standard_errors)

    def standard_errors(self) -> Floats:
        """Compute the standard errors of the distinct rows, (u, m)."""
        bars = self.error_bars()
        if bars is None:
            return np.full(self.points.shape, np.nan)
        if self.computed.standard_errors is None:
            outside = np.setdiff1d(np.arange(len(self.points)), self.sample)
            errors = np.empty(self.points.shape)
            errors[self.sample] = bars.standard_errors
            errors[outside] = self._errors_of(self._compared(outside), self.points[outside])
            self.computed.standard_errors = errors
        return self.computed.standard_errors

    def reliability(self) -> float:
        """Compute the R² with the truth that error bars and the agreement of halves support.

        Splits of the columns scatter, so that the one of most agreement limits it.
        """
        bars, supported = self.error_bars(), 0.0
        if bars is None:
            return float("nan")
        value = reliability(self.points[self.sample], bars.standard_errors)
        for agreement in self.agreements():
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

    @cached_property
    def predictions(self) -> Predictions:
        """Values of X as samples of a process of the points."""
        rows, distinct = self.rows, some_rows(self.rows, self.first)
        if self.has_holes:
            mean = covariance.column_moments(dense_rows(rows))[0]
        else:
            mean = np.asarray(rows.mean(axis=0))
        return Predictions(distinct, mean, self.result, self.computed)

    def predict(self, points: Floats, *, with_errors: bool = False) -> Prediction:
        """Predict rows of X at points; ``with_errors`` adds what error bars leave open."""
        predicted = self.predictions.predict(points)
        bars = self.error_bars() if with_errors and self.settings.model_based else None
        if bars is None:
            return predicted
        std = np.hypot(predicted.std, row_deviations(self.process, bars, points))
        # Nothing is less certain than where nothing was measured.
        return predicted._replace(
            std=np.minimum(std, np.sqrt(self.predictions.noise_model.variance))
        )

    def spread(self) -> Floats | None:
        """Mean error covariance of the points, (m, m); None where it is not known."""
        bars = self.error_bars() if self.settings.model_based else None
        return None if bars is None else np.asarray(bars.covariances.mean(axis=0))

    def score(self, rows: Any, *, verbose: int = 0) -> float:
        """Mean log likelihood of a column of rows of X, which lie where they are placed."""
        latent = self.place(rows, verbose=verbose)[0]
        if isinstance(self.asked.missing, missing.Impute):
            rows = missing.fill(rows, self.rows, alone=True)
        placed = np.flatnonzero(np.isfinite(latent).all(axis=1))
        if not placed.size:
            raise ValueError(
                f"X must have a row that transform can place, got none of {len(rows)}; pass "
                "rows like those of the fit"
            )
        return self.predictions.score(some_rows(rows, placed), latent[placed])

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
        return missing.filled_rows(
            dense_rows(self.rows[self.first]), name, self.settings.model_based
        )

    @property
    def _compares(self) -> Similarity:
        """How rows without holes, or with what was filled in, compare."""
        return self.similarity if self._filled is None else self._filled[1]

    def chance(self) -> ChanceTest | None:
        """Test whether X has more structure than by chance; None of values between points."""
        if self.computed.chance is None:
            self.computed.chance = chance_of(self.rows)
        return self.computed.chance

    # Parts of the columns -------------------------------------------------------------------------

    def agreements(self) -> Iterator[float]:
        """Yield the Procrustes R² between maps of two halves of the columns, of each split."""
        known = self.computed.agreements
        known = self.settings.agreements if known is None else known
        for split in range(SPLITS):
            if split == len(known):
                known += (self._of_columns(partial(agreement_of_halves, split=split)),)
            self.computed.agreements = known
            yield known[split]

    @cached_property
    def held_out_r2(self) -> float:
        """R² of columns that were left out, predicted from the map of the others."""
        return float(self._of_columns(predicted_r2))

    def _of_columns(self, measure: Callable[..., float]) -> float:
        """Return what parts of the columns, each embedded as the map was, say; NaN without any."""
        settings, rows = self.settings, self.rows
        if rows is None:
            return np.nan
        shown = ("n_components", "strategy", "affinity")
        option = self.asked.filled(**{name: getattr(settings, name) for name in shown})
        option = replace(option, refine=settings.refine, model_based=settings.model_based)
        if isinstance(settings.refine, refine.Likelihood):
            option = replace(option, kernel=settings.kernel)
        facts = Facts(some_rows(rows, self.first), True, _least_shared(rows, self.asked))
        return measure(facts, option)

    def held_out_maps(self) -> list[tuple[Booleans, Floats]]:
        """Fit the rows again without each of four folds of the columns, refined by stress.

        Of more than 600 rows as many evenly spaced ones are on the maps, the others are NaN.
        Nothing comes back where there are few columns, or a part of the table cannot be embedded.
        """
        sample = evenly_spaced(self.rows.shape[0], _JUDGED)
        rows, settings = dense_rows(some_rows(self.rows, sample)), self.settings
        folds = similarity.folds(rows)
        if rows.shape[1] < limits.FEWEST_COLUMNS or len(folds) < 2:
            return []
        rule, free = settings.graph, dict[str, Any](kernel="auto", n_landmarks="auto")
        # A graph that was given is one of all rows.
        if rule is None or (sample.size < self.rows.shape[0] and not isinstance(rule, graph.Rule)):
            free["graph"] = "auto"
        asked = replace(
            self.asked, n_components=settings.n_components, strategy=settings.strategy,
            affinity=settings.affinity, missing=None,
            refine=None if rule is None else refine.Stress(), **{"graph": rule, **free},
        )  # fmt: skip
        maps = []
        with no_warnings():
            for fold in folds:
                try:
                    part = Model.of(np.ascontiguousarray(rows[:, ~fold]), asked, Stages())
                except ValueError:
                    return []
                every = np.full((self.inverse.size, settings.n_components), np.nan)
                every[sample] = part.embedding
                maps.append((fold, every))
        return maps

    # Results --------------------------------------------------------------------------------------

    @cached_property
    def joints(self) -> blockwise.Joints | gplvm.SessionJoints | None:
        """What cliques, or sessions with other columns each, leave open between them."""
        joints: Any = self.result.sessions
        solved, embedding = self.result.solution.solved, self.result.solution.embedding
        if joints is None and solved is not None:
            joints = blockwise.joints(solved, embedding.coordinates)
        return joints and joints.of_rows(self.inverse)


def _warn_of_equal_rows(result: Result, asked: Settings) -> None:
    """Warn where the rows of a fit are equal up to rounding."""
    after, g = np.arange(1, len(result.coordinates)), result.graph
    weights = result.similarity.between(after - 1, after) if g is None else g.weights
    if weights.size and weights.min() > 1.0 - 1e-12:
        cure = "subtract the mean of every column from X if it is large"
        if not asked.has_rows:
            cure = "IKD(graph=G).fit(X) weighs edges by rows X, S / S.max() scales counts S"
        affinity = result.settings.affinity
        warn(f"all {affinity} similarities are 1 up to rounding: the embedding is noise; {cure}")


def _distinct_rows(rows: Any, asked: Settings) -> tuple[Integers, Integers]:
    """First of every set of equal rows, and which of those each row is; all where pairs differ."""
    size, n = asked.n_components, rows.shape[0]
    stress = asked.refine if isinstance(asked.refine, refine.Stress) else refine.Stress()
    if isinstance(asked.graph, graph.CsrGraph) or sp.issparse(rows) or np.ndim(stress.noise) == 2:
        first = inverse = np.arange(n)
    else:
        first, inverse = similarity.unique_rows(rows)
    whole = isinstance(rows, np.ndarray) and not missing.has_holes(rows)
    if whole and (np.ptp(rows, axis=0) <= ROUNDING * np.abs(rows[0])).all():
        check.check_varies(rows)
        raise ValueError(
            "columns of X must vary by more than rounding, got values that differ by less than "
            f"{ROUNDING:g} of their size; subtract the mean of every column, better "
            "where the data come from"
        )
    if not asked.is_auto("n_components"):
        check.components(first.size)("n_components", size)
    return first, inverse


def _with_reference(asked: Settings, inverse: Integers) -> Settings:
    """Return settings with the reference point, which is a row of X, among the distinct rows."""
    strategy = asked.strategy
    if asked.is_auto("strategy") or isinstance(strategy.reference, str):
        return asked
    cure = f"it is a row of X, or one of {', '.join(map(repr, eigen.REFERENCES))}"
    at = check.whole(0, inverse.size - 1, cure)("reference", strategy.reference)
    own = {**strategy.get_params(), "reference": int(inverse[at])}
    return replace(asked, strategy=type(strategy)(**own))


def _least_shared(rows: Any, asked: Settings) -> int | None:
    """Columns that a known pair of rows with holes shares; None of rows without."""
    rule = asked.missing
    if isinstance(rule, missing.Pairwise) and missing.has_holes(rows):
        return rule.least(rows.shape[1])
    return None


def _compare(rows: Any, settings: Settings, names: Integers) -> Similarity:
    """Similarity of rows, of those with holes over the columns that both have."""
    if (least := _least_shared(rows, settings)) is not None:
        pairwise = PairwiseSimilarity(AFFINITIES[settings.affinity], rows, least)
        pairwise.check_groups(names)
        return pairwise
    # Among whole numbers a constant row is nothing unusual; elsewhere it is a mistake.
    few = evenly_spaced(rows.shape[0], limits.SAMPLED)
    counts = settings.has_rows and whole_multiples(some_rows(rows, few)) is not None
    model_based = settings.model_based
    return similarity.compare(rows, settings.affinity, counts=counts, model_based=model_based)
