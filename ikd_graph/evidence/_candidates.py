"""Which similarities, graphs and polishes are tried where "auto" leaves them open."""

from __future__ import annotations

from typing import NamedTuple

from .. import _limits
from ..similarity import AFFINITIES
from ._choose import Wishes
from ._table import Evidence

TRIED = (
    "euclidean",
    "standardized_euclidean",
    "correlation",
    "cosine",
    "shared_neighbors",
    "hellinger",
)
"""Similarities that "auto" tries, the last for counts only; of equal ones the first is taken.

Scaled columns are tried where they tell more of columns that were left out, see `scaling_helps`."""

FEWEST_COLUMNS, FEWEST_POINTS = 20, 20
"""Table below which no order of neighbours is tried, and no likelihood: its process cannot place
new rows by so few numbers, and on iris their neighbours voted .93 where those of the fit voted .96.
"""

# With fewer, a correlation of .7 is within five standard errors of none.
_THRESHOLD_COLUMNS = 50


class Candidate(NamedTuple):
    """A similarity, whether its values are taken for those of a kernel or for an order, and how."""

    affinity: str
    trusted: bool
    strategy: str | None = None  # None leaves it as it was asked for


class Trial(NamedTuple):
    """A candidate that was fitted and judged."""

    affinity: str
    graph: str  # "threshold", "neighbors", or "none"
    refine: str | None
    score: float  # directions of the measurements that are predicted
    standard_error: float  # of its difference from what was taken; 0 for that itself
    strategy: str = "geodesic"


def candidates(
    affinity: str,
    wishes: Wishes,
    evidence: Evidence,
    *,
    n_samples: int,
    linear: bool = False,
) -> list[Candidate]:
    """What is tried under the settings that were given, the plainest first.

    Parameters
    ----------
    affinity : str
        Name of an affinity, or "auto".
    wishes : Wishes
        The other settings.
    evidence : Evidence
        What the table says about the model.
    n_samples : int
        Number n of points.
    linear : bool
        Whether principal components are tried beside what the graph gives.

    Returns
    -------
    list of Candidate
        At least one. Where the table looks like samples of the model the likelihood judges, and
        the one candidate is the trusted correlation.
    """
    if affinity != "auto":
        names: tuple[str, ...] = (affinity,)
    elif wishes.threshold is not None and wishes.threshold != "auto":
        names = ("correlation",)
    else:
        names = tuple(n for n in TRIED if _fits(n, wishes, evidence, n_samples))
    # An estimate of the kernel that ignores the scale of a row, and of which errors are known.
    model = "correlation" if affinity == "auto" else affinity
    trusted = Candidate(model, True)
    found = [Candidate(name, False) for name in names]
    straight = [Candidate(name, False, "linear") for name in names if AFFINITIES[name].linear]
    if linear:
        found = straight + found
    if not AFFINITIES[model].estimates_kernel or model not in names:
        return found
    if evidence.is_model:
        return [trusted]
    open_graph = affinity == "auto" and evidence.n_observed >= _THRESHOLD_COLUMNS
    return [*found, trusted] if open_graph else found


def _fits(name: str, wishes: Wishes, evidence: Evidence, n_samples: int) -> bool:
    """Whether an affinity can be combined with what was given."""
    kind = AFFINITIES[name]
    if evidence.n_observed < kind.least_columns:
        return False
    if evidence.are_counts and kind.scales_columns:
        # Counts have one unit. Scaling makes the rarest loud.
        return False
    if kind.counts_only and not evidence.are_counts:
        return False
    if kind.ignores_columns and n_samples * evidence.n_observed > _limits.EUCLIDEAN_ENTRIES:
        return False
    if kind.estimates_kernel:
        return True
    if evidence.n_observed < FEWEST_COLUMNS:
        # The order is one of noise: on tables of 8 to 12 columns (three of the battery's develop
        # half, one simulated) it won, and was .04 to .4 of R2 below the others each time.
        return False
    free = not wishes.names_graph and wishes.path in ("auto", "covariance")
    return free and wishes.strategy in ("auto", "geodesic")
