"""Inverse kernel decomposition on graphs: few hidden coordinates behind many measurements.

`IKD` is the estimator, `diagnose` says what an embedding can be worth, `compare` compares
strategies and other methods, `inspect_cliques` looks into cliques, `columns` names the columns that
make a map, `loadings` those that change at a point of it, `dubious` the rows that lie wrong on it,
`topology` counts loops, `align` brings sessions into one frame;
`strategies`, `graph`, `refine`, `kernels` and `missing` hold the objects they take; `similarity`,
`covariance`, `graph`, `cliques`, `blockwise`, `geodesics`, `eigen` and `gplvm` are the functions it
is made of; `paper` has the published method on one page; `tl` takes annotated matrices (AnnData),
`pl` draws them. Each is loaded when it is first asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._version import __version__

if TYPE_CHECKING:
    from .estimator import IKD
    from .jobs.align import align
    from .jobs.cliques import inspect_cliques
    from .jobs.compare import compare
    from .jobs.diagnose import diagnose
    from .jobs.topology import topology
    from .maps.columns import columns
    from .maps.dubious import dubious
    from .maps.loadings import loadings

__all__ = [
    "IKD",
    "__version__",
    "align",
    "blockwise",
    "cliques",
    "columns",
    "compare",
    "covariance",
    "datasets",
    "diagnose",
    "dubious",
    "eigen",
    "geodesics",
    "gplvm",
    "graph",
    "inspect_cliques",
    "kernels",
    "loadings",
    "metrics",
    "missing",
    "paper",
    "pl",
    "refine",
    "similarity",
    "strategies",
    "tl",
    "topology",
]

_HOMES = {
    "IKD": ".estimator",
    "align": ".jobs.align",
    "columns": ".maps.columns",
    "compare": ".jobs.compare",
    "diagnose": ".jobs.diagnose",
    "dubious": ".maps.dubious",
    "inspect_cliques": ".jobs.cliques",
    "loadings": ".maps.loadings",
    "topology": ".jobs.topology",
}


def __getattr__(name: str) -> Any:
    """Load the estimator, a function, or a module of the package."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name], __name__), name)
    if name in ("alignment", "blocks"):
        name = "blockwise"  # has the functions of both
    if not name.startswith("_"):
        try:
            return import_module(f".{name}", __name__)
        except ModuleNotFoundError as error:
            if error.name != f"{__name__}.{name}":
                raise
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Names to choose from."""
    return sorted(__all__)
