"""``ikd-graph place``: new rows in the coordinates of a saved model."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .._suggest import suggest
from ..estimator import IKD
from ..show import plot
from ..show.words import count
from ..study.datasets import Dataset
from . import common
from .console import facts
from .outcome import coordinates_csv, finish


def add_command(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "place",
        help="place new rows in an embedding",
        description="Place the rows of a new file in the coordinates of a saved model; save them "
        "as .csv and a picture as .png. Columns are matched by name.",
    )
    parser.add_argument(
        "model", metavar="MODEL", type=Path,
        help="file of a model, written by embed --save-model or IKD.save",
    )  # fmt: skip
    common.add_data_arguments(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    check_row_wise(arguments)
    model = IKD.load(arguments.model)
    # Names are matched here; the estimator has no use for them.
    names = model.__dict__.pop("feature_names_in_", None)
    data = common.read_data(arguments, judged=False)
    if names is not None and data.feature_names:
        data = _columns_of(data, names.tolist())
    with common.named_stage("placing the rows"):
        Z = model.transform(data.X)
    stem = common.file_stem(data.name)
    with common.named_stage("drawing"):
        png = common.picture(lambda ax: _draw(ax, model, Z, data), 7.2, 5.4)
    files = {f"{stem}_placed.csv": coordinates_csv(model, Z, data), f"{stem}_placed.png": png}
    said = [("placed", count(len(Z), "row")), ("model", str(arguments.model))]
    step = ("To place them again:", common.typed_command(arguments))
    finish(arguments, data, files, lambda: facts(said), step, {"model": str(arguments.model)})


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
    for name in names:
        if name not in data.feature_names:
            raise ValueError(
                f"{data.name} must have the columns of the model, got no {name!r}"
                f"{suggest(name, data.feature_names)}"
            )
    order = [data.feature_names.index(name) for name in names]
    return replace(data, X=data.X[:, order], feature_names=tuple(names))


def _draw(ax: Any, model: IKD, Z: Any, data: Dataset) -> None:
    """Draw the placed rows among those of the model, which are grey."""
    every = np.vstack([model.embedding_, Z])
    groups = np.repeat([0, 1], [len(model.embedding_), len(Z)])
    plot.embedding(every, groups, names=("model", data.name), palette=("#c3c8ce",), ax=ax)
