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
    *found, nothing = result.answer
    words = {"curve": "A noisy curve", "surface": "A noisy surface", "noise": "Noise alone"}
    said = {"noise": [page.block("list", [nothing])]}
    sections = [
        ("What was found", [page.block("list", found), page.block("note", RULE)]),
        *(
            (text, [*said.get(name, []), page.figures(*_panels(result, name))])
            for name, text in words.items()
        ),
    ]
    lead = "Two tables of which the truth is known, and one of noise, by several methods."
    return page.render("Demonstration", "demo", lead, sections, **around)


def _panels(result: Demo, name: str) -> list[page.Block]:
    """Every embedding of a table, colored by the truth."""
    hover = [f"row {row}" for row in range(result.tables[name].n_samples)]
    drawings = []
    for title, panel in result.panels(name).items():
        chart = charts.scatter(panel.Z, panel.paint, title=title, errors=panel.errors, hover=hover)
        drawings.append(page.drawing(chart, title, panel.caption, "small"))
    return drawings
