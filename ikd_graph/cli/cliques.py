"""Count the cliques of the graph of a data set and show how they overlap.

Their members are saved as .csv, the counts as .json, with a picture as .png and a page as .html.
"""

import argparse
import warnings
from typing import Any

import numpy as np

from .. import report
from .._base.format import format_number
from .._base.progress import progress_bar
from .._base.table import dense_rows, rows_of
from .._base.validation import check_integer, few_rows
from ..covariance import rows_vary
from ..estimator import IKD
from ..plotting import plot
from . import common
from .console import aligned
from .embed import embed_command
from .objects import method_parameters

# Refined coordinates would no longer show what the cliques say of each point.
_FIXED: dict[str, Any] = {"strategy": "blockwise", "refine": None}


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    limit = check_integer("--limit", arguments.limit, 1)
    n_resamples = arguments.stability
    if n_resamples:
        check_integer("--stability", n_resamples, 2, cure="0 is none")
    fixed = {**_FIXED, **(_of_correlations(arguments) if n_resamples else {})}
    parameters = method_parameters(vars(arguments), **fixed)
    data = common.read_data(arguments)
    if n_resamples:
        flat = np.flatnonzero(~rows_vary(dense_rows(rows_of(data.X)), "correlation"))
        if flat.size:
            raise ValueError(
                f"rows of {data.name} must vary for --stability, got {flat.size} constant row(s): "
                f"{few_rows(flat, len(data.X))}; drop them, or leave --stability out"
            )
    with common.named_stage("solving the cliques"), warnings.catch_warnings():
        # The advice covers components.
        warnings.filterwarnings("ignore", "the graph has", UserWarning)
        model = IKD(**parameters, verbose=arguments.verbose).fit(data.X)

    def progress(levels: Any) -> Any:
        return progress_bar(arguments.verbose, iterable=levels, desc="thresholds") or levels

    with common.named_stage("looking at cliques and thresholds"):
        view = report.view_cliques(
            model, data, limit=limit, n_resamples=n_resamples, progress=progress
        )
    counts, advice = view.statistics(), view.advice()
    step = ("To embed with this graph:", embed_command(model, arguments))
    with common.named_stage("drawing"):
        chart = report.clique_chart(view)
        png, html = common.drawings(
            arguments, lambda ax: plot.chart(chart, ax=ax), (7.2, 5.6),
            "cliques_page", view, steps=[step], warnings=arguments.heard,
        )  # fmt: skip
    files = {
        "cliques.csv": common.csv_text(*view.memberships()),
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


def _of_correlations(arguments: argparse.Namespace) -> dict[str, Any]:
    """Return the affinity of what is done to correlations of complete rows; raise for another."""
    affinity = getattr(arguments, "affinity", "correlation")
    if affinity != "correlation":
        raise ValueError(
            f"--stability must be of correlations, got --affinity {affinity}; "
            "pass --affinity correlation"
        )
    if getattr(arguments, "missing", "error") != "error":
        raise ValueError(
            f"--stability must have complete rows, got --missing {arguments.missing}; pass "
            "--impute median (or mean), which fills missing cells in, or leave it out"
        )
    return {"affinity": affinity}
