"""Page of the demonstration: tables with a truth, cliques, noise."""

from typing import Any

from ..jobs.demo import RULE, Demo
from ..plotting import charts
from . import page


def demo_page(result: Demo, **around: Any) -> str:
    """Page of the demonstration.

    Parameters
    ----------
    result : Demo
        What `ikd_graph.jobs.demo.demo` returned.
    **around
        As in `embed_page`.

    Returns
    -------
    str
        HTML of the whole page.
    """
    lead = "A table of which the truth is known, and one of noise, by several methods."
    sections = [("What was found", [page.block("list", result.answer), page.block("note", RULE)])]
    drawings: dict[str, list[page.Block]] = {name: [] for name in result.embeddings}
    for title, (Z, paint, caption, errors) in result.panels().items():
        rows = [f"row {row}" for row in range(len(Z))]
        chart = charts.scatter(Z, paint, title=title, errors=errors, hover=rows)
        drawings[title.partition(":")[0]].append(page.drawing(chart, title, caption, "small"))
    sections += [(name.capitalize(), [page.figures(*each)]) for name, each in drawings.items()]
    return page.render("Demonstration", "demo", lead, sections, **around)
