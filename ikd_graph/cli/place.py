"""Place new rows in the embedding of a saved model.

They are saved as .csv, with their standard errors se_1, se_2, ... where the model has them, and a
picture as .png. Columns are matched by name, and what was done to the rows of the model
(--transform, --impute, --scale, --standardize-rows, --remove-mean-row) is done to the new rows.
"""

import argparse
import copy
from pathlib import Path
from typing import Any

import numpy as np

from .._base.format import count
from .._preprocessing import RowSteps
from ..datasets import Dataset
from ..estimator import IKD
from ..plotting import plot
from ..plotting.colors import SECOND
from . import common
from .console import aligned


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    model = IKD.load(arguments.model)
    columns = tuple(getattr(model, "feature_names_in_", ()))
    # The model does to new rows what was done to its own.
    data = common.read_data(arguments, columns=columns, keep_missing=True)
    X = data.frame[[*columns]] if columns else data.X
    Z, errors = model.transform(X, return_std=True)
    png, _ = common.drawings(arguments, lambda ax: _draw(ax, model, Z, data), (7.2, 5.4), "")
    text = common.coordinates_csv(model, Z, data, errors)
    files = {"placed.csv": text, "placed.png": png}
    rows = [("placed", count(len(Z), "row")), ("model", str(arguments.model))]
    if done := getattr(model, "preprocessor_", RowSteps()).steps():
        rows.append(("as in the model", "; ".join(done)))
    lines = aligned(rows)
    step = ("To place them again:", common.typed_command(arguments))
    common.finish(arguments, data, files, lines, step, {"model": str(arguments.model)})


def save_model(model: IKD, data: Dataset, path: Path) -> Path:
    """Save a model with the names of its columns and what was done to its rows."""
    saved = copy.copy(model)
    saved.preprocessor_ = data.steps or RowSteps()
    if data.feature_names:
        saved.feature_names_in_ = np.array(data.feature_names, dtype=object)
    saved.save(path)
    return path


def _draw(ax: Any, model: IKD, Z: Any, data: Dataset) -> None:
    """Draw the placed rows over those of the model, which are gray."""
    old, new = ([0] * len(model.embedding_)), ([0] * len(Z))
    plot.embedding(
        model.embedding_, old, names=("model",), palette=("#c3c8ce",), legend=False, ax=ax
    )
    named = plot.names_of_points(data.row_names)
    title = "new rows (the model is gray)"
    plot.embedding(
        Z, new, names=(data.name,), label_title=title, palette=(SECOND,), points=named, ax=ax
    )
