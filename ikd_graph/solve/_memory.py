"""Memory of a plan, stated and checked before work is done."""

from __future__ import annotations

import logging

from .. import _limits, _memory
from .._validation import check_memory
from . import landmarks
from ._plan import GRAPHLESS, Plan

_log = logging.getLogger(__name__)

# Bytes for each point that a graph of 25 neighbours takes while its short cuts are looked for, the
# most of a fit beside the table (1 000 000 points: 2.0 GB), and while distances are measured on it.
_JUDGED, _WALKED = 2000.0, 700.0


def require_memory(n_samples: int, plan: Plan) -> None:
    """Raise MemoryError, before work is done, if the distances of a plan do not fit into memory."""
    if plan.strategy == "blockwise":
        return
    columns = n_samples if plan.n_landmarks is None else min(plan.n_landmarks, n_samples)
    # A table of distances and what is made of it on the way, in such tables, as measured.
    tables = 4.2 if plan.strategy in GRAPHLESS else 3.0
    needed = 8.0 * n_samples * columns * (tables if plan.n_landmarks is None else 1.2)
    if plan.n_landmarks is None:
        what = f"squared distances between {n_samples} points"
        cure = "n_landmarks=300 takes a few of them, n_landmarks='auto' chooses how many"
    else:
        what = f"distances from {columns} landmarks to {n_samples} points"
        cure = f"a smaller n_landmarks takes fewer; {columns} is too many here"
        if plan.strategy == "geodesic" and n_samples > _limits.SOLVED_WHOLE:
            what = f"a graph of {n_samples} points and {what}"
            needed = n_samples * max(_JUDGED, _WALKED + landmarks.entry_bytes(n_samples, columns))
            _log.info("about %.1f GB of memory beside the table", needed * 1e-9)
    check_memory(what, needed, _memory.available(), cure)
