"""The answer before the numbers: what an embedding shows, and how far to trust it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ._base import limits
from ._base.format import in_columns, spread
from ._base.table import dense_rows, evenly_spaced, some_rows
from .chance import LEVEL, ChanceTest, chance_test
from .gplvm import TRUSTED, ModelChecks, OptimumRecord, rivals_of
from .missing import fill_at_random
from .model_selection import AGREED, SUPPORTED
from .similarity import GIVEN

__all__ = ["QUESTIONS", "Trust", "chance_of"]

QUESTIONS: Mapping[str, str] = {
    "p value": "is there anything",
    "agreement of halves": "is the arrangement there",
    "reliability": "what accuracy to expect",
}
"""What each number answers, in the order to read them (docs/trust.md)."""


class Trust(NamedTuple):
    """What can be read on an embedding, and what that rests on; NaN or None: not known.

    Attributes
    ----------
    chance : ChanceTest or None
        Whether there is more structure than by chance.
    agreements : sequence of float
        Procrustes R² between maps of two halves of the columns, of each split.
    reliability : float
        R² with the truth that the standard errors lead to expect.
    n_columns : int
        Columns of the table, 0 of values between points.
    misfit : str
        What the model of the fit leaves unexplained, with the cure (`checks`).
    checks : ModelChecks or None
        Whether one more coordinate, noise along rows or a factor would explain more than chance.
    rivals : sequence of OptimumRecord
        Other arrangements that the columns cannot tell from the one that is shown.
    """

    chance: ChanceTest | None
    agreements: Sequence[float]
    reliability: float
    n_columns: int
    misfit: str = ""
    checks: ModelChecks | None = None
    rivals: Sequence[OptimumRecord] = ()

    @property
    def verdict(self) -> str:
        """Say in a clause what can be read on the map.

        Examples
        --------
        >>> Trust(None, (0.94, 0.95), 0.99, 100).verdict
        'the arrangement can be read: two halves of the columns give the same one'
        """
        if np.isnan(self.agreement):
            there = "whether the arrangement is there"
            if 0 < self.n_columns < limits.FEWEST_COLUMNS:
                return f"{self.n_columns} columns are too few to tell {there}"
            return f"it is not known {there}: there are no halves of the columns to compare"
        if self.chance is not None and self.found_nothing:
            agree, (beyond, other) = self._printed >= SUPPORTED, self.chance.beyond
            if self.chance.ordered and agree:
                return (
                    "rows follow one another, and nothing beyond their order was found: unrelated "
                    f"slow series give such a map as well{other}"
                )
            if agree:
                return (
                    "halves of the columns give similar maps, but nothing beyond "
                    f"{beyond} was found{other}"
                )
            return f"there is nothing to see beyond {beyond}{other}"
        if self.misfit:
            return f"at most neighborhoods can be read, not the arrangement: {self.misfit}"
        both, large = "two halves of the columns give", "its standard errors are large"
        if self.is_weak:
            why = f"{both} different ones" if self._printed < SUPPORTED else large
            return f"at most neighborhoods can be read, not the arrangement: {why}"
        if self.reliability < TRUSTED:
            return f"the arrangement can be read roughly: {large}"
        if self._printed < AGREED:
            return f"the arrangement can be read roughly: {both} similar ones"
        return f"the arrangement can be read: {both} the same one"

    @property
    def agreement(self) -> float:
        """Mean agreement of two halves of the columns."""
        return float(np.mean(self.agreements))

    @property
    def _printed(self) -> float:
        """Agreement as it is printed, by which it is judged."""
        return round(self.agreement, 2)

    @property
    def is_weak(self) -> bool:
        """Whether something should be improved before the map is believed."""
        low = self.reliability < SUPPORTED or not self._printed >= SUPPORTED
        return self.found_nothing or low or bool(self.misfit)

    @property
    def found_nothing(self) -> bool:
        """Whether the table was compared with chance, and no structure beyond it was found."""
        return self.chance is not None and self.chance.p_value > LEVEL

    @property
    def numbers(self) -> dict[str, float]:
        """Numbers that are known, by their names, in the order to read them."""
        p_value = np.nan if self.chance is None else self.chance.p_value
        named = zip(QUESTIONS, (p_value, self.agreement, self.reliability), strict=True)
        return {name: float(value) for name, value in named if np.isfinite(value)}

    @classmethod
    def of(cls, estimator: Any, chance: ChanceTest | None) -> Trust:
        """Return the trust in a fitted estimator, whose numbers are computed where they are not."""
        n_columns = 0 if estimator.affinity in GIVEN else estimator.n_features_in_
        agreements, checks = tuple(map(float, estimator.agreements_)), estimator.checks_
        misfit = checks.sentence(estimator.n_components_) if checks else ""
        rivals = rivals_of(estimator.optima_)
        return cls(chance, agreements, estimator.reliability_, n_columns, misfit, checks, rivals)

    def sentences(self, name: str = "") -> list[str]:
        """Return the verdict, and the numbers it rests on with the question each answers.

        Examples
        --------
        >>> import numpy as np
        >>> for sentence in Trust(None, (0.91, 0.97), np.nan, 100).sentences("cells"):
        ...     print(sentence)
        cells: the arrangement can be read: two halves of the columns give the same one.
        How far to trust it: agreement of halves 0.94, from 0.91 to 0.97 (is the arrangement there).
        """
        told = [f"{number} {text}" for number, text in self._texts().items()]
        how_far = [f"How far to trust it: {', '.join(told)}."] if told else []
        verdict = self.verdict
        head = f"{name}: {verdict}" if name else f"{verdict[0].upper()}{verdict[1:]}"
        return [f"{head}.", *how_far]

    def __repr__(self) -> str:
        """Return the verdict, and what it rests on in lines."""
        texts = self._texts()
        if self.checks is not None:
            unasked = "; rows in no order are not asked for noise along them"
            texts["model"] = self.misfit or "explains what it was asked about"
            texts["model"] += unasked * bool(np.isnan(self.checks.order.value))
        if self.rivals:
            away = max(at.distance for at in self.rivals)
            texts["rivals"] = f"{len(self.rivals)}, up to {away:.1f} length-scales away"
        return "\n".join([self.sentences()[0], *in_columns(texts.items(), "  ")])

    def _texts(self) -> dict[str, str]:
        """Return the numbers that are known as they are written, with the question of each."""
        written = {name: f"{value:.2f}" for name, value in self.numbers.items()}
        if self.chance is not None:
            written["p value"] = f"{self.chance.p_value:.2g}"
        if np.isfinite(self.agreement):
            written["agreement of halves"] = spread(self.agreements)
        return {name: f"{text} ({QUESTIONS[name]})" for name, text in written.items()}


def chance_of(rows: Any, null: str = "shift") -> ChanceTest | None:
    """Test rows, dense or sparse, which may have holes; None of fewer than two, or of no table."""
    if rows is None or min(rows.shape) < 2:
        return None
    some = dense_rows(some_rows(rows, evenly_spaced(rows.shape[0], limits.TESTED)))
    return chance_test(fill_at_random(np.asarray(some, np.float64)), null=null)
