"""What `columns` found, as a table and as pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._base.format import count, format_number
from .._base.types import Floats
from .._base.validation import check_choice, check_integer
from ..kernels import StationaryKernel
from ..plotting import charts, plot

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


MOST_SHOWN = 12
"""Columns whose values are kept for pictures."""

LEVEL = 0.05
"""False discovery rate up to which a column counts as found."""


@dataclass(frozen=True, repr=False)
class ColumnRelevance:
    """Columns of a table by how well a map predicts them; see `ikd_graph.columns`.

    Attributes
    ----------
    names : tuple of str
        Names of the p columns, the best predicted first.
    position : (p,) ndarray of int64
        Where each stands in the table.
    r2 : (p,) ndarray of float64
        R² of rows that were left out, one at a time, at most 1; below 0 where the mean is better.
    p_value : (p,) ndarray of float64
        Of being related to the map, against shifted columns.
    q_value : (p,) ndarray of float64
        Least false discovery rate at which the column is found.
    fraction : (p, m) ndarray of float64
        Fraction of the mean squared gradient along each axis; NaN for a column without a slope.
    fraction_se : (p, m) ndarray of float64
        Standard errors of the fractions.
    slope : (p, m) ndarray of float64
        Change of the column, in its unit, per unit of each axis at the center of the map.
    sd : (p,) ndarray of float64
        Standard deviation of the column.
    change, change_se, change_q : (p,) ndarray of float64 or None
        Between the two points of ``where``: change in the unit of the column, its standard error,
        and the least false discovery rate at which it is found.
    ordered : bool
        Whether shifted columns are predicted, too: rows that follow one another lie together.
    embedding : (n, m) ndarray of float64
        The map that was looked at.
    values, fitted : (n, k) ndarray of float64
        The first k columns, and their posterior means.
    kernel : StationaryKernel
        Kernel of the process.
    """

    names: tuple[str, ...]
    position: NDArray[np.int64]
    r2: Floats
    p_value: Floats
    q_value: Floats
    fraction: Floats
    fraction_se: Floats
    slope: Floats
    sd: Floats
    change: Floats | None
    change_se: Floats | None
    change_q: Floats | None
    ordered: bool
    embedding: Floats
    values: Floats
    fitted: Floats
    kernel: StationaryKernel

    @property
    def n_significant(self) -> int:
        """Number of columns found at a false discovery rate of 5 %."""
        return int(np.count_nonzero(self.q_value <= LEVEL))

    @property
    def summary(self) -> str:
        """How many columns are related to the map, or that it cannot be told."""
        columns = count(len(self), "column")
        if self.ordered and not self.n_significant:
            return f"which of {columns} are related to the map cannot be told"
        return f"{format_number(self.n_significant)} of {columns} are related to the map"

    def __len__(self) -> int:
        """Count the columns."""
        return len(self.names)

    def __repr__(self) -> str:
        """Say how many columns make the map, and the first along each axis."""
        return "\n".join([self.summary, *self.sentences()])

    def top(self, axis: int, n: int = 5) -> list[str]:
        """Name the significant columns that vary most along an axis.

        Parameters
        ----------
        axis : int
            Number of the axis, from 0.
        n : int
            Largest number of names.

        Returns
        -------
        list of str
            The names, those with the largest ``r2 * fraction`` first; none where no column is
            significant.
        """
        check_integer("axis", axis, 0, self.fraction.shape[1] - 1)
        weight = np.nan_to_num(self.r2 * self.fraction[:, axis])
        # A column counts for an axis that makes a fair part of it.
        fair = self.fraction[:, axis] * self.fraction.shape[1] >= 1.0
        weight = np.where((self.q_value <= LEVEL) & fair, weight, 0.0)
        order = np.argsort(-weight, kind="stable")[: check_integer("n", n, 1)]
        return [self.names[k] for k in order if weight[k] > 0.0]

    def sentences(self, n: int = 5) -> list[str]:
        """Name the columns of each axis in a sentence.

        Parameters
        ----------
        n : int
            Largest number of names for an axis.

        Returns
        -------
        list of str
            A sentence for each axis, none where no column is significant, and one if the order of
            the rows leaves it open.
        """
        m = self.fraction.shape[1] if self.n_significant else 0
        named = ((axis, ", ".join(self.top(axis, n))) for axis in range(m))
        lines = [f"dimension {axis + 1}: {names or 'no column'}" for axis, names in named]
        if self.ordered:
            lines += ["of the others it cannot be told"] if m else []
            lines.append(
                "shifted columns are predicted nearly as well, since rows that follow one another "
                "lie together; null='permute' takes rows as independent"
            )
        return lines

    def to_pandas(self) -> pd.DataFrame:
        """Make a table, a row for each column, the best predicted first.

        Returns
        -------
        pandas.DataFrame
            Columns ``column``, ``position``, ``r2``, ``p_value``, ``q_value``, and for each axis k
            from 1 ``fraction_k``, ``fraction_se_k`` and ``slope_k``; with two points also
            ``change``, ``change_se`` and ``change_q``.
        """
        import pandas as pd

        heads, rows = self.table()
        return pd.DataFrame(rows, columns=heads)

    def table(self) -> tuple[list[str], list[list[Any]]]:
        """List the result as plain values.

        Returns
        -------
        heads : list of str
            As of `to_pandas`.
        rows : list of list
            A row for each column.
        """
        parts: dict[str, Any] = {
            "column": self.names,
            "position": self.position.tolist(),
            "r2": self.r2.tolist(),
            "p_value": self.p_value.tolist(),
            "q_value": self.q_value.tolist(),
        }
        for axis in range(self.fraction.shape[1]):
            parts[f"fraction_{axis + 1}"] = self.fraction[:, axis].tolist()
            parts[f"fraction_se_{axis + 1}"] = self.fraction_se[:, axis].tolist()
            parts[f"slope_{axis + 1}"] = self.slope[:, axis].tolist()
        for name in ("change", "change_se", "change_q"):
            if (values := getattr(self, name)) is not None:
                parts[name] = values.tolist()
        return list(parts), [list(row) for row in zip(*parts.values(), strict=True)]

    def plot(self, kind: str = "arrows", *, color: Any = None, n: int = 6, ax: Any = None) -> Axes:
        """Draw the columns on the map.

        Parameters
        ----------
        kind : {"arrows", "surfaces"}
            "arrows" draws the map with an arrow from its center for each of the first significant
            columns: the way in which it rises there, the longer the steeper, in its standard
            deviations. "surfaces" draws small maps: the posterior mean of each of the first
            columns, and below it what that leaves of the values.
        color : (n_samples,) array_like, optional
            Classes or numbers that color the points of the map with arrows.
        n : int
            Largest number of columns.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        matplotlib Axes
            With the map, or the first of the small ones.
        """
        check_choice("kind", kind, ("arrows", "surfaces"))
        check_integer("n", n, 1)
        if kind == "surfaces":
            shown = min(n, self.values.shape[1])
            fitted = self.fitted[:, :shown]
            return plot.surfaces(
                self.embedding, self.values[:, :shown], fitted, self.names[:shown], ax=ax
            )
        found = np.flatnonzero(self.q_value <= LEVEL)[:n]
        steepness = self.slope[found] / np.where(self.sd[found] > 0.0, self.sd[found], 1.0)[:, None]
        ax = plot.embedding(self.embedding, color, ax=ax)
        names = [self.names[k] for k in found]
        return plot.arrows(ax, charts.columns(self.embedding), steepness, names)
