"""What "auto" stands for where rows have holes and pairs of rows may be unknown."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .. import dimension, graph, kernels
from .._base import limits
from .._base.progress import Stages
from .._base.types import Integers
from .._settings import Settings
from ..gplvm import MOST_WORK, work_of
from ..graph import Neighbors, Threshold
from ..refine import Likelihood, Stress
from ..similarity import AFFINITIES
from ..strategies import Geodesic
from ._moments import moments
from ._numbers import MIN_NEIGHBORS, N_NEIGHBORS, with_landmarks

_PATTERNS = 200
"""Rows whose columns are tried as those of a block without holes."""


def resolve_pairwise(rows: NDArray[np.floating], requested: Settings, stages: Stages) -> Settings:
    """Resolve every setting that is "auto" for rows with holes.

    Parameters
    ----------
    rows : (n, p) ndarray of float
        Rows, NaN for what is not known.
    requested : Settings
        What was asked for.
    stages : Stages
        Clock and progress bar.

    Returns
    -------
    Settings
        Nothing is left to choose.
    """
    settings = requested.choose(
        "of a table with holes some pairs of rows are unknown: paths on a graph need no more",
        strategy=Geodesic(),
    )
    if not settings.strategy.uses_graph and not settings.strategy.uses_kernel:
        raise ValueError(
            "strategy must be 'geodesic' or 'blockwise' for missing='pairwise', got "
            f"{settings.strategy.name!r}, which projects whole rows; missing='impute' fills them in"
        )
    enough = rows.shape[1] >= limits.FEWEST_COLUMNS
    why = "rows share different columns" + (
        ", and a correlation needs no common scale" if enough else ", too few for correlations"
    )
    settings = settings.choose(why, affinity="correlation" if enough else "euclidean")
    settings = _with_size(rows, settings, stages)
    settings = _with_graph(rows, settings)
    settings = _with_refinement(rows, settings)
    named = "auto" if settings.kernel == "auto" else kernels.get(settings.kernel)
    kernel = kernels.SquaredExponential() if named == "auto" else named
    settings = replace(settings, kernel=kernel, likelihood_kernel=kernel)
    return with_landmarks(rows, settings)


def complete_block(rows: NDArray[np.floating]) -> tuple[Integers, Integers]:
    """Rows and columns of the largest block without holes found, of 20 of either if any is.

    Tried are the columns without holes, those that are left where the row or column with the
    largest fraction of holes is dropped until there are none, and those that a row has.
    """
    known = np.isfinite(rows)
    _, first = np.unique(np.packbits(known, axis=1), axis=0, return_index=True)
    tried = np.array([known.all(axis=0), _greedy_columns(known), *known[first[:_PATTERNS]]])
    counts = known.astype(np.float32) @ tried.T.astype(np.float32)
    inside = counts == tried.sum(axis=1)
    shapes = np.column_stack([inside.sum(axis=0), tried.sum(axis=1)])
    enough = np.minimum(shapes.min(axis=1), limits.FEWEST_COLUMNS)
    best = np.lexsort((shapes.prod(axis=1), enough))[-1]
    return np.flatnonzero(inside[:, best]), np.flatnonzero(tried[best])


def _greedy_columns(known: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Columns that are left, (p,), where what has most holes is dropped until there are none."""
    n = len(known)
    left = np.ones(sum(known.shape), dtype=np.bool_)
    holes = np.concatenate([(~known).sum(axis=1), (~known).sum(axis=0)])
    while holes[left].any():
        n_rows, n_columns = left[:n].sum(), left[n:].sum()
        sizes = np.repeat([n_columns, n_rows], known.shape)
        worst = int(np.argmax(np.where(left, holes / sizes, -1.0)))
        left[worst] = False
        if worst < n:
            holes[n:] -= ~known[worst]
        else:
            holes[:n] -= ~known[:, worst - n]
    return left[n:]


def _with_size(rows: NDArray[np.floating], settings: Settings, stages: Stages) -> Settings:
    """Return settings with a number of coordinates, estimated from a block without holes."""
    if settings.n_components != "auto":
        return settings
    block = rows[np.ix_(*complete_block(rows))]
    if min(block.shape) < limits.FEWEST_COLUMNS:
        raise ValueError(
            "n_components must be a number for a table with holes whose largest block without any "
            f"has {block.shape[0]} rows and {block.shape[1]} columns, got 'auto'; name it"
        )
    with stages("dimensions"):
        result = dimension.estimate(block)
    why = f"{result} by held-out columns of a block without holes"
    return settings.choose(why, n_components=result.dimension)


def _with_graph(rows: NDArray[np.floating], settings: Settings) -> Settings:
    """Return settings with the numbers of the graph; an unknown pair bears no witness."""
    if not settings.strategy.uses_graph:
        return replace(settings, graph=None)
    affinity = AFFINITIES[settings.affinity]
    rule = Neighbors() if affinity.euclidean else Threshold()
    settings = settings.choose("a pair is an edge where its own columns show it", graph=rule)
    rule = settings.graph
    if isinstance(rule, Neighbors) and rule.k == "auto":
        rule = rule.replace(k=N_NEIGHBORS)
    if isinstance(rule, Threshold) and rule.s0 == "auto" and rule.fdr is None:
        columns = float(np.median(np.isfinite(rows).sum(axis=1)))
        rule = rule.replace(
            s0=graph.auto_threshold(columns), n_neighbors=rule.n_neighbors or MIN_NEIGHBORS
        )
    if getattr(rule, "prune", None) == "auto":
        rule = rule.replace(prune=False)
    return replace(settings, graph=rule)


def _with_refinement(rows: NDArray[np.floating], settings: Settings) -> Settings:
    """Return settings with a refinement, the likelihood of the known entries where it applies."""
    on_graph = settings.strategy.uses_graph
    if settings.refine == "auto":
        if not on_graph:
            return settings.choose("all pairs are known", refine=None)
        why_not = _why_no_likelihood(rows, settings)
        if why_not:
            settings = settings.choose(why_not, refine=Stress())
        else:
            why = "a block without holes looks like samples of a Gaussian process"
            settings = settings.choose(
                f"{why}: likelihood of the known entries", refine=Likelihood()
            )
    elif settings.by_likelihood and work_of(np.isfinite(rows)) > MOST_WORK:
        settings = replace(settings, refine=Stress()).add_warning(
            "refine='likelihood' became 'stress': the holes leave too many sets of rows that know "
            "the same columns for the likelihood of the known entries; missing='impute' fills them"
        )
    if settings.refine is None:
        return settings
    weights = "uniform" if AFFINITIES[settings.affinity].euclidean else "precision"
    return replace(settings, refine=settings.refine.resolve(weights=weights))


def _why_no_likelihood(rows: NDArray[np.floating], settings: Settings) -> str:
    """Why the likelihood of the known entries is not maximized; nothing where it is."""
    if AFFINITIES[settings.affinity].over_pairs != "correlation":
        return "distances are taken as they are"
    block = rows[np.ix_(*complete_block(rows))]
    if min(block.shape) < limits.FEWEST_COLUMNS:
        return "no block without holes is large enough to check the model of the likelihood"
    if not moments(block).fit_the_model:
        return "a block without holes does not look like samples of a Gaussian process"
    if work_of(np.isfinite(rows)) > MOST_WORK:
        return "stress, since the likelihood of so many patterns of holes is not affordable"
    return ""
