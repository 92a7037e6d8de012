"""Page of a comparison: the test in words, embeddings side by side, scores, disagreement."""

from typing import Any

import numpy as np

from ..jobs.compare_result import RULE, SCORES, Comparison, label_words, sentences
from ..plotting import charts
from ..plotting.charts import Chart, Points
from . import page
from .page import DrawnPoints


def compare_page(result: Comparison, command: str = "", **around: Any) -> str:
    """Page of a comparison.

    Parameters
    ----------
    result : Comparison
        What `ikd_graph.compare` returned.
    command, **around
        As in `embed_page`.

    Returns
    -------
    str
        HTML of the whole page.

    Examples
    --------
    >>> from ikd_graph import datasets
    >>> from ikd_graph import compare
    >>> "pca" in compare_page(compare(datasets.half_moons(60), "pca", noise=0))
    True
    """
    drawn, gaps = DrawnPoints(result.data, 1500), result.disagreement
    more = {} if gaps is None else {"disagreement": [f"{gap:.2g}" for gap in gaps]}
    lead, *words = [*result.answer, *sentences(result)]
    note = (
        f"{SCORES[result.measure]}, against the table as given; noise is in standard deviations "
        f"of each column. The answer goes by a paired test ({RULE})."
    )
    sections = [
        ("Summary", [page.block("list", words)]),
        ("What all methods share", [page.block("pairs", result.head)]),
        ("Embeddings", _panels(result, drawn)),
        ("Scores", [_scores(result), page.block("note", note)]),
        ("Against noise", _noise(result)),
    ]
    around |= {"command": command, "described": drawn.described(more)}
    return page.render("Comparison", result.data.name, lead, sections, **around)


def _panels(result: Comparison, drawn: DrawnPoints) -> list[page.Block]:
    """Every embedding at every noise level, below the legend of all."""
    paints = list(drawn.paints)
    if result.disagreement is not None:
        paints.append(drawn.quantity("disagreement", result.disagreement))
    drawings = []
    if paints:
        key = Points(np.full((drawn.rows.size, 2), np.nan), tuple(paints))
        drawings.append(page.drawing(Chart("legend", points=key), size="key"))
    for row in result.rows:
        title = result.name_of(row)
        if row.embedding is None:
            drawings.append(page.drawing(None, title, row.failure, "small"))
            continue
        chart = drawn.scatter(row.embedding, *paints, title=title)
        drawings.append(page.drawing(chart, title, f"{row.score:.3f}", "small"))
    note = "Each turned, shifted and scaled onto the first. Point at one to find it in all. "
    if result.pair is not None:
        note += (
            f"Disagreement is the distance of a point between {' and '.join(result.pair)}, in root "
            "mean square distances from the center; the CSV has all."
        )
    return [page.figures(*drawings, linked=True), page.block("note", note + drawn.note)]


def _scores(result: Comparison) -> page.Block:
    """Return a row for each method and noise level."""
    heads = {"title": "method", "noise": "noise", "score": SCORES[result.measure]}
    heads |= {name: label_words(name) for row in result.rows for name in row.labels}
    heads |= {"seconds": "seconds", "failure": "failure"}
    return page.table(result.to_pandas(), heads, {"score": "half_width"}, "{:.3f}".format)


def _noise(result: Comparison) -> list[page.Block]:
    """Scores against noise with their intervals."""
    if len(result.levels) < 2:
        return []
    table = result.to_pandas().pivot(index="noise", columns="title")
    means, errors = table["score"][result.titles], table["half_width"].fillna(0.0)
    chart = charts.noise_curves(result.levels, means, SCORES[result.measure])
    curves = tuple(c._replace(errors=errors[c.name].to_numpy()) for c in chart.curves)
    caption = "The mean with its interval; click a name to hide it."
    return [page.figures(page.drawing(chart._replace(curves=curves), caption=caption))]
