"""Memory of a plan, checked before work is done."""

from __future__ import annotations

from .. import _memory
from .._validation import check_memory
from ._plan import GRAPHLESS, Plan


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
    check_memory(what, needed, _memory.available(), cure)
