"""``ikd-graph embed``: coordinates, picture and report of a data set."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..estimator import IKD
from ..show import plot, report
from ..show.points import paint_points, variance_shares
from ..show.words import (
    count,
    say_kernel,
    say_number,
    say_scores,
    say_seconds,
    say_settings,
)
from ..study.datasets import Dataset
from ..study.label_scores import score_labels
from . import common
from .console import facts, say
from .flags import add_method_flags, method_parameters, used_flags
from .outcome import tell_json


def add_command(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "embed",
        help="find the hidden coordinates of a data set",
        description="Find the hidden coordinates of a data set; save them as .csv, a picture as "
        ".png and a report as .html.",
    )
    common.add_data_arguments(parser)
    add_method_flags(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    data = common.read_data(arguments)
    model = IKD(**method_parameters(arguments), verbose=0 if arguments.quiet else 1)
    with common.named_stage("finding the coordinates"):
        model.fit(data.X)
    model.choices_ = arguments.wording(model.choices_)
    with common.named_stage("scoring the labels"):
        scores = {one.title: score_labels(model.embedding_, one) for one in data.all_labels}
    stem = common.file_stem(data.name)
    with common.named_stage("drawing"):
        png = common.picture(lambda ax: draw(ax, model, data), 7.2, 5.4)
        files = {
            f"{stem}_embedding.csv": embedding_csv(model, data),
            f"{stem}_embedding.png": png,
            f"{stem}_report.html": common.page(
                lambda: report.embed_page(
                    model,
                    data,
                    common.typed_command(arguments),
                    scores,
                    warnings=arguments.heard,
                    steps=next_steps(model, arguments),
                    picture=png,
                )
            ),
        }
    with common.named_stage("writing"):
        written = common.leave_files(arguments.output, files)
    if not arguments.quiet:
        summarise(model, data, arguments, scores)
        common.name_files(written)
    tell_json(arguments, data, written, found_of(model, arguments, scores))


def found_of(
    model: IKD, arguments: argparse.Namespace, scores: Mapping[str, Mapping[str, float]]
) -> dict[str, Any]:
    """What a program may want to know of a fit."""
    settings = model._model.settings
    return {
        "settings": settings,
        "reasons": model.choices_,
        "scores": scores,
        "eigenvalues": model.eigenvalues_,
        "explained_variance_ratio": model.explained_variance_ratio_,
        "components_of_the_graph": model.n_components_graph_,
        "tried": [
            vars(one) if hasattr(one, "__dict__") else one._asdict() for one in model.candidates_
        ],
        "seconds": model.stage_times_,
        "again": again(model, arguments),
    }


def again(model: IKD, arguments: argparse.Namespace) -> str:
    """The embedding as a command with nothing left to choose."""
    used = used_flags(arguments, model._model.settings)
    return common.paste_command(arguments, "embed", used)


def next_steps(model: IKD, arguments: argparse.Namespace) -> list[tuple[str, str]]:
    """What to do with an embedding: a sentence and a command each."""
    dims = ["--n-components", str(model.embedding_.shape[1])]
    asked = [
        ("How accurate the embedding can be, and what would improve it:", "diagnose"),
        ("How other methods do on the same data:", "compare"),
        ("Which points hold each other in place, and which are badly placed:", "cliques"),
    ]
    return [
        ("To repeat this run, with nothing left to choose:", again(model, arguments)),
        *((words, common.paste_command(arguments, name, dims)) for words, name in asked),
    ]


def embedding_csv(model: IKD, data: Dataset) -> str:
    """Comma-separated text: names or numbers of the rows, one column a dimension, labels."""
    labels = [one.texts for one in data.all_labels]
    titles = [one.title or "label" for one in data.all_labels]
    rows = data.row_names or range(data.n_samples)
    columns = [data.row_title or "row", *model.get_feature_names_out(), *titles]
    return common.csv_text(
        common.told_apart(columns),
        (
            [row, *point, *rest]
            for row, point, *rest in zip(rows, model.embedding_.tolist(), *labels, strict=True)
        ),
    )


def draw(ax: Any, model: IKD, data: Dataset) -> None:
    """Draw the embedding into an Axes, labels as colours."""
    paint = paint_points(data)
    plot.embedding(
        model.embedding_,
        data.y if paint.values is None else paint.values,
        names=(data.label_names or None) if paint.values is None else None,
        palette=data.label_palette,
        shares=variance_shares(model.embedding_),
        label_title=data.label_title,
        ax=ax,
    )


def summarise(
    model: IKD,
    data: Dataset,
    arguments: argparse.Namespace,
    scores: Mapping[str, Mapping[str, float]],
) -> None:
    """Say what was found, in a few lines."""
    say(f"{data.name}: {count(data.n_samples, 'point')} of {count(data.n_features, 'measurement')}")
    kernel = "" if model.strategy_ == "linear" else f", {say_kernel(model.kernel_)} kernel"
    lines = [("strategy", f"{model.strategy_}{kernel}")]
    lines += say_settings(model).items()
    if model.cliques_ is not None:
        sizes = model.cliques_.sizes
        lines.append(("cliques", f"{say_number(sizes.size)}, the largest of {sizes.max()} points"))
    kept = float(np.sum(model.start_explained_variance_ratio_))
    dims = count(model.embedding_.shape[1], "dimension")
    mass = f"{model.start_negative_mass_:.1%} of the spectrum is negative"
    lines.append(("closed form", f"{kept:.1%} of variance in {dims}; {mass}"))
    if model.refine_ is not None:
        lines.append(("polish", f"{model.refine_}, {count(model.n_iter_, 'step')}"))
    if model.candidates_:
        lines.append(("tried", _tried(model)))
    lines += [(title or "labels", say_scores(one)) for title, one in scores.items()]
    lines.append(("time", say_seconds(sum(model.stage_times_.values()))))
    facts(lines)
    say("to repeat this run:")
    say(f"  {again(model, arguments)}")


def _unpolished(strategy: str) -> str:
    """A closed form in a word."""
    return "linear" if strategy == "linear" else "no polish"


def _tried(model: IKD) -> str:
    """What "auto" had to choose among, and how clear the choice was."""
    best, *others = model.candidates_
    least = max((one.score for one in others), default=0.0) > best.score
    simplest = "this one is the simplest of those that predict the measurements as well"
    found = "neighbours predict the measurements best in this one"
    found = f"{count(len(others) + 1, 'setting')}; {simplest if least else found}"
    found += f", score {best.score:.1f}"
    if not others:
        return found
    after = others[0]
    name = f"{after.affinity}, {after.refine or _unpolished(after.strategy)}"
    return f"{found}; the next ({name}) has {after.score:.1f} ± {after.standard_error:.1f}"
