"""Page of a diagnosis: what an embedding of a data set can be worth."""

from typing import Any

from ..datasets import Dataset
from ..jobs.diagnose_result import Diagnosis
from ..plotting.colors import paint_points
from . import page


def diagnosis_page(
    result: Diagnosis, name: str, command: str = "", data: Dataset | None = None, **around: Any
) -> str:
    """Page of a diagnosis.

    Parameters
    ----------
    result : Diagnosis
        What `ikd_graph.diagnose` returned.
    name : str
        Name of the data.
    data : Dataset or None
        Names and labels of the points.
    command, **around
        As in `embed_page`.

    Returns
    -------
    str
        HTML of the whole page.
    """
    names, labels = ((), None) if data is None else (data.row_names, paint_points(data))
    where, pairs = result.map(names, labels), result.chart()
    lead, *more = result.trust.sentences()
    drawings = [page.drawing(where, caption=_sentence(where.title), size="main")]
    drawings.append(page.drawing(pairs, caption=_sentence(pairs.title)))
    sections = [
        ("What was found", [page.block("list", more), page.figures(*drawings)]),
        ("Details", [page.block("pairs", result.findings())]),
        ("Why these settings", [page.block("pairs", result.model.settings_.reasons_in_words())]),
    ]
    steps = around.pop("steps", [(step.words, step.python) for step in result.steps])
    around |= {"command": command, "warnings": result.warnings, "steps": steps}
    return page.render("Diagnosis", name, lead, sections, **around)


def _sentence(title: str) -> str:
    """Title of a chart as a sentence."""
    return f"{title[:1].upper()}{title[1:]}."
