"""What commands on a data set share: their arguments, reading, and the files they leave."""

from __future__ import annotations

import argparse
import csv
import io
import itertools
import re
import shlex
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from .._files import check_writable
from ..estimator import IKD
from ..study import datasets
from ..study.datasets import Dataset
from ..study.judgement import judge
from .console import PROG, complain, flush, say
from .flags import in_flags
from .reading import STDOUT, add_reading_arguments, reading, reading_flags


def add_data_arguments(parser: argparse.ArgumentParser) -> None:
    """Give a parser the arguments of a command that works on a data set."""
    parser.add_argument(
        "data",
        metavar="DATA",
        help=f"built-in name ({', '.join(datasets.BUILTIN)}) or a file: "
        f"{', '.join(datasets.READERS)}",
    )
    parser.add_argument(
        "--output", "-o", metavar="DIR", type=Path, default=Path(),
        help="folder for the results, made if it is missing; default: this one",
    )  # fmt: skip
    parser.add_argument(
        "--quiet", "-q", action="store_true", help="say nothing but warnings and errors"
    )
    parser.add_argument(
        "--json", metavar="FILE.json", nargs="?", const=STDOUT, default=None,
        help="write settings, scores, reasons, warnings and the paths of the results as one JSON "
        "object, in place of the text (--json alone) or into a file",
    )  # fmt: skip
    parser.add_argument(
        "--plotly", choices=("inside", "shared"), default="inside",
        help="where the page has its library: inside, so that it needs no other file (5 MB), or "
        "shared, one plotly.min.js beside the pages; default: inside",
    )  # fmt: skip
    parser.add_argument("--traceback", action="store_true", help=argparse.SUPPRESS)
    add_reading_arguments(parser)


@contextmanager
def named_stage(name: str, left: str = "nothing was written") -> Iterator[None]:
    """Let Ctrl-C say what was going on and what is left, unless something inside has."""
    try:
        yield
    except KeyboardInterrupt as stopped:
        raise KeyboardInterrupt(f"{str(stopped) or f'stopped while {name}'}; {left}") from None


def check_output(arguments: argparse.Namespace) -> None:
    """Raise, before any work is done, if results cannot go where they are to go."""
    if arguments.output.exists() and not arguments.output.is_dir():
        raise ValueError(f"--output must be a folder, got the file {str(arguments.output)!r}")
    place = None if arguments.json in (None, STDOUT) else Path(arguments.json)
    if place is not None and (place.is_dir() or not place.parent.is_dir()):
        raise ValueError(
            f"--json must lie in a folder that exists, got {str(place)!r}; make the folder first"
        )
    check_writable(arguments.output)


def read_data(arguments: argparse.Namespace, judged: bool = True) -> Dataset:
    """Load the data set of a command, after a look at where its results are to go.

    Whether what may spoil an embedding is said as well is ``judged``.
    """
    check_output(arguments)
    with named_stage("reading the data"):
        data = datasets.load(arguments.data, reading=reading(arguments))
    if not arguments.quiet:
        # Before the work, which may be long; whoever does not listen still gets the results.
        with suppress(OSError):
            for note in data.notes:
                say(note)
            flush()
    data = replace(data, remarks=(*data.remarks, *(judge(data) if judged else ())))
    for remark in data.remarks:
        warnings.warn(remark, UserWarning, stacklevel=2)
    return data


def typed_command(arguments: argparse.Namespace) -> str:
    """The command as it was typed."""
    return shlex.join([PROG, *arguments.typed])


def paste_command(arguments: argparse.Namespace, command: str, flags: Sequence[str]) -> str:
    """The command "embed" or "cliques" for the data typed, with nothing left to choose."""
    words = [PROG, command, str(arguments.data)]
    words += reading_flags(arguments)
    return shlex.join([*words, *flags])


def file_stem(name: str) -> str:
    """Name of a data set as file names begin: letters, digits, dots, dashes, underscores.

    Examples
    --------
    >>> file_stem("my data/2")
    'my_data_2'
    """
    return re.sub(r"[^\w.-]+", "_", name).strip("._") or "data"


def unique_names(names: Sequence[str]) -> list[str]:
    """Names of columns, a number behind each that came before.

    Examples
    --------
    >>> unique_names(["row", "x", "row"])
    ['row', 'x', 'row_2']
    """
    unique: list[str] = []
    for name in names:
        candidates = itertools.chain([name], (f"{name}_{number}" for number in itertools.count(2)))
        unique.append(next(candidate for candidate in candidates if candidate not in unique))
    return unique


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Table as comma-separated text, with lines ended by a line feed."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return out.getvalue()


def picture(draw: Callable[[Any], object], width: float, height: float) -> bytes | None:
    """Bytes of a PNG that ``draw`` fills; without matplotlib None, and a word on how to get one."""
    from ..show import plot

    try:
        ax = plot.axes(width, height)
    except ImportError as error:
        complain("warning", f"no PNG: {error}")
        return None
    draw(ax)
    return plot.png(ax)


def page(arguments: argparse.Namespace, kind: str, *parts: Any, **options: Any) -> str | None:
    """HTML of a page of `show.report`; None, and a word on the cure, where a library is missing."""
    try:
        from ..show import report

        text: str = getattr(report, kind)(*parts, command=typed_command(arguments), **options)
        return text
    except ImportError as error:
        complain("warning", f"no HTML: {error}")
        return None


def say_settings(model: IKD) -> None:
    """Say the settings of a fit, with the reason for each and what there is to beware of."""
    settings = model.settings_
    reasons = {name: in_flags(text) for name, text in settings.reasons.items()}
    for line in str(replace(settings, reasons=reasons)).splitlines():
        say(f"  {line}")
