"""Charts as plotly draws them on pages: plain mappings, so that no library is loaded."""

from base64 import b64encode
from collections.abc import Sequence
from functools import partial
from html import escape as _escape
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import colors
from .charts import MANY, OPACITY, Bars, Chart, Curve, Names, Points

escape = partial(_escape, quote=False)
"""Text that plotly takes for no markup; it shows quotes as they are."""

Trace = dict[str, Any]
"""What plotly calls so: one thing that it draws."""


def packed(values: ArrayLike) -> dict[str, str]:
    """Numbers as plotly takes them in few letters: their bytes, in base 64.

    Examples
    --------
    >>> packed([1, 2])
    {'dtype': 'f4', 'bdata': 'AACAPwAAAEA='}
    """
    raw = np.ascontiguousarray(values, dtype="<f4").tobytes()
    return {"dtype": "f4", "bdata": b64encode(raw).decode("ascii")}


def figure(chart: Chart) -> dict[str, Any]:
    """Traces and layout of a chart.

    What depends on the colors of the page and on the room there is left to the page. Text is
    escaped, because plotly takes a few tags.
    """
    shown, points = not chart.equal, chart.points
    axis = {"showgrid": shown, "showticklabels": shown}
    layout: dict[str, Any] = {
        "hovermode": "x unified" if len(chart.curves) > 1 and points is None else "closest",
        "xaxis": {**axis, "title": {"text": escape(chart.xlabel)}},
        "yaxis": {**axis, "title": {"text": escape(chart.ylabel)}},
    }
    if chart.log_y:
        layout["yaxis"] |= {"type": "log", "dtick": 1, "exponentformat": "SI"}
    if chart.equal:
        layout["yaxis"]["scaleanchor"] = "x"
    if chart.rows:
        names = {"tickvals": [*range(len(chart.rows))], "ticktext": [*map(escape, chart.rows)]}
        layout["yaxis"] |= {"autorange": "reversed", "showgrid": False, **names}
    if chart.mark is not None:
        at, name = chart.mark
        line = {"color": colors.SECOND, "dash": "dash"}
        place = {"x0": at, "x1": at, "y0": 0, "y1": 1, "yref": "y domain"}
        layout["shapes"] = [{**place, "line": line, "name": escape(name), "showlegend": True}]
    traces: list[Trace] = []
    if points is not None:
        # Points come first, so that those of other charts have the same numbers.
        painted = [_paint(points, paint) for paint in points.paints]
        traces += [trace | {"visible": k == 0} for k, some in enumerate(painted) for trace in some]
        layout["legend"] = {"itemsizing": "constant"}
        if len(painted) > 1:
            layout["updatemenus"] = [_menu(points.paints, [*map(len, painted)])]
        elif not points.paints[0].is_quantity:
            layout["legend"]["title"] = {"text": escape(points.paints[0].title)}
    if chart.names is not None and chart.names.dots:
        traces.append(_named(chart.names))
    traces += [_bars(bars, lying=bool(chart.rows)) for bars in chart.bars]
    return {"data": traces + [_curve(curve) for curve in chart.curves], "layout": layout}


def _paint(points: Points, paint: colors.Paint) -> list[Trace]:
    """Return a trace for each class, or one of a quantity and one of what has no value."""
    if not paint.is_quantity:
        traces, codes = [], paint.codes(len(points.at))
        for code, name in paint.classes():
            trace = _dots(points, codes == code, paint.color(code))
            trace["marker"]["symbol"] = colors.MARKERS[colors.class_marker(code)]
            traces.append(trace | {"name": escape(name), "showlegend": bool(name)})
        return traces
    assert paint.y is not None
    finite = np.isfinite(paint.y)
    quantity = _dots(points, finite, packed(paint.y[finite]))
    quantity["marker"] |= {
        "cmin": paint.ends[0],
        "cmax": paint.ends[1],
        "colorscale": [[k / (len(paint.stops) - 1), color] for k, color in enumerate(paint.stops)],
        "showscale": True,
        "colorbar": {"title": {"text": escape(paint.title)}},
    }
    if ticks := paint.ticks:
        quantity["marker"]["colorbar"] |= dict(zip(("tickvals", "ticktext"), ticks, strict=True))
    missing = [] if finite.all() else [_dots(points, ~finite, colors.MUTED)]
    return [*missing, quantity]


def _dots(points: Points, rows: NDArray[np.bool_], color: Any) -> Trace:
    """Markers of one color or scale, with what is said of each point."""
    at = points.at[rows]
    size, opacity = (
        packed(value[rows]) if isinstance(value, np.ndarray) else value
        for value in (1.5 * points.size, points.opacity)
    )
    trace: Trace = {
        "type": "scattergl" if len(points.at) > MANY else "scatter",
        "mode": "markers",
        "showlegend": False,
        "marker": {"color": color, "size": size, "opacity": opacity},
        "hovertemplate": "%{text}<extra></extra>",
        **{axis: packed(column) for axis, column in zip("xyz", at.T, strict=False)},
    }
    if at.shape[1] == 3:
        trace |= {"type": "scatter3d", "marker": {"color": color, "size": 3, "opacity": OPACITY}}
    elif trace["type"] == "scatter":
        # Above the lines, which come later.
        trace["zorder"] = 1
    if points.hover:
        trace["text"] = [escape(points.hover[row]) for row in np.flatnonzero(rows).tolist()]
    else:
        # The page's script looks up what it says of them.
        trace["customdata"] = packed(np.flatnonzero(rows))
    return trace


def _named(names: Names) -> Trace:
    """Small dots that say their names."""
    points = Points(names.at, size=3.0, hover=names.texts)
    return _dots(points, np.full(len(names.at), True), colors.MUTED) | {"zorder": 2}


def _menu(paints: Sequence[colors.Paint], n_traces: Sequence[int]) -> dict[str, Any]:
    """Menu of the columns that can color points, each by some of the traces."""
    owner = np.repeat(np.arange(len(paints)), n_traces)
    buttons = [
        {
            "label": "color: " + (escape(paint.title) or "labels"),
            "method": "restyle",
            "args": [{"visible": (owner == k).tolist()}, [*range(owner.size)]],
        }
        for k, paint in enumerate(paints)
    ]
    return {"buttons": buttons, "x": 0, "xanchor": "left", "y": 1, "yanchor": "bottom"}


def _bars(bars: Bars, lying: bool) -> Trace:
    """Bars, upright or lying."""
    across, along = ("y", "x") if lying else ("x", "y")
    return {
        "type": "bar",
        "orientation": "h" if lying else "v",
        across: packed(bars.at),
        along: packed(bars.lengths),
        f"error_{along}": _errors(bars.errors),
        "width": bars.width,
        "text": [*map(escape, bars.texts)],
        "name": escape(bars.name),
        "marker": {"color": bars.color},
        "showlegend": bool(bars.name),
    }


def _curve(curve: Curve) -> Trace:
    """Line, with dots and errors or without."""
    return {
        "type": "scatter",
        "mode": "lines+markers" if curve.dots else "lines",
        "name": escape(curve.name),
        "x": packed(curve.x),
        "y": packed(curve.y),
        "error_y": _errors(curve.errors),
        "line": {"color": curve.color, "width": curve.width},
        "marker": {"color": curve.color},
        "opacity": curve.opacity,
        "showlegend": bool(curve.name),
        "hoverinfo": "skip" if curve.opacity < 1.0 else "x+y+name",
        "cliponaxis": False,
    }


def _errors(errors: NDArray[np.float64] | None) -> dict[str, Any]:
    """Error bars; none without errors."""
    return {} if errors is None else {"array": packed(np.nan_to_num(errors))}
