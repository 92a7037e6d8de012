"""Everything Numba compiles and nothing else.

Submodules load on first use: importing the package neither imports Numba nor compiles.
"""

import importlib
from types import ModuleType


def __getattr__(name: str) -> ModuleType:
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return importlib.import_module(f"{__name__}.{name}")
