"""Page of one embedding: the picture, how it was made, why."""

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base.format import count, format_seconds
from ..column_relevance import ColumnRelevance
from ..datasets import Dataset
from ..estimator import IKD
from ..jobs.label_scores import format_scores
from ..plotting import charts, colors
from ..plotting.figures import figure
from . import page

_SPECTRUM_NOTE = (
    "Shares of the sum of squared eigenvalues of the Gram matrix that the closed form came from, "
    "before any refinement. Negative eigenvalues mean "
    "distances that no points in space have: noise, or a kernel that does not fit."
)

_CANDIDATES_NOTE = (
    "Candidate settings, compared by 4-fold cross-validation over features: each point's held-out "
    "features are predicted by the mean of its nearest neighbors in the embedding of the others. "
    "The score, which ranks, is the mean R² over principal directions, all of which count alike; "
    "the held-out R² is that of the features, each by its variance."
)


_COLUMNS_NOTE = (
    "R² of rows that are predicted from the others on the map; false discovery rate against the "
    "same columns, shifted along the rows; fraction of the squared slope along each dimension, "
    "± its standard error. From 20 columns on, a column is judged on a map that was made without "
    "it; of fewer, the map has fitted some of its noise: weak columns look better than they are."
)


def embed_page(
    model: IKD,
    data: Dataset,
    command: str = "",
    scores: Mapping[str, Mapping[str, float]] | None = None,
    columns: ColumnRelevance | None = None,
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
        What `IKD.columns` found.
    **around
        ``warnings``, sentences, by default the remarks about the data; ``steps``, a sentence and a
        command each; ``picture``, a PNG for browsers that run no script.

    Returns
    -------
    str
        HTML that needs no other file.

    Examples
    --------
    >>> from ikd_graph import IKD
    >>> from ikd_graph import datasets
    >>> from ikd_graph import report
    >>> data = datasets.load("digits")
    >>> "<h1>digits" in report.embed_page(IKD().fit(data.X), data)
    True
    """
    written = {title or "labels": format_scores(score) for title, score in (scores or {}).items()}
    rows = colors.rows_to_draw(data)
    errors = model.standard_errors_ if np.isfinite(model.standard_errors_).any() else None
    sizes = [] if errors is None else np.linalg.norm(errors, axis=1)
    more = {} if errors is None else {"uncertainty": [f"± {size:.2g}" for size in sizes]}
    # As on the terminal: settings with the reason for each, and what there is to beware of.
    settings = str(model.settings_).splitlines()
    return page.render(
        "Embedding",
        data.name,
        _lead(model, data.n_features),
        [
            ("", [_pictures(model, data, rows, errors)]),
            ("What was read", [page.block("list", data.notes)]),
            ("Labels", [page.block("pairs", written)]),
            ("Columns that make the map", _columns(columns)),
            ("Settings, and why", [page.block("list", settings), *_tried(model)]),
            ("Spectrum and time", [page.figures(*_charts(model))]),
        ],
        command=command,
        described=colors.described(data, rows, more),
        **{"warnings": data.remarks, **around},
    )


def _lead(model: IKD, n_features: int) -> str:
    """Return the result in a sentence."""
    n_points, n_dims = model.embedding_.shape
    seconds = sum(model.stage_times_.values())
    return (
        f"{count(n_points, 'point')} of {count(n_features, 'feature')} embedded in "
        f"{count(n_dims, 'dimension')} by the {model.settings_.strategy.name} strategy in "
        f"{format_seconds(seconds)}."
    )


def _columns(found: ColumnRelevance | None, most: int = 20) -> list[page.Block]:
    """Name the columns of each axis, and list the best predicted ones."""
    if found is None:
        return []
    axes = range(found.fraction.shape[1])
    rows = [
        (
            found.names[k],
            float(found.r2[k]),
            float(found.q_value[k]),
            *(_with_error(found.fraction[k, axis], found.fraction_se[k, axis]) for axis in axes),
        )
        for k in range(min(most, len(found)))
    ]
    heads = ["column", "R²", "false discovery rate"]
    heads += [f"fraction of dimension {axis + 1}" for axis in axes]
    return [
        page.block("list", [found.summary, *found.sentences()]),
        page.table(heads, rows),
        page.block("note", _COLUMNS_NOTE),
    ]


def _with_error(value: float, error: float) -> tuple[float, str]:
    return float(value), f"{value:.2f} ± {error:.2f}"


def _pictures(
    model: IKD, data: Dataset, rows: NDArray[np.intp], errors: NDArray[np.float64] | None
) -> page.Block:
    """Draw the embedding with what may color it; of more dimensions also all pairs."""
    Z, m = model.embedding_[rows], model.embedding_.shape[1]
    paints = [colors.paint_of(colors.paint_labels(labels), rows) for labels in data.all_labels]
    options: dict[str, Any] = {
        "fractions": colors.variance_fractions(model.embedding_),
        "errors": None if errors is None else errors[rows],
        "rows": np.arange(rows.size),
    }
    main = charts.scatter(Z, *paints, title=f"embedding of {data.name}", **options)
    caption = _axes_note(model, errors) + colors.drawn_note(rows, data.n_samples)
    drawings = [page.drawing(main, caption=caption, size="main")]
    if m > 2:
        solid = charts.scatter(Z, *paints, dims=range(3), title="in three dimensions", **options)
        drawings.append(page.drawing(solid, "In three dimensions", size="main"))
        for a, b in combinations(range(min(m, 4)), 2):
            heading = f"dimensions {a + 1} and {b + 1}"
            chart = charts.scatter(Z, *paints, title=heading, dims=(a, b), **options)
            spec = figure(chart, small=True, legend=False)
            drawings.append(page.drawing(spec, heading, size="small", title=heading))
    return page.figures(*drawings, linked=True)


def _axes_note(model: IKD, errors: NDArray[np.float64] | None) -> str:
    """Return what the two axes of the picture are, and how its error bars are drawn."""
    if model.embedding_.shape[1] == 1:
        return "The coordinate, upwards, against the row."
    fractions = colors.variance_fractions(model.embedding_)
    across, upwards = (charts.axis_name(dim, fractions) for dim in range(2))
    few = model.embedding_.shape[0] <= charts.MOST_ELLIPSES
    shown = "Ellipses are one standard error." if few else "Uncertain points are pale."
    return (
        f"Across: {across}; upwards: {upwards}. Same scale both ways."
        + ("" if errors is None else f" {shown}")
        + " Draw a rectangle to zoom; click a name to hide it; the lasso chooses rows to save."
    )


def _tried(model: IKD) -> list[page.Block]:
    """Candidates of "auto", the chosen one first."""
    rows = []
    for tried in model.candidates_:
        apart = f"{tried.difference:+.3f} ± {tried.difference_error:.3f}"
        shown = (
            (tried.score, f"{tried.score:.3f} ± {tried.score_error:.3f}"),
            (tried.difference, "chosen" if tried.chosen else apart),
            (tried.r2, f"{tried.r2:.3f} ± {tried.r2_error:.3f}"),
        )
        words = tried.affinity.replace("_", " "), tried.strategy, tried.refine or "none"
        rows.append((*words, *shown))
    columns = ("affinity", "strategy", "refinement", "score", "difference", "held-out R²")
    return [page.table(columns, rows), page.block("note", _CANDIDATES_NOTE)] if rows else []


def _shares(model: IKD) -> dict[str, float]:
    """Fractions of the squared eigenvalues of the closed form: retained, others, negative."""
    closed = model._result.embedding
    fractions = {f"dimension {k + 1}": s for k, s in enumerate(closed.explained_variance_ratio)}
    not_used = max(0.0, 1.0 - sum(fractions.values()) - closed.negative_mass)
    return {**fractions, "not used": not_used, "negative": closed.negative_mass}


def _charts(model: IKD) -> list[page.Block]:
    """Spectrum, time per stage, neighbors per point, sizes of cliques."""
    spectrum = charts.level_bars(_shares(model), "{:.1%}".format, "fraction of squared eigenvalues")
    times = charts.level_bars(model.stage_times_, format_seconds, "seconds")
    drawings = [
        page.drawing(spectrum, "Spectrum", _SPECTRUM_NOTE),
        page.drawing(times, "Time per stage"),
    ]
    if model.graph_ is not None:
        degrees = np.diff(model.graph_.indptr)
        chart = charts.counts(degrees, "neighbors of a point", "points")
        drawings.append(page.drawing(chart, "Neighbors"))
    return drawings
