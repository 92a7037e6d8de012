"""Which columns make a map: prediction, significance, and the axes along which each varies."""

from ._columns import ScaledRows as ScaledRows
from ._columns import columns
from ._model import columns_of_model as columns_of_model
from ._result import ColumnRelevance

__all__ = ["ColumnRelevance", "columns"]
