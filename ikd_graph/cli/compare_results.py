"""What ``ikd-graph compare`` says on the terminal, and the files it leaves."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..show import plot
from ..show.charts import mean_and_spread
from ..show.report.compare_neighbors import GLOBAL, LOCAL, near_and_far
from ..show.report.compare_words import (
    HEADLINE_NOTES,
    HEADLINES,
    MEASURE_WORDS,
    Entry,
    entries,
    group_of,
    headline_measures,
    own_choices,
    own_row,
    say_comparison,
    scores_by_level,
)
from ..show.words import say_scores, say_seconds
from ..study.compare import Comparison
from ..study.label_scores import WORDS
from .common import csv_text, paste_command, picture, typed_command
from .console import facts, say
from .flags import used_flags


def summarise(comparison: Comparison) -> None:
    """Say what came out."""
    for line in table_lines(comparison):
        say(line)
    for line in other_label_lines(comparison):
        say(line)
    for sentence in say_comparison(comparison):
        say(f"- {sentence}")
    title, chosen = own_choices(comparison)
    if chosen:
        say(f"{title} chose automatically")
        facts(list(chosen.items()))


def next_step(comparison: Comparison, arguments: argparse.Namespace) -> tuple[str, str]:
    """What to do next, and the command: our best row, if there is one, with nothing to choose."""
    row = own_row(comparison)
    if row is None:
        return "To compare again:", typed_command(arguments)
    again = paste_command(arguments, "embed", used_flags(arguments, row.used))
    return "To embed with these settings:", again


def table_lines(comparison: Comparison) -> list[str]:
    """The few measures that tell most of each method, in columns under what they ask."""
    gathered = entries(comparison)
    measures = headline_measures(comparison)
    titles = [entry.title + _setting(entry, gathered) for entry in gathered]
    wide = max(len(title) for title in titles)
    names = [HEADLINES.get(name, MEASURE_WORDS[name]) for name in measures]
    groups = [group_of(name) for name in measures]
    widths = [max(len(name), len(group), 6) for group, name in zip(groups, names, strict=True)]

    def line(title: str, cells: Iterable[str], last: str) -> str:
        inside = "  ".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
        return f"  {title:<{wide}}  {inside}  {last:>8}".rstrip()

    lines = [
        f"{comparison.name}: {MEASURE_WORDS[comparison.measure]}",
        line("", groups, ""),
        line("", names, "time"),
    ]
    for title, entry in zip(titles, gathered, strict=True):
        if entry.failure and not np.isfinite(entry.mean("seconds")):
            lines.append(f"  {title:<{wide}}  {entry.failure}")
            continue
        cells = [_cell(entry.mean(name)) for name in measures]
        lines.append(line(title, cells, say_seconds(entry.mean("seconds"))))
        if entry.failure:
            lines.append(f"  {'':<{wide}}  {entry.failure}")
    notes = [HEADLINE_NOTES[name] for name in measures if name in HEADLINE_NOTES]
    return [*lines, *(f"  ({note})" for note in notes)]


def other_label_lines(comparison: Comparison) -> list[str]:
    """Scores against further columns of labels, a line for each and each method."""
    titles = dict.fromkeys(title for row in comparison.rows for title in row.other_labels)
    lines = []
    for title in titles:
        lines.append(f"{comparison.name}: labels {title!r}")
        by_method: dict[str, list[dict[str, float]]] = {}
        for row in comparison.rows:
            if title in row.other_labels:
                by_method.setdefault(row.title, []).append(row.other_labels[title])
        wide = max(map(len, by_method), default=0)
        for method, scores in by_method.items():
            names = [name for name in WORDS if name in scores[0]]
            means = {name: float(np.mean([one[name] for one in scores])) for name in names}
            lines.append(f"  {method:<{wide}}  {say_scores(means)}")
    return lines


def _setting(entry: Entry, gathered: list[Entry]) -> str:
    """Dimension and noise of an entry, where they differ."""
    text = ""
    if len({other.n_components for other in gathered}) > 1:
        text += f" M={entry.n_components}"
    if len({other.noise for other in gathered}) > 1:
        text += f" noise={entry.noise:g}"
    return text


def _cell(value: float) -> str:
    """A measure with three decimals, or a dash."""
    return f"{value:.3f}" if np.isfinite(value) else "–"


def comparison_csv(comparison: Comparison) -> str:
    """Every row of a comparison."""
    records = comparison.to_records()
    left = ("notes", "facts", "used", "other_labels")
    columns = [name for name in records[0] if name not in left]
    # Further labels have a column for each of their scores.
    for record in records:
        for title, scores in record["other_labels"].items():
            record |= {f"{name} of {title}": value for name, value in scores.items()}
    more = dict.fromkeys(name for record in records for name in record if " of " in name)
    columns += list(more)
    return csv_text(columns, ([record.get(name, "nan") for name in columns] for record in records))


def draw(ax: Any, comparison: Comparison) -> None:
    """Draw the leading measure: against noise if it varies, else a bar for each method."""
    gathered = entries(comparison)
    measure, dim = comparison.measure, comparison.rows[0].n_components
    words = MEASURE_WORDS[measure]
    levels, scores = scores_by_level(gathered, dim, measure)
    if len(levels) > 1:
        plot.noise_curves(levels, scores, ylabel=words, ax=ax)
    else:
        means = {title: float(mean_and_spread(runs)[0][0]) for title, runs in scores.items()}
        plot.level_bars(means, "{:.3f}".format, xlabel=words, ax=ax)


def local_global_picture(comparison: Comparison) -> bytes | None:
    """Picture of local against global measures; None where no method has both."""
    points = near_and_far(entries(comparison))
    if not points:
        return None
    xlabel, ylabel = (f"{MEASURE_WORDS[m]} ({group_of(m)})" for m in (LOCAL, GLOBAL))
    return picture(
        lambda ax: plot.named_points(points, xlabel=xlabel, ylabel=ylabel, ax=ax), 7.2, 4.6
    )
