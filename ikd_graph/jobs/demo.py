"""A demonstration: what is found where the truth is known, and what is said where there is none."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from .. import metrics
from .._base.progress import Stages
from .._base.types import Floats
from .._base.warn import no_warnings
from ..datasets import Dataset, figure_eight, surface
from ..estimator import IKD
from ..plotting import plot
from ..plotting.colors import CLASSES, INK, MUTED, Paint, paint_points
from .baselines import PEERS, embed
from .chance import ChanceTest, chance_test
from .cliques import CliqueInspection, inspect_cliques

__all__ = ["RULE", "Demo", "demo"]

OURS = ("blockwise", "geodesic", "eigen")
OTHERS = (("pca",), ("isomap", "isomap_correlation"), ("umap", "umap_correlation"))
"""Strategies, and peers that are compared with them: of each group the best by the truth."""

RULE = (
    "R²: of the true coordinates, after an affine map. IKD is the default, of which blockwise, "
    "geodesic and eigen are the closed forms alone. Of Isomap and UMAP the better of their default "
    "and metric='correlation' is shown."
)
"""What is compared, in sentences."""

_NOISE = 1.5  # standard deviations of what it is added to


class Panel(NamedTuple):
    """One embedding of a table as it is drawn."""

    Z: Floats  # (n, 2)
    paint: Paint
    caption: str
    errors: Floats | None  # standard errors of the coordinates, (n, 2)


@dataclass(frozen=True)
class Demo:
    """What `demo` returns.

    Attributes
    ----------
    tables : dict of str to Dataset
        "curve" and "surface", whose latent is known, and "noise", which has none.
    models : dict of str to IKD
        The default fit of each.
    embeddings : dict of str to dict of str to (n, 2) float64
        Of each table by method, turned onto the default one; the last is the truth.
    cliques : CliqueInspection
        Of the curve.
    chance : ChanceTest
        Whether there is anything in the noise.
    """

    tables: Mapping[str, Dataset]
    models: Mapping[str, IKD]
    embeddings: Mapping[str, Mapping[str, Floats]]
    cliques: CliqueInspection
    chance: ChanceTest

    def to_pandas(self) -> pd.DataFrame:
        """Make a table with a row for each method and each table that has a truth."""
        rows = [
            (name, method, metrics.affine_r2(data.latent, Z))
            for name, data in self.tables.items()
            for method, Z in self.embeddings[name].items()
            if data.latent is not None and method != "truth"
        ]
        return pd.DataFrame(rows, columns=["table", "method", "r2"])

    @property
    def coverage(self) -> float:
        """Fraction of the true coordinates that intervals of 95 % hold."""
        gaps = [
            np.abs(methods["truth"] - methods["IKD"]) / self.models[name].standard_errors_
            for name, methods in self.embeddings.items()
            if "truth" in methods
        ]
        return float(np.mean(np.vstack(gaps) < 1.96))

    @property
    def answer(self) -> list[str]:
        """Say what was found, in five sentences."""
        texts = []
        for name, rows in self.to_pandas().groupby("table"):
            size = self.tables[str(name)].n_features
            scores = ", ".join(f"{row.method} {row.r2:.2f}" for row in rows.itertuples())
            texts.append(f"A {name} behind {size} noisy columns, R² with the truth: {scores}.")
        sizes, chance = self.cliques.cliques.sizes, self.cliques.expected_false or {}
        verdict = "nothing to see" if self.chance.is_noise else "something"
        return [
            *texts,
            f"Error bars: intervals of 95 % hold {100.0 * self.coverage:.0f} % of the true "
            "coordinates.",
            f"Cliques of the curve: {sizes.size} groups of rows that all correlate, the largest of "
            f"{sizes[0]}; unrelated rows have {chance.get(int(sizes[0]), 0.0):.2g} of that size.",
            f"Noise: {verdict} (p value {self.chance.p_value:.2g}), whatever its maps show.",
        ]

    def panels(self, name: str) -> dict[str, Panel]:
        """Return what is drawn of a table, by title."""
        data, rows = self.tables[name], self.to_pandas()
        known = data.latent is not None
        paint = paint_points(data) if known else Paint(palette=(MUTED,))
        r2 = rows[rows["table"] == name].set_index("method")["r2"]
        below = {method: f"R² {value:.2f}" for method, value in r2.items()}
        if not known:
            below = {"IKD": f"nothing to see (p = {self.chance.p_value:.2g})"}
        panels = {
            method: Panel(Z, paint, below.get(method, ""), None)
            for method, Z in self.embeddings[name].items()
        }
        if known:
            panels["IKD"] = panels["IKD"]._replace(errors=self.models[name].standard_errors_)
        if name == "curve":
            panels["cliques"] = self._largest_cliques()
        return panels

    def _largest_cliques(self) -> Panel:
        """Return the curve with its largest cliques in colors, those that share few points."""
        of_rows = np.zeros(self.cliques.graph.n_nodes, dtype=np.intp)
        for k, row in enumerate(self.cliques.largest(8).index, 1):
            of_rows[self.cliques.cliques[row]] = k
        paint = Paint("clique", of_rows, ("",) * 9, (MUTED, *CLASSES[:8]))
        return Panel(self.embeddings["curve"]["IKD"], paint, "the largest in colors", None)

    def plot(self, ax: Any = None) -> Any:
        """Draw every embedding of every table, with error bars, and the cliques of the curve.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes whose position the pictures take; by default a new figure.

        Returns
        -------
        matplotlib Axes
            The first of the noise.
        """
        ax = plot.drawing_axes(ax, *self.figure_size)
        figure, n_columns = plot.figure_of(ax), max(len(self.panels(name)) for name in self.tables)
        grid = plot.subplot_of(ax).subgridspec(len(self.tables), 1)
        for cell, name in zip(grid, self.tables, strict=True):
            panels = self.panels(name)
            first = plot.small_multiples(
                {title: panel.Z for title, panel in panels.items()},
                {title: panel.paint for title, panel in panels.items()},
                captions={title: panel.caption for title, panel in panels.items()},
                errors={title: panel.errors for title, panel in panels.items()},
                n_columns=n_columns, ax=figure.add_subplot(cell),
            )  # fmt: skip
            first.set_ylabel(f"{name[:1].upper()}{name[1:]}", color=INK)
        return first

    @property
    def figure_size(self) -> tuple[float, float]:
        """Width and height of the figure in inches."""
        return 2.0 * len(self.panels("curve")), 2.4 * len(self.tables)


def demo(verbose: int = 0) -> Demo:
    """Compare methods on a curve and a surface behind noise, and look at noise alone.

    Parameters
    ----------
    verbose : int
        1 shows a line for each stage.

    Returns
    -------
    Demo
        Says what was found (``answer``), plots, and goes to pandas.
    """
    noise = Dataset(np.random.default_rng(0).normal(size=(150, 200)), name="noise")
    tables = {"curve": figure_eight(noise=_NOISE), "surface": surface(noise=_NOISE), "noise": noise}
    models, embeddings = {}, {}
    with Stages(verbose) as stages, no_warnings():
        for name, data in tables.items():
            with stages(name):
                models[name] = IKD(2).fit(data.X)
                embeddings[name] = _embeddings(data, models[name].embedding_)
        with stages("cliques"):
            found = inspect_cliques(tables["curve"])
        with stages("chance"):
            chance = chance_test(noise.X)
    return Demo(tables, models, embeddings, found, chance)


def _embeddings(data: Dataset, Z: Floats) -> dict[str, Floats]:
    """Embeddings by the titles of their methods, and the truth, turned onto a default one."""
    every = {"IKD": Z}
    for name in OURS:
        every[name] = IKD(2, strategy=name, refine=None).fit_transform(data.X)
    for group in OTHERS:
        found = {
            PEERS[name].title: embed(name, data.X).value
            for name in (group if data.latent is not None else group[:1])
            if find_spec(PEERS[name].module)
        }
        if found:
            best = max(found, key=lambda title: _r2(data, found[title]))
            every[best] = found[best]
    if data.latent is not None:
        every["truth"] = data.latent
    return {title: metrics.aligned(each, Z - Z.mean(axis=0)) for title, each in every.items()}


def _r2(data: Dataset, Z: Floats) -> float:
    """R² of the truth, 0 where there is none."""
    return 0.0 if data.latent is None else metrics.affine_r2(data.latent, Z)
