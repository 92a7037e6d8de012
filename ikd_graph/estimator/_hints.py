"""Names of parameters that users of other packages bring, and what stands for them here."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

from .._base.suggest import suggest

ELSEWHERE = {
    "n_neighbors": "graph=15 joins every point to 15 neighbors",
    "k": "graph=15 joins every point to 15 neighbors",
    "perplexity": "graph=15 joins every point to 15 neighbors",
    "metric": "affinity='euclidean' (or 'correlation', 'cosine', ...) says how rows are compared, "
    "affinity='precomputed_distance' takes distances",
    "dissimilarity": "affinity='precomputed_distance' takes distances",
    "min_dist": "distances are estimated, not chosen: there is nothing to set",
    "spread": "distances are estimated, not chosen: there is nothing to set",
    "gamma": "kernel='auto' fits the kernel; a length scale only scales the embedding",
    "length_scale": "kernel='auto' fits the kernel; a length scale only scales the embedding",
    "n_epochs": "refine=refine.Likelihood(max_iter=...) bounds the steps of a refinement",
    "max_iter": "refine=refine.Likelihood(max_iter=...) bounds the steps of a refinement",
    "n_init": "refine=refine.Likelihood(restarts=...) starts from several embeddings",
    "init": "the initial embedding is the closed form of strategy=",
    "threshold": "graph=0.3 joins the pairs whose correlation exceeds 0.3",
    "seed": "random_state=0",
    "dim": "n_components=2",
    "n_dims": "n_components=2",
    "n_clusters": "coordinates are found, not clusters; cliques.summary describes groups",
}
"""What to pass instead of a parameter of other packages."""


def with_hints(function: Callable[..., None]) -> Callable[..., None]:
    """Let a function answer an unknown parameter with what stands for it."""
    known = [name for name in inspect.signature(function).parameters if name != "self"]

    @wraps(function)
    def hinted(*args: Any, **kwargs: Any) -> None:
        for name in kwargs:
            if name not in known:
                hint = f"; {ELSEWHERE[name]}" if name in ELSEWHERE else suggest(name, known)
                hint = hint or f"; it has {', '.join(known)}"
                raise TypeError(f"IKD has no parameter {name!r}{hint}")
        function(*args, **kwargs)

    return hinted
