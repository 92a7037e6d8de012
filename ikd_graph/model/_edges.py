"""Whether edges that the others speak against are dropped: the latents without and with them tell.

What closes a ring or a torus can look like a short cut to the edges around it, which see no more
than a way that is long. But points that a tear takes apart, or a short cut brings together,
predict one another's measurements worse. Of tori, strange attractors and rolls (seeds 2, 3, 5 and
900 to 905) the wrong latent was 3 to 40 standard errors behind, on either side.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._records import CsrGraph
from ..evidence import Choice, Judge, sentence
from ..graph import EdgeScores
from ..similarity import Similarity
from ..solve import Plan, geodesic_frame
from ._task import Task


class Trusted(NamedTuple):
    """Graph of the edges that are kept."""

    graph: CsrGraph
    suspicion: EdgeScores | None = None  # what speaks against each edge
    frame: NDArray[np.float64] | None = None  # latent of the graph's paths, where edges were judged


def graph_for(
    similarity: Similarity, choice: Choice, plan: Plan, task: Task, judge: Judge | None
) -> Trusted:
    """Graph of a choice and what speaks against its edges, with a reason for what became of them.

    Where ``keep_edges`` is "auto" and there is a judge, edges are dropped only if the latent
    without them predicts more; without a judge all that the others speak against are.
    """
    rule = choice.threshold, choice.n_neighbors
    if task.keep_edges is True:
        return Trusted(similarity.graph_of(*rule, mutual=choice.mutual))
    g, suspicion = similarity.protected_graph_of(
        *rule, mutual=choice.mutual, trusted=choice.trusted
    )
    if suspicion is None or not len(suspicion.pairs):
        return Trusted(g, suspicion)
    many = f"{len(suspicion.pairs)} of {g.n_edges + len(suspicion.pairs)} edges"
    why = f"the others {similarity.against}"
    frame = None
    if judge is not None and task.keep_edges == "auto":
        whole = similarity.graph_of(*rule, mutual=choice.mutual)
        frame, frame_within = (_by_paths(similarity, some, plan) for some in (g, whole))
        without, within = judge.predict(frame), judge.predict(frame_within)
        gain, error = without.score - within.score, judge.error(without, within)
        told = (
            "without them neighbours in the embedding predict one another's measurements "
            f"{'better' if gain > 0.0 else 'worse'}, by a score of {abs(gain):.2f} (standard error "
            f"{error:.2f})"
        )
        if gain <= error:
            what = f"{many} were kept that look like short cuts"
            choice.reasons["keep_edges"] = sentence(what, told, "keep_edges=False")
            none = suspicion._replace(pairs=suspicion.pairs[:0], scores=suspicion.scores[:0])
            return Trusted(whole, none, frame_within)
        why += f", and {told}"
    choice.reasons["keep_edges"] = (
        f"{many} were dropped, because {why}. In Python, removed_edges_ lists them. Pass "
        "keep_edges=True to change this."
    )
    return Trusted(g, suspicion, frame)


def _by_paths(similarity: Similarity, g: CsrGraph, plan: Plan) -> NDArray[np.float64]:
    """Latent of the shortest paths in a graph, of many points by a few landmarks."""
    return geodesic_frame(similarity.join(g), plan)
