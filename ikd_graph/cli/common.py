"""What commands on a data set share: arguments, the table, and what they leave."""

import argparse
import json
import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pandas

from .. import datasets, report
from .._base.files import check_writable, write_together, write_whole
from .._base.format import setting, versions
from .._base.progress import stage
from .._base.types import Floats
from .._base.validation import name_rows
from ..datasets import Dataset, Reading
from ..estimator import IKD
from ..metrics import affine_r2
from ..plotting import plot
from ..report.page import share_plotly
from ..settings import Settings
from .console import print_error, typed_name, write_lines
from .objects import plain_settings, settings_flags
from .parser import STDOUT, flags_of


def read_data(arguments: argparse.Namespace, path: str = "", **changes: Any) -> Dataset:
    """Load the data set of a command, or one of several, once its results can be written.

    ``changes`` of how the file is read are those of a command.
    """
    given = typed_values(arguments, *vars(Reading()))
    rule = getattr(arguments, "missing", "error")
    if rule != "error" and "impute" in given:
        raise ValueError(
            f"{setting('missing', rule)} and {setting('impute', given['impute'])} must not be "
            "given together: the latter leaves no missing cells; leave one of them out"
        )
    # Missing cells are the method's where it takes them.
    reading = Reading(**{**given, "keep_missing": rule != "error", **changes})
    check_outputs(arguments)
    with stage(arguments.verbose, "reading"):
        data = datasets.load(path or arguments.data, reading=reading)
    if not path:
        # Its results are called after it, which a folder may not take.
        check_writable(arguments.output, f"{file_stem(data.name)}_embedding.csv")
    if not arguments.quiet:
        # Results go to those, too, who do not listen.
        with suppress(OSError, AttributeError):
            write_lines(data.notes)
            sys.stdout.flush()
    name_rows(data.row_names)
    return data


def check_outputs(arguments: argparse.Namespace) -> None:
    """Raise an error where the results of a command cannot be written."""
    check_writable(arguments.output)
    if arguments.json not in (None, STDOUT):
        check_writable(Path(arguments.json).parent)


def typed_values(arguments: argparse.Namespace, *names: str) -> dict[str, Any]:
    """Return the values of flags that were typed."""
    return {name: getattr(arguments, name) for name in names if hasattr(arguments, name)}


def typed_command(arguments: argparse.Namespace) -> str:
    """Return the command as it was typed."""
    return f"{typed_name()} {shlex.join(arguments.typed)}"


def paste_command(arguments: argparse.Namespace, command: str, settings: Mapping[str, Any]) -> str:
    """Return a command on the data typed, read alike, with some settings."""
    flags = flags_of(command)
    kept = typed_values(arguments, *filter(flags.get, (*vars(Reading()), "output", "null")))
    words = settings_flags(flags, {**kept, **settings})
    return f"{typed_name()} {shlex.join([command, str(arguments.data), *words])}"


def file_stem(name: str) -> str:
    """Name of a data set as file names begin: letters, digits, dots, dashes, underscores.

    Examples
    --------
    >>> file_stem("my data/2")
    'my_data_2'
    """
    return re.sub(r"[^\w.-]+", "_", name).strip("._") or "data"


def drawings(
    arguments: argparse.Namespace,
    draw: Callable[[Any], object],
    page: str = "",
    *content: Any,
    size: tuple[float, float] = (7.2, 5.4),
    **options: Any,
) -> tuple[bytes | None, str | None]:
    """Draw a picture by ``draw`` in the format asked for, and render a page of `report` with it.

    Without matplotlib, or a library of pages, None takes its place, and the cure is a warning.
    """  # fmt: skip
    png = html = coarse = None
    try:
        with stage(arguments.verbose, "picture"):
            ax = plot.axes(*size)
            draw(ax)
            # Pages stay small: they have it for browsers that run no script.
            png, coarse = plot.image(ax, form=arguments.format), page and plot.image(ax, 72)
    except ImportError as error:
        print_error("warning", f"no picture: {error}")
    try:
        around = {"command": typed_command(arguments), "picture": coarse or None}
        options = {"warnings": arguments.heard, **around, **options}
        with stage(arguments.verbose * bool(page), "page"):
            html = getattr(report, page)(*content, **options) if page else None
    except ImportError as error:
        print_error("warning", f"no HTML: {error}")
    return png, html


def truth_lines(data: Dataset, Z: Floats, rows: Any = slice(None)) -> list[str]:
    """Return how well an embedding, or one of some rows, tells the truth where it is known."""
    if data.latent is None:
        return []
    true = data.latent[rows]
    return [f"R² with the {true.shape[1]} true coordinates: {affine_r2(true, Z):.3f} (affine)."]


def write_outputs(
    arguments: argparse.Namespace, data: Dataset, files: Mapping[str, Any]
) -> list[Path]:
    """Write the files of a command by the ends of their names, all or none; None is left out.

    Pictures (``.png``) have the end of their format.
    """
    stem = file_stem(data.name)
    ends = {end: end.replace(".png", f".{arguments.format}") for end in files}
    whole = {f"{stem}_{ends[end]}": text for end, text in files.items() if text is not None}
    if arguments.plotly == "shared":
        whole.update(share_plotly(whole))
    arguments.output.mkdir(parents=True, exist_ok=True)
    paths = write_together(arguments.output, whole)
    arguments.written += [path for path in paths if path not in arguments.written]
    return paths


def finish(
    arguments: argparse.Namespace,
    data: Dataset,
    files: Mapping[str, Any],
    answer: Sequence[str],
    lines: Sequence[str],
    step: tuple[str, str],
    result: Mapping[str, Any],
) -> None:
    """Write files, then text with the answer first, or all of it as JSON.

    ``answer`` is a verdict of one or two sentences and how far to trust it, ``step`` a sentence
    and the command to type next, ``lines`` are settings and reasons, which stand last.
    """
    write_outputs(arguments, data, files)
    written = arguments.written
    if not arguments.quiet:
        paths = ["Wrote", *(f"  {path}" for path in written)] if written else []
        details = ["Details", *lines] if lines else []
        write_lines([*answer, *paths, step[0], f"  {step[1]}", *details])
    if arguments.json is None:
        return
    record = {
        "command": arguments.command, "typed": arguments.typed, "data": describe_data(data),
        "answer": list(answer), "again": step[1], **result, "warnings": list(arguments.heard),
        "outputs": [str(path) for path in written], "versions": versions(),
    }  # fmt: skip
    text = json_text(record)
    if arguments.json == STDOUT:
        write_lines([text])
    else:
        Path(arguments.json).parent.mkdir(parents=True, exist_ok=True)
        write_whole(arguments.json, text + "\n")


def coordinates_csv(
    model: IKD,
    Z: Floats,
    data: Dataset,
    errors: Floats | None = None,
    **further: Floats,
) -> str:
    """Comma-separated text: names or numbers of rows, dimensions, errors, ``further``, labels."""
    names = data.row_names or range(data.n_samples)
    table = pandas.DataFrame(Z, names, model.get_feature_names_out())
    if errors is not None and np.isfinite(errors).any():
        table[[f"{name}_se" for name in table]] = errors
    table = table.assign(**further)
    for labels in data.labels:
        table.insert(table.shape[1], labels.title or "label", labels.texts, allow_duplicates=True)
    return str(table.to_csv(index_label=data.row_title or "row"))


def fit_record(used: Settings) -> dict[str, Any]:
    """Return settings and reasons of a fit, for JSON."""
    settings = {**used.parameters(), "kernel": used.kernel}
    return {"settings": plain_settings(settings), "reasons": dict(used.reasons)}


def describe_data(data: Dataset) -> dict[str, Any]:
    """Size, labels and reading of a data set."""
    labels = [
        {"title": column.title, "classes": list(column.names) or None, "period": column.period}
        for column in data.labels
    ]
    size = {"name": data.name, "rows": data.n_samples, "columns": data.n_features}
    return {**size, "labels": labels, "notes": data.notes}


def json_text(record: Any) -> str:
    """Return a record as JSON: arrays as lists, what is not finite as null, other objects as text.

    Examples
    --------
    >>> import numpy as np
    >>> json_text(np.array([1.5, np.nan])).split()
    ['[', '1.5,', 'null', ']']
    """
    text = json.dumps(record, default=lambda v: v.tolist() if hasattr(v, "tolist") else str(v))
    finite = json.loads(text, parse_constant=lambda constant: None)
    return json.dumps(finite, indent=1, ensure_ascii=False)
