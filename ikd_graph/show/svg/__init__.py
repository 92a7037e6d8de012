"""Pictures for pages: SVG text that follows the page's colours, needing no plotting library.

Letters keep their size when a picture shrinks to a phone because charts are drawn small (360 units
wide) and only their column grows; scatters carry no letters at all.
"""

from .charts import Axes, bars, lines, named_points
from .points import MOST_POINTS, network, sample_rows, scatter

__all__ = [
    "MOST_POINTS",
    "Axes",
    "bars",
    "lines",
    "named_points",
    "network",
    "sample_rows",
    "scatter",
]
