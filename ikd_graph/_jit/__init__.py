"""Everything Numba compiles and nothing else.

Submodules load on first use: importing the package neither imports Numba nor compiles.
"""

import importlib
from types import ModuleType

_SUBMODULES = (
    "alignment",
    "bits",
    "clique_starts",
    "cliques",
    "covers",
    "degeneracy",
    "detours",
    "geodesics",
    "graph",
    "kernels",
    "likelihood",
    "merging",
    "placement",
    "sparse",
    "stress",
)


def __getattr__(name: str) -> ModuleType:
    if name in _SUBMODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
