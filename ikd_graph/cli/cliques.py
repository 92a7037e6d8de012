"""``ikd-graph cliques``: what the cliques of a data set are, and what a threshold does to them."""

from __future__ import annotations

import argparse
import json
import sys
from functools import partial
from typing import Any

from .._validation import check_integer
from ..estimator import IKD
from ..show import plot, report
from ..show.report.clique_words import (
    clique_advice,
    clique_facts,
    clique_groups,
    clique_places,
    clique_statistics,
)
from ..show.report.paint import paint_points
from ..show.words import say_number
from .common import (
    add_data_arguments,
    file_stem,
    leave_files,
    named_stage,
    picture,
    read_data,
    typed_command,
)
from .console import facts, say
from .flags import add_method_flags, method_parameters

_LIMIT = 100_000
# Refined coordinates or landmarks would no longer show what the cliques say of each point.
_PLAIN: dict[str, Any] = {"strategy": "blockwise", "refine": None, "n_landmarks": None}


def add_command(commands: Any) -> None:
    """Add the command to the parser.

    Parameters
    ----------
    commands : argparse subparsers
        Where commands are added.
    """
    parser = commands.add_parser(
        "cliques",
        help="look at the cliques of a data set",
        description="Count the cliques of the graph of a data set and show how they hang "
        "together; leave the counts as .json, a picture as .png and a page as .html.",
    )
    add_data_arguments(parser)
    parser.add_argument(
        "--limit", metavar="N", type=int, default=_LIMIT,
        help=f"list at most this many maximal cliques; default: {_LIMIT}",
    )  # fmt: skip
    add_method_flags(parser, leave_out=tuple(_PLAIN))
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Run the command.

    Parameters
    ----------
    arguments : argparse.Namespace
        What was parsed.
    """
    limit = check_integer("--limit", arguments.limit, 1)
    data = read_data(arguments)
    loud = 0 if arguments.quiet else 1
    model = IKD(**method_parameters(arguments), **_PLAIN, verbose=loud)
    with named_stage("solving the cliques"):
        model.fit(data.X)
    with named_stage("looking at cliques and thresholds"):
        view = report.view_cliques(model, data, limit=limit, progress=_bar(bool(loud)))
    stem = file_stem(data.name)
    with named_stage("drawing"):
        files = {
            f"{stem}_cliques.json": json.dumps(clique_statistics(view), indent=1) + "\n",
            f"{stem}_cliques.png": picture(lambda ax: draw(ax, view), 7.2, 5.6),
            f"{stem}_cliques.html": report.cliques_page(view, typed_command(arguments)),
        }
    if not arguments.quiet:
        summarise(view, limit)
    with named_stage("writing"):
        leave_files(arguments.output, files, arguments.quiet)


def _bar(loud: bool) -> Any:
    """Progress bar over thresholds on a terminal, None elsewhere."""
    if not (loud and sys.stderr.isatty()):
        return None
    from tqdm import tqdm

    return partial(tqdm, desc="thresholds", leave=False)


def draw(ax: Any, view: report.CliqueView) -> None:
    """Draw the graph of cliques into an Axes, main labels as colours.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Axes.
    view : CliqueView
        What was found.
    """
    groups = clique_groups(view, paint_points(view.data))
    plot.clique_graph(
        view.links,
        None if groups is None else groups.codes,
        names=None if groups is None else groups.names,
        positions=clique_places(view),
        ax=ax,
    )


def summarise(view: report.CliqueView, limit: int) -> None:
    """Say what was found.

    Parameters
    ----------
    view : CliqueView
        What was found.
    limit : int
        Number of cliques listed at most.
    """
    say(f"{view.data.name}: cliques")
    facts(
        [
            (name, say_number(value))
            for name, value in clique_facts(view).items()
            if value is not None
        ]
    )
    if not view.complete:
        say(f"  only the first {limit} maximal cliques were listed; --limit raises that")
    for sentence in clique_advice(view):
        say(f"- {sentence}")
