"""Page of one embedding: the picture, how it was made, what to make of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...study.datasets import Dataset
from .. import page, svg
from ..words import count, say_kernel, say_scores, say_seconds, say_settings, versions
from .paint import draw, drawn_note, legend, paint_points

if TYPE_CHECKING:
    from ...estimator import IKD

_SPECTRUM_NOTE = (
    "Shares of the sum of squared eigenvalues of the Gram matrix that the closed form came from, "
    "before any polish. Negative eigenvalues mean "
    "distances that no points in space have: noise, or a kernel that does not fit."
)

_TRIED_NOTE = (
    "What was tried. Each point is predicted by the mean of the points nearest to it in the "
    "latent, itself left out; a principal direction of the measurements counts by its R2. The "
    "error is the standard error of the difference from the choice."
)


def embed_page(
    model: IKD,
    data: Dataset,
    command: str = "",
    scores: Mapping[str, Mapping[str, float]] | None = None,
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
        Scores of each column of labels; see `ikd_graph.study.label_scores.score_labels`.

    Returns
    -------
    str
        HTML that needs no other file.

    Examples
    --------
    >>> from ikd_graph import IKD
    >>> from ikd_graph.study import datasets
    >>> from ikd_graph.show import report
    >>> data = datasets.load("digits")
    >>> "<svg" in report.embed_page(IKD().fit(data.X), data)
    True
    """
    paint = paint_points(data)
    said = {title or "labels": say_scores(one) for title, one in (scores or {}).items()}
    n_points, n_dims = model.embedding_.shape
    seconds = sum(model.stage_times_.values())
    lead = (
        f"{count(n_points, 'point')} of {count(data.n_features, 'measurement')} placed in "
        f"{count(n_dims, 'dimension')} by the {model.strategy_} strategy in {say_seconds(seconds)}."
    )
    picture = page.figure(
        draw(model.embedding_, paint, f"embedding of {data.name}"),
        _axes_note(model) + drawn_note(paint, n_points),
    )
    sections = [
        page.with_legend(picture, legend(paint, data.label_title)),
        page.section("Warnings", page.advice(data.remarks)) if data.remarks else "",
        page.section("What was read", page.advice(data.notes)) if data.notes else "",
        page.section("Labels", page.reasons(said)) if said else "",
        page.section("The run", page.facts(_run_facts(model))),
        page.section("Why these settings", page.reasons(_reasons(model)), *_tried(model)),
        page.section("Spectrum and time", page.side_by_side(*_charts(model))),
        page.section("Again", page.command(command) if command else ""),
        page.footer(versions()),
    ]
    return page.document(data.name, lead, sections, kind="Embedding", names=paint.names)


def _axes_note(model: IKD) -> str:
    """What the two axes of the picture are."""
    shares = model.explained_variance_ratio_
    if model.embedding_.shape[1] == 1:
        return "The coordinate, upwards, against the row."
    said = [f"dimension {k + 1} ({shares[k]:.0%} of variance)" for k in range(2)]
    rest = model.embedding_.shape[1] - 2
    more = f" {count(rest, 'further dimension')} not drawn." if rest else ""
    return f"Across: {said[0]}; upwards: {said[1]}. Same scale both ways.{more}"


def _run_facts(model: IKD) -> dict[str, Any]:
    """Numbers of the run, those that exist."""
    found: dict[str, Any] = {
        "strategy": model.strategy_,
        "kernel": say_kernel(model.kernel_),
        **say_settings(model),
        # A tile is narrow: the reasons say what it compares.
        "similarity": model.affinity_.replace("_", " "),
    }
    g = model.graph_
    if g is not None:
        found["mean neighbours"] = 2.0 * g.n_edges / g.n_nodes
    if model.strategy_ == "geodesic":
        found["path"] = model.path_
    if model.cliques_ is not None:
        found["cliques"] = model.cliques_.n_blocks
        found["largest clique"] = int(model.cliques_.sizes.max(initial=0))
    reference = model.reference_
    found["reference"] = reference if isinstance(reference, str) else f"row {reference}"
    kept = float(np.sum(model.start_explained_variance_ratio_))
    found["variance in the closed form"] = f"{kept:.1%}, {model.start_negative_mass_:.2%} negative"
    for name, attribute in (
        ("landmarks", "n_landmarks_"),
        ("refined by", "refine_"),
        ("signal variance", "signal_variance_"),
        ("noise variance", "noise_variance_"),
        ("log likelihood", "log_likelihood_"),
    ):
        found[name] = getattr(model, attribute, None)
    return found


def _reasons(model: IKD) -> dict[str, str]:
    """What each "auto" chose and why."""
    return {key.replace("_", " "): text for key, text in getattr(model, "choices_", {}).items()}


def _tried(model: IKD) -> list[str]:
    """What "auto" tried, the choice first."""
    if not model.candidates_:
        return []
    rows = [
        (
            one.affinity,
            one.graph,
            one.refine or "none",
            (one.score, f"{one.score:.2f}"),
            (one.standard_error, f"{one.standard_error:.2f}" if k else "chosen"),
        )
        for k, one in enumerate(model.candidates_)
    ]
    columns = ("similarity", "graph", "polish", "directions predicted", "error of the difference")
    return [page.table(columns, rows, best=[0]), page.paragraph(_TRIED_NOTE, soft=True)]


def _shares(model: IKD) -> dict[str, float]:
    """Shares of the squared eigenvalues of the closed form: those kept, the rest, the negative."""
    kept = np.asarray(model.start_explained_variance_ratio_, dtype=float)
    negative = float(model.start_negative_mass_ or 0.0)
    found = {f"dimension {k + 1}": float(share) for k, share in enumerate(kept[:12])}
    if kept.size > 12:
        found[f"dimensions 13 to {kept.size}"] = float(kept[12:].sum())
    found["not kept"] = max(0.0, 1.0 - float(kept.sum()) - negative)
    found["negative"] = negative
    return found


def _charts(model: IKD) -> list[str]:
    """Spectrum, time per stage, neighbours per point, sizes of cliques."""
    found = [
        page.figure(page.level_bars(_shares(model), "{:.1%}".format), _SPECTRUM_NOTE, "Spectrum"),
        page.figure(page.time_bars(model.stage_times_), "", "Time per stage"),
    ]
    if model.graph_ is not None:
        found.append(
            page.figure(
                histogram(np.diff(model.graph_.indptr), "neighbours of a point", "points"),
                "",
                "Neighbours",
            )
        )
    if model.cliques_ is not None:
        found.append(
            page.figure(
                histogram(model.cliques_.sizes, "points in a clique", "cliques"), "", "Clique sizes"
            )
        )
    return found


def histogram(values: Any, xlabel: str, ylabel: str) -> str:
    """Histogram of whole numbers."""
    numbers = np.asarray(values, dtype=np.int64)
    low, high = int(numbers.min(initial=0)), int(numbers.max(initial=1))
    low = int(numbers.min()) if numbers.size else low
    step = max(1, int(np.ceil((high - low + 1) / 40)))
    edges = np.arange(low, high + step + 1, step)
    heights, _ = np.histogram(numbers, edges - 0.5)
    return svg.bars(
        edges[:-1] + 0.5 * (step - 1), heights, xlabel=xlabel, ylabel=ylabel, title=xlabel
    )
