"""What a look at the topology of a table gives: features, circular coordinates, sentences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.neighbors import NearestNeighbors

from .. import missing
from .._base import validation as check
from .._base.format import count, setting
from .._base.table import dense_rows, rows_of, some_rows
from .._base.threads import batches, block_rows
from .._base.types import Floats, Integers
from ..chance import LEVEL
from ..estimator import IKD
from ..plotting import charts, colors, plot
from . import _persistence as persistence
from ._persistence import Feature

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Topology"]

DEGREES = ("connected component", "loop", "void")

FIGURE_SIZE = 12.0, 3.6
"""Inches of the picture."""

_NEIGHBORS = 20
"""Nearest rows that tell how an angle changes along a map, and the angle of a row that was left
out."""

_DRAWN = 60
"""Longest bars of a barcode that are drawn."""


class Complex(NamedTuple):
    """Clique complex of some points, and its features."""

    of: str  # "rows", "map" or "graph"
    dissimilarity: Floats  # (u, u)
    features: Sequence[list[Feature]]  # pieces, loops, and voids where these were sought

    def found(self, degree: int) -> list[Feature]:
        """Return features of a degree that are significant, or never filled in."""
        features = self.features[degree] if degree < len(self.features) else []
        return [each for each in features if not each.p_value > LEVEL]


@dataclass(frozen=True, repr=False, eq=False)
class Topology:
    """Components, loops and voids of a table, a similarity or a graph; see `ikd_graph.topology`.

    Attributes
    ----------
    features : pandas.DataFrame
        A row for each feature of each clique complex: its ``degree`` (0 of a component, 1 of a
        loop, 2 of a void), what the complex is ``of`` ("rows", "map" or "graph"), dissimilarities
        of its ``birth`` and ``death``, its ``p_value`` times the number of tests, and ``rows``:
        those of a component, or those around a significant loop in their order, by name where they
        have names.
        What is never joined or filled in has an infinite death, and no p value (NaN).
    model : IKD or None
        The fit of the rows looked at, which compared them and made the map; None of a graph.
    """

    features: pd.DataFrame
    _complexes: tuple[Complex, ...]
    _points: Integers  # (u,) row of X that each point of a complex is
    _inverse: Integers  # (k,) point that each of the rows looked at is
    _chosen: Integers  # (k,) rows of X that were looked at
    _table: Any = None  # (n, p) rows of X, or values between them
    model: IKD | None = None
    _fitted: IKD | None = None  # the model that was passed

    def _clearest(self, degree: int) -> Complex:
        """Return the complex that has most features of a degree, or the most significant ones."""

        def rank(each: Complex) -> tuple[int, float]:
            found = each.found(degree)
            return -len(found), float(np.nansum([feature.p_value for feature in found]))

        return min(self._complexes, key=rank)

    @cached_property
    def betti_numbers(self) -> tuple[int, int, int]:
        """How many connected components, loops and voids there are at a level of 5 %."""
        pieces, loops, voids = (len(self._clearest(degree).found(degree)) for degree in range(3))
        return pieces, loops, voids

    @property
    def n_loops(self) -> int:
        """Number of loops at a level of 5 %."""
        return self.betti_numbers[1]

    def _count(self, degree: int) -> str:
        """Return how many features of a degree there are, with the p values of those that end."""
        noun, number = DEGREES[degree], self.betti_numbers[degree]
        found = self._clearest(degree).found(degree)
        told = [f"{each.p_value:.2g}" for each in found if each.p_value <= LEVEL]
        p_values = f", p = {' and '.join(told)}" if told else ""
        counted = f"{'one' if number else 'no'} {noun}" if number < 2 else count(number, noun)
        return counted + p_values

    @property
    def sentence(self) -> str:
        """How many loops there are, and what may run around in circles."""
        what = ": time of day, heading, cell cycle?" if self.n_loops and self.model else ""
        return self._count(1) + what

    def sentences(self) -> list[str]:
        """Say how many components, loops and voids there are, and how many rows were looked at.

        Returns
        -------
        list of str
            A clause on each.
        """
        lines = [self._count(0), self.sentence]
        if max(len(each.features) for each in self._complexes) > 2:
            lines.append(self._count(2))
        if self._n_rows > self._chosen.size:
            lines.append(f"seen on {self._chosen.size} of {self._n_rows} rows, evenly spaced")
        return lines

    def __repr__(self) -> str:
        """Say how many components, loops and voids there are."""
        return "\n".join(self.sentences())

    @property
    def _n_rows(self) -> int:
        """Number of rows of X."""
        return self._chosen.size if self._table is None else int(self._table.shape[0])

    @property
    def _rest(self) -> Integers:
        """Rows of X that were not looked at."""
        return np.setdiff1d(np.arange(self._n_rows), self._chosen)

    @cached_property
    def embedding(self) -> Floats | None:
        """Map of one more dimension, (n, m + 1) float64; None of a graph."""
        if self.model is None:
            return None
        points = np.empty((self._n_rows, self.model.embedding_.shape[1]))
        points[self._chosen] = self.model.embedding_
        if self._rest.size:
            rows = some_rows(self._table, self._rest)
            rows = rows if self.model.settings_.has_rows else rows[:, self._chosen]
            points[self._rest] = self.model.transform(rows)
        return points

    def _nearest(self, rest: Integers) -> Integers:
        """Return the points of a complex that are most similar to other rows of X."""
        assert self.model is not None
        model, rows = self.model.model_, some_rows(self._table, rest)
        if model.rows is None:
            return model.similarity.nearest(rows[:, self._points], _NEIGHBORS)[0]
        rows = dense_rows(rows_of(rows))
        rows = rows if model.has_holes else missing.fill(rows, model.rows, alone=True)
        return model.similarity.nearest(rows, _NEIGHBORS)[0]

    def circular_coordinate(self, k: int = 0, *, return_std: bool = False) -> Any:
        """Compute where each row lies around a loop, as an angle.

        Angles are those of the harmonic cocycle of the loop (de Silva, Morozov and
        Vejdemo-Johansson 2011), on edges that weigh as in diffusion maps without the density of
        the rows; then they are made to grow with the length of the way around the loop on the map,
        that of the model where one was passed. Where they begin, and which way they run, means
        nothing. Rows that were not looked at get the mean angle of the most similar ones, rows of
        another piece that of the nearest row around the loop.

        Parameters
        ----------
        k : int
            Number of the loop, from 0, the least p value first.
        return_std : bool
            Whether to return standard errors as well: those of the coordinates of the fitted model
            that was passed, along the gradient of the angle on its embedding, and what the angles
            of the nearest rows scatter about it.

        Returns
        -------
        (n,) ndarray of float64
            Angles in [0, 2 pi), equal rows have one; NaN for nodes of a graph that no path joins
            to the loop. With ``return_std`` a tuple of these and their standard errors in radians,
            (n,), at most that of an angle nothing is known of.

        Raises
        ------
        ValueError
            If there is no such loop, or there are no standard errors.
        """
        if not self.n_loops:
            raise ValueError(
                "circular_coordinate must have a loop to go around, got none at a level of 5 %; "
                "features has those that were tried"
            )
        check.whole(0, self.n_loops - 1)("k", k)
        own = self._clearest(1)
        angle = persistence.circular_coordinate(own.dissimilarity, own.found(1)[k])[self._inverse]
        angles = np.empty(self._n_rows)
        points = self.embedding if self._fitted is None else self._fitted.embedding_
        if points is not None:
            angle = persistence.at_even_speed(angle, points[self._chosen])
        angles[self._chosen] = angle
        for batch in batches(self._rest.size, block_rows(self._points.size)):
            turns = np.exp(1j * angles[self._points])[self._nearest(self._rest[batch])]
            angles[self._rest[batch]] = np.angle(turns.mean(axis=1)) % (2.0 * np.pi)
        return (angles, self._errors_of(angles)) if return_std else angles

    def _errors_of(self, angles: Floats) -> Floats:
        """Return standard errors of angles: of coordinates along their gradient, and their own.

        Gradient and scatter are those of a linear regression on the nearest rows.
        """
        model = self._fitted
        errors = np.full(1, np.nan) if model is None else model.standard_errors_
        if model is None or not np.isfinite(errors).all():
            why = "no model was passed" if model is None else model.model_.why_no_errors()
            raise ValueError(
                f"return_std=True must have a fitted model with standard errors, got none: {why}; "
                f"fit IKD with {setting('refine', 'likelihood')}, and pass the model"
            )
        points, n_neighbors = model.embedding_, min(_NEIGHBORS, len(angles))
        near = NearestNeighbors(n_neighbors=n_neighbors).fit(points).kneighbors(points)[1]
        change = np.angle(np.exp(1j * (angles[near] - angles[:, None])))
        steps = points[near] - points[:, None]
        gradient = np.linalg.pinv(steps) @ change[:, :, None]
        left = np.linalg.norm((change[:, :, None] - steps @ gradient)[:, :, 0], axis=1)
        own = left / np.sqrt(max(n_neighbors - 1 - points.shape[1], 1))
        along = np.linalg.norm(gradient[:, :, 0] * errors, axis=1)
        return np.minimum(np.hypot(along, own), np.pi / np.sqrt(3.0))

    def plot(self, ax: Any = None) -> Axes:
        """Draw the barcode, the clearest loop on the map, and the angle of rows around it.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Subplot whose position the panels take; by default a new figure.

        Returns
        -------
        matplotlib Axes
            Of the barcode; those of the maps come after it in ``figure.axes``.
        """
        ax = plot.drawing_axes(ax, *FIGURE_SIZE)
        grid, figure = plot.subplot_of(ax).subgridspec(1, 3), plot.figure_of(ax)
        bars, around, colored = (figure.add_subplot(cell) for cell in grid)
        own, points, angles = self._clearest(1), self.embedding, None
        _draw_barcode(bars, [*chain(*own.features[1:])])
        if points is None:
            import networkx as nx

            joined = nx.from_numpy_array(np.isfinite(own.dissimilarity))
            points = np.array([*nx.spring_layout(joined, seed=0).values()])
        points = charts.plane(points)[:, :2]
        plot.embedding(points, ax=around)
        if self.n_loops:
            way = self._points[persistence.cycle(own.dissimilarity, own.found(1)[0])]
            around.plot(*points[np.append(way, way[0])].T, color=colors.SECOND, zorder=4)
            angles = self.circular_coordinate()
        period = None if angles is None else 2.0 * np.pi
        plot.embedding(points, angles, period=period, label_title="angle", ax=colored)
        return bars


def _draw_barcode(ax: Axes, features: Sequence[Feature]) -> None:
    """Draw the longest bars, those found in the color of their degree."""
    size = [feature.death / feature.birth for feature in features]
    shown = [features[k] for k in np.argsort(size, kind="stable")[-_DRAWN:]]
    ends = [each for feature in shown for each in feature[1:3] if np.isfinite(each)]
    for height, feature in enumerate(shown):
        found = not feature.p_value > LEVEL
        color = colors.CLASSES[feature.degree] if found else colors.MUTED
        x = feature.birth, min(feature.death, 1.1 * max(ends))
        ax.plot(x, (height, height), color=color, linewidth=3 if found else 1)
    plot.quiet(ax, grid="x")
    ax.set(xlabel="dissimilarity", ylabel="loops and voids", yticks=[])
