"""Pictures: functions that draw data into an Axes (their own if none is given) and return it."""

from .charts import (
    chart,
    clique_sizes,
    degrees,
    level_bars,
    noise_curves,
    spectrum,
    threshold_curve,
    time_bars,
)
from .comparison import comparison
from .multiples import small_multiples
from .network import clique_graph
from .points import embedding
from .scaling import scaling
from .style import axes, png, save

__all__ = [
    "axes",
    "chart",
    "clique_graph",
    "clique_sizes",
    "comparison",
    "degrees",
    "embedding",
    "level_bars",
    "noise_curves",
    "png",
    "save",
    "scaling",
    "small_multiples",
    "spectrum",
    "threshold_curve",
    "time_bars",
]
