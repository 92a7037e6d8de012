"""Inverse kernel decomposition on graphs: few hidden coordinates behind many measurements.

`IKD` is the estimator; `kernels`, `covariance`, `graph`, `cliques`, `alignment`, `geodesics`,
`eigen` and `gplvm` are the functions it is made of; `tl` takes annotated matrices (AnnData).
"""

from . import alignment, cliques, covariance, eigen, geodesics, gplvm, graph, kernels, tl
from ._version import __version__
from .estimator import IKD

__all__ = [
    "IKD",
    "__version__",
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
