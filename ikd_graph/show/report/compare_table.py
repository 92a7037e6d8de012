"""Tables of a comparison: the few measures that tell most, then all of them by what they ask."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...study.compare import GROUPS, Comparison
from .. import page
from ..words import count
from .compare_words import (
    GROUP_WORDS,
    MEASURE_WORDS,
    Entry,
    group_of,
    headline_measures,
    shown_measures,
)

_GROUP_NOTES = {
    "latent": "R² of the true latent, after the embedding was aligned with it.",
    "local": "Do neighbours stay neighbours, measured against {against}. Trustworthiness: no "
    "false neighbours; continuity: no lost neighbours; both among the 5 nearest where "
    "no number is given. R_NX is the share of neighbours in common above chance, its area the mean "
    "over all sizes of a neighbourhood. Density is the correlation of log local radii.",
    "global": "Are far things far, measured against {against}. Distances are rank correlations; "
    "triplets are the share of which the order of two distances is kept, 0.5 by chance; centroids "
    "are those of classes.",
    "prediction": "",
    "labels": "Predicted in a cross-validation of five parts. Shuffled parts flatter where rows "
    "that follow one another are alike; blocks of consecutive rows do not.",
}


def table(found: Comparison, gathered: list[Entry]) -> dict[str, Any]:
    """Means over seeds of the few measures that tell most; the best of the leading one in bold.

    Parameters
    ----------
    found : Comparison
        All rows.
    gathered : list of Entry
        The rows gathered over seeds.

    Returns
    -------
    dict
        As `page.table` makes it.
    """
    measures = headline_measures(found)
    several = max(len(entry.rows) for entry in gathered) > 1
    failed = any(entry.failure for entry in gathered)
    heads = _settings_heads(gathered)
    for name in measures:
        mark = "" if name == found.measure else f" ({group_of(name)})"
        heads.append(MEASURE_WORDS[name] + mark)
        if several and name == found.measure:
            heads.append("± over seeds")
        elif name == "co_smoothing":
            heads.append("± standard error")
    heads += ["seconds", "memory, MB", *(["failure"] if failed else [])]
    rows = []
    for entry in gathered:
        row = _settings(entry, heads)
        for name in measures:
            row.append(entry.mean(name))
            if several and name == found.measure:
                row.append(entry.spread(name))
            elif name == "co_smoothing":
                row.append(entry.error())
        memory = entry.mean("extra_mb")
        row += [entry.mean("seconds"), (memory, f"{memory:.0f}")]
        rows.append([*row, *([entry.failure] if failed else [])])
    scores = np.array([entry.mean(found.measure) for entry in gathered])
    best = [int(np.nanargmax(scores))] if np.isfinite(scores).any() else []
    return page.table(heads, rows, sortable=True, best=best, say=_decimals)


def group_tables(found: Comparison, gathered: list[Entry]) -> list[dict[str, Any]]:
    """A table for each group of measures, of those that are not all in the first one.

    Parameters
    ----------
    found : Comparison
        All rows.
    gathered : list of Entry
        The rows gathered over seeds.

    Returns
    -------
    list of dict
        Heading, table and note of each group; empty if there are no more measures.
    """
    shown, first = shown_measures(found), headline_measures(found)
    parts: list[dict[str, Any]] = []
    for group, words in GROUP_WORDS.items():
        measures = [name for name in GROUPS[group] if name in shown]
        if set(measures) <= set(first):
            continue
        heads = [*_settings_heads(gathered), *(MEASURE_WORDS[name] for name in measures)]
        rows = [
            _settings(entry, heads) + [entry.mean(name) for name in measures] for entry in gathered
        ]
        note = _GROUP_NOTES[group].format(against=_against(found))
        made = page.table(heads, rows, sortable=True, say=_decimals)
        parts.append({"heading": words.capitalize(), "table": made, "note": note})
    return parts


def table_note(found: Comparison) -> str:
    """What the numbers of the first table are."""
    seeds = len({row.seed for row in found.rows})
    note = f"Means over {count(seeds, 'seed')}. " if seeds > 1 else ""
    note += (
        "Higher is better, except for errors, time and memory. Local and global are measured "
        f"against {_against(found)}: the area under R_NX is the share of neighbours in common "
        "above chance, over all sizes of a neighbourhood; global distances are a rank correlation. "
    )
    if "co_smoothing" in shown_measures(found):
        note += (
            "Held-out R² asks what an embedding is for: fitted to a random half of the columns, "
            "how well do its 10 nearest rows predict the other half. "
        )
    return note + ("Time is of the fit alone; memory is what the fit added. Click a head to sort.")


def _against(found: Comparison) -> str:
    """What neighbours and distances are measured against."""
    return "the true latent" if found.data[0].latent is not None else "the data"


def _settings_heads(gathered: list[Entry]) -> list[str]:
    """Heads of what tells rows apart."""
    dims = len({entry.n_components for entry in gathered}) > 1
    noises = len({entry.noise for entry in gathered}) > 1
    return ["method", *(["dimensions"] if dims else []), *(["noise"] if noises else [])]


def _settings(entry: Entry, heads: list[str]) -> list[Any]:
    """What tells a row apart, under its heads."""
    row: list[Any] = [entry.title]
    row += [entry.n_components] if "dimensions" in heads else []
    return row + ([(entry.noise, f"{entry.noise:g}")] if "noise" in heads else [])


def _decimals(value: Any) -> str:
    """A number of the table, with the same decimals all the way down."""
    if isinstance(value, int):
        return str(value)
    return (
        f"{value:.3f}"
        if abs(value) < 10
        else f"{value:.1f}"
        if abs(value) < 100
        else f"{value:.0f}"
    )
