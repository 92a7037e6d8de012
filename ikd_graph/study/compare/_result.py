"""What a comparison says: rows of scores, one test, and where two embeddings disagree."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import orthogonal_procrustes
from scipy.stats import t

from ..datasets import Dataset

Floats = NDArray[np.float64]

LEAST, TIE = 0.01, 0.02
"""A better method is better by more than the first; two do not differ if by less than the second.

Both are differences of R², and hold for the whole 95 % interval; see
docs/decisions/008-comparing-strategies.md.
"""

SCORES = {
    "true": "R² of the true latent",
    "likeliest": "R² of the likeliest latent",
    "held-out": "R² of held-out columns",
}
"""What a score is, in words."""


class Row(NamedTuple):
    """One method at one noise level."""

    title: str  # "blockwise", or "blockwise + stress"
    method: str
    refine: str | None
    noise: float  # added, in standard deviations of each column
    score: float
    error: float  # standard error of the score
    seconds: float  # of a fit, median
    labels: dict[str, float]  # see `score_labels`; those of further labels as "knn of site"
    failure: str = ""


class Difference(NamedTuple):
    """How much better the first of two methods scores, by a paired test."""

    first: str
    second: str
    noise: float
    mean: float
    half_width: float  # of the 95 % interval; NaN where there is one value only

    @property
    def better(self) -> str | None:
        """The better method, "" where they do not differ, None where it cannot be told."""
        low, high = self.mean - self.half_width, self.mean + self.half_width
        if low > LEAST or high < -LEAST:
            return self.first if low > LEAST else self.second
        return "" if max(-low, high) < TIE else None


@dataclass(frozen=True)
class Comparison:
    """What `compare` returns; ``print`` it, ``plot`` it, or take it to pandas.

    Attributes
    ----------
    data : Dataset
        What was compared.
    measure : {"true", "likeliest", "held-out"}
        What the scores are, see ``SCORES``.
    head : dict of str to str
        Similarity, graph, kernel and refinement of all strategies, in words.
    rows : list of Row
        One for each method and noise level.
    scores : dict of (str, float) to (draws, references) ndarray
        Scores behind each row; draws of noise are the same for all methods.
    embeddings : dict of (str, float) to (n, m) ndarray
        An embedding for each row, rigidly aligned and scaled to the first.
    used : dict
        Parameters of `IKD` that all strategies share, with nothing left to choose.
    notes : dict of str to tuple of str
        Warnings of each method.
    """

    data: Dataset
    measure: str
    head: dict[str, str]
    rows: list[Row]
    scores: dict[tuple[str, float], Floats]
    embeddings: dict[tuple[str, float], Floats]
    used: dict[str, Any] = field(default_factory=dict)
    notes: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def titles(self) -> list[str]:
        """Methods that gave an embedding."""
        return list(dict.fromkeys(title for title, _ in self.embeddings))

    @property
    def levels(self) -> list[float]:
        """Noise levels, ascending."""
        return sorted({row.noise for row in self.rows})

    def row(self, title: str, noise: float) -> Row:
        """Row of a method at a noise level."""
        return next(row for row in self.rows if (row.title, row.noise) == (title, noise))

    def difference(self, first: str, second: str, noise: float = 0.0) -> Difference:
        """Paired test of two methods at a noise level.

        The difference is averaged over draws of noise and over references (halves of the columns).
        Its variance has a part for each: that of the mean of the draws, and half that of the
        halves, since two disjoint halves hold all there is.
        """
        gaps = self.scores[first, noise] - self.scores[second, noise]
        variance, least = 0.0, np.inf
        for axis, share in ((0, gaps.shape[0]), (1, 2)):
            if gaps.shape[axis] > 1:
                means = gaps.mean(axis=1 - axis)
                variance += float(means.var(ddof=1)) / share
                least = min(least, means.size - 1)
        half = float(t.ppf(0.975, least) * np.sqrt(variance)) if np.isfinite(least) else np.nan
        if np.isnan(half) and self.measure == "true":
            # Noise 0 and a known truth leave nothing to chance.
            half = 0.0
        return Difference(first, second, noise, float(gaps.mean()), half)

    @property
    def pair(self) -> tuple[str, str] | None:
        """The first two strategies on a graph, which are compared with one another."""
        ours = [title for title in self.titles if title.endswith(("blockwise", "geodesic"))]
        return (ours[0], ours[1]) if len(ours) > 1 else None

    @property
    def tests(self) -> list[Difference]:
        """The test of the pair at every noise level; empty where fewer than two ran."""
        return [] if self.pair is None else [self.difference(*self.pair, s) for s in self.levels]

    @property
    def disagreement(self) -> Floats | None:
        """Distance of each point between the two embeddings of the pair, (n,).

        They are aligned by a rigid motion and a scale; the unit is the root mean square distance
        from the centre.
        """
        if self.pair is None:
            return None
        first, second = (self.embeddings[title, self.levels[0]] for title in self.pair)
        centred = first - first.mean(axis=0)
        gap = np.linalg.norm(centred - aligned(second, centred), axis=1)
        return np.asarray(gap / np.sqrt((centred**2).sum(axis=1).mean()), dtype=np.float64)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the points, or their numbers."""
        return self.data.row_names or tuple(map(str, range(self.data.n_samples)))

    def to_records(self) -> list[dict[str, Any]]:
        """Rows as dictionaries, each with the settings that all strategies share."""
        shared = {"measure": SCORES[self.measure], **self.head}
        rows = [row._asdict() for row in self.rows]
        return [row | row.pop("labels") | shared for row in rows]

    def to_pandas(self) -> Any:
        """Rows as a pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame(self.to_records())

    def points(self) -> dict[str, list[Any]]:
        """Columns of a table of the points: name, disagreement, label, every embedding."""
        table: dict[str, list[Any]] = {self.data.row_title or "row": list(self.names)}
        if self.disagreement is not None:
            table["disagreement"] = self.disagreement.tolist()
        for labels in self.data.all_labels:
            table[labels.title or "label"] = labels.texts
        for title in self.titles:
            for k, column in enumerate(self.embeddings[title, self.levels[0]].T):
                table[f"{title} {k + 1}"] = column.tolist()
        return table

    def plot(self) -> Any:
        """Draw every embedding at every noise level, and the scores with their errors.

        Returns
        -------
        matplotlib Axes
            Of the scores.
        """
        from importlib import import_module

        return import_module("ikd_graph.show.plot").comparison(self)

    def __str__(self) -> str:
        from ._words import lines

        return "\n".join(lines(self))

    __repr__ = __str__


def aligned(points: Floats, target: Floats) -> Floats:
    """Points after the best rigid motion and scale onto a centred target of as many columns."""
    centred = points - points.mean(axis=0)
    rotation, trace = orthogonal_procrustes(centred, target)
    return np.asarray(trace / (float((centred**2).sum()) or 1.0) * centred @ rotation)
