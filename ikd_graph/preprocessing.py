"""What is done to the rows of a table before they are compared, learnt once and kept with a model.

New rows are treated by what was learnt from the training rows, each independently of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import RobustScaler, StandardScaler
from sklearn.utils.validation import check_is_fitted, validate_data

from . import covariance
from ._types import Floats
from ._validation import check_choice, check_magnitude

__all__ = ["CHOICES", "TRANSFORMS", "TablePreprocessor"]


TRANSFORMS: Mapping[str, Callable[[Floats], Floats]] = {"sqrt": np.sqrt, "log1p": np.log1p}
"""Functions of every value."""

CHOICES = {
    "impute": ("mean", "median"),
    "function": tuple(TRANSFORMS),
    "scale": ("standard", "robust"),
}
"""Valid values of parameters of `TablePreprocessor`, None aside."""


class TablePreprocessor(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Fill missing values, transform values, scale columns, then change rows.

    A step of a scikit-learn pipeline. What it learns of the training rows (fillings, centers, units
    and the mean row) is applied to new rows, so that a row alone is treated as it is among others.

    Parameters
    ----------
    impute : {"mean", "median"} or None
        What fills the missing values of a column.
    na : tuple of float
        Further values that stand for a missing one, such as -999.
    function : {"sqrt", "log1p"} or None
        Function of every value, such as sqrt for counts.
    scale : {"standard", "robust"} or None
        Divide centered columns by their standard deviation, or by their interquartile range.
    standardize_rows : bool
        Center every row and divide it by its standard deviation; a constant row is 0.
    remove_mean_row : bool
        Take off what the mean row (a market, a season, a global signal) explains of every row;
        see `ikd_graph.covariance.remove_mean_row`.

    Attributes
    ----------
    fill_ : (n_features,) ndarray of float64 or None
        What missing values become.
    center_, scale_ : (n_features,) ndarray of float64 or None
        Taken off every column, and what the rest is divided by.
    mean_row_ : (n_features,) ndarray of float64 or None
        Mean of the training rows, centered and of length 1.
    n_features_in_ : int
        Number of columns.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from ikd_graph import IKD
    >>> counts = np.random.default_rng(0).poisson(5.0, size=(40, 25))
    >>> steps = make_pipeline(TablePreprocessor(function="sqrt"), IKD(strategy="geodesic"))
    >>> steps.fit(counts).transform(counts[:3]).shape
    (3, 2)
    """

    def __init__(
        self,
        *,
        impute: str | None = None,
        na: tuple[float, ...] = (),
        function: str | None = None,
        scale: str | None = None,
        standardize_rows: bool = False,
        remove_mean_row: bool = False,
    ) -> None:
        self.impute = impute
        self.na = na
        self.function = function
        self.scale = scale
        self.standardize_rows = standardize_rows
        self.remove_mean_row = remove_mean_row

    def fit(self, X: ArrayLike, y: Any = None) -> TablePreprocessor:
        """Learn fillings, centers, units and the mean row of the training rows.

        Parameters
        ----------
        X : (n_samples, n_features) array_like of float64
            Points in rows; NaN where missing.
        y : ignored
            Present for the scikit-learn interface.

        Returns
        -------
        TablePreprocessor
            Itself, fitted.

        Raises
        ------
        ValueError
            If a parameter is none of its choices, a function is not defined for a value, or rows
            with missing values are to be changed.
        """
        for name, choices in CHOICES.items():
            if getattr(self, name) is not None:
                check_choice(name, getattr(self, name), choices)
        rows = self._read(X, reset=True)
        self.fill_ = self.center_ = self.scale_ = self.mean_row_ = None
        if self.impute is not None:
            filler = SimpleImputer(strategy=self.impute, keep_empty_features=True).fit(rows)
            self.fill_ = np.asarray(filler.statistics_, dtype=np.float64)
        rows = self._values(rows)
        if self.scale is not None:
            scaler = StandardScaler() if self.scale == "standard" else RobustScaler()
            # scikit-learn takes a tiny quartile range for none: each column in a unit of its own,
            # a power of two, which rounds nothing.
            largest = np.nanmax(np.abs(rows), axis=0, initial=0.0)
            units = np.exp2(np.floor(np.log2(np.where(largest > 0.0, largest, 1.0))))
            scaler.fit(rows / units)
            self.center_ = units * (scaler.mean_ if self.scale == "standard" else scaler.center_)
            self.scale_ = units * scaler.scale_
        if self.remove_mean_row:
            units = covariance.unit_rows(self._rows(rows), allow_flat=True)
            mean = units.sum(axis=0) - units.sum(axis=0).mean()
            length = float(np.sqrt(mean @ mean))
            self.mean_row_ = mean / length if length > 1e-12 * len(units) else np.zeros_like(mean)
        return self

    def transform(self, X: ArrayLike) -> Floats:
        """Treat rows as the training rows were treated, each independently of the others.

        Parameters
        ----------
        X : (n_new, n_features) array_like of float64
            Points in rows; NaN where missing.

        Returns
        -------
        (n_new, n_features) ndarray of float64
            Changed rows; X is not changed.

        Raises
        ------
        ValueError
            If X has another number of columns, the function is not defined for a value, or rows
            with missing values are to be changed.
        """
        check_is_fitted(self)
        rows = self._rows(self._values(self._read(X, reset=False)))
        if self.mean_row_ is not None:
            rows = rows - rows.mean(axis=1, keepdims=True)
            # A sum along each row: the bits of a matrix product depend on the number of rows.
            rows -= (rows * self.mean_row_).sum(axis=1, keepdims=True) * self.mean_row_
        return rows

    def steps(self) -> list[str]:
        """Say what is done to every row, a line each; empty if nothing is."""
        said = []
        if self.impute is not None:
            said.append(f"missing cells filled with the {self.impute} of their column")
        if self.function is not None:
            said.append(f"every value transformed by {self.function}")
        if self.scale is not None:
            word = "standard deviation" if self.scale == "standard" else "interquartile range"
            said.append(
                f"columns centered and divided by their {word} (those without one only centered)"
            )
        if self.standardize_rows:
            said.append("rows centered and over their standard deviation")
        if self.remove_mean_row:
            said.append("what the mean row explains was taken off")
        return said

    def _read(self, X: Any, *, reset: bool) -> Floats:
        """Rows as a new array of float64, further codes of missing values as NaN."""
        rows = validate_data(
            self, X, reset=reset, dtype=np.float64, ensure_all_finite="allow-nan", copy=True
        )
        rows = np.ascontiguousarray(rows)
        if len(self.na):
            rows[np.isin(rows, self.na)] = np.nan
        if reset and self.scale is not None:
            check_magnitude("X", rows)
        return rows

    def _values(self, rows: Floats) -> Floats:
        """Fill missing cells and apply the function."""
        if self.fill_ is not None:
            rows = np.where(np.isnan(rows), self.fill_, rows)
        if self.function is None:
            return rows
        with np.errstate(all="ignore"):
            values = TRANSFORMS[self.function](rows)
        bad = np.isfinite(rows) & ~np.isfinite(values)
        if bad.any():
            raise ValueError(
                f"{self.function} must be defined for all values, got {int(bad.sum())} for which "
                f"it is not, such as {rows[bad][0]:g}; it is for counts"
            )
        return np.asarray(values)

    def _rows(self, rows: Floats) -> Floats:
        """Scale columns, then rows."""
        if self.center_ is not None and self.scale_ is not None:
            rows = (rows - self.center_) / self.scale_
        if (self.standardize_rows or self.remove_mean_row) and np.isnan(rows).any():
            raise ValueError(
                "rows must have no missing cells to be changed; impute='median' fills them"
            )
        if self.standardize_rows:
            # A constant row is 0.
            rows = covariance.unit_rows(rows, allow_flat=True) * np.sqrt(rows.shape[1])
        return rows

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
