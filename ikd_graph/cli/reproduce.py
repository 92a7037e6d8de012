"""``ikd-graph reproduce``: run an experiment of the paper again."""

from __future__ import annotations

import argparse
import inspect
from pathlib import Path
from typing import Any

from .._files import write_whole
from ..show import plot
from ..study.experiments import EXPERIMENTS, Gallery
from .common import check_output, named_stage, picture
from .console import say


def add_command(commands: Any) -> None:
    """Add the command to the parser.

    Parameters
    ----------
    commands : argparse subparsers
        Where commands are added.
    """
    first_lines = {name: (run.__doc__ or "").split("\n")[0] for name, run in EXPERIMENTS.items()}
    told = "; ".join(f"{name}: {line.rstrip('.')}" for name, line in first_lines.items())
    parser = commands.add_parser(
        "reproduce",
        help="run an experiment of the paper again",
        description="Run an experiment of the paper again; leave its table as .md and every trial "
        "as .csv, and what has pictures as .png.",
        epilog=told.replace("%", "%%"),
    )
    parser.add_argument("experiment", choices=tuple(EXPERIMENTS), metavar="EXPERIMENT",
                        help=", ".join(EXPERIMENTS))  # fmt: skip
    parser.add_argument(
        "--output", "-o", metavar="DIR", type=Path, default=Path(),
        help="folder for the results, made if it is missing; default: this one",
    )  # fmt: skip
    parser.add_argument(
        "--trials", metavar="N", type=int, default=argparse.SUPPRESS, dest="n_trials",
        help="number of draws; default: that of the experiment",
    )  # fmt: skip
    for flag, text in (("--seed", "seed of the first draw"), ("--n-jobs", "number of processes")):
        parser.add_argument(flag, metavar="N", type=int, default=argparse.SUPPRESS, help=text)
    parser.add_argument("--quiet", "-q", action="store_true", help="print no table")
    parser.add_argument("--traceback", action="store_true", help=argparse.SUPPRESS)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Run the command.

    Parameters
    ----------
    arguments : argparse.Namespace
        What was parsed.
    """
    check_output(arguments)
    experiment = EXPERIMENTS[arguments.experiment]
    known = inspect.signature(experiment).parameters
    given = {name: value for name, value in vars(arguments).items() if name in known}
    if "verbose" in known:
        given["verbose"] = 0 if arguments.quiet else 1
    with named_stage(f"running {arguments.experiment}"):
        table = experiment(**given)
    with named_stage("writing"):
        paths = table.write(arguments.output)
        image = gallery(table) if isinstance(table, Gallery) else None
        if image is not None:
            paths.append(write_whole(arguments.output / f"{table.name}.png", image))
    if not arguments.quiet:
        say(table.to_markdown())
        say("wrote")
        for path in paths:
            say(f"  {path}")


def gallery(table: Gallery) -> bytes | None:
    """Picture of the embeddings of an experiment, beside the data.

    Parameters
    ----------
    table : Gallery
        What was found.

    Returns
    -------
    bytes or None
        A PNG, None without matplotlib.
    """
    if table.data is None:
        return None
    X, y = table.data.X, table.data.y
    # A roll is seen from its end: its height, the second column, is left out.
    panels = {"data": X[:, ::2] if X.shape[1] == 3 else X, **table.panels}
    words = {name: f"{table.measure} {score:.3f}" for name, score in table.scores.items()}
    rows = -(-len(panels) // 4)

    def draw(ax: Any) -> object:
        return plot.small_multiples(panels, y, captions=words, n_columns=4, ax=ax)

    return picture(draw, 11.6, 2.9 * rows)
