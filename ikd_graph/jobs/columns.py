"""Which columns make a map: the door of `ikd_graph.gplvm.columns`, which `IKD` uses too."""

from ..gplvm.columns import ColumnRelevance, columns

__all__ = ["ColumnRelevance", "columns"]
