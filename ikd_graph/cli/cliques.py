"""``ikd-graph cliques``: what the cliques of a data set are, and what a threshold does to them."""

from __future__ import annotations

import argparse
import json
import warnings
from typing import Any

from sklearn.base import clone

from .._stages import progress_bar
from .._validation import check_integer
from ..estimator import IKD
from ..show import plot, report
from ..show.points import paint_points
from ..show.report.clique_words import (
    clique_advice,
    clique_facts,
    clique_groups,
    clique_places,
    clique_statistics,
)
from ..show.words import say_number, say_settings
from . import common
from .console import facts, say
from .flags import add_method_flags, method_parameters, used_flags
from .outcome import tell_json

_LIMIT = 100_000
# Refined coordinates would no longer show what the cliques say of each point.
_PLAIN: dict[str, Any] = {"strategy": "auto", "refine": None, "n_landmarks": "auto"}


def add_command(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "cliques",
        help="look at the cliques of a data set",
        description="Count the cliques of the graph of a data set and show how they "
        "overlap; save the counts as .json, a picture as .png and a page as .html.",
    )
    common.add_data_arguments(parser)
    parser.add_argument(
        "--limit", metavar="N", type=int, default=_LIMIT,
        help=f"list at most this many maximal cliques; default: {_LIMIT}",
    )  # fmt: skip
    add_method_flags(parser, leave_out=tuple(_PLAIN))
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    limit = check_integer("--limit", arguments.limit, 1)
    data = common.read_data(arguments)
    loud = 0 if arguments.quiet else 1
    with common.named_stage("solving the cliques"):
        model = solve_cliques(data.X, method_parameters(arguments), loud)
    model.choices_ = arguments.wording(model.choices_)

    def watched(levels: Any) -> Any:
        return progress_bar(loud, iterable=levels, desc="thresholds") or levels

    with common.named_stage("looking at cliques and thresholds"):
        view = report.view_cliques(model, data, limit=limit, progress=watched)
    stem = common.file_stem(data.name)
    with common.named_stage("drawing"):
        png = common.picture(lambda ax: draw(ax, view), 7.2, 5.6)
        files = {
            f"{stem}_cliques.json": json.dumps(clique_statistics(view), indent=1) + "\n",
            f"{stem}_cliques.png": png,
            f"{stem}_cliques.html": common.page(
                lambda: report.cliques_page(
                    view,
                    common.typed_command(arguments),
                    warnings=arguments.heard,
                    steps=[("To embed with this graph:", again(model, arguments))],
                    picture=png,
                )
            ),
        }
    with common.named_stage("writing"):
        written = common.leave_files(arguments.output, files)
    if not arguments.quiet:
        summarise(view, arguments)
        common.name_files(written)
    settings = view.model._model.settings
    found = {
        "settings": settings,
        "reasons": view.model.choices_,
        "cliques": clique_statistics(view),
        "advice": clique_advice(view),
        "again": again(view.model, arguments),
    }
    tell_json(arguments, data, written, found)


def again(model: IKD, arguments: argparse.Namespace) -> str:
    """The embedding of the same graph, as a command with nothing left to choose."""
    used = used_flags(arguments, model._model.settings)
    return common.paste_command(arguments, "embed", used)


def solve_cliques(X: Any, parameters: dict[str, Any], verbose: int = 0) -> IKD:
    """`IKD`, fitted blockwise to the graph that the default call makes of a table, any strategy."""
    first = IKD(**parameters, **_PLAIN, verbose=verbose)
    with warnings.catch_warnings():
        # The advice says what there is to say about components.
        warnings.filterwarnings("ignore", "the graph has", UserWarning)
        first.fit(X)
        # The same rows have nothing else to warn of.
        warnings.simplefilter("ignore", UserWarning)
        if first.graph_ is None:
            # Rows are compared as they are for principal components, which need no graph.
            first.set_params(strategy="geodesic", affinity=first.affinity_).fit(X)
        return clone(first).set_params(strategy="blockwise", **graph_settings(first)).fit(X)


def draw(ax: Any, view: report.CliqueView) -> None:
    """Draw the graph of cliques into an Axes, main labels as colours."""
    groups = clique_groups(view, paint_points(view.data))
    plot.clique_graph(
        view.links,
        None if groups is None else groups.codes,
        names=None if groups is None else groups.names,
        positions=clique_places(view),
        ax=ax,
    )


def graph_settings(model: IKD) -> dict[str, Any]:
    """Parameters of `IKD` that make the graph of a fitted model again."""
    return {
        "affinity": model.affinity_,
        "threshold": model.threshold_,
        "n_neighbors": model.n_neighbors_,
        "mutual": model.mutual_,
    }


def summarise(view: report.CliqueView, arguments: argparse.Namespace) -> None:
    """Say what was found."""
    say(f"{view.data.name}: cliques")
    facts(list(say_settings(view.model).items()))
    facts(
        [
            (name, say_number(value))
            for name, value in clique_facts(view).items()
            if value is not None
        ]
    )
    if not view.complete:
        say(f"  only the first {arguments.limit} maximal cliques were listed; --limit raises that")
    for sentence in clique_advice(view):
        say(f"- {sentence}")
    say("to embed with this graph:")
    say(f"  {again(view.model, arguments)}")
