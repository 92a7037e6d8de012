"""Page of a comparison: a summary in words, a table, pictures side by side, curves, times."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...study.compare import Comparison
from ...study.datasets import Dataset
from .. import charts, colors, page, points
from .compare_neighbors import local_against_global, near_and_far
from .compare_table import group_tables, table, table_note
from .compare_words import (
    MEASURE_WORDS,
    Entry,
    entries,
    own_choices,
    say_comparison,
    scores_by_level,
    shown_measures,
)
from .embed import drawn

_MOST_SMALL = 1500
_LEADING = ("r2_affine", "r2_rigid", "knn", "decoding")


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
        What `ikd_graph.study.compare.compare` found.
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
    >>> found = compare(datasets.half_moons(), ["pca"])
    >>> "PCA" in compare_page(found)
    True
    """
    gathered = entries(found)
    words = say_comparison(found)
    palette = {
        title: colors.class_color(code)
        for code, title in enumerate(dict.fromkeys(entry.title for entry in gathered))
    }
    first = _first_cell(found)
    data = _with_something_to_see(found.data[first[0]])
    rows = points.rows_to_draw(data, _MOST_SMALL)
    paint = points.paint_points(data)
    near_far = local_against_global(found, gathered, palette)
    own, chosen = own_choices(found)
    return page.render(
        "compare.html",
        title=found.name,
        lead=words[0],
        command=command,
        fallback=page.image(picture),
        versions=", ".join(f"{name} {version}" for name, version in found.versions.items()),
        points=points.table(data, [paint], rows),
        warnings=warnings,
        words=words[1:],
        own=own,
        chosen=chosen,
        legend=points.legend(paint),
        panels=_panels(found, first, data, rows),
        panels_note=_panels_note(found, first, data) + points.drawn_note(rows, data.n_samples),
        numbers=table(found, gathered),
        numbers_note=table_note(found),
        near_far=near_far,
        near_far_names=_names(palette, near_and_far(gathered) if near_far else ()),
        groups=group_tables(found, gathered),
        noise=_noise(found, gathered, palette),
        names=_names(palette, palette),
        costs=_costs(found, first),
        spectra=_spectra(found, first),
        steps=steps,
    )


def _names(palette: Mapping[str, str], shown: Collection[str]) -> list[tuple[str, str, str]]:
    """Entries of a legend of methods."""
    return [(name, name, color) for name, color in palette.items() if name in shown]


def _first_cell(found: Comparison) -> list[int]:
    """Rows at the first dimension, the least noise and its first seed: one for each method."""
    dim = found.rows[0].n_components
    noise = min(row.noise for row in found.rows)
    seed = next(row.seed for row in found.rows if row.noise == noise)
    return [
        at
        for at, row in enumerate(found.rows)
        if (row.n_components, row.noise, row.seed) == (dim, noise, seed)
    ]


def _with_something_to_see(data: Dataset) -> Dataset:
    """Data whose points can be told apart: without labels, by the first true coordinate."""
    if data.y is not None or data.latent is None:
        return data
    first = np.asarray(data.latent[:, 0], dtype=np.float64)
    return replace(data, y=first, label_title="first true coordinate")


def _panels(
    found: Comparison, first: list[int], data: Dataset, rows: NDArray[np.intp]
) -> list[dict[str, Any]]:
    """Embeddings side by side, turned onto the truth or onto the first of them."""
    aligned = found.aligned()
    panels: list[dict[str, Any]] = []
    if data.latent is not None:
        panels.append({"spec": _panel(data.latent, rows), "title": "Truth"})
    for at in first:
        row, Z = found.rows[at], aligned[at]
        if Z is None:
            panels.append({"failure": row.failure, "title": row.title})
            continue
        value = getattr(row, found.measure)
        caption = f"{MEASURE_WORDS[found.measure]} {value:.3f}" if np.isfinite(value) else ""
        panels.append({"spec": _panel(Z, rows), "title": row.title, "caption": caption})
    return panels


def _panel(Z: NDArray[np.float64], rows: NDArray[np.intp]) -> dict[str, Any]:
    """One of the small pictures: the first two dimensions."""
    return points.picture(np.asarray(Z)[:, :2], rows, main=False)


def _panels_note(found: Comparison, first: list[int], data: Dataset) -> str:
    """What was done to the embeddings, and what can be done with them."""
    noise = found.rows[first[0]].noise
    level = f" at noise {noise:g}" if noise else ""
    target = "the truth" if data.latent is not None else "the first of them"
    return (
        f"Each turned, shifted and scaled onto {target}{level}. Point at one to find it in all, "
        "click a class to see it alone."
    )


def _noise(
    found: Comparison, gathered: list[Entry], palette: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Curves of the measures that a noise level changes."""
    if len({entry.noise for entry in gathered}) < 2 or not shown_measures(found):
        return []
    leading = [name for name in shown_measures(found) if name in _LEADING]
    figures = []
    for dim in sorted({entry.n_components for entry in gathered}):
        for name in leading or [found.measure]:
            ceiling = 1.0 if name in leading else None
            chart = charts.noise_curves(
                *scores_by_level(gathered, dim, name), MEASURE_WORDS[name], palette=palette,
                ceiling=ceiling,
            )  # fmt: skip
            heading = MEASURE_WORDS[name] + (f", {dim} dimensions" if dim > 1 else ", 1 dimension")
            figures.append(drawn(chart._replace(ylabel=""), heading))
    return figures


def _costs(found: Comparison, first: list[int]) -> list[dict[str, Any]]:
    """Bars of time and memory."""
    rows = [found.rows[at] for at in first]
    seconds = {row.title: row.seconds for row in rows}
    # Below what is written as 0 there is no bar.
    memory = {row.title: row.extra_mb if not row.extra_mb < 0.5 else 0.0 for row in rows}
    return [
        {
            "bars": charts.levels(seconds),
            "heading": "Time",
            "caption": "Fit alone, after a first call.",
        },
        {
            "bars": charts.levels(memory, "{:.0f} MB".format),
            "heading": "Memory",
            "caption": "What the fit added.",
        },
    ]


def _spectra(found: Comparison, first: list[int]) -> list[dict[str, Any]]:
    """Eigenvalues of the methods that have more than coordinates, and where their gap lies."""
    figures = []
    for at in first:
        row, values = found.rows[at], found.spectra[at]
        # Eigenvalues that all became coordinates say nothing about those that did not.
        if values is None or len(values) <= row.n_components:
            continue
        top = np.sort(np.asarray(values, dtype=np.float64))[::-1][:20]
        share = top / (top[0] if top[0] > 0 else 1.0)
        chart = charts.spectrum(share, row.n_components, row.title)
        figures.append(drawn(chart._replace(xlabel="rank", ylabel="share of the first"), row.title))
    return figures
