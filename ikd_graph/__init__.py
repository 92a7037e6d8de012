"""Inverse kernel decomposition on graphs: few hidden coordinates behind many measurements.

`IKD` is the estimator; `kernels`, `covariance`, `graph`, `cliques`, `alignment`, `geodesics`,
`eigen` and `gplvm` are the functions it is made of; `tl` takes annotated matrices (AnnData).
"""

from . import alignment, cliques, covariance, eigen, geodesics, gplvm, graph, kernels, tl
from .estimator import IKD

__version__ = "0.1.0"

__all__ = [
    "IKD",
    "alignment",
    "cliques",
    "covariance",
    "eigen",
    "geodesics",
    "gplvm",
    "graph",
    "kernels",
    "tl",
]
