"""Inverse kernel decomposition on graphs: few hidden coordinates behind many measurements.

`IKD` is the estimator; `kernels`, `covariance`, `graph`, `cliques`, `alignment`, `geodesics`,
`eigen` and `gplvm` are the functions it is made of; `tl` takes annotated matrices (AnnData).
"""

from . import alignment, cliques, covariance, eigen, geodesics, gplvm, graph, kernels, tl
from ._version import __version__
from .estimator import IKD


def _show(fitted: IKD) -> str:
    """What a notebook shows of a fitted model."""
    from .show.notebook import model_html

    return model_html(fitted)


IKD._shown = staticmethod(_show)

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
