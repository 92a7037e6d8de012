"""What a comparison gives: scores, embeddings and paired tests of methods, and sentences."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import t

from .._base import validation as check
from .._base.format import listed, setting
from .._base.types import Floats
from ..datasets import Dataset
from ..metrics import aligned
from ..plotting import colors, plot
from ..plotting.charts import Bars, Chart
from ..trust import Trust
from .baselines import PEERS
from .label_scores import WORDS

__all__ = ["RULE", "SCORES", "Comparison", "Difference", "Row", "sentences"]

LEAST, TIE = 0.01, 0.03
"""By the first every interval is wider on either side: so little of a score may be none of the R²
with the truth. Two methods do not differ if it includes 0, and lies within the second.

See docs/decisions/008-comparing-strategies.md.
"""

RULE = (
    f"± is half of a 95 % interval, and {LEAST:g} more; better: that of the difference of this "
    f"score excludes 0; no difference that matters: it includes 0, and lies within {TIE:g}"
)
"""When the test says what, where the score has been named."""

SCORES = {
    "true": "R² of the true latent",
    "maximum_likelihood": "R² of the maximum-likelihood embeddings of halves of the columns",
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
    score: float = np.nan
    half_width: float = np.nan  # of the interval of the score, see `half_width`
    seconds: float = np.nan  # of a fit, median
    labels: Mapping[str, float] = {}  # see `score_labels`; of further labels as "knn of site"
    failure: str = ""
    values: Any = None  # (draws, references) behind the score, the same for all methods
    embedding: Any = None  # (n, m), rigidly aligned and scaled to the first; None after a failure
    notes: tuple[str, ...] = ()  # warnings


class Difference(NamedTuple):
    """How much better the first of two methods scores, by a paired test.

    Printed, it is a clause that names the method with the higher score first.
    """

    first: str
    second: str
    noise: float
    mean: float
    half_width: float  # of the interval; NaN where there is one value only

    @property
    def better(self) -> str | None:
        """The better method, "" where they do not differ, None where it cannot be told."""
        if abs(self.mean) > self.half_width:
            return self.first if self.mean > 0.0 else self.second
        return "" if abs(self.mean) + self.half_width < TIE else None

    def __str__(self) -> str:
        gap = score(abs(self.mean), self.half_width)
        if self.better:
            worse = self.second if self.better == self.first else self.first
            return f"{self.better} is better than {worse} by {gap}"
        said = "no difference that matters" if self.better == "" else "cannot be told apart"
        said = "too few columns for a test" if np.isnan(self.half_width) else said
        higher, lower = (self.first, self.second)[:: 1 if self.mean >= 0.0 else -1]
        return f"{higher} and {lower}: {said} ({gap})"


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
        Similarity of all methods; graph, kernel and refinement of all strategies; in words.
    rows : list of Row
        One for each method and noise level, with its scores and its embedding.
    used : dict
        Parameters of `IKD` that all strategies share, with nothing left to choose.
    trust : Trust or None
        How far the default fit of the table can be trusted, where a strategy is compared.
    warnings : tuple of str
        What is wrong with the default fit, in clauses.
    """

    data: Dataset
    measure: str
    head: dict[str, str]
    rows: list[Row]
    used: dict[str, Any] = field(default_factory=dict)
    trust: Trust | None = None
    warnings: tuple[str, ...] = ()
    _row_names = property(lambda self: self.data.row_names)

    @property
    def titles(self) -> list[str]:
        """Methods that gave an embedding at every noise level."""
        failed = {row.title for row in self.rows if row.failure}
        titles = dict.fromkeys(row.title for row in self.rows)
        return [title for title in titles if title not in failed]

    @property
    def levels(self) -> list[float]:
        """Noise levels, ascending."""
        return sorted({row.noise for row in self.rows})

    def row(self, title: str, noise: float) -> Row:
        """Row of a method at a noise level."""
        rows = {(row.title, row.noise): row for row in self.rows}
        one = check.rule(f"be one of {listed(rows)}", rows.__contains__, "compare adds others")
        return rows[one("title and noise", (title, noise))]

    def rows_at(self, noise: float) -> list[Row]:
        """Rows at a noise level of the methods of `titles`."""
        return [self.row(title, noise) for title in self.titles]

    def name_of(self, row: Row) -> str:
        """Title of a row, with its noise where there are several levels."""
        return row.title + (f", noise {row.noise:g}" if len(self.levels) > 1 else "")

    def difference(self, first: str, second: str, noise: float = 0.0) -> Difference:
        """Paired test of two methods at a noise level."""
        first_values, second_values = (self.row(title, noise).values for title in (first, second))
        gaps = first_values - second_values
        return Difference(first, second, noise, float(gaps.mean()), half_width(gaps, self.measure))

    @property
    def pair(self) -> tuple[str, str] | None:
        """The first two strategies on a graph, the best strategy and best other, or the best."""
        ours = [title for title in self.titles if title.endswith(("blockwise", "geodesic"))]
        rows = sorted(self.rows_at(self.levels[0]), key=lambda row: -row.score)
        choices = (ours, self.best, [row.title for row in rows])
        return next(((pair[0], pair[1]) for pair in choices if len(pair) > 1), None)

    @property
    def best(self) -> tuple[str, ...]:
        """The best strategy and the best other method by their scores, or the one that ran."""
        rows = sorted(self.rows_at(self.levels[0]), key=lambda row: row.score)
        best = {row.method in PEERS: row.title for row in rows}
        return tuple(best[kind] for kind in sorted(best))

    @property
    def tests(self) -> list[Difference]:
        """The test of the pair at every noise level."""
        return [self.difference(*self.pair, level) for level in self.levels if self.pair]

    @property
    def disagreement(self) -> Floats | None:
        """Distance of each point between the two embeddings of the pair, (n,).

        They are aligned by a rigid motion and a scale; the unit is the root mean square distance
        from the center.
        """
        if self.pair is None:
            return None
        first, second = (self.row(title, self.levels[0]).embedding for title in self.pair)
        centered = first - first.mean(axis=0)
        gap = np.linalg.norm(centered - aligned(second, centered), axis=1)
        return gap / np.sqrt((centered**2).sum(axis=1).mean())

    def to_pandas(self) -> pd.DataFrame:
        """Make a table with a row for each method and noise level, and what all of them share."""
        rows = pd.DataFrame(self.rows).drop(columns=["labels", "values", "embedding", "notes"])
        marks = pd.DataFrame([row.labels for row in self.rows], rows.index)
        return pd.concat([rows, marks], axis=1).assign(measure=SCORES[self.measure], **self.head)

    def points(self) -> pd.DataFrame:
        """Make a table of the points: name, disagreement, labels, every embedding."""
        table: dict[str, Any] = {self.data.row_title or "row": self.data.names}
        if self.disagreement is not None:
            table["disagreement"] = self.disagreement
        table |= {labels.title or "label": labels.texts for labels in self.data.labels}
        for row in self.rows_at(self.levels[0]):
            for k, column in enumerate(row.embedding.T):
                table[f"{row.title} ikd{k}"] = column
        return pd.DataFrame(table)

    @plot.labels_are_color
    def plot(self, ax: Any = None, color: Any = None) -> Any:
        """Draw every embedding at every noise level, and the scores with their errors.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes whose position the pictures take; by default a new figure.
        color : array_like, optional
            Classes, numbers or times, one for each row that was compared; by default the labels
            of the data. ``labels=`` is another name of it.

        Returns
        -------
        matplotlib Axes
            Of the scores.
        """
        rows = [row for level in self.levels for row in self.rows_at(level)]
        panels = {self.name_of(row): row.embedding for row in rows}
        ax = plot.drawing_axes(ax, *self.figure_size)
        figure = plot.figure_of(ax)
        grid = plot.subplot_of(ax).subgridspec(2, 1, height_ratios=self._heights)
        # Names stay apart in the size that pictures have with everything around them.
        scores = plot.chart(self._chart(), ax=figure.add_subplot(grid[1]))
        plot.small_multiples(
            panels, colors.paint_points(self.data) if color is None else color,
            points=plot.names_of_points(self.data.row_names),
            n_columns=len(self.titles), ax=figure.add_subplot(grid[0]),
        )  # fmt: skip
        return scores

    @property
    def figure_size(self) -> tuple[float, float]:
        """Width and height of the figure in inches."""
        heights = self._heights
        return max(7.0, len(self.titles) * heights[0] / len(self.levels)), sum(heights)

    @property
    def _heights(self) -> tuple[float, float]:
        """Heights of the embeddings, one level below the other, and of the scores, in inches."""
        # Names need room.
        side = 4.6 if plot.names_of_points(self.data.row_names) else 2.4
        n_levels = len(self.levels)
        return side * n_levels, 2.0 + 0.2 * len(self.titles) * n_levels

    def _chart(self) -> Chart:
        """Scores as lying bars with their intervals, noise levels side by side."""
        n = len(self.levels)
        width, bars = 0.8 / n, []
        for k, level in enumerate(self.levels):
            rows = self.rows_at(level)
            at = np.arange(float(len(rows))) + (k - 0.5 * (n - 1)) * width
            lengths, errors = np.array([(row.score, row.half_width) for row in rows]).T
            name = f"noise {level:g}" if n > 1 else ""
            bars.append(Bars(at, lengths, colors.class_color(k), name, width, errors))
        label = SCORES[self.measure]
        return Chart(f"{label} of each method", label, bars=tuple(bars), rows=tuple(self.titles))

    @property
    def answer(self) -> list[str]:
        """Say which strategy, or method, is better, and how far to trust it, in sentences."""
        best = self.row(self.best[0], self.levels[0])
        several, truth = len(self.levels) > 1, self.data.latent
        tests = [f"at noise {each.noise:g} " * several + str(each) for each in self.tests]
        highest = f"{best.title} has the highest score, {score(best.score, best.half_width)}"
        texts = ["; ".join(tests) or highest]
        size = best.embedding.shape[1]
        rank = 0 if truth is None else int(np.linalg.matrix_rank(truth - truth.mean(axis=0)))
        if rank > size:
            whole = setting("n_components", rank)
            texts.append(f"the truth has {rank} dimensions, the comparison {size}: pass {whole}")
        texts += [f"the default fit: {text}" for text in self.warnings]
        told = [f"{text[:1].upper()}{text[1:]}." for text in texts]
        return told + ([] if self.trust is None else self.trust.sentences("The default fit"))

    def __str__(self) -> str:
        return "\n".join([*self.answer, *self.details()])

    def details(self) -> list[str]:
        """Return what all methods share, the scores, and what else follows, in lines."""
        head = "; ".join(f"{name}: {text}" for name, text in self.head.items())
        failed = {row.title: row.failure for row in self.rows if row.failure}
        lines = [head, SCORES[self.measure]]
        lines += [f"  {line}" for line in self._scores_table().to_string().splitlines()]
        lines += [f"  {title}: {failure}" for title, failure in failed.items()]
        return [*lines, f"  ({RULE})", *(f"- {text}" for text in sentences(self))]

    __repr__ = __str__

    def _scores_table(self) -> pd.DataFrame:
        """Scores of all methods as text, noise levels side by side."""
        table = {
            f"noise {level:g}": [score(row.score, row.half_width) for row in self.rows_at(level)]
            for level in self.levels
        }
        first = self.rows_at(self.levels[0])
        for name in [*first[0].labels][:1]:
            table[label_words(name)] = [score(row.labels.get(name, np.nan)) for row in first]
        table["seconds"] = [f"{row.seconds:.2f}" for row in first]
        return pd.DataFrame(table, self.titles)


def label_words(name: str) -> str:
    """Name of a score of labels for readers: "knn of site" is "5-NN accuracy, site"."""
    kind, _, title = name.partition(" of ")
    return WORDS[kind] + (f", {title}" if title else "")


def score(value: float, half: float = np.nan) -> str:
    """Return a score and half of its interval, a dash where there is none."""
    if not np.isfinite(value):
        return "–"
    return f"{value:.3f}" + (f" ± {half:.3f}" if half > 0.0 else "")


def half_width(values: Floats, measure: str) -> float:
    """Half of the 95 % interval of a score, or of a difference, (draws, references), and 0.01 more.

    Its variance has a part for the draws of noise, that of their mean, and one for the references
    (parts of the columns): half of theirs, since two disjoint halves hold all there is.
    """
    means = ((values.mean(axis=1), len(values)), (values.mean(axis=0), 2))
    parts = [(each.var(ddof=1) / n, each.size - 1) for each, n in means if each.size > 1]
    if not parts:
        # Noise 0 and a known truth leave nothing to chance.
        return LEAST if measure == "true" else np.nan
    variances, degrees = zip(*parts, strict=True)
    return LEAST + float(t.ppf(0.975, min(degrees)) * np.sqrt(sum(variances)))


def sentences(result: Comparison) -> list[str]:
    """Say what else follows: refinements, other methods, where the pair disagrees."""
    level, texts = result.levels[0], list[str]()
    rows, titles, gaps = result.rows_at(level), result.titles, result.disagreement
    pairs = [(row.title, row.method) for row in rows if row.refine and row.method in titles]
    if len(pairs) > 1:
        pairs.append((pairs[0][0], pairs[1][0]))
    if pairs:
        gains = (str(result.difference(*pair, level)) for pair in pairs)
        texts.append(f"Refinement: {'; '.join(gains)}")
    if len(result.best) > 1 and result.best != result.pair:
        test = result.difference(result.best[0], result.best[1], level)
        texts.append(f"Best strategy against best other method: {test}")
    if gaps is not None and result.pair is not None:
        worst = np.argsort(-gaps, kind="stable")[:5]
        named = ", ".join(f"{result.data.names[row]} ({gaps[row]:.2f})" for row in worst)
        texts.append(
            f"Distance of a point between {' and '.join(result.pair)}, in root mean square radii: "
            f"median {np.median(gaps):.2f}; largest at {named}"
        )
    notes = (note for row in rows for note in row.notes if note not in result.warnings)
    for note in dict.fromkeys(notes):
        texts.append(f"{', '.join(row.title for row in rows if note in row.notes)}: {note}")
    return texts
