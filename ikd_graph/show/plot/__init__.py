"""Pictures: functions that draw data into an Axes (their own if none is given) and return it."""

from .comparison import comparison
from .draw import chart, embedding, small_multiples
from .style import axes, png, save

__all__ = ["axes", "chart", "comparison", "embedding", "png", "save", "small_multiples"]
