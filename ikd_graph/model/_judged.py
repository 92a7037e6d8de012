"""Candidates that were fitted and judged, and which of them is the best."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import evidence
from ..evidence import Candidate, Judge, Prediction, Trial
from ..similarity import AFFINITIES
from ._attempt import Attempt

Floats = NDArray[np.float64]

# Standard errors within which principal components are as good as a latent with bends: the simplest
# of those that cannot be told apart (Breiman et al. 1984, Classification and Regression Trees, ch.
# 3). On 100 simulated tables 0, 1 and 1.645 of them gave a mean R2 of .892, .902 and .903, and .850
# without principal components; real tables of 200 rows lost by 1.645 and not by 1. Confirmed on the
# battery's other half, with how columns are scaled: .876 -> .883, by .0074 with an error of .0026.
_ONE_ERROR = 1.0

# Scores that differ by less are equal: their last bits depend on the order of columns.
_EQUAL = 1e-9


class Judged(NamedTuple):
    """An attempt of a candidate and what it predicts."""

    candidate: Candidate
    attempt: Attempt
    prediction: Prediction
    warned: bool  # whether there was something to warn of


def score_of(one: Judged) -> float:
    """Directions that are predicted."""
    return one.prediction.score


def best_of(judged: list[Judged]) -> Judged:
    """The first of those that score most, or a plainer one that is as good.

    A latent with bends must predict more than principal components by one standard error. A
    similarity that is only an order spoils a continuum, which near points do not show: it must
    predict more than chance may make one do, at a level of 5 %.
    """
    linear = [one for one in judged if is_linear(one)]
    others = [one for one in judged if not is_linear(one)]
    bent = [one for one in others if AFFINITIES[one.candidate.affinity].estimates_kernel]
    orders = [one for one in others if not AFFINITIES[one.candidate.affinity].estimates_kernel]
    best = None
    for some, errors in ((linear, 0.0), (bent, _ONE_ERROR), (orders, evidence.CHANCE)):
        if some and (best is None or beats(most_of(some), best, errors)):
            best = most_of(some)
    assert best is not None
    return best


def beats(one: Judged, other: Judged, errors: float) -> bool:
    """Whether one predicts more, by so many standard errors."""
    return score_of(one) - score_of(other) > errors * error_of(other, one)


def chance(gain: Floats) -> float:
    """What the sum of a gain exceeds by chance one time in twenty."""
    return float(evidence.CHANCE * gain.std() * gain.size**0.5)


def is_linear(one: Judged) -> bool:
    """Whether principal components are the latent, which nobody asked for."""
    return one.candidate.strategy == "linear"


def most_of(judged: list[Judged]) -> Judged:
    """The first of those that score most."""
    most = max(map(score_of, judged))
    return next(one for one in judged if score_of(one) >= most - _EQUAL)


def error_of(one: Judged, best: Judged) -> float:
    """Standard error of the difference of two scores."""
    return Judge.error(one.prediction, best.prediction)


def trial_of(one: Judged, best: Judged) -> Trial:
    """What is said of a candidate."""
    choice = one.attempt.closed.choice
    kind = "none" if one.attempt.closed.graph is None else "neighbors"
    return Trial(
        one.candidate.affinity,
        "threshold" if choice.threshold is not None else kind,
        one.attempt.refine,
        one.prediction.score,
        error_of(one, best),
        one.attempt.closed.plan.strategy,
    )
