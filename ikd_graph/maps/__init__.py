"""What a table says of any map of its rows: columns that make it or change where, dubious rows.

`columns`, `loadings` and `dubious` are functions of the package by these names; maps may be of any
method.
"""

from .columns import ColumnRelevance
from .dubious import DubiousRows
from .loadings import Loadings

__all__ = ["ColumnRelevance", "DubiousRows", "Loadings"]
