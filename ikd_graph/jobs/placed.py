"""Whether new rows fit a map."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.stats import betabinom

from .._base.format import count
from .._base.types import Booleans, Floats
from ..chance import LEVEL
from ..estimator import IKD

__all__ = ["Fit"]


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
