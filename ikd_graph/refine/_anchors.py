"""Stress of more points than pairs of them can be looked at: each sees its edges and some anchors.

Anchors are drawn alike from all points and stand for them, each pair with one for as many as there
are points to an anchor: what a point sees has the expectation of what it would see of all. Nearby
points see the same anchors, whose chance moves them together; pairs drawn for each point by itself
scatter them. An anchor sees the other anchors as any point does. If it also saw all that see it,
points would lie well to anchors only, and anchors apart from the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import _jit, geodesics
from .._records import CsrGraph
from ._pairs import (
    ACROSS,
    ROWS,
    Floats,
    Pairs,
    Rule,
    Table,
    Weights,
    distances_of_lengths,
    path_precision,
    typical_length,
)

ANCHORS, FEWEST, ENTRIES = 1000, 100, 25 * 10**6
"""Points that stand for all, the fewest of them, and the entries that their columns may have, whose
distances and weights take 200 MB. With 1000 and 333 of 60 000 points in three dimensions R2 was
.934 and .930 (46 and 34 s), with 1000, 500 and 250 of 60 000 images in the plane the classes of
neighbours agreed in .710, .711 and .721 (70, 45 and 36 s)."""

# Anchors whose paths are in memory at a time, and entries of those: 80 MB, three times on the way.
_BATCH, _BATCH_ENTRIES = 50, 10**7
_ROWS = 4096  # that are weighed together


class Views(NamedTuple):
    """What each point sees: its edges, from both ends, and all anchors."""

    edges: Pairs
    anchors: NDArray[np.int64]  # (a,) sorted
    targets: NDArray[np.float32]  # (n, a)
    weights: NDArray[np.float32]  # (n, a), 0 where there is no path, or the point itself
    slack: float = 1.0
    leads: bool = False  # as in `Table`

    def majorise(self, points: Floats, force: Floats, by_row: Floats) -> None:
        """Fill the force on every point and what anchors weigh, and the stress of what it sees."""
        self.edges.majorise(points, force, by_row)
        # A pass over anchors waits for memory: single precision halves it, and tells distances as
        # well as they are known.
        single = points.astype(np.float32)
        places = np.ascontiguousarray(single[self.anchors].T)
        _jit.stress.majorise_anchors(places, *self[2:5], single, force, by_row)

    def coarse(self) -> Table:
        """All pairs of anchors."""
        targets, weights = (part[self.anchors] for part in (self.targets, self.weights))
        # A path has one length, whichever end it is measured from, but for its last bits.
        targets = np.float32(0.5) * (targets + targets.T)
        weights = np.float32(0.5) * (weights + weights.T)
        return Table(targets, weights, np.ones(targets.shape, dtype=np.bool_))


def views_of(g: CsrGraph, rule: Rule) -> Views:
    """Edges and paths from anchors."""
    n = g.n_nodes
    lengths = geodesics.distance_lengths(g, rule.kernel).weights
    anchors = _draw(g)
    own = np.arange(anchors.size)
    targets = np.empty((n, anchors.size), dtype=np.float32)
    measure = geodesics.distances_from(geodesics.path_lengths(g, rule.kernel, rule.path))
    for part in _batches(n, anchors.size):
        targets[:, part] = distances_of_lengths(rule.kernel, rule.path, measure(anchors[part])).T
    del measure
    if rule.weights.rule == "path":
        typical = typical_length(targets)
        trust = path_precision(lengths, typical)
        far = path_precision(targets, typical)
    else:
        trust, far = np.ones(lengths.size), np.ones(targets.shape, dtype=np.float32)
    labels = rule.weights.labels
    if rule.weights.rule == "component" and labels is not None:
        left = np.repeat(labels, np.diff(g.indptr))
        trust[left != labels[g.indices]] *= ACROSS
        far[labels[:, None] != labels[anchors]] *= ACROSS
    far *= n / anchors.size
    trust[~np.isfinite(lengths)] = far[~np.isfinite(targets)] = 0.0
    far[anchors, own] = 0.0
    lengths = np.where(np.isfinite(lengths), lengths, 0.0)
    targets[~np.isfinite(targets)] = 0.0
    return Views(Pairs(g.indptr, g.indices, lengths, trust), anchors, targets, far)


def stages_of_views(views: Views, weights: Weights) -> Iterator[Views]:
    """The problems of all points in turn, once the anchors among themselves are solved."""
    more = weights.rows is not None or weights.slack < 1.0
    yield views._replace(leads=more)
    if weights.rows is not None:
        # As among all pairs, on one scale, from the anchors' sides.
        rows = np.empty_like(views.targets)
        for part in _batches(*rows.shape):
            rows[:, part] = weights.rows(views.anchors[part]).T
        measured = views.weights > 0.0
        typical = rows.sum(where=measured, dtype=np.float64)
        scale = views.targets.sum(where=measured, dtype=np.float64)
        rows *= ROWS * scale / (typical if typical > 0.0 else 1.0)
        rows += (1.0 - ROWS) * views.targets
        views = views._replace(targets=rows)
    if more:
        if weights.rows is None and weights.rule != "path":
            _weigh_by_length(views)
        yield views._replace(slack=weights.slack)


def _weigh_by_length(views: Views) -> None:
    """Let far anchors count less, in place: the errors of the steps of a path add up.

    Of 70 000 images in the plane it took 5-NN accuracy from .704 to .721 and trustworthiness from
    .901 to .904, in about as many steps. Not where rows have a say, whose distances are no sums.
    Confirmed on the tables that `majorize` names for its tolerance.
    """
    typical = typical_length(views.targets[views.anchors])
    for start in range(0, len(views.targets), _ROWS):
        part = slice(start, start + _ROWS)
        views.weights[part] *= path_precision(views.targets[part], typical)


def _batches(n: int, count: int) -> Iterator[slice]:
    """Anchors whose columns (n, b) are looked at together."""
    step = max(1, min(_BATCH, _BATCH_ENTRIES // n))
    return (slice(start, start + step) for start in range(0, count, step))


def lift(points: Floats, anchors: NDArray[np.int64], placed: Floats) -> Floats:
    """All points, moved as the affine map does that takes the anchors nearest to their places."""
    design = np.column_stack([points, np.ones(len(points))])
    moved = design @ np.linalg.lstsq(design[anchors], placed, rcond=None)[0]
    moved[anchors] = placed
    return np.ascontiguousarray(moved)


def _draw(g: CsrGraph) -> NDArray[np.int64]:
    """Anchors, whatever order the points come in."""
    n = g.n_nodes
    total = np.add.reduceat(np.append(g.weights, 0.0), g.indptr[:-1])
    order = np.argsort(np.where(np.diff(g.indptr) > 0, total, 0.0), kind="stable")
    drawn = np.random.default_rng(0).permutation(n)[
        : min(max(FEWEST, min(ANCHORS, ENTRIES // n)), n)
    ]
    return np.sort(order[drawn])
