"""Names of methods, and how long they may run."""

from collections.abc import Callable, Iterable
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import strategies
from ..._checks import check_choice
from .. import baselines
from ..timing import Timed

Floats = NDArray[np.float64]

STRATEGIES: dict[str, strategies.Strategy] = {
    "blockwise": strategies.Blockwise(),
    "geodesic": strategies.Geodesic(),
    "eigen": strategies.Eigen(),
    "linear": strategies.Linear(),
    "paper_blockwise": strategies.Blockwise.paper(),
    "paper_geodesic": strategies.Geodesic.paper(),
}
"""Strategies of `IKD` by the name of their method; those of the paper have its settings."""

METHODS = (*STRATEGIES, *baselines.PEERS, "peers")
"""Names that `compare` takes: strategies of `IKD`, peers, and one that stands for several."""

_USUAL = ("pca", "isomap", "laplacian_eigenmaps", "tsne", "umap", "pacmap", "phate")


def expand(methods: str | Iterable[str]) -> list[str]:
    """Names of single methods, each once; of the group "peers" those that are installed."""
    names: list[str] = []
    for name in [methods] if isinstance(methods, str) else methods:
        check_choice("methods", name, METHODS)
        usual = [peer for peer in _USUAL if find_spec(baselines.PEERS[peer].module) is not None]
        names += usual if name == "peers" else [name]
    if not names:
        raise ValueError(f"methods must name at least one of {', '.join(METHODS)}, got none")
    return list(dict.fromkeys(names))


def with_refinements(names: list[str], refine: Any) -> list[tuple[str, str, Any]]:
    """Title, name and refinement of every row: strategies on a graph plain and refined."""
    rows: list[tuple[str, str, Any]] = []
    for name in names:
        rows.append((name, name, None))
        if refine is not None and name in STRATEGIES and STRATEGIES[name].uses_graph:
            rows.append((f"{name} + {type(refine).__name__.lower()}", name, refine))
    return rows


def run_within(seconds: float, work: Callable[[], Timed]) -> Timed:
    """Result of work in a process that is ended after so many seconds."""
    from joblib.externals.loky import TimeoutError, get_reusable_executor

    executor = get_reusable_executor(max_workers=1)
    try:
        return executor.submit(work).result(seconds)
    except TimeoutError:
        failure = f"stopped after {seconds:g} s (time limit)"
    # A peer that ends its process.
    except Exception as error:
        failure = f"{type(error).__name__}: its process ended"
    executor.shutdown(kill_workers=True)
    return Timed(None, seconds, 0.0, failure, ())
