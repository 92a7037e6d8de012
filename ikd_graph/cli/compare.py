"""Compare strategies and other methods on one similarity and one graph.

Which is better is told by a paired test, and where they disagree. Scores and points are saved as
.csv, with a page as .html and a picture as .png.
"""

import argparse

from ..jobs.compare import STRATEGIES, Comparison, compare, sentences
from . import common, flags

_PARAMETERS = ("n_components", "noise", "n_draws", "max_rows", "time_limit", "methods")


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    # What a comparison calls noise is added to the columns; it is none of a method.
    of_methods = {name: value for name, value in vars(arguments).items() if name != "noise"}
    parameters = flags.method_parameters(argparse.Namespace(**of_methods))
    data = common.read_data(arguments)
    parameters |= {name: value for name, value in vars(arguments).items() if name in _PARAMETERS}
    stopped = None
    with common.named_stage("comparing"):
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
    written = common.write_outputs(arguments, data, tables)
    with common.named_stage("drawing", f"the scores are in {written[0]}"):
        png, html = common.drawings(
            arguments, lambda ax: result.plot(ax), result.figure_size,
            "compare_page", result, warnings=arguments.heard, steps=[step],
        )  # fmt: skip
    files = {**tables, "compare.png": png, "compare.html": html}
    record = {
        "measure": result.measure,
        "shared": result.head,
        "settings": flags.plain_settings(result.used),
        "rows": rows.to_dict("records"),
        "tests": [{**test._asdict(), "better": test.better} for test in result.tests],
        "sentences": [flags.in_flags(text) for text in sentences(result)],
        "points": points.to_dict("list"),
    }
    words = list(map(flags.in_flags, str(result).splitlines()))
    common.finish(arguments, data, files, words, step, record, written)
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
    used = {**result.used, "strategy": STRATEGIES[name], "n_components": arguments.n_components}
    if not STRATEGIES[name].uses_graph:
        used = {key: value for key, value in used.items() if key != "graph"} | {"refine": None}
    command = common.paste_command(arguments, "embed", flags.settings_flags(used))
    return f"To embed with these settings ({name}):", command
