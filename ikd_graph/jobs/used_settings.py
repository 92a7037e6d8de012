"""Settings of a fitted model: as parameters, and in words."""

from typing import Any

from ..estimator import IKD
from ..graph import Rule

NAMES = ("strategy", "graph", "kernel", "affinity", "refine")
"""Parameters of `IKD` that "auto" resolves, besides the number of coordinates."""


def used_parameters(model: IKD) -> dict[str, Any]:
    """Parameters of `IKD` with which a fit has nothing left to choose.

    Examples
    --------
    >>> from ikd_graph import IKD
    >>> from ikd_graph.datasets import half_moons
    >>> used_parameters(IKD(graph=7).fit(half_moons(60).X))["graph"]
    Neighbors(k=7, prune=True)
    """
    settings = model.settings_
    used = {name: getattr(settings, name) for name in NAMES}
    used["kernel"] = model.kernel_
    if not used["strategy"].uses_kernel:
        del used["kernel"]
    if model.graph_ is None or not isinstance(used["graph"], Rule):
        # None was used, or one of the points of this table alone.
        del used["graph"]
    return {"n_components": model.n_components_, **used}


def describe_graph(model: IKD) -> str:
    """Describe what joins two points of a fitted model.

    Examples
    --------
    >>> from ikd_graph import IKD
    >>> from ikd_graph.datasets import half_moons
    >>> describe_graph(IKD(graph=7).fit(half_moons(60).X))
    '7 nearest neighbors'
    """
    if model.graph_ is None:
        return "none: all pairs of points are used"
    rule = model.settings_.graph
    return (rule.describe() if isinstance(rule, Rule) else "") or "as given"


def describe_settings(model: IKD) -> dict[str, str]:
    """How rows were compared and joined, the same words on every page and in every command."""
    return {"similarity": model._result.similarity.affinity.summary, "graph": describe_graph(model)}
