"""Count the cliques of the graph of a data set and show how they overlap.

Their members are saved as .csv, the counts as .json, with a picture as .png and a page as .html.
"""

import argparse
import warnings
from typing import Any

from .. import report
from .._base.format import format_number
from .._base.validation import whole
from ..estimator import IKD
from ..jobs.cliques import inspect_model
from ..plotting import plot
from . import common
from .console import aligned
from .embed import embed_command
from .objects import method_parameters


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    limit, n_resamples = whole(1)("limit", arguments.limit), arguments.stability
    # Refined coordinates would no longer show what the cliques say of each point.
    fixed: dict[str, Any] = {"strategy": "blockwise", "refine": None}
    if n_resamples:
        whole(2, cure="0 is none")("stability", n_resamples)
        fixed["affinity"] = getattr(arguments, "affinity", "correlation")
    parameters = method_parameters(vars(arguments), **fixed)
    data = common.read_data(arguments)
    with warnings.catch_warnings():
        # The advice covers components.
        warnings.filterwarnings("ignore", "the graph has", UserWarning)
        model = IKD(**parameters, verbose=arguments.verbose).fit(data.X)

    verbose = arguments.verbose
    view = inspect_model(model, data, limit=limit, n_resamples=n_resamples, verbose=verbose)
    counts, advice = view.to_record(), view.advice()
    step = ("To embed with this graph:", embed_command(model, arguments))
    chart = report.clique_chart(view)
    png, html = common.drawings(
        arguments, lambda ax: plot.chart(chart, ax=ax), (7.2, 5.6),
        "cliques_page", view, steps=[step], warnings=arguments.heard,
    )  # fmt: skip
    files = {
        "cliques.csv": view.to_pandas().to_csv(index=False),
        "cliques.json": common.json_text(counts) + "\n",
        "cliques.png": png,
        "cliques.html": html,
    }
    if arguments.export:
        files[f"graph.{arguments.export}"] = view.exported(f".{arguments.export}")
    lines = [f"{data.name}: cliques", *common.settings_lines(model)]
    lines += aligned((name, format_number(value)) for name, value in view.facts().items())
    if not view.complete:
        lines.append(f"  only the first {limit} maximal cliques were listed; --limit raises that")
    lines += [f"- {sentence}" for sentence in advice]
    result = {**common.fit_record(model), "cliques": counts, "advice": advice}
    common.finish(arguments, data, files, lines, step, result)
