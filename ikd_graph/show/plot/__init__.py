"""Pictures: functions that draw data into an Axes (their own if none is given) and return it."""

from .charts import chart, dimensions, level_bars, noise_curves, spectrum
from .comparison import comparison
from .network import clique_graph
from .points import embedding, small_multiples
from .style import axes, png, save

__all__ = [
    "axes",
    "chart",
    "clique_graph",
    "comparison",
    "dimensions",
    "embedding",
    "level_bars",
    "noise_curves",
    "png",
    "save",
    "small_multiples",
    "spectrum",
]
