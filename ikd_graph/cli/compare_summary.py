"""What ``ikd-graph compare`` says on the terminal."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

import numpy as np

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
)
from ..show.words import say_scores, say_seconds, settings_flags
from ..study.compare import Comparison
from ..study.label_scores import WORDS
from .common import paste_command, typed_command
from .console import facts, say


def summarise(found: Comparison, arguments: argparse.Namespace) -> None:
    """Say what was found.

    Parameters
    ----------
    found : Comparison
        All rows.
    arguments : argparse.Namespace
        What was typed.
    """
    for line in table_lines(found):
        say(line)
    for line in other_label_lines(found):
        say(line)
    for sentence in say_comparison(found):
        say(f"- {sentence}")
    title, chosen = own_choices(found)
    if chosen:
        say(f"{title} chose automatically")
        facts(list(chosen.items()))
    say(again_words(found).lower())
    say(f"  {again(found, arguments)}")


def again_words(found: Comparison) -> str:
    """What `again` is for.

    Parameters
    ----------
    found : Comparison
        All rows.
    """
    settled = own_row(found) is not None
    return "To embed with these settings:" if settled else "To compare again:"


def again(found: Comparison, arguments: argparse.Namespace) -> str:
    """Command to paste: our best row with nothing left to choose, else the comparison itself.

    Parameters
    ----------
    found : Comparison
        All rows.
    arguments : argparse.Namespace
        What was typed.

    Returns
    -------
    str
        A line for a terminal.
    """
    row = own_row(found)
    if row is None:
        return typed_command(arguments)
    return paste_command(arguments, "embed", settings_flags(row.used))


def table_lines(found: Comparison) -> list[str]:
    """The few measures that tell most of each method, in columns under what they ask.

    Parameters
    ----------
    found : Comparison
        All rows.

    Returns
    -------
    list of str
        Lines; short names are explained below.
    """
    gathered = entries(found)
    measures = headline_measures(found)
    titles = [entry.title + _setting(entry, gathered) for entry in gathered]
    wide = max(len(title) for title in titles)
    names = [HEADLINES.get(name, MEASURE_WORDS[name]) for name in measures]
    groups = [group_of(name) for name in measures]
    widths = [max(len(name), len(group), 6) for group, name in zip(groups, names, strict=True)]

    def line(title: str, cells: Iterable[str], last: str) -> str:
        inside = "  ".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
        return f"  {title:<{wide}}  {inside}  {last:>8}".rstrip()

    lines = [
        f"{found.name}: {MEASURE_WORDS[found.measure]}",
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


def other_label_lines(found: Comparison) -> list[str]:
    """Scores against further columns of labels, a line for each and each method.

    Parameters
    ----------
    found : Comparison
        All rows.

    Returns
    -------
    list of str
        Lines under the title of each column; means over noise levels and seeds.
    """
    titles = dict.fromkeys(title for row in found.rows for title in row.other_labels)
    lines = []
    for title in titles:
        lines.append(f"{found.name}: labels {title!r}")
        by_method: dict[str, list[dict[str, float]]] = {}
        for row in found.rows:
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
