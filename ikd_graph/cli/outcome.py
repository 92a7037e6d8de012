"""What a command leaves: files, text on the terminal, or one JSON object for programs."""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._files import make_folder, remove_folders, write_together, write_whole
from ..estimator import IKD
from ..show.page import share_plotly
from ..show.words import versions
from ..study.datasets import Dataset
from .common import csv_text, named_stage, unique_names
from .console import say
from .flags import in_flags, plain_settings
from .reading import STDOUT


def leave_files(folder: Path, files: Mapping[str, str | bytes | None]) -> list[Path]:
    """Write the files of a command, all or none; content None is left out."""
    new_folders = make_folder(folder)
    try:
        return write_together(folder, {name: it for name, it in files.items() if it is not None})
    except BaseException:
        remove_folders(new_folders)
        raise


def finish(
    arguments: argparse.Namespace,
    data: Dataset | None,
    files: Mapping[str, str | bytes | None],
    summarise: Callable[[], None],
    step: tuple[str, str],
    result: Mapping[str, Any],
    before: Sequence[Path] = (),
) -> None:
    """Write files, say what came out and what to type next, or write all of it as JSON.

    ``step`` is a sentence and a command; files of ``before`` are written already.
    """
    if getattr(arguments, "plotly", "") == "shared":
        files = share_plotly(files)
    with named_stage("writing", "what was written is whole"):
        written = [*before, *leave_files(arguments.output, files)]
    if not arguments.quiet:
        summarise()
        for line in (step[0], f"  {step[1]}", "Wrote", *(f"  {path}" for path in written)):
            say(line)
    if arguments.json is None:
        return
    record = {
        "command": arguments.command,
        "typed": arguments.typed,
        "data": None if data is None else describe_data(data),
        **result,
        "again": step[1],
        "warnings": list(arguments.heard),
        "outputs": [str(path) for path in written],
        "versions": versions(),
    }
    text = json.dumps(plain(record), indent=1, ensure_ascii=False, allow_nan=False)
    if arguments.json == STDOUT:
        say(text)
    else:
        write_whole(arguments.json, text + "\n")


def coordinates_csv(model: IKD, Z: NDArray[np.float64], data: Dataset) -> str:
    """Comma-separated text: names or numbers of the rows, one column a dimension, labels."""
    labels = [one.texts for one in data.all_labels]
    titles = [one.title or "label" for one in data.all_labels]
    rows = data.row_names or range(data.n_samples)
    columns = [data.row_title or "row", *model.get_feature_names_out(), *titles]
    return csv_text(
        unique_names(columns),
        ([row, *point, *rest] for row, point, *rest in zip(rows, Z.tolist(), *labels, strict=True)),
    )


def fit_record(model: IKD) -> dict[str, Any]:
    """Settings and reasons of a fit, for JSON."""
    reasons = {name: in_flags(text) for name, text in model.settings_.reasons.items()}
    return {"settings": plain_settings(model.settings_), "reasons": reasons}


def describe_data(data: Dataset) -> dict[str, Any]:
    """Size, labels and reading of a data set."""
    return {
        "name": data.name,
        "rows": data.n_samples,
        "columns": data.n_features,
        "labels": [
            {"title": label.title, "classes": list(label.names) or None, "period": label.period}
            for label in data.all_labels
        ],
        "notes": data.notes,
        "remarks": data.remarks,
    }


def plain(value: Any) -> Any:
    """A value as JSON holds it: no arrays, no NaN (null), no numbers as keys.

    Examples
    --------
    >>> plain({"r2": np.float64("nan"), 3: np.arange(2), "names": ("a",)})
    {'r2': None, '3': [0, 1], 'names': ['a']}
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return plain(dataclasses.asdict(value))
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (str, int, bool)) else str(value)
