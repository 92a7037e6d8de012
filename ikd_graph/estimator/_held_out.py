"""Maps of a fitted model without a fold of its columns, on which these columns are judged."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _limits, model_selection, refine
from .._table import SparseTable
from .._types import Floats


def held_out_maps(model: Any) -> list[tuple[NDArray[np.bool_], Floats]]:
    """Fit the rows of a model again without each of four folds of the columns.

    The settings are those of the model, the refinement is stress. Nothing comes back where the
    table is large, has too few columns, or a part of it cannot be embedded.
    """
    rows, settings = model._rows, model.settings_
    if isinstance(rows, SparseTable) or len(rows) > _limits.SAMPLED:
        return []
    folds = model_selection.folds(rows)
    if len(folds) < 2 or rows.shape[1] < _limits.FEWEST_COLUMNS:
        return []
    own = {
        "strategy": settings.strategy,
        "graph": "auto" if settings.graph is None else settings.graph,
        "affinity": settings.affinity,
        "refine": None if settings.graph is None else refine.Stress(),
        "n_landmarks": settings.n_landmarks,
        "random_state": model.random_state,
        "n_jobs": model.n_jobs,
    }
    maps = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for fold in folds:
            part = type(model)(model.n_components_, **own)
            try:
                maps.append((fold, np.asarray(part.fit(rows[:, ~fold]).embedding_, np.float64)))
            except ValueError:
                return []
    return maps
