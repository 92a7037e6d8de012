"""Which columns make the embedding of a fitted model, judged on maps made without them."""

import warnings
from typing import Any

import numpy as np
import pandas as pd

from . import model_selection, refine
from ._base import limits
from ._base.as_table import rows_by_name
from ._base.format import setting
from ._base.table import SparseTable, dense_rows, evenly_spaced, some_rows
from ._base.types import Booleans, Floats
from .covariance import unit_rows
from .gplvm.columns import ColumnRelevance, ScaledRows, columns
from .graph import Rule
from .missing import has_holes
from .similarity import AFFINITIES, Affinity

_JUDGED = 600
"""Rows of a map that columns are judged on: four fits of .3 s."""


def columns_of_model(model: Any, X: Any, options: dict[str, Any]) -> ColumnRelevance:
    """Find the columns that make the embedding of a model: of X, or of its own table."""
    own: dict[str, Any] = {"errors": model.standard_errors_}
    if X is None:
        model._request.require_rows("columns")
        rows = model._rows
        if has_holes(rows):
            raise ValueError(
                f"columns must have a value in every row, got {int(np.isnan(rows).sum())} missing "
                f"values, which {setting('missing', 'pairwise')} left unknown; pass those columns "
                f"that have no holes, or fit with {setting('missing', 'impute')}"
            )
        X = _as_compared(rows, AFFINITIES[model.settings_.affinity])
        own["names"] = getattr(model, "feature_names_in_", None)
        if "maps" not in options:
            own["maps"] = held_out_maps(model)
    X = rows_by_name("X", X, model._row_names, "the fit")
    Z = pd.DataFrame(model._embedding, model._row_names if len(model._row_names) else None)
    return columns(Z, X, **{**own, **options})


def _as_compared(rows: Any, affinity: Affinity) -> Any:
    """Return rows as the map sees them: of one length, and without a level, where it does not."""
    sparse = isinstance(rows, SparseTable)
    if affinity.euclidean:
        return rows.stored if sparse else rows
    table = affinity.modeled(rows)
    unit = unit_rows(table if sparse else SparseTable(table), affinity.over_pairs, allow_flat=True)
    values = np.sqrt(rows.shape[1]) * unit.stored
    if not sparse:
        values = values.toarray()
        # What is the same in all rows says nothing of them, whatever they are divided by.
        values[:, np.ptp(rows, axis=0) == 0.0] = 0.0
    return ScaledRows(values, unit.shift)


def held_out_maps(model: Any) -> list[tuple[Booleans, Floats]]:
    """Fit the rows of a model again without each of four folds of the columns.

    The settings are those of the model, the refinement is stress. Of more than 600 rows as many
    evenly spaced ones are on the maps, the others are NaN. Nothing comes back where there are few
    columns, or a part of the table cannot be embedded.
    """
    sample = evenly_spaced(model._rows.shape[0], _JUDGED)
    rows, settings = dense_rows(some_rows(model._rows, sample)), model.settings_
    folds = model_selection.folds(rows)
    if rows.shape[1] < limits.FEWEST_COLUMNS or len(folds) < 2:
        return []
    rule = settings.graph
    # A graph that was given is one of all rows.
    if rule is None or (sample.size < model._rows.shape[0] and not isinstance(rule, Rule)):
        rule = "auto"
    part = type(model)(
        model.n_components_,
        strategy=settings.strategy,
        graph=rule,
        affinity=settings.affinity,
        refine=None if settings.graph is None else refine.Stress(),
        n_jobs=model.n_jobs,
        random_state=model.random_state,
    )
    maps = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for fold in folds:
            try:
                Z = part.fit(rows[:, ~fold]).embedding_
            except ValueError:
                return []
            every = np.full(model.embedding_.shape, np.nan)
            every[sample] = Z
            maps.append((fold, every))
    return maps
