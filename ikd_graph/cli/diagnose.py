"""Tell what an embedding of a data set can be worth, and list what would help.

The numbers are saved as .json, the significantly correlated pairs as .csv, with a picture as .png
and a page as .html.
"""

import argparse
from typing import Any

from ..jobs.diagnose import FIGURE_SIZE, diagnose
from ..report.page import paint_points
from . import common
from .console import aligned
from .objects import plain_settings, read_object

_PARAMETERS = ("n_components", "fdr", "missing", "random_state")
_TABLES = ("trusted_pairs", "trusted_correlations", "rows", "embedding")


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    data = common.read_data(arguments)
    typed: dict[str, Any] = vars(arguments)
    parameters = {name: read_object(name, typed[name]) for name in _PARAMETERS if name in typed}
    parameters |= {"n_removed": int(arguments.remove_mean_row), "verbose": arguments.verbose}
    diagnosis = diagnose(data.X, **parameters)
    steps = [
        (step.words, common.paste_command(arguments, step.command, step.settings))
        for step in diagnosis.steps
    ]
    derived = {name: getattr(diagnosis, name) for name in ("n_used", "n_trusted", "p_value")}
    derived |= {name: getattr(diagnosis, name)._asdict() for name in ("chance", "moments")}
    derived["parameters"] = plain_settings(diagnosis.parameters)
    numbers = {k: v for k, v in {**vars(diagnosis), **derived}.items() if k not in _TABLES}
    png, html = common.drawings(
        arguments, lambda ax: diagnosis.plot(ax, data.row_names, paint_points(data)), FIGURE_SIZE,
        "diagnosis_page", diagnosis, data.name, data=data, steps=steps,
    )  # fmt: skip
    files = {
        "diagnosis.json": common.json_text(numbers) + "\n",
        "pairs.csv": diagnosis.to_pandas(data.row_names or None).to_csv(index=False),
        "diagnosis.png": png,
        "diagnosis.html": html,
    }
    lines = [f"{data.name}: diagnosis", *aligned(diagnosis.findings().items())]
    lines += [line for words, command in steps[:-1] for line in (f"{words}:", f"  {command}")]
    common.finish(arguments, data, files, lines, steps[-1], {"diagnosis": numbers, "steps": steps})
