"""Compare strategies and other methods on one similarity and one graph.

Which is better is told by a paired test, and where they disagree. Scores and points are saved as
.csv, with a page as .html and a picture as .png.
"""

import argparse

from ..jobs.compare import STRATEGIES, Comparison, compare, sentences
from . import common
from .objects import method_parameters, plain_settings

_PARAMETERS = ("noise", "n_draws", "max_rows", "time_limit", "methods")


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    typed = vars(arguments)
    parameters = method_parameters(typed)
    data = common.read_data(arguments)
    parameters |= {name: typed[name] for name in _PARAMETERS if name in typed}
    stopped = None
    try:
        result = compare(data, verbose=arguments.verbose, **parameters)
    except KeyboardInterrupt as interrupt:
        stopped, finished = interrupt, getattr(interrupt, "finished", None)
        if finished is None:
            raise
        result = finished
    step = next_step(result, arguments)
    rows, points = result.to_pandas(), result.points()
    tables = {
        "compare.csv": rows.to_csv(index=False),
        "compare_points.csv": points.to_csv(index=False),
    }
    # What took long is stored, whatever happens to the pictures.
    common.write_outputs(arguments, data, tables)
    png, html = common.drawings(
        arguments, lambda ax: result.plot(ax), result.figure_size,
        "compare_page", result, warnings=arguments.heard, steps=[step],
    )  # fmt: skip
    files = {**tables, "compare.png": png, "compare.html": html}
    record = {
        "measure": result.measure,
        "shared": result.head,
        "settings": plain_settings(result.used),
        "rows": rows.to_dict("records"),
        "tests": [{**test._asdict(), "better": test.better} for test in result.tests],
        "sentences": list(sentences(result)),
        "points": points.to_dict("list"),
    }
    common.finish(arguments, data, files, str(result).splitlines(), step, record)
    if stopped is not None:
        raise KeyboardInterrupt("stopped while comparing; the methods that were finished are kept")


def next_step(result: Comparison, arguments: argparse.Namespace) -> tuple[str, str]:
    """Say what to do next, and the command: the better strategy, or else the first that ran."""
    ran = [row.method for row in result.rows if row.method in STRATEGIES and not row.failure]
    better = result.tests[0].better if result.tests else None
    usual = [name for name in (better, "geodesic", *ran) if name in ran and name[:6] != "paper_"]
    if not usual:
        return "To compare again:", common.typed_command(arguments)
    name = usual[0]
    size = getattr(arguments, "n_components", 2)
    used = {**result.used, "strategy": STRATEGIES[name], "n_components": size}
    if not STRATEGIES[name].uses_graph:
        used = {key: value for key, value in used.items() if key != "graph"} | {"refine": None}
    return f"To embed with these settings ({name}):", common.paste_command(arguments, "embed", used)
