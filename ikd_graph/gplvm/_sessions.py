"""Which mirror image of a part of a map is the most likely, and what the others cost.

Rows of a session share all their columns, so that a session is solved well by itself, while the
columns that it shares with others may leave open whether it is mirrored; and where a map is thin,
one half of it may be mirrored along the line that both halves share.

Mirror images are compared under a noise of half the mean square of the rows. With as little noise
as there is, an optimum is decided by how well its coordinates fit the smallest differences between
rows, which says little about its shape.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._base import limits
from .._base.threads import single_threaded_blas
from .._base.types import Floats
from .._base.validation import few
from ..blockwise import rigid_fit
from ..covariance import pairwise, to_correlation
from ..eigen import seeded_eigsh
from ..kernels import StationaryKernel
from ._descent import Clock, Objective, Optimum, converge, descend
from ._likelihood import GroupLikelihood, column_groups, known_columns, sample_covariance
from ._rivals import ONE_OPTIMUM, same
from ._search import closed_form, local_optimum

OPEN_BELOW = 10.0
"""Nats of log likelihood by which a mirror image must fall short for a part to be fixed."""

MOST_MISFIT = 2.2
"""Mean squared residual of the correlations of two sessions, over their sampling variance, above
which the sessions do not lie to one another as the embedding says."""

MOST_SESSIONS = 30
"""Sessions up to which each is mirrored once a round."""

_FLOORS = (4.0, 2.0, 1.0, 0.5)
"""Noise floors, as fractions of the mean square; mirror images are compared under the last."""

_STEPS = 60  # under each
_TOLERANCE = 1e-6  # of the log likelihood, below which a step of a comparison is the last
_ROUNDS = 3
_LEAST_PAIRS = 100  # of two sessions
_CUTS = (0.2, 0.35, 0.5, 0.65, 0.8)  # fractions of the rows on one side of a fold
_HINGE = 0.05  # fraction of the rows, on either side of a cut, that a fold leaves in place


class SessionJoints(NamedTuple):
    """Whether parts of a map may be mirrored against the others.

    Parts are the sessions, that is rows that know the same columns, and the smaller sides of cuts
    across the longest direction of the map.
    """

    parts: NDArray[np.bool_]  # (n_parts, n) rows of each part
    gaps: Floats  # (n_parts,) log likelihood lost by the mirrored part, in nats
    misfits: Floats  # (n_parts,) largest misfit of a session with another, 0 for sides of cuts

    @property
    def kinds(self) -> NDArray[np.str_]:
        """Class of each part: "fixed", "mirrored", or "free" where it does not fit another."""
        kinds = np.where(self.gaps > OPEN_BELOW, "fixed", "mirrored")
        return np.where(self.misfits > MOST_MISFIT, "free", kinds).astype("<U8")

    @property
    def n_open(self) -> int:
        """Number of parts that are not fixed."""
        return int(np.count_nonzero(self.kinds != "fixed"))

    def of_rows(self, inverse: NDArray[np.int64]) -> SessionJoints:
        """Return the same of all rows, of which ``inverse`` (n,) names the distinct ones."""
        return self._replace(parts=self.parts[:, inverse])

    @property
    def fixed(self) -> NDArray[np.str_]:
        """Class of every row: that of the part it belongs to that is fixed least."""
        out = np.full(self.parts.shape[1], "fixed", dtype="<U8")
        for kind in ("mirrored", "free"):
            out[self.parts[self.kinds == kind].any(axis=0)] = kind
        return out

    def __str__(self) -> str:
        lines = []
        for part, gap, misfit, kind in zip(*self, self.kinds, strict=True):
            named = f"rows {few(np.flatnonzero(part))}"
            if kind == "free":
                lines.append(
                    f"{named} may lie elsewhere: their correlations with other rows differ from "
                    f"those of the embedding by {np.sqrt(misfit):.1f} standard errors in the mean"
                )
            elif kind == "mirrored":
                lines.append(f"{named} may be mirrored: that costs {gap:.0f} nats")
        return "\n".join(lines or ["no part of the map may be mirrored"])


def search_mirrored(
    latent: Floats,
    rows: NDArray[np.floating],
    kernel: StationaryKernel,
    time_budget: float | None = None,
) -> tuple[Floats, int, SessionJoints | None]:
    """Maximize the likelihood of the known entries over mirror images of parts of the map as well.

    The likelier of two annealed descents, one from the closed form, one from sessions solved one by
    one, is mirrored part by part. Every mirror image is the start of another descent; what these
    reach is kept where it is better, and says how sure each part is. Returns the coordinates,
    centered, the evaluations of the likelihood, and whether parts may be mirrored, which is not
    known where the time budget, in seconds, ended the search.
    """
    every, least = np.arange(len(rows)), latent.shape[1] + 3
    groups_of_rows = [numbers for _, numbers in known_columns(rows.T) if numbers.size >= least]
    sessions = np.array([np.isin(every, numbers) for numbers in groups_of_rows])
    groups, clock = column_groups(rows / np.sqrt(np.nanmean(rows**2))), Clock(time_budget)
    objective = Objective(GroupLikelihood(groups), kernel, latent.shape[1], clock)
    searched = 1 < len(sessions) <= MOST_SESSIONS
    with single_threaded_blas():
        starts = [latent, _one_by_one(latent, rows, sessions, kernel)] if searched else [latent]
        reached = [_descend(objective, start, _FLOORS) for start in starts]
        best, joints = min(reached, key=lambda at: at.value), None
        for _ in range(_ROUNDS if searched else 0):
            before = best.value
            best, joints = _mirror_parts(objective, best, sessions, rows.shape[1])
            if before - best.value <= _TOLERANCE * abs(before):
                break
        end = converge(objective, best).vector
    if clock.expired:
        joints = None
    if joints is not None:
        misfits = np.zeros(len(joints.parts))
        misfits[: len(sessions)] = _misfits(objective, end, rows, sessions)
        joints = joints._replace(misfits=misfits)
    latent = objective.model(end).latent
    return latent - latent.mean(axis=0), clock.n_evaluations, joints


def _descend(
    objective: Objective, latent: Floats, floors: Sequence[float] = _FLOORS[-1:]
) -> Optimum:
    """Optimum that is reached from an embedding with as much noise as signal."""
    start = Optimum(np.inf, objective.vector(latent, 0.5, 0.5), "")
    return descend(objective, start, floors, _STEPS, _TOLERANCE)


def _one_by_one(
    init: Floats, rows: NDArray[np.floating], sessions: NDArray[np.bool_], kernel: StationaryKernel
) -> Floats:
    """Embedding of sessions that are solved by themselves and lie as they do in ``init``."""
    latent = init.copy()
    for inside in sessions:
        own = rows[inside][:, np.isfinite(rows[inside][0])]
        cov = sample_covariance(own, centered=False)
        start = closed_form(to_correlation(cov), init.shape[1], kernel, own.shape[1])
        alone = local_optimum(cov, [start], kernel).latent
        latent[inside] = rigid_fit(alone, init[inside]).apply(alone)
    return latent


def _mirror_parts(
    objective: Objective, best: Optimum, sessions: NDArray[np.bool_], n_columns: int
) -> tuple[Optimum, SessionJoints]:
    """Descend once from the mirror image of every part; what leads back is no other optimum."""
    parts, tried = [], []
    latent = objective.model(best.vector).latent
    mirrored = ((inside, _mirrored_session(objective, latent, inside)) for inside in sessions)
    for part, start in chain(mirrored, _folds(latent, objective.kernel)):
        parts.append(part)
        tried.append(_descend(objective, start))
        best = min(best, tried[-1], key=lambda at: at.value)
    gaps = np.full(len(parts), np.inf)
    seen = [objective.model(best.vector).latent]
    # The smallest of the parts whose mirror images lead to one optimum is the one that moved.
    for k in sorted(range(len(parts)), key=lambda k: int(parts[k].sum())):
        reached = objective.model(tried[k].vector).latent
        if not any(same(reached, other, ONE_OPTIMUM) for other in seen):
            gaps[k] = n_columns * (tried[k].value - best.value)
            seen.append(reached)
    return best, SessionJoints(np.array(parts), gaps, np.zeros(len(parts)))


def _misfits(
    objective: Objective, end: Floats, rows: NDArray[np.floating], sessions: NDArray[np.bool_]
) -> Floats:
    """Largest mean of squared standardized residuals of a session's correlations with another.

    An optimum in which a session lies wrongly is seen in the pairs across, whatever start led to
    it; over a block of many pairs the mean of a right one is about 1.
    """
    corr, counts = pairwise(rows)
    latent, kernel, variance, noise = objective.model(end)
    model = kernel.matrix(latent)
    model *= variance / (variance + noise)
    known = np.isfinite(corr) & (counts >= limits.FEWEST_COLUMNS)
    squares = np.where(known, counts * (corr - model) ** 2 / (1.0 - model**2) ** 2, 0.0)
    member = sessions.astype(np.float64)
    total, pairs = member @ squares @ member.T, member @ known @ member.T
    np.fill_diagonal(pairs, 0.0)
    enough = pairs >= _LEAST_PAIRS
    return np.asarray(np.where(enough, total / np.maximum(pairs, 1.0), 0.0).max(axis=1))


def _mirrored_session(objective: Objective, latent: Floats, inside: NDArray[np.bool_]) -> Floats:
    """Return a map with the mirror image of some rows about their mean that costs least."""
    center = latent[inside].mean(axis=0)
    axes, images = np.linalg.svd(latent[inside] - center, full_matrices=False)[2], []
    for signs in list(product((1.0, -1.0), repeat=len(axes)))[1:]:
        moved = latent.copy()
        moved[inside] = (latent[inside] - center) @ (axes.T * signs) @ axes + center
        images.append(moved)
    return min(images, key=lambda image: objective.exact(objective.vector(image, 0.5, 0.5)))


def _folds(latent: Floats, kernel: StationaryKernel) -> Iterator[tuple[NDArray[np.bool_], Floats]]:
    """Sides of cuts across the longest direction of a map, and the map folded along the other.

    The direction is the second eigenvector of the random walk between points that are near in
    covariance; a fold leaves the plane that the points at the cut span best where it is.
    """
    n, m = latent.shape
    near = kernel.matrix(latent)
    root = np.sqrt(near.sum(axis=1))
    # A start that no eigenvector is orthogonal to, and the same in every run.
    first = np.cos(np.arange(n, dtype=np.float64))
    values, vectors = seeded_eigsh(near / np.outer(root, root), 2, v0=first)
    walk = vectors[:, values.argmin()] / root
    rank = np.empty(n, dtype=np.int64)
    rank[np.argsort(walk, kind="stable")] = np.arange(n)
    for cut in _CUTS:
        at = np.abs(rank - cut * n) <= max(_HINGE * n, m + 1)
        center = latent[at].mean(axis=0)
        normal = np.linalg.svd(latent[at] - center, full_matrices=False)[2][-1]
        side = rank < cut * n if cut < 0.5 else rank >= cut * n
        moved = latent.copy()
        moved[side] -= 2.0 * np.outer((moved[side] - center) @ normal, normal)
        yield side, moved
