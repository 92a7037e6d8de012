"""A demonstration: what is found where the truth is known, and what is said where there is none."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from .. import metrics
from .._base.progress import stage
from .._base.types import Floats
from .._base.warn import no_warnings
from ..chance import ChanceTest, chance_test
from ..datasets import Dataset, figure_eight
from ..estimator import IKD
from ..plotting import plot
from ..plotting.colors import CLASSES, MUTED, Paint, paint_points
from .baselines import PEERS, embed
from .cliques import CliqueInspection, inspect_cliques

__all__ = ["RULE", "Demo", "demo"]

OURS = ("blockwise", "geodesic", "eigen")
OTHERS = ("pca", "isomap", "umap")
"""Strategies, and peers that are compared with them."""

RULE = (
    "R²: of the true coordinates, after an affine map. Half of the variance of a column is noise. "
    "Every method is by default, UMAP if it is installed; blockwise, geodesic and eigen are the "
    "closed forms of IKD alone. Rings are one standard error, colors the place along the curve."
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
    data : Dataset
        A curve behind noisy columns, whose latent is known.
    embeddings : dict of str to dict of str to (n, 2) float64
        Of "curve" and of "noise", a table of the same size without any latent, by method, turned
        onto the default one; of the curve the truth is first.
    errors : (n, 2) float64
        Standard errors of the default embedding of the curve.
    cliques : CliqueInspection
        Of the curve.
    chance : ChanceTest
        Whether there is anything in the noise.
    """

    data: Dataset
    embeddings: Mapping[str, Mapping[str, Floats]]
    errors: Floats
    cliques: CliqueInspection
    chance: ChanceTest

    def to_pandas(self) -> pd.DataFrame:
        """Make a table of R² with the truth: a row for each method."""
        (_, truth), *every = self.embeddings["curve"].items()
        rows = [(method, metrics.affine_r2(truth, Z)) for method, Z in every]
        return pd.DataFrame(rows, columns=["method", "r2"])

    @property
    def coverage(self) -> float:
        """Fraction of the true coordinates that intervals of 95 % hold."""
        truth, Z = (self.embeddings["curve"][name] for name in ("truth", "IKD"))
        return float(np.mean(np.abs(truth - Z) < 1.96 * self.errors))

    @property
    def answer(self) -> list[str]:
        """Say what was found, in four sentences."""
        rows = [f"{row.method} {row.r2:.2f}" for row in self.to_pandas().itertuples()]
        ours, scores = ", ".join(rows[1 : 1 + len(OURS)]), ", ".join(rows[1 + len(OURS) :])
        size = f"{self.data.n_features} noisy columns of {self.data.n_samples} rows"
        sizes, chance = self.cliques.cliques.sizes, self.cliques.expected_false or {}
        return [
            f"A curve behind {size}, R² with the truth: {rows[0]} (its closed forms alone: "
            f"{ours}), {scores}.",
            f"Error bars: intervals of 95 % hold {100.0 * self.coverage:.0f} % of the true "
            "coordinates.",
            f"Cliques of the curve: {sizes.size} groups of {sizes[-1]} to {sizes[0]} rows that all "
            f"correlate; unrelated rows have {chance.get(int(sizes[0]), 0.0):.2g} of {sizes[0]}.",
            f"Noise: {self._verdict}, whatever its maps show.",
        ]

    @property
    def _verdict(self) -> str:
        """What is to be seen in the noise."""
        p_value = f"(p = {self.chance.p_value:.2g})"
        return f"nothing to see {p_value}" if self.chance.is_noise else f"something {p_value}"

    def panels(self) -> dict[str, Panel]:
        """Return every embedding by its title, and the cliques of the curve."""
        r2 = self.to_pandas().set_index("method")["r2"]
        panels = {}
        for method, Z in self.embeddings["curve"].items():
            caption = f"R² {r2[method]:.2f}, by default" if method in r2 else ""
            errors = self.errors if method == "IKD" else None
            panels[f"curve: {method}"] = Panel(Z, paint_points(self.data), caption, errors)
        of_rows, largest = np.zeros(self.data.n_samples, dtype=np.intp), self.cliques.largest(8)
        for k, row in enumerate(largest.index, 1):
            of_rows[self.cliques.cliques[row]] = k
        palette = (MUTED, *CLASSES[: len(largest)])
        paint = Paint("clique", of_rows, ("",) * len(palette), palette)
        said, best = f"the {len(largest)} largest in colors", panels["curve: IKD"]
        panels["curve: cliques"] = Panel(best.Z, paint, said)
        for method, Z in self.embeddings["noise"].items():
            said = self._verdict if method == "IKD" else "by default"
            panels[f"noise: {method}"] = Panel(Z, Paint(palette=(MUTED,)), said)
        return panels

    def plot(self, ax: Any = None) -> Any:
        """Draw the truth, the default with error bars and the last peer, cliques, and the noise.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes whose position the pictures take; by default a new figure.

        Returns
        -------
        matplotlib Axes
            The first picture.
        """
        peer, panels = [*self.embeddings["noise"]][-1], self.panels()
        shown = [f"curve: {what}" for what in ("truth", "IKD", peer, "cliques")]
        shown += [f"noise: {what}" for what in ("IKD", peer)]
        Z, paints, captions, errors = (
            dict(zip(shown, each, strict=True))
            for each in zip(*(panels[title] for title in shown), strict=True)
        )
        return plot.small_multiples(Z, paints, captions=captions, errors=errors, ax=ax)


def demo(verbose: bool = False) -> Demo:
    """Compare methods on a curve behind noise, and look at noise alone.

    Parameters
    ----------
    verbose : bool
        Whether a line is shown for each stage.

    Returns
    -------
    Demo
        Says what was found (``answer``), plots, and goes to pandas.
    """
    curve = figure_eight()
    noise = Dataset(np.random.default_rng(0).normal(size=curve.X.shape), name="noise")
    with no_warnings():
        with stage(verbose, "error bars"):
            errors = IKD(2, n_jobs=1).fit(curve.X).standard_errors_
        with stage(verbose, "other methods"):
            embeddings = {"curve": _embeddings(curve), "noise": _embeddings(noise)}
        with stage(verbose, "cliques"):
            found = inspect_cliques(curve, n_jobs=1)
    return Demo(curve, embeddings, errors, found, chance_test(noise.X))


def _embeddings(data: Dataset) -> dict[str, Floats]:
    """Embeddings by the titles of their methods, the truth first, turned onto the default one."""
    every = {} if data.latent is None else {"truth": data.latent}
    every["IKD"] = Z = IKD(2, n_jobs=1).fit_transform(data.X)
    for name in OURS:
        every[name] = IKD(2, strategy=name, refine=None, n_jobs=1).fit_transform(data.X)
    found = {PEERS[name].title: embed(name, data.X).value for name in OTHERS}
    every |= {title: each for title, each in found.items() if each is not None}
    return {title: metrics.aligned(each, Z - Z.mean(axis=0)) for title, each in every.items()}
