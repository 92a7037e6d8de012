"""``ikd-graph embed``: coordinates, picture and report of a data set."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from functools import partial
from typing import Any

from ..estimator import IKD
from ..show import plot
from ..show.points import paint_points, variance_shares
from ..show.words import count, say_kernel, say_number, say_scores, say_seconds
from ..strategies import Linear
from ..study.datasets import Dataset
from ..study.label_scores import score_labels
from . import common
from .console import PROG, facts, say
from .flags import add_method_flags, method_parameters, used_flags
from .outcome import coordinates_csv, finish, fit_record, leave_files
from .place import check_row_wise, save_model


def add_command(commands: Any) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "embed",
        help="find the hidden coordinates of a data set",
        description="Find the hidden coordinates of a data set; save them as .csv, a picture as "
        ".png and a report as .html.",
    )
    common.add_data_arguments(parser)
    parser.add_argument(
        "--save-model", action="store_true",
        help=f"keep the model too, so that `{PROG} place` can place new rows",
    )  # fmt: skip
    add_method_flags(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    parameters = method_parameters(arguments)
    check_row_wise(arguments, arguments.save_model)
    data = common.read_data(arguments)
    with common.named_stage("finding the coordinates"):
        model = IKD(**parameters, verbose=0 if arguments.quiet else 1).fit(data.X)
    stem = common.file_stem(data.name)
    # What took long is kept, whatever happens to scores and pictures.
    written = leave_files(
        arguments.output, {f"{stem}_embedding.csv": coordinates_csv(model, model.embedding_, data)}
    )
    if arguments.save_model:
        written.append(save_model(model, data, arguments.output / f"{stem}_model.ikd"))
    left = f"the coordinates are in {written[0]}"
    with common.named_stage("scoring the labels", left):
        scores = {one.title: score_labels(model.embedding_, one) for one in data.all_labels}
    steps = next_steps(model, arguments)
    with common.named_stage("drawing", left):
        png = common.picture(lambda ax: draw(ax, model, data), 7.2, 5.4)
        about: dict[str, Any] = {"scores": scores, "warnings": arguments.heard}
        files = {
            f"{stem}_embedding.png": png,
            f"{stem}_report.html": common.page(
                arguments, "embed_page", model, data, steps=steps, picture=png, **about
            ),
        }
    result = {
        **fit_record(model),
        "scores": scores,
        "eigenvalues": model.eigenvalues_,
        "explained_variance_ratio": model.explained_variance_ratio_,
        "components_of_the_graph": model.component_labels_.max() + 1,
        "candidates": [candidate._asdict() for candidate in model.candidates_],
        "seconds": model.stage_times_,
    }
    say_all = partial(summarise, model, data, scores)
    finish(arguments, data, files, say_all, steps[0], result, written)


def embed_command(model: IKD, arguments: argparse.Namespace) -> str:
    """The embedding as a command with nothing left to choose."""
    return common.paste_command(arguments, "embed", used_flags(arguments, model.settings_))


def next_steps(model: IKD, arguments: argparse.Namespace) -> list[tuple[str, str]]:
    """What to do with an embedding: a sentence and a command each."""
    size = ["--components", str(model.n_components_)]
    commands = [
        ("How accurate the embedding can be, and what would improve it:", "diagnose"),
        ("How other methods do on the same data:", "compare"),
        ("What the cliques of the graph are, and where they disagree:", "cliques"),
    ]
    return [
        ("To repeat this run, with nothing left to choose:", embed_command(model, arguments)),
        *((words, common.paste_command(arguments, name, size)) for words, name in commands),
    ]


def draw(ax: Any, model: IKD, data: Dataset) -> None:
    """Draw the embedding into an Axes, labels as colours."""
    errors, shares = model.standard_errors_, variance_shares(model.embedding_)
    plot.embedding(model.embedding_, paint_points(data), errors=errors, shares=shares, ax=ax)


def summarise(model: IKD, data: Dataset, scores: Mapping[str, Mapping[str, float]]) -> None:
    """Say what was found, in a few lines."""
    say(f"{data.name}: {count(data.n_samples, 'point')} of {count(data.n_features, 'column')}")
    common.say_settings(model)
    lines = []
    if not isinstance(model.settings_.strategy, Linear):
        lines.append(("kernel", say_kernel(model.kernel_)))
    if model.cliques_ is not None:
        sizes = model.cliques_.sizes
        lines.append(("cliques", f"{say_number(sizes.size)}, the largest of {sizes.max()} points"))
    if model.negative_mass_ is not None:
        kept = f"{model.explained_variance_ratio_.sum():.1%} of the spectrum"
        lines.append(("closed form", f"{kept}; {model.negative_mass_:.1%} is negative"))
    if model.n_iter_:
        lines.append(("refinement", count(model.n_iter_, "step")))
    lines += [(title or "labels", say_scores(one)) for title, one in scores.items()]
    lines.append(("time", say_seconds(sum(model.stage_times_.values()))))
    facts(lines)
