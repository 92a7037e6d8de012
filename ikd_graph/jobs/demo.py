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
from ..chance import ChanceTest, chance_test
from ..datasets import Dataset, figure_eight, surface
from ..estimator import IKD
from ..plotting import plot
from ..plotting.colors import CLASSES, MUTED, Paint, paint_points
from .baselines import PEERS, embed
from .cliques import CliqueInspection, inspect_cliques

__all__ = ["RULE", "Demo", "demo"]

OURS = ("blockwise", "geodesic", "eigen")
OTHERS = ("pca", "isomap", "umap")
"""Strategies, and peers that are compared with them."""

_ROWS, _NOISE = 120, 1.5  # standard deviations of what noise is added to

RULE = (
    "R²: of the true coordinates, after an affine map. IKD is the default, of which blockwise, "
    "geodesic and eigen are the closed forms alone. Of Isomap, and UMAP if it is installed, the "
    "better of their default and metric='correlation' is shown. The noise of a column has "
    f"{_NOISE:g} times the standard deviation of its signal. Rings are one standard error, colors "
    "the place along the truth."
)
"""What is compared, in sentences."""


class Panel(NamedTuple):
    """One embedding of a table as it is drawn."""

    Z: Floats  # (n, 2)
    paint: Paint
    caption: str = ""
    errors: Floats | None = None  # standard errors of the coordinates, (n, 2)


@dataclass(frozen=True)
class Demo:
    """What `demo` returns.

    Attributes
    ----------
    tables : dict of str to Dataset
        "curve" and "surface", whose latent is known, and "noise", which has none.
    embeddings : dict of str to dict of str to (n, 2) float64
        Of each table by method, turned onto the default one; where it is known, the truth is last.
    errors : dict of str to (n, 2) float64
        Standard errors of the default embedding of each table.
    cliques : CliqueInspection
        Of the curve.
    chance : ChanceTest
        Whether there is anything in the noise.
    """

    tables: Mapping[str, Dataset]
    embeddings: Mapping[str, Mapping[str, Floats]]
    errors: Mapping[str, Floats]
    cliques: CliqueInspection
    chance: ChanceTest

    def to_pandas(self) -> pd.DataFrame:
        """Make a table of R² with the truth: a row for each table that has one, and method."""
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
            np.abs(methods["truth"] - methods["IKD"]) / self.errors[name]
            for name, methods in self.embeddings.items()
            if "truth" in methods
        ]
        return float(np.mean(np.vstack(gaps) < 1.96))

    @property
    def answer(self) -> list[str]:
        """Say what was found, in five sentences."""
        texts = []
        for name, rows in self.to_pandas().groupby("table"):
            data = self.tables[str(name)]
            size = f"{data.n_features} noisy columns of {data.n_samples} rows"
            scores = ", ".join(f"{row.method} {row.r2:.2f}" for row in rows.itertuples())
            texts.append(f"A {name} behind {size}, R² with the truth: {scores}.")
        sizes, chance = self.cliques.cliques.sizes, self.cliques.expected_false or {}
        return [
            *texts,
            f"Error bars: intervals of 95 % hold {100.0 * self.coverage:.0f} % of the true "
            "coordinates.",
            f"Cliques of the curve: {sizes.size} groups of {sizes[-1]} to {sizes[0]} rows that all "
            f"correlate; unrelated rows have {chance.get(int(sizes[0]), 0.0):.2g} of {sizes[0]}.",
            f"Noise: {self._verdict}, whatever its maps show.",
        ]

    @property
    def _verdict(self) -> str:
        """What is to be seen in the noise."""
        what = "nothing to see" if self.chance.is_noise else "something"
        return f"{what} (p = {self.chance.p_value:.2g})"

    def panels(self) -> dict[str, Panel]:
        """Return every embedding by its title, table by table, as many of each."""
        r2 = self.to_pandas().set_index(["table", "method"])["r2"]
        panels = {}
        for name, data in self.tables.items():
            known = data.latent is not None
            paint = paint_points(data) if known else Paint(palette=(MUTED,))
            for method, Z in self.embeddings[name].items():
                caption = f"R² {r2[name, method]:.2f}" if (name, method) in r2 else ""
                panels[f"{name}: {method}"] = Panel(Z, paint, caption)
            best = panels[f"{name}: IKD"]
            bars = best._replace(errors=self.errors[name])
            panels[f"{name}: IKD"] = bars if known else best._replace(caption=self._verdict)
        of_rows, largest = np.zeros(_ROWS, dtype=np.intp), self.cliques.largest(8).index
        for k, row in enumerate(largest, 1):
            of_rows[self.cliques.cliques[row]] = k
        palette = (MUTED, *CLASSES[: len(largest)])
        paint = Paint("clique", of_rows, ("",) * len(palette), palette)
        said = f"the {len(largest)} largest in colors"
        return {**panels, "curve: cliques": Panel(self.embeddings["curve"]["IKD"], paint, said)}

    def plot(self, ax: Any = None) -> Any:
        """Draw every embedding of every table, with error bars, and the cliques of the curve.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes whose position the pictures take; by default a new figure.

        Returns
        -------
        matplotlib Axes
            The first picture.
        """
        panels = {title.replace(": ", "\n"): panel for title, panel in self.panels().items()}
        Z, paints, captions, errors = (
            dict(zip(panels, each, strict=True)) for each in zip(*panels.values(), strict=True)
        )
        n_columns = len(self.embeddings["curve"])
        return plot.small_multiples(
            Z, paints, captions=captions, errors=errors, n_columns=n_columns, ax=ax
        )


def demo(verbose: bool = False) -> Demo:
    """Compare methods on a curve and a surface behind noise, and look at noise alone.

    Parameters
    ----------
    verbose : bool
        Whether a line is shown for each stage.

    Returns
    -------
    Demo
        Says what was found (``answer``), plots, and goes to pandas.
    """
    noise = Dataset(np.random.default_rng(0).normal(size=(_ROWS, 200)), name="noise")
    curve, plane = (make(_ROWS, noise=_NOISE) for make in (figure_eight, surface))
    tables = {"curve": curve, "surface": plane, "noise": noise}
    embeddings, errors = {}, {}
    with Stages(verbose) as stages, no_warnings():
        for name, data in tables.items():
            with stages(name):
                model = IKD(2, n_jobs=1).fit(data.X)
                errors[name] = model.standard_errors_
                embeddings[name] = _embeddings(data, model.embedding_)
        with stages("cliques"):
            found = inspect_cliques(curve, n_jobs=1)
    return Demo(tables, embeddings, errors, found, chance_test(noise.X))


def _embeddings(data: Dataset, Z: Floats) -> dict[str, Floats]:
    """Embeddings by the titles of their methods, and the truth, turned onto a default one."""
    every = {"IKD": Z}
    for name in OURS:
        every[name] = IKD(2, strategy=name, refine=None, n_jobs=1).fit_transform(data.X)
    every |= _peers(data)
    if data.latent is not None:
        every["truth"] = data.latent
    return {title: metrics.aligned(each, Z - Z.mean(axis=0)) for title, each in every.items()}


def _peers(data: Dataset) -> dict[str, Floats]:
    """Embeddings by peers that are installed, by default or with the metric nearer to a truth."""
    best: dict[str, Floats] = {}
    for name in OTHERS:
        peer, truth = PEERS[name], data.latent
        if not find_spec(peer.module):
            continue
        tried = {peer.title: embed(name, data.X).value}
        if truth is not None and name != "pca":
            by_metric = embed(name, data.X, metric="correlation").value
            tried[f"{peer.title} (correlation)"] = by_metric
            r2 = {title: metrics.affine_r2(truth, Z) for title, Z in tried.items()}
            tried = {title: Z for title, Z in tried.items() if r2[title] == max(r2.values())}
        best |= tried
    return best
