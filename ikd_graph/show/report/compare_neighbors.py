"""What a comparison says of near and far: one point for each method, and curves over all sizes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...study.compare import Comparison
from ..charts import Chart, Curve, named_points
from .compare_words import MEASURE_WORDS, Entry
from .embed import drawn

LOCAL, GLOBAL = "r_nx_auc", "global_distances"
"""The measures of near and of far things that are set against one another."""


def near_and_far(gathered: list[Entry]) -> dict[str, tuple[float, float]]:
    """Local and global measure of each method, at the first dimension and the least noise.

    Parameters
    ----------
    gathered : list of Entry
        The rows of a comparison gathered over seeds.

    Returns
    -------
    dict of str to (float, float)
        Means over seeds, of the methods that have both.
    """
    dim, noise = gathered[0].n_components, min(entry.noise for entry in gathered)
    mine = [entry for entry in gathered if (entry.n_components, entry.noise) == (dim, noise)]
    points = {entry.title: (entry.mean(LOCAL), entry.mean(GLOBAL)) for entry in mine}
    return {title: point for title, point in points.items() if np.isfinite(point).all()}


def local_against_global(
    found: Comparison, gathered: list[Entry], palette: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Picture of near against far things, and the curves of R_NX.

    Parameters
    ----------
    found : Comparison
        All rows.
    gathered : list of Entry
        The rows gathered over seeds.
    palette : mapping of str to str
        Colour of each method.

    Returns
    -------
    list of dict
        Charts as templates take them; empty if no method has both measures.
    """
    points = near_and_far(gathered)
    if not points:
        return []
    names = (f"{MEASURE_WORDS[LOCAL]} (local)", f"{MEASURE_WORDS[GLOBAL]} (global)")
    places = named_points(points, *names, palette=palette)
    note = (
        "The further right, the more neighbours are kept; the further up, the more of the layout "
        "at large. Best is the upper right corner."
    )
    figures = [drawn(places._replace(title="local against global"), "Near and far", note)]
    sizes, curves = _curves(found, points)
    if curves:
        chart = Chart(
            "neighbours in common", "neighbours", "R_NX",
            tuple(
                Curve(name, sizes.astype(float), values, palette[name])
                for name, values in curves.items()
            ),
            log_x=True,
        )  # fmt: skip
        note = "Share of neighbours in common above chance, for every size of a neighbourhood."
        figures.append(drawn(chart, "From near to far", note))
    return figures


def _curves(
    found: Comparison, titles: Mapping[str, object]
) -> tuple[NDArray[np.int64], dict[str, NDArray[np.float64]]]:
    """R_NX of the first row of each method, at sizes that are even on a logarithmic axis."""
    first: dict[str, NDArray[np.float64]] = {}
    for row, curve in zip(found.rows, found.curves, strict=False):
        if curve is not None and row.title in titles:
            first.setdefault(row.title, curve)
    # Curves of data sets of several sizes end where the shortest does.
    most = min((curve.size for curve in first.values()), default=0)
    sizes = np.unique(np.geomspace(1, most, 60).round().astype(np.int64)) if most else np.zeros(0)
    sizes = sizes.astype(np.int64)
    return sizes, {title: curve[sizes - 1] for title, curve in first.items()}
