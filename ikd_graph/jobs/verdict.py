"""The answer before the numbers: what an embedding shows, and how far to trust it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import betabinom

from .._base import limits
from .._base.format import count, spread
from .._base.types import Booleans, Floats
from ..estimator import IKD
from ..gplvm import TRUSTED
from ..model_selection import AGREED, SUPPORTED
from ..similarity import GIVEN
from .chance import LEVEL, ChanceTest

__all__ = ["Fit", "Trust"]

QUESTIONS: Mapping[str, str] = {
    "p value": "is there anything",
    "agreement of halves": "is the arrangement there",
    "held-out R²": "what the map predicts",
    "reliability": "what accuracy to expect",
}
"""What each number answers, in the order to read them (docs/trust.md)."""


class Trust(NamedTuple):
    """The four numbers that say how far an embedding can be trusted; NaN or None: not known.

    Attributes
    ----------
    chance : ChanceTest or None
        Whether there is more structure than by chance.
    agreements : sequence of float
        Procrustes R² between maps of two halves of the columns, of each split.
    held_out_r2 : float
        R² of columns that were left out, predicted from the embedding of the others.
    reliability : float
        R² with the truth that the standard errors lead to expect.
    n_columns : int
        Columns of the table, 0 of values between points.
    misfit : str
        What the model of the fit leaves unexplained, with the cure (`IKD.checks_`).
    """

    chance: ChanceTest | None
    agreements: Sequence[float]
    held_out_r2: float
    reliability: float
    n_columns: int
    misfit: str = ""

    @property
    def verdict(self) -> str:
        """Say in a clause what can be read on the map.

        Examples
        --------
        >>> Trust(None, (0.94, 0.95), 0.8, 0.99, 100).verdict
        'the arrangement can be read: two halves of the columns give the same one'
        """
        if np.isnan(self.agreement):
            there = "whether the arrangement is there"
            if 0 < self.n_columns < limits.FEWEST_COLUMNS:
                return f"{self.n_columns} columns are too few to tell {there}"
            return f"it is not known {there}: there are no halves of the columns to compare"
        if self.chance is not None and self.found_nothing:
            agree, (beyond, other) = self.agreement >= SUPPORTED, self.chance.beyond
            if self.chance.ordered and agree:
                return (
                    "rows follow one another, and nothing beyond their order was found: unrelated "
                    f"slow series give such a map as well{other}"
                )
            if agree:
                return (
                    "halves of the columns give similar maps, but nothing beyond chance was found"
                )
            return f"there is nothing to see beyond {beyond}{other}"
        if self.misfit:
            return f"at most neighborhoods can be read, not the arrangement: {self.misfit}"
        both, large = "two halves of the columns give", "its standard errors are large"
        if self.is_weak:
            why = f"{both} different ones" if self.agreement < SUPPORTED else large
            return f"at most neighborhoods can be read, not the arrangement: {why}"
        if self.reliability < TRUSTED:
            return f"the arrangement can be read roughly: {large}"
        if self.agreement < AGREED:
            return f"the arrangement can be read roughly: {both} similar ones"
        return f"the arrangement can be read: {both} the same one"

    @property
    def agreement(self) -> float:
        """Mean agreement of two halves of the columns."""
        return float(np.mean(self.agreements))

    @property
    def is_weak(self) -> bool:
        """Whether something should be improved before the map is believed."""
        low = self.reliability < SUPPORTED or not self.agreement >= SUPPORTED
        return self.found_nothing or low or bool(self.misfit)

    @property
    def found_nothing(self) -> bool:
        """Whether the table was compared with chance, and no structure beyond it was found."""
        return self.chance is not None and self.chance.p_value > LEVEL

    @property
    def numbers(self) -> dict[str, float]:
        """Numbers that are known, by their names, in the order to read them."""
        p_value = np.nan if self.chance is None else self.chance.p_value
        values = (p_value, self.agreement, self.held_out_r2, self.reliability)
        named = zip(QUESTIONS, values, strict=True)
        return {name: float(value) for name, value in named if np.isfinite(value)}

    @classmethod
    def of(cls, model: IKD, chance: ChanceTest | None = None) -> Trust:
        """Return the numbers of a fitted model, of which some are computed now."""
        n_columns = model.n_features_in_ if model.affinity not in GIVEN else 0
        agreements, checks = tuple(map(float, model.agreements_)), model.checks_
        misfit = checks.sentence(model.n_components_) if checks else ""
        numbers = (model.held_out_r2_, model.reliability_)
        return cls(chance, agreements, *numbers, n_columns, misfit)

    def sentences(self, name: str = "") -> list[str]:
        """Return the verdict, and the numbers it rests on with the question each answers.

        Examples
        --------
        >>> import numpy as np
        >>> for sentence in Trust(None, (0.91, 0.97), np.nan, np.nan, 100).sentences("cells"):
        ...     print(sentence)
        cells: the arrangement can be read: two halves of the columns give the same one.
        How far to trust it: agreement of halves 0.94, from 0.91 to 0.97 (is the arrangement there).
        """
        said: Mapping[str, Callable[[float], str]] = {
            "p value": "{:.2g}".format,
            "agreement of halves": lambda _: spread(self.agreements),
        }
        told = [
            f"{name} {said.get(name, '{:.2f}'.format)(value)} ({QUESTIONS[name]})"
            for name, value in self.numbers.items()
        ]
        how_far = [f"How far to trust it: {', '.join(told)}."] if told else []
        verdict = self.verdict
        head = f"{name}: {verdict}" if name else f"{verdict[0].upper()}{verdict[1:]}"
        return [f"{head}.", *how_far]


class Fit(NamedTuple):
    """How well new rows fit a map.

    Attributes
    ----------
    limit : float
        Residual that 95 % of the rows of the map, each placed by the others, do not exceed.
    misfit : (n,) ndarray of bool
        New rows beyond it.
    n_compared : int
        New rows that can be compared, and are no copies of rows of the map.
    p_value : float
        Probability of so many rows beyond it, or of one so far, from the source of the map.
    """

    limit: float
    misfit: Booleans
    n_compared: int
    p_value: float

    @classmethod
    def of(cls, model: IKD, residuals: Floats) -> Fit | None:
        """Compare residuals of new rows with those of the rows of a model; None without any."""
        own, new = model.residuals_, residuals > 0.0
        if not own.size or not new.any():
            return None
        limit = float(np.quantile(own, 1.0 - LEVEL))
        misfit, free = residuals > limit, own.size + 1
        n = int(new.sum())
        # The limit is an estimate, too. Two tests count twice, and one of many rows as often.
        many = betabinom(n, LEVEL * free, (1.0 - LEVEL) * free).sf(misfit.sum() - 1)
        far = n * (1 + np.count_nonzero(own >= np.nanmax(residuals))) / free
        return cls(limit, misfit, n, min(2.0 * float(min(many, far)), 1.0))

    @property
    def sentences(self) -> list[str]:
        """Say whether the new rows fit the map, and by how much."""
        n, k = self.n_compared, int(self.misfit.sum())
        beyond = (
            f"{count(k, 'row')} of {n} ({k / n:.0%}) fit worse than 95 % of the rows that made the "
            "map; 5 % are expected"
        )
        head = "Nothing shows that the new rows fit worse than the rows of the map"
        if self.p_value <= LEVEL:
            which = "The" if 2 * k >= n else "Some"
            why = "another source, other columns under these names, another unit"
            head = f"{which} new rows do not fit the map; possible causes are {why}"
        return [f"{head}.", f"{beyond}."]
