"""``ikd-graph diagnose``: what an embedding of a data set can be worth."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, replace
from typing import Any

from ..study.diagnosis import Diagnosis, diagnose
from . import common
from .console import facts, say
from .flags import in_flags, plain_settings, settings_flags
from .outcome import finish, plain


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser(
        "diagnose",
        help="predict how accurate an embedding of a data set can be",
        description="List the correlations that are significant, predict the accuracy of an "
        "embedding and say what to do; save the numbers as .json, the pairs as .csv, a picture as "
        ".png and a page as .html.",
    )
    common.add_data_arguments(parser)
    for flag, name, kind, default, text in (
        ("--components", "n_components", int, 2, "number of hidden coordinates"),
        ("--fdr", "fdr", float, 0.01, "false discovery rate of the significant correlations"),
        ("--splits", "n_splits", int, 3, "number of times that the columns are split in halves"),
        ("--seed", "random_state", int, 0, "seed of the splits"),
    ):
        parser.add_argument(
            flag, dest=name, metavar="RATE" if kind is float else "N", type=kind, default=default,
            help=f"{text}; default: {default}",
        )  # fmt: skip
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> None:
    """Run the command."""
    data = common.read_data(arguments)
    with common.named_stage("diagnosing"):
        diagnosis = diagnose(
            data.X,
            arguments.n_components,
            fdr=arguments.fdr,
            n_removed=int(arguments.remove_mean_row),
            n_splits=arguments.n_splits,
            random_state=arguments.random_state,
            verbose=0 if arguments.quiet else 1,
        )
    heard = dict.fromkeys((*data.remarks, *diagnosis.warnings))
    diagnosis = replace(diagnosis, warnings=tuple(map(in_flags, heard)))
    todo = next_steps(diagnosis, arguments)
    numbers = asdict(diagnosis) | {"parameters": plain_settings(diagnosis.parameters)}
    for name in ("trusted_pairs", "trusted_correlations", "steps"):
        del numbers[name]
    numbers |= {"n_trusted": diagnosis.n_trusted, "p_value": diagnosis.p_value}
    numbers |= {name: getattr(diagnosis, name)._asdict() for name in ("chance", "moments")}
    stem = common.file_stem(data.name)
    png = common.picture(lambda ax: draw(ax, diagnosis), 9.0, 3.6)
    files = {
        f"{stem}_diagnosis.json": json.dumps(plain(numbers), indent=1) + "\n",
        f"{stem}_pairs.csv": common.csv_text(
            ("row", "other", "correlation"), diagnosis.pairs(data.row_names or None)
        ),
        f"{stem}_diagnosis.png": png,
        f"{stem}_diagnosis.html": common.page(
            arguments, "diagnosis_page", diagnosis, data.name, steps=todo, picture=png
        ),
    }

    def summarise() -> None:
        say(f"{data.name}: diagnosis")
        facts(list(diagnosis.findings().items()))
        for words, command in todo[:-1]:
            say(f"{words}:")
            say(f"  {command}")

    finish(arguments, data, files, summarise, todo[-1], {"diagnosis": numbers, "steps": todo})


def next_steps(diagnosis: Diagnosis, arguments: argparse.Namespace) -> list[tuple[str, str]]:
    """What to do next: a sentence and a command each."""
    settings = settings_flags({"n_components": diagnosis.n_components, **diagnosis.parameters})
    return [
        (
            step.words,
            common.paste_command(
                arguments, step.command, (*step.flags, *(settings if step.parameters else ()))
            ),
        )
        for step in diagnosis.steps
    ]


def draw(ax: Any, diagnosis: Diagnosis) -> None:
    """Draw the correlations into an Axes, and the accuracy beside it."""
    from ..show import charts, plot

    pairs, accuracy = charts.diagnosis(diagnosis)
    first, second = ax.figure.add_gridspec(1, 2)
    ax.set_subplotspec(first)
    plot.chart(pairs, ax=ax)
    plot.chart(accuracy, ax=ax.figure.add_subplot(second))
