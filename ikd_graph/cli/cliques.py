"""``ikd-graph cliques``: what the cliques of a data set are, and what a threshold does to them."""

from __future__ import annotations

import argparse
import json
import warnings
from typing import Any

from .._checks import check_integer
from .._stages import progress_bar
from ..estimator import IKD
from ..show import plot
from ..show.words import say_number
from . import common
from .console import facts, say
from .embed import embed_command
from .flags import FLAGS, add_method_flags, in_flags, method_parameters
from .outcome import finish, fit_record

_LIMIT = 100_000
# Refined coordinates would no longer show what the cliques say of each point.
_FIXED: dict[str, Any] = {"strategy": "blockwise", "refine": None}
_NOT_ITS_OWN = {*_FIXED, "n_landmarks", "path", "restarts", "fit_shape", "time_budget"}


def add_command(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "cliques",
        help="look at the cliques of a data set",
        description="Count the cliques of the graph of a data set and show how they "
        "overlap; save who is in them as .csv, the counts as .json, a picture as .png and a page "
        "as .html.",
    )
    common.add_data_arguments(parser)
    parser.add_argument(
        "--limit", metavar="N", type=int, default=_LIMIT,
        help=f"list at most this many maximal cliques; default: {_LIMIT}",
    )  # fmt: skip
    add_method_flags(parser, only=FLAGS.keys() - _NOT_ITS_OWN)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    from ..show import report
    from ..show.report import clique_words

    limit = check_integer("--limit", arguments.limit, 1)
    parameters = method_parameters(arguments, **_FIXED)
    data = common.read_data(arguments)
    loud = 0 if arguments.quiet else 1
    with common.named_stage("solving the cliques"), warnings.catch_warnings():
        # The advice says what there is to say about components.
        warnings.filterwarnings("ignore", "the graph has", UserWarning)
        model = IKD(**parameters, verbose=loud).fit(data.X)

    def watched(levels: Any) -> Any:
        return progress_bar(loud, iterable=levels, desc="thresholds") or levels

    with common.named_stage("looking at cliques and thresholds"):
        view = report.view_cliques(model, data, limit=limit, progress=watched)
    counts, advice = clique_words.clique_statistics(view), clique_words.clique_advice(view)
    step = ("To embed with this graph:", embed_command(model, arguments))
    stem = common.file_stem(data.name)
    with common.named_stage("drawing"):
        chart = report.clique_chart(view)
        png = common.picture(lambda ax: plot.chart(chart, ax=ax), 7.2, 5.6)
        about: dict[str, Any] = {"warnings": arguments.heard, "picture": png}
        heads, rows = clique_words.memberships(view)
        files = {
            f"{stem}_cliques.csv": common.csv_text(common.unique_names(heads), rows),
            f"{stem}_cliques.json": json.dumps(counts, indent=1) + "\n",
            f"{stem}_cliques.png": png,
            f"{stem}_cliques.html": common.page(
                arguments, "cliques_page", view, steps=[step], **about
            ),
        }

    def summarise() -> None:
        say(f"{data.name}: cliques")
        common.say_settings(model)
        told = clique_words.clique_facts(view).items()
        facts([(name, say_number(value)) for name, value in told if value is not None])
        if not view.complete:
            say(f"  only the first {limit} maximal cliques were listed; --limit raises that")
        for sentence in advice:
            say(f"- {in_flags(sentence)}")

    result = {**fit_record(model), "cliques": counts, "advice": advice}
    finish(arguments, data, files, summarise, step, result)
