"""A comparison in words: head, table, and sentences that follow from one test."""

from __future__ import annotations

import numpy as np

from ..label_scores import WORDS
from ._methods import STRATEGIES
from ._result import SCORES, Comparison, Difference

_SHOWN = 5


def lines(found: Comparison) -> list[str]:
    """The whole comparison as text."""
    head = "; ".join(f"{name}: {text}" for name, text in found.head.items())
    return [f"{found.data.name}: {head}", *table(found), *(f"- {s}" for s in sentences(found))]


def table(found: Comparison) -> list[str]:
    """Scores of all methods, one line each, noise levels side by side."""
    titles = list(dict.fromkeys(row.title for row in found.rows))
    marks = list(dict.fromkeys(name for row in found.rows for name in row.labels))[:1]
    wide = max(map(len, titles))
    heads = [f"noise {level:g}" for level in found.levels] + [label_words(name) for name in marks]
    widths = [max(len(head), 13) for head in heads]
    shown = [f"{head:>{width}}" for head, width in zip(heads, widths, strict=True)]
    text = [SCORES[found.measure] + " (± standard error)"]
    text.append("  ".join(["  " + " " * wide, *shown, "   time"]))
    for title in titles:
        rows = [found.row(title, level) for level in found.levels]
        if rows[0].failure:
            text.append(f"  {title:<{wide}}  {rows[0].failure}")
            continue
        cells = [score(row.score, row.error) for row in rows]
        cells += [score(rows[0].labels.get(name, np.nan)) for name in marks]
        padded = [f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True)]
        text.append("  ".join([f"  {title:<{wide}}", *padded, f"{rows[0].seconds:5.2f} s"]))
    return text


def label_words(name: str) -> str:
    """Name of a score of labels for readers: "knn of site" is "5-NN accuracy, site"."""
    kind, _, title = name.partition(" of ")
    return WORDS[kind] + (f", {title}" if title else "")


def score(value: float, error: float = np.nan) -> str:
    """A score with its error, a dash where there is none."""
    if not np.isfinite(value):
        return "–"
    return f"{value:.3f}" + (f" ± {error:.3f}" if np.isfinite(error) else "")


def sentences(found: Comparison) -> list[str]:
    """What follows: the test of the pair, refinements, the other methods, where they disagree."""
    said = [verdict(one, found) for one in found.verdicts]
    said += _refinements(found)
    said += _others(found)
    said += _disagreement(found)
    return said + _notes(found)


def verdict(test: Difference, found: Comparison, *, where: bool = True) -> str:
    """The test of two methods at a noise level as a sentence."""
    pair = f"{test.first} and {test.second}"
    prefix = f"At noise {test.noise:g} " if where and len(found.levels) > 1 else ""
    gap = _width(abs(test.mean), test)
    if test.better:
        other = test.second if test.better == test.first else test.first
        text = f"{test.better} is better than {other} by {gap}"
    elif test.better == "":
        text = f"{pair} do not differ ({gap})"
    else:
        text = f"too few columns to tell {pair} apart ({gap})"
    return prefix + text


def _width(gap: float, test: Difference, form: str = ".3f") -> str:
    """A difference and the half width of its interval."""
    if np.isnan(test.half_width):
        return f"{gap:{form}}, too few columns for a test"
    return f"{gap:{form}}" + (f" ± {test.half_width:.3f}" if test.half_width else "")


def _refinements(found: Comparison) -> list[str]:
    """What refinement adds to each strategy, and what is left between those of the pair."""
    level = found.levels[0]
    rows = [row for row in found.rows if row.refine and row.noise == level and not row.failure]
    said = []
    for row in rows:
        test = found.difference(row.title, row.method, level)
        sure = "" if test.better else ", not beyond chance"
        said.append(f"{row.method} {_width(test.mean, test, '+.3f')}{sure}")
    if not said:
        return []
    if found.pair is not None and len(rows) > 1:
        test = found.difference(rows[0].title, rows[1].title, level)
        said.append(f"then {verdict(test, found, where=False)}")
    return [f"Refinement by {rows[0].refine}: {'; '.join(said)}"]


def _others(found: Comparison) -> list[str]:
    """The best of the strategies against the best of all other methods."""
    level = found.levels[0]
    able = [row for row in found.rows if row.noise == level and not row.failure]
    ours = [row for row in able if row.method in STRATEGIES]
    peers = [row for row in able if row.method not in STRATEGIES]
    if not ours or not peers:
        return []
    best = [max(rows, key=lambda row: row.score).title for rows in (ours, peers)]
    text = verdict(found.difference(best[0], best[1], level), found, where=False)
    return [f"Best strategy against best other method: {text}"]


def _disagreement(found: Comparison) -> list[str]:
    """Where the pair disagrees, most first."""
    gaps = found.disagreement
    if gaps is None or found.pair is None:
        return []
    worst = np.argsort(-gaps, kind="stable")[:_SHOWN]
    named = ", ".join(f"{found.names[row]} ({gaps[row]:.2f})" for row in worst)
    return [
        f"Distance of a point between {found.pair[0]} and {found.pair[1]}, in root mean square "
        f"radii: median {np.median(gaps):.2f}; largest at {named}"
    ]


def _notes(found: Comparison) -> list[str]:
    """What methods warned of, each warning once."""
    heard: dict[str, list[str]] = {}
    for title, notes in found.notes.items():
        for note in notes:
            heard.setdefault(note, []).append(title)
    return [f"{', '.join(titles)}: {note}" for note, titles in heard.items()]
