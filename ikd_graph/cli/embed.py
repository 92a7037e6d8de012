"""Find the hidden coordinates of a data set.

They are saved as .csv (ikd0, ikd1, ..., their standard errors se_1, se_2, ... where the model has
them, and the labels), with the columns that make them as _columns.csv, a picture as .png and a
report as .html.
"""

import argparse
from collections.abc import Mapping

import numpy as np

from .._base.format import count, format_number, format_seconds
from ..datasets import Dataset
from ..estimator import IKD
from ..jobs.label_scores import format_scores, score_labels
from ..plotting import plot
from ..plotting.charts import variance_fractions
from ..report.points import paint_points
from ..strategies import Linear
from . import common
from .console import aligned
from .objects import method_parameters, used_settings
from .place import save_model


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    parameters = method_parameters(vars(arguments))
    data = common.read_data(arguments)
    model = IKD(**parameters, verbose=arguments.verbose).fit(data.X)
    # What took long is stored, whatever happens to errors, scores and pictures.
    text = common.coordinates_csv(model, model.embedding_, data)
    (path,) = common.write_outputs(arguments, data, {"embedding.csv": text})
    if arguments.save_model:
        path = path.with_name(f"{common.file_stem(data.name)}_model.ikd")
        arguments.written.append(save_model(model, data, path))
    errors = model.standard_errors_
    text = common.coordinates_csv(model, model.embedding_, data, errors)
    scores = {labels.title: score_labels(model.embedding_, labels) for labels in data.labels}
    relevance = common.relevant_columns(model, data)
    steps = next_steps(model, arguments)
    Z, colors = model.embedding_, paint_points(data)
    fractions = variance_fractions(Z)
    png, html = common.drawings(
        arguments,
        lambda ax: plot.embedding(
            Z, colors, errors=errors, fractions=fractions, ax=ax,
            points=plot.names_of_points(data.row_names),
        ),
        (7.2, 5.4), "embed_page", model, data,
        scores=scores, columns=relevance, warnings=arguments.heard, steps=steps,
    )  # fmt: skip
    files = {"embedding.csv": text, "embedding.png": png, "report.html": html}
    if relevance is not None:
        files["columns.csv"] = relevance.to_pandas().to_csv(index=False)
    result = {
        **common.fit_record(model),
        "scores": scores,
        "eigenvalues": model.eigenvalues_,
        "explained_variance_ratio": model.explained_variance_ratio_,
        # Root mean square of each column se_1, se_2, ...
        "standard_errors": np.sqrt((errors**2).mean(axis=0)),
        "fingerprint": model.fingerprint_,
        "components_of_the_graph": model.component_labels_.max() + 1,
        "columns": None if relevance is None else relevance.sentences(),
        "candidates": [candidate._asdict() for candidate in model.candidates_],
        "seconds": model.stage_times_,
    }
    lines = summary(model, data, scores)
    if relevance is not None:
        along = "; those that vary most along" * bool(relevance.n_significant)
        lines.append(f"  {relevance.summary}{along}")
        lines += [f"    {sentence}" for sentence in relevance.sentences()]
    common.finish(arguments, data, files, lines, steps[0], result)


def embed_command(model: IKD, arguments: argparse.Namespace) -> str:
    """Return the embedding as a command with nothing left to choose."""
    settings = {**method_parameters(vars(arguments)), **used_settings(model)}
    return common.paste_command(arguments, "embed", settings)


def next_steps(model: IKD, arguments: argparse.Namespace) -> list[tuple[str, str]]:
    """Say what to do with an embedding: a sentence and a command each."""
    size = {"n_components": model.n_components_}
    commands = {
        "diagnose": "Whether there is anything to see, and what would improve it:",
        "compare": "How other methods do on the same data:",
        "cliques": "What the cliques of the graph are, and where they disagree:",
    }
    repeat = ("To repeat this run, with nothing left to choose:", embed_command(model, arguments))
    return [repeat, *((commands[c], common.paste_command(arguments, c, size)) for c in commands)]


def summary(model: IKD, data: Dataset, scores: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Lines on a fit."""
    size = f"{count(data.n_samples, 'point')} of {count(data.n_features, 'column')}"
    rows = []
    told = repr(model.kernel_) == repr(model.settings_.kernel)
    if not told and not isinstance(model.settings_.strategy, Linear):
        rows.append(("kernel", repr(model.kernel_)))
    if model.cliques_ is not None:
        sizes = model.cliques_.sizes
        rows.append(
            ("cliques", f"{format_number(sizes.size)}, the largest of {sizes.max()} points")
        )
    if model.negative_mass_ is not None:
        fraction = f"{model.explained_variance_ratio_.sum():.1%} of the spectrum"
        rows.append(("closed form", f"{fraction}; {model.negative_mass_:.1%} is negative"))
    if model.n_iter_:
        rows.append(("refinement", count(model.n_iter_, "step")))
    rows += [(title or "labels", format_scores(values)) for title, values in scores.items()]
    rows.append(("fingerprint", model.fingerprint_))
    rows.append(("time", format_seconds(sum(model.stage_times_.values()))))
    return [f"{data.name}: {size}", *common.settings_lines(model), *aligned(rows)]
