"""Parts of a self-contained HTML page, and the page around them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from . import colors
from ._assets import CSS, SCRIPT
from .words import say_number, say_seconds


def document(
    title: str,
    lead: str,
    sections: Iterable[str],
    *,
    kind: str = "",
    names: Mapping[str, Any] | None = None,
) -> str:
    """Whole page as HTML that needs no other file and no network.

    ``lead`` is the result in a sentence or two, ``kind`` is written small above the title.
    ``names`` is what hovering says: ``rows`` (names of points), ``codes`` (class or value of each)
    and ``classes``.
    """
    # "</script" would end the element early and "<!--" keep it open, if a label held them.
    spoken = json.dumps(names or {}, allow_nan=False, default=str).replace("<", "\\u003c")
    small = f'<p class="kind">{escape(kind)}</p>' if kind else ""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width,initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>{escape(title)}</title>\n<style>{CSS}</style></head>\n<body><main>\n"
        f'<header>{small}<h1>{escape(title)}</h1><p class="lead">{escape(lead)}</p></header>\n'
        + "\n".join(sections)
        + '\n</main><div id="tip" role="status" hidden></div>\n'
        f'<script type="application/json" id="names">{spoken}</script>\n'
        f"<script>{SCRIPT}</script></body></html>\n"
    )


def section(heading: str, *parts: str) -> str:
    """Heading with what belongs under it; empty where nothing does."""
    inside = "".join(parts)
    return f"<section><h2>{escape(heading)}</h2>{inside}</section>" if inside else ""


def paragraph(text: str, soft: bool = False) -> str:
    """Paragraph of plain text."""
    return f"<p{' class=soft' if soft else ''}>{escape(text)}</p>"


def figure(picture: str, caption: str = "", heading: str = "") -> str:
    """Picture with a heading above and a caption below."""
    above = f"<h3>{escape(heading)}</h3>" if heading else ""
    below = f"<figcaption>{escape(caption)}</figcaption>" if caption else ""
    return f"<figure>{above}{picture}{below}</figure>"


def side_by_side(*figures: str) -> str:
    """Figures beside each other where there is room, else one below the other."""
    inside = "".join(figures)
    return f'<div class="grid2">{inside}</div>' if inside else ""


def with_legend(picture: str, legend: str) -> str:
    """Picture with its legend at its side, linked to each other."""
    return f'<div class="wide" data-linked>{picture}{legend}</div>'


def linked(*parts: str) -> str:
    """Parts that share one legend: a click in it shows in all of them."""
    return f"<div data-linked>{''.join(parts)}</div>"


def class_legend(groups: colors.Groups, row: bool = False) -> str:
    """Legend of classes with a point; a click keeps one class alone."""
    present = [int(code) for code in np.unique(groups.codes)]
    shown = [code for code in present if code >= 0] + [code for code in present if code < 0]
    named = [
        (str(c), groups.names[c] if c >= 0 else "no label", colors.class_color(c)) for c in shown
    ]
    return _legend(named, row)


def name_legend(palette: Mapping[str, str]) -> str:
    """Legend of curves, in a row, from the colour of each name."""
    return _legend([(name, name, color) for name, color in palette.items()], row=True)


def _legend(entries: Sequence[tuple[str, str, str]], row: bool) -> str:
    """Legend of (key, name, colour) entries."""
    shape = "legend row" if row else "legend many" if len(entries) > 18 else "legend"
    items = "".join(
        f'<li><button type="button" aria-pressed="false" data-key="{escape(key)}">'
        f'<i style="background:{color}"></i>{escape(name)}</button></li>'
        for key, name, color in entries
    )
    return f'<ul class="{shape}">{items}</ul>'


def scale_legend(values: Any, title: str = "") -> str:
    """Continuous colour scale with its least and greatest value."""
    numbers = np.asarray(values, dtype=float)
    numbers = numbers[np.isfinite(numbers)]
    low, high = (numbers.min(), numbers.max()) if numbers.size else (0.0, 0.0)
    stops = ",".join(colors.sequence())
    return (
        f'<div><div class="soft">{escape(title)}</div>'
        f'<div class="ramp" style="background:linear-gradient(90deg,{stops})"></div>'
        f'<div class="ends"><span>{low:.3g}</span><span>{high:.3g}</span></div></div>'
    )


def facts(items: Mapping[str, Any]) -> str:
    """Short facts in a grid, each a value above its name; None is left out."""
    inside = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(say_number(value))}</dd></div>"
        for name, value in items.items()
        if value is not None
    )
    return f'<dl class="facts">{inside}</dl>' if inside else ""


def reasons(items: Mapping[str, str]) -> str:
    """Sentences with a name at their side."""
    inside = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(text)}</dd></div>" for name, text in items.items()
    )
    return f'<dl class="why">{inside}</dl>' if inside else ""


def advice(sentences: Iterable[str]) -> str:
    """Sentences as a list."""
    inside = "".join(f"<li>{escape(text)}</li>" for text in sentences)
    return f'<ul class="advice">{inside}</ul>' if inside else ""


def level_bars(values: Mapping[str, float], say: Callable[[float], str]) -> str:
    """Lying bars with their names and values; NaN has no bar, ``say`` writes a finite value."""
    longest = max((v for v in values.values() if np.isfinite(v)), default=1.0) or 1.0
    rows = "".join(
        f'<div>{escape(name)}</div><div class="track">'
        f'<b style="width:{72 * value / longest if np.isfinite(value) else 0:.1f}%"></b>'
        f"<span>{escape(say(value)) if np.isfinite(value) else 'did not finish'}</span></div>"
        for name, value in values.items()
    )
    return f'<div class="times">{rows}</div>'


def time_bars(seconds: Mapping[str, float]) -> str:
    """Seconds as lying bars; NaN did not finish."""
    return level_bars(seconds, say_seconds)


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    sortable: bool = False,
    best: Sequence[int] = (),
    say: Callable[[Any], str] = say_number,
) -> str:
    """Table of text and numbers; numbers stand right and sort by value.

    Cells are text, numbers, numbers with a text of their own (a pair), or None for nothing. With
    ``sortable`` a click on a head sorts; the rows ``best`` are set in bold; ``say`` writes a
    number.
    """
    cells = [list(row) for row in rows]
    numeric = [
        any(_is_number(row[k]) for row in cells)
        and all(row[k] is None or _is_number(row[k]) for row in cells)
        for k in range(len(columns))
    ]
    head = "".join(
        f'<th scope="col"{" class=n" if numeric[k] else ""}>'
        + (f'<button type="button">{escape(name)}</button>' if sortable else escape(name))
        + "</th>"
        for k, name in enumerate(columns)
    )
    body = "".join(
        f"<tr{' class=best' if at in best else ''}>"
        + "".join(_cell(value, numeric[k], say) for k, value in enumerate(row))
        + "</tr>"
        for at, row in enumerate(cells)
    )
    kind = ' class="sortable"' if sortable else ""
    return (
        f'<div class="scroll"><table{kind}><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _is_number(value: Any) -> bool:
    """Whether a cell holds a number."""
    value = value[0] if isinstance(value, tuple) else value
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def _cell(value: Any, numeric: bool, say: Callable[[Any], str]) -> str:
    """One cell of a table."""
    if not numeric:
        return f"<td>{escape('' if value is None else say_number(value))}</td>"
    text = None
    if isinstance(value, tuple):
        value, text = value
    known = value is not None and np.isfinite(value)
    raw = repr(float(value)) if known else ""
    return f'<td class="n" data-v="{raw}">{escape(text or say(value)) if known else "–"}</td>'


def command(text: str) -> str:
    """What to type."""
    return f"<pre>{escape(text)}</pre>"


def footer(text: str) -> str:
    """Last line of a page."""
    return f"<footer>{escape(text)}</footer>"
