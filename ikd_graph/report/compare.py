"""Page of a comparison: the test in words, embeddings side by side, scores, disagreement."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..jobs.compare import RULE, SCORES, Comparison, label_words, sentences
from ..plotting import charts, colors
from ..plotting.charts import Chart, Points
from ..plotting.colors import Paint
from ..plotting.figures import figure
from . import page


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
    >>> from ikd_graph.jobs.compare import compare
    >>> "pca" in compare_page(compare(datasets.half_moons(60), "pca", noise=0))
    True
    """
    rows = colors.rows_to_draw(result.data, most=1500)
    gaps = result.disagreement
    more = {} if gaps is None else {"disagreement": [f"{gap:.2g}" for gap in gaps]}
    lead, *words = sentences(result) or [f"{SCORES[result.measure]} of each method."]
    note = (
        f"{SCORES[result.measure]} with its standard error, against the table as given; noise is "
        f"in standard deviations of each column. The summary goes by a paired test ({RULE})."
    )
    return page.render(
        "Comparison",
        result.data.name,
        lead,
        [
            ("Summary", [page.block("list", words)]),
            ("What all strategies share", [page.block("pairs", result.head)]),
            ("Embeddings", _panels(result, rows)),
            ("Scores", [_scores(result), page.block("note", note)]),
            ("Against noise", _noise(result)),
        ],
        command=command,
        described=colors.described(result.data, rows, more),
        **around,
    )


def _panels(result: Comparison, rows: NDArray[np.intp]) -> list[page.Block]:
    """Every embedding at every noise level, below the legend of all."""
    paints = [colors.paint_labels(labels) for labels in result.data.all_labels]
    if result.disagreement is not None:
        paints.append(Paint("disagreement", None, result.disagreement))
    paints = [colors.paint_of(paint, rows) for paint in paints]
    drawings = []
    if paints:
        key = Points(np.full((rows.size, 2), np.nan), tuple(paints))
        spec = figure(Chart("legend", points=key))
        spec["layout"] |= {"xaxis": {"visible": False}, "yaxis": {"visible": False}}
        spec["layout"]["legend"] |= {"orientation": "h", "y": 1.0, "x": 0}
        spec["config"]["displayModeBar"] = False
        if len(paints) == 1:
            # Neither tools nor a menu need room.
            spec["layout"]["margin"]["t"] = 8
        drawings.append(page.drawing(spec, size="key", title="legend"))
    for row in result.rows:
        title = row.title + (f", noise {row.noise:g}" if len(result.levels) > 1 else "")
        Z = result.embeddings.get((row.title, row.noise))
        if Z is None:
            drawings.append({"heading": title, "caption": row.failure, "size": "small"})
            continue
        chart = charts.scatter(Z[rows], *paints, rows=np.arange(rows.size))
        spec = figure(chart, small=True, legend=False)
        drawings.append(page.drawing(spec, title, f"{row.score:.3f}", "small", title))
    note = "Each turned, shifted and scaled onto the first. Point at one to find it in all. "
    if result.pair is not None:
        note += (
            f"Disagreement is the distance of a point between {' and '.join(result.pair)}, in root "
            "mean square distances from the center; the CSV has all."
        )
    note += colors.drawn_note(rows, result.data.n_samples)
    return [page.figures(*drawings, linked=True), page.block("note", note)]


def _scores(result: Comparison) -> page.Block:
    """Return a row for each method and noise level."""
    marks = list(dict.fromkeys(name for row in result.rows for name in row.labels))
    heads = ["method", "noise", SCORES[result.measure], "± standard error"]
    heads += [*map(label_words, marks), "seconds", "failure"]
    rows = [
        [row.title, (row.noise, f"{row.noise:g}"), row.score, row.error]
        + [row.labels.get(name, np.nan) for name in marks]
        + [row.seconds, row.failure]
        for row in result.rows
    ]
    return page.table(heads, rows, write="{:.3f}".format)


def _noise(result: Comparison) -> list[page.Block]:
    """Scores against noise, each draw a value."""
    if len(result.levels) < 2:
        return []
    curves = {
        title: [result.scores.get((title, level), ()) for level in result.levels]
        for title in result.titles
    }
    chart = charts.noise_curves(result.levels, curves, SCORES[result.measure], ceiling=1.0)
    caption = "The mean in a band of one standard deviation; click a name to hide it."
    return [page.figures(page.drawing(chart, caption=caption))]
