"""``ikd-graph compare``: strategies and other methods on one table, similarity and graph."""

from __future__ import annotations

import argparse
from typing import Any

from ..show.plot.comparison import size
from ..study.compare import METHODS, STRATEGIES, Comparison, compare, lines, sentences
from ..study.label_scores import label_quantity
from . import common
from .console import say
from .flags import (
    FLAGS,
    add_method_flags,
    in_flags,
    method_parameters,
    plain_settings,
    settings_flags,
)
from .outcome import finish
from .reading import split

_OWN = {"strategy", "n_components", "missing", "path", "merge", "max_cliques", "reference"}


def add_command(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "compare",
        help="compare strategies and other methods on a data set",
        description="Compare blockwise with geodesic, and with other methods, on one similarity "
        "and one graph: which is better, by a paired test, and where they disagree. Saves scores "
        "and points as .csv, a page as .html and a picture as .png.",
    )
    common.add_data_arguments(parser)
    # fmt: off
    for flag, default, text, more in (
        ("--methods", ("blockwise", "geodesic"), f"among {', '.join(METHODS)}; default: "
         "blockwise,geodesic", {"metavar": "A,B,...", "type": split}),
        ("--components", 2, "number of hidden coordinates; default: 2",
         {"metavar": "M", "type": int, "dest": "n_components"}),
        ("--noise", (0.0, 0.5, 1.0), "standard deviations of noise to add, in those of each "
         "column; default: 0,0.5,1", {"metavar": "SD,...", "type": _numbers}),
        ("--n-draws", 4, "draws of noise at each level, and halves of the columns; default: 4",
         {"metavar": "N", "type": int}),
        ("--max-rows", 2000, "compare a larger table on so many random rows; default: 2000",
         {"metavar": "N", "type": int}),
        ("--time-limit", None, "seconds after which a fit of another method is ended; default: "
         "none", {"metavar": "SECONDS", "type": float}),
    ):
        parser.add_argument(flag, default=default, help=text, **more)
    # fmt: on
    add_method_flags(parser, only=FLAGS.keys() - _OWN)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    data = common.read_data(arguments)
    measured = any(label_quantity(labels) is not None for labels in data.all_labels)
    if arguments.label_period and not measured:
        raise ValueError(
            f"--label-period must go with labels that are measurements, got none in "
            f"{arguments.data}; name their column with --labels"
        )
    names = ("n_components", "noise", "n_draws", "max_rows", "time_limit")
    own = {name: getattr(arguments, name) for name in names}
    with common.named_stage("comparing"):
        result = compare(
            data,
            arguments.methods,
            verbose=0 if arguments.quiet else 1,
            **{**method_parameters(arguments), **own},
        )
    step = next_step(result, arguments)
    stem = common.file_stem(data.name)
    with common.named_stage("drawing"):
        png = common.picture(lambda ax: _draw(ax, result), *size(result))
        about: dict[str, Any] = {"warnings": arguments.heard, "picture": png, "steps": [step]}
        files = {
            f"{stem}_compare.csv": _csv(result.to_records()),
            f"{stem}_compare_points.csv": common.csv_text(
                list(result.points()), zip(*result.points().values(), strict=True)
            ),
            f"{stem}_compare.png": png,
            f"{stem}_compare.html": common.page(arguments, "compare_page", result, **about),
        }
    record = {
        "measure": result.measure,
        "shared": result.head,
        "settings": plain_settings(result.used),
        "rows": result.to_records(),
        "tests": [{**test._asdict(), "better": test.better} for test in result.tests],
        "sentences": [in_flags(text) for text in sentences(result)],
        "points": result.points(),
    }

    def summarise() -> None:
        for line in lines(result):
            say(in_flags(line))

    finish(arguments, data, files, summarise, step, record)


def next_step(result: Comparison, arguments: argparse.Namespace) -> tuple[str, str]:
    """What to do next, and the command: the better strategy, or else the first that ran."""
    ran = [row.method for row in result.rows if row.method in STRATEGIES and not row.failure]
    plain = [name for name in ran if not name.startswith("paper_")]
    if not plain:
        return "To compare again:", common.typed_command(arguments)
    better = result.tests[0].better if result.tests else None
    name = better if better in plain else "geodesic" if "geodesic" in plain else plain[0]
    used = {**result.used, "strategy": STRATEGIES[name], "n_components": arguments.n_components}
    if not STRATEGIES[name].uses_graph:
        used = {key: value for key, value in used.items() if key != "graph"} | {"refine": None}
    command = common.paste_command(arguments, "embed", settings_flags(used))
    return f"To embed with these settings ({name}):", command


def _draw(ax: Any, result: Comparison) -> None:
    from ..show import plot

    plot.comparison(result, ax=ax)


def _csv(records: list[dict[str, Any]]) -> str:
    """Records as comma-separated text."""
    columns = list(dict.fromkeys(name for record in records for name in record))
    return common.csv_text(
        columns, ([record.get(name, "") for name in columns] for record in records)
    )


def _numbers(text: str) -> list[float]:
    """Numbers between commas, at least one."""
    return [float(word) for word in split(text) or [text]]
