"""Charts as plotly draws them on pages: plain mappings, so that no library is loaded."""

from __future__ import annotations

from base64 import b64encode
from html import escape
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import colors
from .charts import Bars, Chart, Curve
from .colors import Paint
from .network import Network


def packed(values: ArrayLike, kind: str = "f4") -> dict[str, str]:
    """Numbers as plotly takes them in few letters: their bytes, in base 64.

    Examples
    --------
    >>> packed([1, 2], "i2")
    {'dtype': 'i2', 'bdata': 'AQACAA=='}
    """
    raw = np.ascontiguousarray(values, dtype=f"<{kind}").tobytes()
    return {"dtype": kind, "bdata": b64encode(raw).decode("ascii")}


def figure(chart: Chart) -> dict[str, Any]:
    """Traces and layout of a chart; what depends on the page's colours is left to the page.

    Text is escaped, because plotly takes a few tags.
    """
    layout: dict[str, Any] = {
        "xaxis": {"title": {"text": escape(chart.xlabel)}, "showgrid": False, **_axis(chart.log_x)},
        "yaxis": {**_axis(chart.log_y)},
        "annotations": [],
        "shapes": [],
    }
    # A name along the axis would take a third of a phone's width: it lies flat, above.
    if chart.ylabel:
        layout["annotations"].append(
            _text(chart.ylabel, x=0, y=1, xref="paper", yref="paper", xanchor="left",
                  yanchor="bottom", xshift=-34, yshift=4)
        )  # fmt: skip
    traces = [] if chart.bars is None else [_bars(chart.bars)]
    whole = chart.bars is not None and np.array_equal(chart.bars.at, np.round(chart.bars.at))
    if chart.bars is not None and whole and chart.bars.at.size and np.ptp(chart.bars.at) < 10:
        # Between whole numbers there is nothing to read.
        layout["xaxis"]["dtick"] = 1
    for curve in chart.curves:
        traces += [*_band(curve, chart.ceiling), _curve(curve)]
    if chart.mark is not None:
        at, text = chart.mark
        layout["shapes"].append(_upright(at))
        layout["annotations"].append(_mark_text(chart, at, text))
    return {"data": traces, "layout": layout}


def color_scale(paint: Paint) -> list[list[Any]]:
    """The scale of a quantity as plotly takes it: places from 0 to 1 and their colours."""
    stops = colors.sequence(paint.period is not None)
    return [[k / (len(stops) - 1), color] for k, color in enumerate(stops)]


def _axis(log: bool) -> dict[str, Any]:
    """Scale of an axis: linear, or logarithmic with a tick at whole powers of ten."""
    return {"type": "log", "dtick": 1, "exponentformat": "SI"} if log else {"type": "linear"}


def _text(text: str, **place: Any) -> dict[str, Any]:
    """Text at a place, without an arrow."""
    return {"text": escape(text), "showarrow": False, **place}


def _upright(at: float) -> dict[str, Any]:
    """Dashed upright line."""
    return {
        "type": "line", "x0": at, "x1": at, "y0": 0, "y1": 1, "yref": "paper",
        "line": {"color": colors.SECOND, "width": 1.5, "dash": "dash"},
    }  # fmt: skip


def _mark_text(chart: Chart, at: float, text: str) -> dict[str, Any]:
    """Words of a mark, on the side that has room."""
    places = [curve.x for curve in chart.curves] or [chart.bars.at if chart.bars else np.zeros(1)]
    low, high = np.concatenate(places).min(), np.concatenate(places).max()
    right = at - low > 0.66 * (high - low)
    # Above the curves, unless the name of the axis stands there.
    above = at - low > 0.3 * (high - low)
    return _text(
        text, x=at, y=1, yref="paper", xanchor="right" if right else "left",
        yanchor="bottom" if above else "top", xshift=-4 if right else 4,
        font={"color": colors.SECOND},
    )  # fmt: skip


def _bars(bars: Bars) -> dict[str, Any]:
    """Upright bars."""
    shades = [colors.ACCENT if k < bars.kept else colors.MUTED for k in range(bars.at.size)]
    return {
        "type": "bar", "x": bars.at.tolist(), "y": bars.heights.tolist(),
        "marker": {"color": shades}, "hovertemplate": "%{x}: %{y:.4~g}<extra></extra>",
    }  # fmt: skip


def _curve(curve: Curve) -> dict[str, Any]:
    """Line, with dots or without; ``meta`` is what a legend of the page calls it."""
    mode = "+".join(["lines"] * curve.line + ["markers"] * curve.dots)
    return {
        "type": "scatter", "mode": mode, "name": escape(curve.name), "meta": curve.name,
        "cliponaxis": False,
        "x": _plain(curve.x), "y": _plain(curve.y), "connectgaps": False,
        "line": {"color": curve.color, "width": 2},
        "marker": {"color": curve.color, "size": 5},
        "hovertemplate": escape(curve.name) + ": %{x:.4~g}, %{y:.4~g}<extra></extra>",
    }  # fmt: skip


def _band(curve: Curve, ceiling: float | None) -> list[dict[str, Any]]:
    """Area around a curve, over its finite values."""
    if curve.half is None:
        return []
    good = np.flatnonzero(np.isfinite(curve.y) & np.isfinite(curve.half))
    if good.size < 2:
        return []
    x, low = curve.x[good], (curve.y - curve.half)[good]
    high = np.minimum((curve.y + curve.half)[good], np.inf if ceiling is None else ceiling)
    return [{
        "type": "scatter", "mode": "lines", "meta": curve.name, "fill": "toself",
        "x": _plain(np.r_[x, x[::-1]]), "y": _plain(np.r_[high, low[::-1]]),
        "line": {"width": 0}, "fillcolor": _faint(curve.color, 0.17), "hoverinfo": "skip",
    }]  # fmt: skip


def _faint(color: str, share: float) -> str:
    """A colour ``#rrggbb`` that lets through what is behind it."""
    red, green, blue = (int(color[k : k + 2], 16) for k in (1, 3, 5))
    return f"rgba({red},{green},{blue},{share:g})"


def _plain(values: NDArray[np.float64]) -> list[float | None]:
    """Numbers for JSON: what is not finite becomes a hole."""
    return [value if np.isfinite(value) else None for value in values.tolist()]


def network_figure(net: Network, notes: list[str], shades: dict[str, Any]) -> dict[str, Any]:
    """Cliques as discs joined by lines, three strengths of them; ``shades`` colours the discs."""
    traces: list[dict[str, Any]] = []
    strong = np.clip((3.0 * net.strength).astype(int), 0, 2)
    for level in range(3):
        chosen = net.ends[strong == level]
        # NaN lifts the pen between two lines.
        ends = np.concatenate([net.places[chosen], np.full((len(chosen), 1, 2), np.nan)], axis=1)
        x, y = ends.reshape(-1, 2).T
        traces.append({
            "type": "scatter", "mode": "lines", "x": _plain(x), "y": _plain(y),
            "line": {"color": colors.MUTED, "width": 0.7 + 1.2 * level},
            "opacity": max(0.1, net.fade * (0.25 + 0.2 * level)), "hoverinfo": "skip",
        })  # fmt: skip
    traces.append({
        "type": "scatter", "mode": "markers", "meta": "discs",
        "x": _plain(net.places[:, 0]), "y": _plain(net.places[:, 1]),
        "text": [escape(note) for note in notes], "hovertemplate": "%{text}<extra></extra>",
        "marker": {"size": (2.0 * net.radii).tolist(), "opacity": 0.9, **shades},
    })  # fmt: skip
    hidden = {"visible": False}
    layout = {"xaxis": hidden, "yaxis": {**hidden, "scaleanchor": "x"}}
    return {"data": traces, "layout": layout}
