"""Place new rows in the embedding of a saved model.

They are saved as .csv, with their standard errors se_1, se_2, ... where the model has them, and a
picture as .png. Columns are matched by name.
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .._format import count
from .._suggest import suggest
from ..datasets import Dataset
from ..estimator import IKD
from ..plotting import plot
from . import common
from .console import aligned


def add_flags(parser: argparse.ArgumentParser) -> None:
    """Give the parser of the command its flags."""
    parser.add_argument(
        "model", metavar="MODEL", type=Path,
        help="file of a model, written by embed --save-model or IKD.save",
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    model, data = load_model(arguments)
    with common.named_stage("placing the rows"):
        Z, errors = model.transform(data.X, return_std=True)
    with common.named_stage("drawing"):
        png, _ = common.drawings(arguments, lambda ax: _draw(ax, model, Z, data), (7.2, 5.4), "")
    text = common.coordinates_csv(model, Z, data, errors)
    files = {"placed.csv": text, "placed.png": png}
    lines = aligned([("placed", count(len(Z), "row")), ("model", str(arguments.model))])
    step = ("To place them again:", common.typed_command(arguments))
    common.finish(arguments, data, files, lines, step, {"model": str(arguments.model)})


def load_model(arguments: argparse.Namespace) -> tuple[IKD, Dataset]:
    """Return a saved model, and a file of rows with the same columns."""
    check_row_wise(arguments)
    model = IKD.load(arguments.model)
    # Names are matched here; the estimator has no use for them.
    names = model.__dict__.pop("feature_names_in_", None)
    data = common.read_data(arguments, judged=False)
    if names is not None and data.feature_names:
        data = _columns_of(data, names.tolist())
    return model, data


def save_model(model: IKD, data: Dataset, path: Path) -> Path:
    """Save a model with the names of its columns."""
    if data.feature_names:
        model.feature_names_in_ = np.array(data.feature_names, dtype=object)
    model.save(path)
    model.__dict__.pop("feature_names_in_", None)
    return path


def check_row_wise(arguments: argparse.Namespace, needed: bool = True) -> None:
    """Raise if rows would be changed by what the other rows of their file are."""
    for name in ("scale", "impute"):
        value = getattr(arguments, name)
        if needed and value is not None:
            raise ValueError(
                f"--{name} must not be given for a model that places new rows, got {value!r}: it "
                "depends on the other rows of a file; use --affinity standardized_euclidean, "
                "--missing pairwise or a cleaned file"
            )


def _columns_of(data: Dataset, names: Sequence[str]) -> Dataset:
    """Columns of a new file in the order of the model."""
    absent = [name for name in names if name not in data.feature_names]
    if absent:
        raise ValueError(
            f"{data.name} must have the columns of the model, got no {absent[0]!r}"
            f"{suggest(absent[0], data.feature_names)}"
        )
    order = [data.feature_names.index(name) for name in names]
    return replace(data, X=data.X[:, order], feature_names=tuple(names))


def _draw(ax: Any, model: IKD, Z: Any, data: Dataset) -> None:
    """Draw the placed rows among those of the model, which are gray."""
    every = np.vstack([model.embedding_, Z])
    groups = np.repeat([0, 1], [len(model.embedding_), len(Z)])
    plot.embedding(every, groups, names=("model", data.name), palette=("#c3c8ce",), ax=ax)
