"""What is done to the rows of a table before they are compared, learnt once and kept with a model.

New rows are treated by what was learnt from the training rows, each independently of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ._base.format import setting
from ._base.rounding import rounding
from ._base.types import Floats
from ._base.validation import magnitude
from .covariance import unit_rows

TRANSFORMS: Mapping[str, Callable[[Floats], Floats]] = {"sqrt": np.sqrt, "log1p": np.log1p}
"""Functions of every value."""

STEPS = ("impute", "transform", "scale", "standardize_rows", "remove_mean_row")
"""What is asked for, besides codes of missing values."""


@dataclass(frozen=True)
class RowSteps:
    """What is done to rows, one after another, and what of it was learnt from training rows.

    Attributes
    ----------
    impute : {"mean", "median"} or None
        What fills the missing values of a column.
    na : tuple of float
        Further values that stand for a missing one, such as -999.
    transform : {"sqrt", "log1p"} or None
        Function of every value, such as sqrt for counts.
    scale : {"standard", "robust"} or None
        Divide centered columns by their standard deviation, or by their interquartile range.
    standardize_rows : bool
        Center every row and divide it by its standard deviation; a constant row is 0.
    remove_mean_row : bool
        Take off what the mean row (a market, a season, a global signal) explains of every row;
        see `ikd_graph.covariance.remove_mean_row`.
    fill, center, unit, mean_row : (n_features,) ndarray of float64 or None
        What missing values become; what is taken off every column, and what the rest is divided
        by; the mean of the training rows, centered and of length 1.
    """

    impute: str | None = None
    na: tuple[float, ...] = ()
    transform: str | None = None
    scale: str | None = None
    standardize_rows: bool = False
    remove_mean_row: bool = False
    fill: Floats | None = None
    center: Floats | None = None
    unit: Floats | None = None
    mean_row: Floats | None = None

    def apply(self, rows: Floats) -> Floats:
        """Return rows treated as the training rows were, each independently of the others.

        Raises
        ------
        ValueError
            If the function is not defined for a value, or rows with missing values are to be
            changed.
        """
        rows = np.array(rows, dtype=np.float64, order="C")
        rows[np.isin(rows, self.na)] = np.nan
        if self.fill is not None:
            rows = np.where(np.isnan(rows), self.fill, rows)
        if self.transform is not None:
            with np.errstate(all="ignore"):
                values = TRANSFORMS[self.transform](rows)
            bad = np.isfinite(rows) & ~np.isfinite(values)
            if bad.any():
                raise ValueError(
                    f"{setting('transform', self.transform)} must be defined for all values, got "
                    f"{int(bad.sum())} for which it is not, such as {rows[bad][0]:g}; it is for "
                    "counts, leave it out"
                )
            rows = values
        if self.center is not None and self.unit is not None:
            rows = (rows - self.center) / self.unit
        if (self.standardize_rows or self.remove_mean_row) and np.isnan(rows).any():
            raise ValueError(
                "rows must have no missing cells to be changed; "
                f"{setting('impute', 'median')} fills them"
            )
        if self.standardize_rows:
            # A constant row is 0.
            rows = unit_rows(rows, allow_flat=True) * np.sqrt(rows.shape[1])
        if self.mean_row is not None:
            rows = rows - rows.mean(axis=1, keepdims=True)
            # A sum along each row: the bits of a matrix product depend on the number of rows.
            rows -= (rows * self.mean_row).sum(axis=1, keepdims=True) * self.mean_row
        return rows

    def steps(self) -> list[str]:
        """Say what is done to every row, a line each; empty if nothing is."""
        word = "standard deviation" if self.scale == "standard" else "interquartile range"
        said = {
            f"missing cells filled with the {self.impute} of their column": self.impute,
            f"every value transformed by {self.transform}": self.transform,
            f"columns centered and divided by their {word} (those without one only centered)":
                self.scale,
            "rows centered and over their standard deviation": self.standardize_rows,
            "what the mean row explains was taken off": self.remove_mean_row,
        }  # fmt: skip
        return [text for text, is_done in said.items() if is_done]

    def learn(self, X: Floats) -> RowSteps:
        """Learn fillings, centers, units and the mean row from training rows.

        Parameters
        ----------
        X : (n, n_features) ndarray of float64
            Training rows; NaN where missing.

        Returns
        -------
        RowSteps
            What is done, with what was learnt.

        Raises
        ------
        ValueError
            If a function is not defined for a value, or rows with missing values are to be changed.

        Examples
        --------
        >>> import numpy as np
        >>> steps = RowSteps(impute="mean", scale="standard")
        >>> steps.learn(np.array([[1.0, 2.0], [np.nan, 6.0]])).apply(np.array([[np.nan, 8.0]]))
        array([[0., 2.]])
        """
        rows = RowSteps(na=self.na).apply(X)
        columns = RowSteps(transform=self.transform)
        if self.impute is not None:
            middle = np.nanmean if self.impute == "mean" else np.nanmedian
            columns = replace(columns, fill=np.asarray(middle(_known(rows), axis=0)))
        if self.scale is not None:
            magnitude()("X", rows)
            center, unit = _moments(columns.apply(rows), self.scale)
            columns = replace(columns, center=center, unit=unit)
        steps = replace(self, fill=columns.fill, center=columns.center, unit=columns.unit)
        rows = steps.apply(rows)
        if self.remove_mean_row:
            mean = unit_rows(rows, allow_flat=True).sum(axis=0)
            mean -= mean.mean()
            length = float(np.sqrt(mean @ mean))
            is_there = length > rounding(len(rows), mean.size)
            steps = replace(steps, mean_row=mean / length if is_there else np.zeros_like(mean))
        return steps


def _known(rows: Floats) -> Floats:
    """Return rows with zeros in columns without values."""
    return np.where(np.isnan(rows).all(axis=0), 0.0, rows)


def _moments(rows: Floats, scale: str) -> tuple[Floats, Floats]:
    """Center and unit of every column; the unit of one without spread is 1."""
    known = _known(rows)
    if scale == "standard":
        center, unit = np.nanmean(known, axis=0), np.nanstd(known, axis=0)
    else:
        low, center, high = np.nanpercentile(known, [25.0, 50.0, 75.0], axis=0)
        unit = high - low
    # The mean and the deviation of equal values are rounded.
    least, largest = np.nanmin(known, axis=0), np.nanmax(known, axis=0)
    varies = largest > least
    return np.where(varies, center, least), np.where(varies & (unit > 0.0), unit, 1.0)
