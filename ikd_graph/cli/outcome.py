"""What a command found as one JSON object, for programs that read it."""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .._files import write_whole
from ..show.words import versions
from ..study.datasets import Dataset
from .console import say

STDOUT = "-"


def add_json_argument(parser: argparse.ArgumentParser) -> None:
    """Give a parser the flag ``--json``."""
    parser.add_argument(
        "--json", metavar="FILE.json", nargs="?", const=STDOUT, default=None,
        help="write settings, scores, reasons, warnings and the paths of the results as one JSON "
        "object, in place of the text (--json alone) or into a file",
    )  # fmt: skip


def tell_json(
    arguments: argparse.Namespace,
    data: Dataset | None,
    written: Iterable[Path],
    found: Mapping[str, Any],
) -> None:
    """Write the object that was asked for, if it was.

    ``found`` holds what the command itself has to say; what was read, warned of and written is the
    same for all commands.
    """
    if arguments.json is None:
        return
    told = {
        "command": arguments.command,
        "typed": arguments.typed,
        "data": None if data is None else describe_data(data),
        **found,
        "warnings": list(arguments.heard),
        "outputs": [str(path) for path in written],
        "versions": versions(),
    }
    text = json.dumps(plain(told), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    if arguments.json == STDOUT:
        say(text.rstrip("\n"))
    else:
        write_whole(arguments.json, text)


def describe_data(data: Dataset) -> dict[str, Any]:
    """Size, labels and reading of a data set."""
    return {
        "name": data.name,
        "rows": data.n_samples,
        "columns": data.n_features,
        "labels": [
            {"title": one.title, "classes": list(one.names) or None, "period": one.period}
            for one in data.all_labels
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
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(one) for one in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (str, int, bool)) else str(value)
