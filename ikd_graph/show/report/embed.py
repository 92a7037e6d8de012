"""Page of one embedding: the picture, how it was made, what to make of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...study.datasets import Dataset
from ...study.settings import reasons, refinement_name, say_graph
from .. import charts, page, points
from ..figures import figure
from ..words import count, say_kernel, say_scores, say_seconds, versions

if TYPE_CHECKING:
    from ...estimator import IKD

_SPECTRUM_NOTE = (
    "Shares of the sum of squared eigenvalues of the Gram matrix that the closed form came from, "
    "before any refinement. Negative eigenvalues mean "
    "distances that no points in space have: noise, or a kernel that does not fit."
)

_TRIED_NOTE = (
    "Settings that were tried, by 4-fold cross-validation over features: each point's held-out "
    "features are predicted by the mean of its nearest neighbours in the embedding of the others; "
    "R² is averaged over principal directions. A later setting replaces a simpler one only if it "
    "is better by two standard errors of the difference."
)


def embed_page(
    model: IKD,
    data: Dataset,
    command: str = "",
    scores: Mapping[str, Mapping[str, float]] | None = None,
    *,
    warnings: Sequence[str] | None = None,
    steps: Sequence[tuple[str, str]] = (),
    picture: bytes | None = None,
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
    warnings : sequence of str, optional
        What there was to warn of; by default the remarks about the data.
    steps : sequence of (str, str)
        What to do next: a sentence and a command each.
    picture : bytes, optional
        PNG for browsers that run no script.

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
    >>> "<h1>digits" in report.embed_page(IKD().fit(data.X), data)
    True
    """
    paints = [points.paint(labels) for labels in data.all_labels]
    rows = points.rows_to_draw(data)
    said = {title or "labels": say_scores(one) for title, one in (scores or {}).items()}
    errors = standard_errors(model)
    offers = {"path": "join rows in order"} if points.in_order(data, model.embedding_) else {}
    if errors is not None:
        offers["sized"] = "size by uncertainty"
    return page.render(
        "embed.html",
        title=data.name,
        lead=lead(model, data.n_features),
        command=command,
        versions=versions(),
        points=points.table(data, paints, rows, errors),
        picture=points.picture(model.embedding_, rows, points.variance_shares(model.embedding_)),
        columns=[one.title or "labels" for one in paints],
        legends=[points.legend(one) for one in paints],
        offers=offers,
        fallback=page.image(picture),
        axes_note=_axes_note(model) + points.drawn_note(rows, data.n_samples),
        warnings=data.remarks if warnings is None else warnings,
        notes=data.notes,
        scores=said,
        facts=run_facts(model),
        reasons=reasons(model),
        tried=_tried(model),
        tried_note=_TRIED_NOTE,
        charts=_charts(model),
        steps=steps,
    )


def lead(model: IKD, n_features: int) -> str:
    """The result in a sentence."""
    n_points, n_dims = model.embedding_.shape
    seconds = sum(model.stage_times_.values())
    return (
        f"{count(n_points, 'point')} of {count(n_features, 'feature')} embedded in "
        f"{count(n_dims, 'dimension')} by the {model.settings_.strategy.name} strategy in "
        f"{say_seconds(seconds)}."
    )


def standard_errors(model: IKD) -> NDArray[np.float64] | None:
    """Uncertainty of the place of each point, (n,); None where the fit has none."""
    errors = np.sqrt(np.sum(model.standard_errors_**2, axis=1))
    return errors if np.isfinite(errors).all() else None


def _axes_note(model: IKD) -> str:
    """What the two axes of the picture are."""
    if model.embedding_.shape[1] == 1:
        return "The coordinate, upwards, against the row."
    shares = points.variance_shares(model.embedding_)
    said = [f"dimension {k + 1} ({shares[k]:.0%} of the embedding's spread)" for k in range(2)]
    rest = model.embedding_.shape[1] - 2
    more = f" {count(rest, 'further dimension')} to choose above." if rest else ""
    return (
        f"Across: {said[0]}; upwards: {said[1]}. Same scale both ways.{more} Draw a rectangle to "
        "zoom; the lasso chooses rows to save."
    )


def run_facts(model: IKD) -> dict[str, Any]:
    """Numbers of the run, those that exist."""
    settings = model.settings_
    strategy = settings.strategy
    found: dict[str, Any] = {
        "strategy": strategy.name,
        "kernel": "linear" if strategy.name == "linear" else say_kernel(model.kernel_),
        # A tile is narrow: the reasons say what it compares.
        "similarity": settings.affinity.replace("_", " "),
        "graph": say_graph(model),
    }
    g = model.graph_
    if g is not None:
        found["mean neighbours"] = 2.0 * g.n_edges / g.n_nodes
    if strategy.name == "geodesic":
        found["path"] = strategy.path
    if model.cliques_ is not None:
        found["cliques"] = len(model.cliques_)
        found["largest clique"] = int(model.cliques_.sizes.max(initial=0))
    reference = strategy.reference
    found["reference"] = reference if isinstance(reference, str) else f"row {reference}"
    found[_explained_name(model)] = f"{_explained(model).sum():.1%}"
    if model.landmarks_ is not None:
        found["landmarks"] = model.landmarks_.size
    found["refined by"] = refinement_name(model)
    if found["refined by"] == "likelihood":
        noise = model.noise_model()
        found["signal variance"], found["noise variance"] = noise.variance, noise.noise
        found["log likelihood"] = noise.log_likelihood
    return found


def _explained(model: IKD) -> NDArray[np.float64]:
    """Explained variance ratio of the coordinates of the closed form."""
    return np.asarray(model._result.embedding.explained_variance_ratio, dtype=np.float64)


def _explained_name(model: IKD) -> str:
    """What the explained variance ratio is a share of."""
    if model.settings_.strategy.name == "linear":
        return "share of the variance"
    return "share of squared eigenvalues (Eq. 8)"


def _tried(model: IKD) -> dict[str, Any] | None:
    """What "auto" tried, the choice first."""
    rows = [
        (
            one.affinity.replace("_", " "),
            one.strategy,
            one.refine or "none",
            (one.score, f"{one.score:.3f} ± {one.standard_error:.3f}"),
            (
                one.difference,
                "chosen" if one.chosen else f"{one.difference:+.3f} ± {one.difference_error:.3f}",
            ),
        )
        for one in model.candidates_
    ]
    columns = ("affinity", "strategy", "refinement", "R² of held-out columns", "difference")
    return page.table(columns, rows, best=[0]) if rows else None


def _shares(model: IKD) -> dict[str, float]:
    """Shares of the squared eigenvalues of the closed form: those kept, the rest, the negative."""
    kept = _explained(model)
    negative = float(model._result.embedding.negative_mass)
    found = {f"dimension {k + 1}": float(share) for k, share in enumerate(kept[:12])}
    if kept.size > 12:
        found[f"dimensions 13 to {kept.size}"] = float(kept[12:].sum())
    found["not kept"] = max(0.0, 1.0 - float(kept.sum()) - negative)
    found["negative"] = negative
    return found


def _charts(model: IKD) -> list[dict[str, Any]]:
    """Spectrum, time per stage, neighbours per point, sizes of cliques."""
    shares = charts.levels(_shares(model), "{:.1%}".format)
    found: list[dict[str, Any]] = [
        {"bars": shares, "heading": "Spectrum", "caption": _SPECTRUM_NOTE},
        {"bars": charts.levels(model.stage_times_), "heading": "Time per stage"},
    ]
    if model.graph_ is not None:
        degrees = np.diff(model.graph_.indptr)
        found.append(drawn(charts.counts(degrees, "neighbours of a point", "points"), "Neighbours"))
    if model.cliques_ is not None:
        sizes = model.cliques_.sizes
        found.append(drawn(charts.counts(sizes, "points in a clique", "cliques"), "Clique sizes"))
    return found


def drawn(chart: charts.Chart, heading: str = "", caption: str = "") -> dict[str, Any]:
    """A chart with its heading and caption, as templates take it."""
    return {
        "spec": figure(chart),
        "title": chart.title,
        "heading": heading,
        "caption": caption,
    }
