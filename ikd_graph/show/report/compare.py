"""Page of a comparison: the test in words, embeddings side by side, scores, disagreement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...study.compare import RULE, SCORES, Comparison, label_words, sentences
from ...study.datasets import Dataset
from .. import charts, page, points
from ..charts import Chart, Points
from ..figures import figure

_MOST_SMALL = 1500  # points of a small picture
_MOST_LISTED = 200  # rows of a table


def compare_page(
    result: Comparison,
    command: str = "",
    *,
    warnings: Sequence[str] = (),
    steps: Sequence[tuple[str, str]] = (),
    picture: bytes | None = None,
) -> str:
    """Page of a comparison.

    Parameters
    ----------
    result : Comparison
        What `ikd_graph.compare` returned.
    command, warnings, steps, picture : str, sequence of str, sequence of (str, str), bytes
        As in `embed_page`.

    Returns
    -------
    str
        HTML of the whole page.

    Examples
    --------
    >>> from ikd_graph.study import datasets
    >>> from ikd_graph.study.compare import compare
    >>> "pca" in compare_page(compare(datasets.half_moons(60), "pca", noise=0))
    True
    """
    data = _with_something_to_see(result)
    rows = points.rows_to_draw(data, _MOST_SMALL)
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
            ("Summary", [page.sentences(words)]),
            ("What all strategies share", [page.pairs(result.head)]),
            ("Embeddings", _panels(result, data, rows)),
            ("Scores", [_scores(result), page.note(note)]),
            ("Against noise", _noise(result)),
            ("Where they disagree", _disagreement(result)),
        ],
        command=command,
        warnings=warnings,
        steps=steps,
        picture=picture,
        described=points.described(data, rows),
    )


def _with_something_to_see(result: Comparison) -> Dataset:
    """The data, coloured by where the pair disagrees if there are no labels."""
    if result.data.y is not None or result.disagreement is None:
        return result.data
    return replace(result.data, y=result.disagreement, label_title="disagreement")


def _panels(result: Comparison, data: Dataset, rows: NDArray[np.intp]) -> list[page.Block]:
    """Every embedding at every noise level, below the legend of all."""
    paint = points.paint_of(points.paint_points(data), rows)
    drawings = []
    if paint.groups is not None or paint.values is not None:
        key = Points(np.full((rows.size, 2), np.nan), (paint,))
        spec = figure(Chart("legend", points=key), small=True)
        hidden = {"xaxis": {"visible": False}, "yaxis": {"visible": False}}
        spec["layout"] |= {**hidden, "legend": {"orientation": "h", "y": 1.0, "x": 0}}
        drawings.append(page.drawing(spec, size="key", title="legend"))
    for row in result.rows:
        title = row.title + (f", noise {row.noise:g}" if len(result.levels) > 1 else "")
        Z = result.embeddings.get((row.title, row.noise))
        if Z is None:
            drawings.append({"heading": title, "caption": row.failure, "size": "small"})
            continue
        chart = charts.scatter(Z[rows], paint, rows=np.arange(rows.size))
        spec = figure(chart, small=True, legend=False)
        drawings.append(page.drawing(spec, title, f"{row.score:.3f}", "small", title))
    note = "Each turned, shifted and scaled onto the first. Point at one to find it in all."
    note += points.drawn_note(rows, data.n_samples)
    return [page.figures(*drawings, linked=True), page.note(note)]


def _scores(result: Comparison) -> page.Block:
    """A row for each method and noise level."""
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
    most = max(values.size for values in result.scores.values())
    curves = {title: np.full((len(result.levels), most), np.nan) for title in result.titles}
    for (title, level), values in result.scores.items():
        if title in curves:
            curves[title][result.levels.index(level), : values.size] = values.ravel()
    chart = charts.noise_curves(result.levels, curves, SCORES[result.measure], ceiling=1.0)
    caption = "The mean in a band of one standard deviation; click a name to hide it."
    return [page.figures(page.drawing(chart, caption=caption))]


def _disagreement(result: Comparison) -> list[page.Block]:
    """Points by the distance between the two embeddings of the pair, largest first."""
    gaps = result.disagreement
    if gaps is None or result.pair is None:
        return []
    more = f" The first {_MOST_LISTED}; the CSV of the points has all."
    note = (
        f"Distance of each point between {result.pair[0]} and {result.pair[1]} after a rigid "
        "motion and a scale, in root mean square distances from the centre."
        + (more if result.data.n_samples > _MOST_LISTED else "")
    )
    heads = [result.data.row_title or "row", "distance"]
    rows = [
        [result.names[k], float(gaps[k])] for k in np.argsort(-gaps, kind="stable")[:_MOST_LISTED]
    ]
    return [page.note(note), page.table(heads, rows)]
