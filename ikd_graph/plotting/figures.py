"""Charts as plotly draws them on pages: plain mappings, so that no library is loaded."""

from base64 import b64encode
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import colors
from .charts import Bars, Chart, Curve, Names, Points, limits
from .colors import Paint, escape

MANY = 4000
"""More points are drawn by the graphics card, fewer in a way that prints better."""


def packed(values: ArrayLike) -> dict[str, str]:
    """Numbers as plotly takes them in few letters: their bytes, in base 64.

    Examples
    --------
    >>> packed([1, 2])
    {'dtype': 'f4', 'bdata': 'AACAPwAAAEA='}
    """
    raw = np.ascontiguousarray(values, dtype="<f4").tobytes()
    return {"dtype": "f4", "bdata": b64encode(raw).decode("ascii")}


def figure(*charts: Chart, small: bool = False, legend: bool = True) -> dict[str, Any]:
    """Traces and layout of charts, which stand above one another over a common axis.

    What depends on the colors of the page and its width is left to the page. A ``small`` chart has
    neither names of axes nor tools. Text is escaped, because plotly takes a few tags.
    """
    data: list[dict[str, Any]] = []
    layout: dict[str, Any] = {
        "showlegend": legend,
        "hovermode": "closest",
        "margin": {"l": 50, "r": 12, "t": 26 if charts[0].mark else 8, "b": 46},
        "shapes": [],
        "uirevision": "stays",
    }
    fraction = 1.0 / len(charts)
    for row, chart in enumerate(charts):
        suffix = str(row + 1) if row else ""
        low = 1.0 - fraction * (row + 1) + (0.07 if row < len(charts) - 1 else 0.0)
        y = {"title": {"text": escape(chart.ylabel)}, **_axis(chart.log_y)}
        layout[f"yaxis{suffix}"] = {**y, "domain": [low, 1.0 - fraction * row]}
        traces = _traces(chart)
        data += [{**trace, "yaxis": f"y{suffix}"} if row else trace for trace in traces]
        if chart.mark is not None:
            left = chart.mark[0] > 0.5 * sum(_span(chart))
            layout["shapes"].append(_upright(*chart.mark, left, yref=f"y{suffix} domain"))
    chart = charts[-1]
    layout["xaxis"] = {"title": {"text": escape(chart.xlabel)}, **_axis(chart.log_x)}
    layout["xaxis"] |= {"showgrid": bool(chart.rows)}
    if len(charts) > 1:
        layout["xaxis"]["anchor"] = f"y{len(charts)}"
    if chart.rows:
        # Room for the texts at the ends.
        widest = max((float(np.max(bars.lengths, initial=0.0)) for bars in chart.bars), default=1.0)
        layout["xaxis"]["range"] = [0.0, 1.2 * widest]
        names = {"tickvals": [*range(len(chart.rows))], "ticktext": [*map(escape, chart.rows)]}
        layout["yaxis"] |= {"autorange": "reversed", "showgrid": False, **names}
    if charts[0].points is not None:
        _around_points(layout, charts[0].points)
    if charts[0].equal:
        for axis in ("xaxis", "yaxis"):
            layout[axis] |= {"showgrid": False, "zeroline": False, "showticklabels": False}
        layout["yaxis"]["scaleanchor"] = "x"
        _within_limits(layout, charts[0])
    if small:
        layout.pop("updatemenus", None)
        layout["margin"] = dict.fromkeys("lrtb", 6)
        del layout["xaxis"]["title"], layout["yaxis"]["title"]
    for trace in data:
        if "showscale" in trace.get("marker", {}):
            trace["marker"]["showscale"] = legend
    tools = ["lasso2d", "select2d", "zoom2d", "pan2d", "resetScale2d", "toImage"]
    turning = ["orbitRotation", "pan3d", "zoom3d", "resetCameraDefault3d", "toImage"]
    bar = {"modeBarButtons": [turning if "scene" in layout else tools]}
    shown = {"displayModeBar": charts[0].points is not None and not small}
    return {"data": data, "layout": layout, "config": {"displaylogo": False, **bar, **shown}}


def with_slider(
    spec: dict[str, Any], at: Sequence[float], texts: Sequence[str], start: int, label: str
) -> dict[str, Any]:
    """Add plotly's slider, which moves a line over the positions and writes their texts.

    ``texts`` are trusted: they may hold the tags that plotly takes.
    """
    layout = spec["layout"]
    number = len(layout["shapes"])
    line = {"type": "line", "yref": "paper", "y0": 0, "y1": 1, "line": {"color": colors.MUTED}}
    layout["shapes"] += [{**line, "x0": at[start], "x1": at[start]}]
    layout["title"] = {"text": texts[start], "x": 0, "y": 0.95, "yanchor": "top"}
    layout["title"]["font"] = {"size": 13}
    moves = [
        {
            "label": f"{value:.2f}", "method": "relayout",
            "args": [{f"shapes[{number}].x0": value, f"shapes[{number}].x1": value,
                      "title.text": text}],
        }
        for value, text in zip(at, texts, strict=True)
    ]  # fmt: skip
    layout["sliders"] = [{
        "active": start, "steps": moves, "currentvalue": {"prefix": label + " "},
        "pad": {"t": 60}, "ticklen": 0, "minorticklen": 0, "font": {"size": 1},
    }]  # fmt: skip
    layout["sliders"][0]["currentvalue"]["font"] = {"size": 13}
    layout["margin"]["t"] = 150
    # Above the text of a mark.
    layout["legend"] = {"orientation": "h", "y": 1.1, "yanchor": "bottom", "x": 0}
    return spec


def _traces(chart: Chart) -> list[dict[str, Any]]:
    """Everything that a chart draws; points come first, so that others of the same are alike."""
    traces = []
    if chart.points is not None:
        for number, paint in enumerate(chart.points.paints):
            hidden = {"visible": False} if number else {}
            traces += [trace | hidden for trace in _paint(chart.points, paint)]
    if chart.names is not None:
        traces.append(_named(chart.names))
    traces += [_bars(bars, lying=bool(chart.rows)) for bars in chart.bars]
    for curve in chart.curves:
        traces += [*_band(curve, chart.ceiling), _curve(curve)]
    return traces


def _paint(points: Points, paint: Paint) -> list[dict[str, Any]]:
    """Return a trace for each class, or one of a quantity and one of what has no value."""
    title = escape(paint.title)
    if paint.groups is not None:
        return [
            {
                **_dots(points, paint.groups.codes == code, paint.groups.color(code),
                        colors.MARKERS[colors.class_marker(code)]),
                "name": escape(name), "showlegend": True,
            }
            for code, name in paint.groups.items()
        ]  # fmt: skip
    if paint.values is None:
        return [_dots(points, np.full(len(points.at), True), colors.ACCENT)]
    finite = np.isfinite(paint.values)
    traces = [] if finite.all() else [_dots(points, ~finite, colors.MUTED)]
    quantity = _dots(points, finite, colors.ACCENT)
    stops = colors.sequence(paint.period is not None)
    quantity["marker"] |= {
        "color": packed(paint.values[finite]), "cmin": paint.ends[0], "cmax": paint.ends[1],
        "colorscale": [[k / (len(stops) - 1), color] for k, color in enumerate(stops)],
        "showscale": True,
        "colorbar": {"title": {"text": title}, "thickness": 12, "outlinewidth": 0},
    }  # fmt: skip
    return [*traces, quantity]


def _dots(
    points: Points, rows: NDArray[np.bool_], color: str, symbol: str = "circle"
) -> dict[str, Any]:
    """Markers of one color, with what is said of each point and its name."""
    at = points.at[rows]
    size, opacity = (
        packed(value[rows]) if isinstance(value, np.ndarray) else value
        for value in (1.5 * points.size, points.opacity)
    )
    kind = "scatter3d" if at.shape[1] == 3 else "scattergl" if len(points.at) > MANY else "scatter"
    if kind == "scatter3d":
        size, opacity, symbol = 3, 0.8, "circle"
    marker = {"color": color, "size": size, "opacity": opacity, "symbol": symbol}
    trace = {"type": kind, "mode": "markers", "showlegend": False, "marker": marker}
    trace |= {axis: packed(column) for axis, column in zip("xyz", at.T, strict=False)}
    if kind == "scatter":
        trace["zorder"] = 1
    if points.hover:
        trace["text"] = [points.hover[row] for row in np.flatnonzero(rows).tolist()]
    elif points.rows is not None:
        # The page's script looks up what it says of them.
        trace["customdata"] = packed(points.rows[rows])
    return trace | {"hovertemplate": "%{text}<extra></extra>"}


def _named(names: Names) -> dict[str, Any]:
    """Small dots that say their names."""
    x, y = names.at[:, :2].T
    return {
        "type": "scatter", "mode": "markers", "showlegend": False, "x": packed(x), "y": packed(y),
        "text": [colors.short(text) for text in names.texts], "zorder": 2,
        "marker": {"color": colors.MUTED, "size": 5, "line": {"color": "white", "width": 0.5}},
        "hovertemplate": "%{text}<extra></extra>",
    }  # fmt: skip


def _around_points(layout: dict[str, Any], points: Points) -> None:
    """Legend, camera, and a menu of the columns that can color points."""
    layout["dragmode"] = "zoom"
    layout["legend"] = {"itemsizing": "constant"}
    # The tools stand above the picture and its legend, also where both are narrow.
    layout["margin"]["t"] = 40
    if len(points.paints) == 1:
        layout["legend"]["title"] = {"text": escape(points.paints[0].title)}
    if points.at.shape[1] == 3:
        names = [f"dimension {k + 1}" for k in range(3)]
        axes = [{"showticklabels": False, "title": {"text": name}} for name in names]
        eye = {"eye": {"x": 1.4, "y": 1.4, "z": 0.9}}
        layout["scene"] = {"aspectmode": "data", "camera": eye}
        layout["scene"] |= dict(zip(("xaxis", "yaxis", "zaxis"), axes, strict=True))
        layout["dragmode"] = "orbit"
    if len(points.paints) > 1:
        owner = np.repeat(
            np.arange(len(points.paints)), [len(_paint(points, p)) for p in points.paints]
        )
        buttons = [
            {"label": "color: " + (escape(paint.title) or "labels"), "method": "restyle",
             "args": [{"visible": (owner == k).tolist()}, [*range(owner.size)]]}
            for k, paint in enumerate(points.paints)
        ]  # fmt: skip
        menu = {"buttons": buttons, "x": 0, "xanchor": "left", "y": 1, "yanchor": "bottom"}
        layout["updatemenus"] = [menu | {"pad": {"b": 6}}]
        layout["margin"]["t"] = 76


def _axis(log: bool) -> dict[str, Any]:
    """Scale of an axis: linear, or logarithmic with a tick at whole powers of ten."""
    return {"type": "log", "dtick": 1, "exponentformat": "SI"} if log else {"type": "linear"}


def _within_limits(layout: dict[str, Any], chart: Chart) -> None:
    """Leave out of sight what lies far around the points; else plotly finds the limits."""
    seen = limits(chart)
    lines = np.vstack([np.zeros((0, 2)), *(np.c_[line.x, line.y] for line in chart.curves)])
    lines = lines[np.isfinite(lines).all(axis=1)]
    if seen is None or not ((lines < seen[0]) | (lines > seen[1])).any():
        return
    for axis, ends in zip(("xaxis", "yaxis"), seen.T.tolist(), strict=True):
        layout[axis]["range"] = ends


def _span(chart: Chart) -> tuple[float, float]:
    """Least and largest position of what stands on the horizontal axis."""
    at = [values for line in chart.curves for values in line.x[np.isfinite(line.y)]]
    at += [value for bars in chart.bars for value in bars.at]
    return (float(min(at)), float(max(at))) if at else (0.0, 0.0)


def _upright(at: float, text: str, left: bool, yref: str) -> dict[str, Any]:
    """Dashed upright line with its text above, to the left or to the right of it."""
    return {
        "type": "line", "x0": at, "x1": at, "y0": 0, "y1": 1, "yref": yref,
        "line": {"color": colors.SECOND, "width": 1.5, "dash": "dash"},
        "label": {"text": escape(text), "textposition": "end", "textangle": 0, "yanchor": "bottom",
                  "xanchor": "right" if left else "left", "font": {"color": colors.SECOND}},
    }  # fmt: skip


def _bars(bars: Bars, lying: bool) -> dict[str, Any]:
    """Bars, upright or lying."""
    at, lengths = bars.at.tolist(), bars.lengths.tolist()
    x, y = (lengths, at) if lying else (at, lengths)
    said: dict[str, Any] = {"hovertemplate": "%{x:.4~g}: %{y:.4~g}<extra></extra>"}
    if bars.texts:
        written = [*map(escape, bars.texts)]
        said = {"text": written, "textposition": "outside", "hoverinfo": "skip"}
    return {
        "type": "bar", "x": x, "y": y, "orientation": "h" if lying else "v", "name": bars.name,
        "marker": {"color": bars.color}, "showlegend": bool(bars.name), "cliponaxis": False, **said,
    }  # fmt: skip


def _curve(curve: Curve) -> dict[str, Any]:
    """Line, with dots or without."""
    mode = "+".join(["lines"] * (curve.width > 0) + ["markers"] * curve.dots)
    name = escape(curve.name)
    return {
        "type": "scatter", "mode": mode, "name": name, "legendgroup": name,
        "showlegend": bool(name), "cliponaxis": False, "opacity": curve.opacity,
        "x": packed(curve.x), "y": packed(curve.y), "connectgaps": False,
        "line": {"color": curve.color, "width": curve.width},
        "marker": {"color": curve.color, "size": 5},
        **({"hovertemplate": name + ": %{x:.4~g}, %{y:.4~g}<extra></extra>"}
           if curve.opacity == 1.0 else {"hoverinfo": "skip"}),
    }  # fmt: skip


def _band(curve: Curve, ceiling: float | None) -> list[dict[str, Any]]:
    """Area around a curve, over its finite values."""
    half = np.full(curve.y.shape, np.nan) if curve.half is None else curve.half
    good = np.flatnonzero(np.isfinite(curve.y) & np.isfinite(half))
    if good.size < 2:
        return []
    x, low = curve.x[good], (curve.y - half)[good]
    high = np.minimum((curve.y + half)[good], np.inf if ceiling is None else ceiling)
    return [{
        "type": "scatter", "mode": "lines", "legendgroup": escape(curve.name), "fill": "toself",
        "x": packed(np.r_[x, x[::-1]]), "y": packed(np.r_[high, low[::-1]]), "showlegend": False,
        "line": {"width": 0, "color": curve.color}, "opacity": 0.3, "hoverinfo": "skip",
    }]  # fmt: skip
