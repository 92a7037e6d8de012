"""What to say of a graph in several components, with remedies that work."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .. import _limits, graph
from .._records import CsrGraph
from .._validation import check_graph_connected
from ..evidence import Choice
from ..similarity import Similarity

if TYPE_CHECKING:
    from ._task import Task


def report_pieces(
    similarity: Similarity,
    joined: CsrGraph,
    labels: NDArray[np.int64],
    choice: Choice,
    task: Task,
) -> None:
    """Warn of components where the user named the graph; else say it among the reasons.

    ``joined`` is the graph after its components were joined, or as it was; ``labels`` are the
    components before. Reasons are added to ``choice``.
    """
    sizes = np.bincount(labels, task.copies).astype(np.int64)
    what = (
        f"the graph has {sizes.size} components (largest {int(sizes.max())} of {int(sizes.sum())} "
        "points); they were "
    )
    if task.disconnected == "separate":
        what += "laid side by side, so that distances between them mean nothing"
        cure = "disconnected='join' bridges them"
    else:
        bridges = (
            "1 bridge (a single edge), which alone fixes"
            if sizes.size == 2
            else f"{sizes.size - 1} bridges (single edges), which alone fix"
        )
        what += f"joined by {bridges} their relative positions"
        cure = connecting_settings(similarity, joined, labels, choice)
    if task.wishes.names_graph:
        warnings.warn(f"{what}; {cure}", UserWarning, stacklevel=4)
    else:
        choice.reasons["disconnected"] = f"{what[0].upper()}{what[1:]}; {cure}."


def refuse_pieces(similarity: Similarity, g: CsrGraph, choice: Choice, task: Task) -> None:
    """Raise if the graph is in several components."""
    labels = graph.component_labels(g)
    sizes = np.bincount(labels, task.copies).astype(np.int64)
    if sizes.size > 1:
        cure = "disconnected='separate' solves them one by one"
        if not similarity.is_graph:
            cure = connecting_settings(similarity, similarity.join(g), labels, choice)
        check_graph_connected(sizes, cure)


def connecting_settings(
    similarity: Similarity, joined: CsrGraph, labels: NDArray[np.int64], choice: Choice
) -> str:
    """Settings under which the graph is connected by its own rule.

    Every bridge is an edge of the neighbour graph from the rank on that its ends have among each
    other's neighbours, and of the threshold graph below its similarity. Where it takes long to find
    those ranks no number is named. Returns a clause for the end of a message.
    """
    left, right, _ = graph.edges(joined)
    bridge = labels[left] != labels[right]
    low, high = left[bridge], right[bridge]
    if low.size * similarity.n_samples > _limits.RANKED_PAIRS:
        return "a larger n_neighbors leaves fewer"
    ranks = np.stack([_ranks(similarity, low, high), _ranks(similarity, high, low)])
    # Where one end may name the other; pieces of a mutual graph are joined like that as well.
    both = choice.mutual and not similarity.estimates_kernel
    needed = ranks.max(axis=0) if both else ranks.min(axis=0)
    cures = [f"n_neighbors={int(needed.max())}"]
    weakest = float(similarity.between(low, high).min())
    level = float(f"{0.99 * weakest:.2g}")
    level = level if level < weakest else float(f"{0.9 * weakest:.2g}")
    if choice.threshold is not None and 0.0 < level < 1.0:
        cures.append(f"threshold={level:g}")
    return f"{' or '.join(cures)} connects the graph"


def _ranks(
    similarity: Similarity, points: NDArray[np.int64], others: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Rank of each other point among the neighbours of a point, the last of equals."""
    ranks = np.empty(points.size, dtype=np.int64)
    for start in range(0, points.size, 256):
        part = slice(start, start + 256)
        known = np.asarray(similarity.block(points[part]), dtype=np.float64)
        rows = np.arange(len(known))
        tied = known[rows, others[part]] - 1e-7
        known[rows, points[part]] = -np.inf
        ranks[part] = np.count_nonzero(known >= tied[:, None], axis=1)
    return np.minimum(ranks, similarity.n_samples - 1)
