"""Page of a comparison: the test in words, embeddings side by side, scores, disagreement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...study.compare import SCORES, Comparison, label_words, sentences
from ...study.datasets import Dataset
from .. import charts, colors, page, points
from ..words import versions
from .embed import drawn

_MOST_SMALL = 1500
_MOST_LISTED = 200


def compare_page(
    found: Comparison,
    command: str = "",
    *,
    warnings: Sequence[str] = (),
    steps: Sequence[tuple[str, str]] = (),
    picture: bytes | None = None,
) -> str:
    """Page of a comparison.

    Parameters
    ----------
    found : Comparison
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
    lead, *words = sentences(found) or [f"{SCORES[found.measure]} of each method."]
    data = _with_something_to_see(found)
    rows = points.rows_to_draw(data, _MOST_SMALL)
    paint = points.paint_points(data)
    return page.render(
        "compare.html",
        title=found.data.name,
        lead=lead,
        command=command,
        fallback=page.image(picture),
        versions=versions(),
        points=points.table(data, [paint], rows),
        warnings=warnings,
        words=words,
        head=found.head,
        legend=points.legend(paint),
        panels=_panels(found, rows),
        panels_note="Each turned, shifted and scaled onto the first. Point at one to find it in "
        "all." + points.drawn_note(rows, data.n_samples),
        numbers=_scores(found),
        numbers_note=f"{SCORES[found.measure]} with its standard error, against the table as "
        "given; noise is in standard deviations of each column. Differences are told from chance "
        "by the paired test of the summary, not by these errors.",
        noise=_noise(found),
        names=[(title, title, colors.class_color(k)) for k, title in enumerate(found.titles)],
        apart=_disagreement(found),
        apart_note=_apart_note(found),
        steps=steps,
    )


def _with_something_to_see(found: Comparison) -> Dataset:
    """The data, coloured by where the pair disagrees if there are no labels."""
    if found.data.y is not None or found.disagreement is None:
        return found.data
    return replace(found.data, y=found.disagreement, label_title="disagreement")


def _panels(found: Comparison, rows: NDArray[np.intp]) -> list[dict[str, Any]]:
    """Every embedding at every noise level."""
    panels: list[dict[str, Any]] = []
    for row in found.rows:
        title = row.title + (f", noise {row.noise:g}" if len(found.levels) > 1 else "")
        Z = found.embeddings.get((row.title, row.noise))
        if Z is None:
            panels.append({"failure": row.failure, "title": title})
        else:
            spec = points.picture(Z[:, :2], rows, main=False)
            panels.append({"spec": spec, "title": title, "caption": f"{row.score:.3f}"})
    return panels


def _scores(found: Comparison) -> dict[str, Any]:
    """A row for each method and noise level."""
    marks = list(dict.fromkeys(name for row in found.rows for name in row.labels))
    heads = ["method", "noise", SCORES[found.measure], "± standard error"]
    heads += [*map(label_words, marks), "seconds", "failure"]
    rows = [
        [row.title, (row.noise, f"{row.noise:g}"), row.score, row.error]
        + [row.labels.get(name, np.nan) for name in marks]
        + [row.seconds, row.failure]
        for row in found.rows
    ]
    return page.table(heads, rows, sortable=True, say="{:.3f}".format)


def _noise(found: Comparison) -> list[dict[str, Any]]:
    """Scores against noise, each draw a value."""
    if len(found.levels) < 2:
        return []
    palette = {title: colors.class_color(k) for k, title in enumerate(found.titles)}
    most = max(values.size for values in found.scores.values())
    curves = {}
    for title in found.titles:
        curve = np.full((len(found.levels), most), np.nan)
        for k, level in enumerate(found.levels):
            values = found.scores.get((title, level), np.empty(0)).ravel()
            curve[k, : values.size] = values
        curves[title] = curve
    chart = charts.noise_curves(found.levels, curves, SCORES[found.measure], palette=palette)
    return [drawn(chart._replace(ylabel=""), SCORES[found.measure])]


def _disagreement(found: Comparison) -> dict[str, Any] | None:
    """Points by the distance between the two embeddings of the pair, largest first."""
    gaps = found.disagreement
    if gaps is None:
        return None
    order = np.argsort(-gaps, kind="stable")[:_MOST_LISTED]
    heads = [found.data.row_title or "row", "distance"]
    return page.table(heads, [[found.names[k], float(gaps[k])] for k in order], sortable=True)


def _apart_note(found: Comparison) -> str:
    """What the distance is."""
    if found.pair is None:
        return ""
    more = f" The first {_MOST_LISTED}; the CSV of the points has all."
    return (
        f"Distance of each point between {found.pair[0]} and {found.pair[1]} after a rigid motion "
        "and a scale, in root mean square distances from the centre."
        + (more if found.data.n_samples > _MOST_LISTED else "")
    )
