"""What the columns of a table say of any map of its rows: which make it, and which change where.

`columns` and `loadings` are functions of the package by these names; maps may be of any method.
"""

from .columns import ColumnRelevance
from .loadings import Loadings

__all__ = ["ColumnRelevance", "Loadings"]
