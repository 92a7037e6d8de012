"""Page of a comparison: the test in words, embeddings side by side, scores, disagreement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...study.compare import RULE, SCORES, Comparison, label_words, sentences
from ...study.datasets import Dataset
from .. import charts, colors, page, points
from ..words import versions
from .embed import drawn

_MOST_SMALL = 1500
_MOST_LISTED = 200


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
    lead, *words = sentences(result) or [f"{SCORES[result.measure]} of each method."]
    data = _with_something_to_see(result)
    rows = points.rows_to_draw(data, _MOST_SMALL)
    paint = points.paint_points(data)
    return page.render(
        "compare.html",
        title=result.data.name,
        lead=lead,
        command=command,
        fallback=page.image(picture),
        versions=versions(),
        points=points.table(data, [paint], rows),
        warnings=warnings,
        words=words,
        head=result.head,
        legend=points.legend(paint),
        panels=_panels(result, rows),
        panels_note="Each turned, shifted and scaled onto the first. Point at one to find it in "
        "all." + points.drawn_note(rows, data.n_samples),
        numbers=_scores(result),
        numbers_note=f"{SCORES[result.measure]} with its standard error, against the table as "
        f"given; noise is in standard deviations of each column. The summary goes by a paired "
        f"test ({RULE}).",
        noise=_noise(result),
        names=[(title, title, colors.class_color(k)) for k, title in enumerate(result.titles)],
        apart=_disagreement(result),
        apart_note=_apart_note(result),
        steps=steps,
    )


def _with_something_to_see(result: Comparison) -> Dataset:
    """The data, coloured by where the pair disagrees if there are no labels."""
    if result.data.y is not None or result.disagreement is None:
        return result.data
    return replace(result.data, y=result.disagreement, label_title="disagreement")


def _panels(result: Comparison, rows: NDArray[np.intp]) -> list[dict[str, Any]]:
    """Every embedding at every noise level."""
    panels: list[dict[str, Any]] = []
    for row in result.rows:
        title = row.title + (f", noise {row.noise:g}" if len(result.levels) > 1 else "")
        Z = result.embeddings.get((row.title, row.noise))
        if Z is None:
            panels.append({"failure": row.failure, "title": title})
        else:
            spec = points.picture(Z[:, :2], rows, main=False)
            panels.append({"spec": spec, "title": title, "caption": f"{row.score:.3f}"})
    return panels


def _scores(result: Comparison) -> dict[str, Any]:
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
    return page.table(heads, rows, sortable=True, say="{:.3f}".format)


def _noise(result: Comparison) -> list[dict[str, Any]]:
    """Scores against noise, each draw a value."""
    if len(result.levels) < 2:
        return []
    palette = {title: colors.class_color(k) for k, title in enumerate(result.titles)}
    most = max(values.size for values in result.scores.values())
    curves = {}
    for title in result.titles:
        curve = np.full((len(result.levels), most), np.nan)
        for k, level in enumerate(result.levels):
            values = result.scores.get((title, level), np.empty(0)).ravel()
            curve[k, : values.size] = values
        curves[title] = curve
    chart = charts.noise_curves(result.levels, curves, SCORES[result.measure], palette=palette)
    return [drawn(chart._replace(ylabel=""), SCORES[result.measure])]


def _disagreement(result: Comparison) -> dict[str, Any] | None:
    """Points by the distance between the two embeddings of the pair, largest first."""
    gaps = result.disagreement
    if gaps is None:
        return None
    order = np.argsort(-gaps, kind="stable")[:_MOST_LISTED]
    heads = [result.data.row_title or "row", "distance"]
    return page.table(heads, [[result.names[k], float(gaps[k])] for k in order], sortable=True)


def _apart_note(result: Comparison) -> str:
    """What the distance is."""
    if result.pair is None:
        return ""
    more = f" The first {_MOST_LISTED}; the CSV of the points has all."
    return (
        f"Distance of each point between {result.pair[0]} and {result.pair[1]} after a rigid "
        "motion and a scale, in root mean square distances from the centre."
        + (more if result.data.n_samples > _MOST_LISTED else "")
    )
