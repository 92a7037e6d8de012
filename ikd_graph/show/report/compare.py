"""Page of a comparison: a summary in words, a table, pictures side by side, curves, times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ...study.compare import Comparison
from ...study.datasets import Dataset
from .. import colors, page, svg
from ..plot.charts import spectrum_gap
from .compare_neighbors import local_against_global
from .compare_table import group_tables, table
from .compare_words import (
    MEASURE_WORDS,
    Entry,
    by_level,
    entries,
    own_choices,
    say_comparison,
    shown_measures,
)
from .paint import Paint, draw, drawn_note, legend, paint_points

_MOST_SMALL = 1500
_LEADING = ("r2_affine", "r2_rigid", "knn", "decoding")


def compare_page(found: Comparison, command: str = "") -> str:
    """Page of a comparison.

    Parameters
    ----------
    found : Comparison
        What `ikd_graph.study.compare.compare` found.
    command : str
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
    shown = found.data[first[0]]
    paint = paint_points(_with_something_to_see(shown), _MOST_SMALL)
    sections = [
        page.section("In words", page.advice(words[1:])),
        _choices(found),
        page.section("Embeddings", _multiples(found, first, shown, paint)),
        page.section("Numbers", table(found, gathered)),
        page.section("Local against global", local_against_global(found, gathered, palette)),
        page.section("All measures", group_tables(found, gathered)),
        page.section("Against noise", _noise(found, gathered, palette)),
        page.section("Time and memory", _costs(found, first)),
        page.section("Spectra", _spectra(found, first)),
        page.section("Again", page.command(command) if command else ""),
        page.footer(", ".join(f"{name} {version}" for name, version in found.versions.items())),
    ]
    return page.document(found.name, words[0], sections, kind="Comparison", names=paint.names)


def _choices(found: Comparison) -> str:
    """What the best of our methods chose by itself."""
    title, chosen = own_choices(found)
    return page.section(f"What {title} chose by itself", page.reasons(chosen))


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
    return replace(data, y=np.asarray(data.latent[:, 0], dtype=np.float64))


def _multiples(found: Comparison, first: list[int], data: Dataset, paint: Paint) -> str:
    """Embeddings side by side, turned onto the truth or onto the first of them."""
    aligned = found.aligned()
    figures = []
    if data.latent is not None:
        figures.append(page.figure(_panel(data.latent, paint, "truth"), "", "Truth"))
    for at in first:
        row, Z = found.rows[at], aligned[at]
        if Z is None:
            figures.append(page.figure(page.paragraph(row.failure, soft=True), "", row.title))
            continue
        value = getattr(row, found.measure)
        caption = f"{MEASURE_WORDS[found.measure]} {value:.3f}" if np.isfinite(value) else ""
        figures.append(page.figure(_panel(Z, paint, row.title), caption, row.title))
    noise = found.rows[first[0]].noise
    level = f" at noise {noise:g}" if noise else ""
    target = "the truth" if data.latent is not None else "the first of them"
    note = (
        f"Each turned, shifted and scaled onto {target}{level}. Point at one to find it in all, "
        f"click a class to see it alone.{drawn_note(paint, data.n_samples)}"
    )
    title = data.label_title if data.y is not None else "first true coordinate"
    return page.linked(
        legend(paint, title, row=True),
        f'<div class="multiples">{"".join(figures)}</div>',
        page.paragraph(note, soft=True),
    )


def _panel(Z: NDArray[np.float64], paint: Paint, title: str) -> str:
    """One of the small pictures."""
    return draw(Z, paint, title, height=480.0, radius=6.0 if paint.rows.size <= 300 else 4.2)


def _noise(found: Comparison, gathered: list[Entry], palette: Mapping[str, str]) -> str:
    """Curves of the measures that a noise level changes."""
    if len({entry.noise for entry in gathered}) < 2 or not shown_measures(found):
        return ""
    leading = [name for name in shown_measures(found) if name in _LEADING]
    figures = []
    for dim in sorted({entry.n_components for entry in gathered}):
        for name in leading or [found.measure]:
            levels, means = by_level(gathered, dim, name)
            _, spreads = by_level(gathered, dim, name, spread=True)
            chart = svg.lines(
                levels,
                means,
                svg.Axes(
                    "noise",
                    ceiling=1.0 if name in leading else None,
                    title=f"{MEASURE_WORDS[name]} against noise",
                ),
                spread={k: np.nan_to_num(v) for k, v in spreads.items()},
                palette=palette,
                dots=True,
            )
            heading = MEASURE_WORDS[name] + (f", {dim} dimensions" if dim > 1 else ", 1 dimension")
            figures.append(page.figure(chart, "", heading))
    note = "The mean over seeds in a band of one standard deviation; click a name to see it alone."
    return page.linked(
        page.name_legend(palette), page.side_by_side(*figures), page.paragraph(note, soft=True)
    )


def _costs(found: Comparison, first: list[int]) -> str:
    """Bars of time and memory."""
    rows = [found.rows[at] for at in first]
    seconds = {row.title: row.seconds for row in rows}
    # Below what is written as 0 there is no bar.
    memory = {row.title: row.extra_mb if not row.extra_mb < 0.5 else 0.0 for row in rows}
    return page.side_by_side(
        page.figure(page.time_bars(seconds), "Fit alone, after a first call.", "Time"),
        page.figure(
            page.level_bars(memory, lambda mb: f"{mb:.0f} MB"), "What the fit added.", "Memory"
        ),
    )


def _spectra(found: Comparison, first: list[int]) -> str:
    """Eigenvalues of the methods that have more than coordinates, and where their gap lies."""
    figures = []
    for at in first:
        row, values = found.rows[at], found.spectra[at]
        # Eigenvalues that all became coordinates say nothing about those that did not.
        if values is None or len(values) <= row.n_components:
            continue
        top = np.sort(np.asarray(values, dtype=np.float64))[::-1][:20]
        gap = spectrum_gap(top)
        chart = svg.bars(
            np.arange(1, top.size + 1),
            top / (top[0] if top[0] > 0 else 1.0),
            xlabel="rank",
            ylabel="share of the first",
            kept=row.n_components,
            mark=(gap + 0.5, f"gap after {gap}") if gap else None,
            title=f"spectrum of {row.title}",
        )
        figures.append(page.figure(chart, "", row.title))
    return page.side_by_side(*figures)
