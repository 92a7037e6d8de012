"""Page of one embedding: the picture, how it was made, why."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base.format import count, format_seconds
from .._base.threads import batches, block_rows
from ..datasets import Dataset
from ..estimator import IKD
from ..jobs.label_scores import format_scores
from ..maps.columns import ColumnRelevance
from ..maps.dubious import DubiousRows
from ..maps.loadings import loadings
from ..plotting import charts, plot
from ..plotting.charts import Chart
from ..plotting.figures import escape
from ..similarity import GIVEN
from . import page
from .page import DrawnPoints

_EMBEDDING_NOTE = (
    "A point says its row and, of up to 4000 rows, the columns that are farthest from their means, "
    "in standard deviations (sd). Draw a rectangle to zoom; click a name to hide it; the lasso "
    "chooses rows to save."
)
_ERRORS_NOTE = "Ellipses are one standard error; of many points the uncertain ones are pale. "
_ARROWS_NOTE = (
    " Arrows from the point under the cursor show the columns that change most there, at most "
    "three and each longer than two standard errors: the way in which a column rises, and by how "
    "many sd over an eighth of the longer side of the map, ± its standard error. The map is taken "
    "as it is. In Python, ikd_graph.loadings(Z, X) has all columns."
)
_SPECTRUM_NOTE = (
    "Shares of the sum of squared eigenvalues of the closed form, before any refinement; negative "
    "ones mean distances that no points in space have."
)
_CANDIDATES_NOTE = (
    "Compared by 4-fold cross-validation over features, predicted by the nearest neighbors in the "
    "embedding of the others. The score, which ranks, is the mean R² over principal directions."
)
_COLUMNS_NOTE = (
    "R² of rows that are predicted from the others on the map; false discovery rate against the "
    "same columns, shifted along the rows; fraction of the squared slope along each dimension, "
    "± its standard error. Of fewer than 20 columns weak ones look better than they are."
)


def embed_page(
    model: IKD,
    data: Dataset,
    command: str = "",
    scores: Mapping[str, Mapping[str, float]] | None = None,
    columns: ColumnRelevance | None = None,
    doubts: DubiousRows | None = None,
    answer: Sequence[str] = (),
    **around: Any,
) -> str:
    """Page of a fitted model.

    Parameters
    ----------
    model : IKD
        Fitted on ``data.X``.
    data : Dataset
        Points and labels.
    command : str
        What to type to make the page again.
    scores : dict of str to dict of str to float, or None
        Scores of each column of labels; see `ikd_graph.jobs.label_scores.score_labels`.
    columns : ColumnRelevance or None
        What `IKD.columns` found; points have arrows of columns then.
    doubts : DubiousRows or None
        What `IKD.dubious` found; points say their p value then.
    answer : sequence of str
        What the map shows, and how far to trust it; by default what the model knows.
    **around
        ``warnings``, sentences; ``steps``, a sentence and a command each; ``picture``, a PNG for
        browsers that run no script.

    Returns
    -------
    str
        HTML that needs no other file.

    Examples
    --------
    >>> from ikd_graph import IKD
    >>> from ikd_graph import datasets
    >>> from ikd_graph import report
    >>> data = datasets.half_moons(60)
    >>> "<h1>half_moons" in report.embed_page(IKD(refine=None).fit(data.X), data)
    True
    """
    written = {title or "labels": format_scores(score) for title, score in (scores or {}).items()}
    drawn = DrawnPoints(data)
    believed = model.settings_.model_based and np.isfinite(model.standard_errors_).any()
    errors = model.standard_errors_ if believed else None
    sizes = [] if errors is None else np.linalg.norm(errors, axis=1)
    arrows = {} if columns is None else _arrows(model.embedding_, drawn)
    more = {} if errors is None else {"uncertainty": [f"± {size:.2g}" for size in sizes]}
    if doubts is not None:
        more["dubious"] = [f"p = {p:.2g}" for p in doubts.p_values]
    # As on the terminal: settings with the reason for each, and what there is to beware of.
    settings = str(model.settings_).splitlines()
    return page.render(
        "Embedding",
        data.name,
        " ".join(answer or model.trust_.sentences(data.name)),
        [
            ("", [_pictures(model, drawn, errors, _ARROWS_NOTE if arrows else "")]),
            ("What was read", [page.block("list", [_made(model, data.n_features), *data.notes])]),
            ("Labels", [page.block("pairs", written)]),
            ("Columns that make the map", _columns(columns)),
            ("Settings, and why", [page.block("list", settings), *_tried(model)]),
            ("Spectrum and time", [page.figures(*_charts(model))]),
        ],
        command=command,
        described=drawn.described(more, columns=model.affinity not in GIVEN) | arrows,
        **around,
    )


def _made(model: IKD, n_features: int) -> str:
    """Say of how much data the embedding was made, and how."""
    n_points, n_dims = model.embedding_.shape
    seconds = sum(model.stage_times_.values())
    return (
        f"{count(n_points, 'point')} of {count(n_features, 'column')} embedded in "
        f"{count(n_dims, 'dimension')} by the {model.settings_.strategy.name} strategy in "
        f"{format_seconds(seconds)}."
    )


def _columns(found: ColumnRelevance | None, most: int = 20) -> list[page.Block]:
    """Name the columns of each axis, and list the best predicted ones."""
    if found is None:
        return []
    axes = range(found.fraction.shape[1])
    heads = {"column": "column", "r2": "R²", "q_value": "false discovery rate"}
    heads |= {f"fraction_ikd{axis}": f"fraction of dimension {axis + 1}" for axis in axes}
    errors = {f"fraction_ikd{axis}": f"fraction_ikd{axis}_se" for axis in axes}
    return [
        page.block("list", [found.summary, *found.sentences()]),
        page.table(found.to_pandas().head(most), heads, errors),
        page.block("note", _COLUMNS_NOTE),
    ]


def _arrows(Z: NDArray[np.float64], drawn: DrawnPoints, most: int = 3) -> page.Block:
    """Columns that change most at each point drawn, with their steps; empty where none is known.

    A step is what a cell of a grid over the first two dimensions makes, in standard deviations.
    """
    X, at = drawn.data.X, Z[drawn.rows]
    if Z.shape[1] < 2 or len(at) > charts.MANY or np.isnan(X).any():
        return {}
    names = drawn.data.feature_names or [f"column {k}" for k in range(X.shape[1])]
    found, arrows = loadings(Z, X, points=at, names=names), []
    cell = plot.grid(Z)[1] / np.where(found.sd > 0.0, found.sd, np.inf)[:, None]
    for batch in batches(len(at), block_rows(len(names))):
        part = replace(found, points=at[batch])
        steps, errors = part.values[:, :, :2] * cell, part.standard_errors[:, :, :2] * cell
        beyond = charts.beyond_errors(steps, errors)
        numbers = np.dstack([steps, np.linalg.norm(errors, axis=2)])
        for row, first in enumerate(np.argsort(-beyond, axis=1, kind="stable")[:, :most]):
            known = first[beyond[row, first] > 0.0].tolist()
            arrows.append([[k, *(float(f"{x:.3g}") for x in numbers[row, k])] for k in known])
    named = sorted({k for each in arrows for k, *_ in each})
    columns = {k: escape(plot.shortened(names[k], 24)) for k in named}
    return {"arrows": arrows, "columns": columns} if named else {}


def _pictures(model: IKD, drawn: DrawnPoints, errors: Any, note: str) -> page.Block:
    """Draw the embedding with what may color it; of more dimensions also all pairs."""
    Z, m = model.embedding_, model.embedding_.shape[1]
    error_bars = None if errors is None else errors[drawn.rows]

    def chart(title: str, dims: Sequence[int] = (0, 1)) -> Chart:
        return drawn.scatter(Z, *drawn.paints, title=title, dims=dims, errors=error_bars)

    main = chart(f"embedding of {drawn.data.name}")
    caption = _ERRORS_NOTE * (errors is not None) + _EMBEDDING_NOTE + note + drawn.note
    drawings = [page.drawing(main, caption=caption, size="main")]
    if m > 2:
        solid = chart("in three dimensions", range(3))
        drawings.append(page.drawing(solid, "In three dimensions", size="main"))
        for a, b in combinations(range(min(m, 4)), 2):
            title = f"dimensions {a + 1} and {b + 1}"
            drawings.append(page.drawing(chart(title, (a, b)), title, size="small"))
    return page.figures(*drawings, linked=True)


def _tried(model: IKD) -> list[page.Block]:
    """Candidates of "auto", the chosen one first."""
    import pandas as pd

    if not model.candidates_:
        return []
    heads = {"affinity": "affinity", "strategy": "strategy", "refine": "refinement"}
    heads |= {"score": "score", "difference": "difference", "r2": "held-out R²", "chosen": "chosen"}
    errors = {name: f"{name}_error" for name in ("score", "difference", "r2")}
    tried = pd.DataFrame(model.candidates_).fillna({"refine": "none"})
    table = page.table(tried, heads, errors, "{:.3f}".format)
    return [table, page.block("note", _CANDIDATES_NOTE)]


def _shares(model: IKD) -> dict[str, float]:
    """Fractions of the spectrum of the closed form: retained, others, negative."""
    closed = model.model_.result.solution.embedding
    fractions = {f"dimension {k + 1}": s for k, s in enumerate(closed.explained_variance_ratio)}
    not_used = max(0.0, 1.0 - sum(fractions.values()) - closed.negative_mass)
    return {**fractions, "not used": not_used, "negative": closed.negative_mass}


def _charts(model: IKD) -> list[page.Block]:
    """Spectrum, time per stage, neighbors per point, sizes of cliques."""
    of_what, note = "squared eigenvalues", _SPECTRUM_NOTE
    if not model.settings_.strategy.uses_kernel:
        of_what, note = "variance", "Shares of the variance of the rows as they are compared."
    spectrum = charts.level_bars(_shares(model), "{:.1%}".format, f"fraction of {of_what}")
    times = charts.level_bars(model.stage_times_, format_seconds, "seconds")
    drawings = [
        page.drawing(spectrum, "Spectrum", note),
        page.drawing(times, "Time per stage"),
    ]
    if model.graph_ is not None:
        degrees = np.diff(model.graph_.indptr)
        chart = charts.counts(degrees, "neighbors of a point", "points")
        drawings.append(page.drawing(chart, "Neighbors"))
    return drawings
