"""Page of cliques over time: counts, a map for each window, and what appears and vanishes."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import orthogonal_procrustes

from .. import cliques, refine
from .._format import count
from .._table import dense_rows, rows_of
from .._types import Floats
from ..cliques import CliquesOverTime
from ..datasets import Dataset
from ..estimator import IKD
from ..plotting import charts, colors
from ..plotting.charts import Chart, Curve
from ..plotting.figures import figure
from . import page
from .cliques import rule_of_model


@dataclass(frozen=True)
class WindowsView:
    """Cliques of windows of columns, and a map of each window.

    Attributes
    ----------
    data : Dataset
        Rows and times.
    found : CliquesOverTime
        What appears, stays and vanishes.
    maps : list of (n, 2) ndarray of float64 or None
        Coordinates of the rows in each window, aligned with the window before; None where a window
        cannot be embedded.
    """

    data: Dataset
    found: CliquesOverTime
    maps: list[Floats | None]

    def table(self) -> tuple[list[str], list[list[Any]]]:
        """List what appears, stays and vanishes, with the names of the rows."""
        return self.found.table(self.data.row_names or None)

    def names(self) -> list[str]:
        """Return the windows by their first and last columns."""
        titles = self.data.feature_names or [*map(str, range(self.data.n_features))]
        ends = zip(self.found.starts.tolist(), self.found.stops.tolist(), strict=True)
        return [f"{titles[start]} to {titles[stop - 1]}" for start, stop in ends]


def view_windows(model: IKD, data: Dataset, window: int, step: int) -> WindowsView:
    """Follow the cliques of a data set through windows of its columns.

    Parameters
    ----------
    model : IKD
        Fitted on ``data.X`` with ``affinity="correlation"``: its graph rule is that of all windows.
    data : Dataset
        Rows and times.
    window, step : int
        See `ikd_graph.cliques.over_time`.

    Returns
    -------
    WindowsView
        Cliques and maps.
    """
    rows = dense_rows(rows_of(data.X))
    rule = rule_of_model(model)
    found = cliques.over_time(rows, rule, window, step)
    return WindowsView(data, found, _maps(model, rows, found))


def _maps(model: IKD, rows: Floats, found: CliquesOverTime) -> list[Floats | None]:
    """Map all windows by the settings of a model, each aligned with the one before."""
    settings = model.settings_
    maps: list[Floats | None] = []
    last: Floats | None = None
    for start, stop in zip(found.starts.tolist(), found.stops.tolist(), strict=True):
        own = IKD(
            2, strategy="geodesic", graph=settings.graph, affinity="correlation",
            refine=refine.Stress(), random_state=model.random_state,
        )  # fmt: skip
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                Z = np.asarray(own.fit(rows[:, start:stop]).embedding_, dtype=np.float64)
        except ValueError:
            maps.append(None)
            continue
        last = Z if last is None else Z @ orthogonal_procrustes(Z, last)[0]
        maps.append(last)
    return maps


def windows_page(view: WindowsView, command: str = "", **around: Any) -> str:
    """Page of cliques over time.

    Parameters
    ----------
    view : WindowsView
        What `view_windows` returned.
    command, **around
        As in `embed_page`.

    Returns
    -------
    str
        HTML of the whole page.
    """
    found = view.found
    heads, rows = view.table()
    changes = [row for row in rows if row[6] != "stays"]
    vanished = sum(row[6] == "vanishes" for row in rows)
    lead = (
        f"{count(found.starts.size, 'window')} of {found.stops[0] - found.starts[0]} columns: "
        f"{count(len({row[5] for row in rows}), 'clique')} followed, of which {vanished} vanish."
    )
    return page.render(
        "Cliques over time",
        view.data.name,
        lead,
        [
            ("Counts", [page.figures(page.drawing(windows_chart(view), size="main"))]),
            ("A map of each window", [_slider(view)]),
            ("What appears and vanishes", [page.table(heads, changes)]),
            ("All windows", [page.table(heads, rows)]),
        ],
        command=command,
        described=colors.described(view.data, colors.rows_to_draw(view.data), {}),
        **around,
    )


def windows_chart(view: WindowsView) -> Chart:
    """Describe the numbers of edges, significant links and cliques over the windows.

    Parameters
    ----------
    view : WindowsView
        What `view_windows` returned.

    Returns
    -------
    Chart
        A curve for each number.
    """
    found = view.found
    lines = {
        "edges": found.n_edges, "significant links": found.n_significant,
        "cliques": found.n_cliques,
    }  # fmt: skip
    at = found.starts.astype(np.float64)
    curves = tuple(
        Curve(name, at, values.astype(np.float64), colors.class_color(code), dots=True)
        for code, (name, values) in enumerate(lines.items())
    )
    return Chart("cliques over time", "first column of the window", "number", curves=curves)


def _slider(view: WindowsView) -> page.Block | None:
    """Draw the map of each window, one at a time."""
    paint, rows = colors.paint_points(view.data), colors.rows_to_draw(view.data)
    known = [k for k, Z in enumerate(view.maps) if Z is not None]
    if not known:
        return None
    every = np.vstack([view.maps[k][rows] for k in known])  # type: ignore[index]
    reach = 1.06 * float(np.abs(every).max()) or 1.0
    spec, owner = None, []
    for place, k in enumerate(known):
        Z = view.maps[k]
        assert Z is not None
        chart = charts.scatter(
            Z[rows], colors.paint_of(paint, rows), title="map of a window",
            rows=np.arange(rows.size),
        )  # fmt: skip
        drawn = figure(chart)
        for trace in drawn["data"]:
            trace["visible"] = place == 0
        owner += [place] * len(drawn["data"])
        if spec is None:
            spec = drawn
        else:
            spec["data"] += drawn["data"]
    assert spec is not None
    names = view.names()
    steps = [
        {"label": colors.short(names[k]), "method": "restyle",
         "args": [{"visible": [own == place for own in owner]}]}
        for place, k in enumerate(known)
    ]  # fmt: skip
    spec["layout"]["sliders"] = [
        {"active": 0, "steps": steps, "currentvalue": {"prefix": "columns "}, "pad": {"t": 40},
         "ticklen": 0, "minorticklen": 0, "font": {"size": 1}}
    ]  # fmt: skip
    spec["layout"]["sliders"][0]["currentvalue"]["font"] = {"size": 13}
    for axis in ("xaxis", "yaxis"):
        spec["layout"][axis]["range"] = [-reach, reach]
    caption = "Each map is turned onto the one of the window before; unit and origin mean nothing."
    return page.figures(
        page.drawing(spec, caption=caption, size="main", title="map of each window")
    )
