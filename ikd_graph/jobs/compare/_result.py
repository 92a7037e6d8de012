"""What a comparison says, in numbers and in words: rows of scores, one test, disagreement."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import t

from ..._base.types import Floats
from ...datasets import Dataset
from ...metrics import aligned
from ...plotting import colors, plot
from ...plotting.charts import Bars, Chart
from ..baselines import PEERS
from ..label_scores import WORDS

LEAST, TIE = 0.01, 0.02
"""A better method is better by more than the first; two do not differ if by less than the second.

Both are differences of R², and hold for the whole 95 % interval; see
docs/decisions/008-comparing-strategies.md.
"""

RULE = (
    f"better: the 95 % interval of the difference lies beyond {LEAST:g}; no difference: it lies "
    f"within {TIE:g}"
)
"""When the test says what."""

SCORES = {
    "true": "R² of the true latent",
    "maximum_likelihood": "R² of the maximum-likelihood embedding",
    "held-out": "R² of held-out columns",
    "embedded": "R² of the columns that were embedded",
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
        if abs(self.mean) - self.half_width > LEAST:
            return self.first if self.mean > 0.0 else self.second
        return "" if abs(self.mean) + self.half_width < TIE else None


class _Part(NamedTuple):
    """Embeddings that a figure shows in one size."""

    levels: list[float]
    across: int  # pictures in a row
    side: float  # of each, in inches
    points: dict[int, str]  # names that are written


@dataclass(frozen=True)
class Comparison:
    """What `compare` returns; ``print`` it, ``plot`` it, or take it to pandas.

    Attributes
    ----------
    data : Dataset
        What was compared.
    measure : {"true", "maximum_likelihood", "held-out", "embedded"}
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
        for axis, fraction in ((0, gaps.shape[0]), (1, 2)):
            if gaps.shape[axis] > 1:
                means = gaps.mean(axis=1 - axis)
                variance += float(means.var(ddof=1)) / fraction
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
        """The test of the pair at every noise level at which both ran."""
        if self.pair is None:
            return []
        ran = [s for s in self.levels if all((title, s) in self.scores for title in self.pair)]
        return [self.difference(*self.pair, s) for s in ran]

    @property
    def disagreement(self) -> Floats | None:
        """Distance of each point between the two embeddings of the pair, (n,).

        They are aligned by a rigid motion and a scale; the unit is the root mean square distance
        from the center.
        """
        if self.pair is None or any((t, self.levels[0]) not in self.embeddings for t in self.pair):
            return None
        first, second = (self.embeddings[title, self.levels[0]] for title in self.pair)
        centered = first - first.mean(axis=0)
        gap = np.linalg.norm(centered - aligned(second, centered), axis=1)
        return np.asarray(gap / np.sqrt((centered**2).sum(axis=1).mean()), dtype=np.float64)

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

    def plot(self, ax: Any = None) -> Any:
        """Draw every embedding at every noise level, and the scores with their errors.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes whose position the pictures take; by default a new figure.

        Returns
        -------
        matplotlib Axes
            Of the scores.
        """
        width, height = self.figure_size
        ax = plot.drawing_axes(ax, width, height)
        figure, parts = plot.figure_of(ax), self._parts()
        grid = plot.subplot_of(ax).subgridspec(
            len(parts) + 1, 1, height_ratios=[*self._heights(), self._bars_height()]
        )
        # Names stay apart in the size that pictures have with everything around them.
        scores = plot.chart(self.scores_chart(), ax=figure.add_subplot(grid[-1]))
        labels = self.data.y if self.data.labels is None else self.data.labels
        paint = colors.paint(labels, title=self.data.label_title)
        hole = np.full((self.data.n_samples, 2), np.nan)
        # The first part, which has the names, is the last that is drawn.
        for number, part in reversed([*enumerate(parts)]):
            panels = {
                title + (f", noise {level:g}" if len(self.levels) > 1 else ""): self.embeddings.get(
                    (title, level), hole
                )
                for level in part.levels
                for title in self.titles
            }
            plot.small_multiples(
                panels, paint, points=part.points, n_columns=part.across, legend=number == 0,
                ax=figure.add_subplot(grid[number]),
            )  # fmt: skip
        return scores

    @property
    def figure_size(self) -> tuple[float, float]:
        """Width and height of the figure in inches."""
        width = max(part.across * part.side for part in self._parts())
        return max(7.0, width), sum(self._heights()) + self._bars_height()

    def _bars_height(self) -> float:
        """Height of the scores in inches."""
        return max(1.2 + 0.16 * len(self.titles) * (1 + len(self.levels)), 2.8)

    def _heights(self) -> list[float]:
        """Height of each part of the figure with embeddings, in inches."""
        n = len(self.titles)
        return [part.side * -(-n * len(part.levels) // part.across) for part in self._parts()]

    def _parts(self) -> list[_Part]:
        """Parts of the figure: with few named rows large pictures of the first level, with names.

        All others are small.
        """
        points = plot.names_of_points(self.data.row_names)
        if not points:
            return [_Part(self.levels, len(self.titles), 2.4, {})]
        across = min(len(self.titles), 3)
        large = _Part(self.levels[:1], across, 4.6, points)
        small = _Part(self.levels[1:], max(len(self.titles), across), 4.6 * across, {})
        small = small._replace(side=small.side / small.across)
        return [large, small] if small.levels else [large]

    def scores_chart(self) -> Chart:
        """Describe the scores as lying bars with standard errors, noise levels side by side."""
        n = len(self.levels)
        bars = []
        for k, level in enumerate(self.levels):
            rows = [self.row(title, level) for title in self.titles]
            at = np.arange(float(len(rows))) + (k - 0.5 * (n - 1)) * 0.8 / n
            lengths, errors = np.array([(row.score, row.error) for row in rows], np.float64).T
            name = f"noise {level:g}" if n > 1 else ""
            bars.append(Bars(at, lengths, colors.class_color(k), name, 0.72 / n, errors))
        label = SCORES[self.measure]
        return Chart(f"{label} of each method", label, bars=tuple(bars), rows=tuple(self.titles))

    def __str__(self) -> str:
        return "\n".join(lines(self))

    __repr__ = __str__


def lines(result: Comparison) -> list[str]:
    """Return the whole comparison as text."""
    head = "; ".join(f"{name}: {text}" for name, text in result.head.items())
    return [f"{result.data.name}: {head}", *table(result), *(f"- {s}" for s in sentences(result))]


def table(result: Comparison) -> list[str]:
    """Scores of all methods, one line each, noise levels side by side."""
    titles = list(dict.fromkeys(row.title for row in result.rows))
    marks = list(dict.fromkeys(name for row in result.rows for name in row.labels))[:1]
    wide = max(map(len, titles))
    heads = [f"noise {level:g}" for level in result.levels] + [label_words(name) for name in marks]
    widths = [max(len(head), 13) for head in heads]
    shown = [f"{head:>{width}}" for head, width in zip(heads, widths, strict=True)]
    text = [SCORES[result.measure] + " (± standard error)"]
    text.append("  ".join(["  " + " " * wide, *shown, "   time"]))
    for title in titles:
        rows = [result.row(title, level) for level in result.levels]
        if rows[0].failure:
            text.append(f"  {title:<{wide}}  {rows[0].failure}")
            continue
        cells = [score(row.score, row.error) for row in rows]
        cells += [score(rows[0].labels.get(name, np.nan)) for name in marks]
        padded = [f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True)]
        text.append("  ".join([f"  {title:<{wide}}", *padded, f"{rows[0].seconds:5.2f} s"]))
    return [*text, f"  ({RULE})"]


def label_words(name: str) -> str:
    """Name of a score of labels for readers: "knn of site" is "5-NN accuracy, site"."""
    kind, _, title = name.partition(" of ")
    return WORDS[kind] + (f", {title}" if title else "")


def score(value: float, error: float = np.nan) -> str:
    """Return a score with its error, a dash where there is none."""
    if not np.isfinite(value):
        return "–"
    return f"{value:.3f}" + (f" ± {error:.3f}" if np.isfinite(error) else "")


def sentences(result: Comparison) -> list[str]:
    """Say what follows: the paired test, refinements, other methods, where they disagree."""
    texts = [describe_test(test, result) for test in result.tests]
    texts += [*_refinements(result), *_others(result), *_disagreement(result)]
    heard: dict[str, list[str]] = {}
    for title, notes in result.notes.items():
        for note in notes:
            heard.setdefault(note, []).append(title)
    return texts + [f"{', '.join(titles)}: {note}" for note, titles in heard.items()]


def describe_test(test: Difference, result: Comparison, *, where: bool = True) -> str:
    """Return the test of two methods at a noise level as a sentence."""
    pair = f"{test.first} and {test.second}"
    prefix = f"At noise {test.noise:g} " if where and len(result.levels) > 1 else ""
    gap = _width(abs(test.mean), test)
    if test.better:
        worse = test.second if test.better == test.first else test.first
        return f"{prefix}{test.better} is better than {worse} by {gap}"
    if test.better == "":
        return f"{prefix}{pair} do not differ ({gap})"
    return f"{prefix}too few columns to tell {pair} apart ({gap})"


def _width(gap: float, test: Difference, form: str = ".3f") -> str:
    """Return a difference and the half width of its interval."""
    if np.isnan(test.half_width):
        return f"{gap:{form}}, too few columns for a test"
    return f"{gap:{form}}" + (f" ± {test.half_width:.3f}" if test.half_width else "")


def _refinements(result: Comparison) -> list[str]:
    """Return what refinement adds to each strategy, and what is left between those of the pair."""
    level = result.levels[0]
    rows = [row for row in result.rows if row.refine and row.noise == level and not row.failure]
    texts = []
    for row in rows:
        test = result.difference(row.title, row.method, level)
        sure = "" if test.better else " (unsure)"
        texts.append(f"{row.method} {_width(test.mean, test, '+.3f')}{sure}")
    if not texts:
        return []
    if result.pair is not None and len(rows) > 1:
        test = result.difference(rows[0].title, rows[1].title, level)
        texts.append(f"then {describe_test(test, result, where=False)}")
    return [f"Refinement by {rows[0].refine}: {'; '.join(texts)}"]


def _others(result: Comparison) -> list[str]:
    """Return the best of the strategies against the best of all other methods."""
    level = result.levels[0]
    able = [row for row in result.rows if row.noise == level and not row.failure]
    ours = [row for row in able if row.method not in PEERS]
    peers = [row for row in able if row.method in PEERS]
    if not ours or not peers:
        return []
    best = [max(rows, key=lambda row: row.score).title for rows in (ours, peers)]
    text = describe_test(result.difference(best[0], best[1], level), result, where=False)
    return [f"Best strategy against best other method: {text}"]


def _disagreement(result: Comparison, n_shown: int = 5) -> list[str]:
    """Where the pair disagrees, most first."""
    gaps = result.disagreement
    if gaps is None or result.pair is None:
        return []
    worst = np.argsort(-gaps, kind="stable")[:n_shown]
    named = ", ".join(f"{result.names[row]} ({gaps[row]:.2f})" for row in worst)
    return [
        f"Distance of a point between {result.pair[0]} and {result.pair[1]}, in root mean square "
        f"radii: median {np.median(gaps):.2f}; largest at {named}"
    ]
