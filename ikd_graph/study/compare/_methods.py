"""Names of methods, and what each stands for."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from typing import Any

from ... import kernels
from ..._checks import check_choice
from ...graph import Threshold
from ...strategies import Blockwise, Geodesic
from .. import baselines

IKD_METHODS: dict[str, dict[str, Any]] = {
    "ikd": {},
    **{name: {"strategy": name, "refine": None} for name in ("blockwise", "geodesic", "eigen")},
    **{
        f"{name}+{refine}": {"strategy": name, "refine": refine}
        for name in ("blockwise", "geodesic")
        for refine in ("stress", "likelihood")
    },
    **{
        f"paper_{kind.name}": {
            "strategy": kind.paper(),
            "graph": Threshold(0.1, prune=False),
            "kernel": "squared_exponential",
            "affinity": "covariance",
            "refine": None,
        }
        for kind in (Blockwise, Geodesic)
    },
}
"""Parameters of ``IKD`` that each of our own names stands for.

``ikd`` chooses everything by itself. ``blockwise``, ``geodesic`` and ``eigen`` are the closed form
alone; ``blockwise+likelihood`` is the same strategy, refined by the likelihood; ``paper_blockwise``
and ``paper_geodesic`` have the settings of Li & Wu (2024).
"""

DEFAULT_METHODS = ("ikd", "blockwise", "geodesic", "eigen", "pca", "isomap", "umap")
"""What ``compare`` runs unless told otherwise; UMAP only where it is installed."""

PEER_GROUP = (
    "pca",
    "isomap",
    "laplacian_eigenmaps",
    "tsne",
    "umap",
    "densmap",
    "opentsne",
    "pacmap",
    "localmap",
    "phate",
)
"""What ``peers`` stands for, as far as it is installed: the maps that people use most."""


def expand(methods: Iterable[str | tuple[str, Any]] | None) -> list[tuple[str, Any]]:
    """Names and estimators of the methods to run.

    Parameters
    ----------
    methods : iterable of str or (str, estimator), or None
        As for `compare`.

    Returns
    -------
    list of (str, estimator or None)
        ``kernel_pca`` as its four kernels, ``peers`` as those that are installed.
    """
    known = (*IKD_METHODS, *baselines.PEERS, "kernel_pca", "peers")
    if methods is None:
        methods = [name for name in DEFAULT_METHODS if _can_run(name)]
    chosen: list[tuple[str, Any]] = []
    for entry in methods:
        if not isinstance(entry, str):
            name, estimator = entry
            if not hasattr(estimator, "fit_transform"):
                raise ValueError(
                    f"the estimator of method {name!r} must have fit_transform, got {estimator!r}"
                )
            chosen.append((name, estimator))
            continue
        check_choice("methods", entry, known)
        names = [entry]
        if entry == "kernel_pca":
            names = [f"kernel_pca_{kernel}" for kernel in baselines.KERNEL_PCA]
        elif entry == "peers":
            names = [name for name in PEER_GROUP if _can_run(name)]
        told = [name for name, estimator in chosen if estimator is None]
        chosen += [(name, None) for name in names if name not in told]
    if not chosen:
        raise ValueError(f"methods must name at least one of {', '.join(known)}, got none")
    return chosen


def with_kernel(
    methods: Iterable[str | tuple[str, Any]] | None, kernel: str | kernels.StationaryKernel
) -> list[str | tuple[str, Any]]:
    """Methods in which those of ours solve with a kernel.

    Parameters
    ----------
    methods : iterable of str or (str, estimator), or None
        As for `compare`.
    kernel : str or StationaryKernel
        Kernel of all methods of ours that are named; estimators are left as they are.

    Returns
    -------
    list of str or (str, estimator)
        What to compare.

    Examples
    --------
    >>> name, model = with_kernel(["eigen"], "matern")[0]
    >>> name, model.kernel
    ('eigen', 'matern')
    """
    out: list[str | tuple[str, Any]] = []
    for name, estimator in expand(methods):
        if estimator is None and name in IKD_METHODS:
            estimator = our_own(name, kernel=kernel)
        out.append(name if estimator is None else (name, estimator))
    return out


def our_own(name: str, **options: Any) -> Any:
    """Our estimator under one of its names."""
    from ...estimator import IKD

    return IKD(**{**IKD_METHODS[name], **options})


def _can_run(name: str) -> bool:
    """Whether what a method needs is installed."""
    return name not in baselines.PEERS or find_spec(baselines.PEERS[name].module) is not None
