"""A comparison in words: head, table, and sentences that follow from one test."""

from __future__ import annotations

import numpy as np

from ..label_scores import WORDS
from ._methods import STRATEGIES
from ._result import LEAST, SCORES, TIE, Comparison, Difference

RULE = (
    f"better: the 95 % interval of the difference lies beyond {LEAST:g}; no difference: it lies "
    f"within {TIE:g}"
)
"""When the test says what."""


def lines(result: Comparison) -> list[str]:
    """The whole comparison as text."""
    head = "; ".join(f"{name}: {text}" for name, text in result.head.items())
    return [f"{result.data.name}: {head}", *table(result), *(f"- {s}" for s in sentences(result))]


def table(result: Comparison) -> list[str]:
    """Scores of all methods, one line each, noise levels side by side."""
    titles = list(dict.fromkeys(row.title for row in result.rows))
    marks = list(dict.fromkeys(name for row in result.rows for name in row.labels))[:1]
    wide = max(map(len, titles))
    heads = [f"noise {level:g}" for level in result.levels] + [label_words(name) for name in marks]
    widths = [max(len(head), 13) for head in heads]
    shown = [f"{head:>{width}}" for head, width in zip(heads, widths, strict=True)]
    text = [SCORES[result.measure] + " (± standard error)"]
    text.append("  ".join(["  " + " " * wide, *shown, "   time"]))
    for title in titles:
        rows = [result.row(title, level) for level in result.levels]
        if rows[0].failure:
            text.append(f"  {title:<{wide}}  {rows[0].failure}")
            continue
        cells = [score(row.score, row.error) for row in rows]
        cells += [score(rows[0].labels.get(name, np.nan)) for name in marks]
        padded = [f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True)]
        text.append("  ".join([f"  {title:<{wide}}", *padded, f"{rows[0].seconds:5.2f} s"]))
    return [*text, f"  ({RULE})"]


def label_words(name: str) -> str:
    """Name of a score of labels for readers: "knn of site" is "5-NN accuracy, site"."""
    kind, _, title = name.partition(" of ")
    return WORDS[kind] + (f", {title}" if title else "")


def score(value: float, error: float = np.nan) -> str:
    """A score with its error, a dash where there is none."""
    if not np.isfinite(value):
        return "–"
    return f"{value:.3f}" + (f" ± {error:.3f}" if np.isfinite(error) else "")


def sentences(result: Comparison) -> list[str]:
    """What follows: the test of the pair, refinements, the other methods, where they disagree."""
    texts = [say_test(test, result) for test in result.tests]
    texts += _refinements(result)
    texts += _others(result)
    texts += _disagreement(result)
    return texts + _notes(result)


def say_test(test: Difference, result: Comparison, *, where: bool = True) -> str:
    """The test of two methods at a noise level as a sentence."""
    pair = f"{test.first} and {test.second}"
    prefix = f"At noise {test.noise:g} " if where and len(result.levels) > 1 else ""
    gap = _width(abs(test.mean), test)
    if test.better:
        worse = test.second if test.better == test.first else test.first
        text = f"{test.better} is better than {worse} by {gap}"
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


def _refinements(result: Comparison) -> list[str]:
    """What refinement adds to each strategy, and what is left between those of the pair."""
    level = result.levels[0]
    rows = [row for row in result.rows if row.refine and row.noise == level and not row.failure]
    texts = []
    for row in rows:
        test = result.difference(row.title, row.method, level)
        sure = "" if test.better else " (unsure)"
        texts.append(f"{row.method} {_width(test.mean, test, '+.3f')}{sure}")
    if not texts:
        return []
    if result.pair is not None and len(rows) > 1:
        test = result.difference(rows[0].title, rows[1].title, level)
        texts.append(f"then {say_test(test, result, where=False)}")
    return [f"Refinement by {rows[0].refine}: {'; '.join(texts)}"]


def _others(result: Comparison) -> list[str]:
    """The best of the strategies against the best of all other methods."""
    level = result.levels[0]
    able = [row for row in result.rows if row.noise == level and not row.failure]
    ours = [row for row in able if row.method in STRATEGIES]
    peers = [row for row in able if row.method not in STRATEGIES]
    if not ours or not peers:
        return []
    best = [max(rows, key=lambda row: row.score).title for rows in (ours, peers)]
    text = say_test(result.difference(best[0], best[1], level), result, where=False)
    return [f"Best strategy against best other method: {text}"]


def _disagreement(result: Comparison, n_shown: int = 5) -> list[str]:
    """Where the pair disagrees, most first."""
    gaps = result.disagreement
    if gaps is None or result.pair is None:
        return []
    worst = np.argsort(-gaps, kind="stable")[:n_shown]
    named = ", ".join(f"{result.names[row]} ({gaps[row]:.2f})" for row in worst)
    return [
        f"Distance of a point between {result.pair[0]} and {result.pair[1]}, in root mean square "
        f"radii: median {np.median(gaps):.2f}; largest at {named}"
    ]


def _notes(result: Comparison) -> list[str]:
    """What methods warned of, each warning once."""
    heard: dict[str, list[str]] = {}
    for title, notes in result.notes.items():
        for note in notes:
            heard.setdefault(note, []).append(title)
    return [f"{', '.join(titles)}: {note}" for note, titles in heard.items()]
