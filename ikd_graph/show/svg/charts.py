"""Charts of numbers as SVG."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from html import escape
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import colors

_WIDTH, _HEIGHT = 360.0, 230.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 44.0, 14.0, 16.0, 40.0
# Of names beside points: height of a line, width of a letter, space after the point.
_LINE, _LETTER, _GAP = 12.0, 6.6, 7.0


def bars(
    at: ArrayLike,
    heights: ArrayLike,
    *,
    xlabel: str,
    ylabel: str = "",
    kept: int | None = None,
    mark: tuple[float, str] | None = None,
    title: str = "bar chart",
) -> str:
    """Upright bars at whole numbers, evenly spaced; the first ``kept`` in colour, the rest grey.

    ``mark`` is a dashed upright line with its text, ``title`` what a screen reader says.
    """
    x, h = np.asarray(at, dtype=float), np.asarray(heights, dtype=float)
    step = float(x[1] - x[0]) if x.size > 1 else 1.0
    frame = _Frame(
        (x[0] - 0.6 * step, x[-1] + 0.6 * step) if x.size else (0.0, 1.0),
        (min(0.0, h.min(initial=0.0)), h.max(initial=0.0) or 1.0),
    )
    parts = [frame.grid(whole_x=True), frame.names(xlabel, ylabel)]
    for k, (place, height) in enumerate(zip(x.tolist(), h.tolist(), strict=True)):
        left, right = frame.x(place - 0.4 * step), frame.x(place + 0.4 * step)
        top, foot = sorted((frame.y(height), frame.y(0.0)))
        shade = "bar" if kept is None or k < kept else "bar rest"
        parts.append(
            f'<rect class="{shade}" x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" '
            f'height="{max(foot - top, 0.0):.1f}"><title>{place:g}: {height:.4g}</title></rect>'
        )
    if mark:
        parts.append(frame.upright(*mark))
    return frame.close(parts, title)


class Axes(NamedTuple):
    """Names and scales of the axes of a chart."""

    xlabel: str  # horizontal
    ylabel: str = ""
    log: bool = False  # heights on a logarithmic scale; values of 0 or less are holes then
    ceiling: float | None = None  # height that no value can exceed, and so no band
    title: str = "line chart"  # what a screen reader says
    log_x: bool = False  # places on a logarithmic scale; all must be positive


def lines(
    at: ArrayLike,
    series: Mapping[str, ArrayLike],
    axes: Axes,
    *,
    spread: Mapping[str, ArrayLike] | None = None,
    mark: tuple[float, str] | None = None,
    palette: Mapping[str, str] | None = None,
    dots: bool = False,
    cursor: bool = False,
) -> str:
    """Curves; their names belong in a legend of the page (`page.legend`).

    NaN leaves a hole. ``spread`` is half the height of the band around a curve, ``mark`` a dashed
    upright line with its text; with ``dots`` the places ``at`` are marked, with ``cursor`` there is
    an upright line that the slider of the page moves from place to place.
    """
    x = np.log10(np.asarray(at, float)) if axes.log_x else np.asarray(at, dtype=float)
    curves = {name: np.asarray(values, dtype=float) for name, values in series.items()}
    if axes.log:
        curves = {k: np.log10(np.where(v > 0, v, np.nan)) for k, v in curves.items()}
    bands = {k: np.asarray(v, dtype=float) for k, v in (spread or {}).items()}
    half = {k: bands.get(k, np.zeros(x.size)) for k in curves}
    most = np.inf if axes.ceiling is None else axes.ceiling
    reach = [np.minimum(v + sign * half[k], most) for k, v in curves.items() for sign in (-1, 1)]
    known = np.concatenate([v[np.isfinite(v)] for v in reach] or [np.zeros(0)])
    low, high = (known.min(), known.max()) if known.size else (0.0, 1.0)
    pad = 0.04 * (high - low) or 0.5
    frame = _Frame((x[0], x[-1]) if x.size else (0.0, 1.0), (low - pad, high + pad), log=axes.log)
    frame.log_x = axes.log_x
    parts = [frame.grid(), frame.names(axes.xlabel, axes.ylabel)]
    for code, (name, values) in enumerate(curves.items()):
        color = (palette or {}).get(name, colors.class_color(code))
        inside = ""
        if name in bands:
            upper = np.minimum(values + bands[name], most)
            inside += frame.band(x, values - bands[name], upper, color)
        inside += frame.curve(x, values, color)
        if dots:
            good = np.flatnonzero(np.isfinite(values))
            inside += "".join(
                f'<circle cx="{frame.x(x[k]):.1f}" cy="{frame.y(values[k]):.1f}" r="2.6" '
                f'fill="{color}"/>'
                for k in good
            )
        parts.append(f'<g data-k="{escape(name)}"><title>{escape(name)}</title>{inside}</g>')
    if mark:
        parts.append(frame.upright(*mark))
    if cursor and x.size:
        parts.append(frame.cursor(x))
    return frame.close(parts, axes.title)


def named_points(
    points: Mapping[str, tuple[float, float]],
    axes: Axes,
    *,
    palette: Mapping[str, str] | None = None,
) -> str:
    """Few points, each with its name beside it; names that would touch are moved apart."""
    xy = np.array(list(points.values()), dtype=float).reshape(-1, 2)
    low, high = (xy.min(axis=0), xy.max(axis=0)) if xy.size else (np.zeros(2), np.ones(2))
    pad = np.where(high > low, 0.08 * (high - low), 0.05)
    (left, foot), (right, top) = (low - pad).tolist(), (high + pad).tolist()
    frame = _Frame((left, right), (foot, top))
    parts = [frame.grid(), frame.names(axes.xlabel, axes.ylabel)]
    places = [(frame.x(x), frame.y(y)) for x, y in xy.tolist()]
    texts = _free_places(places, [_LETTER * len(name) for name in points])
    for code, (name, (px, py)) in enumerate(zip(points, places, strict=True)):
        color = (palette or {}).get(name, colors.class_color(code))
        at, height = texts[code]
        anchor = "end" if at < px else "start"
        x, y = points[name]
        parts.append(
            f'<g data-k="{escape(name)}"><title>{escape(name)}: {x:.3f}, {y:.3f}</title>'
            f'<circle cx="{px:.1f}" cy="{py:.1f}" r="4.5" fill="{color}"/>'
            f'<text class="name" style="fill:{color}" x="{at:.1f}" y="{height + 4.0:.1f}" '
            f'text-anchor="{anchor}">'
            f"{escape(name)}</text></g>"
        )
    return frame.close(parts, axes.title)


def _free_places(dots: list[tuple[float, float]], widths: list[float]) -> list[tuple[float, float]]:
    """Where the names of dots begin (right of them) or end (left), and the middle of their height.

    The first of both sides, then of places above and below, that is on no other dot or name.
    """
    taken = [(x - 5.0, x + 5.0, y) for x, y in dots]
    found: list[tuple[float, float]] = []
    shifts = [0.0] + [sign * step * _LINE for step in range(1, 20) for sign in (1, -1)]
    for (x, y), width in zip(dots, widths, strict=True):
        free = (
            (x + side * _GAP, y + shift, min(ends), max(ends))
            for shift in shifts
            for side in (1, -1)
            for ends in [(x + side * _GAP, x + side * (_GAP + width))]
            if min(ends) >= 0.0
            and max(ends) <= _WIDTH
            and all(
                max(ends) < left or min(ends) > right or abs(y + shift - height) >= _LINE
                for left, right, height in taken
            )
        )
        at, height, left, right = next(free, (x + _GAP, y, x, x))
        taken.append((left, right, height))
        found.append((at, height))
    return found


class _Frame:
    """Axes of a chart: turns values into places, draws grid, names and marks.

    ``y_range`` holds logarithms to base 10 where ``log``.
    """

    def __init__(
        self, x_range: tuple[float, float], y_range: tuple[float, float], log: bool = False
    ) -> None:
        self.x_range = x_range if x_range[1] > x_range[0] else (x_range[0] - 0.5, x_range[0] + 0.5)
        self.y_range = y_range if y_range[1] > y_range[0] else (y_range[0] - 0.5, y_range[0] + 0.5)
        self.log = log
        self.log_x = False

    def x(self, value: float) -> float:
        """Horizontal place of a value."""
        low, high = self.x_range
        return _LEFT + (value - low) / (high - low) * (_WIDTH - _LEFT - _RIGHT)

    def y(self, value: float) -> float:
        """Vertical place of a value, growing downwards."""
        low, high = self.y_range
        return _HEIGHT - _BOTTOM - (value - low) / (high - low) * (_HEIGHT - _TOP - _BOTTOM)

    def grid(self, whole_x: bool = False) -> str:
        """Faint level lines with their values, and values along the foot."""
        found = ""
        levels = _decades(self.y_range) if self.log else _round_steps(self.y_range, 4)
        for value in levels:
            text = _short(10.0**value if self.log else value)
            found += (
                f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{self.y(value):.1f}" '
                f'y2="{self.y(value):.1f}"/><text x="{_LEFT - 6}" y="{self.y(value) + 4:.1f}" '
                f'text-anchor="end">{text}</text>'
            )
        places: Callable[..., list[float]] = (
            _decades if self.log_x else partial(_round_steps, count=5, whole=whole_x)
        )
        for value in places(self.x_range):
            text = _short(10.0**value if self.log_x else value)
            found += (
                f'<text x="{self.x(value):.1f}" y="{_HEIGHT - _BOTTOM + 16}" '
                f'text-anchor="middle">{text}</text>'
            )
        return found

    def names(self, xlabel: str, ylabel: str) -> str:
        """Names of the axes: the vertical one lies flat above the picture, where it can be read."""
        middle = (_LEFT + _WIDTH - _RIGHT) / 2
        found = (
            f'<text class="name" x="{middle}" y="{_HEIGHT - 5}" text-anchor="middle">'
            f"{escape(xlabel)}</text>"
        )
        return found + f'<text class="name" x="0" y="9">{escape(ylabel)}</text>'

    def upright(self, value: float, text: str) -> str:
        """Dashed line at a value of the horizontal axis."""
        at = self.x(value)
        side = ("end", at - 5) if at > 0.66 * _WIDTH else ("start", at + 5)
        return (
            f'<line class="mark" x1="{at:.1f}" x2="{at:.1f}" y1="{_TOP}" y2="{_HEIGHT - _BOTTOM}"/>'
            f'<text class="said" x="{side[1]:.1f}" y="{_TOP + 9}" text-anchor="{side[0]}">'
            f"{escape(text)}</text>"
        )

    def cursor(self, places: NDArray[np.float64]) -> str:
        """Line that knows all places it can stand at."""
        at = [round(float(self.x(value)), 1) for value in places.tolist()]
        return (
            f'<line class="cursor" x1="{at[0]}" x2="{at[0]}" y1="{_TOP}" '
            f'y2="{_HEIGHT - _BOTTOM}" data-cursor="{at}"/>'
        )

    def curve(self, x: NDArray[np.float64], y: NDArray[np.float64], color: str) -> str:
        """Line through the finite values, broken where there is none."""
        path, pen = "", "M"
        for a, b in zip(x.tolist(), y.tolist(), strict=True):
            if np.isfinite(b):
                path += f"{pen}{self.x(a):.1f} {self.y(b):.1f}"
                pen = "L"
            else:
                pen = "M"
        return f'<path class="curve" d="{path}" stroke="{color}"/>'

    def band(
        self,
        x: NDArray[np.float64],
        low: NDArray[np.float64],
        high: NDArray[np.float64],
        color: str,
    ) -> str:
        """Area between two curves, over the finite values."""
        good = np.flatnonzero(np.isfinite(low) & np.isfinite(high))
        if good.size < 2:
            return ""
        there = [f"{self.x(x[k]):.1f} {self.y(high[k]):.1f}" for k in good]
        back = [f"{self.x(x[k]):.1f} {self.y(low[k]):.1f}" for k in good[::-1]]
        return f'<path class="band" d="M{"L".join(there + back)}Z" fill="{color}"/>'

    def close(self, parts: list[str], title: str) -> str:
        """The whole picture."""
        return (
            f'<svg class="chart" viewBox="0 0 {_WIDTH:.0f} {_HEIGHT:.0f}" role="img" '
            f'aria-label="{escape(title)}">{"".join(parts)}</svg>'
        )


def _round_steps(span: tuple[float, float], count: int, whole: bool = False) -> list[float]:
    """Round values inside a span, about ``count`` of them."""
    low, high = span
    raw = (high - low) / count
    power = 10.0 ** np.floor(np.log10(raw))
    step = power * next(s for s in (1.0, 2.0, 2.5, 5.0, 10.0) if s * power >= raw * 0.999)
    step = max(1.0, np.ceil(step)) if whole else step
    first = np.ceil(low / step - 1e-9)
    return [float(k * step) for k in np.arange(first, np.floor(high / step + 1e-9) + 1)]


def _decades(span: tuple[float, float]) -> list[float]:
    """Whole powers of ten inside a span, thinned to at most five."""
    powers = np.arange(np.ceil(span[0]), np.floor(span[1]) + 1)
    return [float(p) for p in powers[:: max(1, int(np.ceil(powers.size / 5)))]]


def _short(value: float) -> str:
    """A number in few letters: 12k for 12 000."""
    size = abs(value)
    for limit, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if size >= limit:
            return f"{value / (1e3 if letter == 'k' else limit):.3g}{letter}"
    return f"{value:.3g}" if size else "0"
